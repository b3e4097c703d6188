/*
 * A watchdog beside a scheduler that forgets to end a cycle. Time is a word that the program
 * raises, so the output is the same in every run; a program with a real clock looks once a period.
 */
#include <stdio.h>

#include <schedq/schedq.h>

#define SECOND_NS INT64_C(1000000000)

/* Once a period. `watch` keeps what one look leaves for the next one. */
static void
look(schedq_worker_t *worker, schedq_watch_t *watch)
{
    schedq_overdue_t overdue[16];
    size_t found = 0;

    (void)schedq_watch(worker, watch, overdue, 16, &found);
    for (size_t i = 0; i < found && i < 16; i++) {
        char text[512];

        (void)schedq_overdue_text(worker, &overdue[i], text, sizeof text);
        puts(text);
    }
}

int
main(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    schedq_popped_t forgotten, ended;
    schedq_t *queue;
    schedq_worker_t *worker;
    char why[200];

    config.external_clock = 1;
    watch.inflight_ns = 60 * SECOND_NS;
    if (schedq_create(&config, &queue, why, sizeof why) != SCHEDQ_OK ||
        schedq_worker_register(queue, &worker, why, sizeof why) != SCHEDQ_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    if (schedq_add(worker, "web", 3, &spec, NULL) != SCHEDQ_OK ||
        schedq_add(worker, "db", 2, &spec, NULL) != SCHEDQ_OK ||
        schedq_try_pop(worker, &forgotten) != SCHEDQ_OK ||
        schedq_try_pop(worker, &ended) != SCHEDQ_OK) {
        fprintf(stderr, "%s\n", schedq_worker_error(worker));
        return 1;
    }
    for (int64_t second = 0; second <= 70; second += 10) {
        schedq_clock_advance(queue, second * SECOND_NS);
        if (second == 50) {
            schedq_done(worker, ended.token);
        }
        look(worker, &watch);
    }
    schedq_worker_unregister(worker);
    schedq_destroy_with_pods(queue, why, sizeof why);
    return 0;
}
