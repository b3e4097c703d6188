/*
 * A call that may not use its worker says in words why; done and done_many end the cycle all the
 * same: while another thread is inside the worker, from every callback, and with a worker that is
 * not registered any more.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixture.h"
#include "mailbox.h"

/* ---- another thread inside ---- */

typedef struct holder {
    schedq_worker_t *worker;
    schedq_pod_t pod;
    mailbox_t mailbox;
    sem_t inside, enough;
    pthread_t thread;
    long number;
} holder_t;

static int
stay(void *ctx, const schedq_pod_info_t *pod)
{
    holder_t *holder = ctx;
    (void)pod;
    holder->number = syscall(SYS_gettid);
    sem_post(&holder->inside);
    sem_wait(&holder->enough);
    return 0;
}

static void *
hold(void *argument)
{
    holder_t *holder = argument;
    mailbox_check(&holder->mailbox,
                  schedq_get(holder->worker, holder->pod, stay, holder) == SCHEDQ_OK);
    return NULL;
}

/* A thread goes into a call with a worker of the queue, and stays there. */
static void
begin_holding(holder_t *holder, fixture_t *fixture)
{
    mailbox_init(&holder->mailbox);
    sem_init(&holder->inside, 0, 0);
    sem_init(&holder->enough, 0, 0);
    holder->pod = fx_add(fixture, "ns/looked-at", 0);
    assert_ok(schedq_worker_register(fx_queue(fixture), &holder->worker, NULL, 0));
    assert_int_equal(pthread_create(&holder->thread, NULL, hold, holder), 0);
    sem_wait(&holder->inside);
}

static void
end_holding(holder_t *holder)
{
    sem_post(&holder->enough);
    assert_int_equal(pthread_join(holder->thread, NULL), 0);
    mailbox_assert_empty(&holder->mailbox);
    assert_ok(schedq_worker_unregister(holder->worker));
    sem_destroy(&holder->inside);
    sem_destroy(&holder->enough);
}

