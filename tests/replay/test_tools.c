/* schedq-replay and schedq-trace as a user runs them: exit status, messages, results. */
#include "command.h"
#include "files.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PODS                                                                        \
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time\n" \
    "a,600,1,1,600,LS,0,50\nb,600,1,1,600,BE,1,60\nc,100,1,0,0,BE,2,3\nd,600,1,1,300,LS,2,30\n"
#define NODES "sn,cpu_milli,memory_mib,gpu,model\nn0,1000,100,1,T4\nn1,500,100,0,\n"

static void
expect(const char *tool, const char *arguments, int status, const char *part)
{
    int ended = command_run(tool, arguments);

    if (ended != status) {
        fail_msg("%s %s: exit status %d, expected %d: %s", tool, arguments, ended, status,
                 command_output);
    }
    command_expect(part);
}

/* "--pods FILE --nodes FILE" and more. */
static const char *
with_files(const char *more)
{
    static char arguments[512];

    snprintf(arguments, sizeof arguments, "--pods %s --nodes %s %s", file_write("pods.csv", PODS),
             file_write("nodes.csv", NODES), more);
    return arguments;
}

/* Runs with --format json; the caller releases the result. */
static json_t *
result_of(const char *arguments)
{
    char command[1024];
    json_error_t error;

    snprintf(command, sizeof command, "%s --format json", arguments);
    int status = command_run(SCHEDQ_REPLAY, command);
    json_t *result = json_loads(command_output, 0, &error);
    if (status != 0 || result == NULL) {
        fail_msg("%s: exit status %d: %s", arguments, status, command_output);
    }
    return result;
}

static void
copy_digest(char digest[32], const char *arguments)
{
    json_t *result = result_of(arguments);

    snprintf(digest, 32, "%s", json_string_value(json_object_get(result, "digest")));
    assert_int_equal(strlen(digest), 16);
    json_decref(result);
}

static void
expect_same_digest(const char *left, const char *right)
{
    char a[32];
    char b[32];

    copy_digest(a, left);
    copy_digest(b, right);
    assert_string_equal(a, b);
}

