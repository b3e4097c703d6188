/* Groups: what a gated record is asked, when, and as what it counts. */
#include <schedq/watch.h>
#include <stdio.h>

#include "gang.h"

static long
incoming(fixture_t *fixture, const char *queue, const char *event)
{
    char sample[160];
    snprintf(sample, sizeof sample,
             "scheduler_queue_incoming_pods_total{queue=\"%s\",event=\"%s\"}", queue, event);
    return fx_metric(fixture, sample);
}

static void
describe(fixture_t *fixture, int32_t priority, uint32_t quorum)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    spec.priority = priority;
    spec.quorum = quorum;
    spec.object = GANG * 100;
    assert_ok(schedq_group_update(fx_worker(fixture), GANG, &spec, NULL));
}

static void
a_gated_group_that_is_refused_again_does_not_count_again(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    form(fixture, 1, "ab");
    assert_int_equal(incoming(fixture, "unschedulable", "UnschedulablePodAdd"), 2);
    unsigned asked = gate->gate_calls;
    drop(fixture, "ns/a"); /* which gated it */
    assert_int_equal(gate->gate_calls, asked + 1);
    assert_place(look(fixture, GANG).place, SCHEDQ_GATED);
    assert_int_equal(incoming(fixture, "unschedulable", "UnschedulablePodAdd"), 2);
}

static void
a_group_that_a_declaration_lets_go_counts_as_added(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    declare(fixture, ROOT, 0, 1, 0);
    join(fixture, "ns/a", ROOT);
    gate->refuses = false;
    declare(fixture, LEFT, 0, 1, ROOT);
    assert_place(look(fixture, ROOT).place, SCHEDQ_ACTIVE);
    assert_int_equal(incoming(fixture, "active", "UnschedulablePodAdd"), 1);
}

static void
a_parked_group_that_a_declaration_brings_out_counts_once(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    declare(fixture, ROOT, 0, 1, 0);
    join(fixture, "ns/a", ROOT);
    join(fixture, "ns/b", LEFT);
    pop(fixture, ROOT, "a");
    fail_all(fixture, fit->bit);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
    declare(fixture, LEFT, 0, 5, ROOT);
    assert_place(look(fixture, ROOT).place, SCHEDQ_ERROR_BACKOFF);
    assert_int_equal(incoming(fixture, "backoff", "UnschedulablePodAdd"), 2);
    /* no such sample */
    assert_int_equal(incoming(fixture, "unschedulable", "UnschedulablePodAdd"), -1);
}

static void
a_group_that_backs_off_keeps_the_gate_that_nobody_asks(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    form(fixture, 1, "a");
    gate->refused_object = join(fixture, "ns/b", GANG).object;
    pop(fixture, GANG, "ab");
    fail_all(fixture, 0);
    assert_place(end(fixture, SCHEDQ_GROUP_ERROR).place, SCHEDQ_ERROR_BACKOFF);
    gate->refuses = true;
    assert_ok(schedq_group_activate(fx_worker(fixture), GANG, NULL));
    assert_place(look(fixture, GANG).place, SCHEDQ_GATED);
    drop(fixture, "ns/b");
    assert_place(look(fixture, GANG).place, SCHEDQ_ERROR_BACKOFF);
    assert_int_equal(look(fixture, GANG).gate, gate->gate);
}

/* Of a batch each member joins by itself: who comes later was not tried when the first one was. */
static void
a_member_of_a_batch_is_not_tried_before_it_joins(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[2];
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_UPDATE);
    declare(fixture, GANG, 0, 1, 0);
    for (unsigned i = 0; i < 2; i++) {
        items[i] = fx_item(i * 4, 4, 0);
        items[i].spec.group = GANG;
        items[i].spec.object = gate->refused_object = 70 + i;
    }
    assert_ok(schedq_add_many(fx_worker(fixture), "ns/ans/b", 8, items, 2, NULL, NULL, NULL));
    assert_place(look(fixture, GANG).place, SCHEDQ_GATED);
    fx_pass(fixture, SEC(9));
    gate->refused_object = 0;
    fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    pop(fixture, GANG, "ab");
    assert_true(taken[0].history.initial_attempt_ns == FX_START);
    assert_true(taken[1].history.initial_attempt_ns == FX_START + SEC(9));
}

static void
join_as(fixture_t *fixture, const char *name, uint64_t number, uint64_t object)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.group = number;
    spec.object = object;
    assert_ok(schedq_add(fx_worker(fixture), name, strlen(name), &spec, NULL));
}

