/**
 * schedq/queue: a queue's life, workers, and the cycle of pods.
 *
 * A pod (job, task) is what a scheduler has to place: 64 bits of the caller's, a name, a priority.
 * A queue keeps every pod that is not placed yet in exactly one place:
 *
 *   active    may be taken next
 *   backoff   failed lately, waits until its backoff is over
 *   parked    was rejected, waits for a change that could help
 *   gated     a plugin keeps it out until it lets it pass
 *   in flight taken, and not finished yet
 *
 * `pop` takes the best active pod; its cycle ends with `done` (placed) or `fail` (not now). Events
 * bring back the parked pods that they could help (schedq/events.h). This is the job of
 * kube-scheduler's SchedulingQueue, as a library without global state. Use it when a scheduler must
 * keep popping in priority order while many pods wait for events or for time. Do not use it as a
 * general work queue: every pod has a name, a history and a place, and pays for them.
 *
 * TERMS. A pod's Timestamp is when it entered the queue, or failed last. A rejector is a plugin
 * that rejected a pod. "Waiting" is backoff, parked or gated. [callbacks] and [host] mark what
 * holds only with SCHEDQ_DECIDE_CALLBACKS or only with SCHEDQ_DECIDE_HOST, LOCKFREE and MUTEX what
 * holds only with that engine. "The number of a plugin" counts from 0; its bit is 1 << number. A
 * tick is config.tick_ns.
 *
 * GUARANTEES
 *   order    higher priority first (any int32), then older Timestamp, then the one that got its
 *            Timestamp first. A caller's order key replaces the Timestamp. A pop never returns a
 *            pod while a pod that ranks before it was active during the whole of that call.
 *            (config.fifo: without the priority; SCHEDQ_ORDER_RELAXED: the priority only. Nothing
 *            is later than INT64_MAX: pods that enter there tie.)
 *   once     a pod is in exactly one place; every add ends in one done or one delete, or the pod is
 *            still pending.
 *   events   a change whose schedq_notify (host: event_begin) starts after a pod was popped reaches
 *            that pod, before or after it is parked. The memory for that does not grow with the
 *            number of changes.
 *   time     a due pod is active at the latest one tick, plus the time to move those due before it,
 *            after its expiry, while any thread calls schedq_tick or waits in a pop, or the timer
 *            thread runs. (With backoff_window: at the next whole second. With host decisions and
 *            pop_from_backoff 0: when the host applies it.) If the timer thread stops for ever,
 *            pops that wait serve time a tick later. If the pop stops for ever that watched time
 *            for all (LOCKFREE), another finds that out, once: after 2 s times the number of pops
 *            that wait, or as soon as a pod becomes the next that is due after the time that was
 *            watched. A pod that was parked for longer than max_parked_ns is due; with kube_minor
 *            such leftovers are tried in flushes, flush_ns apart: each between its limit and one
 *            flush_ns later.
 *   host     no global state but the default allocator's arenas, which all queues share, a
 *            pthread_key_t (from the first schedq_worker_get on), and a count of forks; no thread
 *            (unless schedq_run), no signal handler, no printing, no environment variable (that of
 *            a jemalloc is not heard), no abort for an operating error.
 *
 * THREADS. Each declaration names its class after "Threads:".
 *   [any]    any thread, at any time: it touches no queue.
 *   [worker] any thread, but one call at a time per worker. A worker is a handle, not a thread: the
 *            next call may come from another thread (which the caller synchronizes). Only
 *            schedq_worker_get ties one to a thread.
 *   [queue]  any thread, at any time.
 *   [setup]  before the first worker is registered; overlaps with no other call on this queue.
 *   [alone]  overlaps with no other call on this queue.
 *            worker  queue  setup  alone       . may overlap
 *   worker     .1      .      X      X        .1 may overlap if the workers differ
 *   queue      .       .      X      X         X the caller must exclude it
 * SCHEDQ_BUSY answers every call from a callback of the same queue, and a [setup] call while a
 * worker is registered (the timer thread is one). Two threads must not call with one worker at a
 * time: the second call mostly returns SCHEDQ_BUSY, and if it does not, the behavior is undefined.
 * schedq_done and schedq_done_many never return BUSY: they end the cycle all the same. The words of
 * BUSY (schedq_worker_error, or `why`) name the callback, or the thread that is inside the worker.
 * After schedq_close every call stays safe until the queue is destroyed.
 *
 * LIVES. What the classes allow beside that:
 *            signal handler  child after fork  destructor of thread-local data  thread that ends
 *   any        yes             yes               yes                              leaves nothing
 *   worker     no.1            INVALID.2         yes.3                            see 4
 *   queue      no.1            INVALID.2         yes                              leaves nothing
 *   setup      no.1            INVALID.2         yes                              leaves nothing
 *   alone      no.1            INVALID.2         yes                              leaves nothing
 *   1  undefined, except where it is found out: in a handler that interrupted a call of the same
 *      queue on its thread, calls return BUSY, done and done_many INVALID, with words.
 *   2  of a queue that was there before the fork; words say so, nothing changes, destroy does not
 *      free it (functions that return a size, a mask or a pointer: 0 or NULL). A child may make
 *      queues of its own.
 *   3  with its own worker (schedq_worker_get) too, up to the last but one round of destructors.
 *   4  its own worker is given back. One of schedq_worker_register stays registered, and any thread
 *      may go on with it; so may any worker with the tokens that the thread held.
 *
 * PROGRESS. Each declaration says after "Progress:" whether it is wait-free, lock-free or "locks",
 * what it costs if that is not O(1), and whether it allocates. "locks" depends on config.engine.
 * MUTEX: blocking; the call waits for the call that holds the queue's one mutex, and hints,
 * PreEnqueue, preCheck, affinity_matches, the clock, retain and release run with it held; visitors
 * and the writer of metrics do not. LOCKFREE: lock-free; a thread that stops for ever inside a call
 * stops no other, and strands no pod but those that it has popped (create and destroy are for one
 * thread). No call waits for anything else, except a pop that waits for a pod, schedq_stop (for the
 * timer thread), and the allocator, in calls that list SCHEDQ_NOMEM or say "allocates". Costs are
 * those of MUTEX; n is the number of pods in the queue. LOCKFREE adds, pops and ends in O(1) of n,
 * O(priorities that have pods + workers); what it moves it publishes in runs that are merged,
 * O(log n) copies of 16 bytes per pod.
 *
 * ENGINES. Both do all of these headers and answer alike. SCHEDQ_ENGINE_LOCKFREE is the default.
 * SCHEDQ_ENGINE_MUTEX is the whole queue behind one lock: plain, a reference, and the way to find
 * out whether a problem is the other's. In results, to_active and its like count what the call
 * itself moved: what it published and another thread switched for it is not counted.
 *
 * ORDERING. What a thread did before it passed a pod to the queue (add, fail, a change that moved
 * it) happens before what a thread does after it popped that pod. Statistics and words are exact
 * when the queue is quiet.
 *
 * ARGUMENTS. A NULL that is not allowed is SCHEDQ_INVALID (0 or NULL from functions that return a
 * size, a mask or a pointer), also where a list does not name it; schedq_classify_* do not check. A
 * token that this queue never gave is SCHEDQ_STALE, such a handle names no pod (LOCKFREE: a guess
 * may name a pod whose add has not returned). Reserved bytes and unknown flags must be 0, and
 * struct_size what the initializer sets, else SCHEDQ_INVALID. `why` receives words with every
 * status but OK (argument, value and legal range; with BUSY who is in the way), cut to why_size
 * bytes with a NUL; else an empty text. It may be NULL.
 *
 * CALLBACKS run on the caller's thread, or on the timer thread. They must not call the queue that
 * runs them, but for schedq_done, schedq_done_many and schedq_now: any other such call returns
 * SCHEDQ_BUSY (or 0 or NULL from functions that return a size, a mask or a pointer). They may run
 * twice for one change, concurrently on several threads, and for a decision that is discarded. The
 * objects that they get are held during the call. LOCKFREE: calls that only look at a pod (find,
 * get, snapshot, nominated_pods) finish first what a call that has not returned left half done of
 * it: if its gate has heard of a change since, they ask PreEnqueue.
 *
 * RESTRICTIONS. A thread must not be cancelled inside a call. Struct layouts are those of 64-bit
 * platforms. The default build contains a copy of jemalloc, beside the program's malloc, which it
 * leaves alone. That copy's thread-local words are more than glibc can add to a running program:
 * what is loaded by dlopen needs a build with SCHEDQ_ALLOCATOR=system. A module that links the
 * static library must not be dlclosed; the shared one stays by itself.
 */
