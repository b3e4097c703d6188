/*
 * A lane: the refs that one worker put into one bin, oldest first, in a chain of segments of
 * bounded size.
 *
 * CONTRACT. One producer, the worker that owns the lane; any number of consumers, which do not
 * dequeue: they peek at the head, judge the ref against the pod's state word, claim the pod there,
 * and advance the head over refs that are stale by then. Losing the race to advance is fine. Keys
 * of a lane never fall. EMPTY (lane_peek_from false) holds at the load of a tail.
 *
 * BOUNDS. Keys never fall, so when all refs before one are stale, the key of that one is a lower
 * bound of what is not stale, for ever. A consumer that has a bound passes over lower keys without
 * a look at their pods. lane_pass_by tells the next bound, and leaves the head up to HEAD_LAG refs
 * behind it: so most consumers write nothing in the lane. A bound that is too low costs judgements.
 *
 * READING takes nothing: a reader gets each ref that was published before lane_read_begin, in their
 * order, unjudged, once; refs that a head passed meanwhile, which were stale, may be left out. It
 * ends: what is published later is read only from the segment that was the last when the reading
 * began.
 *
 * A READING IN PARTS, over several sections, goes on where it was: at the segment behind a bookmark
 * (epoch.h), which is the one before the segment that was read last. If the bookmarked one was
 * deleted meanwhile, the reading begins at the first segment again, and goes past what it has read:
 * it reads one line of each segment.
 *
 * PICTURE
 *   lane      first -> segment -> segment -> ... -> last, the owner's, whose next is NULL
 *   segment   {ck_ring counters, next, number} slots: closed for good when its next is not NULL
 *   next      NULL, or a segment, and in its lowest bit GONE: this segment counts as deleted, its
 *             next is frozen
 *   number    grows along the chain; a copy has the number of its original
 * While the owner's segment is the only one, consumers make room in its ring and it is used again.
 * When it is full, the owner judges its refs. If half of them are stale it puts a copy of the
 * others behind it and goes on in that; else it takes a segment twice the size, up to
 * SEGMENT_SLOTS_MAX. A closed segment leaves the chain when its head has reached its tail. A closed
 * segment of which half is stale is replaced by a copy of the rest: by the reader that noticed, by
 * trim, or by the owner, which looks at a closed segment for each quarter of a segment that it
 * puts, and at a second one if the first was not judged as a whole.
 *
 * WRITERS
 *   first            any thread, by a CAS, past the foremost segment
 *   oldest           any thread but a consumer, by a CAS, towards first; it retires what it passes
 *   last             the owner
 *   sweep            the owner; NULL also by the thread that retires that segment
 *   last_key, last_tie, tail, limit   the owner, plain
 *   head             any thread, by a CAS, over stale refs
 *   known            any consumer, plain: a tail that it saw. Other consumers then need not read
 *                    the tail, which the owner writes. On the line of the head
 *   passed           any consumer, plain: what lies before it is stale, though the head is not
 *                    there. A store that comes late is too low, which costs judgements, or behind
 *                    the head. On the line of the head
 *   tail of a segment, slots          the owner, while it is the last
 *   next             NULL -> segment: the owner; then any thread, by a CAS
 * A copy is linked by one CAS of its original's next, from {successor} to {copy, GONE}: the copy,
 * whose next is the successor already, follows the original, which is deleted by the same access.
 * So a consumer that is in the original goes on to the copy. A reader passes over a segment that is
 * deleted when it comes there, because what lives is behind it, and over a copy of one that it has
 * read, by its number. A deleted segment is unlinked by one CAS of the word that points to it,
 * which fails if that word's own segment was deleted (GONE), or points elsewhere: then a later walk
 * unlinks it. (T. Harris, A pragmatic implementation of non-blocking linked lists, 2001.)
 *
 * RECLAMATION. The thread that unlinks a segment from its predecessor retires it. What `first` went
 * past stays reachable from `oldest`, by next words that are frozen; owners, readers and trim move
 * `oldest` on, one CAS a segment, and retire. So pops only move `first`, and neither retire nor
 * free. `last` of an owner that stopped between linking and storing it may point to a segment that
 * is retired: the owner's section, which is open, holds that back, and lane_resume comes before the
 * section ends.
 *
 * LINEARIZATION. Publication: lane_publish:A. lane_peek_from true: lane_peek_from:D. EMPTY: the
 * load of the tail, segment_end:A, of a segment whose next was still NULL at lane_peek_from:F:
 * nothing had been published elsewhere. If next is not NULL, the tail is final by now, and is read
 * again (lane_beyond:A).
 *
 * ORDERING
 *   lane_publish:A -> segment_end:A, enter:A
 *       the slots before the tail, their pods, and the cause
 *   segment_end:A, B -> lane_peek_from:B
 *       the same, by way of another consumer
 *   a claim, lane_pass_one:A -> segment_start:A
 *       what lies before is stale; the tail is not before it (segment_end:A)
 *   lane_put:A, B -> lane_peek_from:C, lane_pass_by:A, lane_skip_stale:A, lane_next:A, B
 *       a thread that reads a slot which was used again then sees the head beyond it
 *       (lane_peek_from:D, lane_pass_by:B, lane_skip_stale:B, lane_next:C), because the owner wrote
 *       it after it had seen that head (lane_make_room:A). No order of two threads' stores to
 *       different words is assumed.
 *   go_on_in:A -> lane_peek_from:F
 *       a closed segment's tail; the next segment is made
 *   go_on_in:A, B -> lane_read_begin:A
 *       the number of the last segment, before a ref is put there
 *   the CAS that unlinks, retire_segment:A | sweep:A, sweep:B
 *       the owner sees GONE and lets the segment go, or the retirer sees that the segment is swept
 *       and makes the owner begin anew
 *   the CAS that deletes | lane_bookmark:A
 *       the reader finds the segment deleted, or the retirer finds the bookmark
 *   lane_publish:A ; the caller's look | the reader's write ; lane_read_begin:A
 *       the fences are the callers'
 *
 * PROGRESS. Lock-free; lane_make_room allocates. No access waits for another thread. A consumer or
 * reader that stops delays no other: the next one advances the head, or unlinks the segment. Each
 * segment that a walk passes is passed for good, or is there because its owner published.
 *
 * BOUND. In one call an owner judges the refs of one segment, SEGMENT_SLOTS_MAX at most, and copies
 * no more than half of them (test_lockfree_lane.c counts).
 *
 * WRAPAROUND. ck_ring counts in 32 bits. A segment is closed long before 2^31 pushes
 * (SEGMENT_PUSHES_MAX), so a delayed advance never meets a head that has come round, nor does a
 * reader. Numbers of segments have 64 bits.
 *
 * WHY NOT ck_ring's OWN CALLS. It has no peek, its dequeue moves the head before the pod is claimed
 * (a consumer that stops in between would lose it), and its enqueue stores the tail by itself: here
 * a batch of refs becomes visible by one store. So this file works on ck_ring's counters, size and
 * mask, and is the only one that does.
 *
 * EVIDENCE. tests/unit/test_lockfree_lane.c; stress/explore: lane_growth, lane_rebuild,
 * lane_chain_*, lane_fronts; tests/model: chain, bookmark, claim, front, bin.
 */
