/*
 * Events that the host decides, while `pods` pods are parked: CANDIDATES: ns for each pod that is
 * copied out; APPLY: ns for each pod that is made active, of MOVED that one rejector has.
 */
#include "contestant_schedq.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>

enum { SETS = 32, MOVED = 50000, AT_A_TIME = 64 };

typedef struct host_run {
    const row_t *row;
    schedq_t *queue;
    schedq_worker_t *worker;
    uint64_t all_bit;
    uint64_t moved_bit;
    uint64_t set_bits[SETS];
    uint32_t moved;
    uint64_t *refs;
} host_run_t;

static uint64_t
rejectors_of(const host_run_t *run, uint64_t object)
{
    return object < run->moved ? run->moved_bit : run->all_bit | run->set_bits[object % SETS];
}

/* No event has been drawn: nothing is newer than 0. */
static void
park_all(host_run_t *run)
{
    schedq_popped_t popped;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    failure.place = SCHEDQ_PARKED;
    while (schedq_try_pop(run->worker, &popped) == SCHEDQ_OK) {
        failure.unschedulable = rejectors_of(run, popped.object);
        must(schedq_fail(run->worker, &popped.token, &failure, NULL), "schedq_fail");
    }
}

static uint64_t
name_plugin(host_run_t *run, const char *name)
{
    char why[200] = "";
    uint64_t bit = 0;

    must(schedq_plugin_name(run->queue, 0, name, strlen(name), &bit, why, sizeof why),
         "schedq_plugin_name");
    return bit;
}

static void *
open_host(const subject_t *subject)
{
    host_run_t *run = bench_alloc(1, sizeof *run);
    uint64_t random = subject->seed;
    schedq_config_t config;
    char name[16];

    run->row = subject->row;
    run->moved = run->row->pods / 10 < MOVED ? run->row->pods / 10 : MOVED;
    run->refs = bench_alloc(run->moved, sizeof *run->refs);
    config_for(&config, subject->contestant);
    config.decide = SCHEDQ_DECIDE_HOST;
    config.max_backoff_ns = 0;
    run->queue = queue_create(subject->contestant, &config, run->row->pods, 1);
    run->all_bit = name_plugin(run, "all");
    run->moved_bit = name_plugin(run, "moved");
    for (unsigned i = 0; i < SETS; i++) {
        snprintf(name, sizeof name, "set-%u", i);
        run->set_bits[i] = name_plugin(run, name);
    }
    run->worker = worker_create(run->queue);
    for (uint32_t i = 0; i < run->row->pods; i++) {
        worker_add(run->worker, i, random_priority(&random));
    }
    park_all(run);
    return run;
}

/* Copies all candidates out; returns how many, and their refs where there is room. */
static uint32_t
look(host_run_t *run, uint64_t rejectors, uint64_t *refs)
{
    schedq_candidate_t found[AT_A_TIME];
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    uint32_t all = 0;
    size_t count = 0;
    schedq_status_t status;

    query.rejectors = rejectors;
    while ((status = schedq_candidates(run->worker, &query, found, AT_A_TIME, &count)) ==
           SCHEDQ_OK) {
        for (size_t i = 0; refs != NULL && i < count && all + i < run->moved; i++) {
            refs[all + i] = found[i].ref;
        }
        all += (uint32_t)count;
    }
    if (status != SCHEDQ_EMPTY) {
        must(status, "schedq_candidates");
    }
    return all;
}

static void
expect(const host_run_t *run, uint32_t count, uint32_t expected)
{
    if (count != expected) {
        bench_fail("%s: %u candidates, not %u", run->row->name, count, expected);
    }
}

static void
apply_all(host_run_t *run)
{
    for (uint32_t i = 0; i < run->moved; i++) {
        const schedq_decision_t decision = {.struct_size = sizeof(schedq_decision_t),
                                            .ref = run->refs[i],
                                            .place = SCHEDQ_ACTIVE,
                                            .event = SCHEDQ_EVENT_WILDCARD};

        must(schedq_apply(run->worker, &decision, NULL), "schedq_apply");
    }
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    host_run_t *run = ctx;

    while (gbench_next(thread)) {
        if (run->row->part == HOST_CANDIDATES) {
            expect(run, look(run, run->all_bit | run->moved_bit, NULL), run->row->pods);
            continue;
        }
        gbench_pause(thread);
        expect(run, look(run, run->moved_bit, run->refs), run->moved);
        gbench_resume(thread);
        apply_all(run);
        gbench_pause(thread);
        park_all(run);
        gbench_resume(thread);
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const host_run_t *run = ctx;
    uint32_t pods = run->row->part == HOST_CANDIDATES ? run->row->pods : run->moved;

    samples[0].ns = seconds * 1e9 / run->row->rounds / pods;
}

static void
close_host(void *ctx)
{
    host_run_t *run = ctx;

    worker_end(run->worker);
    queue_destroy(run->queue);
    free(run->refs);
    free(run);
}

const workload_t host_workload = {
    .suite = "host",
    .values = one_value,
    .groups = GROUP_ENGINES,
    .needs = ABLE_EVENTS,
    .open = open_host,
    .body = body,
    .settle = settle,
    .close = close_host,
};
