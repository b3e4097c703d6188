/* Pods and nodes from CSV files: columns by name, legal ranges, broken lines. */
#include "files.h"

#include <string.h>

#define POD_HEADER                                                                               \
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_" \
    "time,scheduled_time\n"
#define NODE_HEADER "sn,cpu_milli,memory_mib,gpu,model\n"
#define ONE_NODE NODE_HEADER "n0,32000,262144,8,T4\n"
#define ONE_POD POD_HEADER "p0,1000,512,1,460,,LS,Running,10,30,12\n"

static void
load_text(loaded_t *loaded, const char *pods, const char *nodes, bool skip_bad)
{
    load_files_t files = {.pods = file_write("pods.csv", pods),
                          .nodes = file_write("nodes.csv", nodes)};

    load_files(loaded, &files, skip_bad);
}

/* Loads pods that are wrong in one way; `complaint` is the end of the only message. */
static void
expect_bad_pods(const char *pods, const char *complaint)
{
    loaded_t loaded;
    char expected[512];

    load_text(&loaded, pods, ONE_NODE, false);
    assert_false(loaded.ok);
    snprintf(expected, sizeof expected, "%s%s\n", file_path("pods.csv"), complaint);
    assert_string_equal(loaded.complaints, expected);
    loaded_free(&loaded);
}

static void
a_pod_has_what_its_columns_say(void **state)
{
    loaded_t loaded;
    (void)state;
    load_text(&loaded, POD_HEADER "p0,6000,12288,1,460,G2|T4,LS,Running,10,30,12\n", ONE_NODE,
              false);
    assert_true(loaded.ok);
    assert_int_equal(loaded.workload.pod_count, 1);
    const workload_pod_t *pod = &loaded.workload.pods[0];
    assert_string_equal(pod->name, "p0");
    assert_int_equal(pod->cpu_milli, 6000);
    assert_int_equal(pod->memory_mib, 12288);
    assert_int_equal(pod->gpus, 1);
    assert_int_equal(pod->gpu_milli, 460);
    assert_int_equal(pod->arrival_ns, 10 * NS_PER_SECOND);
    assert_int_equal(pod->run_ns, 18 * NS_PER_SECOND);
    assert_string_equal(loaded.workload.classes.names[pod->qos], "LS");
    const workload_node_t *node = &loaded.workload.nodes[0];
    assert_string_equal(node->name, "n0");
    assert_int_equal(node->gpus, 8);
    assert_int_equal(node->cpu_milli, 32000);
    assert_int_equal(node->memory_mib, 262144);
    assert_true((pod->models & node->model) != 0);
    assert_int_equal(__builtin_popcountll(pod->models), 2);
    loaded_free(&loaded);
}

static void
columns_are_found_by_name_in_any_order(void **state)
{
    loaded_t loaded;
    (void)state;
    load_text(&loaded,
              "deletion_time,extra,qos,memory_mib,name,creation_time,cpu_milli\n"
              "25,\"x,y\",BE,7,\"quoted\",5,3\n",
              "gpu,sn,memory_mib,cpu_milli\n2,n0,100,200\n", false);
    assert_true(loaded.ok);
    const workload_pod_t *pod = &loaded.workload.pods[0];
    assert_string_equal(pod->name, "quoted");
    assert_int_equal(pod->cpu_milli, 3);
    assert_int_equal(pod->memory_mib, 7);
    assert_int_equal(pod->gpus, 0);
    assert_int_equal(pod->run_ns, 20 * NS_PER_SECOND);
    assert_int_equal(loaded.workload.nodes[0].cpu_milli, 200);
    assert_int_equal(loaded.workload.nodes[0].gpus, 2);
    loaded_free(&loaded);
}

static void
a_pod_that_was_never_scheduled_runs_from_its_creation(void **state)
{
    loaded_t loaded;
    (void)state;
    load_text(&loaded, POD_HEADER "p0,1,1,0,0,,LS,Pending,10,30,\n", ONE_NODE, false);
    assert_true(loaded.ok);
    assert_int_equal(loaded.workload.pods[0].run_ns, 20 * NS_PER_SECOND);
    loaded_free(&loaded);
}

static void
decimals_of_seconds_are_kept(void **state)
{
    loaded_t loaded;
    (void)state;
    load_text(&loaded, POD_HEADER "p0,1,1,0,0,,LS,Running,10.5,30.000000001,10.5\n", ONE_NODE,
              false);
    assert_true(loaded.ok);
    assert_int_equal(loaded.workload.pods[0].arrival_ns, INT64_C(10500000000));
    assert_int_equal(loaded.workload.pods[0].run_ns, INT64_C(19500000001));
    loaded_free(&loaded);
}

