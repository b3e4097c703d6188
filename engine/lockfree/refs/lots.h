/*
 * Lots: parked and gated pods by what they wait for. An event reads the lots whose rejectors it
 * reaches, and no other pod.
 *
 * CONTRACT. A lot is a key and one lane per worker; pods with the same profile, rejectors and gate
 * share it. It has no order but that of each worker's insertions, no runs and no word: it is read,
 * never consumed, and nobody helps in it. There are at most `max` lots; sets that come then, or
 * when there is no memory, share the catch-all, which every event reads. Lots are not freed before
 * the queue.
 *   lots_get     two calls with equal keys return the same lot, unless one of them returned the
 *                catch-all
 *   lots_next    meets each lot that lots_get returned before the iteration began (with a full
 *           fence between), once
 *   lot_read     meets each ref that lot_publish published before lot_read_begin (with a full fence
 *                between) and that has not become stale; one that is published meanwhile, perhaps;
 *                none that the reader published after `newest`
 * A pod can be met more than once, by refs of several versions. Refs are judged by who reads them.
 *
 * MEMORY. Made for the first worker (memory_alloc_first:A), but for the lots.
 *   order        [max] lots in the order in which they were made; a cell goes from NULL to a lot,
 *                in turn, and stays
 *   indexed      lots with smaller numbers are in the table
 *   table        open addressing over 2 x max cells or more, a power of two; a cell goes from NULL
 *                to a lot, and stays
 *   lot          what is read only, but for `used` and `affinity`, then the lanes, a pointer per
 *                worker, set once
 *
 * ORDER IS THE TRUTH; the table only finds its lots faster. Who looks a key up reads `indexed`,
 * then the table: if the key is not there, no lot with a smaller number has it. So he claims the
 * cell of that number with a lot of his key, if it is NULL; no key gets there twice, and the number
 * of lots is exact. If it is taken, he puts that lot into the table in place of its maker, raises
 * `indexed`, and begins again. No lot gets into the table twice: cells are never emptied, so all
 * who put it there walk the same way, and meet it where the first of them put it.
 *
 * LINEARIZATION. lots_get: settle:B for a new lot, the load of the cell for a known one.
 * lot_publish: lane_publish:A.
 *
 * ORDERING. settle:B (full fence) -> lots_next:A, settle:A (acquire): a lot is seen with its key.
 * index_lot:A -> find_lot:A: the same. index_lot:B (full fence) -> lots_get:A (acquire): find sees
 * all lots with smaller numbers. lot_prepare:A, B (full fence, release) -> lot_read_begin:A,
 * begin_lane:A (acquire): the bit of a worker, then its lane, both before what it publishes there.
 *
 * PROGRESS. Lock-free. lots_get allocates for a new key; each further round means that another
 * thread made a lot. A thread that stops after any line holds nobody up: after settle:B the next
 * one who looks up a new key indexes the lot.
 *
 * COST. lots_get is one probe for a known key. An event looks at the first line of each lot, and at
 * the refs of those that it reaches; an iteration over `max` cells would cost more than most
 * events.
 *
 * EVIDENCE. tests/model: lots, park; stress/explore: event_lots; tests/unit/test_lockfree_lots.c,
 * test_lots.c.
 */
#ifndef SCHEDQ_LOCKFREE_LOTS_H
#define SCHEDQ_LOCKFREE_LOTS_H

#include "lockfree/refs/bin.h"

/** What the pods of a lot have in common. */
struct lot_key {
    uint64_t unschedulable, pending; /* sets of plugins */
    uint8_t profile;
    uint8_t gate; /* 1 + number of the plugin; 0: parked */
};

struct lot {
    _Alignas(CACHE_LINE) struct lot_key key;
    bool catch_all;
    struct residence residence;
    atomic_u32 affinity; /* some pod here had SCHEDQ_POD_AFFINITY, or got it by an update */
    atomic_u64 used;     /* workers that have a lane here, as bits */
    atomic_ptr lanes[WORKERS_MAX];
};

