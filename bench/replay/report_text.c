/* The result as text. */
#include "report.h"

#include <inttypes.h>

/* Rows of the table of depth: the samples are many, a reader wants the shape. */
enum { DEPTH_ROWS = 12 };

static void
put_settings(FILE *out, const report_t *report)
{
    const options_t *options = report->options;
    const load_files_t *files = &options->input.files;

    fprintf(out, "input            %s\n", files->trace != NULL ? files->trace : files->pods);
    if (report->workload->source != NULL) {
        fprintf(out, "source           %s\n", report->workload->source);
    }
    fprintf(out, "queue            engine %s, preset %s, parked for at most %.9g s\n",
            options->engine->name, options->preset->name,
            report_seconds(report->result->max_parked_ns));
    fprintf(out, "preemption       %s\n", options->preemption->name);
    fprintf(out, "hints            %s\n", options->hints->name);
    if (options->simulate.classes) {
        fprintf(out, "classes          by what pods ask for\n");
    }
    fprintf(out,
            "pods             %zu recorded, %" PRIu32 " copies, jitter %.9g s, seed %" PRIu64 "\n",
            report->workload->pod_count, options->scenario.copies,
            report_seconds(options->scenario.jitter_ns), options->scenario.seed);
    fprintf(out, "nodes            %zu of %zu recorded, %.4g of them late\n",
            report->scenario->node_count, report->workload->node_count,
            options->scenario.late_nodes);
    fprintf(out, "workers          %u, %" PRId64 " us an attempt, pace %s\n",
            options->simulate.workers, options->simulate.service_ns / 1000, options->pace);
    fprintf(out, "bad lines        %" PRIu64 "\n", report->bad_lines);
}

static void
put_pods(FILE *out, const simulate_result_t *result)
{
    fprintf(out, "\npods in all      %" PRIu64 "\n", result->pods_total);
    fprintf(out, "scheduled        %" PRIu64 "\n", result->pods_scheduled);
    fprintf(out, "unscheduled      %" PRIu64 " (%" PRIu64 " fit on no node even if it is empty)\n",
            result->pods_unscheduled, result->pods_impossible);
    fprintf(out, "first try failed %.2f %% of the pods\n", 100 * report_first_failed_share(result));
    fprintf(out, "waiting at once  %" PRIu64 " at most\n", result->waiting_max);
    fprintf(out,
            "events           %" PRIu64 " completions, evictions and nodes, %" PRIu64
            " pods moved\n",
            result->events, result->moves);
    fprintf(out, "attempts         %" PRIu64 ", %.3f a pod, at most %" PRIu32 "\n",
            result->attempts, report_attempts_mean(result), result->attempts_max);
    fprintf(out,
            "caused by        %" PRIu64 " arrival, %" PRIu64 " event, %" PRIu64 " time, %" PRIu64
            " flush\n",
            result->attempts_by[CAUSE_ARRIVAL], result->attempts_by[CAUSE_EVENT],
            result->attempts_by[CAUSE_TIME], result->attempts_by[CAUSE_FLUSH]);
    if (result->kept_back != 0) {
        fprintf(out, "kept back        %" PRIu64 " of these, untried, by their class\n",
                result->kept_back);
    }
    for (int i = 0; i < SIMULATE_ATTEMPT_BUCKETS; i++) {
        if (result->attempt_buckets[i] != 0) {
            fprintf(out, "  %8" PRIu64 " to %-8" PRIu64 " %10" PRIu64 " pods\n",
                    report_bucket_from(i), report_bucket_to(i), result->attempt_buckets[i]);
        }
    }
}

static void
put_preemption(FILE *out, const simulate_result_t *result)
{
    fprintf(out,
            "preemption       %" PRIu64 " decisions for a node, %" PRIu64
            " pods evicted, %.3f s of run time wasted\n",
            result->preemptions, result->evictions, report_seconds(result->wasted_ns));
}

static void
put_waits(FILE *out, const report_t *report, const char *title, const simulate_result_t *result)
{
    fprintf(out, "\n%s, seconds of the trace\n%-16s %11s %9s %9s %9s %12s %12s %12s %12s\n", title,
            "class", "priority", "pods", "scheduled", "evictions", "p50", "p90", "p99", "max");
    for (size_t i = 0; i < report->workload->classes.count; i++) {
        const class_waits_t *class = &result->classes[i];
        if (class->pods > 0) {
            fprintf(out,
                    "%-16s %11" PRId32 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64
                    " %12.3f %12.3f %12.3f %12.3f\n",
                    report->workload->classes.names[i], report->priority[i], class->pods,
                    class->scheduled, class->evictions, report_seconds(class->p50_ns),
                    report_seconds(class->p90_ns), report_seconds(class->p99_ns),
                    report_seconds(class->max_ns));
        }
    }
}

static void
put_depth(FILE *out, const depth_t *depth)
{
    size_t rows = depth->count < DEPTH_ROWS ? depth->count : DEPTH_ROWS;

    fprintf(out, "\ndepth, %zu of %zu samples\n%14s %9s %9s %9s %9s %9s\n", rows, depth->count,
            "seconds", "active", "backoff", "parked", "in flight", "running");
    for (size_t i = 0; i < rows; i++) {
        const depth_sample_t *sample =
            &depth->samples[rows == 1 ? 0 : i * (depth->count - 1) / (rows - 1)];
        fprintf(out, "%14.3f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n",
                report_seconds(sample->time_ns), sample->active, sample->backoff, sample->parked,
                sample->inflight, sample->running);
    }
}

static void
put_operations(FILE *out, const costs_t *costs)
{
    fprintf(
        out,
        "\ncost of operations, ns; each contains one reading of the clock, which is the last row\n"
        "%-18s %12s %9s %9s %9s %12s\n",
        "operation", "count", "p50", "p99", "p99.9", "max");
    for (int i = 0; i < COST_COUNT; i++) {
        const histogram_t *histogram = costs->histograms[i];
        fprintf(out, "%-18s %12" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %12" PRIu64 "\n",
                cost_name((cost_t)i), histogram_count(histogram),
                histogram_percentile(histogram, 50), histogram_percentile(histogram, 99),
                histogram_percentile(histogram, 99.9), histogram_max(histogram));
    }
}

bool
report_text(FILE *out, const report_t *report)
{
    const simulate_result_t *result = report->result;

    put_settings(out, report);
    put_pods(out, result);
    if (report->without != NULL) {
        put_preemption(out, result);
    }
    put_waits(out, report, "wait", result);
    if (report->without != NULL) {
        put_waits(out, report, "wait without preemption", report->without);
    }
    put_depth(out, &result->depth);
    put_operations(out, &result->costs);
    fprintf(out, "\ntime             %.3f s of the trace in %.3f s\n",
            report_seconds(result->virtual_ns), result->wall_seconds);
    /* Another word: it must not be taken for that of a whole replay. */
    fprintf(out, "%s%016" PRIx64 "\n",
            result->interrupted ? "interrupted with " : "digest           ", result->digest);
    return fflush(out) == 0 && !ferror(out);
}
