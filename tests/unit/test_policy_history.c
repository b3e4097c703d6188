/* engine/policy/history.h: what a failure counts, and that no counter begins anew. */
#include "expect.h"
#include "policy/history.h"

static void
a_failure_without_rejectors_is_an_error(void **state)
{
    (void)state;
    uint32_t rejections = 3, errors = 4;
    history_count_failure(&rejections, &errors, 0);
    assert_int_equal(rejections, 3);
    assert_int_equal(errors, 5);
}

static void
a_rejection_ends_the_row_of_errors(void **state)
{
    (void)state;
    uint32_t rejections = 3, errors = 4;
    history_count_failure(&rejections, &errors, UINT64_C(1) << 63);
    assert_int_equal(rejections, 4);
    assert_int_equal(errors, 0);
}

static void
counters_stay_at_their_end(void **state)
{
    (void)state;
    uint32_t rejections = UINT32_MAX, errors = UINT32_MAX;
    assert_int_equal(history_raised(0), 1);
    assert_int_equal(history_raised(UINT32_MAX - 1), UINT32_MAX);
    assert_int_equal(history_raised(UINT32_MAX), UINT32_MAX);
    history_count_failure(&rejections, &errors, 0);
    assert_int_equal(errors, UINT32_MAX);
    history_count_failure(&rejections, &errors, 1);
    assert_int_equal(rejections, UINT32_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_without_rejectors_is_an_error),
        cmocka_unit_test(a_rejection_ends_the_row_of_errors),
        cmocka_unit_test(counters_stay_at_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
