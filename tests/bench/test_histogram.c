/* The histogram of bench/common: what it keeps exactly, and how wrong it may be about the rest. */
#include "histogram.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int
make(void **state)
{
    *state = histogram_new();
    return *state == NULL;
}

static int
unmake(void **state)
{
    histogram_free(*state);
    return 0;
}

static void
record_range(histogram_t *histogram, uint64_t first, uint64_t last)
{
    for (uint64_t value = first; value <= last; value++) {
        histogram_record(histogram, value);
    }
}

static void
an_empty_histogram_answers_zero(void **state)
{
    assert_int_equal(histogram_count(*state), 0);
    assert_int_equal(histogram_min(*state), 0);
    assert_int_equal(histogram_max(*state), 0);
    assert_int_equal(histogram_percentile(*state, 0), 0);
    assert_int_equal(histogram_percentile(*state, 50), 0);
    assert_int_equal(histogram_percentile(*state, 100), 0);
}

static void
one_value_is_every_percentile(void **state)
{
    histogram_record(*state, 123456789);
    assert_int_equal(histogram_count(*state), 1);
    assert_int_equal(histogram_min(*state), 123456789);
    assert_int_equal(histogram_max(*state), 123456789);
    assert_int_equal(histogram_percentile(*state, 0), 123456789);
    assert_int_equal(histogram_percentile(*state, 0.001), 123456789);
    assert_int_equal(histogram_percentile(*state, 99.9), 123456789);
    assert_int_equal(histogram_percentile(*state, 100), 123456789);
}

static void
values_below_256_are_exact(void **state)
{
    record_range(*state, 0, 255);
    for (unsigned i = 0; i < 256; i++) {
        double percent = 100.0 * (i + 1) / 256; /* exact: 256 is a power of two */
        assert_int_equal(histogram_percentile(*state, percent), i);
    }
}

static void
a_percentile_is_the_smallest_value_that_covers_it(void **state)
{
    record_range(*state, 1, 100);
    assert_int_equal(histogram_percentile(*state, 1), 1);
    assert_int_equal(histogram_percentile(*state, 50), 50);
    assert_int_equal(histogram_percentile(*state, 50.5), 51);
    assert_int_equal(histogram_percentile(*state, 99), 99);
    assert_int_equal(histogram_percentile(*state, 99.9), 100);
    assert_int_equal(histogram_percentile(*state, 100), 100);
}

static void
a_percentage_that_falls_on_a_rank_is_not_rounded_up(void **state)
{
    for (unsigned i = 0; i < 999; i++) {
        histogram_record(*state, 1);
    }
    histogram_record(*state, 100);
    assert_int_equal(histogram_percentile(*state, 99.9), 1);
    assert_int_equal(histogram_percentile(*state, 99.91), 100);
}

static void
percentages_out_of_range_count_as_the_nearest(void **state)
{
    record_range(*state, 10, 20);
    assert_int_equal(histogram_percentile(*state, -5), 10);
    assert_int_equal(histogram_percentile(*state, 250), 20);
    assert_int_equal(histogram_percentile(*state, __builtin_nan("")), 20);
}

/*
 * Every power of two, its neighbours, and odd values between, beside a larger one that keeps the
 * maximum out of the way.
 */
static void
a_percentile_is_never_below_its_value_and_less_than_a_128th_above(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 63; bit++) {
        for (int64_t offset = -1; offset <= 1; offset++) {
            for (unsigned quarter = 0; quarter < 4; quarter++) {
                uint64_t power = UINT64_C(1) << bit;
                uint64_t value = power + power / 4 * quarter + (uint64_t)offset;
                histogram_t *histogram = histogram_new();
                assert_non_null(histogram);
                histogram_record(histogram, value);
                histogram_record(histogram, UINT64_MAX);
                uint64_t answer = histogram_percentile(histogram, 50);
                assert_true(answer >= value);
                assert_true(answer - value <= value / 128);
                histogram_free(histogram);
            }
        }
    }
}

static void
the_largest_value_there_is_fits(void **state)
{
    histogram_record(*state, UINT64_MAX);
    histogram_record(*state, 0);
    assert_true(histogram_max(*state) == UINT64_MAX);
    assert_int_equal(histogram_min(*state), 0);
    assert_true(histogram_percentile(*state, 100) == UINT64_MAX);
    assert_int_equal(histogram_percentile(*state, 50), 0);
}

static void
merging_is_the_same_as_recording_in_one(void **state)
{
    histogram_t *other = histogram_new();
    histogram_t *both = histogram_new();
    assert_non_null(other);
    assert_non_null(both);

    for (uint64_t i = 1; i <= 5000; i++) {
        histogram_record(i % 3 == 0 ? *state : other, i * i);
        histogram_record(both, i * i);
    }
    histogram_merge(*state, other);
    assert_int_equal(histogram_count(*state), 5000);
    assert_int_equal(histogram_min(*state), 1);
    assert_int_equal(histogram_max(*state), 25000000);
    for (double percent = 0; percent <= 100; percent += 0.25) {
        assert_int_equal(histogram_percentile(*state, percent),
                         histogram_percentile(both, percent));
    }
    histogram_free(other);
    histogram_free(both);
}

static void
merging_leaves_the_source_as_it_is(void **state)
{
    histogram_t *from = histogram_new();
    assert_non_null(from);
    record_range(from, 5, 9);
    histogram_record(*state, 1);

    histogram_merge(*state, from);
    assert_int_equal(histogram_count(from), 5);
    assert_int_equal(histogram_min(from), 5);
    assert_int_equal(histogram_percentile(from, 60), 7);
    histogram_free(from);
}

static void
merging_an_empty_histogram_changes_nothing(void **state)
{
    histogram_t *empty = histogram_new();
    assert_non_null(empty);
    record_range(*state, 7, 8);

    histogram_merge(*state, empty);
    assert_int_equal(histogram_count(*state), 2);
    assert_int_equal(histogram_min(*state), 7);

    histogram_merge(empty, *state);
    assert_int_equal(histogram_min(empty), 7);
    assert_int_equal(histogram_max(empty), 8);
    histogram_free(empty);
}

static void
freeing_nothing_is_allowed(void **state)
{
    (void)state;
    histogram_free(NULL);
}

#define histogram_test(function) cmocka_unit_test_setup_teardown(function, make, unmake)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        histogram_test(an_empty_histogram_answers_zero),
        histogram_test(one_value_is_every_percentile),
        histogram_test(values_below_256_are_exact),
        histogram_test(a_percentile_is_the_smallest_value_that_covers_it),
        histogram_test(a_percentage_that_falls_on_a_rank_is_not_rounded_up),
        histogram_test(percentages_out_of_range_count_as_the_nearest),
        cmocka_unit_test(a_percentile_is_never_below_its_value_and_less_than_a_128th_above),
        histogram_test(the_largest_value_there_is_fits),
        histogram_test(merging_is_the_same_as_recording_in_one),
        histogram_test(merging_leaves_the_source_as_it_is),
        histogram_test(merging_an_empty_histogram_changes_nothing),
        cmocka_unit_test(freeing_nothing_is_allowed),
    };
    return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
