/** @file
 * schedq/pod: pods, and what may be done to a pod in any place, in flight too.
 *
 * The cycle of a pod, from pop to done or fail, is in schedq/cycle.h.
 */
#ifndef SCHEDQ_POD_H
#define SCHEDQ_POD_H

#include <schedq/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The id of an event, a {resource, actions, label}; see schedq_event_define. */
typedef uint16_t schedq_event_t;
/** The number of a profile, a set of plugins; 0 always exists; see schedq_profile_define. */
typedef uint8_t  schedq_profile_t;

/**
 * A handle: names a pod from its add until it leaves the queue. {0} names none. Another pod gets
 * the same value only after 2^36 changes of the record that the first one had: hours of nothing but
 * adds, updates and ends of one pod at a time.
 */
typedef struct schedq_pod {
    uint64_t bits; /**< opaque; equal for equal pods */
} schedq_pod_t;

/** Where a pod is. */
typedef enum schedq_place {
    SCHEDQ_NOWHERE = 0,
    SCHEDQ_ACTIVE,        /**< pop may take it */
    /** waits for its backoff after a rejection; kube_minor 12, 26: or after an error */
    SCHEDQ_BACKOFF,
    SCHEDQ_ERROR_BACKOFF, /**< waits for its backoff after an error (a failure without rejectors);
                               pop never takes it from here */
    SCHEDQ_PARKED,        /**< waits for an event that could help */
    SCHEDQ_GATED,         /**< a PreEnqueue plugin keeps it out */
    SCHEDQ_INFLIGHT,      /**< popped, its cycle has not ended */
    SCHEDQ_HELD,          /**< kept back, until it is released, or until a time: hold.h */
    SCHEDQ_ASIDE          /**< waits for its group, or, a group, for its members: group.h */
} schedq_place_t;

/**
 * Names a place: "active", "backoff", "error-backoff", "parked", "gated", "inflight", "held",
 * "aside", "nowhere". Static text.
 *
 * @param place any value
 * @retval "nowhere" also for a value that is no place
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_place_name(schedq_place_t place);

/**
 * What a call did. Every parameter of this type may be NULL. Layout frozen (80 bytes).
 *
 * It describes the pod with OK, EXISTS and CHANGED, and with the RETRY of schedq_fail. With another
 * RETRY it has only `sequence`, with the GONE of schedq_fail only `object`. With every other status
 * a call for one pod sets it all zero; a call for many pods does so when nothing changed. A sum
 * over many pods has only counts and `poppable`; the other fields mean nothing.
 */
typedef struct schedq_result {
    schedq_pod_t pod;           /**< the pod; with EXISTS the one that has the name */
    uint64_t object;            /**< its object; update, and fail with `newest`: the
                                     replaced one */
    uint64_t ref;               /**< [host] names a waiting pod at this version for schedq_apply; 0
                                     = none. An active pod may have one too: schedq_apply then
                                     returns GONE */
    uint64_t unschedulable;     /**< bits of its rejectors, but for those in `pending`: before the
                                     call (delete, update, apply), or as they are now (find, EXISTS,
                                     CHANGED, fail, readd); add: 0 */
    uint64_t pending;           /**< bits of its rejectors that only wait for something (kube's
                                     PendingPlugins) */
    uint64_t sequence;          /**< RETRY: judge the events up to this one. It is
                                     words.event_sequence when the call looked */
    int64_t  timestamp_ns;      /**< the Timestamp that the call set or found; nanoseconds on the
                                     queue's clock */
    uint32_t to_active;         /**< pods that this call put there; the record of a group is one
                                     (group.h). A pod that it tried and left where it was counts
                                     too. If it lets another pod of a class go (hold.h), only
                                     `poppable` says so. LOCKFREE: a pod whose move another thread
                                     finished is missing */
    uint32_t to_backoff;        /**< the same; error backoff too */
    uint32_t to_parked;         /**< the same */
    uint32_t to_gated;          /**< the same */
    uint8_t  place;             /**< schedq_place_t: where the pod is now */
    uint8_t  gate;              /**< 1 + number of the plugin that gates it; 0 = none, also for a
                                     member ASIDE (schedq_get tells what refuses it) */
    uint8_t  poppable;          /**< 1: this call made a pod, or a group, poppable; the caller may
                                     wake a waiter of its own. Backoff counts if pop takes from
                                     it */
    uint8_t  added;             /**< 1: update or readd made a new pod */
    uint8_t  left;              /**< [host] tick: 1: due backoff was left to schedq_candidates and
                                     schedq_apply */
    uint8_t  backing_off;       /**< [host] 1: its backoff was not over when the call looked: place
                                     BACKOFF is possible, ACTIVE skips it. 0 if `ref` is 0 */
    uint8_t  reserved[2]; /**< zero */
} schedq_result_t;

