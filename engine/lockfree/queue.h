/*
 * The lock-free engine: what a queue and a worker consist of, and the order of its parts.
 *
 * Includes go downwards only.
 *
 *   calls/    the public calls, a file each, of the call's name; and what they have in common
 *     engine          the table of functions, making and ending a queue, setup
 *     add, batch      new pods; update of an unknown name and readd go in here too
 *     pop             the walk from the top, claiming, waiting
 *     watch           pods, for a watchdog
 *     get, peek, stats   copies of pods for visitors, the first in line; numbers
 *     position        how many are before one
 *     events          notify, assigned_pod_*, event_begin and event_stamp; judging
 *     hold            hold, release, not-before
 *     class           pods that another one of their class keeps back
 *     label           all pods of a label
 *     group           declarations; group_pop, group_done: pops and cycles of groups
 *     candidates, apply   a host that decides by itself
 *     serve, timer    what time demands, tick; the thread that sees to it
 *     mover           waiting pods, many at once
 *     workers         handles that calls take
 *     ops, sort       what the table names, by file; numbers in order without memory
 *   moves/    a pod's way from one place to another
 *     route           where it goes next
 *     transfer        "publish, then switch", from finding the containers to the repair
 *     publish         refs into bins
 *     switch          the words, and what is counted by them
 *     waiting         parked, gated and held pods: lots, bins by age and by time
 *     hold            pods that are kept back
 *     backoff         bins by length of the wait
 *     describe        replacing a description, nominations
 *     report, objects what callers are told; objects that are kept
 *     settle          before a caller is told of a pod
 *     stray           pods that memory failed for
 *     gather          members of groups: reading, counting. gather_find: a group's record and its
 *                     block; gather_join: members that come and go; gather_gate: what gates say;
 *                     gather_record: where the record goes
 *     hinted          what a nominator has under a key, copied out
 *     finish          done, and the end of a record
 *   refs/     band, bin, bank, lane, run, lots: where refs wait; tie: equal keys; summary: which of
 *             them may have any
 *   index/    from a name to a record
 *   pod/      entry, state: what a pod is
 *   signals/  stamps and event_log, what happened; deadline, when time is wanted next; nominator,
 *             pods nominated to a node; sleepers, threads that wait; readiness, a host that waits
 *             elsewhere; incoming, counts by label
 *   memory/   slab, stack, names, hazard: what is used again at once; objects that are held; sizes
 *
 * TWO RULES. The state word of a pod's record is the truth; what a container holds is a hint
 * (state.h). Publish, then switch; a thread that meets a half-done move finishes it. Everything
 * else follows: no call waits for another thread, and a thread that stops for ever strands no pod
 * but those that it has popped.
 *
 * NOTATION of the ordering tables.
 *   FUNCTION:A   the access that carries this comment, in that function
 *   a, b         in this order, in one thread
 *   a ; b        the same, with a full fence in between
 *   a -> b       b, an acquire load or exchange, can read what a, a release store or exchange,
 *                wrote. If it does, all that came before a has happened for what follows b.
 *   a | b        two sides, each of which writes, passes a full fence (`;`, or a labelled access
 *                that is one: an exchange or atomic_fence), and looks. At least one side sees what
 *                the other wrote.
 * The indented line below a row says what follows from it.
 *
 * MEMORY. Records, names, descriptions and runs are used again at once, protected by versions.
 * Segments, tables and pages that trim gives back wait for a grace period: each public call is one
 * section of the worker's epoch record, but for the host's code. What waits is freed by the calls
 * that may allocate, once in a while (epoch_poll_seldom): find never enters the allocator for it,
 * nor asks for a barrier. done and delete do so only when much waits: what they retire are hints of
 * labels and groups (ENDS in nominator.h). So does a pop that walks, because it may let go of what
 * ended without a worker. So a worker that does nothing but pop and end other pods has nothing to
 * free; what its last adds and failures retired waits for its next ones, or for its unregistration.
 *
 * THE HOST'S CODE. Hints, gates, prechecks and affinity run between two sections (section_pause),
 * so a thread that is slow there, or never comes back, holds back no memory of the others. Records,
 * bands, segments and tables that were read before a pause may be used again, or freed, afterwards:
 * records are looked up again by their numbers, readers begin again where they were, and the CAS
 * that acts compares words with what was judged. A call that can ask none of these pauses none
 * (queue_asks_host, mover_begin). config.retain and release run inside of sections.
 */
