/* What the freezes hit and what was seen, by call. */
#ifndef SCHEDQ_FREEZE_REPORT_H
#define SCHEDQ_FREEZE_REPORT_H

#include "watch.h"

#define REPORT_ALLOCATOR CALLS /* a row of its own, whose windows do not count */

typedef struct row {
    unsigned freezes, windows, counted, uncontrolled, starved, blocked, spinning, stuck;
    int64_t others_gap_ns, control_gap_ns;
    uint64_t least_calls, least_pods;
} row_t;

typedef struct report {
    row_t rows[CALLS + 1];
    /* freezes in which the others completed many calls and popped nothing: a violation */
    unsigned popless;
    unsigned violations;
    uint64_t allocations; /* after the warm-up */
} report_t;

/** The call of this mix in which threads were stopped least often so far. */
unsigned report_rarest(const report_t *report, const options_t *options);

/** `hit` is the call in which the victim was stopped. */
void report_add(report_t *report, const options_t *options, unsigned hit, const watch_t *watch);
/** Prints the table; true if nothing counts against the engine, and enough was seen to say so. */
bool report_print(const report_t *report, const options_t *options);

#endif
