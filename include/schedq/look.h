/**
 * schedq/look: looking at pods and numbers without taking or changing anything.
 */
#ifndef SCHEDQ_LOOK_H
#define SCHEDQ_LOOK_H

#include <schedq/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Looks a name up: place, handle, object, sets, [host] ref; changes nothing (LOCKFREE: see
 * CALLBACKS above; what it finishes may allocate).
 *
 * @param name as schedq_add, and length; not referenced after the call
 * @retval SCHEDQ_OK         `result` describes the pod
 * @retval SCHEDQ_NOT_FOUND  no pod has that name; one in flight that was deleted has none
 * @retval SCHEDQ_INVALID    bad name
 * @retval SCHEDQ_BUSY       nothing was looked at
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_find(schedq_worker_t *worker, const char *name,
                                       size_t length, schedq_result_t *result);

/**
 * A pod as a visitor sees it: a copy, valid during the visit. Times are nanoseconds on the queue's
 * clock.
 */
typedef struct schedq_pod_info {
    uint32_t struct_size;  /**< set by the library */
    uint8_t  place;        /**< schedq_place_t */
    schedq_profile_t profile;
    uint8_t  flags;        /**< SCHEDQ_POD_* */
    uint8_t  deleted;      /**< 1: in flight, deleted meanwhile */
    schedq_pod_t pod;
    uint64_t object;       /**< COUNTED: pinned during the visit; BORROWED: the pod may have left
                                the queue by now */
    const char *name;      /**< ends in NUL */
    uint32_t name_length;  /**< bytes, without the NUL */
    int32_t  priority;
    schedq_history_t history;
    int64_t  backoff_expiry_ns; /**< backoff places: as compared, cut to the second with
                                     backoff_window; else 0 */
    uint64_t unschedulable, pending; /**< kept until the next pop */
    uint32_t gate;         /**< 1 + number of the plugin that gates it; 0 = none */
    uint32_t reserved;
    uint64_t pop_order;    /**< in flight: orders pods by their pops; else 0 (LOCKFREE: also while
                                it is being popped, and `history` is that of before) */
    uint64_t cycle;        /**< in flight, with config.count_cycles; else 0 */
    uint64_t nominated_node; /**< 0 = not nominated */
    uint64_t nomination;   /**< orders the pods nominated to one node; 0 = not nominated */
} schedq_pod_info_t;

/** Gets one pod; the return value 0 ends the walk. May call other queues, not this one. */
typedef int (*schedq_visit_fn)(void *ctx, const schedq_pod_info_t *pod);

/**
 * Visits one pod, in flight too.
 *
 * The visitor runs without any lock.
 * @retval SCHEDQ_OK         it was visited
 * @retval SCHEDQ_NOT_FOUND  it is in no place, or was deleted in flight
 * @retval SCHEDQ_NOMEM      (never with MUTEX) it was not visited
 * @retval SCHEDQ_INVALID    visit is NULL
 * @retval SCHEDQ_BUSY       it was not visited
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_get(schedq_worker_t *worker, schedq_pod_t pod,
                                      schedq_visit_fn visit, void *ctx);

/**
 * Visits every pod, in no order; those in flight too, also the ones deleted meanwhile.
 *
 * A pod that is in the queue during the whole call is visited exactly once, in a place it had
 * during the call. Visitors run without any lock.
 * @retval SCHEDQ_OK       also when the visitor ended it
 * @retval SCHEDQ_NOMEM    no pod was visited
 * @retval SCHEDQ_INVALID  visit is NULL
 * @retval SCHEDQ_BUSY     no pod was visited
 *
 * Threads: [worker]  Progress: locks, for some pods at a time; O(n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_snapshot(schedq_worker_t *worker, schedq_visit_fn visit,
                                           void *ctx);

/**
 * Visits the pods nominated to a node, in the order of their nominations.
 *
 * A host that places pods counts those of at least a pod's priority as if they ran there
 * (docs/PREEMPTION.md). Visitors run without any lock.
 * @param node not 0
 * @retval SCHEDQ_OK       also when there are none, or the visitor ended it
 * @retval SCHEDQ_NOMEM    no pod was visited
 * @retval SCHEDQ_INVALID  node is 0, or visit is NULL
 * @retval SCHEDQ_BUSY     no pod was visited
 *
 * Threads: [worker]  Progress: locks; O(pods nominated there); allocates.
 */
SCHEDQ_API schedq_status_t schedq_nominated_pods(schedq_worker_t *worker, uint64_t node,
                                                 schedq_visit_fn visit, void *ctx);

