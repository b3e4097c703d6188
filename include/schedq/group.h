/** @file
 * schedq/group: pods that are tried together, or not at all. docs/GROUPS.md has the order of calls.
 *
 * A group is a number of the caller's, not 0. Pods name it when they are added
 * (schedq_pod_spec_t.group) and keep it until they end: they are its members. schedq_group_add
 * declares a group: it gives it a priority, and a quorum, the number of members that it needs.
 * Members may be added before that, or after it.
 *
 * A group may be declared below another one, its parent. The topmost one is the root of all that
 * are below it; a group without a parent is its own root. While one above a group is not declared,
 * the group has no root.
 *
 * RECORD. What is queued is not the members, but one record for the root. It has a priority, a
 * Timestamp, counters, a backoff and a place, as a pod has. It becomes active as soon as the quorum
 * waits; gated, if the gate of a member refuses. The record of a group below a root stays aside.
 *
 * MEMBERS. A member that waits is aside (SCHEDQ_ASIDE), wherever a pod in no group would be: after
 * its add, its failure or its release. schedq_try_pop_group takes the record together with the
 * members that are aside. From then on each member is in flight, and so is the record: a cycle of
 * the group. Each member ends by schedq_done or schedq_fail, as any pod; the group's cycle ends by
 * schedq_group_done.
 *
 * QUORUM. A group has its quorum if as many of its members are aside, or as many of the groups
 * right below it have theirs. The two do not add up. Once one of its cycles has ended in PLACED,
 * one is enough. A group whose members alone do not fill its quorum keeps them aside when the
 * others are popped. So a group should have either members or groups below it.
 *
 * ORDER. Records and pods that are in no group are in one order: higher priority first, then older
 * Timestamp. When the quorum is there, the record gets the Timestamp of the member that has waited
 * for longest. A cycle that ends in REJECTED or ERROR sets it to the time of that end.
 *
 * END. A group that has no members stays declared: new members may come. Who needs it no more calls
 * schedq_group_delete.
 *
 * GUARANTEES
 *   never alone   a pop of groups returns members, and no other pop does
 *   quorum        it returns at least the quorum, of each group whose members it returns
 *   once          a member is in one cycle at a time
 *   who           of these groups it takes the members that had joined when it began, and had not
 *                 left when it ended. One that joins meanwhile may be among them. One that joins
 *                 later, or fails, waits for the end of the cycle.
 *
 * CALLBACKS. A gate, a hint, a precheck and an affinity are asked about each member, in no order,
 * even if an answer before settled what becomes of the record.
 *
 * OTHER CALLS. Those for one pod are for members too. One that is held (hold.h) counts for no
 * quorum and is not popped. The activation of a member activates the root's record. schedq_fail
 * tells what rejected the member; the record is parked by it when the group's cycle ends.
 * schedq_get tells a member's group, schedq_group_get where the record is and what rejected it.
 * schedq_peek and schedq_position do not see records. schedq_watch finds members that are in flight
 * for too long, but no group whose schedq_group_done was forgotten.
 *
 * LIMITS. A member has the profile of its root, which the queue does not check: events find a group
 * that waits by the root's. With SCHEDQ_DECIDE_HOST each call below, and the add of a member, is
 * INVALID. A declared group counts as a pod for max_pods, and not for max_bands.
 *
 * COST. A group of n members costs what n pods cost. n in a line "Progress" is the number of pods.
 */
#ifndef SCHEDQ_GROUP_H
#define SCHEDQ_GROUP_H

#include <schedq/cycle.h>