#ifndef SCHEDQ_QUEUE_H
#define SCHEDQ_QUEUE_H

#include <schedq/config.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct schedq        schedq_t;
typedef struct schedq_worker schedq_worker_t;

/**
 * Names a pod from add to the end of its life. {0} names none; a value is not reused for another
 * pod.
 */
typedef struct schedq_pod {
    uint64_t bits; /**< opaque; equal for equal pods */
} schedq_pod_t;

/**
 * Names one cycle of a pod: from pop to done or fail. {0} names none.
 *
 * Not a handle: the types differ, so that mixing them does not compile.
 */
typedef struct schedq_token {
    uint64_t bits; /**< opaque; equal for equal cycles */
} schedq_token_t;

/** An interned {resource, actions, label}, see schedq_event_define. */
typedef uint16_t schedq_event_t;
/** 0 is the profile "default-scheduler", see schedq_profile_define. */
typedef uint8_t  schedq_profile_t;

/** Where a pod is. */
typedef enum schedq_place {
    SCHEDQ_NOWHERE = 0,
    SCHEDQ_ACTIVE,        /**< pop takes it next */
    /** waits for its backoff after a rejection; kube_minor 12, 26: or an error */
    SCHEDQ_BACKOFF,
    SCHEDQ_ERROR_BACKOFF, /**< waits for its backoff after an error; pop never takes it from here */
    SCHEDQ_PARKED,        /**< waits for an event that could help */
    SCHEDQ_GATED,         /**< a PreEnqueue plugin keeps it out */
    SCHEDQ_INFLIGHT       /**< popped, its cycle has not ended */
} schedq_place_t;

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
    int64_t  not_before_ns;  /**< reserved: 0 */
    uint64_t label;          /**< reserved: 0 */
} schedq_pod_spec_t;

