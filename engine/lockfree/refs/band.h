/*
 * Bands: one bin per priority that has pods or had some lately, and the table that pop walks from
 * the top.
 *
 * PICTURE
 *   table -> tops      a summary (summary.h) for each 64 leaves: bit i: leaf i may have pods
 *            leaves    {top priority, leaf} ...      immutable, highest priority first
 *   leaf  -> summary   bit i: row i may have pods
 *            rows      {priority, leaving, band} ... immutable, highest first, at most BAND_ROWS
 *   cells    id -> band                  state words name ids; free ids form a stack
 *
 * CONTRACT. bands_get finds the band of a priority, or puts a new one into the table: by a copy of
 * one leaf and of the table, and one CAS of the word `table`. A band without pods stays in the
 * table for a while, where a walk does not look at it.
 *
 * THE SUMMARIES. Claim: once a producer has published in a band and marked it (band_mark), and
 * until its pod is gone, the leaf that the table names shows the band and does not sleep, and the
 * table's top shows each leaf that does not sleep.
 *   band_mark    leaves a bit alone that is set and not doubted. If the leaf sleeps, it first sets
 *                the bit in the table's top and raises the version there; then one exchange wakes
 *                the leaf and sets the row's bit.
 *   bands_clear  takes the bits of rows without pods: two exchanges, however many they are.
 *   bands_rest   puts leaves without bits to sleep, also those that sleep already. Then it takes
 *                their bits out of the top, by an exchange that expects the version from before. A
 *                producer that noted a leaf after that version was read makes the exchange fail.
 *                One that noted it before finds the leaf put to sleep since, so its waking fails,
 *                and it notes again.
 *   a copy       shows everything. A producer that marks a leaf of the earlier table read it before
 *                that was replaced, so its ref was there before any doubt in the copy.
 * A bit that is set for nothing costs a look; bits are taken after BAND_PASSES such looks (pop.c).
 *
 * LEAVING. A row leaves the table in two steps. First a copy of its leaf says that it is leaving,
 * and by which number. From then on a call that finds the row puts a leaf that does not say so in
 * place of that copy, before it uses the band (bands_get). Then a mark is drawn (epoch.h), and the
 * table that was replaced waits in `leaving` until the mark has passed. Any call can find that it
 * has (bands_sweep), also if the worker that began makes no further call. By then the calls that
 * had found the row before are over, and what they published is there. If the row still is leaving
 * by that number, and no ref in its bin is a pod's, the next copy does without it, and the band is
 * freed after one more grace period. Otherwise the row stays; the copy shows it, also if it has a
 * pod whose producer stopped before it marked the band. Walks and marks know nothing of this. While
 * tables wait, `waits` is the mark of one of them. A call that finds this mark passed takes all
 * tables. It ends the wait of each table whose own mark has passed, and puts the others back.
 * Rows without pods begin to leave
 *   by a sweep   of two leaves, at the beginning of a call, while few sweeps have not ended. A
 *                sweep is due for each leaf that was split off, and some are due when most leaves
 *                under a top sleep, if there are more than BAND_LEAVES_KEPT. So rows without pods
 *                do not outgrow those with pods, though no walk comes to them. While a thread
 *                stands in a section, what is leaving waits, and soon no more rows begin: each that
 *                is used again costs a copy, which waits too
 *   by trim      all of them
 *
 * IDS. The cell of a band that left the table says so at once. The band that an active pod's word
 * names by its id has not left, unless the pod was never published: then settle_again asks for the
 * band of the pod's priority.
 *
 * THE BOUND. bands_is_full looks for one active pod in each other band, then at the words of these
 * pods again. All unchanged: at the moment in between each of these bands had a pod.
 *
 * LINEARIZATION. bands_get: replace:A for a new priority; for a known one the load of the table.
 * bands_is_full: false, the load that found too few; true, the end of the first look.
 *
 * ORDERING
 *   replace:A -> bands_table:A
 *       the leaves, their rows, and the bands that they name
 *   cell, replace:A -> bands_at:A
 *       the band; an id in a state word was in some table
 *   ref ; band_mark:A | replace:A -> bands_table:A, summary_doubt:A, scan
 *       a thread that takes bits in a copy finds what a producer published before it read the table
 *   ref ; summary_shows:A | summary_doubt:A, scan (summary.h)
 *   bands_table:A, summary_sleep:A -> summary_see, band_mark_slowly:A
 *       a thread that finds a leaf asleep finds the table in which it was put to sleep, or a later
 *       one
 *   summary_note:A, summary_set:A -> summary_shows:A, return -> walk_on:A (pop.c)
 *       walks find in the top what a producer found awake
 *   replace:A, epoch_mark:A | epoch_enter:A, bands_table:A
 *       a call that found a row that was not leaving is waited for
 *   wait_for:A, wait_for:B | end_leaving:A, end_leaving:B
 *       a table that waits is taken, or its mark is in `waits`
 *   replace:A, leave_cell, retirement -> bands_table:A
 *       no section has a band that may be freed
 *
 * PROGRESS. Lock-free. band_mark begins again only if the table was replaced or a summary changed.
 * bands_get for a new priority is O(BAND_ROWS + priorities / BAND_ROWS) and allocates; for one that
 * is leaving it copies too. A thread that stops behind replace:A, and before the retirement, keeps
 * the bands that it took out. The rows that began to leave by its exchange, or whose wait it was
 * ending, stay until they are used or trimmed. A thread that stops behind wait_for:A leaves them to
 * the next wait.
 *
 * ABA. A table that a section has seen is not freed, so its address is not another's. Ids: stack.h.
 * `leaving` is emptied at once.
 *
 * EVIDENCE. tests/model: bands; stress/explore: band_*, no_memory_retired;
 * tests/unit/test_lockfree_band.c, test_priorities.c, test_caps.c.
 */