#ifdef __cplusplus
extern "C" {
#endif

/** So many groups may be above one another. A group below more has no root, nor has one in a
    circle. */
#define SCHEDQ_GROUP_DEPTH_MAX 64

/** A group as its caller describes it. Begin with SCHEDQ_GROUP_SPEC_INIT; a default is 0. */
typedef struct schedq_group_spec {
    uint32_t struct_size;     /**< set by SCHEDQ_GROUP_SPEC_INIT */
    int32_t  priority;        /**< of its record, if it is a root; higher first; any value */
    uint32_t quorum;          /**< members, or groups right below it, that it needs; any value; 0:
                                   as 1, for a caller whose gate knows how many */
    schedq_profile_t profile; /**< of its members; kept from the declaration on */
    uint8_t  reserved[3]; /**< zero */
    uint64_t object;          /**< the caller's own 64 bits for the group, which its pop returns.
                                   The queue passes them to no callback, and calls neither retain
                                   nor release for them */
    uint64_t parent;          /**< the group above it, declared or not; 0: it is a root. Kept from
                                   the declaration on */
} schedq_group_spec_t;

/** The defaults. */
#define SCHEDQ_GROUP_SPEC_INIT                                    \
    {                                                             \
        sizeof(schedq_group_spec_t), 0, 0, 0, {0, 0, 0}, 0, 0     \
    }

/**
 * What a pop of groups took: its holder's until schedq_group_done. Layout frozen (112 bytes).
 */
typedef struct schedq_popped_group {
    schedq_token_t token;     /**< names this cycle of the group, for schedq_group_done; {0} if
                                   `group` is 0 */
    uint64_t group;           /**< the root; 0: the pop took a pod that is in no group, members[0],
                                   and all else here but `seen`, `cycle` and `more` is 0 */
    uint64_t object;          /**< of the root, as described */
    schedq_history_t history; /**< of the record; this pop is counted in its attempts */
    uint64_t seen;            /**< sequence of the newest event at this pop */
    uint64_t cycle;           /**< 1, 2, ...: number of this pop, which its members have too; 0
                                   unless config.count_cycles */
    int64_t  backoff_expiry_ns; /**< end of its last backoff, on the queue's clock; 0 = it had
                                     none */
    int32_t  priority;        /**< of the record, as at this pop */
    uint8_t  more;            /**< 1: something else is poppable (LOCKFREE: perhaps) */
    schedq_profile_t profile; /**< as declared */
    uint8_t  flushed;         /**< of the record, as schedq_popped_t's */
    uint8_t  reserved[25]; /**< zero */
} schedq_popped_group_t;

/** What became of a group in its cycle. */
typedef enum schedq_group_outcome {
    /** members were placed; its counters become 0. Members that are left are tried again at once,
        with the Timestamp that the record had. So do not say it of a cycle that placed none */
    SCHEDQ_GROUP_PLACED = 0,
    /** it fits nowhere: it is parked until an event helps a member. It backs off if no member that
        failed has a rejector, and with kube_minor */
    SCHEDQ_GROUP_REJECTED,
    /** something broke: it backs off */
    SCHEDQ_GROUP_ERROR
} schedq_group_outcome_t;

/** How a group's cycle ends. Begin with SCHEDQ_GROUP_END_INIT; a default is 0. */
typedef struct schedq_group_end {
    uint32_t struct_size; /**< set by SCHEDQ_GROUP_END_INIT */
    uint8_t  outcome;     /**< schedq_group_outcome_t */
    uint8_t  place;       /**< SCHEDQ_NOWHERE: the queue decides where the record goes */
    uint8_t  gate;        /**< 0; for a host that decides, which groups do not have */
    uint8_t  reserved; /**< zero */
    uint64_t judged_up_to; /**< 0; the same */
} schedq_group_end_t;

/** PLACED. */
#define SCHEDQ_GROUP_END_INIT                                  \
    {                                                          \
        sizeof(schedq_group_end_t), 0, SCHEDQ_NOWHERE, 0, 0, 0 \
    }

/**
 * A group, as it is. Times are nanoseconds on the queue's clock. Begin with SCHEDQ_GROUP_INFO_INIT.
 */
typedef struct schedq_group_info {
    uint32_t struct_size;  /**< set by SCHEDQ_GROUP_INFO_INIT */
    int32_t  priority;     /**< as described */
    uint32_t quorum;       /**< as described */
    uint8_t  place;        /**< schedq_place_t of its record; below a root: ASIDE */
    uint8_t  gate;         /**< 1 + number of the plugin that gates it; 0 = none */
    schedq_profile_t profile; /**< of its members */
    uint8_t  declared;     /**< 0: it was undeclared in its cycle, which goes on */
    uint64_t object;       /**< as described */
    uint64_t parent;       /**< as described */
    uint64_t root;         /**< the topmost above it, or itself; 0: one above is not declared */
    schedq_history_t history; /**< of its record; before it was queued first its Timestamp is the
                                   time of the declaration */
    int64_t  backoff_expiry_ns; /**< while it backs off: the end of that; else 0 */
    uint64_t unschedulable; /**< bits of the plugins that rejected its record, in its profile; kept
                                 until its pop */
    uint64_t pending;       /**< of those, the ones that only wait for something */
    uint64_t waiting;       /**< members that are aside, of it and of all groups below it */
} schedq_group_info_t;

/** To be filled. */
#define SCHEDQ_GROUP_INFO_INIT                                                           \
    {                                                                                    \
        sizeof(schedq_group_info_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0, 0, 0, 0}, 0,   \
            0, 0, 0                                                                      \
    }

/**
 * Declares a group.
 *
 * Members that wait for it join: those that name it, and those of groups that have a root by it.
 * What the caller did before the call happens before what the holder does who pops the group.
 * @param group  not 0
 * @param spec   not referenced after the call
 * @param result place: of the root's record, NOWHERE if there is no root; to_active, to_gated,
 *               poppable: what the joining made of it, a record counts as one. May be NULL
 * @retval SCHEDQ_OK       it is declared
 * @retval SCHEDQ_EXISTS   it was declared before; result->place as with OK; nothing changed
 * @retval SCHEDQ_CLOSED   the queue is closed; nothing changed
 * @retval SCHEDQ_FULL     max_pods (a declared group counts as one pod); nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_INVALID  group 0, a parent that is the group itself, an unknown profile; in its
 *                         cycle also another parent or profile than before; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n + members that join); allocates.
 */
SCHEDQ_API schedq_status_t schedq_group_add(schedq_worker_t *worker, uint64_t group,
                                            const schedq_group_spec_t *spec,
                                            schedq_result_t *result);

/**
 * Replaces a group's priority, quorum and object. A record that is queued is sorted anew, at once.
 *
 * A smaller quorum may be there already: the record becomes active. A larger one may be missed: a
 * record that waits is aside then.
 * @param group  not 0
 * @param spec   parent and profile as declared; not referenced after the call
 * @param result as schedq_group_add
 * @retval SCHEDQ_OK         replaced
 * @retval SCHEDQ_NOT_FOUND  it is not declared; nothing changed
 * @retval SCHEDQ_NOMEM      (never with MUTEX) nothing changed
 * @retval SCHEDQ_INVALID    group 0, another parent or profile than declared; nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_group_update(schedq_worker_t *worker, uint64_t group,
                                               const schedq_group_spec_t *spec,
                                               schedq_result_t *result);

/**
 * Ends a group's declaration, with the record's history and backoff. Its members stay: they and
 * those of groups below it are aside, until there is a root again.
 *
 * In the group's cycle it is noted only, and schedq_group_done ends the record. If the group is
 * declared again meanwhile, with the same parent and profile, the note is gone.
 * @param group  not 0
 * @param result place: where the record was; INFLIGHT: it is noted. May be NULL
 * @retval SCHEDQ_OK         it is not declared any more
 * @retval SCHEDQ_NOT_FOUND  it was not; nothing changed
 * @retval SCHEDQ_INVALID    group 0; nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n + members below).
 */
SCHEDQ_API schedq_status_t schedq_group_delete(schedq_worker_t *worker, uint64_t group,
                                               schedq_result_t *result);

/**
 * Makes the record of a group's root active, wherever it waits, unless a member's gate refuses.
 *
 * In the root's cycle it is noted: a cycle that ends in REJECTED does not park the group then.
 * @param group  not 0; the root, or one below it
 * @param result place: of the root's record; to_active, to_gated, poppable. May be NULL
 * @retval SCHEDQ_OK         also if there is no root, or the record does not wait: nothing changed
 *                           then
 * @retval SCHEDQ_NOT_FOUND  it is not declared; nothing changed
 * @retval SCHEDQ_NOMEM      (never with MUTEX) nothing changed
 * @retval SCHEDQ_INVALID    group 0; nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n + members).
 */
SCHEDQ_API schedq_status_t schedq_group_activate(schedq_worker_t *worker, uint64_t group,
                                                 schedq_result_t *result);

/**
 * Copies what the queue knows of a group.
 *
 * @param group not 0
 * @param info  begun with SCHEDQ_GROUP_INFO_INIT; written with OK only
 * @retval SCHEDQ_OK         *info is set. While other calls go on its fields may be of different
 *                           moments of this one
 * @retval SCHEDQ_NOT_FOUND  it is neither declared nor in its cycle
 * @retval SCHEDQ_INVALID    group 0, info NULL or its struct_size
 * @retval SCHEDQ_BUSY       nothing was looked at
 *
 * Threads: [worker]  Progress: locks; O(groups and members below).
 */
SCHEDQ_API schedq_status_t schedq_group_get(schedq_worker_t *worker, uint64_t group,
                                            schedq_group_info_t *info);

/**
 * Takes the best of what is active, without waiting: a group with its members that are aside, or a
 * pod that is in no group. A pod from backoff where schedq_try_pop takes one; never a group.
 *
 * @param group   written with OK only
 * @param members room for `room`; with OK the first *count are written, each as by schedq_try_pop:
 *                the caller is their holder. They are sorted by group, the smaller number first; in
 *                a group by priority (higher first), attempts (more first), Timestamp (older first)
 *                and name
 * @param room    at least 1; members that a group has beyond it are no reason to take a part
 * @param count   OK: how many were taken; FULL: how many need room; EMPTY, CLOSED and NOMEM: 0; not
 *                written with INVALID and BUSY
 * @retval SCHEDQ_OK       they are in flight, and the group's record too
 * @retval SCHEDQ_FULL     the best is a group with more members than `room`; nothing changed. Call
 *                         again with room for *count: by then there may be more
 * @retval SCHEDQ_EMPTY    nothing is poppable
 * @retval SCHEDQ_CLOSED   the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_NOMEM    (never with MUTEX) nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What was done before a member was added, failed or was released happens before the return, and so
 * does what was done before the call that completed the group.
 * Threads: [worker]  Progress: locks; O(log n + members).
 */
SCHEDQ_API schedq_status_t schedq_try_pop_group(schedq_worker_t *worker,
                                                schedq_popped_group_t *group,
                                                schedq_popped_t *members, size_t room,
                                                size_t *count);

/**
 * Takes what schedq_try_pop_group takes; waits for it until a time. While it waits it serves time,
 * as schedq_pop does.
 *
 * A group that becomes poppable wakes every thread that waits to pop, pods or groups: those that
 * find nothing sleep again.
 *
 * @param deadline_ns nanoseconds on the queue's clock (schedq_now); SCHEDQ_NO_DEADLINE: none. If it
 *                    has passed, the call does not wait
 * @param group       as schedq_try_pop_group's
 * @param members     the same
 * @param room        the same
 * @param count       the same; TIMEDOUT and CANCELED: 0
 * @retval SCHEDQ_OK        as schedq_try_pop_group
 * @retval SCHEDQ_FULL      the same; it does not wait for another group
 * @retval SCHEDQ_TIMEDOUT  the deadline passed, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_NOMEM     (never with MUTEX) nothing changed
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * What happens before the return: as schedq_try_pop_group.
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(log n + members).
 */
SCHEDQ_API schedq_status_t schedq_pop_group_until(schedq_worker_t *worker, int64_t deadline_ns,
                                                  schedq_popped_group_t *group,
                                                  schedq_popped_t *members, size_t room,
                                                  size_t *count);

/**
 * Ends a group's cycle. Call it after the members were tried; one of them may stay in flight, and
 * end later.
 *
 * The members that are aside wait for the group's next try, by `end`; those that joined meanwhile
 * too. If they are less than the quorum, the record is aside. REJECTED: the record is parked by the
 * union of what rejected the members that failed in this cycle. If an event since the pop could
 * help one of them, it backs off instead. A member that failed without a rejector has no say.
 * @param token  of the group; in and out: with NOMEM *token is the token of its cycle
 * @param end    what became of the group; not referenced after the call
 * @param result place: where the record is now, NOWHERE: it ended, since the group was undeclared;
 *               to_active and its like, poppable. May be NULL
 * @retval SCHEDQ_OK       the token is used up
 * @retval SCHEDQ_STALE    the token was used before, or is that of a pod; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) *token may be a new token, the old one is used up
 *                         then; nothing else changed
 * @retval SCHEDQ_INVALID  an outcome that is none, what has to be 0 is not; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What was done before this call happens before the return of the pop that takes the group next.
 * Threads: [worker]  Progress: locks; O(log n + members + events since its pop, if one concerns
 *                    what rejected them).
 */
SCHEDQ_API schedq_status_t schedq_group_done(schedq_worker_t *worker, schedq_token_t *token,
                                             const schedq_group_end_t *end,
                                             schedq_result_t *result);

#ifdef __cplusplus
}
#endif

#endif
