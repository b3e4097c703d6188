/*
 * Looking at the next pods: peek and peek_many show what pops would take, in their order, and take
 * nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"

#define PODS 600

/* What a visitor saw. */
typedef struct line {
    schedq_pod_t pods[PODS];
    size_t count, stop; /* stop: that many are enough */
} line_t;

static int
note_pod(void *ctx, const schedq_pod_info_t *pod)
{
    line_t *line = ctx;
    line->pods[line->count++] = pod->pod;
    return line->count != line->stop;
}

static line_t
peek_many(fixture_t *fixture, size_t count)
{
    line_t line = {.count = 0};
    schedq_status_t status = schedq_peek_many(fx_worker(fixture), count, note_pod, &line);
    assert_status(status, line.count > 0 ? SCHEDQ_OK : SCHEDQ_EMPTY);
    return line;
}

static void
peek_shows_the_pod_that_the_next_pop_takes(void **state)
{
    fixture_t *fixture = *state;
    fx_seen_t seen = {.visits = 0};
    assert_status(schedq_peek(fx_worker(fixture), fx_see, &seen), SCHEDQ_EMPTY);
    assert_int_equal(seen.visits, 0);
    fx_add(fixture, "ns/low", 1);
    fx_add(fixture, "ns/high", 3);
    for (int i = 0; i < 2; i++) {
        assert_ok(schedq_peek(fx_worker(fixture), fx_see, &seen));
        assert_string_equal(seen.text, "ns/high");
        assert_place(seen.info.place, SCHEDQ_ACTIVE);
    }
    assert_int_equal(seen.visits, 2);
    fx_assert_counts(fixture, 2, 0, 0, 0, 0, 0);
    fx_pop(fixture, "ns/high");
    assert_ok(schedq_peek(fx_worker(fixture), fx_see, &seen));
    assert_string_equal(seen.text, "ns/low");
    fx_pop(fixture, "ns/low");
    assert_status(schedq_peek(fx_worker(fixture), fx_see, &seen), SCHEDQ_EMPTY);
}

