/* Groups: pods that are tried together. */
#include <schedq/label.h>

#include <stdio.h>
#include <string.h>

#include "gang.h"

/* ---- never alone, never before the quorum ---- */

static void
members_wait_aside_until_the_quorum_is_there(void **state)
{
    fixture_t *fixture = *state;
    assert_place(declare(fixture, GANG, 0, 3, 0).place, SCHEDQ_ASIDE);
    assert_true(look(fixture, GANG).history.timestamp_ns == FX_START);
    fx_pass(fixture, SEC(1));
    assert_int_equal(join(fixture, "ns/a", GANG).poppable, 0);
    join(fixture, "ns/b", GANG);
    fx_pop_nothing(fixture);
    pop_none(fixture);
    assert_int_equal(look(fixture, GANG).waiting, 2);
    assert_int_equal(fx_stats(fixture).aside, 2);
    assert_true(schedq_words(fx_queue(fixture))->aside == 2);
    schedq_result_t last = join(fixture, "ns/c", GANG);
    assert_int_equal(last.poppable, 1);
    assert_int_equal(last.to_active, 1);
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    assert_true(look(fixture, GANG).history.timestamp_ns == FX_START + SEC(1));
    fx_assert_counts(fixture, 3, 0, 0, 0, 0, 0);
    assert_int_equal(fx_stats(fixture).aside, 0);
    assert_int_equal(fx_stats(fixture).groups_at[SCHEDQ_ACTIVE], 1);
    fx_pop_nothing(fixture);
    pop(fixture, GANG, "abc");
    assert_int_equal(group.history.attempts, 1);
    assert_place(look(fixture, GANG).place, SCHEDQ_INFLIGHT);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 3);
    pop_none(fixture);
}

static int
affinity_matches(void *ctx, uint64_t pod, uint64_t assigned)
{
    (void)ctx;
    return pod == assigned;
}

/* As if the pod itself were parked. It has its affinity since the group waits. */
static void
an_assigned_pod_helps_a_group_of_which_one_member_has_affinity_to_it(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;
    fixture->config.affinity_matches = affinity_matches;
    fx_plugin_t *fit = fx_plugin(fixture, "InterPodAffinity", "Pod", SCHEDQ_ACTION_ALL);
    form(fixture, 2, "ab");
    pop(fixture, GANG, "ab");
    fail_all(fixture, fit->bit);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
    spec.group = GANG;
    spec.object = 55;
    spec.flags = SCHEDQ_POD_AFFINITY;
    assert_ok(schedq_update(fx_worker(fixture), "ns/b", 4, &spec, 0, NULL, 0, &result));
    fx_advance(fixture, SEC(60));
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_ADD;
    for (change.new_object = 54; change.new_object <= 55; change.new_object++) {
        pop_none(fixture);
        assert_ok(schedq_assigned_pod_added(fx_worker(fixture), &change, "ns", 2, &result));
        assert_int_equal(result.to_active, change.new_object == 55);
    }
    pop(fixture, GANG, "ab");
}

static void
words_count_a_group_that_waits_as_one_and_statistics_its_members(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    form(fixture, 3, "abc");
    pop(fixture, GANG, "abc");
    assert_int_equal(fx_stats(fixture).inflight, 3);
    fail_all(fixture, fit->bit);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
    assert_int_equal(schedq_words(fx_queue(fixture))->parked, 1);
    assert_int_equal(schedq_words(fx_queue(fixture))->aside, 3);
    assert_int_equal(fx_stats(fixture).parked, 3);
    assert_int_equal(fx_stats(fixture).groups_at[SCHEDQ_PARKED], 1);
}

static void
members_that_come_before_their_group_wait_for_its_declaration(void **state)
{
    fixture_t *fixture = *state;
    join(fixture, "ns/a", GANG);
    join(fixture, "ns/b", GANG);
    pop_none(fixture);
    assert_place(declare(fixture, GANG, 0, 2, 0).place, SCHEDQ_ACTIVE);
    pop(fixture, GANG, "ab");
}

static void
who_leaves_takes_the_quorum_away(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 2, "ab");
    drop(fixture, "ns/a");
    assert_place(look(fixture, GANG).place, SCHEDQ_ASIDE);
    pop_none(fixture);
    join(fixture, "ns/c", GANG);
    pop(fixture, GANG, "bc");
    /* one is deleted in its cycle: the other has no quorum any more */
    drop(fixture, "ns/b");
    assert_status(schedq_done(fx_worker(fixture), taken[0].token), SCHEDQ_GONE);
    fx_fail(fixture, &taken[1], 0, 0);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_ASIDE);
    pop_none(fixture);
}

static void
a_group_that_was_placed_needs_no_quorum(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 2, "ab");
    pop(fixture, GANG, "ab");
    fx_done(fixture, &taken[0]);
    fx_done(fixture, &taken[1]);
    assert_place(end(fixture, SCHEDQ_GROUP_PLACED).place, SCHEDQ_ASIDE);
    join(fixture, "ns/c", GANG);
    pop(fixture, GANG, "c");
}

static void
another_quorum_completes_a_group_or_not(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    declare(fixture, GANG, 0, 3, 0);
    join(fixture, "ns/a", GANG);
    spec.quorum = 1;
    spec.object = GANG * 100;
    assert_ok(schedq_group_update(fx_worker(fixture), GANG, &spec, NULL));
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    spec.quorum = 2;
    assert_ok(schedq_group_update(fx_worker(fixture), GANG, &spec, NULL));
    assert_place(look(fixture, GANG).place, SCHEDQ_ASIDE);
    pop_none(fixture);
    join(fixture, "ns/b", GANG);
    pop(fixture, GANG, "ab");
}

