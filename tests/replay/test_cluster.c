/* The simulated cluster: where a pod fits, and what it takes there. */
#include "files.h"

#include "cluster.h"
#include "workload.h"

#include <string.h>

#define NODES_MAX 8

/* A cluster of a few nodes, all joined. */
typedef struct world {
    workload_t workload;
    workload_node_t nodes[NODES_MAX];
    cluster_t *cluster;
} world_t;

static void
build(world_t *world, const workload_node_t *nodes, size_t count)
{
    uint32_t numbers[NODES_MAX] = {0};

    memset(world, 0, sizeof *world);
    memcpy(world->nodes, nodes, count * sizeof *nodes);
    world->workload.nodes = world->nodes;
    world->workload.node_count = count;
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = i;
    }
    world->cluster = cluster_new(&world->workload, numbers, count);
    for (uint32_t i = 0; i < count; i++) {
        cluster_join(world->cluster, i);
    }
}

static uint32_t
find(world_t *world, const workload_pod_t *pod)
{
    unsigned lacks = 0;

    return cluster_find(world->cluster, pod, &lacks);
}

static unsigned
lacks(world_t *world, const workload_pod_t *pod)
{
    unsigned refused = 0;

    assert_int_equal(cluster_find(world->cluster, pod, &refused), CLUSTER_NOWHERE);
    return refused;
}

static void
the_node_left_with_the_least_gpu_then_cpu_then_number_is_taken(void **state)
{
    world_t world;
    (void)state;
    build(&world,
          (workload_node_t[]){
              {.cpu_milli = 4000, .memory_mib = 10, .gpus = 2},
              {.cpu_milli = 9000, .memory_mib = 10, .gpus = 1},
              {.cpu_milli = 8000, .memory_mib = 10, .gpus = 1},
              {.cpu_milli = 8000, .memory_mib = 10, .gpus = 1},
              {.cpu_milli = 2000, .memory_mib = 10, .gpus = 0},
          },
          5);
    assert_int_equal(
        find(&world, &(workload_pod_t){.cpu_milli = 1000, .gpus = 1, .gpu_milli = 500}), 2);
    assert_int_equal(
        find(&world, &(workload_pod_t){.cpu_milli = 1000, .gpus = 2, .gpu_milli = 1000}), 0);
    assert_int_equal(find(&world, &(workload_pod_t){.cpu_milli = 1000}), 4);
    assert_int_equal(find(&world, &(workload_pod_t){.cpu_milli = 8500}), 1);
    cluster_free(world.cluster);
}

static void
small_pods_share_the_fullest_gpu_with_room(void **state)
{
    world_t world;
    (void)state;
    build(&world, (workload_node_t[]){{.cpu_milli = 4000, .memory_mib = 10, .gpus = 2}}, 1);
    assert_int_equal(
        cluster_reserve(world.cluster, 0, &(workload_pod_t){.gpus = 1, .gpu_milli = 300}), 1);
    assert_int_equal(
        cluster_reserve(world.cluster, 0, &(workload_pod_t){.gpus = 1, .gpu_milli = 800}), 2);
    assert_int_equal(
        cluster_reserve(world.cluster, 0, &(workload_pod_t){.gpus = 1, .gpu_milli = 200}), 2);
    assert_int_equal(
        cluster_reserve(world.cluster, 0, &(workload_pod_t){.gpus = 1, .gpu_milli = 200}), 1);
    assert_true(cluster_fits(world.cluster, 0, &(workload_pod_t){.gpus = 1, .gpu_milli = 500}));
    assert_false(cluster_fits(world.cluster, 0, &(workload_pod_t){.gpus = 1, .gpu_milli = 501}));
    cluster_free(world.cluster);
}

static void
a_pod_takes_different_gpus(void **state)
{
    world_t world;
    (void)state;
    build(&world, (workload_node_t[]){{.cpu_milli = 4000, .memory_mib = 10, .gpus = 3}}, 1);
    assert_int_equal(
        cluster_reserve(world.cluster, 0, &(workload_pod_t){.gpus = 1, .gpu_milli = 1}), 1);
    assert_int_equal(
        cluster_reserve(world.cluster, 0, &(workload_pod_t){.gpus = 2, .gpu_milli = 1000}), 6);
    assert_false(cluster_fits(world.cluster, 0, &(workload_pod_t){.gpus = 2, .gpu_milli = 400}));
    assert_true(cluster_fits(world.cluster, 0, &(workload_pod_t){.gpus = 1, .gpu_milli = 999}));
    cluster_free(world.cluster);
}

