/* Cancels, which the next pop that waits answers; the descriptor of each queue. */
#include <poll.h>

#include "compare.h"
#include "operation.h"
#include "run.h"

/* No call with the worker: its words stay. */
void
run_cancel(world_t *world, const operation_t *operation)
{
    (void)operation;
    SHOW(world, "schedq_wait_cancel\n");
    for (unsigned side = 0; side < SIDES; side++) {
        op_t op = {.kind = OP_WAIT_CANCEL, .waits = world_worker(world, side)};

        if (op_run(NULL, &op) != SCHEDQ_OK) {
            (void)differ(world, "wait_cancel: %s says %s", world->sides[side].engine,
                         schedq_status_name(op.status));
            return;
        }
    }
}

/*
 * A queue's descriptor is readable beside an active pod, and when the queue is closed; by then its
 * host was woken, too.
 */
void
run_descriptor(world_t *world, const operation_t *operation)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    (void)operation;
    SHOW(world, "schedq_wait_fd\n");
    (void)schedq_stats(world->sides[0].queue, &stats);
    for (unsigned side = 0; side < SIDES; side++) {
        struct pollfd wanted = {.events = POLLIN};
        schedq_status_t status = schedq_wait_fd(world->sides[side].queue, &wanted.fd, NULL, 0);
        bool readable = status == SCHEDQ_OK && poll(&wanted, 1, 0) == 1;

        if (side == 1 && readable && plant_due(world, OTHER_READABLE)) {
            readable = false;
        }
        if (status != SCHEDQ_OK ||
            (!readable && (stats.active > stats.members_at[SCHEDQ_ACTIVE] || world->closed))) {
            (void)differ(world, "wait_fd: %s is not readable beside a pod that is active",
                         world->sides[side].engine);
            return;
        }
        bool woken = world->sides[side].woken && !(side == 1 && plant_due(world, OTHER_WOKEN));

        if (settings_have(&world->settings, FEATURE_NESTED) && !woken &&
            (stats.active > stats.members_at[SCHEDQ_ACTIVE] || world->closed)) {
            (void)differ(world, "wait_callback: %s woke nobody for a pod that is active",
                         world->sides[side].engine);
            return;
        }
    }
}
