/*
 * The watchdog: faults are planted, one of each kind, and named within a period of their limit;
 * what is in order is not.
 */
#define _GNU_SOURCE /* gettid */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "mailbox.h"
#include "patience.h"

#define ROOM 8

typedef struct seen {
    schedq_status_t status;
    size_t found;
    schedq_overdue_t out[ROOM];
} seen_t;

static seen_t
look(fixture_t *fixture, schedq_watch_t *watch)
{
    seen_t seen = {.found = 99};
    memset(seen.out, 0xff, sizeof seen.out);
    seen.status = schedq_watch(fx_worker(fixture), watch, seen.out, ROOM, &seen.found);
    return seen;
}

static void
assert_quiet(fixture_t *fixture, schedq_watch_t *watch)
{
    seen_t seen = look(fixture, watch);
    assert_ok(seen.status);
    assert_int_equal(seen.found, 0);
}

/* The only one. */
static schedq_overdue_t
assert_named(fixture_t *fixture, schedq_watch_t *watch, schedq_overdue_kind_t kind)
{
    seen_t seen = look(fixture, watch);
    assert_ok(seen.status);
    assert_int_equal(seen.found, 1);
    assert_int_equal(seen.out[0].kind, kind);
    assert_int_equal(seen.out[0].reserved, 0);
    assert_int_equal(seen.out[0].reserved_too, 0);
    return seen.out[0];
}

static void
assert_text(fixture_t *fixture, const schedq_overdue_t *overdue, const char *sentence)
{
    char text[512];
    size_t length = schedq_overdue_text(fx_worker(fixture), overdue, text, sizeof text);
    assert_string_equal(text, sentence);
    assert_int_equal(length, strlen(sentence));
}

/* Looks once a period until something is named; returns it, and how long that took. */
static schedq_overdue_t
wait_for_one(fixture_t *fixture, schedq_watch_t *watch, int64_t period, int64_t *took)
{
    int64_t begin = fx_now(fixture);
    for (;;) {
        fx_advance(fixture, period);
        seen_t seen = look(fixture, watch);
        assert_ok(seen.status);
        *took = fx_now(fixture) - begin;
        if (seen.found == 1)
            return seen.out[0];
        assert_int_equal(seen.found, 0);
        assert_true(*took < SEC(10000));
    }
}

/* ---- pods ------------------------------------------------------------------------------------ */

static void
a_forgotten_token_is_named_within_a_period(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    int64_t took;
    (void)fx_add(fixture, "ns/early", 9);
    (void)fx_add(fixture, "ns/failed", 8);
    schedq_pod_t forgotten = fx_add(fixture, "ns/forgotten", 7);
    (void)fx_add(fixture, "ns/late", 6);
    schedq_popped_t early = fx_pop(fixture, "ns/early");
    schedq_popped_t failed = fx_pop(fixture, "ns/failed");
    assert_quiet(fixture, &watch);
    fx_advance(fixture, SEC(60));
    (void)fx_pop(fixture, "ns/forgotten");
    fx_done(fixture, &early);
    (void)fx_fail(fixture, &failed, 0, 0);
    assert_quiet(fixture, &watch);
    for (unsigned i = 0; i < 5; i++) {
        fx_advance(fixture, SEC(60));
        assert_quiet(fixture, &watch);
    }
    schedq_popped_t late = fx_pop(fixture, "ns/late");
    schedq_overdue_t overdue = wait_for_one(fixture, &watch, SEC(60), &took);
    took += SEC(300);
    assert_int_equal(overdue.kind, SCHEDQ_OVERDUE_INFLIGHT);
    assert_true(overdue.pod.bits == forgotten.bits);
    assert_true(took >= watch.inflight_ns);
    assert_true(took <= watch.inflight_ns + watch.inflight_ns / 8 + SEC(60));
    assert_true(overdue.for_ns <= took && overdue.for_ns >= watch.inflight_ns);
    assert_text(fixture, &overdue,
                "pod ns/forgotten: popped 900.000 s ago or earlier, and its cycle has not ended");
    fx_done(fixture, &late);
}

