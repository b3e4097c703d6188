/*
 * Life of a registry, what it holds from the start, and the questions that are asked at operation
 * rate: none looks at a name.
 */
#include "plugins/parts.h"

#include <string.h>

#define DEFAULT_PROFILE "default-scheduler"

/* ---- names ----------------------------------------------------------------------------------- */

bool
name_is(const struct registry_name *name, const char *text, size_t length)
{
    return strlen(name->text) == length && memcmp(name->text, text, length) == 0;
}

void
name_set(struct registry_name *name, const char *text, size_t length)
{
    memcpy(name->text, text, length);
    name->text[length] = '\0';
}

bool
make_room(struct memory *memory, void **array, uint32_t count, uint32_t *capacity,
          size_t element_bytes)
{
    if (count < *capacity) {
        return true;
    }
    uint32_t larger = *capacity == 0 ? 16 : *capacity * 2;
    void *grown = memory_grow(memory, MEMORY_OTHER, *array, *capacity, larger, element_bytes);

    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *capacity = larger;
    return true;
}

uint32_t
resource_find(const struct registry *registry, const char *text)
{
    for (uint32_t i = 0; i < registry->resource_count; i++) {
        if (strcmp(registry->resources[i].text, text) == 0) {
            return i;
        }
    }
    return RESOURCE_UNREGISTERED;
}

uint32_t
resource_add(struct registry *registry, const char *text)
{
    uint32_t found = resource_find(registry, text);

    if (found != RESOURCE_UNREGISTERED) {
        return found;
    }
    if (!make_room(registry->memory, (void **)&registry->resources, registry->resource_count,
                   &registry->resource_capacity, sizeof *registry->resources)) {
        return RESOURCE_UNREGISTERED;
    }
    name_set(&registry->resources[registry->resource_count], text, strlen(text));
    return registry->resource_count++;
}

/* ---- profiles and plugins -------------------------------------------------------------------- */

const char *
registry_profile_name(const struct registry *registry, schedq_profile_t profile)
{
    return registry->profiles[profile]->name.text;
}

uint64_t
registry_known(const struct registry *registry, schedq_profile_t profile)
{
    return u64_load_acquire(&registry->profiles[profile]->known);
}

uint64_t
registry_late(const struct registry *registry, schedq_profile_t profile)
{
    return u64_load_acquire(&registry->profiles[profile]->late);
}

uint64_t
registry_reached_always(const struct registry *registry, schedq_profile_t profile)
{
    return registry_late(registry, profile) | SCHEDQ_REJECTOR_OTHERS;
}

const char *
registry_plugin_name(const struct registry *registry, schedq_profile_t profile, uint32_t number)
{
    return plugin_at(registry->profiles[profile], number)->name.text;
}

uint64_t
registry_pre_hints_said(const struct registry *registry, schedq_profile_t profile, uint32_t number,
                        bool listed)
{
    return u64_load(
        &plugin_at(registry->profiles[profile], number)->pre_hints_said[listed ? 1 : 0]);
}

uint64_t
registry_spread(const struct registry *registry, schedq_profile_t profile)
{
    return registry->profiles[profile]->spread;
}

uint64_t
registry_gate_bits(const struct registry *registry, schedq_profile_t profile)
{
    return registry->rules->host ? registry_known(registry, profile) & ~SCHEDQ_REJECTOR_OTHERS
                                 : registry->profiles[profile]->gate_bits;
}

const struct gate *
registry_gates(const struct registry *registry, schedq_profile_t profile, uint32_t *count)
{
    *count = registry->profiles[profile]->gate_count;
    return registry->profiles[profile]->gates;
}

/* ---- events ---------------------------------------------------------------------------------- */

uint32_t
registry_event_count(const struct registry *registry)
{
    return (uint32_t)u64_load_acquire(&registry->event_count);
}

bool
registry_has_event(const struct registry *registry, schedq_event_t event)
{
    return event_slot(event) < registry_event_count(registry);
}

bool
registry_is_wildcard(const struct registry *registry, schedq_event_t event)
{
    return event_at(registry, event)->wildcard;
}

uint32_t
registry_actions(const struct registry *registry, schedq_event_t event)
{
    return event_at(registry, event)->actions;
}

