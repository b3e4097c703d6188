/*
 * Groups of pods that are tried together: what both engines decide alike.
 *
 * How many members are enough, how long a group of some size backs off, what an outcome does to its
 * counters, and in which order its members are popped. How an engine finds groups and members is
 * its own.
 */
#ifndef SCHEDQ_POLICY_GROUP_H
#define SCHEDQ_POLICY_GROUP_H

#include "policy/backoff.h"
#include "policy/requeue.h"

#include <schedq/schedq.h>

/** How many a group needs: its quorum until a cycle of it ended in PLACED, one from then on. */
static inline uint32_t
group_needs(uint32_t quorum, bool placed)
{
    return placed || quorum == 0 ? 1 : quorum;
}

/**
 * Has a group its quorum?
 *
 * `waiting`: its members that have joined; `complete`: groups right below it that have theirs.
 */
static inline bool
group_is_complete(uint32_t needs, uint64_t waiting, uint32_t complete)
{
    return waiting >= needs || complete >= needs;
}

/** The longest backoff of a group of that many members: max * sqrt(size), cut to nanoseconds. */
int64_t group_backoff_max(int64_t max_ns, uint64_t size);

/** The rules of backoff for a record. One that was never popped does not back off. */
static inline struct backoff_rules
group_backoff_rules(const struct backoff_rules *rules, uint64_t size, uint32_t attempts)
{
    struct backoff_rules of_group = *rules;

    of_group.max_ns = attempts == 0 ? 0 : group_backoff_max(rules->max_ns, size);
    return of_group;
}

/** What a cycle's end does to the counters of a record. */
void group_count_outcome(schedq_group_outcome_t outcome, uint32_t *rejections, uint32_t *errors);

static inline enum strategy
group_stronger(enum strategy a, enum strategy b)
{
    return a > b ? a : b;
}

/**
 * Is `a` before `b` in the order of the members of one group? By priority, attempts, Timestamp,
 * name: higher, more, earlier, smaller first.
 */
bool group_member_before(const schedq_popped_t *a, const schedq_popped_t *b);

/**
 * Counts a root's record that is in `place`, and the `size` members that have joined it: they count
 * there in place of the record. `stats` has the members in `aside`, and the record where pods are
 * counted, but not in `active`: there records are kept apart from pods.
 */
void group_count_root(schedq_stats_t *stats, uint8_t place, uint64_t size);

/**
 * Puts popped members in order, in place: by group, then as above. `cycle` of each has the number
 * of its group. O(count log count).
 */
void group_sort(schedq_popped_t *members, size_t count);

#endif
