/*
 * engine/policy/nominate.h: what makes a pod active decides whether its description nominates it.
 */
#include "expect.h"
#include "policy/nominate.h"

/* By label, from LABEL_POD_ADD to the first event's. */
static void
expect_answers(enum nominate_rule rule, const bool answers[LABEL_FIRST_EVENT + 1])
{
    for (uint32_t label = 0; label <= LABEL_FIRST_EVENT; label++) {
        if (nominate_when_active(rule, label) != answers[label])
            fail_msg("label %u: not %d", label, answers[label]);
    }
}

static void
in_kube_1_34_adds_and_updates_do(void **state)
{
    (void)state;
    expect_answers(NOMINATE_WHEN_ACTIVE, (const bool[LABEL_FIRST_EVENT + 1]){
                                             [LABEL_POD_ADD] = true, [LABEL_POD_UPDATE] = true});
}

static void
in_kube_1_26_activation_does_too(void **state)
{
    (void)state;
    expect_answers(
        NOMINATE_ALWAYS,
        (const bool[LABEL_FIRST_EVENT + 1]){
            [LABEL_POD_ADD] = true, [LABEL_POD_UPDATE] = true, [LABEL_FORCE_ACTIVATE] = true});
}

static void
who_was_nominated_at_its_add_is_not_nominated_again(void **state)
{
    (void)state;
    expect_answers(NOMINATE_AT_ADD, (const bool[LABEL_FIRST_EVENT + 1]){false});
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_kube_1_34_adds_and_updates_do),
        cmocka_unit_test(in_kube_1_26_activation_does_too),
        cmocka_unit_test(who_was_nominated_at_its_add_is_not_nominated_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
