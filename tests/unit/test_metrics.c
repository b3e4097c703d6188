/*
 * The metrics: which operation counts what under which label (SPEC 11), and that the text is
 * Prometheus'.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sleeper.h"

static void
expect_incoming(fixture_t *fixture, const char *queue, const char *event, long expected)
{
    char sample[160];
    snprintf(sample, sizeof sample,
             "scheduler_queue_incoming_pods_total{queue=\"%s\",event=\"%s\"}", queue, event);
    long got = fx_metric(fixture, sample);
    if (got < 0 && expected == 0)
        return;
    if (got != expected)
        print_error("%s: expected %ld, got %ld\n", sample, expected, got);
    assert_int_equal(got, expected);
}

static void
expect_pending(fixture_t *fixture, long active, long backoff, long unschedulable, long gated)
{
    assert_int_equal(fx_metric(fixture, "scheduler_pending_pods{queue=\"active\"}"), active);
    assert_int_equal(fx_metric(fixture, "scheduler_pending_pods{queue=\"backoff\"}"), backoff);
    assert_int_equal(fx_metric(fixture, "scheduler_pending_pods{queue=\"unschedulable\"}"),
                     unschedulable);
    assert_int_equal(fx_metric(fixture, "scheduler_pending_pods{queue=\"gated\"}"), gated);
}

static long
rejected_by(fixture_t *fixture, const char *plugin, const char *profile)
{
    char sample[160];
    snprintf(sample, sizeof sample, "scheduler_unschedulable_pods{plugin=\"%s\",profile=\"%s\"}",
             plugin, profile);
    return fx_metric(fixture, sample);
}

static void
the_pods_of_each_place_are_counted(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    expect_pending(fixture, 0, 0, 0, 0);
    fx_wait_everywhere(fixture, fit, gate);
    fx_add(fixture, "ns/flying", 0);
    fx_pop(fixture, "ns/flying");
    fx_add(fixture, "ns/active", 0);
    expect_pending(fixture, 1, 2, 1, 1);
}

static void
each_way_into_a_queue_has_its_label(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit =
        fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_UPDATE_NODE_TAINT);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_DELETE);
    fx_plugin_t *label = fx_plugin(fixture, "Label", "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL);
    fx_add(fixture, "ns/a", 0);
    expect_incoming(fixture, "active", "UnschedulablePodAdd", 1);
    gate->refuses = true;
    schedq_pod_t gated = fx_add(fixture, "ns/gated", 0);
    expect_incoming(fixture, "unschedulable", "UnschedulablePodAdd", 1);
    fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE);
    expect_incoming(fixture, "unschedulable", "NodeDelete", 1);
    gate->refuses = false;
    fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE);
    expect_incoming(fixture, "active", "NodeDelete", 1);
    assert_ok(schedq_delete(fx_worker(fixture), gated, NULL));

    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    expect_incoming(fixture, "unschedulable", "ScheduleAttemptFailure", 1);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    expect_incoming(fixture, "backoff", "NodeAdd", 1);
    popped = fx_pop(fixture, "ns/a");
    expect_incoming(fixture, "active", "PopFromBackoffQ", 1);
    fx_fail(fixture, &popped, 0, 0);
    expect_incoming(fixture, "backoff", "ScheduleAttemptFailure", 1);
    fx_pass(fixture, SEC(10));
    expect_incoming(fixture, "active", "BackoffComplete", 1);
    popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    schedq_pod_t pod = popped.pod;
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    expect_incoming(fixture, "active", "ForceActivate", 1);
    popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, label->bit, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_event_t update = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, &update, 1, NULL));
    expect_incoming(fixture, "backoff", "UnschedulablePodUpdatePodLabel", 1);
    popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    fx_pass(fixture, SEC(600));
    expect_incoming(fixture, "active", "UnschedulableTimeout", 1);
    spec = fx_spec(0);
    spec.flags = SCHEDQ_POD_ADD;
    assert_ok(schedq_update(fx_worker(fixture), "ns/new", 6, &spec, 0, &update, 1, NULL));
    expect_incoming(fixture, "active", "UnschedulablePodUpdate", 1);
    popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    fx_advance(fixture, SEC(60));
    fx_move(fixture, SCHEDQ_EVENT_NODE_UPDATE_TAINT);
    expect_incoming(fixture, "active", "NodeUpdateNodeTaint", 1);
}

static void
an_activation_in_vain_counts_only_pods_that_come_from_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_pod_t backoff = fx_back_off(fixture, "ns/backoff", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    schedq_pod_t parked = fx_park(fixture, "ns/parked", fit->bit);
    gate->refuses = true;
    schedq_pod_t gated = fx_add(fixture, "ns/gated", 0);
    const schedq_pod_t outside[] = {parked, gated};
    schedq_result_t result;
    assert_ok(schedq_activate(fx_worker(fixture), outside, 2, &result));
    assert_int_equal(result.to_gated, 1);
    expect_incoming(fixture, "unschedulable", "ForceActivate", 0);
    assert_ok(schedq_activate(fx_worker(fixture), &backoff, 1, &result));
    assert_int_equal(result.to_gated, 1);
    expect_incoming(fixture, "unschedulable", "ForceActivate", 1);
    expect_pending(fixture, 0, 0, 0, 3);
}

static void
updates_in_place_and_deletions_count_nothing(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_pod_spec_t spec = fx_spec(7);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    expect_incoming(fixture, "active", "UnschedulablePodUpdate", 0);
    expect_pending(fixture, 1, 0, 0, 0);
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    expect_incoming(fixture, "active", "UnschedulablePodAdd", 1);
    expect_pending(fixture, 0, 0, 0, 0);
}

static void
events_with_labels_of_their_own_count_under_them(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "leases.v1.example.org", SCHEDQ_ACTION_ALL);
    schedq_event_t named, unnamed;
    assert_ok(schedq_event_define(fx_queue(fixture), "leases.v1.example.org", SCHEDQ_ACTION_ADD,
                                  "LeaseCame", &named, NULL, 0));
    assert_ok(schedq_event_define(fx_queue(fixture), "leases.v1.example.org", SCHEDQ_ACTION_UPDATE,
                                  NULL, &unnamed, NULL, 0));
    fx_park(fixture, "ns/a", fit->bit);
    fx_move(fixture, named);
    expect_incoming(fixture, "backoff", "LeaseCame", 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    fx_move(fixture, unnamed);
    expect_incoming(fixture, "backoff", "leases.v1.example.orgUpdate", 1);
}

/* Far more labels than an engine may have room for from the start. */
static void
each_of_many_events_counts_under_its_own_label(void **state)
{
    enum { COUNT = 150 };
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Lease", SCHEDQ_ACTION_ALL);
    schedq_event_t events[COUNT];
    schedq_popped_t popped;
    char label[16];
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(label, sizeof label, "Lease%u", i);
        assert_ok(schedq_event_define(fx_queue(fixture), "Lease", SCHEDQ_ACTION_ADD, label,
                                      &events[i], NULL, 0));
    }
    fx_add(fixture, "ns/a", 0);
    for (unsigned i = 0; i < COUNT; i++) {
        popped = fx_pop(fixture, "ns/a");
        fx_fail(fixture, &popped, fit->bit, 0);
        fx_move(fixture, events[i]);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(label, sizeof label, "Lease%u", i);
        expect_incoming(fixture, "backoff", label, 1);
    }
}

