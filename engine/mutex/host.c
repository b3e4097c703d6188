/*
 * Deciding without callbacks: the host draws a sequence, logs its event, raises stamps, copies
 * candidates out, and applies its verdicts, each only if the pod still is at the version that was
 * judged.
 *
 * THE CURSOR of candidates is {phase and lot, record, insertion}. Lots are visited in the order in
 * which they were made (`born` grows along the live list), pods in a lot in the order of their
 * insertion. The cursor names the next pod to look at. If that pod has moved on meanwhile, the lot
 * is searched from its head for the first insertion that is not older. So nothing is pinned, and a
 * pod that stays where it is cannot be missed: every pod before the cursor in its lot was given,
 * and insertions only grow.
 *
 *   cursor[0]   0 = from the start; else 2 + born of the lot (the catch-all's is 0), or one of the
 *           two phases below
 *   cursor[1]   record of the next pod
 *   cursor[2]   its insertion
 */
#include "mutex/host.h"

#include "mutex/admit.h"
#include "mutex/report.h"
#include "mutex/route.h"
#include "plugins/verdict.h"
#include "policy/candidates.h"

#define PHASE_BACKOFF (UINT64_MAX - 2)
#define PHASE_ERROR_BACKOFF (UINT64_MAX - 1)
#define PHASE_END UINT64_MAX
#define PHASE_LOTS 2

void
mutex_event_begin(schedq_worker_t *worker, uint64_t *sequence)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    *sequence = mutex_event_log_draw(&queue->log);
    queue->counters.events++;
    queue_unlock(queue);
}

schedq_status_t
mutex_event_stamp(schedq_worker_t *worker, uint64_t sequence, schedq_profile_t profile,
                  uint64_t plugins)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status = SCHEDQ_OK;

    queue_lock(queue);
    if (sequence == 0 || sequence > queue->log.newest) {
        worker_say(worker, "sequence %llu: 1..%llu, as schedq_event_begin drew it",
                   (unsigned long long)sequence, (unsigned long long)queue->log.newest);
        status = SCHEDQ_INVALID;
    } else {
        mutex_event_log_stamp(&queue->log, profile,
                              plugins | registry_reached_always(&queue->base.registry, profile),
                              sequence);
    }
    queue_unlock(queue);
    return status;
}

/* ---- candidates ------------------------------------------------------------------------------ */

struct search {
    const struct mutex_queue *queue;
    schedq_query_t *query;
    uint64_t rejectors;
    int64_t now;
    schedq_candidate_t *out;
    size_t capacity, count;
};

static bool
is_wanted(const struct search *search, const struct entry *entry)
{
    bool backs_off = entry->place == SCHEDQ_BACKOFF || entry->place == SCHEDQ_ERROR_BACKOFF;
    const struct waiting_pod pod = {.place = (schedq_place_t)entry->place,
                                    .profile = entry->profile,
                                    .gate = entry->gate,
                                    .rejectors = entry->unschedulable | entry->pending,
                                    .time = backs_off ? entry->expiry : entry->timestamp};

    return candidates_wants(search->query, search->rejectors, &pod);
}

static bool
lot_may_hold(const struct search *search, const struct lot *lot)
{
    const struct lot_key *key = &lot->key;

    return candidates_may_want(search->query, search->rejectors, key->profile, key->gate,
                               key->unschedulable | key->pending);
}

/* Where a walk of this lot goes on. */
static uint32_t
resume_in(const struct search *search, uint32_t lot)
{
    const struct mutex_queue *queue = search->queue;
    uint64_t insertion = search->query->cursor[2];
    uint32_t index = (uint32_t)search->query->cursor[1];

    if (insertion == 0) {
        return lot_at(&queue->lots, lot)->head;
    }
    if (index < entries_end(&queue->entries) &&
        queue->entries.pages[index / PAGE_ENTRIES] != NULL) {
        const struct entry *entry = pod_at(queue, index);

        if (entry_is_candidate(entry) && entry->lot == lot &&
            entry->parking.sequence == insertion) {
            return index;
        }
    }
    for (index = lot_at(&queue->lots, lot)->head;
         index != NO_ENTRY && pod_at(queue, index)->parking.sequence < insertion;
         index = pod_at(queue, index)->lot_next) {
    }
    return index;
}

/* False: the answer is full, and the cursor is at the next pod. */
static bool
search_lot(struct search *search, uint32_t lot)
{
    uint32_t index = resume_in(search, lot);

    for (; index != NO_ENTRY; index = pod_at(search->queue, index)->lot_next) {
        const struct entry *entry = pod_at(search->queue, index);

        if (!is_wanted(search, entry)) {
            continue;
        }
        if (search->count == search->capacity) {
            search->query->cursor[1] = index;
            search->query->cursor[2] = entry->parking.sequence;
            return false;
        }
        mutex_report_candidate(search->queue, index, search->now, &search->out[search->count++]);
    }
    search->query->cursor[1] = 0;
    search->query->cursor[2] = 0;
    return true;
}

