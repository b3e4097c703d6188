/* Bins of bin.h. */
#include "lockfree/refs/bin.h"

#include "lockfree/refs/tie.h"

#include <stddef.h>

#define MERGE_AHEAD 16 /* refs; a run of RUN_FEW is in the cache */

void
bin_open(struct bin *bin, const struct residence *residence)
{
    bin->residence = *residence;
    bin->here = state_make(0, residence->band, residence->place);
    u32_store(&bin->slots, residence->ties == TIES_OPEN ? 0 : 1);
}

static struct bin *
bin_of(const struct bank *bank)
{
    return (struct bin *)(void *)((uintptr_t)bank - offsetof(struct bin, bank));
}

/* bank_kind.begin */
static void
begin_bank(struct bank *made, const struct bank *first)
{
    bin_of(made)->residence = bin_of(first)->residence;
    bin_of(made)->here = bin_of(first)->here;
}

/* Most bins never have a run, nor a bank, and their scans look at no slot. */
static void
raise_slots(struct bin *bin, uint32_t slots)
{
    (void)u32_max(&bin->slots, slots); /* raise_slots:A */
}

/* bank_kind.announce */
static void
announce_bank(struct bank *first)
{
    raise_slots(bin_of(first), BANKS_MORE | BIN_RUNS);
}

static const struct bank_kind banks_of_bins = {.bytes = sizeof(struct bin),
                                               .offset = offsetof(struct bin, bank),
                                               .begin = begin_bank,
                                               .announce = announce_bank};

void
bin_close(struct bin *bin, struct memory *memory)
{
    bank_close(&bin->bank, &banks_of_bins, memory);
}

void
bin_give_runs(struct bin *bin, struct run_pool *pool)
{
    for (uint32_t i = 0; i < BIN_RUNS; i++) {
        uint64_t word = u64_load(&bin->runs[i]);
        struct run *run = word != 0 ? run_at(pool, word) : NULL;

        if (run != NULL) {
            run_give(pool, run);
        }
    }
}

void
bin_tend(struct bin *bin, struct memory *memory, struct epoch_record *epoch, uint32_t worker)
{
    const struct lane_care care = {.residence = &bin->residence, .memory = memory, .epoch = epoch};

    bank_tend(&bin->bank, &care, worker);
}

/* The bin of the bank behind that of another; NULL: there is none. */
static struct bin *
next_bank(const struct bin *bin)
{
    const struct bank *next = bank_next(&bin->bank);

    return next != NULL ? bin_of(next) : NULL;
}

/* ---- producers ------------------------------------------------------------------------------- */

bool
bin_prepare(struct bin *bin, const struct bin_caller *caller, uint32_t count)
{
    const struct lane_care care = bin_care(&bin->residence, caller);

    return bank_prepare(&bin->bank, &banks_of_bins, &care, caller->worker, count);
}

static bool
is_stale(const struct bin *bin, uint64_t ref)
{
    uint64_t state;

    return bin_verdict(bin, ref, &state) == VERDICT_STALE;
}

/*
 * A helper does all that the publisher owes: the publisher may have stopped before it marked the
 * bin, and no walk looks into a bin that is not marked. A bin that has left takes no pod. `entry`
 * is the one that was judged: trim may have taken the record's page since.
 */
bool
bin_help(struct bin *bin, const struct bin_caller *caller, struct entry *entry, uint64_t ref,
         uint32_t cause, uint64_t *state)
{
    const struct residence *residence = &bin->residence;

    return bin_mark(bin) &&
           caller->help(caller->ctx, residence, entry, ref, cause, state) == VERDICT_VALID;
}

/* ---- merging --------------------------------------------------------------------------------- */

/* The runs of a bin as they were seen. */
struct sighting {
    struct run_head heads[BIN_RUNS]; /* by slot */
    uint64_t order[BIN_RUNS];        /* those that have refs, fewest first: refs:32 | slot:32 */
    uint32_t count;
};

static void
drop_run(struct bin *bin, struct run_pool *pool, uint32_t slot, const struct run_head *head)
{
    if (u64_cas(&bin->runs[slot], head->word, 0)) { /* drop_run:A */
        run_give(pool, head->run);
    }
}

