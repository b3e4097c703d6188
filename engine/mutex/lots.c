/* The lots of lots.h. */
#include "mutex/lots.h"

#include <string.h>

#define LOTS_MIN 64

static bool
grow(struct lots *lots, uint32_t capacity)
{
    uint32_t *buckets =
        memory_alloc(lots->memory, MEMORY_QUEUES, capacity * sizeof *buckets, CACHE_LINE);
    struct lot *larger = buckets == NULL ? NULL
                                         : memory_grow(lots->memory, MEMORY_QUEUES, lots->lots,
                                                       lots->capacity, capacity, sizeof *larger);

    if (larger == NULL) {
        memory_free(lots->memory, MEMORY_QUEUES, buckets, capacity * sizeof *buckets);
        return false;
    }
    memory_free(lots->memory, MEMORY_QUEUES, lots->buckets, lots->capacity * sizeof *buckets);
    lots->lots = larger;
    lots->buckets = buckets;
    lots->capacity = capacity;
    return true;
}

static uint64_t
key_hash(const struct lot_key *key)
{
    uint64_t hash = key->unschedulable * UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ (hash >> 29) ^ key->pending) * UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 32;
    hash += (uint64_t)key->profile << 16 | (uint64_t)key->gate << 8 | key->affinity;
    return hash * UINT64_C(0x94d049bb133111eb) >> 20;
}

static bool
key_equal(const struct lot_key *a, const struct lot_key *b)
{
    return a->unschedulable == b->unschedulable && a->pending == b->pending &&
           a->profile == b->profile && a->gate == b->gate && a->affinity == b->affinity;
}

static uint32_t *
lot_bucket(const struct lots *lots, const struct lot_key *key)
{
    return &lots->buckets[key_hash(key) & (lots->capacity - 1)];
}

static void
rehash(struct lots *lots)
{
    memset(lots->buckets, 0xff, lots->capacity * sizeof *lots->buckets);
    for (uint32_t i = lots->live_head; i != NO_LOT; i = lots->lots[i].next) {
        uint32_t *bucket = lot_bucket(lots, &lots->lots[i].key);

        lots->lots[i].chain = *bucket;
        *bucket = i;
    }
}

bool
mutex_lots_open(struct lots *lots, struct memory *memory, const struct entries *entries)
{
    *lots = (struct lots){.memory = memory,
                          .entries = entries,
                          .free_head = NO_LOT,
                          .live_head = NO_LOT,
                          .live_tail = NO_LOT,
                          .made = LOTS_FIXED};
    if (!grow(lots, LOTS_MIN)) {
        return false;
    }
    rehash(lots);
    for (uint32_t i = 0; i < LOTS_FIXED; i++) {
        lots->lots[i] =
            (struct lot){.head = NO_ENTRY, .tail = NO_ENTRY, .next = NO_LOT, .prev = NO_LOT};
    }
    return true;
}

void
mutex_lots_shut(struct lots *lots)
{
    memory_free(lots->memory, MEMORY_QUEUES, lots->lots, lots->capacity * sizeof *lots->lots);
    memory_free(lots->memory, MEMORY_QUEUES, lots->buckets, lots->capacity * sizeof *lots->buckets);
}

bool
mutex_lots_reserve(struct lots *lots, uint32_t count)
{
    uint32_t capacity = lots->capacity;

    while (capacity - LOTS_FIXED < count) {
        capacity *= 2;
    }
    if (capacity == lots->capacity) {
        return true;
    }
    if (!grow(lots, capacity)) {
        return false;
    }
    rehash(lots);
    return true;
}

/* A number for one more lot, or NO_LOT. */
static uint32_t
lot_take(struct lots *lots)
{
    uint32_t lot = lots->free_head;

    if (lot != NO_LOT) {
        lots->free_head = lots->lots[lot].next;
        return lot;
    }
    if (lots->made == lots->capacity && !mutex_lots_reserve(lots, lots->capacity)) {
        return NO_LOT;
    }
    return lots->made++;
}

