/* A worker's cycle: pop, find a node, serve, then done or add_unschedulable. */
#include "hash.h"
#include "sim_preempt.h"

#include <inttypes.h>

/* The clock alone is timed once in so many cycles. */
enum { CLOCK_EVERY = 64 };

/* A decision is (pod, node, virtual time); node UINT32_MAX is "nowhere". With the lock. */
static void
note_decision(sim_t *sim, size_t pod, uint32_t node)
{
    const scenario_pod_t *planned = &sim->scenario->pods[pod];
    uint64_t recorded = node == CLUSTER_NOWHERE ? UINT32_MAX : sim->scenario->nodes[node].node;
    uint64_t digest = sim->result->digest;

    digest = hash_mix(digest ^ ((uint64_t)planned->copy << 32 | planned->pod));
    digest = hash_mix(digest ^ recorded);
    digest = hash_mix(digest ^ (uint64_t)sim->now_ns);
    sim->result->digest = digest;
    sim->result->attempts++;
}

/* Finds a node for the popped pod and reserves it there, at the time of the pop. With the lock. */
static void
place(sim_worker_t *worker, size_t number)
{
    sim_t *sim = worker->sim;
    sim_pod_t *pod = &sim->pods[number];
    const workload_pod_t *recorded = sim_recorded(sim, number);
    unsigned lacks = 0;

    pod->attempts++;
    pod->node = sim_preempt_find(worker, number, &lacks);
    note_decision(sim, number, pod->node);
    if (pod->node == CLUSTER_NOWHERE) {
        worker->rejectors = ((lacks & CLUSTER_LACKS_RESOURCES) != 0 ? sim->resources_bit : 0) |
                            ((lacks & CLUSTER_LACKS_GPUS) != 0 ? sim->gpus_bit : 0);
        sim->result->first_failed += pod->attempts == 1;
        return;
    }
    worker->rejectors = 0;
    pod->gpus = cluster_reserve(sim->cluster, pod->node, recorded);
    sim_preempt_placed(worker, number);
}

void
sim_wake(sim_worker_t *worker)
{
    worker->state = SIM_AT_WORK;
    worker->sim->at_work++;
    pthread_cond_signal(&worker->wake);
}

void
sim_wake_idle(sim_t *sim)
{
    sim->news++;
    for (unsigned i = 0; i < sim->worker_count; i++) {
        if (sim->workers[i].state == SIM_IDLE) {
            sim_wake(&sim->workers[i]);
        }
    }
}

void
sim_count_waiting(sim_t *sim, size_t pod)
{
    sim->pods[pod].place = SIM_WAITING;
    sim->waiting++;
    if (sim->waiting > sim->result->waiting_max) {
        sim->result->waiting_max = sim->waiting;
    }
}

/* The end of a cycle that found a node: from here on the pod runs. Returns the time. */
static uint64_t
bind(sim_worker_t *worker, uint64_t start)
{
    sim_t *sim = worker->sim;
    uint32_t number = (uint32_t)sim_number(worker->popped.object);
    sim_pod_t *pod = &sim->pods[number];

    schedq_status_t status = schedq_done(worker->queue, worker->popped.token);
    uint64_t end = costs_record(&worker->costs, COST_DONE, start);

    pthread_mutex_lock(&sim->lock);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_done(%s): %s", sim_recorded(sim, number)->name,
                 schedq_status_name(status));
    }
    pod->place = SIM_RUNNING;
    pod->bound_ns = sim->now_ns;
    sim_preempt_bound(sim, number);
    sim->quiet_ns = sim->now_ns;
    sim->possible_left--;
    sim->result->pods_scheduled++;
    if (sim->now_ns > SIM_TIME_MAX_NS) {
        sim_fail(sim, "%s is placed at %" PRId64 " s of virtual time, legal: up to %" PRId64 " s",
                 sim_recorded(sim, number)->name, sim->now_ns / NS_PER_SECOND,
                 SIM_TIME_MAX_NS / NS_PER_SECOND);
    }
    completions_push(&sim->completions, sim->now_ns + sim_recorded(sim, number)->run_ns, number);
    pthread_mutex_unlock(&sim->lock);
    return end;
}

