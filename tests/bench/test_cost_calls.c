/*
 * The reader of callgrind's files (bench/cost/calls.h): texts made by hand, whose functions, files
 * and hops are known.
 */
#include "calls.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#define TEXT WORK_DIRECTORY "/callgrind.out"

static void
expect(const char *text, unsigned files, unsigned functions, unsigned hops)
{
    struct calls calls;
    FILE *file = fopen(TEXT, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_true(calls_read(&calls, TEXT));
    assert_int_equal(calls.files, files);
    assert_int_equal(calls.functions, functions);
    assert_int_equal(calls.hops, hops);
}

#define HOST "fl=(1) /host/main.c\nfn=(1) main\n"

static void
a_function_counts_once_and_those_outside_do_not(void **state)
{
    (void)state;
    expect(HOST "cfl=(2) /s/engine/a.c\ncfn=(2) one\ncalls=1 1\n1 5\ncfl=(2)\ncfn=(2)\ncalls=3 1\n"
                "cfl=(3) /lib/b.c\ncfn=(3) two\ncalls=1 1\n1 5\n",
           1, 1, 0);
}

static void
a_call_into_another_source_file_is_a_hop_and_one_into_a_header_is_none(void **state)
{
    (void)state;
    expect(HOST
           "cfl=(2) /s/engine/a.c\ncfn=(2) one\ncalls=1 1\n1 5\n\nfl=(2)\nfn=(2)\n"
           "cfl=(3) /s/engine/b.c\ncfn=(3) two\ncalls=1 1\n1 5\n"
           "cfl=(4) /s/engine/c.h\ncfn=(4) three\ncalls=1 1\n1 5\ncfn=(5) four\ncalls=1 1\n1 5\n",
           2, 4, 1);
}

/* A call without "cfl=" from a line that another function gave is to that function's file. */
static void
a_callee_without_a_file_is_in_the_file_of_the_line(void **state)
{
    (void)state;
    expect(HOST "cfl=(2) /s/engine/a.c\ncfn=(2) one\ncalls=1 1\n1 5\n\nfl=(2)\nfn=(2)\n"
                "fi=(3) /s/engine/b.h\n7 1\ncfn=(3) two\ncalls=1 1\n1 5\ncfn=(3)\ncalls=1 1\n1 5\n"
                "fe=(2)\n8 1\ncfn=(4) three\ncalls=1 1\n1 5\ncfl=(3)\ncfn=(3)\ncalls=1 1\n1 5\n",
           1, 3, 0);
}

/* What the lines of a function before were of does not matter to the next one. */
static void
a_function_begins_in_its_own_file(void **state)
{
    (void)state;
    expect(HOST "cfl=(2) /s/engine/a.c\ncfn=(2) one\ncalls=1 1\n1 5\n\nfl=(2)\nfn=(2)\n"
                "fi=(3) /s/engine/b.h\n7 1\n\nfn=(3) two\ncfn=(2)\ncalls=1 1\n1 5\n",
           1, 1, 0);
}

static void
what_cannot_be_read_is_refused(void **state)
{
    struct calls calls;

    (void)state;
    assert_false(calls_read(&calls, WORK_DIRECTORY "/no such file"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_counts_once_and_those_outside_do_not),
        cmocka_unit_test(a_call_into_another_source_file_is_a_hop_and_one_into_a_header_is_none),
        cmocka_unit_test(a_callee_without_a_file_is_in_the_file_of_the_line),
        cmocka_unit_test(a_function_begins_in_its_own_file),
        cmocka_unit_test(what_cannot_be_read_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
