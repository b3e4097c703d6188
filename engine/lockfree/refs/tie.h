/*
 * What orders pods whose refs have equal keys: rank and order key, from the pods' newest
 * descriptions.
 *
 * Only in containers whose residence asks for it: pods that back off until the same moment are
 * popped by priority.
 */
#ifndef SCHEDQ_LOCKFREE_TIE_H
#define SCHEDQ_LOCKFREE_TIE_H

#include "lockfree/refs/lane.h"
#include "policy/order.h"

static inline struct tie
tie_of_description(const struct residence *residence, const struct description *description)
{
    uint32_t rank = residence->ties == TIES_BY_RANK ? order_rank(description->priority) : 0;

    return (struct tie){.rank = rank, .key = description->order_key};
}

/** The tie of the pod behind a ref that is not stale; for a stale ref, anything. */
static inline struct tie
tie_of(const struct residence *residence, uint64_t ref)
{
    const struct entry *entry = entry_at(residence->entries, ref_record(ref));
    struct description description;

    if (entry == NULL) {
        return (struct tie){0};
    }
    (void)entry_description(residence->entries, entry, &description);
    return tie_of_description(residence, &description);
}

static inline bool
tie_before(const struct tie *a, const struct tie *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->key < b->key;
}

/* A function of its own, so that scans where keys do not tie save no registers for it. */
__attribute__((noinline, unused)) static bool
tied_ref_before(const struct residence *residence, uint64_t ref, uint64_t other)
{
    struct tie a = tie_of(residence, ref), b = tie_of(residence, other);

    return tie_before(&a, &b);
}

/** Does a ref come before another in a container? */
static inline bool
ref_before(const struct residence *residence, int64_t key, uint64_t ref, int64_t other_key,
           uint64_t other)
{
    if (key != other_key || residence->ties == TIES_OPEN) {
        return key < other_key;
    }
    return tied_ref_before(residence, ref, other);
}

#endif
