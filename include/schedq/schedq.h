/**
 * schedq: which pod (job, task) does a scheduler look at next.
 *
 * A queue keeps every pod that is not placed yet in exactly one of five places: active, backoff,
 * parked (unschedulable until something changes), gated, in flight. `pop` takes the best active
 * pod; a cycle ends with `done` or `add_unschedulable`; cluster events bring back the parked pods
 * that they could help. This is the job of kube-scheduler's SchedulingQueue, as a library without
 * global state.
 *
 * Use it when a scheduler must keep popping in priority order while many pods wait for events or
 * for time. Do not use it as a general work queue: every pod has a name, a history and a place, and
 * pays for them.
 *
 * GUARANTEES
 *   order    higher priority first (any int32), then older Timestamp, then the one that got its
 *            Timestamp first. A caller's order key replaces the Timestamp. A pop
 *            never returns a pod while a pod that ranks before it was active during the whole of
 *            that call. (config.fifo: without the priority; SCHEDQ_ORDER_RELAXED: the priority
 *            only. Nothing is later than INT64_MAX: pods that enter there tie.)
 *   once     a pod is in exactly one place; every add ends in one done or one delete, or the pod is
 *            still pending.
 *   events   an event whose move_all (host: event_begin) starts after a pod was popped reaches that
 *            pod, before or after it is parked. The memory for that does not grow with the number
 *            of events.
 *   time     a due pod is active at the latest one tick, plus the time to move those due before it,
 *            after its expiry, while any thread calls schedq_tick or a blocking schedq_pop, or the
 *            timer thread runs. (With backoff_window: at the next whole second. With host decisions
 *            and pop_from_backoff 0: when the host applies it.) If the timer thread stops for ever,
 *            blocking pops serve time a tick later. If the pop stops for ever that watched time for
 *            all (LOCKFREE), another finds that out, once: after 2 s times the number of pops that
 *            wait, or as soon as a pod becomes the next that is due after the time that was
 *            watched. A pod that was parked for longer than max_parked_ns is due; with kube_minor
 *            such leftovers are tried in flushes, flush_ns apart: each between its limit and one
 *            flush_ns later.
 *   host     no global state but the default allocator's arenas, which all queues share, a
 *            pthread_key_t (from the first schedq_worker_get on), and a count of forks; no thread
 *            (unless schedq_run), no signal handler, no printing, no environment variable (that of
 *            a jemalloc is not heard), no abort for an operating error.
 *
 * THREADS. Each declaration names its class after "Threads:".
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
 * After schedq_close every call stays safe until schedq_destroy.
 *
 * PROGRESS. Each declaration says after "Progress:" whether it is wait-free, lock-free or "locks",
 * what it costs if that is not O(1), and whether it allocates. "locks" depends on config.engine.
 * MUTEX: blocking; the call waits for the call that holds the queue's one mutex, and hints,
 * PreEnqueue, preCheck, affinity_matches, the clock, retain and release run with it held; visitors
 * and the writer of metrics do not. LOCKFREE: lock-free; a thread that stops for ever inside a call
 * stops no other, and strands no pod but those that it has popped (create and destroy are for
 * one thread). No call waits for anything else, except a blocking pop (for a pod), schedq_stop (for
 * the timer thread), and the allocator, in calls that list SCHEDQ_NOMEM or say "allocates". Costs
 * are those of MUTEX; n is the number of pods in the queue. LOCKFREE adds, pops and ends in O(1) of
 * n, O(priorities that have pods + workers); what it moves it publishes in runs that are merged,
 * O(log n) copies of 16 bytes per pod.
 *
 * ENGINES. Both do all of this header and answer alike. SCHEDQ_ENGINE_LOCKFREE is the default.
 * SCHEDQ_ENGINE_MUTEX is the whole queue behind one lock: plain, a reference, and the way to find
 * out whether a problem is the other's. LOCKFREE marks below what differs. In results, to_active
 * and its like count what the call itself moved: what it published and another thread switched for
 * it is not counted.
 *
 * ORDERING. What a thread did before it passed a pod to the queue (add, add_unschedulable, a move)
 * happens before what a thread does after it popped that pod. Statistics and words are exact when
 * the queue is quiet.
 *
 * ARGUMENTS. A NULL that is not allowed is SCHEDQ_INVALID (0 or NULL from functions that return a
 * size, a mask or a pointer), also where a list does not name it; schedq_classify_* do not check. A
 * token that this queue never gave is SCHEDQ_STALE, such a handle names no pod (LOCKFREE: a guess
 * may name a pod whose add has not returned). Reserved bytes and unknown flags must be 0, and
 * struct_size what the init function sets, else SCHEDQ_INVALID. `why` receives words with INVALID,
 * FULL (argument, value, legal range) and BUSY (who is in the way), cut to why_size bytes with a
 * NUL; else an empty text. It may be NULL.
 *
 * TERMS. "Waiting" is backoff, error backoff, parked or gated. [callbacks] and [host] mark what
 * holds only with SCHEDQ_DECIDE_CALLBACKS or only with SCHEDQ_DECIDE_HOST. "The number of a plugin"
 * counts from 0; its bit is 1 << number.
 *
 * CALLBACKS run on the caller's thread, or on the timer thread. They must not call the queue that
 * runs them, but for schedq_done and schedq_done_many: any other such call returns SCHEDQ_BUSY (or
 * 0 or NULL from functions that return a size, a mask or a pointer). They may run twice for one
 * event, concurrently on several threads, and for a decision that is discarded. The objects that
 * they get are held during the call. LOCKFREE: calls that only look at a pod (find, get, snapshot,
 * nominated_pods) finish first what a call that has not returned left half done of it: if its gate
 * has heard of an event since, they ask PreEnqueue.
 *
 * RESTRICTIONS. Not usable in a child after fork without exec. Not async-signal-safe. A thread must
 * not be cancelled inside a call. Struct layouts are those of 64-bit platforms. The default build
 * contains a copy of jemalloc, beside the program's malloc, which it leaves alone. That copy's
 * thread-local words are more than glibc can add to a running program: what is loaded by dlopen
 * needs a build with SCHEDQ_ALLOCATOR=system. A module that links the static library must not be
 * dlclosed; the shared one stays by itself.
 */
#ifndef SCHEDQ_SCHEDQ_H
#define SCHEDQ_SCHEDQ_H

#include <schedq/base.h>

#include <string.h>

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
    uint64_t bits;
} schedq_pod_t;

/**
 * Names one cycle of a pod: from pop to done or add_unschedulable. {0} names none.
 *
 * Not a handle: the types differ, so that mixing them does not compile.
 */
typedef struct schedq_token {
    uint64_t bits;
} schedq_token_t;

/* an interned {resource, actions, label}, see schedq_event_define */
typedef uint16_t schedq_event_t;
/* 0 is the profile "default-scheduler", see schedq_profile_define */
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
 * Names a status: "SCHEDQ_OK" and so on. Static text.
 *
 * @retval "SCHEDQ_UNKNOWN" for a value that is no status
 *
 * Threads: [queue]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_status_name(schedq_status_t status);

