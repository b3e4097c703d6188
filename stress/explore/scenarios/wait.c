/* Hosts that wait for the queue's descriptor, and waits that are cancelled: no wake-up is lost. */
#include "bodies.h"
#include "scenarios.h"
#include "world.h"

/* ---- the descriptor -------------------------------------------------------------------------- */

static void
with_descriptor(struct actor *actor)
{
    int fd;

    SIM_CHECK(schedq_wait_fd(world.queue, &fd, NULL, 0) == SCHEDQ_OK, "no descriptor");
    (void)actor_pop(actor);
}

static void
with_descriptor_and_pod(struct actor *actor)
{
    with_descriptor(actor);
    (void)actor_add(actor, 2, 1);
}

/* Some are there, and the host was told of them. */
static void
with_descriptor_and_pods(struct actor *actor)
{
    with_descriptor_and_pod(actor);
    (void)actor_add(actor, 3, 1);
    (void)actor_add(actor, 4, 1);
}

/* Pops until there is nothing. */
static void
loop(struct actor *actor)
{
    while (actor_poll_and_pop(actor, HELD_MAX)) {
        (void)actor_done_all(actor);
    }
    (void)actor_done_all(actor);
}

/* Goes back after each pod. */
static void
loop_one_by_one(struct actor *actor)
{
    while (actor_poll_and_pop(actor, 1)) {
        (void)actor_done_all(actor);
    }
}

/* Ends with its first pod. */
static void
loop_for_one(struct actor *actor)
{
    while (actor->holds == 0 && actor_poll_and_pop(actor, 1)) {
    }
    (void)actor_done_all(actor);
}

static void
add_0_1(struct actor *actor)
{
    add_0(actor);
    add_1(actor);
}

static void
add_and_close(struct actor *actor)
{
    add_0(actor);
    actor_close(actor);
}

static void
add_2_3(struct actor *actor)
{
    (void)actor_add(actor, 2, 1);
    (void)actor_add(actor, 3, 2);
}

/* More urgent than all others, then one among them. */
static void
add_urgent(struct actor *actor)
{
    (void)actor_add(actor, 0, 9);
    (void)actor_add(actor, 1, 1);
}

static void
take_twice(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
wait_for_one(struct actor *actor)
{
    if (actor_pop_many_wait(actor, 1) > 0) {
        (void)actor_done_all(actor);
    }
}

/* ---- cancel ---------------------------------------------------------------------------------- */

static void
may_be_cancelled(struct actor *actor)
{
    (void)actor;
    world_allow(SCHEDQ_CANCELED);
}

static void
cancel_0(struct actor *actor)
{
    actor_wait_cancel(actor, 0);
}

static void
cancel_0_twice(struct actor *actor)
{
    actor_wait_cancel(actor, 0);
    actor_wait_cancel(actor, 0);
}

/* Who gets the pod adds another: so there is always one for the next. */
static void
wait_and_replace(struct actor *actor)
{
    if (actor_pop_many_wait(actor, 1) > 0) {
        (void)actor_done_all(actor);
        add_1(actor);
    }
}

static void
wait_until_cancelled(struct actor *actor)
{
    while (actor_pop_many_wait(actor, 2) > 0) {
        (void)actor_done_all(actor);
    }
}

const struct scenario wait_scenarios[] = {
    SCENARIO_OF(
        &queue_harness, true, 1, "readiness_last_pop",
        "the last pod is popped by one who finds nothing then, while a loop waits and one adds",
        NULL, with_descriptor_and_pod, loop, take_twice, add_0_1, world_heal),
    {.name = "readiness_exact",
     .about = "two loops and two adders: each loop gets a pod",
     .harness = &queue_harness,
     .threads = 4,
     .never_frozen = true,
     .sleeps = true,
     .prepare = with_descriptor,
     .bodies = {loop_for_one, loop_for_one, add_0, add_1}},
    SCENARIO_OF(&queue_harness, true, 1, "readiness_frozen",
                "loops and adders, some of them frozen: a tick tells who is left", NULL,
                with_descriptor, loop, loop_one_by_one, add_0, add_1, world_heal),
    SCENARIO_OF(&queue_harness, true, 1, "readiness_urgent",
                "a loop and a consumer pass what they took while a more urgent pod comes", NULL,
                with_descriptor_and_pods, loop, take_twice, add_urgent, world_heal),
    {.name = "readiness_beside",
     .about = "a loop beside one that waits in pop: both are told",
     .harness = &queue_harness,
     .threads = 4,
     .never_frozen = true,
     .sleeps = true,
     .prepare = with_descriptor,
     .bodies = {loop_for_one, wait_for_one, add_0_1, add_2_3}},
    SCENARIO_OF(&queue_harness, true, 1, "readiness_close", "close against loops that find nothing",
                NULL, with_descriptor, loop, add_and_close, loop_one_by_one, world_heal),
    {.name = "cancel_wake_up",
     .about = "a cancel of one of two sleepers against a wake-up that may be his",
     .harness = &queue_harness,
     .threads = 4,
     .never_frozen = true,
     .sleeps = true,
     .prepare = may_be_cancelled,
     .bodies = {wait_and_replace, wait_for_one, add_0, cancel_0}},
    SCENARIO_OF(&queue_harness, true, 1, "cancel_frozen",
                "cancels, sleepers and adders, some of them frozen", NULL, may_be_cancelled,
                wait_until_cancelled, wait_for_one, add_0_1, cancel_0_twice, world_heal),
    {.name = NULL},
};