#ifndef SCHEDQ_LOCKFREE_LANE_H
#define SCHEDQ_LOCKFREE_LANE_H

#include "lockfree/pod/entry.h"
#include "platform/ck.h"

#include <assert.h>
#include <ck_ring.h>

struct slot {
    atomic_u64 ref;
    atomic_u64 key;
};

/**
 * Segments of the largest size that were reclaimed, for all lanes of a queue, so that a lane that
 * grows and shrinks finds again what it had. A list by `next`, which is taken as a whole: no
 * segment is compared with.
 */
struct segment_pool {
    atomic_ptr spare;
};

struct segment {
    struct epoch_block block;
    struct segment_pool *pool; /* where the segment goes when it is freed; NULL: to the allocator */
    _Alignas(CACHE_LINE) ck_ring_t ring;
    atomic_ptr next; /* on the line of the ring's mask, which is read only but for this */
    uint64_t number;
    int64_t least; /* no key here is below it, and none in the segments before is above it */
    _Alignas(CACHE_LINE) struct slot slots[];
};

/** What orders a pod among those with its key. */
struct tie {
    uint32_t rank;
    int64_t key;
};

struct lane {
    _Alignas(CACHE_LINE) atomic_ptr first;
    atomic_ptr oldest; /* not behind first; before it lies what may be retired */
    atomic_ptr last;
    atomic_ptr sweep; /* the owner looks at the segment behind this one next; NULL: at the first */
    /* The owner's: */
    _Alignas(CACHE_LINE) atomic_u32 cause; /* of what was published last, for helpers (switch.h) */
    int64_t last_key;                      /* of what was put last */
    struct tie last_tie;                   /* the same, where ties are ordered */
    uint32_t tail;                         /* what lane_publish will make visible */
    uint32_t limit;                        /* up to here the slots of the last segment are free */
};

