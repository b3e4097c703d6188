/*
 * A CLOCK_MONOTONIC that is counted in timer interrupts: this program's clock stands still until it
 * is moved.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fixture.h"

static _Atomic int64_t now_ns = FX_START;

/* The C library's, for all that is linked here. */
int
clock_gettime(clockid_t clock, struct timespec *now)
{
    int64_t ns = atomic_load(&now_ns);
    (void)clock;
    *now = (struct timespec){.tv_sec = ns / SEC(1), .tv_nsec = ns % SEC(1)};
    return 0;
}

int
clock_getres(clockid_t clock, struct timespec *step)
{
    (void)clock;
    *step = (struct timespec){.tv_nsec = 4000000};
    return 0;
}

enum { ADDS = 300 };

/*
 * Three adds by one worker, one by the other, and so on; each has returned before the next begins.
 */
static void
adds_that_do_not_overlap_are_popped_in_their_order(void **state)
{
    fixture_t *fixture = *state;
    char name[16];
    schedq_worker_t *workers[2];
    fx_use_real_clock(fixture);
    workers[0] = fx_worker(fixture);
    assert_ok(schedq_worker_register(fx_queue(fixture), &workers[1], NULL, 0));
    for (unsigned i = 0; i < ADDS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_pod_spec_t spec = fx_spec(0);
        assert_ok(schedq_add(workers[i % 4 / 3], name, strlen(name), &spec, NULL));
        if (i % 50 == 49)
            atomic_fetch_add(&now_ns, MS(4));
    }
    for (unsigned i = 0; i < ADDS; i++) {
        schedq_popped_t popped;
        snprintf(name, sizeof name, "ns/%u", i);
        assert_ok(schedq_try_pop(workers[i % 2], &popped));
        assert_string_equal(popped.name, name);
        assert_ok(schedq_done(workers[i % 2], popped.token));
    }
    assert_ok(schedq_worker_unregister(workers[1]));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(adds_that_do_not_overlap_are_popped_in_their_order),
    };
    return fx_run_tests(argc, argv, tests);
}
