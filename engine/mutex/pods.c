/*
 * What callers do to single pods: add, find, update, delete, activate, nominate.
 */
#include "mutex/pods.h"

#include "mutex/admit.h"
#include "mutex/class.h"
#include "mutex/gather.h"
#include "mutex/hold.h"
#include "mutex/moves.h"
#include "mutex/report.h"
#include "mutex/route.h"

/* ---- add ------------------------------------------------------------------------------------- */

static void
route_new(struct mutex_queue *queue, uint32_t index, const schedq_pod_spec_t *spec, uint32_t label,
          int64_t now, schedq_result_t *result)
{
    const struct route route = {
        .queue = queue, .result = result, .now = now, .label = label, .recount = true};

    if (spec->not_before_ns > now) {
        mutex_route_held(&route, index);
    } else if (!queue->base.rules.host) {
        mutex_route_to_active(&route, index);
    } else if (spec->gate != 0) {
        mutex_route_gated(&route, index, spec->gate);
    } else {
        mutex_route_admitted(&route, index, SCHEDQ_ACTIVE, false);
    }
    queue->counters.adds++;
}

/* The name is known not to be in the queue. */
static schedq_status_t
add_absent(schedq_worker_t *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
           uint32_t label, int64_t now, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status = SCHEDQ_OK;
    uint32_t index;

    if (spec->gate != 0) {
        status = admit_check_gate(queue, spec->profile, spec->gate, spec->judged_up_to, result);
    }
    if (status == SCHEDQ_OK) {
        status = admit_pod(worker, name, spec, now, false, &index);
    }
    if (status == SCHEDQ_OK) {
        route_new(queue, index, spec, label, now, result);
        mutex_report_moved(queue, index, result);
        probe_add(queue, result->pod.bits, name->text, name->length);
    }
    return status;
}

static schedq_status_t
add_one(schedq_worker_t *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
        schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);

    /* The clock takes as long as memory does. */
    index_prefetch(&queue->index, name->hash);
    int64_t now = queue_now(queue);
    schedq_status_t status = admit_check_absent(queue, name, result);

    return status != SCHEDQ_OK ? status
                               : add_absent(worker, name, spec, LABEL_POD_ADD, now, result);
}

schedq_status_t
mutex_add(schedq_worker_t *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
          schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_result_t unseen = {0};

    if (result == NULL) {
        result = &unseen;
    }
    queue_lock(queue);
    schedq_status_t status = add_one(worker, name, spec, result);

    result->poppable = queue->made_poppable > 0;
    queue_unlock(queue);
    return status;
}

/*
 * Counts add up over a batch; what describes a pod is of the last one, and means something for a
 * batch of one.
 */
schedq_status_t
mutex_add_many(schedq_worker_t *worker, const struct add_batch *batch, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t first = SCHEDQ_OK;

    queue_lock(queue);
    for (size_t i = 0; i < batch->count; i++) {
        const schedq_pod_spec_t *spec = &batch->items[i].spec;
        schedq_status_t status =
            batch->statuses != NULL ? (schedq_status_t)batch->statuses[i] : SCHEDQ_OK;

        if (status == SCHEDQ_OK) {
            const struct hashed_name name = name_in_batch(worker->queue, batch, i);

            status = add_one(worker, &name, spec, result);
            if (batch->pods != NULL && status == SCHEDQ_OK) {
                batch->pods[i] = result->pod;
            }
        }
        if (batch->statuses != NULL) {
            batch->statuses[i] = (uint8_t)status;
        }
        first = first == SCHEDQ_OK ? status : first;
    }
    result->poppable = queue->made_poppable > 0;
    queue_unlock(queue);
    return first;
}

/* ---- find ------------------------------------------------------------------------------------ */

static struct entry *
find_by_name(const struct mutex_queue *queue, const struct hashed_name *name, uint32_t *index)
{
    *index = mutex_index_find(&queue->index, name);
    return *index == NO_ENTRY ? NULL : pod_at(queue, *index);
}

schedq_status_t
mutex_find(schedq_worker_t *worker, const struct hashed_name *name, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    uint32_t index;

    queue_lock(queue);
    bool found = find_by_name(queue, name, &index) != NULL;
    if (found) {
        mutex_report_pod(queue, index, result);
    }
    queue_unlock(queue);
    return found ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}

/* ---- update ---------------------------------------------------------------------------------- */

