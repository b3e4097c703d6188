/*
 * In which order pods are popped: priority, then Timestamp, then arrival; and what the order
 * options change.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"

static void
higher_priority_goes_first(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/low", 1);
    fx_add(fixture, "ns/high", 3);
    fx_add(fixture, "ns/mid", 2);
    fx_pop(fixture, "ns/high");
    fx_pop(fixture, "ns/mid");
    fx_pop(fixture, "ns/low");
    fx_pop_nothing(fixture);
}

static void
an_older_timestamp_goes_first_inside_a_priority(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/z", 0);
    fx_advance(fixture, 1);
    fx_add(fixture, "ns/y", 0);
    fx_advance(fixture, 1);
    fx_add(fixture, "ns/x", 0);
    fx_pop(fixture, "ns/z");
    fx_pop(fixture, "ns/y");
    fx_pop(fixture, "ns/x");
}

static void
pods_of_one_clock_reading_go_in_the_order_of_their_arrival(void **state)
{
    fixture_t *fixture = *state;
    char name[16];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "ns/%02d", (i * 37) % 100);
        fx_add(fixture, name, 0);
    }
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "ns/%02d", (i * 37) % 100);
        fx_pop(fixture, name);
    }
}

/* A caller's clock may be coarse without being virtual. */
static void
readings_that_repeat_keep_the_order_of_arrival_over_workers(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *workers[2];
    char name[16];
    fixture->config.clock.is_virtual = 0;
    for (int i = 0; i < 2; i++)
        assert_ok(schedq_worker_register(fx_queue(fixture), &workers[i], NULL, 0));
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "ns/%02d", (i * 7) % 30);
        schedq_pod_spec_t spec = fx_spec(0);
        assert_ok(schedq_add(workers[i % 3 == 2], name, strlen(name), &spec, NULL));
    }
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "ns/%02d", (i * 7) % 30);
        fx_pop(fixture, name);
    }
    for (int i = 0; i < 2; i++)
        assert_ok(schedq_worker_unregister(workers[i]));
}

/* Adds ns/first and ns/second, rejects the first, and makes it active again. */
static schedq_result_t
fail_the_first_of_two(fixture_t *fixture)
{
    fx_plugin_t *plugin = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/first", 0);
    fx_advance(fixture, 1);
    fx_add(fixture, "ns/second", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/first");
    fx_advance(fixture, 1);
    schedq_result_t failed = fx_fail(fixture, &popped, plugin->bit, 0);
    fx_advance(fixture, SEC(60));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    return failed;
}

static void
a_failed_pod_goes_behind_those_that_were_never_tried(void **state)
{
    fixture_t *fixture = *state;
    fail_the_first_of_two(fixture);
    fx_pop(fixture, "ns/second");
    fx_pop(fixture, "ns/first");
}

static void
a_failed_pod_goes_behind_even_if_the_clock_stands_still(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    fx_add(fixture, "ns/first", 0);
    fx_add(fixture, "ns/second", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/first");
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_ACTIVE);
    fx_pop(fixture, "ns/second");
    fx_pop(fixture, "ns/first");
}

static void
with_keep_order_a_failed_pod_keeps_its_place_inside_its_priority(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.keep_order = 1;
    assert_ns_equal(fail_the_first_of_two(fixture).timestamp_ns, FX_START + 2);
    fx_pop(fixture, "ns/first");
    fx_pop(fixture, "ns/second");
}

static void
with_fifo_priorities_do_not_order(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.fifo = 1;
    fx_add(fixture, "ns/low", -5);
    fx_advance(fixture, 1);
    fx_add(fixture, "ns/high", 100);
    assert_int_equal(fx_pop(fixture, "ns/low").priority, -5);
    assert_int_equal(fx_pop(fixture, "ns/high").priority, 100);
}

static void
add_keyed(fixture_t *fixture, const char *name, int32_t priority, int64_t key)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    spec.flags = SCHEDQ_POD_ORDER_KEY;
    spec.order_key = key;
    fx_add_spec(fixture, name, &spec);
    fx_advance(fixture, 1);
}

static void
an_order_key_replaces_the_timestamp_inside_a_priority(void **state)
{
    fixture_t *fixture = *state;
    add_keyed(fixture, "ns/max", 0, INT64_MAX);
    add_keyed(fixture, "ns/five", 0, 5);
    add_keyed(fixture, "ns/min", 0, INT64_MIN);
    add_keyed(fixture, "ns/minus", 0, -1);
    add_keyed(fixture, "ns/above", 1, 1000);
    fx_pop(fixture, "ns/above");
    fx_pop(fixture, "ns/min");
    fx_pop(fixture, "ns/minus");
    fx_pop(fixture, "ns/five");
    fx_pop(fixture, "ns/max");
}

