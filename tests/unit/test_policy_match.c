/* engine/policy/match.h: SPEC 8.3 for kube >= 1.33, SPEC 7.1 for 1.26, everything for 1.12. */
#include "expect.h"
#include "policy/match.h"
#include "schedq/schedq.h"

enum { THING = RESOURCE_FIRST_FREE, OTHER = RESOURCE_FIRST_FREE + 1 };

static bool
match(enum match_rule rule, uint32_t resource, uint32_t actions, uint32_t incoming, uint32_t incoming_actions)
{
    return match_event(rule, (struct event_kind){resource, actions}, (struct event_kind){incoming, incoming_actions});
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

static void
a_bit_must_be_shared_and_the_number_not_larger(void **state)
{
    (void)state;
    for (uint32_t registered = 1; registered <= SCHEDQ_ACTION_ALL; registered += 13) {
        for (uint32_t incoming = 1; incoming <= SCHEDQ_ACTION_ALL; incoming += 7)
            assert_int_equal(numeric(THING, registered, THING, incoming),
                             (registered & incoming) != 0 && incoming <= registered);
    }
    assert_true(numeric(THING, SCHEDQ_ACTION_UPDATE | SCHEDQ_ACTION_DELETE, THING, SCHEDQ_ACTION_UPDATE));
    assert_true(numeric(THING, SCHEDQ_ACTION_UPDATE | SCHEDQ_ACTION_ADD, THING, SCHEDQ_ACTION_UPDATE));
    assert_false(numeric(THING, 129, THING, SCHEDQ_ACTION_UPDATE));
    assert_false(numeric(THING, 512, THING, 128));
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
        cmocka_unit_test(a_bit_must_be_shared_and_the_number_not_larger),
        cmocka_unit_test(a_registered_wildcard_matches_everything),
        cmocka_unit_test(an_incoming_wildcard_matches_a_registered_wildcard_only),
        cmocka_unit_test(kube_1_26_compares_no_numbers),
        cmocka_unit_test(kube_1_12_matches_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
