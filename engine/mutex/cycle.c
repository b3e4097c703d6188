/*
 * The cycle of a pod: pop, then done or fail; and readd, for a pod that failed after
 * its done.
 *
 * The pod is in flight between: in no container, its name in the index, its record the holder's
 * through the token. What happens to it meanwhile is left on the record: MARK_DELETED,
 * MARK_ACTIVATED, and the newest description.
 */
#include "mutex/cycle.h"

#include "mutex/admit.h"
#include "mutex/class.h"
#include "mutex/report.h"
#include "mutex/route.h"
#include "plugins/verdict.h"
#include "policy/history.h"

#include <string.h>

/* ---- pop ------------------------------------------------------------------------------------- */

STRAIGHT void
describe_popped(const struct mutex_queue *queue, uint32_t index, schedq_popped_t *out)
{
    const struct entry *entry = pod_at(queue, index);
    int64_t expiry = mutex_place_expiry(queue, entry, index);

    /*
     * Field by field: for a whole answer at once gcc 12 emits a string instruction, whose start
     * alone costs more.
     */
    out->pod = entry_handle(entry, index);
    out->object = entry->object;
    out->name = entry->name;
    out->name_length = entry->name_length;
    out->priority = entry->priority;
    out->history.timestamp_ns = entry->timestamp;
    out->history.initial_attempt_ns = entry->initial_attempt;
    out->history.attempts = entry->attempts;
    out->history.rejections = entry->rejections;
    out->history.errors = entry->errors;
    out->history.reserved = 0;
    out->unschedulable = entry->unschedulable;
    out->pending = entry->pending;
    out->seen = queue->log.newest;
    out->nominated_node = entry->nominated ? entry->nominated_node : 0;
    out->backoff_expiry_ns = backoff_public(expiry);
    out->from_backoff = entry->place == SCHEDQ_BACKOFF;
    out->profile = entry->profile;
    out->flags = entry->flags & POD_FLAGS;
    out->flushed = (entry->marks & MARK_FLUSHED) != 0;
    memset(out->reserved, 0, sizeof out->reserved);
}

STRAIGHT void
begin_flight(struct mutex_queue *queue, uint32_t index, uint64_t order, schedq_popped_t *out)
{
    struct entry *entry = pod_at(queue, index);

    entry->place = SCHEDQ_INFLIGHT;
    entry_changed(entry);
    entry->attempts = history_raised(entry->attempts);
    entry->unschedulable = 0;
    entry->pending = 0;
    entry->gate = 0;
    entry->marks &= MARKS_ASIDE;
    entry->flight.popped_object = entry->object;
    entry->flight.seen = queue->log.newest;
    entry->flight.pop_order = order;
    out->cycle = queue->base.rules.count_cycles ? entry->flight.pop_order : 0;
    out->token.bits = entry_ref(entry, index);
    if (queue->base.rules.objects == SCHEDQ_OBJECTS_COUNTED) {
        config_retain(&queue->base.config, entry->object);
    }
    queue->inflight++;
    queue->counters.pops++;
}

void
cycle_describe(const struct mutex_queue *queue, uint32_t index, schedq_popped_t *out)
{
    describe_popped(queue, index, out);
}

void
cycle_begin_flight(struct mutex_queue *queue, uint32_t index, uint64_t order, schedq_popped_t *out)
{
    begin_flight(queue, index, order, out);
    probe_pop(queue, out);
}

STRAIGHT bool
take(struct mutex_queue *queue, schedq_popped_t *out)
{
    if (!is_poppable(queue)) {
        return false;
    }
    bool from_backoff = queue->active.count == 0;
    uint32_t index = order_pod(heap_best(from_backoff ? &queue->backoff : &queue->active));

    /* done will write there; the sift below gives memory the time to bring it. */
    index_prefetch(&queue->index, pod_at(queue, index)->hash);
    __builtin_prefetch(pod_at(queue, index)->name, 1);
    describe_popped(queue, index, out);
    out->history.attempts = history_raised(out->history.attempts);
    mutex_place_leave(queue, index);
    begin_flight(queue, index, ++queue->pop_orders, out);
    if (from_backoff) {
        mutex_place_count(queue, pod_at(queue, index), index, INCOMING_ACTIVE, false,
                          LABEL_POP_FROM_BACKOFF);
    }
    out->more = is_poppable(queue);
    probe_pop(queue, out);
    if (queue->active.count > 0) {
        /*
         * The next pop begins with this record; its lines come from memory while the caller works.
         */
        entry_prefetch(pod_at(queue, order_pod(heap_best(&queue->active))));
    }
    return true;
}