static void
label_values_are_escaped(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "a\"b\\c\nd", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(rejected_by(fixture, "a\\\"b\\\\c\\nd", "default-scheduler"), 1);
}

/* One such byte, and Prometheus would refuse all of the text. */
static void
label_values_are_utf_8(void **state)
{
    static const struct {
        const char *name, *written;
    } values[] = {{"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8b \xf4\x8f\xbf\xbf",
                   "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8b \xf4\x8f\xbf\xbf"},
                  {"a\xff", "a\\\\xff"},
                  {"\x80z", "\\\\x80z"},
                  {"\xc0\xaf", "\\\\xc0\\\\xaf"},
                  {"\xe0\x9f\xbf", "\\\\xe0\\\\x9f\\\\xbf"},
                  {"\xed\xa0\x80", "\\\\xed\\\\xa0\\\\x80"},
                  {"\xf0\x8f\xbf\xbf", "\\\\xf0\\\\x8f\\\\xbf\\\\xbf"},
                  {"\xf4\x90\x80\x80", "\\\\xf4\\\\x90\\\\x80\\\\x80"},
                  {"\xe2\x82", "\\\\xe2\\\\x82"}};
    fixture_t *fixture = *state;
    uint64_t bits[sizeof values / sizeof *values];
    char name[8];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        bits[i] = fx_plugin(fixture, values[i].name, "Node", SCHEDQ_ACTION_ADD)->bit;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(name, sizeof name, "ns/%zu", i);
        fx_park(fixture, name, bits[i]);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_int_equal(rejected_by(fixture, values[i].written, "default-scheduler"), 1);
}

