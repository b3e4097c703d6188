/*
 * A bin: where the refs of the pods of one place wait. One per priority (band.h), and, by the same
 * code, one per backoff duration and one per set of rejectors.
 *
 * PICTURE
 *   bank        lanes, one per worker that ever put something here, in banks (bank.h)
 *   fronts      one per lane, FRONTS_LINE in a cache line
 *   leasts      one per line of fronts
 *   runs        16 slots, each 0 or the word of an immutable sorted run
 *   slots       those from this number on never held a run; BANKS_MORE: there are more banks
 *
 * CONTRACT. A ref that was published (lane_publish, bin_publish_run), followed by a full fence and
 * bin_mark, is found by every scan that begins afterwards, until its pod has left the version it
 * names. Scans find the least key; among equal keys any, or, if the residence orders ties, the
 * first by tie.h: there scans go past stale refs before they compare. In runs they always do so:
 * else each stale ref with the least key would cost a scan. Nothing is dequeued: see lane.h and
 * run.h.
 *
 * THE FRONTS. The front of a lane is a lower bound of the keys of those of its refs that are not
 * stale, at this moment and for ever: keys of a lane never fall, and the thread that stores a front
 * has seen that all refs before it are stale. So a scan looks into the lane with the least front,
 * and into another lane only if that lane's front lies before what was found so far, or at it where
 * ties are ordered. What is in the other lanes does not rank before that. Fronts are plain stores.
 * A front that is stored late, or not at all because its thread stopped, is too low: that costs
 * looks and judgements, and no order. An empty lane keeps the front of its last ref, and is looked
 * into each time. That it was empty is a hint: scans begin elsewhere. Relaxed pops, and scans where
 * there is only one lane, leave the fronts as they are.
 *
 * THE LEASTS. Each cache line of fronts has a least, a lower bound of them. Where there are more
 * than FRONTS_READ lanes, a scan reads all leasts first. Then it reads the line with the smallest
 * least, and of the others those whose least is before the front that it has found so far. If it
 * read a line for nothing, it stores the smallest front of that line as the line's least. Fronts
 * are lower bounds for ever, and that of a lane that is not there yet is 0. So the smallest of
 * fronts that were read one by one is a lower bound for ever of what is in their lanes.
 *
 * BANKS. Each bank but the first lies in a bin of its own, for its fronts, without runs and without
 * a mark. States of what leads to it, each left by the access that is named, by any worker of the
 * bank
 *   nothing              -> linked              bank_find:A, into the first `more` that is NULL
 *   linked               -> linked, BANKS_MORE  raise_slots:A, before each lane is there
 *   linked, BANKS_MORE   for good
 * A thread that stops between the two leaves a bank that is linked, which the next one finds: so
 * each raises `slots` itself, before its lane's bit and its lane. A scan looks at its bin's lanes,
 * then at `slots`, which it has to know for the runs. What it finds there says all:
 *   0                    the bin's lanes are all that there was when the scan began, and no runs
 *   a number             the same, and runs in the slots below
 *   BANKS_MORE | all     it goes on into each bank, as into a bin: `used`, then the fronts. Then to
 *                        the runs in all slots
 * So banks cost nothing where no other workers came: a scan of such a bin makes no access more.
 * Where there are banks, a scan also looks at empty slots. In a bank its lanes and fronts are
 * compared as in a bin, and the first ref of what all banks found is taken. The claims above hold
 * for each bank alone, so that ref is the first of all.
 *
 * THE MARK. A band's bin is marked where walks look first, in the summary of its leaf (band.h),
 * where it may be doubted and taken back. The other bins are always looked at.
 *
 * THE ORDER OF SCANS AND COPIES. A scan reads lanes first, then slots from the highest down to 0. A
 * copy moves only from a higher slot to a lower one: one CAS puts the merged run into the lowest of
 * the slots that it was made from, then the others are emptied. So a scan meets a ref in its old
 * place or in its new one. (Other orders overlook pods: tests/model, bin.)
 *
 * ONE REF MORE. A ref that no lane takes is copied together with the run that was published last,
 * if that has few refs, into an empty run, which takes that run's slot by one CAS. So refs that
 * come one by one in no order fill a slot every RUN_FEW refs, and all others stay in their slot.
 *
 * LINEARIZATION. bin_first: the load of the ref that it returns; false: the last load of the scan.
 * A publication: lane_publish:A, bin_publish_run:A, bin_put_beside:A.
 *
 * ORDERING
 *   lane_publish:A ; bin_mark, which is band_mark:A | summary_doubt:A, scan
 *   bin_publish_run:A or bin_put_beside:A, bin_mark | summary_doubt:A, scan
 *       the scan meets the ref, or the producer finds the doubt
 *   bank_prepare:A, B -> scan_lanes:A, and the loads of lanes
 *       the lane, before its first ref
 *   bank_find:A, raise_slots:A, bank_prepare:A, B -> bin_compare:A, bank_next:A, scan_lanes:A
 *       a bank, before the first ref of each of its lanes
 *   a claim, or a look at the head, raise_front:A -> try_lanes:A, compare_lanes:A
 *       what lies below a front is stale
 *   raise_front:A -> raise_least:A, raise_least:B -> compare_lines:A
 *       what lies below a least is stale
 *   raise_slots:A, bin_publish_run:A -> bin_compare:A
 *       the slot, before its first run
 *   bin_publish_run:A, bin_put_beside:A, put_merged:A -> the acquire loads of slots
 *       a run's refs (run.h)
 *
 * PROGRESS. Lock-free. No call waits for another thread; merging restarts only if another thread
 * changed a slot, and bank_find goes on behind a bank that another thread linked. A thread that
 * stops in a merge holds a run that is in no slot, or leaves, behind put_merged:A, refs that are
 * found twice.
 *
 * EVIDENCE. tests/model: bin, front, run_recycle; stress/explore: band_clear, runs, lane_growth,
 * lane_fronts, banks_*; tests/unit/test_lockfree_bin.c, test_many_workers.c.
 */
