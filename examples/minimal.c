#include <inttypes.h>
#include <stdio.h>

#include <schedq/schedq.h>

int
main(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_pod_spec_t web = SCHEDQ_POD_SPEC_INIT, db = SCHEDQ_POD_SPEC_INIT;
    schedq_t *queue;
    schedq_worker_t *worker;
    schedq_popped_t popped;
    char why[200];

    /* then change what you want: schedq/config.h and pod.h document every field */
    web.object = 1;
    db.object = 2;
    db.priority = 100;
    if (schedq_create(&config, &queue, why, sizeof why) != SCHEDQ_OK ||
        schedq_worker_register(queue, &worker, why, sizeof why) != SCHEDQ_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    if (schedq_add(worker, "web", 3, &web, NULL) != SCHEDQ_OK ||
        schedq_add(worker, "db", 2, &db, NULL) != SCHEDQ_OK) {
        fprintf(stderr, "%s\n", schedq_worker_error(worker));
        return 1;
    }
    while (schedq_try_pop(worker, &popped) == SCHEDQ_OK) {
        printf("%s: object %" PRIu64 "\n", popped.name, popped.object);
        schedq_done(worker, popped.token); /* placed; schedq_fail if it fits nowhere */
    }
    schedq_worker_unregister(worker);
    if (schedq_destroy(queue, why, sizeof why) != SCHEDQ_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    return 0;
}
