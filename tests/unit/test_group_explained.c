/* Why a member of a group waits: schedq_explain, and its sentence. */
#include <stdio.h>

#include "gang.h"

static schedq_explanation_t
explain(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_explanation_t explanation = SCHEDQ_EXPLANATION_INIT;
    memset((char *)&explanation + sizeof explanation.struct_size, 0xa5,
           sizeof explanation - sizeof explanation.struct_size);
    assert_ok(schedq_explain(fx_worker(fixture), pod, &explanation));
    assert_int_equal(explanation.reserved_too[0], 0);
    assert_int_equal(explanation.reserved_too[1], 0);
    return explanation;
}

/* Its sentence begins with `words`. */
static void
assert_waits(fixture_t *fixture, schedq_pod_t pod, const char *words)
{
    schedq_explanation_t explanation = explain(fixture, pod);
    char text[512];
    (void)schedq_explanation_text(fx_queue(fixture), &explanation, text, sizeof text);
    char *end_of_place = strchr(text, ';');
    assert_non_null(end_of_place);
    *end_of_place = '\0';
    assert_string_equal(text, words);
}

static void
assert_group(fixture_t *fixture, schedq_pod_t pod, uint64_t number, uint64_t root, uint64_t waiting,
             uint32_t quorum, schedq_place_t place)
{
    schedq_explanation_t explanation = explain(fixture, pod);
    assert_true(explanation.group == number);
    assert_true(explanation.group_root == root);
    assert_true(explanation.group_waiting == waiting);
    assert_int_equal(explanation.group_quorum, quorum);
    assert_place(explanation.group_place, place);
}

static void
a_pod_in_no_group_has_no_facts_of_one(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/x", 0);
    assert_group(fixture, pod, 0, 0, 0, 0, SCHEDQ_NOWHERE);
    assert_int_equal(explain(fixture, pod).group_declared, 0);
}

static void
a_member_tells_how_many_wait_and_how_many_are_needed(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = join(fixture, "ns/a", GANG).pod;
    assert_group(fixture, pod, GANG, 0, 0, 0, SCHEDQ_NOWHERE);
    assert_int_equal(explain(fixture, pod).group_declared, 0);
    assert_waits(fixture, pod, "waits on group 7, which is not declared");
    declare(fixture, GANG, 0, 3, 0);
    join(fixture, "ns/b", GANG);
    assert_group(fixture, pod, GANG, GANG, 2, 3, SCHEDQ_ASIDE);
    assert_int_equal(explain(fixture, pod).group_declared, 1);
    assert_ns_equal(explain(fixture, pod).wake_ns, SCHEDQ_NO_DEADLINE);
    assert_waits(fixture, pod, "waits on group 7, which is incomplete: members 2, quorum 3");
    join(fixture, "ns/c", GANG);
    assert_group(fixture, pod, GANG, GANG, 3, 3, SCHEDQ_ACTIVE);
    assert_waits(fixture, pod,
                 "waits on group 7, which waits for its turn to be popped: members 3, quorum 3");
}

static void
a_member_tells_where_its_group_waits_and_when_time_frees_it(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    declare(fixture, GANG, 0, 1, 0);
    schedq_pod_t pod = join(fixture, "ns/a", GANG).pod;
    pop(fixture, GANG, "a");
    assert_group(fixture, pod, GANG, GANG, 0, 1, SCHEDQ_INFLIGHT);
    assert_waits(fixture, pod, "popped, and its cycle has not ended");
    schedq_pod_t late = join(fixture, "ns/b", GANG).pod;
    assert_waits(fixture, late,
                 "waits on group 7, which was popped and has not ended its cycle: members 1, "
                 "quorum 1");
    fail_all(fixture, fit->bit);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
    assert_group(fixture, pod, GANG, GANG, 2, 1, SCHEDQ_PARKED);
    assert_waits(fixture, pod,
                 "waits on group 7, which is parked: members 2, quorum 1, rejected by Fit");
    int64_t wake = explain(fixture, pod).wake_ns;
    assert_ns_equal(explain(fixture, late).wake_ns, wake);
    fx_pass(fixture, wake - fx_now(fixture) - 1);
    assert_place(look(fixture, GANG).place, SCHEDQ_PARKED);
    fx_pass(fixture, 1);
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
}

