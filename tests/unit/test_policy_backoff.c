/*
 * engine/policy/backoff.h: both formulas, with the upstream vectors of SPEC 2.1, and the four ways
 * to compare.
 */

#include "expect.h"
#include "policy/backoff.h"

#define SECOND INT64_C(1000000000)

static struct backoff_rules
rules_of(int64_t initial, int64_t max)
{
    return (struct backoff_rules){.initial_ns = initial, .max_ns = max};
}

static int64_t
rejected(const struct backoff_rules *rules, uint32_t count)
{
    struct backoff_counters counters = {.attempts = 99, .rejections = count};
    return backoff_duration(rules, &counters);
}

static void
rejections_double_up_to_the_limit(void **state)
{
    (void)state;
    struct backoff_rules rules = rules_of(SECOND, 10 * SECOND);
    static const int64_t seconds[] = {0, 1, 2, 4, 8, 10, 10, 10};
    for (uint32_t c = 0; c < 8; c++)
        assert_ns_equal(rejected(&rules, c), seconds[c] * SECOND);
}

static void
the_vectors_of_upstream_hold(void **state)
{
    (void)state;
    struct backoff_rules rules = rules_of(1, 32);
    assert_ns_equal(rejected(&rules, 0), 0);
    assert_ns_equal(rejected(&rules, 16), 32);
    rules.max_ns = INT32_MAX;
    assert_ns_equal(rejected(&rules, 32), INT32_MAX);
    rules.max_ns = INT64_MAX;
    assert_ns_equal(rejected(&rules, 64), INT64_MAX);
}

static void
no_count_overflows(void **state)
{
    (void)state;
    struct backoff_rules rules = rules_of(1, INT64_MAX);
    int64_t last = 0;
    for (uint32_t c = 0; c < 200; c++) {
        int64_t duration = rejected(&rules, c);
        assert_true(duration >= last);
        last = duration;
    }
    assert_ns_equal(rejected(&rules, 63), INT64_C(1) << 62);
    assert_ns_equal(rejected(&rules, UINT32_MAX), INT64_MAX);
    rules = rules_of(3, 1000);
    assert_ns_equal(rejected(&rules, 9), 768);
    assert_ns_equal(rejected(&rules, 10), 1000);
    rules = rules_of(INT64_MAX, INT64_MAX);
    assert_ns_equal(rejected(&rules, 1), INT64_MAX);
    assert_ns_equal(rejected(&rules, 2), INT64_MAX);
}

static void
errors_decide_alone_while_there_are_any(void **state)
{
    (void)state;
    struct backoff_rules rules = rules_of(SECOND, 10 * SECOND);
    struct backoff_counters counters = {.attempts = 7, .rejections = 5, .errors = 1};
    assert_ns_equal(backoff_duration(&rules, &counters), SECOND);
    counters.errors = 3;
    assert_ns_equal(backoff_duration(&rules, &counters), 4 * SECOND);
    counters.errors = 0;
    assert_ns_equal(backoff_duration(&rules, &counters), 10 * SECOND);
}

static void
an_initial_wait_above_the_limit_is_cut(void **state)
{
    (void)state;
    struct backoff_rules rules = rules_of(5 * SECOND, 2 * SECOND);
    assert_ns_equal(rejected(&rules, 1), 2 * SECOND);
    assert_ns_equal(rejected(&rules, 2), 2 * SECOND);
}

static int64_t
attempted(const struct backoff_rules *rules, uint32_t count)
{
    struct backoff_counters counters = {.attempts = count, .rejections = 50, .errors = 50};
    return backoff_duration(rules, &counters);
}

static void
attempts_double_too_and_the_first_wait_is_the_initial_one(void **state)
{
    (void)state;
    struct backoff_rules rules = rules_of(SECOND, 10 * SECOND);
    rules.by_attempts = true;
    static const int64_t seconds[] = {1, 1, 2, 4, 8, 10, 10};
    for (uint32_t c = 0; c < 7; c++)
        assert_ns_equal(attempted(&rules, c), seconds[c] * SECOND);
    rules = rules_of(5 * SECOND, 2 * SECOND);
    rules.by_attempts = true;
    assert_ns_equal(attempted(&rules, 0), 5 * SECOND);
    assert_ns_equal(attempted(&rules, 1), 5 * SECOND);
    assert_ns_equal(attempted(&rules, 2), 2 * SECOND);
    rules = rules_of(1, INT64_MAX);
    rules.by_attempts = true;
    assert_ns_equal(attempted(&rules, 63), INT64_C(1) << 62);
    assert_ns_equal(attempted(&rules, 64), INT64_MAX);
    assert_ns_equal(attempted(&rules, UINT32_MAX), INT64_MAX);
}

/* The loop of kube <= 1.31, literally. */
static int64_t
upstream_loop(int64_t initial, int64_t max, uint32_t attempts)
{
    int64_t duration = initial;
    for (uint32_t i = 1; i < attempts; i++) {
        if (duration > max - duration)
            return max;
        duration += duration;
    }
    return duration;
}

static void
attempts_agree_with_the_loop_of_upstream(void **state)
{
    (void)state;
    static const int64_t initials[] = {
        1, 2, 3, 7, 1000, SECOND, 4 * SECOND, 11 * SECOND, 3600 * SECOND};
    static const int64_t limits[] = {1,        5, 32, 1000, SECOND, 10 * SECOND, 24 * 3600 * SECOND,
                                     INT64_MAX};
    for (size_t i = 0; i < sizeof initials / sizeof *initials; i++) {
        for (size_t m = 0; m < sizeof limits / sizeof *limits; m++) {
            struct backoff_rules rules = rules_of(initials[i], limits[m]);
            rules.by_attempts = true;
            for (uint32_t c = 0; c < 80; c++)
                assert_ns_equal(attempted(&rules, c), upstream_loop(initials[i], limits[m], c));
        }
    }
}

