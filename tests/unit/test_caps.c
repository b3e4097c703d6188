/*
 * Caps: hitting one is FULL at admission with words, changes nothing, and never happens to a pod
 * that is in.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "squad.h"

static void
expect_full(fixture_t *fixture, const char *name, int32_t priority, const char *part,
            const char *cap)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    schedq_result_t result;
    uint8_t status = 0;
    schedq_worker_t *worker = fx_worker(fixture);
    memset(&result, 0xff, sizeof result);
    assert_status(schedq_add(worker, name, strlen(name), &spec, &result), SCHEDQ_FULL);
    assert_int_equal(result.pod.bits | result.place, 0);
    assert_contains(schedq_worker_error(worker), part);
    assert_contains(schedq_worker_error(worker), cap);
    assert_status(schedq_add_many(worker, name, strlen(name),
                                  &(schedq_add_item_t){0, (uint32_t)strlen(name), spec}, 1, NULL,
                                  &status, NULL),
                  SCHEDQ_FULL);
    assert_int_equal(status, SCHEDQ_FULL);
    spec.flags = SCHEDQ_POD_ADD;
    assert_status(schedq_update(worker, name, strlen(name), &spec, 0, NULL, 0, NULL), SCHEDQ_FULL);
    assert_contains(schedq_worker_error(worker), part);
    assert_place(fx_place(fixture, name), SCHEDQ_NOWHERE);
}

static void
expect_readd_full(fixture_t *fixture, const char *name, int32_t priority, const char *part)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    assert_status(
        schedq_readd(fx_worker(fixture), name, strlen(name), &spec, &history, &failure, NULL),
        SCHEDQ_FULL);
    assert_contains(schedq_worker_error(fx_worker(fixture)), part);
    assert_place(fx_place(fixture, name), SCHEDQ_NOWHERE);
}

static void
more_pods_than_max_pods_are_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_pods = 3;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    fx_err(fixture, "ns/b");
    fx_add(fixture, "ns/c", 0);
    expect_full(fixture, "ns/d", 0, "max_pods", "3");
    expect_readd_full(fixture, "ns/d", 0, "max_pods");
    schedq_popped_t popped = fx_pop(fixture, "ns/c");
    expect_full(fixture, "ns/d", 0, "max_pods", "3");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 2);
    fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/b", 4, NULL));
    fx_add(fixture, "ns/d", 0);
    expect_full(fixture, "ns/e", 0, "max_pods", "3");
    fx_assert_counts(fixture, 1, 1, 0, 0, 0, 1);
}

static void
the_cap_of_pods_is_reached_exactly(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_pods = 1000;
    char name[32];
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "ns/%u", i);
            fx_add(fixture, name, 0);
        }
        expect_full(fixture, "ns/more", 0, "max_pods", "1000");
        for (unsigned i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "ns/%u", i);
            schedq_popped_t popped = fx_pop(fixture, name);
            fx_done(fixture, &popped);
        }
    }
}

static void
more_priorities_than_max_bands_are_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_bands = 2;
    fx_add(fixture, "ns/a", 1);
    schedq_pod_t b = fx_add(fixture, "ns/b", 2);
    expect_full(fixture, "ns/c", 3, "max_bands", "2");
    fx_add(fixture, "ns/c", 1);
    assert_ok(schedq_delete(fx_worker(fixture), b, NULL));
    fx_add(fixture, "ns/d", 3);
    expect_full(fixture, "ns/e", 2, "max_bands", "2");
    schedq_popped_t d = fx_pop(fixture, "ns/d");
    fx_add(fixture, "ns/e", 2); /* a pod in flight has no place in the order */
    fx_fail(fixture, &d, 0, 0);
    expect_full(fixture, "ns/f", 3, "max_bands", "2"); /* nor has one that waits */
    fx_pop(fixture, "ns/e");
    fx_add(fixture, "ns/f", 3);
}

static void
pods_that_become_active_later_exceed_the_cap_of_bands(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_bands = 1;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    char name[16];
    schedq_pod_t pods[5];
    for (int32_t i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "ns/%d", i);
        pods[i] = fx_add(fixture, name, i);
        schedq_popped_t popped = fx_pop(fixture, name);
        fx_fail(fixture, &popped, fit->bit, 0);
    }
    fx_add(fixture, "ns/a", 7);
    expect_full(fixture, "ns/b", 3, "max_bands", "1");
    expect_readd_full(fixture, "ns/b", 3, "max_bands");
    assert_ok(schedq_activate(fx_worker(fixture), pods, 5, NULL));
    fx_add(fixture, "ns/b", 3);
    expect_full(fixture, "ns/c", 9, "max_bands", "1");
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/4");
}

