/* The decisions of group.h. */
#include "policy/group.h"

#include "policy/history.h"

#include <math.h>
#include <string.h>

int64_t
group_backoff_max(int64_t max_ns, uint64_t size)
{
    /* below INT64_MAX: max is at most a day, and there are at most 2^28 members */
    return size > 1 ? (int64_t)((double)max_ns * sqrt((double)size)) : max_ns;
}

void
group_count_outcome(schedq_group_outcome_t outcome, uint32_t *rejections, uint32_t *errors)
{
    if (outcome == SCHEDQ_GROUP_PLACED) {
        *rejections = *errors = 0;
    } else {
        history_count_failure(rejections, errors, outcome == SCHEDQ_GROUP_REJECTED);
    }
}

/* NULL: members there stay in `aside`. */
static uint64_t *
place_count(schedq_stats_t *stats, uint8_t place)
{
    switch (place) {
    case SCHEDQ_ACTIVE:
        return &stats->active;
    case SCHEDQ_BACKOFF:
        return &stats->backoff;
    case SCHEDQ_ERROR_BACKOFF:
        return &stats->error_backoff;
    case SCHEDQ_PARKED:
        return &stats->parked;
    case SCHEDQ_GATED:
        return &stats->gated;
    default:
        return NULL;
    }
}

void
group_count_root(schedq_stats_t *stats, uint8_t place, uint64_t size)
{
    uint64_t *count = place_count(stats, place);

    stats->groups_at[place]++;
    stats->members_at[place] += size;
    if (count != NULL) {
        *count += size - (place == SCHEDQ_ACTIVE ? 0 : 1);
        stats->aside -= size;
    }
}

static int
compare_names(const schedq_popped_t *a, const schedq_popped_t *b)
{
    uint32_t common = a->name_length < b->name_length ? a->name_length : b->name_length;
    int order = memcmp(a->name, b->name, common);

    return order != 0 ? order : a->name_length < b->name_length ? -1 : 1;
}

bool
group_member_before(const schedq_popped_t *a, const schedq_popped_t *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    if (a->history.attempts != b->history.attempts) {
        return a->history.attempts > b->history.attempts;
    }
    if (a->history.timestamp_ns != b->history.timestamp_ns) {
        return a->history.timestamp_ns < b->history.timestamp_ns;
    }
    return compare_names(a, b) < 0;
}

static bool
is_before(const schedq_popped_t *a, const schedq_popped_t *b)
{
    return a->cycle != b->cycle ? a->cycle < b->cycle : group_member_before(a, b);
}

/* Moves heap[root] down to its place in heap[0, count). A heap's top is the last in the order. */
static void
sift(schedq_popped_t *heap, size_t root, size_t count)
{
    const schedq_popped_t moved = heap[root];
    size_t child;

    /* Ends: each round is a level lower. */
    while ((child = 2 * root + 1) < count) {
        if (child + 1 < count && is_before(&heap[child], &heap[child + 1])) {
            child++;
        }
        if (!is_before(&moved, &heap[child])) {
            break;
        }
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = moved;
}

void
group_sort(schedq_popped_t *members, size_t count)
{
    for (size_t root = count / 2; root-- > 0;) {
        sift(members, root, count);
    }
    for (; count > 1; count--) {
        const schedq_popped_t last = members[0];

        members[0] = members[count - 1];
        members[count - 1] = last;
        sift(members, 0, count - 1);
    }
}
