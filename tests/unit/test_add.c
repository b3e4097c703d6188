/*
 * What schedq_add and schedq_add_many promise: a new pod, once per name, all of a batch or the
 * words why not.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static void
a_new_pod_is_active_and_its_result_describes_it(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(5);
    spec.object = 4711;
    schedq_result_t result = fx_add_spec(fixture, "ns/a", &spec);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.object, 4711);
    assert_ns_equal(result.timestamp_ns, FX_START);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.to_backoff + result.to_parked + result.to_gated, 0);
    assert_int_equal(result.poppable, 1);
    assert_int_equal(result.gate, 0);
    assert_int_equal(result.unschedulable | result.pending, 0);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 0);
}

static void
a_new_pod_can_be_popped_with_all_that_was_said_about_it(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(-7);
    spec.object = 4711;
    spec.flags = SCHEDQ_POD_AFFINITY;
    schedq_pod_t pod = fx_add_spec(fixture, "ns/a", &spec).pod;
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_true(popped.pod.bits == pod.bits);
    assert_int_equal(popped.object, 4711);
    assert_int_equal(popped.priority, -7);
    assert_int_equal(popped.flags, SCHEDQ_POD_AFFINITY);
    assert_int_equal(popped.profile, 0);
    assert_int_equal(popped.nominated_node, 0);
    assert_int_equal(popped.backoff_expiry_ns, 0);
    assert_int_equal(popped.name[popped.name_length], '\0');
    fx_done(fixture, &popped);
}

static void
a_pod_is_popped_with_the_nomination_of_its_spec(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.nominated_node = 12;
    fx_add_spec(fixture, "ns/a", &spec);
    assert_int_equal(fx_pop(fixture, "ns/a").nominated_node, 12);
}

static void
a_result_may_be_null(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL));
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL), SCHEDQ_EXISTS);
}

static void
the_name_is_as_long_as_said_and_is_copied(void **state)
{
    fixture_t *fixture = *state;
    char names[] = "xxxxns/abcyyyy";
    schedq_pod_spec_t spec = fx_spec(0);
    assert_ok(schedq_add(fx_worker(fixture), names + 4, 6, &spec, NULL));
    memset(names, '?', sizeof names - 1);
    fx_pop(fixture, "ns/abc");
}

static void
names_of_3_and_of_317_bytes_are_legal(void **state)
{
    fixture_t *fixture = *state;
    char longest[SCHEDQ_NAME_MAX + 1];
    memset(longest, 'n', sizeof longest - 1);
    longest[253] = '/';
    longest[SCHEDQ_NAME_MAX] = '\0';
    fx_add(fixture, "a/b", 0);
    fx_advance(fixture, 1);
    fx_add(fixture, longest, 0);
    fx_pop(fixture, "a/b");
    fx_pop(fixture, longest);
}

/* All at once: a name that is a byte too long for its cell would spoil its neighbour. */
static void
names_of_every_length_come_back_whole(void **state)
{
    fixture_t *fixture = *state;
    char name[SCHEDQ_NAME_MAX + 1];
    for (int round = 0; round < 2; round++) {
        for (size_t length = 3; length <= SCHEDQ_NAME_MAX; length++) {
            memset(name, 'a' + (int)(length % 26), length);
            name[1] = '/';
            name[length] = '\0';
            fx_add(fixture, name, 0);
        }
        for (size_t length = 3; length <= SCHEDQ_NAME_MAX; length++) {
            memset(name, 'a' + (int)(length % 26), length);
            name[1] = '/';
            name[length] = '\0';
            schedq_popped_t popped = fx_pop(fixture, name);
            fx_done(fixture, &popped);
        }
    }
}

static void
names_of_one_length_do_not_touch_each_other(void **state)
{
    fixture_t *fixture = *state;
    static const int lengths[] = {62, 63, 64, 126, 127, 128, 316, 317};
    char name[SCHEDQ_NAME_MAX + 1];
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (int round = 0; round < 2; round++) {
            for (int pod = 0; pod < 20; pod++) {
                snprintf(name, sizeof name, "%02d/%0*d", pod, lengths[i] - 3, pod);
                if (round == 0)
                    fx_add(fixture, name, 0);
                else
                    fx_pop(fixture, name);
            }
        }
    }
}

static void
expect_name_taken(fixture_t *fixture, const char *name, schedq_place_t place)
{
    schedq_result_t there = fx_find(fixture, name);
    assert_place(there.place, place);
    schedq_pod_spec_t spec = fx_spec(99);
    spec.object = 999;
    schedq_result_t result;
    assert_status(schedq_add(fx_worker(fixture), name, strlen(name), &spec, &result),
                  SCHEDQ_EXISTS);
    assert_true(result.pod.bits == there.pod.bits);
    assert_true(result.object == there.object && result.object != 999);
    assert_place(result.place, place);
    assert_int_equal(result.to_active + result.to_backoff + result.to_parked + result.to_gated, 0);
}

