/*
 * One preemption decision, over nodes with 10 pods each: the library (schedq) against the plain way
 * (bare, preempt_plain.h).
 *
 * Usual: on one node in 100 the pods of lower priority together are enough. Worst: every node is a
 * candidate, all ten of its pods are potential victims. Both sides hold the same cluster, and
 * before anything is measured their decisions are compared.
 */
#include "preempt_plain.h"
#include "workload.h"

#include <schedq/preemption.h>

#include <stdlib.h>

enum {
    PODS_PER_NODE = 10,
    NODE_CPU = 8000,
    POD_CPU = 700,
    PREEMPTOR_CPU = 2000,
    PREEMPTOR_PRIORITY = 1000,
    COMPARED = 20, /* decisions */
};

#define GIB (INT64_C(1) << 30)

typedef struct preemption_run {
    const row_t *row;
    const contestant_t *contestant;
    plain_cluster_t *plain;
    schedq_cluster_t *cluster;
    schedq_preemption_t *preemption;
    schedq_preemption_config_t config;
    schedq_preemptor_t preemptor;
    plain_preemptor_t plain_preemptor;
    uint8_t *statuses;
    uint32_t offset;
} preemption_run_t;

static bool
is_worst(const row_t *row)
{
    return row->part == PREEMPTION_WORST || row->part == PREEMPTION_WORST_SAMPLED;
}

static bool
is_sampled(const row_t *row)
{
    return row->part == PREEMPTION_USUAL_SAMPLED || row->part == PREEMPTION_WORST_SAMPLED;
}

/* ---- the cluster ----------------------------------------------------------------------------- */

/* How many of a node's pods have a lower priority than the preemptor. */
static uint32_t
lower_pods(const row_t *row, uint32_t node)
{
    if (is_worst(row)) {
        return PODS_PER_NODE;
    }
    return node % 100 == 37 ? 4 : 1;
}

static void
draw_node(preemption_run_t *run, uint32_t number, uint64_t *random)
{
    plain_node_t *node = &run->plain->nodes[number];
    uint32_t lower = lower_pods(run->row, number);

    *node = (plain_node_t){.cpu = NODE_CPU,
                           .memory = 64 * GIB,
                           .slots = 110,
                           .first = number * PODS_PER_NODE,
                           .count = PODS_PER_NODE};
    for (uint32_t i = 0; i < PODS_PER_NODE; i++) {
        plain_pod_t *pod = &run->plain->pods[node->first + i];
        int32_t priority = (int32_t)(random_next(random) % 5) * 100;

        *pod = (plain_pod_t){
            .priority = i < lower ? priority : priority + PREEMPTOR_PRIORITY,
            .number = node->first + i,
            .start_ns = (int64_t)(random_next(random) % 1000000),
            .cpu = POD_CPU + (int64_t)(random_next(random) % 100),
            .memory = (int64_t)(random_next(random) % 4 + 1) * GIB,
        };
    }
}

