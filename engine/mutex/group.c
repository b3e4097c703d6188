/*
 * Groups: declaring them, changing and ending that, their pop, and the end of their cycle.
 *
 * A group's record is in flight from its pop to the cycle's end; the token is the record's. Members
 * have tokens of their own, and end as pods do. A member that joins meanwhile waits: the end of the
 * cycle looks for it.
 */
#include "mutex/group.h"

#include "mutex/admit.h"
#include "mutex/class.h"
#include "mutex/cycle.h"
#include "mutex/gather.h"
#include "mutex/pods.h"
#include "mutex/report.h"
#include "policy/group.h"
#include "policy/history.h"

#include <inttypes.h>
#include <string.h>

static struct route
route_of(struct mutex_queue *queue, uint32_t label, schedq_result_t *result)
{
    return (struct route){
        .queue = queue, .result = result, .now = queue_now(queue), .label = label, .recount = true};
}

/* Tells where the root's record is, and whether something became poppable. */
static void
report(struct mutex_queue *queue, uint32_t slot, schedq_result_t *result)
{
    uint32_t record = slot != NO_GROUP ? mutex_gather_record(queue, slot) : NO_ENTRY;

    if (record != NO_ENTRY) {
        const struct entry *entry = pod_at(queue, record);

        result->place = entry->place;
        result->gate = entry->gate;
        result->timestamp_ns = entry->timestamp;
        result->object = entry->object;
    }
    result->poppable = queue->made_poppable > 0;
}

/* ---- declaring ------------------------------------------------------------------------------- */

static bool
is_as_declared(schedq_worker_t *worker, const struct group *group, const schedq_group_spec_t *spec)
{
    const struct entry *record = pod_at(queue_of(worker), group->record);

    if (group->parent != spec->parent) {
        worker_say(worker, "spec.parent %" PRIu64 ": %" PRIu64 ", a group keeps its parent",
                   spec->parent, group->parent);
        return false;
    }
    if (record->profile != spec->profile) {
        worker_say(worker, "spec.profile %u: %u, a group keeps its profile", spec->profile,
                   record->profile);
        return false;
    }
    return true;
}

/* There is room. If this gives members a root, its own or those of groups below, they join. */
static void
declare(struct mutex_queue *queue, uint32_t slot, const schedq_group_spec_t *spec,
        schedq_result_t *result)
{
    struct groups *groups = &queue->groups;
    const struct route route = route_of(queue, LABEL_POD_ADD, result);
    struct group *group = group_at(groups, slot);

    group->quorum = spec->quorum;
    group->object = spec->object;
    group->declared = true;
    mutex_groups_hang(groups, slot);
    uint32_t root = mutex_groups_root(groups, slot);

    if (root != NO_GROUP) {
        mutex_gather_join_all(&route, root);
    }
}

/* The group was undeclared in its cycle, which goes on. */
static schedq_status_t
declare_again(schedq_worker_t *worker, uint32_t slot, const schedq_group_spec_t *spec,
              schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    const struct group *group = group_at(&queue->groups, slot);

    if (!is_as_declared(worker, group, spec)) {
        return SCHEDQ_INVALID;
    }
    if (!mutex_groups_reserve(&queue->groups)) {
        return SCHEDQ_NOMEM;
    }
    admit_describe_record(queue, group_at(&queue->groups, slot)->record, spec);
    declare(queue, slot, spec, result);
    return SCHEDQ_OK;
}

static schedq_status_t
declare_new(schedq_worker_t *worker, uint64_t number, const schedq_group_spec_t *spec,
            uint32_t *slot, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    struct groups *groups = &queue->groups;
    uint32_t record;
    schedq_status_t status = admit_record(worker, spec, &record);

    if (status != SCHEDQ_OK) {
        return status;
    }
    *slot = mutex_groups_make(groups, number);
    struct group *group = group_at(groups, *slot);

    group->record = record;
    group->parent = spec->parent;
    group->placed = group->tried = false;
    group->cycle = 0;
    group->backoff_size = 0;
    groups->links[record].group = *slot;
    groups->records++;
    mutex_place_enter(queue, record, SCHEDQ_ASIDE);
    declare(queue, *slot, spec, result);
    return SCHEDQ_OK;
}