uint32_t
registry_label(const struct registry *registry, schedq_event_t event)
{
    return event_at(registry, event)->label;
}

uint32_t
registry_label_count(const struct registry *registry)
{
    return LABEL_FIRST_EVENT + registry_event_count(registry);
}

const char *
registry_label_text(const struct registry *registry, uint32_t label)
{
    if (label < LABEL_FIRST_EVENT) {
        return registry->fixed_labels[label];
    }
    const struct event *event = event_find(registry, label - LABEL_FIRST_EVENT);

    return event->label == label ? event->label_text : NULL;
}

static uint64_t
always_reached(const struct registry *registry, schedq_profile_t profile)
{
    return registry->rules->match == MATCH_ALL ? UINT64_MAX
                                               : registry_reached_always(registry, profile);
}

bool
registry_is_registered(const struct registry *registry, schedq_event_t number)
{
    const struct event *event = event_at(registry, number);

    if (event->wildcard || registry->rules->match == MATCH_ALL) {
        return true;
    }
    for (uint32_t i = 0; i < registry->profile_count; i++) {
        if (event->matches[i].interested != 0 ||
            registry_late(registry, (schedq_profile_t)i) != 0) {
            return true;
        }
    }
    return false;
}

struct hint_list
registry_hints(const struct registry *registry, schedq_profile_t profile, schedq_event_t event)
{
    const struct match *match = &event_at(registry, event)->matches[profile];

    return (struct hint_list){.entries = match->entries,
                              .count = match->count,
                              .always = always_reached(registry, profile)};
}

enum strategy
registry_judge(const struct registry *registry, schedq_profile_t profile, schedq_event_t event,
               const struct requeue_question *question, uint64_t *calls)
{
    if (registry_is_wildcard(registry, event)) {
        return STRATEGY_AFTER_BACKOFF;
    }
    const struct hint_list hints = registry_hints(registry, profile, event);

    return requeue_for_event(&hints, question, calls);
}

uint64_t
registry_reached(const struct registry *registry, schedq_profile_t profile, schedq_event_t number)
{
    const struct event *event = event_at(registry, number);

    if (event->wildcard) {
        return UINT64_MAX;
    }
    return event->matches[profile].interested | always_reached(registry, profile);
}

/* A wildcard counts as registered by the plugins that registered the wildcard. */
bool
registry_gate_hears(const struct registry *registry, schedq_profile_t profile, uint8_t gate,
                    schedq_event_t number)
{
    const struct event *event = event_at(registry, number);
    bool registered = (event->matches[profile].interested & gate_bit(gate)) != 0;

    return gate == 0 || gating_hears(registry->rules->gating, event->wildcard, registered);
}

/* ---- life ------------------------------------------------------------------------------------ */

static const char *const *
fixed_labels(const struct rules *rules)
{
    static const char *const labels[LABEL_FIRST_EVENT] = {
        "UnschedulablePodAdd", "UnschedulablePodUpdate", "ScheduleAttemptFailure",
        "BackoffComplete",     "PopFromBackoffQ",        "ForceActivate",
        "UnschedulableTimeout"};
    static const char *const labels_1_37[LABEL_FIRST_EVENT] = {
        "UnscheduledPodAdd", "UnscheduledPodUpdate", "ScheduleAttemptFailure", "BackoffComplete",
        "PopFromBackoffQ",   "ForceActivate",        "UnschedulableTimeout"};
    static const char *const early_labels[LABEL_FIRST_EVENT] = {
        "PodAdd",          "PodUpdate",     "ScheduleAttemptFailure", "BackoffComplete",
        "PopFromBackoffQ", "ForceActivate", "UnschedulableTimeout"};

    if (rules->unscheduled_by_1_37) {
        return labels_1_37;
    }
    return rules->kube_minor != 0 && rules->kube_minor <= 30 ? early_labels : labels;
}

static const char *
unscheduled_pod(const struct rules *rules)
{
    return rules->unscheduled_by_1_37 ? "UnscheduledPod" : "UnschedulablePod";
}

