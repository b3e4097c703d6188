/*
 * Lots of lots.h, which has the essay: linearization, ordering, progress. Each acquire names the
 * exchange that it reads from.
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

/* ---- making and ending ----------------------------------------------------------------------- */

void
lot_open(struct lot *lot, const struct entries *entries, enum place place, uint32_t workers)
{
    lot->residence = (struct residence){.entries = entries, .place = place};
    lot->has_banks = workers > BANK_LANES;
    lot->number = UINT64_MAX - place; /* which no lot draws */
}

static const struct bank_kind banks_of_lots = {.bytes = sizeof(struct bank)};

void
lot_close(struct lot *lot, struct memory *memory)
{
    bank_close(&lot->bank, &banks_of_lots, memory);
}

void
lots_open(struct lots *lots, struct memory *memory, const struct entries *entries, uint32_t max,
          uint32_t workers)
{
    lots->memory = memory;
    lots->entries = entries;
    lots->max = max;
    lots->catch_all.catch_all = true;
    lot_open(&lots->catch_all, entries, PLACE_PARKED, workers);
}

static void
lot_free(struct lot *lot, struct memory *memory)
{
    lot_close(lot, memory);
    memory_free(memory, MEMORY_QUEUES, lot, sizeof *lot);
}

void
lots_close(struct lots *lots)
{
    struct lot_group *next, *group = ptr_load(&lots->first);

    lot_close(&lots->catch_all, lots->memory);
    for (; group != NULL; group = next) {
        for (uint32_t i = 0; i < LOTS_IN_GROUP; i++) {
            struct lot *lot = ptr_load(&group->lots[i]);

            if (lot != NULL) {
                lot_free(lot, lots->memory);
            }
        }
        next = ptr_load(&group->next);
        memory_free(lots->memory, MEMORY_QUEUES, group, sizeof *group);
    }
}

/* ---- finding and making ---------------------------------------------------------------------- */

static uint32_t
key_class(const struct lot_key *key)
{
    return key_hash(key) % LOT_CLASSES;
}

static struct lot *
find_lot(const struct lots *lots, const struct lot_key *key)
{
    const struct lot_group *group = ptr_load_acquire(&lots->first); /* of memory_alloc_first:A */
    uint32_t class = key_class(key);

    for (; group != NULL; group = ptr_load_acquire(&group->next)) {
        uint64_t bits = u64_load_acquire(&group->by_key[class]); /* of lot_make:C */

        for (; bits != 0; bits &= bits - 1) {
            /* find_lot:A reads from lot_make:B */
            struct lot *lot = ptr_load_acquire(&group->lots[__builtin_ctzll(bits)]);

            if (lot != NULL && lot_key_equal(&lot->key, key) && lot_keep(lot)) {
                return lot;
            }
        }
    }
    return NULL;
}

static uint64_t
plugins_of(const struct lot_key *key)
{
    return key->unschedulable | key->pending;
}

/* Adds `by`, 1 or -1, to the counts of lots with these plugins. */
static void
count_lot(struct lots *lots, uint64_t plugins, int64_t by)
{
    if (plugins == 0) {
        (void)u64_add(&lots->of_none, (uint64_t)by); /* count_lot:A */
    }
    for (; plugins != 0; plugins &= plugins - 1) {
        (void)u64_add(&lots->of_plugin[__builtin_ctzll(plugins)], (uint64_t)by); /* count_lot:B */
    }
}

/*
 * Clears a bit that only the caller changes. The bit may be unset, if the thread that made the lot
 * stopped before it set all.
 */
static void
clear_bit(atomic_u64 *word, uint64_t bit)
{
    if ((u64_load(word) & bit) != 0) {
        (void)u64_add(word, UINT64_C(0) - bit);
    }
}