static void
the_pods_that_a_plugin_rejects_are_counted_while_they_wait(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t batch;
    assert_ok(schedq_profile_define(fx_queue(fixture), "batch", &batch, NULL, 0));
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_DELETE);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    fx_plugin_t *batch_fit = fx_plugin_full(fixture, batch, "Fit", 0, NULL, 0, false);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit | wait->bit, wait->bit);
    fx_park(fixture, "ns/b", fit->bit);
    gate->refuses = true;
    schedq_pod_t gated = fx_add(fixture, "ns/gated", 0);
    gate->refuses = false;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.profile = batch;
    fx_add_spec(fixture, "ns/batch", &spec);
    popped = fx_pop(fixture, "ns/batch");
    fx_fail(fixture, &popped, batch_fit->bit, 0);
    assert_int_equal(rejected_by(fixture, "Fit", "default-scheduler"), 2);
    assert_int_equal(rejected_by(fixture, "Wait", "default-scheduler"), 1);
    assert_int_equal(rejected_by(fixture, "Gate", "default-scheduler"), 1);
    assert_int_equal(rejected_by(fixture, "Fit", "batch"), 1);

    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(rejected_by(fixture, "Fit", "default-scheduler"), 2);
    assert_ok(schedq_delete(fx_worker(fixture), gated, NULL));
    assert_int_equal(rejected_by(fixture, "Gate", "default-scheduler"), 0);
    schedq_popped_t out[2];
    size_t count;
    assert_ok(schedq_try_pop_many(fx_worker(fixture), out, 2, &count));
    assert_int_equal(count, 2);
    assert_int_equal(rejected_by(fixture, "Fit", "default-scheduler"), 0);
    assert_int_equal(rejected_by(fixture, "Wait", "default-scheduler"), 0);
    assert_int_equal(rejected_by(fixture, "Fit", "batch"), 1);
}

static void
late_names_have_their_own_count(void **state)
{
    fixture_t *fixture = *state;
    uint64_t late = schedq_rejector_bit(fx_queue(fixture), 0, "Late", 4);
    fx_park(fixture, "ns/a", late);
    assert_int_equal(rejected_by(fixture, "Late", "default-scheduler"), 1);
}

static void
names_without_a_bit_of_their_own_are_counted_together(void **state)
{
    fixture_t *fixture = *state;
    fx_park(fixture, "ns/a", SCHEDQ_REJECTOR_OTHERS);
    assert_int_equal(rejected_by(fixture, "others", "default-scheduler"), 1);
}

