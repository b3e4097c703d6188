/* engine/policy/match.h: schedq, SPEC 8.3 for kube >= 1.33, SPEC 7.1 for 1.26, all for 1.12. */
#include "expect.h"
#include "policy/match.h"
#include "schedq/schedq.h"

enum { THING = RESOURCE_FIRST_FREE, OTHER = RESOURCE_FIRST_FREE + 1 };

static bool
match(enum match_rule rule, uint32_t resource, uint32_t actions, uint32_t incoming,
      uint32_t incoming_actions)
{
    return match_event(rule, (struct event_kind){resource, actions},
                       (struct event_kind){incoming, incoming_actions});
}

static bool
numeric(uint32_t resource, uint32_t actions, uint32_t incoming, uint32_t incoming_actions)
{
    return match(MATCH_NUMERIC, resource, actions, incoming, incoming_actions);
}

static void
resources_must_agree(void **state)
{
    (void)state;
    assert_true(numeric(THING, 1, THING, 1));
    assert_false(numeric(THING, 1, OTHER, 1));
    assert_true(numeric(RESOURCE_ANY, 1, THING, 1));
    assert_true(numeric(RESOURCE_POD, 1, RESOURCE_ASSIGNED_POD, 1));
    assert_true(numeric(RESOURCE_POD, 1, RESOURCE_UNSCHEDULED_POD, 1));
    assert_true(numeric(RESOURCE_POD, 1, RESOURCE_POD, 1));
    assert_false(numeric(RESOURCE_ASSIGNED_POD, 1, RESOURCE_POD, 1));
    assert_false(numeric(RESOURCE_ASSIGNED_POD, 1, RESOURCE_UNSCHEDULED_POD, 1));
    assert_false(numeric(THING, 1, RESOURCE_ASSIGNED_POD, 1));
    assert_false(numeric(RESOURCE_NODE, 1, RESOURCE_POD, 1));
}

#define ALLOCATABLE SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE
#define LABEL SCHEDQ_ACTION_UPDATE_NODE_LABEL
#define TAINT SCHEDQ_ACTION_UPDATE_NODE_TAINT

/*
 * What kube-scheduler 1.34 answered; docs/CONFORMANCE.md, "What upstream 1.34 does that one would
 * not expect", 9.
 */