/* False: none of `cells` is free. Ends: each failed exchange is a cell that was taken or freed. */
static bool
claim_cell(struct lot_group *group, uint64_t cells, uint8_t *cell)
{
    uint64_t taken = u64_load(&group->taken), open;

    while ((open = cells & ~taken) != 0) {
        /* claim_cell:A reads from lot_unmake:C */
        if (u64_swing(&group->taken, &taken, taken | (open & -open))) {
            *cell = (uint8_t)__builtin_ctzll(open);
            return true;
        }
    }
    return false;
}

/* A cell that is the caller's; NULL: there are `max` lots, or no memory for more cells. */
static struct lot_group *
claim_lot(struct lots *lots, uint8_t *cell)
{
    atomic_ptr *place = &lots->first;

    for (uint32_t left = lots->max; left > 0;) {
        uint64_t cells = left >= LOTS_IN_GROUP ? UINT64_MAX : (UINT64_C(1) << left) - 1;

        if (!memory_alloc_first(lots->memory, MEMORY_QUEUES, place, sizeof(struct lot_group))) {
            break;
        }
        struct lot_group *group = ptr_load(place);

        if (claim_cell(group, cells, cell)) {
            return group;
        }
        left -= left >= LOTS_IN_GROUP ? LOTS_IN_GROUP : left;
        place = &group->next;
    }
    return NULL;
}

/* If another thread made a lot of this key meanwhile, in a cell before, that lot is returned. */
static struct lot *
lot_make(struct lots *lots, const struct lot_key *key)
{
    uint64_t plugins = plugins_of(key);
    uint8_t cell;
    struct lot_group *group = claim_lot(lots, &cell);
    struct lot *lot =
        group == NULL ? NULL : memory_alloc(lots->memory, MEMORY_QUEUES, sizeof *lot, CACHE_LINE);

    if (lot == NULL) {
        if (group != NULL) {
            clear_bit(&group->taken, UINT64_C(1) << cell);
        }
        return NULL;
    }
    const uint64_t bit = UINT64_C(1) << cell;

    lot->key = *key;
    lot->cell = cell;
    lot->group = group;
    lot->number = u64_add(&lots->drawn, 1) + 1;
    lot->residence = lots->catch_all.residence;
    lot->has_banks = lots->catch_all.has_banks;
    count_lot(lots, plugins, 1);
    if (plugins == 0) {
        u64_or(&group->by_none, bit);
    }
    for (; plugins != 0; plugins &= plugins - 1) {
        u64_or(&group->by_plugin[__builtin_ctzll(plugins)], bit); /* lot_make:A */
    }
    ptr_store_release(&group->lots[cell], lot);  /* lot_make:B */
    u64_or(&group->by_key[key_class(key)], bit); /* lot_make:C */
    /* not NULL: this section is older than any wait for `lot` */
    return find_lot(lots, key);
}

static void lots_sweep(struct lots *lots, const struct bin_caller *caller);

struct lot *
lots_get(struct lots *lots, const struct bin_caller *caller, const struct lot_key *key)
{
    struct lot *lot = find_lot(lots, key);

    if (lot == NULL) {
        lots_sweep(lots, caller);
        lot = lot_make(lots, key);
    }
    if (lot == NULL) {
        uint64_t plugins = plugins_of(key) != 0 ? plugins_of(key) : LOTS_ALL;

        lot = &lots->catch_all;
        if ((u64_load(&lots->caught) & plugins) != plugins) {
            u64_or(&lots->caught, plugins); /* lots_get:A */
        }
    }
    return lot;
}

/* ---- leaving --------------------------------------------------------------------------------- */

#define SWEPT_AT_ONCE 4
#define JUDGED_AT_ONCE 64 /* refs of a lane */

/* False also if too many stale refs are in the way. */
static bool
lot_is_empty(const struct lot *lot)
{
    struct bank_reader reader;
    struct lane *lane;
    uint32_t worker;

    bank_read_begin(&reader, &lot->bank, lot->has_banks);
    do {
        lane = bank_read_lane(&reader, &worker);
    } while (lane != NULL && lane_is_spent(lane, &lot->residence, JUDGED_AT_ONCE));
    return lane == NULL;
}

