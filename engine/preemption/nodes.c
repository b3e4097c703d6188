/*
 * Nodes by number and by name. A number that is free is used again, the lowest first, so that
 * listing order has no gaps.
 */
#include "preemption/cluster.h"

#include <inttypes.h>
#include <string.h>

static schedq_status_t
not_found(const struct words *words, const schedq_cluster_t *cluster, uint32_t node)
{
    words_say(words, "node %" PRIu32 ": the number of a node, below %" PRIu32, node,
              cluster->nodes_end);
    return SCHEDQ_NOT_FOUND;
}

/* More numbers: tables, nodes and presence grow together. */
static bool
reserve_nodes(schedq_cluster_t *cluster)
{
    if (cluster->nodes_end < cluster->node_capacity) {
        return true;
    }
    struct memory *memory = &cluster->memory;
    uint32_t old = cluster->node_capacity;
    uint32_t grown = (old + old / 2 + WORD_NODES) / WORD_NODES * WORD_NODES;
    struct node *nodes = memory_alloc(memory, MEMORY_QUEUES, grown * sizeof *nodes, CACHE_LINE);
    uint64_t *present = memory_alloc(memory, MEMORY_QUEUES, presence_bytes(grown), CACHE_LINE);

    if (nodes == NULL || present == NULL ||
        !levels_resize(cluster, grown, cluster->resource_count)) {
        memory_free(memory, MEMORY_QUEUES, nodes, grown * sizeof *nodes);
        memory_free(memory, MEMORY_QUEUES, present, presence_bytes(grown));
        return false;
    }
    if (old > 0) {
        memcpy(nodes, cluster->nodes, old * sizeof *nodes);
        memcpy(present, cluster->present, presence_bytes(old));
    }
    memory_free(memory, MEMORY_QUEUES, cluster->nodes, old * sizeof *nodes);
    memory_free(memory, MEMORY_QUEUES, cluster->present, presence_bytes(old));
    cluster->nodes = nodes;
    cluster->present = present;
    cluster->node_capacity = grown;
    return true;
}

static uint32_t
lowest_free(const schedq_cluster_t *cluster)
{
    uint32_t node = cluster->free_node;

    while (node_exists(cluster, node)) {
        node++;
    }
    return node;
}

static schedq_status_t
add_checked_node(schedq_cluster_t *cluster, const schedq_node_spec_t *spec, uint32_t *node)
{
    uint32_t text = texts_use(&cluster->texts, spec->name, (uint32_t)strlen(spec->name));
    struct amounts amounts = {0};

    if (text == 0 || !map_reserve(&cluster->node_names, &cluster->memory) ||
        !reserve_nodes(cluster) || !amounts_copy(&amounts, &spec->allocatable, &cluster->memory)) {
        texts_drop(&cluster->texts, text);
        return SCHEDQ_NOMEM;
    }
    uint32_t number = lowest_free(cluster);

    if (number == cluster->nodes_end) {
        cluster->nodes_end++;
    }
    cluster->free_node = number + 1;
    cluster->node_count++;
    cluster->present[number / WORD_NODES] |= presence_bit(number);
    cluster->nodes[number].object = spec->object;
    cluster->nodes[number].name = text;
    map_add(&cluster->node_names, text, number);
    levels_node(cluster, number, &amounts, spec->pods);
    amounts_free(&amounts, &cluster->memory);
    if (node != NULL) {
        *node = number;
    }
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_add_node(schedq_cluster_t *cluster, const schedq_node_spec_t *spec, uint32_t *node)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_pointer(&words, "spec", spec) ||
        !check_node_spec(&words, spec, cluster->resource_count)) {
        return SCHEDQ_INVALID;
    }
    uint32_t text = texts_find(&cluster->texts, spec->name, (uint32_t)strlen(spec->name));

    if (text != 0 && map_find(&cluster->node_names, text) != NULL) {
        words_say(&words, "name \"%.120s\": one that is not there already", spec->name);
        return SCHEDQ_EXISTS;
    }
    return add_checked_node(cluster, spec, node);
}

schedq_status_t
schedq_cluster_update_node(schedq_cluster_t *cluster, uint32_t node, const schedq_node_spec_t *spec)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_pointer(&words, "spec", spec) ||
        !check_size(&words, "spec", spec->struct_size, sizeof *spec)) {
        return SCHEDQ_INVALID;
    }
    if (!node_exists(cluster, node)) {
        return not_found(&words, cluster, node);
    }
    schedq_node_spec_t named = *spec;
    const char *name = texts_get(&cluster->texts, cluster->nodes[node].name);
    struct amounts amounts;

    named.name = spec->name == NULL ? name : spec->name;
    if (!check_node_spec(&words, &named, cluster->resource_count)) {
        return SCHEDQ_INVALID;
    }
    if (strcmp(named.name, name) != 0) {
        words_say(&words, "name \"%.120s\": NULL or \"%.120s\"", named.name, name);
        return SCHEDQ_INVALID;
    }
    if (!amounts_copy(&amounts, &spec->allocatable, &cluster->memory)) {
        return SCHEDQ_NOMEM;
    }
    levels_node(cluster, node, &amounts, spec->pods);
    cluster->nodes[node].object = spec->object;
    amounts_free(&amounts, &cluster->memory);
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_remove_node(schedq_cluster_t *cluster, uint32_t node)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!node_exists(cluster, node)) {
        return not_found(&words, cluster, node);
    }
    struct node *gone = &cluster->nodes[node];

    while (gone->slot_count > 0) {
        pod_take_away(cluster, pod_of(cluster, gone->slots[gone->slot_count - 1].pod));
    }
    while (gone->first_nomination != 0) {
        nomination_end(cluster, &cluster->nominations[gone->first_nomination - 1]);
    }
    levels_node(cluster, node, NULL, 0);
    map_remove(&cluster->node_names, gone->name);
    texts_drop(&cluster->texts, gone->name);
    gone->name = 0;
    gone->object = 0;
    cluster->present[node / WORD_NODES] &= ~presence_bit(node);
    cluster->node_count--;
    if (node < cluster->free_node) {
        cluster->free_node = node;
    }
    while (cluster->nodes_end > 0 && !node_exists(cluster, cluster->nodes_end - 1)) {
        cluster->nodes_end--;
    }
    if (cluster->free_node > cluster->nodes_end) {
        cluster->free_node = cluster->nodes_end;
    }
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_find_node(const schedq_cluster_t *cluster, const char *name, uint32_t *node)
{
    const struct words silent = {0};

    if (node != NULL) {
        *node = SCHEDQ_NO_NODE;
    }
    if (cluster == NULL || node == NULL || !check_text_of(&silent, "name", name, 1)) {
        return SCHEDQ_INVALID;
    }
    uint32_t text = texts_find(&cluster->texts, name, (uint32_t)strlen(name));
    const uint64_t *found = text == 0 ? NULL : map_find(&cluster->node_names, text);

    if (found == NULL) {
        return SCHEDQ_NOT_FOUND;
    }
    *node = (uint32_t)*found;
    return SCHEDQ_OK;
}

uint32_t
schedq_cluster_nodes_end(const schedq_cluster_t *cluster)
{
    return cluster == NULL ? 0 : cluster->nodes_end;
}

uint64_t
schedq_cluster_node_object(const schedq_cluster_t *cluster, uint32_t node)
{
    return cluster != NULL && node_exists(cluster, node) ? cluster->nodes[node].object : 0;
}
