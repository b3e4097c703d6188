/*
 * What caused the attempts. The queue counts each pod that becomes active under the label of what
 * made it so, in its metrics; each of them is popped once, or kept back by its class. So without
 * classes these counts are attempts.
 */
#include "sim.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Labels that are no events. */
static const struct {
    const char *label;
    cause_t cause;
} known[] = {
    {"PodAdd", CAUSE_ARRIVAL}, /* kube <= 1.30 */
    {"UnschedulablePodAdd", CAUSE_ARRIVAL},
    {"BackoffComplete", CAUSE_TIME},
    {"PopFromBackoffQ", CAUSE_TIME},
    {"UnschedulableTimeout", CAUSE_FLUSH},
};

/*
 * A failure that makes a pod active at once does so because of an event of its flight, so
 * ScheduleAttemptFailure is an event too.
 */
static cause_t
cause_of_label(const char *label)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].label, label) == 0) {
            return known[i].cause;
        }
    }
    return CAUSE_EVENT;
}

static int
append(void *ctx, const char *text, size_t length)
{
    return fwrite(text, 1, length, ctx) == length;
}

/* All metrics, for free(). NULL: the run has failed. */
static char *
read_metrics(sim_t *sim)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL) {
        sim_fail(sim, "no memory for the metrics");
        return NULL;
    }
    schedq_status_t status = schedq_metrics_write(sim->queue, append, out);
    if (fclose(out) != 0 || status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_metrics_write: %s", schedq_status_name(status));
        free(text);
        return NULL;
    }
    return text;
}

static void
count_line(sim_t *sim, const char *line)
{
    char label[128];
    uint64_t pods;

    if (sscanf(line,
               "scheduler_queue_incoming_pods_total{queue=\"active\",event=\"%127[^\"]\"} "
               "%" SCNu64,
               label, &pods) == 2) {
        sim->result->attempts_by[cause_of_label(label)] += pods;
    }
}

/* All that classes kept back, but for those that were in flight. */
static uint64_t
kept_back(sim_t *sim)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    uint64_t hidden = 0;

    if (schedq_stats(sim->queue, &stats) != SCHEDQ_OK) {
        sim_fail(sim, "schedq_stats fails");
    }
    for (unsigned i = 0; i < sim->worker_count; i++) {
        hidden += sim->workers[i].hidden;
    }
    return stats.class_hides - hidden;
}

void
sim_count_causes(sim_t *sim)
{
    char *metrics = read_metrics(sim);
    char *rest = NULL;
    uint64_t sum = 0;

    if (metrics == NULL) {
        return;
    }
    for (char *line = strtok_r(metrics, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        count_line(sim, line);
    }
    free(metrics);
    for (int i = 0; i < CAUSE_COUNT; i++) {
        sum += sim->result->attempts_by[i];
    }
    sim->result->kept_back = kept_back(sim);
    if (sum != sim->result->attempts + sim->result->kept_back && !sim->result->interrupted) {
        sim_fail(sim,
                 "the queue counts %" PRIu64 " pods that became active, %" PRIu64
                 " of them kept back, the replay %" PRIu64 " attempts",
                 sum, sim->result->kept_back, sim->result->attempts);
    }
}