bool
cycle_pop(struct mutex_queue *queue, schedq_popped_t *out)
{
    mutex_class_settle(queue, NULL);
    return take(queue, out);
}

COLD bool
cycle_take(struct mutex_queue *queue, schedq_popped_t *out)
{
    return take(queue, out);
}

/* ---- the end of a flight --------------------------------------------------------------------- */

/* Ends a pod that has a class. False: it is a group's record, whose token is no pod's. */
COLD static bool
end_other(struct mutex_queue *queue, uint32_t index, bool guest)
{
    if (entry_is_group(pod_at(queue, index))) {
        return false;
    }
    if (guest) {
        mutex_class_end_quietly(queue, index);
    } else {
        mutex_class_end(queue, index);
    }
    return true;
}

/* `guest`: without a worker. */
STRAIGHT schedq_status_t
done(struct mutex_queue *queue, schedq_token_t token, bool guest)
{
    uint32_t index;
    struct entry *entry = entry_of_token(&queue->entries, token, &index);

    if (entry == NULL ||
        (entry_has(entry, ENTRY_CLASSED, MARK_GROUP) && !end_other(queue, index, guest))) {
        return SCHEDQ_STALE;
    }
    bool deleted = (entry->marks & MARK_DELETED) != 0;

    probe_done(queue, token.bits);
    admit_end_flight(queue, entry);
    admit_end(queue, index);
    queue->counters.dones += deleted ? 0 : 1;
    return deleted ? SCHEDQ_GONE : SCHEDQ_OK;
}

/*
 * In a callback that runs with the lock held: the token is used up, and the pod ends when the lock
 * is given up. Until then no other call looks, and the call that runs the callback finds the record
 * as it was.
 */
COLD static schedq_status_t
end_later(struct mutex_queue *queue, schedq_token_t token)
{
    uint32_t index;
    struct entry *entry = entry_of_token(&queue->entries, token, &index);

    if (entry == NULL || entry_is_group(entry) || token.bits == queue->failing) {
        return SCHEDQ_STALE;
    }
    bool deleted = (entry->marks & MARK_DELETED) != 0;

    probe_done(queue, token.bits);
    entry_changed(entry);
    entry->lot_next = queue->ended;
    queue->ended = index;
    queue->counters.dones += deleted ? 0 : 1;
    return deleted ? SCHEDQ_GONE : SCHEDQ_OK;
}

STRAIGHT schedq_status_t
end_many(struct mutex_queue *queue, const schedq_token_t *tokens, size_t count, uint8_t *statuses,
         bool guest)
{
    schedq_status_t first = SCHEDQ_OK;

    queue_lock(queue);
    for (size_t i = 0; i < count; i++) {
        schedq_status_t status = done(queue, tokens[i], guest);

        if (statuses != NULL) {
            statuses[i] = (uint8_t)status;
        }
        first = first == SCHEDQ_OK ? status : first;
    }
    queue_unlock(queue);
    return first;
}

schedq_status_t
mutex_end_many(schedq_t *base, const schedq_token_t *tokens, size_t count, uint8_t *statuses,
               bool held)
{
    struct mutex_queue *queue = mutex_queue(base);
    schedq_status_t first = SCHEDQ_OK;

    if (!held) {
        return end_many(queue, tokens, count, statuses, true);
    }
    for (size_t i = 0; i < count; i++) {
        schedq_status_t status = end_later(queue, tokens[i]);

        if (statuses != NULL) {
            statuses[i] = (uint8_t)status;
        }
        first = first == SCHEDQ_OK ? status : first;
    }
    return first;
}

