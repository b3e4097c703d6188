/*
 * Calls on a label while another thread adds pods that have it, or while others make such calls.
 */
#include <schedq/label.h>

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"
#include "squad.h"

enum { JOB = 77, ADDS = 300000 };

static atomic_bool over;

static void
add_in_vain(soldier_t *soldier)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.label = JOB;
    for (unsigned i = 0; i < ADDS; i++)
        mailbox_check(soldier->mailbox,
                      schedq_add(soldier->worker, "ns/a", 4, &spec, NULL) == SCHEDQ_EXISTS);
    atomic_store(&over, true);
}

static void
cancel_none(soldier_t *soldier)
{
    size_t count;
    schedq_status_t status = schedq_label_cancel(soldier->worker, JOB, NULL, 0, &count);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK && count == 0);
}

/* Counted may be the one whose add is under way. */
static void
hold_none(soldier_t *soldier)
{
    size_t held, counted;
    schedq_status_t hold = schedq_label_hold(soldier->worker, JOB, &held);
    schedq_status_t count = schedq_label_count(soldier->worker, JOB, &counted);
    mailbox_check(soldier->mailbox, hold == SCHEDQ_OK && held == 0);
    mailbox_check(soldier->mailbox, count == SCHEDQ_OK && counted <= 1);
}

static void
add_or_cancel(soldier_t *soldier)
{
    if (soldier->number == 0)
        add_in_vain(soldier);
    for (unsigned i = 0; !atomic_load(&over); i++) {
        cancel_none(soldier);
        if (i % 16 == 0)
            hold_none(soldier);
    }
}

static void
a_pod_whose_name_was_taken_is_not_reached(void **state)
{
    fixture_t *fixture = *state;
    atomic_store(&over, false);
    fx_use_real_clock(fixture); /* with one that repeats readings an add looks for the name first */
    fx_add(fixture, "ns/a", 0);
    squad_run(fixture, 2, seed_of("test_label_threads"), add_or_cancel, NULL);
    assert_int_equal(fx_stats(fixture).active, 1);
}

/* ---- the caller's allocator ---- */

static atomic_int allocating;
static atomic_bool crowded;

/* Long enough for another thread to come in, if it may. */
static void *
alloc_alone(void *ctx, size_t bytes, size_t align)
{
    const schedq_allocator_t memory = account_allocator(ctx);
    if (atomic_fetch_add(&allocating, 1) != 0)
        atomic_store(&crowded, true);
    sched_yield();
    void *block = memory.alloc(ctx, bytes, align);
    atomic_fetch_sub(&allocating, 1);
    return block;
}

static void
free_alone(void *ctx, void *memory, size_t bytes)
{
    if (atomic_fetch_add(&allocating, 1) != 0)
        atomic_store(&crowded, true);
    sched_yield();
    account_allocator(ctx).free(ctx, memory, bytes);
    atomic_fetch_sub(&allocating, 1);
}

static void
count_many(soldier_t *soldier)
{
    for (unsigned i = 0; i < 5000; i++) {
        size_t count = 0;
        schedq_status_t status = schedq_label_count(soldier->worker, JOB, &count);
        mailbox_check(soldier->mailbox, status == SCHEDQ_OK && count == 100);
    }
}

static void
the_mutex_engine_allocates_in_one_thread_at_a_time(void **state)
{
    fixture_t *fixture = *state;
    if (fx_engine() != SCHEDQ_ENGINE_MUTEX)
        skip();
    atomic_store(&crowded, false);
    fixture->config.allocator.alloc = alloc_alone;
    fixture->config.allocator.free = free_alone;
    for (unsigned i = 0; i < 100; i++) {
        schedq_pod_spec_t spec = fx_spec(0);
        char name[16];
        spec.label = JOB;
        (void)snprintf(name, sizeof name, "ns/%u", i);
        fx_add_spec(fixture, name, &spec);
    }
    squad_run(fixture, 3, seed_of("test_label_threads"), count_many, NULL);
    assert_false(atomic_load(&crowded));
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        fx_test(a_pod_whose_name_was_taken_is_not_reached),
        fx_test(the_mutex_engine_allocates_in_one_thread_at_a_time),
    };
    return fx_run_tests(argc, argv, tests);
}
