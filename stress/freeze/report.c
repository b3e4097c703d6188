/* The table and the verdict. */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

#include "control.h"

static int64_t
greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* So many pops were tried, and so many pods added, that some must have been popped. */
static bool
must_have_popped(const options_t *options, uint64_t calls)
{
    const unsigned *weights = options->weights;
    uint64_t adds = weights[OP_ADD] + weights[OP_ADD_MANY];
    uint64_t pops = weights[OP_TRY_POP] + weights[OP_POP_UNTIL] + weights[OP_TRY_POP_MANY];
    return calls * (adds < pops ? adds : pops) / options->weight_sum >= 500;
}

void
report_add(report_t *report, const options_t *options, unsigned hit, const watch_t *watch)
{
    row_t *row = &report->rows[hit];
    bool first = row->freezes == 0;
    row->freezes++;
    row->windows += watch->windows;
    row->counted += watch->counted;
    row->uncontrolled += watch->uncontrolled;
    row->starved += watch->starved;
    row->blocked += watch->blocked;
    row->spinning += watch->spinning;
    row->stuck += watch->stuck;
    row->others_gap_ns = greater(row->others_gap_ns, watch->others_gap_ns);
    row->control_gap_ns = greater(row->control_gap_ns, watch->control_gap_ns);
    row->least_calls = first || watch->calls < row->least_calls ? watch->calls : row->least_calls;
    row->least_pods = first || watch->pods < row->least_pods ? watch->pods : row->least_pods;
    if (hit == REPORT_ALLOCATOR)
        return;
    report->violations += watch_violations(watch);
    report->popless += watch->pods == 0 && must_have_popped(options, watch->calls);
}

static void
sum_up(row_t *sum, const row_t *row)
{
    bool first = sum->freezes == 0;
    sum->freezes += row->freezes;
    sum->windows += row->windows;
    sum->counted += row->counted;
    sum->uncontrolled += row->uncontrolled;
    sum->starved += row->starved;
    sum->blocked += row->blocked;
    sum->spinning += row->spinning;
    sum->stuck += row->stuck;
    sum->others_gap_ns = greater(sum->others_gap_ns, row->others_gap_ns);
    sum->control_gap_ns = greater(sum->control_gap_ns, row->control_gap_ns);
    sum->least_calls =
        first || row->least_calls < sum->least_calls ? row->least_calls : sum->least_calls;
    sum->least_pods =
        first || row->least_pods < sum->least_pods ? row->least_pods : sum->least_pods;
}

static void
print_head(void)
{
    printf("%-17s %7s %7s %7s %7s %8s %6s %12s %7s %10s %11s %11s %10s\n", "stopped in", "freezes",
           "windows", "counted", "blocked", "spinning", "stuck", "uncontrolled", "starved",
           "gap ms", "control ms", "least calls", "least pops");
}

static void
print_row(const char *name, const row_t *row)
{
    printf("%-17s %7u %7u %7u %7u %8u %6u %12u %7u %10.2f %11.2f %11" PRIu64 " %10" PRIu64 "\n",
           name, row->freezes, row->windows, row->counted, row->blocked, row->spinning, row->stuck,
           row->uncontrolled, row->starved, (double)row->others_gap_ns / 1e6,
           (double)row->control_gap_ns / 1e6, row->least_calls, row->least_pods);
}

/* What the columns mean. */
static void
print_legend(void)
{
    printf("counted: windows in which the others got work done, or should have. Of those in which "
           "they did not, blocked and spinning ones are violations; uncontrolled: a control thread "
           "(%u cores) did not run; starved: the others waited for a core. stuck: single threads "
           "that completed no call in a freeze, a violation. gap, control: the longest time in a "
           "freeze in which the others got no work done, and in which a control thread did not "
           "read the clock. least: what the others did in one freeze\n",
           control_cores());
}

/* ---- what has to be seen ---- */

static bool
is_called(const options_t *options, unsigned call)
{
    return call == OP_DONE || call == OP_DONE_MANY || call == OP_FAIL || call == CALL_TIMER ||
           (call < OPS && options->weights[call] > 0);
}

unsigned
report_rarest(const report_t *report, const options_t *options)
{
    unsigned rarest = OP_DONE;
    for (unsigned call = OP_ADD; call < CALLS; call++) {
        if (is_called(options, call) && report->rows[call].freezes < report->rows[rarest].freezes)
            rarest = call;
    }
    return rarest;
}

/* Too little was seen for a verdict: that is said, and is a failure. */
static bool
saw_enough(const report_t *report, const options_t *options, const row_t *sum)
{
    unsigned rarest = report_rarest(report, options);
    unsigned wanted = sum->freezes * watch_wanted(options);
    bool stops = report->rows[rarest].freezes >= options->stops;
    printf("seen: %u windows that count, at least %u are wanted; %u stops in %s, the rarest call, "
           "at least %u are wanted\n",
           sum->counted, wanted, report->rows[rarest].freezes, call_name(rarest), options->stops);
    if (sum->counted < wanted || !stops)
        printf("TOO LITTLE WAS SEEN\n");
    return sum->counted >= wanted && stops;
}

bool
report_print(const report_t *report, const options_t *options)
{
    row_t sum = {0};
    unsigned inside = 0;
    print_head();
    for (unsigned i = 0; i <= CALLS; i++) {
        bool wanted = i != OP_NONE && i != REPORT_ALLOCATOR && is_called(options, i);
        if (report->rows[i].freezes == 0 && !wanted)
            continue;
        print_row(i == REPORT_ALLOCATOR ? "allocator" : call_name(i), &report->rows[i]);
        if (i == REPORT_ALLOCATOR)
            continue;
        sum_up(&sum, &report->rows[i]);
        inside += i != OP_NONE ? report->rows[i].freezes : 0;
    }
    print_row("together", &sum);
    print_legend();
    printf("stopped inside a call: %u of %u; allocations after the warm-up: %" PRIu64
           "; windows in the allocator's row do not count\n",
           inside, sum.freezes, report->allocations);
    printf("windows without progress: %u (blocked %u, spinning %u, stuck threads %u); freezes in "
           "which none popped: %u\n",
           report->violations, sum.blocked, sum.spinning, sum.stuck, report->popless);
    return saw_enough(report, options, &sum) && report->violations == 0 && report->popless == 0;
}
