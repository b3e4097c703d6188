/* engine/policy/order.h: rank and key. */
#include "expect.h"
#include "policy/order.h"

static void
ranks_turn_priorities_round(void **state)
{
    (void)state;
    static const int32_t descending[] = {INT32_MAX, INT32_MAX - 1, 1000, 1, 0, -1, -1000, INT32_MIN + 1, INT32_MIN};
    assert_int_equal(order_rank(INT32_MAX), 0);
    assert_int_equal(order_rank(INT32_MIN), UINT32_MAX);
    for (size_t i = 1; i < sizeof descending / sizeof *descending; i++)
        assert_true(order_rank(descending[i - 1]) < order_rank(descending[i]));
}

static void
rank_decides_before_key(void **state)
{
    (void)state;
    assert_true(order_before(1, INT64_MAX, 2, INT64_MIN));
    assert_false(order_before(2, INT64_MIN, 1, INT64_MAX));
    assert_true(order_before(1, -5, 1, 5));
    assert_true(order_before(1, INT64_MIN, 1, INT64_MAX));
    assert_false(order_before(1, 5, 1, 5));
}

static void
keys_never_repeat_and_never_go_back(void **state)
{
    (void)state;
    assert_ns_equal(order_key_next(100, 50), 100);
    assert_ns_equal(order_key_next(100, 100), 101);
    assert_ns_equal(order_key_next(100, 250), 251);
    assert_ns_equal(order_key_next(0, INT64_MIN), 0);
    assert_ns_equal(order_key_next(5, INT64_MAX), INT64_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_turn_priorities_round),
        cmocka_unit_test(rank_decides_before_key),
        cmocka_unit_test(keys_never_repeat_and_never_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
