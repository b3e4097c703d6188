/* Pods that are tried together. */
#include "api/call.h"
#include "api/check.h"

#include <schedq/group.h>

#include <inttypes.h>

static bool
check_group(schedq_worker_t *worker, uint64_t group, const char *function)
{
    if (group == 0) {
        worker_say(worker, "group 0: 1..%" PRIu64 ", 0 is no group", UINT64_MAX);
        return false;
    }
    return check_decides(worker, SCHEDQ_DECIDE_CALLBACKS, function);
}

static bool
check_group_spec(schedq_worker_t *worker, uint64_t group, const schedq_group_spec_t *spec,
                 const char *function)
{
    if (!check_group(worker, group, function) || !check_not_null(worker, spec, "spec") ||
        !check_size(worker, "spec", spec->struct_size, sizeof *spec) ||
        !check_profile(worker, "spec.profile", spec->profile) ||
        !check_reserved(worker, "spec", spec->reserved, sizeof spec->reserved)) {
        return false;
    }
    if (spec->parent == group) {
        worker_say(worker, "spec.parent %" PRIu64 ": any other group than itself, or 0", group);
        return false;
    }
    return true;
}

typedef schedq_status_t declare_fn(schedq_worker_t *worker, uint64_t group,
                                   const schedq_group_spec_t *spec, schedq_result_t *result);

static schedq_status_t
declare(schedq_worker_t *worker, bool adds, uint64_t group, const schedq_group_spec_t *spec,
        schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    const struct engine_ops *ops = worker->queue->ops;
    declare_fn *declares = adds ? ops->group_add : ops->group_update;

    status =
        check_group_spec(worker, group, spec, adds ? "schedq_group_add" : "schedq_group_update")
            ? declares(worker, group, spec, result)
            : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_group_add(schedq_worker_t *worker, uint64_t group, const schedq_group_spec_t *spec,
                 schedq_result_t *result)
{
    return declare(worker, true, group, spec, result);
}

schedq_status_t
schedq_group_update(schedq_worker_t *worker, uint64_t group, const schedq_group_spec_t *spec,
                    schedq_result_t *result)
{
    return declare(worker, false, group, spec, result);
}

typedef schedq_status_t by_number_fn(schedq_worker_t *worker, uint64_t group,
                                     schedq_result_t *result);

static schedq_status_t
by_number(schedq_worker_t *worker, bool ends, uint64_t group, schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    const struct engine_ops *ops = worker->queue->ops;
    by_number_fn *does = ends ? ops->group_delete : ops->group_activate;

    status = check_group(worker, group, ends ? "schedq_group_delete" : "schedq_group_activate")
                 ? does(worker, group, result)
                 : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_group_delete(schedq_worker_t *worker, uint64_t group, schedq_result_t *result)
{
    return by_number(worker, true, group, result);
}

schedq_status_t
schedq_group_activate(schedq_worker_t *worker, uint64_t group, schedq_result_t *result)
{
    return by_number(worker, false, group, result);
}

schedq_status_t
schedq_group_get(schedq_worker_t *worker, uint64_t group, schedq_group_info_t *info)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    bool legal = check_group(worker, group, "schedq_group_get") &&
                 check_not_null(worker, info, "info") &&
                 check_size(worker, "info", info->struct_size, sizeof *info);

    status = legal ? worker->queue->ops->group_get(worker, group, info) : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}

static schedq_status_t
pop_group(schedq_worker_t *worker, enum waits waits, int64_t time, schedq_popped_group_t *group,
          schedq_popped_t *members, size_t room, size_t *count)
{
    static const char *const functions[] = {[WAITS_NOT] = "schedq_try_pop_group",
                                            [WAITS_UNTIL] = "schedq_pop_group_until",
                                            [WAITS_FOR] = "schedq_pop_group_for"};
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!check_decides(worker, SCHEDQ_DECIDE_CALLBACKS, functions[waits]) ||
        (waits == WAITS_FOR && !check_wait(worker, time)) ||
        !check_not_null(worker, group, "group") || !check_not_null(worker, members, "members") ||
        !check_not_null(worker, count, "count")) {
        status = SCHEDQ_INVALID;
    } else if (room == 0) {
        worker_say(worker, "room 0: at least 1");
        status = SCHEDQ_INVALID;
    } else {
        status = worker->queue->ops->pop_group(worker, waits != WAITS_NOT,
                                               call_deadline(worker, waits, time), group, members,
                                               room, count);
    }
    if (status == SCHEDQ_FULL) {
        worker_say(worker, "room %zu: at least %zu, the members that the group has", room, *count);
    }
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_try_pop_group(schedq_worker_t *worker, schedq_popped_group_t *group,
                     schedq_popped_t *members, size_t room, size_t *count)
{
    return pop_group(worker, WAITS_NOT, 0, group, members, room, count);
}

schedq_status_t
schedq_pop_group_until(schedq_worker_t *worker, int64_t deadline_ns, schedq_popped_group_t *group,
                       schedq_popped_t *members, size_t room, size_t *count)
{
    return pop_group(worker, WAITS_UNTIL, deadline_ns, group, members, room, count);
}

schedq_status_t
schedq_pop_group_for(schedq_worker_t *worker, int64_t wait_ns, schedq_popped_group_t *group,
                     schedq_popped_t *members, size_t room, size_t *count)
{
    return pop_group(worker, WAITS_FOR, wait_ns, group, members, room, count);
}

/* ---- the end of a cycle ---------------------------------------------------------------------- */

static bool
check_end(schedq_worker_t *worker, const schedq_group_end_t *end)
{
    if (!check_decides(worker, SCHEDQ_DECIDE_CALLBACKS, "schedq_group_done") ||
        !check_not_null(worker, end, "end") ||
        !check_size(worker, "end", end->struct_size, sizeof *end)) {
        return false;
    }
    if (end->outcome > SCHEDQ_GROUP_ERROR) {
        worker_say(worker, "end.outcome %u: 0..%u", end->outcome, SCHEDQ_GROUP_ERROR);
        return false;
    }
    if (end->reserved != 0) {
        worker_say(worker, "end.reserved %u: 0", end->reserved);
        return false;
    }
    if (end->place != SCHEDQ_NOWHERE || end->gate != 0 || end->judged_up_to != 0) {
        worker_say(worker, "end.place %u, gate %u, judged_up_to %" PRIu64 ": 0, the queue decides",
                   end->place, end->gate, end->judged_up_to);
        return false;
    }
    return true;
}

schedq_status_t
schedq_group_done(schedq_worker_t *worker, schedq_token_t *token, const schedq_group_end_t *end,
                  schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = check_not_null(worker, token, "token") && check_end(worker, end)
                 ? worker->queue->ops->group_done(worker, token, end, result)
                 : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}
