/*
 * notify and assigned_pod_*: pods in flight are told first, then the lots that the event reaches
 * are read, and each pod in them is judged by its own rejectors.
 *
 * A pod that a gate refuses again is put back into a lot while the walk goes on. The walk ends at
 * the newest insertion there was when it began, so it meets no pod twice.
 *
 * GIVING TURNS. Where the queue `yields`, a walk gives the lock away between two pods while a
 * thread waits for it. What others do meanwhile is what they could have done before or after the
 * event. A pod that is taken out of its lot carries the walk on (lots.h). One that is put in is
 * newer than the walk: its failure has found the event in the log, and its gate was asked after the
 * event. Only an update puts a pod behind the walk that was not judged by the event; the walk then
 * reads what is newer too, and gives no turns.
 */
#include "mutex/moves.h"

#include "mutex/gather.h"
#include "mutex/route.h"
#include "platform/inside.h"
#include "plugins/narrow.h"

#include <string.h>

/* From one turn to the next, a walk reads so many pods: also if no thread takes the turn. */
enum { EACH_TURN = 64 };

struct walk {
    struct route route;
    struct cluster_event event;
    const schedq_change_t *change;
    const struct assigned_pod *assigned;  /* NULL: every pod is a candidate */
    const struct schedq_pod_list *listed; /* NULL: the same */
    uint64_t newest_insertion;
    struct lots_walk at;
    uint32_t wanted; /* pods behind which a thread waited for the lock */
};

enum strategy
mutex_moves_judge(struct mutex_queue *queue, const struct entry *entry,
                  const struct cluster_event *event)
{
    const struct requeue_question question = {.pod = entry->object,
                                              .old_object = event->old_object,
                                              .new_object = event->new_object,
                                              .unschedulable = entry->unschedulable,
                                              .pending = entry->pending,
                                              .ask = queue->base.rules.hints};

    return registry_judge(&queue->base.registry, entry->profile, event->event, &question,
                          &queue->counters.hint_calls);
}

static void
stamp_profiles(struct mutex_queue *queue, schedq_event_t event, uint64_t sequence)
{
    for (uint32_t i = 0; i < registry_profile_count(&queue->base.registry); i++) {
        schedq_profile_t profile = (schedq_profile_t)i;

        mutex_event_log_stamp(&queue->log, profile,
                              registry_reached(&queue->base.registry, profile, event), sequence);
    }
}

void
mutex_moves_announce(struct mutex_queue *queue, const struct cluster_event *event)
{
    bool registered = registry_is_registered(&queue->base.registry, event->event);
    uint64_t sequence = mutex_event_log_draw(&queue->log);

    stamp_profiles(queue, event->event, sequence);
    if (registered || !queue->base.rules.ignores_unregistered) {
        queue->moved = sequence;
    }
    if (queue->inflight + queue->groups.inflight > 0) {
        /* No hint will ask for the objects of an event that is not registered. */
        mutex_event_log_record(&queue->log, event->event, registered ? event->old_object : 0,
                               registered ? event->new_object : 0);
    }
}

/* ---- candidates ------------------------------------------------------------------------------ */

static bool
in_namespace(const struct entry *entry, const struct assigned_pod *assigned)
{
    return entry->name_length > assigned->namespace_length &&
           entry->name[assigned->namespace_length] == '/' &&
           memcmp(entry->name, assigned->namespace_name, assigned->namespace_length) == 0;
}

static bool
concerns_assigned(const struct walk *walk, const struct entry *entry)
{
    const schedq_t *base = &walk->route.queue->base;

    if ((entry->unschedulable & registry_spread(&base->registry, entry->profile)) != 0 &&
        in_namespace(entry, walk->assigned)) {
        return true;
    }
    if ((entry->flags & SCHEDQ_POD_AFFINITY) == 0 || base->config.affinity_matches == NULL) {
        return false;
    }
    inside_calls(CALLBACK_AFFINITY);
    bool matches = base->config.affinity_matches(base->config.object_ctx, entry->object,
                                                 walk->change->new_object) != 0;

    inside_calls(CALLBACK_NONE);
    return matches;
}

/* A pod by itself. */
STRAIGHT bool
passes(const void *ctx, const struct entry *entry)
{
    const struct walk *walk = ctx;

    if (walk->assigned != NULL && !concerns_assigned(walk, entry)) {
        return false;
    }
    if (walk->change->precheck == NULL) {
        return true;
    }
    inside_calls(CALLBACK_PRECHECK);
    bool passed = walk->change->precheck(walk->change->precheck_ctx, entry->object) != 0;

    inside_calls(CALLBACK_NONE);
    return passed;
}

/* mutex_gather_test */
static bool
member_passes(const void *ctx, const struct entry *entry)
{
    return passes(ctx, entry);
}

/* A group passes if any of its members does. */
static bool
group_passes(const struct walk *walk, uint32_t record)
{
    return mutex_gather_any(walk->route.queue, record, member_passes, walk);
}

