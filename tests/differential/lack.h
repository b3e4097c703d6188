/*
 * [FEATURE_MEMORY] Memory that runs out, of a second mutex engine: each call fails once for each
 * block that it asks for, then it goes through. So what a call that found no memory leaves behind
 * is seen by all that is compared: it is promised to be nothing.
 *
 * Left out are calls that may do a part of what they are to do: add_many. And what is allowed to go
 * another way without memory, settings.c leaves out: classes, and pre-queueing hints.
 */
#ifndef DIFFERENTIAL_LACK_H
#define DIFFERENTIAL_LACK_H

#include <schedq/base.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct lack {
    uint64_t blocks; /* that are held */
    int64_t left;    /* so many blocks are given, then one is not; negative: all are */
    bool happened;
} lack_t;

schedq_allocator_t lack_allocator(lack_t *lack);

/** Of the next blocks the one behind `given` is not there. */
void lack_after(lack_t *lack, int64_t given);

/** From here on all are there. Was there one that was not? */
bool lack_ends(lack_t *lack);

/**
 * Makes a call, an expression whose value is its status, until it did not fail for want of memory.
 */
#define LACKING(lack, status, call)                            \
    do {                                                       \
        int64_t given = 0;                                     \
                                                               \
        do {                                                   \
            lack_after((lack), given++);                       \
            (status) = (call);                                 \
        } while (lack_ends(lack) && (status) == SCHEDQ_NOMEM); \
    } while (0)

#endif
