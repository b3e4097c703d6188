/*
 * google-benchmark for C: register a function, run it, get the seconds of each repetition back.
 *
 * gbench.cc, the only C++ file of the project, implements it. google-benchmark makes the threads,
 * holds them at a common start and takes the time; what it would print is left to report.c. Not for
 * several threads at once.
 */
#ifndef SCHEDQ_BENCH_GBENCH_H
#define SCHEDQ_BENCH_GBENCH_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A thread of a running benchmark. */
typedef struct gbench_thread gbench_thread_t;

/*
 * A benchmark's body; runs once on each of its threads for each repetition:
 *
 *     prepare(ctx, gbench_thread_index(thread));
 *     while (gbench_next(thread)) {
 *         work(ctx);
 *     }
 */
typedef void (*gbench_fn)(gbench_thread_t *thread, void *ctx);

/*
 * The first call waits for all threads and starts this thread's clock; the last one, which returns
 * false, stops it.
 */
bool gbench_next(gbench_thread_t *thread);
/*
 * The clock of this thread stands still from pause to resume. A pair costs about a microsecond,
 * uncounted.
 */
void gbench_pause(gbench_thread_t *thread);
void gbench_resume(gbench_thread_t *thread);
/* 0 .. threads - 1. */
unsigned gbench_thread_index(const gbench_thread_t *thread);

/*
 * Makes `fn` known under a name of letters, digits, '-' and '_'.
 *
 * rounds: how often gbench_next returns true on each thread.
 */
void gbench_register(const char *name, gbench_fn fn, void *ctx, unsigned threads, uint64_t rounds);

/*
 * Runs a registered benchmark `repetitions` times and stores the wall-clock seconds of each: the
 * mean over its threads of what their clocks counted. False if there is no benchmark of that name.
 */
bool gbench_run(const char *name, unsigned repetitions, double *seconds);

/* Forgets every registered benchmark. */
void gbench_clear(void);

#ifdef __cplusplus
}
#endif
#endif
