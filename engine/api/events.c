/* Cluster events, decided by callbacks or by the host; and time. */
#include "api/call.h"
#include "api/check.h"
#include "plugins/narrow.h"

#include <inttypes.h>
#include <string.h>

#define NAMESPACE_MAX 253

/* ---- decided by callbacks -------------------------------------------------------------------- */

static bool
check_change(schedq_worker_t *worker, const schedq_change_t *change, const char *function)
{
    if (!check_decides(worker, SCHEDQ_DECIDE_CALLBACKS, function) ||
        !check_not_null(worker, change, "change") ||
        !check_size(worker, "change", change->struct_size, sizeof *change) ||
        !check_event(worker, "change.event", change->event)) {
        return false;
    }
    if (!check_reserved(worker, "change", change->reserved, sizeof change->reserved)) {
        return false;
    }
    return true;
}

/* What a schedq_assigned_pod_ call says besides the event. */
struct assignment {
    const char *namespace_name;
    size_t namespace_length;
    bool updated; /* then a scale-down concerns every pod */
};

static bool
check_assignment(schedq_worker_t *worker, const struct assignment *assignment)
{
    size_t length = assignment->namespace_length;

    if (!check_not_null(worker, assignment->namespace_name, "namespace_name")) {
        return false;
    }
    if (length == 0 || length > NAMESPACE_MAX) {
        worker_say(worker, "namespace_length %zu: 1..%d", length, NAMESPACE_MAX);
        return false;
    }
    return true;
}

static bool
check_target(schedq_worker_t *worker, const schedq_change_t *change)
{
    if (change->target.bits != 0 &&
        !registry_is_wildcard(&worker->queue->registry, change->event)) {
        worker_say(worker, "change.target: {0}, since event %u is not {\"*\", SCHEDQ_ACTION_ALL}",
                   change->event);
        return false;
    }
    return true;
}

static schedq_status_t
notify_assigned(schedq_worker_t *worker, const schedq_change_t *change,
                const struct assignment *assignment, schedq_result_t *result)
{
    schedq_t *queue = worker->queue;
    bool scaled_down =
        registry_actions(&queue->registry, change->event) == SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN;
    schedq_change_t unchecked = *change;
    const struct assigned_pod pod = {.namespace_name = assignment->namespace_name,
                                     .namespace_length = (uint32_t)assignment->namespace_length};

    unchecked.precheck = NULL;
    return queue->ops->notify(worker, &unchecked, assignment->updated && scaled_down ? NULL : &pod,
                              NULL, result);
}

/* Is there a plugin to ask which pods the change can concern? */
static bool
may_narrow(const schedq_t *queue, const schedq_change_t *change)
{
    return queue->rules.pre_hints && queue->registry.has_pre_hints &&
           (change->old_object | change->new_object) != 0 &&
           !registry_is_wildcard(&queue->registry, change->event);
}

COLD static schedq_status_t
notify_listed(schedq_worker_t *worker, const schedq_change_t *change, schedq_result_t *result)
{
    schedq_t *queue = worker->queue;
    struct schedq_pod_list list;

    narrow_begin(&list, &queue->registry, queue->seed);
    bool narrowed =
        narrow_ask(&list, &queue->registry, change->event, change->old_object, change->new_object);
    schedq_status_t status =
        queue->ops->notify(worker, change, NULL, narrowed ? &list : NULL, result);

    narrow_end(&list);
    return status;
}

STRAIGHT schedq_status_t
tell(schedq_worker_t *worker, const schedq_change_t *change, const struct assignment *assignment,
     schedq_result_t *result)
{
    if (assignment != NULL) {
        return notify_assigned(worker, change, assignment, result);
    }
    return may_narrow(worker->queue, change)
               ? notify_listed(worker, change, result)
               : worker->queue->ops->notify(worker, change, NULL, NULL, result);
}

static schedq_status_t
notify(schedq_worker_t *worker, const schedq_change_t *change, const struct assignment *assignment,
       const char *function, schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!check_change(worker, change, function) ||
        (assignment != NULL && !check_assignment(worker, assignment)) ||
        !check_target(worker, change)) {
        status = SCHEDQ_INVALID;
    } else {
        probe_event_begin(worker, change);
        status = tell(worker, change, assignment, result);
        probe_event_end(worker, status, result);
    }
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_notify(schedq_worker_t *worker, const schedq_change_t *change, schedq_result_t *result)
{
    return notify(worker, change, NULL, "schedq_notify", result);
}

schedq_status_t
schedq_assigned_pod_added(schedq_worker_t *worker, const schedq_change_t *change,
                          const char *namespace_name, size_t namespace_length,
                          schedq_result_t *result)
{
    const struct assignment assignment = {namespace_name, namespace_length, .updated = false};

    return notify(worker, change, &assignment, "schedq_assigned_pod_added", result);
}

schedq_status_t
schedq_assigned_pod_updated(schedq_worker_t *worker, const schedq_change_t *change,
                            const char *namespace_name, size_t namespace_length,
                            schedq_result_t *result)
{
    const struct assignment assignment = {namespace_name, namespace_length, .updated = true};

    return notify(worker, change, &assignment, "schedq_assigned_pod_updated", result);
}