static void
actions_agree_as_kube_1_34_compares_them(void **state)
{
    static const struct {
        uint32_t registered, incoming;
        bool agree;
    } rows[] = {
        {SCHEDQ_ACTION_ADD, SCHEDQ_ACTION_ADD, true},
        {SCHEDQ_ACTION_ADD, SCHEDQ_ACTION_DELETE, false},
        {SCHEDQ_ACTION_DELETE, SCHEDQ_ACTION_ADD, false},
        {SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_DELETE, SCHEDQ_ACTION_ADD, true},
        {SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_DELETE, SCHEDQ_ACTION_DELETE, true},
        {SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_DELETE, ALLOCATABLE, false},
        {ALLOCATABLE | LABEL, LABEL, true},
        {LABEL, ALLOCATABLE | LABEL, false}, /* a bit is shared, but the number is larger */
        {ALLOCATABLE, ALLOCATABLE | LABEL, false},
        {SCHEDQ_ACTION_ADD | LABEL, ALLOCATABLE | LABEL, false},
        {LABEL | TAINT, ALLOCATABLE | LABEL, true}, /* a bit is shared, the number is not larger */
        {TAINT, LABEL, false},
        {4094, 4092, true}, /* Update|Delete, Update */
        {4093, 4092, true}, /* Add|Update, Update */
        {4092, 4092, true},
        {129, 4092, false}, /* Add|UpdatePodLabel, Update */
        {128, 4092, false},
        {2048, 4092, false},
        {SCHEDQ_ACTION_ALL, 4092, true},
        {SCHEDQ_ACTION_ALL, 1, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (numeric(THING, rows[i].registered, THING, rows[i].incoming) != rows[i].agree)
            fail_msg("registered %u, incoming %u: not %d", rows[i].registered, rows[i].incoming,
                     rows[i].agree);
    }
}

/*
 * One action came: whoever registered it hears of it, whatever else was registered, and no other
 * does.
 */
static void
one_action_reaches_those_that_registered_it(void **state)
{
    (void)state;
    for (uint32_t bit = 0; UINT32_C(1) << bit <= SCHEDQ_ACTION_ALL; bit++) {
        for (uint32_t other = 0; UINT32_C(1) << other <= SCHEDQ_ACTION_ALL; other++) {
            uint32_t one = UINT32_C(1) << bit, another = UINT32_C(1) << other;
            assert_true(numeric(THING, one | another, THING, one));
            assert_true(numeric(THING, SCHEDQ_ACTION_ALL, THING, one));
            assert_int_equal(numeric(THING, another, THING, one), bit == other);
            assert_int_equal(numeric(THING, SCHEDQ_ACTION_ALL & ~one, THING, one), false);
        }
    }
}

static void
a_registered_wildcard_matches_everything(void **state)
{
    (void)state;
    assert_true(numeric(RESOURCE_ANY, SCHEDQ_ACTION_ALL, THING, 1));
    assert_true(numeric(RESOURCE_ANY, SCHEDQ_ACTION_ALL, RESOURCE_ANY, SCHEDQ_ACTION_ALL));
    assert_true(match(MATCH_RESOURCE, RESOURCE_ANY, SCHEDQ_ACTION_ALL, THING, 1));
}

static void
an_incoming_wildcard_matches_a_registered_wildcard_only(void **state)
{
    (void)state;
    assert_false(numeric(THING, SCHEDQ_ACTION_ALL, RESOURCE_ANY, SCHEDQ_ACTION_ALL));
    assert_false(numeric(RESOURCE_ANY, SCHEDQ_ACTION_UPDATE, RESOURCE_ANY, SCHEDQ_ACTION_ALL));
    assert_true(match_is_wildcard((struct event_kind){RESOURCE_ANY, SCHEDQ_ACTION_ALL}));
    assert_false(match_is_wildcard((struct event_kind){RESOURCE_ANY, SCHEDQ_ACTION_UPDATE}));
    assert_false(match_is_wildcard((struct event_kind){THING, SCHEDQ_ACTION_ALL}));
}

static void
a_shared_action_is_enough_for_schedq(void **state)
{
    (void)state;
    for (uint32_t bit = 0; UINT32_C(1) << bit <= SCHEDQ_ACTION_ALL; bit++) {
        for (uint32_t incoming = 1; incoming <= SCHEDQ_ACTION_ALL; incoming++) {
            uint32_t one = UINT32_C(1) << bit;
            bool hears = match(MATCH_SHARED, THING, one, THING, incoming);
            bool generic = (incoming & SCHEDQ_ACTION_UPDATE) == SCHEDQ_ACTION_UPDATE;
            uint32_t heard = generic ? incoming & ~(uint32_t)SCHEDQ_ACTION_UPDATE : incoming;

            assert_int_equal(hears, (heard & one) != 0);
            assert_true(match(MATCH_SHARED, THING, SCHEDQ_ACTION_ALL, THING, incoming));
        }
    }
    assert_true(match(MATCH_SHARED, THING, SCHEDQ_ACTION_UPDATE, THING, SCHEDQ_ACTION_UPDATE));
    assert_true(match(MATCH_SHARED, THING, SCHEDQ_ACTION_UPDATE, THING, SCHEDQ_ACTION_ALL));
    assert_false(match(MATCH_SHARED, THING, LABEL, THING, SCHEDQ_ACTION_UPDATE));
    assert_false(match(MATCH_SHARED, THING, 1, OTHER, 1));
    assert_true(match(MATCH_SHARED, RESOURCE_ANY, 1, THING, 3));
    assert_true(match(MATCH_SHARED, RESOURCE_POD, 1, RESOURCE_ASSIGNED_POD, 3));
    assert_true(match(MATCH_SHARED, RESOURCE_ANY, SCHEDQ_ACTION_ALL, THING, 1));
}

static void
kube_1_26_compares_no_numbers(void **state)
{
    (void)state;
    assert_true(match(MATCH_RESOURCE, THING, 129, THING, SCHEDQ_ACTION_UPDATE));
    assert_true(match(MATCH_RESOURCE, THING, 128, THING, 128 | 512));
    assert_false(match(MATCH_RESOURCE, THING, 512, THING, 128));
    assert_false(match(MATCH_RESOURCE, THING, 1, OTHER, 1));
    assert_false(match(MATCH_RESOURCE, RESOURCE_ANY, SCHEDQ_ACTION_ADD, THING, SCHEDQ_ACTION_ADD));
}

static void
kube_1_12_matches_everything(void **state)
{
    (void)state;
    assert_true(match(MATCH_ALL, THING, 1, OTHER, 2));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resources_must_agree),
        cmocka_unit_test(actions_agree_as_kube_1_34_compares_them),
        cmocka_unit_test(one_action_reaches_those_that_registered_it),
        cmocka_unit_test(a_registered_wildcard_matches_everything),
        cmocka_unit_test(an_incoming_wildcard_matches_a_registered_wildcard_only),
        cmocka_unit_test(a_shared_action_is_enough_for_schedq),
        cmocka_unit_test(kube_1_26_compares_no_numbers),
        cmocka_unit_test(kube_1_12_matches_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