static void
gate_both(fixture_t *fixture, uint64_t first, uint64_t second)
{
    fx_plugin_t *left = fx_gate(fixture, "Left", NULL, 0);
    fx_plugin_t *right = fx_gate(fixture, "Right", NULL, 0);
    declare(fixture, ROOT, 0, 1, 0);
    declare(fixture, first, 0, 1, ROOT);
    declare(fixture, second, 0, 1, ROOT);
    left->refused_object = LEFT;
    right->refused_object = RIGHT;
    join_as(fixture, "ns/a", first, first);
    join_as(fixture, "ns/b", second, second);
    fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    assert_place(look(fixture, ROOT).place, SCHEDQ_GATED);
    assert_int_equal(look(fixture, ROOT).gate, right->gate);
}

/* A pop has the groups of a tree in the order of their numbers. */
static void
of_two_groups_the_last_of_a_pop_gives_the_gate(void **state)
{
    gate_both(*state, LEFT, RIGHT);
}

static void
of_two_groups_the_last_of_a_pop_gives_the_gate_though_declared_first(void **state)
{
    gate_both(*state, RIGHT, LEFT);
}

/* ---- leftovers ---- */

static void
a_group_that_is_complete_again_waits_from_its_timestamp(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    form(fixture, 1, "a");
    fx_pass(fixture, SEC(61));
    assert_int_equal(gate->gate_calls, 2); /* a flush, from which it counts now */
    describe(fixture, 0, 2);
    assert_place(look(fixture, GANG).place, SCHEDQ_ASIDE);
    describe(fixture, 0, 1);
    assert_int_equal(gate->gate_calls, 3);
    fx_pass(fixture, SEC(31));
    assert_int_equal(gate->gate_calls, 4);
}

static void
another_priority_leaves_what_a_flush_did(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    form(fixture, 1, "a");
    gate->refuses = false;
    fx_pass(fixture, SEC(61));
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    describe(fixture, 3, 1);
    pop(fixture, GANG, "a");
    assert_int_equal(group.priority, 3);
    assert_int_equal(group.flushed, 1);
}

/* The record of a group is no pod: no call may act on it, so no watchdog names it. */
static void
a_watchdog_names_the_members_that_a_gate_keeps_out(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    schedq_overdue_t out[2];
    size_t found;
    char text[100];
    form(fixture, 1, "a");
    assert_place(look(fixture, GANG).place, SCHEDQ_GATED);
    fx_advance(fixture, SEC(4000));
    assert_ok(schedq_watch(fx_worker(fixture), &watch, out, 2, &found));
    assert_int_equal(found, 1);
    assert_int_equal(out[0].kind, SCHEDQ_OVERDUE_GATED);
    assert_int_equal(out[0].plugin, 1);
    (void)schedq_overdue_text(fx_worker(fixture), &out[0], text, sizeof text);
    assert_string_equal(text, "pod ns/a: gated by Gate for 4000.000 s or longer");
    assert_ok(schedq_delete(fx_worker(fixture), out[0].pod, NULL));
    assert_int_equal(look(fixture, GANG).waiting, 0);
}

static void
a_watchdog_does_not_name_a_group_that_the_limit_of_waiting_freed(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    size_t found;
    form(fixture, 1, "a");
    pop(fixture, GANG, "a");
    fail_all(fixture, fit->bit);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
    fx_advance(fixture, SEC(400));
    fx_tick(fixture);
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    assert_ok(schedq_watch(fx_worker(fixture), &watch, NULL, 0, &found));
    assert_int_equal(found, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_gated_group_that_is_refused_again_does_not_count_again),
        fx_test(a_group_that_a_declaration_lets_go_counts_as_added),
        fx_test(a_parked_group_that_a_declaration_brings_out_counts_once),
        fx_test(a_group_that_backs_off_keeps_the_gate_that_nobody_asks),
        fx_test(a_member_of_a_batch_is_not_tried_before_it_joins),
        fx_test(of_two_groups_the_last_of_a_pop_gives_the_gate),
        fx_test(of_two_groups_the_last_of_a_pop_gives_the_gate_though_declared_first),
        fx_test(a_watchdog_names_the_members_that_a_gate_keeps_out),
        fx_test(a_watchdog_does_not_name_a_group_that_the_limit_of_waiting_freed),
        fx_test_1_37(a_group_that_is_complete_again_waits_from_its_timestamp),
        fx_test_1_37(another_priority_leaves_what_a_flush_did),
    };
    return fx_run_tests(argc, argv, tests);
}