schedq_status_t
mutex_done_many(schedq_worker_t *worker, const schedq_token_t *tokens, size_t count,
                uint8_t *statuses)
{
    return end_many(queue_of(worker), tokens, count, statuses, false);
}

schedq_status_t
mutex_done(schedq_worker_t *worker, schedq_token_t token)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    schedq_status_t status = done(queue, token, false);

    queue_unlock(queue);
    return status;
}

schedq_status_t
mutex_token_alive(schedq_worker_t *worker, schedq_token_t token)
{
    struct mutex_queue *queue = queue_of(worker);
    uint32_t index;

    queue_lock(queue);
    const struct entry *entry = entry_of_token(&queue->entries, token, &index);
    schedq_status_t status = entry == NULL || entry_is_group(entry) ? SCHEDQ_STALE
                             : (entry->marks & MARK_DELETED) != 0   ? SCHEDQ_GONE
                                                                    : SCHEDQ_OK;
    queue_unlock(queue);
    return status;
}

/* ---- failure --------------------------------------------------------------------------------- */

enum strategy
cycle_judge_events(struct mutex_queue *queue, const struct entry *entry)
{
    if (queue->base.rules.hints) {
        return mutex_event_log_judge(&queue->log, entry, &queue->counters.hint_calls);
    }
    return queue->moved > entry->flight.seen ? STRATEGY_AFTER_BACKOFF : STRATEGY_SKIP;
}

/*
 * Was there an event during the flight that makes a parked pod of these rejectors worth another
 * attempt?
 */
STRAIGHT enum strategy
judge_flight(struct mutex_queue *queue, const struct entry *entry)
{
    const struct rules *rules = &queue->base.rules;
    bool with_error = (entry->unschedulable | entry->pending) == 0;
    bool activated = (entry->marks & MARK_ACTIVATED) != 0;
    enum strategy strategy;

    if (with_error) {
        bool anything = rules->hints ? queue->log.newest > entry->flight.seen
                                     : queue->moved > entry->flight.seen;

        strategy = !rules->errors_park || anything ? STRATEGY_AFTER_BACKOFF : STRATEGY_SKIP;
    } else {
        strategy = cycle_judge_events(queue, entry);
    }
    return activated && strategy == STRATEGY_SKIP ? STRATEGY_AFTER_BACKOFF : strategy;
}

static void
set_rejectors(struct mutex_queue *queue, struct entry *entry, const schedq_failure_t *failure)
{
    entry->unschedulable = failure->unschedulable;
    entry->pending = failure->pending;
    if (((entry->unschedulable | entry->pending) & SCHEDQ_REJECTOR_OTHERS) != 0) {
        queue->others_used = true;
    }
    history_count_failure(&entry->rejections, &entry->errors,
                          entry->unschedulable | entry->pending);
}

static schedq_status_t
take_newest(struct mutex_queue *queue, uint32_t index, const schedq_failure_t *failure)
{
    struct entry *entry = pod_at(queue, index);
    uint64_t old_described = entry->described_node;

    if (failure->newest != NULL) {
        schedq_status_t status = admit_describe(queue, index, failure->newest);

        if (status != SCHEDQ_OK) {
            return status;
        }
        if (queue->base.rules.nominate == NOMINATE_AT_ADD) {
            admit_renominate(queue, index, old_described);
        }
    }
    if (queue->base.rules.nominate == NOMINATE_ALWAYS) {
        mutex_nominator_set(&queue->nominator, index, entry->described_node);
    }
    return SCHEDQ_OK;
}

/*
 * A host's verdict holds only if no event came that it has not judged. Called before anything
 * changes; true: judge up to result->sequence and call again.
 */
static bool
is_outdated(struct mutex_queue *queue, const struct entry *entry, const schedq_failure_t *failure,
            schedq_result_t *result)
{
    uint64_t rejectors = verdict_rejectors(failure);
    uint64_t newest = rejectors == 0
                          ? queue->log.newest
                          : mutex_event_log_newest_stamp(&queue->log, entry->profile, rejectors);

    if (!verdict_covers_events(failure)) {
        return false;
    }
    if (newest <= failure->judged_up_to && (entry->marks & MARK_ACTIVATED) == 0) {
        return false;
    }
    result->sequence = queue->log.newest;
    return true;
}

