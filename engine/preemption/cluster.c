/*
 * The snapshot as a whole: its life, its resources, loading it from arrays; and what its parts
 * share.
 */
#include "preemption/cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_EXTENDED 3

/* ---- what the parts share -------------------------------------------------------------------- */

struct words
cluster_words(schedq_cluster_t *cluster)
{
    cluster->words[0] = '\0';
    return (struct words){.text = cluster->words, .size = sizeof cluster->words};
}

bool
array_reserve(struct memory *memory, void *array, uint32_t *capacity, uint32_t wanted,
              size_t element_bytes)
{
    if (wanted <= *capacity) {
        return true;
    }
    uint32_t grown = *capacity < 8 ? 8 : *capacity + *capacity / 2;

    if (grown < wanted) {
        grown = wanted;
    }
    void *old;

    memcpy(&old, array, sizeof old);
    void *larger = memory_grow(memory, MEMORY_QUEUES, old, *capacity, grown, element_bytes);

    if (larger == NULL) {
        return false;
    }
    memcpy(array, &larger, sizeof larger);
    *capacity = grown;
    return true;
}

static int
compare_amounts(const void *a, const void *b)
{
    uint32_t left = ((const struct amount *)a)->resource;
    uint32_t right = ((const struct amount *)b)->resource;

    return (left > right) - (left < right);
}

bool
amounts_copy(struct amounts *amounts, const schedq_amounts_t *from, struct memory *memory)
{
    *amounts = (struct amounts){.cpu = from->cpu_milli, .memory = from->memory_bytes};
    if (from->extended_count == 0) {
        return true;
    }
    amounts->extended = memory_alloc(
        memory, MEMORY_ENTRIES, from->extended_count * sizeof *amounts->extended, sizeof(int64_t));
    if (amounts->extended == NULL) {
        return false;
    }
    amounts->extended_count = from->extended_count;
    for (uint32_t i = 0; i < from->extended_count; i++) {
        amounts->extended[i] = (struct amount){.amount = from->extended[i].amount,
                                               .resource = from->extended[i].resource};
    }
    qsort(amounts->extended, amounts->extended_count, sizeof *amounts->extended, compare_amounts);
    return true;
}

void
amounts_free(struct amounts *amounts, struct memory *memory)
{
    memory_free(memory, MEMORY_ENTRIES, amounts->extended,
                amounts->extended_count * sizeof *amounts->extended);
    *amounts = (struct amounts){0};
}

bool
name_use(struct texts *texts, const char *name, uint32_t *space, uint32_t *local)
{
    const char *slash = strchr(name, '/');

    *space = texts_use(texts, name, (uint32_t)(slash - name));
    *local = *space == 0 ? 0 : texts_use(texts, slash + 1, (uint32_t)strlen(slash + 1));
    if (*local == 0) {
        texts_drop(texts, *space);
        *space = 0;
        return false;
    }
    return true;
}

uint64_t
name_find(const struct texts *texts, const char *name)
{
    const char *slash = strchr(name, '/');
    uint32_t space = texts_find(texts, name, (uint32_t)(slash - name));

    return name_key(space, texts_find(texts, slash + 1, (uint32_t)strlen(slash + 1)));
}

/* ---- life ------------------------------------------------------------------------------------ */

schedq_status_t
schedq_cluster_create(const schedq_allocator_t *allocator, schedq_cluster_t **cluster, char *why,
                      size_t why_size)
{
    const schedq_allocator_t standard = {0};
    struct memory memory;

    if (cluster != NULL) {
        *cluster = NULL;
    }
    if (!check_allocator(why, why_size, allocator) ||
        !check_pointer(&(struct words){.text = why, .size = why_size}, "cluster", cluster)) {
        return SCHEDQ_INVALID;
    }
    memory_open(&memory, allocator == NULL ? &standard : allocator);
    schedq_cluster_t *made = memory_alloc(&memory, MEMORY_OTHER, sizeof *made, CACHE_LINE);

    if (made == NULL) {
        return SCHEDQ_NOMEM;
    }
    made->memory = memory;
    texts_open(&made->texts, &made->memory);
    made->resource_count = FIRST_EXTENDED;
    *cluster = made;
    return SCHEDQ_OK;
}

static void
drop_node(schedq_cluster_t *cluster, struct node *node)
{
    while (node->slot_count > 0) {
        pod_drop(cluster, pod_of(cluster, node->slots[--node->slot_count].pod));
    }
    while (node->first_nomination != 0) {
        nomination_end(cluster, &cluster->nominations[node->first_nomination - 1]);
    }
    map_remove(&cluster->node_names, node->name);
    texts_drop(&cluster->texts, node->name);
}