static int64_t
whole(const json_t *result, const char *name)
{
    const json_t *value = json_object_get(result, name);

    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static void
bad_usage_ends_with_2_and_names_value_and_range(void **state)
{
    static const struct {
        const char *option;
        const char *part;
    } rows[] = {
        {"--engine fast", "--engine is \"fast\": legal are lockfree, mutex"},
        {"--preset kube-1.0",
         "--preset is \"kube-1.0\": legal are default, kube-1.37, kube-1.34, kube-1.26, kube-1.12"},
        {"--hints none", "--hints is \"none\": legal are fit, kube"},
        {"--copies 0", "--copies is \"0\": legal are 1..10000"},
        {"--copies 2x", "--copies is \"2x\": legal are 1..10000"},
        {"--jitter -1", "--jitter is \"-1\": legal are seconds from 0 to 1000000000"},
        {"--nodes-fraction 0", "--nodes-fraction is \"0\": legal are numbers above 0, at most 1"},
        {"--nodes-fraction 1.01",
         "--nodes-fraction is \"1.01\": legal are numbers above 0, at most 1"},
        {"--nodes-fraction nan",
         "--nodes-fraction is \"nan\": legal are numbers above 0, at most 1"},
        {"--late-nodes 2", "--late-nodes is \"2\": legal are numbers from 0, at most 1"},
        {"--pace fast", "--pace is \"fast\": legal are asap, real, scaled=X"},
        {"--pace scaled=0",
         "--pace is \"scaled=0\": legal are scaled=X with X from 0.000001 to 1e12"},
        {"--workers 65", "--workers is \"65\": legal are 1..64"},
        {"--service-us 0", "--service-us is \"0\": legal are 1..3600000000"},
        {"--priority LS",
         "--priority is \"LS\": legal are CLASS=N with N from -2147483648 to 2147483647"},
        {"--priority LS=3000000000", "--priority is \"LS=3000000000\": legal are CLASS=N"},
        {"--priority XX=1",
         "--priority is \"XX\": legal are the classes of this input: none LS BE"},
        {"--max-parked 0", "--max-parked is \"0\": legal are seconds from 0.001 to 31536000"},
        {"--seed -1", "--seed is \"-1\": legal are 0..9223372036854775807"},
        {"--format xml", "--format is \"xml\": legal are text, json"},
        {"--output /nowhere/x", "--output is \"/nowhere/x\": legal are files that can be written"},
        {"--trace x", "--trace is \"x\": legal are traces without --pods and --nodes"},
        {"--what", "unrecognized option '--what'"},
        {"extra", "an argument is \"extra\": legal are options"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        expect(SCHEDQ_REPLAY, with_files(rows[i].option), 2, rows[i].part);
    }
    expect(SCHEDQ_REPLAY, "", 2,
           "no input is given: legal are --trace FILE, or --pods FILE --nodes FILE");
    expect(SCHEDQ_TRACE, with_files(""), 2, "no output is given: legal are --output FILE");
    expect(SCHEDQ_TRACE, "--output x", 2, "no input is given: legal are --pods FILE --nodes FILE");
    expect(SCHEDQ_TRACE, with_files("--output x --source ' '"), 2,
           "--source is \" \": legal are lines of text");
}

static void
unix_times_are_legal(void **state)
{
    char arguments[512];
    (void)state;
    snprintf(
        arguments, sizeof arguments, "--pods %s --nodes %s",
        file_write("unix.csv",
                   "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time\n"
                   "a,600,1,0,0,LS,1790000000,1790000050\nb,600,1,0,0,BE,1790000001,1790000060\n"),
        file_write("nodes.csv", NODES));
    expect(SCHEDQ_REPLAY, arguments, 0, "scheduled");
}

/* Before it was interrupted, or after: the last result or the new one, never less. */
static void
an_interrupted_run_leaves_the_last_result(void **state)
{
    char command[512];
    const char *path = file_write("last.txt", "the last result\n");
    (void)state;
    snprintf(command, sizeof command, "--signal=INT 0.3 %s --trace %s --copies 4 --output %s",
             SCHEDQ_REPLAY, BUNDLED_TRACE, path);
    (void)command_run("timeout", command);
    snprintf(command, sizeof command, "-qE '^the last result$|^digest ' %s", path);
    assert_int_equal(command_run("grep", command), 0);
}

static void
bad_input_ends_with_2_and_says_where(void **state)
{
    char arguments[512];
    (void)state;
    snprintf(arguments, sizeof arguments, "--pods %s --nodes %s",
             file_write("bad.csv", PODS "e,1,1,0,0,LS,9,8\n"), file_write("nodes.csv", NODES));
    expect(SCHEDQ_REPLAY, arguments, 2,
           "bad.csv:6: column 8 (deletion_time): value \"8\", legal: seconds from 9 to 4000000000");
    expect(SCHEDQ_REPLAY, "--trace /nowhere/t", 2,
           "/nowhere/t: cannot open: No such file or directory");
    expect(SCHEDQ_REPLAY, "--trace /tmp", 2, "/tmp: cannot read after 0 bytes: Is a directory");
    snprintf(arguments, sizeof arguments, "--pods %s --nodes %s --output %s", file_path("bad.csv"),
             file_path("nodes.csv"), file_path("never.gz"));
    expect(SCHEDQ_TRACE, arguments, 2, "bad.csv:6: column 8 (deletion_time)");
    assert_null(fopen(file_path("never.gz"), "r"));
}

static void
skip_bad_counts_broken_lines(void **state)
{
    char arguments[512];
    (void)state;
    snprintf(arguments, sizeof arguments, "--skip-bad --output %s --pods %s --nodes %s",
             file_path("r.json"), file_write("bad.csv", PODS "e,1,1,0,0,LS,9,8\nf\n"),
             file_write("nodes.csv", NODES));
    char command[600];
    snprintf(command, sizeof command, "%s --format json", arguments);
    expect(SCHEDQ_REPLAY, command, 0, "skipped: ");
    json_t *result = json_load_file(file_path("r.json"), 0, NULL);
    assert_non_null(result);
    assert_int_equal(whole(result, "bad_lines"), 2);
    assert_int_equal(whole(result, "pods_total"), 4);
    json_decref(result);
}

static void
preemption_is_shown_beside_the_same_without_it(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        char options[64];
        snprintf(options, sizeof options, "--preemption %s", i == 0 ? "kube-1.34" : "kube-1.12");
        json_t *result = result_of(with_files(options));
        assert_string_equal(json_string_value(json_object_get(result, "preemption")), options + 13);
        assert_non_null(json_object_get(result, "wait_without"));
        assert_true(whole(result, "evictions") >= whole(result, "preemptions"));
        json_decref(result);
        expect(SCHEDQ_REPLAY, with_files(options), 0,
               "wait without preemption, seconds of the trace");
    }
    expect(SCHEDQ_REPLAY, with_files("--preemption best"), 2,
           "--preemption is \"best\": legal are none, kube-1.34, kube-1.12");
}

static void
json_has_the_documented_fields(void **state)
{
    static const char *const names[] = {"input",           "source",
                                        "engine",          "preset",
                                        "preemption",      "seed",
                                        "copies",          "jitter_seconds",
                                        "hints",           "classes",
                                        "nodes_fraction",  "late_nodes",
                                        "workers",         "pace",
                                        "service_us",      "max_parked_seconds",
                                        "bad_lines",       "nodes",
                                        "nodes_recorded",  "pods_total",
                                        "pods_scheduled",  "pods_unscheduled",
                                        "pods_impossible", "first_attempt_failed_share",
                                        "waiting_max",     "events",
                                        "moves",           "preemptions",
                                        "evictions",       "wasted_seconds",
                                        "attempts",        "wait",
                                        "operations",      "depth",
                                        "virtual_seconds", "wall_seconds",
                                        "digest"};
    static const char *const operations[] = {"add",      "pop",  "add_unschedulable", "done",
                                             "move_all", "tick", "preempt",           "clock"};
    json_t *result = result_of(with_files(""));
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (json_object_get(result, names[i]) == NULL) {
            fail_msg("no field %s", names[i]);
        }
    }
    assert_int_equal(json_object_size(result), sizeof names / sizeof names[0]);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        const json_t *row = json_object_get(json_object_get(result, "operations"), operations[i]);
        assert_int_equal(json_object_size(row), 5);
        assert_true(whole(row, "p50_ns") <= whole(row, "p99_ns"));
        assert_true(whole(row, "p99_ns") <= whole(row, "p999_ns"));
        assert_true(whole(row, "p999_ns") <= whole(row, "max_ns"));
        assert_true(whole(row, "count") >= 0);
    }
    assert_int_equal(whole(result, "pods_total"), 4);
    assert_int_equal(whole(result, "pods_scheduled"), 4);
    const json_t *attempts = json_object_get(result, "attempts");
    const json_t *causes = json_object_get(attempts, "causes");
    assert_int_equal(whole(causes, "arrival"), 4);
    assert_int_equal(whole(causes, "arrival") + whole(causes, "event") + whole(causes, "time") +
                         whole(causes, "flush"),
                     whole(attempts, "total"));
    assert_int_equal(whole(json_object_get(json_object_get(result, "wait"), "BE"), "pods"), 2);
    assert_int_equal(whole(json_object_get(json_object_get(result, "wait"), "LS"), "priority"),
                     2000);
    json_decref(result);
}

