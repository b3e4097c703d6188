/*
 * Every row: which workload, how large, how many threads, how long a repetition is.
 *
 * `count` and `rounds` are chosen for repetitions of about a tenth to half a second, and so that
 * the discarded first one brings the queue into its steady state.
 */
#include "workload.h"

#define K 1000
#define M 1000000

const value_t one_value[] = {{"", RATIO_ENGINES, NULL}, {0}};

/* name, workload, pods, threads, part, count, rounds, when, rate */
const row_t rows[] = {
    {"lifecycle/1t/1k", &lifecycle_workload, 1 * K, 1, LIFECYCLE_WHOLE, 500 * K, 1, EVERYDAY, 0},
    {"lifecycle/1t/100k", &lifecycle_workload, 100 * K, 1, LIFECYCLE_WHOLE, 500 * K, 1, EVERYDAY,
     0},
    {"lifecycle/1t/1M", &lifecycle_workload, 1 * M, 1, LIFECYCLE_WHOLE, 500 * K, 1, EVERYDAY, 0},
    {"lifecycle/2t/1k", &lifecycle_workload, 1 * K, 2, LIFECYCLE_WHOLE, 200 * K, 1, FULL, 0},
    {"lifecycle/2t/100k", &lifecycle_workload, 100 * K, 2, LIFECYCLE_WHOLE, 200 * K, 1, EVERYDAY,
     0},
    {"lifecycle/2t/1M", &lifecycle_workload, 1 * M, 2, LIFECYCLE_WHOLE, 200 * K, 1, FULL, 0},
    {"lifecycle/4t/1k", &lifecycle_workload, 1 * K, 4, LIFECYCLE_WHOLE, 100 * K, 1, FULL, 0},
    {"lifecycle/4t/100k", &lifecycle_workload, 100 * K, 4, LIFECYCLE_WHOLE, 100 * K, 1, EVERYDAY,
     0},
    {"lifecycle/4t/1M", &lifecycle_workload, 1 * M, 4, LIFECYCLE_WHOLE, 100 * K, 1, FULL, 0},
    {"lifecycle/8t/1k", &lifecycle_workload, 1 * K, 8, LIFECYCLE_WHOLE, 50 * K, 1, FULL, 0},
    {"lifecycle/8t/100k", &lifecycle_workload, 100 * K, 8, LIFECYCLE_WHOLE, 50 * K, 1, EVERYDAY, 0},
    {"lifecycle/8t/1M", &lifecycle_workload, 1 * M, 8, LIFECYCLE_WHOLE, 50 * K, 1, FULL, 0},
    {"lifecycle/1:1", &lifecycle_workload, 100 * K, 2, LIFECYCLE_SPLIT, 6000 * 64, 1, EVERYDAY, 0},
    {"lifecycle/2:2", &lifecycle_workload, 100 * K, 4, LIFECYCLE_SPLIT, 3000 * 64, 1, EVERYDAY, 0},
    {"lifecycle/4:4", &lifecycle_workload, 100 * K, 8, LIFECYCLE_SPLIT, 1500 * 64, 1, EVERYDAY, 0},
    {"lifecycle/1t/1k/batch32", &lifecycle_batch_workload, 1 * K, 1, LIFECYCLE_WHOLE, 500 * K, 1,
     FULL, 0},
    {"lifecycle/1t/100k/batch32", &lifecycle_batch_workload, 100 * K, 1, LIFECYCLE_WHOLE, 500 * K,
     1, FULL, 0},
    {"lifecycle/2:2/batch32", &lifecycle_batch_workload, 100 * K, 4, LIFECYCLE_SPLIT, 3000 * 64, 1,
     FULL, 0},
    {"lifecycle/4:4/batch32", &lifecycle_batch_workload, 100 * K, 8, LIFECYCLE_SPLIT, 1500 * 64, 1,
     FULL, 0},
    {"lifecycle/2t/100k/relaxed", &lifecycle_workload, 100 * K, 2, LIFECYCLE_RELAXED, 200 * K, 1,
     FULL, 0},
    {"lifecycle/8t/100k/relaxed", &lifecycle_workload, 100 * K, 8, LIFECYCLE_RELAXED, 50 * K, 1,
     FULL, 0},
    {"lifecycle/1t/1k", &lifecycle_rivals_workload, 1 * K, 1, LIFECYCLE_WHOLE, 500 * K, 1, FULL, 0},
    {"lifecycle/1t/100k", &lifecycle_rivals_workload, 100 * K, 1, LIFECYCLE_WHOLE, 500 * K, 1, FULL,
     0},
    {"lifecycle/2:2", &lifecycle_rivals_workload, 100 * K, 4, LIFECYCLE_SPLIT, 3000 * 64, 1, FULL,
     0},
    {"lifecycle/4:4", &lifecycle_rivals_workload, 100 * K, 8, LIFECYCLE_SPLIT, 1500 * 64, 1, FULL,
     0},
    {"pushpop/2:2", &push_pop_workload, 1 * K, 4, LIFECYCLE_SPLIT, 3000 * 64, 1, FULL, 0},
    {"pushpop/4:4", &push_pop_workload, 1 * K, 8, LIFECYCLE_SPLIT, 1500 * 64, 1, FULL, 0},
    {"pushpop/4:4/relaxed", &push_pop_workload, 1 * K, 8, LIFECYCLE_SPLIT | LIFECYCLE_RELAXED,
     1500 * 64, 1, FULL, 0},

    {"fill/1t/1k", &fill_workload, 1 * K, 1, FILL, 0, 300, EVERYDAY, 0},
    {"fill/1t/100k", &fill_workload, 100 * K, 1, FILL, 0, 5, EVERYDAY, 0},
    {"fill/1t/1M", &fill_workload, 1 * M, 1, FILL, 0, 1, FULL, 0},
    {"fill/4t/100k", &fill_workload, 100 * K, 4, FILL, 0, 5, FULL, 0},
    {"fill/8t/1M", &fill_workload, 1 * M, 8, FILL, 0, 1, FULL, 0},
    {"drain/1t/1k", &fill_workload, 1 * K, 1, DRAIN, 0, 300, EVERYDAY, 0},
    {"drain/1t/100k", &fill_workload, 100 * K, 1, DRAIN, 0, 5, EVERYDAY, 0},
    {"drain/1t/1M", &fill_workload, 1 * M, 1, DRAIN, 0, 1, FULL, 0},
    {"drain/4t/100k", &fill_workload, 100 * K, 4, DRAIN, 0, 5, FULL, 0},
    {"drain/8t/1M", &fill_workload, 1 * M, 8, DRAIN, 0, 1, FULL, 0},

    {"steady/1:1", &steady_workload, 64, 2, 0, 200 * K, 1, EVERYDAY, 0},
    {"steady/2:2", &steady_workload, 64, 4, 0, 100 * K, 1, EVERYDAY, 0},
    {"steady/4:4", &steady_workload, 64, 8, 0, 50 * K, 1, FULL, 0},

    {"churn/update/1t/1k", &churn_workload, 1 * K, 1, CHURN_UPDATE, 500 * K, 1, FULL, 0},
    {"churn/update/1t/100k", &churn_workload, 100 * K, 1, CHURN_UPDATE, 500 * K, 1, EVERYDAY, 0},
    {"churn/update/1t/1M", &churn_workload, 1 * M, 1, CHURN_UPDATE, 500 * K, 1, FULL, 0},
    {"churn/update/4t/100k", &churn_workload, 100 * K, 4, CHURN_UPDATE, 100 * K, 1, FULL, 0},
    {"churn/replace/1t/1k", &churn_workload, 1 * K, 1, CHURN_REPLACE, 500 * K, 1, FULL, 0},
    {"churn/replace/1t/100k", &churn_workload, 100 * K, 1, CHURN_REPLACE, 500 * K, 1, EVERYDAY, 0},
    {"churn/replace/1t/1M", &churn_workload, 1 * M, 1, CHURN_REPLACE, 500 * K, 1, FULL, 0},
    {"churn/replace/4t/100k", &churn_workload, 100 * K, 4, CHURN_REPLACE, 100 * K, 1, FULL, 0},
    {"churn/find/1t/100k", &churn_workload, 100 * K, 1, CHURN_FIND, 500 * K, 1, FULL, 0},
    {"update/moves/1k", &churn_workload, 1 * K, 1, CHURN_MOVES, 300 * K, 1, FULL, 0},
    {"update/moves/100k", &churn_workload, 100 * K, 1, CHURN_MOVES, 300 * K, 1, FULL, 0},
    {"update/same/100k", &churn_workload, 100 * K, 1, CHURN_SAME, 300 * K, 1, FULL, 0},
    {"delete-add/100k", &churn_workload, 100 * K, 1, CHURN_REPLACE, 300 * K, 1, ASKED, 0},
    {"priorities", &priorities_workload, 100 * K, 1, 0, 0, 200, FULL, 4096},

    {"event/none/100k", &event_workload, 100 * K, 1, EVENT_NONE, 0, 20 * K, EVERYDAY, 0},
    {"event/10/100k", &event_workload, 100 * K, 1, EVENT_10, 0, 5 * K, EVERYDAY, 0},
    {"event/1k/100k", &event_workload, 100 * K, 1, EVENT_1K, 0, 200, EVERYDAY, 0},
    {"event/100k/100k", &event_workload, 100 * K, 1, EVENT_ALL, 0, 3, EVERYDAY, 0},
    {"event/skips/100k", &event_workload, 100 * K, 1, EVENT_SKIPS, 0, 20, FULL, 0},
    {"event/none/1M", &event_workload, 1 * M, 1, EVENT_NONE, 0, 20 * K, ASKED, 0},
    {"candidates/1M", &host_workload, 1 * M, 1, HOST_CANDIDATES, 0, 2, FULL, 0},
    {"apply/1M", &host_workload, 1 * M, 1, HOST_APPLY, 0, 2, FULL, 0},
    {"event/none/1M-parked", &event_workload, 1 * M, 1, EVENT_NONE, 0, 20 * K, FULL, 0},
    {"event/10/1M-parked", &event_workload, 1 * M, 1, EVENT_10, 0, 5 * K, FULL, 0},
    {"event/1k/1M-parked", &event_workload, 1 * M, 1, EVENT_1K, 0, 200, FULL, 0},
    {"event/100k/1M-parked", &event_workload, 1 * M, 1, EVENT_100K, 0, 3, FULL, 0},

    {"inflight/1M-events", &inflight_workload, 1, 1, 0, 1 * M, 1, EVERYDAY, 0},

    {"storm/100k", &storm_workload, 100 * K, 2, LOAD_STORM, 20 * K, 1, EVERYDAY, 0},
    {"storm/1M", &storm_workload, 1 * M, 2, LOAD_STORM, 50 * K, 1, FULL, 0},
    {"storm/10k-events", &load_base_workload, 1 * M, 2, LOAD_TEN, 100 * K, 1, ASKED, 10 * K},
    {"event-to-pop", &event_to_pop_workload, 100 * K, 2, LOAD_TO_POP, 100 * K, 1, ASKED, 10 * K},
    {"load/none/1k", &load_workload, 1 * M, 2, LOAD_NONE, 100 * K, 1, ASKED, 1 * K},
    {"load/none/10k", &load_workload, 1 * M, 2, LOAD_NONE, 100 * K, 1, ASKED, 10 * K},
    {"load/none/100k", &load_workload, 1 * M, 2, LOAD_NONE, 100 * K, 1, ASKED, 100 * K},
    {"load/ten/1k", &load_workload, 1 * M, 2, LOAD_TEN, 100 * K, 1, ASKED, 1 * K},
    {"load/ten/100k", &load_workload, 1 * M, 2, LOAD_TEN, 100 * K, 1, ASKED, 100 * K},
    {"load/all/1k", &load_workload, 1 * M, 2, LOAD_ALL, 100 * K, 1, ASKED, 1 * K},
    {"load/all/10k", &load_workload, 1 * M, 2, LOAD_ALL, 100 * K, 1, ASKED, 10 * K},
    {"load/all/100k", &load_workload, 1 * M, 2, LOAD_ALL, 100 * K, 1, ASKED, 100 * K},
    {"load/backoffs/100k", &load_workload, 100 * K, 2, LOAD_BACKOFFS, 50 * K, 1, ASKED, 0},
    {"load/frozen/1M", &load_frozen_workload, 1 * M, 2, LOAD_FROZEN, 50 * K, 1, ASKED, 0},
    {"load/priorities/1", &load_workload, 100 * K, 2, LOAD_PRIORITIES, 50 * K, 1, ASKED, 1},
    {"load/priorities/64", &load_workload, 100 * K, 2, LOAD_PRIORITIES, 50 * K, 1, ASKED, 64},
    {"load/priorities/4096", &load_workload, 100 * K, 2, LOAD_PRIORITIES, 50 * K, 1, ASKED, 4096},
    {"wake", &wake_workload, 1, 2, 0, 2 * K, 1, FULL, 0},

    {"backoff/fail/1k", &backoff_workload, 1 * K, 1, BACKOFF_FAIL, 0, 1, FULL, 0},
    {"backoff/fail/100k", &backoff_workload, 100 * K, 1, BACKOFF_FAIL, 0, 1, EVERYDAY, 0},
    {"backoff/fail/1M", &backoff_workload, 1 * M, 1, BACKOFF_FAIL, 0, 1, FULL, 0},
    {"backoff/tick/1k", &backoff_workload, 1 * K, 1, BACKOFF_TICK, 0, 1, FULL, 0},
    {"backoff/tick/100k", &backoff_workload, 100 * K, 1, BACKOFF_TICK, 0, 1, EVERYDAY, 0},
    {"backoff/tick/1M", &backoff_workload, 1 * M, 1, BACKOFF_TICK, 0, 1, FULL, 0},
    {"failure/parks/100k", &backoff_workload, 100 * K, 1, BACKOFF_PARK, 0, 1, FULL, 0},
    {"failure/backs-off/100k", &backoff_workload, 100 * K, 1, BACKOFF_FAIL, 0, 1, ASKED, 0},
    {"tick/100k", &backoff_workload, 100 * K, 1, BACKOFF_TICK, 0, 1, ASKED, 0},
    {"tick/nothing", &backoff_workload, 100 * K, 1, BACKOFF_NOTHING, 200 * K, 1, FULL, 0},

    {"lateness/running", &lateness_workload, 200, 1, LATENESS_RUNNING, 5 * K, 1, EVERYDAY, 0},
    {"lateness/alone", &lateness_workload, 200, 1, LATENESS_ALONE, 5 * K, 1, EVERYDAY, 0},
    {"lateness/frozen", &lateness_frozen_workload, 200, 1, LATENESS_FROZEN, 5 * K, 1, EVERYDAY, 0},

    {"pending/1M", &pending_workload, 1 * M, 1, 0, 0, 1, EVERYDAY, 0},
    {"memory", &bytes_workload, 1 * M, 1, 0, 0, 1, ASKED, 0},
    {"wildcard/1M/100k", &memory_workload, 1 * M, 1, 0, 0, 1, EVERYDAY, 0},

    {"preemption/usual/100", &preemption_workload, 1 * K, 1, PREEMPTION_USUAL, 100, 50 * K, FULL,
     0},
    {"preemption/usual/1k", &preemption_workload, 10 * K, 1, PREEMPTION_USUAL, 1 * K, 10 * K,
     EVERYDAY, 0},
    {"preemption/usual/10k", &preemption_workload, 100 * K, 1, PREEMPTION_USUAL, 10 * K, 1 * K,
     EVERYDAY, 0},
    {"preemption/usual/130k", &preemption_workload, 1300 * K, 1, PREEMPTION_USUAL, 130 * K, 100,
     ASKED, 0},
    {"preemption/worst/100", &preemption_workload, 1 * K, 1, PREEMPTION_WORST, 100, 10 * K, FULL,
     0},
    {"preemption/worst/1k", &preemption_workload, 10 * K, 1, PREEMPTION_WORST, 1 * K, 1 * K,
     EVERYDAY, 0},
    {"preemption/worst/10k", &preemption_workload, 100 * K, 1, PREEMPTION_WORST, 10 * K, 100,
     EVERYDAY, 0},
    {"preemption/usual-10%/1k", &preemption_workload, 10 * K, 1, PREEMPTION_USUAL_SAMPLED, 1 * K,
     10 * K, FULL, 0},
    {"preemption/usual-10%/10k", &preemption_workload, 100 * K, 1, PREEMPTION_USUAL_SAMPLED, 10 * K,
     1 * K, FULL, 0},
    {"preemption/worst-10%/1k", &preemption_workload, 10 * K, 1, PREEMPTION_WORST_SAMPLED, 1 * K,
     10 * K, FULL, 0},
    {"preemption/worst-10%/10k", &preemption_workload, 100 * K, 1, PREEMPTION_WORST_SAMPLED, 10 * K,
     1 * K, FULL, 0},

    {"group/1", &group_workload, 1 * K, 1, 1, 128 * 1024, 1, FULL, 0},
    {"group/8", &group_workload, 1 * K, 1, 8, 128 * 1024, 1, EVERYDAY, 0},
    {"group/64", &group_workload, 1 * K, 1, 64, 128 * 1024, 1, EVERYDAY, 0},
    {"group/512", &group_workload, 1 * K, 1, 512, 128 * 1024, 1, FULL, 0},

    {"replay", &replay_workload, 8, 1, 0, 0, 1, ASKED, 440},

    {"transfer/store", &transfer_workload, 0, 2, TRANSFER_STORE, 500 * K, 1, ASKED, 0},
    {"transfer/rmw", &transfer_workload, 0, 2, TRANSFER_RMW, 500 * K, 1, ASKED, 0},

    {"scaling/1t/1k", &scaling_workload, 1 * K, 1, LIFECYCLE_WHOLE, 320 * K, 1, ASKED, 0},
    {"scaling/2t/1k", &scaling_workload, 1 * K, 2, LIFECYCLE_WHOLE, 160 * K, 1, ASKED, 0},
    {"scaling/4t/1k", &scaling_workload, 1 * K, 4, LIFECYCLE_WHOLE, 80 * K, 1, ASKED, 0},
    {"scaling/8t/1k", &scaling_workload, 1 * K, 8, LIFECYCLE_WHOLE, 40 * K, 1, ASKED, 0},
    {"scaling/16t/1k", &scaling_workload, 1 * K, 16, LIFECYCLE_WHOLE, 20 * K, 1, ASKED, 0},
    {"scaling/1t/10k", &scaling_workload, 10 * K, 1, LIFECYCLE_WHOLE, 320 * K, 1, ASKED, 0},
    {"scaling/1t/100k", &scaling_workload, 100 * K, 1, LIFECYCLE_WHOLE, 320 * K, 1, ASKED, 0},
    {"scaling/2t/100k", &scaling_workload, 100 * K, 2, LIFECYCLE_WHOLE, 160 * K, 1, ASKED, 0},
    {"scaling/4t/100k", &scaling_workload, 100 * K, 4, LIFECYCLE_WHOLE, 80 * K, 1, ASKED, 0},
    {"scaling/8t/100k", &scaling_workload, 100 * K, 8, LIFECYCLE_WHOLE, 40 * K, 1, ASKED, 0},
    {"scaling/16t/100k", &scaling_workload, 100 * K, 16, LIFECYCLE_WHOLE, 20 * K, 1, ASKED, 0},
    {"scaling/1t/1M", &scaling_workload, 1 * M, 1, LIFECYCLE_WHOLE, 320 * K, 1, ASKED, 0},
    {"scaling/1t/10M", &scaling_workload, 10 * M, 1, LIFECYCLE_WHOLE, 320 * K, 1, ASKED, 0},
    {"scaling/2t/10M", &scaling_workload, 10 * M, 2, LIFECYCLE_WHOLE, 160 * K, 1, ASKED, 0},
    {"scaling/16t/10M", &scaling_workload, 10 * M, 16, LIFECYCLE_WHOLE, 20 * K, 1, ASKED, 0},
};

const unsigned row_count = sizeof rows / sizeof rows[0];

row_t
row_quick(const row_t *row)
{
    row_t quick = *row;

    quick.pods = row->pods >= 100 * K ? row->pods / 100 : row->pods;
    quick.rounds = (row->rounds + 99) / 100;
    if (row->workload->counts_work) {
        quick.count = row->count >= 64 * K ? row->count / 64 / 64 * 64 : (row->count + 63) / 64;
    }
    if (row->workload->quicken != NULL) {
        row->workload->quicken(&quick);
    }
    return quick;
}