struct update {
    uint64_t old_object;
    const schedq_event_t *events;
    size_t event_count;
};

/*
 * A parked or gated pod: is the change worth another attempt? The first event that moves it ends
 * the matter.
 */
static void
retry_updated(struct mutex_queue *queue, uint32_t index, const struct update *update,
              schedq_result_t *result)
{
    const struct rules *rules = &queue->base.rules;
    struct route route = {.queue = queue,
                          .result = result,
                          .now = queue_now(queue),
                          .label = LABEL_NONE,
                          .recount = false};

    if (!rules->hints) {
        route.label = rules->counts_updates ? LABEL_POD_UPDATE : LABEL_NONE;
        if (update->event_count > 0) {
            mutex_route_after_backoff(&route, index);
        }
        return;
    }
    for (size_t i = 0; i < update->event_count; i++) {
        const struct cluster_event event = {.event = update->events[i],
                                            .old_object = update->old_object,
                                            .new_object = pod_at(queue, index)->object};
        enum strategy strategy = mutex_moves_judge(queue, pod_at(queue, index), &event);

        route.label = registry_label(&queue->base.registry, update->events[i]);
        if (mutex_route_by_strategy(&route, index, strategy)) {
            queue->counters.moves++;
            return;
        }
    }
}

static void
update_in_flight(struct mutex_queue *queue, const struct update *update, uint64_t new_object)
{
    if (!queue->base.rules.hints || queue->base.rules.host) {
        return;
    }
    for (size_t i = 0; i < update->event_count; i++) {
        const struct cluster_event event = {
            .event = update->events[i], .old_object = update->old_object, .new_object = new_object};

        mutex_moves_announce(queue, &event);
    }
}

/* The update of a member is an event for its root's record, if that waits for one. */
RARELY static void
retry_record(struct mutex_queue *queue, uint32_t index, const struct update *update,
             schedq_result_t *result)
{
    uint32_t record = mutex_gather_record(queue, group_of(&queue->groups, index));
    struct route route = {.queue = queue, .result = result, .now = queue_now(queue)};

    if (record == NO_ENTRY || (pod_at(queue, record)->place != SCHEDQ_PARKED &&
                               pod_at(queue, record)->place != SCHEDQ_GATED)) {
        return;
    }
    for (size_t i = 0; i < update->event_count; i++) {
        const struct cluster_event event = {.event = update->events[i],
                                            .old_object = update->old_object,
                                            .new_object = pod_at(queue, index)->object};

        route.label = registry_label(&queue->base.registry, update->events[i]);
        if (mutex_route_by_strategy(&route, record, mutex_gather_judge(queue, record, &event))) {
            queue->counters.moves++;
            return;
        }
    }
}

/* Settles a waiting pod in the place that it had. */
STRAIGHT void
settle_updated(struct mutex_queue *queue, uint32_t index, const struct update *update,
               schedq_result_t *result)
{
    const struct entry *entry = pod_at(queue, index);

    mutex_place_again(queue, index);
    if (!queue->base.rules.host &&
        (entry->place == SCHEDQ_PARKED || entry->place == SCHEDQ_GATED)) {
        retry_updated(queue, index, update, result);
    } else if (!queue->base.rules.host && entry->place == SCHEDQ_ASIDE) {
        retry_record(queue, index, update, result);
    }
}

/* Updates a pod that is held, or that has a time from now on; not one in flight. */
COLD static schedq_status_t
update_kept(struct mutex_queue *queue, uint32_t index, const schedq_pod_spec_t *spec,
            const struct update *update, schedq_result_t *result)
{
    const struct entry *entry = pod_at(queue, index);
    uint64_t old_described = entry->described_node;
    bool lifted = entry->place == SCHEDQ_HELD;

    /*
     * Before the pod is taken out: put back, it would have another version, and its class would
     * pass it by.
     */
    if (!admit_reserve_description(queue, index, spec)) {
        return SCHEDQ_NOMEM;
    }
    if (lifted) {
        mutex_hold_take_out(queue, index);
    }
    (void)admit_describe(queue, index, spec); /* there is room */
    admit_renominate(queue, index, old_described);
    mutex_hold_settle(queue, index, lifted, result);
    if (entry->place != SCHEDQ_HELD && !lifted) {
        settle_updated(queue, index, update, result);
    }
    return SCHEDQ_OK;
}