static void
a_member_tells_the_end_of_its_groups_backoff(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, GANG, 0, 1, 0);
    schedq_pod_t pod = join(fixture, "ns/a", GANG).pod;
    pop(fixture, GANG, "a");
    fail_all(fixture, 0);
    schedq_place_t place = end(fixture, SCHEDQ_GROUP_ERROR).place;
    assert_place(place, SCHEDQ_ERROR_BACKOFF);
    assert_group(fixture, pod, GANG, GANG, 1, 1, place);
    assert_waits(fixture, pod,
                 "waits on group 7, which backs off after an error: members 1, quorum 1");
    int64_t wake = explain(fixture, pod).wake_ns;
    assert_true(wake != SCHEDQ_NO_DEADLINE);
    fx_pass(fixture, wake - fx_now(fixture) - 1);
    assert_place(look(fixture, GANG).place, place);
    fx_pass(fixture, 1);
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
}

static void
a_member_below_a_root_tells_of_the_root(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, LEFT, 0, 0, ROOT);
    schedq_pod_t pod = join(fixture, "ns/a", LEFT).pod;
    assert_group(fixture, pod, LEFT, 0, 1, 0, SCHEDQ_NOWHERE);
    assert_int_equal(explain(fixture, pod).group_declared, 1);
    assert_waits(fixture, pod, "waits on group 21, which has no root: members 1, quorum 1");
    declare(fixture, ROOT, 0, 2, 0);
    assert_group(fixture, pod, LEFT, ROOT, 1, 0, SCHEDQ_ASIDE);
    assert_waits(fixture, pod,
                 "waits on group 21, whose root 20 is incomplete: members 1, quorum 1");
    declare(fixture, RIGHT, 0, 1, ROOT);
    join(fixture, "ns/b", RIGHT);
    assert_group(fixture, pod, LEFT, ROOT, 1, 0, SCHEDQ_ACTIVE);
    assert_waits(fixture, pod,
                 "waits on group 21, whose root 20 waits for its turn to be popped: members 1, "
                 "quorum 1");
}

static void
a_held_member_tells_of_its_group_and_of_its_own_time(void **state)
{
    fixture_t *fixture = *state;
    declare(fixture, GANG, 0, 2, 0);
    schedq_pod_t pod = join(fixture, "ns/a", GANG).pod;
    join(fixture, "ns/b", GANG);
    schedq_result_t result;
    assert_ok(schedq_not_before(fx_worker(fixture), pod, FX_START + SEC(3), &result));
    assert_group(fixture, pod, GANG, GANG, 1, 2, SCHEDQ_ASIDE);
    assert_ns_equal(explain(fixture, pod).wake_ns, FX_START + SEC(3));
    assert_waits(fixture, pod, "held until its time");
}

static void
a_group_that_is_undeclared_in_its_cycle_is_told_so(void **state)
{
    fixture_t *fixture = *state;
    form(fixture, 1, "a");
    pop(fixture, GANG, "a");
    schedq_pod_t late = join(fixture, "ns/b", GANG).pod;
    assert_ok(schedq_group_delete(fx_worker(fixture), GANG, NULL));
    assert_int_equal(explain(fixture, late).group_declared, 0);
    assert_waits(fixture, late, "waits on group 7, which is not declared");
    fx_done(fixture, &taken[0]);
    assert_place(end(fixture, SCHEDQ_GROUP_PLACED).place, SCHEDQ_NOWHERE);
    assert_group(fixture, late, GANG, 0, 0, 0, SCHEDQ_NOWHERE);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        fx_test(a_pod_in_no_group_has_no_facts_of_one),
        fx_test(a_member_tells_how_many_wait_and_how_many_are_needed),
        fx_test(a_member_tells_where_its_group_waits_and_when_time_frees_it),
        fx_test(a_member_tells_the_end_of_its_groups_backoff),
        fx_test(a_member_below_a_root_tells_of_the_root),
        fx_test(a_held_member_tells_of_its_group_and_of_its_own_time),
        fx_test(a_group_that_is_undeclared_in_its_cycle_is_told_so),
    };
    return fx_run_tests(argc, argv, tests);
}
