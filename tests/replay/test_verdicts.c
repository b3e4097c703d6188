/* Remembered answers are those of a fresh search, whatever happens in between. */
#include "files.h"

#include "verdicts.h"

#include <stdlib.h>
#include <string.h>

enum { PODS = 60, NODES = 5, STEPS = 20000 };

/* A deterministic stream; the test prints its seed when it fails. */
static uint64_t
draw(uint64_t *random, uint64_t below)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*random >> 33) % below;
}

static void
build(workload_t *workload, uint64_t *random)
{
    workload_init(workload);
    for (int i = 0; i < PODS; i++) {
        uint16_t gpus = (uint16_t)draw(random, 3);
        workload_add_pod(workload,
                         &(workload_pod_t){
                             .cpu_milli = (int64_t)draw(random, 3) * 1000,
                             .memory_mib = (int64_t)draw(random, 2),
                             .gpus = gpus,
                             .gpu_milli = (uint16_t)(gpus == 0 ? 0 : 400 + 300 * draw(random, 3)),
                         });
    }
    for (int i = 0; i < NODES; i++) {
        workload_add_node(
            workload, &(workload_node_t){.cpu_milli = 6000, .memory_mib = 4, .gpus = (uint16_t)i});
    }
    workload_finish(workload);
}

static void
a_remembered_answer_is_the_one_that_a_search_gives(void **state)
{
    const uint64_t seed = 20231;
    uint64_t random = seed;
    uint32_t numbers[NODES] = {0, 1, 2, 3, 4};
    uint32_t where[PODS];
    uint64_t gpus[PODS];
    workload_t workload;
    (void)state;
    build(&workload, &random);
    assert_true(workload.shape_count > 5 && workload.shape_count < PODS);
    cluster_t *cluster = cluster_new(&workload, numbers, NODES);
    verdicts_t *verdicts = verdicts_new(&workload);
    memset(where, 0xff, sizeof where);
    for (unsigned step = 0; step < STEPS; step++) {
        size_t pod = draw(&random, PODS);
        unsigned remembered_lacks = 0;
        unsigned lacks = 0;
        if (step % 4000 == 0) {
            cluster_join(cluster, step / 4000);
        }
        uint32_t remembered =
            verdicts_find(verdicts, cluster, &workload.pods[pod], &remembered_lacks);
        uint32_t found = cluster_find(cluster, &workload.pods[pod], &lacks);
        if (remembered != found || remembered_lacks != lacks) {
            fail_msg("seed %llu, step %u: remembered node %u lacks %u, found node %u lacks %u",
                     (unsigned long long)seed, step, remembered, remembered_lacks, found, lacks);
        }
        if (where[pod] != CLUSTER_NOWHERE) {
            cluster_release(cluster, where[pod], &workload.pods[pod], gpus[pod]);
            where[pod] = CLUSTER_NOWHERE;
        } else if (found != CLUSTER_NOWHERE && draw(&random, 2) == 0) {
            gpus[pod] = cluster_reserve(cluster, found, &workload.pods[pod]);
            where[pod] = found;
        }
    }
    verdicts_free(verdicts);
    cluster_free(cluster);
    workload_clear(&workload);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remembered_answer_is_the_one_that_a_search_gives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