/* Updates a pod that nothing keeps back, where it is or waits. */
STRAIGHT schedq_status_t
update_free(struct mutex_queue *queue, uint32_t index, const schedq_pod_spec_t *spec,
            const struct update *update, schedq_result_t *result)
{
    const struct entry *entry = pod_at(queue, index);
    uint64_t old_described = entry->described_node;
    schedq_status_t status = admit_describe(queue, index, spec);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (entry->place == SCHEDQ_INFLIGHT) {
        if (queue->base.rules.nominate == NOMINATE_AT_ADD) {
            admit_renominate(queue, index, old_described);
        }
        update_in_flight(queue, update, spec->object);
        return SCHEDQ_OK;
    }
    admit_renominate(queue, index, old_described);
    settle_updated(queue, index, update, result);
    return SCHEDQ_OK;
}

STRAIGHT schedq_status_t
update_present(schedq_worker_t *worker, uint32_t index, const schedq_pod_spec_t *spec,
               const struct update *update, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    const struct entry *entry = pod_at(queue, index);
    uint64_t replaced = entry->object;

    if (entry->profile != spec->profile) {
        worker_say(worker, "spec.profile %u: %u, a pod keeps its profile", spec->profile,
                   entry->profile);
        return SCHEDQ_INVALID;
    }
    result->unschedulable = entry->unschedulable;
    result->pending = entry->pending;
    bool kept = entry->place == SCHEDQ_HELD ||
                (spec->not_before_ns != 0 && entry->place != SCHEDQ_INFLIGHT);
    schedq_status_t status = kept ? update_kept(queue, index, spec, update, result)
                                  : update_free(queue, index, spec, update, result);

    if (status != SCHEDQ_OK) {
        result->unschedulable = result->pending = 0;
        return status;
    }
    queue->counters.updates++;
    mutex_report_moved(queue, index, result);
    result->object = replaced;
    return SCHEDQ_OK;
}

/*
 * Updates a pod that has a class. If it was the scout, and is not afterwards, another one takes its
 * turn.
 */
COLD static schedq_status_t
update_classed(schedq_worker_t *worker, uint32_t index, const schedq_pod_spec_t *spec,
               const struct update *update, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    struct class_slot *scouted = mutex_class_scouted(queue, index);
    schedq_status_t status = update_present(worker, index, spec, update, result);

    if (status == SCHEDQ_OK) {
        mutex_class_look(queue, scouted);
    }
    return status;
}

schedq_status_t
mutex_update(schedq_worker_t *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
             uint64_t old_object, const schedq_event_t *events, size_t count,
             schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    const struct update update = {.old_object = old_object, .events = events, .event_count = count};
    schedq_status_t status;

    queue_lock(queue);
    uint32_t index = mutex_index_find(&queue->index, name);

    if (index != NO_ENTRY && !spec_means_another(spec, entry_handle(pod_at(queue, index), index))) {
        status = entry_has_class(pod_at(queue, index))
                     ? update_classed(worker, index, spec, &update, result)
                     : update_present(worker, index, spec, &update, result);
    } else if ((spec->flags & SCHEDQ_POD_ADD) == 0) {
        status = SCHEDQ_NOT_FOUND;
    } else if (queue->closed) {
        status = SCHEDQ_CLOSED;
    } else {
        const schedq_pod_spec_t added = spec_of_pod(spec);
        uint32_t label = rules_label_of_addition(&queue->base.rules);

        status = add_absent(worker, name, &added, label, queue_now(queue), result);
        result->added = status == SCHEDQ_OK;
    }
    result->poppable = queue->made_poppable > 0;
    queue_unlock(queue);
    return status;
}

/* ---- delete ---------------------------------------------------------------------------------- */

STRAIGHT void
delete_pod(struct mutex_queue *queue, uint32_t index)
{
    struct entry *entry = pod_at(queue, index);

    queue->counters.deletes++;
    if (entry->place != SCHEDQ_INFLIGHT) {
        mutex_place_leave(queue, index);
        admit_end(queue, index);
        return;
    }
    /* The record is its holder's until the token is used; the name is free now. */
    if (entry->nominated) {
        mutex_nominator_set(&queue->nominator, index, 0);
    }
    mutex_index_remove(&queue->index, index, entry->hash);
    entry->marks |= MARK_DELETED;
}