static void
a_tick_that_makes_a_group_active_says_so(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 2, "ab");
    pop(fixture, GANG, "ab");
    fail_all(fixture, 0);
    assert_place(end(fixture, SCHEDQ_GROUP_ERROR).place, SCHEDQ_ERROR_BACKOFF);
    assert_int_equal(fx_tick(fixture).poppable, 0);
    schedq_result_t result = fx_pass(fixture, SEC(30));
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    pop(fixture, GANG, "ab");
}

/* ---- order ---- */

static void
groups_and_pods_are_in_one_order(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, GANG, 5, 1, 0);
    declare(fixture, OTHER, 1, 1, 0);
    fx_add(fixture, "ns/x", 3);
    join(fixture, "ns/a", OTHER);
    join(fixture, "ns/b", GANG);
    pop(fixture, GANG, "b");
    assert_int_equal(group.more, 1);
    assert_ok(try_pop(fixture));
    assert_int_equal(group.group, 0);
    assert_int_equal(group.token.bits, 0);
    assert_string_equal(taken[0].name, "ns/x");
    pop(fixture, OTHER, "a");
    assert_int_equal(group.more, 0);
}

static void
another_priority_sorts_a_group_anew(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    declare(fixture, GANG, 1, 1, 0);
    declare(fixture, OTHER, 2, 1, 0);
    join(fixture, "ns/a", GANG);
    join(fixture, "ns/b", OTHER);
    spec.priority = 3;
    spec.quorum = 1;
    spec.object = GANG * 100;
    assert_ok(schedq_group_update(fx_worker(fixture), GANG, &spec, NULL));
    pop(fixture, GANG, "a");
    pop(fixture, OTHER, "b");
}

static void
a_plain_pop_passes_groups_by(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, GANG, 9, 1, 0);
    join(fixture, "ns/a", GANG);
    fx_add(fixture, "ns/x", 0);
    (void)fx_pop(fixture, "ns/x");
    fx_pop_nothing(fixture);
    pop(fixture, GANG, "a");
}

static void
members_are_in_the_order_of_priority_attempts_time_and_name(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(4);
    form(fixture, 1, "d");
    pop(fixture, GANG, "d");
    fx_advance(fixture, SEC(1));
    join(fixture, "ns/c", GANG);
    join(fixture, "ns/b", GANG);
    fx_advance(fixture, SEC(1));
    join(fixture, "ns/a", GANG);
    spec.group = GANG;
    assert_ok(schedq_add(fx_worker(fixture), "ns/p", 4, &spec, NULL));
    fail_all(fixture, 0);
    end(fixture, SCHEDQ_GROUP_PLACED);
    pop(fixture, GANG, "pdbca");
}

/* ---- the cycle ---- */

static void
who_joins_during_the_cycle_is_in_the_next_one(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 2, "ab");
    pop(fixture, GANG, "ab");
    join(fixture, "ns/c", GANG);
    char text[160];
    schedq_pending_text(fx_queue(fixture), text, sizeof text);
    assert_string_equal(text, "activeQ:0; backoffQ:0; unschedulablePods:0; "
                              "pendingPodGroupMemberPods:1; incompletePodGroupPods:0");
    fx_add(fixture, "ns/x", 0);
    assert_ok(schedq_try_pop_group(fx_worker(fixture), &(schedq_popped_group_t){0}, &taken[8], 1,
                                   &(size_t){0}));
    assert_string_equal(taken[8].name, "ns/x");
    fx_done(fixture, &taken[0]);
    fx_fail(fixture, &taken[1], 0, 0);
    assert_place(end(fixture, SCHEDQ_GROUP_PLACED).place, SCHEDQ_ACTIVE);
    pop(fixture, GANG, "bc");
}

static void
a_placed_group_with_members_left_keeps_its_timestamp(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 1, "a");
    pop(fixture, GANG, "a");
    fx_advance(fixture, SEC(3));
    fail_all(fixture, 0);
    assert_true(end(fixture, SCHEDQ_GROUP_PLACED).timestamp_ns == FX_START);
    pop(fixture, GANG, "a");
    fx_done(fixture, &taken[0]);
    join(fixture, "ns/b", GANG);
    assert_true(end(fixture, SCHEDQ_GROUP_PLACED).timestamp_ns == FX_START + SEC(3));
}

static void
an_error_backs_off_by_size_and_no_pop_takes_it_early(void **state)
{
    fixture_t *fixture = *state;
    char name[] = "ns/a";
    declare(fixture, GANG, 0, 1, 0);
    for (; name[3] < 'a' + 9; name[3]++)
        join(fixture, name, GANG);
    for (unsigned i = 0; i < 8; i++) {
        pop(fixture, GANG, "abcdefghi");
        fail_all(fixture, 0);
        assert_place(end(fixture, SCHEDQ_GROUP_ERROR).place, SCHEDQ_ERROR_BACKOFF);
        pop_none(fixture);
        fx_pop_nothing(fixture);
        /* 1 s, 2 s, 4 s ... up to 10 s times the root of 9 */
        int64_t length = i < 5 ? SEC(1) << i : SEC(30);
        assert_true(look(fixture, GANG).backoff_expiry_ns == fx_now(fixture) + length);
        fx_pass(fixture, length);
    }
    assert_int_equal(look(fixture, GANG).history.errors, 8);
}

/* Whatever else counts attempts, and takes pods from backoff. */
static void
who_was_never_popped_does_not_back_off(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 1;
    declare(fixture, GANG, 0, 0, 0);
    assert_int_equal(join(fixture, "ns/a", GANG).to_active, 1);
    pop(fixture, GANG, "a");
    fail_all(fixture, 0);
    assert_place(end(fixture, SCHEDQ_GROUP_ERROR).place, SCHEDQ_ERROR_BACKOFF);
    pop_none(fixture);
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(1) + 1);
    pop(fixture, GANG, "a");
    assert_int_equal(group.history.attempts, 2);
}

