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
 * MEMBERS. A member that waits is aside (SCHEDQ_ASIDE): it is never active, backing off, gated or
 * parked by itself. An add, a failure and a release bring it aside. It joins when it is aside and
 * its group has a root.
 *
 * CYCLE. schedq_try_pop_group takes the record together with the members that have joined. From
 * then on each of these members is in flight, and so is the record. Each member ends by schedq_done
 * or schedq_fail, as any pod. The group's cycle ends by schedq_group_done.
 *
 * QUORUM. A group has its quorum if that many of its members have joined, or if that many of the
 * groups right below it have theirs. The two do not add up. Once one of its cycles has ended in
 * PLACED, one is enough. Members are popped only if they fill the quorum of their group by
 * themselves: groups below it do not help them. So give a group either members, or groups below it.
 *
 * ORDER. Records and pods that are in no group are in one order: higher priority first, then older
 * Timestamp. When the quorum is there, the record gets the Timestamp of the member that has waited
 * for longest. A cycle that ends in REJECTED or ERROR sets it to the time of that end.
 *
 * END. A group whose last member has ended stays declared: members may still come. Call
 * schedq_group_delete when none will.
 *
 * GUARANTEES
 *   never alone   a pop of groups returns members, and no other pop does
 *   quorum        of each group whose members a pop returns, it returns at least the quorum
 *   once          a member is in one cycle at a time
 *   which         of each such group a pop takes every member that had joined when the pop began
 *                 and had not left when it ended. A member that joins during the pop may be among
 *                 them. One that joins later waits for the end of the cycle, and so does one that
 *                 fails in the cycle.
 *
 * CALLBACKS. A gate, a hint, a precheck and an affinity are asked about each member, in no
 * particular order. The other members are asked even if one answer has settled what becomes of the
 * record.
 *
 * OTHER CALLS. Calls for one pod work on members too. A member that is held (hold.h) counts for no
 * quorum and is not popped. The activation of a member activates the root's record. schedq_fail
 * tells what rejected the member; the end of the group's cycle parks the record by it.
 * schedq_explain tells a member's group, how many wait there, and where the root's record is;
 * schedq_group_get tells what rejected the record. schedq_peek and schedq_position do not see
 * records. schedq_watch finds members that are in flight for too long, or that their gates refuse.
 * It does not find a group whose schedq_group_done was forgotten, or that nothing but the limit of
 * waiting freed.
 *
 * LIMITS. Give a member the profile of its root: events find a group that waits by the root's
 * profile. The queue does not check this. With SCHEDQ_DECIDE_HOST each call below is INVALID, and
 * so is the add of a member. A declared group counts as one pod for max_pods. It does not count for
 * max_bands.
 *
 * In a line "Progress", n is the number of pods in the queue, records among them; "members" are
 * those of the groups that the call concerns.
 */
#ifndef SCHEDQ_GROUP_H
#define SCHEDQ_GROUP_H

#include <schedq/cycle.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How many groups a chain from a group up to its root may have, both among them. A group with a
    longer chain has no root. A group in a circle of parents has none either. */
#define SCHEDQ_GROUP_DEPTH_MAX 64

/** A group as its caller describes it. Begin with SCHEDQ_GROUP_SPEC_INIT; a default is 0. */
typedef struct schedq_group_spec {
    uint32_t struct_size;     /**< set by SCHEDQ_GROUP_SPEC_INIT */
    int32_t  priority;        /**< of its record, if it is a root; higher first; any value */
    uint32_t quorum;          /**< members, or groups right below it, that it needs; any value; 0
                                   means 1 (for a caller whose gate counts members) */
    schedq_profile_t profile; /**< of its members; no update changes it */
    uint8_t  reserved[3]; /**< zero */
    uint64_t object;          /**< the caller's own 64 bits for the group, which its pop returns.
                                   The queue passes them to no callback, and calls neither retain
                                   nor release for them */
    uint64_t parent;          /**< the group above it, declared or not; 0: it is a root. No update
                                   changes it */
} schedq_group_spec_t;

/** The defaults. */
#define SCHEDQ_GROUP_SPEC_INIT                                    \
    {                                                             \
        sizeof(schedq_group_spec_t), 0, 0, 0, {0, 0, 0}, 0, 0     \
    }

/**
 * What a pop of groups took. Layout frozen (112 bytes).
 */