static void
sort_in(struct sighting *seen, uint32_t slot)
{
    uint64_t sorted = (uint64_t)seen->heads[slot].left << 32 | slot;
    uint32_t i = seen->count++;

    for (; i > 0 && seen->order[i - 1] > sorted; i--) {
        seen->order[i] = seen->order[i - 1];
    }
    seen->order[i] = sorted;
}

/* The slot of the run whose turn this is. */
static inline uint32_t
sighted_slot(const struct sighting *seen, uint32_t turn)
{
    return (uint32_t)seen->order[turn];
}

static inline uint32_t
sighted_refs(const struct sighting *seen, uint32_t turn)
{
    return (uint32_t)(seen->order[turn] >> 32);
}

/* Looks at all runs. True: a slot is free, or became free. */
static bool
sight_runs(struct bin *bin, struct run_pool *pool, struct sighting *seen)
{
    bool room = false;

    /*
     * Slots are loaded with acquire, here and in scans: they read from bin_publish_run:A or
     * put_merged:A.
     */
    seen->count = 0;
    for (uint32_t i = 0; i < BIN_RUNS; i++) {
        uint64_t word = u64_load_acquire(&bin->runs[i]);

        if (word == 0) {
            room = true;
            continue;
        }
        switch (run_peek(pool, &bin->runs[i], word, &seen->heads[i])) {
        case RUN_CHANGED:
            room = true;
            break;
        case RUN_EMPTY:
            drop_run(bin, pool, i, &seen->heads[i]);
            room = true;
            break;
        case RUN_HEAD:
            sort_in(seen, i);
            break;
        }
    }
    return room;
}

/*
 * How many of the smallest runs are merged: at least two, and then each that is no larger than all
 * before it together. So a ref is copied about log2(number of refs) times.
 */
static uint32_t
choose(const struct sighting *seen, uint32_t *refs)
{
    uint32_t count = 2;

    *refs = sighted_refs(seen, 0) + sighted_refs(seen, 1);
    while (count < seen->count && sighted_refs(seen, count) <= *refs) {
        *refs += sighted_refs(seen, count);
        count++;
    }
    return count;
}

struct cursor {
    const struct run *run;
    const atomic_u64 *slot;
    uint64_t word; /* of the slot, while it holds the run */
    uint32_t position, end;
    uint32_t cause;
    uint64_t ref; /* the next that is not stale */
    int64_t key;
};

/* Each judgement would miss the cache: the records are fetched MERGE_AHEAD refs ahead. */
STRAIGHT void
fetch_merged(const struct cursor *cursor, const struct bin *bin)
{
    if (cursor->end - cursor->position > MERGE_AHEAD) {
        /* acquire: cursor_load:A comes after; a ref of another use names a record, too */
        uint64_t ref = u64_load_acquire(&cursor->run->slots[cursor->position + MERGE_AHEAD].ref);

        __builtin_prefetch(entry_at(bin->residence.entries, ref_record(ref)));
    }
}

/*
 * Goes on to the next ref that is not stale, helping FUTURE ones, so that copies are VALID. Where
 * pods wait for events, or are held, there are no helpers (waiting.h): FUTURE refs are copied.
 * False: the run left its slot. A ref that was read may be of the run's next use, in another bin,
 * and must not be helped here: so the slot is looked at behind each ref.
 */
STRAIGHT bool
cursor_load(struct cursor *cursor, struct bin *bin, const struct bin_caller *caller)
{
    for (; cursor->position < cursor->end; cursor->position++) {
        const struct slot *slot = &cursor->run->slots[cursor->position];
        uint64_t state;

        fetch_merged(cursor, bin);
        /* acquire: cursor_load:A comes after both */
        cursor->key = (int64_t)u64_load_acquire(&slot->key);
        cursor->ref = u64_load_acquire(&slot->ref);
        if (u64_load_acquire(cursor->slot) != cursor->word) { /* cursor_load:A */
            return false;
        }
        if (!place_has_helpers(bin->residence.place)
                ? bin_verdict(bin, cursor->ref, &state) != VERDICT_STALE
                : bin_judge(bin, caller, cursor->ref, cursor->cause, &state)) {
            break;
        }
    }
    return true;
}