enum {
    SCHEDQ_POD_AFFINITY = 1,  /**< has a required affinity term: schedq_assigned_pod_* asks
                                   config.affinity_matches */
    SCHEDQ_POD_ORDER_KEY = 2, /**< order_key replaces the Timestamp as order inside the priority;
                                   smaller first */
    SCHEDQ_POD_ADD = 4        /**< schedq_update only, else INVALID: adds the pod if its name is
                                   unknown. It is not stored: no `flags` shows it */
};

/** A pod as its caller describes it. Begin with SCHEDQ_POD_SPEC_INIT; a default is 0. */
typedef struct schedq_pod_spec {
    uint32_t struct_size;    /**< set by SCHEDQ_POD_SPEC_INIT */
    int32_t  priority;       /**< higher first; any value */
    schedq_profile_t profile; /**< a defined one; a pod keeps its profile */
    uint8_t  flags;          /**< SCHEDQ_POD_* */
    uint8_t  gate;           /**< [host] 1 + number of the plugin whose PreEnqueue refuses it; 0
                                  = none; [callbacks] 0 */
    uint8_t  reserved[5]; /**< zero */
    /** the caller's pod: 64 bits that pop returns; see schedq_objects_t */
    uint64_t object;
    uint64_t nominated_node; /**< status.nominatedNodeName as the caller numbers nodes; 0 = none. In
                                  an update 0 ends the nomination of an earlier spec; if that had 0
                                  too, a nomination by schedq_nominate stays */
    int64_t  timestamp_ns;   /**< the Timestamp, on the queue's clock, at least 0; 0 = now, behind
                                  all that came before. max_parked_ns counts from it. Pods whose
                                  callers chose equal ones come in any order */
    int64_t  order_key;      /**< with SCHEDQ_POD_ORDER_KEY, else it is not read; any value; it is
                                  compared with others' Timestamps; pods with equal keys come in any
                                  order */
    uint64_t judged_up_to;   /**< [host] words.event_sequence as read before PreEnqueue ran; used if
                                  gate != 0 */
    schedq_pod_t only;       /**< schedq_update: the handle of the pod that is meant. If another pod
                                  has the name, the name counts as unknown. {0}: any pod that has
                                  it. With SCHEDQ_POD_ADD, and in other calls: {0} */
    int64_t  not_before_ns;  /**< on the queue's clock: the pod is held until then (hold.h); 0, or
                                  past: it is not; at least 0. With `gate`: 0 */
    uint64_t label;          /**< what it shares with others (label.h), from its add to its end: an
                                  update and a failure leave it; 0: none */
    uint64_t group;          /**< what it is tried together with (group.h), from its add to its end;
                                  0: it is tried by itself */
    uint64_t class_id;       /**< the pods of its priority and profile that fail alike: while one of
                                  them waits, rejected, the others are kept back, untried (CLASSES
                                  in hold.h), for config.class_patience_ns at most; 0: none. An
                                  update replaces it, and so does a failure's newest spec. With
                                  `group` it has no effect */
} schedq_pod_spec_t;

/** The defaults. */
#define SCHEDQ_POD_SPEC_INIT                                                               \
    {                                                                                      \
        sizeof(schedq_pod_spec_t), 0, 0, 0, 0, {0, 0, 0, 0, 0}, 0, 0, 0, 0, 0, {0}, 0, 0, 0, \
            0                                                                              \
    }

