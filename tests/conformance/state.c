/*
 * Renders the state line: every place from one snapshot, each in the order that the format wants, then the nominations.
 *
 * `events:` counts records that upstream keeps for pods in flight. An engine may keep less, so it is neither written
 * nor compared.
 */
#include "state.h"

#include <errno.h>
#include <error.h>
#include <stdlib.h>
#include <string.h>

/* What a visit leaves of a pod: the visit's strings are gone after it, the objects are not. */
struct seen {
    char name[64];
    const char *uid;
    schedq_place_t place;
    int64_t priority;
    int64_t timestamp_ns;
    int64_t expiry_ns;
    uint64_t pop_order;
};

struct snapshot {
    struct seen *pods;
    size_t count;
};

typedef int (*compare_fn)(const void *left, const void *right);

static int
note(void *ctx, const schedq_pod_info_t *info)
{
    struct snapshot *snapshot = ctx;
    struct seen *pods = reallocarray(snapshot->pods, snapshot->count + 1, sizeof *pods);
    struct seen *seen;

    if (pods == NULL) {
        error(EXIT_FAILURE, errno, "no memory for a snapshot");
    }
    snapshot->pods = pods;
    seen = &pods[snapshot->count++];
    *seen = (struct seen){
        .uid = object_at(info->object)->uid,
        .place = (schedq_place_t)info->place,
        .priority = info->priority,
        .timestamp_ns = info->history.timestamp_ns,
        .expiry_ns = info->backoff_expiry_ns,
        .pop_order = info->pop_order,
    };
    (void)snprintf(seen->name, sizeof seen->name, "%s", info->name + strlen(NAMESPACE "/"));
    return 1;
}

static int
three_way(int64_t left, int64_t right)
{
    return (left > right) - (left < right);
}

static int
by_name(const void *left, const void *right)
{
    return strcmp(((const struct seen *)left)->name, ((const struct seen *)right)->name);
}

static int
by_pop(const void *left, const void *right)
{
    return three_way((int64_t)((const struct seen *)left)->pop_order, (int64_t)((const struct seen *)right)->pop_order);
}

static int
by_rank(const void *left_pod, const void *right_pod)
{
    const struct seen *left = left_pod;
    const struct seen *right = right_pod;
    int order = three_way(right->priority, left->priority);

    return order != 0 ? order : three_way(left->timestamp_ns, right->timestamp_ns);
}

static int
by_expiry_and_name(const void *left, const void *right)
{
    int order = three_way(((const struct seen *)left)->expiry_ns, ((const struct seen *)right)->expiry_ns);

    return order != 0 ? order : by_name(left, right);
}

static int
by_expiry_and_rank(const void *left, const void *right)
{
    int order = three_way(((const struct seen *)left)->expiry_ns, ((const struct seen *)right)->expiry_ns);

    return order != 0 ? order : by_rank(left, right);
}

static void
write_one(const struct seen *seen, FILE *out)
{
    fputs(seen->place == SCHEDQ_INFLIGHT ? seen->uid : seen->name, out);
    if (seen->place == SCHEDQ_BACKOFF || seen->place == SCHEDQ_ERROR_BACKOFF) {
        fputc('@', out);
        world_print_time(out, seen->expiry_ns);
    }
}

static void
write_place(const struct world *world, struct snapshot *snapshot, schedq_place_t place, compare_fn compare, FILE *out)
{
    const char *separator = "";

    fprintf(out, "%s:", schedq_place_name(place));
    if (snapshot->count > 1) {
        qsort(snapshot->pods, snapshot->count, sizeof *snapshot->pods, compare);
    }
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct seen *seen = &snapshot->pods[i];
        if (seen->place != place || (place == SCHEDQ_INFLIGHT && seen->pop_order <= world->last_pop_before_close)) {
            continue;
        }
        fputs(separator, out);
        write_one(seen, out);
        separator = ",";
    }
    fputc(' ', out);
}

struct nominations {
    FILE *out;
    const char *separator;
    const char *node;
};

/* The node is written before its first pod; nodes without pods are not listed. */
static int
write_nominated(void *ctx, const schedq_pod_info_t *info)
{
    struct nominations *nominations = ctx;

    if (nominations->node != NULL) {
        fprintf(nominations->out, "%s%s=", nominations->separator, nominations->node);
        nominations->node = NULL;
    } else {
        fputc(',', nominations->out);
    }
    fputs(info->name + strlen(NAMESPACE "/"), nominations->out);
    nominations->separator = "|";
    return 1;
}

static void
write_nominations(struct world *world, FILE *out)
{
    struct nominations nominations = {.out = out, .separator = ""};

    fputs("nominated:", out);
    for (const struct node *node = world->nodes; node != NULL; node = node->next) {
        nominations.node = node->name;
        if (schedq_nominated_pods(world->worker, node->number, write_nominated, &nominations) != SCHEDQ_OK) {
            fprintf(out, "error of node %s", node->name);
        }
    }
}

/* Before queueing hints: no error backoff, and pods in flight are not the queue's. */
static void
write_early_places(const struct world *world, struct snapshot *snapshot, FILE *out)
{
    write_place(world, snapshot, SCHEDQ_ACTIVE, by_rank, out);
    write_place(world, snapshot, SCHEDQ_BACKOFF, by_expiry_and_name, out);
    write_place(world, snapshot, SCHEDQ_PARKED, by_name, out);
    write_place(world, snapshot, SCHEDQ_GATED, by_name, out);
}

static void
write_places(const struct world *world, struct snapshot *snapshot, FILE *out)
{
    bool popped_from = world->script->config.pop_from_backoff.value == 1;

    write_place(world, snapshot, SCHEDQ_ACTIVE, by_rank, out);
    write_place(world, snapshot, SCHEDQ_BACKOFF, popped_from ? by_expiry_and_rank : by_expiry_and_name, out);
    write_place(world, snapshot, SCHEDQ_ERROR_BACKOFF, by_expiry_and_name, out);
    write_place(world, snapshot, SCHEDQ_PARKED, by_name, out);
    write_place(world, snapshot, SCHEDQ_GATED, by_name, out);
    write_place(world, snapshot, SCHEDQ_INFLIGHT, by_pop, out);
}

void
state_write(struct world *world, FILE *out)
{
    struct snapshot snapshot = {0};
    schedq_status_t status = schedq_snapshot(world->worker, note, &snapshot);

    if (status != SCHEDQ_OK) {
        fprintf(out, "error %s ", schedq_status_name(status));
    } else if (world->script->release->hints) {
        write_places(world, &snapshot, out);
    } else {
        write_early_places(world, &snapshot, out);
    }
    write_nominations(world, out);
    free(snapshot.pods);
}

void
state_strip(char *state)
{
    char *events = strstr(state, " events:");
    char *after;

    if (events != NULL && (after = strchr(events + 1, ' ')) != NULL) {
        (void)memmove(events, after, strlen(after) + 1);
    }
}
