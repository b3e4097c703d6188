/*
 * candidates: waiting pods copied out for a host that decides by itself; apply.c takes its
 * verdicts.
 *
 * THE CURSOR of candidates is {lot, worker, insertion}: lots by their positions, then backoff and
 * error backoff; in a lot the lanes by worker; in a lane the refs by their insertion numbers, which
 * grow and stay with a ref when its lane is replaced. So nothing is pinned, and a pod that stays
 * where it is cannot be missed: every ref before the cursor in its lane was given. A lot that is
 * gone had no pod; what is made in its place later holds only pods that came since. A call that
 * meets a FUTURE ref makes its mover look at the stamps again, as events do (mover.h), so a host
 * that raised its stamps before misses no pod that is parked meanwhile.
 *
 *   cursor[0]   0 = from the start; else 1 + position of the lot, or one of the phases below
 *   cursor[1]   worker of the lane
 *   cursor[2]   insertion of the next ref
 *
 * A worker reads CANDIDATES_AHEAD refs at a time and keeps those that the answer has no room for,
 * with the cursor at which they begin: a call that comes with that cursor goes on there. They are
 * judged when they are served. When they are used up, the lane may have more: it is read again from
 * there, from a bookmark on (lane.h). A cursor that comes to another worker, or a second time, is
 * looked for in the lane by its insertion, past whole segments. A worker that reads a part also
 * takes out segments of the part before, if the host took out most of their pods (lane_read_from).
 * So no call has more to tidy than one part.
 *
 * LINEARIZATION. A candidate: report_unchanged:A.
 *
 * ORDERING. The host raised its stamps (lockfree_event_stamp:A, events.c) before the lots are read
 * here; the holder's side is in stamps.c. A cursor looks at the lanes' pointers (bank_prepare:B),
 * not at their bits.
 *
 * PROGRESS. Lock-free: a second look at a candidate means that another thread changed it.
 *
 * EVIDENCE. tests/model: park; stress/explore: host_park; tests/unit/test_host.c,
 * test_candidates.c, test_lockfree_candidates.c, test_candidates_threads.c.
 */
#include "policy/candidates.h"
#include "lockfree/calls/events.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/stray.h"
#include "lockfree/moves/waiting.h"
#include "policy/backoff.h"

#define PHASE_BACKOFF (UINT64_MAX - 2)
#define PHASE_ERROR_BACKOFF (UINT64_MAX - 1)
#define PHASE_END UINT64_MAX
#define AHEAD_WITHOUT_MEMORY 16 /* refs */

struct search {
    struct worker *worker;
    struct bin_caller caller;
    struct candidates_ahead *ahead;
    uint32_t ahead_capacity; /* refs */
    uint32_t workers;        /* so many there may be */
    schedq_query_t *query;
    uint64_t rejectors;
    int64_t now;
    schedq_candidate_t *out;
    size_t capacity, count;
};

/* `expiry`: of a pod that backs off. */
static inline bool
is_wanted(const struct search *search, const struct view *view, int64_t expiry)
{
    enum place place = state_place(view->state);
    const struct waiting_pod pod = {.place = place_public(place),
                                    .profile = view->profile,
                                    .gate = view->gate,
                                    .rejectors = view->unschedulable | view->pending,
                                    .time = place_backs_off(place) ? expiry
                                                                   : view->history.timestamp_ns};

    return candidates_wants(search->query, search->rejectors, &pod);
}

static bool
lot_may_hold(const struct search *search, const struct lot *lot)
{
    const struct lot_key *key = &lot->key;

    return lot->catch_all || candidates_may_want(search->query, search->rejectors, key->profile,
                                                 key->gate, key->unschedulable | key->pending);
}

