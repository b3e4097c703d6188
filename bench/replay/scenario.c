/* Copies, jitter, and the choice of nodes. */
#include "scenario.h"

#include "alloc.h"
#include "hash.h"

#include <stdlib.h>

/* What a random number is for: each use has its own stream. */
enum { STREAM_JITTER = 1, STREAM_KEEP, STREAM_LATE, STREAM_JOIN };

static uint64_t
random_of(const scenario_options_t *options, uint64_t stream, uint64_t a, uint64_t b)
{
    return hash_mix(hash_mix(hash_mix(hash_mix(options->seed) + stream) + a) + b);
}

/* A time in [0, span_ns). */
static int64_t
random_time(const scenario_options_t *options, uint64_t stream, uint64_t a, uint64_t b,
            int64_t span_ns)
{
    return span_ns <= 0 ? 0 : (int64_t)(random_of(options, stream, a, b) % (uint64_t)span_ns);
}

static int
compare_pods(const void *left, const void *right)
{
    const scenario_pod_t *a = left;
    const scenario_pod_t *b = right;

    if (a->arrival_ns != b->arrival_ns) {
        return a->arrival_ns < b->arrival_ns ? -1 : 1;
    }
    if (a->copy != b->copy) {
        return a->copy < b->copy ? -1 : 1;
    }
    return a->pod < b->pod ? -1 : a->pod > b->pod;
}

static void
copy_pods(scenario_t *scenario, const scenario_options_t *options)
{
    const workload_t *workload = scenario->workload;
    scenario_pod_t *next;

    scenario->pod_count = workload->pod_count * options->copies;
    scenario->pods = next = alloc_array(scenario->pod_count, sizeof *scenario->pods);
    for (uint32_t copy = 0; copy < options->copies; copy++) {
        for (uint32_t pod = 0; pod < workload->pod_count; pod++) {
            int64_t jitter_ns =
                copy == 0 ? 0 : random_time(options, STREAM_JITTER, copy, pod, options->jitter_ns);
            *next++ = (scenario_pod_t){
                .arrival_ns = workload->pods[pod].arrival_ns + jitter_ns,
                .pod = pod,
                .copy = copy,
            };
        }
    }
    qsort(scenario->pods, scenario->pod_count, sizeof *scenario->pods, compare_pods);
}

/* A node and its place in a random order. */
typedef struct draw {
    uint64_t random;
    uint32_t node;
} draw_t;

static int
compare_draws(const void *left, const void *right)
{
    const draw_t *a = left;
    const draw_t *b = right;

    if (a->random != b->random) {
        return a->random < b->random ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node;
}

static int
compare_nodes(const void *left, const void *right)
{
    const scenario_node_t *a = left;
    const scenario_node_t *b = right;

    if (a->arrival_ns != b->arrival_ns) {
        return a->arrival_ns < b->arrival_ns ? -1 : 1;
    }
    return a->node < b->node ? -1 : a->node > b->node;
}

static size_t
share_of(size_t count, double share)
{
    size_t part = (size_t)((double)count * share + 0.5);

    return part < count ? part : count;
}

/* Puts the draws in a random order, so that their first part is a random choice. */
static void
shuffle(draw_t *draws, size_t count, const scenario_options_t *options, uint64_t stream)
{
    for (size_t i = 0; i < count; i++) {
        draws[i].random = random_of(options, stream, draws[i].node, 0);
    }
    qsort(draws, count, sizeof *draws, compare_draws);
}

static void
choose_nodes(scenario_t *scenario, const scenario_options_t *options)
{
    const workload_t *workload = scenario->workload;
    int64_t first_ns = scenario->pods[0].arrival_ns;
    int64_t span_ns = scenario->pods[scenario->pod_count - 1].arrival_ns - first_ns;
    draw_t *draws = alloc_array(workload->node_count, sizeof *draws);

    for (uint32_t i = 0; i < workload->node_count; i++) {
        draws[i].node = i;
    }
    shuffle(draws, workload->node_count, options, STREAM_KEEP);
    size_t kept = share_of(workload->node_count, options->nodes_fraction);
    kept = kept == 0 ? 1 : kept;
    shuffle(draws, kept, options, STREAM_LATE);
    size_t late = share_of(kept, options->late_nodes);

    scenario->node_count = kept;
    scenario->nodes = alloc_array(kept, sizeof *scenario->nodes);
    for (size_t i = 0; i < kept; i++) {
        uint32_t node = draws[i].node;
        int64_t join_ns = first_ns + random_time(options, STREAM_JOIN, node, 0, span_ns);
        scenario->nodes[i].node = node;
        scenario->nodes[i].arrival_ns = i < late ? join_ns : workload->nodes[node].arrival_ns;
    }
    free(draws);
    qsort(scenario->nodes, kept, sizeof *scenario->nodes, compare_nodes);
}

void
scenario_init(scenario_t *scenario, const workload_t *workload, const scenario_options_t *options)
{
    *scenario = (scenario_t){.workload = workload};
    copy_pods(scenario, options);
    choose_nodes(scenario, options);
}

void
scenario_clear(scenario_t *scenario)
{
    free(scenario->pods);
    free(scenario->nodes);
    *scenario = (scenario_t){0};
}