/* Moves the first of the cursors up to `end` to its place in the order of the others. */
STRAIGHT void
sort_first(const struct residence *residence, struct cursor **first, struct cursor *const *end)
{
    struct cursor *moved = *first;
    const int64_t key = moved->key;

    for (; first + 1 != end; first++) {
        struct cursor *next = first[1];

        if (next->key > key ||
            (next->key == key && !ref_before(residence, key, next->ref, key, moved->ref))) {
            break;
        }
        first[0] = next;
    }
    first[0] = moved;
}

/* Most runs have all keys behind another's: then a ref is compared with one other. */
static bool
merge_into(struct run *merged, struct bin *bin, const struct bin_caller *caller,
           struct cursor *cursors, uint32_t count)
{
    /* those that have a ref, from `first` on */
    struct cursor *order[BIN_RUNS], **end = order + BIN_RUNS, **first = end;

    for (uint32_t i = count; i-- > 0;) {
        if (!cursor_load(&cursors[i], bin, caller)) {
            return false;
        }
        if (cursors[i].position != cursors[i].end) {
            *--first = &cursors[i];
            sort_first(&bin->residence, first, end);
        }
    }
    while (first != end) {
        struct cursor *least = *first;

        run_put(merged, least->ref, least->key);
        least->position++;
        if (!cursor_load(least, bin, caller)) {
            return false;
        }
        if (least->position == least->end) {
            first++;
        } else {
            sort_first(&bin->residence, first, end);
        }
    }
    return true;
}

/* One CAS on the lowest slot, then the others are emptied: copies only move down. */
static void
put_merged(struct bin *bin, struct run_pool *pool, const struct sighting *seen, uint32_t count,
           struct run *merged)
{
    uint32_t lowest = sighted_slot(seen, 0);

    for (uint32_t i = 1; i < count; i++) {
        uint32_t slot = sighted_slot(seen, i);

        lowest = slot < lowest ? slot : lowest;
    }
    uint64_t word = u32_load(&merged->count) > 0 ? run_word(merged) : 0;

    if (!u64_cas(&bin->runs[lowest], seen->heads[lowest].word, word)) { /* put_merged:A */
        run_give(pool, merged);
        return;
    }
    run_give(pool, seen->heads[lowest].run);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = sighted_slot(seen, i);

        if (slot != lowest) {
            drop_run(bin, pool, slot, &seen->heads[slot]); /* put_merged:B */
        }
    }
    if (word == 0) {
        run_give(pool, merged);
    }
}

/* Makes a slot free, or finds a free one. False: no memory. */
static bool
make_slot(struct bin *bin, const struct bin_caller *caller)
{
    struct run_pool *pool = caller->pool;
    struct sighting seen;
    struct cursor cursors[BIN_RUNS];
    uint32_t refs;

    if (sight_runs(bin, pool, &seen)) {
        return true;
    }
    uint32_t count = choose(&seen, &refs);
    struct run *merged = run_take(pool, refs);

    if (merged == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = sighted_slot(&seen, i);
        const struct run_head *head = &seen.heads[slot];

        cursors[i] = (struct cursor){.run = head->run,
                                     .slot = &bin->runs[slot],
                                     .word = head->word,
                                     .position = (uint32_t)head->head,
                                     .end = (uint32_t)head->head + head->left,
                                     .cause = head->cause};
    }
    if (merge_into(merged, bin, caller, cursors, count)) {
        put_merged(bin, pool, &seen, count, merged);
    } else {
        run_give(pool, merged);
    }
    return true;
}

bool
bin_prepare_run(struct bin *bin, const struct bin_caller *caller)
{
    return bin_has_slot(bin) || make_slot(bin, caller);
}

bool
bin_publish_run(struct bin *bin, const struct bin_caller *caller, struct run *run)
{
    uint64_t word = run_word(run);

    /* Ends: a slot that was taken or changed in between is another thread's progress. */
    for (;;) {
        for (uint32_t i = 0; i < BIN_RUNS; i++) {
            if (u64_load(&bin->runs[i]) == 0) {
                raise_slots(bin, i + 1);
                if (u64_cas(&bin->runs[i], 0, word)) { /* bin_publish_run:A */
                    u32_store(&bin->newest, i);
                    return true;
                }
            }
        }
        if (!make_slot(bin, caller)) {
            return false;
        }
    }
}