/** What orders refs with equal keys. */
enum ties {
    TIES_OPEN,    /* nothing */
    TIES_BY_RANK, /* the pods' ranks, then their order keys, read from the records (tie.h) */
    TIES_BY_KEY   /* their order keys */
};

/** What refs of a container are judged by: where their pods have to be, and the pods' records. */
struct residence {
    const struct entries *entries;
    enum place place;
    uint32_t band;
    enum ties ties;
};

/** What is needed to replace segments. */
struct lane_care {
    const struct residence *residence;
    struct memory *memory;
    struct epoch_record *epoch; /* inside a section */
    struct segment_pool *pool;  /* NULL: the allocator */
};

/** The first ref of a lane, as it was seen. */
struct lane_head {
    const struct lane *lane;
    struct segment *segment;
    uint32_t head;     /* of the segment; what lies between it and `position` is stale */
    uint32_t position; /* of the ref */
    uint32_t end;      /* the slots before it are published */
    uint64_t ref;
    int64_t key;
};

/** What a reader gets. */
struct lane_ref {
    uint64_t ref;
    int64_t key;
};

/** Where a reader is; good until its section ends. */
struct lane_reader {
    struct lane *lane;
    struct segment
        *before; /* the segment behind which `segment` was found; NULL: it was the first */
    struct segment *segment;
    uint32_t position, end;
    uint64_t number;      /* of the segment */
    uint32_t read, stale; /* of it */
    uint64_t done;        /* number of the segment that was read last; 0: none */
    uint64_t last;        /* number of the segment that ends the reading */
};

/** Gives all spare segments to the allocator. */
void segment_pool_trim(struct segment_pool *pool, struct memory *memory);

/** A lane with its first segment, of at least `slots`; NULL: no memory. */
struct lane *lane_make(struct memory *memory, uint32_t slots);

/** When no other thread uses it. */
void lane_free(struct memory *memory, struct lane *lane);

/**
 * Goes on where the last owner published last: the owner's thread may have died anywhere. What it
 * put and did not publish is lost. Called before the section that it died in is ended.
 */
void lane_resume(struct lane *lane);

/** Has the lane room for `count` refs? Then lane_make_room need not be called. */
static inline bool
lane_has_room(const struct lane *lane, uint32_t count)
{
    return lane->limit - lane->tail >= count;
}

/**
 * Makes room for `count` more refs, fewer than SEGMENT_SLOTS_MAX / 2; the owner. False: no memory,
 * nothing changed.
 *
 * FUTURE refs are not helped: where refs are copied, they are copied as they are.
 */
bool lane_make_room(struct lane *lane, const struct lane_care *care, uint32_t count);

/**
 * Takes closed segments in which little lives out of the chain, or replaces them by smaller ones.
 * O(refs).
 */
void lane_tidy(struct lane *lane, const struct lane_care *care);

/** The same, and the last segment becomes as small as it can be. The owner. */
void lane_shrink(struct lane *lane, const struct lane_care *care);

/** The last segment. For the owner. */
static inline struct segment *
lane_own_segment(const struct lane *lane)
{
    return ptr_load(&lane->last);
}

/** Puts a ref behind the others, not visible yet; room was made, `key` is not below last_key. */
static inline void
lane_put(struct lane *lane, uint64_t ref, int64_t key)
{
    struct segment *segment = lane_own_segment(lane);
    struct slot *slot = &segment->slots[lane->tail & segment->ring.mask];

    assert(lane->tail != lane->limit && key >= lane->last_key);

    u64_store_release(&slot->key, (uint64_t)key); /* lane_put:A */
    u64_store_release(&slot->ref, ref);           /* lane_put:B */
    lane->last_key = key;
    lane->tail++;
}

/** Makes visible what was put. */
static inline void
lane_publish(struct lane *lane)
{
    u32_store_release(u32_of(&lane_own_segment(lane)->ring.p_tail),
                      lane->tail); /* lane_publish:A */
}