#define SCHEDQ_POD_SPEC_INIT                                                               \
    {                                                                                      \
        sizeof(schedq_pod_spec_t), 0, 0, 0, 0, {0, 0, 0, 0, 0}, 0, 0, 0, 0, 0, {0}, 0, 0   \
    }

/**
 * What a pod went through. Times are nanoseconds on the queue's clock. Layout frozen (32 bytes).
 */
typedef struct schedq_history {
    int64_t  timestamp_ns;       /**< when it entered the queue, or failed last; at least 0 */
    int64_t  initial_attempt_ns; /**< when it first became active (kube_minor 12, 26: was added); 0
                                      = never yet; at least 0 */
    uint32_t attempts;           /**< pops */
    uint32_t rejections;         /**< failures with a rejector */
    uint32_t errors;             /**< failures without one since the last rejection */
    uint32_t reserved; /**< zero */
} schedq_history_t;

/** A popped pod: the caller's, until it uses the token. Layout frozen (128 bytes). */
typedef struct schedq_popped {
    schedq_token_t token;         /**< names this cycle: for done, fail, get */
    schedq_pod_t   pod;           /**< its handle */
    uint64_t       object;        /**< COUNTED: one reference is the caller's, which using the token
                                       gives back */
    const char    *name;          /**< its name and a NUL; the queue's memory, valid until
                                       done or fail ends the cycle (OK, GONE), also
                                       after a deletion */
    uint32_t       name_length;   /**< bytes, without the NUL */
    int32_t        priority;      /**< as at this pop */
    schedq_history_t history;     /**< this pop is counted in its attempts */
    uint64_t       unschedulable; /**< what had rejected it until now; the pod's own sets are empty
                                       from here on */
    uint64_t       pending;       /**< the same */
    /** [host] events after this sequence happened during the cycle */
    uint64_t       seen;
    uint64_t       cycle;         /**< 1, 2, ...; 0 unless config.count_cycles */
    uint64_t       nominated_node; /**< where it is nominated; 0 = nowhere */
    int64_t        backoff_expiry_ns; /**< end of its last backoff as compared; 0 = it had none */
    /** 1: nothing was active, and it was taken out of backoff, over or not */
    uint8_t        from_backoff;
    uint8_t        more;          /**< 1: something else is poppable (LOCKFREE: perhaps): pass the
                                       wake-up on */
    schedq_profile_t profile;     /**< whose plugins judge it */
    uint8_t        flags;         /**< SCHEDQ_POD_* */
    uint8_t        reserved[4]; /**< zero */
} schedq_popped_t;