static void
a_long_text_comes_whole(void **state)
{
    fixture_t *fixture = *state;
    char name[64];
    for (unsigned i = 0; i < 63; i++) {
        snprintf(name, sizeof name, "PluginWithALongName%044u", i);
        fx_plugin(fixture, name, NULL, 0);
    }
    fx_park(fixture, "ns/a", UINT64_MAX >> 1);
    for (unsigned i = 0; i < 63; i++) {
        snprintf(name, sizeof name, "PluginWithALongName%044u", i);
        assert_int_equal(rejected_by(fixture, name, "default-scheduler"), 1);
    }
}

static void
kube_1_26_has_its_own_labels(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_DELETE);
    schedq_event_t node_add;
    assert_ok(schedq_event_define(fx_queue(fixture), "Node", SCHEDQ_ACTION_ADD, "NodeAdd",
                                  &node_add, NULL, 0));
    fx_park(fixture, "ns/a", fit->bit);
    expect_incoming(fixture, "active", "PodAdd", 1);
    expect_incoming(fixture, "unschedulable", "ScheduleAttemptFailure", 1);
    gate->refuses = true;
    schedq_pod_t gated = fx_add(fixture, "ns/gated", 0);
    gate->refuses = false;
    expect_incoming(fixture, "unschedulable", "PodAdd", 0);
    fx_move(fixture, node_add);
    expect_incoming(fixture, "backoff", "NodeAdd", 1);
    fx_pass(fixture, SEC(1));
    expect_incoming(fixture, "active", "BackoffComplete", 1);
    assert_ok(schedq_activate(fx_worker(fixture), &gated, 1, NULL));
    expect_incoming(fixture, "active", "ForceActivate", 1);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.flags = SCHEDQ_POD_ADD;
    assert_ok(schedq_update(fx_worker(fixture), "ns/new", 6, &spec, 0, NULL, 0, NULL));
    expect_incoming(fixture, "active", "PodUpdate", 0);
    expect_incoming(fixture, "active", "PodAdd", 1);
}

/* ---- what waits now ---- */

static long
waiting(fixture_t *fixture, const char *what, const char *place, const char *bound)
{
    char sample[160];
    if (bound != NULL)
        snprintf(sample, sizeof sample, "%s_bucket{place=\"%s\",le=\"%s\"}", what, place, bound);
    else
        snprintf(sample, sizeof sample, "%s{place=\"%s\"}", what, place);
    return fx_metric(fixture, sample);
}

static void
pods_are_told_by_how_long_ago_they_came_or_failed(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(30));
    fx_park(fixture, "ns/b", fit->bit);
    fx_add(fixture, "ns/c", 0);
    fx_advance(fixture, SEC(12));
    static const char name[] = "schedq_pod_wait_seconds";
    assert_int_equal(waiting(fixture, name, "parked", "10"), 0);
    assert_int_equal(waiting(fixture, name, "parked", "30"), 1);
    assert_int_equal(waiting(fixture, name, "parked", "60"), 2);
    assert_int_equal(waiting(fixture, name, "parked", "+Inf"), 2);
    assert_int_equal(waiting(fixture, "schedq_pod_wait_seconds_sum", "parked", NULL), 42 + 12);
    assert_int_equal(waiting(fixture, "schedq_pod_wait_seconds_count", "parked", NULL), 2);
    assert_int_equal(waiting(fixture, "schedq_oldest_pod_seconds", "parked", NULL), 42);
    assert_int_equal(waiting(fixture, name, "active", "10"), 0);
    assert_int_equal(waiting(fixture, name, "active", "30"), 1);
    assert_int_equal(waiting(fixture, "schedq_oldest_pod_seconds", "active", NULL), 12);
    assert_int_equal(waiting(fixture, "schedq_oldest_pod_seconds", "gated", NULL), 0);
}

