/* Jobs of SWF files, and nodes made from their headers. */
#include "files.h"

#include <stdio.h>

/* A job line: number, submit, run, allocated, requested, status, queue; the rest unknown. */
#define JOB(number, submit, run, allocated, requested, status, queue)                   \
    " " number " " submit " -1 " run " " allocated " -1 -1 " requested " -1 -1 " status \
    " 1 1 -1 " queue " -1 -1 -1\n"

static void
load_swf(loaded_t *loaded, const char *text, bool skip_bad)
{
    load_files(loaded, &(load_files_t){.pods = file_write("jobs.swf", text)}, skip_bad);
}

static void
expect_nodes(const char *text, size_t count, int64_t first_milli, int64_t last_milli)
{
    loaded_t loaded;

    load_swf(&loaded, text, false);
    assert_string_equal(loaded.complaints, "");
    assert_true(loaded.ok);
    assert_int_equal(loaded.workload.node_count, count);
    assert_int_equal(loaded.workload.nodes[0].cpu_milli, first_milli);
    assert_int_equal(loaded.workload.nodes[count - 1].cpu_milli, last_milli);
    loaded_free(&loaded);
}

static void
expect_bad(const char *text, const char *complaint)
{
    loaded_t loaded;
    char expected[512];

    load_swf(&loaded, text, false);
    assert_false(loaded.ok);
    snprintf(expected, sizeof expected, "%s%s\n", file_path("jobs.swf"), complaint);
    assert_string_equal(loaded.complaints, expected);
    loaded_free(&loaded);
}

static void
a_job_becomes_a_pod(void **state)
{
    loaded_t loaded;
    (void)state;
    load_swf(&loaded, "; Version: 2.2\n; MaxProcs: 8\n\n" JOB("7", "3", "61.5", "4", "6", "1", "2"),
             false);
    assert_true(loaded.ok);
    assert_int_equal(loaded.workload.pod_count, 1);
    const workload_pod_t *pod = &loaded.workload.pods[0];
    assert_string_equal(pod->name, "job-7");
    assert_int_equal(pod->arrival_ns, 3 * NS_PER_SECOND);
    assert_int_equal(pod->run_ns, INT64_C(61500000000));
    assert_int_equal(pod->cpu_milli, 4000);
    assert_int_equal(pod->memory_mib, 0);
    assert_int_equal(pod->gpus, 0);
    assert_string_equal(loaded.workload.classes.names[pod->qos], "queue-2");
    loaded_free(&loaded);
}

static void
unknown_values_have_stated_substitutes(void **state)
{
    loaded_t loaded;
    (void)state;
    load_swf(&loaded,
             "; MaxProcs: 8\n" JOB("1", "0", "-1", "-1", "6", "5", "-1")
                 JOB("2", "1", "5", "-1", "-1", "-1", "0"),
             false);
    assert_true(loaded.ok);
    const workload_pod_t *pods = loaded.workload.pods;
    assert_int_equal(pods[0].run_ns, 0);
    assert_int_equal(pods[0].cpu_milli, 6000);
    assert_string_equal(loaded.workload.classes.names[pods[0].qos], "none");
    assert_int_equal(pods[1].cpu_milli, 1000);
    assert_string_equal(loaded.workload.classes.names[pods[1].qos], "queue-0");
    loaded_free(&loaded);
}

static void
lines_of_partial_executions_are_passed_over(void **state)
{
    loaded_t loaded;
    (void)state;
    load_swf(&loaded,
             "; MaxProcs: 8\n" JOB("1", "0", "9", "1", "1", "1", "1")
                 JOB("1", "0", "4", "1", "1", "2", "1") JOB("1", "5", "5", "1", "1", "3", "1")
                     JOB("2", "6", "5", "1", "1", "0", "1"),
             false);
    assert_true(loaded.ok);
    assert_int_equal(loaded.workload.pod_count, 2);
    assert_int_equal(loaded.workload.pods[0].run_ns, 9 * NS_PER_SECOND);
    loaded_free(&loaded);
}

static void
nodes_share_the_processors_of_the_header(void **state)
{
    (void)state;
    expect_nodes("; MaxProcs: 130\n" JOB("1", "0", "9", "1", "1", "1", "1"), 3, 64000, 2000);
    expect_nodes(
        "; MaxProcs: 10\n; MaxNodes: 3 (of them 1 idle)\n" JOB("1", "0", "9", "1", "1", "1", "1"),
        3, 4000, 2000);
    expect_nodes(";MaxNodes: 3\n" JOB("1", "0", "9", "1", "1", "1", "1"), 3, 1000, 1000);
    expect_nodes("; MaxProcs: 16\n" JOB("1", "0", "9", "1", "1", "1", "1"), 1, 16000, 16000);
}