/**
 * Names a status: "SCHEDQ_OK" and so on. Static text.
 *
 * @retval "SCHEDQ_UNKNOWN" for a value that is no status
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_status_name(schedq_status_t status);

/**
 * Explains a status in a sentence: "no pod has this name or handle" and so on. Static text.
 *
 * schedq_worker_error says more about one call.
 * @retval "unknown status" for a value that is no status
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_status_text(schedq_status_t status);

/**
 * Names a place: "active", "backoff", "error-backoff", "parked", "gated", "inflight",
 * "nowhere". Static text.
 *
 * @retval "nowhere" also for a value that is no place
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_place_name(schedq_place_t place);

/**
 * Returns the version of the library that is linked, as (major << 16) | (minor << 8) | patch.
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API uint32_t schedq_version(void);

/**
 * Makes a queue.
 *
 * It starts no thread. A queue takes up less than 64 KiB before its first worker is registered;
 * what events, nominations and names need is allocated then. With the default allocator a queue
 * with one worker has less than 64 KiB resident until its first pod comes.
 * @param config copied; nothing in it is referenced later, except the callbacks' contexts
 * @param queue  receives the queue, NULL if there is none
 * @param why    with INVALID: field, value and legal range; with NOMEM: which memory was not enough
 * @retval SCHEDQ_OK       *queue is the caller's until schedq_destroy
 * @retval SCHEDQ_INVALID  *queue is NULL, `why` says which field
 * @retval SCHEDQ_NOMEM    *queue is NULL; how many queues there are matters to memory only
 *
 * Threads: [queue]  Progress: wait-free but for the allocator; allocates.
 */
SCHEDQ_API schedq_status_t schedq_create(const schedq_config_t *config, schedq_t **queue, char *why,
                                         size_t why_size);

/**
 * Ends a queue that has no pods, and gives all its memory back.
 *
 * NULL is allowed.
 * @param why with BUSY and NOT_EMPTY: who is in the way, or how many pods are where
 * @retval SCHEDQ_OK         `queue`, its words and its workers are not valid any more
 * @retval SCHEDQ_NOT_EMPTY  there are pods ("3 active, 2 parked, 1 in flight"): end them, or call
 *                           schedq_destroy_with_pods; nothing changed
 * @retval SCHEDQ_BUSY       workers of schedq_worker_register are registered, a call is inside of a
 *                           thread's own one, the timer thread runs, or called from a callback;
 *                           nothing changed. Idle workers of schedq_worker_get end with the queue:
 *                           their threads must not use them any more
 *
 * Threads: [alone]  Progress: locks; O(n).
 */
SCHEDQ_API schedq_status_t schedq_destroy(schedq_t *queue, char *why, size_t why_size);

/**
 * Ends a queue and drops the pods that are there, in flight too: gives every stored object and all
 * its memory back.
 *
 * NULL is allowed.
 * @param why with BUSY: who is in the way
 * @retval SCHEDQ_OK    `queue`, its words and its workers are not valid any more
 * @retval SCHEDQ_BUSY  as schedq_destroy; nothing changed
 *
 * Threads: [alone]  Progress: locks; O(n).
 */
SCHEDQ_API schedq_status_t schedq_destroy_with_pods(schedq_t *queue, char *why, size_t why_size);

/**
 * Allocates for that many pods (names of at most 63 bytes), priorities and workers.
 *
 * While they suffice, and there are at most max_lots rejector sets, add, add_many, readd, update,
 * fail, delete, pops, moves, apply, activate and tick do not allocate. (LOCKFREE: a
 * pod whose priority, or rejector set, no pod had lately takes memory for it, which goes back when
 * it is not used; what a worker keeps for one of them grows when it has more pods there than ever;
 * updates and keys out of order take memory of their own; all of it is kept and used again. Batches
 * of more than some 80 pods take 200 bytes a pod for the call. SCHEDQ_NOMEM changes nothing.)
 * @param pods    0..max_pods
 * @param bands   0..max_bands
 * @param workers 0..max_workers
 * @retval SCHEDQ_OK       there is room for all of them
 * @retval SCHEDQ_NOMEM    what was reserved stays
 * @retval SCHEDQ_INVALID  above a cap, `why` says which; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; O(what is reserved); allocates.
 */
SCHEDQ_API schedq_status_t schedq_reserve(schedq_t *queue, uint32_t pods, uint32_t bands,
                                          uint32_t workers, char *why, size_t why_size);

/**
 * Gives memory that holds no pod back to the allocator.
 *
 * What schedq_reserve made for pods goes too. (LOCKFREE: not the index of names, nor what
 * registered workers keep. While it runs, other calls find less free memory and may allocate.)
 * @retval SCHEDQ_OK    also if there was nothing to give back
 * @retval SCHEDQ_BUSY  nothing changed
 *
 * Threads: [queue]  Progress: locks; O(capacity); allocates.
 */
SCHEDQ_API schedq_status_t schedq_trim(schedq_t *queue);

/* ---- workers --------------------------------------------------------------------------------- */

/**
 * Makes a worker: what every call that touches pods needs.
 *
 * It belongs to this queue. The first one ends setup.
 * @param worker receives it; NULL with FULL and NOMEM
 * @retval SCHEDQ_OK       *worker is the caller's until schedq_worker_unregister
 * @retval SCHEDQ_FULL     max_workers are registered, the timer thread's included; nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_INVALID  an argument is NULL; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; allocates.
 */
