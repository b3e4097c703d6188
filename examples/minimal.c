#include <inttypes.h>
#include <stdio.h>

#include <schedq/schedq.h>

int
main(void)
{
    static const char names[] = "default/webdefault/db";
    schedq_config_t config;
    schedq_t *queue;
    schedq_worker_t *worker;
    schedq_popped_t popped;
    char why[200];

    /* then change what you want: every field is documented in schedq.h */
    schedq_config_init(&config);
    if (schedq_create(&config, &queue, why, sizeof why) != SCHEDQ_OK ||
        schedq_worker_register(queue, &worker, why, sizeof why) != SCHEDQ_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    schedq_pod_spec_t web = {.object = 1, .name_offset = 0, .name_length = 11, .priority = 0};
    schedq_pod_spec_t db = {.object = 2, .name_offset = 11, .name_length = 10, .priority = 100};

    if (schedq_add(worker, names, &web, NULL) != SCHEDQ_OK ||
        schedq_add(worker, names, &db, NULL) != SCHEDQ_OK) {
        fprintf(stderr, "%s\n", schedq_worker_error(worker));
        return 1;
    }
    while (schedq_try_pop(worker, &popped) == SCHEDQ_OK) {
        printf("%s: object %" PRIu64 "\n", popped.name, popped.object);
        schedq_done(worker, popped.token); /* placed; schedq_add_unschedulable if it fits nowhere */
    }
    schedq_worker_unregister(worker);
    return schedq_destroy(queue) == SCHEDQ_OK ? 0 : 1;
}
