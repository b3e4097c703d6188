/* The text of view.h. */
#include "view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REJECTORS = 8 };

static const char waits[] = "schedq_pod_wait_seconds", attempts[] = "schedq_pod_attempts";

static double
value_of(const view_t *view, const char *name, const char *label, const char *value)
{
    return page_value(view->now, name, view->queue, label, value);
}

/* "-": it is not known. A counter that fell belongs to another process than before. */
static const char *
rate(const view_t *view, const char *name, const char *label, const char *value, char text[20])
{
    const page_sample_t *now = page_find(view->now, name, view->queue, label, value);
    const page_sample_t *before =
        view->before != NULL ? page_find(view->before, name, view->queue, label, value) : NULL;

    if (now == NULL || before == NULL || view->seconds <= 0 || now->value < before->value) {
        return "-";
    }
    (void)snprintf(text, 20, "%.0f", (now->value - before->value) / view->seconds);
    return text;
}

/* Three digits are enough, and the unit that makes them short. */
static const char *
duration(double seconds, char text[20])
{
    static const struct {
        double most, unit;
        const char *name;
    } units[] = {
        {1e-6, 1e-9, "ns"}, {1e-3, 1e-6, "us"}, {1, 1e-3, "ms"}, {120, 1, "s"}, {7200, 60, "min"}};
    size_t i = 0;

    while (i < sizeof units / sizeof units[0] && seconds >= units[i].most) {
        i++;
    }
    if (i == sizeof units / sizeof units[0]) {
        (void)snprintf(text, 20, "%.1f h", seconds / 3600);
    } else {
        (void)snprintf(text, 20, "%.*f %s", seconds / units[i].unit < 100 ? 1 : 0,
                       seconds / units[i].unit, units[i].name);
    }
    return text;
}

/*
 * A bucket's upper bound is all that a histogram tells; `oldest` bounds it too, if it is known. Of
 * what is beyond the buckets it tells the greatest bound.
 */
static const char *
time_bound(const view_t *view, const char *histogram, const char *label, const char *value,
           double quantile, double oldest, char text[24])
{
    const char *most = page_quantile(view->now, histogram, view->queue, label, value, quantile);
    char time[20];

    if (most == NULL) {
        return "-";
    }
    double bound = strtod(most, NULL); /* "+Inf" too */

    bound = bound < oldest ? bound : oldest;
    if (bound != INFINITY) {
        (void)snprintf(text, 24, "<=%s", duration(bound, time));
        return text;
    }
    const char *greatest = page_greatest(view->now, histogram, view->queue, label, value);

    (void)snprintf(text, 24, ">%s", greatest != NULL ? duration(strtod(greatest, NULL), time) : "");
    return text;
}

static const char *
tries_bound(const view_t *view, const char *place, double quantile, char text[24])
{
    const char *most = page_quantile(view->now, attempts, view->queue, "place", place, quantile);
    const char *sign = "<=";

    if (most == NULL) {
        return "-";
    }
    if (strcmp(most, "0") == 0) {
        return "0";
    }
    if (strcmp(most, "+Inf") == 0) {
        most = page_greatest(view->now, attempts, view->queue, "place", place);
        sign = ">";
    }
    (void)snprintf(text, 24, "%s%s", sign, most != NULL ? most : "");
    return text;
}

static void
write_first(const view_t *view, FILE *out)
{
    fprintf(out, "schedq-top  %s", view->where);
    if (view->queue != NULL) {
        fprintf(out, "  queue %s", view->queue);
    }
    fprintf(out, "\nworkers %.0f  nominated %.0f  calls that stand %.0f\n\n",
            value_of(view, "schedq_workers", NULL, NULL),
            value_of(view, "schedq_nominated_pods", NULL, NULL),
            value_of(view, "schedq_standing_calls", NULL, NULL));
}

/* Nothing, if the queue knows of no group. */
static void
write_aside(const view_t *view, FILE *out)
{
    static const char name[] = "scheduler_pending_pods";

    if (page_find(view->now, name, view->queue, "queue", "incomplete") != NULL) {
        fprintf(out, "  of these, %.0f lack others of their group, and %.0f wait for its cycle\n",
                value_of(view, name, "queue", "incomplete"),
                value_of(view, name, "queue", "pending"));
    }
}

static void
write_places(const view_t *view, FILE *out)
{
    static const char *const places[] = {"active", "backoff",  "error-backoff", "parked",
                                         "gated",  "inflight", "held",          "aside"};
    char oldest[20], half[24], most[24], tries[24], count[40];

    fprintf(out, "%-16s %10s %10s %10s %10s %10s\n", "PLACE", "pods", "oldest", "wait p50",
            "wait p99", "tries p99");
    (void)snprintf(count, sizeof count, "%s_count", waits);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *place = places[i];
        double pods = value_of(view, count, "place", place);
        double age = value_of(view, "schedq_oldest_pod_seconds", "place", place);

        fprintf(out, "  %-14s %10.0f %10s %10s %10s %10s\n", place, pods,
                pods > 0 ? duration(age, oldest) : "-",
                time_bound(view, waits, "place", place, 0.5, age, half),
                time_bound(view, waits, "place", place, 0.99, age, most),
                tries_bound(view, place, 0.99, tries));
    }
    write_aside(view, out);
    fputc('\n', out);
}