static void
pods_are_sorted_by_arrival_and_keep_the_files_order_among_equals(void **state)
{
    loaded_t loaded;
    (void)state;
    load_text(&loaded,
              POD_HEADER "late,1,1,0,0,,LS,Running,20,30,20\n"
                         "first,1,1,0,0,,LS,Running,10,30,10\n"
                         "second,1,1,0,0,,LS,Running,10,30,10\n",
              ONE_NODE, false);
    assert_true(loaded.ok);
    assert_string_equal(loaded.workload.pods[0].name, "first");
    assert_string_equal(loaded.workload.pods[1].name, "second");
    assert_string_equal(loaded.workload.pods[2].name, "late");
    loaded_free(&loaded);
}

static void
gzip_is_found_by_content(void **state)
{
    loaded_t loaded;
    (void)state;
    load_files_t files = {.pods = file_write_gzip("pods.csv", ONE_POD),
                          .nodes = file_write_gzip("nodes.csv", ONE_NODE)};
    load_files(&loaded, &files, false);
    assert_true(loaded.ok);
    assert_int_equal(loaded.workload.pod_count, 1);
    loaded_free(&loaded);
}

static void
a_broken_value_is_told_with_line_column_and_legal_range(void **state)
{
    (void)state;
    expect_bad_pods(
        ONE_POD "p1,12x,512,0,0,,LS,Running,10,30,12\n",
        ":3: column 2 (cpu_milli): value \"12x\", legal: a whole number from 0 to 1000000000");
    expect_bad_pods(
        ONE_POD "p1,1,-1,0,0,,LS,Running,10,30,12\n",
        ":3: column 3 (memory_mib): value \"-1\", legal: a whole number from 0 to 1000000000000");
    expect_bad_pods(ONE_POD "p1,1,1,65,0,,LS,Running,10,30,12\n",
                    ":3: column 4 (num_gpu): value \"65\", legal: a whole number from 0 to 64");
    expect_bad_pods(
        ONE_POD "p1,1,1,1,1001,,LS,Running,10,30,12\n",
        ":3: column 5 (gpu_milli): value \"1001\", legal: a whole number from 1 to 1000");
    expect_bad_pods(ONE_POD "p1,1,1,1,1,,LS,Running,1e3,30,12\n",
                    ":3: column 9 (creation_time): value \"1e3\", legal: seconds from 0 to "
                    "4000000000, at most 9 decimals, or ISO 8601 from 1970-01-01T00:00:00Z to "
                    "2096-10-02T07:06:40Z");
    expect_bad_pods(ONE_POD "p1,1,1,1,1,,LS,Running,10,,12\n",
                    ":3: column 10 (deletion_time): value \"\", legal: seconds from 0 to "
                    "4000000000, at most 9 decimals, or ISO 8601 from 1970-01-01T00:00:00Z to "
                    "2096-10-02T07:06:40Z");
}

static void
times_must_not_run_backwards(void **state)
{
    (void)state;
    expect_bad_pods(ONE_POD "p1,1,1,1,1,,LS,Running,10,30,9\n",
                    ":3: column 11 (scheduled_time): value \"9\", legal: seconds from 10 to "
                    "4000000000: not before creation_time");
    expect_bad_pods(ONE_POD "p1,1,1,1,1,,LS,Running,10,11,12\n",
                    ":3: column 10 (deletion_time): value \"11\", legal: seconds from 12 to "
                    "4000000000: not before the "
                    "pod started");
}

static void
times_are_seconds_or_dates(void **state)
{
    loaded_t loaded;
    (void)state;
    load_files_t files = {.pods = file_write("pods.csv",
                                             ONE_POD "p1,1,1,0,0,,LS,Running,2023-05-02 04:00:00,"
                                                     "1683000030.5,2023-05-02T06:00:10+02:00\n"),
                          .nodes = file_write("nodes.csv", ONE_NODE)};
    load_files(&loaded, &files, false);
    assert_string_equal(loaded.complaints, "");
    assert_int_equal(loaded.workload.pods[1].arrival_ns, 1683000000 * NS_PER_SECOND);
    assert_int_equal(loaded.workload.pods[1].run_ns, NS_PER_SECOND * 41 / 2);
    loaded_free(&loaded);
    expect_bad_pods(ONE_POD "p1,1,1,1,1,,LS,Running,1683000000.25,2023-05-02T04:00:00Z,\n",
                    ":3: column 10 (deletion_time): value \"2023-05-02T04:00:00Z\", legal: seconds "
                    "from 1683000000.25 to 4000000000: not before the pod started");
}

static void
names_must_be_legal_and_unique(void **state)
{
    (void)state;
    expect_bad_pods(ONE_POD "a/b,1,1,1,1,,LS,Running,10,30,12\n",
                    ":3: column 1 (name): value \"a/b\", legal: a name of 1 to 253 bytes without "
                    "'/', '|', blanks and "
                    "control characters");
    expect_bad_pods(ONE_POD ",1,1,1,1,,LS,Running,10,30,12\n",
                    ":3: column 1 (name): value \"\", legal: a name of 1 to 253 bytes without '/', "
                    "'|', blanks and "
                    "control characters");
    expect_bad_pods(
        ONE_POD "p0,1,1,1,1,,LS,Running,10,30,12\n",
        ":3: column 1 (name): value \"p0\", legal: a name that no other line has; line 2 has it");
}