static void
the_name_of_an_active_or_flying_pod_is_taken(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/inflight", 0);
    fx_pop(fixture, "ns/inflight");
    fx_add(fixture, "ns/active", 0);
    expect_name_taken(fixture, "ns/active", SCHEDQ_ACTIVE);
    expect_name_taken(fixture, "ns/inflight", SCHEDQ_INFLIGHT);
    assert_int_equal(fx_stats(fixture).adds, 2);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 1);
}

static void
one_name_is_there_once_whatever_its_place(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *plugin = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    static const struct {
        const char *name;
        schedq_place_t place;
    } pods[] = {
        {"ns/active", SCHEDQ_ACTIVE},       {"ns/backoff", SCHEDQ_BACKOFF},
        {"ns/error", SCHEDQ_ERROR_BACKOFF}, {"ns/parked", SCHEDQ_PARKED},
        {"ns/gated", SCHEDQ_GATED},         {"ns/inflight", SCHEDQ_INFLIGHT},
    };
    fx_wait_everywhere(fixture, plugin, gate);
    fx_add(fixture, "ns/inflight", 0);
    fx_pop(fixture, "ns/inflight");
    fx_add(fixture, "ns/active", 0);

    for (size_t i = 0; i < sizeof pods / sizeof *pods; i++)
        expect_name_taken(fixture, pods[i].name, pods[i].place);
    assert_int_equal(fx_stats(fixture).adds, 6);
    fx_assert_counts(fixture, 1, 1, 1, 1, 1, 1);
}

static void
a_name_is_free_again_after_done_and_gets_another_handle(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t first = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    schedq_pod_t second = fx_add(fixture, "ns/a", 0);
    assert_true(first.bits != second.bits);
    assert_int_equal(fx_pop(fixture, "ns/a").history.attempts, 1);
}

static void
an_explicit_timestamp_orders_and_is_reported(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t young = fx_spec(0), old = fx_spec(0);
    young.timestamp_ns = SEC(900);
    old.timestamp_ns = SEC(800);
    assert_ns_equal(fx_add_spec(fixture, "ns/young", &young).timestamp_ns, SEC(900));
    fx_add_spec(fixture, "ns/old", &old);
    assert_ns_equal(fx_pop(fixture, "ns/old").history.timestamp_ns, SEC(800));
    assert_ns_equal(fx_pop(fixture, "ns/young").history.timestamp_ns, SEC(900));
}

static void
the_lowest_and_highest_priorities_are_legal(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/low", INT32_MIN);
    fx_add(fixture, "ns/zero", 0);
    fx_add(fixture, "ns/high", INT32_MAX);
    assert_int_equal(fx_pop(fixture, "ns/high").priority, INT32_MAX);
    assert_int_equal(fx_pop(fixture, "ns/zero").priority, 0);
    assert_int_equal(fx_pop(fixture, "ns/low").priority, INT32_MIN);
}

static void
after_close_an_add_is_refused_and_changes_nothing(void **state)
{
    fixture_t *fixture = *state;
    fx_worker(fixture);
    assert_ok(schedq_close(fx_queue(fixture)));
    schedq_pod_spec_t spec = fx_spec(0);
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL), SCHEDQ_CLOSED);
    uint8_t status = SCHEDQ_OK;
    assert_status(schedq_add_many(fx_worker(fixture), "ns/a", 4, &(schedq_add_item_t){0, 4, spec},
                                  1, NULL, &status, NULL),
                  SCHEDQ_CLOSED);
    assert_int_equal(status, SCHEDQ_CLOSED);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    assert_int_equal(fx_stats(fixture).adds, 0);
}

/* ---- add_many ---- */

/* The last item reaches past the end. */
#define BATCH "ns/a ns/b ns/c ns/a nobody"

static void
batch_specs(schedq_add_item_t items[5])
{
    static const uint32_t lengths[] = {4, 4, 4, 4, 7};
    for (uint32_t i = 0; i < 5; i++) {
        items[i] = fx_item(5 * i, lengths[i], (int32_t)i);
        items[i].spec.object = 10 + i;
    }
}

static void
a_batch_adds_all_its_pods(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[5];
    schedq_pod_t pods[3];
    uint8_t statuses[3] = {9, 9, 9};
    schedq_result_t result;
    batch_specs(items);
    assert_ok(schedq_add_many(fx_worker(fixture), BATCH, sizeof BATCH - 1, items, 3, pods, statuses,
                              &result));
    assert_int_equal(result.to_active, 3);
    assert_int_equal(result.poppable, 1);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(statuses[i], SCHEDQ_OK);
    assert_true(fx_find(fixture, "ns/b").pod.bits == pods[1].bits);
    fx_pop(fixture, "ns/c");
    fx_pop(fixture, "ns/b");
    fx_pop(fixture, "ns/a");
}

