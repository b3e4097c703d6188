/* What the runner says about a vector that is malformed, or that the queue does not agree with. */
#ifndef CONFORM_REPORT_H
#define CONFORM_REPORT_H

/** Prints "FILE:LINE: " and the message. */
void report(const char *file, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Prints where `what` differs, and both sides of it. */
void report_difference(const char *file, unsigned line, const char *what, const char *expected,
                       const char *got);

#endif
