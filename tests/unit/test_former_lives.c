/*
 * Handles and tokens of pods that ended: whatever lives in their place since, they name nothing.
 * Before and after a trim.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

enum { MANY = 2000, ROUNDS = 5 };

typedef struct former {
    schedq_pod_t pod;
    schedq_token_t token; /* {0}: it was never popped */
} former_t;

typedef struct past {
    former_t lives[MANY * ROUNDS];
    size_t count;
} past_t;

static void
name_of(char name[32], unsigned i)
{
    snprintf(name, 32, "ns/%u", i);
}

static void
expect_gone_for_ever(fixture_t *fixture, const former_t *former)
{
    schedq_worker_t *worker = fx_worker(fixture);
    fx_seen_t seen;
    memset(&seen, 0, sizeof seen);
    assert_status(schedq_get(worker, former->pod, fx_see, &seen), SCHEDQ_NOT_FOUND);
    assert_int_equal(seen.visits, 0);
    assert_status(schedq_delete(worker, former->pod, NULL), SCHEDQ_NOT_FOUND);
    assert_ok(schedq_activate(worker, &former->pod, 1, NULL));
    assert_status(schedq_token_alive(worker, former->token), SCHEDQ_STALE);
    assert_status(schedq_done(worker, former->token), SCHEDQ_STALE);
}

/* One life of each name, and each way to end it. */
static void
live_and_end(fixture_t *fixture, past_t *past)
{
    char name[32];
    former_t *lives = past->lives + past->count;
    for (unsigned i = 0; i < MANY; i++) {
        name_of(name, i);
        lives[i] = (former_t){.pod = fx_add(fixture, name, (int32_t)(i % 3))};
    }
    for (unsigned i = 0; i < MANY; i += 4)
        assert_ok(schedq_delete(fx_worker(fixture), lives[i].pod, NULL));
    schedq_popped_t popped;
    while (schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_OK) {
        unsigned i = (unsigned)strtoul(popped.name + 3, NULL, 10);
        assert_true(lives[i].pod.bits == popped.pod.bits);
        lives[i].token = popped.token;
        if (i % 4 == 1)
            assert_ok(schedq_delete(fx_worker(fixture), popped.pod, NULL));
        assert_status(schedq_done(fx_worker(fixture), popped.token),
                      i % 4 == 1 ? SCHEDQ_GONE : SCHEDQ_OK);
    }
    past->count += MANY;
}

static int
compare_bits(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void
expect_all_different(const past_t *past)
{
    uint64_t *bits = malloc(past->count * sizeof *bits);
    assert_non_null(bits);
    for (size_t i = 0; i < past->count; i++)
        bits[i] = past->lives[i].pod.bits;
    qsort(bits, past->count, sizeof *bits, compare_bits);
    for (size_t i = 1; i < past->count; i++)
        assert_true(bits[i - 1] != bits[i]);
    free(bits);
}

static void
check_past(fixture_t *fixture, bool trim)
{
    static past_t past;
    char name[32];
    past.count = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        live_and_end(fixture, &past);
        if (trim)
            assert_ok(schedq_trim(fx_queue(fixture)));
        for (size_t i = 0; i < past.count; i += 7)
            expect_gone_for_ever(fixture, &past.lives[i]);
    }
    expect_all_different(&past);
    /* in the presence of others too, active and in flight, which it must not hit */
    for (unsigned i = 0; i < MANY; i++) {
        name_of(name, i);
        fx_add(fixture, name, 0);
    }
    schedq_popped_t popped;
    for (unsigned i = 0; i < MANY / 2; i++)
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
    for (size_t i = 0; i < past.count; i++)
        expect_gone_for_ever(fixture, &past.lives[i]);
    fx_assert_counts(fixture, MANY / 2, 0, 0, 0, 0, MANY / 2);
}

static void
former_handles_and_tokens_name_nothing(void **state)
{
    check_past(*state, false);
}

static void
former_handles_and_tokens_name_nothing_after_a_trim(void **state)
{
    check_past(*state, true);
}

static void
a_handle_lasts_through_moves_and_a_pop(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    for (int32_t i = 0; i < 20; i++) {
        schedq_pod_spec_t spec = fx_spec(i);
        spec.flags = SCHEDQ_POD_ORDER_KEY;
        spec.order_key = -i;
        assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
        assert_int_equal(fx_info(fixture, pod).priority, i);
    }
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_true(popped.pod.bits == pod.bits);
    assert_place(fx_info(fixture, pod).place, SCHEDQ_INFLIGHT);
    fx_done(fixture, &popped);
    const former_t former = {.pod = pod, .token = popped.token};
    expect_gone_for_ever(fixture, &former);
}

/* They differ as types; a caller who mixes them all the same hits nothing. */
static void
a_handle_is_no_token_and_a_token_no_handle(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_status(schedq_done(fx_worker(fixture), (schedq_token_t){pod.bits}), SCHEDQ_STALE);
    for (int32_t i = 0; i < 4; i++) {
        schedq_pod_spec_t spec = fx_spec(i);
        assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    }
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_true(popped.token.bits != pod.bits);
    assert_status(schedq_done(fx_worker(fixture), (schedq_token_t){pod.bits}), SCHEDQ_STALE);
    fx_seen_t seen;
    const schedq_pod_t mixed = {popped.token.bits};
    assert_status(schedq_get(fx_worker(fixture), mixed, fx_see, &seen), SCHEDQ_NOT_FOUND);
    assert_status(schedq_delete(fx_worker(fixture), mixed, NULL), SCHEDQ_NOT_FOUND);
    fx_done(fixture, &popped);
}

static void
trim_leaves_what_is_in_flight_usable(void **state)
{
    fixture_t *fixture = *state;
    static schedq_popped_t popped[MANY];
    char name[32];
    for (unsigned i = 0; i < MANY; i++) {
        name_of(name, i);
        fx_add(fixture, name, 0);
        popped[i] = fx_pop(fixture, name);
    }
    for (unsigned i = 0; i < MANY; i++) {
        if (i % 100 != 50)
            fx_done(fixture, &popped[i]);
    }
    assert_ok(schedq_trim(fx_queue(fixture)));
    for (unsigned i = 50; i < MANY; i += 100) {
        name_of(name, i);
        assert_string_equal(popped[i].name, name);
        assert_place(fx_place(fixture, name), SCHEDQ_INFLIGHT);
        assert_ok(schedq_token_alive(fx_worker(fixture), popped[i].token));
        fx_done(fixture, &popped[i]);
    }
    assert_ok(schedq_trim(fx_queue(fixture)));
    assert_ok(schedq_trim(fx_queue(fixture)));
    fx_add(fixture, "ns/after", 0);
    fx_pop(fixture, "ns/after");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(former_handles_and_tokens_name_nothing),
        fx_test(former_handles_and_tokens_name_nothing_after_a_trim),
        fx_test(a_handle_lasts_through_moves_and_a_pop),
        fx_test(a_handle_is_no_token_and_a_token_no_handle),
        fx_test(trim_leaves_what_is_in_flight_usable),
    };
    return fx_run_tests(argc, argv, tests);
}