static void
busy_names_the_thread_that_is_inside(void **state)
{
    fixture_t *fixture = *state;
    holder_t holder;
    schedq_popped_t popped;
    char number[32];
    begin_holding(&holder, fixture);
    snprintf(number, sizeof number, "thread %ld", holder.number);
    assert_status(schedq_try_pop(holder.worker, &popped), SCHEDQ_BUSY);
    assert_contains(schedq_worker_error(holder.worker), number);
    assert_status(schedq_worker_unregister(holder.worker), SCHEDQ_BUSY);
    assert_contains(schedq_worker_error(holder.worker), number);
    assert_string_equal(schedq_worker_error(fx_worker(fixture)), "");
    fx_find(fixture, "ns/looked-at");
    assert_contains(schedq_worker_error(holder.worker), number);
    sem_post(&holder.enough);
    assert_int_equal(pthread_join(holder.thread, NULL), 0);
    assert_ok(schedq_try_pop(holder.worker, &popped));
    assert_string_equal(schedq_worker_error(holder.worker), "");
    assert_status(schedq_try_pop(holder.worker, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(holder.worker), "out");
    assert_ok(schedq_worker_unregister(holder.worker));
}

static void
destroy_names_the_thread_that_is_inside(void **state)
{
    fixture_t *fixture = *state;
    holder_t holder;
    char number[32], why[sizeof fixture->why];
    begin_holding(&holder, fixture);
    snprintf(number, sizeof number, "thread %ld is inside", holder.number);
    schedq_status_t during = schedq_destroy_with_pods(fx_queue(fixture), why, sizeof why);
    sem_post(&holder.enough); /* before anything is asserted: the queue could not end */
    assert_int_equal(pthread_join(holder.thread, NULL), 0);
    assert_status(during, SCHEDQ_BUSY);
    assert_contains(why, "workers that are registered: 2:");
    assert_contains(why, number);
    assert_status(schedq_destroy_with_pods(fx_queue(fixture), why, sizeof why), SCHEDQ_BUSY);
    assert_null(strstr(why, "is inside"));
    assert_ok(schedq_worker_unregister(holder.worker));
}

static void
assert_gone(fixture_t *fixture, const schedq_popped_t *popped, const char *name)
{
    fx_seen_t seen = {.visits = 0};
    assert_place(fx_place(fixture, name), SCHEDQ_NOWHERE);
    assert_status(schedq_get(fx_worker(fixture), popped->pod, fx_see, &seen), SCHEDQ_NOT_FOUND);
    assert_status(schedq_token_alive(fx_worker(fixture), popped->token), SCHEDQ_STALE);
    assert_status(schedq_done(fx_worker(fixture), popped->token), SCHEDQ_STALE);
}

static void
end_with_a_worker_that_another_thread_is_inside(fixture_t *fixture)
{
    holder_t holder;
    fx_add(fixture, "ns/a", 5);
    fx_add(fixture, "ns/b", 4);
    schedq_popped_t first = fx_pop(fixture, "ns/a"), second = fx_pop(fixture, "ns/b");
    assert_ok(schedq_nominate(fx_worker(fixture), first.pod, 3));
    assert_ok(schedq_delete(fx_worker(fixture), second.pod, NULL));
    begin_holding(&holder, fixture);
    assert_status(schedq_done(holder.worker, first.token), SCHEDQ_OK);
    assert_string_equal(schedq_words(fx_queue(fixture))->nominations == 0 ? "" : "nominated", "");
    assert_status(schedq_done(holder.worker, second.token), SCHEDQ_GONE);
    assert_status(schedq_done(holder.worker, first.token), SCHEDQ_STALE);
    assert_status(schedq_done(holder.worker, second.token), SCHEDQ_STALE);
    assert_status(schedq_done(holder.worker, (schedq_token_t){12345}), SCHEDQ_STALE);
    assert_int_equal(fx_stats(fixture).inflight, 0);
    assert_int_equal(fx_stats(fixture).dones, 1);
    assert_gone(fixture, &first, "ns/a");
    assert_gone(fixture, &second, "ns/b");
    fx_add(fixture, "ns/a", 5);
    schedq_popped_t again = fx_pop(fixture, "ns/a");
    end_holding(&holder);
    assert_ok(schedq_done(fx_worker(fixture), again.token));
}

static void
done_ends_the_cycle_while_another_thread_is_inside_the_worker(void **state)
{
    end_with_a_worker_that_another_thread_is_inside(*state);
}

static void
references_go_back_then_too(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    end_with_a_worker_that_another_thread_is_inside(fixture);
    fx_tick(fixture);
}

static void
references_go_back_at_the_latest_with_the_queue(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    fx_add(fixture, "ns/a", 5);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_worker_t *gone;
    assert_ok(schedq_worker_register(fx_queue(fixture), &gone, NULL, 0));
    assert_ok(schedq_worker_unregister(gone));
    assert_ok(schedq_done(gone, popped.token));
}

/* One thread pops, others end the cycles: neither of them ticks, or ends one with a worker. */
static void
what_ended_before_a_pop_lets_go_with_it(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *gone;
    char name[16];
    fixture->config.max_pods = 4;
    fx_count_objects(fixture);
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fx_queue(fixture), &gone, NULL, 0));
    assert_ok(schedq_worker_unregister(gone));
    for (uint64_t object = 1; object <= 100; object++) {
        schedq_pod_spec_t spec = fx_spec(0);
        spec.object = object;
        snprintf(name, sizeof name, "ns/%u", (unsigned)object);
        fx_add_spec(fixture, name, &spec);
        schedq_popped_t popped = fx_pop(fixture, name);
        assert_int_equal(ledger_count(&fixture->ledger, object), 2);
        assert_int_equal(object > 1 ? ledger_count(&fixture->ledger, object - 1) : 0, 0);
        assert_ok(schedq_done(gone, popped.token));
    }
}

