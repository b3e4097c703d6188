/* Builds a case call by call, as a scheduler would: nodes, pods, budgets, nominations. */
#include "preemption_world.h"

#include <schedq/schedq.h>

#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 20
#define SECOND INT64_C(1000000000)
#define TASKS 3

static bool
did(const struct preemption_world *world, const char *call, schedq_status_t status)
{
    if (status == SCHEDQ_OK) {
        return true;
    }
    report(world->of->file, world->of->line, "%s returned %s: %s%s", call,
           schedq_status_name(status), schedq_cluster_error(world->cluster),
           schedq_preemption_error(world->preemption));
    return false;
}

static const char *
full_name(struct preemption_world *world, const char *space, const char *name)
{
    size_t size = strlen(space) + strlen(name) + 2;
    char *text = keep(&world->of->memory, size, 1);

    (void)snprintf(text, size, "%s/%s", space, name);
    return text;
}

static schedq_amounts_t
amounts_of(struct preemption_world *world, const struct case_amounts *from)
{
    schedq_amounts_t amounts = {.cpu_milli = from->cpu.value,
                                .memory_bytes = from->mem.value << MIB};

    if (from->gpu.value > 0) {
        schedq_amount_t *gpu = keep(&world->of->memory, 1, sizeof *gpu);

        *gpu = (schedq_amount_t){.resource = world->gpu, .amount = from->gpu.value};
        amounts.extended = gpu;
        amounts.extended_count = 1;
    }
    return amounts;
}

static uint32_t
number_of(const struct preemption_world *world, const char *node)
{
    uint32_t number = SCHEDQ_NO_NODE;

    if (node != NULL) {
        (void)schedq_cluster_find_node(world->cluster, node, &number);
    }
    return number;
}

/* ---- the snapshot ---------------------------------------------------------------------------- */

static bool
add_nodes(struct preemption_world *world)
{
    for (const struct case_node *node = world->of->nodes; node != NULL; node = node->next) {
        world->node_count++;
    }
    world->nodes = keep(&world->of->memory, world->node_count, sizeof *world->nodes);
    world->statuses = keep(&world->of->memory, world->node_count + 1, 1);
    for (const struct case_node *node = world->of->nodes; node != NULL; node = node->next) {
        const schedq_node_spec_t spec = {
            .struct_size = sizeof(schedq_node_spec_t),
            .name = node->name,
            .allocatable = amounts_of(world, &node->allocatable),
            .pods = node->pods.value,
        };
        uint32_t number;

        if (!did(world, "schedq_cluster_add_node",
                 schedq_cluster_add_node(world->cluster, &spec, &number))) {
            return false;
        }
        world->nodes[number] = node;
        world->statuses[number] = (uint8_t)case_status(world->of, node);
    }
    return true;
}

/* The object is the pod's line. */
static bool
add_pod(struct preemption_world *world, const struct case_pod *pod)
{
    schedq_label_t labels[2];
    uint32_t label_count = 0;
    char *reason = pod->disruption == NULL ? NULL : keep_text(&world->of->memory, pod->disruption);
    char *suffix = reason == NULL ? NULL : strstr(reason, "-False");
    bool is_false = suffix != NULL && suffix[strlen("-False")] == '\0';

    if (is_false) {
        *suffix = '\0';
    }
    if (pod->app != NULL) {
        labels[label_count++] = (schedq_label_t){"app", pod->app};
    }
    if (pod->tier != NULL) {
        labels[label_count++] = (schedq_label_t){"tier", pod->tier};
    }
    const schedq_running_spec_t spec = {
        .struct_size = sizeof(schedq_running_spec_t),
        .name = full_name(world, pod->space, pod->name),
        .object = (uint64_t)(uintptr_t)pod,
        .node = number_of(world, pod->node),
        .priority = (int32_t)pod->prio.value,
        .start_ns = pod->start.given ? pod->start.value * SECOND : SCHEDQ_NO_START,
        .requests = amounts_of(world, &pod->requests),
        .labels = labels,
        .label_count = label_count,
        .terminating = pod->deleting.value != 0,
        .is_protected = pod->is_protected.value != 0,
        .disruption_status = reason != NULL && !is_false,
        .disruption_reason = reason,
    };

    return did(world, "schedq_cluster_add_pod",
               schedq_cluster_add_pod(world->cluster, &spec, NULL));
}

