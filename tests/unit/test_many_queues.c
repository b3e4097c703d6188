/*
 * Queues with the build's own allocator: how many there can be, and what goes back to the kernel.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixture.h"

/* jemalloc has 4,095 arenas: more queues than that. */
enum { QUEUES = 2000, PODS = 50000, EMPTY_MAX = 64 << 10, MIB = 1 << 20 };

/* Bytes of this process that are in memory. */
static int64_t
resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* A queue with the allocator of the build, and its worker. */
static schedq_t *
make_queue(schedq_worker_t **worker)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_t *queue;
    config.engine = fx_engine();
    assert_ok(schedq_create(&config, &queue, NULL, 0));
    if (worker != NULL)
        assert_ok(schedq_worker_register(queue, worker, NULL, 0));
    return queue;
}

static void
thousands_of_small_queues_live_at_once(void **state)
{
    (void)state;
    static schedq_t *queues[QUEUES];
    static schedq_worker_t *workers[QUEUES];
    for (unsigned round = 0; round < 2; round++) {
        int64_t before = resident();
        for (unsigned i = 0; i < QUEUES; i++)
            queues[i] = make_queue(&workers[i]);
#if defined(SCHEDQ_ALLOCATOR_JEMALLOC)
        assert_true(resident() - before <= (int64_t)QUEUES * EMPTY_MAX);
#else
        (void)before; /* sanitizers add to each block */
#endif
        for (unsigned i = 0; i < QUEUES; i++) {
            assert_ok(schedq_worker_unregister(workers[i]));
            assert_ok(schedq_destroy_with_pods(queues[i], NULL, 0));
        }
    }
}

static void
an_empty_queue_counts_at_most_64_kib(void **state)
{
    (void)state;
    schedq_t *queue = make_queue(NULL);
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    assert_ok(schedq_stats(queue, &stats));
    assert_true(stats.bytes_entries + stats.bytes_names + stats.bytes_index + stats.bytes_queues +
                    stats.bytes_other <=
                EMPTY_MAX);
    assert_ok(schedq_destroy_with_pods(queue, NULL, 0));
}

static void *
refuse(void *ctx, size_t bytes, size_t align)
{
    (void)ctx, (void)bytes, (void)align;
    return NULL;
}

static void
take_back(void *ctx, void *memory, size_t bytes)
{
    (void)ctx, (void)memory, (void)bytes;
}

static void
a_queue_without_memory_says_whose_it_was(void **state)
{
    (void)state;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_t *queue;
    char why[128];
    config.engine = fx_engine();
    config.allocator = (schedq_allocator_t){.alloc = refuse, .free = take_back};
    assert_status(schedq_create(&config, &queue, why, sizeof why), SCHEDQ_NOMEM);
    assert_null(queue);
    assert_string_equal(why, "no memory for a queue: config.allocator.alloc returned NULL");
}

/* The C library's heap, and what sanitizers put in its place, go back when they like. */
#if defined(SCHEDQ_ALLOCATOR_JEMALLOC)

static void
add_pods(schedq_worker_t *worker)
{
    char name[32];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/pod%u", i);
        schedq_pod_spec_t spec = {.struct_size = sizeof(schedq_pod_spec_t), .object = 1 + i};
        assert_ok(schedq_add(worker, name, strlen(name), &spec, NULL));
    }
}

static void
pop_pods(schedq_worker_t *worker)
{
    schedq_popped_t popped;
    for (unsigned i = 0; i < PODS; i++) {
        assert_ok(schedq_try_pop(worker, &popped));
        assert_ok(schedq_done(worker, popped.token));
    }
}

static void
destroy_gives_memory_back_to_the_kernel(void **state)
{
    (void)state;
    int64_t before = resident();
    schedq_worker_t *worker;
    schedq_t *queue = make_queue(&worker);
    add_pods(worker);
    int64_t full = resident();
    assert_true(full - before > 8 * MIB);
    assert_ok(schedq_worker_unregister(worker));
    assert_ok(schedq_destroy_with_pods(queue, NULL, 0));
    assert_true(resident() - before < (full - before) / 8);
}

static void
trim_gives_memory_back_to_the_kernel(void **state)
{
    (void)state;
    schedq_worker_t *worker;
    schedq_t *queue = make_queue(&worker);
    int64_t before = resident();
    add_pods(worker);
    int64_t full = resident();
    pop_pods(worker);
    assert_ok(schedq_worker_unregister(worker));
    /* The second one meets what had to wait for a grace period. */
    assert_ok(schedq_trim(queue));
    assert_ok(schedq_trim(queue));
    assert_true(resident() - before < (full - before) / 2);
    assert_ok(schedq_destroy_with_pods(queue, NULL, 0));
}

#endif

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thousands_of_small_queues_live_at_once),
        cmocka_unit_test(an_empty_queue_counts_at_most_64_kib),
        cmocka_unit_test(a_queue_without_memory_says_whose_it_was),
#if defined(SCHEDQ_ALLOCATOR_JEMALLOC)
        cmocka_unit_test(destroy_gives_memory_back_to_the_kernel),
        cmocka_unit_test(trim_gives_memory_back_to_the_kernel),
#endif
    };
    return fx_run_tests(argc, argv, tests);
}