static void
done_many_ends_all_of_them(void **state)
{
    fixture_t *fixture = *state;
    holder_t holder;
    enum { COUNT = 100 };
    schedq_token_t tokens[COUNT + 1];
    uint8_t statuses[COUNT + 1];
    char name[16];
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_add(fixture, name, 5);
        tokens[i] = fx_pop(fixture, name).token;
    }
    tokens[COUNT] = tokens[3];
    begin_holding(&holder, fixture);
    assert_status(schedq_done_many(holder.worker, NULL, 1, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(holder.worker), "tokens");
    assert_status(schedq_done_many(holder.worker, tokens, COUNT + 1, statuses), SCHEDQ_STALE);
    assert_string_equal(schedq_worker_error(holder.worker), "");
    for (unsigned i = 0; i < COUNT; i++)
        assert_status((schedq_status_t)statuses[i], SCHEDQ_OK);
    assert_status((schedq_status_t)statuses[COUNT], SCHEDQ_STALE);
    assert_ok(schedq_done_many(holder.worker, NULL, 0, NULL));
    end_holding(&holder);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 0);
}

static void
done_ends_the_cycle_with_a_worker_that_was_unregistered(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *gone;
    schedq_popped_t other;
    fx_add(fixture, "ns/a", 5);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_worker_register(fx_queue(fixture), &gone, NULL, 0));
    assert_ok(schedq_worker_unregister(gone));
    assert_status(schedq_try_pop(gone, &other), SCHEDQ_BUSY);
    assert_contains(schedq_worker_error(gone), "not registered");
    assert_ok(schedq_done(gone, popped.token));
    assert_gone(fixture, &popped, "ns/a");
}

static void
a_full_queue_has_room_again(void **state)
{
    fixture_t *fixture = *state;
    holder_t holder;
    fixture->config.max_pods = 2;
    fx_add(fixture, "ns/a", 5);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    begin_holding(&holder, fixture);
    schedq_pod_spec_t spec = fx_spec(0);
    assert_status(schedq_add(fx_worker(fixture), "ns/c", 4, &spec, NULL), SCHEDQ_FULL);
    assert_ok(schedq_done(holder.worker, popped.token));
    assert_ok(schedq_add(fx_worker(fixture), "ns/c", 4, &spec, NULL));
    end_holding(&holder);
}

/* ---- from callbacks ---- */

static struct {
    fixture_t *fixture;
    schedq_token_t alive, deleted;
    schedq_token_t own; /* of the call that runs the callback; 0: none */
    schedq_status_t answers[5];
    char words[200];
    bool armed;
} guest;

/* What a callback does: looks in vain, and ends two cycles, each twice. */
static void
end_in_callback(void)
{
    schedq_popped_t popped;
    schedq_worker_t *worker = guest.fixture->worker;
    if (!guest.armed)
        return;
    guest.armed = false;
    /* it may look at the clock, whose reading is a callback too, and is the same callback after */
    (void)schedq_now(guest.fixture->queue);
    if (schedq_try_pop(worker, &popped) == SCHEDQ_BUSY)
        snprintf(guest.words, sizeof guest.words, "%s", schedq_worker_error(worker));
    guest.answers[0] = schedq_done(worker, guest.alive);
    guest.answers[1] = schedq_done(worker, guest.deleted);
    guest.answers[2] = schedq_done(worker, guest.alive);
    guest.answers[3] = schedq_done(worker, guest.deleted);
    guest.answers[4] = guest.own.bits != 0 ? schedq_done(worker, guest.own) : SCHEDQ_STALE;
    if (schedq_worker_error(worker)[0] != '\0')
        guest.answers[4] = SCHEDQ_INVALID;
}

static schedq_popped_t guests_alive;

static void
arm(fixture_t *fixture)
{
    memset(&guest, 0, sizeof guest);
    guest.fixture = fixture;
    fx_add(fixture, "ns/alive", 1000);
    guests_alive = fx_pop(fixture, "ns/alive");
    fx_add(fixture, "ns/deleted", 1000);
    schedq_popped_t deleted = fx_pop(fixture, "ns/deleted");
    assert_ok(schedq_delete(fx_worker(fixture), deleted.pod, NULL));
    guest.alive = guests_alive.token;
    guest.deleted = deleted.token;
    guest.armed = true;
}

