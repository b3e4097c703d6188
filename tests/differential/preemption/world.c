/*
 * Random changes, each to both sides. Small amounts and few values, so that ties and exact fits are
 * common.
 */
#include "world.h"

#include <schedq/schedq.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------ */

void
world_refused(const struct world *world, const char *call, schedq_status_t status)
{
    fprintf(stderr, "schedq-preemption-fuzz: %s returned %s: %s%s\n", call,
            schedq_status_name(status), schedq_cluster_error(world->cluster),
            schedq_preemption_error(world->preemption));
    exit(1);
}

static void
must(const struct world *world, const char *call, schedq_status_t status)
{
    if (status != SCHEDQ_OK) {
        world_refused(world, call, status);
    }
}

static void *
take_memory(void *ctx, size_t bytes, size_t align)
{
    size_t least = align < sizeof(void *) ? sizeof(void *) : align;

    (void)ctx;
    return aligned_alloc(least, (bytes + least - 1) / least * least);
}

static void
give_memory(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(memory);
}

void
world_make(struct world *world)
{
    const schedq_allocator_t allocator = {.alloc = take_memory, .free = give_memory};

    memset(world, 0, sizeof *world);
    must(world, "schedq_cluster_create",
         schedq_cluster_create(&allocator, &world->cluster, NULL, 0));
    must(world, "schedq_preemption_create",
         schedq_preemption_create(&allocator, &world->preemption, NULL, 0));
    must(world, "schedq_cluster_resource",
         schedq_cluster_resource(world->cluster, "example.com/gpu", &world->extended[0]));

    /* The second extended resource appears when a node is there. */
    const schedq_node_spec_t early = {.struct_size = sizeof(schedq_node_spec_t), .name = "early"};

    must(world, "schedq_cluster_add_node", schedq_cluster_add_node(world->cluster, &early, NULL));
    must(world, "schedq_cluster_resource",
         schedq_cluster_resource(world->cluster, "example.com/disk", &world->extended[1]));
}

void
world_free(struct world *world)
{
    schedq_preemption_destroy(world->preemption);
    schedq_cluster_destroy(world->cluster);
}

/* ---- draws ----------------------------------------------------------------------------------- */

int32_t
world_priority(const struct world *world, chance_t *chance)
{
    static const int32_t extremes[] = {INT32_MIN, INT32_MIN + 1, -1,       0,
                                       1,         INT32_MAX - 1, INT32_MAX};

    return world->extremes ? CHANCE_OF(chance, extremes)
                           : (int32_t)chance_below(chance, (uint32_t)world->priorities) * 10 - 20;
}

void
world_amounts(chance_t *chance, int64_t *amounts, bool node)
{
    uint32_t scale = node ? 3 : 1;

    for (int r = 0; r < RESOURCES; r++) {
        amounts[r] = (int64_t)chance_below(chance, 4) * 100 * scale;
    }
    amounts[SCHEDQ_RESOURCE_PODS] = node ? chance_below(chance, 12) : 1;
    for (int r = 3; r < RESOURCES; r++) {
        amounts[r] = chance_one_in(chance, 3) ? chance_below(chance, 3) * scale : 0;
    }
}

schedq_amounts_t
world_public_amounts(const struct world *world, const int64_t *amounts, schedq_amount_t *extended)
{
    schedq_amounts_t made = {
        .cpu_milli = amounts[SCHEDQ_RESOURCE_CPU],
        .memory_bytes = amounts[SCHEDQ_RESOURCE_MEMORY],
        .extended = extended,
    };

    for (int i = 1; i >= 0; i--) {
        if (amounts[3 + i] > 0) {
            extended[made.extended_count++] =
                (schedq_amount_t){.resource = world->extended[i], .amount = amounts[3 + i]};
        }
    }
    return made;
}

