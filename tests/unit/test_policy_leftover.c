/* engine/policy/leftover.h: how long is too long. */
#include "expect.h"
#include "policy/leftover.h"

static void
a_pod_is_a_leftover_when_it_waited_longer_than_the_limit(void **state)
{
    (void)state;
    const struct rules rules = {.max_parked_ns = 100};
    assert_ns_equal(leftover_due(&rules, 1000), 1101);
    assert_ns_equal(leftover_latest(&rules, 1100), 999);
    assert_ns_equal(leftover_latest(&rules, 1101), 1000);
}

/* What the deadline says and what the flush finds must not differ by a nanosecond. */
static void
at_its_due_time_a_pod_is_a_leftover_and_before_it_is_not(void **state)
{
    (void)state;
    static const int64_t times[] = {-5000, -1, 0, 1, 999, INT64_C(1) << 60};
    static const int64_t limits[] = {1, 100, INT64_C(300000000000), INT64_C(1) << 60};
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        for (unsigned j = 0; j < sizeof limits / sizeof *limits; j++) {
            const struct rules rules = {.max_parked_ns = limits[j]};
            int64_t due = leftover_due(&rules, times[i]);
            assert_ns_equal(leftover_latest(&rules, due), times[i]);
            assert_true(leftover_latest(&rules, due - 1) < times[i]);
        }
    }
}

static void
the_end_of_time_is_not_passed(void **state)
{
    (void)state;
    const struct rules rules = {.max_parked_ns = INT64_MAX};
    assert_ns_equal(leftover_due(&rules, 5), INT64_MAX);
    assert_true(leftover_latest(&rules, 5) < 0);
    assert_ns_equal(leftover_latest(&rules, -5), INT64_MIN);
}

static void
in_flushes_a_pod_waits_for_the_next_one(void **state)
{
    (void)state;
    const struct rules rules = {.max_parked_ns = 100, .flush_ns = 30, .leftover_is_event = true};
    assert_ns_equal(leftover_tried(&rules, 1000, INT64_MIN), 1101); /* there was none */
    int64_t flushed = leftover_latest(&rules, 1101);
    assert_ns_equal(flushed, 1000);
    assert_ns_equal(leftover_again(&rules, flushed), 1131);
    /* reached by that flush: due still */
    assert_ns_equal(leftover_tried(&rules, 1000, flushed), 1101);
    assert_ns_equal(leftover_tried(&rules, 1001, flushed), 1131);
    assert_ns_equal(leftover_tried(&rules, 1030, flushed), 1131);
    assert_ns_equal(leftover_tried(&rules, 1031, flushed), 1132);
    const struct rules own = {.max_parked_ns = 100, .flush_ns = 30};
    assert_ns_equal(leftover_tried(&own, 1001, flushed), 1102);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_is_a_leftover_when_it_waited_longer_than_the_limit),
        cmocka_unit_test(at_its_due_time_a_pod_is_a_leftover_and_before_it_is_not),
        cmocka_unit_test(in_flushes_a_pod_waits_for_the_next_one),
        cmocka_unit_test(the_end_of_time_is_not_passed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