/**
 * Puts a new pod in the queue. PreEnqueue is asked first ([host]: spec->gate is its answer).
 *
 * A nomination in the spec counts at once (with config.kube_minor: see there).
 *
 * A pop on another thread may return the pod before this call returns. So what the holder needs has
 * to be there before the call. The holder finds the handle in popped.pod, the caller in
 * result->pod.
 * @param name   bytes, need not end in NUL; copied
 * @param length 1..317 bytes, none of them NUL; with config.kube_minor "namespace/name"
 * @param spec   not referenced after the call
 * @retval SCHEDQ_OK       it is active or gated (result->place); pops that start later see it. Or
 *                         it is HELD until not_before_ns, or, a member of a group, ASIDE (group.h)
 * @retval SCHEDQ_EXISTS   a pod in any place has this name: `result` describes it; nothing changed.
 *                         (A pod that was deleted in flight has no name any more)
 * @retval SCHEDQ_RETRY    [host] gated, and an event after judged_up_to stamped its gate
 *                         (schedq_event_stamp): ask PreEnqueue again; nothing changed (LOCKFREE:
 *                         an overlapping call may have found the pod meanwhile)
 * @retval SCHEDQ_CLOSED   the queue is closed, whether or not the name is there; nothing changed
 * @retval SCHEDQ_FULL     max_pods or max_bands; nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_add(schedq_worker_t *worker, const char *name, size_t length,
                                      const schedq_pod_spec_t *spec, schedq_result_t *result);

/** One pod of schedq_add_many. Items lie 8 + spec.struct_size of the first one, in bytes, apart. */
typedef struct schedq_add_item {
    uint32_t name_offset; /**< where its name begins in the text of all names */
    uint32_t name_length; /**< 1..317 */
    schedq_pod_spec_t spec; /**< what it is */
} schedq_add_item_t;

/** The defaults, without a name. */
#define SCHEDQ_ADD_ITEM_INIT       \
    {                              \
        0, 0, SCHEDQ_POD_SPEC_INIT \
    }

/**
 * Adds many pods.
 *
 * A pop never takes one of them before all of them that rank before it are in the queue (LOCKFREE
 * with max_bands: they come in the order given).
 * @param names        the text that holds each item's name, in any order; not referenced after the
 *                     call; NULL only if count is 0
 * @param names_length bytes of `names`; an item that reaches past them is INVALID
 * @param items        not referenced after the call; NULL only if count is 0
 * @param count        elements of `items`
 * @param pods         receives the handle of element i, {0} if it was not added; may be NULL
 * @param statuses     receives what schedq_add would have returned for element i. If it is NULL,
 *                     nothing is added when an element is INVALID
 * @param result       counts over all
 * @retval SCHEDQ_OK       all of them are OK (count 0 too)
 * @retval other           the first status of an element that is not OK; elements that are OK were
 *                         added, see `statuses`
 * @retval SCHEDQ_INVALID  names or items is NULL, or statuses is NULL and an element is INVALID;
 *                         nothing changed, no array is written
 * @retval SCHEDQ_BUSY     nothing changed, no array is written
 *
 * Threads: [worker]  Progress: locks; O(count log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_add_many(schedq_worker_t *worker, const char *names,
                                           size_t names_length, const schedq_add_item_t *items,
                                           size_t count, schedq_pod_t *pods, uint8_t *statuses,
                                           schedq_result_t *result);

/**
 * Replaces the description of a pod; with SCHEDQ_POD_ADD, adds it if its name is unknown.
 *
 * An active pod, or one that backs off, gets the new priority at once. A parked or gated pod is
 * tried again if one of `events` could help it. A pod in flight: its holder keeps what it popped;
 * the events count when it fails (SCHEDQ_REQUEUE_HINTS only); a nomination in the spec counts at
 * once (with config.kube_minor: see there). Times and counters stay.
 *
 * [host] The call decides nothing. A waiting pod gets a new ref (result->ref): judge the events,
 * then schedq_apply. For a pod in flight (result->place): schedq_event_begin; log the events under
 * it; schedq_event_stamp; schedq_find. If the pod was parked meanwhile, judge it as a waiting one.
 * @param name        as schedq_add, and length
 * @param spec        gate, judged_up_to and timestamp_ns count only if the pod is added
 * @param old_object  what hints get as the old object; 0 = absent; the new one is spec->object
 * @param events      what the update was classified as (schedq_classify_pod_update); 0 of them:
 *                    nothing that could help
 * @param event_count elements of `events`
 * @retval SCHEDQ_OK         result->added: 1 = the pod was added; result->object: the replaced one
 * @retval SCHEDQ_NOT_FOUND  without SCHEDQ_POD_ADD: the name is unknown, closed or not, or
 *                           another pod than spec->only has it; nothing changed
 * @retval SCHEDQ_RETRY      [host] it would be added: as schedq_add; nothing changed
 * @retval SCHEDQ_CLOSED     it would be added, and the queue is closed; nothing changed
 * @retval SCHEDQ_FULL       it would be added: as schedq_add; nothing changed
 * @retval SCHEDQ_NOMEM      nothing changed
 * @retval SCHEDQ_INVALID    also another profile than before; nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n + events * hints); allocates.
 */