static void
pods_are_told_by_their_attempts(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    for (unsigned i = 0; i < 3; i++) {
        schedq_popped_t popped = i == 0 ? (fx_add(fixture, "ns/a", 0), fx_pop(fixture, "ns/a"))
                                        : fx_pop(fixture, "ns/a");
        fx_fail(fixture, &popped, fit->bit, 0);
        fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    }
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    static const char name[] = "schedq_pod_attempts";
    assert_int_equal(waiting(fixture, name, "inflight", "2"), 0);
    assert_int_equal(waiting(fixture, name, "inflight", "4"), 1);
    assert_int_equal(waiting(fixture, "schedq_pod_attempts_sum", "inflight", NULL), 4);
    fx_done(fixture, &popped);
    assert_int_equal(waiting(fixture, "schedq_pod_attempts_count", "inflight", NULL), 0);
    schedq_pod_t deleted = fx_add(fixture, "ns/deleted", 0);
    popped = fx_pop(fixture, "ns/deleted");
    assert_ok(schedq_delete(fx_worker(fixture), deleted, NULL));
    assert_int_equal(waiting(fixture, "schedq_pod_attempts_count", "inflight", NULL), 0);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    fx_add(fixture, "ns/b", 0);
    assert_int_equal(waiting(fixture, name, "active", "0"), 1);
}

static void
every_pod_is_in_the_histogram_of_its_place(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    fx_wait_everywhere(fixture, fit, gate);
    fx_add(fixture, "ns/flying", 0);
    fx_pop(fixture, "ns/flying");
    schedq_pod_t held = fx_add(fixture, "ns/held", 0);
    assert_ok(schedq_hold(fx_worker(fixture), held, NULL));
    fx_add(fixture, "ns/active", 0);
    for (schedq_place_t place = SCHEDQ_ACTIVE; place <= SCHEDQ_HELD; place++) {
        const char *name = schedq_place_name(place);
        assert_int_equal(waiting(fixture, "schedq_pod_wait_seconds_count", name, NULL), 1);
        assert_int_equal(waiting(fixture, "schedq_pod_attempts_count", name, NULL), 1);
    }
}

static void
a_timestamp_that_is_still_to_come_waits_for_no_time(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.timestamp_ns = FX_START + SEC(50);
    fx_add_spec(fixture, "ns/a", &spec);
    assert_int_equal(waiting(fixture, "schedq_pod_wait_seconds_sum", "active", NULL), 0);
    assert_int_equal(waiting(fixture, "schedq_pod_wait_seconds", "active", "0.001"), 1);
}

/* ---- threads ---- */

static void
wakeups_of_threads_that_wait_are_counted(void **state)
{
    enum { TRIES = 100 };
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    mailbox_init(&mailbox);
    assert_int_equal(fx_metric(fixture, "schedq_wakeups_total"), 0);
    /* More than one try where the thread does not sleep yet when the pod comes. */
    for (unsigned i = 0; i < TRIES && fx_metric(fixture, "schedq_wakeups_total") == 0; i++) {
        sleeper_t sleeper;
        sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
        sleeper_pause();
        fx_add(fixture, "ns/a", 0);
        sleeper_join(&sleeper, SCHEDQ_OK);
    }
    assert_true(fx_metric(fixture, "schedq_wakeups_total") > 0);
}

/* ---- the form of the text ---- */

/* The number behind the sample that begins with `sample`. */
static double
number_of(const char *text, const char *sample)
{
    const char *found = strstr(text, sample);
    if (found == NULL)
        print_error("no sample %s\n", sample);
    assert_non_null(found);
    return strtod(strchr(found, ' ') + 1, NULL);
}

