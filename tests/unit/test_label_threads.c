/* Calls on a label while another thread adds pods that have it. */
#include <schedq/label.h>

#include <stdatomic.h>
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

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        fx_test(a_pod_whose_name_was_taken_is_not_reached),
    };
    return fx_run_tests(argc, argv, tests);
}
