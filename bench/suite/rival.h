/*
 * Concurrent containers of C++ as queues of named pods, for C: oneTBB's concurrent_priority_queue
 * and moodycamel's ConcurrentQueue, each beside oneTBB's concurrent_hash_map of names.
 *
 * rival.cc implements it; the build leaves it out where the packages are missing. Every function of
 * a worker is for one thread at a time.
 */
#ifndef SCHEDQ_BENCH_RIVAL_H
#define SCHEDQ_BENCH_RIVAL_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rival_kind {
    /* Strict order: priority, then the clock at the add. Deletes by name; the item of a deleted pod
       is dropped when its turn comes. */
    RIVAL_TBB,
    /* A queue for each of the priorities 0, 100 .. 700. Inside a priority it keeps the order of one
       producer's pods only. Cannot delete. */
    RIVAL_MOODYCAMEL
} rival_kind_t;

typedef struct rival rival_t;
typedef struct rival_worker rival_worker_t;

typedef struct rival_popped {
    void *pod;
    uint64_t object;
    const char *name; /* valid until rival_done */
} rival_popped_t;

/*
 * `named`: names are kept in the map, so that none is there twice and each can be found; else a
 * name is only copied. NULL: no memory.
 */
rival_t *rival_new(rival_kind_t kind, bool named);
/* When it is empty, and its workers have left. */
void rival_free(rival_t *rival);
rival_worker_t *rival_join(rival_t *rival);
void rival_leave(rival_worker_t *worker);

/* False: the name is there already, or the pod has a priority that this kind does not do. */
bool rival_add(rival_worker_t *worker, const char *name, uint32_t length, int32_t priority,
               uint64_t object);
/* False: there is none. */
bool rival_pop(rival_worker_t *worker, rival_popped_t *out);
void rival_done(rival_worker_t *worker, void *pod);
/* False: no such name. */
bool rival_find(rival_worker_t *worker, const char *name, uint32_t length, uint64_t *object);
/* False: no such pod is pending, or this kind cannot delete. */
bool rival_delete(rival_worker_t *worker, const char *name, uint32_t length);

#ifdef __cplusplus
}
#endif
#endif