/**
 * Names a place: "active", "backoff", "error-backoff", "unschedulable", "gated", "inflight",
 * "nowhere". Static text.
 *
 * A parked pod is "unschedulable", kube's word for it.
 * @retval "nowhere" also for a value that is no place
 *
 * Threads: [queue]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_place_name(schedq_place_t place);

/**
 * Returns the version of the library that is linked, as (major << 16) | (minor << 8) | patch.
 *
 * Threads: [queue]  Progress: wait-free.
 */
SCHEDQ_API uint32_t schedq_version(void);

/* ---- objects and callbacks ------------------------------------------------------------------- */

/**
 * Lifetime of the 64-bit objects that the queue is given. The queue never looks into them; it hands
 * them to callbacks.
 *
 * STABLE    they outlive the queue (indices, cookies, arena objects).
 * COUNTED   config.retain is called once for every place where the queue stores one, config.release
 *           when it lets go (LOCKFREE: perhaps later, at the latest in schedq_destroy). pop gives
 *           the caller one more reference to `popped.object`, which done or add_unschedulable (GONE
 *           included) gives back. Objects in results are identities only: no reference comes with
 *           them.
 * BORROWED  a pod's object must live until the pod leaves the queue; an event's objects only during
 *           the call. Events are then never replayed: a pod that was in flight is retried instead.
 */
typedef enum schedq_objects {
    SCHEDQ_OBJECTS_STABLE = 0,
    SCHEDQ_OBJECTS_COUNTED,
    SCHEDQ_OBJECTS_BORROWED
} schedq_objects_t;

/** A hint's answer; SCHEDQ_HINT_ERROR counts as SCHEDQ_HINT_QUEUE, and so does any other value. */
typedef enum schedq_hint {
    SCHEDQ_HINT_SKIP = 0,
    SCHEDQ_HINT_QUEUE = 1,
    SCHEDQ_HINT_ERROR = 2
} schedq_hint_t;

/**
 * Is this event worth another attempt of `pod`? old_object and new_object are the event's; 0 =
 * absent.
 */
typedef schedq_hint_t (*schedq_hint_fn)(void *ctx, uint64_t pod, uint64_t old_object,
                                        uint64_t new_object);

/**
 * Nonzero = may enter active (and backoff, if pop takes from it); 0 = refuse: the pod is gated by
 * this plugin.
 */
typedef int (*schedq_pre_enqueue_fn)(void *ctx, uint64_t pod);

/** Nonzero = this waiting pod may be considered for the event. */
typedef int (*schedq_precheck_fn)(void *ctx, uint64_t pod);

/**
 * What a call did. Every parameter of this type may be NULL. Layout frozen (80 bytes).
 *
 * A call for one pod leaves it all zero when it returns BUSY, INVALID, NOMEM or FULL; a call for
 * many pods when nothing changed. A sum over many pods has counts and `poppable`; its other fields
 * mean nothing.
 */