static void
route_by_host(const struct route *route, uint32_t index, const schedq_failure_t *failure)
{
    switch (failure->place) {
    case SCHEDQ_PARKED:
        mutex_route_parked(route, index);
        break;
    case SCHEDQ_GATED:
        mutex_route_gated(route, index, failure->gate);
        break;
    default:
        mutex_route_admitted(route, index, (schedq_place_t)failure->place, true);
        break;
    }
}

static void
route_failed(struct mutex_queue *queue, uint32_t index, const schedq_failure_t *failure,
             enum strategy strategy, bool kept, int64_t now, schedq_result_t *result)
{
    const struct route route = {
        .queue = queue, .result = result, .now = now, .label = LABEL_FAILURE, .recount = true};

    if (kept) {
        mutex_route_held(&route, index);
    } else if (queue->base.rules.host) {
        route_by_host(&route, index, failure);
    } else if (strategy == STRATEGY_SKIP) {
        mutex_route_parked(&route, index);
    } else {
        (void)mutex_route_by_strategy(&route, index, strategy);
    }
}

/* For a pod that has a class, and that nothing else keeps back. */
COLD static enum strategy
judge_classed(struct mutex_queue *queue, uint32_t index, const schedq_failure_t *failure,
              int64_t now)
{
    bool host = queue->base.rules.host;
    enum strategy strategy = host ? STRATEGY_SKIP : judge_flight(queue, pod_at(queue, index));
    bool parks = host ? failure->place == SCHEDQ_PARKED : strategy == STRATEGY_SKIP;

    mutex_class_judge(queue, index, failure, parks, now);
    return strategy;
}

static schedq_status_t
fail(struct mutex_queue *queue, uint32_t index, schedq_token_t *token,
     const schedq_failure_t *failure, schedq_result_t *result)
{
    struct entry *entry = pod_at(queue, index);
    int64_t now = queue_now(queue);
    uint64_t replaced = entry->object;

    if (queue->base.rules.host && is_outdated(queue, entry, failure, result)) {
        entry->marks &= (uint8_t)~MARK_ACTIVATED;
        entry_changed(entry);
        token->bits = entry_ref(entry, index);
        mutex_report_pod(queue, index, result);
        return SCHEDQ_RETRY;
    }
    schedq_status_t status = take_newest(queue, index, failure);
    if (status != SCHEDQ_OK) {
        return status;
    }
    set_rejectors(queue, entry, failure);
    admit_stamp_time(queue, entry, now);

    if (entry_has_class(entry)) {
        mutex_class_note_try(queue, index);
    }
    bool kept = mutex_place_keeps(queue, entry, index, now);
    enum strategy strategy = STRATEGY_SKIP;

    if (entry_has(entry, ENTRY_CLASSED, MARK_MEMBER)) {
        if (!entry_is_member(entry) && !kept) {
            strategy = judge_classed(queue, index, failure, now);
            kept = queue->classes.turn == CLASS_HIDES;
        }
    } else if (!queue->base.rules.host && !kept) {
        strategy = judge_flight(queue, entry);
    }
    admit_end_flight(queue, entry);
    entry->marks &= MARKS_KEPT | MARKS_ASIDE;
    entry->parking.flushed = 0;
    route_failed(queue, index, failure, strategy, kept, now, result);
    queue->counters.failures++;
    mutex_report_pod(queue, index, result);
    result->object = replaced;
    result->poppable = queue->made_poppable > 0;
    return SCHEDQ_OK;
}

/* A failure of a pod that was deleted in flight, or with the token of a group. */
COLD static schedq_status_t
end_unfailed(struct mutex_queue *queue, uint32_t index, schedq_token_t token,
             schedq_result_t *result)
{
    struct entry *entry = pod_at(queue, index);

    if (entry_is_group(entry)) {
        return SCHEDQ_STALE;
    }
    result->object = entry->object;
    if (entry_has_class(entry)) {
        mutex_class_end(queue, index);
    }
    probe_done(queue, token.bits);
    admit_end_flight(queue, entry);
    admit_end(queue, index);
    return SCHEDQ_GONE;
}