static void
priorities_can_be_overridden(void **state)
{
    json_t *result = result_of(with_files("--priority BE=5,LS=-7"));
    const json_t *wait = json_object_get(result, "wait");
    (void)state;
    assert_int_equal(whole(json_object_get(wait, "BE"), "priority"), 5);
    assert_int_equal(whole(json_object_get(wait, "LS"), "priority"), -7);
    json_decref(result);
}

static void
text_shows_the_same_digest_as_json(void **state)
{
    char digest[32];
    char line[64];
    (void)state;
    copy_digest(digest, with_files(""));
    snprintf(line, sizeof line, "digest           %s\n", digest);
    expect(SCHEDQ_REPLAY, with_files(""), 0, line);
}

static void
a_trace_gives_the_digest_of_the_files_it_was_made_from(void **state)
{
    char arguments[512];
    char trace[256];
    (void)state;
    snprintf(arguments, sizeof arguments, "%s", with_files(""));
    snprintf(trace, sizeof trace, "--output %s", file_path("t.trace.gz"));
    expect(SCHEDQ_TRACE, with_files(trace), 0, "2 nodes, 4 pods, 0 bad lines left out");
    snprintf(trace, sizeof trace, "--trace %s", file_path("t.trace.gz"));
    expect_same_digest(arguments, trace);
}

static void
the_bundled_trace_replays_and_gives_one_digest(void **state)
{
    (void)state;
    expect_same_digest("--trace " BUNDLED_TRACE, "--trace " BUNDLED_TRACE " --pace scaled=1e12");
    json_t *result = result_of("--trace " BUNDLED_TRACE);
    assert_int_equal(whole(result, "pods_total"), 8152);
    assert_int_equal(whole(result, "pods_scheduled"), 8152);
    assert_int_equal(whole(result, "nodes"), 1523);
    assert_int_equal(whole(result, "bad_lines"), 0);
    assert_non_null(
        strstr(json_string_value(json_object_get(result, "source")), "cluster-trace-gpu-v2023"));
    json_decref(result);
}

static void
several_workers_place_the_bundled_trace(void **state)
{
    (void)state;
    json_t *result = result_of("--trace " BUNDLED_TRACE " --workers 4 --nodes-fraction 0.2");
    assert_int_equal(whole(result, "pods_scheduled") + whole(result, "pods_unscheduled"), 8152);
    assert_int_equal(whole(result, "pods_unscheduled"), whole(result, "pods_impossible"));
    json_decref(result);
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
        cmocka_unit_test(bad_usage_ends_with_2_and_names_value_and_range),
        cmocka_unit_test(unix_times_are_legal),
        cmocka_unit_test(an_interrupted_run_leaves_the_last_result),
        cmocka_unit_test(bad_input_ends_with_2_and_says_where),
        cmocka_unit_test(skip_bad_counts_broken_lines),
        cmocka_unit_test(json_has_the_documented_fields),
        cmocka_unit_test(preemption_is_shown_beside_the_same_without_it),
        cmocka_unit_test(priorities_can_be_overridden),
        cmocka_unit_test(text_shows_the_same_digest_as_json),
        cmocka_unit_test(a_trace_gives_the_digest_of_the_files_it_was_made_from),
        cmocka_unit_test(the_bundled_trace_replays_and_gives_one_digest),
        cmocka_unit_test(several_workers_place_the_bundled_trace),
    };
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
