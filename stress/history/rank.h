/*
 * Where a pod stands in the order, as far as the records tell.
 */
#ifndef SCHEDQ_HISTORY_RANK_H
#define SCHEDQ_HISTORY_RANK_H

#include "lives.h"

/* Smaller first. */
typedef struct rank {
    uint32_t band;
    uint64_t key;
} rank_t;

/** The best rank of a pod that is described so. */
rank_t rank_of(const stay_t *stay, const record_t *description);
/**
 * The rank that is certain. Pods that share a reading of the clock get order keys that count on
 * from it, so next to another Timestamp, or an order key, a pod may stand behind its own Timestamp:
 * by a nanosecond for each pod of its call.
 */
rank_t rank_sure(const stay_t *stay, const record_t *description);
/** The best that a pod that was popped, or shown, ranked during the call. */
rank_t rank_of_pop(const record_t *pop);
/** The best and the worst that the pod may have ranked at a time in [from, until]. */
void rank_bounds(const stay_t *stay, uint64_t from, uint64_t until, rank_t *best, rank_t *worst);

static inline bool
rank_is_before(rank_t a, rank_t b)
{
    return a.band != b.band ? a.band < b.band : a.key < b.key;
}

static inline rank_t
rank_worse(rank_t a, rank_t b)
{
    return rank_is_before(a, b) ? b : a;
}

static inline rank_t
rank_better(rank_t a, rank_t b)
{
    return rank_is_before(a, b) ? a : b;
}

#endif