/* A histogram with one label: buckets that do not fall, a last one that is the count. */
static void
expect_histogram(const char *text, const char *name, const char *label)
{
    char sample[160];
    snprintf(sample, sizeof sample, "\n%s_bucket{%s,le=", name, label);
    double before = 0;
    unsigned buckets = 0;
    for (const char *line = strstr(text, sample); line != NULL; line = strstr(line + 1, sample)) {
        double count = strtod(strchr(line + 1, ' ') + 1, NULL);
        assert_true(count >= before);
        before = count;
        buckets++;
    }
    assert_true(buckets > 5);
    snprintf(sample, sizeof sample, "\n%s_bucket{%s,le=\"+Inf\"}", name, label);
    double infinite = number_of(text, sample);
    assert_true(infinite == before);
    snprintf(sample, sizeof sample, "\n%s_count{%s}", name, label);
    assert_true(number_of(text, sample) == infinite);
    snprintf(sample, sizeof sample, "\n%s_sum{%s}", name, label);
    double sum = number_of(text, sample);
    assert_true(infinite > 0 ? sum >= 0 : sum == 0);
}

static void
buckets_grow_and_the_last_one_is_the_count(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    char name[32];
    for (unsigned i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        if (i % 2 == 0)
            fx_park(fixture, name, fit->bit);
        else
            assert_ok(schedq_hold(fx_worker(fixture), fx_add(fixture, name, 0), NULL));
        fx_advance(fixture, MS(1) << i % 20);
    }
    char *text = fx_metrics(fixture);
    for (schedq_place_t place = SCHEDQ_ACTIVE; place <= SCHEDQ_HELD; place++) {
        char label[40];
        snprintf(label, sizeof label, "place=\"%s\"", schedq_place_name(place));
        expect_histogram(text, "schedq_pod_wait_seconds", label);
        expect_histogram(text, "schedq_pod_attempts", label);
    }
    free(text);
}

/* One line: a comment, or name{label="value",...} number. */
static void
expect_line(const char *line, size_t length)
{
    if (length > 2 && memcmp(line, "# ", 2) == 0) {
        assert_true(memcmp(line, "# HELP ", 7) == 0 || memcmp(line, "# TYPE ", 7) == 0);
        return;
    }
    assert_true(memcmp(line, "scheduler_", 10) == 0 || memcmp(line, "schedq_", 7) == 0);
    size_t space = length;
    while (space > 0 && line[space - 1] != ' ')
        space--;
    assert_true(space > 10 && space < length);
    for (size_t i = space; i < length; i++)
        assert_true(isdigit((unsigned char)line[i]) || strchr(".+-eE", line[i]) != NULL);
}

static void
the_text_is_lines_of_samples_each_metric_typed_before_its_first(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    char *text = fx_metrics(fixture);
    size_t length = strlen(text);
    assert_true(length > 0 && text[length - 1] == '\n');
    for (const char *line = text; *line != '\0';) {
        const char *end = strchr(line, '\n');
        expect_line(line, (size_t)(end - line));
        line = end + 1;
    }
    const char *type = strstr(text, "# TYPE scheduler_pending_pods gauge\n");
    assert_non_null(type);
    assert_true(strstr(text, "\nscheduler_pending_pods{") > type);
    assert_non_null(strstr(text, "# TYPE scheduler_queue_incoming_pods_total counter\n"));
    assert_non_null(strstr(text, "# TYPE scheduler_unschedulable_pods gauge\n"));
    free(text);
}

