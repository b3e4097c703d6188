/* A worker's cycle. */
#include "sim.h"

/* FNV-1a over the eight bytes of a word, low byte first. */
static uint64_t
digest_word(uint64_t digest, uint64_t word)
{
    for (int i = 0; i < 8; i++) {
        digest = (digest ^ (word >> (8 * i) & 0xff)) * UINT64_C(0x100000001b3);
    }
    return digest;
}

/* A decision is (pod, node, virtual time); node UINT32_MAX is "nowhere". */
static void
note_decision(sim_t *sim, size_t pod, uint32_t node)
{
    simulate_result_t *result = sim->result;
    const scenario_pod_t *planned = &sim->scenario->pods[pod];
    uint32_t recorded = node == CLUSTER_NOWHERE ? CLUSTER_NOWHERE : sim->scenario->nodes[node].node;

    result->digest = digest_word(result->digest, (uint64_t)planned->copy << 32 | planned->pod);
    result->digest = digest_word(result->digest, recorded);
    result->digest = digest_word(result->digest, (uint64_t)sim->now_ns);
    result->attempts++;
}

/* Finds a node for the popped pod and reserves it there, at the time of the pop. With the lock. */
static void
place(sim_worker_t *worker)
{
    sim_t *sim = worker->sim;
    size_t number = sim_number(worker->popped.object);
    sim_pod_t *pod = &sim->pods[number];
    const workload_pod_t *recorded = sim_recorded(sim, number);
    unsigned lacks = 0;

    pod->attempts++;
    pod->node = cluster_find(sim->cluster, recorded, &lacks);
    note_decision(sim, number, pod->node);
    if (pod->node == CLUSTER_NOWHERE) {
        worker->rejectors = ((lacks & CLUSTER_LACKS_RESOURCES) != 0 ? sim->resources_bit : 0) |
                            ((lacks & CLUSTER_LACKS_GPUS) != 0 ? sim->gpus_bit : 0);
        sim->result->first_failed += pod->attempts == 1;
        return;
    }
    worker->rejectors = 0;
    pod->gpus = cluster_reserve(sim->cluster, pod->node, recorded);
}

/* The end of a cycle that found a node: from here on the pod runs. */
static void
bind(sim_worker_t *worker)
{
    sim_t *sim = worker->sim;
    uint32_t number = (uint32_t)sim_number(worker->popped.object);
    sim_pod_t *pod = &sim->pods[number];

    uint64_t start = costs_now();
    schedq_status_t status = schedq_done(worker->queue, worker->popped.token);
    costs_record(&worker->costs, COST_DONE, start);

    pthread_mutex_lock(&sim->lock);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_done(%s): %s", sim_recorded(sim, number)->name, schedq_status_name(status));
    }
    pod->place = SIM_RUNNING;
    pod->bound_ns = sim->now_ns;
    sim->quiet_ns = sim->now_ns;
    sim->possible_left--;
    sim->result->pods_scheduled++;
    completions_push(&sim->completions, sim->now_ns + sim_recorded(sim, number)->run_ns, number);
    pthread_mutex_unlock(&sim->lock);
}

void
sim_wake_idle(sim_t *sim)
{
    sim->news++;
    for (unsigned i = 0; i < sim->worker_count; i++) {
        if (sim->workers[i].state == SIM_IDLE) {
            sim->workers[i].state = SIM_AT_WORK;
            sim->at_work++;
        }
    }
    if (sim->worker_count > 1) {
        pthread_cond_broadcast(&sim->changed);
    }
}

/* The end of a cycle that found none. */
static void
reject(sim_worker_t *worker)
{
    sim_t *sim = worker->sim;
    schedq_failure_t failure;
    schedq_result_t result;

    schedq_failure_init(&failure);
    failure.unschedulable = worker->rejectors;
    /* Noted first: another worker may pop it before this one is back. */
    pthread_mutex_lock(&sim->lock);
    sim->pods[sim_number(worker->popped.object)].place = SIM_WAITING;
    sim->waiting++;
    sim->result->waiting_max = sim->waiting > sim->result->waiting_max ? sim->waiting : sim->result->waiting_max;
    pthread_mutex_unlock(&sim->lock);

    uint64_t start = costs_now();
    schedq_status_t status = schedq_add_unschedulable(worker->queue, &worker->popped.token, &failure, &result);
    costs_record(&worker->costs, COST_ADD_UNSCHEDULABLE, start);
    if (status == SCHEDQ_OK && result.poppable == 0) {
        return;
    }
    pthread_mutex_lock(&sim->lock);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_add_unschedulable(%s): %s: %s",
                 sim_recorded(sim, sim_number(worker->popped.object))->name, schedq_status_name(status),
                 schedq_worker_error(worker->queue));
    }
    sim_wake_idle(sim);
    pthread_mutex_unlock(&sim->lock);
}

/* Two readings of the clock with nothing in between, as often as there are cycles. */
static void
time_the_clock(sim_worker_t *worker)
{
    uint64_t start = costs_now();

    costs_record(&worker->costs, COST_CLOCK, start);
}

/* A pod must come out of the queue once, and only while it waits there. With the lock. */
static bool
check_popped(sim_worker_t *worker)
{
    sim_t *sim = worker->sim;
    size_t number = sim_number(worker->popped.object);

    if (number >= sim->scenario->pod_count || sim->pods[number].place != SIM_WAITING) {
        sim_fail(sim, "popped %s, object %zu of %zu, which does not wait in the queue", worker->popped.name, number,
                 sim->scenario->pod_count);
        return false;
    }
    sim->pods[number].place = SIM_IN_FLIGHT;
    sim->waiting--;
    return true;
}

/* Serves the popped pod. With the lock. */
static void
serve(sim_worker_t *worker)
{
    sim_t *sim = worker->sim;

    if (!check_popped(worker)) {
        return;
    }
    place(worker);
    worker->holds = true;
    worker->state = SIM_SERVING;
    worker->until_ns = sim->now_ns + sim->options->service_ns;
    sim->at_work--;
}

static void
take(sim_worker_t *worker)
{
    sim_t *sim = worker->sim;

    uint64_t start = costs_now();
    schedq_status_t status = schedq_try_pop(worker->queue, &worker->popped);
    if (status == SCHEDQ_OK) {
        costs_record(&worker->costs, COST_POP, start);
    }
    pthread_mutex_lock(&sim->lock);
    if (status == SCHEDQ_OK) {
        serve(worker);
    } else if (status != SCHEDQ_EMPTY) {
        sim_fail(sim, "schedq_try_pop: %s: %s", schedq_status_name(status), schedq_worker_error(worker->queue));
    } else if (worker->news == sim->news) {
        worker->state = SIM_IDLE;
        sim->at_work--;
    }
    pthread_mutex_unlock(&sim->lock);
}

void
sim_worker_go(sim_worker_t *worker)
{
    if (worker->holds) {
        worker->holds = false;
        if (worker->rejectors == 0) {
            bind(worker);
        } else {
            reject(worker);
        }
        time_the_clock(worker);
    }
    pthread_mutex_lock(&worker->sim->lock);
    worker->news = worker->sim->news;
    pthread_mutex_unlock(&worker->sim->lock);
    take(worker);
}