typedef struct schedq_popped_group {
    schedq_token_t token;     /**< names this cycle of the group, for schedq_group_done; {0} if
                                   `group` is 0 */
    uint64_t group;           /**< the root; 0: the pop took members[0], a pod that is in no group.
                                   Then all else here is 0, except `seen`, `cycle` and `more` */
    uint64_t object;          /**< of the root, as described */
    schedq_history_t history; /**< of the record; this pop is counted in its attempts */
    uint64_t seen;            /**< sequence of the newest event at this pop */
    uint64_t cycle;           /**< 1, 2, ...: number of this pop, the same in each of its members;
                                   0 unless config.count_cycles */
    int64_t  backoff_expiry_ns; /**< end of the record's last backoff, on the queue's clock; 0 = it
                                     had none */
    int32_t  priority;        /**< of the record, as at this pop */
    uint8_t  more;            /**< 1: something else is poppable (LOCKFREE: perhaps) */
    schedq_profile_t profile; /**< as declared */
    uint8_t  flushed;         /**< of the record: as in schedq_popped_t */
    uint8_t  reserved[25]; /**< zero */
} schedq_popped_group_t;

/** What became of a group in its cycle. */
typedef enum schedq_group_outcome {
    /** members were placed; the record's rejections and errors become 0, its attempts stay. Members
        that failed are tried again at once, with the Timestamp that the record had. So do not end a
        cycle by PLACED if it placed none */
    SCHEDQ_GROUP_PLACED = 0,
    /** it fits nowhere: the record is parked until an event helps a member. It backs off instead if
        no member that failed has a rejector, or if config.kube_minor is not 0 */
    SCHEDQ_GROUP_REJECTED,
    /** something broke: the record backs off */
    SCHEDQ_GROUP_ERROR
} schedq_group_outcome_t;