static void
an_order_key_survives_a_failure(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    add_keyed(fixture, "ns/one", 0, 1);
    add_keyed(fixture, "ns/two", 0, 2);
    schedq_popped_t popped = fx_pop(fixture, "ns/one");
    fx_fail(fixture, &popped, 0, 0);
    fx_pop(fixture, "ns/one");
    fx_pop(fixture, "ns/two");
}

static void
an_order_key_of_the_newest_description_counts_after_a_failure(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    add_keyed(fixture, "ns/one", 0, 1);
    add_keyed(fixture, "ns/two", 0, 2);
    schedq_popped_t popped = fx_pop(fixture, "ns/one");
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.flags = SCHEDQ_POD_ORDER_KEY;
    newest.order_key = 3;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    fx_pop(fixture, "ns/two");
    fx_pop(fixture, "ns/one");
}

static void
a_relaxed_queue_still_orders_by_priority(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.order = SCHEDQ_ORDER_RELAXED;
    fx_add(fixture, "ns/low", 1);
    fx_add(fixture, "ns/high", 2);
    fx_pop(fixture, "ns/high");
    fx_pop(fixture, "ns/low");
}

/* ---- what pop tells ---- */

static void
pop_counts_attempts_and_remembers_the_first(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    fx_add(fixture, "ns/a", 0);
    fx_advance(fixture, SEC(5));
    for (unsigned attempt = 1; attempt <= 4; attempt++) {
        schedq_popped_t popped = fx_pop(fixture, "ns/a");
        assert_int_equal(popped.history.attempts, attempt);
        assert_int_equal(popped.history.errors, attempt - 1);
        assert_int_equal(popped.history.rejections, 0);
        assert_ns_equal(popped.history.initial_attempt_ns, FX_START);
        fx_advance(fixture, SEC(1));
        fx_fail(fixture, &popped, 0, 0);
    }
}

static void
pop_says_whether_more_can_be_popped(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    fx_add(fixture, "ns/b", 0);
    assert_int_equal(fx_pop(fixture, "ns/a").more, 1);
    assert_int_equal(fx_pop(fixture, "ns/b").more, 0);
}

static void
pop_hands_out_the_old_rejectors_and_empties_the_pods_own(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, wait->bit);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(fx_info(fixture, pod).unschedulable, fit->bit);
    assert_int_equal(fx_info(fixture, pod).pending, wait->bit);
    popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.unschedulable, fit->bit);
    assert_int_equal(popped.pending, wait->bit);
    assert_int_equal(fx_info(fixture, pod).unschedulable, 0);
    assert_int_equal(fx_info(fixture, pod).pending, 0);
}

static void
cycles_are_numbered_only_if_configured(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    assert_int_equal(fx_pop(fixture, "ns/a").cycle, 0);

    fixture_t *counted = fx_new(SCHEDQ_PRESET_DEFAULT);
    counted->config.count_cycles = 1;
    fx_add(counted, "ns/a", 0);
    fx_add(counted, "ns/b", 0);
    assert_int_equal(fx_pop(counted, "ns/a").cycle, 1);
    schedq_popped_t popped = fx_pop(counted, "ns/b");
    assert_int_equal(popped.cycle, 2);
    fx_pop_nothing(counted);
    assert_int_equal(fx_info(counted, popped.pod).cycle, 2);
    fx_free(counted);
}

static void
pods_in_flight_are_ordered_by_their_pops(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 1);
    fx_add(fixture, "ns/b", 2);
    schedq_popped_t b = fx_pop(fixture, "ns/b");
    schedq_popped_t a = fx_pop(fixture, "ns/a");
    uint64_t of_a = fx_info(fixture, a.pod).pop_order, of_b = fx_info(fixture, b.pod).pop_order;
    assert_true(of_b != 0);
    assert_true(of_b < of_a);
}

/* ---- pop_many ---- */

static void
pop_many_takes_the_best_in_order(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t out[4];
    size_t count = 0;
    fx_add(fixture, "ns/d", 1);
    fx_add(fixture, "ns/b", 3);
    fx_add(fixture, "ns/a", 4);
    fx_add(fixture, "ns/c", 2);
    assert_ok(schedq_try_pop_many(fx_worker(fixture), out, 3, &count));
    assert_int_equal(count, 3);
    assert_string_equal(out[0].name, "ns/a");
    assert_string_equal(out[1].name, "ns/b");
    assert_string_equal(out[2].name, "ns/c");
    assert_int_equal(out[2].more, 1);
    assert_ok(schedq_try_pop_many(fx_worker(fixture), out, 4, &count));
    assert_int_equal(count, 1);
    assert_string_equal(out[0].name, "ns/d");
    assert_int_equal(out[0].more, 0);
    assert_status(schedq_try_pop_many(fx_worker(fixture), out, 4, &count), SCHEDQ_EMPTY);
    assert_int_equal(count, 0);
}

