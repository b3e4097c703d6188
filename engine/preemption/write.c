/*
 * The snapshot as text. What it computes on the side (free room, the tables of the levels) is in it
 * too, so that two texts are equal only if everything is.
 */
#include "preemption/cluster.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct writer {
    const schedq_cluster_t *cluster;
    int (*write)(void *ctx, const char *text, size_t length);
    void *ctx;
    bool stopped;
};

__attribute__((format(printf, 2, 3))) static void
put(struct writer *writer, const char *format, ...)
{
    char text[2 * SCHEDQ_NAME_MAX + 200];
    va_list arguments;

    if (writer->stopped) {
        return;
    }
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    writer->stopped = writer->write(writer->ctx, text, (size_t)length) == 0;
}

static const char *
text(const struct writer *writer, uint32_t number)
{
    return texts_get(&writer->cluster->texts, number);
}

static void
put_amounts(struct writer *writer, const struct amounts *amounts)
{
    put(writer, " cpu=%" PRId64 " memory=%" PRId64, amounts->cpu, amounts->memory);
    for (uint32_t i = 0; i < amounts->extended_count; i++) {
        put(writer, " %s=%" PRId64,
            text(writer, writer->cluster->resources[amounts->extended[i].resource]),
            amounts->extended[i].amount);
    }
}

static void
put_room(struct writer *writer, const char *what, const int64_t *table, uint32_t node)
{
    put(writer, " %s", what);
    for (uint32_t r = 0; r < writer->cluster->resource_count; r++) {
        put(writer, "%c%" PRId64, r == 0 ? '=' : ',',
            table_column(writer->cluster, table, r)[node]);
    }
}

static void
put_pod(struct writer *writer, const struct slot *slot)
{
    const struct pod *pod = &writer->cluster->pods[slot->pod.index];

    put(writer, "  pod %s/%s", text(writer, pod->space), text(writer, pod->name));
    put(writer,
        " {%" PRIu32 ",%" PRIu32 "} object=%" PRIu64 " workload=%" PRIu64 " priority=%" PRId32
        " start=%" PRId64 " flags=%" PRIu32,
        slot->pod.index, slot->pod.generation, pod->object, pod->workload, slot->priority,
        slot->start_ns, slot->flags);
    put_amounts(writer, &pod->requests);
    for (uint32_t i = 0; i < pod->label_count; i++) {
        put(writer, " %s:%s", text(writer, pod->labels[i].key), text(writer, pod->labels[i].value));
    }
    put(writer, "\n");
}

static void
put_nomination(struct writer *writer, const struct nomination *nomination)
{
    put(writer, "  nominated %s/%s", text(writer, (uint32_t)(nomination->key >> 32)),
        text(writer, (uint32_t)nomination->key));
    put(writer, " object=%" PRIu64 " generation=%" PRIu64 " priority=%" PRId32 " expires=%" PRId64,
        nomination->object, nomination->generation, nomination->priority, nomination->expires_ns);
    put_amounts(writer, &nomination->requests);
    put(writer, "\n");
}

static void
put_node(struct writer *writer, uint32_t number)
{
    const schedq_cluster_t *cluster = writer->cluster;
    const struct node *node = &cluster->nodes[number];

    put(writer, "node %" PRIu32 " %s object=%" PRIu64, number, text(writer, node->name),
        node->object);
    put_room(writer, "allocatable", cluster->levels.allocatable, number);
    put_room(writer, "free", cluster->levels.free, number);
    for (uint32_t i = 0; i < cluster->levels.count; i++) {
        if (cluster->levels.items[i].room != NULL) {
            char level[32];

            (void)snprintf(level, sizeof level, "%" PRId32, cluster->levels.items[i].priority);
            put_room(writer, level, cluster->levels.items[i].room, number);
        }
    }
    put(writer, "\n");
    for (uint32_t i = 0; i < node->slot_count; i++) {
        put_pod(writer, &node->slots[i]);
    }
    for (uint32_t at = node->first_nomination; at != 0; at = cluster->nominations[at - 1].after) {
        put_nomination(writer, &cluster->nominations[at - 1]);
    }
}

static void
put_budget(struct writer *writer, const struct budget *budget)
{
    put(writer, "budget %s/%s", text(writer, budget->space), text(writer, budget->name));
    put(writer, " selector=%" PRIu32 " allowed=%" PRId32, budget->selector, budget->allowed);
    for (uint32_t i = 0; i < budget->requirement_count; i++) {
        put(writer, " %s:%s", text(writer, budget->requirements[i].key),
            budget->requirements[i].value == 0 ? "*" : text(writer, budget->requirements[i].value));
    }
    for (uint32_t i = 0; i < budget->disrupted_count; i++) {
        put(writer, " -%s", text(writer, budget->disrupted[i]));
    }
    put(writer, "\n");
}

schedq_status_t
schedq_cluster_write(const schedq_cluster_t *cluster,
                     int (*write)(void *ctx, const char *text, size_t length), void *ctx)
{
    if (cluster == NULL || write == NULL) {
        return SCHEDQ_INVALID;
    }
    struct writer writer = {.cluster = cluster, .write = write, .ctx = ctx};

    put(&writer,
        "%" PRIu32 " nodes, %" PRIu32 " pods, %" PRIu32 " budgets, %" PRIu32
        " nominations, %" PRIu32 " resources\n",
        cluster->node_count, cluster->pod_count, cluster->budget_count, cluster->nomination_count,
        cluster->resource_count);
    for (uint32_t i = 0; i < cluster->nodes_end; i++) {
        if (node_exists(cluster, i)) {
            put_node(&writer, i);
        }
    }
    for (uint32_t i = 0; i < cluster->budgets_end; i++) {
        if (cluster->budgets[i].space != 0) {
            put_budget(&writer, &cluster->budgets[i]);
        }
    }
    for (uint32_t i = 0; i < cluster->evictions.size; i++) {
        if (cluster->evictions.lines[i].key != 0) {
            put(&writer, "evicted %" PRIu64 " at %" PRIu64 "\n", cluster->evictions.lines[i].key,
                cluster->evictions.lines[i].value);
        }
    }
    return SCHEDQ_OK;
}