/* A pod that was deleted or has a class, or a group's record. SCHEDQ_OK: it is to fail. */
COLD static schedq_status_t
begin_other(struct mutex_queue *queue, uint32_t index, schedq_token_t token,
            schedq_result_t *result)
{
    if ((pod_at(queue, index)->marks & (MARK_DELETED | MARK_GROUP)) != 0) {
        return end_unfailed(queue, index, token, result);
    }
    mutex_class_fails(queue, index);
    return SCHEDQ_OK;
}

COLD static void
tell_class(struct mutex_queue *queue, uint32_t index, bool failed, schedq_result_t *result)
{
    mutex_class_failed(queue, index, failed);
    if (failed) {
        result->poppable = queue->made_poppable > 0;
    }
}

schedq_status_t
mutex_fail(schedq_worker_t *worker, schedq_token_t *token, const schedq_failure_t *failure,
           schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status;
    uint32_t index;

    queue_lock(queue);
    struct entry *entry = entry_of_token(&queue->entries, *token, &index);

    if (entry == NULL) {
        status = SCHEDQ_STALE;
    } else if (entry_has(entry, ENTRY_CLASSED, MARK_DELETED | MARK_GROUP)) {
        status = begin_other(queue, index, *token, result);
    } else {
        status = SCHEDQ_OK;
    }
    if (status == SCHEDQ_OK) {
        status = verdict_check_failure(&queue->base.registry, entry->profile, failure,
                                       worker->words, sizeof worker->words);
        if (status == SCHEDQ_OK) {
            queue->failing = token->bits;
            status = fail(queue, index, token, failure, result);
            queue->failing = 0;
        }
        if (queue->classes.turn != CLASS_NOBODY) {
            tell_class(queue, index, status == SCHEDQ_OK, result);
        }
    }
    queue_unlock(queue);
    return status;
}

/* ---- readd ----------------------------------------------------------------------------------- */

static void
restore_history(struct mutex_queue *queue, uint32_t index, const schedq_history_t *history,
                const schedq_failure_t *failure, int64_t now)
{
    struct entry *entry = pod_at(queue, index);

    entry->attempts = history->attempts;
    entry->rejections = history->rejections;
    entry->errors = history->errors;
    entry->initial_attempt = history->initial_attempt_ns;
    set_rejectors(queue, entry, failure);
    if (queue->base.rules.keep_order && (entry->flags & SCHEDQ_POD_ORDER_KEY) == 0) {
        entry->order_key = history->timestamp_ns;
    }
    entry->timestamp = now;
}

schedq_status_t
mutex_readd(schedq_worker_t *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
            const schedq_history_t *history, const schedq_failure_t *failure,
            schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_pod_spec_t now_spec = *spec;
    uint32_t index;

    now_spec.timestamp_ns = 0;
    queue_lock(queue);
    int64_t now = queue_now(queue);
    schedq_status_t status = verdict_check_failure(&queue->base.registry, spec->profile, failure,
                                                   worker->words, sizeof worker->words);

    if (status == SCHEDQ_OK) {
        status = admit_check_absent(queue, name, result);
    }
    if (status == SCHEDQ_OK && queue->base.rules.host && failure->place == SCHEDQ_GATED) {
        status =
            admit_check_gate(queue, spec->profile, failure->gate, failure->judged_up_to, result);
    }
    if (status == SCHEDQ_OK) {
        status = admit_pod(worker, name, &now_spec, now, true, &index);
    }
    if (status == SCHEDQ_OK) {
        restore_history(queue, index, history, failure, now);
        if (queue->base.rules.nominate == NOMINATE_ALWAYS) {
            mutex_nominator_set(&queue->nominator, index, pod_at(queue, index)->described_node);
        }
        route_failed(queue, index, failure, STRATEGY_AFTER_BACKOFF,
                     mutex_place_keeps(queue, pod_at(queue, index), index, now), now, result);
        queue->counters.adds++;
        mutex_report_pod(queue, index, result);
        probe_add(queue, result->pod.bits, name->text, name->length);
        result->added = 1;
        result->poppable = queue->made_poppable > 0;
    }
    queue_unlock(queue);
    return status;
}