#ifndef SCHEDQ_LOCKFREE_QUEUE_H
#define SCHEDQ_LOCKFREE_QUEUE_H

#include "lockfree/calls/timer.h"
#include "lockfree/index/index.h"
#include "lockfree/memory/hazard.h"
#include "lockfree/memory/names.h"
#include "lockfree/refs/band.h"
#include "lockfree/refs/lots.h"
#include "lockfree/signals/deadline.h"
#include "lockfree/signals/event_log.h"
#include "lockfree/signals/incoming.h"
#include "lockfree/signals/nominator.h"
#include "lockfree/signals/readiness.h"
#include "lockfree/signals/sleepers.h"
#include "lockfree/signals/stamps.h"
#include "policy/class.h"

#define BAND_SPOTS 16    /* a power of two */
#define LOT_SPOTS 8      /* a power of two */
#define BATCH_ROOM 16384 /* bytes; enough for some 80 pods */

/** The number of the workers that trim and reserve work with: they have no slot, and no lanes. */
#define HOUSEKEEPER WORKERS_MAX
#define HOUSEKEEPERS 4

/* Notes of what is left to do (stray.h). */
#define STRAY_UNMOVED 1
#define STRAY_UNPUBLISHED 2
#define STRAY_UNJUDGED 4
#define STRAY_CLASSES 16 /* a scout may be one no more (class.h) */
#define STRAY_NOTES 23
/* So many bits higher, the same notes once more, of that for which memory was missing. */
#define STRAY_SHORT 5
/* Stays from the first declaration of a group on: a tick looks at groups. */
#define STRAY_GROUPS 8
#define STRAY_COUNTED 10 /* from this bit on: how often a note was left */
#define STRAY_SHORT_COUNTED 37

/** Lengths of a backoff that have a bin of their own: 1 ms doubled up to 24 hours. */
#define BACKOFF_CLASSES 32
#define BACKOFF_KINDS 2 /* errors apart */

/** Pods that back off (backoff.h). */
struct backoff {
    atomic_u64 used; /* those that may have pods, as bits (backoff_used) */
    atomic_ptr bins[BACKOFF_KINDS][BACKOFF_CLASSES]; /* NULL until a pod comes */
};

/** What the first declaration of a group makes (gather_find.h). */
struct groups {
    struct bin ready; /* records that are active */
    struct incoming_late incoming;
    atomic_u64 at_ready; /* records there */
};

/** Parked, gated and held pods (waiting.h). */
struct waiting {
    struct lots lots;
    struct bin ages[2];                    /* parked, gated */
    struct bin held;                       /* until a time, by that */
    struct lot backing_off[BACKOFF_KINDS]; /* for hosts that look at pods in backoff */
};

/**
 * What a worker did; only the worker writes, any thread adds up. Differences wrap round and come
 * right in the sum.
 */
struct tally {
    atomic_u64 adds, pops, dones, failures, deletes, updates, events, moves, hint_calls, gate_calls;
    atomic_u64 active, inflight;
    atomic_u64 taken, given; /* records */
};

#define CANDIDATES_AHEAD SIZE(1020, 3) /* refs */

/** What a worker read of a lane for schedq_candidates and has not told yet (candidates.c). */
struct candidates_ahead {
    uint64_t lot;    /* its number */
    uint64_t worker; /* of the lane */
    int64_t begin;   /* insertion at which its reading began */
    bool marked;     /* there is a bookmark there */
    uint64_t from;   /* insertion of refs[next] */
    uint32_t next, count;
    struct lane_ref refs[];
};