static struct lot *
lot_of_block(struct epoch_block *block)
{
    return (struct lot *)(void *)((char *)block - offsetof(struct lot, block));
}

/* Called after the last grace period. */
static bool
lot_end(struct epoch_block *block)
{
    lot_free(lot_of_block(block), block->memory);
    return true;
}

/* For a lot that this thread made GONE: first takes away what leads to it. */
static void
lot_unmake(struct lots *lots, struct lot *lot, const struct bin_caller *caller)
{
    struct lot_group *group = lot->group;
    uint64_t bit = UINT64_C(1) << lot->cell, plugins = plugins_of(&lot->key);

    clear_bit(&group->by_key[key_class(&lot->key)], bit); /* lot_unmake:A */
    if (plugins == 0) {
        clear_bit(&group->by_none, bit);
    }
    for (; plugins != 0; plugins &= plugins - 1) {
        clear_bit(&group->by_plugin[__builtin_ctzll(plugins)], bit);
    }
    count_lot(lots, plugins_of(&lot->key), -1);
    (void)ptr_exchange(&group->lots[lot->cell], NULL); /* lot_unmake:B */
    epoch_retire_with(caller->epoch, &lot->block, caller->memory, MEMORY_QUEUES, sizeof *lot,
                      lot_end);
    clear_bit(&group->taken, bit); /* lot_unmake:C */
}

static uint64_t
make_state(uint64_t number, enum lot_phase phase)
{
    return number * LOT_PHASES + (uint64_t)phase;
}

/* The wait is over. */
static void
end_wait(struct lots *lots, struct lot *lot, uint64_t state, const struct bin_caller *caller)
{
    if (!lot_is_empty(lot)) {
        (void)u64_cas(&lot->state, state, LOT_OPEN);
    } else if (u64_cas(&lot->state, state, LOT_GONE)) { /* end_wait:A */
        lot_unmake(lots, lot, caller);
    }
}

void
lots_look(struct lots *lots, struct lot *lot, const struct bin_caller *caller)
{
    struct epoch *epoch = caller->epoch->epoch;
    uint64_t state = u64_load_acquire(&lot->state);

    if (lot->catch_all) {
        return;
    }
    if (lot_phase(state) == LOT_OPEN && lot_is_empty(lot)) {
        uint64_t empty = make_state(epoch_mark(epoch), LOT_EMPTY);

        if (u64_cas(&lot->state, state, empty)) { /* lots_look:A */
            state = empty;
        }
    }
    if (lot_phase(state) == LOT_EMPTY) {
        uint64_t leaving = make_state(epoch_mark(epoch), LOT_LEAVING);

        if (u64_cas(&lot->state, state, leaving)) { /* lots_look:B */
            state = leaving;
            epoch_press(caller->epoch, sizeof *lot);
        }
    }
    if (lot_phase(state) == LOT_LEAVING) {
        if (epoch_passed(epoch, state / LOT_PHASES)) {
            end_wait(lots, lot, state, caller);
        } else {
            epoch_press(caller->epoch, 0);
        }
    }
}

static void
lots_sweep(struct lots *lots, const struct bin_caller *caller)
{
    struct lots_walk walk;
    struct lot *lot = NULL;

    lots_walk_begin(&walk, lots, LOTS_ALL, u32_load(&lots->swept));
    for (uint32_t i = 0; i < SWEPT_AT_ONCE && (lot = lots_next(&walk)) != NULL; i++) {
        lots_look(lots, lot, caller);
    }
    u32_store(&lots->swept, lot != NULL ? walk.position + 1 : 1);
}

