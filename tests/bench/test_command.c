/*
 * The command schedq-bench: what it lists, what it writes, and what it says about bad input. What
 * it measures is not looked at: timing is never a test.
 *
 * BENCH_PROGRAM and WORK_DIRECTORY come from the build.
 */
#include "command.h"
#include "expect.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

static int
run(const char *options)
{
    return command_run(BENCH_PROGRAM, options);
}

static void
expect_refusal(const char *options, const char *value, const char *range)
{
    assert_int_equal(run(options), 2);
    command_expect(value);
    command_expect(range);
}

static void
bad_values_are_named_with_the_legal_range(void **state)
{
    (void)state;
    expect_refusal("--reps 0", "--reps is \"0\"", "legal are 1..1000");
    expect_refusal("--reps 1001", "--reps is \"1001\"", "legal are 1..1000");
    expect_refusal("--reps 3x", "--reps is \"3x\"", "legal are 1..1000");
    expect_refusal("--reps ''", "--reps is \"\"", "legal are 1..1000");
    expect_refusal("--reps ' 3'", "--reps is \" 3\"", "legal are 1..1000");
    expect_refusal("--seed -1", "--seed is \"-1\"", "legal are 0..18446744073709551615");
    expect_refusal("--seed 18446744073709551616", "--seed is \"18446744073709551616\"",
                   "legal are 0..18446744073709551615");
    expect_refusal("--suite nothing", "--suite is \"nothing\"",
                   "lifecycle, fill, steady, churn, event, inflight, storm, backoff, lateness, "
                   "memory, preemption, group, headline");
    expect_refusal("--filter '['", "--filter is \"[\"", "POSIX extended regular expressions");
    expect_refusal("--json /no/such/directory/file --filter '^fill/1t/1k$'",
                   "--json is \"/no/such/directory/file\"", "files that can be written");
}

static void
options_and_arguments_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    expect_refusal("--no-such-option", "no-such-option", "--help");
    expect_refusal("argument", "\"argument\"", "legal are options");
}

static void
a_selection_without_rows_is_refused(void **state)
{
    (void)state;
    expect_refusal("--filter no-such-row", "no row is selected", "--list");
    expect_refusal("--suite storm --filter lifecycle", "no row is selected", "--list");
}

static void
the_rows_that_always_exist_are_listed(void **state)
{
    (void)state;
    assert_int_equal(run("--list"), 0);
    command_expect("lifecycle/1t/100k\n");
    command_expect("lifecycle/2:2\n");
    command_expect("lifecycle/4:4\n");
    command_expect("wildcard/1M/100k\n");
}

static void
full_lists_more_rows_and_all_of_the_short_run(void **state)
{
    static char list[sizeof command_output];
    (void)state;
    assert_int_equal(run("--list"), 0);
    memcpy(list, command_output, sizeof list);
    assert_int_equal(run("--list --full"), 0);
    assert_true(strlen(command_output) > strlen(list));
    for (char *row = strtok(list, "\n"); row != NULL; row = strtok(NULL, "\n")) {
        char line[128];
        snprintf(line, sizeof line, "%s\n", row);
        command_expect(line);
    }
}

static void
a_filter_selects_single_values_of_a_row(void **state)
{
    (void)state;
    assert_int_equal(run("--list --filter 'storm.*p99$'"), 0);
    assert_string_equal(command_output, "storm/100k/pop-p99\n");
}

static void
a_suite_is_all_of_its_rows_and_no_others(void **state)
{
    (void)state;
    assert_int_equal(run("--list --suite steady"), 0);
    assert_string_equal(command_output, "steady/1:1\nsteady/2:2\n");
}

