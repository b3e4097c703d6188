/** @file
 * schedq/config: how a queue behaves.
 *
 * Begin with SCHEDQ_CONFIG_INIT, or with the rules of a kube-scheduler release
 * (schedq_config_kube_1_34). Change what you want. Pass it to schedq_create.
 */
#ifndef SCHEDQ_CONFIG_H
#define SCHEDQ_CONFIG_H

#include <schedq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Lifetime of the 64-bit objects that the queue is given. The queue never looks into them; it hands
 * them to callbacks.
 *
 * STABLE    they outlive the queue (indices, cookies, arena objects).
 * COUNTED   the queue calls config.retain once for each reference that it stores, and
 *           config.release when it drops it (LOCKFREE: perhaps later, at the latest in
 *           schedq_destroy). A pop takes one more reference to `popped.object` for the holder; the
 *           end of the cycle by done or fail (OK, GONE) releases it. No reference comes with the
 *           objects in results.
 * BORROWED  a pod's object must live until the pod leaves the queue; a change's objects only during
 *           the call. Hints are never asked later: a pod that was in flight is tried again instead.
 */
typedef enum schedq_objects {
    SCHEDQ_OBJECTS_STABLE = 0,
    SCHEDQ_OBJECTS_COUNTED,
    SCHEDQ_OBJECTS_BORROWED
} schedq_objects_t;

/** All zero: CLOCK_MONOTONIC. Layout frozen (32 bytes). */
typedef struct schedq_clock {
    /**
     * Returns nanoseconds, never less than an earlier reading on any thread returned; less than 0
     * counts as 0. It may run with locks held: it must not call the queue. Threads that wait sleep
     * by CLOCK_MONOTONIC. If this clock gains on that (it counts a suspension, say), they find what
     * is due up to 2 s late. A waiting pop also sees its own deadline that late (LOCKFREE: up to
     * 2 s times the number of waiting pops).
     */
    int64_t (*now_ns)(void *ctx);
    void    *ctx;         /**< passed to now_ns */
    uint32_t is_virtual;  /**< default 0; 1, with now_ns only: a waiting pop sleeps untimed, and
                               reads the clock again whenever schedq_tick is called */
    uint32_t reserved[3]; /**< zero */
} schedq_clock_t;

enum { SCHEDQ_ENGINE_LOCKFREE = 1, SCHEDQ_ENGINE_MUTEX = 2 };          /* config.engine */
enum { SCHEDQ_ORDER_STRICT = 0, SCHEDQ_ORDER_RELAXED = 1 };            /* config.order */
enum { SCHEDQ_DECIDE_CALLBACKS = 0, SCHEDQ_DECIDE_HOST = 1 };          /* config.decide */
enum { SCHEDQ_FENCES_ASYMMETRIC = 0, SCHEDQ_FENCES_REAL = 1 };         /* config.fences */
enum { SCHEDQ_REQUEUE_HINTS = 0, SCHEDQ_REQUEUE_MOVE_CYCLE = 1 };      /* config.requeue */
enum { SCHEDQ_COUNT_FAILURES = 0, SCHEDQ_COUNT_ATTEMPTS = 1 };         /* config.backoff_counts */

/**
 * How a queue behaves. A default is that of SCHEDQ_CONFIG_INIT; where none is named, it is 0.
 */
