/*
 * How often pods came into a place, and why: kube's queue_incoming_pods_total, by label and place.
 * If entities are counted, pods that came where a verdict named are counted apart
 * (observe/metrics.h).
 *
 * Each worker counts for itself. Labels of events that were defined late are beyond what a worker
 * has room for: these are counted in one table of the queue, made when the event is defined.
 *
 * ORDERING, PROGRESS. Counts order nothing: a worker's own has one writer, and is stored relaxed;
 * those of the table are added to. A chunk is put into the table by a CAS, before the event's
 * number is returned, and stays: make_chunk:A -> the acquire loads. Wait-free, but for the
 * allocator. A thread that stops leaves a pod uncounted, or a chunk that is there too early.
 *
 * EVIDENCE. stress/explore: registry_define; tests/unit/test_metrics.c.
 */
#ifndef SCHEDQ_LOCKFREE_INCOMING_H
#define SCHEDQ_LOCKFREE_INCOMING_H

#include "observe/metrics.h"
#include "platform/atomic.h"
#include "platform/memory.h"

#define INCOMING_OWN 64
#define INCOMING_CHUNK 512
#define INCOMING_CHUNKS 129

/** A worker's own: those of named places are behind the others, if they are counted apart. */
struct incoming {
    atomic_u64 counts[INCOMING_OWN][INCOMING_PLACES];
};

/** The queue's. */
struct incoming_late {
    struct memory *memory;
    uint32_t counters;                  /* of a label: INCOMING_PLACES, or INCOMING_COUNTERS */
    atomic_ptr chunks[INCOMING_CHUNKS]; /* of INCOMING_CHUNK labels */
};

void incoming_open(struct incoming_late *late, struct memory *memory, bool entities);
void incoming_close(struct incoming_late *late);

/** Makes room for a label. False: no memory. */
bool incoming_reserve(struct incoming_late *late, uint32_t label);

/** incoming_count of a label behind the workers' own. */
void incoming_count_late(struct incoming_late *late, uint32_t label, uint32_t counter, uint32_t by);

/**
 * Counts `by` pods. `own` is the calling worker's; room was made for the label. `named` only if
 * entities are counted.
 */
static inline void
incoming_count(struct incoming *own, struct incoming_late *late, uint32_t label,
               enum incoming_place place, bool named, uint32_t by)
{
    if (label < INCOMING_OWN) {
        own += __builtin_expect(named, false) ? 1 : 0;
        atomic_u64 *count = &own->counts[label][place];

        u64_store(count, u64_load(count) + by);
    } else {
        incoming_count_late(late, label, incoming_counter(place, named), by);
    }
}

/**
 * The queue's counts of members that came with their records, and of records: INCOMING_PLACES each.
 * Opening makes room; without memory they are not counted.
 */
void incoming_open_groups(struct incoming_late *groups, struct memory *memory);
void incoming_count_group(struct incoming_late *groups, uint32_t label, enum incoming_place place,
                          uint64_t pods, bool entity);

/** What the table of late labels has; the workers' own are added by the caller. */
uint64_t incoming_of_late(const struct incoming_late *late, uint32_t label, uint32_t counter);

#endif