schedq_status_t
mutex_group_add(schedq_worker_t *worker, uint64_t number, const schedq_group_spec_t *spec,
                schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status;

    queue_lock(queue);
    uint32_t slot = mutex_groups_find(&queue->groups, number);
    bool has_record = slot != NO_GROUP && group_at(&queue->groups, slot)->record != NO_ENTRY;

    if (queue->closed) {
        status = SCHEDQ_CLOSED;
    } else if (has_record && group_at(&queue->groups, slot)->declared) {
        status = SCHEDQ_EXISTS;
    } else if (has_record) {
        status = declare_again(worker, slot, spec, result);
    } else {
        status = declare_new(worker, number, spec, &slot, result);
    }
    if (status == SCHEDQ_OK || status == SCHEDQ_EXISTS) {
        report(queue, slot, result);
    }
    queue_unlock(queue);
    return status;
}

/* The slot of a declared group; NO_GROUP: there is none. */
static uint32_t
find_declared(const struct mutex_queue *queue, uint64_t number)
{
    uint32_t slot = mutex_groups_find(&queue->groups, number);

    return slot != NO_GROUP && group_at(&queue->groups, slot)->declared ? slot : NO_GROUP;
}

schedq_status_t
mutex_group_update(schedq_worker_t *worker, uint64_t number, const schedq_group_spec_t *spec,
                   schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status = SCHEDQ_OK;

    queue_lock(queue);
    uint32_t slot = find_declared(queue, number);

    if (slot == NO_GROUP) {
        status = SCHEDQ_NOT_FOUND;
    } else if (!is_as_declared(worker, group_at(&queue->groups, slot), spec)) {
        status = SCHEDQ_INVALID;
    } else {
        struct group *group = group_at(&queue->groups, slot);
        const struct entry *record = pod_at(queue, group->record);
        bool other_quorum = group->quorum != spec->quorum;
        uint32_t root = mutex_groups_root(&queue->groups, slot);

        admit_describe_record(queue, group->record, spec);
        group->quorum = spec->quorum;
        group->object = spec->object;
        if (record->place != SCHEDQ_INFLIGHT && record->place != SCHEDQ_ASIDE) {
            mutex_place_again(queue, group->record);
        }
        if (other_quorum && root != NO_GROUP) {
            const struct route route = route_of(queue, LABEL_POD_UPDATE, result);

            mutex_gather_changed(&route, root);
        }
        report(queue, slot, result);
    }
    queue_unlock(queue);
    return status;
}

/* ---- ending a declaration -------------------------------------------------------------------- */

/* The record is in no container. */
static void
end_record(struct mutex_queue *queue, uint32_t slot)
{
    struct group *group = group_at(&queue->groups, slot);

    queue->groups.links[group->record].group = NO_GROUP;
    admit_end_record(queue, group->record);
    group->record = NO_ENTRY;
    queue->groups.records--;
    mutex_groups_drop(&queue->groups, slot);
}

static void
undeclare(struct mutex_queue *queue, uint32_t slot, schedq_result_t *result)
{
    struct groups *groups = &queue->groups;
    const struct route route = route_of(queue, LABEL_POD_UPDATE, result);
    uint32_t root = mutex_groups_root(groups, slot), next;
    struct group *group = group_at(groups, slot);

    /* without a root no member below has joined */
    for (next = root == NO_GROUP ? NO_GROUP : slot; next != NO_GROUP;
         next = mutex_groups_next(groups, slot, next)) {
        group_at(groups, next)->joined = 0;
    }
    group->declared = false;
    if (root != NO_GROUP && root != slot) {
        mutex_gather_changed(&route, root);
    }
    mutex_groups_unhang(groups, slot);
    if (pod_at(queue, group->record)->place != SCHEDQ_INFLIGHT) {
        mutex_place_leave(queue, group->record);
        end_record(queue, slot);
    }
}

schedq_status_t
mutex_group_delete(schedq_worker_t *worker, uint64_t number, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    uint32_t slot = find_declared(queue, number);

    if (slot != NO_GROUP) {
        report(queue, slot, result);
        undeclare(queue, slot, result);
        result->poppable = queue->made_poppable > 0;
    }
    queue_unlock(queue);
    return slot != NO_GROUP ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}