typedef struct schedq_result {
    schedq_pod_t pod;           /**< the pod; with EXISTS the one that has the name */
    uint64_t object;            /**< its object; update, and add_unschedulable with `newest`: the
                                     replaced one */
    uint64_t ref;               /**< [host] names a waiting pod at this version for schedq_apply; 0
                                     = none. An active pod may have one too: schedq_apply answers it
                                     with GONE */
    uint64_t unschedulable;     /**< its rejectors: before the call (delete, update, apply), or as
                                     they are now (find, EXISTS, CHANGED, add_unschedulable, readd);
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
    uint8_t  reserved[2];
} schedq_result_t;

/** All zero: CLOCK_MONOTONIC. Layout frozen (32 bytes). */
typedef struct schedq_clock {
    /**
     * Nanoseconds, never before a reading that happened before on any thread. Runs with locks held:
     * must not call the queue.
     */
    int64_t (*now_ns)(void *ctx);
    void    *ctx;         /**< passed to now_ns */
    uint32_t is_virtual;  /**< default 0; 1, with now_ns only: blocking pop sleeps untimed and reads
                               the clock again whenever schedq_tick is called */
    uint32_t reserved[3];
} schedq_clock_t;

/* ---- configuration --------------------------------------------------------------------------- */

enum { SCHEDQ_ENGINE_LOCKFREE = 1, SCHEDQ_ENGINE_MUTEX = 2 };          /* config.engine */
enum { SCHEDQ_ORDER_STRICT = 0, SCHEDQ_ORDER_RELAXED = 1 };            /* config.order */
enum { SCHEDQ_DECIDE_CALLBACKS = 0, SCHEDQ_DECIDE_HOST = 1 };          /* config.decide */
enum { SCHEDQ_FENCES_ASYMMETRIC = 0, SCHEDQ_FENCES_REAL = 1 };         /* config.fences */
enum { SCHEDQ_REQUEUE_HINTS = 0, SCHEDQ_REQUEUE_MOVE_CYCLE = 1 };      /* config.requeue */
enum { SCHEDQ_COUNT_FAILURES = 0, SCHEDQ_COUNT_ATTEMPTS = 1 };         /* config.backoff_counts */

/**
 * How a queue behaves. Fill it with an init function, change what you want, pass it to
 * schedq_create. A default is that of SCHEDQ_PRESET_DEFAULT; where none is named, it is 0.
 */
typedef struct schedq_config {
    uint32_t struct_size; /**< set by the init functions */
    /*
     * Caps. Hitting one is SCHEDQ_FULL at admission; 0 = none: it grows to the width of its word.
     * (LOCKFREE: calls that overlap may get past it together, each with what it adds first, and
     * adds under way count, also those that will find their name taken.)
     */
    uint32_t max_pods;    /**< default 1,048,576; 0..268,435,455 */
    uint32_t max_bands;   /**< priorities that active pods have: a pod with another is not admitted
                               while there are so many (updates and what becomes active later may
                               exceed it; with fifo all are one); default 0; 0..1,048,575. LOCKFREE:
                               with 0 there may be 1,048,575 */
    uint32_t max_workers; /**< default 64; 1..64; the timer thread takes one */
    /** kinds of events, the predefined ones included; default 256; 0 or 24..65,535 */
    uint32_t max_events;
    uint32_t event_log;   /**< [callbacks] events kept for hint replay; an event that is not kept
                               counts as one that helps; default 4,096; 0 or a power of two up to
                               1,048,576 */
    uint32_t max_lots;    /**< rejector sets of waiting pods that are kept apart at a time; pods of
                               other sets share one lot, which an event reads if it concerns one of
                               the plugins that ever came there (MUTEX: how many schedq_reserve
                               makes room for, all are kept apart); default 1,024; 1..65,535 */
    /**
     * LOCKFREE: how a call says that it reads what others may free. ASYMMETRIC (default): by a
     * plain store, and who frees asks the kernel for a fence in all threads of the process
     * (membarrier(2), PRIVATE_EXPEDITED). That interrupts the processors that run them, for about 1
     * us: at most once for 1,024 blocks of memory, 32 KiB, or 16,384 calls of a worker that may
     * free, and three times a tick. REAL: by a fence in each call, some 10 ns; nobody is
     * interrupted (isolated processors). Where the kernel or a sandbox refuses ASYMMETRIC to
     * schedq_create, it is REAL; if it refuses later, nothing is freed until it does not.
     * stats.fences says which it is. MUTEX: ignored
     */
    uint8_t fences;
    uint8_t reserved[3];
    /* Time, nanoseconds. */
    int64_t initial_backoff_ns; /**< the n-th backoff is initial * 2^(n-1), at most the maximum;
                                     default 1 s; 1 ms..1 h */
    int64_t max_backoff_ns;     /**< default 10 s; 0 = no backoff, else 1 ms..24 h */
    int64_t max_parked_ns;      /**< a pod parked for longer is tried again: at once, with
                                     kube_minor at most flush_ns later; default 5 min; 1 ms..365
                                     days */
    int64_t tick_ns;            /**< how late the timer thread may be: a blocking pop that watches
                                     time (LOCKFREE: one does) and finds it later serves it itself;
                                     default 1 ms; 100 us..1 s */
    /* Kind. */
    /* SCHEDQ_ENGINE_LOCKFREE (default) or SCHEDQ_ENGINE_MUTEX: see ENGINES above */
    uint8_t engine;
    uint8_t order;          /**< STRICT (default); RELAXED allows other Timestamp orders inside a
                                 priority (MUTEX stays strict) */
    uint8_t objects;        /**< schedq_objects_t; default STABLE; [host] must be STABLE */
    uint8_t decide;         /**< CALLBACKS (default): hints, PreEnqueue, preCheck; HOST: candidates
                                 and apply, no callback */
    uint8_t external_clock; /**< 1: time is schedq_words.now_ns, which the host advances; `clock`
                                 must be zero; default 0 */
    /* Behaviour; the kube presets set these, callers may too. */
    uint8_t requeue;             /**< HINTS (default): events are matched with rejectors;
                                      MOVE_CYCLE: kube <= 1.27. [host] ignored */
    uint8_t pop_from_backoff;    /**< 1 (default): when nothing is active, pop takes from backoff
                                      (never error backoff); 0: it does not */
    uint8_t backoff_window;      /**< 1: expiries are cut to whole seconds and compared in them
                                      (kube >= 1.33); default 0 */
    uint8_t backoff_at_expiry;   /**< 1: at exactly its expiry a pod still is backing off (kube >=
                                      1.33); default 0 */
    uint8_t backoff_counts;      /**< the n above. FAILURES (default): errors if there are any, else
                                      rejections; ATTEMPTS: pops, where 0 counts as 1 and the first
                                      backoff may exceed the maximum (kube <= 1.31) */
    uint8_t errors_park;         /**< 1: a failure without rejectors is parked (kube <= 1.28);
                                      default 0: it backs off. [host] ignored */
    uint8_t keep_order;          /**< 1: a failed pod keeps its place inside its priority; default
                                      0: it goes behind */
    uint8_t gates_see_wildcards; /**< 1 (default): wildcards and the leftover limit (max_parked_ns)
                                      try gated pods again; 0: not (kube_minor 12, 26: they do) */
    uint8_t count_cycles;        /**< 1: pops are numbered (popped.cycle); default 0 */
    uint8_t fifo;                /**< 1: priorities do not order; default 0 */
    uint8_t kube_minor;          /**< 0 (default), 12, 26 or 34: details of that kube release:
                                      metric labels, event matching, what an event means to gates,
                                      when a spec's nomination counts (0: at add; 34: when add or
                                      update makes the pod active; 12, 26: also when it is
                                      activated, fails or is readded) */
    int64_t flush_ns;            /**< kube_minor: pods parked for longer than max_parked_ns are
                                      tried in flushes, of which there is at most one in this time;
                                      0 (default): 30 s; 1 ms..1 h. Without kube_minor each is tried
                                      by itself: 0 */
    int64_t start_ns;            /**< external_clock: its first reading; default 0; at least 0 */
    schedq_clock_t     clock;
    schedq_allocator_t allocator;
    void *object_ctx;            /**< passed to the three callbacks below */
    void (*retain)(void *ctx, uint64_t object);  /**< COUNTED only, not NULL then; must not fail */
    void (*release)(void *ctx, uint64_t object); /**< COUNTED only, not NULL then */
    /**
     * Does a required affinity term of `pod` match `assigned`? Asked by schedq_assigned_pod_* for
     * pods with SCHEDQ_POD_AFFINITY. NULL: no.
     */
    int (*affinity_matches)(void *ctx, uint64_t pod, uint64_t assigned);
} schedq_config_t;

/**
 * Fills `config` with a preset.
 *
 * @param struct_size sizeof *config; the functions below pass it
 * @retval SCHEDQ_OK       every field is set
 * @retval SCHEDQ_INVALID  struct_size or preset is unknown; *config is as it was
 *
 * Threads: [queue]  Progress: wait-free.
 */
SCHEDQ_API schedq_status_t schedq_config_preset(schedq_config_t *config, size_t struct_size,
                                                schedq_preset_t preset);

/**
 * Sets schedq's own behaviour: exact expiries, hints, pop from backoff, errors back off.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_config_init(schedq_config_t *config)
{
    (void)schedq_config_preset(config, sizeof *config, SCHEDQ_PRESET_DEFAULT);
}

/**
 * Sets the behaviour of kube-scheduler 1.34: hints, in-flight events, one-second backoff windows.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_config_kube_1_34(schedq_config_t *config)
{
    (void)schedq_config_preset(config, sizeof *config, SCHEDQ_PRESET_KUBE_1_34);
}

/**
 * Sets the behaviour of kube-scheduler 1.26: move cycles, errors park.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_config_kube_1_26(schedq_config_t *config)
{
    (void)schedq_config_preset(config, sizeof *config, SCHEDQ_PRESET_KUBE_1_26);
}

/**
 * Sets the behaviour of kube-scheduler 1.12: two containers, no backoff, 60 s leftover limit.
 *
 * Set `fifo` to ignore priorities.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_config_kube_1_12(schedq_config_t *config)
{
    (void)schedq_config_preset(config, sizeof *config, SCHEDQ_PRESET_KUBE_1_12);
}

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
 * Ends a queue, gives every stored object (those of pods in flight too) and all its memory back.
 *
 * NULL is allowed. Pods that are still there, in flight too, end with it.
 * @retval SCHEDQ_OK    `queue`, its words and its workers are not valid any more
 * @retval SCHEDQ_BUSY  workers of schedq_worker_register are registered, a call is inside of a
 *                      thread's own one, the timer thread runs, or called from a callback; nothing
 *                      changed. Idle workers of schedq_worker_get end with the queue: their threads
 *                      must not use them any more
 *
 * Threads: [alone]  Progress: locks; O(n).
 */
SCHEDQ_API schedq_status_t schedq_destroy(schedq_t *queue);

/**
 * Allocates for that many pods (names of at most 63 bytes), priorities and workers.
 *
 * While they suffice, and there are at most max_lots rejector sets, add, add_many, readd, update,
 * add_unschedulable, delete, pops, moves, apply, activate and tick do not allocate. (LOCKFREE: a
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

/* ---- events and plugins ---------------------------------------------------------------------- */

/*
 * What happened to an object. An event carries one of these, or SCHEDQ_ACTION_UPDATE for a change
 * that has no bit.
 */
enum {
    SCHEDQ_ACTION_ADD = 0x001,
    SCHEDQ_ACTION_DELETE = 0x002,
    SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE = 0x004,
    SCHEDQ_ACTION_UPDATE_NODE_LABEL = 0x008,
    SCHEDQ_ACTION_UPDATE_NODE_TAINT = 0x010, /**< taints, or unschedulable became false */
    SCHEDQ_ACTION_UPDATE_NODE_CONDITION = 0x020,
    SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION = 0x040,
    SCHEDQ_ACTION_UPDATE_POD_LABEL = 0x080,
    SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN = 0x100,
    SCHEDQ_ACTION_UPDATE_POD_TOLERATION = 0x200,
    SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED = 0x400,
    SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM = 0x800,
    SCHEDQ_ACTION_UPDATE = 0xffc,
    SCHEDQ_ACTION_ALL = 0xfff
};

/**
 * Events that every queue knows. The wildcard is {"*", SCHEDQ_ACTION_ALL}; the same with another
 * label is a wildcard too.
 */
enum {
    SCHEDQ_EVENT_WILDCARD = 0,
    SCHEDQ_EVENT_UNSCHEDULED_POD_ADD = 1, /* resource UnschedulablePod: a pod without a node */
    SCHEDQ_EVENT_UNSCHEDULED_POD_DELETE,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM,
    SCHEDQ_EVENT_ASSIGNED_POD_ADD, /* resource AssignedPod: a pod that has a node */
    SCHEDQ_EVENT_ASSIGNED_POD_DELETE,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_LABEL,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GATES_ELIMINATED,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_TOLERATION,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GENERATED_CLAIM,
    SCHEDQ_EVENT_NODE_ADD,
    SCHEDQ_EVENT_NODE_DELETE,
    SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE,
    SCHEDQ_EVENT_NODE_UPDATE_LABEL,
    SCHEDQ_EVENT_NODE_UPDATE_TAINT,
    SCHEDQ_EVENT_NODE_UPDATE_CONDITION,
    SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION,
    SCHEDQ_EVENT_FIRST_FREE /* schedq_event_define gives this and what follows */
};

/**
 * Interns an event, so that a move hashes no string.
 *
 * Also after setup, for resources that show up late.
 * @param resource 1..127 bytes: "Node", "PersistentVolume", "plural.version.group", ...; copied
 * @param actions  one or more SCHEDQ_ACTION bits
 * @param label    metric label, 0..127 bytes; NULL or "" = resource and action as kube writes them
 *                 ("NodeAdd"); copied
 * @param event    receives the id
 * @retval SCHEDQ_OK       also when the same {resource, actions, label} was known: the same id
 * @retval SCHEDQ_FULL     max_events; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    *event is not set; the same call may be made again
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; O(events + plugins); allocates.
 */
SCHEDQ_API schedq_status_t schedq_event_define(schedq_t *queue, const char *resource,
                                               uint32_t actions, const char *label,
                                               schedq_event_t *event, char *why, size_t why_size);

/**
 * Names another profile: a set of plugins with its own numbering.
 *
 * Profile 0, "default-scheduler", always exists.
 * @param name    1..127 bytes, copied
 * @param profile receives its number
 * @retval SCHEDQ_OK       also when the name was known: the same number
 * @retval SCHEDQ_FULL     there are 255 profiles; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_BUSY     a worker is registered, or called from a callback; nothing changed
 *
 * Threads: [setup]  Progress: locks; O(profiles); allocates.
 */
SCHEDQ_API schedq_status_t schedq_profile_define(schedq_t *queue, const char *name,
                                                 schedq_profile_t *profile, char *why,
                                                 size_t why_size);

/**
 * An event a plugin wants to hear of when it rejected (or gates) a pod. Layout frozen (24 bytes).
 */
typedef struct schedq_interest {
    const char *resource; /**< as in schedq_event_define, or "*"; "Pod" hears of AssignedPod and
                               UnschedulablePod too */
    uint32_t    actions;  /**< one or more SCHEDQ_ACTION bits */
    uint32_t    reserved;
    /* NULL: every such event is worth another attempt; [host] must be NULL */
    schedq_hint_fn hint;
} schedq_interest_t;

enum {
    SCHEDQ_PLUGIN_SPREAD = 1 /**< schedq_assigned_pod_* reach pods of the assigned pod's namespace
                                  that it rejected */
};

/** A plugin as its caller describes it. Fill it with schedq_plugin_init first. */
typedef struct schedq_plugin {
    uint32_t struct_size; /**< set by schedq_plugin_init */
    schedq_profile_t profile; /**< default 0 */
    uint8_t flags;        /**< SCHEDQ_PLUGIN_SPREAD or 0 (default) */
    uint8_t reserved[2];
    const char *name;     /**< 1..127 bytes; copied */
    const schedq_interest_t *interests; /**< copied; NULL if interest_count is 0 */
    size_t interest_count; /**< 0..256; 0 (default): only wildcards and the leftover limit bring its
                                pods back */
    schedq_pre_enqueue_fn pre_enqueue; /**< NULL (default): no gate; [host] must be NULL */
    void *ctx;            /**< passed to the hints and to pre_enqueue */
} schedq_plugin_t;

/**
 * Zeroes `plugin` and sets struct_size.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_plugin_init(schedq_plugin_t *plugin)
{
    memset(plugin, 0, sizeof *plugin);
    plugin->struct_size = sizeof *plugin;
}

/**
 * Registers a plugin.
 *
 * A profile has room for 63, late names included. The order of registration is the order in which
 * PreEnqueue asks.
 * @param bit receives its bit in this profile's rejector sets
 * @retval SCHEDQ_OK       *bit is its bit
 * @retval SCHEDQ_EXISTS   the name is taken, *bit is its bit; nothing changed
 * @retval SCHEDQ_FULL     it would be the 64th; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_BUSY     a worker is registered, or called from a callback; nothing changed
 *
 * Threads: [setup]  Progress: locks; O(events * interests); allocates.
 */
SCHEDQ_API schedq_status_t schedq_plugin_register(schedq_t *queue, const schedq_plugin_t *plugin,
                                                  uint64_t *bit, char *why, size_t why_size);

/**
 * Registers a plugin that is only a name: what a host that matches events itself needs.
 *
 * As schedq_plugin_register otherwise.
 * @param name 1..127 bytes, need not end in NUL; copied
 * @param bit  receives its bit in this profile's rejector sets
 * @retval SCHEDQ_OK       *bit is its bit
 * @retval SCHEDQ_EXISTS   the name is taken, *bit is its bit; nothing changed
 * @retval SCHEDQ_FULL     it would be the 64th; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_BUSY     a worker is registered, or called from a callback; nothing changed
 *
 * Threads: [setup]  Progress: locks; O(events); allocates.
 */
SCHEDQ_API schedq_status_t schedq_plugin_name(schedq_t *queue, schedq_profile_t profile,
                                              const char *name, uint32_t name_length, uint64_t *bit,
                                              char *why, size_t why_size);

/**
 * Returns the plugins of a profile whose interests an event matches, as bits.
 *
 * What schedq_move_all uses; a host whose plugins were registered with interests gets its masks
 * here. Late names and SCHEDQ_REJECTOR_OTHERS are among them; for a wildcard all 64 bits are set.
 * @retval 0 unknown profile or event, or called from a callback
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API uint64_t schedq_event_plugins(schedq_t *queue, schedq_profile_t profile,
                                         schedq_event_t event);

/** Shared by names without a bit of their own; every event reaches it. */
#define SCHEDQ_REJECTOR_OTHERS (UINT64_C(1) << 63)

/**
 * Returns the bit of a rejector whose name shows up late.
 *
 * The same name gives the same bit, registered plugins their own. Every event reaches a late name,
 * also with host decisions: the library adds such bits to the host's masks by itself.
 * @param name 1..127 bytes, need not end in NUL; copied
 * @retval SCHEDQ_REJECTOR_OTHERS the 63 numbers are used up, or there is no memory (never with
 *         MUTEX)
 * @retval 0 a bad argument (unknown profile, bad name), or called from a callback; nothing changed
 *
 * Threads: [queue]  Progress: locks; O(plugins); allocates (MUTEX: not).
 */
SCHEDQ_API uint64_t schedq_rejector_bit(schedq_t *queue, schedq_profile_t profile, const char *name,
                                        uint32_t name_length);

/** An amount of one resource. Layout frozen (16 bytes). */
typedef struct schedq_quantity {
    uint64_t resource; /**< the caller's number for it, unique in its array */
    int64_t  milli;    /**< the amount in thousandths; above INT64_MIN */
} schedq_quantity_t;

/**
 * What schedq_classify_pod_update compares. Equal numbers must mean equal contents (a hash or a
 * version). Layout frozen (32 bytes).
 */
typedef struct schedq_pod_facts {
    uint64_t labels, claims; /**< the label map; the resource claim statuses */
    uint32_t gates;          /**< how many scheduling gates are left */
    uint32_t tolerations;    /**< how many tolerations */
    uint8_t  assigned;       /**< 1: the pod has a node */
    uint8_t  reserved[7];
} schedq_pod_facts_t;

/**
 * Says what an update of a pod means to waiting pods, in kube's order: label, scale-down, gates,
 * toleration, claim.
 *
 * Scale-down: some resource of the old requests is smaller in, or missing from, the new ones.
 * Arguments are not checked.
 * @param old_facts    not NULL, as new_facts
 * @param old_requests NULL if old_count is 0, as new_requests
 * @param events       receives the ids; room for 5
 * @retval 1..5 how many; a change that none of the kinds names is one generic Update
 *
 * Threads: [queue]  Progress: wait-free; O(old_count * new_count).
 */
SCHEDQ_API size_t schedq_classify_pod_update(const schedq_pod_facts_t *old_facts,
                                             const schedq_quantity_t *old_requests,
                                             size_t old_count, const schedq_pod_facts_t *new_facts,
                                             const schedq_quantity_t *new_requests,
                                             size_t new_count, schedq_event_t events[5]);

/** What schedq_classify_node_update compares, as schedq_pod_facts. Layout frozen (48 bytes). */
typedef struct schedq_node_facts {
    /** Conditions: type and status, not heartbeat times. */
    uint64_t allocatable, labels, taints, conditions, annotations;
    uint8_t  unschedulable; /**< 1: spec.unschedulable is true */
    uint8_t  reserved[7];
} schedq_node_facts_t;

/**
 * Says what an update of a node means, in kube's order: taint (unschedulable became false),
 * allocatable, label, taint, condition, annotation.
 *
 * Each is one schedq_move_all; kube 1.26 uses only the first. Arguments are not checked.
 * @param old_facts not NULL, as new_facts
 * @param events    receives the ids, none twice; room for 5
 * @retval 0..5 how many; 0: nothing that matters (a heartbeat)
 *
 * Threads: [queue]  Progress: wait-free.
 */
SCHEDQ_API size_t schedq_classify_node_update(const schedq_node_facts_t *old_facts,
                                              const schedq_node_facts_t *new_facts,
                                              schedq_event_t events[5]);

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

enum {
    SCHEDQ_POD_AFFINITY = 1,  /**< has a required affinity term: schedq_assigned_pod_* asks
                                   config.affinity_matches */
    SCHEDQ_POD_ORDER_KEY = 2, /**< order_key replaces the Timestamp as order inside the priority;
                                   smaller first */
    SCHEDQ_POD_EXISTING = 4   /**< schedq_update only, else INVALID: does not add; describes no pod,
                                   so that nothing shows it again */
};

/**
 * A pod as its caller describes it. Zero it first. Layout frozen (64 bytes); extensions get a new
 * call.
 */
typedef struct schedq_pod_spec {
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
    /* "namespace/name" begins here in the text `names` beside the spec; bytes */
    uint32_t name_offset;
    uint32_t name_length;    /**< 3..317 bytes: one '/', something on both sides, no NUL; copied */
    int32_t  priority;       /**< higher first; any value */
    schedq_profile_t profile; /**< a defined one; a pod keeps its profile */
    uint8_t  flags;          /**< SCHEDQ_POD_* */
    uint8_t  gate;           /**< [host] 1 + number of the plugin whose PreEnqueue refused; 0 =
                                  none; [callbacks] 0 */
    uint8_t  reserved;
    uint64_t judged_up_to;   /**< [host] words.event_sequence as read before PreEnqueue ran; used if
                                  gate != 0 */
    schedq_pod_t only;       /**< with SCHEDQ_POD_EXISTING: the pod that is meant, from add to the
                                  end of its life; another one under the name counts as unknown;
                                  bits 0: any. Without the flag, and in other calls: 0 */
} schedq_pod_spec_t;

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
    uint32_t reserved;
} schedq_history_t;

