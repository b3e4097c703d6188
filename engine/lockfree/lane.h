/*
 * A lane: the refs that one worker put into one bin, oldest first, on a ck_ring.
 *
 * CONTRACT. One producer, the worker that owns the lane; any number of consumers, who do not dequeue: they peek at the head,
 * judge the ref against the pod's state word, claim the pod there, and advance the head over refs that are stale by then.
 * Losing the race to advance is fine. Keys of a lane never fall. EMPTY (lane_peek false) holds at the load of the tail.
 *
 * READING takes nothing: a reader gets each ref that was published before lane_read_begin looked at the tail, in their order
 * and unjudged; refs that the head passed meanwhile, which were stale, may be left out. He says how many he found stale. A
 * lane of which most is stale and whose head cannot move, because its oldest ref is live, is called crowded: its owner drops
 * what is stale at his next lane_make_room although there is room. The flag is a hint; the owner counts again.
 *
 * MEMORY. lane -> segment {ck_ring counters, slots}. A segment is replaced as a whole by its owner (lane_make_room) when it
 * is full, by one with room for at least twice its live refs, and not by a smaller one; or when it is crowded. Consumers and
 * readers may work on an old segment until their section ends; what they advance there does not matter, because claims are
 * made on the state word, and the owner leaves its slots as they are.
 *   written by the owner: segment, tail, slots [tail, ..)   by anybody: head, crowded
 * Slots that were never put hold anything: who reads one has seen the tail beyond it.
 *
 * WHY NOT ck_ring's OWN CALLS. It has no peek, its dequeue moves the head before the pod is claimed (a consumer that stops
 * in between would lose it), and its enqueue stores the tail by itself: here a batch of refs becomes visible by one store.
 * So this file works on ck_ring's counters, size and mask, and is the only one that does.
 *
 * ORDERING. lane_publish:A (tail, release) -> lane_peek:B (tail, acquire): the slots before the tail are visible. lane_peek:D
 * reads the head again after the slot: equal means that the owner, who writes a slot only after he saw the head beyond it
 * (lane_make_room:A), had not written it. lane_next:C does the same for a reader: the head is not beyond the slot. Between
 * lane_publish and the look at the bin's word the caller needs a full fence; so does who has to be met by readers that look
 * at the lane after they wrote something, on both sides (lane_publish, fence, look; write, fence, lane_read_begin:A).
 *
 * PROGRESS. All of it is lock-free; lane_make_room allocates. A consumer that stops after any line holds nobody up: the head
 * it did not advance, the next one advances. An owner that stops holds back what it has not published. Replacing a segment
 * judges and copies all of its refs: its owner pays for that once in about as many pushes as are live, and nobody waits.
 *
 * WRAPAROUND. ck_ring counts in 32 bits. A segment is replaced long before 2^31 pushes (SEGMENT_PUSHES_MAX), so a delayed
 * advance never meets a head that has come round, nor does a reader.
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

/** What orders a pod among those with its key. */
struct tie {
    uint32_t rank;
    int64_t key;
};

struct lane {
    _Alignas(CACHE_LINE) atomic_ptr segment;
    atomic_u32 crowded; /* a reader found most of it stale */
    /* The owner's: */
    int64_t last_key;    /* of what was put last */
    struct tie last_tie; /* the same, where ties are ordered */
    uint32_t tail;       /* what lane_publish will make visible */
};

/** What orders refs with equal keys. */
enum ties {
    TIES_OPEN,    /* nothing */
    TIES_BY_RANK, /* the pods' ranks, then their order keys, which are read from the records (tie.h) */
    TIES_BY_KEY   /* their order keys */
};

/** Who judges refs for a container: where they have to be, and what the pods' records are. */
struct residence {
    const struct entries *entries;
    enum place place;
    uint32_t band;
    enum ties ties;
    atomic_u64 *reorder; /* raised when a pod moves inside the order */
};

/** The head of a lane, as it was seen. */
struct lane_head {
    struct segment *segment;
    uint32_t position;
    uint64_t ref;
    int64_t key;
};

/** What a reader gets. */
struct lane_ref {
    uint64_t ref;
    int64_t key;
};

/** Where a reader is; good until his section ends. */
struct lane_reader {
    struct lane *lane;
    const struct segment *segment;
    uint32_t position, end;
    uint32_t read, stale;
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
 * If the segment is full or crowded it drops stale refs, and helps no FUTURE ones: they are copied as they are.
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
    struct segment *segment = ptr_load_acquire(&lane->segment);      /* of replace:A */
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

    /* Acquire, of lane_publish:A: what a slot holds that was not put is nobody's. */
    if (u32_load_acquire(u32_of((unsigned int *)&segment->ring.p_tail)) - head->position <= distance) {
        return NULL;
    }
    const struct slot *slot = &segment->slots[(head->position + distance) & segment->ring.mask];

    return entry_at(entries, ref_record(u64_load(&slot->ref)));
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

/** Begins at the oldest ref. The reader's fields are his own business but for the calls below. */
static inline void
lane_read_begin(struct lane_reader *reader, struct lane *lane)
{
    struct segment *segment = ptr_load_acquire(&lane->segment); /* lane_read_begin:A reads from replace:A */

    /* The head first: what it is, the tail has reached. */
    uint32_t head = u32_load_acquire(u32_of(&segment->ring.c_head));
    uint32_t tail = u32_load_acquire(u32_of(&segment->ring.p_tail)); /* lane_read_begin:B reads from lane_publish:A */

    *reader = (struct lane_reader){.lane = lane, .segment = segment, .position = head, .end = tail};
}

/** The next ref, unjudged. False: there is none that was there when the reading began, or its key is beyond `limit`. */
static inline bool
lane_next(struct lane_reader *reader, int64_t limit, struct lane_ref *out)
{
    const struct segment *segment = reader->segment;

    /* Ends: each further round is nearer to the end. */
    while (reader->position != reader->end) {
        const struct slot *slot = &segment->slots[reader->position & segment->ring.mask];

        out->key = (int64_t)u64_load_acquire(&slot->key);                                /* lane_next:A */
        out->ref = u64_load_acquire(&slot->ref);                                         /* lane_next:B */
        uint32_t head = u32_load_acquire(u32_of((unsigned int *)&segment->ring.c_head)); /* lane_next:C */

        if (head - reader->position - 1 < UINT32_MAX / 2) {
            reader->position++; /* the head is beyond it: it was stale, and its slot may be another ref's */
        } else if (out->key > limit) {
            return false;
        } else {
            reader->position++;
            reader->read++;
            return true;
        }
    }
    return false;
}

/** The next refs, as lane_next; 0: no more up to `limit`. */
size_t lane_read(struct lane_reader *reader, int64_t limit, struct lane_ref *out, size_t capacity);

/** So many of the refs that were read were stale. */
static inline void
lane_found_stale(struct lane_reader *reader, uint32_t count)
{
    reader->stale += count;
}

/** Calls the lane crowded if it is. Not needed for correctness. */
void lane_read_end(const struct lane_reader *reader);

/** Moves the head over refs that are stale: not over FUTURE ones. Inside a section. */
void lane_pass(struct lane *lane, const struct residence *residence);

#endif