static void
the_filters_that_refused_are_told(void **state)
{
    world_t world;
    (void)state;
    build(&world,
          (workload_node_t[]){
              {.cpu_milli = 4000, .memory_mib = 10, .gpus = 1, .model = 1},
              {.cpu_milli = 1000, .memory_mib = 99, .gpus = 0},
          },
          2);
    assert_int_equal(lacks(&world, &(workload_pod_t){.cpu_milli = 5000}), CLUSTER_LACKS_RESOURCES);
    assert_int_equal(lacks(&world, &(workload_pod_t){.memory_mib = 100}), CLUSTER_LACKS_RESOURCES);
    assert_int_equal(lacks(&world, &(workload_pod_t){.gpus = 2, .gpu_milli = 1}),
                     CLUSTER_LACKS_GPUS);
    assert_int_equal(lacks(&world, &(workload_pod_t){.memory_mib = 11, .gpus = 1, .gpu_milli = 1}),
                     CLUSTER_LACKS_RESOURCES | CLUSTER_LACKS_GPUS);
    assert_int_equal(lacks(&world, &(workload_pod_t){.gpus = 1, .gpu_milli = 1, .models = 2}),
                     CLUSTER_LACKS_GPUS);
    assert_int_equal(find(&world, &(workload_pod_t){.gpus = 1, .gpu_milli = 1, .models = 3}), 0);
    cluster_free(world.cluster);
}

static void
a_node_takes_nothing_before_it_joins(void **state)
{
    world_t world;
    uint32_t number = 0;
    (void)state;
    build(&world, (workload_node_t[]){{.cpu_milli = 4000, .memory_mib = 10}}, 1);
    cluster_free(world.cluster);
    world.cluster = cluster_new(&world.workload, &number, 1);
    assert_int_equal(lacks(&world, &(workload_pod_t){.cpu_milli = 1}), CLUSTER_LACKS_RESOURCES);
    assert_false(cluster_fits(world.cluster, 0, &(workload_pod_t){.cpu_milli = 1}));
    assert_true(cluster_ever_fits(world.cluster, &(workload_pod_t){.cpu_milli = 1}));
    assert_false(cluster_ever_fits(world.cluster, &(workload_pod_t){.cpu_milli = 4001}));
    cluster_join(world.cluster, 0);
    assert_int_equal(find(&world, &(workload_pod_t){.cpu_milli = 1}), 0);
    cluster_free(world.cluster);
}

static void
release_gives_back_what_reserve_took(void **state)
{
    world_t world;
    workload_pod_t pod = {.cpu_milli = 4000, .memory_mib = 10, .gpus = 2, .gpu_milli = 600};
    (void)state;
    build(&world, (workload_node_t[]){{.cpu_milli = 4000, .memory_mib = 10, .gpus = 2}}, 1);
    assert_true(cluster_is_empty(world.cluster));
    uint64_t gpus = cluster_reserve(world.cluster, 0, &pod);
    assert_false(cluster_is_empty(world.cluster));
    assert_int_equal(find(&world, &pod), CLUSTER_NOWHERE);
    cluster_release(world.cluster, 0, &pod, gpus);
    assert_true(cluster_is_empty(world.cluster));
    assert_int_equal(find(&world, &pod), 0);
    cluster_free(world.cluster);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_node_left_with_the_least_gpu_then_cpu_then_number_is_taken),
        cmocka_unit_test(small_pods_share_the_fullest_gpu_with_room),
        cmocka_unit_test(a_pod_takes_different_gpus),
        cmocka_unit_test(the_filters_that_refused_are_told),
        cmocka_unit_test(a_node_takes_nothing_before_it_joins),
        cmocka_unit_test(release_gives_back_what_reserve_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
