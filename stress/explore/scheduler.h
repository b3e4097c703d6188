/*
 * Simulated threads, of which exactly one runs, and who runs next is drawn from a seed.
 *
 * An episode is sim_begin, then any number of sim_alone and sim_together, until one of them returns
 * false. Between them, and before and after, nothing may touch the queue. What is simulated and
 * what is not stands at the head of scheduler.c.
 */
#ifndef EXPLORE_SCHEDULER_H
#define EXPLORE_SCHEDULER_H

#include "random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Threads of one sim_together. */
#define SIM_THREADS_MAX 6

/** How the next thread is chosen. */
enum sim_strategy {
    SIM_ANY,     /* one of the two, drawn for each episode */
    SIM_UNIFORM, /* at each point any thread that can run */
    SIM_PCT      /* the one with the highest priority; priorities change at a few points only */
};

/** How long sim_together takes: what the random points of PCT and of freezing are spread over. */
struct sim_estimate {
    uint64_t steps;
    uint64_t steps_of[SIM_THREADS_MAX];
};

struct sim_plan {
    uint64_t seed;
    enum sim_strategy strategy;
    unsigned frozen_max; /* at most so many threads stop for ever, at random points */
    struct sim_estimate estimate;
};

struct inside_thread;

typedef void (*sim_body)(unsigned thread);

/* ---- the program's side ---------------------------------------------------------------------- */

void sim_begin(const struct sim_plan *plan);

/** Runs one body, whose accesses reach memory at once. False: it failed, or did not end. */
bool sim_alone(sim_body body);

/**
 * Runs the bodies 0..threads - 1 together until each has ended or is frozen; all stores have
 * reached memory then.
 *
 * Bodies from `steady` on are never frozen.
 */
bool sim_together(unsigned threads, unsigned steady, sim_body body);

/** What went wrong; NULL: nothing. */
const char *sim_failure(void);

/** Threads that the last sim_together left frozen. */
unsigned sim_frozen(void);
bool sim_is_frozen(unsigned thread);

/** Steps of the last sim_together, and of one thread of it. */
uint64_t sim_steps(void);
uint64_t sim_steps_of(unsigned thread);

/** "uniform" or "pct": what the episode drew. */
const char *sim_strategy_name(void);

/**
 * Are outcomes of calls in the order of real time? Else a store may still wait after the call that
 * made it.
 */
bool sim_is_settled(void);

/* ---- the bodies' side ------------------------------------------------------------------------ */

/** Ends the episode as a failure; the first words count. Inside a body it does not return. */
__attribute__((format(printf, 1, 2))) void sim_fail(const char *format, ...);

#define SIM_CHECK(condition, ...) ((condition) ? (void)0 : sim_fail(__VA_ARGS__))

/** The number of the body that runs; SIM_THREADS_MAX in sim_alone. */
unsigned sim_thread(void);

/** Random numbers for bodies; they do not disturb the scheduler's. */
struct random *sim_random(void);

/** A point that is no access. */
void sim_point(void);

/**
 * A point at which this thread cannot go on before others do something. Only test programs may need
 * it.
 */
void sim_spin(void);

/** Empties this thread's store buffer without being a point. */
void sim_settle(void);

/**
 * The end of a call: as sim_settle in the episodes in which outcomes are in the order of real time.
 */
void sim_call_ends(void);

/** This thread waits for something that will never come: it counts as frozen. */
void sim_stop(void);

/**
 * Sleeps until no other thread can run. True: all of them have ended or are frozen; false: somebody
 * sleeps.
 */
bool sim_wait_for_quiet(void);

/**
 * Makes all stores visible that threads have made so far, also those of a thread that is frozen: a
 * processor's store buffer empties whether or not its thread goes on.
 */
void sim_drain(void);

/* ---- for platform.c -------------------------------------------------------------------------- */

/** Has the kernel membarriers? Not in every episode. */
bool sim_has_barriers(void);

/** Empties the store buffer of each thread, at a point of its own. False: the kernel refuses. */
bool sim_fence_all(const void *where);

/**
 * Sleeps if *word is `expected`: until sim_wake, until the deadline, or for no reason. `bits` as
 * those of futex_wait.
 */
void sim_sleep(const void *word, uint32_t expected, int64_t deadline, uint32_t bits,
               const void *where);
void sim_wake(const void *word, uint32_t count, uint32_t bits, const void *where);

/** The simulated CLOCK_MONOTONIC. */
int64_t sim_now(void);

/** Lets time pass, beside what readings take. */
void sim_pass(int64_t ns);

/** The calling thread's own place for what the engine keeps in a thread-local variable. */
struct inside_thread *sim_thread_local(void);

#endif
