/* Records and members, see gather.h. */
#include "mutex/gather.h"

#include "mutex/moves.h"
#include "policy/group.h"

uint32_t
mutex_gather_record(const struct mutex_queue *queue, uint32_t slot)
{
    uint32_t root = mutex_groups_root(&queue->groups, slot);

    return root == NO_GROUP ? NO_ENTRY : group_at(&queue->groups, root)->record;
}

/* ---- members, one after the other ------------------------------------------------------------ */

struct members {
    const struct groups *groups;
    uint32_t top, slot;
    uint32_t index, left; /* the next one, and how many of its group follow */
};

static struct members
members_of(const struct groups *groups, uint32_t top)
{
    const struct group *group = group_at(groups, top);

    return (struct members){
        .groups = groups, .top = top, .slot = top, .index = group->first, .left = group->joined};
}

/* Goes on to the first member of the next group that has one. False: there is none. */
RARELY static bool
members_go_on(struct members *members)
{
    while (members->left == 0) {
        members->slot = mutex_groups_next(members->groups, members->top, members->slot);
        if (members->slot == NO_GROUP) {
            members->slot = members->top;
            return false;
        }
        members->index = group_at(members->groups, members->slot)->first;
        members->left = group_at(members->groups, members->slot)->joined;
    }
    return true;
}

/* The next member; NO_ENTRY: there are no more. */
static inline uint32_t
members_next(struct members *members)
{
    if (members->left == 0 && !members_go_on(members)) {
        return NO_ENTRY;
    }
    uint32_t index = members->index;

    members->index = members->groups->links[index].next;
    members->left--;
    return index;
}

bool
mutex_gather_any(const struct mutex_queue *queue, uint32_t record, mutex_gather_test *test,
                 const void *ctx)
{
    struct members members = members_of(&queue->groups, group_of(&queue->groups, record));
    bool any = false;
    uint32_t index;

    while ((index = members_next(&members)) != NO_ENTRY) {
        any |= test(ctx, pod_at(queue, index));
    }
    return any;
}

/*
 * A member without a rejector failed because its group did. In kube any event helps it. In schedq's
 * own behaviour it counts only if no member has a rejector.
 */
enum strategy
mutex_gather_judge(struct mutex_queue *queue, uint32_t record, const struct cluster_event *event)
{
    struct members members = members_of(&queue->groups, group_of(&queue->groups, record));
    enum strategy best = STRATEGY_SKIP;
    bool any_known = false;
    uint32_t index;

    while ((index = members_next(&members)) != NO_ENTRY) {
        const struct entry *member = pod_at(queue, index);
        bool known = (member->unschedulable | member->pending) != 0;

        any_known |= known;
        if (known || queue->base.rules.groups_as_kube) {
            best = group_stronger(best, mutex_moves_judge(queue, member, event));
        }
    }
    return any_known ? best : group_stronger(best, STRATEGY_AFTER_BACKOFF);
}

/* ---- gates ----------------------------------------------------------------------------------- */

static uint8_t
ask_member(struct mutex_queue *queue, uint32_t index)
{
    struct entry *member = pod_at(queue, index);

    uint32_t count;
    const struct gate *gates = registry_gates(&queue->base.registry, member->profile, &count);

    member->gate =
        gating_ask(gates, count, member->gate, member->object, &queue->counters.gate_calls);
    member->unschedulable |= gate_bit(member->gate);
    return member->gate;
}

/* A member, as the order of pops compares it. */
static schedq_popped_t
in_order(const struct mutex_queue *queue, uint32_t index)
{
    const struct entry *entry = pod_at(queue, index);

    return (schedq_popped_t){
        .name = entry->name,
        .name_length = entry->name_length,
        .priority = entry->priority,
        .history = {.timestamp_ns = entry->timestamp, .attempts = entry->attempts}};
}

static bool
is_behind(const struct mutex_queue *queue, uint32_t a, uint32_t b)
{
    const struct groups *groups = &queue->groups;
    const uint64_t group_a = group_at(groups, group_of(groups, a))->number;
    const uint64_t group_b = group_at(groups, group_of(groups, b))->number;
    const schedq_popped_t left = in_order(queue, a), right = in_order(queue, b);

    return group_a != group_b ? group_a > group_b : group_member_before(&right, &left);
}