static void
a_pod_deleted_in_flight_is_named_by_its_handle(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    char text[128], expected[128];
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    assert_quiet(fixture, &watch);
    fx_advance(fixture, SEC(1000));
    schedq_overdue_t overdue = assert_named(fixture, &watch, SCHEDQ_OVERDUE_INFLIGHT);
    assert_true(overdue.pod.bits == pod.bits);
    assert_ns_equal(overdue.for_ns, SEC(1000));
    snprintf(expected, sizeof expected,
             "pod %llu: popped 1000.000 s ago or earlier, and its cycle has not ended",
             (unsigned long long)pod.bits);
    (void)schedq_overdue_text(fx_worker(fixture), &overdue, text, sizeof text);
    assert_string_equal(text, expected);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    assert_quiet(fixture, &watch);
}

/* The notes are few, and tell ages of any size to within a half. */
static void
a_long_flight_is_told_to_within_a_half(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    (void)fx_add(fixture, "ns/a", 0);
    assert_quiet(fixture, &watch);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    int64_t begin = fx_now(fixture);
    for (unsigned i = 0; i < 5000; i++) {
        fx_advance(fixture, SEC(60));
        seen_t seen = look(fixture, &watch);
        int64_t age = fx_now(fixture) - begin;
        assert_ok(seen.status);
        if (age >= SEC(900 + 113 + 60)) {
            assert_int_equal(seen.found, 1);
            assert_true(seen.out[0].for_ns <= age);
            assert_true(seen.out[0].for_ns >= age / 2);
        } else if (age < SEC(900)) {
            assert_int_equal(seen.found, 0);
        }
    }
    fx_done(fixture, &popped);
}

static void
a_pod_gated_for_ever_is_named(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    fx_plugin_t *gate = fx_gate(fixture, "Quota", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    fx_advance(fixture, SEC(3599));
    assert_quiet(fixture, &watch);
    fx_advance(fixture, SEC(1));
    schedq_overdue_t overdue = assert_named(fixture, &watch, SCHEDQ_OVERDUE_GATED);
    assert_true(overdue.pod.bits == pod.bits);
    assert_int_equal(overdue.plugin, gate->gate);
    assert_text(fixture, &overdue, "pod ns/a: gated by Quota for 3600.000 s or longer");
    gate->refuses = false;
    (void)fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_quiet(fixture, &watch);
}

static void
a_pod_that_only_the_limit_frees_is_named(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(299));
    assert_quiet(fixture, &watch);
    (void)fx_pass(fixture, SEC(2));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    schedq_overdue_t overdue = assert_named(fixture, &watch, SCHEDQ_OVERDUE_LEFTOVER);
    assert_true(overdue.pod.bits == pod.bits);
    assert_int_equal(overdue.rejectors, fit->bit);
    assert_text(
        fixture, &overdue,
        "pod ns/a: nothing but the limit of waiting freed it; came or failed 301.000 s ago");
    watch.leftovers = 0;
    assert_quiet(fixture, &watch);
    watch.leftovers = 1;
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    (void)fx_fail(fixture, &popped, fit->bit, 0);
    (void)assert_named(fixture, &watch, SCHEDQ_OVERDUE_LEFTOVER);
    (void)fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_quiet(fixture, &watch);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* A thread whose call hangs in a callback until it is let go. */
typedef struct hang {
    fixture_t *fixture;
    schedq_worker_t *worker;
    schedq_pod_t pod;
    pthread_t thread;
    mailbox_t mailbox;
    sem_t inside, enough;
    pid_t number;
} hang_t;

static hang_t hang;

static void
hang_here(void)
{
    sem_post(&hang.inside);
    while (sem_wait(&hang.enough) != 0) {
    }
}

static int
hanging_visitor(void *ctx, const schedq_pod_info_t *pod)
{
    (void)ctx;
    (void)pod;
    hang_here();
    return 1;
}

static schedq_hint_t
hanging_hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    hang_here();
    return SCHEDQ_HINT_QUEUE;
}

static int
hanging_gate(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    hang_here();
    return 1;
}

static int
hanging_precheck(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    hang_here();
    return 1;
}