static void
a_rejected_group_is_parked_by_what_its_members_lack(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *disk = fx_plugin(fixture, "Disk", "PersistentVolume", SCHEDQ_ACTION_ADD);
    declare(fixture, GANG, 0, 2, 0);
    join(fixture, "ns/a", GANG);
    uint64_t helped = join(fixture, "ns/b", GANG).object;
    pop(fixture, GANG, "ab");
    fx_fail(fixture, &taken[0], disk->bit, 0);
    fx_fail(fixture, &taken[1], fit->bit, 0);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
    assert_true(look(fixture, GANG).unschedulable == (fit->bit | disk->bit));
    assert_int_equal(look(fixture, GANG).history.rejections, 1);
    fit->hint = SCHEDQ_HINT_SKIP;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(look(fixture, GANG).place, SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 1);
    assert_true(fit->hint_pod == helped);
    assert_int_equal(disk->hint_calls, 0);
    fit->hint = SCHEDQ_HINT_QUEUE;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(look(fixture, GANG).place, SCHEDQ_ERROR_BACKOFF);
    fx_pass(fixture, SEC(1));
    pop(fixture, GANG, "ab");
}

static void
an_event_in_the_cycle_is_not_missed(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    form(fixture, 1, "a");
    pop(fixture, GANG, "a");
    fail_all(fixture, fit->bit);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_ERROR_BACKOFF);
}

/* Where no hint is asked, an event is a reason to try again, but none to do so at once. */
static void
without_hints_an_event_in_the_cycle_ends_in_backoff(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    form(fixture, 1, "a");
    pop(fixture, GANG, "a");
    assert_place(fx_fail(fixture, &taken[0], 0, fit->bit).place, SCHEDQ_ASIDE);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_ERROR_BACKOFF);
}

static void
a_newcomer_wakes_a_parked_group(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    form(fixture, 1, "a");
    pop(fixture, GANG, "a");
    fail_all(fixture, fit->bit);
    end(fixture, SCHEDQ_GROUP_REJECTED);
    fx_pass(fixture, SEC(2));
    assert_place(look(fixture, GANG).place, SCHEDQ_PARKED);
    join(fixture, "ns/b", GANG);
    pop(fixture, GANG, "ab");
}

static void
a_member_that_fails_late_joins_again(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 2, "ab");
    pop(fixture, GANG, "ab");
    assert_place(end(fixture, SCHEDQ_GROUP_PLACED).place, SCHEDQ_ASIDE);
    schedq_popped_t late = taken[1];
    fx_done(fixture, &taken[0]);
    assert_place(fx_fail(fixture, &late, 0, 0).place, SCHEDQ_ASIDE);
    pop(fixture, GANG, "b");
}

static void
a_token_ends_one_cycle(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_end_t how = SCHEDQ_GROUP_END_INIT;
    schedq_worker_t *worker = fx_worker(fixture);
    form(fixture, 1, "a");
    pop(fixture, GANG, "a");
    schedq_token_t used = group.token, member = taken[0].token;
    assert_status(schedq_done(worker, used), SCHEDQ_STALE);
    assert_status(schedq_token_alive(worker, used), SCHEDQ_STALE);
    assert_status(schedq_fail(worker, &used, &(schedq_failure_t)SCHEDQ_FAILURE_INIT, NULL),
                  SCHEDQ_STALE);
    assert_status(schedq_group_done(worker, &member, &how, NULL), SCHEDQ_STALE);
    end(fixture, SCHEDQ_GROUP_PLACED);
    assert_status(schedq_group_done(worker, &used, &how, NULL), SCHEDQ_STALE);
    fx_done(fixture, &taken[0]);
}

static void
without_room_for_all_nothing_is_taken(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 1, "ab");
    assert_status(schedq_try_pop_group(fx_worker(fixture), &group, taken, 1, &taken_count),
                  SCHEDQ_FULL);
    assert_int_equal(taken_count, 2);
    assert_string_equal(schedq_worker_error(fx_worker(fixture)),
                        "room 1: at least 2, the members that the group has");
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    assert_int_equal(look(fixture, GANG).history.attempts, 0);
    pop(fixture, GANG, "ab");
}

static void
who_has_no_members_keeps_its_history(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 1, "a");
    pop(fixture, GANG, "a");
    fail_all(fixture, 0);
    end(fixture, SCHEDQ_GROUP_ERROR);
    drop(fixture, "ns/a");
    assert_place(look(fixture, GANG).place, SCHEDQ_ASIDE);
    assert_int_equal(look(fixture, GANG).history.errors, 1);
    pop_none(fixture);
}

static void
a_pop_that_waits_ends_by_its_time_or_the_close(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, GANG, 0, 1, 0);
    assert_status(schedq_pop_group_until(fx_worker(fixture), fx_now(fixture), &group, taken, ROOM,
                                         &taken_count),
                  SCHEDQ_TIMEDOUT);
    assert_status(schedq_pop_group_for(fx_worker(fixture), 0, &group, taken, ROOM, &taken_count),
                  SCHEDQ_TIMEDOUT);
    assert_int_equal(taken_count, 0);
    assert_status(schedq_pop_group_for(fx_worker(fixture), -1, &group, taken, ROOM, &taken_count),
                  SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(fx_worker(fixture)),
                        "wait_ns -1: 0..9223372036854775807");
    join(fixture, "ns/a", GANG);
    assert_ok(schedq_pop_group_until(fx_worker(fixture), SCHEDQ_NO_DEADLINE, &group, taken, ROOM,
                                     &taken_count));
    assert_int_equal(group.group, GANG);
    join(fixture, "ns/b", OTHER);
    declare(fixture, OTHER, 0, 1, 0);
    assert_ok(
        schedq_pop_group_for(fx_worker(fixture), INT64_MAX, &group, taken, ROOM, &taken_count));
    assert_int_equal(group.group, OTHER);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(
        schedq_pop_group_for(fx_worker(fixture), SEC(9), &group, taken, ROOM, &taken_count),
        SCHEDQ_CLOSED);
    assert_status(schedq_pop_group_until(fx_worker(fixture), SCHEDQ_NO_DEADLINE, &group, taken,
                                         ROOM, &taken_count),
                  SCHEDQ_CLOSED);
    assert_status(try_pop(fixture), SCHEDQ_CLOSED);
}