static bool
add_budget(struct preemption_world *world, const struct case_budget *budget)
{
    schedq_requirement_t requirement = {0};
    schedq_budget_spec_t spec = {
        .struct_size = sizeof(schedq_budget_spec_t),
        .name = full_name(world, budget->space, budget->name),
        .allowed = (int32_t)budget->allowed.value,
        .disrupted = (const char *const *)budget->disrupted.item,
        .disrupted_count = (uint32_t)budget->disrupted.count,
        .selector = SCHEDQ_SELECT_ALL_OF,
    };
    char *key = keep_text(&world->of->memory, budget->selector);
    char *value = field_value(key);

    if (value != NULL) {
        bool exists = strcmp(value, "*") == 0;

        requirement.key = key;
        requirement.kind = exists ? SCHEDQ_LABEL_EXISTS : SCHEDQ_LABEL_EQUALS;
        requirement.value = exists ? NULL : value;
        spec.requirements = &requirement;
        spec.requirement_count = 1;
    } else if (strcmp(key, "nil") == 0) {
        spec.selector = SCHEDQ_SELECT_NIL;
    } else if (strcmp(key, "invalid") == 0) {
        spec.selector = SCHEDQ_SELECT_INVALID;
    }
    return did(world, "schedq_cluster_set_budget",
               schedq_cluster_set_budget(world->cluster, &spec));
}

/* A nomination to a node that is not there counts for nothing. The object is the name. */
static bool
nominate(struct preemption_world *world, const char *name, const char *node, int64_t priority,
         const struct case_amounts *requests)
{
    const schedq_nominated_spec_t spec = {
        .struct_size = sizeof(schedq_nominated_spec_t),
        .name = full_name(world, "ns", name),
        .object = (uint64_t)(uintptr_t)name,
        .node = number_of(world, node),
        .priority = (int32_t)priority,
        .requests = amounts_of(world, requests),
        .expires_ns = SCHEDQ_NO_DEADLINE,
    };

    return spec.node == SCHEDQ_NO_NODE || did(world, "schedq_cluster_nominate",
                                              schedq_cluster_nominate(world->cluster, &spec, NULL));
}

static bool
fill(struct preemption_world *world)
{
    const struct preemption_case *of = world->of;

    if (!did(world, "schedq_cluster_resource",
             schedq_cluster_resource(world->cluster, "example.com/gpu", &world->gpu)) ||
        !add_nodes(world)) {
        return false;
    }
    for (const struct case_pod *pod = of->pods; pod != NULL; pod = pod->next) {
        if (!add_pod(world, pod)) {
            return false;
        }
    }
    for (const struct case_budget *budget = of->budgets; budget != NULL; budget = budget->next) {
        if (!add_budget(world, budget)) {
            return false;
        }
    }
    for (const struct case_nominated *pod = of->nominated; pod != NULL; pod = pod->next) {
        if (!nominate(world, pod->name, pod->node, pod->prio.value, &pod->requests)) {
            return false;
        }
    }
    return of->nominated_node == NULL ||
           nominate(world, of->preemptor, of->nominated_node, of->prio.value, &of->requests);
}

/* ---- what the library calls ------------------------------------------------------------------ */

static schedq_fit_t
tolerates(void *ctx, const schedq_filter_question_t *question)
{
    const struct preemption_world *world = ctx;

    return world->nodes[question->node]->tainted.value != 0 ? SCHEDQ_FIT_UNRESOLVABLE
                                                            : SCHEDQ_FIT_YES;
}

static bool
lists(const struct list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->item[i], name) == 0) {
            return true;
        }
    }
    return false;
}

struct extender_ctx {
    const struct preemption_world *world;
    const struct case_extender *extender;
};