static bool
search_parked_and_gated(struct search *search)
{
    const struct lots *lots = &search->queue->lots;
    schedq_query_t *query = search->query;

    for (uint32_t lot = mutex_lots_first(lots); lot != NO_LOT; lot = mutex_lots_next(lots, lot)) {
        uint64_t phase = PHASE_LOTS + lot_at(lots, lot)->born;

        if (phase < query->cursor[0]) {
            continue;
        }
        if (phase > query->cursor[0]) {
            /* The lot that the cursor stood in is gone, or was read to its end. */
            query->cursor[0] = phase;
            query->cursor[1] = 0;
            query->cursor[2] = 0;
        }
        if ((lot == LOT_CATCH_ALL || lot_may_hold(search, lot_at(lots, lot))) &&
            !search_lot(search, lot)) {
            return false;
        }
    }
    query->cursor[0] = PHASE_BACKOFF;
    query->cursor[1] = 0;
    query->cursor[2] = 0;
    return true;
}

static void
search_all(struct search *search)
{
    schedq_query_t *query = search->query;

    if (query->cursor[0] < PHASE_BACKOFF && !search_parked_and_gated(search)) {
        return;
    }
    if (query->cursor[0] == PHASE_BACKOFF) {
        if (query->backoff && !search_lot(search, LOT_BACKOFF)) {
            return;
        }
        query->cursor[0] = PHASE_ERROR_BACKOFF;
    }
    if (query->cursor[0] == PHASE_ERROR_BACKOFF) {
        if (query->backoff && !search_lot(search, LOT_ERROR_BACKOFF)) {
            return;
        }
        query->cursor[0] = PHASE_END;
    }
}

schedq_status_t
mutex_candidates(schedq_worker_t *worker, schedq_query_t *query, schedq_candidate_t *out,
                 size_t capacity, size_t *count)
{
    struct mutex_queue *queue = queue_of(worker);
    struct search search = {.queue = queue, .query = query, .out = out, .capacity = capacity};

    queue_lock(queue);
    search.now = queue_now(queue);
    search.rejectors =
        query->rejectors | registry_reached_always(&queue->base.registry, query->profile);
    search_all(&search);
    queue_unlock(queue);
    *count = search.count;
    return search.count > 0 ? SCHEDQ_OK : SCHEDQ_EMPTY;
}

/* ---- apply ----------------------------------------------------------------------------------- */

static schedq_status_t
apply(schedq_worker_t *worker, const schedq_decision_t *decision, int64_t now,
      schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    uint32_t index;
    struct entry *entry = entry_of_bits(&queue->entries, decision->ref, &index);

    if (entry == NULL || !entry_is_candidate(entry) ||
        (decision->ref >> POD_INDEX_BITS) <= entry_born(entry)) {
        return SCHEDQ_GONE;
    }
    if (entry_ref(entry, index) != decision->ref ||
        (decision->if_backing_off && !mutex_place_is_backing_off(queue, entry, index, now))) {
        mutex_report_pod(queue, index, result);
        return SCHEDQ_CHANGED;
    }
    schedq_status_t status =
        verdict_check_gate(&queue->base.registry, entry->profile, "decision.gate", decision->gate,
                           worker->words, sizeof worker->words);
    if (status == SCHEDQ_OK && decision->place == SCHEDQ_GATED) {
        status =
            admit_check_gate(queue, entry->profile, decision->gate, decision->judged_up_to, result);
    }
    if (status != SCHEDQ_OK) {
        return status;
    }
    const struct route route = {.queue = queue,
                                .result = result,
                                .now = now,
                                .label = registry_label(&queue->base.registry, decision->event),
                                .recount = decision->uncounted == 0};

    result->unschedulable = entry->unschedulable;
    result->pending = entry->pending;
    if (decision->place == SCHEDQ_GATED) {
        mutex_route_gated(&route, index, decision->gate);
    } else {
        entry->gate = 0;
        entry->marks |= decision->flushed != 0 ? MARK_FLUSHED : 0;
        mutex_route_admitted(&route, index, (schedq_place_t)decision->place,
                             decision->place == SCHEDQ_BACKOFF || label_is_verdict(route.label));
        queue->counters.moves++;
    }
    mutex_report_moved(queue, index, result);
    return SCHEDQ_OK;
}

static void
add_counts(schedq_result_t *sum, const schedq_result_t *one)
{
    sum->to_active += one->to_active;
    sum->to_backoff += one->to_backoff;
    sum->to_parked += one->to_parked;
    sum->to_gated += one->to_gated;
}

schedq_status_t
mutex_apply_many(schedq_worker_t *worker, const schedq_decision_t *decisions, size_t count,
                 uint8_t *statuses, schedq_result_t *results, schedq_result_t *sum)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t first = SCHEDQ_OK;

    queue_lock(queue);
    int64_t now = queue_now(queue);

    for (size_t i = 0; i < count; i++) {
        schedq_result_t one = {0};
        uint32_t poppable_before = queue->made_poppable;
        schedq_status_t status = apply(worker, &decisions[i], now, &one);

        one.poppable = queue->made_poppable > poppable_before;
        add_counts(sum, &one);
        if (statuses != NULL) {
            statuses[i] = (uint8_t)status;
        }
        if (results != NULL) {
            results[i] = one;
        }
        first = first == SCHEDQ_OK ? status : first;
    }
    sum->poppable = queue->made_poppable > 0;
    queue_unlock(queue);
    return first;
}