SCHEDQ_API schedq_status_t schedq_update(schedq_worker_t *worker, const char *name, size_t length,
                                         const schedq_pod_spec_t *spec, uint64_t old_object,
                                         const schedq_event_t *events, size_t event_count,
                                         schedq_result_t *result);

/**
 * Removes a pod.
 *
 * If it is in flight, its name is free at once, and its holder gets GONE.
 * @retval SCHEDQ_OK         `result` describes the pod as it was; result->place is INFLIGHT if a
 *                           holder has it, else NOWHERE
 * @retval SCHEDQ_NOT_FOUND  no such pod, deleted already, or {0}; nothing changed
 * @retval SCHEDQ_INVALID    nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_delete(schedq_worker_t *worker, schedq_pod_t pod,
                                         schedq_result_t *result);

/**
 * Removes the pod that has a name. As schedq_delete otherwise.
 *
 * @param name as schedq_add, and length
 * @retval SCHEDQ_OK         as schedq_delete
 * @retval SCHEDQ_NOT_FOUND  no pod has that name; one in flight that was deleted has none; nothing
 *                           changed
 * @retval SCHEDQ_INVALID    bad name; nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_delete_name(schedq_worker_t *worker, const char *name,
                                              size_t length, schedq_result_t *result);

/**
 * Makes waiting pods active, also those in error backoff, if PreEnqueue lets them. A handle that
 * names no pod is passed over, and so is a pod that is held.
 *
 * Those in flight are tried again when they fail, and not parked (kube_minor 12, 26: they may be).
 *
 * [host] It only marks those in flight: their next schedq_fail returns RETRY once. Order:
 * schedq_event_begin; log a wildcard for these pods under it; schedq_activate; then schedq_find
 * each, and schedq_apply those that wait.
 * @param pods   handles; NULL only if count is 0
 * @param count  elements of `pods`
 * @param result counts over all pods
 * @retval SCHEDQ_OK       all of them were dealt with
 * @retval SCHEDQ_NOMEM    (never with MUTEX) some that wait were not moved; those in flight are
 *                         marked; the call may be made again
 * @retval SCHEDQ_INVALID  pods is NULL; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(count log n). For each handle of a member that waits with
 *          its group, all members' gates are asked: schedq_group_activate asks them once.
 */
SCHEDQ_API schedq_status_t schedq_activate(schedq_worker_t *worker, const schedq_pod_t *pods,
                                           size_t count, schedq_result_t *result);

/**
 * Nominates a pod: a node is meant for it, since preemption makes room there.
 *
 * Calls that start later see it. It ends with done, delete, 0, or another node.
 * @param node the caller's number for it, from 1 (1 + that of schedq/preemption.h); 0 = none
 * @retval SCHEDQ_OK         the pod is nominated to `node`, behind the pods there; 0: to none
 * @retval SCHEDQ_NOT_FOUND  it is in no place, or was deleted in flight; nothing changed
 * @retval SCHEDQ_NOMEM      (never with MUTEX) nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; allocates.
 */
SCHEDQ_API schedq_status_t schedq_nominate(schedq_worker_t *worker, schedq_pod_t pod,
                                           uint64_t node);

#ifdef __cplusplus
}
#endif

#endif
