/* Time: pods whose backoff or whose limit is over, and who serves them. */
#include "cluster.h"
#include "platform.h"
#include "scenarios.h"
#include "world.h"

#include "lockfree/moves/stray.h"

/* ---- before ---------------------------------------------------------------------------------- */

static void
back_off(struct actor *actor)
{
    for (uint32_t key = 0; key < 5; key++) {
        (void)actor_add(actor, key, (int32_t)(key % 2) + 1);
    }
    for (uint32_t key = 0; key < 5; key++) {
        (void)actor_pop_and_fail(actor, key < 2 ? 0 : PLAIN);
    }
    actor_move(actor, EVENT_PLAIN);
}

static void
back_off_till_due(struct actor *actor)
{
    back_off(actor);
    cluster_pass(2 * BACKOFF_NS);
}

static void
park_too_long(struct actor *actor)
{
    for (uint32_t key = 0; key < 3; key++) {
        (void)actor_add(actor, key, 1);
        (void)actor_pop_and_fail(actor, PLAIN);
    }
    cluster_pass(LIMIT_NS + 1);
}

static void
park_two(struct actor *actor)
{
    for (uint32_t key = 0; key < 2; key++) {
        (void)actor_add(actor, key, 1);
        (void)actor_pop_and_fail(actor, PLAIN);
    }
}

static void
hold_two(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 2);
    (void)actor_pop(actor);
    (void)actor_pop(actor);
}

