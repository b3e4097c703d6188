/* Prints to stdout, as all that the tool found out; stderr is for what kept it from finding out. */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>

#define PRINTED_PER_RULE 3

const char *
rule_name(rule_t rule)
{
    static const char *const names[RULES] = {[RULE_ONCE] = "exactly-once",
                                             [RULE_STATES] = "state-machine",
                                             [RULE_TOKENS] = "tokens",
                                             [RULE_ORDER] = "order",
                                             [RULE_EMPTY] = "empty",
                                             [RULE_WAKEUP] = "wake-up",
                                             [RULE_EVENTS] = "missed-event",
                                             [RULE_GATES] = "gates",
                                             [RULE_DUE] = "overdue",
                                             [RULE_CLOCK] = "timestamps",
                                             [RULE_COUNTERS] = "counters",
                                             [RULE_CLOSED] = "closed",
                                             [RULE_NOMINATIONS] = "nominations",
                                             [RULE_CAPS] = "caps",
                                             [RULE_LABELS] = "labels",
                                             [RULE_LINE] = "line",
                                             [RULE_OBJECTS] = "objects"};
    return names[rule];
}

bool
report_is_printing(const report_t *report, rule_t rule)
{
    return report->violations[rule] < PRINTED_PER_RULE;
}

void
report_violation(report_t *report, rule_t rule, const record_t *first, const record_t *second,
                 const char *format, ...)
{
    if (report_is_printing(report, rule)) {
        va_list arguments;
        va_start(arguments, format);
        printf("violation of %s in round %" PRIu64 " of seed %" PRIu64 ": ", rule_name(rule),
               report->round, report->seed);
        vprintf(format, arguments);
        printf("\n");
        va_end(arguments);
        if (first != NULL)
            record_print(report->book, first, stdout);
        if (second != NULL)
            record_print(report->book, second, stdout);
        printf("  again with: %s\n", report->again);
    }
    report->violations[rule]++;
}

uint64_t
report_sum(const report_t *report)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < RULES; i++)
        sum += report->violations[i];
    return sum;
}