#ifndef SCHEDQ_LOCKFREE_BIN_H
#define SCHEDQ_LOCKFREE_BIN_H

#include "lockfree/refs/bank.h"
#include "lockfree/refs/run.h"

struct bin {
    struct residence residence;
    uint64_t here; /* the place and the band, as a state word has them */
    /* makes walks look here; false: the bin has left its table. NULL: walks always look here */
    bool (*mark)(struct bin *bin);
    atomic_u32 spot; /* where `mark` found the bin last */
    /* slots from this number on never held a run; not 0 where ties are ordered; or BANKS_MORE */
    atomic_u32 slots;
    struct bank bank;                                   /* its `used` and `more` are on this line */
    _Alignas(CACHE_LINE) atomic_u64 fronts[BANK_LANES]; /* front_of, perhaps FRONT_EMPTY */
    atomic_u64 leasts[BANK_LANES / FRONTS_LINE];
    atomic_u64 runs[BIN_RUNS];
    atomic_u32 newest; /* slot of the run that was published last: a hint */
};

/** In `slots`, with the number of all slots: there are banks. */
#define BANKS_MORE (UINT32_C(1) << 31)

/** A ref, what orders it, and why its pod is moved (switch.h). */
struct bin_ref {
    uint64_t ref;
    int64_t key;
    uint32_t cause;
};

/** What a caller brings. */
struct bin_caller {
    uint32_t worker; /* its number: which lane is its own */
    struct memory *memory;
    struct epoch_record *epoch; /* inside a section */
    struct run_pool *pool;
    /**
     * Judges, and performs the switch of a FUTURE ref, until the ref is VALID or STALE; *state is
     * the word that says so.
     */
    enum verdict (*help)(void *ctx, const struct residence *residence, struct entry *entry,
                         uint64_t ref, uint32_t cause, uint64_t *state);
    void *ctx;
};

static inline struct lane_care
bin_care(const struct residence *residence, const struct bin_caller *caller)
{
    return (struct lane_care){.residence = residence,
                              .memory = caller->memory,
                              .epoch = caller->epoch,
                              .pool = caller->pool != NULL ? &caller->pool->segments : NULL};
}

void bin_open(struct bin *bin, const struct residence *residence);

/** When no other thread uses it: frees the lanes; the runs go with their pool. */
void bin_close(struct bin *bin, struct memory *memory);

/** When no other thread uses it: gives the runs back to a pool that stays. */
void bin_give_runs(struct bin *bin, struct run_pool *pool);

/** As bank_tend. */
void bin_tend(struct bin *bin, struct memory *memory, struct epoch_record *epoch, uint32_t worker);

/* ---- producers ------------------------------------------------------------------------------- */

/** Makes sure that `count` refs can be put into the caller's lane. False: no memory. */
bool bin_prepare(struct bin *bin, const struct bin_caller *caller, uint32_t count);

/** The caller's lane; NULL: bin_prepare has not made it. */
static inline struct lane *
bin_lane(const struct bin *bin, uint32_t worker)
{
    return bank_lane(&bin->bank, worker);
}

/**
 * Is a slot free? The lowest ones are taken first. A hint; relaxed, as in bin_publish_run, whose
 * exchange compares.
 */
static inline bool
bin_has_slot(const struct bin *bin)
{
    uint32_t i = BIN_RUNS;

    while (i > 0 && u64_load(&bin->runs[i - 1]) != 0) {
        i--;
    }
    return i > 0;
}

/** Makes sure that there is a slot for a run, unless others take it first. False: no memory. */
bool bin_prepare_run(struct bin *bin, const struct bin_caller *caller);

