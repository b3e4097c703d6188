/**
 * schedq/pod: pods, and what is done to a pod whether or not somebody works on it.
 *
 * The cycle of a pod, from pop to done or fail, is in schedq/cycle.h.
 */
#ifndef SCHEDQ_POD_H
#define SCHEDQ_POD_H

#include <schedq/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An interned {resource, actions, label}, see schedq_event_define. */
typedef uint16_t schedq_event_t;
/** 0 is the profile "default-scheduler", see schedq_profile_define. */
typedef uint8_t  schedq_profile_t;

/**
 * Names a pod from add to the end of its life. {0} names none; a value is not reused for another
 * pod.
 */
typedef struct schedq_pod {
    uint64_t bits; /**< opaque; equal for equal pods */
} schedq_pod_t;

/** Where a pod is. */
typedef enum schedq_place {
    SCHEDQ_NOWHERE = 0,
    SCHEDQ_ACTIVE,        /**< pop takes it next */
    /** waits for its backoff after a rejection; kube_minor 12, 26: or an error */
    SCHEDQ_BACKOFF,
    SCHEDQ_ERROR_BACKOFF, /**< waits for its backoff after an error; pop never takes it from here */
    SCHEDQ_PARKED,        /**< waits for an event that could help */
    SCHEDQ_GATED,         /**< a PreEnqueue plugin keeps it out */
    SCHEDQ_INFLIGHT,      /**< popped, its cycle has not ended */
    SCHEDQ_HELD           /**< kept back, until it is released, or until a time: hold.h */
} schedq_place_t;

/**
 * Names a place: "active", "backoff", "error-backoff", "parked", "gated", "inflight", "held",
 * "nowhere". Static text.
 *
 * @retval "nowhere" also for a value that is no place
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_place_name(schedq_place_t place);

/**
 * What a call did. Every parameter of this type may be NULL. Layout frozen (80 bytes).
 *
 * A call for one pod leaves it all zero when it returns BUSY, INVALID, NOMEM or FULL; a call for
 * many pods when nothing changed. A sum over many pods has counts and `poppable`; its other fields
 * mean nothing.
 */
typedef struct schedq_result {
    schedq_pod_t pod;           /**< the pod; with EXISTS the one that has the name */
    uint64_t object;            /**< its object; update, and fail with `newest`: the
                                     replaced one */
    uint64_t ref;               /**< [host] names a waiting pod at this version for schedq_apply; 0
                                     = none. An active pod may have one too: schedq_apply answers it
                                     with GONE */
    uint64_t unschedulable;     /**< its rejectors: before the call (delete, update, apply), or as
                                     they are now (find, EXISTS, CHANGED, fail, readd);
                                     add: 0 */
    uint64_t pending;           /**< its other rejectors, those that only wait for something (kube's
                                     PendingPlugins) */
    uint64_t sequence;          /**< RETRY: judge events up to this one: words.event_sequence when
                                     the call looked */
    int64_t  timestamp_ns;      /**< the Timestamp that the call set or found; nanoseconds on the
                                     queue's clock */
    uint32_t to_active;         /**< pods that this call put there, from another place or again (a
                                     pod that a move tried and left) */
    uint32_t to_backoff;        /**< the same; error backoff too */
    uint32_t to_parked;         /**< the same */
    uint32_t to_gated;          /**< the same */
    uint8_t  place;             /**< schedq_place_t: where the pod is now */
    uint8_t  gate;              /**< 1 + number of the plugin that gates it; 0 = none */
    uint8_t  poppable;          /**< 1: this call made something poppable: signal a waiter. Backoff
                                     counts if pop takes from it */
    uint8_t  added;             /**< 1: update or readd made a new pod */
    uint8_t  left;              /**< [host] tick: 1: due backoff was left to schedq_candidates and
                                     schedq_apply */
    uint8_t  backing_off;       /**< [host] with `ref`, when the call looked: 1: place BACKOFF is
                                     possible, ACTIVE skips it; without: 0 */
    uint8_t  reserved[2]; /**< zero */
} schedq_result_t;