static void
the_widest_job_fits_on_a_node(void **state)
{
    (void)state;
    expect_nodes("; MaxProcs: 130\n; MaxNodes: 130\n" JOB("1", "0", "9", "100", "1", "1", "1"), 2,
                 100000, 30000);
    expect_nodes("; MaxProcs: 130\n" JOB("1", "0", "9", "200", "1", "1", "1"), 1, 200000, 200000);
}

static void
jobs_run_on_nodes_of_another_file_too(void **state)
{
    loaded_t loaded;
    (void)state;
    load_files_t files = {
        .pods = file_write_gzip("jobs.swf.gz", JOB("1", "0", "9", "1", "1", "1", "1")),
        .nodes = file_write("nodes.csv", "sn,cpu_milli,memory_mib\nn0,5,6\n"),
    };
    load_files(&loaded, &files, false);
    assert_true(loaded.ok);
    assert_int_equal(loaded.workload.pod_count, 1);
    assert_int_equal(loaded.workload.nodes[0].cpu_milli, 5);
    loaded_free(&loaded);
}

static void
broken_lines_are_told_with_line_column_and_legal_range(void **state)
{
    (void)state;
    expect_bad("; MaxProcs: 8\n" JOB("1", "-3", "9", "1", "1", "1", "1"),
               ":2: column 2 (submit time): value \"-3\", legal: a number from 0 to 1e18, or -1 "
               "for unknown");
    expect_bad("; MaxProcs: 8\n" JOB("1", "-1", "9", "1", "1", "1", "1"),
               ":2: column 2 (submit time): value \"-1\", legal: seconds from 0 to 4000000000, at "
               "most 9 decimals");
    expect_bad("; MaxProcs: 8\n" JOB("1", "0", "9", "1.5", "1", "1", "1"),
               ":2: column 5 (allocated processors): value \"1.5\", legal: a whole number from -1 "
               "to 1000000");
    expect_bad(
        "; MaxProcs: 8\n" JOB("1", "0", "9", "1", "1", "x", "1"),
        ":2: column 11 (status): value \"x\", legal: a number from 0 to 1e18, or -1 for unknown");
    expect_bad("; MaxProcs: 8\n1 2 3\n", ":2: value \"3 fields\", legal: 18 fields");
    expect_bad("; MaxProcs: 8\n" JOB("1", "0", "9", "1", "1", "1", "1")
                   JOB("1", "0", "9", "1", "1", "1", "1"),
               ":3: column 1 (job number): value \"job-1\", legal: a name that no other line has; "
               "line 2 has it");
    expect_bad("; MaxProcs: none\n" JOB("1", "0", "9", "1", "1", "1", "1"),
               ":1: value \"none\", legal: a whole number from 1 to 1000000 after \"MaxProcs:\"");
    expect_bad("; Version: 2.2\n" JOB("1", "0", "9", "1", "1", "1", "1"),
               ": the header states neither \"; MaxProcs: N\" nor \"; MaxNodes: N\" (1 to "
               "1000000), so no nodes can be made: "
               "give --nodes FILE");
}

static void
skip_bad_counts_broken_lines_and_goes_on(void **state)
{
    loaded_t loaded;
    (void)state;
    load_swf(&loaded,
             "; MaxProcs: 8\n1 2 3\n" JOB("1", "x", "9", "1", "1", "1", "1")
                 JOB("2", "0", "9", "1", "1", "1", "1"),
             true);
    assert_true(loaded.ok);
    assert_int_equal(loaded.bad_lines, 2);
    assert_int_equal(loaded.workload.pod_count, 1);
    loaded_free(&loaded);
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
        cmocka_unit_test(a_job_becomes_a_pod),
        cmocka_unit_test(unknown_values_have_stated_substitutes),
        cmocka_unit_test(lines_of_partial_executions_are_passed_over),
        cmocka_unit_test(nodes_share_the_processors_of_the_header),
        cmocka_unit_test(the_widest_job_fits_on_a_node),
        cmocka_unit_test(jobs_run_on_nodes_of_another_file_too),
        cmocka_unit_test(broken_lines_are_told_with_line_column_and_legal_range),
        cmocka_unit_test(skip_bad_counts_broken_lines_and_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