/** Says, before lane_publish, why the pods of what was put are moved. */
static inline void
lane_set_cause(struct lane *lane, uint32_t cause)
{
    /* relaxed, both: the owner's word, and lane_publish:A comes after */
    if (u32_load(&lane->cause) != cause) {
        u32_store(&lane->cause, cause);
    }
}

/**
 * Why the pod of a FUTURE ref is moved. Relaxed: the ref was read. What the owner publishes next
 * may have another cause: by then it has switched the pod, or was overtaken, unless it stopped.
 */
static inline uint32_t
lane_cause(const struct lane *lane)
{
    return u32_load(&lane->cause);
}

/**
 * Where to look after a closed segment whose head met its tail: in that one, if its tail moved
 * since.
 */
struct segment *lane_beyond(struct lane *lane, struct segment *segment);

/** On the line of the head, in the ring's own padding: the tail as a consumer saw it, or before. */
static inline atomic_u32 *
segment_known(const struct segment *segment)
{
    return u32_of((unsigned int *)(void *)(uintptr_t)segment->ring.pad);
}

/** Beside it: what lies before this position is stale. */
static inline atomic_u32 *
segment_passed(const struct segment *segment)
{
    return segment_known(segment) + 1;
}

/** Where consumers begin: at the head, or beyond it. */
static inline uint32_t
segment_start(const struct segment *segment, uint32_t head)
{
    uint32_t passed = u32_load_acquire(segment_passed(segment)); /* segment_start:A */

    return (int32_t)(passed - head) > 0 ? passed : head;
}

/**
 * The tail of a segment, for a consumer that is at `at`. If much lies before it, other consumers
 * get it from the line of the head, and leave the producer's line alone.
 */
static inline uint32_t
segment_end(const struct segment *segment, uint32_t at)
{
    uint32_t end =
        u32_load_acquire(u32_of((unsigned int *)&segment->ring.p_tail)); /* segment_end:A */

    if (end - at >= KNOWN_MIN) {
        u32_store_release(segment_known(segment), end); /* segment_end:B */
    }
    return end;
}

/**
 * The oldest ref whose key is not below `bound`, a lower bound of what is not stale; false: there
 * is none.
 */
static inline bool
lane_peek_from(struct lane *lane, int64_t bound, struct lane_head *out)
{
    struct segment *segment = ptr_load_acquire(&lane->first);        /* of go_on_in:A */
    uint32_t head = u32_load_acquire(u32_of(&segment->ring.c_head)); /* lane_peek_from:A */

    /* Ends: each further round means that a head was advanced, or that a segment is past. */
    for (;;) {
        uint32_t at = head;
        uint32_t end = u32_load_acquire(segment_known(segment)); /* lane_peek_from:B */

        if ((int32_t)(end - head) > 0 || (end = segment_end(segment, head)) != head) {
            at = segment_start(segment, head);
            /* Ends: at the tail. */
            for (; (int32_t)(end - at) > 0 || (end = segment_end(segment, at)) != at; at++) {
                const struct slot *slot = &segment->slots[at & segment->ring.mask];

                out->key = (int64_t)u64_load_acquire(&slot->key); /* lane_peek_from:C */
                if (out->key < bound) {
                    continue;
                }
                out->ref = u64_load_acquire(&slot->ref);
                uint32_t again =
                    u32_load_acquire(u32_of(&segment->ring.c_head)); /* lane_peek_from:D */

                if (again == head) {
                    out->lane = lane;
                    out->segment = segment;
                    out->head = head;
                    out->position = at;
                    out->end = end;
                    return true;
                }
                break;
            }
        }
        if (at != end) {
            head = u32_load_acquire(u32_of(&segment->ring.c_head)); /* as lane_peek_from:A */
            continue;
        }
        if (at != head) {
            (void)u32_cas(u32_of(&segment->ring.c_head), head, at); /* lane_peek_from:E */
        }
        if (ptr_load_acquire(&segment->next) == NULL) { /* lane_peek_from:F */
            return false;
        }
        segment = lane_beyond(lane, segment);
        head = u32_load_acquire(u32_of(&segment->ring.c_head)); /* as lane_peek_from:A */
    }
}

/** The oldest ref; false: the lane is empty. */
static inline bool
lane_peek(struct lane *lane, struct lane_head *out)
{
    return lane_peek_from(lane, INT64_MIN, out);
}

