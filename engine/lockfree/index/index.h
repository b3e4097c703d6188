/*
 * From "namespace/name" to the pod's record. The essay is at the head of index.c.
 *
 * Every call but index_open, index_make and index_close is made inside an epoch section, and a
 * ticket lives no longer than the section. index_open and index_close exclude all other calls.
 */
#ifndef SCHEDQ_LOCKFREE_INDEX_H
#define SCHEDQ_LOCKFREE_INDEX_H

#include "lockfree/memory/names.h"
#include "lockfree/pod/entry.h"

/**
 * Publishes a ref of a pod whose adder has not done it yet; `ctx` is the caller's worker.
 *
 * Several threads may call it for one pod. The pod may be over, and its record used again, before
 * or while it runs.
 */
typedef bool (*index_settle_fn)(void *ctx, uint32_t record, uint64_t life);

struct index {
    struct memory *memory;
    const struct entries *entries;
    const struct names *names;
    index_settle_fn settle;
    uint32_t threads;
    atomic_ptr table;
};

/** What an operation of the index needs of the worker that runs it. */
struct index_caller {
    struct epoch_record *epoch; /* inside a section */
    void *ctx;                  /* for settle */
};

struct index_table;

/** One insertion: where it put its cell. index_finish needs it. */
struct index_ticket {
    atomic_u64 *cell; /* in `table`; NULL: it has none so far */
    uint64_t value;   /* of the cell, TENTATIVE */
    struct index_table *table;
    uint32_t position; /* of the cell */
};

/** A pod that has the name. */
struct index_found {
    uint64_t life;
    uint32_t record;
};

enum index_answer { INDEX_DONE, INDEX_EXISTS, INDEX_NOMEM };

/** Allocates nothing. `threads`: so many may be inside of calls at once, and stop there. */
void index_open(struct index *index, struct memory *memory, const struct entries *entries,
                const struct names *names, index_settle_fn settle, uint32_t threads);

/**
 * Makes the first table, of `lines` lines, a power of two: growth begins at about four pods a line.
 *
 * Before a thread's first call of the others; by any number of them. False: no memory.
 */
bool index_make(struct index *index, uint32_t lines);
void index_close(struct index *index);

/**
 * Makes room for `pods` names at three a line; adds up to so many do not grow. False: no memory,
 * nothing changed.
 */
bool index_reserve(struct index *index, const struct index_caller *caller, uint32_t pods);
void index_prefetch(const struct index *index, uint32_t hash);

/**
 * Commits a pod whose record is filled and whose state word is stored; `ref` is its first. From
 * here on it exists; publish its ref, then call index_finish, whose first access is a full fence.
 * INDEX_EXISTS: *found is the pod with this name, settled. On EXISTS and NOMEM nothing of the
 * record is left in the index.
 */
enum index_answer index_insert(struct index *index, const struct index_caller *caller,
                               const struct hashed_name *name, uint64_t ref,
                               struct index_ticket *ticket, struct index_found *found);

/** index_insert behind index_insert_directly (index_direct.h), which did not do it. */
enum index_answer index_insert_in_rounds(struct index *index, const struct index_caller *caller,
                                         const struct hashed_name *name,
                                         struct index_ticket *ticket, struct index_found *found);

void index_finish(const struct index_ticket *ticket);

/** The record of the pod with this name, settled, and the pod's life; 0: none. */
uint32_t index_find(struct index *index, const struct index_caller *caller,
                    const struct hashed_name *name, uint64_t *life);

/** Is the pod there, and settled? No name is compared. False also if it was committed just now. */
bool index_has(const struct index *index, uint32_t hash, uint32_t record, uint64_t life);

/**
 * Marks the cell of a pod that is over, so that it is found free sooner.
 *
 * Over: its state word is no pod's any more, by an exchange that this thread made or saw. No answer
 * depends on this call: a pod that is over is not found.
 */
void index_remove(struct index *index, uint32_t hash, uint32_t record, uint64_t life);

#endif