/*
 * Names of resources are used by the snapshot itself, so texts cannot simply be cleared. The levels
 * go first: kept up to date pod by pod they would cost a look at all pods for each priority.
 */
static void
empty(schedq_cluster_t *cluster)
{
    levels_clear(cluster);
    for (uint32_t i = 0; i < cluster->nodes_end; i++) {
        if (node_exists(cluster, i)) {
            drop_node(cluster, &cluster->nodes[i]);
        }
    }
    budgets_clear(cluster);
    map_clear(&cluster->evictions);
    for (uint32_t i = 0; i < cluster->node_capacity; i++) {
        memory_free(&cluster->memory, MEMORY_QUEUES, cluster->nodes[i].slots,
                    cluster->nodes[i].slot_capacity * sizeof(struct slot));
        cluster->nodes[i] = (struct node){0};
        cluster->present[i / WORD_NODES] = 0;
    }
    cluster->node_count = 0;
    cluster->nodes_end = 0;
    cluster->free_node = 0;
    cluster->words[0] = '\0';
}

void
schedq_cluster_clear(schedq_cluster_t *cluster)
{
    if (cluster != NULL) {
        empty(cluster);
    }
}

void
schedq_cluster_destroy(schedq_cluster_t *cluster)
{
    if (cluster == NULL) {
        return;
    }
    struct memory *of = &cluster->memory;

    empty(cluster);
    levels_free(cluster);
    map_free(&cluster->node_names, of);
    map_free(&cluster->pod_names, of);
    map_free(&cluster->budget_spaces, of);
    map_free(&cluster->nominated_names, of);
    map_free(&cluster->evictions, of);
    memory_free(of, MEMORY_QUEUES, cluster->nodes, cluster->node_capacity * sizeof *cluster->nodes);
    memory_free(of, MEMORY_QUEUES, cluster->present, presence_bytes(cluster->node_capacity));
    memory_free(of, MEMORY_QUEUES, cluster->pods, cluster->pod_capacity * sizeof *cluster->pods);
    memory_free(of, MEMORY_QUEUES, cluster->budgets,
                cluster->budget_capacity * sizeof *cluster->budgets);
    memory_free(of, MEMORY_QUEUES, cluster->nominations,
                cluster->nomination_capacity * sizeof *cluster->nominations);
    memory_free(of, MEMORY_QUEUES, cluster->resources,
                SCHEDQ_RESOURCES_MAX * sizeof *cluster->resources);
    texts_close(&cluster->texts);
    struct memory memory = *of; /* of a record that lies in what it describes */

    memory_free(&memory, MEMORY_OTHER, cluster, sizeof *cluster);
    memory_close(&memory);
}

const char *
schedq_cluster_error(const schedq_cluster_t *cluster)
{
    return cluster == NULL ? "" : cluster->words;
}

/* ---- resources ------------------------------------------------------------------------------- */

static schedq_status_t
register_resource(schedq_cluster_t *cluster, const char *name, uint32_t *resource)
{
    const struct words words = cluster_words(cluster);

    if (cluster->resource_count == SCHEDQ_RESOURCES_MAX) {
        words_say(&words, "resources %d: 0..%d", SCHEDQ_RESOURCES_MAX + 1, SCHEDQ_RESOURCES_MAX);
        return SCHEDQ_FULL;
    }
    if (cluster->resources == NULL) {
        cluster->resources =
            memory_alloc(&cluster->memory, MEMORY_QUEUES,
                         SCHEDQ_RESOURCES_MAX * sizeof *cluster->resources, CACHE_LINE);
    }
    uint32_t text =
        cluster->resources == NULL ? 0 : texts_use(&cluster->texts, name, (uint32_t)strlen(name));

    if (text == 0) {
        return SCHEDQ_NOMEM;
    }
    if (cluster->node_capacity > 0 &&
        !levels_resize(cluster, cluster->node_capacity, cluster->resource_count + 1)) {
        texts_drop(&cluster->texts, text);
        return SCHEDQ_NOMEM;
    }
    cluster->resources[cluster->resource_count] = text;
    *resource = cluster->resource_count++;
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_resource(schedq_cluster_t *cluster, const char *name, uint32_t *resource)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_text_of(&words, "name", name, 1) || !check_pointer(&words, "resource", resource)) {
        return SCHEDQ_INVALID;
    }
    if (strcmp(name, "cpu") == 0 || strcmp(name, "memory") == 0 || strcmp(name, "pods") == 0) {
        words_say(
            &words,
            "name \"%s\": an extended resource; cpu, memory and pods have fields of their own",
            name);
        return SCHEDQ_INVALID;
    }
    uint32_t text = texts_find(&cluster->texts, name, (uint32_t)strlen(name));

    for (uint32_t i = FIRST_EXTENDED; text != 0 && i < cluster->resource_count; i++) {
        if (cluster->resources[i] == text) {
            *resource = i;
            return SCHEDQ_OK;
        }
    }
    return register_resource(cluster, name, resource);
}

