/*
 * The threads of a row that any contestant can do: a worker each, its own source of pods, a common
 * finish line.
 */
#ifndef SCHEDQ_BENCH_TEAM_H
#define SCHEDQ_BENCH_TEAM_H

#include "workload.h"

#include <pthread.h>
#include <stdatomic.h>

/* A thread; two lines of its own, so that no thread slows another one. */
typedef struct member {
    _Alignas(128) void *worker;
    uint64_t next_number; /* of the next pod it adds: thread << 40 | count */
    uint64_t random;
    /* sum over the names that it popped: what keeps the reads from being optimized away */
    uint64_t read;
    /* sums over the objects of what it added, and of what it popped or deleted; and how many more
       it added */
    uint64_t objects_in, objects_out, balance;
    /* pods it added (producers) or popped (consumers) since the row began */
    _Atomic uint64_t progress;
} member_t;

typedef struct team {
    member_t members[THREADS_MAX];
    const queue_ops_t *ops;
    void *queue;
    const row_t *row;
    pthread_barrier_t finish;
} team_t;

/* A queue with room for `pods`, and a member for each of the row's threads. */
void team_open(team_t *team, const subject_t *subject, uint32_t pods, bool relaxed);
/*
 * Empties the queue. Ends the program if not every pod that came in came out, once: then both sides
 * of a row have done the same work.
 */
void team_close(team_t *team);

/* Member 0 adds pods number 0 .. pods - 1. */
void team_fill(team_t *team, uint32_t pods);

/* The clock of a repetition stops for all threads when the last one is here. */
void team_finish(team_t *team);

/* Adds the member's next pod, with a random priority. */
void member_add(const team_t *team, member_t *member);

/* Adds a pod that the queue does not know. */
void member_put(const team_t *team, member_t *member, uint64_t number, int32_t priority);
/* Adds the member's next pods, up to BATCH, in one call. */
void member_add_many(const team_t *team, member_t *member, unsigned count);

/* Notes a pod that left, and reads what a scheduler reads of it: its object and its name. */
static inline void
member_read(member_t *member, const taken_t *taken)
{
    member->read += (unsigned char)taken->name[0];
    member->objects_out += taken->object;
    member->balance--;
}

/* Pops a pod and ends it. False: there was none. */
bool member_take(const team_t *team, member_t *member);
/* Pops up to `capacity` pods, at most BATCH, and ends them; returns how many. */
unsigned member_take_many(const team_t *team, member_t *member, unsigned capacity);

/*
 * For rows where the first half of the threads adds and the second half pops: pods added minus pods
 * popped, as far as the members have told.
 */
int64_t team_balance(team_t *team);

#endif