enum {
    SCHEDQ_POD_AFFINITY = 1,  /**< has a required affinity term: schedq_assigned_pod_* asks
                                   config.affinity_matches */
    SCHEDQ_POD_ORDER_KEY = 2, /**< order_key replaces the Timestamp as order inside the priority;
                                   smaller first */
    SCHEDQ_POD_ADD = 4        /**< schedq_update only, else INVALID: adds the pod if its name is
                                   unknown; describes no pod, so that nothing shows it again */
};

/** A pod as its caller describes it. Begin with SCHEDQ_POD_SPEC_INIT; a default is 0. */
typedef struct schedq_pod_spec {
    uint32_t struct_size;    /**< set by SCHEDQ_POD_SPEC_INIT */
    int32_t  priority;       /**< higher first; any value */
    schedq_profile_t profile; /**< a defined one; a pod keeps its profile */
    uint8_t  flags;          /**< SCHEDQ_POD_* */
    uint8_t  gate;           /**< [host] 1 + number of the plugin whose PreEnqueue refused; 0 =
                                  none; [callbacks] 0 */
    uint8_t  reserved[5]; /**< zero */
    /** the caller's pod: 64 bits that pop returns; see schedq_objects_t */
    uint64_t object;
    uint64_t nominated_node; /**< status.nominatedNodeName as the caller numbers nodes; 0 = none: in
                                  an update that ends what an earlier spec nominated, and keeps what
                                  schedq_nominate did if the earlier spec had 0 too */
    int64_t  timestamp_ns;   /**< on the queue's clock; 0 = now, after all that came before; at
                                  least 0. It orders the pod, and max_parked_ns counts from it.
                                  Equal ones that callers chose: any order */
    int64_t  order_key;      /**< with SCHEDQ_POD_ORDER_KEY; any value; compared with others'
                                  Timestamps; equal keys: any order */
    uint64_t judged_up_to;   /**< [host] words.event_sequence as read before PreEnqueue ran; used if
                                  gate != 0 */
    schedq_pod_t only;       /**< schedq_update: the pod that is meant, from add to the end of its
                                  life; another one under the name counts as unknown; {0}: any. With
                                  SCHEDQ_POD_ADD, and in other calls: {0} */
    int64_t  not_before_ns;  /**< on the queue's clock: the pod is held until then (hold.h); 0, or
                                  past: it is not; at least 0. With `gate`: 0 */
    uint64_t label;          /**< reserved: 0 */
} schedq_pod_spec_t;

#define SCHEDQ_POD_SPEC_INIT                                                               \
    {                                                                                      \
        sizeof(schedq_pod_spec_t), 0, 0, 0, 0, {0, 0, 0, 0, 0}, 0, 0, 0, 0, 0, {0}, 0, 0   \
    }

/**
 * Puts a new pod in the queue, through PreEnqueue ([host]: spec->gate is its verdict).
 *
 * A deletion of a pod in flight frees the name at once. A nomination in the spec counts from here
 * on (kube presets: see config.kube_minor).
 * @param name   bytes, need not end in NUL; copied
 * @param length 1..317 bytes, none of them NUL; with config.kube_minor "namespace/name"
 * @retval SCHEDQ_OK       it is active or gated (result->place); pops that start after this returns
 *         see it
 * @retval SCHEDQ_EXISTS   this name is in the queue, in any place: `result` describes that pod;
 *                         nothing changed
 * @retval SCHEDQ_RETRY    [host] gated, and its gate has a stamp newer than judged_up_to: ask
 *                         PreEnqueue again; nothing changed
 *                         (LOCKFREE: an overlapping call may have found the pod meanwhile)
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

/** One pod of schedq_add_many. The distance between two is 8 + the first one's spec.struct_size. */
typedef struct schedq_add_item {
    uint32_t name_offset; /**< where its name begins in the text of all names */
    uint32_t name_length; /**< 1..317 */
    schedq_pod_spec_t spec; /**< what it is */
} schedq_add_item_t;

