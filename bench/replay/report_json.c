/* The result as one JSON object. */
#include "report.h"

#include <inttypes.h>
#include <jansson.h>

static void
put_number(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void
put_real(json_t *object, const char *name, double value)
{
    json_object_set_new(object, name, json_real(value));
}

/* Text from a file may not be UTF-8, which JSON needs; then it is left out. */
static void
put_text(json_t *object, const char *name, const char *value)
{
    json_t *text = value == NULL ? NULL : json_string(value);

    json_object_set_new(object, name, text == NULL ? json_null() : text);
}

static void
put_settings(json_t *root, const report_t *report)
{
    const options_t *options = report->options;
    const load_files_t *files = &options->input.files;

    put_text(root, "input", files->trace != NULL ? files->trace : files->pods);
    put_text(root, "source", report->workload->source);
    put_text(root, "engine", options->engine->name);
    put_text(root, "preset", options->preset->name);
    put_text(root, "preemption", options->preemption->name);
    put_text(root, "hints", options->hints->name);
    json_object_set_new(root, "classes", json_boolean(options->simulate.classes));
    put_number(root, "seed", options->scenario.seed);
    put_number(root, "copies", options->scenario.copies);
    put_real(root, "jitter_seconds", report_seconds(options->scenario.jitter_ns));
    put_real(root, "nodes_fraction", options->scenario.nodes_fraction);
    put_real(root, "late_nodes", options->scenario.late_nodes);
    put_number(root, "workers", options->simulate.workers);
    put_text(root, "pace", options->pace);
    put_number(root, "service_us", (uint64_t)(options->simulate.service_ns / 1000));
    put_real(root, "max_parked_seconds", report_seconds(report->result->max_parked_ns));
    put_number(root, "bad_lines", report->bad_lines);
}

static void
put_pods(json_t *root, const report_t *report)
{
    const simulate_result_t *result = report->result;

    put_number(root, "nodes", report->scenario->node_count);
    put_number(root, "nodes_recorded", report->workload->node_count);
    put_number(root, "pods_total", result->pods_total);
    put_number(root, "pods_scheduled", result->pods_scheduled);
    put_number(root, "pods_unscheduled", result->pods_unscheduled);
    put_number(root, "pods_impossible", result->pods_impossible);
    put_real(root, "first_attempt_failed_share", report_first_failed_share(result));
    put_number(root, "waiting_max", result->waiting_max);
    put_number(root, "events", result->events);
    put_number(root, "moves", result->moves);
    put_number(root, "preemptions", result->preemptions);
    put_number(root, "evictions", result->evictions);
    put_real(root, "wasted_seconds", report_seconds(result->wasted_ns));
}

static json_t *
attempts(const simulate_result_t *result)
{
    json_t *object = json_object();
    json_t *histogram = json_array();
    json_t *causes = json_object();

    put_number(object, "total", result->attempts);
    put_real(object, "mean", report_attempts_mean(result));
    put_number(object, "max", result->attempts_max);
    put_number(causes, "arrival", result->attempts_by[CAUSE_ARRIVAL]);
    put_number(causes, "event", result->attempts_by[CAUSE_EVENT]);
    put_number(causes, "time", result->attempts_by[CAUSE_TIME]);
    put_number(causes, "flush", result->attempts_by[CAUSE_FLUSH]);
    json_object_set_new(object, "causes", causes);
    put_number(object, "kept_back", result->kept_back);
    for (int i = 0; i < SIMULATE_ATTEMPT_BUCKETS; i++) {
        if (result->attempt_buckets[i] == 0) {
            continue;
        }
        json_t *bucket = json_object();
        put_number(bucket, "from", report_bucket_from(i));
        put_number(bucket, "to", report_bucket_to(i));
        put_number(bucket, "pods", result->attempt_buckets[i]);
        json_array_append_new(histogram, bucket);
    }
    json_object_set_new(object, "histogram", histogram);
    return object;
}

static json_t *
waits(const report_t *report, const simulate_result_t *result)
{
    json_t *object = json_object();

    for (size_t i = 0; i < report->workload->classes.count; i++) {
        const class_waits_t *class = &result->classes[i];
        if (class->pods == 0) {
            continue;
        }
        json_t *row = json_object();
        json_object_set_new(row, "priority", json_integer(report->priority[i]));
        put_number(row, "pods", class->pods);
        put_number(row, "scheduled", class->scheduled);
        put_number(row, "evictions", class->evictions);
        put_real(row, "p50_seconds", report_seconds(class->p50_ns));
        put_real(row, "p90_seconds", report_seconds(class->p90_ns));
        put_real(row, "p99_seconds", report_seconds(class->p99_ns));
        put_real(row, "max_seconds", report_seconds(class->max_ns));
        json_object_set_new(object, report->workload->classes.names[i], row);
    }
    return object;
}

static json_t *
depth(const simulate_result_t *result)
{
    json_t *samples = json_array();

    for (size_t i = 0; i < result->depth.count; i++) {
        const depth_sample_t *sample = &result->depth.samples[i];
        json_t *row = json_object();
        put_real(row, "seconds", report_seconds(sample->time_ns));
        put_number(row, "active", sample->active);
        put_number(row, "backoff", sample->backoff);
        put_number(row, "parked", sample->parked);
        put_number(row, "inflight", sample->inflight);
        put_number(row, "running", sample->running);
        json_array_append_new(samples, row);
    }
    return samples;
}

static json_t *
operations(const simulate_result_t *result)
{
    json_t *object = json_object();

    for (int i = 0; i < COST_COUNT; i++) {
        const histogram_t *histogram = result->costs.histograms[i];
        json_t *row = json_object();
        put_number(row, "count", histogram_count(histogram));
        put_number(row, "p50_ns", histogram_percentile(histogram, 50));
        put_number(row, "p99_ns", histogram_percentile(histogram, 99));
        put_number(row, "p999_ns", histogram_percentile(histogram, 99.9));
        put_number(row, "max_ns", histogram_max(histogram));
        json_object_set_new(object, cost_name((cost_t)i), row);
    }
    return object;
}

bool
report_json(FILE *out, const report_t *report)
{
    const simulate_result_t *result = report->result;
    json_t *root = json_object();
    char digest[17];

    snprintf(digest, sizeof digest, "%016" PRIx64, result->digest);
    put_settings(root, report);
    put_pods(root, report);
    json_object_set_new(root, "attempts", attempts(result));
    json_object_set_new(root, "wait", waits(report, result));
    if (report->without != NULL) {
        json_object_set_new(root, "wait_without", waits(report, report->without));
    }
    json_object_set_new(root, "operations", operations(result));
    json_object_set_new(root, "depth", depth(result));
    put_real(root, "virtual_seconds", report_seconds(result->virtual_ns));
    put_real(root, "wall_seconds", result->wall_seconds);
    put_text(root, "digest", digest);
    bool written = json_dumpf(root, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
                   fputc('\n', out) != EOF;
    json_decref(root);
    return written && fflush(out) == 0;
}
