/*
 * The page of schedq-replay --report: well-formed, with the figures of the text, whole or not at
 * all.
 */
#include "command.h"
#include "files.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static char page[1 << 19];

/* A few pods that have to wait for each other, with preemption or without. */
static const char *
arguments(const char *more)
{
    static char text[4096];
    const char *trace =
        file_write("t.trace", "schedq-trace 1\nn a 0 1000 10 0 -\np x 0 100 1000 10 0 0 LS -\n"
                              "p y 1 7 1000 10 0 0 BE -\np z 2 90 500 10 0 0 none -\nend 1 3\n");

    snprintf(text, sizeof text, "--trace %s %s", trace, more);
    return text;
}

static void
read_page(const char *path)
{
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    size_t size = fread(page, 1, sizeof page - 1, file);
    assert_true(size > 0 && size < sizeof page - 1);
    page[size] = '\0';
    assert_int_equal(fclose(file), 0);
}

static bool
has_gnuplot(void)
{
    return command_run("gnuplot", "--version") == 0;
}

static void
expect_cell(const char *format, double value)
{
    char cell[64];

    snprintf(cell, sizeof cell, format, value);
    assert_contains(page, cell);
}

static void
expect_whole_cell(const json_t *object, const char *name)
{
    char digits[32];
    char cell[64];

    assert_true(json_is_integer(json_object_get(object, name)));
    snprintf(digits, sizeof digits, "%lld",
             (long long)json_integer_value(json_object_get(object, name)));
    size_t length = strlen(digits);
    size_t at = (size_t)snprintf(cell, sizeof cell, "<td>");
    for (size_t i = 0; i < length; i++) {
        cell[at++] = digits[i];
        if ((length - i) % 3 == 1 && i + 1 < length) {
            cell[at++] = ',';
        }
    }
    snprintf(cell + at, sizeof cell - at, "</td>");
    assert_contains(page, cell);
}

/* What the text shows of a run is in the JSON too (test_tools.c): the page has to have it. */
static void
expect_figures(const json_t *result)
{
    const char *name;
    json_t *row;

    assert_contains(page, json_string_value(json_object_get(result, "digest")));
    expect_cell("<td>%.3f</td>", json_real_value(json_object_get(result, "wall_seconds")));
    expect_cell("<dd>%.3f s</dd>", json_real_value(json_object_get(result, "virtual_seconds")));
    json_object_foreach(json_object_get(result, "operations"), name, row)
    {
        expect_whole_cell(row, "count");
        expect_whole_cell(row, "p50_ns");
        expect_whole_cell(row, "p99_ns");
        expect_whole_cell(row, "p999_ns");
        expect_whole_cell(row, "max_ns");
    }
    json_object_foreach(json_object_get(result, "wait"), name, row)
    {
        assert_contains(page, name);
        expect_whole_cell(row, "pods");
        expect_whole_cell(row, "evictions");
        expect_cell("<td>%.3f</td>", json_real_value(json_object_get(row, "p50_seconds")));
        expect_cell("<td>%.3f</td>", json_real_value(json_object_get(row, "max_seconds")));
    }
}

static void
expect_well_formed(const char *path)
{
    char command[512];

    snprintf(command, sizeof command, "-c 'import xml.etree.ElementTree as E; E.parse(\"%s\")'",
             path);
    if (command_run("python3", command) != 0) {
        fail_msg("%s is not well-formed: %s", path, command_output);
    }
}

static void
the_page_has_the_figures_of_the_text(void **state)
{
    static const char *const bundled = "--trace " BUNDLED_TRACE " --nodes-fraction 0.02";
    const char *path = file_path("page.html");
    const char *json = file_path("result.json");
    (void)state;

    if (!has_gnuplot()) {
        skip();
    }
    for (int i = 0; i < 2; i++) {
        char more[8192];

        snprintf(more, sizeof more, "%s --report %s --json %s",
                 i == 0 ? bundled : arguments("--preemption kube-1.34"), path, json);
        assert_int_equal(command_run(SCHEDQ_REPLAY, more), 0);
        command_expect("\ndigest ");
        read_page(path);
        expect_well_formed(path);
        json_t *result = json_load_file(json, 0, NULL);
        assert_non_null(result);
        expect_figures(result);
        json_decref(result);
    }
    assert_contains(page, "kube-1.34");
    assert_contains(page, "Waits without preemption");
    assert_contains(page, ">lock-free<");
    assert_contains(page, ">mutex<");
    assert_contains(page, "Attempts by cause");
    assert_contains(page, "prefers-color-scheme: dark");
    assert_contains(page, "width=device-width");
}