void
lots_trim(struct lots *lots, const struct bin_caller *caller)
{
    struct lots_walk walk;

    lots_walk_begin(&walk, lots, LOTS_ALL, 0);
    for (struct lot *lot = lots_next(&walk); lot != NULL; lot = lots_next(&walk)) {
        lots_look(lots, lot, caller);
    }
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* Is there a lot of one of these plugins, or of none? */
static bool
has_lot(const struct lots *lots, uint64_t plugins)
{
    uint64_t count = u64_load_acquire(&lots->of_none); /* has_lot:A reads from count_lot:A */

    for (; plugins != 0 && count == 0; plugins &= plugins - 1) {
        /* has_lot:B reads from count_lot:B */
        count = u64_load_acquire(&lots->of_plugin[__builtin_ctzll(plugins)]);
    }
    return count != 0;
}

void
lots_walk_begin(struct lots_walk *walk, struct lots *lots, uint64_t plugins, uint32_t from)
{
    *walk = (struct lots_walk){.lots = lots,
                               .plugins = plugins,
                               .from = from,
                               .first = 1 - LOTS_IN_GROUP,
                               .over = plugins != LOTS_ALL && !has_lot(lots, plugins)};
}

/* The lots of a group to look at. */
static uint64_t
cells_of(const struct lot_group *group, uint64_t plugins)
{
    if (plugins == LOTS_ALL) {
        return u64_load_acquire(&group->taken); /* cells_of:A reads from claim_cell:A */
    }
    uint64_t cells = u64_load_acquire(&group->by_none);

    for (; plugins != 0; plugins &= plugins - 1) {
        /* cells_of:B reads from lot_make:A */
        cells |= u64_load_acquire(&group->by_plugin[__builtin_ctzll(plugins)]);
    }
    return cells;
}

/* Goes on to the next group. False: there is none. */
static bool
enter_group(struct lots_walk *walk)
{
    /* of memory_alloc_first:A */
    struct lot_group *group =
        walk->over
            ? NULL
            : ptr_load_acquire(walk->group != NULL ? &walk->group->next : &walk->lots->first);

    if (group == NULL) {
        return false;
    }
    walk->group = group;
    walk->first += LOTS_IN_GROUP;
    if (walk->from >= walk->first + LOTS_IN_GROUP) {
        return true;
    }
    walk->bits = cells_of(group, walk->plugins);
    if (walk->from > walk->first) {
        walk->bits &= UINT64_MAX << (walk->from - walk->first);
    }
    return true;
}

static struct lot *
stand_on(struct lots_walk *walk, struct lot *lot, uint32_t position)
{
    walk->position = position;
    walk->number = lot->number;
    return lot;
}

struct lot *
lots_next(struct lots_walk *walk)
{
    if (walk->from == 0) {
        walk->from = 1;
        if ((u64_load_acquire(&walk->lots->caught) & walk->plugins) != 0) {
            return stand_on(walk, &walk->lots->catch_all, 0);
        }
    }
    /* Ends: each further round is a cell, or a group, further. */
    for (;;) {
        while (walk->bits == 0) {
            if (!enter_group(walk)) {
                return NULL;
            }
        }
        uint32_t cell = (uint32_t)__builtin_ctzll(walk->bits);
        struct lot *lot =
            ptr_load_acquire(&walk->group->lots[cell]); /* lots_next:A reads from lot_make:B */

        walk->bits &= walk->bits - 1;
        if (lot != NULL) {
            return stand_on(walk, lot, walk->first + cell);
        }
    }
}

bool
lots_again(const struct lots_walk *walk)
{
    if (walk->position == 0) {
        return true;
    }
    const struct lot *lot =
        ptr_load_acquire(&walk->group->lots[walk->position - walk->first]); /* as lots_next:A */

    return lot != NULL && lot->number == walk->number;
}

/* ---- lanes of a worker ----------------------------------------------------------------------- */

void
lot_tend(struct lot *lot, struct memory *memory, struct epoch_record *epoch, uint32_t worker)
{
    const struct lane_care care = {.residence = &lot->residence, .memory = memory, .epoch = epoch};

    bank_tend(&lot->bank, &care, worker);
}

void
lots_tend(struct lots *lots, struct memory *memory, struct epoch_record *epoch, uint32_t worker)
{
    struct lots_walk walk;

    lots_walk_begin(&walk, lots, LOTS_ALL, 0);
    for (struct lot *lot = lots_next(&walk); lot != NULL; lot = lots_next(&walk)) {
        lot_tend(lot, memory, epoch, worker);
    }
}

/* ---- publishing ------------------------------------------------------------------------------ */

bool
lot_prepare(struct lot *lot, const struct bin_caller *caller, uint32_t count)
{
    const struct lane_care care = bin_care(&lot->residence, caller);

    return bank_prepare(&lot->bank, &banks_of_lots, &care, caller->worker, count);
}

void
lot_note_affinity(struct lot *lot)
{
    /* relaxed: the thread that set it made a fence, and this caller makes its own */
    if (u32_load(&lot->affinity) == 0) {
        (void)u32_exchange(&lot->affinity, 1);
    }
}

void
lots_note_affinity(struct lots *lots, schedq_profile_t profile, uint64_t unschedulable,
                   uint64_t pending)
{
    struct lots_walk walk;

    lots_walk_begin(&walk, lots, LOTS_ALL, 0);
    for (struct lot *lot = lots_next(&walk); lot != NULL; lot = lots_next(&walk)) {
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
    reader->care = bin_care(&lot->residence, caller);
    reader->worker = caller->worker;
    reader->newest = newest;
    bank_read_begin(&reader->lanes, &lot->bank, lot->has_banks);
    reader->in_lane = false;
}

/* Goes on to the next lane. False: there is none left. */
static bool
begin_lane(struct lot_reader *reader)
{
    uint32_t worker;
    struct lane *lane = bank_read_lane(&reader->lanes, &worker);

    if (lane == NULL) {
        return false;
    }
    lane_read_begin(&reader->lane, lane);
    reader->in_lane = true;
    reader->marked = false;
    reader->from = INT64_MIN;
    reader->upto = worker == reader->worker ? reader->newest : lane_newest(lane);
    return true;
}

static void
leave_bookmark(struct lot_reader *reader)
{
    reader->marked = lane_bookmark(&reader->lane, reader->care.epoch, MARK_OF_EVENTS);
}

size_t
lot_read(struct lot_reader *reader, struct lane_ref *refs, size_t capacity)
{
    while (reader->in_lane || begin_lane(reader)) {
        size_t count = lane_next(&reader->lane, reader->upto, refs, capacity);

        if (count > 0) {
            reader->from = refs[count - 1].key;
            return count;
        }
        reader->in_lane = lane_read_on(&reader->lane, &reader->care);
        if (reader->in_lane) {
            leave_bookmark(reader);
        }
    }
    return 0;
}

/* Insertions grow along a lane, and stay with a ref when its segment is replaced. */
void
lot_read_again(struct lot_reader *reader)
{
    if (reader->in_lane) {
        lane_read_again(&reader->lane, reader->from, reader->marked ? reader->care.epoch : NULL,
                        MARK_OF_EVENTS);
        leave_bookmark(reader);
    }
}

void
lot_found_stale(struct lot_reader *reader, uint32_t count)
{
    lane_found_stale(&reader->lane, count);
}

void
lot_pass(struct lot *lot, const struct bin_caller *caller, uint32_t most)
{
    const struct lane_care care = bin_care(&lot->residence, caller);
    struct bank_reader reader;
    struct lane *lane;
    uint32_t worker;

    bank_read_begin(&reader, &lot->bank, lot->has_banks);
    while (most != 0 && (lane = bank_read_lane(&reader, &worker)) != NULL) {
        lane_pass(lane, &care, &most);
    }
}