/* ---- members of a group that is not declared: on any engine ---- */

static void
a_member_waits_aside_for_its_group(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t result = join(fixture, "ns/a", GANG);
    assert_int_equal(result.poppable, 0);
    assert_int_equal(result.to_active, 0);
    fx_pop_nothing(fixture);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ASIDE);
    assert_place(fx_info(fixture, result.pod).place, SCHEDQ_ASIDE);
    assert_true(fx_info(fixture, result.pod).group == GANG);
    assert_int_equal(fx_stats(fixture).aside, 1);
    assert_true(schedq_words(fx_queue(fixture))->aside == 1);
    assert_true(fx_find(fixture, "ns/a").object == result.object);
    drop(fixture, "ns/a");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    assert_true(schedq_words(fx_queue(fixture))->aside == 0);
}

static void
neither_time_nor_events_nor_a_call_bring_a_member_out(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = join(fixture, "ns/a", GANG).pod;
    fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    fx_pass(fixture, SEC(400));
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_WILDCARD;
    change.target = pod;
    assert_ok(schedq_notify(fx_worker(fixture), &change, NULL));
    fx_pop_nothing(fixture);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ASIDE);
}

/* ---- a chain of groups ---- */

enum { CHAIN = 100 };

/* Root first; each has a quorum of one. */
static void
declare_chain(fixture_t *fixture, uint64_t groups)
{
    for (uint64_t i = 0; i < groups; i++)
        declare(fixture, CHAIN + i, 0, 1, i > 0 ? CHAIN + i - 1 : 0);
}

static void
the_longest_chain_is_tried_with_its_root(void **state)
{
    fixture_t *fixture = *state;
    declare_chain(fixture, SCHEDQ_GROUP_DEPTH_MAX);
    join(fixture, "ns/a", CHAIN + SCHEDQ_GROUP_DEPTH_MAX - 1);
    assert_true(look(fixture, CHAIN + SCHEDQ_GROUP_DEPTH_MAX - 1).root == CHAIN);
    pop(fixture, CHAIN, "a");
}

static void
below_the_longest_chain_there_is_no_root(void **state)
{
    fixture_t *fixture = *state;
    declare_chain(fixture, SCHEDQ_GROUP_DEPTH_MAX + 1);
    join(fixture, "ns/a", CHAIN + SCHEDQ_GROUP_DEPTH_MAX);
    assert_true(look(fixture, CHAIN + SCHEDQ_GROUP_DEPTH_MAX).root == 0);
    pop_none(fixture);
    join(fixture, "ns/b", CHAIN);
    pop(fixture, CHAIN, "b");
}

/* Members that came before the declarations, and the root last, whose declaration lets all join. */
static void
a_declaration_lets_no_member_join_below_the_longest_chain(void **state)
{
    fixture_t *fixture = *state;
    join(fixture, "ns/a", CHAIN + SCHEDQ_GROUP_DEPTH_MAX);
    for (uint64_t i = SCHEDQ_GROUP_DEPTH_MAX; i > 0; i--)
        declare(fixture, CHAIN + i, 0, 1, CHAIN + i - 1);
    assert_place(declare(fixture, CHAIN, 0, 1, 0).place, SCHEDQ_ASIDE);
    assert_true(look(fixture, CHAIN + SCHEDQ_GROUP_DEPTH_MAX).root == 0);
    assert_int_equal(look(fixture, CHAIN).waiting, 0);
    pop_none(fixture);
    join(fixture, "ns/b", CHAIN + SCHEDQ_GROUP_DEPTH_MAX - 1);
    pop(fixture, CHAIN, "b");
    drop(fixture, "ns/a");
}

/* ---- an event for one pod ---- */

static unsigned prechecks;

static int
count_precheck(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    prechecks++;
    return 1;
}

/* Members of other groups are asked about by nobody. */
static void
a_wildcard_for_a_member_concerns_its_group_alone(void **state)
{
    fixture_t *fixture = *state;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    declare(fixture, GANG, 1, 1, 0);
    declare(fixture, OTHER, 0, 2, 0);
    schedq_pod_t pod = join(fixture, "ns/a", GANG).pod;
    join(fixture, "ns/b", OTHER);
    join(fixture, "ns/c", OTHER);
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(try_pop(fixture));
        fail_all(fixture, fit->bit);
        assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
    }
    prechecks = 0;
    change.event = SCHEDQ_EVENT_WILDCARD;
    change.target = pod;
    change.precheck = count_precheck;
    assert_ok(schedq_notify(fx_worker(fixture), &change, NULL));
    assert_int_equal(prechecks, 1);
    assert_true(look(fixture, GANG).place != SCHEDQ_PARKED);
    assert_place(look(fixture, OTHER).place, SCHEDQ_PARKED);
}

static void
an_update_leaves_a_member_aside(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(7);
    schedq_result_t result;
    uint64_t before = join(fixture, "ns/a", GANG).object;
    spec.object = 55;
    spec.nominated_node = 3;
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
        assert_true(result.object == (i == 0 ? before : 55));
        assert_place(result.place, SCHEDQ_ASIDE);
    }
    assert_int_equal(fx_info(fixture, result.pod).priority, 7);
    assert_true(fx_info(fixture, result.pod).nominated_node == 3);
    assert_true(fx_info(fixture, result.pod).group == GANG);
    assert_true(schedq_words(fx_queue(fixture))->aside == 1);
    fx_pop_nothing(fixture);
}