static void *
visit(void *unused)
{
    (void)unused;
    hang.number = gettid();
    mailbox_check(&hang.mailbox,
                  schedq_get(hang.worker, hang.pod, hanging_visitor, NULL) == SCHEDQ_OK);
    return NULL;
}

static void *
notify(void *precheck)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.precheck = precheck != NULL ? hanging_precheck : NULL;
    hang.number = gettid();
    mailbox_check(&hang.mailbox, schedq_notify(hang.worker, &change, NULL) == SCHEDQ_OK);
    return NULL;
}

static void *
add(void *unused)
{
    schedq_pod_spec_t spec = fx_spec(0);
    (void)unused;
    hang.number = gettid();
    mailbox_check(&hang.mailbox, schedq_add(hang.worker, "ns/gated", 8, &spec, NULL) == SCHEDQ_OK);
    return NULL;
}

static void *
pop(void *unused)
{
    schedq_popped_t popped;
    (void)unused;
    hang.number = gettid();
    sem_post(&hang.inside);
    mailbox_check(&hang.mailbox, schedq_pop(hang.worker, &popped) == SCHEDQ_OK);
    mailbox_check(&hang.mailbox, schedq_done(hang.worker, popped.token) == SCHEDQ_OK);
    return NULL;
}

/* Begins a call, and waits until it hangs. */
static void
hang_begin(fixture_t *fixture, void *(*body)(void *), void *argument)
{
    hang.fixture = fixture;
    mailbox_init(&hang.mailbox);
    sem_init(&hang.inside, 0, 0);
    sem_init(&hang.enough, 0, 0);
    if (hang.worker == NULL)
        assert_ok(schedq_worker_register(fx_queue(fixture), &hang.worker, NULL, 0));
    assert_int_equal(pthread_create(&hang.thread, NULL, body, argument), 0);
    sem_wait(&hang.inside);
}

static void
hang_end(void)
{
    sem_post(&hang.enough);
    assert_int_equal(pthread_join(hang.thread, NULL), 0);
    mailbox_assert_empty(&hang.mailbox);
    sem_destroy(&hang.inside);
    sem_destroy(&hang.enough);
}

static int
teardown(void **state)
{
    if (hang.worker != NULL)
        assert_ok(schedq_worker_unregister(hang.worker));
    hang.worker = NULL;
    return fx_teardown(state);
}

static void
assert_is_hang(const schedq_overdue_t *overdue, schedq_callback_t callback, int64_t for_ns)
{
    assert_int_equal(overdue->worker, 1); /* the second one */
    assert_int_equal(overdue->thread, (uint32_t)hang.number);
    assert_int_equal(overdue->callback, callback);
    assert_int_equal(overdue->pod.bits, 0);
    assert_true(overdue->for_ns <= for_ns);
    assert_true(overdue->for_ns >= for_ns - MS(34));
}

/* Only workers: no lock is wanted. */
static schedq_watch_t
watch_workers(void)
{
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    watch.inflight_ns = watch.gated_ns = 0;
    watch.leftovers = 0;
    return watch;
}

static void
a_worker_inside_a_call_for_too_long_is_named(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = watch_workers();
    char expected[128];
    watch.callback_ns = 0;
    hang.pod = fx_add(fixture, "ns/a", 0);
    (void)fx_worker(fixture);
    hang_begin(fixture, visit, NULL);
    assert_quiet(fixture, &watch); /* the first look that sees it */
    fx_advance(fixture, watch.call_ns - MS(1));
    assert_quiet(fixture, &watch);
    fx_advance(fixture, MS(35));
    schedq_overdue_t overdue = assert_named(fixture, &watch, SCHEDQ_OVERDUE_CALL);
    assert_is_hang(&overdue, SCHEDQ_CALLBACK_VISITOR, watch.call_ns + MS(34));
    overdue.for_ns = MS(10013);
    snprintf(expected, sizeof expected,
             "worker 1, thread %d: inside a call for 10.013 s or longer, in a visitor",
             (int)hang.number);
    assert_text(fixture, &overdue, expected);
    hang_end();
    assert_quiet(fixture, &watch);
}

