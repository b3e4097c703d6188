/*
 * Running pods: by handle, by name, and in the list of their node, where they stand by importance.
 *
 * Everything that can fail (copies, room in lists, a level for the priority) comes before the first
 * change.
 */
#include "preemption/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BY_SCHEDULER "PreemptionByScheduler"

/* ---- the list of a node ---------------------------------------------------------------------- */

/* Does `slot` stand before a pod of this priority, start and arrival? */
static bool
stands_before(const schedq_cluster_t *cluster, const struct slot *slot, const struct pod *pod)
{
    if (slot->priority != pod->priority) {
        return slot->priority > pod->priority;
    }
    if (slot->start_ns != pod->start_ns) {
        return slot->start_ns < pod->start_ns;
    }
    return cluster->pods[slot->pod.index].sequence < pod->sequence;
}

/* The position of a pod in its node's list, or where it belongs. */
static uint32_t
slot_position(const schedq_cluster_t *cluster, const struct node *node, const struct pod *pod)
{
    uint32_t low = 0;
    uint32_t high = node->slot_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (stands_before(cluster, &node->slots[middle], pod)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void
enter_node(schedq_cluster_t *cluster, struct pod *pod)
{
    struct node *node = &cluster->nodes[pod->node];
    uint32_t at = slot_position(cluster, node, pod);

    memmove(&node->slots[at + 1], &node->slots[at], (node->slot_count - at) * sizeof *node->slots);
    node->slots[at] = (struct slot){
        .pod = {.index = (uint32_t)(pod - cluster->pods), .generation = pod->generation},
        .priority = pod->priority,
        .flags = pod->flags,
        .start_ns = pod->start_ns,
        .cpu = pod->requests.cpu,
        .memory = pod->requests.memory,
    };
    node->slot_count++;
    levels_retain(cluster, pod->priority);
    levels_pod(cluster, pod->node, pod->priority, (pod->flags & SLOT_PROTECTED) != 0,
               &pod->requests, -1);
}

static void
leave_node(schedq_cluster_t *cluster, struct pod *pod)
{
    struct node *node = &cluster->nodes[pod->node];
    uint32_t at = slot_position(cluster, node, pod);

    node->slot_count--;
    memmove(&node->slots[at], &node->slots[at + 1], (node->slot_count - at) * sizeof *node->slots);
    levels_pod(cluster, pod->node, pod->priority, (pod->flags & SLOT_PROTECTED) != 0,
               &pod->requests, 1);
    levels_release(cluster, pod->priority);
}

/* ---- what a description brings --------------------------------------------------------------- */

static void
drop_labels(schedq_cluster_t *cluster, struct pod *pod)
{
    for (uint32_t i = 0; i < pod->label_count; i++) {
        texts_drop(&cluster->texts, pod->labels[i].key);
        texts_drop(&cluster->texts, pod->labels[i].value);
    }
    memory_free(&cluster->memory, MEMORY_ENTRIES, pod->labels,
                pod->label_count * sizeof *pod->labels);
    pod->labels = NULL;
    pod->label_count = 0;
}

static bool
copy_labels(schedq_cluster_t *cluster, struct pod *pod, const schedq_running_spec_t *spec)
{
    if (spec->label_count == 0) {
        return true;
    }
    pod->labels = memory_alloc(&cluster->memory, MEMORY_ENTRIES,
                               spec->label_count * sizeof *pod->labels, sizeof(uint32_t));
    if (pod->labels == NULL) {
        return false;
    }
    pod->label_count = spec->label_count;
    for (uint32_t i = 0; i < spec->label_count; i++) {
        struct label *label = &pod->labels[i];

        label->key =
            texts_use(&cluster->texts, spec->labels[i].key, (uint32_t)strlen(spec->labels[i].key));
        label->value = texts_use(&cluster->texts, spec->labels[i].value,
                                 (uint32_t)strlen(spec->labels[i].value));
        if (label->key == 0 || label->value == 0) {
            drop_labels(cluster, pod);
            return false;
        }
    }
    return true;
}

static uint32_t
flags_of(const schedq_running_spec_t *spec)
{
    bool by_scheduler = spec->disruption_status != 0 && spec->disruption_reason != NULL &&
                        strcmp(spec->disruption_reason, BY_SCHEDULER) == 0;

    return (spec->is_protected != 0 ? SLOT_PROTECTED : 0U) |
           (spec->terminating != 0 ? SLOT_TERMINATING : 0U) |
           (by_scheduler ? SLOT_BY_SCHEDULER : 0U) | (spec->label_count > 0 ? SLOT_LABELS : 0U) |
           (spec->requests.extended_count > 0 ? SLOT_EXTENDED : 0U) |
           (spec->workload != 0 ? SLOT_WORKLOAD : 0U);
}

static void
drop_content(schedq_cluster_t *cluster, struct pod *pod)
{
    drop_labels(cluster, pod);
    amounts_free(&pod->requests, &cluster->memory);
}

/* Everything of a pod but its name and its identity; false: no memory. */
static bool
copy_content(schedq_cluster_t *cluster, struct pod *pod, const schedq_running_spec_t *spec)
{
    *pod = (struct pod){
        .object = spec->object,
        .workload = spec->workload,
        .node = spec->node,
        .flags = flags_of(spec),
        .priority = spec->priority,
        .start_ns = spec->start_ns,
    };
    if (!amounts_copy(&pod->requests, &spec->requests, &cluster->memory)) {
        return false;
    }
    if (!copy_labels(cluster, pod, spec)) {
        drop_content(cluster, pod);
        return false;
    }
    return true;
}

/* ---- sums stay in range ---------------------------------------------------------------------- */

static bool
sum_fits(schedq_cluster_t *cluster, uint32_t node, uint32_t resource, int64_t more, int64_t less)
{
    int64_t sum = table_column(cluster, cluster->levels.allocatable, resource)[node] -
                  table_column(cluster, cluster->levels.free, resource)[node] - less + more;

    if (sum > SCHEDQ_QUANTITY_MAX) {
        const struct words words = cluster_words(cluster);

        words_say(&words,
                  "requests: resource %" PRIu32 " of all pods on node %" PRIu32 " together %" PRId64
                  ": 0..%" PRId64,
                  resource, node, sum, SCHEDQ_QUANTITY_MAX);
        return false;
    }
    return true;
}

/* `old` leaves the node, or is NULL. */
static bool
sums_fit(schedq_cluster_t *cluster, uint32_t node, const struct amounts *amounts,
         const struct amounts *old)
{
    const struct amounts nothing = {0};

    old = old == NULL ? &nothing : old;
    if (!sum_fits(cluster, node, SCHEDQ_RESOURCE_CPU, amounts->cpu, old->cpu) ||
        !sum_fits(cluster, node, SCHEDQ_RESOURCE_MEMORY, amounts->memory, old->memory)) {
        return false;
    }
    for (uint32_t i = 0; i < amounts->extended_count; i++) {
        uint32_t resource = amounts->extended[i].resource;

        if (!sum_fits(cluster, node, resource, amounts->extended[i].amount,
                      amount_of(old, resource))) {
            return false;
        }
    }
    return true;
}

/* ---- numbers of pods ------------------------------------------------------------------------- */

static bool
reserve_pod(schedq_cluster_t *cluster)
{
    return (cluster->free_pod != 0 ||
            array_reserve(&cluster->memory, &cluster->pods, &cluster->pod_capacity,
                          cluster->pods_end + 1, sizeof *cluster->pods)) &&
           map_reserve(&cluster->pod_names, &cluster->memory);
}

static bool
reserve_slot(schedq_cluster_t *cluster, uint32_t number)
{
    struct node *node = &cluster->nodes[number];

    return array_reserve(&cluster->memory, &node->slots, &node->slot_capacity, node->slot_count + 1,
                         sizeof *node->slots);
}

static struct pod *
take_pod(schedq_cluster_t *cluster)
{
    if (cluster->free_pod == 0) {
        return &cluster->pods[cluster->pods_end++];
    }
    struct pod *pod = &cluster->pods[cluster->free_pod - 1];

    cluster->free_pod = pod->next_free;
    return pod;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static schedq_status_t
check_node_number(const struct words *words, const schedq_cluster_t *cluster, uint32_t node)
{
    if (!node_exists(cluster, node)) {
        words_say(words, "node %" PRIu32 ": the number of a node, below %" PRIu32, node,
                  cluster->nodes_end);
        return SCHEDQ_NOT_FOUND;
    }
    return SCHEDQ_OK;
}

static schedq_status_t
add_checked(schedq_cluster_t *cluster, const schedq_running_spec_t *spec, schedq_running_t *handle)
{
    struct pod made;

    if (!copy_content(cluster, &made, spec)) {
        return SCHEDQ_NOMEM;
    }
    schedq_status_t status =
        sums_fit(cluster, spec->node, &made.requests, NULL) ? SCHEDQ_OK : SCHEDQ_FULL;

    if (status == SCHEDQ_OK && !name_use(&cluster->texts, spec->name, &made.space, &made.name)) {
        status = SCHEDQ_NOMEM;
    }
    if (status == SCHEDQ_OK && (!reserve_pod(cluster) || !reserve_slot(cluster, spec->node) ||
                                !levels_prepare(cluster, spec->priority))) {
        texts_drop(&cluster->texts, made.space);
        texts_drop(&cluster->texts, made.name);
        status = SCHEDQ_NOMEM;
    }
    if (status != SCHEDQ_OK) {
        drop_content(cluster, &made);
        return status;
    }
    struct pod *pod = take_pod(cluster);

    made.generation = pod->generation + 1 == 0 ? 1 : pod->generation + 1;
    made.sequence = ++cluster->arrivals;
    *pod = made;
    map_add(&cluster->pod_names, name_key(pod->space, pod->name), (uint64_t)(pod - cluster->pods));
    enter_node(cluster, pod);
    cluster->pod_count++;
    if (handle != NULL) {
        *handle = (schedq_running_t){.index = (uint32_t)(pod - cluster->pods),
                                     .generation = pod->generation};
    }
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_add_pod(schedq_cluster_t *cluster, const schedq_running_spec_t *spec,
                       schedq_running_t *pod)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_pointer(&words, "spec", spec) ||
        !check_running_spec(&words, spec, cluster->resource_count)) {
        return SCHEDQ_INVALID;
    }
    schedq_status_t status = check_node_number(&words, cluster, spec->node);

    if (status != SCHEDQ_OK) {
        return status;
    }
    uint64_t key = name_find(&cluster->texts, spec->name);

    if (key != 0 && map_find(&cluster->pod_names, key) != NULL) {
        words_say(&words, "name \"%.120s\": one that is not there already", spec->name);
        return SCHEDQ_EXISTS;
    }
    return add_checked(cluster, spec, pod);
}

static schedq_status_t
update_checked(schedq_cluster_t *cluster, struct pod *pod, const schedq_running_spec_t *spec)
{
    struct pod made;
    bool stays = spec->node == pod->node;

    if (!copy_content(cluster, &made, spec)) {
        return SCHEDQ_NOMEM;
    }
    if (!sums_fit(cluster, spec->node, &made.requests, stays ? &pod->requests : NULL)) {
        drop_content(cluster, &made);
        return SCHEDQ_FULL;
    }
    if ((!stays && !reserve_slot(cluster, spec->node)) ||
        !levels_prepare(cluster, spec->priority)) {
        drop_content(cluster, &made);
        return SCHEDQ_NOMEM;
    }
    made.generation = pod->generation;
    made.space = pod->space;
    made.name = pod->name;
    made.sequence = stays ? pod->sequence : ++cluster->arrivals;
    /*
     * Kept while the pod is in neither list, or the level that was prepared would go with the last
     * pod.
     */
    levels_retain(cluster, spec->priority);
    leave_node(cluster, pod);
    drop_content(cluster, pod);
    *pod = made;
    enter_node(cluster, pod);
    levels_release(cluster, spec->priority);
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_update_pod(schedq_cluster_t *cluster, schedq_running_t handle,
                          const schedq_running_spec_t *spec)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);
    struct pod *pod = pod_of(cluster, handle);

    if (!check_pointer(&words, "spec", spec) ||
        !check_size(&words, "spec", spec->struct_size, sizeof *spec)) {
        return SCHEDQ_INVALID;
    }
    if (pod == NULL) {
        words_say(&words, "pod {%" PRIu32 ", %" PRIu32 "}: the handle of a running pod",
                  handle.index, handle.generation);
        return SCHEDQ_NOT_FOUND;
    }
    char name[SCHEDQ_NAME_MAX + 2];
    schedq_running_spec_t named = *spec;

    (void)snprintf(name, sizeof name, "%s/%s", texts_get(&cluster->texts, pod->space),
                   texts_get(&cluster->texts, pod->name));
    named.name = spec->name == NULL ? name : spec->name;
    if (!check_running_spec(&words, &named, cluster->resource_count)) {
        return SCHEDQ_INVALID;
    }
    if (strcmp(named.name, name) != 0) {
        words_say(&words, "name \"%.120s\": NULL or \"%.120s\"", named.name, name);
        return SCHEDQ_INVALID;
    }
    schedq_status_t status = check_node_number(&words, cluster, spec->node);

    return status == SCHEDQ_OK ? update_checked(cluster, pod, spec) : status;
}

void
pod_drop(schedq_cluster_t *cluster, struct pod *pod)
{
    map_remove(&cluster->pod_names, name_key(pod->space, pod->name));
    texts_drop(&cluster->texts, pod->space);
    texts_drop(&cluster->texts, pod->name);
    drop_content(cluster, pod);
    *pod = (struct pod){
        .generation = pod->generation, .node = SCHEDQ_NO_NODE, .next_free = cluster->free_pod};
    cluster->free_pod = (uint32_t)(pod - cluster->pods) + 1;
    cluster->pod_count--;
}

void
pod_take_away(schedq_cluster_t *cluster, struct pod *pod)
{
    leave_node(cluster, pod);
    pod_drop(cluster, pod);
}

schedq_status_t
schedq_cluster_remove_pod(schedq_cluster_t *cluster, schedq_running_t handle)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);
    struct pod *pod = pod_of(cluster, handle);

    if (pod == NULL) {
        words_say(&words, "pod {%" PRIu32 ", %" PRIu32 "}: the handle of a running pod",
                  handle.index, handle.generation);
        return SCHEDQ_NOT_FOUND;
    }
    pod_take_away(cluster, pod);
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_find_pod(const schedq_cluster_t *cluster, const char *name, schedq_running_t *pod)
{
    const struct words silent = {0};

    if (pod != NULL) {
        *pod = (schedq_running_t){0, 0};
    }
    if (cluster == NULL || pod == NULL || !check_full_name(&silent, "name", name)) {
        return SCHEDQ_INVALID;
    }
    uint64_t key = name_find(&cluster->texts, name);
    const uint64_t *found = key == 0 ? NULL : map_find(&cluster->pod_names, key);

    if (found == NULL) {
        return SCHEDQ_NOT_FOUND;
    }
    *pod = (schedq_running_t){.index = (uint32_t)*found,
                              .generation = cluster->pods[*found].generation};
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_pod(const schedq_cluster_t *cluster, schedq_running_t handle,
                   schedq_running_view_t *view)
{
    if (view != NULL) {
        *view = (schedq_running_view_t){0};
    }
    if (cluster == NULL || view == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct pod *pod = pod_of(cluster, handle);

    if (pod == NULL) {
        return SCHEDQ_NOT_FOUND;
    }
    *view = (schedq_running_view_t){
        .object = pod->object,
        .workload = pod->workload,
        .node = pod->node,
        .priority = pod->priority,
        .start_ns = pod->start_ns,
        .terminating = (pod->flags & SLOT_TERMINATING) != 0,
        .is_protected = (pod->flags & SLOT_PROTECTED) != 0,
    };
    return SCHEDQ_OK;
}
