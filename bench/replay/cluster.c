/*
 * Nodes in one array, scanned from end to end: even the largest recorded cluster here has a few
 * thousand nodes, and a scan over them costs microseconds.
 *
 * Free amounts are relaxed atomics, because hints read them while another worker reserves. A hint
 * that sees an amount too large queues a pod in vain; it never sees one too small after a release,
 * because the release happens before the event that the hint judges.
 */
#include "cluster.h"

#include "alloc.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct node {
    _Atomic int64_t cpu_free;
    _Atomic int64_t memory_free;
    _Atomic uint16_t *gpu_free; /* milli of each GPU */
    _Atomic bool joined;
    const workload_node_t *recorded;
} node_t;

struct cluster {
    node_t *nodes;
    size_t count;
    _Atomic uint16_t *gpus; /* of all nodes */
    uint64_t version;
};

#define LOAD(word) atomic_load_explicit(&(word), memory_order_relaxed)
#define STORE(word, value) atomic_store_explicit(&(word), (value), memory_order_relaxed)

static void
init_node(node_t *node, const workload_node_t *recorded, _Atomic uint16_t *gpus)
{
    node->recorded = recorded;
    node->gpu_free = gpus;
    STORE(node->cpu_free, recorded->cpu_milli);
    STORE(node->memory_free, recorded->memory_mib);
    for (unsigned i = 0; i < recorded->gpus; i++) {
        STORE(gpus[i], WORKLOAD_GPU_MILLI);
    }
}

cluster_t *
cluster_new(const workload_t *workload, const uint32_t *numbers, size_t count)
{
    cluster_t *cluster = alloc_array(1, sizeof *cluster);
    size_t gpu_count = 0;

    for (size_t i = 0; i < count; i++) {
        gpu_count += workload->nodes[numbers[i]].gpus;
    }
    cluster->version = 1;
    cluster->count = count;
    cluster->nodes = alloc_array(count, sizeof *cluster->nodes);
    cluster->gpus = alloc_array(gpu_count, sizeof *cluster->gpus);
    gpu_count = 0;
    for (size_t i = 0; i < count; i++) {
        const workload_node_t *recorded = &workload->nodes[numbers[i]];
        init_node(&cluster->nodes[i], recorded, cluster->gpus + gpu_count);
        gpu_count += recorded->gpus;
    }
    return cluster;
}

void
cluster_free(cluster_t *cluster)
{
    if (cluster != NULL) {
        free(cluster->nodes);
        free((void *)cluster->gpus);
        free(cluster);
    }
}

void
cluster_join(cluster_t *cluster, uint32_t node)
{
    cluster->version++;
    STORE(cluster->nodes[node].joined, true);
}

static bool
has_resources(const node_t *node, const workload_pod_t *pod)
{
    return LOAD(node->cpu_free) >= pod->cpu_milli && LOAD(node->memory_free) >= pod->memory_mib;
}

/* Counts GPUs with room; *left becomes what is free on all of them together. */
static bool
has_gpus(const node_t *node, const workload_pod_t *pod, int *left)
{
    int room = 0;
    int sum = 0;

    for (unsigned i = 0; i < node->recorded->gpus; i++) {
        int free_milli = LOAD(node->gpu_free[i]);
        room += free_milli >= pod->gpu_milli;
        sum += free_milli;
    }
    *left = sum - pod->gpus * pod->gpu_milli;
    return room >= pod->gpus && (pod->models == 0 || (pod->models & node->recorded->model) != 0);
}

static unsigned
lacks_of(const node_t *node, const workload_pod_t *pod, int *gpu_left)
{
    if (!has_resources(node, pod)) {
        return CLUSTER_LACKS_RESOURCES;
    }
    return has_gpus(node, pod, gpu_left) ? 0 : CLUSTER_LACKS_GPUS;
}

uint32_t
cluster_find_filtered(const cluster_t *cluster, const workload_pod_t *pod,
                      cluster_filter_fn *filter, void *ctx, unsigned *lacks)
{
    uint32_t best = CLUSTER_NOWHERE;
    int best_gpu = 0;
    int64_t best_cpu = 0;
    unsigned refused = 0;

    for (size_t i = 0; i < cluster->count; i++) {
        const node_t *node = &cluster->nodes[i];
        int gpu_left = 0;
        if (!LOAD(node->joined)) {
            continue;
        }
        unsigned lacking = lacks_of(node, pod, &gpu_left);
        if (lacking == 0 && filter != NULL) {
            lacking = filter(ctx, (uint32_t)i);
        }
        if (lacking != 0) {
            refused |= lacking;
            continue;
        }
        int64_t cpu_left = LOAD(node->cpu_free) - pod->cpu_milli;
        if (best == CLUSTER_NOWHERE || gpu_left < best_gpu ||
            (gpu_left == best_gpu && cpu_left < best_cpu)) {
            best = (uint32_t)i;
            best_gpu = gpu_left;
            best_cpu = cpu_left;
        }
    }
    *lacks = refused != 0 ? refused : CLUSTER_LACKS_RESOURCES;
    return best;
}

uint32_t
cluster_find(const cluster_t *cluster, const workload_pod_t *pod, unsigned *lacks)
{
    return cluster_find_filtered(cluster, pod, NULL, NULL, lacks);
}

