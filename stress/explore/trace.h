/*
 * The steps of one episode, kept and printed after a failure.
 */
#ifndef EXPLORE_TRACE_H
#define EXPLORE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum trace_kind {
    TRACE_LOAD,
    TRACE_STORE,
    TRACE_FLUSH, /* a store of that thread reached memory */
    TRACE_RMW,   /* value: what it finds, its low 32 bits */
    TRACE_FENCE,
    TRACE_SLEEP,
    TRACE_AWAKE, /* found another value, was woken, or woke for no reason */
    TRACE_TIMEOUT,
    TRACE_WAKE, /* a call of futex_wake; value: how many it woke */
    TRACE_FROZEN,
    TRACE_ENDED,
    TRACE_CALL, /* a test program's words; `value` belongs to them */
    TRACE_PHASE
};

/** Are steps kept? Off by default: an episode that fails is run once more. */
extern bool trace_is_on;

void trace_reset(void);
void trace_keep(enum trace_kind kind, unsigned thread, const void *word, uint64_t value,
                const void *where);

static inline void
trace_add(enum trace_kind kind, unsigned thread, const void *word, uint64_t value,
          const void *where)
{
    if (trace_is_on) {
        trace_keep(kind, thread, word, value, where);
    }
}

/** A test program's line: "update" and the number of a pod. `text` is static. */
void trace_note(unsigned thread, const char *text, int64_t value);

/** Prints the last steps, with source lines if addr2line is there. */
void trace_print(FILE *out, unsigned steps);

#endif
