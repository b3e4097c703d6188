/*
 * As many workers as a queue may have: whichever of them does a thing, the others see it, in the
 * order that the header promises.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

/* The fixture's own is one more. */
enum { ALL = 512, MOST = ALL - 1, EACH = 3, PODS = MOST * EACH };

/* Workers in an order in which neighbours are far apart: 211 and MOST have no common divisor. */
static unsigned
far(unsigned i)
{
    return i * 211 % MOST;
}

static schedq_worker_t **
register_most(fixture_t *fixture)
{
    static schedq_worker_t *workers[MOST];
    schedq_worker_t *more = (schedq_worker_t *)1;
    (void)fx_worker(fixture);
    for (unsigned i = 0; i < MOST; i++)
        assert_ok(schedq_worker_register(fx_queue(fixture), &workers[i], fixture->why,
                                         sizeof fixture->why));
    assert_int_equal(fx_stats(fixture).workers, ALL);
    assert_status(
        schedq_worker_register(fx_queue(fixture), &more, fixture->why, sizeof fixture->why),
        SCHEDQ_FULL);
    assert_null(more);
    assert_contains(fixture->why, "512");
    return workers;
}

static void
unregister_most(fixture_t *fixture, schedq_worker_t **workers)
{
    for (unsigned i = 0; i < MOST; i++)
        assert_ok(schedq_worker_unregister(workers[far(i)]));
    assert_int_equal(fx_stats(fixture).workers, 1);
}

static const char *
name_of(unsigned pod)
{
    static char name[16];
    snprintf(name, sizeof name, "ns/%u", pod);
    return name;
}

static schedq_pod_t
add_by(schedq_worker_t *worker, unsigned pod, int32_t priority)
{
    const schedq_pod_spec_t spec = fx_spec(priority);
    const char *name = name_of(pod);
    schedq_result_t result;
    assert_ok(schedq_add(worker, name, strlen(name), &spec, &result));
    return result.pod;
}

static schedq_popped_t
pop_by(schedq_worker_t *worker, unsigned pod)
{
    schedq_popped_t popped;
    assert_ok(schedq_try_pop(worker, &popped));
    assert_string_equal(popped.name, name_of(pod));
    return popped;
}

static schedq_result_t
fail_by(schedq_worker_t *worker, const schedq_popped_t *popped, uint64_t unschedulable)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_token_t token = popped->token;
    schedq_result_t result;
    failure.unschedulable = unschedulable;
    assert_ok(schedq_fail(worker, &token, &failure, &result));
    return result;
}

static int
setup(void **state)
{
    int status = fx_setup(state);
    ((fixture_t *)*state)->config.max_workers = ALL;
    return status;
}

static int
setup_host(void **state)
{
    int status = fx_setup_host(state);
    ((fixture_t *)*state)->config.max_workers = ALL;
    return status;
}

#define many(function) cmocka_unit_test_setup_teardown(function, setup, fx_teardown)
#define many_host(function) cmocka_unit_test_setup_teardown(function, setup_host, fx_teardown)

/* ---- the order ------------------------------------------------------------------------------- */

static void
pods_come_in_their_order_whoever_added_them(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t **workers = register_most(fixture);
    for (unsigned pod = 0; pod < PODS; pod++)
        (void)add_by(workers[far(pod)], pod, 0);
    for (unsigned pod = 0; pod < PODS; pod++) {
        const schedq_popped_t popped = pop_by(workers[far(pod * 3 + 7)], pod);
        assert_ok(schedq_done(workers[far(pod * 5)], popped.token));
    }
    fx_pop_nothing(fixture);
    assert_int_equal(fx_stats(fixture).pops, PODS);
    unregister_most(fixture, workers);
}

/* Lanes run empty and are filled again, while others have pods. */
static void
pods_that_come_between_pops_keep_their_order(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t **workers = register_most(fixture);
    unsigned added = 0, popped = 0;
    for (unsigned round = 0; popped < PODS; round++) {
        for (unsigned i = round % 23; i > 0 && added < PODS; i--, added++)
            (void)add_by(workers[far(added * 17)], added, 0);
        for (unsigned i = round % 13; i > 0 && popped < added; i--, popped++) {
            const schedq_popped_t pod = pop_by(workers[far(popped * 29)], popped);
            assert_ok(schedq_done(workers[far(popped)], pod.token));
        }
    }
    unregister_most(fixture, workers);
}