/**
 * Writes "activeQ:%d; backoffQ:%d; unschedulablePods:%d".
 *
 * backoffQ counts error backoff too, unschedulablePods gated pods too.
 * @param size room in `text`, in bytes; what does not fit is cut off, and a NUL ends it
 * @retval length that it needs without the NUL, as snprintf
 * @retval 0      called from a callback
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API size_t schedq_pending_text(schedq_t *queue, char *text, size_t size);

/**
 * Words at a stable address, valid until destroy, also after close; a host reads them without a
 * call (acquire loads).
 *
 * A place's count is raised before a pod becomes visible there and lowered after one left: 0 read
 * after an event's stamp means that there is nothing to look for. Exact when quiet. Active and
 * in-flight pods are in schedq_stats.
 */
typedef struct schedq_words_t {
    /** Pods there now; pods that are nominated now. */
    uint64_t parked, gated, backoff, error_backoff, nominations;
    /** newest sequence that an event drew, the first is 1; 0 = none yet */
    uint64_t event_sequence;
    int64_t  next_deadline_ns; /**< when schedq_tick is wanted, on the queue's clock;
                                    SCHEDQ_NO_DEADLINE: never. It may say too early (LOCKFREE:
                                    before all times while a thread looks for the next): then a tick
                                    sets it right */
    /** external_clock: the host raises it by atomic max; it never goes back */
    int64_t  now_ns;
    uint32_t closed;           /**< 1 after schedq_close */
    uint32_t poppable;         /**< a hint: 1: something may be popped */
    uint64_t reserved[7];
} schedq_words_t;

/**
 * Returns the queue's words.
 *
 * @retval NULL from a callback
 *
 * Threads: [queue]  Progress: wait-free.
 */
SCHEDQ_API schedq_words_t *schedq_words(schedq_t *queue);

/** Counts and bytes. Begin with SCHEDQ_STATS_INIT. */
typedef struct schedq_stats_t {
    uint32_t struct_size; /**< set by SCHEDQ_STATS_INIT */
    uint32_t workers;     /**< registered ones, the timer thread's too */
    uint64_t active, backoff, error_backoff, parked, gated, inflight; /**< pods there now */
    uint64_t nominated;   /**< pods that are nominated now */
    uint64_t adds;        /**< pods that add, add_many, update and readd made */
    uint64_t pops, dones, failures, deletes, updates; /**< calls that changed a pod, pod by pod */
    uint64_t moves;       /**< pods that events and time moved out of a waiting place */
    uint64_t events;      /**< notify and assigned_pod_* calls with an event that concerns any
                               plugin; event_begin calls */
    uint64_t hint_calls, pre_enqueue_calls;
    /** Bytes of memory held, not what pods use of it. */
    uint64_t bytes_entries, bytes_names, bytes_index, bytes_queues, bytes_other;
    uint64_t membarriers; /**< fences in all threads that the queue asked the kernel for */
    uint8_t  fences;      /**< those in use: SCHEDQ_FENCES_ASYMMETRIC or REAL (MUTEX: REAL) */
    uint8_t  reserved[7];
} schedq_stats_t;

#define SCHEDQ_STATS_INIT                                                                     \
    {                                                                                         \
        sizeof(schedq_stats_t), 0,    /* workers */                                           \
            0, 0, 0, 0, 0, 0, 0,      /* active .. nominated */                               \
            0, 0, 0, 0, 0, 0, 0, 0,   /* adds .. events */                                    \
            0, 0, 0, 0, 0, 0, 0,      /* hint_calls .. bytes_other */                         \
            0, 0,                     /* membarriers, fences */                               \
            {0, 0, 0, 0, 0, 0, 0}                                                             \
    }

/**
 * Reads counts and bytes: exact when the queue is quiet.
 *
 * @retval SCHEDQ_OK       every field is set
 * @retval SCHEDQ_INVALID  struct_size; *stats is as it was
 * @retval SCHEDQ_BUSY     *stats is as it was
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_stats(schedq_t *queue, schedq_stats_t *stats);

/**
 * Writes the metrics in the Prometheus text format, under kube-scheduler's names where it has one.
 *
 * `write` runs without any lock.
 * @param write gets pieces of text, returns 0 to stop
 * @retval SCHEDQ_OK       also when stopped
 * @retval SCHEDQ_NOMEM    nothing was written
 * @retval SCHEDQ_INVALID  write is NULL
 * @retval SCHEDQ_BUSY     nothing was written
 *
 * Threads: [queue]  Progress: locks; O(profiles * n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_metrics_write(
    schedq_t *queue, int (*write)(void *ctx, const char *text, size_t length), void *ctx);

#ifdef __cplusplus
}
#endif

#endif