/* Not where ties are compared: each of the run's refs would have to be compared. */
struct run *
bin_put_beside(struct bin *bin, const struct run_pool *pool, struct run *own, uint64_t ref,
               int64_t key, uint32_t cause)
{
    atomic_u64 *slot = &bin->runs[u32_load(&bin->newest)];
    uint64_t word = u64_load_acquire(slot);
    struct run *old = word != 0 && bin->residence.ties == TIES_OPEN
                          ? run_put_beside(own, pool, word, ref, key, cause)
                          : NULL;

    if (old == NULL) {
        return NULL;
    }
    if (!u64_cas(slot, word, run_word(own))) { /* bin_put_beside:A */
        run_renew(own);
        return NULL;
    }
    run_renew(old);
    return old;
}

bool
bin_publish_ref(struct bin *bin, const struct bin_caller *caller, struct run *own,
                const struct bin_ref *ref)
{
    run_set_cause(own, ref->cause);
    run_put(own, ref->ref, ref->key);
    if (!bin_publish_run(bin, caller, own)) {
        run_renew(own);
        return false;
    }
    return true;
}

/* ---- consumers ------------------------------------------------------------------------------- */

/*
 * Another thread may have stored a greater front in between. Then it is too low: that costs looks.
 */
static void
raise_front(atomic_u64 *front, int64_t bound, bool empty)
{
    uint64_t raised = front_of(bound) | (empty ? FRONT_EMPTY : 0);

    if (u64_load(front) < raised) {
        u64_store_release(front, raised); /* raise_front:A */
    }
}

/* `front` NULL: the lane's front is left as it is. */
static void
pass_by(atomic_u64 *front, const struct lane_head *head)
{
    int64_t bound;

    if (front == NULL) {
        lane_advance(head);
    } else {
        bool more = lane_pass_by(head, &bound);

        raise_front(front, bound, !more);
    }
}

/* Goes past stale refs, from the one that was peeked; out of line, as scan_runs is. */
__attribute__((noinline)) static bool
pass_stale(const struct bin *bin, atomic_u64 *front, struct lane *lane, struct lane_head *head)
{
    bool found = true;

    /* Ends: each round goes past a ref, or another thread did. */
    while (found && is_stale(bin, head->ref)) {
        lane_skip_stale(head, &bin->residence);
        pass_by(front, head);
        found = front == NULL ? lane_peek(lane, head)
                              : lane_peek_from(lane, front_bound(u64_load_acquire(front)), head);
    }
    return found;
}

/*
 * The first ref of a lane. Where ties are compared, the first that is not stale: a stale ref has no
 * tie.
 */
static bool
first_of_lane(struct bin *bin, uint32_t worker, uint64_t front, struct lane_head *head)
{
    struct lane *lane = ptr_load_acquire(&bin->bank.lanes[worker]); /* reads from bank_prepare:B */

    return lane != NULL && lane_peek_from(lane, front_bound(front), head) &&
           (bin->residence.ties == TIES_OPEN || pass_stale(bin, &bin->fronts[worker], lane, head));
}

/*
 * The same without reading the front, which is not needed if no other lane is compared with this
 * one.
 */
static bool
first_of_any_lane(const struct bin *bin, uint32_t worker, struct bin_head *head)
{
    struct lane *lane = ptr_load_acquire(&bin->bank.lanes[worker]); /* as in first_of_lane */

    head->is_run = false;
    head->front = NULL;
    return lane != NULL && lane_peek(lane, &head->lane) &&
           (bin->residence.ties == TIES_OPEN || pass_stale(bin, NULL, lane, &head->lane));
}

/* Can the lane have a ref before the best, as its front says? */
static bool
front_is_before(const struct bin *bin, uint64_t front, const struct bin_head *best)
{
    int64_t bound = front_bound(front);

    return bound < best->lane.key || (bound == best->lane.key && bin->residence.ties != TIES_OPEN);
}

/* Looks into a lane. True: it has the best ref so far. */
static bool
try_lane(struct bin *bin, uint32_t worker, uint64_t front, bool found, struct bin_head *best)
{
    atomic_u64 *own = &bin->fronts[worker];
    struct lane_head head;

    if (!first_of_lane(bin, worker, front, &head)) {
        raise_front(own, front_bound(front), true);
        return false;
    }
    if (found && !ref_before(&bin->residence, head.key, head.ref, best->lane.key, best->lane.ref)) {
        raise_front(own, lane_bound(head.key), false);
        return false;
    }
    best->lane = head;
    best->front = own;
    return true;
}