/** A popped pod: the caller's, until it uses the token. Layout frozen (128 bytes). */
typedef struct schedq_popped {
    schedq_token_t token;
    schedq_pod_t   pod;
    uint64_t       object;        /**< COUNTED: one reference is the caller's, which using the token
                                       gives back */
    const char    *name;          /**< "namespace/name" and a NUL; the queue's memory, valid until
                                       done or add_unschedulable ends the cycle (OK, GONE), also
                                       after a deletion */
    uint32_t       name_length;   /**< bytes, without the NUL */
    int32_t        priority;
    schedq_history_t history;     /**< this pop is counted in its attempts */
    uint64_t       unschedulable; /**< what had rejected it until now; the pod's own sets are empty
                                       from here on */
    uint64_t       pending;       /**< the same */
    /* [host] events after this sequence happened during the cycle */
    uint64_t       seen;
    uint64_t       cycle;         /**< 1, 2, ...; 0 unless config.count_cycles */
    uint64_t       nominated_node; /**< where it is nominated; 0 = nowhere */
    int64_t        backoff_expiry_ns; /**< end of its last backoff as compared; 0 = it had none */
    /** 1: nothing was active, and it was taken out of backoff, over or not */
    uint8_t        from_backoff;
    uint8_t        more;          /**< 1: something else is poppable (LOCKFREE: perhaps): pass the
                                       wake-up on */
    schedq_profile_t profile;
    uint8_t        flags;         /**< SCHEDQ_POD_* */
    uint8_t        reserved[4];
} schedq_popped_t;