static void
a_line_of_another_length_is_told(void **state)
{
    (void)state;
    expect_bad_pods(ONE_POD "p1,1,1\n",
                    ":3: value \"3 columns\", legal: 11 columns, as the header has");
}

static void
a_header_without_a_needed_column_is_told(void **state)
{
    (void)state;
    expect_bad_pods("name,cpu_milli\np0,1\n",
                    ":1: the header has no column \"memory_mib\"; needed are name, cpu_milli, "
                    "memory_mib, creation_time, deletion_time");
    expect_bad_pods("name,cpu_milli,name,memory_mib,creation_time,deletion_time\n",
                    ":1: column 3: value \"name\", legal: a name that no other column has");
    expect_bad_pods("", ": empty; a CSV file begins with a line of column names");
}

static void
skip_bad_counts_broken_lines_and_goes_on(void **state)
{
    loaded_t loaded;
    (void)state;
    load_text(&loaded,
              ONE_POD "p1,x,1,0,0,,LS,Running,10,30,12\n"
                      "p2,1,1\n"
                      "p3,1,\"1,0,0,,LS,Running,10,30,12\n"
                      "p4,1,1,0,0,,LS,Running,10,30,12\n"
                      "p0,1,1,0,0,,LS,Running,10,30,12\n",
              NODE_HEADER "n0,1,1,0,\nn1,many,1,0,\n", true);
    assert_true(loaded.ok);
    assert_int_equal(loaded.bad_lines, 5);
    assert_int_equal(loaded.workload.pod_count, 2);
    assert_string_equal(loaded.workload.pods[1].name, "p4");
    assert_int_equal(loaded.workload.node_count, 1);
    assert_contains(loaded.complaints, "skipped: ");
    assert_contains(loaded.complaints, "nodes.csv:3: column 2 (cpu_milli): value \"many\"");
    loaded_free(&loaded);
}

static void
a_name_of_a_broken_line_may_be_used_again(void **state)
{
    loaded_t loaded;
    (void)state;
    load_text(&loaded, ONE_POD "p1,x,1,0,0,,LS,Running,10,30,12\np1,1,1,0,0,,LS,Running,10,30,12\n",
              ONE_NODE, true);
    assert_true(loaded.ok);
    assert_int_equal(loaded.bad_lines, 1);
    assert_int_equal(loaded.workload.pod_count, 2);
    loaded_free(&loaded);
}

static void
a_file_without_any_legal_line_is_an_error_even_with_skip_bad(void **state)
{
    loaded_t loaded;
    (void)state;
    load_text(&loaded, POD_HEADER "p1,x,1,0,0,,LS,Running,10,30,12\n", ONE_NODE, true);
    assert_false(loaded.ok);
    assert_contains(loaded.complaints, "pods.csv: 0 pods, legal: at least 1");
    loaded_free(&loaded);
    load_text(&loaded, ONE_POD, NODE_HEADER, true);
    assert_false(loaded.ok);
    assert_contains(loaded.complaints, "nodes.csv: 0 nodes, legal: at least 1");
    loaded_free(&loaded);
}

static void
files_that_cannot_be_read_are_named(void **state)
{
    loaded_t loaded;
    (void)state;
    load_files(&loaded, &(load_files_t){.pods = "/nowhere/pods.csv", .nodes = "/nowhere/nodes.csv"},
               true);
    assert_false(loaded.ok);
    assert_string_equal(loaded.complaints,
                        "/nowhere/pods.csv: cannot open: No such file or directory\n");
    loaded_free(&loaded);
    load_files(&loaded, &(load_files_t){.pods = file_write("pods.csv", ONE_POD)}, true);
    assert_false(loaded.ok);
    assert_contains(loaded.complaints, "give --nodes FILE");
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
        cmocka_unit_test(a_pod_has_what_its_columns_say),
        cmocka_unit_test(columns_are_found_by_name_in_any_order),
        cmocka_unit_test(a_pod_that_was_never_scheduled_runs_from_its_creation),
        cmocka_unit_test(decimals_of_seconds_are_kept),
        cmocka_unit_test(pods_are_sorted_by_arrival_and_keep_the_files_order_among_equals),
        cmocka_unit_test(gzip_is_found_by_content),
        cmocka_unit_test(a_broken_value_is_told_with_line_column_and_legal_range),
        cmocka_unit_test(times_must_not_run_backwards),
        cmocka_unit_test(times_are_seconds_or_dates),
        cmocka_unit_test(names_must_be_legal_and_unique),
        cmocka_unit_test(a_line_of_another_length_is_told),
        cmocka_unit_test(a_header_without_a_needed_column_is_told),
        cmocka_unit_test(skip_bad_counts_broken_lines_and_goes_on),
        cmocka_unit_test(a_name_of_a_broken_line_may_be_used_again),
        cmocka_unit_test(a_file_without_any_legal_line_is_an_error_even_with_skip_bad),
        cmocka_unit_test(files_that_cannot_be_read_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
