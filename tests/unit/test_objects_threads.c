/*
 * COUNTED objects while several threads add, update, pop, visit and delete the same pods: every
 * reference is given back once.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"
#include "squad.h"

enum { NAMES = 12, STEPS = 6000, THREADS = 4, OBJECTS_PER_THREAD = LEDGER_OBJECTS / THREADS };

/*
 * A release may wait while another thread looks at the object, and be made by the next worker that
 * the queue gives out in its worker's place: here all of them are given out once. Then each active
 * pod holds one reference, and nothing else does.
 */
static void
expect_one_reference_per_pod(fixture_t *fixture)
{
    enum { MOST = 64 };
    schedq_worker_t *workers[MOST];
    for (unsigned i = 0; i < MOST; i++)
        assert_ok(schedq_worker_register(fx_queue(fixture), &workers[i], NULL, 0));
    for (unsigned i = 0; i < MOST; i++)
        assert_ok(schedq_worker_unregister(workers[i]));
    assert_int_equal(atomic_load(&fixture->ledger.faults), 0);
    assert_int_equal(ledger_sum(&fixture->ledger), (int)fx_stats(fixture).active);
}

/* Whoever holds a reference finds the count above zero, whatever the others do. */
static int
check_pinned(void *ctx, const schedq_pod_info_t *pod)
{
    soldier_t *soldier = ctx;
    ledger_t *ledger = soldier->ctx;
    mailbox_check(soldier->mailbox, ledger_count(ledger, pod->object) > 0);
    return 1;
}

static schedq_pod_spec_t
random_spec(soldier_t *soldier, char name[16])
{
    snprintf(name, 16, "ns/%u", (unsigned)(seed_next(&soldier->seed) % NAMES));
    schedq_pod_spec_t spec = fx_spec((int32_t)(seed_next(&soldier->seed) % 3));
    spec.object =
        soldier->number * OBJECTS_PER_THREAD + seed_next(&soldier->seed) % OBJECTS_PER_THREAD;
    spec.flags = SCHEDQ_POD_ORDER_KEY;
    spec.order_key = (int64_t)(seed_next(&soldier->seed) % 4);
    return spec;
}

static void
pop_and_end(soldier_t *soldier)
{
    ledger_t *ledger = soldier->ctx;
    schedq_popped_t popped;
    schedq_status_t status = schedq_try_pop(soldier->worker, &popped);
    if (status != SCHEDQ_OK) {
        mailbox_check(soldier->mailbox, status == SCHEDQ_EMPTY);
        return;
    }
    mailbox_check(soldier->mailbox, ledger_count(ledger, popped.object) > 0);
    if (seed_next(&soldier->seed) % 4 == 0)
        (void)schedq_delete(soldier->worker, popped.pod, NULL);
    mailbox_check(soldier->mailbox, ledger_count(ledger, popped.object) > 0);
    status = schedq_done(soldier->worker, popped.token);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_GONE);
}

static void
use_objects(soldier_t *soldier)
{
    char name[16];
    for (unsigned step = 0; step < STEPS; step++) {
        schedq_pod_spec_t spec = random_spec(soldier, name);
        schedq_result_t result;
        schedq_status_t status;
        switch (seed_next(&soldier->seed) % 8) {
        case 0:
        case 1:
            status = schedq_add(soldier->worker, name, strlen(name), &spec, NULL);
            mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_EXISTS);
            break;
        case 2:
        case 3:
        case 4:
            spec.flags |= SCHEDQ_POD_ADD;
            status = schedq_update(soldier->worker, name, strlen(name), &spec, 0, NULL, 0, NULL);
            mailbox_check(soldier->mailbox, status == SCHEDQ_OK);
            break;
        case 5:
            if (schedq_find(soldier->worker, name, strlen(name), &result) == SCHEDQ_OK)
                (void)schedq_get(soldier->worker, result.pod, check_pinned, soldier);
            break;
        case 6:
            status = schedq_delete_name(soldier->worker, name, strlen(name), NULL);
            mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
            break;
        default:
            pop_and_end(soldier);
        }
    }
}

static void
race(fixture_t *fixture)
{
    fx_count_objects(fixture);
    squad_run(fixture, THREADS, seed_of("test_objects_threads"), use_objects, &fixture->ledger);
    assert_int_equal(atomic_load(&fixture->ledger.faults), 0);
}

static void
what_is_left_when_all_are_gone_is_one_reference_per_pod(void **state)
{
    fixture_t *fixture = *state;
    race(fixture);
    expect_one_reference_per_pod(fixture);
    schedq_popped_t popped;
    while (schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_OK)
        fx_done(fixture, &popped);
    assert_int_equal(ledger_sum(&fixture->ledger), 0);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

/* The teardown counts what destroy gave back. */
static void
destroy_gives_back_what_the_threads_left(void **state)
{
    fixture_t *fixture = *state;
    race(fixture);
    fx_add(fixture, "ns/more", 9);
    fx_pop(fixture, "ns/more");
}

/*
 * One thread updates one pod all the time, the others take it and put it back: the popped object is
 * one that was described.
 */
static void
update_or_take(soldier_t *soldier)
{
    ledger_t *ledger = soldier->ctx;
    schedq_pod_spec_t spec = fx_spec(0);
    for (unsigned step = 0; step < STEPS; step++) {
        spec.object = soldier->number * OBJECTS_PER_THREAD + step % OBJECTS_PER_THREAD;
        spec.flags = soldier->number == 0 ? SCHEDQ_POD_ADD : 0;
        if (soldier->number == 0) {
            mailbox_check(soldier->mailbox, schedq_update(soldier->worker, "ns/a", 4, &spec, 0,
                                                          NULL, 0, NULL) == SCHEDQ_OK);
            continue;
        }
        schedq_popped_t popped;
        if (schedq_try_pop(soldier->worker, &popped) == SCHEDQ_OK) {
            mailbox_check(soldier->mailbox, ledger_count(ledger, popped.object) > 0);
            mailbox_check(soldier->mailbox,
                          popped.name_length == 4 && memcmp(popped.name, "ns/a", 5) == 0);
            mailbox_check(soldier->mailbox,
                          schedq_done(soldier->worker, popped.token) == SCHEDQ_OK);
        }
        schedq_status_t status = schedq_add(soldier->worker, "ns/a", 4, &spec, NULL);
        mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_EXISTS);
    }
}

static void
an_update_that_races_with_pops_loses_no_reference(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    squad_run(fixture, 3, 0, update_or_take, &fixture->ledger);
    expect_one_reference_per_pod(fixture);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(what_is_left_when_all_are_gone_is_one_reference_per_pod),
        fx_test(destroy_gives_back_what_the_threads_left),
        fx_test(an_update_that_races_with_pops_loses_no_reference),
    };
    return fx_run_tests(argc, argv, tests);
}
