/*
 * What happened since the queue was made, counted from the records: schedq_stats must say the same
 * when all is quiet.
 */
#ifndef SCHEDQ_HISTORY_COUNTS_H
#define SCHEDQ_HISTORY_COUNTS_H

#include "report.h"

typedef struct counts {
    uint64_t adds, pops, dones, failures, deletes, updates, events; /* as in schedq_stats */
    /* at the last quiet point, by place */
    uint64_t pending[SCHEDQ_HELD + 1];
    uint64_t records;
    uint64_t outcomes[CALLS][SCHEDQ_CANCELED + 1]; /* calls by answer */
} counts_t;

void counts_add(counts_t *counts, const book_t *book);
/**
 * `workers` are registered; `moving`: one of them is the timer thread, which makes pods active at
 * any time.
 */
void counts_check(const counts_t *counts, schedq_t *queue, unsigned workers, bool moving,
                  report_t *report);
/** Prints how often each call gave each answer. */
void counts_print(const counts_t *counts);

#endif