/** Moves the head past what was peeked, which is stale by now. */
static inline void
lane_advance(const struct lane_head *head)
{
    (void)u32_cas(u32_of(&head->segment->ring.c_head), head->head,
                  head->position + 1); /* lane_advance:A */
}

/**
 * Goes past what was peeked, which is stale by now: consumers begin behind it. The head is moved by
 * an exchange, so it stays behind, by PASSED_LAG refs at most, unless nothing more was seen.
 */
static inline void
lane_pass_one(const struct lane_head *head)
{
    uint32_t next = head->position + 1;

    if (next - head->head >= PASSED_LAG || next == head->end) {
        lane_advance(head);
    } else {
        u32_store_release(segment_passed(head->segment), next); /* lane_pass_one:A */
    }
}

/**
 * From a ref to the one behind it, whatever became of the refs before. False: no ref was seen there
 * when the lane was peeked into, or the head has moved since.
 */
static inline bool
lane_peek_next(struct lane_head *head)
{
    const struct segment *segment = head->segment;
    uint32_t next = head->position + 1;
    const struct slot *slot = &segment->slots[next & segment->ring.mask];

    if (next == head->end) {
        return false;
    }
    head->key = (int64_t)u64_load_acquire(&slot->key); /* as lane_peek_from:C */
    head->ref = u64_load_acquire(&slot->ref);
    head->position = next;
    /* as lane_peek_from:D */
    return u32_load_acquire(u32_of((unsigned int *)&segment->ring.c_head)) == head->head;
}

/**
 * The bound that says: this key and greater ones. It is even, so that a word that holds a bound has
 * a bit for something else.
 */
static inline int64_t
lane_bound(int64_t key)
{
    return key & ~INT64_C(1);
}

/**
 * Goes past what was peeked, which is stale by now; *bound becomes a bound of what is not stale. If
 * the key of the next ref gives one, the head stays behind, by HEAD_LAG at most: it is written
 * seldom. False: no ref is known to be behind.
 */
static inline bool
lane_pass_by(const struct lane_head *head, int64_t *bound)
{
    const struct segment *segment = head->segment;
    uint32_t next = head->position + 1;
    bool more = next != head->end || segment_end(segment, next) != next;

    *bound = lane_bound(head->key);
    if (more) {
        int64_t key = (int64_t)u64_load_acquire(
            &segment->slots[next & segment->ring.mask].key); /* lane_pass_by:A */
        uint32_t now =
            u32_load_acquire(u32_of((unsigned int *)&segment->ring.c_head)); /* lane_pass_by:B */

        /* Else the slot may have been used again. */
        if ((int32_t)(now - next) <= 0) {
            *bound = lane_bound(key);
        }
    }
    if (*bound <= head->key || next - head->head >= HEAD_LAG) {
        lane_advance(head);
    }
    return more;
}

/**
 * Goes on from what was peeked, a stale ref, to the last of the stale refs in a row: then one
 * exchange is enough to go past them all.
 */
void lane_skip_stale(struct lane_head *head, const struct residence *residence);

/** Goes past stale refs at the head, `max` at most. True: nothing was behind them. */
bool lane_is_spent(struct lane *lane, const struct residence *residence, uint32_t max);

/** How many refs there are from what was peeked on, in its segment. A hint. */
static inline uint32_t
lane_left(const struct lane_head *head)
{
    uint32_t known = head->end - head->position;

    /* Acquire, of lane_publish:A: slots behind the tail hold anything. */
    return known > 1 ? known
                     : u32_load_acquire(u32_of(&head->segment->ring.p_tail)) - head->position;
}

/** The record of the pod `distance` behind the head, which is less than lane_left. A hint. */
static inline uint32_t
lane_ahead(const struct lane_head *head, uint32_t distance)
{
    const struct segment *segment = head->segment;

    return ref_record(
        u64_load(&segment->slots[(head->position + distance) & segment->ring.mask].ref));
}

/* ---- reading --------------------------------------------------------------------------------- */

/** Begins at the oldest ref. Callers use nothing of the reader but `segment` and `read`. */
void lane_read_begin(struct lane_reader *reader, struct lane *lane);

/**
 * The key of the ref that was published last, or a greater one: of all that were published before
 * the call none is greater.
 */
int64_t lane_newest(const struct lane *lane);