static void
a_member_is_held_and_comes_back_aside(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t result;
    schedq_pod_t pod = join(fixture, "ns/a", GANG).pod;
    assert_ok(schedq_hold(fx_worker(fixture), pod, &result));
    assert_place(result.place, SCHEDQ_HELD);
    assert_int_equal(fx_stats(fixture).held, 1);
    assert_int_equal(fx_stats(fixture).aside, 0);
    assert_ok(schedq_release(fx_worker(fixture), pod, &result));
    assert_place(result.place, SCHEDQ_ASIDE);
    assert_ok(schedq_not_before(fx_worker(fixture), pod, fx_now(fixture) + SEC(5), &result));
    assert_place(result.place, SCHEDQ_HELD);
    assert_int_equal(fx_stats(fixture).moves, 0); /* a call let it go, not time */
    fx_pass(fixture, SEC(6));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ASIDE);
    assert_int_equal(fx_stats(fixture).held, 0);
    assert_int_equal(fx_stats(fixture).moves, 1);
    assert_int_equal(fx_stats(fixture).aside, 1);
    fx_pop_nothing(fixture);
}

static void
members_come_in_batches_and_go_by_label(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[4];
    uint8_t statuses[4];
    size_t count;
    for (unsigned i = 0; i < 4; i++) {
        items[i] = fx_item(i, 1, 0);
        items[i].spec.group = i < 3 ? GANG : 0;
        items[i].spec.label = 5;
    }
    assert_ok(schedq_add_many(fx_worker(fixture), "abcd", 4, items, 4, NULL, statuses, NULL));
    assert_int_equal(fx_stats(fixture).aside, 3);
    (void)fx_pop(fixture, "d");
    fx_pop_nothing(fixture);
    assert_ok(schedq_label_cancel(fx_worker(fixture), 5, NULL, 0, &count));
    assert_int_equal(count, 4);
    assert_int_equal(fx_stats(fixture).aside, 0);
}

static void
a_member_comes_back_aside_after_its_done(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_history_t history = {.attempts = 3, .rejections = 2};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    spec.group = GANG;
    assert_ok(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, &result));
    assert_place(result.place, SCHEDQ_ASIDE);
    assert_int_equal(fx_info(fixture, result.pod).history.attempts, 3);
    assert_int_equal(fx_info(fixture, result.pod).history.errors, 1);
    fx_pass(fixture, SEC(60));
    fx_pop_nothing(fixture);
}

/* ---- gates ---- */

static void
any_member_gates_its_group(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_UPDATE);
    form(fixture, 1, "a");
    assert_int_equal(gate->gate_calls, 1);
    gate->refuses = true;
    schedq_result_t refused = join(fixture, "ns/b", GANG);
    assert_int_equal(gate->gate_calls, 2); /* the newcomer only */
    assert_int_equal(refused.to_gated, 1);
    assert_place(look(fixture, GANG).place, SCHEDQ_GATED);
    assert_int_equal(look(fixture, GANG).gate, gate->gate);
    assert_int_equal(fx_info(fixture, refused.pod).gate, gate->gate);
    pop_none(fixture);
    gate->refuses = false;
    fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    pop(fixture, GANG, "ab");
}

static void
the_deletion_of_the_member_that_gates_a_group_lets_it_go(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    form(fixture, 1, "a");
    gate->refuses = true;
    gate->refused_object = join(fixture, "ns/b", GANG).object;
    assert_place(look(fixture, GANG).place, SCHEDQ_GATED);
    drop(fixture, "ns/b");
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    pop(fixture, GANG, "a");
}

static void
a_member_that_leaves_a_gated_group_costs_no_questions(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    declare(fixture, GANG, 0, 1, 0);
    gate->refuses = true;
    join(fixture, "ns/a", GANG);
    join(fixture, "ns/b", GANG);
    join(fixture, "ns/c", GANG);
    assert_ok(schedq_group_activate(fx_worker(fixture), GANG, NULL)); /* all are asked */
    uint64_t before = gate->gate_calls;
    drop(fixture, "ns/a");
    assert_int_equal(gate->gate_calls, before); /* two wait behind the same gate */
    gate->refused_object = 1;                   /* nobody's */
    drop(fixture, "ns/b");
    assert_int_equal(gate->gate_calls, before);
    assert_int_equal(look(fixture, GANG).place, SCHEDQ_GATED);
    assert_ok(schedq_group_activate(fx_worker(fixture), GANG, NULL));
    pop(fixture, GANG, "c");
}

static void
an_activation_reaches_the_record(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, GANG, 0, 1, 0);
    schedq_pod_t pod = join(fixture, "ns/a", GANG).pod;
    pop(fixture, GANG, "a");
    fail_all(fixture, 0);
    end(fixture, SCHEDQ_GROUP_ERROR);
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    pop(fixture, GANG, "a");
    fail_all(fixture, 0);
    end(fixture, SCHEDQ_GROUP_ERROR);
    assert_ok(schedq_group_activate(fx_worker(fixture), GANG, NULL));
    pop(fixture, GANG, "a");
}

static void
a_held_member_does_not_count(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, GANG, 0, 2, 0);
    join(fixture, "ns/a", GANG);
    schedq_pod_t pod = join(fixture, "ns/b", GANG).pod;
    assert_ok(schedq_hold(fx_worker(fixture), pod, NULL));
    assert_place(look(fixture, GANG).place, SCHEDQ_ASIDE);
    pop_none(fixture);
    schedq_result_t result;
    assert_ok(schedq_release(fx_worker(fixture), pod, &result));
    assert_place(result.place, SCHEDQ_ASIDE); /* of the member; the rest is of its group */
    assert_int_equal(result.to_active, 1);
    pop(fixture, GANG, "ab");
}