/* ---- looking, activating --------------------------------------------------------------------- */

schedq_status_t
mutex_group_activate(schedq_worker_t *worker, uint64_t number, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    uint32_t slot = find_declared(queue, number);
    uint32_t record = slot != NO_GROUP ? mutex_gather_record(queue, slot) : NO_ENTRY;

    if (record != NO_ENTRY) {
        struct route route = route_of(queue, LABEL_FORCE_ACTIVATE, result);

        route.recount = false;
        mutex_activate_one(&route, record);
        report(queue, slot, result);
    }
    queue_unlock(queue);
    return slot != NO_GROUP ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}

static uint64_t
waiting_below(const struct groups *groups, uint32_t top)
{
    uint64_t waiting = 0;

    for (uint32_t slot = top; slot != NO_GROUP; slot = mutex_groups_next(groups, top, slot)) {
        waiting += group_at(groups, slot)->waiting;
    }
    return waiting;
}

schedq_status_t
mutex_group_get(schedq_worker_t *worker, uint64_t number, schedq_group_info_t *info)
{
    struct mutex_queue *queue = queue_of(worker);
    const struct groups *groups = &queue->groups;

    queue_lock(queue);
    uint32_t slot = mutex_groups_find(groups, number);
    bool found = slot != NO_GROUP && group_at(groups, slot)->record != NO_ENTRY;

    if (found) {
        const struct group *group = group_at(groups, slot);
        const struct entry *record = pod_at(queue, group->record);
        uint32_t root = mutex_groups_root(groups, slot);
        bool backs_off = record->place == SCHEDQ_BACKOFF || record->place == SCHEDQ_ERROR_BACKOFF;

        *info = (schedq_group_info_t){
            .struct_size = (uint32_t)sizeof *info,
            .priority = record->priority,
            .quorum = group->quorum,
            .place = record->place,
            .gate = record->gate,
            .profile = record->profile,
            .declared = group->declared,
            .object = group->object,
            .parent = group->parent,
            .root = root != NO_GROUP ? group_at(groups, root)->number : 0,
            .history = {.timestamp_ns = record->timestamp,
                        .initial_attempt_ns = record->initial_attempt,
                        .attempts = record->attempts,
                        .rejections = record->rejections,
                        .errors = record->errors},
            .backoff_expiry_ns = backs_off ? backoff_public(record->expiry) : 0,
            .unschedulable = record->unschedulable,
            .pending = record->pending,
            /* in a circle there is no end of groups below */
            .waiting = root != NO_GROUP ? waiting_below(groups, slot) : group->waiting,
        };
    }
    queue_unlock(queue);
    return found ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}

/* ---- pop ------------------------------------------------------------------------------------- */

/* Describes the members that have joined a complete group; those beyond `room` are only counted. */
static void
describe_members(struct mutex_queue *queue, uint32_t slot, struct group_pop *pop)
{
    const struct groups *groups = &queue->groups;
    const struct group *group = group_at(groups, slot);
    uint32_t index = group->first;

    if (group->joined < group_needs(group->quorum, group->placed)) {
        return;
    }
    for (uint32_t left = group->joined; left > 0; left--) {
        if (pop->count++ < pop->room) {
            schedq_popped_t *out = &pop->members[pop->count - 1];

            cycle_describe(queue, index, out);
            out->token.bits = index;
            out->cycle = group->number; /* group_sort's */
        }
        index = groups->links[index].next;
    }
}

static void
take_member(struct mutex_queue *queue, const struct group *root, schedq_popped_t *out)
{
    struct groups *groups = &queue->groups;
    uint32_t index = (uint32_t)out->token.bits;

    out->history.attempts = history_raised(out->history.attempts);
    out->from_backoff = 0;
    mutex_place_leave(queue, index);
    cycle_begin_flight(queue, index, root->cycle, out);
    groups->links[index].cycle = root->cycle;
    group_at(groups, group_of(groups, index))->tried = true;
}