static void
a_batch_with_bad_elements_adds_the_others(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[5];
    schedq_pod_t pods[5];
    uint8_t statuses[5];
    schedq_result_t result;
    batch_specs(items);
    memset(pods, 0xff, sizeof pods);
    assert_status(schedq_add_many(fx_worker(fixture), BATCH, sizeof BATCH - 1, items, 5, pods,
                                  statuses, &result),
                  SCHEDQ_EXISTS);
    static const schedq_status_t expected[] = {SCHEDQ_OK, SCHEDQ_OK, SCHEDQ_OK, SCHEDQ_EXISTS,
                                               SCHEDQ_INVALID};
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(statuses[i], expected[i]);
        assert_int_equal(pods[i].bits != 0, expected[i] == SCHEDQ_OK);
    }
    assert_int_equal(result.to_active, 3);
    fx_assert_counts(fixture, 3, 0, 0, 0, 0, 0);
}

static void
a_batch_answers_with_its_first_failure(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[5];
    uint8_t statuses[3];
    batch_specs(items);
    schedq_add_item_t swapped[] = {items[4], items[0], items[3]};
    assert_status(schedq_add_many(fx_worker(fixture), BATCH, sizeof BATCH - 1, swapped, 3, NULL,
                                  statuses, NULL),
                  SCHEDQ_INVALID);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 0);
}

static void
without_statuses_a_bad_element_stops_its_batch(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[5];
    schedq_result_t result;
    batch_specs(items);
    schedq_add_item_t bad_last[] = {items[0], items[4]};
    memset(&result, 0xff, sizeof result);
    assert_status(schedq_add_many(fx_worker(fixture), BATCH, sizeof BATCH - 1, bad_last, 2, NULL,
                                  NULL, &result),
                  SCHEDQ_INVALID);
    assert_int_equal(result.to_active, 0);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    schedq_add_item_t twice[] = {items[0], items[3], items[1]};
    assert_status(
        schedq_add_many(fx_worker(fixture), BATCH, sizeof BATCH - 1, twice, 3, NULL, NULL, &result),
        SCHEDQ_EXISTS);
    fx_assert_counts(fixture, 2, 0, 0, 0, 0, 0);
}

static void
an_empty_batch_is_fine(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t result;
    memset(&result, 0xff, sizeof result);
    assert_ok(schedq_add_many(fx_worker(fixture), NULL, 0, NULL, 0, NULL, NULL, &result));
    assert_int_equal(result.to_active, 0);
    assert_int_equal(result.poppable, 0);
    fx_pop_nothing(fixture);
}

static void
a_batch_counts_the_gated_ones_apart(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_add_item_t items[5];
    schedq_result_t result;
    batch_specs(items);
    gate->refused_object = 11;
    assert_ok(schedq_add_many(fx_worker(fixture), BATCH, sizeof BATCH - 1, items, 3, NULL, NULL,
                              &result));
    assert_int_equal(result.to_active, 2);
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(gate->gate_calls, 3);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_GATED);
}

static void
a_batch_of_many_pods_is_popped_in_order(void **state)
{
    fixture_t *fixture = *state;
    enum { COUNT = 1000 };
    static char names[COUNT * 8 + 1];
    static schedq_add_item_t items[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(names + 8 * i, 9, "ns/%05u", i);
        items[i] = fx_item(8 * i, 8, (int32_t)((i * 7919) % COUNT));
    }
    assert_ok(
        schedq_add_many(fx_worker(fixture), names, sizeof names, items, COUNT, NULL, NULL, NULL));
    for (int32_t priority = COUNT - 1; priority >= 0; priority--) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_int_equal(popped.priority, priority);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_new_pod_is_active_and_its_result_describes_it),
        fx_test(a_new_pod_can_be_popped_with_all_that_was_said_about_it),
        fx_test(the_name_of_an_active_or_flying_pod_is_taken),
        fx_test(a_result_may_be_null),
        fx_test(the_name_is_as_long_as_said_and_is_copied),
        fx_test(names_of_3_and_of_317_bytes_are_legal),
        fx_test(names_of_every_length_come_back_whole),
        fx_test(names_of_one_length_do_not_touch_each_other),
        fx_test(a_name_is_free_again_after_done_and_gets_another_handle),
        fx_test(an_explicit_timestamp_orders_and_is_reported),
        fx_test(the_lowest_and_highest_priorities_are_legal),
        fx_test(after_close_an_add_is_refused_and_changes_nothing),
        fx_test(a_batch_adds_all_its_pods),
        fx_test(a_batch_with_bad_elements_adds_the_others),
        fx_test(a_batch_answers_with_its_first_failure),
        fx_test(without_statuses_a_bad_element_stops_its_batch),
        fx_test(an_empty_batch_is_fine),
        fx_test(a_batch_of_many_pods_is_popped_in_order),
        fx_test(one_name_is_there_once_whatever_its_place),
        fx_test(a_batch_counts_the_gated_ones_apart),
        fx_test(a_pod_is_popped_with_the_nomination_of_its_spec),
    };
    return fx_run_tests(argc, argv, tests);
}
