/* schedq-replay: options, load, simulate, report. */
#include "output.h"
#include "page.h"
#include "report.h"
#include "support/interrupt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the queue can hold at once. */
#define PODS_MAX ((UINT64_C(1) << 28) - 1)

/* Writes a report. False: that failed, errno says why. */
typedef bool report_fn(FILE *out, const report_t *report);

/* Before the work, so that a name that cannot be written costs no time. */
static bool
check_output(const char *option, const char *path)
{
    if (path == NULL || output_check(path)) {
        return true;
    }
    fprintf(stderr, "schedq-replay: --%s is \"%s\": legal are files that can be written (%s)\n",
            option, path, strerror(errno));
    return false;
}

static bool
check_outputs(const options_t *options)
{
    return check_output("output", options->output) && check_output("json", options->json) &&
           check_output("report", options->page);
}

static bool
write_to(FILE *out, report_fn *form, const report_t *report)
{
    bool written = form(out, report);

    return fflush(out) == 0 && written;
}

static bool
write_to_file(const char *path, report_fn *form, const report_t *report)
{
    output_t output;

    if (!output_begin(&output, path)) {
        return false;
    }
    FILE *out = fdopen(output.descriptor, "w");
    bool written = out != NULL && write_to(out, form, report);

    if (out != NULL) {
        output.descriptor = -1;
        written = fclose(out) == 0 && written;
    }
    return output_end(&output, written) && written;
}

/* `path` NULL: to standard output. */
static bool
write_report(const char *path, report_fn *form, const report_t *report)
{
    bool written =
        path != NULL ? write_to_file(path, form, report) : write_to(stdout, form, report);

    if (!written) {
        fprintf(stderr, "schedq-replay: %s cannot be written: %s\n",
                path != NULL ? path : "the result", strerror(errno));
    }
    return written;
}

/* To files nothing: they keep the last result that was whole. */
static bool
show_what_there_is(const report_t *report)
{
    return report_text(report->options->format == REPORT_JSON ? stderr : stdout, report);
}

static bool
write_reports(const report_t *report)
{
    const options_t *options = report->options;
    report_fn *form = options->format == REPORT_JSON ? report_json : report_text;

    return write_report(options->output, form, report) &&
           (options->json == NULL || write_report(options->json, report_json, report));
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

/* The same replay with the other engine, and a page that shows both. */
static bool
compare_engines(const report_t *report, const simulate_options_t *simulate_options)
{
    options_t options = *report->options;
    simulate_options_t simulated = *simulate_options;
    simulate_result_t result = {0};
    report_t other = *report;

    options.engine = argument_engines;
    if (options.engine->value == report->options->engine->value) {
        options.engine++;
    }
    simulated.engine = (uint8_t)options.engine->value;
    other.options = &options;
    other.result = &result;
    other.without = NULL;
    bool done = run(report->scenario, &simulated, &result);
    if (interrupt_came()) {
        simulate_result_free(&result);
        return done;
    }
    if (done && simulated.workers == 1 && result.digest != report->result->digest) {
        fputs("schedq-replay: the engines decided differently\n", stderr);
        done = false;
    }
    done = done && (page_write(options.page, report, &other) || interrupt_came());
    simulate_result_free(&result);
    return done;
}

static int
replay(const options_t *options, const workload_t *workload, const int32_t *priority,
       uint64_t bad_lines)
{
    simulate_options_t simulate_options = options->simulate;
    bool compares = simulate_options.preemption != SIMULATE_NO_PREEMPTION;
    simulate_result_t result = {0}, without = {0};
    scenario_t scenario;

    simulate_options.priority = priority;
    simulate_options.progress = isatty(STDERR_FILENO);
    scenario_init(&scenario, workload, &options->scenario);
    bool done = run(&scenario, &simulate_options, &result);
    if (done && compares && !interrupt_came()) {
        simulate_options_t plain = simulate_options;
        plain.preemption = SIMULATE_NO_PREEMPTION;
        done = run(&scenario, &plain, &without);
    }
    if (done) {
        report_t report = {
            options, workload, &scenario, priority, &result, compares ? &without : NULL, bad_lines};
        if (interrupt_came()) {
            report.without = without.classes != NULL ? &without : NULL;
            done = show_what_there_is(&report);
        } else {
            done = write_reports(&report) &&
                   (options->page == NULL || compare_engines(&report, &simulate_options));
        }
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
        fprintf(stderr,
                "schedq-replay: --copies is \"%" PRIu32 "\": legal are, for %zu pods, 1..%" PRIu64
                "\n",
                options->scenario.copies, workload->pod_count, PODS_MAX / workload->pod_count);
        return status;
    }
    int32_t *priority = options_priorities(options, workload);
    if (priority != NULL && check_outputs(options)) {
        status = options->page != NULL && !page_check()
                     ? EXIT_FAILURE
                     : replay(options, workload, priority, bad_lines);
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
    interrupt_catch();
    workload_init(&workload);
    int status = EXIT_USAGE;
    if (workload_load(&workload, &options.input.files, &problems)) {
        status = check_and_replay(&options, &workload, problems.bad_lines);
    }
    workload_clear(&workload);
    for (size_t i = 0; i < options.priority_count; i++) {
        free(options.priorities[i].name);
    }
    return interrupt_end(status, "what it has not written is as it was before");
}
