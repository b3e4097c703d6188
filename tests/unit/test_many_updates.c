/*
 * One pod, hundreds of updates while it stays where it is: none is lost, and it is found, moved and
 * popped as before.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

enum { UPDATES = 300 };

/*
 * Each must replace the object of the one before; the first replaces `object`. Returns the last
 * object.
 */
static uint64_t
update_often(fixture_t *fixture, const char *name, uint64_t object)
{
    schedq_result_t result;
    for (uint64_t i = 1; i <= UPDATES; i++) {
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % 5));
        spec.object = object + 1;
        assert_ok(
            schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, &result));
        assert_int_equal(result.object, object);
        assert_int_equal(result.added, 0);
        assert_int_equal(fx_info(fixture, result.pod).object, object + 1);
        object++;
    }
    return object;
}

static schedq_pod_spec_t
with_object(uint64_t object)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = object;
    return spec;
}

static void
expect_popped(fixture_t *fixture, const char *name, uint64_t object)
{
    schedq_popped_t popped = fx_pop(fixture, name);
    assert_int_equal(popped.object, object);
    assert_int_equal(popped.priority, UPDATES % 5);
    assert_int_equal(fx_stats(fixture).updates, UPDATES);
    fx_done(fixture, &popped);
    fx_pop_nothing(fixture);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    const schedq_words_t *words = schedq_words(fx_queue(fixture));
    assert_int_equal(words->parked + words->gated + words->backoff + words->error_backoff, 0);
}

static void
an_active_pod(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = with_object(1000);
    fx_add_spec(fixture, "ns/a", &spec);
    uint64_t object = update_often(fixture, "ns/a", 1000);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    expect_popped(fixture, "ns/a", object);
}

static void
a_pod_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    schedq_pod_spec_t spec = with_object(1000);
    fx_add_spec(fixture, "ns/a", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    uint64_t object = update_often(fixture, "ns/a", 1000);
    assert_int_equal(fx_fail(fixture, &popped, 0, 0).object, object);
    expect_popped(fixture, "ns/a", object);
}

static void
a_parked_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_spec_t spec = with_object(1000);
    fx_add_spec(fixture, "ns/a", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    uint64_t object = update_often(fixture, "ns/a", 1000);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    expect_popped(fixture, "ns/a", object);
}

static void
a_parked_pod_whose_time_comes(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    schedq_pod_spec_t spec = with_object(1000);
    fx_add_spec(fixture, "ns/a", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, SCHEDQ_REJECTOR_OTHERS, 0);
    uint64_t object = update_often(fixture, "ns/a", 1000);
    fx_pass(fixture, fixture->config.max_parked_ns + 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    expect_popped(fixture, "ns/a", object);
}

static void
a_gated_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_spec_t spec = with_object(1000);
    gate->refuses = true;
    fx_add_spec(fixture, "ns/a", &spec);
    uint64_t object = update_often(fixture, "ns/a", 1000);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
    assert_int_equal(fx_find(fixture, "ns/a").gate, gate->gate);
    gate->refuses = false;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
    expect_popped(fixture, "ns/a", object);
}

static void
a_pod_that_backs_off(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_spec_t spec = with_object(1000);
    fx_add_spec(fixture, "ns/a", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_fail(fixture, &popped, fit->bit, 0);
    uint64_t object = update_often(fixture, "ns/a", 1000);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 1);
    expect_popped(fixture, "ns/a", object);
}

static void
a_pod_that_backs_off_after_an_error(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = with_object(1000);
    fx_add_spec(fixture, "ns/a", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, 0, 0);
    uint64_t object = update_often(fixture, "ns/a", 1000);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ERROR_BACKOFF);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 1);
    expect_popped(fixture, "ns/a", object);
}

/* ---- with host decisions: each update gives a new ref, and the pod stays where it is ---- */

static void
expect_refs(fixture_t *fixture, const char *name, schedq_place_t place)
{
    schedq_result_t result;
    uint64_t object = fx_find(fixture, name).object, ref = fx_find(fixture, name).ref;
    for (unsigned i = 0; i < UPDATES; i++) {
        schedq_pod_spec_t spec = with_object(++object);
        assert_ok(
            schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, &result));
        assert_place(result.place, place);
        assert_true(result.ref != 0 && result.ref != ref);
        assert_true(fx_find(fixture, name).ref == result.ref);
        uint64_t old = ref;
        ref = result.ref;
        assert_status(hx_apply(fixture, old, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_CHANGED);
        assert_true(result.ref == ref);
        assert_int_equal(result.object, object);
    }
    assert_place(fx_place(fixture, name), place);
}

/* Where the last update left it, a host finds it. */
static void
expect_one_candidate(fixture_t *fixture, schedq_query_t query, const char *name)
{
    schedq_candidate_t out[8];
    schedq_result_t found = fx_find(fixture, name);
    size_t count = hx_collect(fixture, query, out, 8, 4);
    assert_in_range(count, 1, 2);
    for (size_t i = 0; i < count; i++) {
        assert_true(out[i].ref == found.ref);
        assert_int_equal(out[i].object, found.object);
    }
    assert_ok(hx_apply(fixture, found.ref, SCHEDQ_ACTIVE, 0, 0, NULL));
    fx_pop(fixture, name);
    fx_pop_nothing(fixture);
}

static void
a_parked_pod_of_a_host(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    hx_park(fixture, "ns/a", 1000, fit->bit);
    expect_refs(fixture, "ns/a", SCHEDQ_PARKED);
    expect_one_candidate(fixture, hx_query(fit->bit, 0), "ns/a");
}

static void
a_gated_pod_of_a_host(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    schedq_pod_spec_t spec = with_object(1000);
    spec.gate = (uint8_t)gate->gate;
    fx_add_spec(fixture, "ns/a", &spec);
    expect_refs(fixture, "ns/a", SCHEDQ_GATED);
    expect_one_candidate(fixture, hx_query(0, gate->bit), "ns/a");
}

static void
a_pod_of_a_host_that_backs_off(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    hx_back_off(fixture, "ns/a", 0, fit->bit);
    expect_refs(fixture, "ns/a", SCHEDQ_BACKOFF);
    schedq_query_t query = hx_query(0, 0);
    query.backoff = 1;
    fx_advance(fixture, SEC(60));
    expect_one_candidate(fixture, query, "ns/a");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_active_pod),
        fx_test(a_pod_in_flight),
        fx_test(a_parked_pod),
        fx_test(a_parked_pod_whose_time_comes),
        fx_test(a_gated_pod),
        fx_test(a_pod_that_backs_off),
        fx_test(a_pod_that_backs_off_after_an_error),
        fx_test_host(a_pod_of_a_host_that_backs_off),
        fx_test_host(a_parked_pod_of_a_host),
        fx_test_host(a_gated_pod_of_a_host),
    };
    return fx_run_tests(argc, argv, tests);
}