static void
copy_node(preemption_run_t *run, uint32_t number)
{
    const plain_node_t *from = &run->plain->nodes[number];
    char name[32];
    const schedq_node_spec_t node = {
        .name = name,
        .allocatable = {.cpu_milli = from->cpu, .memory_bytes = from->memory},
        .pods = from->slots,
    };

    snprintf(name, sizeof name, "node-%u", number);
    must(schedq_cluster_add_node(run->cluster, &node, NULL), "schedq_cluster_add_node");
    for (uint32_t i = 0; i < from->count; i++) {
        const plain_pod_t *pod = &run->plain->pods[from->first + i];
        const schedq_running_spec_t spec = {
            .name = name,
            .object = pod->number,
            .node = number,
            .priority = pod->priority,
            .start_ns = pod->start_ns,
            .requests = {.cpu_milli = pod->cpu, .memory_bytes = pod->memory},
        };

        snprintf(name, sizeof name, "ns/pod-%u", pod->number);
        must(schedq_cluster_add_pod(run->cluster, &spec, NULL), "schedq_cluster_add_pod");
    }
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void
describe(preemption_run_t *run)
{
    schedq_preemption_config_kube_1_34(&run->config);
    if (!is_sampled(run->row)) {
        run->config.candidates_percentage = 100;
    }
    run->statuses = bench_alloc(run->row->count, 1);
    memset(run->statuses, SCHEDQ_NODE_UNSCHEDULABLE, run->row->count);
    schedq_preemptor_init(&run->preemptor);
    run->preemptor.priority = PREEMPTOR_PRIORITY;
    run->preemptor.requests =
        (schedq_amounts_t){.cpu_milli = PREEMPTOR_CPU, .memory_bytes = 4 * GIB};
    run->preemptor.statuses = run->statuses;
    run->preemptor.status_count = run->row->count;
    run->plain_preemptor = (plain_preemptor_t){
        .priority = PREEMPTOR_PRIORITY,
        .cpu = PREEMPTOR_CPU,
        .memory = 4 * GIB,
        .statuses = run->statuses,
        .percentage = run->config.candidates_percentage,
        .absolute = run->config.candidates_absolute,
    };
}

static uint32_t
next_offset(preemption_run_t *run)
{
    run->offset += 7919;
    return run->offset;
}

static void
decide(preemption_run_t *run, uint32_t offset, schedq_preemption_decision_t *decision)
{
    run->preemptor.offset = offset;
    must(schedq_preempt(run->cluster, run->preemption, &run->config, &run->preemptor, decision),
         "schedq_preempt");
}

static const plain_candidate_t *
decide_plainly(preemption_run_t *run, uint32_t offset)
{
    run->plain_preemptor.offset = offset;
    return plain_decide(run->plain, &run->plain_preemptor);
}

static void
compare(preemption_run_t *run, uint32_t offset)
{
    schedq_preemption_decision_t decision;
    const plain_candidate_t *plain = decide_plainly(run, offset);

    schedq_preemption_decision_init(&decision);
    decide(run, offset, &decision);
    if (decision.candidate_count != run->plain->candidate_count ||
        (plain == NULL) != (decision.victim_count == 0) ||
        (plain != NULL &&
         (plain->node != decision.chosen || plain->victim_count != decision.victim_count))) {
        bench_fail("%s: the plain way decides otherwise: %u candidates, not %u", run->row->name,
                   run->plain->candidate_count, decision.candidate_count);
    }
    for (uint32_t i = 0; i < decision.victim_count; i++) {
        schedq_running_view_t view;

        must(schedq_cluster_pod(run->cluster, decision.victims[i], &view), "schedq_cluster_pod");
        if (view.object != plain->victims[i]) {
            bench_fail("%s: the plain way has other victims", run->row->name);
        }
    }
}

/* ---- the row --------------------------------------------------------------------------------- */

static void *
open_preemption(const subject_t *subject)
{
    preemption_run_t *run = bench_alloc(1, sizeof *run);
    uint64_t random = subject->seed;
    char why[200];

    *run = (preemption_run_t){.row = subject->row, .contestant = subject->contestant};
    run->plain = plain_make(run->row->count, PODS_PER_NODE);
    must(schedq_cluster_create(NULL, &run->cluster, why, sizeof why), "schedq_cluster_create");
    must(schedq_preemption_create(NULL, &run->preemption, why, sizeof why),
         "schedq_preemption_create");
    for (uint32_t i = 0; i < run->row->count; i++) {
        draw_node(run, i, &random);
        copy_node(run, i);
    }
    describe(run);
    for (uint32_t i = 0; i < COMPARED; i++) {
        compare(run, next_offset(run));
    }
    return run;
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    preemption_run_t *run = ctx;
    bool plain = run->contestant->engine == 0;
    schedq_preemption_decision_t decision;

    schedq_preemption_decision_init(&decision);
    while (gbench_next(thread)) {
        if (plain ? decide_plainly(run, next_offset(run)) == NULL
                  : (decide(run, next_offset(run), &decision), decision.chosen == SCHEDQ_NO_NODE)) {
            bench_fail("%s: no node was chosen", run->row->name);
        }
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    samples[0].ns = seconds * 1e9 / ((preemption_run_t *)ctx)->row->rounds;
}

static void
close_preemption(void *ctx)
{
    preemption_run_t *run = ctx;

    schedq_preemption_destroy(run->preemption);
    schedq_cluster_destroy(run->cluster);
    plain_free(run->plain);
    free(run->statuses);
    free(run);
}

const workload_t preemption_workload = {
    .suite = "preemption",
    .needs = ABLE_QUEUE,
    .engines_alike = true,
    .open = open_preemption,
    .body = body,
    .settle = settle,
    .close = close_preemption,
};