/* Looks into all lanes of a set whose fronts are before what was found. */
static bool
try_lanes(struct bin *bin, uint64_t lanes, bool found, struct bin_head *best)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(lanes);
        uint64_t front = u64_load_acquire(&bin->fronts[i]); /* try_lanes:A, of raise_front:A */

        if (!found || front_is_before(bin, front, best)) {
            found |= try_lane(bin, i, front, found, best);
        }
    }
    return found;
}

/* Where a scan begins: the lane with the least front; `next`: the least front of the others. */
struct choice {
    uint32_t lane;
    uint64_t least, next;
};

/* It chooses a lane that was empty lately only if there is no other. */
static void
compare_fronts(const struct bin *bin, uint64_t lanes, struct choice *choice)
{
    for (; lanes != 0; lanes &= lanes - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(lanes);
        uint64_t front = u64_load_acquire(&bin->fronts[i]);

        if ((front & FRONT_EMPTY) != 0) {
            choice->next = 0; /* to be looked into, whatever is found */
        } else if (front < choice->least) {
            choice->next = choice->least < choice->next ? choice->least : choice->next;
            choice->lane = i;
            choice->least = front;
        } else if (front < choice->next) {
            choice->next = front;
        }
    }
}

/* Another thread may have stored a greater one in between, as in raise_front. */
static void
raise_least(struct bin *bin, uint32_t line)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = line * FRONTS_LINE; i < (line + 1) * FRONTS_LINE; i++) {
        uint64_t front = u64_load_acquire(&bin->fronts[i]); /* raise_least:A */

        least = front < least ? front : least;
    }
    if (u64_load(&bin->leasts[line]) < least) {
        u64_store_release(&bin->leasts[line], least); /* raise_least:B */
    }
}

/*
 * For many lanes. If one of them was empty lately, all lines are read, and leasts are left alone.
 */
static void
compare_lines(struct bin *bin, uint64_t used, struct choice *choice)
{
    const uint64_t line = (UINT64_C(1) << FRONTS_LINE) - 1;
    uint64_t leasts[BANK_LANES / FRONTS_LINE];
    uint32_t first = 0, lines = 0;
    uint64_t read = 0;

    do {
        leasts[lines] = u64_load_acquire(&bin->leasts[lines]); /* compare_lines:A */
        first = leasts[lines] < leasts[first] ? lines : first;
        lines++;
    } while (lines < BANK_LANES / FRONTS_LINE && used >> lines * FRONTS_LINE != 0);
    if (leasts[first] != 0) { /* most likely a ref is taken there */
        __builtin_prefetch(&bin->fronts[first * FRONTS_LINE], 1);
    }
    for (uint32_t i = 0; i < lines; i++) {
        uint32_t at = (first + i) % lines;

        if (leasts[at] < choice->least) {
            compare_fronts(bin, used & line << at * FRONTS_LINE, choice);
            read |= UINT64_C(1) << at;
        } else if (leasts[at] < choice->next) {
            choice->next = leasts[at];
        }
    }
    read &= ~(UINT64_C(1) << choice->lane / FRONTS_LINE);
    for (; choice->next != 0 && read != 0; read &= read - 1) {
        raise_least(bin, (uint32_t)__builtin_ctzll(read));
    }
}

/*
 * Looks into the lane with the least front, then into those whose fronts are before what was found.
 */
__attribute__((noinline)) static bool
compare_lanes(struct bin *bin, uint64_t used, struct bin_head *best)
{
    struct choice choice = {
        .lane = (uint32_t)__builtin_ctzll(used), .least = UINT64_MAX, .next = UINT64_MAX};

    /* With few lanes, all in one line: a consumer that takes the ref writes that line. */
    if (used < UINT64_C(1) << FRONTS_LINE) {
        __builtin_prefetch(bin->fronts, 1);
    }
    if (used < UINT64_C(1) << FRONTS_READ) {
        compare_fronts(bin, used, &choice);
    } else {
        compare_lines(bin, used, &choice);
    }

    /* compare_lanes:A, as try_lanes:A */
    uint64_t front = u64_load_acquire(&bin->fronts[choice.lane]);
    bool found = try_lane(bin, choice.lane, front, false, best);

    return (found && !front_is_before(bin, choice.next, best)) ||
           try_lanes(bin, used & ~(UINT64_C(1) << choice.lane), found, best);
}