#ifndef SCHEDQ_LOCKFREE_BAND_H
#define SCHEDQ_LOCKFREE_BAND_H

#include "engine.h"
#include "lockfree/memory/stack.h"
#include "lockfree/refs/bin.h"
#include "lockfree/refs/summary.h"

/** Cells of ids lie in chunks, each twice as large as the one before. */
#define BAND_CHUNK_FIRST 64
#define BAND_CHUNKS 15

struct bands;

struct band {
    struct bin bin;
    struct bands *bands;
    int32_t priority;
    uint32_t id;
    struct epoch_block block;
};

struct band_row {
    int32_t priority;
    bool leaving;
    struct band *band;
};

struct band_leaf {
    struct epoch_block block;
    /* what walks and marks look at */
    _Alignas(CACHE_LINE) struct summary summary;
    uint32_t count;
    uint64_t leaving; /* the number by which its rows are leaving */
    struct band_row rows[];
};

struct band_leaf_row {
    int32_t top; /* the leaf's first priority */
    struct band_leaf *leaf;
};

struct band_table {
    struct epoch_block block;
    uint64_t number;    /* that of the table that it replaced, and 1 */
    uint32_t count;     /* leaves */
    uint32_t top_count; /* at least one */
    uint32_t rows;
    struct band_leaf_row *leaves; /* behind the tops */
    /* of a table that was replaced because rows began to leave: their number, where they are, and
     * what has to pass */
    uint64_t leaving;
    int32_t high, low;
    uint64_t mark;
    struct band_table *next_leaving;
    _Alignas(CACHE_LINE) struct summary tops[];
};

struct band_cell {
    atomic_ptr band;
    atomic_u64 next; /* in the stack of free ids */
};

/**
 * Where a call found a band, good while that table is the current one; all zero: nowhere. No two
 * tables have one number, and what the current one names is not freed.
 */
struct band_spot {
    uint64_t number; /* the table's */
    struct band *band;
    const struct summary *summary; /* of its leaf */
    int32_t priority;
    uint32_t row;
};