static void
priorities_are_served_from_the_top_whoever_added_them(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t **workers = register_most(fixture);
    int32_t last = INT32_MAX;
    for (unsigned pod = 0; pod < PODS; pod++)
        (void)add_by(workers[far(pod)], pod, (int32_t)(pod * 7 % 50));
    for (unsigned pod = 0; pod < PODS; pod++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(workers[far(pod * 3)], &popped));
        assert_true(popped.priority <= last);
        last = popped.priority;
        assert_ok(schedq_done(workers[far(pod)], popped.token));
    }
    fx_pop_nothing(fixture);
    unregister_most(fixture, workers);
}

/* Some keys fit no lane. */
static void
order_keys_order_whoever_gave_them(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t **workers = register_most(fixture);
    for (unsigned i = 0; i < MOST; i++) {
        const unsigned pod = far(i * 3);
        const char *name = name_of(pod);
        schedq_pod_spec_t spec = fx_spec(0);
        spec.flags = SCHEDQ_POD_ORDER_KEY;
        spec.order_key = 1 + (int64_t)pod;
        assert_ok(schedq_add(workers[i], name, strlen(name), &spec, NULL));
    }
    for (unsigned pod = 0; pod < MOST; pod++) {
        const schedq_popped_t popped = pop_by(workers[MOST - 1 - pod], pod);
        assert_ok(schedq_done(workers[pod], popped.token));
    }
    unregister_most(fixture, workers);
}

static void
a_relaxed_pop_finds_every_pod(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.order = SCHEDQ_ORDER_RELAXED;
    schedq_worker_t **workers = register_most(fixture);
    for (unsigned pod = 0; pod < MOST; pod++)
        (void)add_by(workers[far(pod)], pod, 0);
    for (unsigned pod = 0; pod < MOST; pod++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(workers[far(pod * 3)], &popped));
        assert_ok(schedq_done(workers[far(pod)], popped.token));
    }
    fx_pop_nothing(fixture);
    unregister_most(fixture, workers);
}

/* ---- looking --------------------------------------------------------------------------------- */

typedef struct line {
    unsigned next, step;
} line_t;

static int
see_next(void *ctx, const schedq_pod_info_t *info)
{
    line_t *line = ctx;
    assert_string_equal(info->name, name_of(line->next));
    line->next += line->step;
    return 1;
}