static bool
scan_lanes(struct bin *bin, struct bin_head *best)
{
    uint64_t used = u64_load_acquire(&bin->bank.used); /* scan_lanes:A reads from bank_prepare:A */

    if ((used & (used - 1)) != 0) {
        return compare_lanes(bin, used, best);
    }
    return used != 0 && first_of_any_lane(bin, (uint32_t)__builtin_ctzll(used), best);
}

/* How many refs at the head of a run are stale; anything if the run left its slot. */
static uint32_t
stale_in_run(const struct bin *bin, const struct run_head *head)
{
    uint32_t stale = 0;

    while (stale < head->left && is_stale(bin, run_ref(head, stale))) {
        stale++;
    }
    return stale;
}

/*
 * Goes past the stale refs at the head of a run. False: there is none. If the run left its slot,
 * the exchange finds another generation.
 */
static bool
pass_stale_in_run(const struct bin *bin, const struct run_head *head)
{
    uint32_t stale = stale_in_run(bin, head);

    if (stale > 0) {
        run_advance_by(head, stale);
    }
    return stale > 0;
}

/* The first ref of the run in a slot that is not stale. Never returns RUN_CHANGED. */
static enum run_sight
first_of_run(struct bin *bin, struct run_pool *pool, uint32_t slot, struct run_head *head)
{
    uint64_t word;

    /* Ends: a changed slot is another thread's progress, and so is a head that moved. */
    while ((word = u64_load_acquire(&bin->runs[slot])) != 0) {
        enum run_sight sight = run_peek(pool, &bin->runs[slot], word, head);

        if (sight == RUN_EMPTY) {
            drop_run(bin, pool, slot, head);
            return RUN_EMPTY;
        }
        if (sight == RUN_HEAD && !pass_stale_in_run(bin, head)) {
            return RUN_HEAD;
        }
    }
    return RUN_EMPTY;
}

/* A function of its own, so that the scan of a bin without runs saves no registers for it. */
__attribute__((noinline)) static bool
scan_runs(struct bin *bin, struct run_pool *pool, uint32_t slots, bool found, struct bin_head *best)
{
    int64_t key = found ? best->lane.key : 0;
    uint64_t ref = found ? best->lane.ref : 0;

    for (uint32_t i = slots; i-- > 0;) {
        uint64_t word = u64_load_acquire(&bin->runs[i]);
        struct run_head head;

        if (word == 0 || (found && run_lies_behind(pool, &bin->runs[i], word, key))) {
            continue;
        }
        if (first_of_run(bin, pool, i, &head) == RUN_HEAD &&
            (!found || ref_before(&bin->residence, head.key, head.ref, key, ref))) {
            best->run = head;
            best->slot = i;
            best->is_run = true;
            key = head.key;
            ref = head.ref;
            found = true;
        }
    }
    return found;
}

/* Looks into the lanes of all further banks; *best is what the bin's own lanes had. */
__attribute__((noinline)) static bool
scan_banks(const struct bin *bin, bool found, struct bin_head *best)
{
    for (struct bin *bank = next_bank(bin); bank != NULL; bank = next_bank(bank)) {
        struct bin_head head;

        if (scan_lanes(bank, &head) &&
            (!found || ref_before(&bin->residence, head.lane.key, head.lane.ref, best->lane.key,
                                  best->lane.ref))) {
            best->lane = head.lane;
            best->front = head.front;
            found = true;
        }
    }
    return found;
}

bool
bin_compare(struct bin *bin, struct run_pool *pool, struct bin_head *best)
{
    bool found = scan_lanes(bin, best);
    uint32_t slots = u32_load_acquire(&bin->slots); /* bin_compare:A reads from raise_slots:A */

    if ((slots & BANKS_MORE) != 0) {
        found = scan_banks(bin, found, best);
        slots = BIN_RUNS;
    }
    best->is_run = best->alone = false;
    while (slots > 0 && u64_load_acquire(&bin->runs[slots - 1]) == 0) {
        slots--;
    }
    return slots == 0 ? found : scan_runs(bin, pool, slots, found, best);
}

