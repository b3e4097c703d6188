/*
 * Lots of lots.h, which has the essay: linearization, ordering, progress. Each acquire names the
 * exchange that it reads from; the one loop over exchanges is lots_get's, and each further round of
 * it is another key's new lot.
 */
#include "lockfree/refs/lots.h"

#include "platform/memory_first.h"

static uint64_t
key_hash(const struct lot_key *key)
{
    uint64_t hash = key->unschedulable * UINT64_C(0x9e3779b97f4a7c15);

    hash = (hash ^ hash >> 29 ^ key->pending) * UINT64_C(0xbf58476d1ce4e5b9);
    hash ^= hash >> 32;
    hash += (uint64_t)key->profile << 8 | key->gate;
    return hash * UINT64_C(0x94d049bb133111eb) >> 20;
}

static bool
key_equal(const struct lot_key *a, const struct lot_key *b)
{
    return a->unschedulable == b->unschedulable && a->pending == b->pending &&
           a->profile == b->profile && a->gate == b->gate;
}

/* ---- making and ending ----------------------------------------------------------------------- */

void
lot_open(struct lot *lot, const struct entries *entries, enum place place)
{
    lot->residence = (struct residence){.entries = entries, .place = place};
}

void
lot_close(struct lot *lot, struct memory *memory)
{
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        struct lane *lane = ptr_load(&lot->lanes[i]);

        if (lane != NULL) {
            lane_free(memory, lane);
        }
    }
}

void
lots_open(struct lots *lots, struct memory *memory, const struct entries *entries, uint32_t max)
{
    size_t cells = 2;

    while (cells < 2 * (size_t)max) {
        cells *= 2;
    }
    lots->memory = memory;
    lots->entries = entries;
    lots->max = max;
    lots->mask = (uint32_t)(cells - 1);
    lots->catch_all.catch_all = true;
    lot_open(&lots->catch_all, entries, PLACE_PARKED);
}

static size_t
order_bytes(const struct lots *lots)
{
    return (size_t)lots->max * sizeof(atomic_ptr);
}

static size_t
lots_bytes(const struct lots *lots)
{
    return ((size_t)lots->mask + 1) * sizeof(atomic_ptr);
}

bool
lots_make(struct lots *lots)
{
    return memory_alloc_first(lots->memory, MEMORY_QUEUES, &lots->order, order_bytes(lots)) &&
           memory_alloc_first(lots->memory, MEMORY_QUEUES, &lots->table, lots_bytes(lots));
}

/* Relaxed, both: lots_make came before. */
static atomic_ptr *
order_of(const struct lots *lots, uint32_t number)
{
    atomic_ptr *order = ptr_load(&lots->order);

    return &order[number];
}

static atomic_ptr *
lot_cell(const struct lots *lots, uint64_t i)
{
    atomic_ptr *table = ptr_load(&lots->table);

    return &table[i & lots->mask];
}