static void
assert_ended(const char *kind)
{
    fixture_t *fixture = guest.fixture;
    assert_false(guest.armed);
    assert_contains(guest.words, kind);
    assert_contains(guest.words, "of this queue");
    assert_status(guest.answers[0], SCHEDQ_OK);
    assert_status(guest.answers[1], SCHEDQ_GONE);
    assert_status(guest.answers[2], SCHEDQ_STALE);
    assert_status(guest.answers[3], SCHEDQ_STALE);
    assert_status(guest.answers[4], SCHEDQ_STALE);
    assert_int_equal(fx_stats(fixture).dones, 1);
    assert_gone(fixture, &guests_alive, "ns/alive");
    assert_place(fx_place(fixture, "ns/deleted"), SCHEDQ_NOWHERE);
    fx_add(fixture, "ns/alive", 2000);
    fx_pop(fixture, "ns/alive");
}

static schedq_hint_t
ending_hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    end_in_callback();
    return SCHEDQ_HINT_SKIP;
}

static int
ending_check(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    end_in_callback();
    return 1;
}

static int
ending_affinity(void *ctx, uint64_t pod, uint64_t assigned)
{
    (void)ctx;
    (void)pod;
    (void)assigned;
    end_in_callback();
    return 1;
}

static int
ending_visit(void *ctx, const schedq_pod_info_t *pod)
{
    (void)ctx;
    (void)pod;
    end_in_callback();
    return 0;
}

static int
ending_write(void *ctx, const char *text, size_t length)
{
    (void)ctx;
    (void)text;
    (void)length;
    end_in_callback();
    return 0;
}

static void
ending_count(void *ctx, uint64_t object)
{
    (void)ctx;
    (void)object;
    if (guest.fixture != NULL)
        end_in_callback();
}

static uint64_t
plugin(fixture_t *fixture, schedq_hint_fn hint, schedq_pre_enqueue_fn gate)
{
    const schedq_interest_t interest = {
        .resource = "*", .actions = SCHEDQ_ACTION_ADD, .hint = hint};
    schedq_plugin_t ending = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    memset(&guest, 0, sizeof guest);
    guest.fixture = fixture;
    ending.name = "Ending";
    ending.interests = &interest;
    ending.interest_count = 1;
    ending.pre_enqueue = gate;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &ending, &bit, NULL, 0));
    return bit;
}

static void
done_in_a_hint_of_an_event(void **state)
{
    fixture_t *fixture = *state;
    uint64_t bit = plugin(fixture, ending_hint, NULL);
    fx_park(fixture, "ns/parked", bit);
    arm(fixture);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_ended("hint");
    assert_place(fx_place(fixture, "ns/parked"), SCHEDQ_PARKED);
}

static void
done_in_a_hint_of_a_failure_does_not_end_what_fails(void **state)
{
    fixture_t *fixture = *state;
    uint64_t bit = plugin(fixture, ending_hint, NULL);
    fx_add(fixture, "ns/failing", 1000);
    schedq_popped_t failing = fx_pop(fixture, "ns/failing");
    arm(fixture);
    guest.own = failing.token;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_true(guest.armed);
    assert_place(fx_fail(fixture, &failing, bit, 0).place, SCHEDQ_PARKED);
    assert_ended("hint");
    assert_place(fx_place(fixture, "ns/failing"), SCHEDQ_PARKED);
}

static void
done_in_pre_enqueue(void **state)
{
    fixture_t *fixture = *state;
    (void)plugin(fixture, NULL, ending_check);
    arm(fixture);
    fx_add(fixture, "ns/new", 0);
    assert_ended("pre_enqueue");
    assert_place(fx_place(fixture, "ns/new"), SCHEDQ_ACTIVE);
}