SCHEDQ_API schedq_status_t schedq_worker_register(schedq_t *queue, schedq_worker_t **worker,
                                                  char *why, size_t why_size);

/**
 * Returns the calling thread's own worker of this queue, which it makes at the first call.
 *
 * The same one at each later call, until the thread ends and gives it back: there is nothing to
 * unregister, and nothing to pass on. (schedq_worker_unregister by that thread ends it sooner.) A
 * thread has one of each queue. Workers from schedq_worker_register are beside them. The first one
 * ends setup. schedq_destroy takes those back that no call is inside of, whether their threads live
 * or not.
 *
 * While a thread ends, destructors of thread-local data may use its worker, and call this: it goes
 * back in the last but one of their rounds (PTHREAD_DESTRUCTOR_ITERATIONS). Calls after that are
 * INVALID. A thread that is killed, or whose first call comes from a late destructor, leaves its
 * worker registered, until destroy, or until no other is to be had.
 *
 * The memory for that is libc's, some 64 bytes for each thread and queue, and one pthread_key_t for
 * all queues of the process.
 * @param worker receives it; NULL with FULL, NOMEM, and an INVALID that is not about it
 * @retval SCHEDQ_OK       *worker is the thread's
 * @retval SCHEDQ_FULL     max_workers are registered; nothing changed
 * @retval SCHEDQ_NOMEM    no memory, or the process has no pthread_key_t to give; nothing changed
 * @retval SCHEDQ_INVALID  an argument is NULL, or the thread is ending; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: the first call of a thread locks and allocates; later ones are
 *          wait-free, O(queues of the thread).
 */
SCHEDQ_API schedq_status_t schedq_worker_get(schedq_t *queue, schedq_worker_t **worker, char *why,
                                             size_t why_size);

/**
 * Ends a worker.
 *
 * Pods stay where they are; tokens that it popped stay valid with any worker.
 * @retval SCHEDQ_OK       `worker` must not be used any more; a later registration may get the same
 *         address
 * @retval SCHEDQ_INVALID  it is another thread's own (schedq_worker_get); nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_worker_unregister(schedq_worker_t *worker);

/**
 * Makes a worker usable again that no thread will use (its thread died inside a call).
 *
 * Only the caller can know that. With SCHEDQ_ENGINE_MUTEX a user that died while it held the mutex
 * has stopped the queue: this cannot help then. LOCKFREE: the call that it died in has happened or
 * not; a pod that it popped without returning stays in flight. What it held for itself is lost
 * until destroy: at most 128 free records, names and descriptions, and with COUNTED objects some
 * references, which are never released. A user that died inside schedq_worker_unregister may have
 * ended the worker: adopt it before another worker is registered, which could get the same address.
 * @retval SCHEDQ_OK       the worker is the caller's
 * @retval SCHEDQ_INVALID  not a registered worker of this queue, or the timer thread's; nothing
 *                         changed
 * @retval SCHEDQ_BUSY     called from a callback; nothing changed
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_worker_adopt(schedq_t *queue, schedq_worker_t *abandoned);

/**
 * Returns the INVALID, FULL or BUSY of this worker's last call in words: argument, value, legal
 * range; of BUSY which callback it was called from, or which thread (its number, as gettid) was
 * inside the worker.
 *
 * Never NULL; an empty text if that call was not refused so. Valid until the worker's next call.
 * The words of BUSY are those of the calling thread's last call with this worker, until a call of
 * the thread with it goes through, or another worker refuses it: so they may be read while another
 * thread uses the worker.
 *
 * Threads: [worker]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_worker_error(const schedq_worker_t *worker);

/* ---- pods ------------------------------------------------------------------------------------ */

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
 * Takes the best pod, without waiting.
 *
 * It does not serve time: a due backoff stays until schedq_tick, a pop that waits, or the timer
 * thread.
 * @param out written with OK only
 * @retval SCHEDQ_OK       the pod is in flight, and the caller's until it uses out->token
 * @retval SCHEDQ_EMPTY    nothing is poppable
 * @retval SCHEDQ_CLOSED   the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What was done before the pod was added, failed or moved happens before the return.
 * Threads: [worker]  Progress: locks; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_try_pop(schedq_worker_t *worker, schedq_popped_t *out);

/**
 * Takes up to `capacity` of the best pods, without waiting.
 *
 * @param out      room for `capacity`; the first *count are written
 * @param capacity at least 1
 * @param count    receives how many
 * @retval SCHEDQ_OK       *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_EMPTY    nothing is poppable; *count is 0
 * @retval SCHEDQ_CLOSED   the queue is closed, and nothing is poppable; *count is 0
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(capacity log n).
 */