static uint32_t
lot_make(struct lots *lots, const struct lot_key *key)
{
    uint32_t number = lot_take(lots);

    if (number == NO_LOT) {
        return LOT_CATCH_ALL;
    }
    struct lot *lot = &lots->lots[number];
    uint32_t *bucket = lot_bucket(lots, key);

    *lot = (struct lot){.key = *key,
                        .head = NO_ENTRY,
                        .tail = NO_ENTRY,
                        .next = NO_LOT,
                        .prev = lots->live_tail,
                        .chain = *bucket,
                        .born = ++lots->births};
    *bucket = number;
    if (lots->live_tail == NO_LOT) {
        lots->live_head = number;
    } else {
        lots->lots[lots->live_tail].next = number;
    }
    lots->live_tail = number;
    lots->live_count++;
    return number;
}

static void
lot_unmake(struct lots *lots, uint32_t number)
{
    struct lot *lot = &lots->lots[number];
    uint32_t *link = lot_bucket(lots, &lot->key);

    for (struct lots_walk *walk = lots->walks; walk != NULL; walk = walk->other) {
        walk->lot = walk->lot == number ? lot->next : walk->lot;
    }
    while (*link != number) {
        link = &lots->lots[*link].chain;
    }
    *link = lot->chain;
    if (lot->prev == NO_LOT) {
        lots->live_head = lot->next;
    } else {
        lots->lots[lot->prev].next = lot->next;
    }
    if (lot->next == NO_LOT) {
        lots->live_tail = lot->prev;
    } else {
        lots->lots[lot->next].prev = lot->prev;
    }
    lots->live_count--;
    lot->next = lots->free_head;
    lots->free_head = number;
}

static uint32_t
lot_for(struct lots *lots, const struct entry *entry)
{
    if (entry->place == SCHEDQ_BACKOFF) {
        return LOT_BACKOFF;
    }
    if (entry->place == SCHEDQ_ERROR_BACKOFF) {
        return LOT_ERROR_BACKOFF;
    }
    struct lot_key key = {.unschedulable = entry->unschedulable,
                          .pending = entry->pending,
                          .profile = entry->profile,
                          .gate = entry->gate,
                          .affinity =
                              (entry->flags & SCHEDQ_POD_AFFINITY) != 0 || entry_is_group(entry)};
    uint32_t number = *lot_bucket(lots, &key);

    while (number != NO_LOT && !key_equal(&lots->lots[number].key, &key)) {
        number = lots->lots[number].chain;
    }
    return number != NO_LOT ? number : lot_make(lots, &key);
}

void
mutex_lots_insert(struct lots *lots, uint32_t index)
{
    struct entry *entry = entry_at(lots->entries, index);
    struct lot *lot;

    entry->lot = lot_for(lots, entry);
    lot = &lots->lots[entry->lot];
    entry->parking.sequence = ++lots->sequence;
    entry->lot_next = NO_ENTRY;
    entry->lot_prev = lot->tail;
    if (lot->tail == NO_ENTRY) {
        lot->head = index;
    } else {
        entry_at(lots->entries, lot->tail)->lot_next = index;
    }
    lot->tail = index;
    lot->count++;
}

void
mutex_lots_remove(struct lots *lots, uint32_t index)
{
    struct entry *entry = entry_at(lots->entries, index);
    struct lot *lot = &lots->lots[entry->lot];

    for (struct lots_walk *walk = lots->walks; walk != NULL; walk = walk->other) {
        walk->pod = walk->pod == index ? entry->lot_next : walk->pod;
    }
    if (entry->lot_prev == NO_ENTRY) {
        lot->head = entry->lot_next;
    } else {
        entry_at(lots->entries, entry->lot_prev)->lot_next = entry->lot_next;
    }
    if (entry->lot_next == NO_ENTRY) {
        lot->tail = entry->lot_prev;
    } else {
        entry_at(lots->entries, entry->lot_next)->lot_prev = entry->lot_prev;
    }
    if (--lot->count == 0 && entry->lot >= LOTS_FIXED) {
        lot_unmake(lots, entry->lot);
    }
}

void
mutex_lots_reinsert(struct lots *lots, uint32_t index)
{
    mutex_lots_remove(lots, index);
    mutex_lots_insert(lots, index);
    for (struct lots_walk *walk = lots->walks; walk != NULL; walk = walk->other) {
        walk->passed = true;
    }
}

uint32_t
mutex_lots_newer(const struct lots *lots, uint32_t lot, uint64_t than)
{
    uint32_t index = lots->lots[lot].tail;
    uint32_t first = NO_ENTRY;

    while (index != NO_ENTRY && entry_at(lots->entries, index)->parking.sequence > than) {
        first = index;
        index = entry_at(lots->entries, index)->lot_prev;
    }
    return first;
}