/* ---- hierarchies ---- */

static void
groups_below_are_tried_with_their_root(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, LEFT, 0, 2, ROOT);
    declare(fixture, RIGHT, 0, 1, ROOT);
    join(fixture, "ns/c", RIGHT);
    join(fixture, "ns/a", LEFT);
    pop_none(fixture);
    declare(fixture, ROOT, 0, 2, 0);
    pop_none(fixture); /* the left one lacks a member */
    assert_int_equal(look(fixture, LEFT).root, ROOT);
    join(fixture, "ns/b", LEFT);
    pop(fixture, ROOT, "abc");
}

static void
a_group_below_keeps_its_own_quorum(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, ROOT, 0, 1, 0);
    declare(fixture, LEFT, 0, 2, ROOT);
    declare(fixture, RIGHT, 0, 1, ROOT);
    join(fixture, "ns/a", LEFT);
    pop_none(fixture);
    join(fixture, "ns/c", RIGHT);
    pop(fixture, ROOT, "c");
    fx_done(fixture, &taken[0]);
    end(fixture, SCHEDQ_GROUP_PLACED);
    pop_none(fixture); /* a waits for its like */
    join(fixture, "ns/b", LEFT);
    pop(fixture, ROOT, "ab");
}

static void
a_circle_has_no_root(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, LEFT, 0, 1, RIGHT);
    declare(fixture, RIGHT, 0, 1, LEFT);
    join(fixture, "ns/a", LEFT);
    pop_none(fixture);
    assert_int_equal(look(fixture, LEFT).root, 0);
    assert_ok(schedq_group_delete(fx_worker(fixture), RIGHT, NULL));
    assert_ok(schedq_group_delete(fx_worker(fixture), LEFT, NULL));
    declare(fixture, LEFT, 0, 1, 0);
    pop(fixture, LEFT, "a");
}

/* ---- ending a declaration ---- */