/* Can any pod of this lot be a candidate? The catch-all's pods answer for themselves. */
static bool
lot_is_reached(const struct walk *walk, const struct lot *lot)
{
    const struct registry *registry = &walk->route.queue->base.registry;
    uint64_t rejectors = lot->key.unschedulable | lot->key.pending;

    if (rejectors != 0 &&
        (rejectors & registry_reached(registry, lot->key.profile, walk->event.event)) == 0) {
        return false;
    }
    if (walk->assigned != NULL && !lot->key.affinity &&
        (lot->key.unschedulable & registry_spread(registry, lot->key.profile)) == 0) {
        return false;
    }
    return registry_gate_hears(registry, lot->key.profile, lot->key.gate, walk->event.event);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/*
 * Tries a pod that is on a list: asks its plugins that are to be asked. Its gate hears of the
 * event.
 */
COLD static void
try_listed(const struct walk *walk, uint32_t index)
{
    struct mutex_queue *queue = walk->route.queue;
    const struct entry *entry = pod_at(queue, index);
    uint64_t silent, unschedulable = entry->unschedulable, pending = entry->pending;

    if (!narrow_concerns(walk->listed, entry->profile, entry->name, entry->name_length, &silent) ||
        !passes(walk, entry) || narrow_skips(silent, &unschedulable, &pending)) {
        return;
    }
    const struct requeue_question question = {.pod = entry->object,
                                              .old_object = walk->event.old_object,
                                              .new_object = walk->event.new_object,
                                              .unschedulable = unschedulable,
                                              .pending = pending,
                                              .ask = queue->base.rules.hints};

    if (mutex_route_by_strategy(&walk->route, index,
                                registry_judge(&queue->base.registry, entry->profile,
                                               walk->event.event, &question,
                                               &queue->counters.hint_calls))) {
        queue->counters.moves++;
    }
}

/* Tries a record: all members are asked, also those that no pre-queueing hint listed. */
COLD static void
try_record(const struct walk *walk, uint32_t index)
{
    struct mutex_queue *queue = walk->route.queue;
    const struct entry *entry = pod_at(queue, index);

    if (registry_gate_hears(&queue->base.registry, entry->profile, entry->gate,
                            walk->event.event) &&
        group_passes(walk, index) &&
        mutex_route_by_strategy(&walk->route, index,
                                mutex_gather_judge(queue, index, &walk->event))) {
        queue->counters.moves++;
    }
}

static void
try_pod(const struct walk *walk, uint32_t index)
{
    struct mutex_queue *queue = walk->route.queue;
    const struct entry *entry = pod_at(queue, index);

    if (entry_is_group(entry)) {
        try_record(walk, index);
        return;
    }
    if (walk->listed != NULL) {
        if (registry_gate_hears(&queue->base.registry, entry->profile, entry->gate,
                                walk->event.event)) {
            try_listed(walk, index);
        }
        return;
    }
    if (!registry_gate_hears(&queue->base.registry, entry->profile, entry->gate,
                             walk->event.event) ||
        !passes(walk, entry)) {
        return;
    }
    if (mutex_route_by_strategy(&walk->route, index,
                                mutex_moves_judge(queue, entry, &walk->event))) {
        queue->counters.moves++;
    }
}

__attribute__((noinline, cold)) static void
give_turn(struct walk *walk)
{
    struct mutex_queue *queue = walk->route.queue;
    struct lots_walk **link = &queue->lots.walks;

    walk->route.result->poppable |= queue->made_poppable > 0;
    walk->at.other = queue->lots.walks;
    queue->lots.walks = &walk->at;
    queue_give_turn(queue);
    while (*link != &walk->at) {
        link = &(*link)->other;
    }
    *link = walk->at.other;
    walk->route.now = queue_now(queue);
}

RARELY static void
walk_lot(struct walk *walk, uint32_t lot)
{
    struct mutex_queue *queue = walk->route.queue;
    uint32_t index = lot_at(&queue->lots, lot)->head;

    while (index != NO_ENTRY && pod_at(queue, index)->parking.sequence <= walk->newest_insertion) {
        uint32_t next = pod_at(queue, index)->lot_next;

        if (next != NO_ENTRY) {
            __builtin_prefetch(pod_at(queue, next));
        }
        try_pod(walk, index);
        if (queue_is_wanted(queue) && walk->wanted++ % EACH_TURN == 0) {
            walk->at.pod = next;
            give_turn(walk);
            next = walk->at.pod;
        }
        index = next;
    }
}

static void
walk_lots(struct walk *walk)
{
    struct mutex_queue *queue = walk->route.queue;
    uint32_t lot = mutex_lots_first(&queue->lots);

    while (lot != NO_LOT) {
        /* Read before the walk: a lot that is emptied is taken apart. */
        uint32_t next = mutex_lots_next(&queue->lots, lot);

        const struct lot *seen = lot_at(&queue->lots, lot);

        /* the catch-all alone may be empty */
        if (lot == LOT_CATCH_ALL ? seen->head != NO_ENTRY : lot_is_reached(walk, seen)) {
            walk->at.lot = next;
            walk_lot(walk, lot);
            next = walk->at.lot;
        }
        lot = next;
    }
}

/*
 * An update may have put a pod that waits behind the walk: what is newer is read too, without a
 * turn for others. Pods answer for themselves, as those of the catch-all do.
 */
__attribute__((noinline, cold)) static void
walk_newer(struct walk *walk)
{
    struct mutex_queue *queue = walk->route.queue;
    uint64_t newest = queue->lots.sequence;
    uint32_t next_lot;

    for (uint32_t lot = LOT_CATCH_ALL; lot != NO_LOT; lot = next_lot) {
        uint32_t index = mutex_lots_newer(&queue->lots, lot, walk->newest_insertion);

        next_lot = mutex_lots_next(&queue->lots, lot);
        while (index != NO_ENTRY && pod_at(queue, index)->parking.sequence <= newest) {
            uint32_t next = pod_at(queue, index)->lot_next;

            try_pod(walk, index);
            index = next;
        }
    }
}

static bool
waits_for_event(const struct entry *entry)
{
    return entry->place == SCHEDQ_PARKED || entry->place == SCHEDQ_GATED;
}

/* mutex_gather_test */
static bool
is_unrejected(const void *ctx, const struct entry *member)
{
    (void)ctx;
    return (member->unschedulable | member->pending) == 0;
}

/*
 * The wildcard helps the group of `member`, the pod that is its object. In kube it also helps each
 * group that has a member without a rejector: any event helps such a member.
 */
RARELY static void
move_target_groups(const struct walk *walk, uint32_t member)
{
    struct mutex_queue *queue = walk->route.queue;
    uint32_t own = member != NO_ENTRY ? mutex_gather_record(queue, group_of(&queue->groups, member))
                                      : NO_ENTRY;

    for (uint32_t slot = 0; slot < queue->groups.made; slot++) {
        const struct group *group = group_at(&queue->groups, slot);
        uint32_t record = group->number != 0 ? group->record : NO_ENTRY;

        if (record == NO_ENTRY || !waits_for_event(pod_at(queue, record)) ||
            !registry_gate_hears(&queue->base.registry, pod_at(queue, record)->profile,
                                 pod_at(queue, record)->gate, walk->event.event)) {
            continue;
        }
        if ((record == own || (queue->base.rules.groups_as_kube &&
                               mutex_gather_any(queue, record, is_unrejected, NULL))) &&
            group_passes(walk, record) &&
            mutex_route_by_strategy(&walk->route, record, STRATEGY_AFTER_BACKOFF)) {
            queue->counters.moves++;
        }
    }
}

/* A wildcard that has an object concerns the one pod that is the object, or none. */
static void
move_target(struct walk *walk, schedq_pod_t target)
{
    struct mutex_queue *queue = walk->route.queue;
    uint32_t index;
    struct entry *entry = entry_of_handle(&queue->entries, target, &index);

    if (queue->groups.records > 0) {
        move_target_groups(walk, entry != NULL && entry->place == SCHEDQ_ASIDE ? index : NO_ENTRY);
    }
    if (entry == NULL) {
        return;
    }
    if (entry->place == SCHEDQ_INFLIGHT) {
        entry->marks |= MARK_ACTIVATED;
    } else if (waits_for_event(entry)) {
        try_pod(walk, index);
    }
}

static void
move(struct walk *walk)
{
    struct mutex_queue *queue = walk->route.queue;
    const struct registry *registry = &queue->base.registry;
    bool registered = registry_is_registered(registry, walk->event.event);

    queue->counters.events += registered ? 1 : 0;
    if (registry_is_wildcard(registry, walk->event.event) && queue->base.rules.targets_wildcards &&
        (walk->change->target.bits != 0 || walk->change->new_object != 0)) {
        move_target(walk, walk->change->target);
        return;
    }
    mutex_moves_announce(queue, &walk->event);
    if (registered || queue->others_used || !queue->base.rules.ignores_unregistered) {
        walk_lots(walk);
        if (walk->at.passed) {
            walk_newer(walk);
        }
    }
}

schedq_status_t
mutex_notify(schedq_worker_t *worker, const schedq_change_t *request,
             const struct assigned_pod *assigned, const struct schedq_pod_list *listed,
             schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    const struct registry *registry = &queue->base.registry;

    queue_lock(queue);
    struct walk walk; /* member by member: zeroing it costs more than a move that finds nothing */

    walk.route = (struct route){.queue = queue,
                                .result = result,
                                .now = queue_now(queue),
                                .label = registry_label(registry, request->event),
                                .recount = true};
    walk.event = (struct cluster_event){.event = request->event,
                                        .old_object = request->old_object,
                                        .new_object = request->new_object};
    walk.change = request;
    walk.assigned = assigned;
    walk.listed = listed;
    walk.newest_insertion = queue->lots.sequence;
    walk.at.passed = false;
    walk.wanted = 0;
    move(&walk);
    result->poppable |= queue->made_poppable > 0;
    queue_unlock(queue);
    return SCHEDQ_OK;
}
