/*
 * Runs one row: every contestant that can do it, in one process, their repetitions taking turns.
 */
#ifndef SCHEDQ_BENCH_MEASURE_H
#define SCHEDQ_BENCH_MEASURE_H

#include "workload.h"

enum { REPETITIONS_MAX = 1000 };

/* The repetitions of one contestant, in figures. */
typedef struct figures {
    bool present;
    double median;
    double min;
    double max;
    double control;            /* median over the repetitions; 0: none */
    histogram_t *distribution; /* of all repetitions together; NULL: none */
} figures_t;

/* One line of the table. */
typedef struct result {
    char name[64];
    const value_t *value;
    unsigned repetitions;
    figures_t of[CONTESTANTS_MAX]; /* as in the table `contestants` */
} result_t;

/* How many values a repetition of this row gives. */
unsigned row_values(const row_t *row);
/* Full name of such a value. */
void row_value_name(const row_t *row, unsigned value, char *name, size_t size);

/*
 * Measures a row. Each contestant's queue is built once and lives through all repetitions; a first
 * repetition of each is discarded, unless the workload is `once`; then they take turns, and who
 * begins alternates. `results` has room for row_values(row). What the workload has to tell goes to
 * `notes`. False: the program was interrupted, and there are no results.
 */
bool measure_row(const row_t *row, unsigned repetitions, uint64_t seed, result_t *results,
                 FILE *notes);
/* Frees what a result holds. */
void result_clear(result_t *result);

#endif
