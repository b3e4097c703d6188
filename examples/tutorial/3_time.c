/*
 * Step 3: a job whose start fails is tried again after a pause that doubles.
 *
 * The clock is ours, so that the program runs at once and prints the same each time. A scheduler
 * leaves config.clock as it is and starts schedq_run: then the queue's timer thread looks at the
 * machine's clock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedq/schedq.h>

enum { FAILURES = 3 };

static int64_t now = 1;

static int64_t
read_clock(void *ctx)
{
    (void)ctx;
    return now;
}

static void
give_up(const char *call, const char *words)
{
    fprintf(stderr, "%s: %s\n", call, words);
    exit(EXIT_FAILURE);
}

static schedq_t *
create(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_t *queue;
    char why[200];

    config.clock.now_ns = read_clock;
    config.clock.is_virtual = 1;
    if (schedq_create(&config, &queue, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_create", why);
    }
    return queue;
}

/* Sleeps until the queue wants to look at the time. */
static void
advance(schedq_worker_t *worker)
{
    int64_t next;

    if (schedq_tick(worker, &next, NULL) != SCHEDQ_OK || next == SCHEDQ_NO_DEADLINE) {
        give_up("schedq_tick", "nothing waits for time");
    }
    now = next;
    if (schedq_tick(worker, NULL, NULL) != SCHEDQ_OK) {
        give_up("schedq_tick", schedq_worker_error(worker));
    }
}

int
main(void)
{
    schedq_t *queue = create();
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_worker_t *worker;
    schedq_popped_t job;
    char why[200];

    if (schedq_worker_get(queue, &worker, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_worker_get", why);
    }
    if (schedq_add(worker, "upload", 6, &spec, NULL) != SCHEDQ_OK) {
        give_up("schedq_add", schedq_worker_error(worker));
    }
    while (schedq_try_pop(worker, &job) == SCHEDQ_OK) {
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
        schedq_result_t result;

        printf("at %2" PRId64 " s: try %" PRIu32 "\n", now / 1000000000, job.history.attempts);
        if (job.history.errors == FAILURES) {
            schedq_done(worker, job.token);
            printf("it starts\n");
            break;
        }
        /* no plugin rejected it: its start failed */
        if (schedq_fail(worker, &job.token, &failure, &result) != SCHEDQ_OK) {
            give_up("schedq_fail", schedq_worker_error(worker));
        }
        printf("its start breaks: %s\n", schedq_place_name((schedq_place_t)result.place));
        if (schedq_try_pop(worker, &job) != SCHEDQ_EMPTY) {
            give_up("schedq_try_pop", "it came back at once");
        }
        advance(worker);
    }
    if (schedq_destroy(queue, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_destroy", why);
    }
    return EXIT_SUCCESS;
}
