/* Points in time: seconds, dates and times of ISO 8601, and what is neither. */
#include "files.h"

#include "moment.h"

#include <inttypes.h>

#define SECOND INT64_C(1000000000)
#define DAY (86400 * SECOND)

static int64_t
read_it(const char *text)
{
    int64_t value = -1;

    if (!moment_read(text, &value)) {
        fail_msg("\"%s\" is refused", text);
    }
    return value;
}

static void
seconds_are_read_as_they_are(void **state)
{
    (void)state;
    assert_int_equal(read_it("0"), 0);
    assert_int_equal(read_it("12.5"), 12 * SECOND + SECOND / 2);
    assert_int_equal(read_it("1683000000.123456789"), 1683000000 * SECOND + 123456789);
    assert_int_equal(read_it("4000000000"), 4000000000 * SECOND);
}

static void
dates_count_from_1970(void **state)
{
    (void)state;
    assert_int_equal(read_it("1970-01-01"), 0);
    assert_int_equal(read_it("1970-01-02"), DAY);
    assert_int_equal(read_it("1972-03-01"), (2 * 365 + 31 + 29) * DAY);
    assert_int_equal(read_it("2023-05-02T04:00:00Z"), 1683000000 * SECOND);
    assert_int_equal(read_it("2023-05-02 04:00:00"), 1683000000 * SECOND);
    assert_int_equal(read_it("2023-05-02T04:00"), 1683000000 * SECOND);
    assert_int_equal(read_it("2023-05-02T04:00Z"), 1683000000 * SECOND);
    assert_int_equal(read_it("2023-05-02T04:00:00.000000001Z"), 1683000000 * SECOND + 1);
    assert_int_equal(read_it(MOMENT_FIRST), 0);
    assert_int_equal(read_it(MOMENT_LAST), 4000000000 * SECOND);
}

static void
an_offset_is_what_the_clock_is_ahead(void **state)
{
    const char *same[] = {"2023-05-02T06:00:00+02:00", "2023-05-02T06:00:00+0200",
                          "2023-05-02T06:00:00+02",    "2023-05-01T22:30:00-05:30",
                          "2023-05-02T09:45+05:45",    "2023-05-02 04:00:00.000-00:00"};
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_int_equal(read_it(same[i]), 1683000000 * SECOND);
    }
}

static void
what_is_no_point_in_time_is_refused(void **state)
{
    const char *bad[] = {"",
                         "-1",
                         "+1",
                         " 1",
                         "1e3",
                         "4000000000.000000001",
                         "4000000001",
                         "1969-12-31T23:59:59Z",
                         "1970-01-01T00:00:00+00:01",
                         "2096-10-02T07:06:40.000000001Z",
                         "2096-10-02T07:06:41Z",
                         "9999-01-01",
                         "10000-01-01",
                         "2023-5-2",
                         "2023-00-01",
                         "2023-13-01",
                         "2023-02-29",
                         "2023-04-31",
                         "2023-05-32",
                         "2023-05-02T",
                         "2023-05-02T04",
                         "2023-05-02T24:00:00Z",
                         "2023-05-02T04:60:00Z",
                         "2023-05-02T04:00:60Z",
                         "2023-05-02T04:00:00.Z",
                         "2023-05-02T04:00:00.1234567891Z",
                         "2023-05-02T04:00:00.123456789012345678901234567890Z",
                         "2023-05-02T04:00:00z",
                         "2023-05-02T04:00:00ZZ",
                         "2023-05-02T04:00:00+",
                         "2023-05-02T04:00:00+2",
                         "2023-05-02T04:00:00+24:00",
                         "2023-05-02T04:00:00+02:60",
                         "2023-05-02T04:00:00+02:0",
                         "2023-05-02T04:00:00+02:",
                         "2023-05-02 ",
                         "2023-05-02  04:00",
                         "2023-05-02x04:00:00Z",
                         "20230502T040000Z"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t value;

        if (moment_read(bad[i], &value)) {
            fail_msg("\"%s\" is taken for %" PRId64, bad[i], value);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_read_as_they_are),
        cmocka_unit_test(dates_count_from_1970),
        cmocka_unit_test(an_offset_is_what_the_clock_is_ahead),
        cmocka_unit_test(what_is_no_point_in_time_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
