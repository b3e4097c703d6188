/*
 * Nodes are refused by columns of numbers, several at a time: every node counts, wherever it lies
 * in a word or a group, and with the greatest quantities there are. What comes out is compared with
 * what each node's own numbers say.
 */
#include "snapshot.h"

#include <stdio.h>
#include <string.h>

#define NODES_MAX 200

enum { RESOURCES = 3 }; /* cpu, memory, an extended one */

static const int64_t amounts[] = {SCHEDQ_QUANTITY_MAX, SCHEDQ_QUANTITY_MAX - 1, 1, 0};

#define AMOUNTS (sizeof amounts / sizeof amounts[0])

struct column_world {
    snapshot_t *snapshot;
    uint32_t extended;
    uint32_t count;
    int64_t has[NODES_MAX][RESOURCES];
    uint8_t statuses[NODES_MAX];
    bool is_removed[NODES_MAX];
};

static schedq_amounts_t
amounts_of(const int64_t *values, schedq_amount_t *extended, uint32_t resource)
{
    *extended = (schedq_amount_t){.resource = resource, .amount = values[2]};
    return (schedq_amounts_t){.cpu_milli = values[0],
                              .memory_bytes = values[1],
                              .extended = extended,
                              .extended_count = 1};
}

/*
 * Of eight nodes in a row some have less than others, and of eight such groups some have no node
 * with the most.
 */
static int64_t
amount_on(uint32_t node, uint32_t resource)
{
    bool group_is_poor = (node / 8 + resource) % 3 == 0;

    if (group_is_poor) {
        return amounts[1 + (node + resource) % (AMOUNTS - 1)];
    }
    return (node + resource) % 5 != 0 ? SCHEDQ_QUANTITY_MAX
                                      : amounts[(node / 5 + resource) % AMOUNTS];
}

/* A pod on each node holds all that there can be, also where the node has less. */
static void
add_nodes(struct column_world *world)
{
    static const int64_t most[RESOURCES] = {SCHEDQ_QUANTITY_MAX, SCHEDQ_QUANTITY_MAX,
                                            SCHEDQ_QUANTITY_MAX};
    schedq_amount_t extended;
    char name[40];

    for (uint32_t i = 0; i < world->count; i++) {
        for (uint32_t r = 0; r < RESOURCES; r++) {
            world->has[i][r] = amount_on(i, r);
        }
        (void)snprintf(name, sizeof name, "n%u", i);
        const schedq_node_spec_t node = {.struct_size = sizeof(schedq_node_spec_t),
                                         .name = name,
                                         .allocatable =
                                             amounts_of(world->has[i], &extended, world->extended),
                                         .pods = SCHEDQ_QUANTITY_MAX};
        assert_ok(schedq_cluster_add_node(world->snapshot->cluster, &node, NULL));
        (void)snprintf(name, sizeof name, "ns/p%u", i);
        const schedq_running_spec_t pod = {.struct_size = sizeof(schedq_running_spec_t),
                                           .name = name,
                                           .node = i,
                                           .requests =
                                               amounts_of(most, &extended, world->extended)};
        assert_ok(schedq_cluster_add_pod(world->snapshot->cluster, &pod, NULL));
    }
}

static bool
is_candidate(const struct column_world *world, uint32_t node, const int64_t *asked)
{
    bool enough = !world->is_removed[node] && world->statuses[node] == SCHEDQ_NODE_UNSCHEDULABLE;

    for (uint32_t r = 0; r < RESOURCES; r++) {
        enough = enough && (asked[r] == 0 || world->has[node][r] >= asked[r]);
    }
    return enough;
}