/**
 * Publishes a filled run; it is the bin's then. False: no memory to make room for it; it stays the
 * caller's.
 */
bool bin_publish_run(struct bin *bin, const struct bin_caller *caller, struct run *run);

/**
 * Publishes one ref beside those of the run in the newest slot: all of them are copied into `own`,
 * an empty run of the caller's, which takes that run's place. Returns the run that was replaced,
 * empty, for the caller. NULL: the ref and the run do not go together, or another thread changed
 * the slot; nothing changed.
 */
struct run *bin_put_beside(struct bin *bin, const struct run_pool *pool, struct run *own,
                           uint64_t ref, int64_t key, uint32_t cause);

/**
 * Publishes one ref: in `own`, an empty run of the caller's, which is the bin's then. False: no
 * memory to make room; nothing changed.
 */
bool bin_publish_ref(struct bin *bin, const struct bin_caller *caller, struct run *own,
                     const struct bin_ref *ref);

/**
 * After a full fence behind the publication: makes consumers look here. False: the bin has left its
 * table, and no walk will look.
 */
static inline bool
bin_mark(struct bin *bin)
{
    return bin->mark == NULL || bin->mark(bin);
}

/* ---- consumers ------------------------------------------------------------------------------- */

#define FRONT_SIGN (UINT64_C(1) << 63)
#define FRONT_EMPTY UINT64_C(1) /* the lane was empty lately: a hint */

/** The front that stands for a bound. Fronts compare as bounds do; that of a new lane is 0. */
static inline uint64_t
front_of(int64_t bound)
{
    return (uint64_t)bound ^ FRONT_SIGN;
}

static inline int64_t
front_bound(uint64_t front)
{
    return (int64_t)((front & ~FRONT_EMPTY) ^ FRONT_SIGN);
}

/** The first ref of a bin, as it was seen. */
struct bin_head {
    bool is_run;
    bool alone; /* the bin had one lane, and nothing else */
    uint32_t slot;
    atomic_u64 *front; /* of the lane; NULL: its head moves at once */
    union {
        struct lane_head lane;
        struct run_head run;
    };
};

static inline uint64_t
bin_head_ref(const struct bin_head *head)
{
    return head->is_run ? head->run.ref : head->lane.ref;
}

static inline int64_t
bin_head_key(const struct bin_head *head)
{
    return head->is_run ? head->run.key : head->lane.key;
}

/** Why the pod of the ref is moved, if it is FUTURE; 0: by its holder, or inside the order. */
static inline uint32_t
bin_head_cause(const struct bin_head *head)
{
    return head->is_run ? head->run.cause : lane_cause(head->lane.lane);
}

/** The word of a pod without lag for which a ref of this bin is VALID. */
static inline uint64_t
bin_word_of(const struct bin *bin, uint64_t ref)
{
    return (ref & ~REF_INDEX_MASK) | bin->here;
}

/** bin_judge of a ref that was FUTURE when the word of `entry` was read. */
bool bin_help(struct bin *bin, const struct bin_caller *caller, struct entry *entry, uint64_t ref,
              uint32_t cause, uint64_t *state);

/** What a ref of this bin says, without helping; *state is the word of the ref's record. */
static inline enum verdict
bin_verdict_of(const struct bin *bin, const struct entry *entry, uint64_t ref, uint64_t *state)
{
    const struct residence *residence = &bin->residence;

    *state = entry_state(entry);
    return state_judge(*state, ref, residence->place, residence->band);
}

/** The same; STALE, and no *state, if the record's page was given back. */
static inline enum verdict
bin_verdict(const struct bin *bin, uint64_t ref, uint64_t *state)
{
    const struct entry *entry = entry_at(bin->residence.entries, ref_record(ref));

    return entry != NULL ? bin_verdict_of(bin, entry, ref, state) : VERDICT_STALE;
}

/** Judges a ref of this bin, helping if it is FUTURE. True: the pod is here, at the word *state. */
static inline bool
bin_judge(struct bin *bin, const struct bin_caller *caller, uint64_t ref, uint32_t cause,
          uint64_t *state)
{
    struct entry *entry = entry_at(bin->residence.entries, ref_record(ref));
    enum verdict verdict = entry != NULL ? bin_verdict_of(bin, entry, ref, state) : VERDICT_STALE;

    return verdict == VERDICT_VALID ||
           (verdict == VERDICT_FUTURE && bin_help(bin, caller, entry, ref, cause, state));
}

/** Where the reading of a bin is; good until the reader's section ends. */
struct bin_reader {
    struct bin *bin;
    struct run_pool *pool;
    int64_t limit;
    struct bank_reader lanes; /* that come later */
    uint32_t slots;           /* of runs that come later: those below */
    bool in_lane, in_run;
    struct lane_reader lane;
    struct run_head run;
    uint32_t position; /* in the run, from its head on */
};