static unsigned
lines_of_output(void)
{
    unsigned lines = 0;

    for (const char *at = command_output; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    return lines;
}

static void
the_headline_is_53_rows_by_name(void **state)
{
    (void)state;
    assert_int_equal(run("--list --suite headline"), 0);
    assert_int_equal(lines_of_output(), 53);
    command_expect("lifecycle/4:4/best-rival\n");
    command_expect("pushpop/4:4/best-rival\n");
    command_expect("storm/1M/pop-p99.9/yielding\n");
    command_expect("event-to-pop/p99\n");
    command_expect("memory/bytes-per-pod\n");
    command_expect("preemption/usual/130k\n");
    assert_int_equal(run("--list --suite headline --filter '^replay/'"), 0);
    assert_string_equal(command_output, "replay/pressed\nreplay/tick\nreplay/pop\n"
                                        "replay/add_unschedulable\nreplay/move_all\n");
}

static void
the_rows_of_events_and_time_are_there(void **state)
{
    (void)state;
    assert_int_equal(run("--list --full --filter '1M-parked|1M-events|^lateness/.*p99$'"), 0);
    assert_string_equal(command_output, "event/none/1M-parked\n"
                                        "event/10/1M-parked\n"
                                        "event/1k/1M-parked\n"
                                        "event/100k/1M-parked\n"
                                        "inflight/1M-events/event\n"
                                        "inflight/1M-events/failure\n"
                                        "lateness/running/p99\n"
                                        "lateness/alone/p99\n"
                                        "lateness/frozen/p99\n");
}

static void
a_pod_in_flight_and_due_pods_are_measured(void **state)
{
    (void)state;
    assert_int_equal(run("--filter '^inflight/|^lateness/' --reps 1"), 0);
    command_expect("inflight/1M-events/failure");
    command_expect("inflight/1M-events: mutex grew by ");
    command_expect("lateness/running/p99");
    command_expect("lateness/frozen/p99");
}

/* A ratio may be rounded to 0 where the machine is busy. */
static void
expect_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    assert_true(json_is_real(value));
    assert_true(json_real_value(value) >= 0);
}

static void
a_run_writes_its_rows_as_json(void **state)
{
    const char *path = WORK_DIRECTORY "/bench-command.json";
    char options[512];
    (void)state;

    snprintf(options, sizeof options, "--filter '^fill/1t/1k$' --reps 1 --json %s", path);
    assert_int_equal(run(options), 0);
    command_expect("fill/1t/1k");
    command_expect("machine ");
    command_expect("commit ");
    json_t *rows = json_load_file(path, 0, NULL);
    assert_true(json_is_array(rows));
    assert_int_equal(json_array_size(rows), 1);
    const json_t *row = json_array_get(rows, 0);
    assert_string_equal(json_string_value(json_object_get(row, "row")), "fill/1t/1k");
    assert_string_equal(json_string_value(json_object_get(row, "unit")), "ns");
    assert_int_equal(json_integer_value(json_object_get(row, "reps")), 1);
    expect_number(row, "schedq");
    expect_number(row, "ratio");
    expect_number(row, "mutex");
    expect_number(row, "bare");
    expect_number(row, "min");
    expect_number(row, "max");
    json_decref(rows);
}

/* The row of that name in a file that the command wrote. */
static const json_t *
find_row(const json_t *rows, const char *name)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "row")), name) == 0) {
            return row;
        }
    }
    fail_msg("no row %s", name);
    return NULL;
}

/* A quick run may measure nothing on a busy machine: such a row is 0, and has no ratio. */
static void
expect_ratio(const json_t *row)
{
    if (json_is_null(json_object_get(row, "ratio"))) {
        assert_true(json_real_value(json_object_get(row, "schedq")) <= 0);
    } else {
        expect_number(row, "ratio");
    }
}

static void
expect_row(const json_t *rows, const char *name, const char *unit)
{
    const json_t *row = find_row(rows, name);

    assert_string_equal(json_string_value(json_object_get(row, "unit")), unit);
    expect_number(row, "schedq");
    expect_ratio(row);
    expect_number(json_object_get(json_object_get(row, "figures"), "schedq"), "median");
}

/* From the least to the greatest, by percent and by value. */
static void
expect_distribution(const json_t *points)
{
    double percent = -1;
    json_int_t ns = 0;
    const json_t *point;
    size_t i;

    assert_true(json_array_size(points) > 2);
    json_array_foreach(points, i, point)
    {
        assert_true(json_real_value(json_array_get(point, 0)) > percent);
        assert_true(json_integer_value(json_array_get(point, 1)) >= ns);
        percent = json_real_value(json_array_get(point, 0));
        ns = json_integer_value(json_array_get(point, 1));
    }
    assert_true(percent == 100);
}