void
lots_close(struct lots *lots)
{
    struct lot *lot = NULL;
    uint32_t cursor = 1;

    lot_close(&lots->catch_all, lots->memory);
    while ((lot = lots_next(lots, &cursor)) != NULL) {
        lot_close(lot, lots->memory);
        memory_free(lots->memory, MEMORY_QUEUES, lot, sizeof *lot);
    }
    memory_free(lots->memory, MEMORY_QUEUES, ptr_load(&lots->order), order_bytes(lots));
    memory_free(lots->memory, MEMORY_QUEUES, ptr_load(&lots->table), lots_bytes(lots));
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Half of the cells stay NULL, so every walk ends. */
static struct lot *
find_lot(const struct lots *lots, const struct lot_key *key)
{
    for (uint64_t i = key_hash(key);; i++) {
        struct lot *lot =
            ptr_load_acquire(lot_cell(lots, i)); /* find_lot:A reads from index_lot:A */

        if (lot == NULL || key_equal(&lot->key, key)) {
            return lot;
        }
    }
}

/*
 * Puts lot `number` into the table, if nobody did, and says so. Ends: half of the cells stay NULL.
 */
static void
index_lot(struct lots *lots, struct lot *lot, uint32_t number)
{
    for (uint64_t i = key_hash(&lot->key);; i++) {
        void *found = ptr_cas_value(lot_cell(lots, i), NULL, lot); /* index_lot:A */

        if (found == NULL || found == lot) {
            break;
        }
    }
    (void)u32_cas(&lots->indexed, number, number + 1); /* index_lot:B */
}

static struct lot *
lot_make(const struct lots *lots, const struct lot_key *key)
{
    struct lot *lot = memory_alloc(lots->memory, MEMORY_QUEUES, sizeof *lot, CACHE_LINE);

    if (lot != NULL) {
        lot->key = *key;
        lot->residence = lots->catch_all.residence;
    }
    return lot;
}

/* The lot with this number: the one that is there, or a new one of this key. NULL: no memory. */
static struct lot *
settle(struct lots *lots, const struct lot_key *key, uint32_t number)
{
    struct lot *lot = ptr_load_acquire(order_of(lots, number)); /* settle:A reads from settle:B */

    if (lot != NULL) {
        return lot;
    }
    lot = lot_make(lots, key);
    if (lot != NULL && !ptr_cas(order_of(lots, number), NULL, lot)) { /* settle:B */
        memory_free(lots->memory, MEMORY_QUEUES, lot, sizeof *lot);
        lot = ptr_load_acquire(order_of(lots, number)); /* as settle:A */
    }
    return lot;
}

struct lot *
lots_get(struct lots *lots, const struct lot_key *key)
{
    /* Ends: each further round means that another key got a lot. */
    for (;;) {
        uint32_t number = u32_load_acquire(&lots->indexed); /* lots_get:A reads from index_lot:B */
        struct lot *lot = find_lot(lots, key);

        if (lot != NULL) {
            return lot;
        }
        lot = number < lots->max ? settle(lots, key, number) : NULL;
        if (lot == NULL) {
            return &lots->catch_all;
        }
        index_lot(lots, lot, number);
        if (key_equal(&lot->key, key)) {
            return lot;
        }
    }
}

struct lot *
lots_next(const struct lots *lots, uint32_t *cursor)
{
    uint32_t number = *cursor;

    if (number == 0) {
        *cursor = 1;
        return (struct lot *)&lots->catch_all;
    }
    /* relaxed: as order_of, or no lot is there */
    if (number > lots->max || ptr_load(&lots->order) == NULL) {
        return NULL;
    }
    /* lots_next:A reads from settle:B */
    struct lot *lot = ptr_load_acquire(order_of(lots, number - 1));

    *cursor += lot != NULL ? 1 : 0;
    return lot;
}

/* ---- lanes of a worker ----------------------------------------------------------------------- */

void
lot_resume(struct lot *lot, uint32_t worker)
{
    struct lane *lane = ptr_load_acquire(&lot->lanes[worker]); /* of lot_prepare:B, as below */

    if (lane != NULL) {
        lane_resume(lane);
    }
}

void
lot_shrink(struct lot *lot, struct memory *memory, struct epoch_record *epoch, uint32_t worker)
{
    struct lane *lane = ptr_load_acquire(&lot->lanes[worker]);

    if (lane != NULL) {
        lane_shrink(lane, &(struct lane_care){
                              .residence = &lot->residence, .memory = memory, .epoch = epoch});
    }
}

void
lots_resume(struct lots *lots, uint32_t worker)
{
    uint32_t cursor = 0;

    for (struct lot *lot = lots_next(lots, &cursor); lot != NULL; lot = lots_next(lots, &cursor)) {
        lot_resume(lot, worker);
    }
}

void
lots_shrink(struct lots *lots, struct memory *memory, struct epoch_record *epoch, uint32_t worker)
{
    uint32_t cursor = 0;

    for (struct lot *lot = lots_next(lots, &cursor); lot != NULL; lot = lots_next(lots, &cursor)) {
        lot_shrink(lot, memory, epoch, worker);
    }
}

/* ---- publishing ------------------------------------------------------------------------------ */

static struct lane_care
lot_care(const struct lot *lot, const struct bin_caller *caller)
{
    return (struct lane_care){.residence = &lot->residence,
                              .memory = caller->memory,
                              .epoch = caller->epoch,
                              .pool = caller->pool != NULL ? &caller->pool->segments : NULL};
}

bool
lot_prepare(struct lot *lot, const struct bin_caller *caller, uint32_t count)
{
    struct lane *lane = ptr_load(&lot->lanes[caller->worker]);

    if (lane != NULL) {
        const struct lane_care care = lot_care(lot, caller);

        return lane_has_room(lane, count) || lane_make_room(lane, &care, count);
    }
    lane = lane_make(caller->memory, count);
    if (lane == NULL) {
        return false;
    }
    /*
     * The bit first: who adopts this worker's slot, and finds the lane, need not ask for the bit.
     */
    u64_or(&lot->used, UINT64_C(1) << caller->worker);    /* lot_prepare:A */
    ptr_store_release(&lot->lanes[caller->worker], lane); /* lot_prepare:B */
    return true;
}

void
lot_publish(struct lot *lot, uint32_t worker, uint64_t ref, int64_t insertion)
{
    struct lane *lane = ptr_load(&lot->lanes[worker]);

    lane_put(lane, ref, insertion);
    lane_publish(lane);
}

void
lot_note_affinity(struct lot *lot)
{
    /* relaxed: who set it made the fence, before this caller's own */
    if (u32_load(&lot->affinity) == 0) {
        (void)u32_exchange(&lot->affinity, 1);
    }
}

void
lots_note_affinity(struct lots *lots, schedq_profile_t profile, uint64_t unschedulable,
                   uint64_t pending)
{
    uint32_t cursor = 0;

    for (struct lot *lot = lots_next(lots, &cursor); lot != NULL; lot = lots_next(lots, &cursor)) {
        const struct lot_key *key = &lot->key;
        bool may_hold = key->profile == profile && (key->unschedulable & ~unschedulable) == 0 &&
                        (key->pending & ~pending) == 0;

        if (lot->catch_all || may_hold) {
            lot_note_affinity(lot);
        }
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

void
lot_read_begin(struct lot_reader *reader, struct lot *lot, const struct bin_caller *caller,
               int64_t newest)
{
    reader->lot = lot;
    reader->care = lot_care(lot, caller);
    reader->worker = caller->worker;
    reader->newest = newest;
    reader->left = u64_load_acquire(&lot->used); /* lot_read_begin:A reads from lot_prepare:A */
    reader->in_lane = false;
}

/* False: there is no lane left. */
static bool
begin_lane(struct lot_reader *reader)
{
    while (reader->left != 0) {
        uint32_t worker = (uint32_t)__builtin_ctzll(reader->left);
        /* begin_lane:A reads from lot_prepare:B */
        struct lane *lane = ptr_load_acquire(&reader->lot->lanes[worker]);

        reader->left &= reader->left - 1;
        if (lane != NULL) {
            lane_read_begin(&reader->lane, lane);
            reader->in_lane = true;
            reader->from = INT64_MIN;
            reader->own = worker == reader->worker;
            return true;
        }
    }
    return false;
}

/* Of one segment. */
static size_t
read_lot_lane(struct lot_reader *reader, uint64_t *refs, size_t capacity)
{
    struct lane_ref next;
    size_t count = 0;

    while (count < capacity &&
           lane_next(&reader->lane, reader->own ? reader->newest : INT64_MAX, &next)) {
        refs[count++] = next.ref;
        reader->from = next.key;
    }
    return count;
}

size_t
lot_read(struct lot_reader *reader, uint64_t *refs, size_t capacity)
{
    while (reader->in_lane || begin_lane(reader)) {
        size_t count = read_lot_lane(reader, refs, capacity);

        if (count > 0) {
            return count;
        }
        reader->in_lane = lane_read_on(&reader->lane, &reader->care);
    }
    return 0;
}

/* Insertions grow along a lane, and stay with a ref when its segment is replaced. */
void
lot_read_again(struct lot_reader *reader)
{
    if (reader->in_lane) {
        lane_read_again(&reader->lane, reader->from);
    }
}

void
lot_found_stale(struct lot_reader *reader, uint32_t count)
{
    lane_found_stale(&reader->lane, count);
}

/* Loads as lot_read_begin:A and begin_lane:A. */
void
lot_pass(struct lot *lot, const struct bin_caller *caller)
{
    const struct lane_care care = lot_care(lot, caller);

    for (uint64_t used = u64_load_acquire(&lot->used); used != 0; used &= used - 1) {
        struct lane *lane = ptr_load_acquire(&lot->lanes[__builtin_ctzll(used)]);

        if (lane != NULL) {
            lane_pass(lane, &care);
        }
    }
}