/* The end of a cycle that found none. Returns the time. */
static uint64_t
reject(sim_worker_t *worker, uint64_t start)
{
    sim_t *sim = worker->sim;
    size_t number = sim_number(worker->popped.object);
    uint64_t events = worker->events;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t newest;
    schedq_result_t result;

    failure.unschedulable = worker->rejectors;
    sim_preempt_describe(worker, &failure, &newest);
    schedq_status_t status = schedq_fail(worker->queue, &worker->popped.token, &failure, &result);
    uint64_t end = costs_record(&worker->costs, COST_ADD_UNSCHEDULABLE, start);
    worker->hidden += status == SCHEDQ_OK && result.place == SCHEDQ_HELD;
    if (status == SCHEDQ_OK && result.place == SCHEDQ_PARKED && events != sim->result->events) {
        sim_check_failed(sim, number, events);
    }
    if (status == SCHEDQ_OK && result.poppable == 0) {
        return end;
    }
    pthread_mutex_lock(&sim->lock);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_fail(%s): %s: %s", sim_recorded(sim, number)->name,
                 schedq_status_name(status), schedq_worker_error(worker->queue));
    }
    sim_wake_idle(sim);
    pthread_mutex_unlock(&sim->lock);
    return end;
}

static uint64_t
end_cycle(sim_worker_t *worker)
{
    uint64_t start = costs_now();

    if (worker->cycles++ % CLOCK_EVERY == 0) {
        start = costs_record(&worker->costs, COST_CLOCK, start);
    }
    return worker->rejectors == 0 ? bind(worker, start) : reject(worker, start);
}

/*
 * Serves the popped pod. It must come out of the queue once, and only while it waits there. With
 * the lock.
 */
static void
serve(sim_worker_t *worker)
{
    sim_t *sim = worker->sim;
    size_t number = sim_number(worker->popped.object);

    if (number >= sim->scenario->pod_count || sim->pods[number].place != SIM_WAITING) {
        sim_fail(sim, "popped %s, object %zu of %zu, which does not wait in the queue",
                 worker->popped.name, number, sim->scenario->pod_count);
        return;
    }
    sim->pods[number].place = SIM_IN_FLIGHT;
    sim->waiting--;
    place(worker, number);
    worker->holds = true;
    worker->events = sim->result->events;
    worker->state = SIM_SERVING;
    worker->until_ns = sim->now_ns + sim->options->service_ns;
    sim->at_work--;
}

/* What a pop gave. With the lock. */
static void
take(sim_worker_t *worker, schedq_status_t status)
{
    sim_t *sim = worker->sim;

    if (status == SCHEDQ_OK) {
        serve(worker);
    } else if (status != SCHEDQ_EMPTY) {
        sim_fail(sim, "schedq_try_pop: %s: %s", schedq_status_name(status),
                 schedq_worker_error(worker->queue));
    } else if (worker->news == sim->news) {
        worker->state = SIM_IDLE;
        sim->at_work--;
    }
}

void
sim_worker_go(sim_worker_t *worker)
{
    sim_t *sim = worker->sim;
    bool held = worker->holds;

    worker->holds = false;
    worker->news = sim->news;
    if (held && worker->rejectors != 0) {
        /* Noted first: another worker may pop it before this one is back. */
        sim_count_waiting(sim, sim_number(worker->popped.object));
    }
    pthread_mutex_unlock(&sim->lock);

    uint64_t start = held ? end_cycle(worker) : costs_now();
    schedq_status_t status = schedq_try_pop(worker->queue, &worker->popped);
    if (status == SCHEDQ_OK) {
        costs_record(&worker->costs, COST_POP, start);
    }
    pthread_mutex_lock(&sim->lock);
    take(worker, status);
}