static int
extend(void *ctx, const schedq_cluster_t *cluster, schedq_candidate_node_t *candidates,
       uint32_t count)
{
    const struct extender_ctx *of = ctx;

    (void)cluster;
    if (of->extender->uninterested.value != 0) {
        return SCHEDQ_EXTENDER_UNINTERESTED;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *name = of->world->nodes[candidates[i].node]->name;

        candidates[i].dropped = lists(&of->extender->drop, name);
        if (lists(&of->extender->empty, name)) {
            candidates[i].victim_count = 0;
        }
    }
    return of->extender->fails.value != 0 ? SCHEDQ_EXTENDER_FAILED : SCHEDQ_EXTENDER_DONE;
}

static void
run_backwards(void *ctx, void (*task)(void *argument, uint32_t i), void *argument, uint32_t count)
{
    (void)ctx;
    while (count > 0) {
        task(argument, --count);
    }
}

static const schedq_executor_t backwards = {.run = run_backwards, .tasks = TASKS};

/* ---- the question ---------------------------------------------------------------------------- */

static void
describe_extenders(struct preemption_world *world)
{
    uint32_t count = 0;

    for (const struct case_extender *extender = world->of->extenders; extender != NULL;
         extender = extender->next) {
        count++;
    }
    world->extenders = keep(&world->of->memory, count, sizeof *world->extenders);
    world->preemptor.extenders = world->extenders;
    for (const struct case_extender *extender = world->of->extenders; extender != NULL;
         extender = extender->next) {
        struct extender_ctx *ctx = keep(&world->of->memory, 1, sizeof *ctx);

        *ctx = (struct extender_ctx){.world = world, .extender = extender};
        world->extenders[world->preemptor.extender_count++] = (schedq_extender_t){
            .process = extend, .ctx = ctx, .ignorable = extender->ignorable.value != 0};
    }
}

static void
describe(struct preemption_world *world)
{
    const struct preemption_case *of = world->of;
    schedq_preemptor_t *preemptor = &world->preemptor;

    world->config = (schedq_preemption_config_t)SCHEDQ_PREEMPTION_CONFIG_INIT;
    (void)schedq_preemption_config_preset(&world->config, of->preset);
    if (of->percentage.given) {
        world->config.candidates_percentage = (uint32_t)of->percentage.value;
    }
    if (of->absolute.given) {
        world->config.candidates_absolute = (uint32_t)of->absolute.value;
    }
    *preemptor = (schedq_preemptor_t)SCHEDQ_PREEMPTOR_INIT;
    preemptor->priority = (int32_t)of->prio.value;
    preemptor->name = full_name(world, "ns", of->preemptor);
    preemptor->requests = amounts_of(world, &of->requests);
    preemptor->nominated_node = number_of(world, of->nominated_node);
    preemptor->never = of->never;
    preemptor->statuses = world->statuses;
    preemptor->status_count = world->node_count;
    preemptor->offset = (uint32_t)of->offset.value;
    for (uint32_t i = 0; i < world->node_count; i++) {
        if (world->nodes[i]->tainted.value != 0) {
            preemptor->filter = tolerates;
            preemptor->filter_ctx = world;
            preemptor->filter_first = 1;
        }
    }
    describe_extenders(world);
}

bool
preemption_world_open(struct preemption_world *world, struct preemption_case *of)
{
    char why[200];

    *world = (struct preemption_world){.of = of};
    if (!did(world, "schedq_cluster_create",
             schedq_cluster_create(NULL, &world->cluster, why, sizeof why)) ||
        !did(world, "schedq_preemption_create",
             schedq_preemption_create(NULL, &world->preemption, why, sizeof why)) ||
        !fill(world)) {
        return false;
    }
    describe(world);
    return true;
}

bool
preemption_world_decide(struct preemption_world *world, const struct preemption_way *way)
{
    if (!way->asynchronous) {
        world->config.asynchronous = 0;
    }
    world->preemptor.executor = way->threads ? &backwards : NULL;
    world->decision = (schedq_preemption_decision_t)SCHEDQ_PREEMPTION_DECISION_INIT;
    return did(world, "schedq_preempt",
               schedq_preempt(world->cluster, world->preemption, &world->config, &world->preemptor,
                              &world->decision));
}

void
preemption_world_close(struct preemption_world *world)
{
    schedq_preemption_destroy(world->preemption);
    schedq_cluster_destroy(world->cluster);
}
