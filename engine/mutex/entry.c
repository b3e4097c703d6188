/* Pages of records (entry.h). */
#include "mutex/entry.h"

#include <string.h>

#define PAGE_BYTES (PAGE_ENTRIES * sizeof(struct entry))

void
entries_open(struct entries *entries, struct memory *memory, uint64_t first)
{
    *entries = (struct entries){.memory = memory, .free_head = NO_ENTRY, .life_floor = first};
}

void
entries_shut(struct entries *entries)
{
    for (uint32_t i = 0; i < entries->page_count; i++) {
        memory_free(entries->memory, MEMORY_ENTRIES, entries->pages[i], PAGE_BYTES);
    }
    memory_free(entries->memory, MEMORY_ENTRIES, entries->pages,
                entries->page_capacity * sizeof *entries->pages);
}

/* A hole that trim left, or the next number. */
static bool
page_slot(struct entries *entries, uint32_t *slot)
{
    if (entries->pages_made < entries->page_count) {
        uint32_t i = 0;

        while (entries->pages[i] != NULL) {
            i++;
        }
        *slot = i;
        return true;
    }
    if (entries->page_count == entries->page_capacity) {
        uint32_t larger = entries->page_capacity == 0 ? 64 : entries->page_capacity * 2;
        struct entry **pages = memory_grow(entries->memory, MEMORY_ENTRIES, entries->pages,
                                           entries->page_capacity, larger, sizeof *pages);

        if (pages == NULL) {
            return false;
        }
        entries->pages = pages;
        entries->page_capacity = larger;
    }
    *slot = entries->page_count;
    return true;
}

static bool
page_make(struct entries *entries)
{
    uint32_t slot;

    if (!page_slot(entries, &slot)) {
        return false;
    }
    struct entry *page = memory_alloc(entries->memory, MEMORY_ENTRIES, PAGE_BYTES, CACHE_LINE);
    if (page == NULL) {
        return false;
    }
    entries->pages[slot] = page;
    entries->pages_made++;
    if (slot == entries->page_count) {
        entries->page_count++;
    }
    /* Backwards, so that the lowest number is taken first. */
    for (uint32_t i = PAGE_ENTRIES; i-- > 0;) {
        page[i].life = entries->life_floor;
        page[i].version = entries->life_floor;
        page[i].lot_next = entries->free_head;
        entries->free_head = slot * PAGE_ENTRIES + i;
    }
    entries->free_count += PAGE_ENTRIES;
    return true;
}

bool
entries_reserve(struct entries *entries, uint32_t count)
{
    while (entries_made(entries) < count) {
        if (!page_make(entries)) {
            return false;
        }
    }
    return true;
}

static bool
page_is_unused(const struct entry *page)
{
    for (uint32_t i = 0; i < PAGE_ENTRIES; i++) {
        if (page[i].place != SCHEDQ_NOWHERE) {
            return false;
        }
    }
    return true;
}

static void
page_free(struct entries *entries, uint32_t slot)
{
    for (uint32_t i = 0; i < PAGE_ENTRIES; i++) {
        const struct entry *entry = &entries->pages[slot][i];
        uint64_t highest = entry->life > entry->version ? entry->life : entry->version;

        if (highest > entries->life_floor) {
            entries->life_floor = highest;
        }
    }
    memory_free(entries->memory, MEMORY_ENTRIES, entries->pages[slot], PAGE_BYTES);
    entries->pages[slot] = NULL;
    entries->pages_made--;
}

void
entries_trim(struct entries *entries)
{
    for (uint32_t i = 0; i < entries->page_count; i++) {
        if (entries->pages[i] != NULL && page_is_unused(entries->pages[i])) {
            page_free(entries, i);
        }
    }
    while (entries->page_count > 0 && entries->pages[entries->page_count - 1] == NULL) {
        entries->page_count--;
    }
    entries->free_head = NO_ENTRY;
    entries->free_count = 0;
    for (uint32_t i = entries_end(entries); i-- > 0;) {
        if (entries->pages[i / PAGE_ENTRIES] != NULL &&
            entry_at(entries, i)->place == SCHEDQ_NOWHERE) {
            entry_at(entries, i)->lot_next = entries->free_head;
            entries->free_head = i;
            entries->free_count++;
        }
    }
}

uint32_t
entries_take(struct entries *entries)
{
    uint32_t index = entries->free_head;

    if (index == NO_ENTRY) {
        return NO_ENTRY;
    }
    struct entry *entry = entry_at(entries, index);
    uint64_t life = (entry->life + 1) & ENTRY_WIDTH_MASK;
    uint64_t version = entry->version;

    entries->free_head = entry->lot_next;
    entries->free_count--;
    /*
     * Line by line: for the whole record gcc 12 emits a string instruction, whose start alone costs
     * more.
     */
    for (size_t offset = 0; offset < sizeof *entry; offset += CACHE_LINE) {
        memset((char *)entry + offset, 0, CACHE_LINE);
    }
    entry->life = life == 0 ? 1 : life;
    entry->version = version;
    entry->born_freed = version;
    return index;
}

void
entries_give(struct entries *entries, uint32_t index)
{
    struct entry *entry = entry_at(entries, index);

    entry->place = SCHEDQ_NOWHERE;
    entry_changed(entry);
    entry->lot_next = entries->free_head;
    entries->free_head = index;
    entries->free_count++;
}

struct entry *
entry_of_handle(const struct entries *entries, schedq_pod_t pod, uint32_t *index)
{
    struct entry *entry = entry_of_bits(entries, pod.bits, index);

    if (entry == NULL || entry->place == SCHEDQ_NOWHERE || (entry->marks & MARK_DELETED) != 0 ||
        entry_handle(entry, *index).bits != pod.bits || entry_is_group(entry)) {
        return NULL; /* no call tells the handle of a group's record: it was guessed */
    }
    return entry;
}
