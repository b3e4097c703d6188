/* The chains of labels.h. */
#include "mutex/labels.h"

void
mutex_labels_open(struct labels *labels, struct memory *memory, const struct entries *entries)
{
    *labels = (struct labels){.memory = memory, .entries = entries};
}

void
mutex_labels_shut(struct labels *labels)
{
    memory_free(labels->memory, MEMORY_QUEUES, labels->links,
                labels->numbers * sizeof *labels->links);
    memory_free(labels->memory, MEMORY_QUEUES, labels->heads,
                labels->numbers * sizeof *labels->heads);
}

static uint32_t *
head_of(const struct labels *labels, uint64_t label)
{
    uint64_t hash = label * UINT64_C(0x9e3779b97f4a7c15);

    return &labels->heads[(hash >> 32) & (labels->numbers - 1)];
}

static void
link_in(struct labels *labels, uint32_t index)
{
    struct label_link *link = &labels->links[index];
    uint32_t *head = head_of(labels, link->label);

    link->prev = NO_ENTRY;
    link->next = *head;
    if (*head != NO_ENTRY) {
        labels->links[*head].prev = index;
    }
    *head = index;
}

bool
mutex_labels_reserve(struct labels *labels)
{
    uint32_t wanted = entries_end(labels->entries), numbers = labels->numbers, old = numbers;

    if (wanted <= numbers) {
        return true;
    }
    numbers = numbers == 0 ? PAGE_ENTRIES : numbers;
    while (numbers < wanted) {
        numbers *= 2;
    }
    struct label_link *links =
        memory_alloc(labels->memory, MEMORY_QUEUES, numbers * sizeof *links, CACHE_LINE);
    uint32_t *heads =
        memory_alloc(labels->memory, MEMORY_QUEUES, numbers * sizeof *heads, CACHE_LINE);

    if (links == NULL || heads == NULL) {
        memory_free(labels->memory, MEMORY_QUEUES, links, numbers * sizeof *links);
        memory_free(labels->memory, MEMORY_QUEUES, heads, numbers * sizeof *heads);
        return false;
    }
    struct labels before = *labels;

    labels->links = links;
    labels->heads = heads;
    labels->numbers = numbers;
    for (uint32_t i = 0; i < numbers; i++) {
        heads[i] = NO_ENTRY;
        links[i].label = i < old ? before.links[i].label : 0;
    }
    for (uint32_t i = 0; i < old; i++) {
        if (links[i].label != 0) {
            link_in(labels, i);
        }
    }
    mutex_labels_shut(&before);
    return true;
}

void
mutex_labels_enter(struct labels *labels, uint32_t index, uint64_t label)
{
    labels->links[index].label = label;
    labels->count++;
    link_in(labels, index);
}

void
mutex_labels_leave(struct labels *labels, uint32_t index)
{
    struct label_link *link = &labels->links[index];

    if (link->prev != NO_ENTRY) {
        labels->links[link->prev].next = link->next;
    } else {
        *head_of(labels, link->label) = link->next;
    }
    if (link->next != NO_ENTRY) {
        labels->links[link->next].prev = link->prev;
    }
    link->label = 0;
    labels->count--;
}

static uint32_t
same_label(const struct labels *labels, uint32_t index, uint64_t label)
{
    while (index != NO_ENTRY && labels->links[index].label != label) {
        index = labels->links[index].next;
    }
    return index;
}

uint32_t
mutex_labels_first(const struct labels *labels, uint64_t label)
{
    return labels->numbers != 0 ? same_label(labels, *head_of(labels, label), label) : NO_ENTRY;
}

uint32_t
mutex_labels_next(const struct labels *labels, uint32_t index)
{
    const struct label_link *link = &labels->links[index];

    return same_label(labels, link->next, link->label);
}

void
mutex_labels_trim(struct labels *labels)
{
    struct memory *memory = labels->memory;
    const struct entries *entries = labels->entries;

    if (labels->count == 0) {
        mutex_labels_shut(labels);
        mutex_labels_open(labels, memory, entries);
    }
}