/* The three curves of the page. */
static void
expect_distributions(const json_t *row)
{
    static const char *const names[] = {"schedq", "mutex", "yielding"};

    assert_true(json_is_true(json_object_get(row, "headline")));
    assert_string_equal(json_string_value(json_object_get(row, "ratio_of")), "mutex/schedq");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const json_t *figures = json_object_get(json_object_get(row, "figures"), names[i]);
        expect_distribution(json_object_get(figures, "distribution"));
    }
}

static void
expect_nothing_changed(const char *json)
{
    char options[1024];

    snprintf(options, sizeof options, "%s %s", json, json);
    assert_int_equal(command_run(BENCH_COMPARE, options), 0);
    command_expect(" figures in both: 0 worse, 0 better");
}

/* Well-formed, with each row and a plot of a distribution. */
static void
expect_page_of(const char *json)
{
    char options[1024];

    if (command_run("gnuplot", "--version") != 0) {
        return;
    }
    snprintf(options, sizeof options, "--bench %s --output %s", json,
             WORK_DIRECTORY "/bench-page.html");
    assert_int_equal(command_run(BENCH_PAGE, options), 0);
    assert_int_equal(command_run("python3", "-c 'import xml.etree.ElementTree as E; "
                                            "E.parse(\"" WORK_DIRECTORY "/bench-page.html\")'"),
                     0);
    assert_int_equal(command_run("grep",
                                 "-c '<th scope=\"row\">storm/100k/pop-p99.9</th>\\|"
                                 "A pop in the storm, 100,000 pods parked</h3>' " WORK_DIRECTORY
                                 "/bench-page.html"),
                     0);
    assert_string_equal(command_output, "2\n");
}

static void
the_page_refuses_what_is_no_result(void **state)
{
    (void)state;
    if (command_run("gnuplot", "--version") != 0) {
        skip();
    }
    assert_int_equal(command_run(BENCH_PAGE, ""), 2);
    command_expect("nothing to show: legal are --bench FILE and --replays FILE");
    assert_int_equal(command_run(BENCH_PAGE, "--bench /nowhere/x.json"), 2);
    command_expect("/nowhere/x.json: ");
    assert_int_equal(command_run(BENCH_PAGE, "--replays " WORK_DIRECTORY "/bench-old.json"), 2);
    command_expect("this is not what schedq-bench --json or schedq-replay --json wrote");
}

/* That both sides did the same work is checked by the command itself. */
static void
a_quick_run_of_the_headline_goes_through_every_kind_of_row(void **state)
{
    const char *path = WORK_DIRECTORY "/bench-headline.json";
    char options[512];
    (void)state;

    snprintf(options, sizeof options,
             "--suite headline --quick --json %s --filter "
             "'batch32|relaxed|rival|^(update/same|delete-add|failure|tick|event|candidates|apply)|"
             "^(replay|storm/(100k|10k-events)|priorities|wake|memory)|preemption/(worst|.*/10k)'",
             path);
    assert_int_equal(run(options), 0);
    json_t *rows = json_load_file(path, 0, NULL);
    assert_true(json_is_array(rows));
    expect_row(rows, "lifecycle/4:4/batch32", "ns");
    expect_row(rows, "lifecycle/4:4/best-rival", "ns");
    expect_row(rows, "pushpop/4:4/best-rival", "ns");
    assert_true(json_is_string(json_object_get(find_row(rows, "pushpop/4:4/best-rival"), "rival")));
    expect_row(rows, "event/skips/100k", "ns");
    expect_row(rows, "replay/pressed", "ns");
    expect_row(rows, "storm/100k/pop-p99.9/yielding", "ns");
    expect_row(rows, "storm/10k-events/add-p99.9", "ns");
    expect_row(rows, "event-to-pop/p99", "ns");
    expect_row(rows, "priorities/4096-vs-1", "ns");
    expect_row(rows, "wake/p99", "ns");
    expect_row(rows, "memory/bytes-per-pod", "B");
    expect_row(rows, "preemption/usual/10k", "ns");
    expect_number(find_row(rows, "preemption/usual/10k"), "bare_ratio");
    expect_distributions(find_row(rows, "storm/100k/pop-p99.9"));
    json_decref(rows);
    expect_nothing_changed(path);
    expect_page_of(path);
}