static void
a_call_that_began_after_the_last_look_is_not_named(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = watch_workers();
    hang.pod = fx_add(fixture, "ns/a", 0);
    (void)fx_worker(fixture);
    for (unsigned i = 0; i < 3; i++) {
        hang_begin(fixture, visit, NULL);
        assert_quiet(fixture, &watch);
        hang_end();
        fx_advance(fixture, SEC(1000));
    }
    assert_quiet(fixture, &watch);
}

static void
a_hint_that_does_not_return_is_named_with_its_plugin(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = watch_workers();
    schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = hanging_hint};
    char expected[128];
    (void)fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_ADD);
    fx_plugin_t *slow = fx_plugin_full(fixture, 0, "Slow", 0, &interest, 1, false);
    (void)fx_park(fixture, "ns/a", slow->bit);
    hang_begin(fixture, notify, NULL);
    assert_quiet(fixture, &watch);
    fx_advance(fixture, MS(1034));
    schedq_overdue_t overdue = assert_named(fixture, &watch, SCHEDQ_OVERDUE_CALLBACK);
    assert_is_hang(&overdue, SCHEDQ_CALLBACK_HINT, MS(1034));
    assert_int_equal(overdue.plugin, 2);
    assert_int_equal(overdue.profile, 0);
    hang_end();
    overdue.for_ns = MS(1013);
    snprintf(expected, sizeof expected,
             "worker 1, thread %d: a hint of Slow has not returned for 1.013 s or longer",
             (int)hang.number);
    assert_text(fixture, &overdue, expected);
    assert_quiet(fixture, &watch);
}

static void
a_gate_that_does_not_return_is_named_with_its_plugin(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = watch_workers();
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_profile_t profile;
    uint64_t bit;
    assert_ok(schedq_profile_define(fx_queue(fixture), "second", &profile, NULL, 0));
    plugin.name = "Door";
    plugin.pre_enqueue = hanging_gate;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, NULL, 0));
    (void)fx_worker(fixture);
    hang_begin(fixture, add, NULL);
    assert_quiet(fixture, &watch);
    fx_advance(fixture, SEC(2));
    schedq_overdue_t overdue = assert_named(fixture, &watch, SCHEDQ_OVERDUE_CALLBACK);
    assert_is_hang(&overdue, SCHEDQ_CALLBACK_PRE_ENQUEUE, SEC(2));
    assert_int_equal(overdue.plugin, 1);
    hang_end();
}

/* Each run of a callback counts by itself; what the call takes as a whole counts too. */
static void
a_precheck_is_named_only_if_one_run_of_it_takes_too_long(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = watch_workers();
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    char name[32];
    for (unsigned i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        (void)fx_park(fixture, name, fit->bit);
    }
    hang_begin(fixture, notify, &watch);
    for (unsigned i = 0; i < 19; i++) {
        seen_t seen = look(fixture, &watch);
        assert_ok(seen.status);
        assert_int_equal(seen.found, i * 900 < 10034 ? 0 : 1);
        if (seen.found > 0) {
            assert_int_equal(seen.out[0].kind, SCHEDQ_OVERDUE_CALL);
            assert_is_hang(&seen.out[0], SCHEDQ_CALLBACK_PRECHECK, i * MS(900));
        }
        sem_post(&hang.enough);
        sem_wait(&hang.inside);
        fx_advance(fixture, MS(900));
    }
    (void)look(fixture, &watch);
    fx_advance(fixture, SEC(2));
    schedq_overdue_t overdue = assert_named(fixture, &watch, SCHEDQ_OVERDUE_CALLBACK);
    assert_is_hang(&overdue, SCHEDQ_CALLBACK_PRECHECK, SEC(2));
    hang_end();
}

static void
a_pop_that_sleeps_is_not_named(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    (void)fx_worker(fixture);
    hang_begin(fixture, pop, NULL);
    while (!patience_thread_sleeps(hang.number))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_quiet(fixture, &watch);
    fx_advance(fixture, SEC(10000));
    assert_quiet(fixture, &watch);
    (void)fx_add(fixture, "ns/a", 0);
    hang_end();
}

