/* What tests do to pods, and how they look at them. Every verb asserts that it worked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

schedq_pod_spec_t
fx_spec(int32_t priority)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    spec.priority = priority;
    return spec;
}

schedq_add_item_t
fx_item(uint32_t name_offset, uint32_t name_length, int32_t priority)
{
    return (schedq_add_item_t){name_offset, name_length, fx_spec(priority)};
}

schedq_result_t
fx_add_spec(fixture_t *fixture, const char *name, const schedq_pod_spec_t *spec)
{
    schedq_result_t result;
    assert_ok(schedq_add(fx_worker(fixture), name, strlen(name), spec, &result));
    assert_true(result.pod.bits != 0);
    return result;
}

schedq_pod_t
fx_add(fixture_t *fixture, const char *name, int32_t priority)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    spec.object = ++fixture->next_object;
    return fx_add_spec(fixture, name, &spec).pod;
}

schedq_popped_t
fx_pop(fixture_t *fixture, const char *name)
{
    schedq_popped_t popped;
    assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
    assert_string_equal(popped.name, name);
    assert_int_equal(popped.name_length, strlen(name));
    assert_true(popped.token.bits != 0);
    assert_true(popped.pod.bits != 0);
    return popped;
}

void
fx_pop_nothing(fixture_t *fixture)
{
    schedq_popped_t popped;
    assert_status(schedq_try_pop(fx_worker(fixture), &popped), SCHEDQ_EMPTY);
}

void
fx_done(fixture_t *fixture, const schedq_popped_t *popped)
{
    assert_ok(schedq_done(fx_worker(fixture), popped->token));
}

schedq_result_t
fx_fail(fixture_t *fixture, const schedq_popped_t *popped, uint64_t unschedulable, uint64_t pending)
{
    schedq_result_t result;
    schedq_token_t token = popped->token;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = unschedulable;
    failure.pending = pending;
    assert_ok(schedq_fail(fx_worker(fixture), &token, &failure, &result));
    return result;
}

schedq_pod_t
fx_park(fixture_t *fixture, const char *name, uint64_t unschedulable)
{
    schedq_pod_t pod = fx_add(fixture, name, 0);
    schedq_popped_t popped = fx_pop(fixture, name);
    assert_place(fx_fail(fixture, &popped, unschedulable, 0).place, SCHEDQ_PARKED);
    return pod;
}

schedq_pod_t
fx_err(fixture_t *fixture, const char *name)
{
    schedq_pod_t pod = fx_add(fixture, name, 0);
    schedq_popped_t popped = fx_pop(fixture, name);
    fx_fail(fixture, &popped, 0, 0);
    return pod;
}

schedq_pod_t
fx_back_off(fixture_t *fixture, const char *name, uint64_t unschedulable, schedq_event_t event)
{
    schedq_pod_t pod = fx_add(fixture, name, 0);
    schedq_popped_t popped = fx_pop(fixture, name);
    fx_move(fixture, event);
    assert_place(fx_fail(fixture, &popped, unschedulable, 0).place, SCHEDQ_BACKOFF);
    return pod;
}

fx_waiting_t
fx_wait_everywhere(fixture_t *fixture, const fx_plugin_t *fit, fx_plugin_t *gate)
{
    fx_waiting_t pods;
    pods.backoff = fx_back_off(fixture, "ns/backoff", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    pods.error = fx_err(fixture, "ns/error");
    pods.parked = fx_park(fixture, "ns/parked", fit->bit);
    gate->refuses = true;
    pods.gated = fx_add(fixture, "ns/gated", 0);
    gate->refuses = false;
    return pods;
}

void
fx_fill(fixture_t *fixture, const fx_plugin_t *fit, unsigned count)
{
    char name[32];
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "ns/parked%u", i);
        fx_park(fixture, name, fit->bit);
        snprintf(name, sizeof name, "ns/error%u", i);
        fx_err(fixture, name);
    }
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "ns/active%u", i);
        fx_add(fixture, name, (int32_t)i);
    }
}

schedq_result_t
fx_move(fixture_t *fixture, schedq_event_t event)
{
    schedq_result_t result;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = event;
    assert_ok(schedq_notify(fx_worker(fixture), &change, &result));
    return result;
}

/* ---- looking ---- */

int
fx_visit_nothing(void *ctx, const schedq_pod_info_t *pod)
{
    (void)ctx;
    (void)pod;
    return 1;
}

schedq_place_t
fx_place(fixture_t *fixture, const char *name)
{
    schedq_result_t result;
    schedq_status_t status = schedq_find(fx_worker(fixture), name, strlen(name), &result);
    if (status == SCHEDQ_NOT_FOUND)
        return SCHEDQ_NOWHERE;
    assert_ok(status);
    return (schedq_place_t)result.place;
}

schedq_result_t
fx_find(fixture_t *fixture, const char *name)
{
    schedq_result_t result;
    assert_ok(schedq_find(fx_worker(fixture), name, strlen(name), &result));
    return result;
}

int
fx_see(void *ctx, const schedq_pod_info_t *pod)
{
    fx_seen_t *seen = ctx;
    seen->info = *pod;
    seen->visits++;
    if (pod->name_length <= SCHEDQ_NAME_MAX) {
        memcpy(seen->text, pod->name, pod->name_length);
        seen->text[pod->name_length] = '\0';
    }
    seen->info.name = NULL;
    return 1;
}

schedq_pod_info_t
fx_info(fixture_t *fixture, schedq_pod_t pod)
{
    fx_seen_t seen;
    memset(&seen, 0, sizeof seen);
    assert_ok(schedq_get(fx_worker(fixture), pod, fx_see, &seen));
    assert_int_equal(seen.visits, 1);
    assert_true(seen.info.pod.bits == pod.bits);
    return seen.info;
}

schedq_stats_t
fx_stats(fixture_t *fixture)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    assert_ok(schedq_stats(fx_queue(fixture), &stats));
    return stats;
}

void
fx_assert_counts(fixture_t *fixture, unsigned active, unsigned backoff, unsigned error_backoff,
                 unsigned parked, unsigned gated, unsigned inflight)
{
    schedq_stats_t stats = fx_stats(fixture);
    assert_int_equal(stats.active, active);
    assert_int_equal(stats.backoff, backoff);
    assert_int_equal(stats.error_backoff, error_backoff);
    assert_int_equal(stats.parked, parked);
    assert_int_equal(stats.gated, gated);
    assert_int_equal(stats.inflight, inflight);
}

typedef struct text {
    char *bytes;
    size_t length;
} text_t;

static int
append_text(void *ctx, const char *piece, size_t length)
{
    text_t *text = ctx;
    char *longer = realloc(text->bytes, text->length + length + 1);
    if (longer == NULL)
        return 0;
    memcpy(longer + text->length, piece, length);
    text->bytes = longer;
    text->length += length;
    text->bytes[text->length] = '\0';
    return 1;
}

char *
fx_metrics(fixture_t *fixture)
{
    text_t text = {NULL, 0};
    assert_ok(schedq_metrics_write(fx_queue(fixture), append_text, &text));
    assert_non_null(text.bytes);
    return text.bytes;
}

long
fx_metric(fixture_t *fixture, const char *sample)
{
    char *text = fx_metrics(fixture);
    size_t length = strlen(sample);
    long value = -1;
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, sample, length) == 0 && line[length] == ' ')
            value = strtol(line + length + 1, NULL, 10);
        line = strchr(line, '\n');
        if (line != NULL)
            line++;
    }
    free(text);
    return value;
}
