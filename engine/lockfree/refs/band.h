/*
 * Bands: one bin per priority that has pods or had some lately, and the table that pop walks from
 * the top.
 *
 * PICTURE
 *   table -> {top priority, leaf} ...        immutable, highest priority first
 *   leaf  -> {priority, band} ...            immutable, highest priority first, at most BAND_ROWS
 *            summary: 64 bits, version       bit i: the word of row i's bin is perhaps not CLEAR
 *   cells    id -> band                      state words name ids; free ids form a stack
 *
 * CONTRACT. bands_get finds the band of a priority, or puts a new one into the table: by a copy of
 * one leaf and of the table, and one CAS of the word `table`. A band without pods leaves the table
 * again; its memory and its id are used again after a grace period. So what a walk, a worker's end
 * or memory costs follows the priorities that have pods.
 *
 * THE SUMMARY. Claim: while the word of a band's bin is SET or CLEARING, its bit is set in the leaf
 * that the table names. Only band_note sets bits, only bands_rest takes them away.
 *   band_note    by each producer that meets CLEAR or SETTING, between these two words and SET:
 *                finds the leaf, sets the bit and raises the version by one exchange of the pair,
 *                also if the bit is set already, and begins again if the table is another by then.
 *   bands_rest   reads the version, then the bits' words; those CLEAR or RETIRED lose their bits by
 *                one exchange that expects the version. A word that was CLEAR after the version was
 *                read, and is not CLEAR now, was noted in between, and the exchange fails.
 *   a copy       begins with all bits set. A producer that noted its band in a leaf that was
 *                replaced finds another table; one that finds the same table comes before the copy
 *                is seen.
 * A bit that is set for nothing costs a look at the word.
 *
 * RETIREMENT. A band that is CLEAR begins to leave: its word becomes LEAVING, and one thread at a
 * time waits for it (`waits`) and notes that word (`leaving`). A call that finds the band makes it
 * CLEAR again (band_keep), a producer that found it before makes it SETTING. After a grace period
 * the calls that had found it before are over. If the word still is the noted one, and no ref in
 * the bin is a pod's, it becomes RETIRED, which is terminal; a pod whose producer stopped before it
 * marked the bin is marked instead. The next copy of the leaf leaves the band out; the thread whose
 * CAS of the table did that gives the band back, after one more grace period. So no producer that
 * published meets RETIRED. Walks pass over LEAVING and RETIRED like CLEAR. Bands begin to leave
 *   by a walk    that took the last bit of a leaf, if there are more than BAND_LEAVES_KEPT leaves
 *   by a sweep   of two leaves for each that was split off, when calls begin: so the rows without
 *                pods do not outgrow those with pods, though no walk comes to them
 *   by trim      all of them
 *
 * IDS. The cell of a band that left the table says so at once. So an id that the word of an active
 * pod names is that band's, unless the pod was never published: settle_again asks for the band of
 * its priority.
 *
 * THE BOUND. bands_is_full looks for one active pod in each other band, then at the words of these
 * pods again. All unchanged: at the moment in between each of these bands had a pod.
 *
 * LINEARIZATION. bands_get: replace:A for a new priority; for a known one the look at its word,
 * which is not RETIRED. bands_is_full: false, the load that found too few; true, the end of the
 * first look.
 *
 * ORDERING
 *   replace:A -> bands_table:A
 *       the leaves, their rows, and the bands that they name
 *   cell, replace:A -> bands_at:A
 *       the band; an id in a state word was in some table
 *   bin_mark_from:A to SETTING, leaf_note:A | the version, the word, bands_rest:A
 *       the summary
 *   leaf_note:A, band_note:A | replace:A, bands_table:A, word
 *       a leaf that is replaced
 *   retire:B, replace:A -> bands_table:A
 *       the word of a band that a table leaves out is never set again
 *   leave:A, look at `waits` | retire:A, look at the word
 *       of a band that begins to leave while the wait for an earlier word ends, one of the two
 *       threads waits for it
 *   replace:A, leave_table:A, retirement -> publish_band
 *       no worker keeps a band that may be freed
 *
 * PROGRESS. Lock-free. band_note begins again only if the table was replaced, bands_rest does not
 * repeat. bands_get for a new priority is O(BAND_ROWS + priorities / BAND_ROWS) and allocates. A
 * thread that stops behind replace:A, and before the retirement, keeps the bands that it took out.
 * One that stops in SETTING is passed by: each producer notes for itself, and so does a consumer
 * whose scan finds nothing.
 *
 * ABA. A table that a section has seen is not freed, so its address is not another's. Ids: stack.h.
 *
 * EVIDENCE. tests/model: bands; stress/explore: band_*, no_memory_retired;
 * tests/unit/test_lockfree_band.c, test_priorities.c, test_caps.c.
 */
#ifndef SCHEDQ_LOCKFREE_BAND_H
#define SCHEDQ_LOCKFREE_BAND_H

#include "engine.h"
#include "lockfree/memory/stack.h"
#include "lockfree/refs/bin.h"

/** Cells of ids lie in chunks, each twice as large as the one before. */
#define BAND_CHUNK_FIRST 64
#define BAND_CHUNKS 15

struct bands;