/**
 * Puts a new pod in the queue, through PreEnqueue ([host]: spec->gate is its verdict).
 *
 * A deletion of a pod in flight frees the name at once. A nomination in the spec counts from here
 * on (kube presets: see config.kube_minor).
 * @param names text that holds the name at spec->name_offset; not referenced after the call
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
SCHEDQ_API schedq_status_t schedq_add(schedq_worker_t *worker, const char *names,
                                      const schedq_pod_spec_t *spec, schedq_result_t *result);

/**
 * Adds many pods.
 *
 * A pop never takes one of them while another of them that ranks before it is still to come
 * (LOCKFREE with max_bands: they come in the order given).
 * @param pods     receives the handle of element i, {0} if it was not added; may be NULL
 * @param statuses receives what schedq_add would have returned for element i. NULL: one INVALID
 *                 element, and nothing is added
 * @param result   counts over all
 * @retval SCHEDQ_OK       all of them are OK (count 0 too)
 * @retval other           the first element's status that is not OK; the others were still added,
 *                         see `statuses`
 * @retval SCHEDQ_INVALID  names or specs is NULL, or statuses is NULL and an element is INVALID;
 *                         nothing changed, no array is written
 * @retval SCHEDQ_BUSY     nothing changed, no array is written
 *
 * Threads: [worker]  Progress: locks; O(count log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_add_many(schedq_worker_t *worker, const char *names,
                                           const schedq_pod_spec_t *specs, size_t count,
                                           schedq_pod_t *pods, uint8_t *statuses,
                                           schedq_result_t *result);

/**
 * Takes the best pod, without waiting.
 *
 * It does not serve time: a due backoff stays until schedq_tick, a blocking schedq_pop, or the
 * timer thread.
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
 * Takes the best pod, waits for one if there is none.
 *
 * While it waits it serves time as schedq_tick does, if no other thread does: up to 256 pods, then
 * it looks for its pod again (a flush asks the gates of all old gated pods at once). The worker is
 * inside a call all the while. While nothing happens, one of all waiting pops looks in 2 s
 * (LOCKFREE), or none (MUTEX).
 * @param deadline_ns on the queue's clock; SCHEDQ_NO_DEADLINE: none; one that has passed: one look.
 *                    With a virtual or external clock the call sleeps untimed and looks again at
 *                    every schedq_tick
 * @param out         written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the deadline passed, and nothing is poppable
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_pop(schedq_worker_t *worker, int64_t deadline_ns,
                                      schedq_popped_t *out);

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
SCHEDQ_API schedq_status_t schedq_pop_many(schedq_worker_t *worker, schedq_popped_t *out,
                                           size_t capacity, size_t *count);

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

/** Why a cycle failed. Fill it with schedq_failure_init first; a default is 0. */
typedef struct schedq_failure {
    uint32_t struct_size; /**< set by schedq_failure_init */
    uint8_t  place;       /**< [host] PARKED, BACKOFF, ACTIVE or GATED; [callbacks] 0 */
    uint8_t  gate;        /**< [host] GATED: 1 + number of the plugin; else 0 */
    /** 1: `newest` replaces what pop, or an update during the flight, left */
    uint8_t  has_newest;
    uint8_t  reserved;
    uint64_t unschedulable; /**< bits of the plugins that rejected it, in its profile; both 0: it
                                 failed with an error; bits that were never given out: INVALID */
    uint64_t pending;       /**< bits of the plugins that wait for something: a hint of theirs skips
                                 the backoff */
    uint64_t judged_up_to;  /**< [host] `place` judges every event in (seen, this]; one that was
                                 drawn but is not in the host's log yet counts as one that helps */
    schedq_pod_spec_t newest; /**< object, priority, nomination, flags, order_key; its name,
                                   profile, gate and times are ignored */
} schedq_failure_t;

