/*
 * The metrics of several queues in one text: each family once, each sample with its queue's name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

typedef struct {
    char *bytes;
    size_t length;
    unsigned calls;
    schedq_t *asked; /* the writer calls it */
    schedq_status_t answer;
} text_t;

static int
keep_text(void *ctx, const char *text, size_t length)
{
    text_t *kept = ctx;
    kept->calls++;
    kept->bytes = realloc(kept->bytes, kept->length + length + 1);
    assert_non_null(kept->bytes);
    memcpy(kept->bytes + kept->length, text, length);
    kept->length += length;
    kept->bytes[kept->length] = '\0';
    if (kept->asked != NULL) {
        schedq_stats_t stats = SCHEDQ_STATS_INIT;
        kept->answer = schedq_stats(kept->asked, &stats);
    }
    return 1;
}

static unsigned
times(const char *text, const char *part)
{
    unsigned count = 0;
    for (const char *found = strstr(text, part); found != NULL; found = strstr(found + 1, part))
        count++;
    return count;
}

/* A queue of another preset beside the test's. */
static fixture_t *
other_queue(void)
{
    fixture_t *other = fx_new(SCHEDQ_PRESET_KUBE_1_37);
    fx_add(other, "ns/x", 0);
    fx_add(other, "ns/y", 0);
    return other;
}

static void
each_family_is_named_once_and_each_sample_has_its_queue(void **state)
{
    fixture_t *fixture = *state;
    fixture_t *other = other_queue();
    fx_add(fixture, "ns/a", 0);
    const schedq_named_queue_t queues[] = {{fx_queue(fixture), "batch"}, {fx_queue(other), "web"}};
    text_t text = {.bytes = NULL};
    char why[100] = "?";
    assert_ok(schedq_metrics_write_named(queues, 2, keep_text, &text, why, sizeof why));
    assert_string_equal(why, "");
    assert_contains(text.bytes, "\nschedq_inflight_pods{schedq=\"batch\"} 0\n"
                                "schedq_inflight_pods{schedq=\"web\"} 0\n");
    assert_contains(text.bytes, "\nscheduler_pending_pods{schedq=\"batch\",queue=\"active\"} 1\n");
    assert_contains(text.bytes, "\nscheduler_pending_pods{schedq=\"web\",queue=\"active\"} 2\n");
    assert_contains(text.bytes, "\nschedq_pod_wait_seconds_count{schedq=\"web\",place=\"active\"} "
                                "2\n");
    for (const char *line = text.bytes; *line != '\0'; line = strchr(line, '\n') + 1) {
        char head[100];
        if (sscanf(line, "# TYPE %60s", head + 1) != 1) {
            assert_true(*line == '#' || strstr(line, "{schedq=\"") == strchr(line, '{'));
            continue;
        }
        char type[120];
        snprintf(type, sizeof type, "# TYPE %s ", head + 1);
        assert_int_equal(times(text.bytes, type), 1);
    }
    free(text.bytes);
    fx_free(other);
}

static void
what_only_the_second_queue_has_is_there(void **state)
{
    fixture_t *fixture = *state;
    fixture_t *other = other_queue();
    const schedq_named_queue_t queues[] = {{fx_queue(fixture), "batch"}, {fx_queue(other), "web"}};
    text_t text = {.bytes = NULL};
    assert_ok(schedq_metrics_write_named(queues, 2, keep_text, &text, NULL, 0));
    assert_int_equal(times(text.bytes, "# TYPE scheduler_queued_entities gauge\n"), 1);
    assert_int_equal(times(text.bytes, "\nscheduler_queued_entities{schedq=\"web\","), 4);
    assert_int_equal(times(text.bytes, "\nscheduler_queued_entities{schedq=\"batch\","), 0);
    free(text.bytes);
    fx_free(other);
}