/* Deletes a member, and routes its root's record. One that is held has left its group already. */
RARELY static void
delete_member(struct mutex_queue *queue, uint32_t index, schedq_result_t *result)
{
    const uint8_t place = pod_at(queue, index)->place, gate = pod_at(queue, index)->gate;
    uint64_t number = group_at(&queue->groups, group_of(&queue->groups, index))->number;
    const struct route route = {.queue = queue,
                                .result = result,
                                .now = queue_now(queue),
                                .label = LABEL_POD_ADD,
                                .recount = true};

    delete_pod(queue, index);
    uint32_t slot = mutex_groups_find(&queue->groups, number);

    if (slot != NO_GROUP &&
        (place == SCHEDQ_ASIDE || (place == SCHEDQ_INFLIGHT && queue->base.rules.groups_as_kube))) {
        mutex_gather_left(&route, slot, gate);
    }
    result->poppable = queue->made_poppable > 0;
}

/*
 * Deletes a member of a group, or a pod that has a class: if that was the scout, another one takes
 * its turn.
 */
COLD static void
delete_other(struct mutex_queue *queue, uint32_t index, schedq_result_t *result)
{
    if (entry_is_member(pod_at(queue, index))) {
        delete_member(queue, index, result);
        return;
    }
    struct class_slot *scouted = mutex_class_scouted(queue, index);

    delete_pod(queue, index);
    mutex_class_look(queue, scouted);
    result->poppable = queue->made_poppable > 0;
}

STRAIGHT void
delete_found(struct mutex_queue *queue, uint32_t index, schedq_result_t *result)
{
    if (entry_has(pod_at(queue, index), ENTRY_CLASSED, MARK_MEMBER)) {
        delete_other(queue, index, result);
    } else {
        delete_pod(queue, index);
    }
}

schedq_status_t
mutex_delete(schedq_worker_t *worker, const struct pod_key *key, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    uint32_t index;

    queue_lock(queue);
    struct entry *entry = key->pod.bits != 0 ? entry_of_handle(&queue->entries, key->pod, &index)
                                             : find_by_name(queue, &key->name, &index);
    if (entry != NULL) {
        mutex_report_pod(queue, index, result);
        result->ref = result->backing_off = 0;
        delete_found(queue, index, result);
        result->place = entry->place;
    }
    queue_unlock(queue);
    return entry != NULL ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}

/* ---- activate, nominate ---------------------------------------------------------------------- */

void
mutex_activate_one(const struct route *route, uint32_t index)
{
    struct mutex_queue *queue = route->queue;
    struct entry *entry = pod_at(queue, index);

    switch (entry->place) {
    case SCHEDQ_INFLIGHT:
        if (queue->base.rules.activates_in_flight) {
            entry->marks |= MARK_ACTIVATED;
        }
        break;
    case SCHEDQ_ASIDE:
        if (entry_is_member(entry)) {
            uint32_t record = mutex_gather_record(queue, group_of(&queue->groups, index));

            if (record != NO_ENTRY) {
                mutex_activate_one(route, record);
            }
        }
        break;
    case SCHEDQ_BACKOFF:
    case SCHEDQ_ERROR_BACKOFF:
    case SCHEDQ_PARKED:
    case SCHEDQ_GATED:
        if (!queue->base.rules.host) {
            mutex_route_to_active(route, index);
        }
        break;
    default:
        break;
    }
}

schedq_status_t
mutex_activate(schedq_worker_t *worker, const schedq_pod_t *pods, size_t count,
               schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    const struct route route = {.queue = queue,
                                .result = result,
                                .now = queue_now(queue),
                                .label = LABEL_FORCE_ACTIVATE,
                                .recount = false};

    for (size_t i = 0; i < count; i++) {
        uint32_t index;

        if (entry_of_handle(&queue->entries, pods[i], &index) != NULL) {
            mutex_activate_one(&route, index);
        }
    }
    result->poppable = queue->made_poppable > 0;
    queue_unlock(queue);
    return SCHEDQ_OK;
}

schedq_status_t
mutex_nominate(schedq_worker_t *worker, schedq_pod_t pod, uint64_t node)
{
    struct mutex_queue *queue = queue_of(worker);
    uint32_t index;

    queue_lock(queue);
    bool found = entry_of_handle(&queue->entries, pod, &index) != NULL;
    if (found) {
        mutex_nominator_set(&queue->nominator, index, node);
    }
    queue_unlock(queue);
    return found ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}
