/* Workers that belong to threads: the same at each call, given back when the thread ends. */
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "mailbox.h"

static schedq_worker_t *
get(schedq_t *queue)
{
    schedq_worker_t *worker = NULL;
    char why[200];
    schedq_status_t status = schedq_worker_get(queue, &worker, why, sizeof why);
    if (status != SCHEDQ_OK)
        print_error("schedq_worker_get: %s, %s\n", schedq_status_name(status), why);
    assert_ok(status);
    assert_string_equal(why, "");
    assert_non_null(worker);
    return worker;
}

static schedq_t *
another_queue(const fixture_t *fixture)
{
    schedq_t *queue;
    assert_ok(schedq_create(&fixture->config, &queue, NULL, 0));
    return queue;
}

/* ---- one thread ---- */

static void
a_thread_has_one_worker_of_each_queue(void **state)
{
    fixture_t *fixture = *state;
    enum { QUEUES = 5 };
    schedq_t *queues[QUEUES];
    schedq_worker_t *workers[QUEUES];
    for (unsigned i = 0; i < QUEUES; i++) {
        queues[i] = another_queue(fixture);
        workers[i] = get(queues[i]);
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        schedq_stats_t stats = SCHEDQ_STATS_INIT;
        assert_ptr_equal(get(queues[i]), workers[i]);
        assert_ok(schedq_stats(queues[i], &stats));
        assert_int_equal(stats.workers, 1);
        schedq_pod_spec_t spec = fx_spec(0);
        schedq_popped_t popped;
        assert_ok(schedq_add(workers[i], "ns/a", 4, &spec, NULL));
        assert_ok(schedq_try_pop(workers[i], &popped));
        assert_ok(schedq_done(workers[i], popped.token));
    }
    for (unsigned i = 0; i < QUEUES; i++)
        assert_ok(schedq_destroy_with_pods(queues[(i + 2) % QUEUES], NULL, 0));
}

static void
registered_ones_are_beside_it(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *own = get(fx_queue(fixture));
    assert_true(fx_worker(fixture) != own);
    assert_ptr_equal(get(fx_queue(fixture)), own);
    assert_int_equal(fx_stats(fixture).workers, 2);
}

static void
its_thread_may_unregister_it(void **state)
{
    fixture_t *fixture = *state;
    for (int i = 0; i < 5; i++) {
        assert_ok(schedq_worker_unregister(get(fx_queue(fixture))));
        assert_int_equal(fx_stats(fixture).workers, 0);
    }
    get(fx_queue(fixture));
}

static void
bad_arguments_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker;
    char why[200];
    assert_status(schedq_worker_get(NULL, &worker, why, sizeof why), SCHEDQ_INVALID);
    assert_contains(why, "queue NULL");
    assert_status(schedq_worker_get(fx_queue(fixture), NULL, why, sizeof why), SCHEDQ_INVALID);
    assert_contains(why, "worker NULL");
    assert_int_equal(fx_stats(fixture).workers, 0);
}

static void
the_first_one_ends_setup(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t profile;
    assert_ok(schedq_profile_define(fx_queue(fixture), "before", &profile, NULL, 0));
    get(fx_queue(fixture));
    assert_status(schedq_profile_define(fx_queue(fixture), "behind", &profile, NULL, 0),
                  SCHEDQ_BUSY);
}

static int
get_in_visit(void *ctx, const schedq_pod_info_t *pod)
{
    fixture_t *fixture = ctx;
    schedq_worker_t *worker;
    (void)pod;
    if (schedq_worker_get(fixture->queue, &worker, fixture->why, sizeof fixture->why) !=
        SCHEDQ_BUSY)
        snprintf(fixture->why, sizeof fixture->why, "it was not refused");
    return 0;
}

static void
a_callback_gets_none(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_get(fx_worker(fixture), pod, get_in_visit, fixture));
    assert_contains(fixture->why, "a visitor");
}

/* ---- threads that end ---- */

typedef struct life {
    fixture_t *fixture;
    schedq_worker_t *worker;
    mailbox_t mailbox;
    sem_t ready, go;
    bool waits;
} life_t;

