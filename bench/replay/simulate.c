/* Threads of a simulation, its start and its end. */
#include "simulate.h"

#include "alloc.h"
#include "sim_preempt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
sim_fail(sim_t *sim, const char *format, ...)
{
    va_list arguments;

    if (!sim->failed) {
        va_start(arguments, format);
        vsnprintf(sim->why, sizeof sim->why, format, arguments);
        va_end(arguments);
    }
    sim->failed = true;
    sim->stopped = true;
}

/*
 * The life of a worker. There is no thread for time: when nobody is at work any more, whoever
 * notices it moves time on. So one worker needs no second thread, and runs in a fixed order.
 */
static void *
run_worker(void *ctx)
{
    sim_worker_t *worker = ctx;
    sim_t *sim = worker->sim;

    pthread_mutex_lock(&sim->lock);
    while (!sim->stopped) {
        if (worker->state == SIM_AT_WORK) {
            sim_worker_go(worker);
        } else if (sim->at_work == 0) {
            sim_step(sim, worker);
        } else {
            pthread_cond_wait(&worker->wake, &sim->lock);
        }
    }
    for (unsigned i = 0; i < sim->worker_count; i++) {
        pthread_cond_signal(&sim->workers[i].wake);
    }
    pthread_mutex_unlock(&sim->lock);
    return NULL;
}

/* Worker 0 is the calling thread. */
static void
run_workers(sim_t *sim)
{
    unsigned started = 1;

    for (; started < sim->worker_count; started++) {
        int error =
            pthread_create(&sim->workers[started].thread, NULL, run_worker, &sim->workers[started]);
        if (error != 0) {
            pthread_mutex_lock(&sim->lock);
            sim_fail(sim, "cannot start thread %u of %u: %s", started, sim->worker_count,
                     strerror(error));
            pthread_mutex_unlock(&sim->lock);
            break;
        }
    }
    run_worker(&sim->workers[0]);
    for (unsigned i = 1; i < started; i++) {
        pthread_join(sim->workers[i].thread, NULL);
    }
}

static void
open_cluster(sim_t *sim)
{
    const scenario_t *scenario = sim->scenario;
    uint32_t *numbers = alloc_array(scenario->node_count, sizeof *numbers);

    for (size_t i = 0; i < scenario->node_count; i++) {
        numbers[i] = scenario->nodes[i].node;
    }
    sim->cluster = cluster_new(scenario->workload, numbers, scenario->node_count);
    free(numbers);
    sim->verdicts = verdicts_new(scenario->workload);
    sim->pods = alloc_array(scenario->pod_count, sizeof *sim->pods);
    for (size_t i = 0; i < scenario->pod_count; i++) {
        sim->pods[i].possible = cluster_ever_fits(sim->cluster, sim_recorded(sim, i));
        sim->possible_left += sim->pods[i].possible;
    }
}

static void
open_workers(sim_t *sim)
{
    pthread_mutex_init(&sim->lock, NULL);
    sim->worker_count = sim->options->workers;
    sim->at_work = sim->worker_count;
    sim->workers = alloc_array(sim->worker_count, sizeof *sim->workers);
    for (unsigned i = 0; i < sim->worker_count; i++) {
        sim->workers[i].sim = sim;
        pthread_cond_init(&sim->workers[i].wake, NULL);
        costs_init(&sim->workers[i].costs);
    }
}

static void
open_result(sim_t *sim)
{
    const scenario_t *scenario = sim->scenario;
    int64_t first_ns = scenario->pods[0].arrival_ns;
    int64_t span_ns = scenario->pods[scenario->pod_count - 1].arrival_ns - first_ns;
    simulate_result_t *result = sim->result;

    *result = (simulate_result_t){.pods_total = scenario->pod_count};
    costs_init(&result->costs);
    result->depth.interval_ns = span_ns / DEPTH_SAMPLES_MAX + 1;
    result->depth.next_ns = first_ns;
}

static void
close_sim(sim_t *sim)
{
    if (sim->queue != NULL) {
        sim_preempt_carry_out(sim, &sim->workers[0]); /* what an interrupted one left */
        sim_queue_close(sim);
    }
    sim_preempt_close(sim);
    for (unsigned i = 0; i < sim->worker_count; i++) {
        costs_free(&sim->workers[i].costs);
        pthread_cond_destroy(&sim->workers[i].wake);
    }
    pthread_mutex_destroy(&sim->lock);
    free(sim->workers);
    completions_free(&sim->completions);
    free(sim->pods);
    verdicts_free(sim->verdicts);
    cluster_free(sim->cluster);
}

bool
simulate(const scenario_t *scenario, const simulate_options_t *options, simulate_result_t *result,
         char *why, size_t why_size)
{
    sim_t sim = {.scenario = scenario, .options = options, .result = result};

    open_result(&sim);
    open_cluster(&sim);
    open_workers(&sim);
    if (sim_preempt_open(&sim) && sim_queue_open(&sim)) {
        sim.wall_start = sim.wall_shown = costs_now();
        run_workers(&sim);
        result->wall_seconds = (double)(costs_now() - sim.wall_start) / (double)NS_PER_SECOND;
    }
    if (!sim.failed) {
        sim_account(&sim);
    }
    close_sim(&sim);
    if (sim.failed) {
        snprintf(why, why_size, "%s", sim.why);
    }
    return !sim.failed;
}

void
simulate_result_free(simulate_result_t *result)
{
    free(result->classes);
    result->classes = NULL;
    costs_free(&result->costs);
}