static void
members_of_an_ended_group_wait_for_another_declaration(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t result;
    form(fixture, 1, "a");
    assert_ok(schedq_group_delete(fx_worker(fixture), GANG, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    pop_none(fixture);
    assert_status(schedq_group_delete(fx_worker(fixture), GANG, NULL), SCHEDQ_NOT_FOUND);
    declare(fixture, GANG, 0, 1, 0);
    pop(fixture, GANG, "a");
    /* in its cycle, and declared again in it */
    assert_ok(schedq_group_delete(fx_worker(fixture), GANG, &result));
    assert_place(result.place, SCHEDQ_INFLIGHT);
    join(fixture, "ns/b", GANG);
    fail_all(fixture, 0);
    declare(fixture, GANG, 0, 1, 0);
    pop_none(fixture);
    assert_place(end(fixture, SCHEDQ_GROUP_PLACED).place, SCHEDQ_ACTIVE);
    pop(fixture, GANG, "ab");
    assert_ok(schedq_group_delete(fx_worker(fixture), GANG, NULL));
    fail_all(fixture, 0);
    assert_place(end(fixture, SCHEDQ_GROUP_PLACED).place, SCHEDQ_NOWHERE);
    pop_none(fixture);
    assert_int_equal(fx_stats(fixture).groups, 0);
}

static void
wrong_arguments_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;
    schedq_group_end_t how = SCHEDQ_GROUP_END_INIT;
    assert_status(schedq_group_add(worker, 0, &spec, NULL), SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(worker),
                        "group 0: 1..18446744073709551615, 0 is no group");
    assert_status(schedq_group_add(worker, 1, NULL, NULL), SCHEDQ_INVALID);
    spec.parent = 1;
    assert_status(schedq_group_add(worker, 1, &spec, NULL), SCHEDQ_INVALID);
    spec.parent = 0;
    spec.profile = 9;
    assert_status(schedq_group_add(worker, 1, &spec, NULL), SCHEDQ_INVALID);
    spec.profile = 0;
    assert_status(schedq_group_update(worker, 1, &spec, NULL), SCHEDQ_NOT_FOUND);
    assert_status(schedq_group_get(worker, 1, &info), SCHEDQ_NOT_FOUND);
    assert_ok(schedq_group_add(worker, 1, &spec, NULL));
    assert_status(schedq_group_add(worker, 1, &spec, NULL), SCHEDQ_EXISTS);
    spec.parent = 2;
    assert_status(schedq_group_update(worker, 1, &spec, NULL), SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(worker), "spec.parent 2: 0, a group keeps its parent");
    assert_status(schedq_try_pop_group(worker, &group, taken, 0, &taken_count), SCHEDQ_INVALID);
    how.outcome = 9;
    assert_status(schedq_group_done(worker, &group.token, &how, NULL), SCHEDQ_INVALID);
    how.outcome = 0;
    how.place = SCHEDQ_ACTIVE;
    assert_status(schedq_group_done(worker, &group.token, &how, NULL), SCHEDQ_INVALID);
}

static void
a_queue_whose_host_decides_has_no_groups(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.decide = SCHEDQ_DECIDE_HOST;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;
    schedq_group_end_t how = SCHEDQ_GROUP_END_INIT;
    schedq_pod_spec_t pod = fx_spec(0);
    schedq_token_t token = {0};
    pod.group = GANG;
    assert_status(schedq_add(worker, "ns/a", 4, &pod, NULL), SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(worker),
                        "spec.group 7: 0, with config.decide = SCHEDQ_DECIDE_HOST");
    assert_status(schedq_group_add(worker, GANG, &spec, NULL), SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(worker),
                        "schedq_group_add: only with config.decide = SCHEDQ_DECIDE_CALLBACKS");
    assert_status(schedq_group_update(worker, GANG, &spec, NULL), SCHEDQ_INVALID);
    assert_status(schedq_group_delete(worker, GANG, NULL), SCHEDQ_INVALID);
    assert_status(schedq_group_activate(worker, GANG, NULL), SCHEDQ_INVALID);
    assert_status(schedq_group_get(worker, GANG, &info), SCHEDQ_INVALID);
    assert_status(try_pop(fixture), SCHEDQ_INVALID);
    assert_status(schedq_pop_group_until(worker, 0, &group, taken, ROOM, &taken_count),
                  SCHEDQ_INVALID);
    assert_status(schedq_pop_group_for(worker, 0, &group, taken, ROOM, &taken_count),
                  SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(worker),
                        "schedq_pop_group_for: only with config.decide = SCHEDQ_DECIDE_CALLBACKS");
    assert_status(schedq_group_done(worker, &token, &how, NULL), SCHEDQ_INVALID);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static void
a_declared_group_counts_for_max_pods(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    fixture->config.max_pods = 2;
    form(fixture, 1, "a");
    assert_status(schedq_group_add(fx_worker(fixture), OTHER, &spec, NULL), SCHEDQ_FULL);
    drop(fixture, "ns/a");
    assert_ok(schedq_group_add(fx_worker(fixture), OTHER, &spec, NULL));
}

static void
a_groups_priority_does_not_count_for_max_bands(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_bands = 1;
    fx_add(fixture, "ns/p", 0);
    declare(fixture, GANG, 9, 1, 0);
    join(fixture, "ns/a", GANG);
    declare(fixture, OTHER, 8, 1, 0);
    fx_add(fixture, "ns/q", 0);
    pop(fixture, GANG, "a");
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    spec.priority = 7;
    spec.quorum = 1;
    assert_ok(schedq_group_update(fx_worker(fixture), GANG, &spec, NULL));
    fx_done(fixture, &taken[0]);
    end(fixture, SCHEDQ_GROUP_PLACED);
    assert_ok(schedq_group_delete(fx_worker(fixture), GANG, NULL));
    (void)fx_pop(fixture, "ns/p");
    (void)fx_pop(fixture, "ns/q");
    fx_add(fixture, "ns/r", 3);
}

static void
a_group_below_that_was_placed_needs_no_quorum(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, ROOT, 0, 0, 0);
    declare(fixture, LEFT, 0, 2, ROOT);
    join(fixture, "ns/a", LEFT);
    join(fixture, "ns/b", LEFT);
    pop(fixture, ROOT, "ab");
    fx_done(fixture, &taken[0]);
    end(fixture, SCHEDQ_GROUP_PLACED);
    join(fixture, "ns/c", ROOT);
    join(fixture, "ns/d", LEFT);
    pop(fixture, ROOT, "cd");
}

static void
members_of_a_batch_join_in_its_order(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[3];
    uint8_t statuses[3];
    declare(fixture, GANG, 1, 1, 0);
    for (unsigned i = 0; i < 3; i++)
        items[i] = fx_item(i * 4, 4, (int32_t)i);
    items[0].spec.group = items[1].spec.group = GANG;
    items[1].spec.timestamp_ns = FX_START - SEC(5);
    assert_ok(
        schedq_add_many(fx_worker(fixture), "ns/ans/bns/c", 12, items, 3, NULL, statuses, NULL));
    assert_true(look(fixture, GANG).history.timestamp_ns == FX_START);
    assert_ok(try_pop(fixture));
    assert_int_equal(group.group, 0);
    assert_string_equal(taken[0].name, "ns/c");
    pop(fixture, GANG, "ba");
}

static void
held_members_join_in_the_order_of_their_times(void **state)
{
    fixture_t *fixture = *state;
    static const char *const names[] = {"ns/a", "ns/b", "ns/c"};
    static const int64_t times[] = {SEC(20), SEC(15), SEC(25)};
    declare(fixture, GANG, 0, 1, 0);
    for (unsigned i = 0; i < 3; i++) {
        schedq_pod_spec_t spec = fx_spec(0);
        spec.group = GANG;
        spec.not_before_ns = FX_START + times[i];
        assert_place(fx_add_spec(fixture, names[i], &spec).place, SCHEDQ_HELD);
        fx_pass(fixture, SEC(1));
    }
    fx_pass(fixture, SEC(30));
    assert_ok(schedq_tick(fx_worker(fixture), NULL, NULL));
    assert_true(look(fixture, GANG).history.timestamp_ns == FX_START + SEC(1));
    pop(fixture, GANG, "abc");
}

/* A clock's 0 says that there was no attempt, in any call. */
static void
an_attempt_that_began_at_0_is_none(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    fx_pass(fixture, -FX_START);
    spec.group = GANG;
    spec.timestamp_ns = SEC(3);
    declare(fixture, GANG, 1, 1, 0);
    assert_place(fx_add_spec(fixture, "ns/a", &spec).place, SCHEDQ_ASIDE);
    fx_pass(fixture, SEC(9));
    schedq_group_spec_t other = SCHEDQ_GROUP_SPEC_INIT;
    other.object = GANG * 100;
    other.quorum = 1;
    assert_ok(schedq_group_update(fx_worker(fixture), GANG, &other, NULL));
    pop(fixture, GANG, "a");
    assert_true(group.history.initial_attempt_ns == 0);
    assert_true(taken[0].history.initial_attempt_ns == 0);
}

/* What a queue with a cap on pods is told of 10,000 groups of 100 is in the costs. */
static void
many_groups_come_and_go(void **state)
{
    fixture_t *fixture = *state;
    char name[32];
    for (uint64_t number = 1; number <= 300; number++)
        declare(fixture, number, (int32_t)(number % 5), 10, 0);
    for (unsigned i = 0; i < 10; i++)
        for (unsigned number = 1; number <= 300; number++) {
            snprintf(name, sizeof name, "ns/%u-%u", number, i);
            join(fixture, name, number);
        }
    for (unsigned i = 0; i < 300; i++) {
        assert_ok(try_pop(fixture));
        assert_int_equal(taken_count, 10);
        assert_int_equal(group.priority, 4 - (int)i / 60);
        for (size_t j = 0; j < taken_count; j++)
            fx_done(fixture, &taken[j]);
        end(fixture, SCHEDQ_GROUP_PLACED);
        assert_ok(schedq_group_delete(fx_worker(fixture), group.group, NULL));
    }
    assert_int_equal(fx_stats(fixture).groups, 0);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

/* Its handle is near those of pods that were added before and behind it. */
static void
a_guessed_handle_does_not_reach_a_groups_record(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_pod_t pod = fx_add(fixture, "ns/first", -1);
    unsigned found = 0;
    join(fixture, "ns/a", GANG);
    join(fixture, "ns/b", GANG);
    declare(fixture, GANG, 0, 2, 0);
    for (uint64_t apart = 1; apart < 64; apart++) {
        const schedq_pod_t guesses[] = {{pod.bits + apart}, {pod.bits - apart}};
        for (unsigned i = 0; i < 2; i++) {
            if (schedq_get(worker, guesses[i], fx_visit_nothing, NULL) == SCHEDQ_OK && found < 2) {
                found++; /* a member */
                continue;
            }
            (void)schedq_hold(worker, guesses[i], NULL);
            (void)schedq_activate(worker, &guesses[i], 1, NULL);
            (void)schedq_nominate(worker, guesses[i], 7);
            (void)schedq_delete(worker, guesses[i], NULL);
        }
    }
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    pop(fixture, GANG, "ab");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest members[] = {
        fx_test(a_member_waits_aside_for_its_group),
        fx_test(neither_time_nor_events_nor_a_call_bring_a_member_out),
        fx_test(an_update_leaves_a_member_aside),
        fx_test(a_member_is_held_and_comes_back_aside),
        fx_test(members_come_in_batches_and_go_by_label),
        fx_test(a_member_comes_back_aside_after_its_done),
    };
    const struct CMUnitTest groups[] = {
        fx_test(who_has_no_members_keeps_its_history),
        fx_test(a_pop_that_waits_ends_by_its_time_or_the_close),
        fx_test(members_wait_aside_until_the_quorum_is_there),
        fx_test(an_assigned_pod_helps_a_group_of_which_one_member_has_affinity_to_it),
        fx_test(words_count_a_group_that_waits_as_one_and_statistics_its_members),
        fx_test(members_that_come_before_their_group_wait_for_its_declaration),
        fx_test(who_leaves_takes_the_quorum_away),
        fx_test(a_group_that_was_placed_needs_no_quorum),
        fx_test(another_quorum_completes_a_group_or_not),
        fx_test(a_tick_that_makes_a_group_active_says_so),
        fx_test(groups_and_pods_are_in_one_order),
        fx_test(another_priority_sorts_a_group_anew),
        fx_test(a_plain_pop_passes_groups_by),
        fx_test(members_are_in_the_order_of_priority_attempts_time_and_name),
        fx_test(who_joins_during_the_cycle_is_in_the_next_one),
        fx_test(a_placed_group_with_members_left_keeps_its_timestamp),
        fx_test(an_error_backs_off_by_size_and_no_pop_takes_it_early),
        fx_test_1_26(who_was_never_popped_does_not_back_off),
        fx_test(a_rejected_group_is_parked_by_what_its_members_lack),
        fx_test(an_event_in_the_cycle_is_not_missed),
        fx_test(without_hints_an_event_in_the_cycle_ends_in_backoff),
        fx_test(a_newcomer_wakes_a_parked_group),
        fx_test(a_member_that_fails_late_joins_again),
        fx_test(a_token_ends_one_cycle),
        fx_test(without_room_for_all_nothing_is_taken),
        fx_test(any_member_gates_its_group),
        fx_test(the_deletion_of_the_member_that_gates_a_group_lets_it_go),
        fx_test(a_member_that_leaves_a_gated_group_costs_no_questions),
        fx_test(an_activation_reaches_the_record),
        fx_test(a_held_member_does_not_count),
        fx_test(groups_below_are_tried_with_their_root),
        fx_test(a_group_below_keeps_its_own_quorum),
        fx_test(a_circle_has_no_root),
        fx_test(the_longest_chain_is_tried_with_its_root),
        fx_test(below_the_longest_chain_there_is_no_root),
        fx_test(a_declaration_lets_no_member_join_below_the_longest_chain),
        fx_test_1_37(a_declaration_lets_no_member_join_below_the_longest_chain),
        fx_test(a_wildcard_for_a_member_concerns_its_group_alone),
        fx_test(members_of_an_ended_group_wait_for_another_declaration),
        fx_test(wrong_arguments_are_refused),
        fx_test(a_queue_whose_host_decides_has_no_groups),
        fx_test(a_declared_group_counts_for_max_pods),
        fx_test(a_group_below_that_was_placed_needs_no_quorum),
        fx_test(members_of_a_batch_join_in_its_order),
        fx_test(held_members_join_in_the_order_of_their_times),
        fx_test(an_attempt_that_began_at_0_is_none),
        fx_test(a_groups_priority_does_not_count_for_max_bands),
        fx_test(many_groups_come_and_go),
        fx_test(a_guessed_handle_does_not_reach_a_groups_record),
    };
    const fx_group_t all[] = {fx_group(members, FX_ANY_ENGINE), fx_group(groups, FX_ANY_ENGINE)};
    return fx_run_groups(argc, argv, all);
}
