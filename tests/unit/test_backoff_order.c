/*
 * In which order pop takes from backoff: expiry, then priority, then order key; also of pods that
 * were updated there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"

/* Where it stands among those that back off. */
typedef struct rank {
    int64_t expiry_ns;
    int32_t priority;
    int64_t key;
} rank_t;

static int
compare(const void *left, const void *right)
{
    const rank_t *a = left, *b = right;
    if (a->expiry_ns != b->expiry_ns)
        return a->expiry_ns < b->expiry_ns ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

static fx_plugin_t *
with_windows(fixture_t *fixture)
{
    fixture->config.backoff_window = 1;
    fixture->config.pop_from_backoff = 1;
    return fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
}

static void
back_off_spec(fixture_t *fixture, const fx_plugin_t *fit, const char *name,
              const schedq_pod_spec_t *spec)
{
    fx_add_spec(fixture, name, spec);
    schedq_popped_t popped = fx_pop(fixture, name);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
    fx_advance(fixture, 1);
}

static void
back_off(fixture_t *fixture, const fx_plugin_t *fit, const char *name, int32_t priority)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    back_off_spec(fixture, fit, name, &spec);
}

static void
update(fixture_t *fixture, const char *name, const schedq_pod_spec_t *spec)
{
    schedq_result_t result;
    assert_ok(schedq_update(fx_worker(fixture), name, strlen(name), spec, 0, NULL, 0, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
}

static void
equal_expiries_come_by_priority_then_by_age(void **state)
{
    fixture_t *fixture = *state;
    const fx_plugin_t *fit = with_windows(fixture);
    back_off(fixture, fit, "ns/low", 1);
    back_off(fixture, fit, "ns/high", 3);
    back_off(fixture, fit, "ns/middle", 2);
    back_off(fixture, fit, "ns/high-later", 3);
    fx_pop(fixture, "ns/high");
    fx_pop(fixture, "ns/high-later");
    fx_pop(fixture, "ns/middle");
    fx_pop(fixture, "ns/low");
    fx_pop_nothing(fixture);
}

static void
an_earlier_expiry_comes_before_a_higher_priority(void **state)
{
    fixture_t *fixture = *state;
    const fx_plugin_t *fit = with_windows(fixture);
    back_off(fixture, fit, "ns/low", 1);
    fx_advance(fixture, SEC(1));
    back_off(fixture, fit, "ns/high", 3);
    fx_pop(fixture, "ns/low");
    fx_pop(fixture, "ns/high");
}

static void
a_new_priority_of_a_waiting_pod_counts_among_equal_expiries(void **state)
{
    fixture_t *fixture = *state;
    const fx_plugin_t *fit = with_windows(fixture);
    back_off(fixture, fit, "ns/a", 1);
    back_off(fixture, fit, "ns/b", 2);
    back_off(fixture, fit, "ns/c", 3);
    schedq_pod_spec_t raised = fx_spec(9), lowered = fx_spec(0);
    update(fixture, "ns/a", &raised);
    update(fixture, "ns/c", &lowered);
    assert_int_equal(fx_pop(fixture, "ns/a").priority, 9);
    fx_pop(fixture, "ns/b");
    assert_int_equal(fx_pop(fixture, "ns/c").priority, 0);
    fx_pop_nothing(fixture);
}

static void
a_new_order_key_of_a_waiting_pod_counts_among_equal_expiries(void **state)
{
    fixture_t *fixture = *state;
    const fx_plugin_t *fit = with_windows(fixture);
    back_off(fixture, fit, "ns/a", 1);
    back_off(fixture, fit, "ns/b", 1);
    back_off(fixture, fit, "ns/c", 1);
    schedq_pod_spec_t first = fx_spec(1), last = fx_spec(1), plain = fx_spec(1);
    first.flags = last.flags = SCHEDQ_POD_ORDER_KEY;
    first.order_key = -7;
    last.order_key = INT64_MAX;
    update(fixture, "ns/c", &first);
    update(fixture, "ns/a", &last);
    fx_pop(fixture, "ns/c");
    fx_pop(fixture, "ns/b");
    back_off(fixture, fit, "ns/later", 1);
    update(fixture, "ns/a", &plain); /* by its Timestamp again */
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/later");
    fx_pop_nothing(fixture);
}

static void
with_fifo_equal_expiries_come_by_age_alone(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.fifo = 1;
    const fx_plugin_t *fit = with_windows(fixture);
    back_off(fixture, fit, "ns/a", 1);
    back_off(fixture, fit, "ns/b", 3);
    schedq_pod_spec_t raised = fx_spec(9);
    update(fixture, "ns/b", &raised);
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/b");
}

/* ---- many ---- */

enum { PODS = 120 };

static void
name_of(char name[32], unsigned number)
{
    snprintf(name, 32, "ns/%u", number);
}

/* Half of them with keys among the times at which pods fail. */
static schedq_pod_spec_t
draw_spec(unsigned number, uint64_t *seed)
{
    schedq_pod_spec_t spec = fx_spec((int32_t)(seed_next(seed) % 4));
    spec.object = number;
    if (seed_next(seed) % 2 == 0) {
        spec.flags = SCHEDQ_POD_ORDER_KEY;
        spec.order_key = FX_START + (int64_t)(seed_next(seed) % (uint64_t)SEC(4));
    }
    return spec;
}

static rank_t
rank_of(fixture_t *fixture, const char *name, const schedq_pod_spec_t *spec)
{
    schedq_pod_info_t info = fx_info(fixture, fx_find(fixture, name).pod);
    bool keyed = (spec->flags & SCHEDQ_POD_ORDER_KEY) != 0;
    return (rank_t){.expiry_ns = info.backoff_expiry_ns,
                    .priority = spec->priority,
                    .key = keyed ? spec->order_key : info.history.timestamp_ns};
}

/* Fails once more: the next backoff is twice as long. */
static void
fail_again(fixture_t *fixture, const fx_plugin_t *fit, const char *name)
{
    schedq_pod_t pod = fx_find(fixture, name).pod;
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    schedq_popped_t popped = fx_pop(fixture, name);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_fail(fixture, &popped, fit->bit, 0);
    fx_advance(fixture, 1);
}

/* `ranks` are by number; the specs are the newest ones. */
static void
fill(fixture_t *fixture, const fx_plugin_t *fit, schedq_pod_spec_t *specs, uint64_t *seed)
{
    char name[32];
    for (unsigned i = 0; i < PODS; i++) {
        name_of(name, i);
        specs[i] = draw_spec(i, seed);
        back_off_spec(fixture, fit, name, &specs[i]);
        if (seed_next(seed) % 3 == 0)
            fail_again(fixture, fit, name);
        fx_advance(fixture, (int64_t)(seed_next(seed) % (uint64_t)MS(30)));
    }
    for (unsigned step = 0; step < 3 * PODS; step++) {
        unsigned i = (unsigned)(seed_next(seed) % PODS);
        name_of(name, i);
        specs[i] = draw_spec(i, seed);
        update(fixture, name, &specs[i]);
    }
}

static void
pods_of_different_backoffs_and_updates_come_in_one_order(void **state)
{
    (void)state;
    static schedq_pod_spec_t specs[PODS];
    static rank_t ranks[PODS], sorted[PODS];
    char name[32];
    uint64_t seed = seed_of("test_backoff_order");
    for (unsigned round = 0; round < 20; round++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        const fx_plugin_t *fit = with_windows(fixture);
        fill(fixture, fit, specs, &seed);
        for (unsigned i = 0; i < PODS; i++) {
            name_of(name, i);
            ranks[i] = sorted[i] = rank_of(fixture, name, &specs[i]);
        }
        qsort(sorted, PODS, sizeof *sorted, compare);
        for (unsigned i = 0; i < PODS; i++) {
            schedq_popped_t popped;
            assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
            assert_int_equal(popped.from_backoff, 1);
            assert_int_equal(compare(&ranks[popped.object], &sorted[i]), 0);
            fx_done(fixture, &popped);
        }
        fx_pop_nothing(fixture);
        fx_free(fixture);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(equal_expiries_come_by_priority_then_by_age),
        fx_test(an_earlier_expiry_comes_before_a_higher_priority),
        fx_test(a_new_priority_of_a_waiting_pod_counts_among_equal_expiries),
        fx_test(a_new_order_key_of_a_waiting_pod_counts_among_equal_expiries),
        fx_test(with_fifo_equal_expiries_come_by_age_alone),
        cmocka_unit_test(pods_of_different_backoffs_and_updates_come_in_one_order),
    };
    return fx_run_tests(argc, argv, tests);
}