/* Returns whether it is wanted. `out` NULL: that is all that the caller asks. */
STRAIGHT bool
show_candidate(const struct search *search, uint32_t record, const struct view *view,
               schedq_candidate_t *out)
{
    const struct rules *rules = &queue_of(search->worker)->base.rules;
    int64_t expiry = backoff_expiry_of(queue_of(search->worker), &view->history);

    if (!is_wanted(search, view, expiry)) {
        return false;
    }
    if (out != NULL) {
        *out = (schedq_candidate_t){
            .ref = ref_make(state_version(view->state), record),
            .object = view->description.object,
            .pod = entry_handle(record, view->life),
            .unschedulable = view->unschedulable,
            .pending = view->pending,
            .timestamp_ns = view->history.timestamp_ns,
            .expiry_ns = backoff_public(expiry),
            .place = (uint8_t)place_public(state_place(view->state)),
            .gate = view->gate,
            .backing_off = !(view->gate != 0 && rules->gated_never_backs_off) &&
                           backoff_is_waiting(&rules->backoff, expiry, search->now),
            .profile = view->profile,
        };
    }
    return true;
}

/*
 * A mover that is about to gate a pod at the end of its lag cannot be made to judge again. The pod
 * is shown as gated, where it will be if the mover goes on; an apply to its ref makes the mover
 * fail.
 */
static void
show_as_gated(const struct search *search, const struct lot *lot, struct view *view)
{
    uint64_t gates = search->query->gates;
    uint8_t asked = gates != 0 ? (uint8_t)(__builtin_ctzll(gates) + 1) : 0;
    /* the catch-all has pods of all profiles */
    uint8_t gate = lot->catch_all ? asked : lot->key.gate;

    if (gate != 0) {
        view->gate = gate;
        view->state = state_make(state_version(view->state), 0, PLACE_GATED);
    }
}

/*
 * An update at the end of a lag published the pod anew, in a lane that the walk may have passed:
 * its older ref will do. A ref so many versions old is of this stay, unless the pod was here a
 * million times.
 */
static bool
was_before_lag_ended(const struct view *view, uint64_t ref)
{
    uint64_t versions = (state_base(view->state) - ref_version(ref)) & STATE_VERSION_MASK;

    return versions > STATE_LAG_WAITING && state_has_had(view->state, view->life, ref_version(ref));
}

/*
 * For a ref that is not VALID where pods wait for events. If it is FUTURE, its mover is made to
 * look at the stamps again. The pod is shown if its mover cannot be made to, or if the pod is here
 * and the ref is an older one of it.
 */
__attribute__((noinline)) static bool
show_early(const struct search *search, const struct lot *lot, uint64_t ref,
           schedq_candidate_t *out)
{
    struct queue *queue = queue_of(search->worker);
    bool comes = !mover_disturb(search->worker, ref);
    struct view view;

    if (!report_any(queue, ref_record(ref), &view)) {
        return false;
    }
    enum verdict verdict = state_judge(view.state, ref, PLACE_PARKED, 0);

    /* Else it has come meanwhile, perhaps to be updated since. */
    if (comes && verdict == VERDICT_FUTURE) {
        show_as_gated(search, lot, &view);
    } else if (verdict != VERDICT_VALID && !was_before_lag_ended(&view, ref)) {
        return false;
    }
    return show_candidate(search, ref_record(ref), &view, out);
}

/*
 * The pod of a ref, if it is here and wanted. One that backs off may have been published anew by an
 * update, in a lane that the walk has passed: any ref of its life will do.
 */
STRAIGHT bool
show_ref(const struct search *search, const struct lot *lot, uint64_t ref, schedq_candidate_t *out)
{
    struct queue *queue = queue_of(search->worker);
    enum place place = lot->residence.place;
    uint32_t record = ref_record(ref);
    struct entry *entry = entry_at(&queue->entries, record);
    struct view view;

    /* Ends: each further round means that the words changed. */
    while (entry != NULL) {
        uint64_t state = entry_state(entry);

        if (place == PLACE_PARKED && state_judge(state, ref, place, 0) != VERDICT_VALID) {
            return show_early(search, lot, ref, out);
        }
        if (place != PLACE_PARKED && state_place(state) != place) {
            return false;
        }
        report_failures(queue, entry, state, &view);
        if (report_unchanged(entry, state, &view)) {
            return (place == PLACE_PARKED || state_has_had(state, view.life, ref_version(ref))) &&
                   show_candidate(search, record, &view, out);
        }
    }
    return false;
}

