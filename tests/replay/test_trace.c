/* The trace format: what is written is read back, and broken files are told. */
#include "files.h"

#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define NODE "n node-a 0 32000 1024 2 T4\n"
#define POD "p pod-a 10 5.25 1000 64 1 460 LS T4|G2\n"

static void
load_trace(loaded_t *loaded, const char *text, bool skip_bad)
{
    load_files(loaded, &(load_files_t){.trace = file_write("t.trace", text)}, skip_bad);
}

static void
expect_bad(const char *text, const char *complaint)
{
    loaded_t loaded;
    char expected[512];

    load_trace(&loaded, text, false);
    assert_false(loaded.ok);
    snprintf(expected, sizeof expected, "%s%s\n", file_path("t.trace"), complaint);
    assert_string_equal(loaded.complaints, expected);
    loaded_free(&loaded);
}

static void
expect_same_pod(const workload_t *a, const workload_t *b, size_t i)
{
    const workload_pod_t *left = &a->pods[i];
    const workload_pod_t *right = &b->pods[i];

    assert_string_equal(left->name, right->name);
    assert_int_equal(left->arrival_ns, right->arrival_ns);
    assert_int_equal(left->run_ns, right->run_ns);
    assert_int_equal(left->cpu_milli, right->cpu_milli);
    assert_int_equal(left->memory_mib, right->memory_mib);
    assert_int_equal(left->gpus, right->gpus);
    assert_int_equal(left->gpu_milli, right->gpu_milli);
    assert_string_equal(a->classes.names[left->qos], b->classes.names[right->qos]);
}

static void
arrivals_may_be_dates(void **state)
{
    loaded_t loaded;
    (void)state;
    load_trace(&loaded,
               "schedq-trace 1\nn node-a 2023-05-02 32000 1024 2 T4\n"
               "p pod-a 2023-05-02T04:00:00.5Z 5.25 1000 64 1 460 LS T4|G2\nend 1 1\n",
               false);
    assert_string_equal(loaded.complaints, "");
    assert_int_equal(loaded.workload.nodes[0].arrival_ns, 1682985600 * NS_PER_SECOND);
    assert_int_equal(loaded.workload.pods[0].arrival_ns,
                     1683000000 * NS_PER_SECOND + NS_PER_SECOND / 2);
    loaded_free(&loaded);
    expect_bad("schedq-trace 1\n" NODE "p pod-a 10 2023-05-02 1000 64 1 460 LS T4|G2\nend 1 1\n",
               ":3: column 4 (run): value \"2023-05-02\", legal: seconds from 0 to 4000000000, at "
               "most 9 decimals");
}

static void
lines_are_read_by_kind(void **state)
{
    loaded_t loaded;
    (void)state;
    load_trace(&loaded,
               "schedq-trace 1\nsource a  real\nsource cluster\n# words\n\n" POD NODE "end 1 1\n",
               false);
    assert_string_equal(loaded.complaints, "");
    assert_true(loaded.ok);
    assert_string_equal(loaded.workload.source, "a real cluster");
    const workload_pod_t *pod = &loaded.workload.pods[0];
    assert_int_equal(pod->arrival_ns, 10 * NS_PER_SECOND);
    assert_int_equal(pod->run_ns, INT64_C(5250000000));
    assert_int_equal(pod->gpu_milli, 460);
    assert_int_equal(__builtin_popcountll(pod->models), 2);
    assert_true((pod->models & loaded.workload.nodes[0].model) != 0);
    loaded_free(&loaded);
}

static void
what_is_written_is_read_back(void **state)
{
    loaded_t first;
    loaded_t second;
    char why[200] = "";
    (void)state;
    load_files_t files = {
        .pods = file_write(
            "pods.csv",
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time\n"
            "a,1,2,0,0,,LS,0.000000001,3.5\n"
            "b,3,4,2,1000,V100M16|V100M32,BE,10,12\n"
            "c,5,6,1,20,,,10,12902960\n"),
        .nodes = file_write(
            "nodes.csv",
            "sn,cpu_milli,memory_mib,gpu,model,creation_time\nx,7,8,2,V100M32,0\ny,9,10,0,,100\n"),
    };
    load_files(&first, &files, false);
    assert_true(first.ok);
    assert_true(trace_write(file_path("w.trace.gz"), &first.workload, why, sizeof why));
    load_files(&second, &(load_files_t){.trace = file_path("w.trace.gz")}, false);
    assert_string_equal(second.complaints, "");
    assert_true(second.ok);
    assert_int_equal(second.workload.pod_count, 3);
    assert_int_equal(second.workload.node_count, 2);
    for (size_t i = 0; i < 3; i++) {
        expect_same_pod(&first.workload, &second.workload, i);
    }
    assert_int_equal(second.workload.nodes[1].arrival_ns, 100 * NS_PER_SECOND);
    assert_int_equal(second.workload.nodes[1].model, 0);
    assert_true((second.workload.pods[1].models & second.workload.nodes[0].model) != 0);
    loaded_free(&first);
    loaded_free(&second);
}

/* The file's bytes; the caller frees them. */
static char *
slurp(const char *path, size_t *size)
{
    char *bytes = calloc(1, 4096);
    FILE *in = fopen(path, "rb");

    assert_non_null(in);
    *size = fread(bytes, 1, 4096, in);
    fclose(in);
    return bytes;
}

