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

#include <stdio.h>

enum {
    THREADS_MAX = 8,
    VALUES_MAX = 5,
};

typedef struct workload workload_t;

typedef struct row {
    const char *name;
    const workload_t *workload;
    uint32_t pods;    /* the size in the name */
    unsigned threads; /* of the body */
    unsigned part;    /* which of the workload's measurements, in its own numbering */
    /* operations of each thread in a round, where the workload does not know better */
    uint32_t count;
    uint32_t rounds; /* of a repetition */
    bool full;       /* only with --full */
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
} sample_t;

struct workload {
    const char *suite;
    /*
     * Ends of the names of the values that a repetition gives, up to a NULL. NULL: one value, under
     * the row's name.
     */
    const char *const *values;
    ability_t needs;    /* ABLE_QUEUE: only `contestant->ops` is used */
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
extern const workload_t fill_workload;
extern const workload_t steady_workload;
extern const workload_t churn_workload;
extern const workload_t event_workload;
extern const workload_t storm_workload;
extern const workload_t backoff_workload;
extern const workload_t inflight_workload;
extern const workload_t lateness_workload;
extern const workload_t lateness_frozen_workload;
extern const workload_t memory_workload;
extern const workload_t pending_workload;
extern const workload_t preemption_workload;

/* Parts of the workloads that have several. */
enum { LIFECYCLE_WHOLE, LIFECYCLE_SPLIT };
enum { FILL, DRAIN };
enum { CHURN_UPDATE, CHURN_REPLACE };
enum {
    EVENT_NONE = 0,
    EVENT_10 = 10,
    EVENT_1K = 1000,
    EVENT_100K = 100000,
    EVENT_ALL = 1000000000
};
enum { BACKOFF_FAIL, BACKOFF_TICK };
enum { PREEMPTION_USUAL, PREEMPTION_WORST, PREEMPTION_USUAL_SAMPLED, PREEMPTION_WORST_SAMPLED };
enum { LATENESS_RUNNING, LATENESS_ALONE, LATENESS_FROZEN };

extern const row_t rows[];
extern const unsigned row_count;

#endif
