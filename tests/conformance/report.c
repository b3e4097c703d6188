/*
 * Messages go to standard output: they are the runner's result, in the order of the files. What is
 * found after the runner was interrupted is not one: its driver was ended.
 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>

#include "support/interrupt.h"

void
report(const char *file, unsigned line, const char *format, ...)
{
    va_list arguments;

    if (interrupt_came()) {
        return;
    }
    printf("%s:%u: ", file, line);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

void
report_difference(const char *file, unsigned line, const char *what, const char *expected,
                  const char *got)
{
    if (interrupt_came()) {
        return;
    }
    report(file, line, "%s", what);
    printf("    expected: %s\n    got:      %s\n", expected, got);
}