/* With a number sign in the place of what depends on the sizes of structs. */
static const char whole_text[] =
    "# HELP scheduler_pending_pods Pods that wait, by queue.\n"
    "# TYPE scheduler_pending_pods gauge\n"
    "scheduler_pending_pods{queue=\"active\"} 1\n"
    "scheduler_pending_pods{queue=\"backoff\"} 0\n"
    "scheduler_pending_pods{queue=\"unschedulable\"} 1\n"
    "scheduler_pending_pods{queue=\"gated\"} 0\n"
    "# HELP schedq_inflight_pods Pods that were popped and whose cycle has not ended.\n"
    "# TYPE schedq_inflight_pods gauge\n"
    "schedq_inflight_pods 0\n"
    "# HELP schedq_held_pods Pods that are kept back.\n"
    "# TYPE schedq_held_pods gauge\n"
    "schedq_held_pods 0\n"
    "# HELP schedq_nominated_pods Pods that are nominated to a node.\n"
    "# TYPE schedq_nominated_pods gauge\n"
    "schedq_nominated_pods 0\n"
    "# HELP schedq_workers Registered workers, the timer thread's too.\n"
    "# TYPE schedq_workers gauge\n"
    "schedq_workers 1\n"
    "# HELP schedq_adds_total Pods added.\n"
    "# TYPE schedq_adds_total counter\n"
    "schedq_adds_total 2\n"
    "# HELP schedq_pops_total Pods popped.\n"
    "# TYPE schedq_pops_total counter\n"
    "schedq_pops_total 1\n"
    "# HELP schedq_dones_total Pods placed.\n"
    "# TYPE schedq_dones_total counter\n"
    "schedq_dones_total 0\n"
    "# HELP schedq_failures_total Cycles that ended without success.\n"
    "# TYPE schedq_failures_total counter\n"
    "schedq_failures_total 1\n"
    "# HELP schedq_deletes_total Pods deleted.\n"
    "# TYPE schedq_deletes_total counter\n"
    "schedq_deletes_total 0\n"
    "# HELP schedq_updates_total Pods updated.\n"
    "# TYPE schedq_updates_total counter\n"
    "schedq_updates_total 0\n"
    "# HELP schedq_moves_total Pods that events or time took out of a waiting place.\n"
    "# TYPE schedq_moves_total counter\n"
    "schedq_moves_total 0\n"
    "# HELP schedq_events_total Events that some plugin registered.\n"
    "# TYPE schedq_events_total counter\n"
    "schedq_events_total 0\n"
    "# HELP schedq_hint_calls_total Hints called.\n"
    "# TYPE schedq_hint_calls_total counter\n"
    "schedq_hint_calls_total 0\n"
    "# HELP schedq_pre_enqueue_calls_total PreEnqueue calls.\n"
    "# TYPE schedq_pre_enqueue_calls_total counter\n"
    "schedq_pre_enqueue_calls_total 2\n"
    "# HELP schedq_class_hides_total Pods kept back untried since another one of their class was "
    "rejected.\n"
    "# TYPE schedq_class_hides_total counter\n"
    "schedq_class_hides_total 0\n"
    "# HELP schedq_class_turns_total Pods that were kept back, and are the next to be tried for "
    "their class.\n"
    "# TYPE schedq_class_turns_total counter\n"
    "schedq_class_turns_total 0\n"
    "# HELP schedq_wakeups_total Times that threads were woken that wait in a pop.\n"
    "# TYPE schedq_wakeups_total counter\n"
    "schedq_wakeups_total 0\n"
    "# HELP schedq_membarriers_total Fences in all threads that the kernel was asked for.\n"
    "# TYPE schedq_membarriers_total counter\n"
    "schedq_membarriers_total 0\n"
    "# HELP schedq_memory_waiting_bytes Memory that was replaced and that some call may still "
    "read.\n"
    "# TYPE schedq_memory_waiting_bytes gauge\n"
    "schedq_memory_waiting_bytes #\n"
    "# HELP schedq_standing_calls Calls that began before memory that waits was replaced.\n"
    "# TYPE schedq_standing_calls gauge\n"
    "schedq_standing_calls 0\n"
    "# HELP schedq_memory_bytes Memory held, by kind.\n"
    "# TYPE schedq_memory_bytes gauge\n"
    "schedq_memory_bytes{kind=\"entries\"} #\n"
    "schedq_memory_bytes{kind=\"names\"} #\n"
    "schedq_memory_bytes{kind=\"index\"} #\n"
    "schedq_memory_bytes{kind=\"queues\"} #\n"
    "schedq_memory_bytes{kind=\"other\"} #\n"
    "# HELP scheduler_queue_incoming_pods_total Pods that came into a queue, by event.\n"
    "# TYPE scheduler_queue_incoming_pods_total counter\n"
    "scheduler_queue_incoming_pods_total{queue=\"active\",event=\"UnschedulablePodAdd\"} 2\n"
    "scheduler_queue_incoming_pods_total{queue=\"unschedulable\",event=\"ScheduleAttemptFailure\"} "
    "1\n"
    "# HELP scheduler_unschedulable_pods Waiting pods, by the plugins that rejected them.\n"
    "# TYPE scheduler_unschedulable_pods gauge\n"
    "scheduler_unschedulable_pods{plugin=\"Fit\",profile=\"default-scheduler\"} 1\n"
    "scheduler_unschedulable_pods{plugin=\"Gate\",profile=\"default-scheduler\"} 0\n";