/* Asks about all. Of the refused ones the last in the order of pops gives the record its gate. */
uint8_t
mutex_gather_ask(struct mutex_queue *queue, uint32_t record)
{
    struct members members = members_of(&queue->groups, group_of(&queue->groups, record));
    uint32_t refused = NO_ENTRY, index;

    if (!queue->base.registry.has_gates) {
        return 0;
    }
    while ((index = members_next(&members)) != NO_ENTRY) {
        if (ask_member(queue, index) != 0 &&
            (refused == NO_ENTRY || is_behind(queue, index, refused))) {
            refused = index;
        }
    }
    return refused != NO_ENTRY ? pod_at(queue, refused)->gate : 0;
}

/* ---- the record ------------------------------------------------------------------------------ */

/* As if it had just been declared: kube-scheduler forgets a group that is in no queue. */
static void
forget_history(struct mutex_queue *queue, struct group *group)
{
    struct entry *entry = pod_at(queue, group->record);

    entry->attempts = entry->rejections = entry->errors = 0;
    entry->initial_attempt = 0;
    group->backoff_size = 0;
}

void
mutex_gather_make_idle(const struct route *route, uint32_t root)
{
    struct mutex_queue *queue = route->queue;
    struct group *group = group_at(&queue->groups, root);

    mutex_place_leave(queue, group->record);
    pod_at(queue, group->record)->gate = 0;
    pod_at(queue, group->record)->marks &= (uint8_t)~MARK_FLUSHED;
    mutex_place_enter(queue, group->record, SCHEDQ_ASIDE);
    if (queue->base.rules.groups_as_kube) {
        forget_history(queue, group);
    }
}

static void
begin_attempt(struct entry *member, int64_t now)
{
    if (member->initial_attempt == 0) {
        member->initial_attempt = now;
    }
}

void
mutex_gather_begin_attempts(struct mutex_queue *queue, uint32_t record, int64_t now)
{
    struct members members = members_of(&queue->groups, group_of(&queue->groups, record));
    uint32_t index;

    while ((index = members_next(&members)) != NO_ENTRY) {
        begin_attempt(pod_at(queue, index), now);
    }
}

/* Its Timestamp is that of the member that has waited for longest. */
static void
begin_to_wait(struct mutex_queue *queue, uint32_t root)
{
    struct entry *entry = pod_at(queue, group_at(&queue->groups, root)->record);
    struct members members = members_of(&queue->groups, root);
    const struct entry *oldest = NULL;
    uint32_t index;

    while ((index = members_next(&members)) != NO_ENTRY) {
        const struct entry *member = pod_at(queue, index);

        if (oldest == NULL || member->timestamp < oldest->timestamp ||
            (member->timestamp == oldest->timestamp && member->order_key < oldest->order_key)) {
            oldest = member;
        }
    }
    entry->timestamp = oldest->timestamp;
    entry->order_key = oldest->order_key;
    if (entry->initial_attempt == 0) {
        entry->initial_attempt = oldest->initial_attempt;
    }
    entry->parking.flushed = 0;
}

void
mutex_gather_complete(const struct route *route, uint32_t root)
{
    struct mutex_queue *queue = route->queue;
    const struct group *group = group_at(&queue->groups, root);

    if (!mutex_groups_is_complete(&queue->groups, root)) {
        return;
    }
    begin_to_wait(queue, root);
    mutex_route_after_backoff(route, group->record);
}

/*
 * In kube a member that joins or leaves makes the record come in again where it is. If the record
 * stays there, the call moved nothing.
 */
static void
come_in_again(const struct route *route, uint32_t record)
{
    struct mutex_queue *queue = route->queue;
    const schedq_result_t before = *route->result;
    const uint32_t made_poppable = queue->made_poppable;
    const uint8_t place = pod_at(queue, record)->place;

    switch (place) {
    case SCHEDQ_ACTIVE:
        (void)mutex_route_by_strategy(route, record, STRATEGY_IMMEDIATELY);
        break;
    case SCHEDQ_BACKOFF:
    case SCHEDQ_ERROR_BACKOFF:
        (void)mutex_route_by_strategy(route, record, STRATEGY_AFTER_BACKOFF);
        break;
    default: /* nothing but its size changes */
        mutex_place_count_record(queue, record, INCOMING_UNSCHEDULABLE, true, route->label);
        break;
    }
    if (pod_at(queue, record)->place == place) {
        *route->result = before;
        queue->made_poppable = made_poppable;
    }
}

