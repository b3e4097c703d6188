/* The table of nominator.h. */
#include "mutex/nominator.h"

#define BUCKETS_MIN 64

static struct nominator_bucket *
buckets_make(struct memory *memory, uint32_t count)
{
    struct nominator_bucket *buckets =
        memory_alloc(memory, MEMORY_OTHER, count * sizeof *buckets, CACHE_LINE);

    for (uint32_t i = 0; buckets != NULL && i < count; i++) {
        buckets[i] = (struct nominator_bucket){.head = NO_ENTRY, .tail = NO_ENTRY};
    }
    return buckets;
}

bool
mutex_nominator_open(struct nominator *nominator, struct memory *memory,
                     const struct entries *entries)
{
    *nominator = (struct nominator){.memory = memory, .entries = entries, .mask = BUCKETS_MIN - 1};
    nominator->buckets = buckets_make(memory, BUCKETS_MIN);
    return nominator->buckets != NULL;
}

void
mutex_nominator_shut(struct nominator *nominator)
{
    memory_free(nominator->memory, MEMORY_OTHER, nominator->buckets,
                ((size_t)nominator->mask + 1) * sizeof *nominator->buckets);
}

static struct nominator_bucket *
bucket_of(const struct nominator *nominator, uint64_t node)
{
    uint64_t hash = node * UINT64_C(0x9e3779b97f4a7c15);

    return &nominator->buckets[(hash >> 32) & nominator->mask];
}

static void
append(struct nominator *nominator, uint32_t index)
{
    struct entry *entry = entry_at(nominator->entries, index);
    struct nominator_bucket *bucket = bucket_of(nominator, entry->nominated_node);

    entry->nominated_next = NO_ENTRY;
    entry->nominated_prev = bucket->tail;
    if (bucket->tail == NO_ENTRY) {
        bucket->head = index;
    } else {
        entry_at(nominator->entries, bucket->tail)->nominated_next = index;
    }
    bucket->tail = index;
}

static void
unlink_entry(struct nominator *nominator, uint32_t index)
{
    struct entry *entry = entry_at(nominator->entries, index);
    struct nominator_bucket *bucket = bucket_of(nominator, entry->nominated_node);

    if (entry->nominated_prev == NO_ENTRY) {
        bucket->head = entry->nominated_next;
    } else {
        entry_at(nominator->entries, entry->nominated_prev)->nominated_next = entry->nominated_next;
    }
    if (entry->nominated_next == NO_ENTRY) {
        bucket->tail = entry->nominated_prev;
    } else {
        entry_at(nominator->entries, entry->nominated_next)->nominated_prev = entry->nominated_prev;
    }
}

/* The pods of one node are in one bucket, so walking the old buckets in order keeps their order. */
static bool
grow_buckets(struct nominator *nominator, uint32_t count)
{
    uint32_t old_count = nominator->mask + 1;
    struct nominator_bucket *old = nominator->buckets;
    struct nominator_bucket *larger = buckets_make(nominator->memory, count);

    if (larger == NULL) {
        return false;
    }
    nominator->buckets = larger;
    nominator->mask = count - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        uint32_t index = old[i].head;

        while (index != NO_ENTRY) {
            uint32_t next = entry_at(nominator->entries, index)->nominated_next;

            append(nominator, index);
            index = next;
        }
    }
    memory_free(nominator->memory, MEMORY_OTHER, old, old_count * sizeof *old);
    return true;
}

bool
mutex_nominator_reserve(struct nominator *nominator, uint32_t count)
{
    uint32_t buckets = nominator->mask + 1;

    while (buckets < count) {
        buckets *= 2;
    }
    return buckets == nominator->mask + 1 || grow_buckets(nominator, buckets);
}

void
mutex_nominator_set(struct nominator *nominator, uint32_t index, uint64_t node)
{
    struct entry *entry = entry_at(nominator->entries, index);

    if (entry->nominated) {
        unlink_entry(nominator, index);
        nominator->count--;
    }
    entry->nominated = node != 0;
    entry->nominated_node = node;
    entry->nomination = 0;
    if (node == 0) {
        return;
    }
    (void)mutex_nominator_reserve(nominator, nominator->count + 1);
    entry->nomination = ++nominator->sequence;
    nominator->count++;
    append(nominator, index);
}

static uint32_t
same_node(const struct nominator *nominator, uint32_t index, uint64_t node)
{
    while (index != NO_ENTRY && entry_at(nominator->entries, index)->nominated_node != node) {
        index = entry_at(nominator->entries, index)->nominated_next;
    }
    return index;
}

uint32_t
mutex_nominator_first(const struct nominator *nominator, uint64_t node)
{
    return same_node(nominator, bucket_of(nominator, node)->head, node);
}

uint32_t
mutex_nominator_next(const struct nominator *nominator, uint32_t index)
{
    const struct entry *entry = entry_at(nominator->entries, index);

    return same_node(nominator, entry->nominated_next, entry->nominated_node);
}
