/*
 * Running pods by the time they end: a binary heap. Equal times come out by pod number, so the
 * order is the same on every run.
 */
#ifndef SCHEDQ_REPLAY_COMPLETIONS_H
#define SCHEDQ_REPLAY_COMPLETIONS_H

#include <stddef.h>
#include <stdint.h>

typedef struct completion {
    int64_t time_ns;
    uint32_t pod;
} completion_t;

/* Zero it first. */
typedef struct completions {
    completion_t *heap;
    size_t count;
    size_t capacity;
} completions_t;

void completions_push(completions_t *completions, int64_t time_ns, uint32_t pod);
/* The earliest; `count` must not be 0. */
completion_t completions_pop(completions_t *completions);
/* Takes a pod out before its time; it must be there. O(count). */
void completions_remove(completions_t *completions, uint32_t pod);
void completions_free(completions_t *completions);

#endif