static void
life_begin(life_t *life, fixture_t *fixture, bool waits)
{
    memset(life, 0, sizeof *life);
    life->fixture = fixture;
    life->waits = waits;
    (void)fx_queue(fixture);
    mailbox_init(&life->mailbox);
    sem_init(&life->ready, 0, 0);
    sem_init(&life->go, 0, 0);
}

static void
life_end(life_t *life)
{
    mailbox_assert_empty(&life->mailbox);
    sem_destroy(&life->ready);
    sem_destroy(&life->go);
}

static void *
live(void *argument)
{
    life_t *life = argument;
    schedq_worker_t *again;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_popped_t popped;
    schedq_t *queue = life->fixture->queue;
    mailbox_t *mailbox = &life->mailbox;
    if (mailbox_check(mailbox, schedq_worker_get(queue, &life->worker, NULL, 0) == SCHEDQ_OK)) {
        mailbox_check(mailbox, schedq_add(life->worker, "ns/a", 4, &spec, NULL) == SCHEDQ_OK);
        mailbox_check(mailbox, schedq_try_pop(life->worker, &popped) == SCHEDQ_OK);
        mailbox_check(mailbox, schedq_done(life->worker, popped.token) == SCHEDQ_OK);
        mailbox_check(mailbox, schedq_worker_get(queue, &again, NULL, 0) == SCHEDQ_OK);
        mailbox_check(mailbox, again == life->worker);
    }
    sem_post(&life->ready);
    if (life->waits)
        sem_wait(&life->go);
    return NULL;
}

static void
it_goes_back_when_the_thread_ends(void **state)
{
    fixture_t *fixture = *state;
    life_t life;
    fixture->config.max_workers = 1;
    life_begin(&life, fixture, false);
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, live, &life), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(fx_stats(fixture).workers, 0);
    }
    life_end(&life);
}

static void
another_thread_cannot_unregister_it(void **state)
{
    fixture_t *fixture = *state;
    life_t life;
    pthread_t thread;
    life_begin(&life, fixture, true);
    assert_int_equal(pthread_create(&thread, NULL, live, &life), 0);
    sem_wait(&life.ready);
    assert_true(get(fx_queue(fixture)) != life.worker);
    assert_status(schedq_worker_unregister(life.worker), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(life.worker), "own");
    assert_int_equal(fx_stats(fixture).workers, 2);
    sem_post(&life.go);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(fx_stats(fixture).workers, 1);
    life_end(&life);
}

static void
full_names_the_cap(void **state)
{
    fixture_t *fixture = *state;
    life_t life;
    pthread_t thread;
    schedq_worker_t *worker = (schedq_worker_t *)1;
    fixture->config.max_workers = 1;
    life_begin(&life, fixture, true);
    assert_int_equal(pthread_create(&thread, NULL, live, &life), 0);
    sem_wait(&life.ready);
    assert_status(schedq_worker_get(fx_queue(fixture), &worker, fixture->why, sizeof fixture->why),
                  SCHEDQ_FULL);
    assert_null(worker);
    assert_contains(fixture->why, "max_workers");
    sem_post(&life.go);
    assert_int_equal(pthread_join(thread, NULL), 0);
    get(fx_queue(fixture));
    life_end(&life);
}

/* The queue ends first, with the workers of threads that live; another comes, perhaps there. */
static void
a_queue_may_end_before_its_threads(void **state)
{
    fixture_t *fixture = *state;
    life_t lives[4];
    pthread_t threads[4];
    for (unsigned i = 0; i < 4; i++) {
        life_begin(&lives[i], fixture, true);
        assert_int_equal(pthread_create(&threads[i], NULL, live, &lives[i]), 0);
        sem_wait(&lives[i].ready);
    }
    get(fx_queue(fixture));
    assert_int_equal(fx_stats(fixture).workers, 5);
    assert_ok(schedq_destroy_with_pods(fixture->queue, NULL, 0));
    fixture->queue = NULL;
    get(fx_queue(fixture));
    assert_int_equal(fx_stats(fixture).workers, 1);
    for (unsigned i = 0; i < 4; i++) {
        sem_post(&lives[i].go);
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        life_end(&lives[i]);
    }
    assert_int_equal(fx_stats(fixture).workers, 1);
}