#define SCHEDQ_ADD_ITEM_INIT       \
    {                              \
        0, 0, SCHEDQ_POD_SPEC_INIT \
    }

/**
 * Adds many pods.
 *
 * A pop never takes one of them while another of them that ranks before it is still to come
 * (LOCKFREE with max_bands: they come in the order given).
 * @param names        holds the name of each item, in any order; not referenced after the call
 * @param names_length its bytes: an item that reaches past them is INVALID
 * @param pods         receives the handle of element i, {0} if it was not added; may be NULL
 * @param statuses     receives what schedq_add would have returned for element i. NULL: one INVALID
 *                     element, and nothing is added
 * @param result       counts over all
 * @retval SCHEDQ_OK       all of them are OK (count 0 too)
 * @retval other           the first element's status that is not OK; the others were still added,
 *                         see `statuses`
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
 * Active or backing off: replaced in place, a new priority takes effect at once. Parked or gated:
 * `events` decide whether it is tried again. In flight: its holder keeps what it popped; the events
 * count when it fails (hints only); a nomination in the spec waits for the `newest` of a failure,
 * or for the next update. Times and counters stay.
 *
 * [host] nothing is decided: a waiting pod's new ref comes back: judge the events, then apply. In
 * flight (result->place): schedq_event_begin; log the events under it; schedq_event_stamp; then
 * schedq_find: a pod that was parked meanwhile is judged as a waiting one.
 * @param name       as schedq_add, and length
 * @param spec       gate, judged_up_to and timestamp_ns count only when it acts as add
 * @param old_object what hints get as the old object; 0 = absent; the new one is spec->object
 * @param events     what the update was classified as; 0 of them: nothing that could help
 * @retval SCHEDQ_OK         result->added tells whether it acted as add, result->object what was
 *         replaced
 * @retval SCHEDQ_NOT_FOUND  not with SCHEDQ_POD_ADD: the name is unknown, closed or not, or
 *                           another pod than spec->only has it; nothing changed
 * @retval SCHEDQ_RETRY      [host] as schedq_add, when it acts as one; nothing changed
 * @retval SCHEDQ_CLOSED     it would act as add, and the queue is closed; nothing changed
 * @retval SCHEDQ_FULL       as schedq_add, when it acts as one; nothing changed
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
 * In flight: the name is free at once, its holder gets GONE.
 * @retval SCHEDQ_OK         `result` describes the pod as it was; result->place is INFLIGHT if a
 *                           holder has it, else NOWHERE
 * @retval SCHEDQ_NOT_FOUND  no such pod, also {0}; nothing changed
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
 * Makes pods active that are parked, gated or backing off, if PreEnqueue lets them.
 *
 * Those in flight are retried when they fail (kube_minor 12, 26: not). Unknown handles are ignored.
 *
 * [host] Only marks those in flight: their fail gives RETRY once. Order:
 * schedq_event_begin; log a wildcard for these pods under it; schedq_activate; then schedq_find
 * each, and schedq_apply those that wait.
 * @param result counts over all pods
 * @retval SCHEDQ_OK       all of them were dealt with
 * @retval SCHEDQ_NOMEM    (never with MUTEX) some that wait were not moved: the call may be made
 *                         again; those in flight are marked
 * @retval SCHEDQ_INVALID  pods is NULL; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(count log n).
 */
SCHEDQ_API schedq_status_t schedq_activate(schedq_worker_t *worker, const schedq_pod_t *pods,
                                           size_t count, schedq_result_t *result);

/**
 * Intends a node for a pod (preemption made room); replaces an earlier node.
 *
 * Calls that start later see it. A nomination ends with done, delete, 0, or another node.
 * @param node the caller's number for it, from 1 (that of schedq/preemption.h + 1); 0 = none
 * @retval SCHEDQ_OK         the pod is nominated there, behind those that were before
 * @retval SCHEDQ_NOT_FOUND  it is in no place; nothing changed
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
