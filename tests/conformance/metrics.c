/*
 * Reads the queue's metrics as any scraper would, from the Prometheus text, and compares some
 * families of them.
 *
 * A vector since queueing hints lists every sample of these families that is not 0, an earlier one
 * only those of the counter. `inflight_events` follows upstream's own records and is not compared.
 */
#include "metrics.h"

#include "buffer.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LABELS_MAX 4

static const char *const families[] = {"queue_incoming_pods_total", "pending_pods",
                                       "unschedulable_pods", "queue_incoming_entities_total",
                                       "queued_entities"};
static const char not_compared[] = "inflight_events";

struct sample {
    struct sample *next;
    const char *name;
    struct list labels; /* "key=value", as in a metric line */
    int64_t value;
    bool stated;
};

static bool
is_family(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof families[0]; i++) {
        if (strcmp(families[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/*
 * Cuts key="value" pairs up to the brace into "key=value"; returns what follows, NULL if it is
 * malformed.
 */
static char *
cut_labels(char *text, struct sample *sample)
{
    while (*text != '}') {
        char *label = text;
        char *out;

        text = strstr(text, "=\"");
        if (text == NULL || sample->labels.count == LABELS_MAX) {
            return NULL;
        }
        out = text + 1;
        for (text += 2; *text != '"' && *text != '\0'; text++) {
            if (*text == '\\' && text[1] != '\0') {
                text++;
            }
            *out++ = *text;
        }
        if (*text == '\0') {
            return NULL;
        }
        text++;
        if (*text == ',') {
            text++;
        }
        *out = '\0';
        sample->labels.item[sample->labels.count++] = label;
    }
    return text + 1;
}

/* NAME{LABELS} VALUE or NAME VALUE; lines of families that are not compared are skipped. */
static bool
read_sample(struct obstack *memory, char *line, struct sample **samples)
{
    static const char prefix[] = "scheduler_";
    struct sample *sample = keep(memory, 1, sizeof *sample);
    char *end = line + strcspn(line, "{ ");
    bool labelled = *end == '{';

    if (strncmp(line, prefix, strlen(prefix)) != 0 || *end == '\0') {
        return true;
    }
    *end++ = '\0';
    sample->name = line + strlen(prefix);
    if (!is_family(sample->name)) {
        return true;
    }
    sample->labels.item = keep(memory, LABELS_MAX, sizeof *sample->labels.item);
    if (labelled) {
        end = cut_labels(end, sample);
    }
    if (end == NULL) {
        return false;
    }
    sample->value = (int64_t)strtod(end, NULL);
    sample->next = *samples;
    *samples = sample;
    return true;
}

static bool
read_samples(struct script *script, char *text, struct sample **samples)
{
    char *rest;

    for (char *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *whole = keep_text(&script->memory, line);
        if (!read_sample(&script->memory, line, samples)) {
            report(script->file, 1, "the queue's metrics have a malformed line: %s", whole);
            return false;
        }
    }
    return true;
}

static bool
report_metric(const struct script *script, unsigned line, const char *name,
              const struct list *labels, int64_t expected, int64_t got)
{
    struct buffer heading;
    char expected_text[32];
    char got_text[32];

    buffer_open(&heading);
    fprintf(heading.out, "metric %s", name);
    for (size_t i = 0; i < labels->count; i++) {
        fprintf(heading.out, " %s", labels->item[i]);
    }
    fputs(" differs", heading.out);
    buffer_close(&heading);
    (void)snprintf(expected_text, sizeof expected_text, "%" PRId64, expected);
    (void)snprintf(got_text, sizeof got_text, "%" PRId64, got);
    report_difference(script->file, line, heading.text, expected_text, got_text);
    free(heading.text);
    return false;
}

/* A sample that the queue does not write is 0. */
static bool
find_stated(const struct script *script, struct metric_line *metric, struct sample *samples)
{
    int64_t got = 0;

    for (struct sample *sample = samples; sample != NULL; sample = sample->next) {
        if (strcmp(sample->name, metric->name) == 0 &&
            list_equal(&sample->labels, &metric->labels)) {
            sample->stated = true;
            got += sample->value; /* local.c adds what upstream counts for nothing */
        }
    }
    return got == metric->value ||
           report_metric(script, metric->line, metric->name, &metric->labels, metric->value, got);
}

static bool
is_known(const struct script *script, const struct metric_line *metric)
{
    if (is_family(metric->name) || strcmp(metric->name, not_compared) == 0) {
        return true;
    }
    report(script->file, metric->line, "metric is \"%s\", expected %s, %s, %s, %s, %s or %s",
           metric->name, families[0], families[1], families[2], families[3], families[4],
           not_compared);
    return false;
}

static bool
is_complete(const struct script *script, const char *family)
{
    return script->release->hints || strcmp(family, families[0]) == 0;
}

bool
metrics_agree(struct script *script, char *text)
{
    struct sample *samples = NULL;

    if (!read_samples(script, text, &samples)) {
        return false;
    }
    for (struct metric_line *metric = script->metrics; metric != NULL; metric = metric->next) {
        if (!is_known(script, metric) ||
            (is_family(metric->name) && !find_stated(script, metric, samples))) {
            return false;
        }
    }
    for (const struct sample *sample = samples; sample != NULL; sample = sample->next) {
        if (!sample->stated && sample->value != 0 && is_complete(script, sample->name)) {
            return report_metric(script, script->end_line, sample->name, &sample->labels, 0,
                                 sample->value);
        }
    }
    return true;
}
