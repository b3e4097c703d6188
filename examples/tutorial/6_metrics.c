/*
 * Step 6: what the queue tells of itself: counts for the program, text for Prometheus.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedq/schedq.h>

static void
give_up(const char *call, const char *words)
{
    fprintf(stderr, "%s: %s\n", call, words);
    exit(EXIT_FAILURE);
}

/* Three jobs: one is placed, one is parked, one is still to be taken. */
static void
work(schedq_worker_t *worker, uint64_t cores)
{
    static const char *const names[] = {"compile", "render", "backup"};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_popped_t job;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

        if (schedq_add(worker, names[i], strlen(names[i]), &spec, NULL) != SCHEDQ_OK) {
            give_up("schedq_add", schedq_worker_error(worker));
        }
    }
    if (schedq_try_pop(worker, &job) != SCHEDQ_OK || schedq_done(worker, job.token) != SCHEDQ_OK ||
        schedq_try_pop(worker, &job) != SCHEDQ_OK) {
        give_up("work", schedq_worker_error(worker));
    }
    failure.unschedulable = cores;
    if (schedq_fail(worker, &job.token, &failure, NULL) != SCHEDQ_OK) {
        give_up("schedq_fail", schedq_worker_error(worker));
    }
}

/* Gets the metrics piece by piece. A server would send them; this one counts their lines. */
static int
count_lines(void *ctx, const char *text, size_t length)
{
    size_t *lines = ctx;

    for (size_t i = 0; i < length; i++) {
        *lines += text[i] == '\n';
    }
    return 1; /* go on */
}

int
main(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    schedq_worker_t *worker = NULL;
    schedq_t *queue;
    uint64_t cores;
    size_t lines = 0;
    char why[200];

    if (schedq_create(&config, &queue, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_create", why);
    }
    plugin.name = "cores";
    if (schedq_plugin_register(queue, &plugin, &cores, why, sizeof why) != SCHEDQ_OK ||
        schedq_worker_get(queue, &worker, why, sizeof why) != SCHEDQ_OK) {
        give_up("setup", why);
    }
    work(worker, cores);
    if (schedq_stats(queue, &stats) != SCHEDQ_OK) {
        give_up("schedq_stats", "refused");
    }
    printf("active %" PRIu64 ", parked %" PRIu64 ", placed %" PRIu64 " of %" PRIu64 "\n",
           stats.active, stats.parked, stats.dones, stats.adds);
    if (schedq_metrics_write(queue, count_lines, &lines) != SCHEDQ_OK) {
        give_up("schedq_metrics_write", "refused");
    }
    printf("metrics: %s\n", lines > 0 ? "written" : "nothing");
    if (schedq_destroy_with_pods(queue, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_destroy_with_pods", why);
    }
    return EXIT_SUCCESS;
}
