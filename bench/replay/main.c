/* schedq-replay: options, load, simulate, report. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the queue can hold at once. */
#define PODS_MAX ((UINT64_C(1) << 28) - 1)

/* Opens the result's file before the work, so that a name that cannot be written costs no time. */
static FILE *
open_output(const options_t *options)
{
    if (options->output == NULL) {
        return stdout;
    }
    FILE *out = fopen(options->output, "w");
    if (out == NULL) {
        fprintf(stderr, "--output: value \"%s\", legal: a file that can be written: %s\n", options->output,
                strerror(errno));
    }
    return out;
}

static bool
write_report(FILE *out, const report_t *report)
{
    bool written = report->options->format == REPORT_JSON ? report_json(out, report) : report_text(out, report);

    if (!written) {
        fprintf(stderr, "cannot write the result: %s\n", strerror(errno));
    }
    return written;
}

/* One run, with the progress on stderr. */
static bool
run(const scenario_t *scenario, const simulate_options_t *options, simulate_result_t *result)
{
    char why[400];

    bool done = simulate(scenario, options, result, why, sizeof why);
    if (options->progress) {
        fputs("\r\033[K", stderr);
    }
    if (!done) {
        fprintf(stderr, "schedq-replay: %s\n", why);
    }
    return done;
}

static int
replay(const options_t *options, const workload_t *workload, const int32_t *priority, uint64_t bad_lines, FILE *out)
{
    simulate_options_t simulate_options = options->simulate;
    bool compares = simulate_options.preemption != SIMULATE_NO_PREEMPTION;
    simulate_result_t result = {0}, without = {0};
    scenario_t scenario;

    simulate_options.priority = priority;
    simulate_options.progress = isatty(STDERR_FILENO);
    scenario_init(&scenario, workload, &options->scenario);
    bool done = run(&scenario, &simulate_options, &result);
    if (done && compares) {
        simulate_options.preemption = SIMULATE_NO_PREEMPTION;
        done = run(&scenario, &simulate_options, &without);
    }
    if (done) {
        report_t report = {options, workload, &scenario, priority, &result, compares ? &without : NULL, bad_lines};
        done = write_report(out, &report);
    }
    simulate_result_free(&result);
    simulate_result_free(&without);
    scenario_clear(&scenario);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
check_and_replay(const options_t *options, const workload_t *workload, uint64_t bad_lines)
{
    uint64_t pods = (uint64_t)workload->pod_count * options->scenario.copies;
    int status = EXIT_USAGE;

    if (pods > PODS_MAX) {
        fprintf(stderr, "--copies: value \"%" PRIu32 "\", legal for %zu pods: 1 to %" PRIu64 "\n",
                options->scenario.copies, workload->pod_count, PODS_MAX / workload->pod_count);
        return status;
    }
    int32_t *priority = options_priorities(options, workload);
    FILE *out = priority == NULL ? NULL : open_output(options);
    if (out != NULL) {
        status = replay(options, workload, priority, bad_lines, out);
        if (out != stdout && fclose(out) != 0) {
            fprintf(stderr, "%s: cannot write: %s\n", options->output, strerror(errno));
            status = EXIT_FAILURE;
        }
    }
    free(priority);
    return status;
}

int
main(int argc, char **argv)
{
    options_t options;
    workload_t workload;

    options_parse(&options, argc, argv);
    input_problems_t problems = {.out = stderr, .skip_bad = options.input.skip_bad};
    workload_init(&workload);
    int status = EXIT_USAGE;
    if (workload_load(&workload, &options.input.files, &problems)) {
        status = check_and_replay(&options, &workload, problems.bad_lines);
    }
    workload_clear(&workload);
    for (size_t i = 0; i < options.priority_count; i++) {
        free(options.priorities[i].name);
    }
    return status;
}
