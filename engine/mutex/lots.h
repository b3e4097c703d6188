/*
 * Waiting pods by what they wait for: an event reads the lots whose rejectors it reaches, and no
 * other pod.
 *
 * A lot holds the parked (or gated) pods that have the same profile, rejector sets, gate, and
 * affinity flag, in the order in which they were put there. Groups' records count as pods that have
 * the flag, because their members may. Two lots have no key: the pods in
 * backoff and in error backoff, which only candidates reads. A third is the catch-all, for pods
 * whose own lot could not be made for want of memory; every reader reads it and judges each pod by
 * the pod's own sets.
 *
 * Lists are intrusive, so putting a pod into a lot that exists needs no memory. An empty lot is
 * taken apart at once: there are never more lots than waiting pods. Each insertion draws the next
 * number of `sequence`; a walk that moves pods between lots stops at the number that was the newest
 * when it began. Such a walk may give the lock away between two pods: while it is in `walks`, what
 * is removed is never the pod or lot that it reads next.
 */
#ifndef SCHEDQ_MUTEX_LOTS_H
#define SCHEDQ_MUTEX_LOTS_H

#include "mutex/entry.h"

#define NO_LOT UINT32_MAX

/* Lots with fixed numbers. */
enum { LOT_CATCH_ALL, LOT_BACKOFF, LOT_ERROR_BACKOFF, LOTS_FIXED };

struct lot_key {
    uint64_t unschedulable, pending;
    uint8_t profile;
    uint8_t gate;
    uint8_t affinity;
};

struct lot {
    struct lot_key key;
    uint32_t head, tail, count;
    uint32_t next, prev; /* live lots, in the order in which they were made; free ones by next */
    uint32_t chain;      /* hash chain */
    uint64_t born;       /* grows along the live list; the catch-all has 0 */
};

/**
 * A walk that has given the lock away: what it reads next. Removals carry it on. `passed`: a pod
 * that waited may have been put behind it without leaving the lots.
 */
struct lots_walk {
    uint32_t pod, lot;
    bool passed;
    struct lots_walk *other;
};

struct lots {
    struct memory *memory;
    const struct entries *entries;
    struct lot *lots;
    uint32_t *buckets;
    uint32_t made, capacity; /* buckets: as many as capacity */
    uint32_t free_head;
    uint32_t live_head, live_tail, live_count;
    uint64_t births;
    uint64_t sequence;
    struct lots_walk *walks; /* those that have given the lock away */
};

bool mutex_lots_open(struct lots *lots, struct memory *memory, const struct entries *entries);
void mutex_lots_shut(struct lots *lots);
bool mutex_lots_reserve(struct lots *lots, uint32_t count);

/** Appends a pod whose place and sets are final. */
void mutex_lots_insert(struct lots *lots, uint32_t index);
void mutex_lots_remove(struct lots *lots, uint32_t index);

/** Appends a pod that waits, where its lot may be another one now. */
void mutex_lots_reinsert(struct lots *lots, uint32_t index);

/** The first pod of a lot that was inserted after that. */
uint32_t mutex_lots_newer(const struct lots *lots, uint32_t lot, uint64_t than);

static inline const struct lot *
lot_at(const struct lots *lots, uint32_t lot)
{
    return &lots->lots[lot];
}

/**
 * First lot that may hold parked or gated pods: the catch-all, then the live list. NO_LOT ends it.
 */
static inline uint32_t
mutex_lots_first(const struct lots *lots)
{
    (void)lots;
    return LOT_CATCH_ALL;
}

static inline uint32_t
mutex_lots_next(const struct lots *lots, uint32_t lot)
{
    return lot == LOT_CATCH_ALL ? lots->live_head : lots->lots[lot].next;
}

#endif