static int
stay(void *ctx, const schedq_pod_info_t *pod)
{
    life_t *life = ctx;
    (void)pod;
    sem_post(&life->ready);
    sem_wait(&life->go);
    return 0;
}

static void *
stay_inside(void *argument)
{
    life_t *life = argument;
    if (mailbox_check(&life->mailbox,
                      schedq_worker_get(life->fixture->queue, &life->worker, NULL, 0) == SCHEDQ_OK))
        mailbox_check(&life->mailbox, schedq_snapshot(life->worker, stay, life) == SCHEDQ_OK);
    return NULL;
}

static void
destroy_refuses_while_a_call_is_inside_one(void **state)
{
    fixture_t *fixture = *state;
    life_t life;
    pthread_t thread;
    schedq_pod_spec_t spec = fx_spec(0);
    life_begin(&life, fixture, false);
    schedq_worker_t *own = get(fx_queue(fixture));
    assert_ok(schedq_add(own, "ns/a", 4, &spec, NULL));
    assert_int_equal(pthread_create(&thread, NULL, stay_inside, &life), 0);
    sem_wait(&life.ready);
    assert_status(schedq_destroy_with_pods(fixture->queue, NULL, 0), SCHEDQ_BUSY);
    assert_int_equal(fx_stats(fixture).workers, 2);
    assert_ptr_equal(get(fx_queue(fixture)), own);
    schedq_popped_t popped;
    assert_ok(schedq_try_pop(own, &popped));
    assert_ok(schedq_done(own, popped.token));
    sem_post(&life.go);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(fx_stats(fixture).workers, 1);
    life_end(&life);
}

static void
destroy_refuses_while_others_are_registered(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *own = get(fx_queue(fixture));
    schedq_popped_t popped;
    (void)fx_worker(fixture);
    assert_status(schedq_destroy_with_pods(fixture->queue, NULL, 0), SCHEDQ_BUSY);
    assert_int_equal(fx_stats(fixture).workers, 2);
    assert_ptr_equal(get(fx_queue(fixture)), own);
    assert_status(schedq_try_pop(own, &popped), SCHEDQ_EMPTY);
}

static void
an_adopted_one_is_no_threads_own_any_more(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *own = get(fx_queue(fixture));
    assert_ok(schedq_worker_adopt(fx_queue(fixture), own));
    assert_true(get(fx_queue(fixture)) != own);
    assert_int_equal(fx_stats(fixture).workers, 2);
    assert_status(schedq_destroy_with_pods(fixture->queue, NULL, 0), SCHEDQ_BUSY);
    assert_ok(schedq_worker_unregister(own));
}

/* ---- destructors ---- */

enum { KEYS = 3, ROUNDS = PTHREAD_DESTRUCTOR_ITERATIONS - 1 };

static struct {
    fixture_t *fixture;
    schedq_worker_t *kept;
    pthread_key_t keys[KEYS];
    mailbox_t mailbox;
    unsigned calls, ended, rounds[KEYS];
    bool first_in_destructor;
} late;

/* Uses the worker in every round but the last, from keys made before and after the library's. */
static void
use_late(void *value)
{
    unsigned key = (unsigned)((char *)value - (char *)late.keys) / sizeof late.keys[0];
    schedq_worker_t *worker;
    schedq_popped_t popped;
    char why[200];
    late.calls++;
    schedq_status_t status = schedq_worker_get(late.fixture->queue, &worker, why, sizeof why);
    if (status == SCHEDQ_OK) {
        mailbox_check(&late.mailbox, late.first_in_destructor || worker == late.kept);
        mailbox_check(&late.mailbox, schedq_try_pop(worker, &popped) == SCHEDQ_EMPTY);
    } else {
        mailbox_check(&late.mailbox, status == SCHEDQ_INVALID && strstr(why, "ending") != NULL);
        late.ended++;
    }
    /* Not in the last round: sanitizers have left the thread then. */
    if (++late.rounds[key] < ROUNDS)
        (void)pthread_setspecific(late.keys[key], value);
    else
        late.rounds[key] = 0;
}