/* All of them are wanted, so candidates are told in the order of their numbers. */
static void
compare(struct column_world *world, const int64_t *asked)
{
    snapshot_t *snapshot = world->snapshot;
    schedq_amount_t extended;
    uint32_t found = 0;

    snapshot->config.candidates_percentage = 100;
    snapshot->config.no_victims = SCHEDQ_NO_VICTIMS_TAKE; /* who asks for nothing fits */
    snapshot->preemptor.requests = amounts_of(asked, &extended, world->extended);
    snapshot->preemptor.statuses = world->statuses;
    snapshot->preemptor.status_count = schedq_cluster_nodes_end(snapshot->cluster);
    snapshot_decide(snapshot);
    for (uint32_t i = 0; i < world->count; i++) {
        if (is_candidate(world, i, asked)) {
            assert_true(found < snapshot->decision.candidate_count);
            assert_int_equal(snapshot->decision.candidates[found++].node, i);
        }
    }
    assert_int_equal(snapshot->decision.candidate_count, found);
}

static void
compare_all(struct column_world *world)
{
    for (size_t a = 0; a < AMOUNTS * AMOUNTS * AMOUNTS; a++) {
        const int64_t asked[] = {amounts[a % AMOUNTS], amounts[a / AMOUNTS % AMOUNTS],
                                 amounts[a / AMOUNTS / AMOUNTS]};

        compare(world, asked);
    }
}

static void
every_node_is_judged_by_its_own_numbers(void **state)
{
    static const uint32_t counts[] = {1,  2,   7,   8,   9,   63,  64,  65,       71,
                                      72, 127, 128, 129, 191, 192, 193, NODES_MAX};
    static struct column_world world;

    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        memset(&world, 0, sizeof world);
        world.snapshot = *state;
        world.count = counts[c];
        memset(world.statuses, SCHEDQ_NODE_UNSCHEDULABLE, sizeof world.statuses);
        schedq_cluster_clear(world.snapshot->cluster);
        assert_ok(schedq_cluster_resource(world.snapshot->cluster, "gpu", &world.extended));
        add_nodes(&world);
        compare_all(&world);
        for (uint32_t i = 0; i < world.count; i += 3) {
            world.statuses[i] = SCHEDQ_NODE_UNRESOLVABLE;
        }
        compare_all(&world);
        for (uint32_t i = 1; i < world.count; i += 4) {
            world.is_removed[i] = true;
            assert_ok(schedq_cluster_remove_node(world.snapshot->cluster, i));
        }
        compare_all(&world);
    }
}

/*
 * Nominated pods take the greatest quantity from the room of nodes whose pods hold it too, and that
 * have none.
 */
static void
sums_of_the_greatest_quantities_stay_in_range(void **state)
{
    snapshot_t *snapshot = *state;
    const schedq_amounts_t most = {.cpu_milli = SCHEDQ_QUANTITY_MAX,
                                   .memory_bytes = SCHEDQ_QUANTITY_MAX};
    uint32_t node = snapshot_node(snapshot, "n1", 0);
    const schedq_running_spec_t kept = {.struct_size = sizeof(schedq_running_spec_t),
                                        .name = "ns/a",
                                        .node = node,
                                        .priority = 200,
                                        .requests = most};
    const schedq_nominated_spec_t nominated = {.struct_size = sizeof(schedq_nominated_spec_t),
                                               .name = "ns/b",
                                               .node = node,
                                               .priority = 200,
                                               .requests = most,
                                               .expires_ns = SCHEDQ_NO_DEADLINE};

    assert_ok(schedq_cluster_add_pod(snapshot->cluster, &kept, NULL));
    (void)snapshot_pod(snapshot, "ns/c", node, 1, 0);
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, NULL));
    snapshot->preemptor.requests = most;
    snapshot->config.min_run_ns = 1; /* columns do not know whom that spares */
    snapshot->preemptor.now_ns = INT64_MAX;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_UNSCHEDULABLE);
    snapshot->preemptor.requests = (schedq_amounts_t){0};
    snapshot->config.no_victims = SCHEDQ_NO_VICTIMS_TAKE;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_SUCCESS);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        snapshot_test(every_node_is_judged_by_its_own_numbers),
        snapshot_test(sums_of_the_greatest_quantities_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