/* Writes a number sign over the numbers of the samples that begin so. */
static void
hide_numbers(char *text, const char *name, long least)
{
    for (char *line = strstr(text, name); line != NULL; line = strstr(line, name)) {
        char *number = strchr(line + 1, ' ') + 1;
        char *end = strchr(number, '\n');
        assert_true(strtol(number, NULL, 10) >= least);
        *number = '#';
        memmove(number + 1, end, strlen(end) + 1);
        line = number;
    }
}

static void
the_whole_text_of_a_small_queue_is_known(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_gate(fixture, "Gate", NULL, 0);
    fx_park(fixture, "ns/a", fit->bit);
    fx_add(fixture, "ns/b", 0);
    char *text = fx_metrics(fixture);
    hide_numbers(text, "\nschedq_memory_bytes{", 1);
    hide_numbers(text, "\nschedq_memory_waiting_bytes ", 0);
    char *histograms = strstr(text, "# HELP schedq_pod_wait_seconds ");
    assert_non_null(histograms);
    *histograms = '\0';
    assert_string_equal(text, whole_text);
    free(text);
}

static int
stop_writing(void *ctx, const char *text, size_t length)
{
    unsigned *calls = ctx;
    (void)text;
    (void)length;
    ++*calls;
    return 0;
}

static void
the_writer_may_stop(void **state)
{
    fixture_t *fixture = *state;
    unsigned calls = 0;
    assert_ok(schedq_metrics_write(fx_queue(fixture), stop_writing, &calls));
    assert_int_equal(calls, 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(the_pods_of_each_place_are_counted),
        fx_test_1_34(each_way_into_a_queue_has_its_label),
        fx_test(each_way_into_a_queue_has_its_label),
        fx_test(an_activation_in_vain_counts_only_pods_that_come_from_backoff),
        fx_test(updates_in_place_and_deletions_count_nothing),
        fx_test(events_with_labels_of_their_own_count_under_them),
        fx_test(each_of_many_events_counts_under_its_own_label),
        fx_test(label_values_are_escaped),
        fx_test(label_values_are_utf_8),
        fx_test(the_pods_that_a_plugin_rejects_are_counted_while_they_wait),
        fx_test(late_names_have_their_own_count),
        fx_test(names_without_a_bit_of_their_own_are_counted_together),
        fx_test(a_long_text_comes_whole),
        fx_test_1_26(kube_1_26_has_its_own_labels),
        fx_test(pods_are_told_by_how_long_ago_they_came_or_failed),
        fx_test(pods_are_told_by_their_attempts),
        fx_test(every_pod_is_in_the_histogram_of_its_place),
        fx_test(a_timestamp_that_is_still_to_come_waits_for_no_time),
        fx_test(buckets_grow_and_the_last_one_is_the_count),
        fx_test(wakeups_of_threads_that_wait_are_counted),
        fx_test(the_text_is_lines_of_samples_each_metric_typed_before_its_first),
        fx_test(the_whole_text_of_a_small_queue_is_known),
        fx_test(the_writer_may_stop),
    };
    return fx_run_tests(argc, argv, tests);
}