/* In the order of the RESOURCE_ constants. */
static bool
add_fixed_resources(struct registry *registry)
{
    const char *const resources[RESOURCE_FIRST_FREE] = {
        "*", "Pod", "AssignedPod", unscheduled_pod(registry->rules), "TargetPod", "Node"};

    for (size_t i = 0; i < RESOURCE_FIRST_FREE; i++) {
        if (resource_add(registry, resources[i]) == RESOURCE_UNREGISTERED) {
            return false;
        }
    }
    return true;
}

/* In the order of the SCHEDQ_EVENT_ constants. */
static bool
define_fixed_events(struct registry *registry)
{
    static const uint32_t pod_actions[] = {SCHEDQ_ACTION_ADD,
                                           SCHEDQ_ACTION_DELETE,
                                           SCHEDQ_ACTION_UPDATE,
                                           SCHEDQ_ACTION_UPDATE_POD_LABEL,
                                           SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN,
                                           SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED,
                                           SCHEDQ_ACTION_UPDATE_POD_TOLERATION,
                                           SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM};
    static const uint32_t node_actions[] = {SCHEDQ_ACTION_ADD,
                                            SCHEDQ_ACTION_DELETE,
                                            SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE,
                                            SCHEDQ_ACTION_UPDATE_NODE_LABEL,
                                            SCHEDQ_ACTION_UPDATE_NODE_TAINT,
                                            SCHEDQ_ACTION_UPDATE_NODE_CONDITION,
                                            SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION,
                                            SCHEDQ_ACTION_UPDATE_NODE_DECLARED_FEATURE,
                                            SCHEDQ_ACTION_UPDATE_NODE_PREEMPTION_POLICY};
    static const uint32_t scale_up[] = {SCHEDQ_ACTION_UPDATE_POD_SCALE_UP};
    static const uint32_t target_actions[] = {SCHEDQ_ACTION_UPDATE,
                                              SCHEDQ_ACTION_UPDATE_POD_LABEL,
                                              SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN,
                                              SCHEDQ_ACTION_UPDATE_POD_SCALE_UP,
                                              SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED,
                                              SCHEDQ_ACTION_UPDATE_POD_TOLERATION,
                                              SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM};
    const char *const unscheduled = unscheduled_pod(registry->rules);
    const struct {
        const char *resource;
        const uint32_t *actions;
        size_t count;
    } groups[] = {
        {unscheduled, pod_actions, sizeof pod_actions / sizeof pod_actions[0]},
        {"AssignedPod", pod_actions, sizeof pod_actions / sizeof pod_actions[0]},
        {"Node", node_actions, sizeof node_actions / sizeof node_actions[0]},
        {unscheduled, scale_up, 1},
        {"AssignedPod", scale_up, 1},
        {"TargetPod", target_actions, sizeof target_actions / sizeof target_actions[0]},
    };
    schedq_event_t event;

    if (registry_define_event(registry, "*", SCHEDQ_ACTION_ALL, NULL, &event) != SCHEDQ_OK) {
        return false;
    }
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        for (size_t j = 0; j < groups[i].count; j++) {
            if (registry_define_event(registry, groups[i].resource, groups[i].actions[j], NULL,
                                      &event) != SCHEDQ_OK) {
                return false;
            }
        }
    }
    return true;
}

bool
registry_open(struct registry *registry, struct memory *memory, const struct rules *rules,
              uint32_t events_max)
{
    schedq_profile_t profile;

    *registry = (struct registry){.memory = memory,
                                  .rules = rules,
                                  .fixed_labels = fixed_labels(rules),
                                  .events_max = events_max == 0 ? REGISTRY_EVENTS_MAX : events_max};
    return add_fixed_resources(registry) &&
           registry_define_profile(registry, DEFAULT_PROFILE, &profile) == SCHEDQ_OK &&
           define_fixed_events(registry);
}

void
registry_close(struct registry *registry)
{
    struct memory *memory = registry->memory;

    events_free(registry);
    for (uint32_t i = 0; i < registry->profile_count; i++) {
        profile_free(registry, registry->profiles[i]);
    }
    memory_free(memory, MEMORY_OTHER, registry->profiles,
                registry->profile_capacity * sizeof(struct profile *));
    memory_free(memory, MEMORY_OTHER, registry->resources,
                registry->resource_capacity * sizeof *registry->resources);
}