static void
without_the_names_it_is_the_text_of_the_queue(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.sample_calls = 1;
    fx_plugin_t *fit = fx_plugin(fixture, "a\"b\\c\nd", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    const schedq_named_queue_t queue = {fx_queue(fixture), "q"};
    text_t text = {.bytes = NULL};
    assert_ok(schedq_metrics_write_named(&queue, 1, keep_text, &text, NULL, 0));
    static const char *const labels[] = {"{schedq=\"q\"}", "schedq=\"q\","};
    for (unsigned i = 0; i < 2; i++)
        for (char *label = strstr(text.bytes, labels[i]); label != NULL;
             label = strstr(label, labels[i]))
            memmove(label, label + strlen(labels[i]), strlen(label + strlen(labels[i])) + 1);
    char *alone = fx_metrics(fixture);
    assert_string_equal(text.bytes, alone);
    free(alone);
    free(text.bytes);
}

static void
the_writer_may_call_the_queues(void **state)
{
    fixture_t *fixture = *state;
    const schedq_named_queue_t queue = {fx_queue(fixture), "q"};
    text_t text = {.asked = fx_queue(fixture)};
    assert_ok(schedq_metrics_write_named(&queue, 1, keep_text, &text, NULL, 0));
    assert_ok(text.answer);
    assert_int_equal(text.calls, 1);
    free(text.bytes);
}

static void
refused(const schedq_named_queue_t *queues, size_t count, const char *word, const char *range)
{
    text_t text = {.bytes = NULL};
    char why[200] = "";
    assert_status(schedq_metrics_write_named(queues, count, keep_text, &text, why, sizeof why),
                  SCHEDQ_INVALID);
    assert_int_equal(text.calls, 0);
    assert_contains(why, word);
    assert_contains(why, range);
}

static void
bad_names_are_refused_in_words(void **state)
{
    fixture_t *fixture = *state;
    static const char *const names[] = {
        "",     "a b", "a\"b", "\xc3\xa4",
        "a{b}", "a,b", "a\nb", "123456789012345678901234567890123456789012345678901234567890abcd",
        "a\\b",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const schedq_named_queue_t queues[] = {{fx_queue(fixture), "good"},
                                               {fx_queue(fixture), names[i]}};
        refused(queues, 2, "queues[1].name", "1 to 63 letters, digits and - _ . : /");
    }
    static const char longest[] = "123456789012345678901234567890123456789012345678901234567890a/c";
    const schedq_named_queue_t queue = {fx_queue(fixture), longest};
    text_t text = {.bytes = NULL};
    assert_ok(schedq_metrics_write_named(&queue, 1, keep_text, &text, NULL, 0));
    assert_contains(text.bytes, longest);
    free(text.bytes);
}

static void
what_cannot_be_is_refused_in_words(void **state)
{
    fixture_t *fixture = *state;
    const schedq_named_queue_t same[] = {{fx_queue(fixture), "a"}, {fx_queue(fixture), "a"}};
    refused(same, 2, "queues[1].name \"a\"", "queues[0]");
    refused(same, 0, "count 0", "at least 1");
    refused(NULL, 1, "queues NULL", "");
    const schedq_named_queue_t no_queue = {NULL, "a"}, no_name = {fx_queue(fixture), NULL};
    refused(&no_queue, 1, "queue NULL", "");
    refused(&no_name, 1, "queues[0].name NULL", "");
    char why[100] = "";
    assert_status(schedq_metrics_write_named(same, 1, NULL, NULL, why, sizeof why), SCHEDQ_INVALID);
    assert_contains(why, "write NULL");
}

typedef struct {
    schedq_named_queue_t queue;
    schedq_status_t answer;
    char why[200];
    text_t text;
} inside_t;

static int
ask_inside(void *ctx, const schedq_pod_info_t *pod)
{
    inside_t *inside = ctx;
    (void)pod;
    inside->answer = schedq_metrics_write_named(&inside->queue, 1, keep_text, &inside->text,
                                                inside->why, sizeof inside->why);
    return 1;
}

static void
a_callback_of_a_queue_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    inside_t inside = {.queue = {fx_queue(fixture), "q"}};
    assert_ok(schedq_snapshot(fx_worker(fixture), ask_inside, &inside));
    assert_status(inside.answer, SCHEDQ_BUSY);
    assert_int_equal(inside.text.calls, 0);
    assert_true(inside.why[0] != '\0');
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(each_family_is_named_once_and_each_sample_has_its_queue),
        fx_test(what_only_the_second_queue_has_is_there),
        fx_test(without_the_names_it_is_the_text_of_the_queue),
        fx_test(the_writer_may_call_the_queues),
        fx_test(bad_names_are_refused_in_words),
        fx_test(what_cannot_be_is_refused_in_words),
        fx_test(a_callback_of_a_queue_is_refused),
    };
    return fx_run_tests(argc, argv, tests);
}
