/*
 * State of a simulation, shared by the files that make it up:
 *
 *   sim_queue.c     the queue: configuration, plugins, hints
 *   sim_worker.c    a worker's cycle: pop, place, done or add_unschedulable
 *   sim_preempt.c   preemption: the snapshot, decisions, evictions
 *   sim_time.c      virtual time: what happens next, and making it happen
 *   sim_missed.c    does the queue miss an event
 *   sim_causes.c    attempts by what caused them
 *   sim_account.c   the end: is every pod accounted for, and the figures
 *   simulate.c      threads, and putting it together
 *
 * Whoever holds `lock` may touch everything here. A worker at work holds it only to place a pod and
 * to report; its calls of the queue run without it, so that workers meet in the queue. `now_ns`
 * changes only while no worker is at work.
 */
#ifndef SCHEDQ_REPLAY_SIM_H
#define SCHEDQ_REPLAY_SIM_H

#include "cluster.h"
#include "completions.h"
#include "simulate.h"
#include "verdicts.h"

#include <pthread.h>

/*
 * The queue's clock shows trace time plus this: schedq takes a Timestamp of 0 for "not given".
 * Whole seconds, because presets cut times to them. */
#define SIM_CLOCK_OFFSET_NS (10 * NS_PER_SECOND)

/* A run that gets past this (146 years) is refused; up to here no sum of times overflows. */
#define SIM_TIME_MAX_NS (INT64_MAX / 2)

typedef enum sim_place {
    SIM_EXPECTED, /* has not arrived */
    SIM_WAITING,
    SIM_IN_FLIGHT,
    SIM_RUNNING,
    SIM_ENDED
} sim_place_t;

/*
 * Nodes of the newest events that are remembered; a flight with more of them is checked as far as
 * they go.
 */
enum { SIM_RECENT_EVENTS = 1024 };

typedef struct sim_pod {
    schedq_pod_t handle;
    int64_t bound_ns; /* end of the cycle that placed it */
    int64_t lost_ns;  /* that it ran before it was evicted */
    uint32_t evictions;
    uint64_t gpus; /* what cluster_reserve returned */
    uint32_t node;
    uint32_t attempts;
    uint8_t place; /* sim_place_t */
    bool possible; /* it fits on some node when that is empty */
    bool seen;     /* by the snapshot at the end */
} sim_pod_t;

typedef enum sim_state {
    SIM_AT_WORK, /* may go on at the present time */
    SIM_SERVING, /* holds a pod until until_ns */
    SIM_IDLE     /* found nothing to pop */
} sim_state_t;

typedef struct sim sim_t;

typedef struct sim_worker {
    sim_t *sim;
    schedq_worker_t *queue;
    pthread_t thread;
    pthread_cond_t wake; /* its state became SIM_AT_WORK, or the run stopped */
    sim_state_t state;
    int64_t until_ns;
    bool holds; /* `popped` is a pod in flight */
    schedq_popped_t popped;
    uint64_t rejectors; /* of that pod; 0: it was placed */
    uint64_t news;      /* sim->news from before the last pop */
    uint64_t events;    /* result->events at the last pop */
    uint32_t cycles;
    uint64_t hidden; /* pods that it rejected, and that their class keeps back */
    costs_t costs;
} sim_worker_t;

struct sim {
    const scenario_t *scenario;
    const simulate_options_t *options;
    cluster_t *cluster;
    verdicts_t *verdicts;
    struct sim_preemption *preemption; /* NULL: without */
    schedq_t *queue;
    schedq_words_t *words;
    int64_t max_parked_ns;
    int64_t max_backoff_ns;
    uint64_t resources_bit;
    uint64_t gpus_bit;

    pthread_mutex_t lock;
    sim_worker_t *workers;
    unsigned worker_count;
    unsigned at_work; /* workers in SIM_AT_WORK */
    uint64_t news;    /* grows when something may have become poppable */
    bool stopped;
    bool failed;
    char why[400];

    int64_t now_ns; /* trace time */
    size_t next_pod;
    size_t next_node;
    completions_t completions;
    uint32_t recent[SIM_RECENT_EVENTS]; /* nodes; event i is at i % SIM_RECENT_EVENTS */
    sim_pod_t *pods;
    uint64_t waiting;
    uint64_t possible_left; /* pods not placed yet that can be */
    int64_t quiet_ns;       /* time of the last event or placing */
    unsigned ticks_in_vain;
    uint64_t wall_start; /* costs_now() */
    uint64_t wall_shown;
    simulate_result_t *result;
};

/* What the queue is given as object of pod i, and of node i: 0 would mean "absent". */
static inline uint64_t
sim_object(size_t number)
{
    return (uint64_t)number + 1;
}

static inline size_t
sim_number(uint64_t object)
{
    return (size_t)(object - 1);
}

static inline const workload_pod_t *
sim_recorded(const sim_t *sim, size_t pod)
{
    return &sim->scenario->workload->pods[sim->scenario->pods[pod].pod];
}

/* What decides, with its priority, where a pod fits; 0: pods have no classes. */
static inline uint64_t
sim_class(const sim_t *sim, size_t pod)
{
    return sim->options->classes ? sim_object(sim_recorded(sim, pod)->shape) : 0;
}

/* Stops the run with a reason; the first one stays. The caller holds the lock. */
void sim_fail(sim_t *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The worker goes on, at the present time. With the lock. */
void sim_wake(sim_worker_t *worker);
/* Something may have become poppable: idle workers look again. With the lock. */
void sim_wake_idle(sim_t *sim);

/* Notes that the pod goes to the queue. With the lock. */
void sim_count_waiting(sim_t *sim, size_t pod);

bool sim_queue_open(sim_t *sim);
void sim_queue_close(sim_t *sim);

/*
 * One stay at work: ends the cycle of the pod it holds, if any, then pops the next. With the lock,
 * let go meanwhile.
 */
void sim_worker_go(sim_worker_t *worker);

/*
 * Moves time to the next thing that happens and lets it happen; nobody is at work. With the lock.
 */
void sim_step(sim_t *sim, sim_worker_t *worker);

/* The pod's name in the queue. */
void sim_pod_name(const sim_t *sim, size_t pod, char name[SCHEDQ_NAME_MAX + 1]);
/*
 * Ends a running pod before its time: its node's event goes to the queue, and it comes in anew.
 * Nobody is at work. With the lock.
 */
void sim_evict(sim_t *sim, sim_worker_t *worker, uint32_t pod);

/* An event on this node goes to the queue. With the lock. */
void sim_note_event(sim_t *sim, uint32_t node);
/*
 * No pod may stay parked that an event from `first_event` on helps; some are looked at. Nobody is
 * at work. With the lock.
 */
void sim_check_parked(sim_t *sim, sim_worker_t *worker, uint64_t first_event);
/* This pod was parked though there were events from `first_event` on. Takes the lock. */
void sim_check_failed(sim_t *sim, size_t pod, uint64_t first_event);

/* After the run: splits the attempts by cause, as the queue counts them. */
void sim_count_causes(sim_t *sim);

/* After the run: checks that no pod is lost and fills the result. */
void sim_account(sim_t *sim);

#endif