struct bands {
    struct memory *memory;
    const struct entries *entries;
    struct run_pool *pool;
    atomic_ptr table;
    atomic_ptr leaving; /* tables whose replacement made rows begin to leave */
    atomic_u64 waits;   /* the mark of one of them; 0: of none */
    atomic_u32 due;     /* sweeps */
    /* the priority where the next one begins; not a leaf's number, which changes between two */
    atomic_u32 swept;
    atomic_u64 leavings; /* numbers that were given out */
    atomic_u64 ended;    /* what `leavings` was when a wait ended last */
    atomic_u64 ids;      /* free ones: {tag:36, id:28} */
    atomic_u32 drawn;    /* ids that were ever given out; the first is 1 */
    atomic_ptr chunks[BAND_CHUNKS];
};

/** False: no memory; bands_close is due all the same. */
bool bands_open(struct bands *bands, struct memory *memory, const struct entries *entries,
                struct run_pool *pool);

/** When no other thread uses it, after what was retired is freed. */
void bands_close(struct bands *bands);

/** Makes room for the ids of so many priorities. False: no memory. */
bool bands_reserve(struct bands *bands, uint32_t count);

/** Inside a section; valid until it ends. */
static inline struct band_table *
bands_table(const struct bands *bands)
{
    return ptr_load_acquire(&bands->table); /* bands_table:A reads from replace:A */
}

/** bands_get if the band is not known to be at its spot. */
struct band *bands_look_up(struct bands *bands, struct epoch_record *epoch, int32_t priority,
                           struct band_spot *spot);

/**
 * The band of a priority, made if there is none; the caller's until its section ends. NULL: no
 * memory, or no id (bands_are_out).
 *
 * @param spot where some call found some band, and then where this one was found
 */
static inline struct band *
bands_get(struct bands *bands, struct epoch_record *epoch, int32_t priority, struct band_spot *spot)
{
    return spot->priority == priority && spot->number == bands_table(bands)->number
               ? spot->band
               : bands_look_up(bands, epoch, priority, spot);
}

/** Are there as many priorities as ids? */
bool bands_are_out(const struct bands *bands);

/** band_mark if the band is not known to be at its spot, or is not shown. */
bool band_mark_slowly(struct band *band);

/**
 * Called behind a full fence after a publication: makes walks look here. False: the band is not in
 * the table any more, and has no pods.
 *
 * @param spot where bands_get found it, or any other
 */
STRAIGHT bool
band_mark(struct band *band, const struct band_spot *spot)
{
    const struct band_table *table = bands_table(band->bands); /* band_mark:A, behind the fence */

    return (spot->band == band && spot->number == table->number &&
            summary_shows(spot->summary, spot->row)) ||
           band_mark_slowly(band);
}

/**
 * Does a priority without an active pod meet `max` others that have one?
 *
 * @param status SCHEDQ_FULL: yes, at one moment during this call; SCHEDQ_OK: no; SCHEDQ_NOMEM
 */
schedq_status_t bands_is_full(struct bands *bands, const struct bin_caller *caller,
                              int32_t priority, uint32_t max);

/** Takes the bits of those rows with numbers below `below` that have no pods. */
void bands_clear(struct bands *bands, struct band_leaf *leaf, uint32_t below);

/** Takes the bits of those leaves under one top that have no bit set. */
void bands_rest(struct bands *bands, struct band_table *table, uint32_t top, uint64_t idle);

/** The band that has this id, which some state word named; NULL: none has it. */
struct band *bands_at(const struct bands *bands, uint32_t id);

/** Should rows without pods be looked for, or are some leaving? A hint. */
static inline bool
bands_sweep_is_due(const struct bands *bands)
{
    return u32_load(&bands->due) != 0 || u64_load(&bands->waits) != 0;
}

/**
 * Ends the leaving of rows whose wait is over, or presses for that (epoch.h). Begins it for rows
 * without pods in a few leaves. Inside a section.
 */
void bands_sweep(struct bands *bands, struct epoch_record *epoch);

/** bands_sweep for all leaves. */
void bands_trim(struct bands *bands, struct epoch_record *epoch);

/** Tends a worker's lanes, as bank_tend. */
void bands_tend(struct bands *bands, struct epoch_record *epoch, uint32_t worker);

#endif
