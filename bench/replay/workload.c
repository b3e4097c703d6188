/* The workload in memory: growing arrays, interned labels, one stable sort at the end. */
#include "workload.h"

#include "alloc.h"

#include <stdlib.h>
#include <string.h>

void
workload_init(workload_t *workload)
{
    memset(workload, 0, sizeof *workload);
    workload_label(&workload->classes, "none", WORKLOAD_CLASSES_MAX);
}

static void
clear_labels(workload_labels_t *labels)
{
    for (size_t i = 0; i < labels->count; i++) {
        free(labels->names[i]);
    }
    free(labels->names);
}

void
workload_clear(workload_t *workload)
{
    for (size_t i = 0; i < workload->pod_count; i++) {
        free(workload->pods[i].name);
    }
    for (size_t i = 0; i < workload->node_count; i++) {
        free(workload->nodes[i].name);
    }
    free(workload->pods);
    free(workload->nodes);
    clear_labels(&workload->classes);
    clear_labels(&workload->models);
    free(workload->source);
    memset(workload, 0, sizeof *workload);
}

void
workload_add_pod(workload_t *workload, const workload_pod_t *pod)
{
    workload->pods =
        alloc_grow(workload->pods, &workload->pod_capacity, workload->pod_count + 1, sizeof *pod);
    workload->pods[workload->pod_count++] = *pod;
}

void
workload_add_node(workload_t *workload, const workload_node_t *node)
{
    workload->nodes = alloc_grow(workload->nodes, &workload->node_capacity,
                                 workload->node_count + 1, sizeof *node);
    workload->nodes[workload->node_count++] = *node;
}

size_t
workload_label(workload_labels_t *labels, const char *name, size_t limit)
{
    for (size_t i = 0; i < labels->count; i++) {
        if (strcmp(labels->names[i], name) == 0) {
            return i;
        }
    }
    if (labels->count == limit) {
        return limit;
    }
    labels->names =
        alloc_grow(labels->names, &labels->capacity, labels->count + 1, sizeof *labels->names);
    labels->names[labels->count] = alloc_text(name, strlen(name));
    return labels->count++;
}

/* What the sort moves: qsort is not stable, the rank in the file makes it so. */
typedef struct sort_key {
    int64_t arrival_ns;
    size_t rank;
} sort_key_t;

static int
compare_keys(const void *left, const void *right)
{
    const sort_key_t *a = left;
    const sort_key_t *b = right;

    if (a->arrival_ns != b->arrival_ns) {
        return a->arrival_ns < b->arrival_ns ? -1 : 1;
    }
    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/*
 * A sorted copy of `items`, each of which holds its arrival as an int64 at `arrival_offset`; frees
 * the original.
 */
static void *
sorted_by_arrival(void *items, size_t count, size_t item, size_t arrival_offset)
{
    const char *from = items;
    char *sorted = alloc_array(count, item);
    sort_key_t *keys = alloc_array(count, sizeof *keys);

    for (size_t i = 0; i < count; i++) {
        memcpy(&keys[i].arrival_ns, from + i * item + arrival_offset, sizeof keys[i].arrival_ns);
        keys[i].rank = i;
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < count; i++) {
        memcpy(sorted + i * item, from + keys[i].rank * item, item);
    }
    free(keys);
    free(items);
    return sorted;
}

/* Orders pods by what they ask nodes for. */
static int
compare_shapes(const void *left, const void *right)
{
    const workload_pod_t *a = *(const workload_pod_t *const *)left;
    const workload_pod_t *b = *(const workload_pod_t *const *)right;

    if (a->cpu_milli != b->cpu_milli) {
        return a->cpu_milli < b->cpu_milli ? -1 : 1;
    }
    if (a->memory_mib != b->memory_mib) {
        return a->memory_mib < b->memory_mib ? -1 : 1;
    }
    if (a->models != b->models) {
        return a->models < b->models ? -1 : 1;
    }
    return a->gpus != b->gpus ? a->gpus - b->gpus : a->gpu_milli - b->gpu_milli;
}

static void
number_shapes(workload_t *workload)
{
    size_t count = workload->pod_count;
    workload_pod_t **pods = alloc_array(count, sizeof *pods);

    for (size_t i = 0; i < count; i++) {
        pods[i] = &workload->pods[i];
    }
    qsort(pods, count, sizeof *pods, compare_shapes);
    workload->shape_count = 0;
    for (size_t i = 0; i < count; i++) {
        workload->shape_count += i == 0 || compare_shapes(&pods[i - 1], &pods[i]) != 0;
        pods[i]->shape = (uint32_t)(workload->shape_count - 1);
    }
    free(pods);
}

void
workload_finish(workload_t *workload)
{
    workload->pods = sorted_by_arrival(workload->pods, workload->pod_count, sizeof *workload->pods,
                                       offsetof(workload_pod_t, arrival_ns));
    workload->pod_capacity = workload->pod_count;
    workload->nodes =
        sorted_by_arrival(workload->nodes, workload->node_count, sizeof *workload->nodes,
                          offsetof(workload_node_t, arrival_ns));
    workload->node_capacity = workload->node_count;
    number_shapes(workload);
}

int32_t
workload_default_priority(const char *class_name)
{
    static const struct {
        const char *name;
        int32_t priority;
    } known[] = {{"Guaranteed", 3000}, {"LS", 2000}, {"Burstable", 1000}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, class_name) == 0) {
            return known[i].priority;
        }
    }
    return 0;
}