/*
 * Do the refs that were read ahead go on at the cursor? They are judged when they are served. Their
 * end is not that of the lane: refs that came since are behind it.
 */
static bool
ahead_stands_at(const struct candidates_ahead *ahead, const struct lot *lot, const uint64_t *cursor)
{
    return ahead->next < ahead->count && ahead->lot == lot->number && ahead->worker == cursor[1] &&
           ahead->from == cursor[2];
}

/* Leaves out the refs before the cursor, of the first segment that is read. */
static void
ahead_leave_out(struct candidates_ahead *ahead, int64_t from)
{
    while (ahead->next < ahead->count && ahead->refs[ahead->next].key < from) {
        ahead->next++;
    }
    if (ahead->next == ahead->count) {
        ahead->next = ahead->count = 0;
    }
}

/*
 * Reads refs ahead. False: the lane has nothing from the cursor on. Segments of the part that was
 * read before, most of whose pods the host took out, leave the lane here, so the end of a walk has
 * not all of them to pass.
 */
static bool
ahead_fill(const struct search *search, const struct lot *lot, struct lane *lane)
{
    const struct lane_care care = bin_care(&lot->residence, &search->caller);
    const uint64_t *cursor = search->query->cursor;
    const uint32_t capacity = search->ahead_capacity;
    const int64_t from = (int64_t)cursor[2];
    struct candidates_ahead *ahead = search->ahead;
    bool goes_on = ahead->lot == lot->number && ahead->worker == cursor[1] && ahead->begin <= from;
    struct epoch_record *record = search->worker->epoch;
    struct lane_reader reader;

    lane_read_begin(&reader, lane);
    if (goes_on && ahead->marked) {
        lane_read_at(&reader, record, MARK_OF_CANDIDATES);
    }
    lane_read_from(&reader, from, goes_on ? ahead->begin : from, &care);
    ahead->marked = lane_bookmark(&reader, record, MARK_OF_CANDIDATES);
    ahead->lot = lot->number;
    ahead->worker = cursor[1];
    ahead->begin = from;
    ahead->next = ahead->count = 0;
    do {
        size_t count;

        while ((count = lane_next(&reader, INT64_MAX, &ahead->refs[ahead->count],
                                  capacity - ahead->count)) > 0) {
            ahead->count += (uint32_t)count;
            ahead_leave_out(ahead, from);
        }
    } while (ahead->count < capacity && lane_read_on(&reader, NULL));
    return ahead->count > 0;
}

/* False: the answer is full, and refs[ahead->next] is wanted. */
static bool
show_refs(struct search *search, const struct lot *lot)
{
    struct candidates_ahead *ahead = search->ahead;
    const uint32_t end = ahead->count;
    size_t count = search->count;
    uint32_t next = ahead->next;

    for (; next != end; next++) {
        schedq_candidate_t *out = count == search->capacity ? NULL : &search->out[count];

        if (show_ref(search, lot, ahead->refs[next].ref, out)) {
            if (out == NULL) {
                break;
            }
            count++;
        }
    }
    ahead->next = next;
    search->count = count;
    return next == end;
}

/* False: the answer is full, and the cursor is at the next ref. */
static bool
search_lane(struct search *search, const struct lot *lot, struct lane *lane)
{
    struct candidates_ahead *ahead = search->ahead;
    uint64_t *cursor = search->query->cursor;

    while (ahead_stands_at(ahead, lot, cursor) || ahead_fill(search, lot, lane)) {
        if (!show_refs(search, lot)) {
            ahead->from = cursor[2] = (uint64_t)ahead->refs[ahead->next].key;
            return false;
        }
        cursor[2] = (uint64_t)ahead->refs[ahead->count - 1].key + 1;
    }
    return true;
}