/* The end of a scout lets another pod of its class go, whose gate is asked. */
static void
done_in_the_gate_of_the_next_of_a_class_does_not_end_the_scout_again(void **state)
{
    fixture_t *fixture = *state;
    uint64_t bit = plugin(fixture, NULL, ending_check);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.class_id = 7;
    fx_add_spec(fixture, "ns/scout", &spec);
    fx_add_spec(fixture, "ns/next", &spec);
    schedq_popped_t scout = fx_pop(fixture, "ns/scout");
    assert_place(fx_fail(fixture, &scout, bit, 0).place, SCHEDQ_PARKED);
    fx_pop_nothing(fixture);
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    scout = fx_pop(fixture, "ns/scout");
    arm(fixture);
    guest.own = scout.token;
    assert_ok(schedq_done(fx_worker(fixture), scout.token));
    assert_false(guest.armed);
    assert_contains(guest.words, "pre_enqueue");
    assert_status(guest.answers[4], SCHEDQ_STALE);
    assert_int_equal(fx_stats(fixture).dones, 2);
    assert_int_equal(fx_stats(fixture).inflight, 0);
    assert_gone(fixture, &guests_alive, "ns/alive");
    assert_gone(fixture, &scout, "ns/scout");
    fx_pop(fixture, "ns/next");
}

static void
done_in_a_precheck(void **state)
{
    fixture_t *fixture = *state;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    uint64_t bit = plugin(fixture, NULL, NULL);
    fx_park(fixture, "ns/parked", bit);
    arm(fixture);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.precheck = ending_check;
    assert_ok(schedq_notify(fx_worker(fixture), &change, NULL));
    assert_ended("precheck");
}

static void
done_in_an_affinity_match(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.affinity_matches = ending_affinity;
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    uint64_t bit = plugin(fixture, NULL, NULL);
    fx_park(fixture, "ns/parked", bit);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.flags = SCHEDQ_POD_AFFINITY;
    assert_ok(schedq_update(fx_worker(fixture), "ns/parked", 9, &spec, 0, NULL, 0, NULL));
    arm(fixture);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_ADD;
    assert_ok(schedq_assigned_pod_added(fx_worker(fixture), &change, "ns", 2, NULL));
    assert_ended("affinity_matches");
}

static void
done_in_a_release(void **state)
{
    fixture_t *fixture = *state;
    memset(&guest, 0, sizeof guest);
    fixture->config.objects = SCHEDQ_OBJECTS_COUNTED;
    fixture->config.retain = fixture->config.release = ending_count;
    fx_add(fixture, "ns/own", 1000);
    schedq_popped_t own = fx_pop(fixture, "ns/own");
    arm(fixture);
    guest.own = own.token;
    assert_ok(schedq_done(fx_worker(fixture), own.token));
    guest.own.bits = 0;
    /* fx_stats counts both */
    assert_false(guest.armed);
    assert_contains(guest.words, "config.release");
    assert_status(guest.answers[0], SCHEDQ_OK);
    assert_status(guest.answers[1], SCHEDQ_GONE);
    assert_status(guest.answers[2], SCHEDQ_STALE);
    assert_status(guest.answers[4], SCHEDQ_STALE);
    assert_int_equal(fx_stats(fixture).dones, 2);
    assert_int_equal(fx_stats(fixture).inflight, 0);
    assert_gone(fixture, &guests_alive, "ns/alive");
    assert_gone(fixture, &own, "ns/own");
}

static void
done_in_visitors(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/active", 0);
    arm(fixture);
    assert_ok(schedq_get(fx_worker(fixture), pod, ending_visit, NULL));
    assert_ended("a visitor");
}

static void
done_in_the_writer_of_metrics(void **state)
{
    fixture_t *fixture = *state;
    arm(fixture);
    assert_ok(schedq_metrics_write(fx_queue(fixture), ending_write, NULL));
    assert_ended("writer");
}

static void
ending_wake(void *ctx)
{
    (void)ctx;
    if (guest.fixture != NULL)
        end_in_callback();
}