static void
the_cap_of_bands_counts_pods_of_a_batch_that_are_in(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_bands = 2;
    schedq_add_item_t items[5];
    uint8_t statuses[5];
    static const int32_t priorities[] = {4, 5, 6, 5, 4};
    for (uint32_t i = 0; i < 5; i++) {
        items[i] = fx_item(5 * i, 4, priorities[i]);
    }
    assert_status(schedq_add_many(fx_worker(fixture), "ns/a ns/b ns/c ns/d ns/e", 24, items, 5,
                                  NULL, statuses, NULL),
                  SCHEDQ_FULL);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(statuses[i], i == 2 ? SCHEDQ_FULL : SCHEDQ_OK);
    fx_pop(fixture, "ns/b");
    fx_pop(fixture, "ns/d");
    fx_pop(fixture, "ns/a");
}

static void
update_beyond_the_cap_of_bands(fixture_t *fixture)
{
    fixture->config.max_bands = 2;
    fx_add(fixture, "ns/a", 1);
    fx_add(fixture, "ns/b", 1);
    fx_add(fixture, "ns/c", 2);
    schedq_pod_spec_t spec = fx_spec(3);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
}

static void
an_update_of_a_pod_that_is_in_hits_no_cap(void **state)
{
    fixture_t *fixture = *state;
    update_beyond_the_cap_of_bands(fixture);
    expect_full(fixture, "ns/d", 4, "max_bands", "2");
    fx_add(fixture, "ns/d", 3);
    fx_pop(fixture, "ns/a");
}

static void
a_failure_of_a_pod_that_is_in_hits_no_cap(void **state)
{
    fixture_t *fixture = *state;
    update_beyond_the_cap_of_bands(fixture);
    fx_add(fixture, "ns/d", 3);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.priority = 4;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    expect_full(fixture, "ns/e", 5, "max_bands", "2");
    expect_readd_full(fixture, "ns/e", 5, "max_bands");
    fx_add(fixture, "ns/e", 3);
}

/*
 * Many more priorities than there may be at a time, one after the other; trim in between makes no
 * difference.
 */
static void
priorities_that_nobody_has_any_more_make_room(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_bands = 3;
    fx_add(fixture, "ns/stays", -1);
    for (int32_t i = 0; i < 2000; i += 2) {
        fx_add(fixture, "ns/a", i);
        schedq_pod_t b = fx_add(fixture, "ns/b", i + 1);
        expect_full(fixture, "ns/c", i + 2, "max_bands", "3");
        schedq_popped_t popped = fx_pop(fixture, "ns/b");
        if (i % 4 == 0) {
            fx_done(fixture, &popped);
        } else {
            assert_ok(schedq_delete(fx_worker(fixture), b, NULL));
            assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
        }
        schedq_pod_spec_t spec = fx_spec(i + 2);
        assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
        fx_add(fixture, "ns/d", i + 3);
        expect_full(fixture, "ns/c", i, "max_bands", "3");
        popped = fx_pop(fixture, "ns/d");
        fx_done(fixture, &popped);
        assert_ok(schedq_delete_name(fx_worker(fixture), "ns/a", 4, NULL));
        if (i % 100 == 0)
            assert_ok(schedq_trim(fx_queue(fixture)));
    }
    fx_pop(fixture, "ns/stays");
    fx_pop_nothing(fixture);
}

static void
the_cap_of_priorities_is_reached_exactly_and_again(void **state)
{
    fixture_t *fixture = *state;
    enum { BANDS = 300 };
    fixture->config.max_bands = BANDS;
    char name[32];
    for (int32_t round = 0; round < 3; round++) {
        for (int32_t i = 0; i < BANDS; i++) {
            snprintf(name, sizeof name, "ns/%d", i);
            fx_add(fixture, name, round * BANDS + i * 7919 % BANDS);
        }
        expect_full(fixture, "ns/more", -1, "max_bands", "300");
        for (int32_t i = BANDS - 1; i >= 0; i--) {
            schedq_popped_t popped;
            assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
            assert_int_equal(popped.priority, round * BANDS + i);
            fx_done(fixture, &popped);
        }
    }
}

static void
without_a_cap_of_priorities_there_are_thousands(void **state)
{
    fixture_t *fixture = *state;
    enum { BANDS = 3000 };
    fixture->config.max_bands = 0;
    char name[32];
    for (int32_t i = 0; i < BANDS; i++) {
        snprintf(name, sizeof name, "ns/%d", i);
        fx_add(fixture, name, i * 7919 % BANDS);
    }
    for (int32_t i = BANDS - 1; i >= 0; i--) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_int_equal(popped.priority, i);
    }
}