SCHEDQ_API schedq_status_t schedq_try_pop_many(schedq_worker_t *worker, schedq_popped_t *out,
                                               size_t capacity, size_t *count);

/**
 * Takes the best pod, waits for one if there is none.
 *
 * While it waits it serves time as schedq_tick does, if no other thread does: up to 256 pods, then
 * it looks for its pod again (a flush asks the gates of all old gated pods at once). The worker is
 * inside a call all the while. While nothing happens, one of all waiting pops looks in 2 s
 * (LOCKFREE), or none (MUTEX). With a virtual or external clock it sleeps untimed and looks again
 * at every schedq_tick.
 * @param out written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_pop(schedq_worker_t *worker, schedq_popped_t *out);

/**
 * Takes the best pod, waits for one for at most so long. As schedq_pop otherwise.
 *
 * @param wait_ns nanoseconds of the queue's clock, at least 0; 0: one look
 * @param out     written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the time is over, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   also a negative wait_ns; nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop.
 */
SCHEDQ_API schedq_status_t schedq_pop_for(schedq_worker_t *worker, int64_t wait_ns,
                                          schedq_popped_t *out);

/**
 * Takes the best pod, waits for one until a time. As schedq_pop otherwise.
 *
 * @param deadline_ns on the queue's clock (schedq_now); SCHEDQ_NO_DEADLINE: none; one that has
 *                    passed: one look
 * @param out         written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the deadline passed, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop.
 */
SCHEDQ_API schedq_status_t schedq_pop_until(schedq_worker_t *worker, int64_t deadline_ns,
                                            schedq_popped_t *out);

/**
 * Takes up to `capacity` of the best pods, waits for the first if there is none. As schedq_pop
 * otherwise.
 *
 * It does not wait for more than one: it takes what is there.
 * @param out      room for `capacity`; the first *count are written
 * @param capacity at least 1
 * @param count    receives how many; 0 with any status but OK, INVALID and BUSY
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(capacity log n).
 */
SCHEDQ_API schedq_status_t schedq_pop_many(schedq_worker_t *worker, schedq_popped_t *out,
                                           size_t capacity, size_t *count);

/**
 * Takes up to `capacity` of the best pods, waits for the first for at most so long. As
 * schedq_pop_many otherwise.
 *
 * @param wait_ns nanoseconds of the queue's clock, at least 0; 0: one look
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the time is over, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   also a negative wait_ns; nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop_many.
 */
SCHEDQ_API schedq_status_t schedq_pop_many_for(schedq_worker_t *worker, int64_t wait_ns,
                                               schedq_popped_t *out, size_t capacity,
                                               size_t *count);

/**
 * Takes up to `capacity` of the best pods, waits for the first until a time. As schedq_pop_many
 * otherwise.
 *
 * @param deadline_ns as for schedq_pop_until
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the deadline passed, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop_many.
 */
SCHEDQ_API schedq_status_t schedq_pop_many_until(schedq_worker_t *worker, int64_t deadline_ns,
                                                 schedq_popped_t *out, size_t capacity,
                                                 size_t *count);

/**
 * Ends a pod that was placed; its nomination ends.
 *
 * @retval SCHEDQ_OK     the pod left the queue; the token is used up
 * @retval SCHEDQ_GONE   it was deleted meanwhile; the token is used up
 * @retval SCHEDQ_STALE  the token was used before, or by a failure whose callback this is; nothing
 *                       changed
 *
 * Never BUSY: if another thread is inside the worker, if the worker is not registered any more, or
 * in a callback of the queue, the cycle ends without the worker. LOCKFREE: with some more
 * exchanges; a COUNTED object's last release comes with a later done, tick or unregistration.
 * MUTEX: in a callback the pod ends when the call that runs the callback gives up the lock.
 * Threads: [worker], and in callbacks  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_done(schedq_worker_t *worker, schedq_token_t token);

/**
 * Ends many pods, each as schedq_done does.
 *
 * @param statuses receives what schedq_done would have returned for element i; may be NULL
 * @retval SCHEDQ_OK       all of them are OK (count 0 too)
 * @retval other           the first element's status that is not OK; the others were still ended,
 *                         see `statuses`
 * @retval SCHEDQ_INVALID  tokens is NULL; nothing changed
 *
 * Never BUSY, as schedq_done.
 * Threads: [worker], and in callbacks  Progress: locks; O(count).
 */
SCHEDQ_API schedq_status_t schedq_done_many(schedq_worker_t *worker, const schedq_token_t *tokens,
                                            size_t count, uint8_t *statuses);