#define CANDIDATES_AHEAD_BYTES \
    (sizeof(struct candidates_ahead) + CANDIDATES_AHEAD * sizeof(struct lane_ref))

struct worker {
    struct schedq_worker base;
    int64_t last_drawn; /* order key */
    uint64_t random;
    struct epoch_record *epoch;
    bool joined;     /* epoch is in use */
    uint64_t pauses; /* how often a section was left for the host's code */
    bool outside;    /* it is left now */
    uint64_t told;   /* as owed: one that this call asked about, to tell of it (settle.h) */
    struct hazard_slot *hazard; /* its pins; housekeepers have none */
    struct hazard_kept *kept;   /* the slot's list; NULL unless objects are counted */
    struct slab_cache records, descriptions;
    struct names_cache names;
    struct band_spot spots[BAND_SPOTS]; /* of bands; a priority has one place (publish_spot) */
    /* cells of lots; a set has one place (waiting_lot) */
    const atomic_ptr *lots[LOT_SPOTS];
    uint32_t passed;                /* looks for nothing since bits were taken (pop.c) */
    bool walks;                     /* what its last walk took was not to be had at once (pop.c) */
    struct run *spare_run;          /* for one ref, or NULL: what was prepared cannot fail */
    void *batch_room;               /* BATCH_ROOM bytes, or NULL (batch.c) */
    struct mover_batch *batch;      /* of moves (mover.h); housekeepers have none */
    struct candidates_ahead *ahead; /* NULL until candidates are asked for */
    int64_t insertions;             /* into lots */
    /* a gated pod that it has to ask about, as {life, record}, or 0 (mover.h) */
    atomic_u64 owed;
    /* pods that a call of its may take before it counts them, if more than one (position.c) */
    atomic_u64 room;
    /* a group that may have become complete by what this worker does, or 0 (gather_join.h) */
    atomic_u64 joining;
    bool asked_members; /* of a group, since it last looked at the gate (gather_look_at_gate) */
    uint8_t overtaken;  /* how often in a row events overtook them (gather_is_overtaken) */
    /* kube: of this group and those below only members count that came up to there; 0: all do */
    struct {
        uint64_t group;
        int64_t time, key;
        uint64_t joined; /* how many those are */
    } joins_up_to;
    atomic_u64 holds; /* of active pods; counted as in the tally */
    struct known_group {
        uint64_t number, life; /* 0: none */
        uint32_t record;
    } known_groups[KNOWN_GROUPS];   /* by number; of each the last found (gather_find.h) */
    char name[SCHEDQ_NAME_MAX + 9]; /* for visitors */
    struct hazard_slot pins;
    struct class_key leaving; /* of the pod that a call deletes (delete.c) */
    atomic_u64 hides, turns;  /* pods that their class kept back, and let go; as in the tally */
    /* as owed, of a pod that another worker added (settle.h); section_ask reads it */
    _Alignas(CACHE_LINE) atomic_u64 settled;
    struct tally tally;
    struct incoming incoming[]; /* one, or two if entities are counted (incoming.h) */
};