typedef struct schedq_config {
    uint32_t struct_size; /**< set by SCHEDQ_CONFIG_INIT */
    /*
     * Caps. A call that would exceed one returns SCHEDQ_FULL. 0 = no cap but the width of a word.
     * (LOCKFREE: overlapping calls may exceed it together, each by the first pod that it adds. An
     * add that has not returned counts, even if it will find its name taken. A pod that has ended
     * may still count, unless more than time orders its end before the add: a thread, a lock.)
     */
    uint32_t max_pods;    /**< default 1,048,576; 0..268,435,455 */
    uint32_t max_bands;   /**< distinct priorities of active pods (with fifo there is one). An add
                               that brings one more returns FULL; updates, and pods that become
                               active later, may exceed it. Default 0; 0..1,048,575. LOCKFREE: with
                               0 there may be 1,048,575. An update, an event or a tick that makes
                               an older pod active may put it into a run. A priority has at most 16
                               runs, the queue 1,048,575: with more than 65,535 priorities such a
                               call may answer NOMEM */
    uint32_t max_workers; /**< default 64; 1..512; the timer thread takes one. A pop costs more
                               the more workers are, or were, registered at once, whatever this
                               number is */
    /** events, the 35 that every queue knows included; default 256; 0 or 35..65,535 */
    uint32_t max_events;
    uint32_t event_log;   /**< [callbacks] changes kept to ask hints when a pod in flight fails; one
                               that is not kept counts as one that helps; default 4,096; 0 or a
                               power of two up to 1,048,576 */
    uint32_t max_lots;    /**< rejector sets of waiting pods that are kept apart, each in a lot.
                               Pods of other sets share one lot; an event looks at it if it concerns
                               a plugin that ever came there. (MUTEX: all sets are kept apart, and
                               schedq_reserve makes room for so many.) Default 1,024; 1..65,535 */
    /**
     * LOCKFREE: how a call marks that it reads memory that others may free. ASYMMETRIC (default):
     * by a plain store. A call that frees asks the kernel for a fence in all threads of the process
     * (membarrier(2), PRIVATE_EXPEDITED), which interrupts their processors for about 1 us. A
     * worker asks at most once for 1,024 blocks of memory, 32 KiB, or 16,384 calls that may free,
     * and three times a schedq_tick. REAL: by a fence in each call, some 10 ns; no processor is
     * interrupted. If the kernel or a sandbox refuses ASYMMETRIC in schedq_create, fences are REAL.
     * If it refuses later, nothing is freed while it does. stats.fences tells which are in use.
     * MUTEX: ignored
     */
    uint8_t fences;
    uint8_t pre_queueing_hints; /**< [callbacks] 1: schedq_notify asks plugin.pre_hints which
                                     waiting pods a change can concern; default 0: not */
    /**
     * How many calls are timed, for the metrics (docs/OPERATE.md): 0 (default): none, and no call
     * costs anything; 1: each; n: one of n, by chance; 0..65,535. A timed call reads the clock
     * twice. The memory for it is some 2 KiB for each of max_workers
     */
    uint16_t sample_calls;
    /* Time, nanoseconds. */
    int64_t initial_backoff_ns; /**< the n-th backoff is initial * 2^(n-1), at most the maximum;
                                     default 1 s; 1 ms..1 h */
    int64_t max_backoff_ns;     /**< default 10 s; 0 = no backoff, else 1 ms..24 h; less than
                                     initial_backoff_ns: every backoff is that long */
    int64_t max_parked_ns;      /**< the leftover limit: a pod parked for longer is tried again, at
                                     once, with kube_minor at most flush_ns later; default 5 min; 1
                                     ms..365 days */
    int64_t tick_ns;            /**< how late the timer thread may be: if it is later, a waiting
                                     pop that watches time (LOCKFREE: one does) serves time; default
                                     1 ms; 100 us..1 s */
    /* Kind. */
    /** SCHEDQ_ENGINE_LOCKFREE (default) or SCHEDQ_ENGINE_MUTEX: see ENGINES in schedq/schedq.h */
    uint8_t engine;
    uint8_t order;          /**< STRICT (default); RELAXED allows any order inside a priority (MUTEX
                                 stays strict) */
    uint8_t objects;        /**< schedq_objects_t; default STABLE; [host] must be STABLE */
    uint8_t decide;         /**< CALLBACKS (default): hints, PreEnqueue and preCheck decide; HOST:
                                 the host does, by schedq_candidates and schedq_apply */
    uint8_t external_clock; /**< 1: time is words.now_ns, which the caller advances; `clock`
                                 must be zero; default 0 */
    /* Behaviour; the kube presets set these, callers may too. */
    uint8_t requeue;             /**< HINTS (default): a change reaches the pods whose rejectors it
                                      concerns; MOVE_CYCLE: as kube <= 1.27. [host] ignored */
    uint8_t pop_from_backoff;    /**< 1 (default): when nothing is active, pop takes from backoff
                                      (never error backoff); 0: it does not */
    uint8_t backoff_window;      /**< 1: expiries and now are cut to whole seconds before they are
                                      compared (kube >= 1.33); default 0 */
    uint8_t backoff_at_expiry;   /**< 1: at exactly its expiry a pod still backs off (kube >= 1.33);
                                      default 0 */
    uint8_t backoff_counts;      /**< the n of initial_backoff_ns. FAILURES (default): the pod's
                                      errors if there are any, else its rejections; ATTEMPTS: its
                                      pops, 0 counts as 1, and the first backoff may exceed the
                                      maximum (kube <= 1.31) */
    uint8_t errors_park;         /**< 1: a failure without rejectors is parked (kube <= 1.28);
                                      default 0: it backs off. [host] ignored */
    uint8_t keep_order;          /**< 1: a failed pod keeps its place inside its priority; default
                                      0: it goes behind the others of its priority */
    uint8_t gates_see_wildcards; /**< 1 (default): wildcards and max_parked_ns try gated pods again;
                                      0: they do not (kube_minor 12, 26: they do) */
    uint8_t count_cycles;        /**< 1: pops are numbered (popped.cycle); default 0 */
    uint8_t fifo;                /**< 1: priorities do not order; default 0 */
    uint8_t kube_minor;          /**< 0 (default), 12, 26, 34 or 37: details of that kube release:
                                      metrics and their labels, event matching, which events reach
                                      gates, from when a gated pod's leftover limit counts, when a
                                      spec's nomination counts (0: at once; 37: at once, but not for
                                      a pod in flight or readded; 34: when an add makes the pod
                                      active, or by an update while it is not in flight; 12, 26:
                                      also when it is activated, fails or is readded) */
    int64_t flush_ns;            /**< kube_minor: the least time between two flushes, which try
                                      leftovers together; 0 (default): 30 s; 1 ms..1 h. Without
                                      kube_minor each leftover is tried by itself, and this is 0 */
    int64_t start_ns;            /**< external_clock: its first reading, at least 0; else 0
                                      (default) */
    schedq_clock_t     clock;     /**< all zero: the system's monotonic clock */
    schedq_allocator_t allocator; /**< all zero: the build's */
    void *object_ctx;            /**< passed to the three callbacks below */
    /** COUNTED: not NULL, and must not fail; else NULL */
    void (*retain)(void *ctx, uint64_t object);
    void (*release)(void *ctx, uint64_t object); /**< COUNTED: not NULL; else NULL */
    /**
     * Does a required affinity term of `pod` match `assigned`? Asked by schedq_assigned_pod_* for
     * pods with SCHEDQ_POD_AFFINITY. NULL: no.
     */
    int (*affinity_matches)(void *ctx, uint64_t pod, uint64_t assigned);
    int64_t class_patience_ns; /**< how long, at most, a pod is kept back untried because another
                                    one of its class (spec.class_id) was rejected; then it is tried
                                    itself. 0 (kube presets): classes have no effect; default 5 min;
                                    1 ms..365 days */
} schedq_config_t;

