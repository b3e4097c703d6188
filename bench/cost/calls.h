/*
 * What callgrind wrote of a life: which functions of the engine ran, in which files, and which
 * called which.
 *
 * platform/ is not counted: it is what the engine stands on, and differs from build to build.
 */
#ifndef SCHEDQ_COST_CALLS_H
#define SCHEDQ_COST_CALLS_H

#include <stdbool.h>

struct calls {
    unsigned files;     /* .c files */
    unsigned functions; /* in .c files and headers */
    unsigned hops;      /* pairs of a function and one that it calls in another .c file */
};

/* Reads a callgrind.out file. False: it cannot be read, or its tables are full. */
bool calls_read(struct calls *calls, const char *path);

#endif