/* ---- decided by the host --------------------------------------------------------------------- */

schedq_status_t
schedq_event_begin(schedq_worker_t *worker, uint64_t *sequence)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (check_decides(worker, SCHEDQ_DECIDE_HOST, "schedq_event_begin") &&
        check_not_null(worker, sequence, "sequence")) {
        worker->queue->ops->event_begin(worker, sequence);
    } else {
        status = SCHEDQ_INVALID;
    }
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_event_stamp(schedq_worker_t *worker, uint64_t sequence, schedq_profile_t profile,
                   uint64_t plugins)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (check_decides(worker, SCHEDQ_DECIDE_HOST, "schedq_event_stamp") &&
        check_profile(worker, "profile", profile)) {
        status = worker->queue->ops->event_stamp(worker, sequence, profile, plugins);
    } else {
        status = SCHEDQ_INVALID;
    }
    call_end_worker(worker);
    return status;
}

static bool
check_query(schedq_worker_t *worker, const schedq_query_t *query, const schedq_candidate_t *out,
            size_t capacity, const size_t *count)
{
    if (!check_decides(worker, SCHEDQ_DECIDE_HOST, "schedq_candidates") ||
        !check_not_null(worker, query, "query") || !check_not_null(worker, out, "out") ||
        !check_not_null(worker, count, "count") ||
        !check_size(worker, "query", query->struct_size, sizeof *query) ||
        !check_profile(worker, "query.profile", query->profile)) {
        return false;
    }
    if (capacity == 0) {
        worker_say(worker, "capacity 0: at least 1");
        return false;
    }
    if (query->backoff > 1) {
        worker_say(worker, "query.backoff %u: 0..1", query->backoff);
        return false;
    }
    return check_reserved(worker, "query", query->reserved, sizeof query->reserved);
}

schedq_status_t
schedq_candidates(schedq_worker_t *worker, schedq_query_t *query, schedq_candidate_t *out,
                  size_t capacity, size_t *count)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = check_query(worker, query, out, capacity, count)
                 ? worker->queue->ops->candidates(worker, query, out, capacity, count)
                 : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}

static bool
check_decision(schedq_worker_t *worker, const schedq_decision_t *decision)
{
    bool gated = decision->place == SCHEDQ_GATED;

    if (!check_size(worker, "decision", decision->struct_size, sizeof *decision) ||
        !check_event(worker, "decision.event", decision->event) ||
        !check_reserved(worker, "decision", decision->reserved, sizeof decision->reserved)) {
        return false;
    }
    if (decision->uncounted > (gated ? 1 : 0)) {
        worker_say(worker, "decision.uncounted %u: 0%s", decision->uncounted,
                   gated ? "..1" : ", since place is not GATED");
        return false;
    }
    if (decision->flushed > 1) {
        worker_say(worker, "decision.flushed %u: 0..1", decision->flushed);
        return false;
    }
    bool backs_off = decision->place == SCHEDQ_BACKOFF;

    if (decision->if_backing_off > (backs_off ? 1 : 0)) {
        worker_say(worker, "decision.if_backing_off %u: 0%s", decision->if_backing_off,
                   backs_off ? "..1" : ", since place is not BACKOFF");
        return false;
    }
    if (!gated && decision->place != SCHEDQ_ACTIVE && decision->place != SCHEDQ_BACKOFF) {
        worker_say(worker, "decision.place %u: ACTIVE %d, BACKOFF %d, GATED %d", decision->place,
                   SCHEDQ_ACTIVE, SCHEDQ_BACKOFF, SCHEDQ_GATED);
        return false;
    }
    if (gated != (decision->gate != 0)) {
        worker_say(worker, "decision.gate %u: %s", decision->gate,
                   gated ? "1 + a plugin's number, since place is GATED"
                         : "0, since place is not GATED");
        return false;
    }
    return true;
}

static bool
check_decisions(schedq_worker_t *worker, const schedq_decision_t *decisions, size_t count)
{
    if (!check_decides(worker, SCHEDQ_DECIDE_HOST, "schedq_apply") ||
        (count > 0 && !check_not_null(worker, decisions, "decisions"))) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!check_decision(worker, &decisions[i])) {
            return false;
        }
    }
    return true;
}

schedq_status_t
schedq_apply_many(schedq_worker_t *worker, const schedq_decision_t *decisions, size_t count,
                  uint8_t *statuses, schedq_result_t *results, schedq_result_t *sum)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &sum);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = check_decisions(worker, decisions, count)
                 ? worker->queue->ops->apply_many(worker, decisions, count, statuses, results, sum)
                 : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_apply(schedq_worker_t *worker, const schedq_decision_t *decision, schedq_result_t *result)
{
    if (result != NULL) {
        *result = (schedq_result_t){0};
    }
    return schedq_apply_many(worker, decision, 1, NULL, result, NULL);
}

/* ---- time ------------------------------------------------------------------------------------ */

schedq_status_t
schedq_tick(schedq_worker_t *worker, int64_t *next_ns, schedq_result_t *result)
{
    schedq_result_t unseen;
    int64_t next;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = worker->queue->ops->tick(worker, next_ns != NULL ? next_ns : &next, result);
    call_end_worker(worker);
    return status;
}