/** schedq's own behaviour: exact expiries, hints, pop from backoff, errors back off. */
#define SCHEDQ_CONFIG_INIT                                                                    \
    {                                                                                         \
        sizeof(schedq_config_t),                                                              \
            1048576,                       /* max_pods */                                     \
            0,                             /* max_bands */                                    \
            64,                            /* max_workers */                                  \
            256,                           /* max_events */                                   \
            4096,                          /* event_log */                                    \
            1024,                          /* max_lots */                                     \
            SCHEDQ_FENCES_ASYMMETRIC,      /* fences */                                       \
            0,                             /* pre_queueing_hints */                           \
            0,                             /* sample_calls */                                 \
            INT64_C(1000000000),           /* initial_backoff_ns: 1 s */                      \
            INT64_C(10000000000),          /* max_backoff_ns: 10 s */                         \
            INT64_C(300000000000),         /* max_parked_ns: 5 min */                         \
            INT64_C(1000000),              /* tick_ns: 1 ms */                                \
            SCHEDQ_ENGINE_LOCKFREE,        /* engine */                                       \
            SCHEDQ_ORDER_STRICT,           /* order */                                        \
            SCHEDQ_OBJECTS_STABLE,         /* objects */                                      \
            SCHEDQ_DECIDE_CALLBACKS,       /* decide */                                       \
            0,                             /* external_clock */                               \
            SCHEDQ_REQUEUE_HINTS,          /* requeue */                                      \
            1,                             /* pop_from_backoff */                             \
            0,                             /* backoff_window */                               \
            0,                             /* backoff_at_expiry */                            \
            SCHEDQ_COUNT_FAILURES,         /* backoff_counts */                               \
            0,                             /* errors_park */                                  \
            0,                             /* keep_order */                                   \
            1,                             /* gates_see_wildcards */                          \
            0,                             /* count_cycles */                                 \
            0,                             /* fifo */                                         \
            0,                             /* kube_minor */                                   \
            0,                             /* flush_ns */                                     \
            0,                             /* start_ns */                                     \
            {NULL, NULL, 0, {0, 0, 0}},    /* clock: CLOCK_MONOTONIC */                       \
            {NULL, NULL, NULL, 0},         /* allocator: the build's */                       \
            NULL, NULL, NULL, NULL,        /* object_ctx, retain, release, affinity_matches */ \
            INT64_C(300000000000)          /* class_patience_ns: 5 min */                     \
    }