/** How a group's cycle ends. Begin with SCHEDQ_GROUP_END_INIT; a default is 0. */
typedef struct schedq_group_end {
    uint32_t struct_size; /**< set by SCHEDQ_GROUP_END_INIT */
    uint8_t  outcome;     /**< schedq_group_outcome_t */
    uint8_t  place;       /**< SCHEDQ_NOWHERE: the queue decides where the record goes */
    uint8_t  gate;        /**< 0 */
    uint8_t  reserved; /**< zero */
    uint64_t judged_up_to; /**< 0 */
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
    uint8_t  declared;     /**< 0: schedq_group_delete came during its cycle, which goes on */
    uint64_t object;       /**< as described */
    uint64_t parent;       /**< as described */
    uint64_t root;         /**< the topmost above it, or itself; 0: one above is not declared */
    schedq_history_t history; /**< of its record. Until the record is queued for the first time,
                                   its Timestamp is the time of the declaration */
    int64_t  backoff_expiry_ns; /**< while the record backs off: the end of that; else 0 */
    uint64_t unschedulable; /**< bits of the plugins that rejected its record, in its profile; kept
                                 until its pop */
    uint64_t pending;       /**< the same of the plugins that only wait for something */
    uint64_t waiting;       /**< members that are aside, of it and of all groups below it; without a
                                 root: of it alone */
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
 * Members that are aside join if this gives their group a root: those that name it, and those of
 * groups below it. What the caller did before the call happens before what the holder does after it
 * popped the group.
 * @param group  not 0
 * @param spec   not referenced after the call
 * @param result place: of the root's record, NOWHERE if there is no root. to_active, to_gated,
 *               poppable: what became of the record; it counts as one. May be NULL
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
 * Replaces a group's priority, quorum and object, all at once: no call sees those of two updates
 * mixed. A record that is queued is sorted anew.
 *
 * If the new quorum is there, a record that was aside becomes active. If it is not there, a record
 * that waits goes aside.
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
 * Ends a group's declaration, and its record with history and backoff. Its members stay in the
 * queue. They are aside until they have a root again, and so are those of groups below it.
 *
 * In the group's cycle the call leaves a note, and schedq_group_done ends the record. A declaration
 * in the same cycle takes the note back; it must have the same parent and profile.
 * @param group  not 0
 * @param result place: where the root's record was; INFLIGHT: the call left a note, if the group is
 *               its own root. May be NULL
 * @retval SCHEDQ_OK         the group is not declared
 * @retval SCHEDQ_NOT_FOUND  it was not declared; nothing changed
 * @retval SCHEDQ_NOMEM      (never with MUTEX) in its cycle only: there is no memory for the note;
 *                           nothing changed
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
 * In the root's cycle the call leaves a note: if the cycle ends in REJECTED, the record is not
 * parked.
 * @param group  not 0; the root, or one below it
 * @param result place: of the root's record; to_active, to_gated, poppable. May be NULL
 * @retval SCHEDQ_OK         also if nothing changed: there is no root, or the record is aside or
 *                           active
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
 * @retval SCHEDQ_OK         *info is set. If other calls run meanwhile, its fields may be of
 *                           different moments of this call
 * @retval SCHEDQ_NOT_FOUND  it is neither declared nor in its cycle
 * @retval SCHEDQ_INVALID    group 0, info NULL or its struct_size
 * @retval SCHEDQ_BUSY       nothing was looked at
 *
 * Threads: [worker]  Progress: locks; O(groups and members below).
 */
SCHEDQ_API schedq_status_t schedq_group_get(schedq_worker_t *worker, uint64_t group,
                                            schedq_group_info_t *info);

/**
 * Takes the best of what is active, without waiting: a group with the members that have joined, or
 * a pod that is in no group.
 *
 * If nothing is active, it takes a pod from backoff, if schedq_try_pop would. It never takes a
 * group from backoff.
 * @param group   written with OK only
 * @param members room for `room`; with OK the first *count are written, each as by schedq_try_pop:
 *                the caller is their holder; else their contents mean nothing. They are sorted by
 *                group, the smaller number first; in a group by priority (higher first), attempts
 *                (more first), Timestamp (older first) and name
 * @param room    at least 1. If a group has more members, none of them is taken: FULL
 * @param count   OK: how many were taken; FULL: the room that is needed; EMPTY, CLOSED and NOMEM:
 *                0; not written with INVALID and BUSY
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
 * Threads: [worker]  Progress: locks; O(log n + members); allocates if it keeps a pod back (CLASSES
 *          in hold.h).
 */
SCHEDQ_API schedq_status_t schedq_try_pop_group(schedq_worker_t *worker,
                                                schedq_popped_group_t *group,
                                                schedq_popped_t *members, size_t room,
                                                size_t *count);

/**
 * Takes what schedq_try_pop_group takes; waits for it until a time. While it waits it serves time,
 * as schedq_pop does.
 *
 * A group that becomes poppable wakes every thread that waits in a pop, of pods or of groups. Those
 * that find nothing sleep again.
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
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(log n + members);
 *          allocates as schedq_try_pop_group.
 */
SCHEDQ_API schedq_status_t schedq_pop_group_until(schedq_worker_t *worker, int64_t deadline_ns,
                                                  schedq_popped_group_t *group,
                                                  schedq_popped_t *members, size_t room,
                                                  size_t *count);

/**
 * Takes what schedq_try_pop_group takes; waits for it for at most wait_ns. As
 * schedq_pop_group_until otherwise.
 *
 * @param wait_ns nanoseconds of the queue's clock, at least 0; 0: it does not wait
 * @param group   as schedq_try_pop_group's
 * @param members the same
 * @param room    the same
 * @param count   the same; TIMEDOUT and CANCELED: 0
 * @retval SCHEDQ_OK        as schedq_try_pop_group
 * @retval SCHEDQ_FULL      the same; it does not wait for another group
 * @retval SCHEDQ_TIMEDOUT  the time is over, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_NOMEM     (never with MUTEX) nothing changed
 * @retval SCHEDQ_INVALID   also a negative wait_ns; nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * What happens before the return: as schedq_try_pop_group.
 * Threads: [worker]  Progress: as schedq_pop_group_until.
 */
SCHEDQ_API schedq_status_t schedq_pop_group_for(schedq_worker_t *worker, int64_t wait_ns,
                                                schedq_popped_group_t *group,
                                                schedq_popped_t *members, size_t room,
                                                size_t *count);

/**
 * Ends a group's cycle. Call it after the members were tried. Members may stay in flight, and end
 * later.
 *
 * The record goes where `end` says, with the members that are aside: those that failed, and those
 * that came during the cycle. If they are fewer than the quorum, the record is aside.
 *
 * REJECTED parks the record by the union of what rejected the members that failed in this cycle. If
 * an event since the pop could help one of them, the record backs off instead; it is active at once
 * if the hint of a rejector that only waits (schedq_failure_t.pending) says QUEUE. A member that
 * failed without a rejector counts for neither.
 * @param token  of the group; in and out: after NOMEM it is the token with which to call again
 * @param end    what became of the group; not referenced after the call
 * @param result place: where the record is now, NOWHERE: it ended, since the group was undeclared;
 *               to_active and its like, poppable. May be NULL
 * @retval SCHEDQ_OK       the token is used up
 * @retval SCHEDQ_STALE    the token was used before, or is that of a pod; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) the cycle goes on, by *token; if that is a new token,
 *                         the old one is used up. Nothing else changed
 * @retval SCHEDQ_INVALID  end.outcome is no outcome, or a field that must be 0 is not; nothing
 *                         changed
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
