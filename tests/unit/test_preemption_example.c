/*
 * examples/preempt.c with a crowd: its loop, as it stands there, evicts a bounded number of pods.
 *
 * The example is the document of how a host places pods beside nominations: a host that forgets
 * them evicts the same pods again and again, because they queue before the preemptor comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

int example_main(void);
static int be_silent(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int
be_silent(const char *format, ...)
{
    return format != NULL;
}

#define main example_main
#define printf be_silent
#include "../../examples/preempt.c"
#undef printf
#undef main

#define ORDINARY 40u
#define IMPORTANT 20u
#define CROWD (ORDINARY + IMPORTANT)
#define ROUNDS_MAX 2000u

static struct pod crowd[CROWD];
static char names[CROWD][32];

static uint64_t
evictions_so_far(uint64_t added)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    assert_int_equal(schedq_stats(queue, &stats), SCHEDQ_OK);
    return stats.adds - added;
}

/* Ordinary pods fill the node; each important one, more so than those before it, finds no room. */
static unsigned
add_the_crowd(void)
{
    unsigned rounds = 0;

    for (unsigned i = 0; i < CROWD; i++) {
        (void)snprintf(names[i], sizeof names[i], "ns/p%02u", i);
        crowd[i].name = names[i];
        crowd[i].priority = i < ORDINARY ? (int32_t)(i % 4) : (int32_t)(1000 + i);
        crowd[i].cpu_milli = 1000 + 500 * (i % 5);
        add(&crowd[i]);
        rounds += round_of_scheduling();
    }
    return rounds;
}

static void
close_all(void)
{
    require(schedq_close(queue), "schedq_close", "");
    require(schedq_worker_unregister(worker), "schedq_worker_unregister", "");
    require(schedq_destroy_with_pods(queue, NULL, 0), "schedq_destroy", "");
    require(schedq_evictor_destroy(evictor), "schedq_evictor_destroy", "");
    schedq_preemption_destroy(workspace);
    schedq_cluster_destroy(cluster);
}

static void
a_preemptor_costs_few_evictions(void **state)
{
    (void)state;
    open_preemption();
    open_queue();
    unsigned rounds = add_the_crowd();

    while (rounds < ROUNDS_MAX && round_of_scheduling()) {
        rounds++;
    }
    uint64_t evictions = evictions_so_far(CROWD);

    print_message("%u preemptors: %u rounds with evictions, %llu evictions\n", IMPORTANT, rounds,
                  (unsigned long long)evictions);
    assert_true(evictions > 0);
    /* No preemptor needs more than the node holds: four pods of 1000. */
    assert_true(evictions <= IMPORTANT * (NODE_CPU_MILLI / 1000));
    assert_true(rounds < ROUNDS_MAX);
    close_all();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_preemptor_costs_few_evictions)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