static enum incoming_place
incoming_of(const struct entry *entry)
{
    return entry->place == SCHEDQ_ACTIVE  ? INCOMING_ACTIVE
           : entry->place == SCHEDQ_GATED ? INCOMING_UNSCHEDULABLE
                                          : INCOMING_BACKOFF;
}

/*
 * A member joins a record that is queued. A parked record is worth another try. For a record that
 * passed the gates, they are asked about the newcomer only.
 */
static void
join_queued(const struct route *route, uint32_t record, uint32_t index)
{
    struct mutex_queue *queue = route->queue;
    const struct entry *entry = pod_at(queue, record);
    bool passed = entry->place == SCHEDQ_ACTIVE ||
                  (entry->place != SCHEDQ_PARKED && queue->base.rules.pop_from_backoff);

    if (entry->place == SCHEDQ_PARKED) {
        mutex_route_after_backoff(route, record);
    } else if (entry->place != SCHEDQ_GATED && passed && ask_member(queue, index) != 0) {
        mutex_route_gated(route, record, pod_at(queue, index)->gate);
    } else {
        mutex_place_count_group(queue, incoming_of(entry), 1, false, route->label);
        if (entry->place == SCHEDQ_ACTIVE) {
            begin_attempt(pod_at(queue, index), route->now);
        }
    }
}

static bool
is_queued(const struct entry *record)
{
    return record->place != SCHEDQ_ASIDE && record->place != SCHEDQ_INFLIGHT;
}

/* The member is among its group's `joined`. */
static void
join(const struct route *route, uint32_t root, uint32_t index)
{
    struct mutex_queue *queue = route->queue;
    uint32_t record = group_at(&queue->groups, root)->record;
    struct route joining = *route;

    joining.label = LABEL_POD_ADD;
    joining.recount = true;
    if (pod_at(queue, record)->place == SCHEDQ_ASIDE) {
        mutex_gather_complete(&joining, root);
    } else if (!is_queued(pod_at(queue, record))) {
        return;
    } else if (queue->base.rules.groups_as_kube) {
        come_in_again(&joining, record);
        if (pod_at(queue, record)->place == SCHEDQ_ACTIVE) {
            begin_attempt(pod_at(queue, index), route->now);
        }
    } else {
        join_queued(&joining, record, index);
    }
}

