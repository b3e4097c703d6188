/*
 * A lane: the refs that one worker put into one bin, oldest first, on a ck_ring.
 *
 * CONTRACT. One producer, the worker that owns the lane; any number of consumers, who do not dequeue: they peek at the head,
 * judge the ref against the pod's state word, claim the pod there, and advance the head over refs that are stale by then.
 * Losing the race to advance is fine. Keys of a lane never fall. EMPTY (lane_peek false) holds at the load of the tail.
 *
 * MEMORY. lane -> segment {ck_ring counters, slots}. A segment is replaced as a whole by its owner (lane_make_room) when it
 * is full: by one with room for at least twice its live refs, and never by a smaller one. Consumers may work on an old
 * segment until their section ends; what they advance there does not matter, because claims are made on the state word.
 *   written by the owner: segment, tail, slots [tail, ..)   by anybody: head
 *
 * WHY NOT ck_ring's OWN CALLS. It has no peek, its dequeue moves the head before the pod is claimed (a consumer that stops
 * in between would lose it), and its enqueue stores the tail by itself: here a batch of refs becomes visible by one store.
 * So this file works on ck_ring's counters, size and mask, and is the only one that does.
 *
 * ORDERING. lane_publish:A (tail, release) -> lane_peek:B (tail, acquire): the slots before the tail are visible. lane_peek:D
 * reads the head again after the slot: equal means that the owner, who writes a slot only after he saw the head beyond it
 * (lane_make_room:A), had not written it. Between lane_publish and the look at the bin's word the caller needs a full fence.
 *
 * PROGRESS. All of it is lock-free; lane_make_room allocates. A consumer that stops after any line holds nobody up: the head
 * it did not advance, the next one advances. An owner that stops holds back what it has not published.
 *
 * WRAPAROUND. ck_ring counts in 32 bits. A segment is replaced long before 2^31 pushes (SEGMENT_PUSHES_MAX), so a delayed
 * advance never meets a head that has come round.
 *
 * EVIDENCE. tests/unit/test_lockfree_lane.c; stress/explore: lane_growth; tests/model: claim, bin.
 */
#ifndef SCHEDQ_LOCKFREE_LANE_H
#define SCHEDQ_LOCKFREE_LANE_H

#include "lockfree/entry.h"
#include "platform/ck.h"

#include <ck_ring.h>

struct slot {
    atomic_u64 ref;
    atomic_u64 key;
};

struct segment {
    struct epoch_block block;
    _Alignas(CACHE_LINE) ck_ring_t ring;
    _Alignas(CACHE_LINE) struct slot slots[];
};

struct lane {
    _Alignas(CACHE_LINE) atomic_ptr segment;
    /* The owner's: */
    int64_t last_key; /* of what was put last */
    uint32_t tail;    /* what lane_publish will make visible */
};

/** Who judges refs for a container: where they have to be, and what the pods' records are. */
struct residence {
    const struct entries *entries;
    enum place place;
    uint32_t band;
    atomic_u64 *reorder; /* raised when a pod moves inside the order */
};

/** The head of a lane, as it was seen. */
struct lane_head {
    struct segment *segment;
    uint32_t position;
    uint64_t ref;
    int64_t key;
};

/** A lane with its first segment, of at least `slots`; NULL: no memory. */
struct lane *lane_make(struct memory *memory, uint32_t slots);

/** Alone. */
void lane_free(struct memory *memory, struct lane *lane);

/**
 * Goes on where the last owner published last: he may have died anywhere. What he put and did not publish is lost.
 */
void lane_resume(struct lane *lane);

/**
 * Makes room for `count` more refs; the owner, inside a section of `epoch`. False: no memory, nothing changed.
 *
 * If the segment is full it drops stale refs, and helps no FUTURE ones: they are copied as they are.
 */
bool lane_make_room(struct lane *lane, const struct residence *residence, struct memory *memory,
                    struct epoch_record *epoch, uint32_t count);

/** Replaces the segment by the smallest that holds what is live. The owner; as lane_make_room. */
void lane_shrink(struct lane *lane, const struct residence *residence, struct memory *memory,
                 struct epoch_record *epoch);

/** Puts a ref behind the others; room was made, and `key` is not smaller than last_key. Not visible yet. */
void lane_put(struct lane *lane, uint64_t ref, int64_t key);

/** Makes visible what was put. */
void lane_publish(struct lane *lane);

/** The oldest ref; false: the lane is empty. */
static inline bool
lane_peek(const struct lane *lane, struct lane_head *out)
{
    struct segment *segment = ptr_load_acquire(&lane->segment);
    uint32_t head = u32_load_acquire(u32_of(&segment->ring.c_head)); /* lane_peek:A */

    /* Ends: each further round means that a consumer advanced the head. */
    for (;;) {
        uint32_t tail = u32_load_acquire(u32_of(&segment->ring.p_tail)); /* lane_peek:B */

        if (head == tail) {
            return false;
        }
        const struct slot *slot = &segment->slots[head & segment->ring.mask];

        out->key = (int64_t)u64_load_acquire(&slot->key); /* lane_peek:C */
        out->ref = u64_load_acquire(&slot->ref);
        uint32_t again = u32_load_acquire(u32_of(&segment->ring.c_head)); /* lane_peek:D */

        if (again == head) {
            out->segment = segment;
            out->position = head;
            return true;
        }
        head = again;
    }
}

/** Moves the head past what was peeked, which is stale by now. */
static inline void
lane_advance(const struct lane_head *head)
{
    (void)u32_cas(u32_of(&head->segment->ring.c_head), head->position, head->position + 1); /* lane_advance:A */
}

/** Is there anything behind what was peeked? A hint. */
static inline bool
lane_has_more(const struct lane_head *head)
{
    return u32_load(u32_of(&head->segment->ring.p_tail)) - head->position > 1;
}

/** The record of the pod `distance` behind the head; NULL: there is none. A hint: the pod may be gone. */
static inline const struct entry *
lane_ahead(const struct lane_head *head, const struct entries *entries, uint32_t distance)
{
    const struct segment *segment = head->segment;

    if (u32_load(u32_of((unsigned int *)&segment->ring.p_tail)) - head->position <= distance) {
        return NULL;
    }
    const struct slot *slot = &segment->slots[(head->position + distance) & segment->ring.mask];

    return entry_at(entries, ref_record(u64_load(&slot->ref)));
}

#endif
