/*
 * Starts the two programs that play rows, and reads what they print.
 */
#ifndef SCHEDQ_COST_MEASURE_H
#define SCHEDQ_COST_MEASURE_H

#include "table.h"

#include <stdio.h>

/*
 * Measures the rows whose names match. `directory`: where schedq-cost-calls is;
 * schedq-cost-accesses is in the preset `counting` beside it. Ends the program with status 1 if one
 * of them fails.
 */
void measure(table_t *table, const char *directory, const char *rows, bool slow);

/* Files, functions and hops (calls.h) of one pod's life with each engine; printed. */
void measure_life(const char *directory, FILE *out);

#endif
