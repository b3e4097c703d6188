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
    /* sum over all that it popped: what keeps the reads from being optimized away */
    uint64_t read;
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
void team_open(team_t *team, const subject_t *subject, uint32_t pods);
void team_close(team_t *team);

/* Member 0 adds pods number 0 .. pods - 1. */
void team_fill(team_t *team, uint32_t pods);

/* The clock of a repetition stops for all threads when the last one is here. */
void team_finish(team_t *team);

/* Adds the member's next pod, with a random priority. */
void member_add(const team_t *team, member_t *member);

/* Reads what a scheduler reads of a popped pod: its object and its name. */
static inline void
member_read(member_t *member, const taken_t *taken)
{
    member->read += taken->object + (unsigned char)taken->name[0];
}

/* Pops a pod and ends it. False: there was none. */
bool member_take(const team_t *team, member_t *member);

/*
 * For rows where the first half of the threads adds and the second half pops: pods added minus pods
 * popped, as far as the members have told.
 */
int64_t team_balance(team_t *team);

#endif
