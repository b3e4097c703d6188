/*
 * Lots: parked and gated pods by what they wait for. An event reads the lots whose rejectors it
 * reaches, and no other pod.
 *
 * CONTRACT. A lot is a key and one lane per worker; pods with the same profile, rejectors and gate
 * share it. It has no order but that of each worker's insertions, no runs and no word: it is read,
 * never consumed, and there are no helpers. There are at most `max` lots at a time. Pods with a new
 * key that come then, or when there is no memory, go into the catch-all, whose plugins are all that
 * ever came to it. A lot without pods leaves again; its memory is given back after a grace period.
 * So what an event or memory costs follows the sets of rejectors that pods have.
 *   lots_get     the lot of a key. Two calls that make lots of one key at once may both make one;
 *                later calls return one of them, and the other leaves
 *   lots_next    meets each lot with one of the walk's plugins, or without any, that lots_get
 *                returned before the walk began (with a full fence between), and that has a pod
 *   lot_read     meets each ref that lot_publish published before lot_read_begin (with a full fence
 *                between) and that has not become stale; perhaps refs published meanwhile; none
 *                that the reader itself published after `newest`
 * A pod can be met more than once, by refs of several versions. The reader judges each ref.
 *
 * PICTURE
 *   lots      first -> group -> group ...     made when those before are full; they stay
 *             of_none, of_plugin [plugin]     how many lots by_none, by_plugin have in all groups
 *   group     64 cells {NULL or a lot}, and of these, as bits:
 *             taken                           a lot is there, or is being made, or unmade
 *             by_key [class of the hash]      lots that lots_get may find
 *             by_none, by_plugin [plugin]     lots that an event has to look at
 *   lot       what is read only, but for `state`, `affinity` and the lanes
 *   bank      lanes, in banks (bank.h). A reader looks for further ones, unless the queue may not
 *             have so many workers
 * A cell, and all bits of it, are written by the thread that took its bit in `taken`, or that made
 * its lot GONE.
 *
 * LEAVING. A lot's `state` is {number:62, phase:2}. Each number is a mark (epoch.h). Changes:
 *   OPEN -> EMPTY            a look that met no pod in the lot (lots_look:A)
 *   EMPTY -> LEAVING         the same look, or a later one, by a mark drawn then (lots_look:B)
 *   LEAVING -> GONE          a look behind the mark that meets no pod (end_wait:A); terminal
 *   LEAVING -> OPEN          a look behind the mark that meets one
 *   EMPTY, LEAVING -> OPEN   lots_get, which returns the lot (lot_keep:A)
 * A call that found the lot OPEN, and publishes there later, is in a section that began before the
 * mark of LEAVING was drawn: a section that begins later finds the lot EMPTY. So that section is
 * over when the mark has passed, and its ref is seen. A call that found the lot EMPTY or LEAVING
 * made it OPEN. No EMPTY or LEAVING comes back as it was, for each has a mark of its own. So a lot
 * that is GONE has no pod, and gets none. It loses its bits, its count and its cell. It is freed
 * after one more grace period, when no reader has it. A FUTURE ref counts as a pod: the pod may
 * come to be there.
 * Looks come
 *   with each key that has no lot: at SWEPT_AT_ONCE lots, so those without pods do not outgrow
 *           those with pods
 *   with each event: at each lot that it concerns and in which it found no ref
 *   with trim: at all lots
 * A look at a lot whose mark has not passed presses (epoch_press): enough looks close a batch, and
 * the mark passes with that.
 *
 * A WALK stands between two cells; groups stay, so it can go on in a later section. The lot that it
 * met last may be gone then (lots_again): then it had no pod. Another lot may be in its cell, with
 * a number of its own: numbers never come again. A walk need not meet what is made after it began.
 *
 * LINEARIZATION. lots_get: lot_make:C for a new lot, the load of the phase for a known one.
 * lot_publish: lane_publish:A.
 *
 * ORDERING
 *   lot_make:A (full fence), lot_make:B (release) -> find_lot:A, lots_again_in:A, lots_next:A
 *           (acquire)     a lot is found with its key, and after its bits in by_plugin are set;
 *           also by a call that read by_key when the cell was another lot's, or knew the cell; and
 *           after it was counted
 *   count_lot:A, B, lot_make:A, B, lots_get:A, a publication, the caller's fence
 *                                      |  a fence, has_lot:A, B, cells_of:A, B, lots_next:A
 *           a walk that misses the count, the bits or the cell of a lot began before the fence of
 *           each call that published there.
 *           So it is with the catch-all's plugins, also for a call that only saw them there
 *   lots_look:A, epoch_mark:A           |  epoch_enter, the look at the state     a call that found
 *           a lot OPEN is waited for
 *   a section, free_waiting:A -> end_wait:A       the refs that were published in it
 *
 * PROGRESS. Lock-free. lots_get allocates for a new key; each further round of a loop means that
 * another thread took a cell, or a bit. A thread that stops in lot_make or lot_unmake keeps a cell,
 * and perhaps a count. A thread that stops in any section holds up grace periods: lots that are
 * LEAVING then keep their cells, and pods with further keys may go into the catch-all.
 *
 * COST. lots_get looks at one word of each group, and at the lots of its class. An event looks at
 * the counts of the plugins that it reaches. If there is a lot of one, it looks, in each group, at
 * a word for each plugin, or at `taken` if it reaches all; then at the lots found, and their refs.
 * So an event that concerns no lot costs the same however many there are, or were. A lot that its
 * pods left costs each event that it concerns a look, until it leaves. It leaves after some 3,000
 * looks by one worker at lots without pods, all counted together, or when another batch passes.
 *
 * EVIDENCE. tests/model: lots, park; stress/explore: event_lots, event_lots_leave, event_lots_met,
 * event_lots_again, banks_park; tests/unit/test_lockfree_lots.c, test_lots.c, test_many_workers.c.
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

#define LOTS_IN_GROUP UINT32_C(64)
#define LOT_PLUGINS 64
#define LOT_CLASSES 64 /* of keys */

