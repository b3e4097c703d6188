/*
 * Renders the state line: every place from one snapshot, each in the order that the format wants,
 * then the nominations.
 *
 * `events:` counts records that upstream keeps for pods in flight. An engine may keep less, so it
 * is neither written nor compared.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

typedef int (*compare_fn)(const void *left, const void *right);

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
    return three_way((int64_t)((const struct seen *)left)->pop_order,
                     (int64_t)((const struct seen *)right)->pop_order);
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
    int order =
        three_way(((const struct seen *)left)->expiry_ns, ((const struct seen *)right)->expiry_ns);

    return order != 0 ? order : by_name(left, right);
}

static int
by_expiry_and_rank(const void *left, const void *right)
{
    int order =
        three_way(((const struct seen *)left)->expiry_ns, ((const struct seen *)right)->expiry_ns);

    return order != 0 ? order : by_rank(left, right);
}

static void
write_one(const struct seen *seen, FILE *out)
{
    fputs(seen->place == SCHEDQ_INFLIGHT ? seen->uid : seen->name, out);
    if (seen->place == SCHEDQ_BACKOFF || seen->place == SCHEDQ_ERROR_BACKOFF) {
        fputc('@', out);
        write_time(out, seen->expiry_ns);
    }
}

const char *
state_place_name(schedq_place_t place)
{
    return place == SCHEDQ_PARKED ? "unschedulable" : schedq_place_name(place);
}

struct listing {
    const struct script *script;
    struct snapshot *snapshot;
    uint64_t forgotten_pops;
    FILE *out;
};

static void
write_place(const struct listing *listing, schedq_place_t place, compare_fn compare)
{
    const struct snapshot *snapshot = listing->snapshot;
    const char *separator = "";

    fprintf(listing->out, "%s:", state_place_name(place));
    if (snapshot->count > 1) {
        qsort(snapshot->pods, snapshot->count, sizeof *snapshot->pods, compare);
    }
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct seen *seen = &snapshot->pods[i];
        if (seen->place != place ||
            (place == SCHEDQ_INFLIGHT && seen->pop_order <= listing->forgotten_pops)) {
            continue;
        }
        fputs(separator, listing->out);
        write_one(seen, listing->out);
        separator = ",";
    }
    fputc(' ', listing->out);
}

static int
by_node(const void *left_nomination, const void *right_nomination)
{
    const struct nomination *left = left_nomination;
    const struct nomination *right = right_nomination;
    int order = strcmp(left->node, right->node);

    return order != 0 ? order : three_way((int64_t)left->rank, (int64_t)right->rank);
}

/* Nodes without pods are not listed. */
static void
write_nominations(const struct snapshot *snapshot, FILE *out)
{
    const char *node = NULL;

    fputs("nominated:", out);
    if (snapshot->nomination_count > 1) {
        qsort(snapshot->nominations, snapshot->nomination_count, sizeof *snapshot->nominations,
              by_node);
    }
    for (size_t i = 0; i < snapshot->nomination_count; i++) {
        const struct nomination *nomination = &snapshot->nominations[i];
        if (node != NULL && strcmp(node, nomination->node) == 0) {
            fprintf(out, ",%s", nomination->pod);
        } else {
            fprintf(out, "%s%s=%s", node == NULL ? "" : "|", nomination->node, nomination->pod);
        }
        node = nomination->node;
    }
}

/* Before queueing hints: no error backoff, and pods in flight are not the queue's. */
static void
write_early_places(const struct listing *listing)
{
    write_place(listing, SCHEDQ_ACTIVE, by_rank);
    write_place(listing, SCHEDQ_BACKOFF, by_expiry_and_name);
    write_place(listing, SCHEDQ_PARKED, by_name);
    write_place(listing, SCHEDQ_GATED, by_name);
}

static void
write_places(const struct listing *listing)
{
    bool popped_from = listing->script->config.pop_from_backoff.value == 1;

    write_place(listing, SCHEDQ_ACTIVE, by_rank);
    write_place(listing, SCHEDQ_BACKOFF, popped_from ? by_expiry_and_rank : by_expiry_and_name);
    write_place(listing, SCHEDQ_ERROR_BACKOFF, by_expiry_and_name);
    write_place(listing, SCHEDQ_PARKED, by_name);
    write_place(listing, SCHEDQ_GATED, by_name);
    write_place(listing, SCHEDQ_INFLIGHT, by_pop);
}

void
state_write(const struct script *script, struct snapshot *snapshot, uint64_t forgotten_pops,
            FILE *out)
{
    const struct listing listing = {script, snapshot, forgotten_pops, out};

    if (script->release->hints) {
        write_places(&listing);
    } else {
        write_early_places(&listing);
    }
    write_nominations(snapshot, out);
}

uint64_t
state_newest_pop(const struct snapshot *snapshot)
{
    uint64_t newest = 0;

    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->pods[i].pop_order > newest) {
            newest = snapshot->pods[i].pop_order;
        }
    }
    return newest;
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