/**
 * Zeroes `failure` and sets struct_size.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_failure_init(schedq_failure_t *failure)
{
    memset(failure, 0, sizeof *failure);
    failure->struct_size = sizeof *failure;
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
SCHEDQ_API schedq_status_t schedq_add_unschedulable(schedq_worker_t *worker, schedq_token_t *token,
                                                    const schedq_failure_t *failure,
                                                    schedq_result_t *result);

/**
 * Puts back a pod that failed after its done (binding): it comes with its history and is never
 * parked.
 *
 * [callbacks] It backs off (through PreEnqueue if pop takes from backoff), or is active, through
 * PreEnqueue, if no backoff is left.
 * @param spec    as in add; timestamp_ns (at least 0) and judged_up_to are ignored, gate must be 0
 * @param history counters and times before this failure; the failure is counted on top. Timestamp
 *                becomes now; with config.keep_order it is ordered by history->timestamp_ns
 * @param failure as in add_unschedulable; has_newest must be 0: `spec` is the newest; [host] place
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
SCHEDQ_API schedq_status_t schedq_readd(schedq_worker_t *worker, const char *names,
                                        const schedq_pod_spec_t *spec,
                                        const schedq_history_t *history,
                                        const schedq_failure_t *failure, schedq_result_t *result);

/**
 * Looks a name up: place, handle, object, sets, [host] ref; changes nothing (LOCKFREE: see
 * CALLBACKS above; what it finishes may allocate).
 *
 * @param name        "namespace/name", need not end in NUL; not referenced after the call
 * @param name_length 3..317 bytes
 * @retval SCHEDQ_OK         `result` describes the pod
 * @retval SCHEDQ_NOT_FOUND  no pod has that name; one in flight that was deleted has none
 * @retval SCHEDQ_INVALID    bad name
 * @retval SCHEDQ_BUSY       nothing was looked at
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_find(schedq_worker_t *worker, const char *name,
                                       uint32_t name_length, schedq_result_t *result);

/**
 * Replaces the description of a pod; adds it if its name is unknown and SCHEDQ_POD_EXISTING is not
 * set.
 *
 * Active or backing off: replaced in place, a new priority takes effect at once. Parked or gated:
 * `events` decide whether it is tried again. In flight: its holder keeps what it popped; the events
 * count when it fails (hints only); a nomination in the spec waits for the `newest` of a failure,
 * or for the next update. Times and counters stay.
 *
 * [host] nothing is decided: a waiting pod's new ref comes back: judge the events, then apply. In
 * flight (result->place): schedq_event_begin; log the events under it; schedq_event_stamp; then
 * schedq_find: a pod that was parked meanwhile is judged as a waiting one.
 * @param spec       gate, judged_up_to and timestamp_ns count only when it acts as add
 * @param old_object what hints get as the old object; 0 = absent; the new one is spec->object
 * @param events     what the update was classified as; 0 of them: nothing that could help
 * @retval SCHEDQ_OK         result->added tells whether it acted as add, result->object what was
 *         replaced
 * @retval SCHEDQ_NOT_FOUND  only with SCHEDQ_POD_EXISTING: the name is unknown, closed or not, or
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
SCHEDQ_API schedq_status_t schedq_update(schedq_worker_t *worker, const char *names,
                                         const schedq_pod_spec_t *spec, uint64_t old_object,
                                         const schedq_event_t *events, size_t event_count,
                                         schedq_result_t *result);

/**
 * Removes a pod, by handle or, if pod.bits is 0, by name.
 *
 * In flight: the name is free at once, its holder gets GONE.
 * @param pod         {0}: by name; else the name is ignored
 * @param name        "namespace/name", need not end in NUL
 * @param name_length 3..317 bytes
 * @retval SCHEDQ_OK         `result` describes the pod as it was; result->place is INFLIGHT if a
 *                           holder has it, else NOWHERE
 * @retval SCHEDQ_NOT_FOUND  no such pod; nothing changed
 * @retval SCHEDQ_INVALID    bad name; nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_delete(schedq_worker_t *worker, schedq_pod_t pod,
                                         const char *name, uint32_t name_length,
                                         schedq_result_t *result);

/**
 * Makes pods active that are parked, gated or backing off, if PreEnqueue lets them.
 *
 * Those in flight are retried when they fail (kube_minor 12, 26: not). Unknown handles are ignored.
 *
 * [host] Only marks those in flight: their add_unschedulable gives RETRY once. Order:
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

/* ---- cluster events, decided by callbacks ---------------------------------------------------- */