static void
a_closed_queue_gives_what_is_left_then_says_so(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    size_t count = 9;
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_ok(schedq_close(fx_queue(fixture)));
    popped = fx_pop(fixture, "ns/a");
    assert_status(schedq_try_pop(fx_worker(fixture), &popped), SCHEDQ_CLOSED);
    assert_status(schedq_pop(fx_worker(fixture), &popped), SCHEDQ_CLOSED);
    assert_status(schedq_try_pop_many(fx_worker(fixture), &popped, 1, &count), SCHEDQ_CLOSED);
    assert_int_equal(count, 0);
}

static void
a_closed_queue_that_never_had_a_pod_says_so(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    assert_status(schedq_try_pop(fx_worker(fixture), &popped), SCHEDQ_EMPTY);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(schedq_try_pop(fx_worker(fixture), &popped), SCHEDQ_CLOSED);
}

static void
pods_may_be_failed_back_into_a_closed_queue_and_popped_again(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_ACTIVE);
    popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    assert_status(schedq_try_pop(fx_worker(fixture), &popped), SCHEDQ_CLOSED);
}

/* ---- against a model ---- */

#define MODEL_PODS 400

/* The model: pending pods with their order; the best is found by looking at all of them. */
typedef struct model_pod {
    int32_t priority;
    int64_t timestamp;
    bool pending;
} model_pod_t;

static int
model_best(const model_pod_t *pods)
{
    int best = -1;
    for (int i = 0; i < MODEL_PODS; i++) {
        if (!pods[i].pending)
            continue;
        if (best < 0 || pods[i].priority > pods[best].priority ||
            (pods[i].priority == pods[best].priority && pods[i].timestamp < pods[best].timestamp))
            best = i;
    }
    return best;
}

static void
random_operations_pop_what_a_plain_model_pops(void **state)
{
    fixture_t *fixture = *state;
    uint64_t seed = seed_of("test_pop_order");
    static model_pod_t pods[MODEL_PODS];
    memset(pods, 0, sizeof pods);
    for (int step = 0; step < 20000; step++) {
        int i = (int)(seed_next(&seed) % MODEL_PODS);
        char name[16];
        snprintf(name, sizeof name, "ns/%d", i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(seed_next(&seed) % 9) - 4);
        fx_advance(fixture, 1);
        switch (seed_next(&seed) % 4) {
        case 0:
        case 1:
            assert_status(schedq_add(fx_worker(fixture), name, strlen(name), &spec, NULL),
                          pods[i].pending ? SCHEDQ_EXISTS : SCHEDQ_OK);
            if (!pods[i].pending)
                pods[i] = (model_pod_t){spec.priority, fx_now(fixture), true};
            break;
        case 2:
            if (pods[i].pending && seed_next(&seed) % 2 != 0) {
                assert_ok(
                    schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, NULL));
                pods[i].priority = spec.priority;
            } else if (pods[i].pending) {
                assert_ok(schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL));
                pods[i].pending = false;
            }
            break;
        default: {
            int best = model_best(pods);
            if (best < 0) {
                fx_pop_nothing(fixture);
                break;
            }
            snprintf(name, sizeof name, "ns/%d", best);
            schedq_popped_t popped = fx_pop(fixture, name);
            fx_done(fixture, &popped);
            pods[best].pending = false;
        }
        }
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(higher_priority_goes_first),
        fx_test(an_older_timestamp_goes_first_inside_a_priority),
        fx_test(pods_of_one_clock_reading_go_in_the_order_of_their_arrival),
        fx_test(readings_that_repeat_keep_the_order_of_arrival_over_workers),
        fx_test(with_fifo_priorities_do_not_order),
        fx_test(an_order_key_replaces_the_timestamp_inside_a_priority),
        fx_test(a_relaxed_queue_still_orders_by_priority),
        fx_test(pop_says_whether_more_can_be_popped),
        fx_test(cycles_are_numbered_only_if_configured),
        fx_test(pods_in_flight_are_ordered_by_their_pops),
        fx_test(pop_many_takes_the_best_in_order),
        fx_test(a_closed_queue_gives_what_is_left_then_says_so),
        fx_test(a_closed_queue_that_never_had_a_pod_says_so),
        fx_test(random_operations_pop_what_a_plain_model_pops),
        fx_test(a_failed_pod_goes_behind_those_that_were_never_tried),
        fx_test(a_failed_pod_goes_behind_even_if_the_clock_stands_still),
        fx_test(with_keep_order_a_failed_pod_keeps_its_place_inside_its_priority),
        fx_test(an_order_key_survives_a_failure),
        fx_test(an_order_key_of_the_newest_description_counts_after_a_failure),
        fx_test(pop_counts_attempts_and_remembers_the_first),
        fx_test(pop_hands_out_the_old_rejectors_and_empties_the_pods_own),
        fx_test(pods_may_be_failed_back_into_a_closed_queue_and_popped_again),
    };
    return fx_run_tests(argc, argv, tests);
}