static void
peek_and_position_see_the_pods_of_all(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t **workers = register_most(fixture);
    static schedq_pod_t pods[MOST];
    for (unsigned pod = 0; pod < MOST; pod++)
        pods[pod] = add_by(workers[far(pod)], pod, 0);
    for (unsigned first = 0; first < MOST; first++) {
        line_t line = {.next = first};
        assert_ok(schedq_peek(workers[far(first)], see_next, &line));
        if (first % 100 == 0) {
            line = (line_t){.next = first, .step = 1};
            assert_ok(schedq_peek_many(workers[far(first)], MOST, see_next, &line));
            assert_int_equal(line.next, MOST);
            for (unsigned pod = first; pod < MOST; pod++) {
                uint64_t lower, upper;
                assert_ok(schedq_position(workers[far(pod)], pods[pod], &lower, &upper));
                assert_int_equal(lower, pod - first);
                assert_int_equal(upper, pod - first);
            }
        }
        const schedq_popped_t popped = pop_by(workers[far(first * 3)], first);
        assert_ok(schedq_done(workers[first], popped.token));
    }
    assert_status(schedq_peek(workers[0], see_next, &(line_t){0}), SCHEDQ_EMPTY);
    unregister_most(fixture, workers);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void
an_event_finds_what_any_of_them_parked(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *other = fx_plugin(fixture, "Other", "Pod", SCHEDQ_ACTION_ADD);
    schedq_worker_t **workers = register_most(fixture);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned pod = 0; pod < MOST; pod++) {
            schedq_worker_t *worker = workers[far(pod)];
            (void)add_by(worker, pod, 0);
            const schedq_popped_t popped = pop_by(worker, pod);
            assert_place(fail_by(worker, &popped, pod % 2 == 0 ? fit->bit : other->bit).place,
                         SCHEDQ_PARKED);
        }
        fx_assert_counts(fixture, 0, 0, 0, MOST, 0, 0);
        fx_advance(fixture, SEC(20));
        schedq_change_t change = SCHEDQ_CHANGE_INIT;
        schedq_result_t result;
        change.event = SCHEDQ_EVENT_NODE_ADD;
        assert_ok(schedq_notify(workers[MOST - 1 - round], &change, &result));
        assert_int_equal(result.to_active, (MOST + 1) / 2);
        fx_assert_counts(fixture, (MOST + 1) / 2, 0, 0, MOST / 2, 0, 0);
        /* the rest by time, after five minutes */
        assert_int_equal(fx_pass(fixture, SEC(400)).to_active, MOST / 2);
        for (unsigned pod = 0; pod < MOST; pod++) {
            schedq_popped_t popped;
            assert_ok(schedq_try_pop(workers[pod], &popped));
            assert_ok(schedq_done(workers[far(pod)], popped.token));
        }
        fx_pop_nothing(fixture);
        schedq_trim(fx_queue(fixture));
    }
    unregister_most(fixture, workers);
}

/* A lot whose only pod is in the lane of a late worker stays, however often lots are looked for. */
static void
a_lot_stays_for_the_pod_of_any_of_them(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_worker_t **workers = register_most(fixture);
    (void)add_by(workers[MOST - 1], 0, 0);
    const schedq_popped_t popped = pop_by(workers[MOST - 1], 0);
    assert_place(fail_by(workers[MOST - 1], &popped, fit->bit).place, SCHEDQ_PARKED);
    for (int i = 0; i < 4; i++)
        schedq_trim(fx_queue(fixture));
    fx_advance(fixture, SEC(20));
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
    fx_done(fixture, &(schedq_popped_t){.token = pop_by(workers[0], 0).token});
    unregister_most(fixture, workers);
}

static void
backoffs_end_in_their_order_whoever_failed(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    schedq_worker_t **workers = register_most(fixture);
    for (unsigned pod = 0; pod < MOST; pod++) {
        schedq_worker_t *worker = workers[far(pod)];
        (void)add_by(worker, pod, 0);
        const schedq_popped_t popped = pop_by(worker, pod);
        assert_place(fail_by(worker, &popped, 0).place, SCHEDQ_ERROR_BACKOFF);
        fx_advance(fixture, MS(1));
    }
    fx_pop_nothing(fixture);
    assert_int_equal(fx_pass(fixture, SEC(30)).to_active, MOST);
    for (unsigned pod = 0; pod < MOST; pod++) {
        const schedq_popped_t popped = pop_by(workers[pod], pod);
        assert_ok(schedq_done(workers[far(pod)], popped.token));
    }
    unregister_most(fixture, workers);
}

static void
a_host_finds_the_candidates_of_all(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_worker_t **workers = register_most(fixture);
    static schedq_candidate_t found[MOST + 16];
    for (unsigned pod = 0; pod < MOST; pod++) {
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
        schedq_result_t result;
        (void)add_by(workers[far(pod)], pod, 0);
        schedq_popped_t popped = pop_by(workers[far(pod)], pod);
        failure.place = SCHEDQ_PARKED;
        failure.unschedulable = fit->bit;
        failure.judged_up_to = popped.seen;
        assert_ok(schedq_fail(workers[far(pod)], &popped.token, &failure, &result));
    }
    for (size_t step = 1; step <= 16; step += 5)
        assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), found, MOST + 16, step), MOST);
    for (unsigned pod = 0; pod < MOST; pod++) {
        schedq_result_t result;
        assert_ok(hx_apply(fixture, found[pod].ref, SCHEDQ_ACTIVE, 0, hx_begin(fixture), &result));
    }
    assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), found, MOST + 16, 16), 0);
    fx_assert_counts(fixture, MOST, 0, 0, 0, 0, 0);
    for (unsigned pod = 0; pod < MOST; pod++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(workers[pod], &popped));
        assert_ok(schedq_done(workers[far(pod)], popped.token));
    }
    unregister_most(fixture, workers);
}

