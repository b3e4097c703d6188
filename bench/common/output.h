/*
 * Files that hold a result: either the last one, whole, or the new one, whole.
 *
 * What is written goes to a file beside the one that is meant, which takes its place when all is
 * written. So a tool that is interrupted leaves the last result as it was.
 */
#ifndef SCHEDQ_BENCH_OUTPUT_H
#define SCHEDQ_BENCH_OUTPUT_H

#include <stdbool.h>

typedef struct output {
    int descriptor;  /* to write to; output_end closes it */
    char *temporary; /* NULL: `path` is no regular file, and is written itself */
    char *path;
} output_t;

/**
 * Before the work that gives a result: can it be written? It is left as it is. False: errno says
 * why.
 */
bool output_check(const char *path);

/** Begins to write. False: errno says why. */
bool output_begin(output_t *output, const char *path);
/**
 * Ends it: `written` takes the last result's place; what is not is dropped. False: that failed,
 * errno says why.
 */
bool output_end(output_t *output, bool written);

#endif
