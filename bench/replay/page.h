/*
 * The page of --report: bench/report/page makes it, with python3 and gnuplot.
 */
#ifndef SCHEDQ_REPLAY_PAGE_H
#define SCHEDQ_REPLAY_PAGE_H

#include "report.h"

/* Before the work: is there all that the page needs? False: stderr says what is missing. */
bool page_check(void);
/*
 * Writes the page of a replay and of the same one with another engine. False: stderr says why, and
 * the file is as it was.
 */
bool page_write(const char *path, const report_t *report, const report_t *other);

#endif
