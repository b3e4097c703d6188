/*
 * Runs: immutable sorted arrays of refs, and the pool that they come from.
 *
 * CONTRACT. A run is filled by one thread, published in one of a bin's run slots (bin.h), read by
 * all, and given back by the thread that takes it out of its slot. Its refs never change; its head
 * moves over refs that are stale. It is named by a run word {generation:32, number:32}; 0 names
 * none.
 *
 * RECYCLING BY GENERATION. Runs come and go at operation rate, so they do not wait for a grace
 * period: the memory of a run stays a run, and run_give raises its generation before another thread
 * can have it. A reader reads the slot word, the run, and the slot word again: if that has not
 * changed, the run was not given back in between, because it is taken out of its slot first. The
 * head carries the generation, so a late advance fails on the next user's run.
 *
 * MEMORY. By size, a power of two; one stack of free runs per size (stack.h). Only run_pool_trim
 * gives memory back, through a grace period, since readers may still look at it.
 *
 * LINEARIZATION. run_peek: HEAD and EMPTY, the load of the head (A); CHANGED, that of the slot (B).
  * run_advance_by: A.
 *
 * ORDERING
 *   run_put, bin_publish_run:A -> the acquire load of the slot
 *       all refs of the run
 *   drop_run:A, put_merged:A or bin_put_beside:A, run_renew, the next user's stores
 *       -> acquire loads of the run, then run_peek:B, run_lies_behind:A, cursor_load:A or
 *       read_run:A
 *       a reader that met the next user's refs finds the slot changed
 *   run_make:A -> run_at
 *       a run by its number
 *   run_pool_trim:A, the number is given -> run_at
 *       a number's link is not read as a run
 *
 * PROGRESS. Lock-free: stack.h, and numbers; run_make and a new leaf allocate. A thread that stops
 * holds the run that it filled or took out. A head that it did not advance is advanced by the next
 * thread.
 *
 * WRAPAROUND. A generation repeats after 2^32 uses of one run: 71 minutes at a million a second,
 * and a reader must sleep exactly so many uses.
 *
 * EVIDENCE. tests/model: run_recycle; stress/explore: runs, runs_move, trim;
 * tests/unit/test_lockfree_run.c, test_lockfree_bin.c.
 */
#ifndef SCHEDQ_LOCKFREE_RUN_H
#define SCHEDQ_LOCKFREE_RUN_H

#include "lockfree/memory/stack.h"
#include "lockfree/refs/lane.h"

#define RUN_SIZES 29
#define RUN_LEAF 4096
#define RUN_ROOT 256

struct run {
    struct epoch_block block;
    uint32_t number, size_class; /* fixed */
    atomic_u64 next;             /* in the stack of free runs */
    /* run words have its low half; it begins the line of what follows */
    _Alignas(16) atomic_u64 generation;
    atomic_u32 count;
    atomic_u32 cause; /* why its pods are moved, for helpers (switch.h) */
    atomic_u64 head;  /* generation:32 | position:32 */
    struct slot slots[];
};

struct run_pool {
    struct memory *memory;
    atomic_u64 free[RUN_SIZES]; /* {tag:36, number:28} */
    /* numbers whose run was trimmed: the same kind of stack, chained in the leaves */
    atomic_u64 unused;
    atomic_u64 floor;   /* no generation of a trimmed run was above */
    atomic_u32 numbers; /* given out */
    atomic_ptr root[RUN_ROOT];
    struct segment_pool segments; /* of the lanes beside the runs */
};

void run_pool_open(struct run_pool *pool, struct memory *memory);

/** When no other thread uses it, and no run is in use. */
void run_pool_close(struct run_pool *pool);

/** Gives free runs back to the allocator, after a grace period. */
void run_pool_trim(struct run_pool *pool, struct epoch_record *epoch);

/** A run with room for `count` refs, empty, the caller's. NULL: no memory. */
struct run *run_take(struct run_pool *pool, uint32_t count);

/** Gives back the caller's run, which was unpublished, or never published. */
void run_give(struct run_pool *pool, struct run *run);

/** Empties a run for the caller's next use of it, by another generation. */
void run_renew(struct run *run);