void
mutex_route_aside(const struct route *route, uint32_t index)
{
    struct mutex_queue *queue = route->queue;

    mutex_place_leave(queue, index);
    mutex_place_enter(queue, index, SCHEDQ_ASIDE);
    uint32_t root = mutex_groups_root(&queue->groups, group_of(&queue->groups, index));

    if (root != NO_GROUP) {
        join(route, root, index);
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

void
mutex_gather_changed(const struct route *route, uint32_t root)
{
    struct mutex_queue *queue = route->queue;
    uint32_t record = group_at(&queue->groups, root)->record;
    bool complete = mutex_groups_is_complete(&queue->groups, root);

    if (pod_at(queue, record)->place == SCHEDQ_ASIDE) {
        struct route joining = *route;

        joining.label = LABEL_POD_ADD; /* it comes in, whatever completed it */
        mutex_gather_complete(&joining, root);
    } else if (!is_queued(pod_at(queue, record))) {
        return;
    } else if (!complete) {
        mutex_gather_make_idle(route, root);
    } else if (queue->base.rules.groups_as_kube) {
        come_in_again(route, record);
    } else if (pod_at(queue, record)->place == SCHEDQ_GATED) {
        struct route again = *route;

        again.recount = false;
        mutex_route_after_backoff(&again, record);
    }
}

/* Does a member wait behind this gate? */
static bool
is_gated_by(const struct mutex_queue *queue, uint32_t root, uint8_t gate)
{
    struct members members = members_of(&queue->groups, root);
    uint32_t index;

    do {
        index = members_next(&members);
    } while (index != NO_ENTRY && pod_at(queue, index)->gate != gate);
    return index != NO_ENTRY;
}

/* Does the record stay gated without a member that this gate had refused? */
static bool
stays_without(const struct mutex_queue *queue, uint32_t root, uint8_t gate)
{
    const struct entry *record = pod_at(queue, group_at(&queue->groups, root)->record);

    return record->place == SCHEDQ_GATED && !queue->base.rules.groups_as_kube &&
           mutex_groups_is_complete(&queue->groups, root) &&
           (gate != record->gate || is_gated_by(queue, root, gate));
}

void
mutex_gather_left(const struct route *route, uint32_t slot, uint8_t gate)
{
    uint32_t root = mutex_groups_root(&route->queue->groups, slot);
    struct route leaving = *route;

    leaving.label = LABEL_POD_ADD; /* as when one comes */
    if (root != NO_GROUP && !stays_without(route->queue, root, gate)) {
        mutex_gather_changed(&leaving, root);
    }
}

/* The group of the member that has waited for longest, of those that are still to join; NO_GROUP:
   there is none. */
static uint32_t
oldest_to_join(const struct mutex_queue *queue, uint32_t root)
{
    const struct groups *groups = &queue->groups;
    uint32_t found = NO_GROUP;

    for (uint32_t slot = root; slot != NO_GROUP; slot = mutex_groups_next(groups, root, slot)) {
        uint32_t next = group_at(groups, slot)->joining;

        if (next != NO_ENTRY &&
            (found == NO_GROUP ||
             mutex_groups_is_older(groups, next, group_at(groups, found)->joining))) {
            found = slot;
        }
    }
    return found;
}

/* One by one, the oldest first: each counts as one that comes in. */
static void
join_as_kube(const struct route *route, uint32_t root)
{
    struct mutex_queue *queue = route->queue;
    struct groups *groups = &queue->groups;
    uint32_t slot;

    for (slot = root; slot != NO_GROUP; slot = mutex_groups_next(groups, root, slot)) {
        struct group *group = group_at(groups, slot);

        group->joining = NO_ENTRY;
        if (group->joined == 0) {
            mutex_groups_sort(groups, slot);
            group->joining = group->first;
        }
    }
    while ((slot = oldest_to_join(queue, root)) != NO_GROUP) {
        struct group *group = group_at(groups, slot);
        uint32_t index = group->joining;

        group->joining = groups->links[index].next;
        group->joined++;
        join(route, root, index);
    }
}

/* The first attempt of the members that mutex_gather_join_all let join begins. */
static void
begin_attempts_of_joining(struct mutex_queue *queue, uint32_t root, int64_t now)
{
    const struct groups *groups = &queue->groups;

    for (uint32_t slot = root; slot != NO_GROUP; slot = mutex_groups_next(groups, root, slot)) {
        uint32_t index = group_at(groups, slot)->joining;

        for (uint32_t left = group_at(groups, slot)->joined; index != NO_ENTRY && left > 0;
             left--) {
            begin_attempt(pod_at(queue, index), now);
            index = groups->links[index].next;
        }
    }
}

void
mutex_gather_join_all(const struct route *route, uint32_t root)
{
    struct mutex_queue *queue = route->queue;
    struct groups *groups = &queue->groups;
    bool any = false;

    if (queue->base.rules.groups_as_kube) {
        join_as_kube(route, root);
        return;
    }
    for (uint32_t slot = root; slot != NO_GROUP; slot = mutex_groups_next(groups, root, slot)) {
        struct group *group = group_at(groups, slot);

        group->joining = group->joined != group->waiting ? group->first : NO_ENTRY;
        any |= group->joining != NO_ENTRY;
        group->joined = group->waiting;
    }
    uint32_t record = group_at(groups, root)->record;

    if (any && (pod_at(queue, record)->place == SCHEDQ_PARKED ||
                pod_at(queue, record)->place == SCHEDQ_ACTIVE ||
                pod_at(queue, record)->place == SCHEDQ_ERROR_BACKOFF)) {
        struct route joining = *route;

        joining.label = LABEL_POD_ADD;
        if (pod_at(queue, record)->place == SCHEDQ_PARKED) {
            mutex_route_after_backoff(&joining, record);
            return;
        }
        come_in_again(&joining, record);
        if (pod_at(queue, record)->place == SCHEDQ_ACTIVE) {
            begin_attempts_of_joining(queue, root, route->now);
        }
    } else {
        mutex_gather_changed(route, root);
    }
}