static void
a_batch_that_hits_a_cap_adds_what_fits(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_pods = 2;
    schedq_add_item_t items[3];
    uint8_t statuses[3];
    schedq_result_t result;
    for (uint32_t i = 0; i < 3; i++) {
        items[i] = fx_item(5 * i, 4, 0);
    }
    assert_status(schedq_add_many(fx_worker(fixture), "ns/a ns/b ns/c", 14, items, 3, NULL,
                                  statuses, &result),
                  SCHEDQ_FULL);
    assert_int_equal(statuses[0], SCHEDQ_OK);
    assert_int_equal(statuses[1], SCHEDQ_OK);
    assert_int_equal(statuses[2], SCHEDQ_FULL);
    assert_int_equal(result.to_active, 2);
}

/* ---- several at once ---- */

enum { CAP = 100, ADDERS = 4 };

/* Pods and priorities of its own. */
static void
add_until_full(soldier_t *soldier)
{
    atomic_uint *added = soldier->ctx;
    char name[32];
    for (unsigned i = 0; i < CAP; i++) {
        snprintf(name, sizeof name, "ns/%u-%u", soldier->number, i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(soldier->number * CAP + i));
        schedq_status_t status = schedq_add(soldier->worker, name, strlen(name), &spec, NULL);
        mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_FULL);
        atomic_fetch_add(added, status == SCHEDQ_OK);
    }
}

/* How many got in. All of them can be popped. */
static unsigned
race(fixture_t *fixture)
{
    atomic_uint added = 0;
    squad_run(fixture, ADDERS, 0, add_until_full, &added);
    unsigned count = atomic_load(&added);
    fx_assert_counts(fixture, count, 0, 0, 0, 0, 0);
    schedq_popped_t popped;
    for (unsigned i = 0; i < count; i++) {
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        fx_done(fixture, &popped);
    }
    fx_pop_nothing(fixture);
    return count;
}

static void
several_adders_are_not_refused_before_the_cap_of_pods(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_pods = CAP;
    for (int round = 0; round < 5; round++)
        assert_true(race(fixture) >= CAP);
}

static void
several_adders_are_not_refused_before_the_cap_of_priorities(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_bands = CAP;
    for (int round = 0; round < 5; round++)
        assert_true(race(fixture) >= CAP);
}

static void
several_adders_do_not_exceed_the_cap_of_pods(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_pods = CAP;
    for (int round = 0; round < 5; round++)
        assert_int_equal(race(fixture), CAP);
}

static void
several_adders_do_not_exceed_the_cap_of_priorities(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_bands = CAP;
    for (int round = 0; round < 5; round++)
        assert_int_equal(race(fixture), CAP);
}

static void
workers_beyond_max_workers_are_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_workers = 2;
    schedq_worker_t *one, *two, *three;
    schedq_t *queue = fx_queue(fixture);
    char *why = fixture->why;
    assert_ok(schedq_worker_register(queue, &one, why, sizeof fixture->why));
    assert_ok(schedq_worker_register(queue, &two, why, sizeof fixture->why));
    assert_status(schedq_worker_register(queue, &three, why, sizeof fixture->why), SCHEDQ_FULL);
    assert_contains(why, "max_workers");
    assert_contains(why, "2");
    assert_ok(schedq_worker_unregister(one));
    assert_ok(schedq_worker_register(queue, &three, why, sizeof fixture->why));
    assert_ok(schedq_worker_unregister(two));
    assert_ok(schedq_worker_unregister(three));
}

static void
events_beyond_max_events_are_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_events = SCHEDQ_EVENT_FIRST_FREE;
    schedq_t *queue = fx_queue(fixture);
    schedq_event_t event, again;
    char *why = fixture->why;
    assert_ok(
        schedq_event_define(queue, "A", SCHEDQ_ACTION_ADD, NULL, &event, why, sizeof fixture->why));
    assert_status(
        schedq_event_define(queue, "B", SCHEDQ_ACTION_ADD, NULL, &again, why, sizeof fixture->why),
        SCHEDQ_FULL);
    assert_contains(why, "max_events");
    assert_contains(why, "36");
    assert_ok(
        schedq_event_define(queue, "A", SCHEDQ_ACTION_ADD, NULL, &again, why, sizeof fixture->why));
    assert_int_equal(event, again);
    assert_ok(schedq_event_define(queue, "Node", SCHEDQ_ACTION_ADD, NULL, &again, why,
                                  sizeof fixture->why));
}