/* The fullest GPU that has room and is not in `taken`. */
static unsigned
choose_gpu(const node_t *node, int milli, uint64_t taken)
{
    unsigned best = 0;
    int best_free = WORKLOAD_GPU_MILLI + 1;

    for (unsigned i = 0; i < node->recorded->gpus; i++) {
        int free_milli = LOAD(node->gpu_free[i]);
        if ((taken >> i & 1) == 0 && free_milli >= milli && free_milli < best_free) {
            best = i;
            best_free = free_milli;
        }
    }
    return best;
}

static uint64_t
reserve(node_t *node, const workload_pod_t *pod)
{
    uint64_t taken = 0;

    STORE(node->cpu_free, LOAD(node->cpu_free) - pod->cpu_milli);
    STORE(node->memory_free, LOAD(node->memory_free) - pod->memory_mib);
    for (int i = 0; i < pod->gpus; i++) {
        unsigned gpu = choose_gpu(node, pod->gpu_milli, taken);
        taken |= UINT64_C(1) << gpu;
        STORE(node->gpu_free[gpu], (uint16_t)(LOAD(node->gpu_free[gpu]) - pod->gpu_milli));
    }
    return taken;
}

static void
release(node_t *node, const workload_pod_t *pod, uint64_t gpus)
{
    STORE(node->cpu_free, LOAD(node->cpu_free) + pod->cpu_milli);
    STORE(node->memory_free, LOAD(node->memory_free) + pod->memory_mib);
    for (unsigned i = 0; i < node->recorded->gpus; i++) {
        if ((gpus >> i & 1) != 0) {
            STORE(node->gpu_free[i], (uint16_t)(LOAD(node->gpu_free[i]) + pod->gpu_milli));
        }
    }
}

uint64_t
cluster_reserve(cluster_t *cluster, uint32_t node, const workload_pod_t *pod)
{
    cluster->version++;
    return reserve(&cluster->nodes[node], pod);
}

void
cluster_release(cluster_t *cluster, uint32_t node, const workload_pod_t *pod, uint64_t gpus)
{
    cluster->version++;
    release(&cluster->nodes[node], pod, gpus);
}

bool
cluster_fits(const cluster_t *cluster, uint32_t number, const workload_pod_t *pod)
{
    const node_t *node = &cluster->nodes[number];
    int left = 0;

    return LOAD(node->joined) && lacks_of(node, pod, &left) == 0;
}

bool
cluster_node_ever_fits(const cluster_t *cluster, uint32_t number, const workload_pod_t *pod)
{
    const workload_node_t *node = cluster->nodes[number].recorded;

    return node->cpu_milli >= pod->cpu_milli && node->memory_mib >= pod->memory_mib &&
           node->gpus >= pod->gpus && (pod->models == 0 || (pod->models & node->model) != 0);
}

bool
cluster_ever_fits(const cluster_t *cluster, const workload_pod_t *pod)
{
    for (size_t i = 0; i < cluster->count; i++) {
        if (cluster_node_ever_fits(cluster, (uint32_t)i, pod)) {
            return true;
        }
    }
    return false;
}

uint64_t
cluster_version(const cluster_t *cluster)
{
    return cluster->version;
}

static bool
node_is_empty(const node_t *node)
{
    for (unsigned i = 0; i < node->recorded->gpus; i++) {
        if (LOAD(node->gpu_free[i]) != WORKLOAD_GPU_MILLI) {
            return false;
        }
    }
    return LOAD(node->cpu_free) == node->recorded->cpu_milli &&
           LOAD(node->memory_free) == node->recorded->memory_mib;
}

bool
cluster_is_empty(const cluster_t *cluster)
{
    for (size_t i = 0; i < cluster->count; i++) {
        if (!node_is_empty(&cluster->nodes[i])) {
            return false;
        }
    }
    return true;
}

/* ---- trials ---------------------------------------------------------------------------------- */

struct cluster_trial {
    node_t node;
    _Atomic uint16_t gpus[WORKLOAD_GPUS_MAX];
};

cluster_trial_t *
cluster_trial_new(void)
{
    return alloc_array(1, sizeof(cluster_trial_t));
}

void
cluster_trial_free(cluster_trial_t *trial)
{
    free(trial);
}

void
cluster_trial_begin(cluster_trial_t *trial, const cluster_t *cluster, uint32_t number)
{
    const node_t *node = &cluster->nodes[number];

    init_node(&trial->node, node->recorded, trial->gpus);
    STORE(trial->node.cpu_free, LOAD(node->cpu_free));
    STORE(trial->node.memory_free, LOAD(node->memory_free));
    for (unsigned i = 0; i < node->recorded->gpus; i++) {
        STORE(trial->gpus[i], LOAD(node->gpu_free[i]));
    }
}

void
cluster_trial_release(cluster_trial_t *trial, const workload_pod_t *pod, uint64_t gpus)
{
    release(&trial->node, pod, gpus);
}

void
cluster_trial_reserve(cluster_trial_t *trial, const workload_pod_t *pod)
{
    (void)reserve(&trial->node, pod);
}

unsigned
cluster_trial_lacks(const cluster_trial_t *trial, const workload_pod_t *pod)
{
    int left = 0;

    return lacks_of(&trial->node, pod, &left);
}