/**
 * Asks before binding whether the pod still exists; changes nothing.
 *
 * @retval SCHEDQ_OK     it does
 * @retval SCHEDQ_GONE   it was deleted meanwhile; the token still has to be used
 * @retval SCHEDQ_STALE  the token was used before
 * @retval SCHEDQ_BUSY   nothing was looked at
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_token_alive(schedq_worker_t *worker, schedq_token_t token);

/** Why a cycle failed. Begin with SCHEDQ_FAILURE_INIT; a default is 0. */
typedef struct schedq_failure {
    uint32_t struct_size; /**< set by SCHEDQ_FAILURE_INIT */
    uint8_t  place;       /**< [host] PARKED, BACKOFF, ACTIVE or GATED; [callbacks] 0 */
    uint8_t  gate;        /**< [host] GATED: 1 + number of the plugin; else 0 */
    uint8_t  reserved[2]; /**< zero */
    uint64_t unschedulable; /**< bits of the plugins that rejected it, in its profile; both 0: it
                                 failed with an error; bits that were never given out: INVALID */
    uint64_t pending;       /**< bits of the plugins that wait for something: a hint of theirs skips
                                 the backoff */
    uint64_t judged_up_to;  /**< [host] `place` judges every event in (seen, this]; one that was
                                 drawn but is not in the host's log yet counts as one that helps */
    const schedq_pod_spec_t *newest; /**< replaces what pop, or an update during the flight, left:
                                          object, priority, nomination, flags, order_key (profile,
                                          gate and times are ignored); NULL: nothing does */
} schedq_failure_t;

#define SCHEDQ_FAILURE_INIT                                          \
    {                                                                \
        sizeof(schedq_failure_t), SCHEDQ_NOWHERE, 0, {0, 0}, 0, 0, 0, NULL \
    }

/**
 * Ends a cycle without success: parks the pod, lets it back off, or retries it because of an event
 * during its flight.
 *
 * Never FULL: its space was taken at admission. The Timestamp becomes now.
 *
 * The call takes the token when it begins: a done of another thread with the same one gets STALE
 * from then on. [host] BACKOFF acts as ACTIVE if the configuration leaves no backoff, which begins
 * with this call; as ERROR_BACKOFF after an error. PARKED and GATED only if no stamp of a rejector
 * (GATED: of the gate; no rejectors: of any event) is newer than judged_up_to and the pod was not
 * activated; else RETRY. The host asks PreEnqueue before ACTIVE, and before BACKOFF too with
 * pop_from_backoff; a gate's bit joins unschedulable.
 * @param token in and out: RETRY leaves the pod in flight and the caller's, under the token that is
 *              stored here
 * @retval SCHEDQ_OK       `result` tells where; the token is used up
 * @retval SCHEDQ_RETRY    [host] judge up to result->sequence, call again; the token that was
 *                         passed is used up, *token is the next
 * @retval SCHEDQ_GONE     it was deleted meanwhile; the token is used up
 * @retval SCHEDQ_STALE    the token was used before, or by a call that has not returned; nothing
 *         changed
 * @retval SCHEDQ_NOMEM    the pod stays in flight under *token, the token that was passed is used
 *                         up; nothing else changed
 * @retval SCHEDQ_INVALID  the same
 * @retval SCHEDQ_BUSY     the same
 *
 * What was done before this call happens before the return of the pop that takes the pod next.
 * Threads: [worker]  Progress: locks; O(log n + events since its pop, if one concerns its
 *                    rejectors).
 */
SCHEDQ_API schedq_status_t schedq_fail(schedq_worker_t *worker, schedq_token_t *token,
                                                    const schedq_failure_t *failure,
                                                    schedq_result_t *result);

/**
 * Puts back a pod that failed after its done (binding): it comes with its history and is never
 * parked.
 *
 * [callbacks] It backs off (through PreEnqueue if pop takes from backoff), or is active, through
 * PreEnqueue, if no backoff is left.
 * @param name    as schedq_add, and length
 * @param spec    as in schedq_add; timestamp_ns (at least 0) and judged_up_to are ignored, gate
 *                must be 0
 * @param history counters and times before this failure; the failure is counted on top. Timestamp
 *                becomes now; with config.keep_order it is ordered by history->timestamp_ns
 * @param failure as in schedq_fail; newest must be NULL: `spec` is the newest; [host] place
 *                ACTIVE, BACKOFF or GATED, with gate and judged_up_to
 * @retval SCHEDQ_OK       it is active, backs off or is gated (result->place)
 * @retval SCHEDQ_EXISTS   this name is in the queue, in any place: `result` describes that pod;
 *                         nothing changed
 * @retval SCHEDQ_RETRY    [host] GATED, and the gate has a stamp newer than failure->judged_up_to:
 *                         ask PreEnqueue again; nothing changed
 * @retval SCHEDQ_CLOSED   nothing changed
 * @retval SCHEDQ_FULL     max_pods or max_bands; nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_readd(schedq_worker_t *worker, const char *name, size_t length,
                                        const schedq_pod_spec_t *spec,
                                        const schedq_history_t *history,
                                        const schedq_failure_t *failure, schedq_result_t *result);

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

/* ---- time, closing --------------------------------------------------------------------------- */

