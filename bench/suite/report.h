/*
 * The results, as a table for people and as JSON for programs.
 */
#ifndef SCHEDQ_BENCH_REPORT_H
#define SCHEDQ_BENCH_REPORT_H

#include "measure.h"

/* The heading, then a line for each result as it comes. */
void report_heading(FILE *out);
void report_line(FILE *out, const result_t *result);
/* What the columns mean. */
void report_legend(FILE *out);

/* Writes all results as a JSON array. False: that failed; errno says why. */
bool report_json(FILE *out, const result_t *results, unsigned count);

#endif
