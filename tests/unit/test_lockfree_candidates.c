/* schedq_candidates over a long chain of segments: a walk goes on where it was. */
#include <stdio.h>

#include "host.h"
#include "lockfree/queue.h"

enum { PODS = 6 * CANDIDATES_AHEAD, PIECE = 64 };

static int
setup(void **state)
{
    fx_setup_host(state);
    fixture_t *fixture = *state;
    fixture->config.engine = SCHEDQ_ENGINE_LOCKFREE;
    return 0;
}

/* The lane that holds them all. */
static struct lane *
only_lane(fixture_t *fixture)
{
    struct queue *queue = queue_of_base(fx_queue(fixture));
    struct lots_walk walk;
    lots_walk_begin(&walk, &queue->waiting.lots, LOTS_ALL, 0);
    struct lot *lot = lots_next(&walk);
    assert_non_null(lot);
    struct lane *lane = bank_first_lane(&lot->bank, 0);
    assert_non_null(lane);
    return lane;
}

static unsigned
take_some(fixture_t *fixture, schedq_query_t *query, unsigned pieces)
{
    schedq_candidate_t out[PIECE];
    unsigned all = 0;
    size_t count;
    while (pieces-- > 0 &&
           schedq_candidates(fx_worker(fixture), query, out, PIECE, &count) == SCHEDQ_OK)
        all += (unsigned)count;
    return all;
}

/* If the walk looked for its place from the front on, it would miss what is behind it. */
static void
a_walk_goes_on_at_its_bookmark(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    char name[16];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        hx_park(fixture, name, i, fit->bit);
    }
    struct lane *lane = only_lane(fixture);
    schedq_query_t query = hx_query(fit->bit, 0);
    unsigned met = take_some(fixture, &query, 2 * CANDIDATES_AHEAD / PIECE);
    struct segment *first = ptr_load(&lane->first);
    uint64_t number = first->number;
    first->number = UINT64_MAX; /* it counts as behind all others */
    met += take_some(fixture, &query, PODS);
    first->number = number;
    assert_int_equal(met, PODS);
}

/* What is before the walk leaves; it goes on all the same. */
static void
a_walk_whose_bookmark_was_taken_away_meets_all_pods_that_stay(void **state)
{
    fixture_t *fixture = *state;
    static schedq_pod_t pods[PODS];
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    char name[16];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        pods[i] = hx_park(fixture, name, i, fit->bit);
    }
    schedq_query_t query = hx_query(fit->bit, 0);
    unsigned met = take_some(fixture, &query, 3 * CANDIDATES_AHEAD / PIECE);
    for (unsigned i = 0; i < met; i++)
        assert_ok(schedq_delete(fx_worker(fixture), pods[i], NULL));
    assert_ok(schedq_trim(fx_queue(fixture)));
    met += take_some(fixture, &query, PODS);
    assert_int_equal(met, PODS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_walk_goes_on_at_its_bookmark, setup, fx_teardown),
        cmocka_unit_test_setup_teardown(
            a_walk_whose_bookmark_was_taken_away_meets_all_pods_that_stay, setup, fx_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