/* A number that is used, or NONE. */
static int
some_node(const struct world *world, chance_t *chance)
{
    for (int tries = 0; tries < 8 && world->ref.nodes_end > 0; tries++) {
        int node = (int)chance_below(chance, (uint32_t)world->ref.nodes_end);

        if (world->ref.nodes[node].used) {
            return node;
        }
    }
    return NONE;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void
settle_ends(struct world *world)
{
    struct ref_cluster *ref = &world->ref;

    ref->nodes_end = NODES_MAX;
    while (ref->nodes_end > 0 && !ref->nodes[ref->nodes_end - 1].used) {
        ref->nodes_end--;
    }
    ref->pods_end = PODS_MAX;
    while (ref->pods_end > 0 && !ref->pods[ref->pods_end - 1].used) {
        ref->pods_end--;
    }
}

static void
draw_node(chance_t *chance, struct ref_node *node)
{
    *node = (struct ref_node){
        .used = true,
        .tainted = chance_one_in(chance, 8),
        .broken = chance_one_in(chance, 12),
        .unresolvable = chance_one_in(chance, 6),
    };
    world_amounts(chance, node->allocatable, true);
}

static schedq_node_spec_t
node_spec(const struct world *world, const struct ref_node *node, const char *name,
          schedq_amount_t *extended)
{
    return (schedq_node_spec_t){
        .struct_size = sizeof(schedq_node_spec_t),
        .name = name,
        .allocatable = world_public_amounts(world, node->allocatable, extended),
        .pods = node->allocatable[SCHEDQ_RESOURCE_PODS],
    };
}

static void
add_node(struct world *world, chance_t *chance)
{
    schedq_amount_t extended[2];
    char name[16];
    uint32_t number;
    int free_number = 0;

    while (free_number < world->nodes_max && world->ref.nodes[free_number].used) {
        free_number++;
    }
    if (free_number >= world->nodes_max) {
        return;
    }
    (void)snprintf(name, sizeof name, "n%d", free_number);
    draw_node(chance, &world->ref.nodes[free_number]);

    const schedq_node_spec_t spec =
        node_spec(world, &world->ref.nodes[free_number], name, extended);

    must(world, "schedq_cluster_add_node", schedq_cluster_add_node(world->cluster, &spec, &number));
    if (number != (uint32_t)free_number) {
        fprintf(stderr, "schedq-preemption-fuzz: a new node got number %u, expected %d\n", number,
                free_number);
        exit(1);
    }
    settle_ends(world);
}

static void
update_node(struct world *world, chance_t *chance)
{
    schedq_amount_t extended[2];
    int node = some_node(world, chance);

    if (node == NONE) {
        return;
    }
    draw_node(chance, &world->ref.nodes[node]);

    const schedq_node_spec_t spec = node_spec(world, &world->ref.nodes[node], NULL, extended);

    must(world, "schedq_cluster_update_node",
         schedq_cluster_update_node(world->cluster, (uint32_t)node, &spec));
}

static void
remove_node(struct world *world, chance_t *chance)
{
    int node = some_node(world, chance);

    if (node == NONE) {
        return;
    }
    must(world, "schedq_cluster_remove_node",
         schedq_cluster_remove_node(world->cluster, (uint32_t)node));
    world->ref.nodes[node].used = false;
    for (int i = 0; i < PODS_MAX; i++) {
        world->ref.pods[i].used = world->ref.pods[i].used && world->ref.pods[i].node != node;
    }
    for (int i = 0; i < NOMINATED_MAX; i++) {
        world->ref.nominated[i].used =
            world->ref.nominated[i].used && world->ref.nominated[i].node != node;
    }
    settle_ends(world);
}

/* ---- pods ------------------------------------------------------------------------------------ */

static void
draw_pod(const struct world *world, chance_t *chance, struct ref_pod *pod, int node)
{
    pod->used = true;
    pod->node = node;
    pod->app = chance_one_in(chance, 4) ? 0 : 1 + (int)chance_below(chance, 2);
    pod->tier = (int)chance_below(chance, 3);
    pod->priority = world_priority(world, chance);
    pod->start_ns =
        chance_one_in(chance, 5) ? SCHEDQ_NO_START : (int64_t)chance_below(chance, 6) * 10;
    pod->workload = chance_below(chance, WORKLOADS + 1);
    pod->terminating = chance_one_in(chance, 8);
    pod->is_protected = chance_one_in(chance, 10);
    pod->condition = chance_one_in(chance, 3);
    pod->by_scheduler = chance_one_in(chance, 2);
    world_amounts(chance, pod->requests, false);
}

static void
with_pod_spec(struct world *world, int number, bool is_new)
{
    static const char *const apps[] = {"", "web", "db"};
    static const char *const tiers[] = {"", "front", "back"};
    struct ref_pod *pod = &world->ref.pods[number];
    schedq_amount_t extended[2];
    schedq_label_t labels[2];
    char name[32];
    schedq_running_spec_t spec = {
        .struct_size = sizeof(schedq_running_spec_t),
        .object = (uint64_t)number + 1,
        .workload = pod->workload,
        .node = (uint32_t)pod->node,
        .priority = pod->priority,
        .start_ns = pod->start_ns,
        .requests = world_public_amounts(world, pod->requests, extended),
        .labels = labels,
        .terminating = pod->terminating,
        .is_protected = pod->is_protected,
        .disruption_status = pod->condition,
        .disruption_reason = pod->by_scheduler ? "PreemptionByScheduler" : "EvictionByEvictionAPI",
    };

    if (pod->tier != 0) {
        labels[spec.label_count++] = (schedq_label_t){"tier", tiers[pod->tier]};
    }
    if (pod->app != 0) {
        labels[spec.label_count++] = (schedq_label_t){"app", apps[pod->app]};
    }
    (void)snprintf(name, sizeof name, "s%d/p%d", pod->space, number);
    spec.name = is_new || number % 2 == 0 ? name : NULL;
    must(world, "schedq_cluster_add_pod or update_pod",
         is_new ? schedq_cluster_add_pod(world->cluster, &spec, &pod->handle)
                : schedq_cluster_update_pod(world->cluster, pod->handle, &spec));
}

static void
add_pod(struct world *world, chance_t *chance)
{
    int number = (int)chance_below(chance, (uint32_t)world->pods_max);
    int node = some_node(world, chance);

    if (node == NONE || world->ref.pods[number].used) {
        return;
    }
    struct ref_pod *pod = &world->ref.pods[number];

    draw_pod(world, chance, pod, node);
    pod->space = (int)chance_below(chance, 2);
    pod->sequence = ++world->sequence;
    with_pod_spec(world, number, true);
    settle_ends(world);
}

static void
update_pod(struct world *world, chance_t *chance)
{
    int number = (int)chance_below(chance, (uint32_t)world->pods_max);
    int node = some_node(world, chance);
    struct ref_pod *pod = &world->ref.pods[number];

    if (!pod->used || node == NONE) {
        return;
    }
    if (chance_one_in(chance, 2)) {
        node = pod->node;
    }
    if (node != pod->node) {
        pod->sequence = ++world->sequence;
    }
    draw_pod(world, chance, pod, node);
    with_pod_spec(world, number, false);
}

static void
remove_pod(struct world *world, chance_t *chance)
{
    int number = (int)chance_below(chance, (uint32_t)world->pods_max);

    if (!world->ref.pods[number].used) {
        return;
    }
    must(world, "schedq_cluster_remove_pod",
         schedq_cluster_remove_pod(world->cluster, world->ref.pods[number].handle));
    world->ref.pods[number].used = false;
    settle_ends(world);
}

/* ---- budgets --------------------------------------------------------------------------------- */

static void
set_budget(struct world *world, chance_t *chance)
{
    static const int32_t allowed[] = {-2, 0, 0, 1, 1, 2, 3, INT32_MIN, INT32_MAX};
    static const char *const apps[] = {"", "web", "db"};
    static const char *const tiers[] = {"", "front", "back"};
    int number = (int)chance_below(chance, BUDGETS_MAX);
    struct ref_budget *budget = &world->ref.budgets[number];
    schedq_requirement_t requirements[2] = {0};
    char names[PODS_MAX][8];
    const char *disrupted[PODS_MAX];
    char name[32];

    budget->space = budget->used ? budget->space : (int)chance_below(chance, 2);
    budget->used = true;
    budget->selector = (int)chance_below(chance, SELECTORS);
    budget->app = (int)chance_below(chance, 2) + 1;
    budget->tier = (int)chance_below(chance, 2) + 1;
    budget->allowed = CHANCE_OF(chance, allowed);
    budget->disrupted = chance_one_in(chance, 2) ? 0 : chance_next(chance) & chance_next(chance);

    schedq_budget_spec_t spec = {
        .struct_size = sizeof(schedq_budget_spec_t),
        .name = name,
        .requirements = requirements,
        .selector = SCHEDQ_SELECT_ALL_OF,
        .allowed = budget->allowed,
        .disrupted = disrupted,
    };

    (void)snprintf(name, sizeof name, "s%d/d%d", budget->space, number);
    for (int i = 0; i < PODS_MAX; i++) {
        if (budget->disrupted >> i & 1) {
            (void)snprintf(names[i], sizeof names[i], "p%d", i);
            disrupted[spec.disrupted_count++] = names[i];
        }
    }
    if (budget->selector == SELECT_APP || budget->selector == SELECT_BOTH) {
        requirements[spec.requirement_count++] =
            (schedq_requirement_t){.key = "app", .value = apps[budget->app]};
    }
    if (budget->selector == SELECT_TIER || budget->selector == SELECT_BOTH) {
        requirements[spec.requirement_count++] =
            (schedq_requirement_t){.key = "tier", .value = tiers[budget->tier]};
    }
    if (budget->selector == SELECT_APP_EXISTS) {
        requirements[spec.requirement_count++] =
            (schedq_requirement_t){.key = "app", .kind = SCHEDQ_LABEL_EXISTS};
    }
    if (budget->selector == SELECT_NIL || budget->selector == SELECT_INVALID) {
        spec.selector = budget->selector == SELECT_NIL ? SCHEDQ_SELECT_NIL : SCHEDQ_SELECT_INVALID;
    }
    must(world, "schedq_cluster_set_budget", schedq_cluster_set_budget(world->cluster, &spec));
}

static void
remove_budget(struct world *world, chance_t *chance)
{
    int number = (int)chance_below(chance, BUDGETS_MAX);
    char name[32];

    if (!world->ref.budgets[number].used) {
        return;
    }
    (void)snprintf(name, sizeof name, "s%d/d%d", world->ref.budgets[number].space, number);
    must(world, "schedq_cluster_remove_budget", schedq_cluster_remove_budget(world->cluster, name));
    world->ref.budgets[number].used = false;
}

/* ---- nominations, evictions ------------------------------------------------------------------ */

static void
nominate(struct world *world, chance_t *chance)
{
    int number = (int)chance_below(chance, NOMINATED_MAX);
    int node = some_node(world, chance);
    struct ref_nominated *pod = &world->ref.nominated[number];
    schedq_amount_t extended[2];
    char name[32];

    if (node == NONE) {
        return;
    }
    pod->used = true;
    pod->node = node;
    pod->priority = world_priority(world, chance);
    pod->expires_ns =
        chance_one_in(chance, 2) ? SCHEDQ_NO_DEADLINE : 1 + (int64_t)chance_below(chance, 99);
    pod->order = ++world->order;
    world_amounts(chance, pod->requests, false);
    (void)snprintf(name, sizeof name, "s0/q%d", number);

    const schedq_nominated_spec_t spec = {
        .struct_size = sizeof(schedq_nominated_spec_t),
        .name = name,
        .object = (uint64_t)number,
        .node = (uint32_t)node,
        .priority = pod->priority,
        .requests = world_public_amounts(world, pod->requests, extended),
        /* Both say that it has none. */
        .expires_ns =
            pod->expires_ns == SCHEDQ_NO_DEADLINE && number % 2 == 1 ? 0 : pod->expires_ns,
    };

    must(world, "schedq_cluster_nominate",
         schedq_cluster_nominate(world->cluster, &spec, &pod->generation));
}

static void
denominate(struct world *world, chance_t *chance)
{
    int number = (int)chance_below(chance, NOMINATED_MAX);
    struct ref_nominated *pod = &world->ref.nominated[number];
    char name[32];

    if (!pod->used) {
        return;
    }
    (void)snprintf(name, sizeof name, "s0/q%d", number);
    must(world, "schedq_cluster_unnominate",
         schedq_cluster_unnominate(world->cluster, name,
                                   chance_one_in(chance, 2) ? 0 : pod->generation));
    pod->used = false;
}

static void
expire(struct world *world, chance_t *chance)
{
    int64_t now_ns = chance_below(chance, 20);

    must(world, "schedq_cluster_expire", schedq_cluster_expire(world->cluster, now_ns, NULL, NULL));
    for (int i = 0; i < NOMINATED_MAX; i++) {
        world->ref.nominated[i].used =
            world->ref.nominated[i].used && world->ref.nominated[i].expires_ns > now_ns;
    }
}

static void
evict(struct world *world, chance_t *chance)
{
    uint64_t workload = chance_below(chance, WORKLOADS) + 1;
    int64_t now_ns = chance_below(chance, 60);
    int64_t *last = &world->ref.evicted_ns[workload];

    must(world, "schedq_cluster_record_eviction",
         schedq_cluster_record_eviction(world->cluster, workload, now_ns));
    *last = now_ns > *last ? now_ns : *last;
}

static void
forget(struct world *world, chance_t *chance)
{
    int64_t before_ns = chance_below(chance, 40);

    schedq_cluster_forget_evictions(world->cluster, before_ns);
    for (int i = 1; i <= WORKLOADS; i++) {
        if (world->ref.evicted_ns[i] < before_ns) {
            world->ref.evicted_ns[i] = NONE;
        }
    }
}

/* ---- clusters -------------------------------------------------------------------------------- */

static void
draw_kind(struct world *world, chance_t *chance)
{
    static const int priorities[] = {1, 2, 3, 5, 8};

    world->nodes_max = 1 + (int)chance_below(chance, 6);
    world->pods_max = 1 + (int)chance_below(chance, 24);
    world->priorities = CHANCE_OF(chance, priorities);
    world->extremes = chance_one_in(chance, 10);
    if (chance_one_in(chance, 40)) {
        world->nodes_max = NODES_MAX;
        world->pods_max = PODS_MAX;
    }
    if (chance_one_in(chance, 40)) {
        world->pods_max = PODS_MAX;
        world->priorities = 60; /* more than the levels that are kept */
    }
}

void
world_draw(struct world *world, chance_t *chance)
{
    schedq_cluster_clear(world->cluster);
    memset(&world->ref, 0, sizeof world->ref);
    for (int i = 0; i <= WORKLOADS; i++) {
        world->ref.evicted_ns[i] = NONE;
    }
    draw_kind(world, chance);
    for (int i = 0; i < world->nodes_max; i++) {
        add_node(world, chance);
    }
    for (int i = 0; i < world->pods_max + world->pods_max / 2; i++) {
        add_pod(world, chance);
    }
    for (uint32_t i = chance_below(chance, 6); i > 0; i--) {
        set_budget(world, chance);
    }
    for (uint32_t i = chance_below(chance, 5); i > 0; i--) {
        nominate(world, chance);
    }
    for (uint32_t i = chance_below(chance, 3); i > 0; i--) {
        evict(world, chance);
    }
}

void
world_change(struct world *world, chance_t *chance)
{
    static void (*const changes[])(struct world *, chance_t *) = {
        add_node,   update_node, remove_node, add_pod,    add_pod,
        update_pod, update_pod,  remove_pod,  set_budget, remove_budget,
        nominate,   denominate,  expire,      evict,      forget,
    };

    for (uint32_t i = 1 + chance_below(chance, 8); i > 0; i--) {
        changes[chance_below(chance, sizeof changes / sizeof *changes)](world, chance);
    }
}