static void
take_record(struct mutex_queue *queue, struct group *root, schedq_popped_group_t *out)
{
    struct entry *entry = pod_at(queue, root->record);
    int64_t expiry = mutex_place_expiry(queue, entry, root->record);

    mutex_place_leave(queue, root->record);
    entry->place = SCHEDQ_INFLIGHT;
    entry_changed(entry);
    entry->attempts = history_raised(entry->attempts);
    entry->unschedulable = entry->pending = 0;
    entry->gate = 0;
    bool flushed = (entry->marks & MARK_FLUSHED) != 0;

    entry->marks &= MARKS_ASIDE;
    entry->flight.seen = queue->log.newest;
    queue->groups.inflight++;
    root->cycle = ++queue->pop_orders;
    *out = (schedq_popped_group_t){
        .token.bits = entry_ref(entry, root->record),
        .group = root->number,
        .object = root->object,
        .history = {.timestamp_ns = entry->timestamp,
                    .initial_attempt_ns = entry->initial_attempt,
                    .attempts = entry->attempts,
                    .rejections = entry->rejections,
                    .errors = entry->errors},
        .seen = queue->log.newest,
        .cycle = queue->base.rules.count_cycles ? root->cycle : 0,
        .backoff_expiry_ns = backoff_public(expiry),
        .priority = entry->priority,
        .profile = entry->profile,
        .flushed = flushed,
    };
}

static schedq_status_t
take_group(struct mutex_queue *queue, uint32_t record, struct group_pop *pop)
{
    struct groups *groups = &queue->groups;
    uint32_t top = group_of(groups, record);
    struct group *root = group_at(groups, top);

    for (uint32_t slot = top; slot != NO_GROUP; slot = mutex_groups_next(groups, top, slot)) {
        describe_members(queue, slot, pop);
    }
    if (pop->count > pop->room) {
        return SCHEDQ_FULL;
    }
    group_sort(pop->members, pop->count);
    take_record(queue, root, pop->group);
    for (size_t i = 0; i < pop->count; i++) {
        take_member(queue, root, &pop->members[i]);
    }
    pop->group->more = is_poppable_with_groups(queue);
    for (size_t i = 0; i < pop->count; i++) {
        pop->members[i].more = pop->group->more;
    }
    return SCHEDQ_OK;
}

schedq_status_t
mutex_group_take(struct mutex_queue *queue, struct group_pop *pop)
{
    const struct heap *groups = &queue->groups.active, *pods = &queue->active;

    pop->count = 0;
    if (groups->count > 0) {
        const struct order group = heap_best(groups);

        mutex_class_settle(queue, &group);
        const struct order pod = pods->count > 0 ? heap_best(pods) : group;

        if (!order_before(&pod, &group)) {
            return take_group(queue, order_pod(group), pop);
        }
    }
    if (groups->count == 0) {
        mutex_class_settle(queue, NULL);
    }
    if (!cycle_take(queue, pop->members)) {
        return mutex_class_heals(queue) ? mutex_group_take(queue, pop) : SCHEDQ_EMPTY;
    }
    *pop->group = (schedq_popped_group_t){.seen = pop->members->seen,
                                          .cycle = pop->members->cycle,
                                          .more = is_poppable_with_groups(queue)};
    pop->members->more = pop->group->more;
    pop->count = 1;
    return SCHEDQ_OK;
}

/* ---- the end of a cycle ---------------------------------------------------------------------- */

/* What the members that were tried and failed say. */
struct said {
    uint64_t unschedulable, pending;
    enum strategy strategy; /* what events since the pop mean to them */
    bool attempted;         /* there are such members */
};

static struct said
hear_members(struct mutex_queue *queue, uint32_t top, bool judges)
{
    const struct groups *groups = &queue->groups;
    uint64_t cycle = group_at(groups, top)->cycle;
    struct said said = {.strategy = STRATEGY_SKIP};

    for (uint32_t slot = top; slot != NO_GROUP; slot = mutex_groups_next(groups, top, slot)) {
        uint32_t index = group_at(groups, slot)->first;

        for (uint32_t left = group_at(groups, slot)->joined; left > 0; left--) {
            const struct entry *member = pod_at(queue, index);
            bool known = (member->unschedulable | member->pending) != 0;

            if (groups->links[index].cycle == cycle) {
                said.attempted = true;
                said.unschedulable |= member->unschedulable;
                said.pending |= member->pending;
                if (judges && known) {
                    said.strategy =
                        group_stronger(said.strategy, cycle_judge_events(queue, member));
                }
            }
            index = groups->links[index].next;
        }
    }
    said.pending &= ~said.unschedulable;
    return said;
}