/** Leaves out what lies in this segment before the place where consumers begin: it is stale. */
static inline void
lane_read_passed(struct lane_reader *reader)
{
    uint32_t start = segment_start(reader->segment, reader->position);

    /* What consumers passed since the reader read the tail may lie behind that tail. */
    reader->position = (int32_t)(reader->end - start) > 0 ? start : reader->end;
}

/**
 * The next refs of this segment with keys up to `limit`, `capacity` at most, unjudged; 0: there is
 * none.
 */
static inline size_t
lane_next(struct lane_reader *reader, int64_t limit, struct lane_ref *out, size_t capacity)
{
    const struct segment *segment = reader->segment;

    /* Ends: each further round begins nearer to the end. */
    while (reader->position != reader->end) {
        const uint32_t left = reader->end - reader->position;
        const size_t most = left < capacity ? left : capacity;
        size_t count;

        for (count = 0; count < most; count++) {
            uint32_t at = reader->position + (uint32_t)count;
            const struct slot *slot = &segment->slots[at & segment->ring.mask];

            out[count].key = (int64_t)u64_load_acquire(&slot->key); /* lane_next:A */
            out[count].ref = u64_load_acquire(&slot->ref);          /* lane_next:B */
            if (out[count].key > limit) {
                break;
            }
        }
        uint32_t head =
            u32_load_acquire(u32_of((unsigned int *)&segment->ring.c_head)); /* lane_next:C */

        if ((int32_t)(head - reader->position) <= 0) {
            reader->position += (uint32_t)count;
            reader->read += (uint32_t)count;
            return count;
        }
        /* What lies before the head was stale, and its slots may be other refs'. */
        reader->position = head - reader->position < left ? head : reader->end;
    }
    return 0;
}

/** Tells the reader that so many of the refs read in this segment were stale. */
static inline void
lane_found_stale(struct lane_reader *reader, uint32_t count)
{
    reader->stale += count;
}

/**
 * Goes on in the next segment. False: lane_next stopped at its limit, or there is none that was
 * there at the beginning.
 *
 * A segment of which most was found stale is replaced, or taken out; not if `care` is NULL.
 */
bool lane_read_on(struct lane_reader *reader, const struct lane_care *care);

/**
 * Goes past the segments whose refs all have keys below `from`.
 *
 * Segments with keys from `before` on of which most is stale are replaced, or taken out; not if
 * `care` is NULL. A reading in parts says where its last part began: so it leaves little behind,
 * and no part has more work than what it reads.
 */
void lane_read_from(struct lane_reader *reader, int64_t from, int64_t before,
                    const struct lane_care *care);

/** The readings of a worker that go on in later sections, by their bookmarks (epoch.h). */
enum lane_mark { MARK_OF_EVENTS, MARK_OF_CANDIDATES };

/**
 * Leaves a bookmark, so that a reading can go on at this segment in a later section. All keys
 * before this segment are below that of the next ref. False: no bookmark was left; the segment is
 * the first, the one before it was deleted, or no ref comes here.
 */
bool lane_bookmark(const struct lane_reader *reader, struct epoch_record *record,
                   enum lane_mark mark);

/**
 * After lane_read_begin: goes on to where this lane's bookmark was left, or stays, if others have
 * taken it away.
 */
void lane_read_at(struct lane_reader *reader, const struct epoch_record *record,
                  enum lane_mark mark);

/**
 * In another section: goes on behind the refs whose keys are up to `read`, as far as the reading
 * would have gone. `record` NULL: there is no bookmark. Without one it looks at the number of each
 * segment that was read. In the segment that it comes to it makes a binary search.
 */
void lane_read_again(struct lane_reader *reader, int64_t read, const struct epoch_record *record,
                     enum lane_mark mark);

/** Refs of a container, without the stale ones at its front: of any key, below one, up to it. */
struct ref_counts {
    uint64_t all, before, upto;
};

/**
 * Adds what a lane has. Refs are not judged, but for those at the front: a binary search in each
 * segment finds the key.
 *
 * Counts each ref that was published before, and whose pod stays where it is. It may count others:
 * refs whose pod came or went meanwhile, and stale refs that lie between.
 */
void lane_count(struct lane *lane, const struct residence *residence, int64_t key,
                struct ref_counts *counts);

/**
 * Moves the heads of all segments over stale refs, not FUTURE ones; takes out what is empty. Judges
 * `*most` refs at most, and subtracts those that it judged.
 */
void lane_pass(struct lane *lane, const struct lane_care *care, uint32_t *most);

#endif
