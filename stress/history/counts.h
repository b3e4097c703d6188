/*
 * What happened since the queue was made, counted from the records: schedq_stats must say the same when all is quiet.
 */
#ifndef SCHEDQ_HISTORY_COUNTS_H
#define SCHEDQ_HISTORY_COUNTS_H

#include "report.h"

typedef struct counts {
    uint64_t adds, pops, dones, deletes, updates; /* as in schedq_stats */
    uint64_t pending;                             /* at the last quiet point */
    uint64_t records;
    uint64_t outcomes[CALLS][SCHEDQ_INVALID + 1]; /* calls by answer */
} counts_t;

void counts_add(counts_t *counts, const book_t *book);
/** The main thread's worker and those of the threads are registered. */
void counts_check(const counts_t *counts, schedq_t *queue, unsigned workers, report_t *report);
/** Prints how often each call gave each answer. */
void counts_print(const counts_t *counts);

#endif