struct queue {
    schedq_t base;
    struct epoch *epoch;
    struct entries entries;
    struct names names;
    struct index index;
    struct run_pool runs;
    struct bands bands;
    bool has_ticks;   /* they order pops; else pop_orders does, which counts cycles too */
    bool shares_keys; /* last_key gives every order key; else the clock does (add_draw_key) */
    /* as long as no more records exist, an add counts nothing; 0: it may have to (add.c) */
    uint32_t plain_max;
    struct hazards hazards;
    atomic_ptr workers[WORKERS_MAX];    /* their memory stays until the queue ends */
    atomic_u64 taken[WORKERS_MAX / 64]; /* slots that have an owner, as bits */
    atomic_u64 slots;                   /* those with smaller numbers may have been taken */
    atomic_ptr housekeepers[HOUSEKEEPERS];
    atomic_u64 housekeeping; /* those in use, as bits */
    atomic_u64 house_waits;  /* those that left memory that waits for a grace period, as bits */
    /* notes:5, the same of what lacked memory:5, how often one was left:27, of the latter:27 */
    atomic_u64 strays;
    atomic_u64 strays_again; /* when what lacked memory is tried again */
    atomic_ptr groups;       /* struct groups; NULL: none was ever declared */
    /* of calls without a worker (finish.c), and groups in their cycles; added to by exchanges */
    struct tally guests;
    /* a stack (stack.h) of records that such calls ended, whose objects wait for their release */
    atomic_u64 ended;
    struct incoming_late incoming_late;
    struct event_log log;
    struct backoff backoff;
    struct waiting waiting;
    struct deadline deadline;
    struct timer timer;
    /* some pod failed with SCHEDQ_REJECTOR_OTHERS: unregistered events matter too */
    atomic_u32 others_used;
    atomic_u32 uncounted;        /* a thread died inside a call: tallies may miss what it did */
    atomic_u64 leftover_flushed; /* kube presets: what the last flush reached (policy/leftover.h) */

    /* One line each: written by different calls. */
    /* raised before a pod moves inside the order: a walk begins again */
    _Alignas(CACHE_LINE) atomic_u64 reorder;
    _Alignas(CACHE_LINE) atomic_u64 last_key;
    _Alignas(CACHE_LINE) atomic_u64 pop_orders;
    _Alignas(CACHE_LINE) struct stamps stamps;
    _Alignas(CACHE_LINE) struct sleepers sleepers;
    atomic_u64 pops_at_tick;
    atomic_ptr classes;         /* struct classes; NULL: none was ever shut */
    struct nominator nominator; /* of nominated pods, by their nodes */
    struct nominator labels;    /* of pods that have one, by it */
    struct nominator members;   /* of groups, by their numbers */
    struct nominator families;  /* groups' records, by the group above; roots by 0 */
};

static inline struct queue *
queue_of_base(schedq_t *base)
{
    return (struct queue *)base;
}

static inline struct worker *
worker_of(schedq_worker_t *base)
{
    return (struct worker *)base;
}

static inline struct queue *
queue_of(const struct worker *worker)
{
    return (struct queue *)worker->base.queue;
}

/** How many worker slots a sum has to look at. */
static inline uint32_t
queue_slots(const struct queue *queue)
{
    return (uint32_t)u64_load_acquire(&queue->slots); /* of join:A (workers.c) */
}

/**
 * How many have tallies that add up: the housekeepers, whose merges may help a mover that stopped,
 * and the workers.
 */
static inline uint32_t
queue_counters(const struct queue *queue)
{
    return HOUSEKEEPERS + queue_slots(queue);
}

/** One of them; NULL: there is none. */
static inline const struct worker *
queue_counter(const struct queue *queue, uint32_t i)
{
    return i < HOUSEKEEPERS ? ptr_load_acquire(&queue->housekeepers[i])
                            : ptr_load_acquire(&queue->workers[i - HOUSEKEEPERS]);
}

/** To be asked behind looks for workers: a death is noted before its section is ended. */
static inline bool
somebody_died(const struct queue *queue)
{
    return u32_load_acquire(&queue->uncounted) != 0; /* somebody_died:A, of workers.c */
}

static inline int64_t
queue_now(const struct queue *queue)
{
    return clock_now(&queue->base.clock);
}

static inline bool
queue_is_closed(struct queue *queue)
{
    /* of lockfree_close's exchange */
    return u32_load_acquire(u32_of(&queue->base.words.closed)) != 0;
}

/** Each public call is one section, or several with the host's code between them. */
static inline void
section_begin(struct worker *worker)
{
    epoch_enter(worker->epoch);
}

/** For calls that do not allocate. */
static inline void
section_leave(struct worker *worker)
{
    epoch_leave(worker->epoch);
}

/* settle.h */
void settle_ask(struct worker *worker);