/* ---- coming and going ------------------------------------------------------------------------ */

static void
the_next_owners_of_the_slots_go_on(void **state)
{
    fixture_t *fixture = *state;
    uint64_t bytes = 0;
    for (unsigned round = 0; round < 4; round++) {
        schedq_worker_t **workers = register_most(fixture);
        for (unsigned pod = 0; pod < MOST; pod++)
            (void)add_by(workers[far(pod)], pod, (int32_t)(pod % 2));
        unregister_most(fixture, workers);
        (void)register_most(fixture);
        for (unsigned i = 0; i < MOST; i++) {
            const unsigned pod = i < MOST / 2 ? 2 * i + 1 : 2 * (i - MOST / 2);
            const schedq_popped_t popped = pop_by(workers[far(i)], pod);
            assert_ok(schedq_done(workers[i], popped.token));
        }
        unregister_most(fixture, workers);
        if (round == 1)
            bytes = atomic_load(&fixture->memory.bytes);
    }
    assert_true(atomic_load(&fixture->memory.bytes) <= bytes);
}

static void
an_adopted_worker_s_pods_and_lane_stay(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t **workers = register_most(fixture);
    for (unsigned pod = 0; pod < MOST; pod++) {
        (void)add_by(workers[MOST - 1 - pod], pod, 0);
        assert_ok(schedq_worker_adopt(fx_queue(fixture), workers[MOST - 1 - pod]));
    }
    for (unsigned pod = 0; pod < MOST; pod++) {
        const schedq_popped_t popped = pop_by(workers[pod], pod);
        assert_ok(schedq_done(workers[pod], popped.token));
    }
    unregister_most(fixture, workers);
}

static void
counted_objects_are_released_whoever_had_them(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    schedq_worker_t **workers = register_most(fixture);
    for (unsigned pod = 0; pod < MOST; pod++) {
        fx_add(fixture, name_of(pod), 0);
        const schedq_popped_t popped = pop_by(workers[far(pod)], pod);
        assert_true(popped.object != 0);
        assert_ok(schedq_done(workers[far(pod * 3)], popped.token));
    }
    unregister_most(fixture, workers);
}

/* Room for one more than there may be is refused, for as many it is made. */
static void
reserve_makes_room_for_all(void **state)
{
    fixture_t *fixture = *state;
    assert_status(
        schedq_reserve(fx_queue(fixture), 0, 0, ALL + 1, fixture->why, sizeof fixture->why),
        SCHEDQ_INVALID);
    assert_contains(fixture->why, "512");
    assert_ok(schedq_reserve(fx_queue(fixture), 100, 1, ALL, NULL, 0));
    assert_int_equal(fx_stats(fixture).workers, 0);
    unregister_most(fixture, register_most(fixture));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        many(pods_come_in_their_order_whoever_added_them),
        many(pods_that_come_between_pops_keep_their_order),
        many(priorities_are_served_from_the_top_whoever_added_them),
        many(order_keys_order_whoever_gave_them),
        many(a_relaxed_pop_finds_every_pod),
        many(peek_and_position_see_the_pods_of_all),
        many(an_event_finds_what_any_of_them_parked),
        many(a_lot_stays_for_the_pod_of_any_of_them),
        many(backoffs_end_in_their_order_whoever_failed),
        many_host(a_host_finds_the_candidates_of_all),
        many(the_next_owners_of_the_slots_go_on),
        many(an_adopted_worker_s_pods_and_lane_stay),
        many(counted_objects_are_released_whoever_had_them),
        many(reserve_makes_room_for_all),
    };
    return fx_run_tests(argc, argv, tests);
}