/* Before any other call: that would end the cycle by the way. */
static void
done_in_the_callback_that_wakes(void **state)
{
    fixture_t *fixture = *state;
    memset(&guest, 0, sizeof guest);
    assert_ok(schedq_wait_callback(fx_queue(fixture), ending_wake, NULL, NULL, 0));
    arm(fixture);
    fx_pop_nothing(fixture);
    fx_add(fixture, "ns/new", 0);
    assert_place(fx_place(fixture, "ns/alive"), SCHEDQ_NOWHERE);
    assert_ended("schedq_wait_callback");
    guest.fixture = NULL;
}

/* The same of a deadline that becomes sooner. */
static void
done_in_the_callback_that_tells_of_a_deadline(void **state)
{
    fixture_t *fixture = *state;
    memset(&guest, 0, sizeof guest);
    assert_ok(schedq_wait_callback(fx_queue(fixture), ending_wake, NULL, NULL, 0));
    fx_add(fixture, "ns/failing", 1000);
    schedq_popped_t failing = fx_pop(fixture, "ns/failing");
    arm(fixture);
    fx_pop_nothing(fixture);
    fx_fail(fixture, &failing, 0, 0);
    assert_place(fx_place(fixture, "ns/alive"), SCHEDQ_NOWHERE);
    assert_ended("schedq_wait_callback");
    guest.fixture = NULL;
}

/* ---- calls without a worker ---- */

static char refusals[4][200];

static int
ask_without_worker(void *ctx, const schedq_pod_info_t *pod)
{
    fixture_t *fixture = ctx;
    schedq_worker_t *worker;
    schedq_event_t event;
    (void)pod;
    (void)schedq_worker_register(fixture->queue, &worker, refusals[0], sizeof refusals[0]);
    (void)schedq_reserve(fixture->queue, 1, 1, 1, refusals[1], sizeof refusals[1]);
    (void)schedq_run(fixture->queue, refusals[2], sizeof refusals[2]);
    (void)schedq_event_define(fixture->queue, "Thing", SCHEDQ_ACTION_ADD, NULL, &event, refusals[3],
                              sizeof refusals[3]);
    return 0;
}

static void
calls_without_a_worker_say_why(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t profile;
    uint64_t bit;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    memset(refusals, 0, sizeof refusals);
    assert_ok(schedq_get(fx_worker(fixture), pod, ask_without_worker, fixture));
    for (unsigned i = 0; i < 4; i++)
        assert_contains(refusals[i], "a visitor");
    assert_string_equal(schedq_worker_error(fx_worker(fixture)), "");
    assert_status(
        schedq_profile_define(fixture->queue, "late", &profile, fixture->why, sizeof fixture->why),
        SCHEDQ_BUSY);
    assert_contains(fixture->why, "a worker is registered");
    assert_status(
        schedq_plugin_name(fixture->queue, 0, "Late", 4, &bit, fixture->why, sizeof fixture->why),
        SCHEDQ_BUSY);
    assert_contains(fixture->why, "a worker is registered");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(busy_names_the_thread_that_is_inside),
        fx_test(destroy_names_the_thread_that_is_inside),
        fx_test(done_ends_the_cycle_while_another_thread_is_inside_the_worker),
        fx_test(references_go_back_then_too),
        fx_test(references_go_back_at_the_latest_with_the_queue),
        fx_test(what_ended_before_a_pop_lets_go_with_it),
        fx_test(done_many_ends_all_of_them),
        fx_test(done_ends_the_cycle_with_a_worker_that_was_unregistered),
        fx_test(a_full_queue_has_room_again),
        fx_test(done_in_a_hint_of_an_event),
        fx_test(done_in_a_hint_of_a_failure_does_not_end_what_fails),
        fx_test(done_in_pre_enqueue),
        fx_test(done_in_the_gate_of_the_next_of_a_class_does_not_end_the_scout_again),
        fx_test(done_in_a_precheck),
        fx_test(done_in_an_affinity_match),
        fx_test(done_in_a_release),
        fx_test(done_in_visitors),
        fx_test(done_in_the_writer_of_metrics),
        fx_test(done_in_the_callback_that_wakes),
        fx_test(done_in_the_callback_that_tells_of_a_deadline),
        fx_test(calls_without_a_worker_say_why),
    };
    return fx_run_tests(argc, argv, tests);
}