static void
the_other_suites_of_their_own_are_measured(void **state)
{
    (void)state;
    assert_int_equal(run("--quick --suite load --filter '^load/(ten|all)/1k|backoffs|frozen'"), 0);
    command_expect("load/frozen/1M/pop-p99.9");
    command_expect("load/backoffs/100k: schedq: ");
    assert_int_equal(run("--quick --suite transfer"), 0);
    command_expect("transfer/rmw");
    assert_int_equal(run("--quick --suite scaling --filter '/16t/1k'"), 0);
    command_expect("scaling/16t/1k");
    assert_int_equal(run("--quick --full --suite group"), 0);
    command_expect("group/512");
}

/* ---- what reads the results ------------------------------------------------------------------ */

static void
write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#define FIGURE(name, median, min, max) \
    "\"" name "\": {\"median\": " #median ", \"min\": " #min ", \"max\": " #max "}"
#define ROW(name, figures) "{\"row\": \"" name "\", \"unit\": \"ns\", \"figures\": {" figures "}}"

static void
compare_names_what_changed_beyond_the_noise(void **state)
{
    const char *old = WORK_DIRECTORY "/bench-old.json";
    const char *new = WORK_DIRECTORY "/bench-new.json";
    (void)state;

    write_file(
        old, "[" ROW("one", FIGURE("schedq", 100.0, 90.0, 110.0) ", " FIGURE(
                                "bare", 50.0, 49.0,
                                51.0)) ", " ROW("two",
                                                FIGURE("schedq", 100.0, 90.0,
                                                       110.0)) ", " ROW("three",
                                                                        FIGURE("mutex", 200.0,
                                                                               190.0, 210.0)) "]");
    write_file(
        new,
        "[" ROW("one", FIGURE("schedq", 120.0, 105.0, 130.0) ", " FIGURE(
                           "bare", 50.0, 49.0,
                           51.0)) ", " ROW("two", FIGURE("schedq", 80.0, 70.0,
                                                         85.0)) ", " ROW("three",
                                                                         FIGURE("mutex", 300.0,
                                                                                290.0, 310.0)) "]");
    assert_int_equal(command_run(BENCH_COMPARE, old), 2);
    assert_int_equal(command_run(BENCH_COMPARE, WORK_DIRECTORY "/bench-old.json " WORK_DIRECTORY
                                                               "/bench-old.json"),
                     0);
    command_expect("4 figures in both: 0 worse, 0 better");
    assert_int_equal(command_run(BENCH_COMPARE, WORK_DIRECTORY "/bench-old.json " WORK_DIRECTORY
                                                               "/bench-new.json"),
                     1);
    command_expect("4 figures in both: 1 worse, 1 better");
    command_expect("worse:\n  three");
    command_expect("better:\n  two");
}

static void
write_measured(const char *path, const char *const *names, size_t count)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (size_t i = 0; i < count; i++) {
        fprintf(file,
                "%s{\"row\": \"%s\", \"unit\": \"ns\", \"schedq\": 1250.0, \"mutex\": 2500.0, "
                "\"bare\": null, \"ratio\": 2.0, \"ratio_of\": \"mutex/schedq\", "
                "\"bare_ratio\": null, \"control\": 606.0, "
                "\"figures\": {" FIGURE("schedq", 1250.0, 1000.0, 1500.0) "}}",
                i == 0 ? "[" : ", ", names[i]);
    }
    fputs("]\n", file);
    assert_int_equal(fclose(file), 0);
}

