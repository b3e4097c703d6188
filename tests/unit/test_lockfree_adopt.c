/*
 * Going on with the worker of a thread that died inside a call: it dies in a callback, where a test
 * can stop it.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <schedq/label.h>

#include "fixture.h"
#include "lockfree/queue.h"

enum { SMALL = 4, LARGE = 900, NAME_BYTES = 16, JOB = 77 };

/* The queue's allocator, the fixture's below it. */
typedef struct mortal {
    fixture_t *fixture;
    schedq_allocator_t below;
    schedq_worker_t *worker;
    atomic_bool dies;      /* whoever allocates next */
    atomic_uint spared;    /* but for so many allocations */
    atomic_bool dies_held; /* whoever retains next */
} mortal_t;

static void *
mortal_alloc(void *ctx, size_t bytes, size_t align)
{
    mortal_t *mortal = ctx;
    if (atomic_load(&mortal->dies) && atomic_fetch_sub(&mortal->spared, 1) == 0)
        pthread_exit(mortal);
    return mortal->below.alloc(mortal->below.ctx, bytes, align);
}

static void
mortal_free(void *ctx, void *memory, size_t bytes)
{
    mortal_t *mortal = ctx;
    mortal->below.free(mortal->below.ctx, memory, bytes);
}

static void
mortal_retain(void *ctx, uint64_t object)
{
    mortal_t *mortal = ctx;
    if (atomic_load(&mortal->dies_held))
        pthread_exit(mortal);
    ledger_retain(&mortal->fixture->ledger, object);
}

static void
mortal_release(void *ctx, uint64_t object)
{
    mortal_t *mortal = ctx;
    ledger_release(&mortal->fixture->ledger, object);
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
    atomic_init(&mortal.spared, 0);
    atomic_init(&mortal.dies_held, false);
    mortal.fixture->config.allocator =
        (schedq_allocator_t){.ctx = &mortal, .alloc = mortal_alloc, .free = mortal_free};
    fx_count_objects(fixture);
    mortal.fixture->config.object_ctx = &mortal;
    mortal.fixture->config.retain = mortal_retain;
    mortal.fixture->config.release = mortal_release;
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
    schedq_add_item_t items[LARGE];
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length = (uint32_t)snprintf(names + used, NAME_BYTES, "ns/%u-%u", count, i);
        items[i] = fx_item(used, length, 0);
        used += length;
    }
    return schedq_add_many(worker, names, sizeof names, items, count, NULL, NULL, NULL);
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

static void *
die_in_an_add(void *arg)
{
    mortal_t *mortal = arg;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 7;
    atomic_store(&mortal->dies_held, true);
    (void)schedq_add(mortal->worker, "ns/a", 4, &spec, NULL);
    return NULL;
}

/* The teardown finds what is released too often, or never. */
static void
what_a_dead_thread_did_not_retain_is_not_released(void **state)
{
    mortal_t *mortal = *state;
    pthread_t thread;
    void *died = NULL;
    assert_int_equal(pthread_create(&thread, NULL, die_in_an_add, mortal), 0);
    assert_int_equal(pthread_join(thread, &died), 0);
    assert_ptr_equal(died, mortal);
    atomic_store(&mortal->dies_held, false);
    assert_ok(schedq_worker_adopt(fx_queue(mortal->fixture), mortal->worker));
    fx_pop_nothing(mortal->fixture);
    assert_ok(schedq_worker_unregister(mortal->worker));
}

static void
add_labelled(schedq_worker_t *worker, const char *name, int32_t priority)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    spec.label = JOB;
    assert_ok(schedq_add(worker, name, strlen(name), &spec, NULL));
}

/* Behind what the label takes it allocates its lane in the band: the pod is not in the index. */
static void *
die_in_a_labelled_add(void *arg)
{
    mortal_t *mortal = arg;
    atomic_store(&mortal->spared, 3);
    atomic_store(&mortal->dies, true);
    add_labelled(mortal->worker, "ns/a", 0);
    return NULL;
}

/* Those that have become active, in the index or not. */
static unsigned
count_active_records(struct queue *queue)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < slab_end(&queue->entries.records); i++) {
        const struct entry *entry = entry_at(&queue->entries, i);
        count += entry != NULL && state_place(entry_state(entry)) == PLACE_ACTIVE;
    }
    return count;
}

static void
label_calls_do_not_reach_a_pod_whose_adder_died_before_it_existed(void **state)
{
    mortal_t *mortal = *state;
    fixture_t *fixture = mortal->fixture;
    schedq_worker_t *other = fx_worker(fixture);
    pthread_t thread;
    void *died = NULL;
    size_t count;
    add_labelled(other, "ns/there", 0);
    add_labelled(mortal->worker, "ns/also there", 1);
    assert_int_equal(pthread_create(&thread, NULL, die_in_a_labelled_add, mortal), 0);
    assert_int_equal(pthread_join(thread, &died), 0);
    atomic_store(&mortal->dies, false);
    assert_ptr_equal(died, mortal);
    assert_ok(schedq_worker_adopt(fx_queue(fixture), mortal->worker));
    assert_status(schedq_find(other, "ns/a", 4, NULL), SCHEDQ_NOT_FOUND);
    assert_int_equal(count_active_records(queue_of_base(fx_queue(fixture))), 3);
    assert_ok(schedq_label_count(other, JOB, &count));
    assert_int_equal(count, 2);
    assert_ok(schedq_label_hold(other, JOB, &count));
    assert_int_equal(count, 2);
    assert_ok(schedq_label_cancel(other, JOB, NULL, 0, &count));
    assert_int_equal(count, 2);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    assert_ok(schedq_worker_unregister(mortal->worker));
}

