/* Going on with the worker of a thread that died inside a call: it dies in the allocator, where a test can stop it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

enum { SMALL = 4, LARGE = 900, NAME_BYTES = 16 };

/* The queue's allocator, the fixture's below it. */
typedef struct mortal {
    fixture_t *fixture;
    schedq_allocator_t below;
    schedq_worker_t *worker;
    atomic_bool dies; /* whoever allocates next */
} mortal_t;

static void *
mortal_alloc(void *ctx, size_t bytes, size_t align)
{
    mortal_t *mortal = ctx;
    if (atomic_load(&mortal->dies))
        pthread_exit(mortal);
    return mortal->below.alloc(mortal->below.ctx, bytes, align);
}

static void
mortal_free(void *ctx, void *memory, size_t bytes)
{
    mortal_t *mortal = ctx;
    mortal->below.free(mortal->below.ctx, memory, bytes);
}

static int
setup(void **state)
{
    static mortal_t mortal; /* the queue frees by it after the test */
    void *fixture = NULL;
    fx_setup_lockfree(&fixture);
    mortal.fixture = fixture;
    mortal.below = mortal.fixture->config.allocator;
    atomic_init(&mortal.dies, false);
    mortal.fixture->config.allocator = (schedq_allocator_t){.ctx = &mortal, .alloc = mortal_alloc, .free = mortal_free};
    assert_ok(schedq_worker_register(fx_queue(mortal.fixture), &mortal.worker, NULL, 0));
    *state = &mortal;
    return 0;
}

static int
teardown(void **state)
{
    mortal_t *mortal = *state;
    fx_free(mortal->fixture);
    return 0;
}

/* Pods <count>-0, <count>-1 ... in one call. */
static schedq_status_t
add_batch(schedq_worker_t *worker, uint32_t count)
{
    char names[LARGE * NAME_BYTES];
    schedq_pod_spec_t specs[LARGE];
    uint32_t used = 0;
    memset(specs, 0, sizeof specs);
    for (uint32_t i = 0; i < count; i++) {
        specs[i].name_offset = used;
        specs[i].name_length = (uint32_t)snprintf(names + used, NAME_BYTES, "ns/%u-%u", count, i);
        used += specs[i].name_length;
    }
    return schedq_add_many(worker, names, specs, count, NULL, NULL, NULL);
}

static void *
die_in_a_batch(void *arg)
{
    mortal_t *mortal = arg;
    atomic_store(&mortal->dies, true);
    (void)add_batch(mortal->worker, LARGE);
    return NULL;
}

static void
let_a_thread_die(mortal_t *mortal)
{
    pthread_t thread;
    void *died = NULL;
    assert_int_equal(pthread_create(&thread, NULL, die_in_a_batch, mortal), 0);
    assert_int_equal(pthread_join(thread, &died), 0);
    atomic_store(&mortal->dies, false);
    assert_ptr_equal(died, mortal);
}

static void
a_worker_whose_thread_died_is_busy_until_it_is_adopted(void **state)
{
    mortal_t *mortal = *state;
    fixture_t *fixture = mortal->fixture;
    let_a_thread_die(mortal);
    assert_status(add_batch(mortal->worker, SMALL), SCHEDQ_BUSY);
    assert_ok(schedq_worker_adopt(fx_queue(fixture), mortal->worker));
    assert_ok(add_batch(mortal->worker, SMALL));
    assert_ok(schedq_worker_unregister(mortal->worker));
    fx_assert_counts(fixture, SMALL, 0, 0, 0, 0, 0);
}

/* The room that batches are sorted in is kept by the worker; a larger batch asks for more. */
static void
an_adopted_worker_adds_batches_though_its_thread_died_when_one_needed_room(void **state)
{
    mortal_t *mortal = *state;
    fixture_t *fixture = mortal->fixture;
    assert_ok(add_batch(mortal->worker, SMALL));
    let_a_thread_die(mortal);
    assert_ok(schedq_worker_adopt(fx_queue(fixture), mortal->worker));
    assert_ok(add_batch(mortal->worker, SMALL - 1));
    assert_ok(add_batch(mortal->worker, LARGE));
    assert_ok(schedq_worker_unregister(mortal->worker));
    fx_assert_counts(fixture, SMALL + SMALL - 1 + LARGE, 0, 0, 0, 0, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_whose_thread_died_is_busy_until_it_is_adopted, setup, teardown),
        cmocka_unit_test_setup_teardown(an_adopted_worker_adds_batches_though_its_thread_died_when_one_needed_room,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
