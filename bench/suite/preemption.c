/*
 * One preemption decision, over nodes with 10 pods each: the library (schedq) against the plain way
 * (bare, preempt_plain.h).
 *
 * Usual: on one node in 100 the pods of lower priority together are enough. Worst: every node is a
 * candidate, all ten of its pods are potential victims. Before each decision CHANGES pods have gone
 * or come, one going and one coming on the same node, which both sides are told, and are charged
 * for. Both hold the same cluster, and before anything is measured their decisions are compared.
 */
#include "preempt_plain.h"
#include "workload.h"

#include <schedq/preemption.h>

#include <stdlib.h>
#include <string.h>

enum {
    PODS_PER_NODE = 10,
    NODE_CPU = 8000,
    POD_CPU = 700,
    PREEMPTOR_CPU = 2000,
    PREEMPTOR_PRIORITY = 1000,
    COMPARED = 20, /* decisions */
    CHANGES = 10,
};

#define GIB (INT64_C(1) << 30)

/* Sides of a run. */
enum { PLAIN = 1, LIBRARY = 2 };

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
    unsigned takes_part; /* sides that are told of changes, and decide */
    uint32_t offset;
    uint64_t random;
    int64_t last_start_ns;
    schedq_running_t *running; /* the library's handles, by number */
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
copy_pod(preemption_run_t *run, uint32_t node, const plain_pod_t *pod)
{
    pod_name_t name;
    const schedq_running_spec_t spec = {
        .struct_size = sizeof(schedq_running_spec_t),
        .name = name.text,
        .object = pod->number,
        .node = node,
        .priority = pod->priority,
        .start_ns = pod->start_ns,
        .requests = {.cpu_milli = pod->cpu, .memory_bytes = pod->memory},
    };

    pod_name_make(&name, pod->number);
    must(schedq_cluster_add_pod(run->cluster, &spec, &run->running[pod->number]),
         "schedq_cluster_add_pod");
}

static void
copy_node(preemption_run_t *run, uint32_t number)
{
    const plain_node_t *from = &run->plain->nodes[number];
    char name[32];
    const schedq_node_spec_t node = {
        .struct_size = sizeof(schedq_node_spec_t),
        .name = name,
        .allocatable = {.cpu_milli = from->cpu, .memory_bytes = from->memory},
        .pods = from->slots,
    };

    snprintf(name, sizeof name, "node-%u", number);
    must(schedq_cluster_add_node(run->cluster, &node, NULL), "schedq_cluster_add_node");
    for (uint32_t i = 0; i < from->count; i++) {
        copy_pod(run, number, &run->plain->pods[from->first + i]);
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

/* A pod of the same priority that started last. */
static void
replace_pod(preemption_run_t *run, uint32_t number)
{
    plain_pod_t pod = run->plain->pods[number];
    uint32_t node = number / PODS_PER_NODE;

    pod.start_ns = ++run->last_start_ns;
    pod.cpu = POD_CPU + (int64_t)(random_next(&run->random) % 100);
    if (run->takes_part & PLAIN) {
        plain_replace(run->plain, node, number, &pod);
    }
    if (run->takes_part & LIBRARY) {
        must(schedq_cluster_remove_pod(run->cluster, run->running[number]),
             "schedq_cluster_remove_pod");
        copy_pod(run, node, &pod);
    }
}

static void
change(preemption_run_t *run)
{
    for (unsigned i = 0; i < CHANGES / 2; i++) {
        replace_pod(run, (uint32_t)(random_next(&run->random) % run->plain->pod_count));
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
    run->preemptor = (schedq_preemptor_t)SCHEDQ_PREEMPTOR_INIT;
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
    schedq_preemption_decision_t decision = SCHEDQ_PREEMPTION_DECISION_INIT;
    const plain_candidate_t *plain = decide_plainly(run, offset);

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

    *run = (preemption_run_t){.row = subject->row,
                              .contestant = subject->contestant,
                              .takes_part = PLAIN | LIBRARY,
                              .random = scramble(subject->seed),
                              .last_start_ns = 1000000};
    run->running = bench_alloc((size_t)run->row->count * PODS_PER_NODE, sizeof *run->running);
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
        change(run);
        compare(run, next_offset(run));
    }
    /* The other side's cluster stays behind from here on. */
    run->takes_part = subject->contestant->engine == 0 ? PLAIN : LIBRARY;
    return run;
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    preemption_run_t *run = ctx;
    bool plain = run->takes_part == PLAIN;
    schedq_preemption_decision_t decision = SCHEDQ_PREEMPTION_DECISION_INIT;

    while (gbench_next(thread)) {
        change(run);
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
quicken(row_t *row)
{
    row->count = row->count > 1000 ? row->count / 10 : row->count;
}

static void
close_preemption(void *ctx)
{
    preemption_run_t *run = ctx;

    schedq_preemption_destroy(run->preemption);
    schedq_cluster_destroy(run->cluster);
    plain_free(run->plain);
    free(run->statuses);
    free(run->running);
    free(run);
}

const workload_t preemption_workload = {
    .suite = "preemption",
    .values = one_value,
    .groups = GROUP_ENGINES | GROUP_BARE,
    .needs = ABLE_QUEUE,
    .engines_alike = true,
    .quicken = quicken,
    .open = open_preemption,
    .body = body,
    .settle = settle,
    .close = close_preemption,
};