/**
 * Sets every field to a preset's value.
 *
 * @param preset which one
 * @param config its struct_size is as SCHEDQ_CONFIG_INIT sets it; the other fields are overwritten
 * @retval SCHEDQ_OK       every field is set
 * @retval SCHEDQ_INVALID  config is NULL, or struct_size or preset is unknown; nothing changed
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API schedq_status_t schedq_config_preset(schedq_config_t *config, schedq_preset_t preset);

/**
 * Sets *config to the behaviour of kube-scheduler 1.37: as 1.34, but wildcards and the leftover
 * limit try gated pods again, and groups (group.h) are those of 1.37.
 *
 * Threads: [any]  Progress: wait-free.
 */
static inline void
schedq_config_kube_1_37(schedq_config_t *config)
{
    const schedq_config_t defaults = SCHEDQ_CONFIG_INIT;

    *config = defaults;
    (void)schedq_config_preset(config, SCHEDQ_PRESET_KUBE_1_37);
}

/**
 * Sets *config to the behaviour of kube-scheduler 1.34: hints, in-flight events, one-second
 * backoff windows.
 *
 * Threads: [any]  Progress: wait-free.
 */
static inline void
schedq_config_kube_1_34(schedq_config_t *config)
{
    const schedq_config_t defaults = SCHEDQ_CONFIG_INIT;

    *config = defaults;
    (void)schedq_config_preset(config, SCHEDQ_PRESET_KUBE_1_34);
}

/**
 * Sets *config to the behaviour of kube-scheduler 1.26: move cycles, errors park.
 *
 * Threads: [any]  Progress: wait-free.
 */
static inline void
schedq_config_kube_1_26(schedq_config_t *config)
{
    const schedq_config_t defaults = SCHEDQ_CONFIG_INIT;

    *config = defaults;
    (void)schedq_config_preset(config, SCHEDQ_PRESET_KUBE_1_26);
}

/**
 * Sets *config to the behaviour of kube-scheduler 1.12: two containers, no backoff, 60 s
 * leftover limit.
 *
 * Set `fifo` to ignore priorities.
 *
 * Threads: [any]  Progress: wait-free.
 */
static inline void
schedq_config_kube_1_12(schedq_config_t *config)
{
    const schedq_config_t defaults = SCHEDQ_CONFIG_INIT;

    *config = defaults;
    (void)schedq_config_preset(config, SCHEDQ_PRESET_KUBE_1_12);
}

#ifdef __cplusplus
}
#endif

#endif
