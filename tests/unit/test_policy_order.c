/* engine/policy/order.h: rank and key. */
#include "expect.h"
#include "policy/order.h"

static void
ranks_turn_priorities_round(void **state)
{
    (void)state;
    static const int32_t descending[] = {INT32_MAX, INT32_MAX - 1, 1000,          1,        0,
                                         -1,        -1000,         INT32_MIN + 1, INT32_MIN};
    assert_int_equal(order_rank(INT32_MAX), 0);
    assert_int_equal(order_rank(INT32_MIN), UINT32_MAX);
    for (size_t i = 1; i < sizeof descending / sizeof *descending; i++)
        assert_true(order_rank(descending[i - 1]) < order_rank(descending[i]));
}

static bool
first(struct order a, struct order b)
{
    return order_before(&a, &b);
}

static void
rank_decides_before_key(void **state)
{
    (void)state;
    assert_true(first(order_by_rank(1, INT64_MAX, 9), order_by_rank(2, INT64_MIN, 0)));
    assert_false(first(order_by_rank(2, INT64_MIN, 0), order_by_rank(1, INT64_MAX, 9)));
    assert_true(first(order_by_rank(1, -5, 9), order_by_rank(1, 5, 0)));
    assert_true(first(order_by_rank(1, INT64_MIN, 9), order_by_rank(1, INT64_MAX, 0)));
    assert_true(first(order_by_rank(1, 0xffffffff, 9), order_by_rank(1, 0x100000000, 0)));
    assert_false(first(order_by_rank(1, 5, 3), order_by_rank(1, 5, 3)));
    assert_int_equal(order_pod(order_by_rank(UINT32_MAX, -1, 77)), 77);
}

static void
expiry_decides_before_rank(void **state)
{
    (void)state;
    assert_true(first(order_by_time(-5, 9, 9), order_by_time(5, 0, 0)));
    assert_true(first(order_by_time(5, 1, 9), order_by_time(5, 2, 0)));
    assert_true(first(order_by_time(INT64_MIN, 1, 0), order_by_time(INT64_MAX, 1, 0)));
    assert_true(order_ties_in_time(order_by_time(5, 1, 9), order_by_time(5, 1, 3)));
    assert_false(order_ties_in_time(order_by_time(5, 1, 9), order_by_time(5, 2, 9)));
    assert_false(order_ties_in_time(order_by_time(5, 1, 9), order_by_time(6, 1, 9)));
    assert_ns_equal(order_expiry(order_by_time(-123456789012345, 7, 8)), -123456789012345);
    assert_int_equal(order_pod(order_by_time(-1, UINT32_MAX, 78)), 78);
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
        cmocka_unit_test(expiry_decides_before_rank),
        cmocka_unit_test(keys_never_repeat_and_never_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
