/*
 * The command schedq-cost: what --check says about files of figures, and what it says about bad
 * input. Nothing is measured: the figures come from files.
 *
 * COST_PROGRAM and WORK_DIRECTORY come from the build.
 */
#include "command.h"
#include "expect.h"

#include <stdio.h>
#include <string.h>

#define BUDGET WORK_DIRECTORY "/cost-budget.json"
#define NOW WORK_DIRECTORY "/cost-now.json"
#define COPY WORK_DIRECTORY "/cost-copy.json"

static int
run(const char *options)
{
    return command_run(COST_PROGRAM, options);
}

/* A file with the rows lockfree/add and mutex/add. */
static void
write_figures(const char *path, const char *compiler, double instructions, double transfers,
              double mutex)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file,
            "{\"compiler\": \"%s\", \"valgrind\": \"valgrind-3.19.0\", \"rows\": {"
            "\"lockfree/add\": {\"instructions\": %.2f, \"fences\": 1.0, \"transfers, 2 workers\": "
            "%.2f},"
            "\"mutex/add\": {\"instructions\": %.2f}}}\n",
            compiler, instructions, transfers, mutex);
    assert_int_equal(fclose(file), 0);
}

static int
check(void)
{
    return run("--from " NOW " --check " BUDGET);
}

static void
equal_figures_pass(void **state)
{
    (void)state;
    write_figures(BUDGET, "GNU 12.2.0", 1891, 3, 1352);
    write_figures(NOW, "GNU 12.2.0", 1891, 3, 1352);
    assert_int_equal(check(), 0);
    command_expect("2 rows compared");
    command_expect("0 figures rose");
}

static void
a_budget_lowered_by_hand_is_red_and_names_the_row(void **state)
{
    (void)state;
    write_figures(BUDGET, "GNU 12.2.0", 1800, 3, 1352);
    write_figures(NOW, "GNU 12.2.0", 1891, 3, 1352);
    assert_int_equal(check(), 1);
    command_expect("ROSE  lockfree/add");
    command_expect("instructions");
    command_expect("1800.00 before");
    command_expect("1891.00 now, +5.1 %");
    command_expect("1 figures rose");
}

static void
a_rise_of_transfers_is_red(void **state)
{
    (void)state;
    write_figures(BUDGET, "GNU 12.2.0", 1891, 3, 1352);
    write_figures(NOW, "GNU 12.2.0", 1891, 3.5, 1352);
    assert_int_equal(check(), 1);
    command_expect("ROSE  lockfree/add");
    command_expect("transfers, 2 workers");
}

static void
three_percent_are_let_pass_and_more_are_not(void **state)
{
    (void)state;
    write_figures(BUDGET, "GNU 12.2.0", 1000, 3, 1000);
    write_figures(NOW, "GNU 12.2.0", 1030, 3, 1029);
    assert_int_equal(check(), 0);
    write_figures(NOW, "GNU 12.2.0", 1031, 3, 1029);
    assert_int_equal(check(), 1);
}

static void
what_fell_is_said_and_passes(void **state)
{
    (void)state;
    write_figures(BUDGET, "GNU 12.2.0", 1891, 3, 1352);
    write_figures(NOW, "GNU 12.2.0", 500, 3, 1352);
    assert_int_equal(check(), 0);
    command_expect("fell  lockfree/add");
    command_expect("500.00 now, -73.6 %");
}

static void
another_compiler_gets_more_room_for_instructions_only(void **state)
{
    (void)state;
    write_figures(BUDGET, "GNU 12.2.0", 1000, 3, 1000);
    write_figures(NOW, "GNU 13.1.0", 1100, 3, 1000);
    assert_int_equal(check(), 0);
    command_expect("note: ");
    command_expect("GNU 13.1.0");
    write_figures(NOW, "GNU 13.1.0", 1100, 3.3, 1000);
    assert_int_equal(check(), 1);
    command_expect("transfers, 2 workers");
}

static void
a_row_that_is_lost_is_red(void **state)
{
    FILE *file = fopen(NOW, "w");
    (void)state;

    assert_non_null(file);
    fputs("{\"compiler\": \"GNU 12.2.0\", \"rows\": {\"mutex/add\": {\"instructions\": 1.0}, "
          "\"mutex/x\": {}}}",
          file);
    assert_int_equal(fclose(file), 0);
    write_figures(BUDGET, "GNU 12.2.0", 1000, 3, 1);
    assert_int_equal(check(), 1);
    command_expect("ROSE  lockfree/add");
    command_expect("was not measured");
    command_expect("new   mutex/x");
}

static void
what_is_written_can_be_checked(void **state)
{
    (void)state;
    write_figures(NOW, "GNU 12.2.0", 1891, 3, 1352);
    assert_int_equal(run("--from " NOW " --write " COPY), 0);
    command_expect("lock-free");
    command_expect("1891");
    assert_int_equal(run("--from " NOW " --check " COPY), 0);
    command_expect("0 figures rose");
    assert_int_equal(run("--from " COPY " --check " NOW), 0);
    command_expect("0 figures rose");
}

static void
bad_usage_is_named(void **state)
{
    (void)state;
    assert_int_equal(run("--check /no/such/file"), 2);
    command_expect("--check is \"/no/such/file\"");
    command_expect("files that --write wrote");
    assert_int_equal(run("--rows '['"), 2);
    command_expect("POSIX extended regular expressions");
    assert_int_equal(run("argument"), 2);
    command_expect("an argument is \"argument\": legal are options");
    assert_int_equal(run("--from " NOW " --write /no/such/directory/file"), 2);
    command_expect("files that can be written");
    assert_int_equal(run("--no-such-option"), 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_figures_pass),
        cmocka_unit_test(a_budget_lowered_by_hand_is_red_and_names_the_row),
        cmocka_unit_test(a_rise_of_transfers_is_red),
        cmocka_unit_test(three_percent_are_let_pass_and_more_are_not),
        cmocka_unit_test(what_fell_is_said_and_passes),
        cmocka_unit_test(another_compiler_gets_more_room_for_instructions_only),
        cmocka_unit_test(a_row_that_is_lost_is_red),
        cmocka_unit_test(what_is_written_can_be_checked),
        cmocka_unit_test(bad_usage_is_named),
    };
    return cmocka_run_group_tests_name("schedq-cost", tests, NULL, NULL);
}