struct band {
    struct bin bin;
    atomic_u64 word; /* the bin's */
    struct bands *bands;
    int32_t priority;
    uint32_t id;
    atomic_u32 waits;   /* a grace period is waited for, or the band is among the ripe ones */
    atomic_u64 leaving; /* the word when that began */
    struct epoch_block block;
};

struct band_row {
    int32_t priority;
    struct band *band;
};

struct band_leaf {
    struct epoch_block block;
    uint32_t capacity, count;
    atomic_pair summary; /* low: bits; high: version */
    struct band_row rows[];
};

struct band_leaf_row {
    int32_t top; /* the leaf's first priority */
    struct band_leaf *leaf;
};

struct band_table {
    struct epoch_block block;
    uint32_t capacity, count; /* leaves */
    uint32_t rows;
    struct band_leaf_row leaves[];
};

struct band_cell {
    atomic_ptr band;
    atomic_u64 next; /* in the stack of free ids */
};

struct bands {
    struct memory *memory;
    const struct entries *entries;
    struct run_pool *pool;
    atomic_ptr table;
    /* how often bands left the table: what a worker remembers of an earlier number may be gone */
    atomic_u64 removals;
    atomic_u64 ids;   /* free ones: {tag:36, id:28} */
    atomic_u64 ripe;  /* bands that were leaving a grace period ago: the same kind of stack */
    atomic_u32 drawn; /* ids that were ever given out; the first is 1 */
    atomic_u32 due;   /* leaves that were added by splitting, and not paid for by bands_sweep */
    atomic_u32 swept; /* where the next look for bands without pods begins */
    atomic_ptr chunks[BAND_CHUNKS];
};

/** False: no memory; bands_close is due all the same. */
bool bands_open(struct bands *bands, struct memory *memory, const struct entries *entries,
                struct run_pool *pool);

/** Alone, after what was retired is freed. */
void bands_close(struct bands *bands);

/** Makes room for the ids of so many priorities. False: no memory. */
bool bands_reserve(struct bands *bands, uint32_t count);

/** Inside a section; valid until it ends. */
static inline struct band_table *
bands_table(const struct bands *bands)
{
    return ptr_load_acquire(&bands->table); /* bands_table:A reads from replace:A */
}

/** The rows that may have pods, as bits; the first row is bit 0. */
static inline uint64_t
band_leaf_bits(const struct band_leaf *leaf)
{
    return u64_load_acquire(&leaf->summary.low); /* band_leaf_bits:A reads from leaf_note:A */
}

/** Before the words of the rows are looked at whose bits bands_rest shall take. */
static inline uint64_t
band_leaf_version(const struct band_leaf *leaf)
{
    return u64_load_acquire(&leaf->summary.high); /* band_leaf_version:A */
}

/** Is a word such that nothing is in the bin? */
static inline bool
band_word_rests(uint64_t word)
{
    return bin_phase(word) == BIN_CLEAR || bin_phase(word) >= BIN_LEAVING;
}

/** Keeps a band that was found in the table until the section ends. False: it is retired. */
bool band_keep(struct band *band);

/** True: band_keep has nothing to do. */
static inline bool
band_stays(const struct band *band)
{
    /* of bin_mark_from:A, leave:A, retire:B */
    return bin_phase(u64_load_acquire(&band->word)) < BIN_LEAVING;
}

/** The band of a priority, made if there is none. NULL: no memory, or no id (bands_are_out). */
struct band *bands_get(struct bands *bands, struct epoch_record *epoch, int32_t priority);

/** Are there as many priorities as ids? */
bool bands_are_out(const struct bands *bands);

/**
 * Does a priority without an active pod meet `max` others that have one?
 *
 * @param status SCHEDQ_FULL: yes, at one moment during this call; SCHEDQ_OK: no; SCHEDQ_NOMEM
 */
schedq_status_t bands_is_full(struct bands *bands, const struct bin_caller *caller,
                              int32_t priority, uint32_t max);

/**
 * Takes the bits of rows whose words were seen at rest, after `version` was read and `bits` before
 * it.
 *
 * The leaf is number `i` of `table`. If it is left without bits, and there are many, it leaves the
 * table.
 */
void bands_rest(struct bands *bands, struct epoch_record *epoch, struct band_table *table,
                uint32_t i, uint64_t bits, uint64_t version, uint64_t at_rest);

/** The band with this id, which some state word named; NULL: it is none now. */
struct band *bands_at(const struct bands *bands, uint32_t id);

/** Has the table grown, so that rows without pods should be looked for? A hint. */
static inline bool
bands_sweep_is_due(const struct bands *bands)
{
    return u32_load(&bands->due) != 0 || stack_top(u64_load(&bands->ripe)) != 0;
}

/**
 * Goes on with bands that leave; begins with what has no pods in a few leaves. Inside a section.
 */
void bands_sweep(struct bands *bands, struct epoch_record *epoch);

/** The same for all leaves. */
void bands_trim(struct bands *bands, struct epoch_record *epoch);

/**
 * For the next owner of a slot whose last one died: its lanes go on from what was published. Inside
 * a section.
 */
void bands_resume(struct bands *bands, uint32_t worker);

/**
 * For the owner of a worker's slot that is not in use: makes its lanes as small as they can be.
 * Inside a section.
 */
void bands_shrink(struct bands *bands, struct epoch_record *epoch, uint32_t worker);

#endif