/**
 * Returns the time on the queue's clock, in nanoseconds.
 *
 * Callbacks may call it, except config.clock.now_ns.
 * @retval 0 queue is NULL
 *
 * Threads: [queue]  Progress: wait-free, but for config.clock.now_ns.
 */
SCHEDQ_API int64_t schedq_now(schedq_t *queue);

/**
 * Does what time demands: due backoff becomes active, pods parked for too long are tried again.
 *
 * With kube_minor, leftovers are left alone until flush_ns after the last flush that found one. A
 * flush is an event for the pods in flight (SCHEDQ_EVENT_WILDCARD), once, also if only gated pods
 * were old. [host] due backoff is left to schedq_candidates and schedq_apply if pop_from_backoff is
 * 0 (result->left; next_ns stays in the past until it is applied). So are leftovers, always; they
 * do not count in next_ns, the host looks for them when it wants to.
 * @param next_ns receives when it is wanted again, on the queue's clock, or SCHEDQ_NO_DEADLINE; may
 *         be NULL
 * @param result  counts; its `poppable` says whether anything is poppable at all
 * @retval SCHEDQ_OK     what was due was dealt with
 * @retval SCHEDQ_NOMEM  (never with MUTEX) the rest stays due
 * @retval SCHEDQ_BUSY   nothing changed
 *
 * Threads: [worker]  Progress: locks; O(pods that are due * log n).
 */
SCHEDQ_API schedq_status_t schedq_tick(schedq_worker_t *worker, int64_t *next_ns,
                                       schedq_result_t *result);

/**
 * Starts the timer thread, which does what schedq_tick does when it is due, 256 pods at a time.
 *
 * It sleeps while nothing is due. What it cannot serve now (memory is missing) it tries again after
 * pauses that grow to 2 s; what only the host can end it leaves alone.
 * It takes a worker slot until schedq_stop, so it ends setup. All signals are blocked in it.
 * @retval SCHEDQ_OK       it runs
 * @retval SCHEDQ_EXISTS   it runs already
 * @retval SCHEDQ_FULL     max_workers; nothing changed
 * @retval SCHEDQ_NOMEM    no memory, or no thread; nothing changed
 * @retval SCHEDQ_CLOSED   nothing changed
 * @retval SCHEDQ_INVALID  virtual or external clock; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; allocates.
 */
SCHEDQ_API schedq_status_t schedq_run(schedq_t *queue, char *why, size_t why_size);

/**
 * Ends and joins the timer thread.
 *
 * @retval SCHEDQ_OK    also if none runs, or another schedq_stop is ending it (then without
 *         waiting)
 * @retval SCHEDQ_BUSY  called from a callback; nothing changed
 *
 * Threads: [queue]  Progress: locks, and waits for the thread.
 */
SCHEDQ_API schedq_status_t schedq_stop(schedq_t *queue);

/**
 * Closes the queue: wakes every sleeper; pops go on until nothing is poppable, adds get CLOSED.
 *
 * Idempotent. Pods in flight stay in flight: their tokens work as before. What is not poppable
 * stays, and snapshot shows it. (LOCKFREE: an add that began before may still get in, also behind a
 * pop that said CLOSED.)
 * @retval SCHEDQ_OK    words.closed is 1
 * @retval SCHEDQ_BUSY  nothing changed
 *
 * Threads: [queue]  Progress: locks; waits for nothing else.
 */
SCHEDQ_API schedq_status_t schedq_close(schedq_t *queue);

/**
 * Raises words.now_ns to `now_ns`, never back.
 *
 * It wakes no sleeper: schedq_tick does.
 * @retval SCHEDQ_OK       also if words.now_ns was later already
 * @retval SCHEDQ_INVALID  the queue has no external_clock; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: lock-free.
 */
SCHEDQ_API schedq_status_t schedq_clock_advance(schedq_t *queue, int64_t now_ns);

#ifdef __cplusplus
}
#endif

#endif