static void
the_same_workload_gives_the_same_bytes(void **state)
{
    loaded_t loaded;
    char why[200] = "";
    size_t size[2];
    (void)state;
    load_trace(&loaded, "schedq-trace 1\n" NODE POD "end 1 1\n", false);
    assert_true(trace_write(file_path("one.gz"), &loaded.workload, why, sizeof why));
    assert_true(trace_write(file_path("two.gz"), &loaded.workload, why, sizeof why));
    char *one = slurp(file_path("one.gz"), &size[0]);
    char *two = slurp(file_path("two.gz"), &size[1]);
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(one, two, size[0]);
    free(one);
    free(two);
    loaded_free(&loaded);
}

static void
a_trace_that_cannot_be_written_is_told(void **state)
{
    loaded_t loaded;
    char why[200] = "";
    (void)state;
    load_trace(&loaded, "schedq-trace 1\n" NODE POD "end 1 1\n", false);
    assert_false(trace_write("/nowhere/t.gz", &loaded.workload, why, sizeof why));
    assert_string_equal(why, "/nowhere/t.gz: cannot open for writing: No such file or directory");
    assert_false(trace_write("/dev/full", &loaded.workload, why, sizeof why));
    assert_string_equal(why, "/dev/full: cannot write: No space left on device");
    loaded_free(&loaded);
}

static void
broken_lines_are_told_with_line_column_and_legal_range(void **state)
{
    (void)state;
    expect_bad("schedq-trace 1\n" NODE "p pod-a 10 5 1000 64 1 1001 LS -\nend 1 1\n",
               ":3: column 8 (gpu_milli): value \"1001\", legal: a whole number from 1 to 1000");
    expect_bad("schedq-trace 1\n" NODE "p pod-a 10 5 1000 64 0 1 LS -\nend 1 1\n",
               ":3: column 8 (gpu_milli): value \"1\", legal: a whole number from 0 to 0");
    expect_bad("schedq-trace 1\nn a 0 1\n",
               ":2: value \"4 fields\", legal: 7 fields in a line that begins with n");
    expect_bad("schedq-trace 1\npod a\n",
               ":2: column 1: value \"pod\", legal: p, n, source, end, or # and a comment");
    expect_bad("schedq-trace 1\n" NODE NODE, ":3: column 2 (name): value \"node-a\", legal: a name "
                                             "that no other line has; line 2 has it");
}

static void
a_trace_of_another_version_is_refused(void **state)
{
    (void)state;
    expect_bad("schedq-trace 2\n",
               ":1: not a trace of this format: legal as first line is \"schedq-trace 1\"");
    expect_bad("name,cpu\n",
               ":1: not a trace of this format: legal as first line is \"schedq-trace 1\"");
    expect_bad("", ":1: not a trace of this format: legal as first line is \"schedq-trace 1\"");
}

static void
a_trace_that_was_cut_is_told(void **state)
{
    (void)state;
    expect_bad(
        "schedq-trace 1\n" NODE POD,
        ":3: value \"end of the file\", legal: a last line \"end NODES PODS\": the file was cut");
    expect_bad("schedq-trace 1\n" NODE POD "end 1 2\n",
               ":4: column 3 (pods): value \"2\", legal: a whole number from 1 to 1");
    expect_bad("schedq-trace 1\n" NODE POD "end 1 1\n" POD,
               ":5: value \"p\", legal: nothing after the line \"end\"");
}

static void
gzip_data_that_was_cut_is_told(void **state)
{
    loaded_t loaded;
    size_t size;
    (void)state;
    char *bytes = slurp(file_write_gzip("t.gz", "schedq-trace 1\n" NODE POD "end 1 1\n"), &size);
    FILE *out = fopen(file_path("t.gz"), "wb");
    assert_int_equal(fwrite(bytes, 1, size - 12, out), size - 12);
    fclose(out);
    free(bytes);
    load_files(&loaded, &(load_files_t){.trace = file_path("t.gz")}, true);
    assert_false(loaded.ok);
    assert_contains(loaded.complaints, "the gzip data ends too early");
    loaded_free(&loaded);
}

static void
skip_bad_counts_broken_lines_and_the_end_line_counts_them_too(void **state)
{
    loaded_t loaded;
    (void)state;
    load_trace(&loaded, "schedq-trace 1\n" NODE POD "p pod-b x 5 1000 64 0 0 LS -\nn\nend 2 2\n",
               true);
    assert_true(loaded.ok);
    assert_int_equal(loaded.bad_lines, 2);
    assert_int_equal(loaded.workload.pod_count, 1);
    loaded_free(&loaded);
}

static void
a_trace_given_as_pods_is_told_what_to_do(void **state)
{
    loaded_t loaded;
    (void)state;
    load_files(
        &loaded,
        &(load_files_t){.pods = file_write("t.trace", "schedq-trace 1\n" NODE POD "end 1 1\n")},
        false);
    assert_false(loaded.ok);
    assert_contains(loaded.complaints, "give it with --trace FILE alone");
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
        cmocka_unit_test(lines_are_read_by_kind),
        cmocka_unit_test(arrivals_may_be_dates),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(the_same_workload_gives_the_same_bytes),
        cmocka_unit_test(a_trace_that_cannot_be_written_is_told),
        cmocka_unit_test(broken_lines_are_told_with_line_column_and_legal_range),
        cmocka_unit_test(a_trace_of_another_version_is_refused),
        cmocka_unit_test(a_trace_that_was_cut_is_told),
        cmocka_unit_test(gzip_data_that_was_cut_is_told),
        cmocka_unit_test(skip_bad_counts_broken_lines_and_the_end_line_counts_them_too),
        cmocka_unit_test(a_trace_given_as_pods_is_told_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