static void
a_limit_of_zero_means_no_backoff(void **state)
{
    (void)state;
    struct backoff_rules rules = rules_of(SECOND, 0);
    struct backoff_counters counters = {.attempts = 4, .rejections = 4, .errors = 4};
    for (int by_attempts = 0; by_attempts < 2; by_attempts++) {
        rules.by_attempts = by_attempts != 0;
        assert_ns_equal(backoff_duration(&rules, &counters), 0);
        int64_t expiry = backoff_expiry(&rules, &counters, 100 * SECOND);
        assert_false(backoff_is_waiting(&rules, expiry, 100 * SECOND));
        assert_false(backoff_is_waiting(&rules, expiry, 0));
    }
}

static void
a_pod_that_never_failed_does_not_wait(void **state)
{
    (void)state;
    struct backoff_counters counters = {.attempts = 3};
    for (int variant = 0; variant < 4; variant++) {
        struct backoff_rules rules = rules_of(SECOND, 10 * SECOND);
        rules.windows = variant % 2 != 0;
        rules.at_expiry = variant / 2 != 0;
        int64_t expiry = backoff_expiry(&rules, &counters, 100 * SECOND);
        assert_ns_equal(expiry, BACKOFF_NONE);
        assert_ns_equal(backoff_public(expiry), 0);
        assert_false(backoff_is_waiting(&rules, expiry, 100 * SECOND));
        assert_false(backoff_is_waiting(&rules, expiry, 0));
    }
}

/* ---- comparing ---- */

static void
check_window(bool windows, bool at_expiry, int64_t expiry, int64_t due)
{
    struct backoff_rules rules = rules_of(SECOND, 10 * SECOND);
    struct backoff_counters counters = {.rejections = 1};
    rules.windows = windows;
    rules.at_expiry = at_expiry;
    int64_t got = backoff_expiry(&rules, &counters, 4 * SECOND + 300);
    assert_ns_equal(got, expiry);
    assert_ns_equal(backoff_due(&rules, got), due);
    assert_true(backoff_is_waiting(&rules, got, due - 1));
    assert_false(backoff_is_waiting(&rules, got, due));
    assert_false(backoff_is_waiting(&rules, got, due + 5 * SECOND));
    assert_true(backoff_is_waiting(&rules, got, 4 * SECOND + 300));
}

static void
each_way_of_comparing_frees_a_pod_at_its_instant(void **state)
{
    (void)state;
    check_window(false, false, 5 * SECOND + 300, 5 * SECOND + 300);
    check_window(false, true, 5 * SECOND + 300, 5 * SECOND + 301);
    check_window(true, false, 5 * SECOND, 5 * SECOND);
    check_window(true, true, 5 * SECOND, 6 * SECOND);
}

static void
nothing_overflows_at_the_end_of_time(void **state)
{
    (void)state;
    struct backoff_counters counters = {.rejections = 1};
    for (int variant = 0; variant < 4; variant++) {
        struct backoff_rules rules = rules_of(SECOND, 10 * SECOND);
        rules.windows = variant % 2 != 0;
        rules.at_expiry = variant / 2 != 0;
        int64_t expiry = backoff_expiry(&rules, &counters, INT64_MAX - 5);
        assert_true(expiry > INT64_MAX - 2 * SECOND);
        assert_true(backoff_due(&rules, expiry) > INT64_MAX - 2 * SECOND);
        assert_true(backoff_is_waiting(&rules, expiry, INT64_MAX - 3 * SECOND));
    }
    assert_ns_equal(time_add(INT64_MAX, 1), INT64_MAX);
    assert_ns_equal(time_add(INT64_MIN, -1), INT64_MIN);
    assert_ns_equal(time_add(INT64_MAX, INT64_MIN), -1);
    assert_ns_equal(time_add(-7, 9), 2);
}

static void
expiries_are_cut_down_and_not_rounded(void **state)
{
    (void)state;
    struct backoff_rules rules = rules_of(SECOND, 10 * SECOND);
    struct backoff_counters counters = {.rejections = 1};
    rules.windows = true;
    assert_ns_equal(backoff_expiry(&rules, &counters, 0), SECOND);
    assert_ns_equal(backoff_expiry(&rules, &counters, SECOND - 1), SECOND);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejections_double_up_to_the_limit),
        cmocka_unit_test(the_vectors_of_upstream_hold),
        cmocka_unit_test(no_count_overflows),
        cmocka_unit_test(errors_decide_alone_while_there_are_any),
        cmocka_unit_test(an_initial_wait_above_the_limit_is_cut),
        cmocka_unit_test(attempts_double_too_and_the_first_wait_is_the_initial_one),
        cmocka_unit_test(attempts_agree_with_the_loop_of_upstream),
        cmocka_unit_test(a_limit_of_zero_means_no_backoff),
        cmocka_unit_test(a_pod_that_never_failed_does_not_wait),
        cmocka_unit_test(each_way_of_comparing_frees_a_pod_at_its_instant),
        cmocka_unit_test(nothing_overflows_at_the_end_of_time),
        cmocka_unit_test(expiries_are_cut_down_and_not_rounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
