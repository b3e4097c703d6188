/*
 * Every row: which workload, how large, how many threads, how long a repetition is.
 *
 * `count` and `rounds` are chosen for repetitions of about a tenth to half a second, and so that
 * the discarded first one brings the queue into its steady state. Rows marked `true` come with
 * --full only.
 */
#include "workload.h"

#define K 1000
#define M 1000000

/* name, workload, pods, threads, part, count, rounds, full */
const row_t rows[] = {
    {"lifecycle/1t/1k", &lifecycle_workload, 1 * K, 1, LIFECYCLE_WHOLE, 500 * K, 1, false},
    {"lifecycle/1t/100k", &lifecycle_workload, 100 * K, 1, LIFECYCLE_WHOLE, 500 * K, 1, false},
    {"lifecycle/1t/1M", &lifecycle_workload, 1 * M, 1, LIFECYCLE_WHOLE, 500 * K, 1, false},
    {"lifecycle/2t/1k", &lifecycle_workload, 1 * K, 2, LIFECYCLE_WHOLE, 200 * K, 1, true},
    {"lifecycle/2t/100k", &lifecycle_workload, 100 * K, 2, LIFECYCLE_WHOLE, 200 * K, 1, false},
    {"lifecycle/2t/1M", &lifecycle_workload, 1 * M, 2, LIFECYCLE_WHOLE, 200 * K, 1, true},
    {"lifecycle/4t/1k", &lifecycle_workload, 1 * K, 4, LIFECYCLE_WHOLE, 100 * K, 1, true},
    {"lifecycle/4t/100k", &lifecycle_workload, 100 * K, 4, LIFECYCLE_WHOLE, 100 * K, 1, false},
    {"lifecycle/4t/1M", &lifecycle_workload, 1 * M, 4, LIFECYCLE_WHOLE, 100 * K, 1, true},
    {"lifecycle/8t/1k", &lifecycle_workload, 1 * K, 8, LIFECYCLE_WHOLE, 50 * K, 1, true},
    {"lifecycle/8t/100k", &lifecycle_workload, 100 * K, 8, LIFECYCLE_WHOLE, 50 * K, 1, false},
    {"lifecycle/8t/1M", &lifecycle_workload, 1 * M, 8, LIFECYCLE_WHOLE, 50 * K, 1, true},
    {"lifecycle/1:1", &lifecycle_workload, 100 * K, 2, LIFECYCLE_SPLIT, 6000 * 64, 1, false},
    {"lifecycle/2:2", &lifecycle_workload, 100 * K, 4, LIFECYCLE_SPLIT, 3000 * 64, 1, false},
    {"lifecycle/4:4", &lifecycle_workload, 100 * K, 8, LIFECYCLE_SPLIT, 1500 * 64, 1, false},

    {"fill/1t/1k", &fill_workload, 1 * K, 1, FILL, 0, 300, false},
    {"fill/1t/100k", &fill_workload, 100 * K, 1, FILL, 0, 5, false},
    {"fill/1t/1M", &fill_workload, 1 * M, 1, FILL, 0, 1, true},
    {"fill/4t/100k", &fill_workload, 100 * K, 4, FILL, 0, 5, true},
    {"fill/8t/1M", &fill_workload, 1 * M, 8, FILL, 0, 1, true},
    {"drain/1t/1k", &fill_workload, 1 * K, 1, DRAIN, 0, 300, false},
    {"drain/1t/100k", &fill_workload, 100 * K, 1, DRAIN, 0, 5, false},
    {"drain/1t/1M", &fill_workload, 1 * M, 1, DRAIN, 0, 1, true},
    {"drain/4t/100k", &fill_workload, 100 * K, 4, DRAIN, 0, 5, true},
    {"drain/8t/1M", &fill_workload, 1 * M, 8, DRAIN, 0, 1, true},

    {"steady/1:1", &steady_workload, 64, 2, 0, 200 * K, 1, false},
    {"steady/2:2", &steady_workload, 64, 4, 0, 100 * K, 1, false},
    {"steady/4:4", &steady_workload, 64, 8, 0, 50 * K, 1, true},

    {"churn/update/1t/1k", &churn_workload, 1 * K, 1, CHURN_UPDATE, 500 * K, 1, true},
    {"churn/update/1t/100k", &churn_workload, 100 * K, 1, CHURN_UPDATE, 500 * K, 1, false},
    {"churn/update/1t/1M", &churn_workload, 1 * M, 1, CHURN_UPDATE, 500 * K, 1, true},
    {"churn/update/4t/100k", &churn_workload, 100 * K, 4, CHURN_UPDATE, 100 * K, 1, true},
    {"churn/replace/1t/1k", &churn_workload, 1 * K, 1, CHURN_REPLACE, 500 * K, 1, true},
    {"churn/replace/1t/100k", &churn_workload, 100 * K, 1, CHURN_REPLACE, 500 * K, 1, false},
    {"churn/replace/1t/1M", &churn_workload, 1 * M, 1, CHURN_REPLACE, 500 * K, 1, true},
    {"churn/replace/4t/100k", &churn_workload, 100 * K, 4, CHURN_REPLACE, 100 * K, 1, true},

    {"event/none/100k", &event_workload, 100 * K, 1, EVENT_NONE, 0, 20 * K, false},
    {"event/10/100k", &event_workload, 100 * K, 1, EVENT_10, 0, 5 * K, false},
    {"event/1k/100k", &event_workload, 100 * K, 1, EVENT_1K, 0, 200, false},
    {"event/100k/100k", &event_workload, 100 * K, 1, EVENT_ALL, 0, 3, false},
    {"event/none/1M-parked", &event_workload, 1 * M, 1, EVENT_NONE, 0, 20 * K, true},
    {"event/10/1M-parked", &event_workload, 1 * M, 1, EVENT_10, 10, 5 * K, true},
    {"event/1k/1M-parked", &event_workload, 1 * M, 1, EVENT_1K, 1 * K, 200, true},
    {"event/100k/1M-parked", &event_workload, 1 * M, 1, EVENT_100K, 100 * K, 3, true},

    {"inflight/1M-events", &inflight_workload, 1, 1, 0, 1 * M, 1, false},

    {"storm/100k", &storm_workload, 100 * K, 2, 0, 20 * K, 1, false},
    {"storm/1M", &storm_workload, 1 * M, 2, 0, 50 * K, 1, true},

    {"backoff/fail/1k", &backoff_workload, 1 * K, 1, BACKOFF_FAIL, 0, 1, true},
    {"backoff/fail/100k", &backoff_workload, 100 * K, 1, BACKOFF_FAIL, 0, 1, false},
    {"backoff/fail/1M", &backoff_workload, 1 * M, 1, BACKOFF_FAIL, 0, 1, true},
    {"backoff/tick/1k", &backoff_workload, 1 * K, 1, BACKOFF_TICK, 0, 1, true},
    {"backoff/tick/100k", &backoff_workload, 100 * K, 1, BACKOFF_TICK, 0, 1, false},
    {"backoff/tick/1M", &backoff_workload, 1 * M, 1, BACKOFF_TICK, 0, 1, true},

    {"lateness/running", &lateness_workload, 200, 1, LATENESS_RUNNING, 5 * K, 1, false},
    {"lateness/alone", &lateness_workload, 200, 1, LATENESS_ALONE, 5 * K, 1, false},
    {"lateness/frozen", &lateness_frozen_workload, 200, 1, LATENESS_FROZEN, 5 * K, 1, false},

    {"pending/1M", &pending_workload, 1 * M, 1, 0, 0, 1, false},
    {"wildcard/1M/100k", &memory_workload, 1 * M, 1, 0, 0, 1, false},

    {"preemption/usual/100", &preemption_workload, 1 * K, 1, PREEMPTION_USUAL, 100, 50 * K, true},
    {"preemption/usual/1k", &preemption_workload, 10 * K, 1, PREEMPTION_USUAL, 1 * K, 10 * K,
     false},
    {"preemption/usual/10k", &preemption_workload, 100 * K, 1, PREEMPTION_USUAL, 10 * K, 1 * K,
     false},
    {"preemption/worst/100", &preemption_workload, 1 * K, 1, PREEMPTION_WORST, 100, 10 * K, true},
    {"preemption/worst/1k", &preemption_workload, 10 * K, 1, PREEMPTION_WORST, 1 * K, 1 * K, false},
    {"preemption/worst/10k", &preemption_workload, 100 * K, 1, PREEMPTION_WORST, 10 * K, 100,
     false},
    {"preemption/usual-10%/1k", &preemption_workload, 10 * K, 1, PREEMPTION_USUAL_SAMPLED, 1 * K,
     10 * K, true},
    {"preemption/usual-10%/10k", &preemption_workload, 100 * K, 1, PREEMPTION_USUAL_SAMPLED, 10 * K,
     1 * K, true},
    {"preemption/worst-10%/1k", &preemption_workload, 10 * K, 1, PREEMPTION_WORST_SAMPLED, 1 * K,
     10 * K, true},
    {"preemption/worst-10%/10k", &preemption_workload, 100 * K, 1, PREEMPTION_WORST_SAMPLED, 10 * K,
     1 * K, true},
};

const unsigned row_count = sizeof rows / sizeof rows[0];
