/*
 * Which pods are nominated to a node, in the order of their nominations.
 *
 * A hash table of chains through the records, keyed by node. A pod is nominated to one node at
 * most. Growing it never fails an operation: without memory the chains get longer.
 */
#ifndef SCHEDQ_MUTEX_NOMINATOR_H
#define SCHEDQ_MUTEX_NOMINATOR_H

#include "mutex/entry.h"

struct nominator_bucket {
    uint32_t head, tail;
};

struct nominator {
    struct memory *memory;
    const struct entries *entries;
    struct nominator_bucket *buckets;
    uint32_t mask;
    uint32_t count;
    uint64_t sequence;
};

bool mutex_nominator_open(struct nominator *nominator, struct memory *memory,
                          const struct entries *entries);
void mutex_nominator_shut(struct nominator *nominator);

/** Buckets for `count` nominations. False: no memory, nothing changed. */
bool mutex_nominator_reserve(struct nominator *nominator, uint32_t count);

/** Ends the pod's nomination, if any, and begins one to `node`, unless that is 0. */
void mutex_nominator_set(struct nominator *nominator, uint32_t index, uint64_t node);

/** First pod of a node, and the next one; NO_ENTRY ends it. */
uint32_t mutex_nominator_first(const struct nominator *nominator, uint64_t node);
uint32_t mutex_nominator_next(const struct nominator *nominator, uint32_t index);

#endif