struct lots {
    struct memory *memory;
    const struct entries *entries;
    uint32_t max;
    uint32_t mask;    /* cells of the table, less one */
    atomic_ptr order; /* atomic_ptr [max]; this and the table: NULL before lots_make */
    atomic_ptr table; /* atomic_ptr [mask + 1] */
    atomic_u32 indexed;
    struct lot catch_all;
};

/** `lots` is zeroed. Allocates nothing. */
void lots_open(struct lots *lots, struct memory *memory, const struct entries *entries,
               uint32_t max);

/** Before a thread's first call of lots_get; by any number of them. False: no memory. */
bool lots_make(struct lots *lots);

/** Alone. */
void lots_close(struct lots *lots);

/**
 * The lot of a key, made if need be; the catch-all if there are `max` lots already, or no memory.
 */
struct lot *lots_get(struct lots *lots, const struct lot_key *key);

/** The next lot, the catch-all first; NULL: there are no more. *cursor is 0 at the beginning. */
struct lot *lots_next(const struct lots *lots, uint32_t *cursor);

/** For the next owner of a slot whose last one died: its lanes go on from what was published. */
void lots_resume(struct lots *lots, uint32_t worker);

/** For who has a slot that nobody uses: makes its lanes as small as they can be. */
void lots_shrink(struct lots *lots, struct memory *memory, struct epoch_record *epoch,
                 uint32_t worker);

/* ---- one lot --------------------------------------------------------------------------------- */

/** Makes sure that `count` refs can be put into the caller's lane. False: no memory. */
bool lot_prepare(struct lot *lot, const struct bin_caller *caller, uint32_t count);

/** For lots of their own, outside a struct lots. */
void lot_open(struct lot *lot, const struct entries *entries, enum place place);
void lot_close(struct lot *lot, struct memory *memory);
void lot_resume(struct lot *lot, uint32_t worker);
void lot_shrink(struct lot *lot, struct memory *memory, struct epoch_record *epoch,
                uint32_t worker);

/** A pod with the flag is about to stand here. Before it is published, or described. */
void lot_note_affinity(struct lot *lot);

/**
 * The same for a pod that stands in some lot already: all lots where it may be. Its rejectors only
 * grew since it came there.
 */
void lots_note_affinity(struct lots *lots, schedq_profile_t profile, uint64_t unschedulable,
                        uint64_t pending);

static inline bool
lot_may_have_affinity(const struct lot *lot)
{
    return u32_load_acquire(&lot->affinity) != 0; /* of lot_note_affinity's exchange */
}

/**
 * Makes a ref visible in the worker's lane; lot_prepare made room.
 *
 * `insertion` grows with every ref that this worker puts into any lot: readers begin and end by it.
 */
void lot_publish(struct lot *lot, uint32_t worker, uint64_t ref, int64_t insertion);

/**
 * Where the reading of a lot is; good until the reader's section ends, and then after
 * lot_read_again.
 */
struct lot_reader {
    struct lot *lot;
    struct lane_care care;
    uint64_t left;     /* workers whose lanes come later, as bits */
    uint32_t worker;   /* the reader's */
    int64_t newest;    /* in his own lane: what he put there later he does not read */
    bool in_lane, own; /* own: the lane that is read is his */
    int64_t from;      /* refs up to this insertion were read there */
    struct lane_reader lane;
};

/**
 * Inside a section, until the reading ends. In the caller's own lane it ends at the insertion
 * `newest`.
 */
void lot_read_begin(struct lot_reader *reader, struct lot *lot, const struct bin_caller *caller,
                    int64_t newest);

/** The next refs, unjudged; 0: no more. Fewer than `capacity` does not mean that. */
size_t lot_read(struct lot_reader *reader, uint64_t *refs, size_t capacity);

/**
 * In a new section: the reading goes on behind what was read; what was published meanwhile may come
 * too.
 */
void lot_read_again(struct lot_reader *reader);

/** So many of the refs that the last lot_read returned were stale. */
void lot_found_stale(struct lot_reader *reader, uint32_t count);

/**
 * Moves heads over refs that are stale, not over FUTURE ones. After reading, and after the pods
 * were moved.
 */
void lot_pass(struct lot *lot, const struct bin_caller *caller);

#endif
