/*
 * Deciding without callbacks: the host draws a sequence, logs its event, raises stamps, copies
 * candidates out, and applies its verdicts, each only if the pod still is at the version that was
 * judged.
 *
 * THE CURSOR of candidates is {lot, worker, insertion}: lots in the order in which they were made,
 * then backoff and error backoff; in a lot the lanes by worker; in a lane the refs by their
 * insertion numbers, which grow and stay with a ref when its lane is replaced. So nothing is
 * pinned, and a pod that stays where it is cannot be missed: every ref before the cursor in its
 * lane was given. A ref that is FUTURE makes its mover look at the stamps again, as with events
 * (mover.h), so a host that raised its stamps before misses no pod that somebody parks meanwhile.
 *
 *   cursor[0]   0 = from the start; else 1 + number of the lot, or one of the phases below
 *   cursor[1]   worker of the lane
 *   cursor[2]   insertion of the next ref
 *
 * A worker reads CANDIDATES_AHEAD refs at a time and keeps those that the answer has no room for,
 * with the cursor at which they begin: a call that comes with that cursor goes on there. They are
 * refs, judged when they are served; and that they are over says nothing of the lane, which is read
 * again from there. A cursor that comes to another worker, or a second time, is looked for in the
 * lane by its insertion, past whole segments. So all candidates cost O(refs), and a look at the
 * last key of each segment for every CANDIDATES_AHEAD of them.
 *
 * APPLY is a mover of one pod. GATED is published, then the gate's stamp is looked at, then
 * switched: newer means RETRY.
 *
 * LINEARIZATION. A candidate: report_view:B. apply: OK, the switch; CHANGED, GONE: report_view:B of
 * the look that is told (a backoff that was over when the call began still is, at that version);
 * RETRY: the look at the stamp.
 *
 * ORDERING. lockfree_event_begin: draw:A. lockfree_event_stamp: raise:A, a full fence
 * (event_stamp:A), then the caller's candidates read the lots; the parker's side is in stamps.c. A
 * cursor looks at the lanes' pointers (lot_prepare:B), not at their bits.
 *
 * PROGRESS. Lock-free: a second look at a candidate, or at a pod that is applied to, means that
 * somebody changed it. A host's thread that stops between begin and stamp has had no event; behind
 * the stamp, pods whose holders had looked before wait for the next one. One that stops inside add
 * or readd, behind the look at the stamp of a pod that he gates, leaves that pod to the gate's next
 * event.
 *
 * EVIDENCE. tests/model: park, gate; stress/explore: host_park, host_apply, host_delete,
 * host_gated_backoff; tests/unit/test_host.c, test_candidates.c, test_candidates_threads.c,
 * test_apply.c.
 */
#include "lockfree/calls/events.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/publish.h"
#include "lockfree/moves/switch.h"
#include "lockfree/moves/waiting.h"
#include "plugins/verdict.h"
#include "policy/backoff.h"
#include "policy/candidates.h"

#define PHASE_BACKOFF (UINT64_MAX - 2)
#define PHASE_ERROR_BACKOFF (UINT64_MAX - 1)
#define PHASE_END UINT64_MAX
#define AHEAD_WITHOUT_MEMORY 16 /* refs */

void
lockfree_event_begin(schedq_worker_t *base, uint64_t *sequence)
{
    struct worker *worker = worker_of(base);

    *sequence = stamps_draw(&queue_of(worker)->stamps);
    tally_add(&worker->tally.events, 1);
}

schedq_status_t
lockfree_event_stamp(schedq_worker_t *base, uint64_t sequence, schedq_profile_t profile,
                     uint64_t plugins)
{
    struct queue *queue = queue_of(worker_of(base));
    uint64_t drawn = stamps_drawn(&queue->stamps);

    if (sequence == 0 || sequence > drawn) {
        worker_say(base, "sequence %llu: 1..%llu, as schedq_event_begin drew it",
                   (unsigned long long)sequence, (unsigned long long)drawn);
        return SCHEDQ_INVALID;
    }
    stamps_raise(&queue->stamps, profile,
                 plugins | registry_reached_always(&queue->base.registry, profile), sequence);
    /* event_stamp:A, between the stamps and the caller's looks at words and candidates */
    atomic_fence();
    return SCHEDQ_OK;
}

/* ---- candidates ------------------------------------------------------------------------------ */