/* Between its claim and its note of what it holds; then the pod gets another object. */
static void
what_a_dead_holder_did_not_note_is_not_released_as_something_else(void **state)
{
    mortal_t *mortal = *state;
    fixture_t *fixture = mortal->fixture;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_popped_t popped;
    spec.object = 7;
    assert_ok(schedq_add(mortal->worker, "ns/a", 4, &spec, NULL));
    assert_ok(schedq_try_pop(mortal->worker, &popped));
    u64_store(&entry_at(&queue_of_base(fx_queue(fixture))->entries, ref_record(popped.token.bits))
                   ->flight,
              0);
    spec.object = 8;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    assert_ok(schedq_worker_unregister(mortal->worker));
    assert_ok(schedq_worker_unregister(fixture->worker));
    fixture->worker = NULL;
    assert_ok(schedq_destroy_with_pods(fixture->queue, NULL, 0));
    fixture->queue = NULL;
    assert_int_equal(atomic_load(&fixture->ledger.faults), 0);
    assert_int_equal(ledger_count(&fixture->ledger, 8), 0);
    assert_int_equal(ledger_count(&fixture->ledger, 7), 1);
    ledger_release(&fixture->ledger, 7); /* the dead holder's, by the test */
}

/* A free object that stands in the dead thread's cache may have another owner already. */
static void
an_adopted_worker_has_nothing_of_what_a_dead_thread_held_free(void **state)
{
    mortal_t *mortal = *state;
    fixture_t *fixture = mortal->fixture;
    struct worker *worker = (struct worker *)mortal->worker;
    struct queue *queue = queue_of_base(fx_queue(fixture));
    assert_ok(add_batch(mortal->worker, SMALL));
    worker->spare_run = run_take(&queue->runs, 1);
    let_a_thread_die(mortal);
    assert_true(worker->records.count != 0);
    assert_ok(schedq_worker_adopt(fx_queue(fixture), mortal->worker));
    assert_int_equal(worker->records.count + worker->records.spare, 0);
    assert_int_equal(worker->descriptions.count + worker->descriptions.spare, 0);
    assert_null(worker->spare_run);
    assert_ok(schedq_worker_unregister(mortal->worker));
}

static int the_end;

static void
end_thread(int signal)
{
    (void)signal;
    pthread_exit(&the_end);
}

static void *
wait_for_ever(void *arg)
{
    mortal_t *mortal = arg;
    schedq_popped_t popped;
    (void)schedq_pop(mortal->worker, &popped);
    return NULL;
}

/* Else each add would wake nobody by a system call, and many deaths would fill the count. */
static void
a_thread_that_died_in_its_sleep_waits_for_no_pod_any_more(void **state)
{
    mortal_t *mortal = *state;
    fixture_t *fixture = mortal->fixture;
    struct queue *queue = queue_of_base(fx_queue(fixture));
    struct sigaction ends = {.sa_handler = end_thread}, before;
    assert_int_equal(sigaction(SIGUSR1, &ends, &before), 0);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        void *died = NULL;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, mortal), 0);
        while (inside_callback(&mortal->worker->inside) != CALLBACK_SLEEP)
            sched_yield();
        assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
        assert_int_equal(pthread_join(thread, &died), 0);
        assert_ptr_equal(died, &the_end);
        assert_int_equal(sleepers_waiting(&queue->sleepers), 1);
        assert_ok(schedq_worker_adopt(fx_queue(fixture), mortal->worker));
        assert_int_equal(sleepers_waiting(&queue->sleepers), 0);
    }
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_ok(add_batch(mortal->worker, SMALL));
    assert_int_equal(sleepers_wakes(&queue->sleepers), 0);
    assert_ok(schedq_worker_unregister(mortal->worker));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_whose_thread_died_is_busy_until_it_is_adopted,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_adopted_worker_adds_batches_though_its_thread_died_when_one_needed_room, setup,
            teardown),
        cmocka_unit_test_setup_teardown(what_a_dead_thread_did_not_retain_is_not_released, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            what_a_dead_holder_did_not_note_is_not_released_as_something_else, setup, teardown),
        cmocka_unit_test_setup_teardown(
            label_calls_do_not_reach_a_pod_whose_adder_died_before_it_existed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_adopted_worker_has_nothing_of_what_a_dead_thread_held_free, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_died_in_its_sleep_waits_for_no_pod_any_more,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
