/* Which release has which rule (rules.h). */
#include "policy/rules.h"

#define KUBE_FLUSH_NS (30 * INT64_C(1000000000))

static enum match_rule
match_rule_of(const schedq_config_t *config)
{
    switch (config->kube_minor) {
    case SCHEDQ_PRESET_KUBE_1_12:
        return MATCH_ALL;
    case SCHEDQ_PRESET_KUBE_1_26:
        return MATCH_RESOURCE;
    case SCHEDQ_PRESET_KUBE_1_34:
    case SCHEDQ_PRESET_KUBE_1_37:
        return MATCH_NUMERIC;
    default:
        return MATCH_SHARED;
    }
}

static enum gating_rule
gating_rule_of(const schedq_config_t *config, bool early)
{
    if (early) {
        return GATING_ALL_EVENTS;
    }
    return config->gates_see_wildcards ? GATING_OWN_AND_WILDCARDS : GATING_OWN_EVENTS;
}

static enum nominate_rule
nominate_rule_of(const schedq_config_t *config, bool early)
{
    if (early) {
        return NOMINATE_ALWAYS;
    }
    switch (config->kube_minor) {
    case SCHEDQ_PRESET_KUBE_1_34:
        return NOMINATE_WHEN_ACTIVE;
    case SCHEDQ_PRESET_KUBE_1_37:
        return NOMINATE_WHEN_ADDED;
    default:
        return NOMINATE_AT_ADD;
    }
}

void
rules_from_config(struct rules *rules, const schedq_config_t *config)
{
    bool early = config->kube_minor == SCHEDQ_PRESET_KUBE_1_12 ||
                 config->kube_minor == SCHEDQ_PRESET_KUBE_1_26;
    bool entities = config->kube_minor == SCHEDQ_PRESET_KUBE_1_37;

    *rules = (struct rules){
        .backoff =
            {
                .initial_ns = config->initial_backoff_ns,
                .max_ns = config->max_backoff_ns,
                .by_attempts = config->backoff_counts == SCHEDQ_COUNT_ATTEMPTS,
                .windows = config->backoff_window != 0,
                .at_expiry = config->backoff_at_expiry != 0,
            },
        .match = match_rule_of(config),
        .gating = gating_rule_of(config, early),
        .nominate = nominate_rule_of(config, early),
        .max_parked_ns = config->max_parked_ns,
        .flush_ns = config->flush_ns != 0 ? config->flush_ns : KUBE_FLUSH_NS,
        .tick_ns = config->tick_ns,
        .class_patience_ns = config->class_patience_ns,
        .kube_minor = config->kube_minor,
        .objects = config->objects,
        .host = config->decide == SCHEDQ_DECIDE_HOST,
        .hints = config->requeue == SCHEDQ_REQUEUE_HINTS,
        .pre_hints = config->pre_queueing_hints != 0 && config->decide != SCHEDQ_DECIDE_HOST,
        .pop_from_backoff = config->pop_from_backoff != 0,
        .host_ends_backoff = config->decide == SCHEDQ_DECIDE_HOST && config->pop_from_backoff == 0,
        .errors_park = config->errors_park != 0,
        .errors_apart = !early,
        .keep_order = config->keep_order != 0,
        .count_cycles = config->count_cycles != 0,
        .fifo = config->fifo != 0,
        .counts_updates = !early,
        .ignores_unregistered = !early,
        .targets_wildcards = !early,
        .activates_in_flight = !early,
        .attempt_starts_at_add = early,
        .gated_never_backs_off = early,
        .leftover_is_event = config->kube_minor != 0,
        .gates_see_leftover = config->kube_minor == 0 && config->gates_see_wildcards != 0,
        .flush_begins_anew = entities,
        .updates_add_as_add = entities,
        .backoff_opens_gates = entities && config->pop_from_backoff != 0,
        .counts_entities = entities,
        .unscheduled_by_1_37 = entities,
        .groups_as_kube = config->kube_minor != 0,
    };
}