/* One of the lanes in use, by the number of its turn. */
static uint32_t
pick_lane(uint64_t used, uint32_t random)
{
    uint32_t turns = random % (uint32_t)__builtin_popcountll(used);

    for (; turns > 0; turns--) {
        used &= used - 1;
    }
    return (uint32_t)__builtin_ctzll(used);
}

/* A ref from one of the lanes of a bin without banks. */
static bool
any_of_lanes(const struct bin *bin, uint32_t own, uint32_t random, struct bin_head *head)
{
    uint64_t used = u64_load_acquire(&bin->bank.used); /* as scan_lanes:A */

    return used != 0 && ((own < BANK_LANES && first_of_any_lane(bin, own, head)) ||
                         first_of_any_lane(bin, pick_lane(used, random & 0xffff), head) ||
                         first_of_any_lane(bin, pick_lane(used, random >> 16), head));
}

/* The same with banks: one of them is picked, then a lane of it. */
RARELY static bool
any_of_banks(const struct bin *bin, uint32_t own, uint32_t random, struct bin_head *head)
{
    const struct bank *of_own = bank_of(&bin->bank, own);
    const struct bin *bank;
    uint32_t banks = 0;

    if (of_own != NULL && first_of_any_lane(bin_of(of_own), own % BANK_LANES, head)) {
        return true;
    }
    for (bank = bin; bank != NULL; bank = next_bank(bank)) {
        banks++;
    }
    bank = bin;
    for (uint32_t turns = random % banks; turns > 0; turns--) {
        bank = next_bank(bank);
    }
    return any_of_lanes(bank, UINT32_MAX, random / banks, head);
}

bool
bin_any(struct bin *bin, struct run_pool *pool, uint32_t own, uint32_t random,
        struct bin_head *head)
{
    uint32_t slots = u32_load_acquire(&bin->slots); /* as bin_compare:A */

    head->alone = false;
    if ((slots & BANKS_MORE) == 0 ? any_of_lanes(bin, own, random, head)
                                  : any_of_banks(bin, own, random, head)) {
        return true;
    }
    for (uint32_t i = slots & ~BANKS_MORE; i-- > 0;) {
        uint64_t word = u64_load_acquire(&bin->runs[i]);

        if (word != 0 && run_peek(pool, &bin->runs[i], word, &head->run) == RUN_HEAD) {
            head->is_run = true;
            return true;
        }
    }
    return false;
}

void
bin_leave(const struct bin_head *head)
{
    if (head->is_run) {
        run_advance(&head->run);
    } else {
        pass_by(head->front, &head->lane);
    }
}

void
bin_pass_stale(const struct bin *bin, struct bin_head *head)
{
    if (!head->is_run) {
        lane_skip_stale(&head->lane, &bin->residence);
    }
    bin_advance(head);
}

/*
 * Ends: each round advances a head, or another thread did. In a lane that is the only one it goes
 * on from ref to ref: a ref that came to the bin elsewhere meanwhile may be left out, by a call
 * that began before it came.
 */