static void
write_rates(const view_t *view, FILE *out)
{
    static const struct {
        const char *title, *name;
    } rates[] = {
        {"adds", "schedq_adds_total"},        {"pops", "schedq_pops_total"},
        {"dones", "schedq_dones_total"},      {"failures", "schedq_failures_total"},
        {"moves", "schedq_moves_total"},      {"events", "schedq_events_total"},
        {"hints", "schedq_hint_calls_total"}, {"wake-ups", "schedq_wakeups_total"},
    };
    size_t count = sizeof rates / sizeof rates[0];
    char text[20];

    fprintf(out, "EACH SECOND\n ");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, " %8s", rates[i].title);
    }
    fprintf(out, "\n ");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, " %8s", rate(view, rates[i].name, NULL, NULL, text));
    }
    fprintf(out, "\n\n");
}

static int
by_pods(const void *a, const void *b)
{
    const page_sample_t *const *first = a, *const *second = b;
    int order = ((*first)->value < (*second)->value) - ((*first)->value > (*second)->value);

    return order != 0 ? order : *first < *second ? -1 : 1; /* as they stand in the page */
}

/* The plugins that most waiting pods were rejected by. */
static bool
write_rejectors(const view_t *view, FILE *out)
{
    static const char name[] = "scheduler_unschedulable_pods";
    const page_sample_t **found = malloc((view->now->count + 1) * sizeof *found);
    size_t count = 0;

    if (found == NULL) {
        return false;
    }
    for (size_t i = 0; i < view->now->count; i++) {
        const page_sample_t *sample = &view->now->samples[i];

        if (page_is(sample, name, view->queue, NULL, NULL) && sample->value > 0) {
            found[count++] = sample;
        }
    }
    qsort(found, count, sizeof *found, by_pods);
    fprintf(out, "REJECTED BY\n");
    if (count == 0) {
        fprintf(out, "  nothing\n");
    }
    for (size_t i = 0; i < count && i < REJECTORS; i++) {
        const char *profile = page_label_of(found[i], "profile");

        fprintf(out, "  %-30s %10.0f pods  profile %s\n", page_label_of(found[i], "plugin"),
                found[i]->value, profile != NULL ? profile : "-");
    }
    if (count > REJECTORS) {
        fprintf(out, "  and %zu plugins more\n", count - REJECTORS);
    }
    fputc('\n', out);
    free(found);
    return true;
}

/* Nothing, if the queue does not sample its calls. */
static void
write_calls(const view_t *view, FILE *out)
{
    static const char name[] = "schedq_call_seconds", count[] = "schedq_call_seconds_count";
    char head[60], half[24], most[24], each[20];

    if (page_find(view->now, "schedq_sample_calls", view->queue, NULL, NULL) == NULL) {
        return;
    }
    (void)snprintf(head, sizeof head, "CALLS, one of %.0f",
                   value_of(view, "schedq_sample_calls", NULL, NULL));
    fprintf(out, "%-22s %10s %10s %10s\n", head, "timed/s", "p50", "p99");
    for (size_t i = 0; i < view->now->count; i++) {
        const page_sample_t *sample = &view->now->samples[i];
        const char *call = page_label_of(sample, "call");

        if (!page_is(sample, count, view->queue, NULL, NULL) || sample->value == 0) {
            continue;
        }
        fprintf(out, "  %-20s %10s %10s %10s\n", call, rate(view, count, "call", call, each),
                time_bound(view, name, "call", call, 0.5, INFINITY, half),
                time_bound(view, name, "call", call, 0.99, INFINITY, most));
    }
    fputc('\n', out);
}

static void
write_memory(const view_t *view, FILE *out)
{
    static const char *const kinds[] = {"entries", "names", "index", "queues", "other"};
    const size_t count = sizeof kinds / sizeof kinds[0];
    const double mib = 1024 * 1024;
    double sum = 0;

    fprintf(out, "MEMORY, MiB\n ");
    for (size_t i = 0; i < count; i++) {
        fprintf(out, " %8s", kinds[i]);
    }
    fprintf(out, " %8s %8s\n ", "sum", "waiting");
    for (size_t i = 0; i < count; i++) {
        double bytes = value_of(view, "schedq_memory_bytes", "kind", kinds[i]);

        sum += bytes;
        fprintf(out, " %8.1f", bytes / mib);
    }
    fprintf(out, " %8.1f %8.1f\n", sum / mib,
            value_of(view, "schedq_memory_waiting_bytes", NULL, NULL) / mib);
}

char *
view_text(const view_t *view)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    if (out == NULL) {
        return NULL;
    }
    write_first(view, out);
    write_places(view, out);
    write_rates(view, out);
    bool whole = write_rejectors(view, out);

    write_calls(view, out);
    write_memory(view, out);
    whole = fclose(out) == 0 && whole;
    if (!whole) {
        free(text);
        text = NULL;
    }
    return text;
}