/**
 * Reading takes nothing: it gives each ref with a key up to `limit` that was there when it began,
 * unjudged, in no order, some of them twice, and perhaps some that came later.
 */
void bin_read_begin(struct bin_reader *reader, struct bin *bin, struct run_pool *pool,
                    int64_t limit);

/** The next refs; 0: no more. */
size_t bin_read(struct bin_reader *reader, struct bin_ref *out, size_t capacity);

/**
 * Adds what lanes and runs have, as lane_count. Without helping; nothing is written.
 */
void bin_count(const struct bin *bin, const struct run_pool *pool, int64_t key,
               struct ref_counts *counts);

/** Is the pod of a ref here? Without helping. */
static inline bool
bin_has(const struct bin *bin, uint64_t ref)
{
    uint64_t state;

    return bin_verdict(bin, ref, &state) == VERDICT_VALID;
}

/** bin_first of any bin; what it finds may be in a run, or have been compared with others. */
bool bin_compare(struct bin *bin, struct run_pool *pool, struct bin_head *head);

/**
 * The lane of a bin that has one lane and nothing else, as nearly all have. NULL: bin_compare has
 * to look.
 */
STRAIGHT struct lane *
bin_only_lane(const struct bin *bin)
{
    uint64_t used = u64_load_acquire(&bin->bank.used); /* as scan_lanes:A */

    /*
     * as bin_compare:A; 0: no run was published before the scan began, so the order is the same;
     * and no bank has a lane
     */
    if (used == 0 || (used & (used - 1)) != 0 || u32_load_acquire(&bin->slots) != 0) {
        return NULL;
    }
    return ptr_load_acquire(&bin->bank.lanes[__builtin_ctzll(used)]);
}

STRAIGHT bool
bin_first_of_lane(struct lane *lane, struct bin_head *head)
{
    head->is_run = false;
    head->alone = true;
    head->front = NULL;
    return lane_peek(lane, &head->lane);
}

/**
 * The ref with the least key, unjudged; among equal keys what the residence says. False: there is
 * none.
 */
static inline bool
bin_first(struct bin *bin, struct run_pool *pool, struct bin_head *head)
{
    struct lane *lane = bin_only_lane(bin);

    return lane != NULL ? bin_first_of_lane(lane, head) : bin_compare(bin, pool, head);
}

/**
 * After a ref was taken: the next one, for a call that saw all of the bin before. What came to the
 * bin since may be left out. False: bin_first has to look.
 */
STRAIGHT bool
bin_next(struct bin_head *head)
{
    return head->alone && lane_peek_next(&head->lane);
}

/**
 * Some ref, unjudged: that of the caller's own lane, of one of two lanes that `random` picks, or of
 * a run. False: these have none, and bin_first has to look everywhere.
 */
bool bin_any(struct bin *bin, struct run_pool *pool, uint32_t own, uint32_t random,
             struct bin_head *head);

/**
 * A lower bound of the keys there, if it is known at once: of one lane, and no run. INT64_MIN: not
 * known at once; INT64_MAX: there are no keys.
 */
static inline int64_t
bin_bound(const struct bin *bin)
{
    uint64_t used = u64_load_acquire(&bin->bank.used); /* as scan_lanes:A */
    uint32_t i = u32_load_acquire(&bin->slots);        /* as bin_compare:A */
    struct lane_head head;

    if ((used & (used - 1)) != 0 || (i & BANKS_MORE) != 0) {
        return INT64_MIN;
    }
    struct lane *lane = used != 0 ? ptr_load_acquire(&bin->bank.lanes[__builtin_ctzll(used)])
                                  : NULL; /* as bin_first */
    int64_t bound = lane != NULL && lane_peek(lane, &head) ? head.key : INT64_MAX;

    while (i > 0 && u64_load_acquire(&bin->runs[i - 1]) == 0) {
        i--;
    }
    return i == 0 ? bound : INT64_MIN;
}

/** bin_first, past stale refs. */
bool bin_first_live(struct bin *bin, struct run_pool *pool, struct bin_head *head);

/** Goes past stale refs. True: there was no other. */
static inline bool
bin_is_empty(struct bin *bin, struct run_pool *pool)
{
    struct bin_head head;

    return !bin_first_live(bin, pool, &head);
}

/** bin_advance if the head is not of the only lane of a bin. */
void bin_leave(const struct bin_head *head);

/** Goes past a ref that is stale by now. */
static inline void
bin_advance(const struct bin_head *head)
{
    if (head->is_run || head->front != NULL) {
        bin_leave(head);
    } else {
        lane_pass_one(&head->lane);
    }
}

/** The same, and past the stale refs that follow it in its lane. */
void bin_pass_stale(const struct bin *bin, struct bin_head *head);

#endif
