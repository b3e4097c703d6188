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

/* Those of one pop as it had them; where groups are below others, by uid. */
static int
by_pop(const void *left_pod, const void *right_pod)
{
    const struct seen *left = left_pod;
    const struct seen *right = right_pod;
    int order = three_way((int64_t)left->pop_order, (int64_t)right->pop_order);

    return order != 0 ? order : three_way((int64_t)left->position, (int64_t)right->position);
}

static int
by_pop_and_uid(const void *left_pod, const void *right_pod)
{
    const struct seen *left = left_pod;
    const struct seen *right = right_pod;
    int order = three_way((int64_t)left->pop_order, (int64_t)right->pop_order);

    return order != 0 ? order : strcmp(left->uid, right->uid);
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

/* Of one leaf, as its list is in a record. */
static int
by_leaf(const void *left_pod, const void *right_pod)
{
    const struct seen *left = left_pod;
    const struct seen *right = right_pod;
    int order = strcmp(left->group, right->group);

    order = order != 0 ? order : three_way(right->priority, left->priority);
    order = order != 0 ? order : three_way(right->attempts, left->attempts);
    order = order != 0 ? order : three_way(left->timestamp_ns, right->timestamp_ns);
    return order != 0 ? order : by_name(left, right);
}

static int
by_leaf_and_name(const void *left_pod, const void *right_pod)
{
    int order =
        strcmp(((const struct seen *)left_pod)->group, ((const struct seen *)right_pod)->group);

    return order != 0 ? order : by_name(left_pod, right_pod);
}

static bool
is_waiting_member(const struct seen *seen)
{
    return seen->group != NULL && !seen->is_record && seen->place == SCHEDQ_ASIDE;
}

/* The members for which `root` is the root (NULL: none), in order. The caller frees them. */
static struct seen *
members_of(const struct snapshot *snapshot, const char *root, compare_fn compare, size_t *count)
{
    struct seen *members = calloc(snapshot->count + 1, sizeof *members);

    *count = 0;
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct seen *seen = &snapshot->pods[i];

        if (is_waiting_member(seen) && (root == NULL) == (seen->root == NULL) &&
            (root == NULL || strcmp(root, seen->root) == 0)) {
            members[(*count)++] = *seen;
        }
    }
    if (*count > 1) {
        qsort(members, *count, sizeof *members, compare);
    }
    return members;
}

/* "G(p2+p3)", or "C(g1:p2+p3;g4:p5)" */
static void
write_record(const struct snapshot *snapshot, const struct seen *record, FILE *out)
{
    size_t count;
    struct seen *members = members_of(snapshot, record->name, by_leaf, &count);

    fprintf(out, "%s(", record->name);
    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || strcmp(members[i].group, members[i - 1].group) != 0;

        if (first && strcmp(members[i].group, record->name) != 0) {
            fprintf(out, "%s%s:", i == 0 ? "" : ";", members[i].group);
        }
        fprintf(out, "%s%s", first ? "" : "+", members[i].name);
    }
    fputc(')', out);
    free(members);
}

static const struct seen *
find_open_cycle(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->pods[i].is_record && snapshot->pods[i].place == SCHEDQ_INFLIGHT) {
            return &snapshot->pods[i];
        }
    }
    return NULL;
}

/* Members that are in no queue, by leaf. */
static void
write_pool(const struct snapshot *snapshot, const char *root, FILE *out)
{
    size_t count;
    struct seen *members = members_of(snapshot, root, by_leaf_and_name, &count);

    for (size_t i = 0; i < count; i++) {
        bool first = i == 0 || strcmp(members[i].group, members[i - 1].group) != 0;

        if (first) {
            fprintf(out, "%s%s(", i == 0 ? "" : "),", members[i].group);
        }
        fprintf(out, "%s%s", first ? "" : "+", members[i].name);
    }
    fputs(count > 0 ? ")" : "", out);
    free(members);
}

/* The three fields of vectors with groups. */
static void
write_groups(const struct snapshot *snapshot, FILE *out)
{
    const struct seen *open = find_open_cycle(snapshot);

    fputs(" pending:", out);
    if (open != NULL) {
        write_pool(snapshot, open->name, out);
    }
    fputs(" incomplete:", out);
    write_pool(snapshot, NULL, out);
    fprintf(out, " cycle:%s", open != NULL ? open->name : "");
}

static void
write_one(const struct snapshot *snapshot, const struct seen *seen, FILE *out)
{
    if (seen->is_record) {
        write_record(snapshot, seen, out);
    } else {
        fputs(seen->place == SCHEDQ_INFLIGHT ? seen->uid : seen->name, out);
    }
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
        if (seen->place != place || (seen->is_record && place == SCHEDQ_INFLIGHT) ||
            (place == SCHEDQ_INFLIGHT && seen->pop_order <= listing->forgotten_pops)) {
            continue;
        }
        fputs(separator, listing->out);
        write_one(snapshot, seen, listing->out);
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
    write_place(listing, SCHEDQ_INFLIGHT,
                listing->script->config.composite.value == 1 ? by_pop_and_uid : by_pop);
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
    if (script->config.groups.value == 1) {
        write_groups(snapshot, out);
    }
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