enum lot_phase { LOT_OPEN, LOT_EMPTY, LOT_LEAVING, LOT_GONE };
#define LOT_PHASES 4

struct lot {
    _Alignas(CACHE_LINE) struct lot_key key;
    atomic_u64 state;    /* number:62 | enum lot_phase:2 */
    atomic_u32 affinity; /* some pod here had SCHEDQ_POD_AFFINITY, or got it by an update */
    bool catch_all;
    bool has_banks;   /* the queue may have more than BANK_LANES workers */
    uint8_t cell;     /* in its group */
    uint64_t number;  /* of no other lot in the queue's life */
    struct bank bank; /* its `used` and `more` are on this line */
    struct residence residence;
    struct lot_group *group;
    struct epoch_block block;
};

struct lot_group {
    atomic_u64 taken;
    atomic_ptr next;
    atomic_u64 by_none; /* of pods that nothing rejected: every event concerns them */
    atomic_u64 by_plugin[LOT_PLUGINS];
    atomic_u64 by_key[LOT_CLASSES];
    atomic_ptr lots[LOTS_IN_GROUP];
};

struct lots {
    struct memory *memory;
    const struct entries *entries;
    uint32_t max;
    atomic_ptr first;  /* group */
    atomic_u64 drawn;  /* numbers */
    atomic_u64 caught; /* plugins that came to the catch-all, as bits */
    atomic_u32 swept;  /* where the next sweep begins: a position in a walk */
    /* how many lots there are of pods that nothing rejected, and for each plugin; perhaps more */
    atomic_u64 of_none, of_plugin[LOT_PLUGINS];
    struct lot catch_all;
};

/** `lots` is zeroed. Allocates nothing. `workers`: so many there may be. */
void lots_open(struct lots *lots, struct memory *memory, const struct entries *entries,
               uint32_t max, uint32_t workers);

/** When no other thread uses it, after what was retired is freed. */
void lots_close(struct lots *lots);

/**
 * The lot of a key, made if need be, for the section that the caller is in; the catch-all if there
 * are `max` others already, or no memory.
 */
struct lot *lots_get(struct lots *lots, const struct bin_caller *caller, const struct lot_key *key);

static inline bool
lot_key_equal(const struct lot_key *a, const struct lot_key *b)
{
    return a->unschedulable == b->unschedulable && a->pending == b->pending &&
           a->profile == b->profile && a->gate == b->gate;
}

static inline enum lot_phase
lot_phase(uint64_t state)
{
    return (enum lot_phase)(state % LOT_PHASES);
}

/** False: the lot is GONE. Else it is OPEN, and stays until the caller's section ends. */
static inline bool
lot_keep(struct lot *lot)
{
    uint64_t state = u64_load_acquire(&lot->state); /* of lots_look:A, B, end_wait:A */

    /* Ends: each failed exchange is a look's, or makes it OPEN. */
    while (lot_phase(state) == LOT_EMPTY || lot_phase(state) == LOT_LEAVING) {
        if (u64_swing(&lot->state, &state, LOT_OPEN)) { /* lot_keep:A */
            return true;
        }
    }
    return lot_phase(state) != LOT_GONE;
}

/** lots_get of a lot that was found in *cell before. NULL: the lot there is another, or GONE. */
STRAIGHT struct lot *
lots_again_in(const atomic_ptr *cell, const struct lot_key *key)
{
    struct lot *lot = cell != NULL ? ptr_load_acquire(cell) : NULL; /* lots_again_in:A */

    return lot != NULL && lot_key_equal(&lot->key, key) && lot_keep(lot) ? lot : NULL;
}

