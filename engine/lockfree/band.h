/*
 * Bands: one bin per priority, and the table that pop walks from the top.
 *
 * CONTRACT. The table is an immutable array of rows, highest priority first, replaced as a whole (copy on write, one
 * CAS) when a priority comes that is not in it. A band is an object with an id; ids are given once in a queue's life,
 * 65,535 of them, because state words name them. Bands are never freed before the queue.
 *
 * RETIREMENT makes room when the table has max_bands rows: the word of a band that no pod is charged to, and that is
 * proven to be empty, goes from CLEAR to RETIRED, which is terminal; the next table is made without it. A priority
 * that comes back gets a new object. A producer who looked the band up before finds RETIRED when he marks it, after
 * he published, and moves his pod to the new object like an update does (publish_follow). Walks skip RETIRED like
 * CLEAR.
 *
 * FULL. Which bands have pods is counted by the workers, and added up only when the table is full (charge.h).
 *
 * LINEARIZATION. bands_get: B for a new priority; for a known one the look at its row's word, which is not RETIRED;
 * FULL: the moment between the two sums.
 *
 * ORDERING
 *   bands_get:B (full fence) -> bands_get:A, bands_table:A   the rows, and the bands that they name
 *   band_make:A (release)    -> bands_at:B, made:A           the band; an id from a state word was in some table
 *   chunk_make:A (full fence) -> chunk_of:A                  a chunk is seen zeroed
 *   bin_retire:A before bands_get:B                          a table without a band: nobody sets that band's word again
 *
 * PROGRESS. Lock-free; bands_get for a new priority is O(bands) and allocates. A thread that stops after it drew an
 * id, or took a spare band, has lost that one. After bin_retire:A the row stays until the next table is made. After
 * bands_get:B the band is there, and empty.
 *
 * ABA. A table that a section has seen is not freed, so its address is not another's (bands_get:B). Spare bands:
 * stack.h.
 *
 * EVIDENCE. tests/model: retire; stress/explore: band_retire, band_retire_exact, no_memory_retired;
 * tests/unit/test_lockfree_band.c, test_caps.c.
 */
#ifndef SCHEDQ_LOCKFREE_BAND_H
#define SCHEDQ_LOCKFREE_BAND_H

#include "lockfree/bin.h"
#include "lockfree/charge.h"

#define BAND_CHUNK 64
#define BAND_CHUNKS (UINT32_C(65536) / BAND_CHUNK)

struct band {
    struct bin bin;
    int32_t priority;
    uint32_t id;
    atomic_u64 next_spare;
    struct charge charge; /* by workers that had no memory for their own count */
};

struct band_row {
    int32_t priority;
    struct band *band;
    atomic_u64 *word;
};

struct band_table {
    struct epoch_block block;
    uint32_t capacity, count;
    struct band_row rows[];
};

struct bands {
    struct memory *memory;
    const struct entries *entries;
    atomic_u64 *reorder;
    struct run_pool *pool;
    struct charge_books books;
    uint32_t max;
    atomic_ptr table;
    atomic_u32 ids;   /* given out; the first is 1 */
    atomic_u64 spare; /* {tag:36, id:28}: objects that are in no table yet */
    atomic_ptr chunks[BAND_CHUNKS];
};

/** False: no memory. */
bool bands_open(struct bands *bands, struct memory *memory, const struct entries *entries, atomic_u64 *reorder,
                struct run_pool *pool, const struct charge_books *books, uint32_t max);
void bands_close(struct bands *bands);

/** Makes objects for so many priorities. False: no memory. */
bool bands_reserve(struct bands *bands, uint32_t count);

/** Inside a section; valid until it ends. */
static inline const struct band_table *
bands_table(const struct bands *bands)
{
    return ptr_load_acquire(&bands->table); /* bands_table:A reads from bands_get:B */
}

/** Are there as many priorities as there may be, so that a known one may be refused too? */
static inline bool
bands_crowded(const struct bands *bands)
{
    return bands_table(bands)->count >= bands->max;
}

/**
 * The band of a priority, made if there is none.
 *
 * @param exceed go beyond max_bands if need be: an update may
 * @param status SCHEDQ_FULL or SCHEDQ_NOMEM with NULL
 */
struct band *bands_get(struct bands *bands, struct epoch_record *epoch, int32_t priority, bool exceed,
                       schedq_status_t *status);

/** The band with this id, which some state word named. */
struct band *bands_at(const struct bands *bands, uint32_t id);

/** For the next owner of a slot whose last one died: its lanes go on from what was published. */
void bands_resume(struct bands *bands, uint32_t worker);

/** For who has a slot that nobody uses: makes its lanes as small as they can be. */
void bands_shrink(struct bands *bands, struct epoch_record *epoch, uint32_t worker);

#endif
