/* What schedq-top makes of pages: recorded ones of examples/metrics, and such as are wrong. */
#include "page.h"
#include "view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *
text_of_file(const char *name)
{
    char path[600];

    (void)snprintf(path, sizeof path, PAGES "/%s", name);
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

static page_t
page_of(const char *text)
{
    char why[200] = "";
    page_t page;

    if (!page_read(&page, strdup(text), why, sizeof why)) {
        fail_msg("%s", why);
    }
    return page;
}

static page_t
page_of_file(const char *name)
{
    char *text = text_of_file(name);
    page_t page = page_of(text);

    free(text);
    return page;
}

static void
two_recorded_pages_make_the_expected_view(void **state)
{
    page_t before = page_of_file("first.txt"), now = page_of_file("second.txt");
    const view_t view = {.now = &now, .before = &before, .seconds = 2, .where = "recorded"};
    char *text = view_text(&view), *expected = text_of_file("view.expected");

    (void)state;
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
    free(expected);
    page_free(&before);
    page_free(&now);
}

static void
a_first_page_has_no_rates(void **state)
{
    page_t now = page_of("schedq_workers 1\nschedq_adds_total 5\n");
    const view_t view = {.now = &now, .where = "x"};
    char *text = view_text(&view);

    (void)state;
    assert_non_null(strstr(text, "EACH SECOND\n      adds"));
    assert_non_null(strstr(text, "\n         -        -        -"));
    free(text);
    page_free(&now);
}

static void
a_counter_that_began_anew_has_no_rate(void **state)
{
    page_t before = page_of("schedq_workers 1\nschedq_adds_total 5\nschedq_pops_total 1\n"),
           now = page_of("schedq_workers 1\nschedq_adds_total 4\nschedq_pops_total 7\n");
    const view_t view = {.now = &now, .before = &before, .seconds = 3, .where = "x"};
    char *text = view_text(&view);

    (void)state;
    assert_non_null(strstr(text, "\n         -        2        -"));
    free(text);
    page_free(&before);
    page_free(&now);
}

static void
each_queue_of_a_page_has_its_own_samples(void **state)
{
    page_t page = page_of("schedq_workers{schedq=\"a\"} 1\nschedq_workers{schedq=\"b\"} 2\n"
                          "schedq_oldest_pod_seconds{schedq=\"b\",place=\"parked\"} 7.5\n");

    (void)state;
    assert_string_equal(page_queue(&page, 0), "a");
    assert_string_equal(page_queue(&page, 1), "b");
    assert_null(page_queue(&page, 2));
    assert_true(page_value(&page, "schedq_workers", "b", NULL, NULL) == 2);
    assert_null(page_find(&page, "schedq_workers", NULL, NULL, NULL));
    assert_true(page_value(&page, "schedq_oldest_pod_seconds", "b", "place", "parked") == 7.5);
    assert_true(page_value(&page, "schedq_oldest_pod_seconds", "a", "place", "parked") == 0);
    page_free(&page);
}

static void
quantiles_are_upper_bounds_of_buckets(void **state)
{
    page_t page = page_of("h_bucket{c=\"x\",le=\"1\"} 1\nh_bucket{c=\"x\",le=\"5\"} 9\n"
                          "h_bucket{c=\"x\",le=\"+Inf\"} 10\nh_count{c=\"x\"} 10\n"
                          "h_bucket{c=\"y\",le=\"+Inf\"} 0\nh_count{c=\"y\"} 0\n");

    (void)state;
    assert_string_equal(page_quantile(&page, "h", NULL, "c", "x", 0.1), "1");
    assert_string_equal(page_quantile(&page, "h", NULL, "c", "x", 0.5), "5");
    assert_string_equal(page_quantile(&page, "h", NULL, "c", "x", 0.99), "+Inf");
    assert_string_equal(page_greatest(&page, "h", NULL, "c", "x"), "5");
    assert_null(page_greatest(&page, "h", NULL, "c", "z"));
    assert_null(page_quantile(&page, "h", NULL, "c", "y", 0.5));
    assert_null(page_quantile(&page, "h", NULL, "c", "z", 0.5));
    page_free(&page);
}

static void
no_wait_is_said_to_be_longer_than_the_oldest(void **state)
{
    page_t now = page_of("schedq_workers 1\n"
                         "schedq_pod_wait_seconds_bucket{place=\"held\",le=\"1\"} 1\n"
                         "schedq_pod_wait_seconds_bucket{place=\"held\",le=\"+Inf\"} 2\n"
                         "schedq_pod_wait_seconds_count{place=\"held\"} 2\n"
                         "schedq_oldest_pod_seconds{place=\"held\"} 7\n");
    const view_t view = {.now = &now, .where = "x"};
    char *text = view_text(&view);

    (void)state;
    assert_non_null(strstr(text, "  held                    2      7.0 s    <=1.0 s    <=7.0 s"));
    free(text);
    page_free(&now);
}

static void
a_page_with_groups_tells_which_members_wait_for_others(void **state)
{
    page_t without = page_of("schedq_workers 1\n");
    page_t with = page_of("schedq_workers 1\n"
                          "scheduler_pending_pods{queue=\"incomplete\"} 3\n"
                          "scheduler_pending_pods{queue=\"pending\"} 2\n");
    view_t view = {.now = &without, .where = "x"};
    char *text = view_text(&view);

    (void)state;
    assert_null(strstr(text, "group"));
    free(text);
    view.now = &with;
    text = view_text(&view);
    assert_non_null(strstr(text, "3 lack others of their group, and 2 wait for its cycle\n"));
    free(text);
    page_free(&without);
    page_free(&with);
}

static void
labels_may_have_any_characters(void **state)
{
    page_t page = page_of("# HELP a b\na{l=\"x \\\"}\\\\,=\\n\",m=\"\"} 3 1700000000\r\n\n");

    (void)state;
    assert_int_equal(page.count, 1);
    assert_string_equal(page_label_of(&page.samples[0], "l"), "x \"}\\,=\n");
    assert_string_equal(page_label_of(&page.samples[0], "m"), "");
    assert_true(page.samples[0].value == 3);
    page_free(&page);
}

static void
what_is_no_page_is_refused_with_its_line(void **state)
{
    static const char *const wrong[] = {
        "a 1\n<html>\n",  "a 1\nb\n",           "a 1\nb{c=\"d\" 1\n",
        "a 1\nb{c=\"d\n", "a 1\nb{c=d} 1\n",    "a 1\nb{c=\"d\"}\n",
        "a 1\nb 1x\n",    "a 1\n{c=\"d\"} 1\n", "a 1\nb{a=\"\",b=\"\",c=\"\",d=\"\",e=\"\"} 1\n"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char why[200] = "";
        page_t page;

        assert_false(page_read(&page, strdup(wrong[i]), why, sizeof why));
        assert_string_equal(why, "line 2 is no sample of Prometheus' text format");
        assert_null(page.text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_recorded_pages_make_the_expected_view),
        cmocka_unit_test(a_first_page_has_no_rates),
        cmocka_unit_test(a_counter_that_began_anew_has_no_rate),
        cmocka_unit_test(each_queue_of_a_page_has_its_own_samples),
        cmocka_unit_test(quantiles_are_upper_bounds_of_buckets),
        cmocka_unit_test(no_wait_is_said_to_be_longer_than_the_oldest),
        cmocka_unit_test(a_page_with_groups_tells_which_members_wait_for_others),
        cmocka_unit_test(labels_may_have_any_characters),
        cmocka_unit_test(what_is_no_page_is_refused_with_its_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
