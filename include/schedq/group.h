/** @file
 * schedq, pods that are tried together: groups. docs/GROUPS.md has the order of calls.
 *
 * A group is a number of the caller's, not 0, that pods name when they are added
 * (schedq_pod_spec_t.group) and keep until they end: its members. It is declared, before its
 * members come or after; perhaps below another one, its parent. The topmost is the root.
 *
 * A member never waits in a queue of its own. It is aside, on its group (SCHEDQ_ASIDE): after its
 * add, its failure, its release. What is queued is the root's record. The record has a priority, a
 * Timestamp, counters, a backoff and a place as a pod has, and is active when the quorum waits and
 * no member's gate refuses. schedq_try_pop_group takes it with all its members.
 *
 * WHAT HOLDS. A member is returned by no other pop. A group's pop returns at least its quorum,
 * until one of its cycles ended in PLACED; then one member is enough. A leaf (a group that members
 * name) below a root keeps its own quorum: its members stay aside until it has that. The quorum of
 * a group that has groups below it counts those of them that have theirs. A member is in one cycle
 * at a time.
 *
 * WHO IS WITH IT. Those that had joined when the pop began, and had not left when it ended. One
 * that joins during the pop may be. One that joins later, or fails, waits for the end of the cycle.
 *
 * The calls for one pod are for members too. A held member does not count and is not popped. A
 * member's activation activates the root's record. What its plugins said of a failed member counts
 * when its group ends the cycle.
 *
 * A member has the profile of its root, which the queue does not check: events find a group that
 * waits by the root's. COST. A group of n members costs what n pods cost. A declared group counts
 * as a pod for max_pods.
 *
 * NOT WITH SCHEDQ_DECIDE_HOST. There each of these calls, and the add of a member, is INVALID.
 */
#ifndef SCHEDQ_GROUP_H
#define SCHEDQ_GROUP_H

#include <schedq/cycle.h>