static void
figures_are_tables_of_the_headline_rows(void **state)
{
    static const char *const names[] = {"event/none/1M",  "storm/100k/pop-p99.9",
                                        "lifecycle/2:2",  "lifecycle/1t/1k",
                                        "replay/pressed", "lifecycle/8t/100k"};
    const char *json = WORK_DIRECTORY "/bench-figures.json";
    const char *text = WORK_DIRECTORY "/bench-figures.txt";
    char files[512];
    (void)state;

    snprintf(files, sizeof files, "%s %s", json, text);
    write_file(text, "machine   two cores\ncommit    c0ffee\ncompiler  gcc 12\n"
                     "date      2026-01-02 03:04 UTC\nothers    0.0 cores busy\n"
                     "run       6 rows, 7 repetitions, seed 1\n");
    write_measured(json, names, sizeof names / sizeof names[0]);
    assert_int_equal(command_run(BENCH_FIGURES, files), 0);
    command_expect("| `event/none/1M` | 1.25 µs | 1.00 µs .. 1.50 µs | 2.50 µs | - | 2.00 | "
                   "mutex/schedq | - | clock alone 606 ns |");
    command_expect("two cores; commit c0ffee; 2026-01-02; medians of at most 7 repetitions:");
    write_measured(json, names, 1);
    assert_int_equal(command_run(BENCH_FIGURES, files), 1);
    command_expect("the run has no row storm/100k/pop-p99.9");
}

static void
scaling_computes_from_counts_and_times(void **state)
{
    (void)state;
    write_file(
        WORK_DIRECTORY "/bench-scaling.json",
        "[" ROW(
            "scaling/1t/1k",
            FIGURE("schedq", 300, 300, 300) ", " FIGURE("mutex", 250, 250, 250) ", " FIGURE(
                "bare", 200, 200,
                200)) ", " ROW("scaling/1t/100k",
                               FIGURE("schedq", 400, 400, 400) ", " FIGURE(
                                   "mutex", 500, 500,
                                   500) ", " FIGURE("bare", 300, 300,
                                                    300)) ", " ROW("transfer/store",
                                                                   FIGURE(
                                                                       "base", 50, 50,
                                                                       50)) ", " ROW("transfer/rmw",
                                                                                     FIGURE(
                                                                                         "base", 60,
                                                                                         60,
                                                                                         60)) "]");
    assert_int_equal(command_run(BENCH_SCALING, WORK_DIRECTORY "/bench-scaling.json"), 0);
    command_expect("One transfer is 50 ns (with a locked instruction 60).");
    /* One worker makes no transfers: 1 / 400 ns; the mutex engine never does more than 1 / 500. */
    command_expect("| strict order, 100,000 pending | 2.50 |");
    command_expect("| 2.00 |\n");
    write_file(WORK_DIRECTORY "/bench-scaling.json", "[]");
    assert_int_equal(command_run(BENCH_SCALING, WORK_DIRECTORY "/bench-scaling.json"), 1);
    command_expect("schedq-bench has no");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_values_are_named_with_the_legal_range),
        cmocka_unit_test(options_and_arguments_that_do_not_exist_are_refused),
        cmocka_unit_test(a_selection_without_rows_is_refused),
        cmocka_unit_test(the_rows_that_always_exist_are_listed),
        cmocka_unit_test(full_lists_more_rows_and_all_of_the_short_run),
        cmocka_unit_test(a_filter_selects_single_values_of_a_row),
        cmocka_unit_test(a_suite_is_all_of_its_rows_and_no_others),
        cmocka_unit_test(the_headline_is_53_rows_by_name),
        cmocka_unit_test(the_rows_of_events_and_time_are_there),
        cmocka_unit_test(a_pod_in_flight_and_due_pods_are_measured),
        cmocka_unit_test(a_run_writes_its_rows_as_json),
        cmocka_unit_test(a_quick_run_of_the_headline_goes_through_every_kind_of_row),
        cmocka_unit_test(the_other_suites_of_their_own_are_measured),
        cmocka_unit_test(compare_names_what_changed_beyond_the_noise),
        cmocka_unit_test(figures_are_tables_of_the_headline_rows),
        cmocka_unit_test(the_page_refuses_what_is_no_result),
        cmocka_unit_test(scaling_computes_from_counts_and_times),
    };
    return cmocka_run_group_tests_name("schedq-bench", tests, NULL, NULL);
}