/** The cell of a lot, which stays when the lot is gone; NULL: the catch-all. */
static inline const atomic_ptr *
lot_place(const struct lot *lot)
{
    return lot->catch_all ? NULL : &lot->group->lots[lot->cell];
}

/**
 * For a lot of a walk that seems to have no refs: makes it begin to leave, or, if its mark has
 * passed, leave. Called in the section in which the walk came to it.
 */
void lots_look(struct lots *lots, struct lot *lot, const struct bin_caller *caller);

/** Looks at all lots. In a section, behind lots_tend of EVERY_WORKER. */
void lots_trim(struct lots *lots, const struct bin_caller *caller);

/** Where a walk over lots is: in a section, or in several. */
struct lots_walk {
    struct lots *lots;
    uint64_t plugins;
    uint32_t from;           /* lots at positions before are left out */
    uint32_t first;          /* position of the group's first cell */
    struct lot_group *group; /* NULL: before the first */
    uint64_t bits;           /* cells of the group that come later */
    bool over;               /* nothing but the catch-all is wanted */
    /* of the lot that came last */
    uint32_t position;
    uint64_t number;
};

/** Every lot, for a walk. */
#define LOTS_ALL UINT64_MAX

/** A walk over the lots where pods may wait for one of the plugins, from a position on; 0: all. */
void lots_walk_begin(struct lots_walk *walk, struct lots *lots, uint64_t plugins, uint32_t from);

/** The next lot, the catch-all first, perhaps some that are not wanted; NULL: there are no more. */
struct lot *lots_next(struct lots_walk *walk);

/** In a new section: is the lot that came last there still? False: it had no pod, and is gone. */
bool lots_again(const struct lots_walk *walk);

/** Tends a worker's lanes, as bank_tend. */
void lots_tend(struct lots *lots, struct memory *memory, struct epoch_record *epoch,
               uint32_t worker);

/* ---- one lot --------------------------------------------------------------------------------- */

/** Makes sure that `count` refs can be put into the caller's lane. False: no memory. */
bool lot_prepare(struct lot *lot, const struct bin_caller *caller, uint32_t count);

/** The worker's lane; NULL: it has none here. For its owner. */
static inline struct lane *
lot_lane(const struct lot *lot, uint32_t worker)
{
    return bank_lane(&lot->bank, worker);
}

/** For lots of their own, outside a struct lots. */
void lot_open(struct lot *lot, const struct entries *entries, enum place place, uint32_t workers);
void lot_close(struct lot *lot, struct memory *memory);
void lot_tend(struct lot *lot, struct memory *memory, struct epoch_record *epoch, uint32_t worker);

/**
 * For a mover or holder that is about to publish here a pod with SCHEDQ_POD_AFFINITY, or a group's
 * record: its members may have the flag. Also before a pod that is here gets the flag.
 */
void lot_note_affinity(struct lot *lot);

/**
 * The same for a pod that is in some lot already: notes it in all lots where the pod may be. The
 * pod's rejectors have only grown since it came to its lot.
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
 * `insertion` grows with every ref that this worker puts into any lot: readings begin and end at
 * one.
 */
static inline void
lot_publish(const struct lot *lot, uint32_t worker, uint64_t ref, int64_t insertion)
{
    struct lane *lane = lot_lane(lot, worker);

    lane_put(lane, ref, insertion);
    lane_publish(lane);
}

/**
 * Where the reading of a lot is; good until the reader's section ends, and then after
 * lot_read_again.
 */
struct lot_reader {
    struct lot *lot;
    struct lane_care care;
    struct bank_reader lanes; /* that come later */
    uint32_t worker;          /* the reader's */
    int64_t newest;           /* in its own lane: what it put there later is not read */
    bool in_lane;
    bool marked;        /* there is a bookmark in the lane that is read */
    int64_t from, upto; /* insertions in the lane that is read: read so far, and to be read */
    struct lane_reader lane;
};

/**
 * Inside a section, until the reading ends. In the caller's own lane it ends at the insertion
 * `newest`; in another lane, where that lane ended when the reading came to it.
 */
void lot_read_begin(struct lot_reader *reader, struct lot *lot, const struct bin_caller *caller,
                    int64_t newest);

/** The next refs, unjudged; 0: no more. Fewer than `capacity` does not mean that. */
size_t lot_read(struct lot_reader *reader, struct lane_ref *refs, size_t capacity);

/** In a new section: the reading goes on behind what was read. */
void lot_read_again(struct lot_reader *reader);

/** Tells the reader that so many of the refs that the last lot_read returned were stale. */
void lot_found_stale(struct lot_reader *reader, uint32_t count);

/**
 * Moves heads over refs that are stale, not over FUTURE ones; judges `most` at most. Called after
 * reading, and after the pods were moved.
 */
void lot_pass(struct lot *lot, const struct bin_caller *caller, uint32_t most);

#endif