/* The lanes from the cursor on of the bank that begins with worker `first`. */
static bool
search_bank(struct search *search, const struct lot *lot, uint64_t first)
{
    const struct bank *bank = bank_of(&lot->bank, first);
    schedq_query_t *query = search->query;

    for (; bank != NULL && query->cursor[1] < first + BANK_LANES;
         query->cursor[1]++, query->cursor[2] = 0) {
        /* of bank_prepare:B */
        struct lane *lane = ptr_load_acquire(&bank->lanes[query->cursor[1] - first]);

        if (lane != NULL && !search_lane(search, lot, lane)) {
            return false;
        }
    }
    if (query->cursor[1] < first + BANK_LANES) {
        query->cursor[1] = first + BANK_LANES;
        query->cursor[2] = 0;
    }
    return true;
}

static bool
search_lot(struct search *search, struct lot *lot)
{
    schedq_query_t *query = search->query;

    for (uint64_t first = 0; first < search->workers; first += BANK_LANES) {
        if (query->cursor[1] < first + BANK_LANES && !search_bank(search, lot, first)) {
            return false;
        }
    }
    lot_pass(lot, &search->caller, SEGMENT_SLOTS_MAX);
    query->cursor[1] = 0;
    query->cursor[2] = 0;
    return true;
}

static void
stand_at(schedq_query_t *query, uint64_t phase)
{
    query->cursor[0] = phase;
    query->cursor[1] = query->cursor[2] = 0;
}

static bool
search_parked_and_gated(struct search *search)
{
    schedq_query_t *query = search->query;
    struct lots_walk walk;
    struct lot *lot;

    lots_walk_begin(&walk, &queue_of(search->worker)->waiting.lots,
                    search->rejectors | query->gates,
                    query->cursor[0] > 0 ? (uint32_t)(query->cursor[0] - 1) : 0);
    while ((lot = lots_next(&walk)) != NULL) {
        if (query->cursor[0] != 1 + (uint64_t)walk.position) {
            stand_at(query, 1 + (uint64_t)walk.position);
        }
        if (lot_may_hold(search, lot) && !search_lot(search, lot)) {
            return false;
        }
    }
    stand_at(query, PHASE_BACKOFF);
    return true;
}

static void
search_all(struct search *search)
{
    struct queue *queue = queue_of(search->worker);
    schedq_query_t *query = search->query;

    if (query->cursor[0] < PHASE_BACKOFF && !search_parked_and_gated(search)) {
        return;
    }
    if (query->cursor[0] == PHASE_BACKOFF) {
        if (query->backoff && !search_lot(search, waiting_backoff_lot(queue, PLACE_BACKOFF))) {
            return;
        }
        query->cursor[0] = PHASE_ERROR_BACKOFF;
    }
    if (query->cursor[0] == PHASE_ERROR_BACKOFF) {
        if (query->backoff &&
            !search_lot(search, waiting_backoff_lot(queue, PLACE_ERROR_BACKOFF))) {
            return;
        }
        query->cursor[0] = PHASE_END;
    }
}

/* A cursor is the caller's memory, and may say anything: it is used only to find where to begin. */
schedq_status_t
lockfree_candidates(schedq_worker_t *base, schedq_query_t *query, schedq_candidate_t *out,
                    size_t capacity, size_t *count)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    struct search search = {.worker = worker,
                            .caller = bin_caller(worker),
                            .query = query,
                            .rejectors =
                                query->rejectors |
                                registry_reached_always(&queue->base.registry, query->profile),
                            .workers = queue->base.config.max_workers,
                            .now = queue_now(queue),
                            .out = out,
                            .capacity = capacity};
    union {
        struct candidates_ahead ahead;
        struct lane_ref refs[4 + AHEAD_WITHOUT_MEMORY];
    } small = {.ahead = {.begin = INT64_MAX}};

    if (worker->ahead == NULL) {
        worker->ahead =
            memory_alloc(&queue->base.memory, MEMORY_OTHER, CANDIDATES_AHEAD_BYTES, CACHE_LINE);
    }
    search.ahead = worker->ahead != NULL ? worker->ahead : &small.ahead;
    search.ahead_capacity = worker->ahead != NULL ? CANDIDATES_AHEAD : AHEAD_WITHOUT_MEMORY;
    stray_gather_unpublished(worker);
    section_begin(worker);
    search_all(&search);
    section_end(worker);
    *count = search.count;
    return search.count > 0 ? SCHEDQ_OK : SCHEDQ_EMPTY;
}
