/* The decision of preempt_plain.h. */
#include "preempt_plain.h"

#include "support.h"

#include <stdlib.h>

enum { LOWER_MAX = 256 };

plain_cluster_t *
plain_make(uint32_t nodes, uint32_t pods_per_node)
{
    plain_cluster_t *cluster = bench_alloc(1, sizeof *cluster);

    cluster->node_count = nodes;
    cluster->pod_count = nodes * pods_per_node;
    cluster->nodes = bench_alloc(nodes, sizeof *cluster->nodes);
    cluster->pods = bench_alloc(cluster->pod_count, sizeof *cluster->pods);
    cluster->rooms = bench_alloc(nodes, sizeof *cluster->rooms);
    cluster->candidates = bench_alloc(nodes, sizeof *cluster->candidates);
    cluster->victims = bench_alloc(cluster->pod_count, sizeof *cluster->victims);
    return cluster;
}

void
plain_free(plain_cluster_t *cluster)
{
    free(cluster->nodes);
    free(cluster->pods);
    free(cluster->rooms);
    free(cluster->candidates);
    free(cluster->victims);
    free(cluster);
}

/* ---- rooms ----------------------------------------------------------------------------------- */

/* `times` is 1 for a pod that comes, -1 for one that goes. */
static void
count_pod(plain_cluster_t *cluster, uint32_t node, const plain_pod_t *pod, int times)
{
    plain_room_t *room = &cluster->rooms[node];

    if (pod->priority < cluster->room_priority) {
        room->lower += (uint32_t)times;
    } else {
        room->cpu -= times * pod->cpu;
        room->memory -= times * pod->memory;
        room->slots -= times;
    }
}

static void
sum_rooms(plain_cluster_t *cluster, int32_t priority)
{
    cluster->has_rooms = true;
    cluster->room_priority = priority;
    for (uint32_t i = 0; i < cluster->node_count; i++) {
        const plain_node_t *node = &cluster->nodes[i];

        cluster->rooms[i] = (plain_room_t){node->cpu, node->memory, (int32_t)node->slots, 0};
        for (uint32_t j = 0; j < node->count; j++) {
            count_pod(cluster, i, &cluster->pods[node->first + j], 1);
        }
    }
}

void
plain_replace(plain_cluster_t *cluster, uint32_t node, uint32_t pod, const plain_pod_t *other)
{
    if (cluster->has_rooms) {
        count_pod(cluster, node, &cluster->pods[pod], -1);
        count_pod(cluster, node, other, 1);
    }
    cluster->pods[pod] = *other;
}

/* ---- one node -------------------------------------------------------------------------------- */

static bool
more_important(const plain_pod_t *a, const plain_pod_t *b)
{
    return a->priority != b->priority ? a->priority > b->priority : a->start_ns < b->start_ns;
}

/* Into `lower`, most important first. */
static void
insert(const plain_pod_t **lower, uint32_t count, const plain_pod_t *pod)
{
    while (count > 0 && more_important(pod, lower[count - 1])) {
        lower[count] = lower[count - 1];
        count--;
    }
    lower[count] = pod;
}

/* False: no candidate. Victims go to where candidate->victims points. */
static bool
evaluate(const plain_cluster_t *cluster, const plain_preemptor_t *preemptor,
         plain_candidate_t *candidate)
{
    const plain_room_t *room = &cluster->rooms[candidate->node];
    const plain_pod_t *lower[LOWER_MAX];
    uint32_t lower_count = 0;
    int64_t cpu = room->cpu - preemptor->cpu;
    int64_t memory = room->memory - preemptor->memory;
    int64_t slots = room->slots - 1;

    if (room->lower == 0 || cpu < 0 || memory < 0 || slots < 0) {
        return false;
    }
    const plain_node_t *node = &cluster->nodes[candidate->node];
    const plain_pod_t *pods = &cluster->pods[node->first];

    for (uint32_t i = 0; i < node->count; i++) {
        if (pods[i].priority < preemptor->priority) {
            lower[lower_count++] = &pods[i];
        }
    }
    for (uint32_t i = 1; i < lower_count; i++) {
        insert(lower, i, lower[i]);
    }
    candidate->victim_count = 0;
    candidate->priority_sum = 0;
    for (uint32_t i = 0; i < lower_count; i++) {
        const plain_pod_t *pod = lower[i];

        if (cpu >= pod->cpu && memory >= pod->memory && slots >= 1) {
            cpu -= pod->cpu;
            memory -= pod->memory;
            slots--;
            continue;
        }
        if (candidate->victim_count == 0) {
            candidate->first_priority = pod->priority;
            candidate->earliest_start_ns = pod->start_ns; /* sorted: of its priority the earliest */
        }
        candidate->victims[candidate->victim_count++] = pod->number;
        candidate->priority_sum += (uint64_t)((int64_t)pod->priority - INT32_MIN);
    }
    return candidate->victim_count > 0;
}

/* ---- the dry run ----------------------------------------------------------------------------- */

static uint32_t
count_potential(const plain_cluster_t *cluster, const plain_preemptor_t *preemptor)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < cluster->node_count; i++) {
        count += preemptor->statuses[i];
    }
    return count;
}

static uint32_t
find_potential(const plain_preemptor_t *preemptor, uint32_t number)
{
    uint32_t node = 0;

    while (preemptor->statuses[node] == 0 || number-- > 0) {
        node++;
    }
    return node;
}

static void
dry_run(plain_cluster_t *cluster, const plain_preemptor_t *preemptor)
{
    uint32_t potential = count_potential(cluster, preemptor);
    uint32_t wanted = (uint32_t)((uint64_t)potential * preemptor->percentage / 100);
    uint32_t *victims = cluster->victims;

    cluster->candidate_count = 0;
    if (potential == 0) {
        return;
    }
    wanted = wanted < preemptor->absolute ? preemptor->absolute : wanted;
    wanted = wanted > potential ? potential : wanted;

    uint32_t node = find_potential(preemptor, preemptor->offset % potential);

    for (uint32_t i = 0; i < cluster->node_count && cluster->candidate_count < wanted; i++) {
        plain_candidate_t *candidate = &cluster->candidates[cluster->candidate_count];

        candidate->node = node;
        candidate->victims = victims;
        if (preemptor->statuses[node] != 0 && evaluate(cluster, preemptor, candidate)) {
            victims += candidate->victim_count;
            cluster->candidate_count++;
        }
        node = node + 1 == cluster->node_count ? 0 : node + 1;
    }
}

static bool
better(const plain_candidate_t *a, const plain_candidate_t *b)
{
    if (a->first_priority != b->first_priority) {
        return a->first_priority < b->first_priority;
    }
    if (a->priority_sum != b->priority_sum) {
        return a->priority_sum < b->priority_sum;
    }
    if (a->victim_count != b->victim_count) {
        return a->victim_count < b->victim_count;
    }
    return a->earliest_start_ns > b->earliest_start_ns;
}

const plain_candidate_t *
plain_decide(plain_cluster_t *cluster, const plain_preemptor_t *preemptor)
{
    const plain_candidate_t *best = NULL;

    if (!cluster->has_rooms || cluster->room_priority != preemptor->priority) {
        sum_rooms(cluster, preemptor->priority);
    }
    dry_run(cluster, preemptor);
    for (uint32_t i = 0; i < cluster->candidate_count; i++) {
        if (best == NULL || better(&cluster->candidates[i], best)) {
            best = &cluster->candidates[i];
        }
    }
    return best;
}