static void *
live_with_destructors(void *unused)
{
    for (unsigned i = 0; i < KEYS; i++)
        (void)pthread_setspecific(late.keys[i], &late.keys[i]);
    if (!late.first_in_destructor)
        mailbox_check(&late.mailbox,
                      schedq_worker_get(late.fixture->queue, &late.kept, NULL, 0) == SCHEDQ_OK);
    return unused;
}

static void
begin_late(fixture_t *fixture, bool first_in_destructor)
{
    memset(&late, 0, sizeof late);
    late.fixture = fixture;
    late.first_in_destructor = first_in_destructor;
    mailbox_init(&late.mailbox);
    (void)fx_queue(fixture);
    assert_int_equal(pthread_key_create(&late.keys[0], use_late), 0);
    (void)get(fx_queue(fixture)); /* the library's own key, if it is not there yet */
    for (unsigned i = 1; i < KEYS; i++)
        assert_int_equal(pthread_key_create(&late.keys[i], use_late), 0);
}

static void
end_late(void)
{
    for (unsigned i = 0; i < KEYS; i++)
        pthread_key_delete(late.keys[i]);
    mailbox_assert_empty(&late.mailbox);
}

static void
destructors_may_use_it_until_the_last_round_but_one(void **state)
{
    fixture_t *fixture = *state;
    pthread_t thread;
    begin_late(fixture, false);
    assert_int_equal(pthread_create(&thread, NULL, live_with_destructors, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    end_late();
    assert_int_equal(late.calls, KEYS * ROUNDS);
    assert_true(late.ended <= KEYS);
    assert_int_equal(fx_stats(fixture).workers, 1);
}

/* ThreadSanitizer leaves a thread in the last round, and must not be called afterwards. */
#if defined(__SANITIZE_THREAD__)
#define LEFT_EARLY 1
#elif defined(__has_feature)
#define LEFT_EARLY __has_feature(thread_sanitizer)
#else
#define LEFT_EARLY 0
#endif

#if !LEFT_EARLY
/* Whatever is left registered then does not use up the queue's workers. */
static void
a_worker_that_a_late_destructor_made_is_found_again(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_workers = 3;
    begin_late(fixture, true);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, live_with_destructors, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    end_late();
    assert_int_equal(late.calls, 20 * KEYS * ROUNDS);
    assert_true(fx_stats(fixture).workers <= 3);
    (void)fx_worker(fixture);
}

#endif

/* ---- many at once ---- */

static void *
come_and_go(void *argument)
{
    return live(argument);
}

/* Some threads end while the queue is being destroyed: it says BUSY, or all goes well. */
static void
threads_end_while_the_queue_does(void **state)
{
    fixture_t *fixture = *state;
    enum { THREADS = 4, TIMES = 60 };
    unsigned refused = 0;
    for (unsigned round = 0; round < TIMES; round++) {
        life_t life;
        pthread_t threads[THREADS];
        life_begin(&life, fixture, true);
        for (unsigned i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &life), 0);
            sem_wait(&life.ready); /* no thread is inside a call from here on */
        }
        for (unsigned i = 0; i < THREADS; i++)
            sem_post(&life.go);
        while (schedq_destroy_with_pods(fixture->queue, NULL, 0) != SCHEDQ_OK)
            refused++;
        fixture->queue = NULL;
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        life_end(&life);
    }
    print_message("destroy was refused %u times\n", refused);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_thread_has_one_worker_of_each_queue),
        fx_test(registered_ones_are_beside_it),
        fx_test(its_thread_may_unregister_it),
        fx_test(bad_arguments_are_refused),
        fx_test(the_first_one_ends_setup),
        fx_test(a_callback_gets_none),
        fx_test(it_goes_back_when_the_thread_ends),
        fx_test(another_thread_cannot_unregister_it),
        fx_test(full_names_the_cap),
        fx_test(a_queue_may_end_before_its_threads),
        fx_test(destroy_refuses_while_a_call_is_inside_one),
        fx_test(destroy_refuses_while_others_are_registered),
        fx_test(an_adopted_one_is_no_threads_own_any_more),
        fx_test(destructors_may_use_it_until_the_last_round_but_one),
#if !LEFT_EARLY
        fx_test(a_worker_that_a_late_destructor_made_is_found_again),
#endif
        fx_test(threads_end_while_the_queue_does),
    };
    return fx_run_tests(argc, argv, tests);
}