#ifdef __cplusplus
extern "C" {
#endif

/** groups that are above one another, at most; those below have no root, nor has a circle */
#define SCHEDQ_GROUP_DEPTH_MAX 64

/** A group as its caller describes it. Begin with SCHEDQ_GROUP_SPEC_INIT; a default is 0. */
typedef struct schedq_group_spec {
    uint32_t struct_size;     /**< set by SCHEDQ_GROUP_SPEC_INIT */
    int32_t  priority;        /**< of its record, if it is a root; higher first; any value */
    uint32_t quorum;          /**< how many members, or groups below, it needs; 0: as 1 */
    schedq_profile_t profile; /**< of its members; kept from the declaration on */
    uint8_t  reserved[3]; /**< zero */
    uint64_t object;          /**< the caller's group: 64 bits that its pop returns. The queue
                                   passes it to no callback, and counts no reference to it */
    uint64_t parent;          /**< the group above it, declared or not; 0: it is a root. Kept from
                                   the declaration on */
} schedq_group_spec_t;

/** To be filled. */
#define SCHEDQ_GROUP_SPEC_INIT                                    \
    {                                                             \
        sizeof(schedq_group_spec_t), 0, 0, 0, {0, 0, 0}, 0, 0     \
    }

/** A popped group: its holder's until schedq_group_done. Layout frozen (112 bytes). */
typedef struct schedq_popped_group {
    schedq_token_t token;     /**< names this cycle of the group: for schedq_group_done. {0} if
                                   `group` is 0 */
    uint64_t group;           /**< the root; 0: no group, but a pod in none: members[0] */
    uint64_t object;          /**< of its description */
    schedq_history_t history; /**< of the record; this pop is counted in its attempts */
    uint64_t seen;            /**< sequence of the newest event at this pop */
    uint64_t cycle;           /**< number of this pop, which its members have too; 0 unless
                                   config.count_cycles */
    int64_t  backoff_expiry_ns; /**< end of its last backoff, on the queue's clock; 0 = it had
                                     none */
    int32_t  priority;        /**< as at this pop */
    uint8_t  more;            /**< 1: something else is poppable (LOCKFREE: perhaps) */
    schedq_profile_t profile; /**< as declared */
    uint8_t  flushed;         /**< 1: as schedq_popped_t's, of the record */
    uint8_t  reserved[25]; /**< zero */
} schedq_popped_group_t;

/** What became of a group in its cycle. */
typedef enum schedq_group_outcome {
    /** members were placed; those that are left are tried again at once */
    SCHEDQ_GROUP_PLACED = 0,
    /** it fits nowhere: what rejected its members keeps it back (kube_minor: it backs off) */
    SCHEDQ_GROUP_REJECTED,
    /** something broke: it backs off */
    SCHEDQ_GROUP_ERROR
} schedq_group_outcome_t;

/** How a group's cycle ends. Begin with SCHEDQ_GROUP_END_INIT; a default is 0. */
typedef struct schedq_group_end {
    uint32_t struct_size; /**< set by SCHEDQ_GROUP_END_INIT */
    uint8_t  outcome;     /**< schedq_group_outcome_t */
    uint8_t  place;       /**< SCHEDQ_NOWHERE: the queue decides */
    uint8_t  gate;        /**< 0 */
    uint8_t  reserved; /**< zero */
    uint64_t judged_up_to; /**< 0 */
} schedq_group_end_t;

/** To be filled. */
#define SCHEDQ_GROUP_END_INIT                                  \
    {                                                          \
        sizeof(schedq_group_end_t), 0, SCHEDQ_NOWHERE, 0, 0, 0 \
    }

/** A declared group, as it is. Begin with SCHEDQ_GROUP_INFO_INIT. */
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
    schedq_history_t history; /**< of its record */
    int64_t  backoff_expiry_ns; /**< while it backs off: the end of that; else 0 */
    uint64_t unschedulable; /**< bits of what its record waits for */
    uint64_t pending;       /**< of those, what it only waits for */
    uint64_t waiting;       /**< members aside, of it and all groups below */
} schedq_group_info_t;

/** To be filled. */
#define SCHEDQ_GROUP_INFO_INIT                                                           \
    {                                                                                    \
        sizeof(schedq_group_info_t), 0, 0, 0, 0, 0, 0, 0, 0, 0, {0, 0, 0, 0, 0, 0}, 0,   \
            0, 0, 0                                                                      \
    }

/**
 * Declares a group. Members that wait for it join, and those of groups below that get a root by it.
 *
 * @param group  not 0
 * @param spec   not referenced after the call
 * @param result place: of the root's record, NOWHERE if there is no root; to_active and so on,
 *               poppable: what the members' joining made of it. A record counts as one. May be NULL
 * @retval SCHEDQ_OK       it is declared
 * @retval SCHEDQ_EXISTS   it was; nothing changed
 * @retval SCHEDQ_CLOSED   the queue is closed; nothing changed
 * @retval SCHEDQ_FULL     max_pods (a declared group counts as one pod), or max_bands (its priority
 *                         is one more); nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_INVALID  group 0, its own parent, unknown profile; nothing changed
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
 * A smaller quorum may complete it, a larger one make it incomplete: its record is aside then.
 * @param group  not 0
 * @param spec   parent and profile as declared
 * @param result as schedq_group_add
 * @retval SCHEDQ_OK         replaced
 * @retval SCHEDQ_NOT_FOUND  it is not declared; nothing changed
 * @retval SCHEDQ_NOMEM      nothing changed
 * @retval SCHEDQ_INVALID    group 0, another parent or profile than declared; nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_group_update(schedq_worker_t *worker, uint64_t group,
                                               const schedq_group_spec_t *spec,
                                               schedq_result_t *result);

/**
 * Ends a declaration. Members, of groups below too, stay aside, until there is a root again.
 * History and backoff of its record end with it.
 *
 * In its cycle it is noted: schedq_group_done ends the record, unless the group was declared again
 * meanwhile, with the same parent and profile.
 * @param group  not 0
 * @param result place: of the record before; INFLIGHT: it is noted. May be NULL
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
 * Makes the record of a group's root active, if it waits and no member's gate refuses. In its
 * cycle: it is not parked then.
 *
 * @param group  not 0
 * @param result counts; may be NULL
 * @retval SCHEDQ_OK         also if there is no root, or nothing waits
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
 * @param info  with its struct_size
 * @retval SCHEDQ_OK         *info is set
 * @retval SCHEDQ_NOT_FOUND  it is neither declared nor in its cycle; *info is as it was
 * @retval SCHEDQ_INVALID    group 0, info NULL or its struct_size; *info is as it was
 * @retval SCHEDQ_BUSY       *info is as it was
 *
 * Threads: [worker]  Progress: locks; O(groups and members below).
 */
