/* Assertions that name what they compare. */
#include "expect.h"

#include <inttypes.h>
#include <string.h>

void
expect_status_at(schedq_status_t got, schedq_status_t expected, const char *call, const char *file,
                 int line)
{
    if (got == expected)
        return;
    print_error("%s\n  expected %s, got %s (%d)\n", call, schedq_status_name(expected),
                schedq_status_name(got), (int)got);
    _fail(file, line);
}

void
expect_place_at(unsigned got, schedq_place_t expected, const char *what, const char *file, int line)
{
    if (got == (unsigned)expected)
        return;
    print_error("%s\n  expected %s, got %s (%u)\n", what, schedq_place_name(expected),
                schedq_place_name((schedq_place_t)got), got);
    _fail(file, line);
}

void
expect_contains_at(const char *text, const char *part, const char *file, int line)
{
    if (text != NULL && strstr(text, part) != NULL)
        return;
    print_error("expected a text with \"%s\"\n  got \"%s\"\n", part,
                text != NULL ? text : "(null)");
    _fail(file, line);
}

void
expect_ns_at(int64_t got, int64_t expected, const char *what, const char *file, int line)
{
    if (got == expected)
        return;
    print_error("%s\n  expected %" PRId64 ", got %" PRId64 " (off by %" PRId64 ")\n", what,
                expected, got, got - expected);
    _fail(file, line);
}
