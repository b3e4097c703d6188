/**
 * Tells that a process is stuck, without a wall clock: a machine that others keep busy is no
 * failure.
 *
 * A process is stuck if, without progress, it used much time of processors (it spins), or if at
 * many looks each of its threads slept (it waits for what never comes). A look that meets a thread
 * that runs, or that waits for a processor or a disk, says nothing: so time that other programs
 * take does not count. A stopped thread counts as one that waits for a processor: a debugger may
 * take its time.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_PATIENCE_H
#define SCHEDQ_TESTS_SUPPORT_PATIENCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef enum patience_verdict {
    PATIENCE_LASTS,
    PATIENCE_SPINS,
    PATIENCE_SLEEPS
} patience_verdict_t;

typedef struct patience {
    pid_t process;
    pid_t group;         /* not 0: all processes of this group, `process` is none */
    unsigned cpu_limit;  /* seconds of processor time without progress */
    unsigned look_limit; /* looks at which all threads slept, without progress */
    uint64_t progress;
    double cpu_seconds; /* of the process, when it last made progress */
    unsigned looks;
    unsigned naps; /* the caller's, between looks */
} patience_t;

/** Of the own process, getpid(), all threads but the caller's are looked at. */
void patience_begin(patience_t *patience, pid_t process, unsigned cpu_limit, unsigned look_limit);
/** All processes of a group. */
void patience_begin_group(patience_t *patience, pid_t group, unsigned cpu_limit,
                          unsigned look_limit);
/**
 * One look. `progress`: any figure that changes when there is progress. Sleep for PATIENCE_LOOK_NS
 * between two looks.
 */
patience_verdict_t patience_look(patience_t *patience, uint64_t progress);
/**
 * One look at a thread of this process, by the number that gettid gave it: it sleeps, or has ended.
 * One that was woken and waits for a processor does not sleep.
 */
bool patience_thread_sleeps(pid_t thread);
/** "spins" or "sleeps", in words. */
const char *patience_words(patience_verdict_t verdict);

/**
 * fork(), but the child ends when its parent does, and patience_ended sees its end at once. -1:
 * errno says why.
 */
pid_t patience_fork(void);
/**
 * Whether that child has ended, which it gets PATIENCE_LOOK_NS for; then `status` is its status, as
 * of waitpid.
 */
bool patience_ended(pid_t child, int *status);

/** Waits for a thread of this process for PATIENCE_LOOK_NS; true: it has ended, and is joined. */
bool patience_joined(pthread_t thread, void **result);

/** The time between two looks. */
#define PATIENCE_LOOK_NS 200000000
/** Looks in so many seconds. */
#define PATIENCE_LOOKS(seconds) ((unsigned)(seconds)*5)

#endif