SCHEDQ_API schedq_status_t schedq_group_get(schedq_worker_t *worker, uint64_t group,
                                            schedq_group_info_t *info);

/**
 * Takes the best of what is active: a group with all its members that wait, or a pod in no group; a
 * pod from backoff where schedq_try_pop takes one. Without waiting.
 *
 * @param group   written with OK
 * @param members room for `room`; with OK the first *count are written: each as from
 *                schedq_try_pop. Of one group by priority, attempts (more first), Timestamp and
 *                name; groups below by their numbers
 * @param room    at least 1
 * @param count   OK: how many; FULL: how many there are; else 0; not written with INVALID and BUSY
 * @retval SCHEDQ_OK       they are in flight, and the group's record; the caller is their holder
 * @retval SCHEDQ_FULL     the best is a group with more members than room; nothing changed
 * @retval SCHEDQ_EMPTY    nothing is poppable
 * @retval SCHEDQ_CLOSED   the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_NOMEM    (never with MUTEX) nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What was done before a member joined happens before the return.
 * Threads: [worker]  Progress: locks; O(log n + members).
 */
SCHEDQ_API schedq_status_t schedq_try_pop_group(schedq_worker_t *worker,
                                                schedq_popped_group_t *group,
                                                schedq_popped_t *members, size_t room,
                                                size_t *count);

/**
 * The same; waits until a time for something to pop. Serves time as schedq_pop does.
 *
 * @param deadline_ns on the queue's clock; SCHEDQ_NO_DEADLINE: it does not end
 * @param group       as schedq_try_pop_group, and members, room, count
 * @param members     the same
 * @param room        the same
 * @param count       the same
 * @retval SCHEDQ_OK        as schedq_try_pop_group
 * @retval SCHEDQ_FULL      the same
 * @retval SCHEDQ_TIMEDOUT  the deadline passed; *count is 0
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken; *count is 0
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now; *count is 0
 * @retval SCHEDQ_NOMEM     (never with MUTEX) nothing changed; *count is 0
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: blocks, then as schedq_try_pop_group.
 */
SCHEDQ_API schedq_status_t schedq_pop_group_until(schedq_worker_t *worker, int64_t deadline_ns,
                                                  schedq_popped_group_t *group,
                                                  schedq_popped_t *members, size_t room,
                                                  size_t *count);

/**
 * Ends a group's cycle. Its members' own cycles may have ended, or end later.
 *
 * Members that wait are tried again by the outcome: their group is active, backs off, is gated or
 * parked. Without enough of them it is aside. An event during the cycle that could help one of the
 * members that failed in it counts, as in schedq_fail.
 * @param token  of the group; in and out, as schedq_fail's
 * @param end    what became of the group
 * @param result place: of the record; NOWHERE: it was undeclared. May be NULL
 * @retval SCHEDQ_OK       the token is used up
 * @retval SCHEDQ_STALE    the token was used before, or is that of a pod; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) *token may be a new token; nothing else changed
 * @retval SCHEDQ_INVALID  an outcome that is none, what has to be 0 is not; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
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