/* Groups whose members were in a cycle that ended in PLACED need one member only. */
static void
note_placed(struct groups *groups, uint32_t top, bool placed)
{
    for (uint32_t slot = top; slot != NO_GROUP; slot = mutex_groups_next(groups, top, slot)) {
        struct group *group = group_at(groups, slot);

        group->placed |= placed && (group->tried || slot == top);
        group->tried = false;
    }
}

static void
route_rejected(const struct route *route, uint32_t record, const struct said *said, bool activated)
{
    struct entry *entry = pod_at(route->queue, record);
    bool known = (said->unschedulable | said->pending) != 0;

    if (route->queue->base.rules.groups_as_kube || !known) {
        mutex_route_after_backoff(route, record);
        return;
    }
    entry->unschedulable = said->unschedulable;
    entry->pending = said->pending;
    if (said->strategy == STRATEGY_SKIP && !activated) {
        mutex_route_parked(route, record);
    } else {
        (void)mutex_route_by_strategy(route, record,
                                      group_stronger(said->strategy, STRATEGY_AFTER_BACKOFF));
    }
}

static void
route_ended(const struct route *route, uint32_t record, const schedq_group_end_t *end,
            const struct said *said, bool activated)
{
    if (end->outcome == SCHEDQ_GROUP_PLACED) {
        mutex_route_to_active(route, record);
    } else if (end->outcome == SCHEDQ_GROUP_ERROR) {
        mutex_route_after_backoff(route, record);
    } else {
        route_rejected(route, record, said, activated);
    }
}

static void
end_cycle(struct mutex_queue *queue, uint32_t slot, const schedq_group_end_t *end,
          const struct said *said, schedq_result_t *result)
{
    struct group *group = group_at(&queue->groups, slot);
    struct entry *entry = pod_at(queue, group->record);
    const struct route route = route_of(queue, LABEL_FAILURE, result);
    bool activated = (entry->marks & MARK_ACTIVATED) != 0;

    entry->marks &= MARKS_ASIDE;
    group_count_outcome((schedq_group_outcome_t)end->outcome, &entry->rejections, &entry->errors);
    if (end->outcome != SCHEDQ_GROUP_PLACED || !said->attempted) {
        admit_stamp_time(queue, entry, route.now);
    }
    group->backoff_size = (uint32_t)mutex_groups_size(&queue->groups, slot);
    note_placed(&queue->groups, slot, end->outcome == SCHEDQ_GROUP_PLACED);
    admit_end_group_flight(queue);
    entry->place = SCHEDQ_NOWHERE;
    entry->parking.flushed = 0;
    if (mutex_groups_is_complete(&queue->groups, slot)) {
        route_ended(&route, group->record, end, said, activated);
    } else {
        mutex_gather_make_idle(&route, slot);
    }
}

schedq_status_t
mutex_group_done(schedq_worker_t *worker, schedq_token_t *token, const schedq_group_end_t *end,
                 schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    uint32_t index;

    queue_lock(queue);
    struct entry *entry = entry_of_token(&queue->entries, *token, &index);

    if (entry == NULL || !entry_is_group(entry)) {
        queue_unlock(queue);
        return SCHEDQ_STALE;
    }
    uint32_t slot = group_of(&queue->groups, index);

    if (!group_at(&queue->groups, slot)->declared) {
        admit_end_group_flight(queue);
        end_record(queue, slot);
    } else {
        bool judges = end->outcome == SCHEDQ_GROUP_REJECTED && !queue->base.rules.groups_as_kube;
        const struct said said = hear_members(queue, slot, judges);

        end_cycle(queue, slot, end, &said, result);
        report(queue, slot, result);
    }
    queue_unlock(queue);
    return SCHEDQ_OK;
}
