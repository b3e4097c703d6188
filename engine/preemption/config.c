/* The presets, and what a configuration may say. */
#include "preemption/evaluation.h"

#include <inttypes.h>
#include <string.h>

schedq_status_t
schedq_preemption_config_preset(schedq_preemption_config_t *config, schedq_preset_t preset)
{
    const schedq_preemption_config_t defaults = SCHEDQ_PREEMPTION_CONFIG_INIT;

    if (config == NULL || config->struct_size != sizeof *config ||
        (preset != SCHEDQ_PRESET_DEFAULT && preset != SCHEDQ_PRESET_KUBE_1_12 &&
         preset != SCHEDQ_PRESET_KUBE_1_34)) {
        return SCHEDQ_INVALID;
    }
    *config = defaults;
    config->candidates_min = preset == SCHEDQ_PRESET_DEFAULT ? 1 : 0;
    if (preset == SCHEDQ_PRESET_KUBE_1_12) {
        config->candidates_percentage = 100;
        config->victim_order = SCHEDQ_VICTIMS_BY_PRIORITY;
        config->budget_rule = SCHEDQ_BUDGETS_BY_ALLOWED;
        config->terminating_rule = SCHEDQ_BLOCKED_BY_ANY;
        config->no_victims = SCHEDQ_NO_VICTIMS_TAKE;
        config->sorts_again = 0;
        config->start_criterion = 0;
        config->heeds_never = 0;
        config->asynchronous = 0;
    }
    return SCHEDQ_OK;
}

bool
check_config(const struct words *words, const schedq_preemption_config_t *config)
{
    if (!check_pointer(words, "config", config) ||
        !check_size(words, "config", config->struct_size, sizeof *config)) {
        return false;
    }
    if (config->candidates_percentage > 100) {
        words_say(words, "config.candidates_percentage %" PRIu32 ": 0..100",
                  config->candidates_percentage);
        return false;
    }
    return check_flag(words, "config.victim_order", config->victim_order) &&
           check_flag(words, "config.budget_rule", config->budget_rule) &&
           check_flag(words, "config.terminating_rule", config->terminating_rule) &&
           check_flag(words, "config.no_victims", config->no_victims) &&
           check_flag(words, "config.sorts_again", config->sorts_again) &&
           check_flag(words, "config.start_criterion", config->start_criterion) &&
           check_flag(words, "config.heeds_never", config->heeds_never) &&
           check_flag(words, "config.asynchronous", config->asynchronous) &&
           check_time(words, "config.min_run_ns", config->min_run_ns) &&
           check_time(words, "config.evict_again_ns", config->evict_again_ns) &&
           check_time(words, "config.nomination_lease_ns", config->nomination_lease_ns) &&
           check_zero(words, "config.reserved", config->reserved);
}

/* Eight at a time: there are as many as nodes, and all of them are looked at for every decision. */
static bool
statuses_are_known(const uint8_t *statuses, uint32_t count)
{
    uint64_t all = 0, many[4];
    uint32_t i = 0;

    for (; i + sizeof many <= count; i += (uint32_t)sizeof many) {
        memcpy(many, statuses + i, sizeof many);
        all |= many[0] | many[1] | many[2] | many[3];
    }
    for (; i < count; i++) {
        all |= statuses[i];
    }
    return (all & ~(UINT64_MAX / UINT8_MAX * SCHEDQ_NODE_UNSCHEDULABLE)) == 0;
}

static bool
check_statuses(const struct words *words, const schedq_cluster_t *cluster,
               const schedq_preemptor_t *preemptor)
{
    uint32_t expected = preemptor->statuses == NULL ? 0 : cluster->nodes_end;

    if (preemptor->status_count != expected) {
        words_say(words, "preemptor.status_count %" PRIu32 ": %" PRIu32, preemptor->status_count,
                  expected);
        return false;
    }
    for (uint32_t i = statuses_are_known(preemptor->statuses, expected) ? expected : 0;
         i < expected; i++) {
        if (preemptor->statuses[i] > SCHEDQ_NODE_UNSCHEDULABLE) {
            words_say(words,
                      "preemptor.statuses[%" PRIu32 "] %u: UNRESOLVABLE %d, UNSCHEDULABLE %d", i,
                      preemptor->statuses[i], SCHEDQ_NODE_UNRESOLVABLE, SCHEDQ_NODE_UNSCHEDULABLE);
            return false;
        }
    }
    return true;
}

static bool
check_extenders(const struct words *words, const schedq_preemptor_t *preemptor)
{
    if (preemptor->extender_count > 0 &&
        !check_pointer(words, "preemptor.extenders", preemptor->extenders)) {
        return false;
    }
    for (uint32_t i = 0; i < preemptor->extender_count; i++) {
        const schedq_extender_t *extender = &preemptor->extenders[i];

        if (extender->process == NULL) {
            words_say(words, "preemptor.extenders[%" PRIu32 "].process NULL: a function", i);
            return false;
        }
        if (!check_flag(words, "extender.ignorable", extender->ignorable) ||
            !check_zero(words, "extender.reserved", extender->reserved)) {
            return false;
        }
    }
    return true;
}

static bool
check_executor(const struct words *words, const schedq_executor_t *executor)
{
    if (executor == NULL) {
        return true;
    }
    if (executor->run == NULL) {
        words_say(words, "executor.run NULL: a function");
        return false;
    }
    if (executor->tasks < 1 || executor->tasks > TASKS_MAX) {
        words_say(words, "executor.tasks %" PRIu32 ": 1..%d", executor->tasks, TASKS_MAX);
        return false;
    }
    return check_zero(words, "executor.reserved", executor->reserved);
}

bool
check_pod(const struct words *words, const schedq_cluster_t *cluster,
          const schedq_preemptor_t *preemptor)
{
    return check_pointer(words, "preemptor", preemptor) &&
           check_size(words, "preemptor", preemptor->struct_size, sizeof *preemptor) &&
           (preemptor->name == NULL || check_full_name(words, "preemptor.name", preemptor->name)) &&
           check_amounts(words, "preemptor.requests", &preemptor->requests,
                         cluster->resource_count) &&
           check_flag(words, "preemptor.filter_first", preemptor->filter_first) &&
           check_time(words, "preemptor.now_ns", preemptor->now_ns);
}

bool
check_nominated_node(const struct words *words, const schedq_cluster_t *cluster,
                     const schedq_preemptor_t *preemptor)
{
    if (preemptor->nominated_node != SCHEDQ_NO_NODE &&
        !node_exists(cluster, preemptor->nominated_node)) {
        words_say(words,
                  "preemptor.nominated_node %" PRIu32
                  ": SCHEDQ_NO_NODE, or the number of a node, below %" PRIu32,
                  preemptor->nominated_node, cluster->nodes_end);
        return false;
    }
    return true;
}

bool
check_preemptor(const struct words *words, const schedq_cluster_t *cluster,
                const schedq_preemptor_t *preemptor)
{
    return check_pod(words, cluster, preemptor) &&
           check_nominated_node(words, cluster, preemptor) &&
           check_flag(words, "preemptor.never", preemptor->never) &&
           check_statuses(words, cluster, preemptor) && check_extenders(words, preemptor) &&
           check_executor(words, preemptor->executor);
}

bool
check_decision(const struct words *words, const schedq_preemption_decision_t *decision)
{
    return check_pointer(words, "decision", decision) &&
           check_size(words, "decision", decision->struct_size, sizeof *decision);
}
