/*
 * What peek_many shows while another thread adds and deletes pods in the midst of a band, so that
 * its sorted runs are merged while they are read.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"
#include "squad.h"

/* SHOWN: no more are read than are shown, so a pod that is read twice takes the room of another. */
enum { HIGH = 1000, LOW = 20, PEEKS = 20000, SHOWN = 64, OWN = 64 };

static atomic_bool over;

static schedq_pod_t
add_at(soldier_t *soldier, unsigned number, int64_t key)
{
    char name[32];
    schedq_result_t result;
    schedq_pod_spec_t spec = fx_spec(1);
    spec.flags = SCHEDQ_POD_ORDER_KEY;
    spec.order_key = key;
    snprintf(name, sizeof name, "own/%u", number);
    mailbox_check(soldier->mailbox,
                  schedq_add(soldier->worker, name, strlen(name), &spec, &result) == SCHEDQ_OK);
    return result.pod;
}

/* Each goes before most of those that are there. */
static void
add_and_delete(soldier_t *soldier)
{
    schedq_pod_t own[OWN] = {{0}};
    for (unsigned i = 0; !atomic_load(&over); i++) {
        schedq_pod_t *pod = &own[i % OWN];
        if (pod->bits != 0)
            mailbox_check(soldier->mailbox,
                          schedq_delete(soldier->worker, *pod, NULL) == SCHEDQ_OK);
        *pod = add_at(soldier, i % OWN, (int64_t)(seed_next(&soldier->seed) % 1000000));
    }
}

static int
count_low(void *ctx, const schedq_pod_info_t *pod)
{
    *(unsigned *)ctx += pod->priority == 0;
    return 1;
}

static void
peek_or_add(soldier_t *soldier)
{
    if (soldier->number > 0) {
        add_and_delete(soldier);
        return;
    }
    for (unsigned i = 0; i < PEEKS; i++) {
        unsigned low = 0;
        schedq_status_t status = schedq_peek_many(soldier->worker, SHOWN, count_low, &low);
        mailbox_check(soldier->mailbox, status == SCHEDQ_OK && low == 0);
    }
    atomic_store(&over, true);
}

static void
no_pod_is_shown_before_all_of_a_higher_priority(void **state)
{
    fixture_t *fixture = *state;
    char name[32];
    atomic_store(&over, false);
    for (unsigned i = 0; i < HIGH + LOW; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_add(fixture, name, i < HIGH);
    }
    squad_run(fixture, 2, seed_of("test_peek_threads"), peek_or_add, NULL);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        fx_test(no_pod_is_shown_before_all_of_a_higher_priority),
    };
    return fx_run_tests(argc, argv, tests);
}