/** A cluster event. Fill it with schedq_move_init first; a default is 0. */
typedef struct schedq_move {
    uint32_t struct_size; /**< set by schedq_move_init */
    schedq_event_t event; /**< a defined one */
    uint8_t reserved[2];
    uint64_t old_object, new_object; /**< what hints get; 0 = absent */
    schedq_pod_t target; /**< with a wildcard: only this pod reacts; {0} = none. A wildcard with a
                              new_object and no target reaches no pod (kube_minor 12, 26: neither
                              narrows a wildcard) */
    schedq_precheck_fn precheck; /**< NULL = every pod; schedq_assigned_pod_* ignore it */
    void *precheck_ctx;  /**< passed to precheck */
} schedq_move_t;

/**
 * Zeroes `move` and sets struct_size.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_move_init(schedq_move_t *move)
{
    memset(move, 0, sizeof *move);
    move->struct_size = sizeof *move;
}

/**
 * Tells the queue that something changed in the cluster.
 *
 * Parked and gated pods that it could help are tried again; pods in flight take it into account
 * when they fail. The change must be visible to what schedulers look at before this is called.
 * @retval SCHEDQ_OK       `result` counts what moved
 * @retval SCHEDQ_INVALID  unknown event, target with another event than a wildcard,
 *                         SCHEDQ_DECIDE_HOST; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) the event counts for every pod; those not moved yet
 *                         are moved by the next tick
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What was done before this call happens before the return of a pop that takes a pod that it moved.
 * Threads: [worker]  Progress: locks; O(distinct rejector sets + pods that match * log n).
 */
SCHEDQ_API schedq_status_t schedq_move_all(schedq_worker_t *worker, const schedq_move_t *move,
                                           schedq_result_t *result);

/**
 * Tells the queue that a pod got a node.
 *
 * As schedq_move_all, but of the waiting pods it reaches only those of the pod's namespace that a
 * SCHEDQ_PLUGIN_SPREAD plugin rejected, and those whose affinity matches move->new_object. For
 * SCHEDQ_REQUEUE_MOVE_CYCLE; with hints schedq_move_all does it all.
 * @param namespace_name   of the assigned pod, need not end in NUL
 * @param namespace_length 1..253 bytes
 * @retval SCHEDQ_OK       `result` counts what moved
 * @retval SCHEDQ_INVALID  as schedq_move_all; bad namespace; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) as schedq_move_all
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(distinct rejector sets + pods that such a plugin rejected +
 *          pods with SCHEDQ_POD_AFFINITY).
 */
SCHEDQ_API schedq_status_t schedq_assigned_pod_added(schedq_worker_t *worker,
                                                     const schedq_move_t *move,
                                                     const char *namespace_name,
                                                     uint32_t namespace_length,
                                                     schedq_result_t *result);

/**
 * Tells the queue that a pod that has a node changed.
 *
 * As schedq_assigned_pod_added, except that a scale-down reaches what schedq_move_all reaches.
 * @param namespace_name   of the assigned pod, need not end in NUL
 * @param namespace_length 1..253 bytes
 * @retval SCHEDQ_OK       `result` counts what moved
 * @retval SCHEDQ_INVALID  as schedq_move_all; bad namespace; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) as schedq_move_all
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; as schedq_assigned_pod_added, a scale-down as
 *                    schedq_move_all.
 */
SCHEDQ_API schedq_status_t schedq_assigned_pod_updated(schedq_worker_t *worker,
                                                       const schedq_move_t *move,
                                                       const char *namespace_name,
                                                       uint32_t namespace_length,
                                                       schedq_result_t *result);

/*
 * ---- cluster events, decided by the host (SCHEDQ_DECIDE_HOST; with callbacks these are INVALID)
 */

/**
 * Draws the sequence of an event.
 *
 * Order: begin; store the event in the host's own log under it; stamp; candidates; apply.
 * @param sequence receives it: 1, 2, ...
 * @retval SCHEDQ_OK       words.event_sequence is at least *sequence
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_event_begin(schedq_worker_t *worker, uint64_t *sequence);

/**
 * Raises the stamps of these plugins of one profile to `sequence`, never back.
 *
 * Late names and SCHEDQ_REJECTOR_OTHERS are always among them. From here on no pod that they
 * rejected is parked on an older judgement.
 * @param sequence one that schedq_event_begin drew
 * @param plugins  their bits; UINT64_MAX: an untargeted wildcard
 * @retval SCHEDQ_OK       the stamps are at least `sequence`
 * @retval SCHEDQ_INVALID  sequence not drawn, unknown profile; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What the host did before this call (its log) happens before the return of a RETRY that this stamp
 * causes.
 * Threads: [worker]  Progress: locks; O(plugins).
 */
SCHEDQ_API schedq_status_t schedq_event_stamp(schedq_worker_t *worker, uint64_t sequence,
                                              schedq_profile_t profile, uint64_t plugins);

/** Which waiting pods to copy out. Fill it with schedq_query_init first; a default is 0. */
typedef struct schedq_query {
    uint32_t struct_size;  /**< set by schedq_query_init */
    schedq_profile_t profile; /**< only pods of this one */
    uint8_t  backoff;      /**< 1: its pods in backoff and error backoff too, whatever their sets */
    uint8_t  reserved[2];
    uint64_t rejectors;    /**< parked pods whose sets meet this, a late name or
                                SCHEDQ_REJECTOR_OTHERS, or are empty; 0 = no parked pod */
    /** gated pods whose gate is one of these bits, and no others; 0 = none */
    uint64_t gates;
    int64_t  not_after_ns; /**< only pods whose Timestamp (backoff: expiry) is at most this; default
                                INT64_MAX = all */
    uint64_t cursor[3];    /**< all 0 = from the start; holds no pointer, needs no end; the other
                                fields stay as they are */
} schedq_query_t;