struct search {
    struct worker *worker;
    struct candidates_ahead *ahead;
    uint32_t ahead_capacity; /* refs */
    schedq_query_t *query;
    uint64_t rejectors;
    int64_t now;
    schedq_candidate_t *out;
    size_t capacity, count;
};

static bool
is_wanted(const struct search *search, const struct view *view)
{
    enum place place = state_place(view->state);
    bool backs_off = place == PLACE_BACKOFF || place == PLACE_ERROR_BACKOFF;
    const struct waiting_pod pod = {
        .place = place_public(place),
        .profile = view->profile,
        .gate = view->gate,
        .rejectors = view->unschedulable | view->pending,
        .time = backs_off ? backoff_expiry_of(queue_of(search->worker), &view->history)
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

static void
describe_candidate(const struct search *search, uint32_t record, const struct view *view,
                   schedq_candidate_t *candidate)
{
    const struct queue *queue = queue_of(search->worker);
    const struct subject subject = mover_subject(view);

    *candidate = (schedq_candidate_t){
        .ref = ref_make(state_version(view->state), record),
        .object = view->description.object,
        .pod = entry_handle(record, view->life),
        .unschedulable = view->unschedulable,
        .pending = view->pending,
        .timestamp_ns = view->history.timestamp_ns,
        .expiry_ns = backoff_public(backoff_expiry_of(queue, &view->history)),
        .place = (uint8_t)place_public(state_place(view->state)),
        .gate = view->gate,
        .backing_off = route_is_backing_off(queue, &subject, search->now),
        .profile = view->profile,
    };
}

/*
 * A pod at the end of its lag cannot be made to be judged again by who is about to gate it. It is
 * shown as gated: where it will be if he goes on, while any apply to its ref now makes him fail.
 */
static void
show_as_gated(const struct search *search, const struct lot *lot, struct view *view)
{
    uint64_t gates = search->query->gates;
    uint8_t asked = gates != 0 ? (uint8_t)(__builtin_ctzll(gates) + 1) : 0;
    /* whose it is in the catch-all, nothing says */
    uint8_t gate = lot->catch_all ? asked : lot->key.gate;

    if (gate != 0) {
        view->gate = gate;
        view->state = state_make(state_version(view->state), 0, PLACE_GATED);
    }
}

/*
 * An update at the end of a lag made the pod stand anew, in a lane that the walk may have passed:
 * its ref of before will do. One so many versions old is of no other stay, but of a pod that was
 * here a million times.
 */
static bool
was_before_lag_ended(const struct view *view, uint64_t ref)
{
    uint64_t versions = (state_base(view->state) - ref_version(ref)) & STATE_VERSION_MASK;

    return versions > STATE_LAG_WAITING && state_has_had(view->state, view->life, ref_version(ref));
}

/*
 * The pod of a ref, if it is here and wanted. One that backs off may have been published anew by an
 * update, in a lane that the walk has passed: any ref of its life will do.
 */
static bool
look_at(struct search *search, const struct lot *lot, uint64_t ref, struct view *view)
{
    struct queue *queue = queue_of(search->worker);
    enum place place = lot->residence.place;

    bool comes = place == PLACE_PARKED && !mover_disturb(search->worker, ref);

    if (!report_any(queue, ref_record(ref), view)) {
        return false;
    }
    if (comes) {
        show_as_gated(search, lot, view);
        uint64_t version = state_version(view->state);

        return is_wanted(search, view) &&
               (ref_version(ref) == version || ref_version(ref) == version_next(version));
    }
    if (!is_wanted(search, view)) {
        return false;
    }
    return place == PLACE_PARKED ? state_judge(view->state, ref, place, 0) == VERDICT_VALID ||
                                       was_before_lag_ended(view, ref)
                                 : state_place(view->state) == place &&
                                       state_has_had(view->state, view->life, ref_version(ref));
}

/*
 * What it holds is judged when it is served, and its end is no end of the lane: what came since is
 * behind it.
 */
static bool
ahead_stands_at(const struct candidates_ahead *ahead, const struct lot *lot, const uint64_t *cursor)
{
    return ahead->next < ahead->count && ahead->lot == lot && ahead->worker == cursor[1] &&
           ahead->from == cursor[2];
}

/* False: the lane has nothing from the cursor on. */
static bool
ahead_fill(struct candidates_ahead *ahead, uint32_t capacity, struct lane *lane, int64_t from)
{
    struct lane_reader reader;

    ahead->next = ahead->count = 0;
    lane_read_begin(&reader, lane);
    lane_read_from(&reader, from);
    do {
        struct lane_ref ref;

        while (ahead->count < capacity && lane_next(&reader, INT64_MAX, &ref)) {
            if (ref.key >= from) {
                ahead->refs[ahead->count++] = ref;
            }
        }
    } while (ahead->count < capacity && lane_read_on(&reader, NULL));
    return ahead->count > 0;
}

/* False: the answer is full, and the cursor stands on the next ref. */
static bool
search_lane(struct search *search, const struct lot *lot, struct lane *lane)
{
    struct candidates_ahead *ahead = search->ahead;
    uint64_t *cursor = search->query->cursor;

    while (ahead_stands_at(ahead, lot, cursor) ||
           ahead_fill(ahead, search->ahead_capacity, lane, (int64_t)cursor[2])) {
        for (; ahead->next < ahead->count; ahead->next++) {
            const struct lane_ref *ref = &ahead->refs[ahead->next];
            struct view view;

            cursor[2] = (uint64_t)ref->key;
            if (!look_at(search, lot, ref->ref, &view)) {
                continue;
            }
            if (search->count == search->capacity) {
                ahead->lot = lot;
                ahead->worker = cursor[1];
                ahead->from = cursor[2];
                return false;
            }
            describe_candidate(search, ref_record(ref->ref), &view, &search->out[search->count++]);
        }
        cursor[2]++;
    }
    return true;
}

static bool
search_lot(struct search *search, struct lot *lot)
{
    const struct bin_caller caller = bin_caller(search->worker);
    schedq_query_t *query = search->query;

    for (; query->cursor[1] < WORKERS_MAX; query->cursor[1]++, query->cursor[2] = 0) {
        struct lane *lane = ptr_load_acquire(&lot->lanes[query->cursor[1]]); /* of lot_prepare:B */

        if (lane != NULL && !search_lane(search, lot, lane)) {
            return false;
        }
    }
    lot_pass(lot, &caller);
    query->cursor[1] = 0;
    query->cursor[2] = 0;
    return true;
}

static bool
search_parked_and_gated(struct search *search)
{
    struct lots *lots = &queue_of(search->worker)->waiting.lots;
    schedq_query_t *query = search->query;
    uint32_t cursor = query->cursor[0] > 0 ? (uint32_t)(query->cursor[0] - 1) : 0;
    struct lot *lot;

    for (; (lot = lots_next(lots, &cursor)) != NULL; query->cursor[0] = 1 + (uint64_t)cursor) {
        if (lot_may_hold(search, lot) && !search_lot(search, lot)) {
            query->cursor[0] = query->cursor[0] == 0 ? 1 : query->cursor[0];
            return false;
        }
    }
    query->cursor[0] = PHASE_BACKOFF;
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

/* A cursor is the caller's memory: what it says is only where to begin. */
schedq_status_t
lockfree_candidates(schedq_worker_t *base, schedq_query_t *query, schedq_candidate_t *out,
                    size_t capacity, size_t *count)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    struct search search = {.worker = worker,
                            .query = query,
                            .rejectors =
                                query->rejectors |
                                registry_reached_always(&queue->base.registry, query->profile),
                            .now = queue_now(queue),
                            .out = out,
                            .capacity = capacity};
    union {
        struct candidates_ahead ahead;
        struct lane_ref refs[4 + AHEAD_WITHOUT_MEMORY];
    } small = {.ahead = {.count = 0}};

    if (worker->ahead == NULL) {
        worker->ahead =
            memory_alloc(&queue->base.memory, MEMORY_OTHER, CANDIDATES_AHEAD_BYTES, CACHE_LINE);
    }
    search.ahead = worker->ahead != NULL ? worker->ahead : &small.ahead;
    search.ahead_capacity = worker->ahead != NULL ? CANDIDATES_AHEAD : AHEAD_WITHOUT_MEMORY;
    section_begin(worker);
    search_all(&search);
    section_end(worker);
    *count = search.count;
    return search.count > 0 ? SCHEDQ_OK : SCHEDQ_EMPTY;
}

/* ---- apply ----------------------------------------------------------------------------------- */

static bool
waits(uint64_t state)
{
    enum place place = state_place(state);

    return place == PLACE_PARKED || place == PLACE_GATED || place == PLACE_BACKOFF ||
           place == PLACE_ERROR_BACKOFF;
}

static schedq_status_t
outdated_gate(const struct queue *queue, const struct view *view, const schedq_decision_t *decision,
              schedq_result_t *result)
{
    if (decision->place != SCHEDQ_GATED ||
        stamps_newest(&queue->stamps, view->profile, gate_bit(decision->gate)) <=
            decision->judged_up_to) {
        return SCHEDQ_OK;
    }
    result->sequence = stamps_drawn(&queue->stamps);
    return SCHEDQ_RETRY;
}

/*
 * OK: *view shows the pod where it was put. SCHEDQ_CHANGED also if it is still there, and somebody
 * was first.
 */
static schedq_status_t
apply_at(struct worker *worker, uint32_t record, struct view *view,
         const schedq_decision_t *decision, int64_t now, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct subject subject = mover_subject(view);
    struct mover mover = {.worker = worker,
                          .now = now,
                          .label = registry_label(&queue->base.registry, decision->event),
                          .counts = true,
                          .recount = decision->uncounted == 0,
                          .result = result};
    struct way way = {.place = PLACE_GATED, .gate = decision->gate};

    subject.gate = 0;
    if (decision->place != SCHEDQ_GATED) {
        way = route_admitted(worker, &subject, decision->place == SCHEDQ_BACKOFF, now);
    }
    schedq_status_t status = mover_apply(&mover, record, view, &way, decision->judged_up_to);

    if (status == SCHEDQ_RETRY) {
        result->sequence = stamps_drawn(&queue->stamps);
    }
    if (status == SCHEDQ_OK) {
        view->state = state_switched(view->state, state_band(view->state), way.place);
        view->gate = way.gate;
    }
    return status;
}

/* Judged as a pod that backs off, and it does not any more. */
static bool
missed_its_backoff(const struct queue *queue, const struct view *view,
                   const schedq_decision_t *decision, int64_t now)
{
    const struct subject subject = mover_subject(view);

    return decision->if_backing_off && !route_is_backing_off(queue, &subject, now);
}

static schedq_status_t
apply(struct worker *worker, const schedq_decision_t *decision, int64_t now,
      schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    uint32_t record = ref_record(decision->ref);
    uint64_t version = ref_version(decision->ref);
    struct view view;

    if (record >= slab_end(&queue->entries.records) || !report_any(queue, record, &view) ||
        !waits(view.state) || !state_has_had(view.state, view.life, version)) {
        return SCHEDQ_GONE;
    }
    if (state_version(view.state) != version || missed_its_backoff(queue, &view, decision, now)) {
        report_pod(queue, record, &view, result);
        return SCHEDQ_CHANGED;
    }
    schedq_status_t status =
        verdict_check_gate(&queue->base.registry, view.profile, "decision.gate", decision->gate,
                           worker->base.words, sizeof worker->base.words);

    status = status == SCHEDQ_OK ? outdated_gate(queue, &view, decision, result) : status;
    if (status != SCHEDQ_OK) {
        return status;
    }
    status = apply_at(worker, record, &view, decision, now, result);
    if (status == SCHEDQ_CHANGED) {
        /*
         * Somebody was first: tell what there is now. Ends: each further round is another's change.
         */
        return apply(worker, decision, now, result);
    }
    if (status == SCHEDQ_OK) {
        report_moved(queue, record, &view, result);
        result->unschedulable = view.unschedulable;
        result->pending = view.pending;
    }
    return status;
}

static void
add_counts(schedq_result_t *sum, const schedq_result_t *one)
{
    sum->to_active += one->to_active;
    sum->to_backoff += one->to_backoff;
    sum->to_parked += one->to_parked;
    sum->to_gated += one->to_gated;
    sum->poppable |= one->poppable;
}

schedq_status_t
lockfree_apply_many(schedq_worker_t *base, const schedq_decision_t *decisions, size_t count,
                    uint8_t *statuses, schedq_result_t *results, schedq_result_t *sum)
{
    struct worker *worker = worker_of(base);
    int64_t now = queue_now(queue_of(worker));
    schedq_status_t first = SCHEDQ_OK;

    section_begin(worker);
    for (size_t i = 0; i < count; i++) {
        schedq_result_t one = {0};
        schedq_status_t status = apply(worker, &decisions[i], now, &one);

        add_counts(sum, &one);
        if (statuses != NULL) {
            statuses[i] = (uint8_t)status;
        }
        if (results != NULL) {
            results[i] = one;
        }
        first = first == SCHEDQ_OK ? status : first;
    }
    section_end(worker);
    return first;
}