/**
 * For calls that end pods, or let go of what ended: one that had a label or a group may have swept
 * hints, so what waits is freed before it is more than a record may hold back. Other ends retire
 * nothing, and find nothing due.
 */
static inline void
section_leave_ended(struct worker *worker)
{
    section_leave(worker);
    epoch_poll_if_due(worker->epoch);
}

/** Before the end of a call that looked for a name: what it settled is asked about. */
static inline void
section_ask(struct worker *worker)
{
    if ((u64_load(&worker->settled) | worker->told) != 0) {
        settle_ask(worker);
    }
}

/**
 * For calls that may allocate: once in a while, what such calls retired is freed. What they settled
 * is asked about.
 */
static inline void
section_end(struct worker *worker)
{
    section_ask(worker);
    section_leave(worker);
    epoch_poll_seldom(worker->epoch);
}

/** Leaves the section for the host's code; what was read in it is not used afterwards. */
static inline void
section_pause(struct worker *worker)
{
    worker->pauses++;
    worker->outside = true;
    epoch_leave(worker->epoch);
}

static inline void
section_resume(struct worker *worker)
{
    worker->outside = false;
    epoch_enter(worker->epoch);
}

/** NULL: no group was ever declared. */
static inline struct groups *
queue_groups(const struct queue *queue)
{
    return ptr_load_acquire(&queue->groups); /* of make_groups:A */
}

static inline bool
queue_has_groups(const struct queue *queue)
{
    return queue_groups(queue) != NULL;
}

/** Is a group poppable? */
static inline bool
queue_has_ready(const struct queue *queue)
{
    const struct groups *groups = queue_groups(queue);

    return groups != NULL && u64_load(&groups->at_ready) != 0;
}

/**
 * Are there gates, hints or an affinity that may be asked about a pod? Set up before the queue is
 * used.
 */
static inline bool
queue_asks_host(const struct queue *queue)
{
    return queue->base.registry.has_gates || queue->base.registry.has_hints ||
           queue->base.config.affinity_matches != NULL;
}

/**
 * Adds to a number that only this worker writes. Relaxed: sums publish nothing.
 */
static inline void
tally_add(atomic_u64 *number, uint64_t change)
{
    u64_store(number, u64_load(number) + change);
}

/** The same to one that says that what the worker counted elsewhere before can be read. */
static inline void
tally_add_last(atomic_u64 *number, uint64_t change)
{
    u64_store_release(number, u64_load(number) + change);
}

/* switch.h */
enum verdict switch_help(void *ctx, const struct residence *residence, struct entry *entry,
                         uint64_t ref, uint32_t cause, uint64_t *state);

static inline struct bin_caller
bin_caller(struct worker *worker)
{
    struct queue *queue = queue_of(worker);

    return (struct bin_caller){.worker = worker->base.number,
                               .memory = &queue->base.memory,
                               .epoch = worker->epoch,
                               .pool = &queue->runs,
                               .help = switch_help,
                               .ctx = worker};
}

static inline struct index_caller
index_caller(struct worker *worker)
{
    return (struct index_caller){.epoch = worker->epoch, .ctx = worker};
}

/**
 * Inside a section, when a call begins that may bring priorities: the table of bands is kept small.
 */
static inline void
queue_sweep(struct worker *worker)
{
    struct bands *bands = &queue_of(worker)->bands;

    if (bands_sweep_is_due(bands)) {
        bands_sweep(bands, worker->epoch);
    }
}

/**
 * Does a pod keep its gate while it backs off? Else the gates were asked before, or the host is.
 */
static inline bool
queue_backoff_keeps_gate(const struct queue *queue)
{
    return !queue->base.rules.pop_from_backoff && !queue->base.rules.host;
}

/** What orders a priority: itself, unless priorities do not order. */
static inline int32_t
queue_rank(const struct queue *queue, int32_t priority)
{
    return queue->base.rules.fifo ? 0 : priority;
}

#endif