/* Pod 1 is due later than pod 0 will be. */
static void
park_and_back_off(struct actor *actor)
{
    (void)actor_add(actor, 1, 1);
    (void)actor_pop_and_fail(actor, PLAIN);
    actor_activate(actor, 1);
    (void)actor_pop_and_fail(actor, PLAIN);
    actor_move(actor, EVENT_PLAIN);
    (void)actor_add(actor, 0, 1);
    (void)actor_pop(actor);
    if (actor->held[0].from_backoff == 0) {
        (void)actor_fail(actor, PLAIN);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static void
tick(struct actor *actor)
{
    actor_tick(actor);
}

static void
pass_and_tick(struct actor *actor)
{
    actor_tick_after(actor, 2 * BACKOFF_NS);
}

static void
tick_often(struct actor *actor)
{
    for (unsigned i = 0; i < 3; i++) {
        actor_tick_after(actor, BACKOFF_NS);
    }
}

static void
pass_far_and_tick(struct actor *actor)
{
    actor_tick_after(actor, LIMIT_NS);
}

static void
consume_3(struct actor *actor)
{
    actor_consume(actor, 3);
}

static void
pop_batch(struct actor *actor)
{
    (void)actor_pop_many(actor, 3);
    (void)actor_done_many(actor);
    (void)actor_pop(actor);
    (void)actor_done_all(actor);
}

static void
add_and_pop(struct actor *actor)
{
    (void)actor_add(actor, 5, 3);
    actor_consume(actor, 2);
}

static void
fail_errors(struct actor *actor)
{
    (void)actor_fail(actor, 0);
    (void)actor_fail(actor, 0);
}

static void
fail_plain_and_error(struct actor *actor)
{
    (void)actor_fail(actor, PLAIN);
    (void)actor_fail(actor, 0);
}

static void
move_plain(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
}

static void
activate_and_delete(struct actor *actor)
{
    actor_activate(actor, 2);
    (void)actor_delete(actor, 3);
}

static void
activate_1(struct actor *actor)
{
    actor_activate(actor, 1);
}

static void
consume_1(struct actor *actor)
{
    actor_consume(actor, 1);
}

static void
update_backing_off(struct actor *actor)
{
    (void)actor_update(actor, 3, 5);
    (void)actor_update(actor, 0, 5);
}

/* ---- sleepers that serve time ---------------------------------------------------------------- */

static void
pop_until_closed(struct actor *actor)
{
    while (actor_pop_wait(actor)) {
        (void)actor_done_all(actor);
    }
}

static void
wait_shortly(struct actor *actor)
{
    if (actor_pop_until(actor, BACKOFF_NS / 2)) {
        (void)actor_done_all(actor);
    }
}

static void
fail_and_add(struct actor *actor)
{
    (void)actor_fail(actor, 0);
    (void)actor_add(actor, 2, 1);
    (void)actor_fail(actor, 0);
}

/*
 * Nobody runs and somebody sleeps without a deadline: nothing backs off, unless who should have
 * told of it is frozen.
 */
static void
heal(struct actor *actor)
{
    const schedq_words_t *words = schedq_words(world.queue);

    for (unsigned i = 0; i < 4; i++) {
        if (sim_wait_for_quiet()) {
            return;
        }
        SIM_CHECK(sim_frozen() > 0 || (words->backoff == 0 && words->error_backoff == 0),
                  "a pod backs off, and who could serve it sleeps for ever");
        actor_tick_after(actor, 10 * BACKOFF_NS);
    }
    if (!sim_wait_for_quiet()) {
        SIM_CHECK(words->backoff <= sim_frozen() && words->error_backoff <= sim_frozen(),
                  "ticks do not serve a pod");
        actor_close(actor);
    }
}

/* ---- the timer thread ------------------------------------------------------------------------ */

#define TIMER 0 /* the thread that is it */
#define PATIENCE_NS (20 * BACKOFF_NS)

static void
run_and_hold_two(struct actor *actor)
{
    char why[200];
    schedq_status_t status = schedq_run(world.queue, why, sizeof why);

    SIM_CHECK(status == SCHEDQ_OK, "run returns %s: %s", schedq_status_name(status), why);
    (void)actor;
    hold_two(world_actor(1));
}

static void
be_timer(struct actor *actor)
{
    (void)actor;
    platform_run_thread();
}

static void
stop_timer(void)
{
    if (!sim_is_frozen(TIMER)) {
        (void)schedq_stop(world.queue);
    }
}

static int
count_backing_off(void *ctx, const schedq_pod_info_t *info)
{
    *(unsigned *)ctx += info->place == SCHEDQ_BACKOFF || info->place == SCHEDQ_ERROR_BACKOFF;
    return 1;
}

/*
 * Time is served, whoever has stopped: what fails comes back, to this thread or to another that may
 * have stopped with it.
 */
static void
fail_and_wait(struct actor *actor)
{
    unsigned backing_off = 0;

    fail_errors(actor);
    for (unsigned i = 0; i < 2; i++) {
        if (actor_pop_until(actor, PATIENCE_NS)) {
            (void)actor_done_all(actor);
        }
    }
    (void)schedq_snapshot(actor->worker, count_backing_off, &backing_off);
    SIM_CHECK(backing_off == 0, "%u pods back off, and nobody serves them", backing_off);
    stop_timer();
}

static void
wait_for_one(struct actor *actor)
{
    if (actor_pop_until(actor, PATIENCE_NS)) {
        (void)actor_done_all(actor);
    }
}

/* Nobody waits for a pod: the timer alone has to wake in time. */
static void
heal_timer(struct actor *actor)
{
    const schedq_words_t *words = schedq_words(world.queue);

    (void)actor;
    (void)sim_wait_for_quiet();
    SIM_CHECK(sim_frozen() > 0 || words->error_backoff == 0,
              "pods back off, and the timer sleeps for ever");
    stop_timer();
}

static void
stop_early(struct actor *actor)
{
    (void)actor_fail(actor, 0);
    stop_timer();
    (void)actor_fail(actor, 0);
    wait_for_one(actor);
}

static void
short_ticks(schedq_config_t *config)
{
    cluster_use_real_time(config);
    config->pop_from_backoff = 0;
    config->tick_ns = BACKOFF_NS / 2;
}

static void
close_queue(struct actor *actor)
{
    actor_close(actor);
}

static void
fail_and_close(struct actor *actor)
{
    (void)actor_fail(actor, PLAIN);
    actor_close(actor);
    (void)actor_fail(actor, 0);
}

static void
add_and_move(struct actor *actor)
{
    (void)actor_add(actor, 2, 1);
    actor_move(actor, EVENT_PLAIN);
}

/* As a mover does that asked about a pod often enough: until a thread asks, a tick is due. */
static void
leave_note(struct actor *actor)
{
    (void)actor;
    if (world.config.engine != SCHEDQ_ENGINE_LOCKFREE) {
        return;
    }
    struct queue *queue = queue_of_base(world.queue);

    stray_leave(queue, STRAY_UNJUDGED);
    (void)sim_wait_for_quiet();
    sim_drain();
    SIM_CHECK(!stray_is_noted(queue, STRAY_NOTES) ||
                  schedq_words(world.queue)->next_deadline_ns <= cluster_now(),
              "a question is owed, and time is wanted at %lld",
              (long long)schedq_words(world.queue)->next_deadline_ns);
}

static void
not_from_backoff(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->pop_from_backoff = 0;
}

static void
real_time(schedq_config_t *config)
{
    cluster_use_real_time(config);
    config->pop_from_backoff = 0;
}

/* Threads that wait in real time, of whom one at least never stops. */
#define WAITING(...) SCENARIO_OF(&queue_harness, true, 1, __VA_ARGS__)

const struct scenario time_scenarios[] = {
    SLEEPING("tick_tick", "two ticks at once over the same due pods, and pops", not_from_backoff,
             back_off_till_due, tick, tick, consume_3),
    SLEEPING("tick_pop", "a tick against pops from backoff", cluster_use_without_gates,
             back_off_till_due, tick, consume_3, add_and_pop),
    SLEEPING("tick_pop_batch", "time passes while batches are popped", cluster_use_without_gates,
             back_off, pass_and_tick, pop_batch, consume_3),
    SLEEPING("tick_update", "a tick against updates of pods that are due", not_from_backoff,
             back_off_till_due, tick, update_backing_off, consume_3),
    SLEEPING("tick_update_pop", "the same where pop takes from backoff", cluster_use_without_gates,
             back_off_till_due, tick, update_backing_off, consume_3),
    SLEEPING("tick_activate", "a tick against an activation and a deletion", not_from_backoff,
             back_off_till_due, tick, activate_and_delete, consume_3),
    SLEEPING("tick_fail", "time passes while pods fail", not_from_backoff, hold_two, fail_errors,
             tick_often, consume_3),
    SLEEPING("tick_fail_plain", "time passes while pods are parked", not_from_backoff, hold_two,
             fail_plain_and_error, pass_far_and_tick, tick_often),
    SLEEPING("help_backoff", "a pop helps a move into backoff, and takes another pod",
             cluster_use_without_gates, park_and_back_off, move_plain, consume_1, activate_1),
    SLEEPING("move_tick", "an event brings the first pods into backoff while time is planned",
             not_from_backoff, park_two, move_plain, tick, add_and_pop),
    SLEEPING("tick_leftover", "two ticks over pods that were parked too long, and an event",
             cluster_use_without_gates, park_too_long, tick, tick, move_plain),
    SCENARIO_OF(&queue_harness, true, 1, "tick_note",
                "ticks plan while a note is left that a pod is owed a question", not_from_backoff,
                back_off_till_due, tick, tick, leave_note),
    WAITING("serve_sleepers", "who waits for a pod serves time, whoever else stops", real_time,
            hold_two, fail_errors, pop_until_closed, pop_until_closed, heal),
    WAITING("watch_hand_over",
            "who watches time takes another's pod, or its deadline passes: another sleeper watches",
            real_time, hold_two, fail_and_add, wait_shortly, pop_until_closed, heal),
    WAITING("serve_sleepers_tick", "the same against a caller's ticks", real_time, hold_two,
            fail_errors, pop_until_closed, tick, heal),
    SCENARIO_OF(&queue_harness, true, 2, "timer_frozen",
                "the timer thread stops anywhere: who waits for a pod serves time", short_ticks,
                run_and_hold_two, be_timer, fail_and_wait, wait_for_one),
    WAITING("timer_wakes", "pods fail while the timer thread falls asleep", real_time,
            run_and_hold_two, be_timer, fail_errors, heal_timer),
    {.name = "timer_stops",
     .about = "the timer thread is stopped while others wait for a pod",
     .harness = &queue_harness,
     .threads = 3,
     .sleeps = true,
     .never_frozen = true,
     .configure = short_ticks,
     .prepare = run_and_hold_two,
     .bodies = {be_timer, stop_early, wait_for_one}},
    WAITING("close_all", "close against a failure, an add, an event and a sleeper",
            cluster_use_without_gates, hold_two, fail_and_close, add_and_move, pop_until_closed,
            world_heal),
    WAITING("close_real", "close against sleepers that wait for a backoff", real_time, hold_two,
            fail_errors, close_queue, pop_until_closed, heal),
    {.name = NULL},
};