/**
 * Zeroes `query`, sets struct_size and not_after_ns = INT64_MAX.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_query_init(schedq_query_t *query)
{
    memset(query, 0, sizeof *query);
    query->struct_size = sizeof *query;
    query->not_after_ns = INT64_MAX;
}

/**
 * A waiting pod at one version. Times are nanoseconds on the queue's clock. Layout frozen (64
 * bytes).
 */
typedef struct schedq_candidate {
    uint64_t     ref;       /**< for schedq_apply; never 0 */
    uint64_t     object;
    schedq_pod_t pod;
    uint64_t     unschedulable, pending;
    int64_t      timestamp_ns;
    int64_t      expiry_ns;   /**< end of its backoff as compared; 0 = none */
    uint8_t      place;       /**< schedq_place_t */
    uint8_t      gate;        /**< 1 + number of the plugin that gates it; 0 = none */
    uint8_t      backing_off; /**< 1: place BACKOFF is possible, ACTIVE skips it */
    schedq_profile_t profile;
    uint8_t      reserved[4];
} schedq_candidate_t;

/**
 * Copies waiting pods out; nothing is consumed or pinned (objects are STABLE).
 *
 * A pod that stays where it is from before the first call to the end is given at least once, also
 * if it is updated meanwhile; sometimes twice. Applying what was given does not disturb the walk.
 * Leftovers: not_after_ns = now - max_parked_ns - 1.
 * @param query    its cursor is advanced
 * @param capacity at least 1; 64 on the stack is a good size
 * @param count    receives how many
 * @retval SCHEDQ_OK       *count is at least 1; call again for the next
 * @retval SCHEDQ_EMPTY    the end: *count is 0
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(distinct rejector sets + pods looked at); holds nothing
 *          between calls.
 */
SCHEDQ_API schedq_status_t schedq_candidates(schedq_worker_t *worker, schedq_query_t *query,
                                             schedq_candidate_t *out, size_t capacity,
                                             size_t *count);

/** Where a waiting pod is to go. Zero it first. Layout frozen (24 bytes). */
typedef struct schedq_decision {
    uint64_t ref;          /**< from a candidate, or a result */
    /** words.event_sequence as read before PreEnqueue ran; used if place is GATED */
    uint64_t judged_up_to;
    schedq_event_t event;  /**< its label counts in the metrics; for activation and the like define
                                {"*", ALL, "ForceActivate"} */
    /* ACTIVE; BACKOFF (acts as ACTIVE if it is over, see if_backing_off); GATED */
    uint8_t  place;
    /* GATED: 1 + number of the plugin, whose bit joins its rejectors; else 0 */
    uint8_t  gate;
    uint8_t  uncounted;    /**< GATED: 1: a pod that was parked or gated does not count as one that
                                came in again, in metrics and, if it stays gated, to_gated: an
                                update or activation that changes nothing; 0: it does: an event */
    uint8_t  if_backing_off; /**< BACKOFF: 1: only while it backs off, since PreEnqueue was not
                                  asked; else CHANGED. Other places: 0 */
    uint8_t  reserved[2];
} schedq_decision_t;

/**
 * Moves a waiting pod if it still is what `ref` names.
 *
 * Object, Timestamp and order stay.
 * @retval SCHEDQ_OK       moved; GATED also when it stays gated, under a new ref
 * @retval SCHEDQ_CHANGED  it waits at a newer version, or its backoff is over and if_backing_off
 *                         was 1 (the ref is the same, result->backing_off 0: ask PreEnqueue):
 *                         result->ref, ->object: judge again; nothing changed
 * @retval SCHEDQ_GONE     active, in flight or deleted: drop it; nothing changed
 * @retval SCHEDQ_RETRY    GATED, and the gate has a newer stamp (result->sequence): ask PreEnqueue
 *                         again; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) nothing changed
 * @retval SCHEDQ_INVALID  unknown event, illegal place, a gate that does not go with it, or one
 *                         that is no plugin of the pod's profile; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_apply(schedq_worker_t *worker, const schedq_decision_t *decision,
                                        schedq_result_t *result);

/**
 * Applies many decisions, each as schedq_apply does; what becomes active becomes visible as with
 * schedq_add_many.
 *
 * @param statuses receives what schedq_apply would have returned for element i; may be NULL
 * @param results  receives the result of element i; may be NULL
 * @param sum      counts over all
 * @retval SCHEDQ_OK       all of them are OK (count 0 too)
 * @retval other           the first element's status that is not OK; the others were still applied,
 *                         see `statuses`
 * @retval SCHEDQ_INVALID  decisions is NULL, or one has an unknown event, an illegal place, or a
 *                         gate that does not go with its place; nothing changed, no array is
 *                         written. (A gate that is no plugin of the pod's profile: as `other`)
 * @retval SCHEDQ_BUSY     nothing changed, no array is written
 *
 * Threads: [worker]  Progress: locks; O(count log n).
 */
SCHEDQ_API schedq_status_t schedq_apply_many(schedq_worker_t *worker,
                                             const schedq_decision_t *decisions, size_t count,
                                             uint8_t *statuses, schedq_result_t *results,
                                             schedq_result_t *sum);

/* ---- looking --------------------------------------------------------------------------------- */

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

/* ---- time, life ------------------------------------------------------------------------------ */

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

/** Counts and bytes. Fill it with schedq_stats_init first. */
typedef struct schedq_stats_t {
    uint32_t struct_size; /**< set by schedq_stats_init */
    uint32_t workers;     /**< registered ones, the timer thread's too */
    uint64_t active, backoff, error_backoff, parked, gated, inflight; /**< pods there now */
    uint64_t nominated;   /**< pods that are nominated now */
    uint64_t adds;        /**< pods that add, add_many, update and readd made */
    uint64_t pops, dones, failures, deletes, updates; /**< calls that changed a pod, pod by pod */
    uint64_t moves;       /**< pods that events and time moved out of a waiting place */
    uint64_t events;      /**< move_all and assigned_pod_* calls with an event that concerns any
                               plugin; event_begin calls */
    uint64_t hint_calls, pre_enqueue_calls;
    /** Bytes of memory held, not what pods use of it. */
    uint64_t bytes_entries, bytes_names, bytes_index, bytes_queues, bytes_other;
    uint64_t membarriers; /**< fences in all threads that the queue asked the kernel for */
    uint8_t  fences;      /**< those in use: SCHEDQ_FENCES_ASYMMETRIC or REAL (MUTEX: REAL) */
    uint8_t  reserved[7];
} schedq_stats_t;

/**
 * Zeroes `stats` and sets struct_size.
 *
 * Threads: [queue]  Progress: wait-free.
 */
static inline void
schedq_stats_init(schedq_stats_t *stats)
{
    memset(stats, 0, sizeof *stats);
    stats->struct_size = sizeof *stats;
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