/* ---- load ------------------------------------------------------------------------------------ */

/* Puts "pods[3]: " before what an insertion found wrong. */
static schedq_status_t
tell_where(schedq_cluster_t *cluster, schedq_status_t status, const char *array, uint32_t position)
{
    char words[sizeof cluster->words];

    memcpy(words, cluster->words, sizeof words);
    (void)snprintf(cluster->words, sizeof cluster->words, "%s[%" PRIu32 "]: %.350s", array,
                   position, words);
    return status;
}

static schedq_status_t
load_all(schedq_cluster_t *cluster, const schedq_cluster_arrays_t *arrays)
{
    schedq_status_t status;

    for (uint32_t i = 0; i < arrays->node_count; i++) {
        status = schedq_cluster_add_node(cluster, &arrays->nodes[i], NULL);
        if (status != SCHEDQ_OK) {
            return tell_where(cluster, status, "nodes", i);
        }
    }
    for (uint32_t i = 0; i < arrays->pod_count; i++) {
        status = schedq_cluster_add_pod(cluster, &arrays->pods[i], NULL);
        if (status != SCHEDQ_OK) {
            return tell_where(cluster, status, "pods", i);
        }
    }
    for (uint32_t i = 0; i < arrays->budget_count; i++) {
        uint32_t before = cluster->budget_count;

        status = schedq_cluster_set_budget(cluster, &arrays->budgets[i]);
        if (status == SCHEDQ_OK && cluster->budget_count == before) {
            (void)snprintf(cluster->words, sizeof cluster->words,
                           "name \"%.120s\": one that is not there already",
                           arrays->budgets[i].name);
            status = SCHEDQ_EXISTS;
        }
        if (status != SCHEDQ_OK) {
            return tell_where(cluster, status, "budgets", i);
        }
    }
    for (uint32_t i = 0; i < arrays->nominated_count; i++) {
        uint32_t before = cluster->nomination_count;

        status = schedq_cluster_nominate(cluster, &arrays->nominated[i], NULL);
        if (status == SCHEDQ_OK && cluster->nomination_count == before) {
            (void)snprintf(cluster->words, sizeof cluster->words,
                           "name \"%.120s\": one that is not there already",
                           arrays->nominated[i].name);
            status = SCHEDQ_EXISTS;
        }
        if (status != SCHEDQ_OK) {
            return tell_where(cluster, status, "nominated", i);
        }
    }
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_load(schedq_cluster_t *cluster, const schedq_cluster_arrays_t *arrays)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_pointer(&words, "arrays", arrays) ||
        !check_size(&words, "arrays", arrays->struct_size, sizeof *arrays) ||
        !check_zero(&words, "arrays.reserved", arrays->reserved) ||
        (arrays->node_count > 0 && !check_pointer(&words, "arrays.nodes", arrays->nodes)) ||
        (arrays->pod_count > 0 && !check_pointer(&words, "arrays.pods", arrays->pods)) ||
        (arrays->budget_count > 0 && !check_pointer(&words, "arrays.budgets", arrays->budgets)) ||
        (arrays->nominated_count > 0 &&
         !check_pointer(&words, "arrays.nominated", arrays->nominated))) {
        return SCHEDQ_INVALID;
    }
    if (cluster->node_count > 0 || cluster->budget_count > 0 || cluster->evictions.count > 0) {
        words_say(&words,
                  "the snapshot has %" PRIu32 " nodes, %" PRIu32 " budgets, %" PRIu32
                  " evictions: none of each; clear it first",
                  cluster->node_count, cluster->budget_count, cluster->evictions.count);
        return SCHEDQ_INVALID;
    }
    schedq_status_t status = load_all(cluster, arrays);

    if (status != SCHEDQ_OK) {
        char told[sizeof cluster->words];

        memcpy(told, cluster->words, sizeof told);
        empty(cluster);
        memcpy(cluster->words, told, sizeof told);
    }
    return status;
}