/* ---- the timer thread ------------------------------------------------------------------------ */

static unsigned asked; /* the gate, before the timer asks it */

static int
gate_of_the_timer(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    if (asked++ > 0)
        hang_here();
    return asked > 1;
}

static void
the_timer_thread_is_watched_too(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = watch_workers();
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    seen_t seen = {.found = 0};
    uint64_t bit;
    fx_use_real_clock(fixture);
    fixture->config.max_parked_ns = SEC(1);
    plugin.name = "Door";
    plugin.pre_enqueue = gate_of_the_timer;
    asked = 0;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, NULL, 0));
    (void)fx_add(fixture, "ns/a", 0);
    sem_init(&hang.inside, 0, 0);
    sem_init(&hang.enough, 0, 0);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    sem_wait(&hang.inside);
    watch.callback_ns = MS(100);
    while (seen.found == 0) {
        seen = look(fixture, &watch);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    sem_post(&hang.enough);
    schedq_stop(fx_queue(fixture));
    sem_destroy(&hang.inside);
    sem_destroy(&hang.enough);
    assert_int_equal(seen.found, 1);
    assert_int_equal(seen.out[0].kind, SCHEDQ_OVERDUE_CALLBACK);
    assert_int_equal(seen.out[0].callback, SCHEDQ_CALLBACK_PRE_ENQUEUE);
    assert_int_equal(seen.out[0].plugin, 1);
    assert_true(seen.out[0].thread != (uint32_t)gettid());
    assert_quiet(fixture, &watch);
}

/* ---- several, and bad input ------------------------------------------------------------------ */

