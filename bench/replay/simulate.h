/*
 * A scheduler over the queue, in virtual time: docs/REPLAY.md says what happens when.
 */
#ifndef SCHEDQ_REPLAY_SIMULATE_H
#define SCHEDQ_REPLAY_SIMULATE_H

#include "costs.h"
#include "depth.h"
#include "scenario.h"

#include <schedq/schedq.h>

enum { SIMULATE_ATTEMPT_BUCKETS = 33, SIMULATE_WORKERS_MAX = 64 };

/* What made a pod active before an attempt. */
typedef enum cause {
    CAUSE_ARRIVAL, /* it came in, or came in again behind an eviction */
    CAUSE_EVENT,   /* an event reached it, parked or in flight */
    CAUSE_TIME,    /* it backed off, until that was over or nothing else was active */
    CAUSE_FLUSH,   /* it had been parked for too long */
    CAUSE_COUNT
} cause_t;

/* When the hints of the plugins send a parked pod back. */
typedef enum hints {
    HINTS_FIT, /* it fits on the node of the event as things are */
    HINTS_KUBE /* as kube's: any pod ended, or a node joined on which it fits when that is empty */
} hints_t;

/* Instead of a preset of preemption. */
enum { SIMULATE_NO_PREEMPTION = -1 };

typedef struct simulate_options {
    uint8_t engine; /* SCHEDQ_ENGINE_* */
    schedq_preset_t preset;
    int preemption; /* SCHEDQ_PRESET_KUBE_1_34, SCHEDQ_PRESET_KUBE_1_12 or SIMULATE_NO_PREEMPTION */
    hints_t hints;
    bool classes; /* pods that ask nodes for the same are of one class */
    unsigned workers;
    int64_t service_ns;      /* virtual time that one attempt takes */
    int64_t max_parked_ns;   /* 0: the preset's */
    double pace;             /* virtual seconds per real second; 0: as fast as possible */
    const int32_t *priority; /* of each class of the workload */
    bool progress;           /* write a line to stderr now and then */
    /* every so many-th event is not told to the queue, to see that this is found; 0: none */
    uint64_t withhold;
} simulate_options_t;

/*
 * How long the pods of one class waited: from arrival to the end of the cycle that placed them,
 * without what they ran before an eviction. */
typedef struct class_waits {
    uint64_t pods;
    uint64_t scheduled;
    uint64_t evictions;
    int64_t p50_ns, p90_ns, p99_ns, max_ns; /* 0 if none was scheduled */
} class_waits_t;

typedef struct simulate_result {
    uint64_t digest;
    uint64_t pods_total;
    uint64_t pods_scheduled;
    uint64_t pods_unscheduled; /* still in the queue at the end */
    uint64_t pods_impossible;  /* those among them that fit on no node even if it is empty */
    uint64_t first_failed;     /* pods whose first attempt placed them nowhere */
    uint64_t waiting_max;
    uint64_t attempts;
    uint64_t attempts_by[CAUSE_COUNT]; /* or of pods that became active, and were kept back */
    uint64_t kept_back;                /* how often the class of an active pod kept it back */
    uint32_t attempts_max;
    /* Bucket 0: no attempt; bucket i: 2^(i-1) <= attempts < 2^i. */
    uint64_t attempt_buckets[SIMULATE_ATTEMPT_BUCKETS];
    class_waits_t *classes; /* as many as the workload has */
    uint64_t events;        /* completions, evictions and nodes that joined */
    uint64_t preemptions;   /* decisions that chose a node */
    uint64_t evictions;
    int64_t wasted_ns;     /* that evicted pods had run */
    int64_t max_parked_ns; /* the queue's, as configured */
    uint64_t moves;        /* pods that events and time moved out of a waiting place */
    int64_t virtual_ns;    /* from the start of the trace to the last thing that happened */
    double wall_seconds;
    bool interrupted; /* the figures are those until then, and nothing was checked */
    costs_t costs;
    depth_t depth;
} simulate_result_t;

/*
 * Runs until every pod that can ever be placed has been, and every pod that was placed has ended,
 * or until the program is interrupted. False: `why` says what went wrong; a pod that is neither
 * placed nor in the queue is such a thing.
 */
bool simulate(const scenario_t *scenario, const simulate_options_t *options,
              simulate_result_t *result, char *why, size_t why_size);
void simulate_result_free(simulate_result_t *result);

#endif