static void
peek_shows_backoff_where_pops_take_it(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_back_off(fixture, "ns/first", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    fx_advance(fixture, 1);
    fx_back_off(fixture, "ns/second", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    fx_err(fixture, "ns/error");
    fx_seen_t seen = {.visits = 0};
    assert_ok(schedq_peek(fx_worker(fixture), fx_see, &seen));
    assert_string_equal(seen.text, "ns/first");
    assert_place(seen.info.place, SCHEDQ_BACKOFF);
    fx_add(fixture, "ns/active", -5);
    assert_int_equal(peek_many(fixture, 10).count, 3);
    assert_ok(schedq_peek(fx_worker(fixture), fx_see, &seen));
    assert_string_equal(seen.text, "ns/active");
    fx_pop(fixture, "ns/active");
    fx_pop(fixture, "ns/first");
    fx_pop(fixture, "ns/second");
    fx_pop_nothing(fixture);
}

static void
peek_leaves_backoff_out_where_pops_do(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_back_off(fixture, "ns/a", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    fx_seen_t seen = {.visits = 0};
    assert_status(schedq_peek(fx_worker(fixture), fx_see, &seen), SCHEDQ_EMPTY);
    assert_int_equal(peek_many(fixture, 5).count, 0);
}

static void
a_visitor_ends_the_look(void **state)
{
    fixture_t *fixture = *state;
    char name[32];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "ns/%d", i);
        fx_add(fixture, name, i);
    }
    line_t line = {.stop = 40};
    assert_ok(schedq_peek_many(fx_worker(fixture), 90, note_pod, &line));
    assert_int_equal(line.count, 40);
    assert_int_equal(peek_many(fixture, 90).count, 90);
    assert_int_equal(peek_many(fixture, SIZE_MAX).count, 100);
}

static void
objects_are_held_during_the_visit_and_given_back(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    fx_add(fixture, "ns/a", 0);
    fx_add(fixture, "ns/b", 0);
    fx_seen_t seen = {.visits = 0};
    assert_ok(schedq_peek(fx_worker(fixture), fx_see, &seen));
    assert_ok(schedq_peek_many(fx_worker(fixture), 5, fx_see, &seen));
    assert_int_equal(seen.visits, 3);
}

static void
arguments_are_refused_in_words(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    assert_status(schedq_peek(fx_worker(fixture), NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_peek_many(fx_worker(fixture), 1, NULL, NULL), SCHEDQ_INVALID);
    fx_seen_t seen = {.visits = 0};
    assert_status(schedq_peek_many(fx_worker(fixture), 0, fx_see, &seen), SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(fx_worker(fixture)), "count 0: 1 or more");
    assert_status(schedq_peek(NULL, fx_see, &seen), SCHEDQ_INVALID);
    assert_status(schedq_peek_many(NULL, 1, fx_see, &seen), SCHEDQ_INVALID);
    assert_int_equal(seen.visits, 0);
}

/* Adds, updates, deletions, pops; then all that is left is shown, and popped. */
static void
the_line_is_what_pops_take(void **state)
{
    fixture_t *fixture = *state;
    uint64_t seed = seed_of("test_peek");
    schedq_pod_t pods[PODS];
    schedq_pod_spec_t specs[PODS];
    char name[32];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(seed_next(&seed) % 4));
        if ((seed_next(&seed) % 4) == 0) {
            spec.flags = SCHEDQ_POD_ORDER_KEY;
            spec.order_key = (int64_t)(seed_next(&seed) % 1000) * PODS + i; /* no two are equal */
        }
        specs[i] = spec;
        pods[i] = fx_add_spec(fixture, name, &spec).pod;
        fx_advance(fixture, (int64_t)(seed_next(&seed) % 3));
        unsigned other = (unsigned)(seed_next(&seed) % (i + 1));
        snprintf(name, sizeof name, "ns/%u", other);
        if ((seed_next(&seed) % 5) == 0)
            (void)schedq_delete(fx_worker(fixture), pods[other], NULL);
        else if ((seed_next(&seed) % 7) == 0)
            (void)schedq_hold(fx_worker(fixture), pods[other], NULL);
        else if ((seed_next(&seed) % 9) == 0)
            (void)schedq_release(fx_worker(fixture), pods[other], NULL);
        else if ((seed_next(&seed) % 5) == 0 && fx_place(fixture, name) == SCHEDQ_ACTIVE) {
            spec = specs[other];
            spec.priority = (int32_t)(seed_next(&seed) % 4);
            assert_ok(
                schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, NULL));
        } else if ((seed_next(&seed) % 9) == 0) {
            schedq_popped_t popped;
            line_t line = peek_many(fixture, 1);
            assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
            assert_true(popped.pod.bits == line.pods[0].bits);
        }
    }
    schedq_stats_t stats = fx_stats(fixture);
    line_t line = peek_many(fixture, PODS);
    assert_int_equal(line.count, stats.active);
    for (size_t count = 1; count < line.count; count += 1 + count / 2) {
        line_t part = peek_many(fixture, count);
        assert_int_equal(part.count, count);
        assert_memory_equal(part.pods, line.pods, count * sizeof *line.pods);
    }
    for (size_t i = 0; i < line.count; i++) {
        uint64_t lower, upper;
        assert_ok(schedq_position(fx_worker(fixture), line.pods[i], &lower, &upper));
        assert_int_equal(lower, i);
        assert_int_equal(upper, i);
    }
    for (size_t i = 0; i < line.count; i++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_true(popped.pod.bits == line.pods[i].bits);
    }
    fx_pop_nothing(fixture);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        fx_test(peek_shows_the_pod_that_the_next_pop_takes),
        fx_test(peek_shows_backoff_where_pops_take_it),
        fx_test(peek_leaves_backoff_out_where_pops_do),
        fx_test(a_visitor_ends_the_look),
        fx_test(objects_are_held_during_the_visit_and_given_back),
        fx_test(arguments_are_refused_in_words),
        fx_test(the_line_is_what_pops_take),
    };
    return fx_run_tests(argc, argv, tests);
}
