/*
 * What a row is, and what a workload has to offer so that measure.c can run its rows.
 *
 * A workload is one way to use a queue (a C file of its own); a row is a workload at one size and
 * number of threads.
 */
#ifndef SCHEDQ_BENCH_WORKLOAD_H
#define SCHEDQ_BENCH_WORKLOAD_H

#include "contestant.h"
#include "gbench.h"
#include "histogram.h"

#include <stdio.h>

enum {
    THREADS_MAX = 16,
    VALUES_MAX = 12,
};

typedef struct workload workload_t;

/* How a row's `ratio` is made of its contestants' medians. */
typedef enum ratio {
    NO_VALUE, /* the end of a list */
    /* mutex / schedq, or where the mutex engine does not enter bare / schedq: how many times better
       the lock-free engine is */
    RATIO_ENGINES,
    /* the best that does the same work / schedq */
    RATIO_BEST_RIVAL,
    RATIO_YIELDING, /* yielding / schedq */
    RATIO_OF_BASE,  /* base / schedq */
    RATIO_TO_BASE   /* schedq / base: how many times worse */
} ratio_t;

/* One of the values that a repetition gives. */
typedef struct value {
    const char *name; /* the end of its row's name; "": none */
    ratio_t ratio;
    const char *unit; /* NULL: ns */
} value_t;

/* For `values` of a workload that gives one, under the row's name. */
extern const value_t one_value[];

/* When a row is measured. */
typedef enum when {
    EVERYDAY,
    FULL, /* only with --full */
    ASKED /* only if its suite is asked for */
} when_t;

typedef struct row {
    const char *name;
    const workload_t *workload;
    uint32_t pods;    /* the size in the name */
    unsigned threads; /* of the body */
    unsigned part;    /* which of the workload's measurements, in its own numbering */
    /* operations of each thread in a round, where the workload does not know better */
    uint32_t count;
    uint32_t rounds; /* of a repetition */
    when_t when;
    uint32_t rate; /* events a second; priorities; nodes in 10,000 */
} row_t;

/* One contestant on one row. */
typedef struct subject {
    const row_t *row;
    const contestant_t *contestant;
    uint64_t seed;
} subject_t;

/* What one repetition gave. */
typedef struct sample {
    double ns;
    /* of the thread that only reads the clock, where `ns` is a maximum; else 0 */
    double control_ns;
    /* what `ns` is a percentile of, where a reader would like to see more of it; measure.c's from
       there on. Else NULL */
    histogram_t *distribution;
} sample_t;

struct workload {
    const char *suite;
    const value_t *values; /* up to NO_VALUE */
    unsigned groups;       /* GROUP_*: who enters, if it is able */
    ability_t needs;       /* below ABLE_SCHEDQ: only `contestant->ops` is used */
    bool batches;          /* who has no calls for many pods does not enter */
    bool once;             /* dear: no repetition is discarded, and there are at most three */
    /* `count` is about time, and --quick makes it smaller */
    bool counts_work;
    /* More that --quick makes smaller. NULL: nothing */
    void (*quicken)(row_t *row);
    bool engines_alike; /* both would do the same: the mutex engine does not enter */
    /* Builds the queue up to where a repetition can begin. */
    void *(*open)(const subject_t *subject);
    /* Before each repetition, untimed. NULL: nothing to do. */
    void (*prepare)(void *run);
    /* A repetition, on each thread; see gbench.h. */
    void (*body)(gbench_thread_t *thread, void *run);
    /*
     * After each repetition, untimed: its values, from the seconds that the body took, or from what
     * it noted down.
     */
    void (*settle)(void *run, double seconds, sample_t *samples);
    /* After the last repetition: something to tell below the table. NULL: nothing. */
    void (*note)(void *run, FILE *out);
    void (*close)(void *run);
};

extern const workload_t lifecycle_workload;
extern const workload_t lifecycle_batch_workload;
extern const workload_t lifecycle_rivals_workload;
extern const workload_t push_pop_workload;
extern const workload_t scaling_workload;
extern const workload_t fill_workload;
extern const workload_t steady_workload;
extern const workload_t churn_workload;
extern const workload_t event_workload;
extern const workload_t storm_workload;
extern const workload_t event_to_pop_workload;
extern const workload_t load_workload;
extern const workload_t load_base_workload;
extern const workload_t load_frozen_workload;
extern const workload_t priorities_workload;
extern const workload_t wake_workload;
extern const workload_t host_workload;
extern const workload_t replay_workload;
extern const workload_t transfer_workload;
extern const workload_t backoff_workload;
extern const workload_t inflight_workload;
extern const workload_t lateness_workload;
extern const workload_t lateness_frozen_workload;
extern const workload_t memory_workload;
extern const workload_t pending_workload;
extern const workload_t bytes_workload;
extern const workload_t preemption_workload;
extern const workload_t group_workload;

/* Parts of the workloads that have several. */
/* Bits. */
enum { LIFECYCLE_WHOLE = 0, LIFECYCLE_SPLIT = 1, LIFECYCLE_RELAXED = 2 };
enum { FILL, DRAIN };
enum { CHURN_UPDATE, CHURN_REPLACE, CHURN_MOVES, CHURN_SAME, CHURN_FIND };
enum {
    EVENT_NONE = 0,
    EVENT_10 = 10,
    EVENT_1K = 1000,
    EVENT_100K = 100000,
    EVENT_ALL,
    EVENT_SKIPS
};
enum { BACKOFF_FAIL, BACKOFF_TICK, BACKOFF_PARK, BACKOFF_NOTHING };
enum {
    LOAD_STORM,      /* events that concern all, and a pause behind each */
    LOAD_NONE,       /* events of the row's rate that match no pod, */
    LOAD_TEN,        /* ten pods each, */
    LOAD_ALL,        /* all pods */
    LOAD_BACKOFFS,   /* the backoff of all pods ends at once */
    LOAD_FROZEN,     /* a thread stands still inside an event */
    LOAD_PRIORITIES, /* the row's `rate` says how many; none is parked */
    LOAD_TO_POP      /* as TEN; from the event to the first pop of what it moved */
};
enum { HOST_CANDIDATES, HOST_APPLY };
enum { TRANSFER_STORE, TRANSFER_RMW };
enum { PREEMPTION_USUAL, PREEMPTION_WORST, PREEMPTION_USUAL_SAMPLED, PREEMPTION_WORST_SAMPLED };
enum { LATENESS_RUNNING, LATENESS_ALONE, LATENESS_FROZEN };

extern const row_t rows[];
extern const unsigned row_count;

/* The row made so small that it shows nothing but that it works. */
row_t row_quick(const row_t *row);

#endif