static void
without_a_cap_many_events_can_be_defined(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_events = 0;
    char name[16];
    for (unsigned i = 0; i < 2000; i++) {
        schedq_event_t event;
        snprintf(name, sizeof name, "R%u", i);
        assert_ok(
            schedq_event_define(fx_queue(fixture), name, SCHEDQ_ACTION_ADD, NULL, &event, NULL, 0));
        assert_int_equal(event, SCHEDQ_EVENT_FIRST_FREE + i);
    }
}

static void
the_64th_plugin_of_a_profile_is_refused(void **state)
{
    fixture_t *fixture = *state;
    char name[16];
    uint64_t all = 0;
    for (unsigned i = 0; i < 63; i++) {
        snprintf(name, sizeof name, "Plugin%u", i);
        uint64_t bit = fx_plugin(fixture, name, "Node", SCHEDQ_ACTION_ADD)->bit;
        assert_true(bit == UINT64_C(1) << i);
        all |= bit;
    }
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    plugin.name = "OneMore";
    assert_status(
        schedq_plugin_register(fx_queue(fixture), &plugin, &bit, fixture->why, sizeof fixture->why),
        SCHEDQ_FULL);
    assert_contains(fixture->why, "63");
    fx_park(fixture, "ns/a", all);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
}

static void
the_256th_profile_is_refused(void **state)
{
    fixture_t *fixture = *state;
    char name[16];
    schedq_profile_t profile;
    for (unsigned i = 1; i < 255; i++) {
        snprintf(name, sizeof name, "profile%u", i);
        assert_ok(schedq_profile_define(fx_queue(fixture), name, &profile, NULL, 0));
        assert_int_equal(profile, i);
    }
    assert_status(schedq_profile_define(fx_queue(fixture), "one more", &profile, fixture->why,
                                        sizeof fixture->why),
                  SCHEDQ_FULL);
    assert_contains(fixture->why, "255");
}

static void
more_rejector_sets_than_max_lots_share_one_and_none_is_missed(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_lots = 2;
    fx_plugin_t *plugins[8];
    char name[16];
    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "P%u", i);
        plugins[i] = fx_plugin(fixture, name, i < 4 ? "Node" : "Pod", SCHEDQ_ACTION_DELETE);
    }
    for (unsigned i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_park(fixture, name, plugins[i % 8]->bit | plugins[i / 8]->bit);
    }
    /* pods of which both rejectors registered Pod/Delete only: 4 x 4 */
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE).to_backoff, 64 - 16);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_ASSIGNED_POD_DELETE).to_backoff, 16);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(the_cap_of_pods_is_reached_exactly),
        fx_test(more_priorities_than_max_bands_are_refused),
        fx_test(pods_that_become_active_later_exceed_the_cap_of_bands),
        fx_test(the_cap_of_bands_counts_pods_of_a_batch_that_are_in),
        fx_test(an_update_of_a_pod_that_is_in_hits_no_cap),
        fx_test(priorities_that_nobody_has_any_more_make_room),
        fx_test(the_cap_of_priorities_is_reached_exactly_and_again),
        fx_test(without_a_cap_of_priorities_there_are_thousands),
        fx_test(a_batch_that_hits_a_cap_adds_what_fits),
        fx_test(several_adders_are_not_refused_before_the_cap_of_pods),
        fx_test(several_adders_are_not_refused_before_the_cap_of_priorities),
        fx_test(workers_beyond_max_workers_are_refused),
        fx_test(more_pods_than_max_pods_are_refused),
        fx_test(a_failure_of_a_pod_that_is_in_hits_no_cap),
        fx_test(events_beyond_max_events_are_refused),
        fx_test(without_a_cap_many_events_can_be_defined),
        fx_test(the_64th_plugin_of_a_profile_is_refused),
        fx_test(the_256th_profile_is_refused),
        fx_test(more_rejector_sets_than_max_lots_share_one_and_none_is_missed),
    };
    const struct CMUnitTest with_exact_caps[] = {
        fx_test(several_adders_do_not_exceed_the_cap_of_pods),
        fx_test(several_adders_do_not_exceed_the_cap_of_priorities),
    };
    const fx_group_t groups[] = {
        fx_group(tests, FX_ANY_ENGINE),
        fx_group(with_exact_caps, FX_EXACT_CAPS),
    };
    return fx_run_groups(argc, argv, groups);
}