static void
more_than_there_is_room_for_are_counted(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    schedq_overdue_t out[2] = {{.reserved = 7}, {.reserved = 7}};
    size_t found;
    fx_plugin_t *gate = fx_gate(fixture, "Quota", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    (void)fx_add(fixture, "ns/a", 0);
    (void)fx_add(fixture, "ns/b", 0);
    fx_advance(fixture, SEC(4000));
    assert_ok(schedq_watch(fx_worker(fixture), &watch, NULL, 0, &found));
    assert_int_equal(found, 2);
    assert_ok(schedq_watch(fx_worker(fixture), &watch, out, 1, &found));
    assert_int_equal(found, 2);
    assert_int_equal(out[0].kind, SCHEDQ_OVERDUE_GATED);
    assert_int_equal(out[1].reserved, 7);
}

static void
two_watchdogs_of_one_queue_do_not_disturb_each_other(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t first = SCHEDQ_WATCH_INIT, second = SCHEDQ_WATCH_INIT;
    hang.pod = fx_add(fixture, "ns/a", 0);
    (void)fx_worker(fixture);
    hang_begin(fixture, visit, NULL);
    assert_quiet(fixture, &first);
    fx_advance(fixture, SEC(2));
    (void)assert_named(fixture, &second, SCHEDQ_OVERDUE_CALLBACK);
    (void)assert_named(fixture, &first, SCHEDQ_OVERDUE_CALLBACK);
    hang_end();
}

static void
assert_refused(fixture_t *fixture, const schedq_watch_t *watch, const char *words)
{
    schedq_watch_t mine = *watch;
    schedq_overdue_t out;
    size_t found = 99;
    assert_status(schedq_watch(fx_worker(fixture), &mine, &out, 1, &found), SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(fx_worker(fixture)), words);
    assert_int_equal(found, 99);
    assert_memory_equal(&mine, watch, sizeof mine);
}

static void
bad_input_is_refused_in_words(void **state)
{
    fixture_t *fixture = *state;
    const schedq_watch_t good = SCHEDQ_WATCH_INIT;
    schedq_watch_t watch = good;
    schedq_overdue_t out = {.kind = SCHEDQ_OVERDUE_CALL};
    size_t found = 99;
    char text[8];
    watch.inflight_ns = -1;
    assert_refused(fixture, &watch, "watch.inflight_ns -1: 0 or more nanoseconds");
    watch = good;
    watch.callback_ns = INT64_MIN;
    assert_refused(fixture, &watch,
                   "watch.callback_ns -9223372036854775808: 0 or more nanoseconds");
    watch = good;
    watch.leftovers = 2;
    assert_refused(fixture, &watch, "watch.leftovers 2: 0..1");
    watch = good;
    watch.notes[0] = 33;
    assert_refused(fixture, &watch, "watch.notes: zero at first, and the library's from then on");
    watch = good;
    assert_status(schedq_watch(fx_worker(fixture), NULL, &out, 1, &found), SCHEDQ_INVALID);
    assert_status(schedq_watch(fx_worker(fixture), &watch, NULL, 1, &found), SCHEDQ_INVALID);
    assert_status(schedq_watch(fx_worker(fixture), &watch, &out, 1, NULL), SCHEDQ_INVALID);
    assert_status(schedq_watch(NULL, &watch, &out, 1, &found), SCHEDQ_INVALID);
    watch.struct_size = 0;
    assert_status(schedq_watch(fx_worker(fixture), &watch, &out, 1, &found), SCHEDQ_INVALID);
    assert_int_equal(found, 99);
    assert_int_equal(schedq_overdue_text(fx_worker(fixture), NULL, text, sizeof text), 0);
    assert_int_equal(schedq_overdue_text(fx_worker(fixture), &out, NULL, 1), 0);
    assert_int_equal(schedq_overdue_text(NULL, &out, text, sizeof text), 0);
    assert_true(schedq_overdue_text(fx_worker(fixture), &out, text, sizeof text) > sizeof text);
    assert_string_equal(text, "worker ");
}

/* ---- the lock -------------------------------------------------------------------------------- */

static void
a_watchdog_does_not_wait_for_a_lock_that_hangs(void **state)
{
    fixture_t *fixture = *state;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = hanging_hint};
    fx_plugin_t *slow = fx_plugin_full(fixture, 0, "Slow", 0, &interest, 1, false);
    (void)fx_park(fixture, "ns/a", slow->bit);
    hang_begin(fixture, notify, NULL);
    assert_status(look(fixture, &watch).status, SCHEDQ_TIMEDOUT);
    fx_advance(fixture, SEC(2));
    seen_t seen = look(fixture, &watch);
    assert_status(seen.status, SCHEDQ_TIMEDOUT);
    assert_int_equal(seen.found, 1);
    assert_int_equal(seen.out[0].kind, SCHEDQ_OVERDUE_CALLBACK);
    assert_is_hang(&seen.out[0], SCHEDQ_CALLBACK_HINT, SEC(2));
    hang_end();
    assert_quiet(fixture, &watch);
}

#define watch_test(function) cmocka_unit_test_setup_teardown(function, fx_setup, teardown)

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        watch_test(a_forgotten_token_is_named_within_a_period),
        watch_test(a_pod_deleted_in_flight_is_named_by_its_handle),
        watch_test(a_long_flight_is_told_to_within_a_half),
        watch_test(a_pod_gated_for_ever_is_named),
        watch_test(a_pod_that_only_the_limit_frees_is_named),
        watch_test(a_worker_inside_a_call_for_too_long_is_named),
        watch_test(a_call_that_began_after_the_last_look_is_not_named),
        watch_test(a_hint_that_does_not_return_is_named_with_its_plugin),
        watch_test(a_gate_that_does_not_return_is_named_with_its_plugin),
        watch_test(a_precheck_is_named_only_if_one_run_of_it_takes_too_long),
        watch_test(a_pop_that_sleeps_is_not_named),
        watch_test(the_timer_thread_is_watched_too),
        watch_test(more_than_there_is_room_for_are_counted),
        watch_test(two_watchdogs_of_one_queue_do_not_disturb_each_other),
        watch_test(bad_input_is_refused_in_words),
    };
    const struct CMUnitTest locks[] = {
        watch_test(a_watchdog_does_not_wait_for_a_lock_that_hangs),
    };
    const fx_group_t groups[] = {fx_group(tests, FX_ANY_ENGINE), fx_group(locks, FX_LOCKS)};
    return fx_run_groups(argc, argv, groups);
}