/** How many refs it has room for. */
static inline uint32_t
run_room(const struct run *run)
{
    return UINT32_C(1) << run->size_class;
}

/** Called only before the run is published. A run that was taken has cause 0. */
static inline void
run_set_cause(struct run *run, uint32_t cause)
{
    u32_store(&run->cause, cause);
}

/** Called only before the run is published: keys must not fall. */
void run_put(struct run *run, uint64_t ref, int64_t key);

/**
 * Fills an empty run with what is left of the run behind a word, and one ref more, in the order of
 * keys, for the same cause. Returns that other run; what was copied is good if its slot still has
 * the word. NULL: nothing is left there, or the ref does not go with it.
 */
struct run *run_put_beside(struct run *run, const struct run_pool *pool, uint64_t word,
                           uint64_t ref, int64_t key, uint32_t cause);

/** The word that names a run in its present use. */
static inline uint64_t
run_word(const struct run *run)
{
    return u64_load(&run->generation) << 32 | run->number;
}

/**
 * Where a number is looked up. The cell has a run, NULL, or, while the number is unused, the next
 * unused number with the lowest bit set.
 */
STRAIGHT atomic_ptr *
run_place(const struct run_pool *pool, uint32_t number)
{
    atomic_ptr *leaf = ptr_load_acquire(&pool->root[number / RUN_LEAF]); /* of leaf_make:A */

    return leaf != NULL ? &leaf[number % RUN_LEAF] : NULL;
}

STRAIGHT bool
run_is_number(const void *word)
{
    return ((uintptr_t)word & 1) != 0;
}

/**
 * The run behind a word; NULL if its memory was given back. Valid until the caller's section ends.
 */
STRAIGHT struct run *
run_at(const struct run_pool *pool, uint64_t word)
{
    const atomic_ptr *place = run_place(pool, (uint32_t)word);
    void *run = place != NULL ? ptr_load_acquire(place) : NULL; /* of run_make:A */

    return run_is_number(run) ? NULL : run;
}

/** The head of a run, as it was seen. */
struct run_head {
    struct run *run;
    uint64_t word, head;
    uint64_t ref;
    int64_t key;
    uint32_t left; /* refs from the head on */
    uint32_t cause;
};

enum run_sight { RUN_CHANGED, RUN_EMPTY, RUN_HEAD };

/**
 * The first ref of the run in `slot`, which held `word`. RUN_CHANGED: the slot has another word by
 * now.
 */
enum run_sight run_peek(const struct run_pool *pool, const atomic_u64 *slot, uint64_t word,
                        struct run_head *head);

/**
 * Has the first ref of the run in `slot`, which held `word`, a greater key? False: it has not, or
 * that is not certain. As run_peek.
 */
STRAIGHT bool
run_lies_behind(const struct run_pool *pool, const atomic_u64 *slot, uint64_t word, int64_t key)
{
    const struct run *run = run_at(pool, word);

    if (run == NULL) {
        return false;
    }
    uint32_t position = (uint32_t)u64_load_acquire(&run->head);

    return position < u32_load_acquire(&run->count) &&
           (int64_t)u64_load_acquire(&run->slots[position].key) > key &&
           u64_load_acquire(slot) == word; /* run_lies_behind:A */
}

/**
 * The ref `behind` places behind what was peeked, below head->left; anything if the run left its
 * slot.
 */
static inline uint64_t
run_ref(const struct run_head *head, uint32_t behind)
{
    return u64_load_acquire(&head->run->slots[(uint32_t)head->head + behind].ref);
}

/**
 * How many refs have smaller keys, from the one `behind` places behind what was peeked on. Anything
 * if the run left its slot.
 */
uint32_t run_count(const struct run_head *head, uint32_t behind, int64_t key);

/** Moves the head past `count` refs, all of them stale by now. */
static inline void
run_advance_by(const struct run_head *head, uint32_t count)
{
    (void)u64_cas(&head->run->head, head->head, head->head + count); /* run_advance_by:A */
}

/** Moves the head past what was peeked, which is stale by now. */
static inline void
run_advance(const struct run_head *head)
{
    run_advance_by(head, 1);
}

#endif