static void
the_page_needs_nothing_else(void **state)
{
    static const char *const needs[] = {"<script", "<link", "<img", "<iframe", " src=", "url("};
    (void)state;
    if (!has_gnuplot()) {
        skip();
    }
    read_page(file_path("page.html"));
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (strstr(page, needs[i]) != NULL) {
            fail_msg("the page has %s", needs[i]);
        }
    }
}

static void
what_is_missing_is_said_and_the_last_page_stays(void **state)
{
    const char *path = file_write("page.html", "the last page\n");
    char more[512];
    char command[8192];
    (void)state;

    snprintf(more, sizeof more, "--report %s", path);
    snprintf(command, sizeof command, "PATH=/nowhere %s %s", SCHEDQ_REPLAY, arguments(more));
    assert_int_equal(command_run("env", command), 1);
    command_expect("--report needs python3 and gnuplot, and one is missing: apt-get install");
    read_page(path);
    assert_string_equal(page, "the last page\n");
}

/* As `cmake --install` lays them out: the program in bin, the script in share/schedq/report. */
static void
an_installed_program_finds_the_installed_script(void **state)
{
    static const char lay_out[] =
        "-c 'mkdir -p %s/bin %s/share/schedq/report && cp %s %s/bin/schedq-replay && "
        "printf \"#!/bin/sh\\necho the installed script\\n\" >%s/share/schedq/report/page && "
        "chmod +x %s/share/schedq/report/page'";
    const char *path = file_write("installed.html", "the last page\n");
    char root[512], program[600], more[600], command[8192];
    (void)state;

    snprintf(root, sizeof root, "%s", file_path("root"));
    snprintf(command, sizeof command, lay_out, root, root, SCHEDQ_REPLAY, root, root, root);
    assert_int_equal(command_run("sh", command), 0);
    snprintf(program, sizeof program, "%s/bin/schedq-replay", root);
    snprintf(more, sizeof more, "--report %s", path);
    assert_int_equal(command_run(program, arguments(more)), 0);
    read_page(path);
    assert_string_equal(page, "the installed script\n");
    snprintf(command, sizeof command, "-r %s", root);
    assert_int_equal(command_run("rm", command), 0);
}

static void
a_plot_that_fails_is_said_and_the_last_page_stays(void **state)
{
    const char *path = file_write("page.html", "the last page\n");
    const char *gnuplot = file_write("gnuplot", "#!/bin/sh\necho broken >&2\nexit 1\n");
    char more[512];
    char command[8192];
    (void)state;

    assert_int_equal(command_run("chmod +x", gnuplot), 0);
    snprintf(more, sizeof more, "--report %s", path);
    snprintf(command, sizeof command, "PATH=\"$(dirname %s):$PATH\" %s %s", gnuplot, SCHEDQ_REPLAY,
             arguments(more));
    assert_int_equal(command_run("env", command), 1);
    command_expect("gnuplot failed: broken");
    read_page(path);
    assert_string_equal(page, "the last page\n");
}

static void
a_page_that_cannot_be_written_costs_no_replay(void **state)
{
    (void)state;
    assert_int_equal(command_run(SCHEDQ_REPLAY, arguments("--report /nowhere/page.html")), 2);
    command_expect("--report is \"/nowhere/page.html\": legal are files that can be written");
    assert_null(strstr(command_output, "digest"));
    assert_int_equal(command_run(SCHEDQ_REPLAY, arguments("--report /tmp")), 2);
    command_expect("--report is \"/tmp\": legal are files that can be written (Is a directory)");
    assert_int_equal(command_run(SCHEDQ_REPLAY, arguments("--json /nowhere/x.json")), 2);
    command_expect("--json is \"/nowhere/x.json\": legal are files that can be written");
}

static int
remove_files(void **state)
{
    (void)state;
    files_remove();
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_has_the_figures_of_the_text),
        cmocka_unit_test(the_page_needs_nothing_else),
        cmocka_unit_test(what_is_missing_is_said_and_the_last_page_stays),
        cmocka_unit_test(an_installed_program_finds_the_installed_script),
        cmocka_unit_test(a_plot_that_fails_is_said_and_the_last_page_stays),
        cmocka_unit_test(a_page_that_cannot_be_written_costs_no_replay),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