bool
bin_first_live(struct bin *bin, struct run_pool *pool, struct bin_head *head)
{
    while (bin_first(bin, pool, head)) {
        do {
            if (!is_stale(bin, bin_head_ref(head))) {
                return true;
            }
            if (head->alone) {
                bin_advance(head);
            } else {
                bin_pass_stale(bin, head);
            }
        } while (bin_next(head));
    }
    return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

void
bin_read_begin(struct bin_reader *reader, struct bin *bin, struct run_pool *pool, int64_t limit)
{
    reader->bin = bin;
    reader->pool = pool;
    reader->limit = limit;
    bank_read_begin(&reader->lanes, &bin->bank, false);
    /* a merge copies downwards: so do readers; as bin_compare:A */
    reader->slots = u32_load_acquire(&bin->slots);
    reader->lanes.more = (reader->slots & BANKS_MORE) != 0;
    reader->slots &= ~BANKS_MORE;
    reader->in_lane = reader->in_run = false;
}

/* Goes on to the next lane. False: there is none left. */
static bool
next_lane(struct bin_reader *reader)
{
    uint32_t worker;
    struct lane *lane = bank_read_lane(&reader->lanes, &worker);

    reader->in_lane = lane != NULL;
    if (lane != NULL) {
        lane_read_begin(&reader->lane, lane);
        lane_read_passed(&reader->lane);
    }
    return lane != NULL;
}

/* Goes on to the next run. False: there is none left. */
static bool
next_run(struct bin_reader *reader)
{
    reader->in_run = false;
    reader->position = 0;
    while (!reader->in_run && reader->slots > 0) {
        reader->slots--;
        reader->in_run =
            first_of_run(reader->bin, reader->pool, reader->slots, &reader->run) == RUN_HEAD;
    }
    return reader->in_run;
}

static bool
read_lane(struct bin_reader *reader, struct bin_ref *out)
{
    struct lane_ref found;

    while (lane_next(&reader->lane, reader->limit, &found, 1) == 0) {
        if (!lane_read_on(&reader->lane, NULL)) {
            return false;
        }
    }
    *out = (struct bin_ref){
        .ref = found.ref, .key = found.key, .cause = lane_cause(reader->lane.lane)};
    return true;
}

/*
 * A run that leaves its slot while it is read was merged into this slot, which is read again, or
 * into a lower one.
 */
static bool
read_run(struct bin_reader *reader, struct bin_ref *out)
{
    const struct run_head *run = &reader->run;

    if (reader->position == run->left) {
        return false;
    }
    const struct slot *from = &run->run->slots[(uint32_t)run->head + reader->position++];

    *out = (struct bin_ref){.key = (int64_t)u64_load_acquire(&from->key),
                            .ref = u64_load_acquire(&from->ref),
                            .cause = run->cause};
    if (u64_load_acquire(&reader->bin->runs[reader->slots]) != run->word) { /* read_run:A */
        reader->slots++;
        return false;
    }
    return out->key <= reader->limit;
}

size_t
bin_read(struct bin_reader *reader, struct bin_ref *out, size_t capacity)
{
    size_t count = 0;

    while (count < capacity && (reader->in_lane || next_lane(reader))) {
        reader->in_lane = read_lane(reader, &out[count]);
        count += reader->in_lane ? 1 : 0;
    }
    while (count < capacity && (reader->in_run || next_run(reader))) {
        reader->in_run = read_run(reader, &out[count]);
        count += reader->in_run ? 1 : 0;
    }
    return count;
}

/*
 * Counts the run in a slot. Ends: a slot that changed is another thread's progress. What was in it
 * is in this slot, or in a lower one, which is counted later.
 */
static void
count_run(const struct bin *bin, const struct run_pool *pool, uint32_t slot, int64_t key,
          struct ref_counts *counts)
{
    uint64_t word;

    while ((word = u64_load_acquire(&bin->runs[slot])) != 0) {
        struct run_head head;
        enum run_sight sight = run_peek(pool, &bin->runs[slot], word, &head);

        if (sight == RUN_EMPTY) {
            return;
        }
        if (sight == RUN_CHANGED) {
            continue;
        }
        uint32_t stale = stale_in_run(bin, &head);
        uint32_t left = head.left - stale;
        uint32_t before = run_count(&head, stale, key);
        uint32_t upto = key == INT64_MAX ? left : run_count(&head, stale, key + 1);

        if (u64_load_acquire(&bin->runs[slot]) == word) { /* count_run:A */
            counts->all += left;
            counts->before += before;
            counts->upto += upto;
            return;
        }
    }
}

static void
count_lanes(const struct bin *bin, struct bank_reader *reader, int64_t key,
            struct ref_counts *counts)
{
    struct lane *lane;
    uint32_t worker;

    while ((lane = bank_read_lane(reader, &worker)) != NULL) {
        lane_count(lane, &bin->residence, key, counts);
    }
}

void
bin_count(const struct bin *bin, const struct run_pool *pool, int64_t key,
          struct ref_counts *counts)
{
    struct bank_reader reader;

    bank_read_begin(&reader, &bin->bank, false);
    count_lanes(bin, &reader, key, counts);
    uint32_t slots = u32_load_acquire(&bin->slots); /* as bin_compare:A */

    reader.more = (slots & BANKS_MORE) != 0;
    count_lanes(bin, &reader, key, counts);
    for (uint32_t i = slots & ~BANKS_MORE; i-- > 0;) {
        count_run(bin, pool, i, key, counts);
    }
}
