/* Tables of registry.h: grown by doubling, never shrunk, freed with the queue. */
#include "plugins/registry.h"

#include "platform/words.h"
#include "policy/label.h"

#include <string.h>

#define DEFAULT_PROFILE "default-scheduler"

/* ---- names --------------------------------------------------------------------------------------------------------- */

static bool
name_is(const struct registry_name *name, const char *text, size_t length)
{
    return strlen(name->text) == length && memcmp(name->text, text, length) == 0;
}

static void
name_set(struct registry_name *name, const char *text, size_t length)
{
    memcpy(name->text, text, length);
    name->text[length] = '\0';
}

/* Makes room for one more element; the array and its capacity change only on success. */
static bool
make_room(struct memory *memory, void **array, uint32_t count, uint32_t *capacity, size_t element_bytes)
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

#define NO_NAME UINT32_MAX

static uint32_t
find_name(const struct registry_name *names, uint32_t count, const char *text)
{
    size_t length = strlen(text);

    for (uint32_t i = 0; i < count; i++) {
        if (name_is(&names[i], text, length)) {
            return i;
        }
    }
    return NO_NAME;
}

/* Finds or adds a name; NO_NAME if there is no memory. */
static uint32_t
intern(struct memory *memory, struct registry_name **names, uint32_t *count, uint32_t *capacity, const char *text)
{
    uint32_t found = find_name(*names, *count, text);

    if (found != NO_NAME) {
        return found;
    }
    if (!make_room(memory, (void **)names, *count, capacity, sizeof **names)) {
        return NO_NAME;
    }
    name_set(&(*names)[*count], text, strlen(text));
    return (*count)++;
}

static uint32_t
intern_resource(struct registry *registry, const char *text)
{
    return intern(registry->memory, &registry->resources, &registry->resource_count, &registry->resource_capacity,
                  text);
}

static uint32_t
intern_label(struct registry *registry, const char *text)
{
    return intern(registry->memory, &registry->labels, &registry->label_count, &registry->label_capacity, text);
}

/* ---- matches --------------------------------------------------------------------------------------------------------- */

static uint32_t
count_matching(const struct registry *registry, const struct plugin *plugin, struct event_kind incoming)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plugin->interest_count; i++) {
        count += match_event(registry->rules->match, plugin->interests[i].kind, incoming) ? 1 : 0;
    }
    return count;
}

/* Appends what one plugin registered for one event. */
static bool
match_add_plugin(struct registry *registry, struct match *match, const struct plugin *plugin, uint32_t number,
                 struct event_kind incoming)
{
    uint32_t more = count_matching(registry, plugin, incoming);

    if (more == 0) {
        return true;
    }
    struct hint_entry *entries =
        memory_grow(registry->memory, MEMORY_OTHER, match->entries, match->count, match->count + more, sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    match->entries = entries;
    match->interested |= UINT64_C(1) << number;
    for (uint32_t i = 0; i < plugin->interest_count; i++) {
        if (match_event(registry->rules->match, plugin->interests[i].kind, incoming)) {
            entries[match->count++] = (struct hint_entry){
                .bit = UINT64_C(1) << number, .hint = plugin->interests[i].hint, .ctx = plugin->ctx};
        }
    }
    return true;
}

static void
match_clear(struct registry *registry, struct match *match)
{
    memory_free(registry->memory, MEMORY_OTHER, match->entries, match->count * sizeof *match->entries);
    *match = (struct match){0};
}

/* Takes the entries of the last plugin away again, after a later step of its registration failed. */
static void
match_remove_plugin(struct registry *registry, struct match *match, uint64_t bit)
{
    uint32_t kept = 0;

    if ((match->interested & bit) == 0) {
        return;
    }
    while (kept < match->count && match->entries[kept].bit != bit) {
        kept++;
    }
    match->interested &= ~bit;
    if (kept == 0) {
        match_clear(registry, match);
        return;
    }
    struct hint_entry *entries =
        memory_grow(registry->memory, MEMORY_OTHER, match->entries, match->count, kept, sizeof *entries);
    if (entries != NULL) {
        match->entries = entries;
    } else {
        /* The block keeps its size, which its free must name: the tail is disarmed instead of cut off. */
        for (uint32_t i = kept; i < match->count; i++) {
            match->entries[i].bit = 0;
        }
        return;
    }
    match->count = kept;
}

static bool
match_build(struct registry *registry, const struct profile *profile, struct match *match, struct event_kind incoming)
{
    for (uint32_t i = 0; i < profile->plugin_count; i++) {
        if (!match_add_plugin(registry, match, &profile->plugins[i], i, incoming)) {
            match_clear(registry, match);
            return false;
        }
    }
    return true;
}

/* ---- events ------------------------------------------------------------------------------------------------------------ */

static bool
find_event(const struct registry *registry, struct event_kind kind, uint32_t label, schedq_event_t *event)
{
    for (uint32_t i = 0; i < registry->event_count; i++) {
        const struct event *known = &registry->events[i];

        if (known->kind.resource == kind.resource && known->kind.actions == kind.actions && known->label == label) {
            *event = (schedq_event_t)i;
            return true;
        }
    }
    return false;
}

/* Room for one more event in every profile; a part of it made in vain is kept for the next. */
static bool
make_event_room(struct registry *registry)
{
    if (!make_room(registry->memory, (void **)&registry->events, registry->event_count, &registry->event_capacity,
                   sizeof *registry->events)) {
        return false;
    }
    for (uint32_t i = 0; i < registry->profile_count; i++) {
        struct profile *profile = registry->profiles[i];

        if (!make_room(registry->memory, (void **)&profile->matches, registry->event_count, &profile->match_capacity,
                       sizeof *profile->matches)) {
            return false;
        }
    }
    return true;
}

static bool
build_event(struct registry *registry, uint32_t event, struct event_kind kind)
{
    for (uint32_t i = 0; i < registry->profile_count; i++) {
        struct profile *profile = registry->profiles[i];

        if (!match_build(registry, profile, &profile->matches[event], kind)) {
            for (uint32_t j = 0; j < i; j++) {
                match_clear(registry, &registry->profiles[j]->matches[event]);
            }
            return false;
        }
    }
    return true;
}

schedq_status_t
registry_define_event(struct registry *registry, const char *resource, uint32_t actions, const char *label,
                      schedq_event_t *event)
{
    struct event_kind kind = {find_name(registry->resources, registry->resource_count, resource), actions};
    char composed[REGISTRY_NAME_MAX + 1];

    if (label == NULL || label[0] == '\0') {
        label_compose(composed, sizeof composed, resource, kind, registry->rules->kube_minor);
        label = composed;
    }
    if (find_event(registry, kind, find_name(registry->labels, registry->label_count, label), event)) {
        return SCHEDQ_OK;
    }
    if (registry->event_count == registry->events_max) {
        return SCHEDQ_FULL;
    }
    kind.resource = intern_resource(registry, resource);
    uint32_t label_number = intern_label(registry, label);
    if (kind.resource == NO_NAME || label_number == NO_NAME) {
        return SCHEDQ_NOMEM;
    }
    if (!make_event_room(registry) || !build_event(registry, registry->event_count, kind)) {
        return SCHEDQ_NOMEM;
    }
    *event = (schedq_event_t)registry->event_count;
    registry->events[registry->event_count] =
        (struct event){.kind = kind, .label = label_number, .wildcard = match_is_wildcard(kind)};
    word_store(&registry->event_count, registry->event_count + 1);
    return SCHEDQ_OK;
}

/* ---- profiles and plugins ------------------------------------------------------------------------------------------------ */

static void
profile_free(struct registry *registry, struct profile *profile, uint32_t event_count)
{
    for (uint32_t i = 0; i < event_count && profile->matches != NULL; i++) {
        match_clear(registry, &profile->matches[i]);
    }
    memory_free(registry->memory, MEMORY_OTHER, profile->matches, profile->match_capacity * sizeof *profile->matches);
    for (uint32_t i = 0; i < profile->plugin_count; i++) {
        memory_free(registry->memory, MEMORY_OTHER, profile->plugins[i].interests,
                    profile->plugins[i].interest_count * sizeof *profile->plugins[i].interests);
    }
    memory_free(registry->memory, MEMORY_OTHER, profile, sizeof *profile);
}

schedq_status_t
registry_define_profile(struct registry *registry, const char *name, schedq_profile_t *number)
{
    for (uint32_t i = 0; i < registry->profile_count; i++) {
        if (name_is(&registry->profiles[i]->name, name, strlen(name))) {
            *number = (schedq_profile_t)i;
            return SCHEDQ_OK;
        }
    }
    if (registry->profile_count == REGISTRY_PROFILES_MAX) {
        return SCHEDQ_FULL;
    }
    if (!make_room(registry->memory, (void **)&registry->profiles, registry->profile_count, &registry->profile_capacity,
                   sizeof(struct profile *))) {
        return SCHEDQ_NOMEM;
    }
    struct profile *profile = memory_alloc(registry->memory, MEMORY_OTHER, sizeof *profile, CACHE_LINE);
    if (profile == NULL) {
        return SCHEDQ_NOMEM;
    }
    if (registry->event_capacity > 0) {
        profile->matches = memory_alloc(registry->memory, MEMORY_OTHER,
                                        registry->event_capacity * sizeof *profile->matches, CACHE_LINE);
        if (profile->matches == NULL) {
            profile_free(registry, profile, 0);
            return SCHEDQ_NOMEM;
        }
        profile->match_capacity = registry->event_capacity;
    }
    name_set(&profile->name, name, strlen(name));
    profile->known = SCHEDQ_REJECTOR_OTHERS;
    *number = (schedq_profile_t)registry->profile_count;
    registry->profiles[registry->profile_count++] = profile;
    return SCHEDQ_OK;
}

static struct plugin *
find_plugin(struct profile *profile, const char *name, size_t length, uint32_t *number)
{
    for (uint32_t i = 0; i < profile->plugin_count; i++) {
        if (name_is(&profile->plugins[i].name, name, length)) {
            *number = i;
            return &profile->plugins[i];
        }
    }
    return NULL;
}

static bool
copy_interests(struct registry *registry, struct plugin *plugin, const schedq_plugin_t *wanted)
{
    if (wanted->interest_count == 0) {
        return true;
    }
    plugin->interests =
        memory_alloc(registry->memory, MEMORY_OTHER, wanted->interest_count * sizeof *plugin->interests, CACHE_LINE);
    if (plugin->interests == NULL) {
        return false;
    }
    plugin->interest_count = (uint32_t)wanted->interest_count;
    for (uint32_t i = 0; i < plugin->interest_count; i++) {
        uint32_t resource = intern_resource(registry, wanted->interests[i].resource);

        if (resource == NO_NAME) {
            return false;
        }
        plugin->interests[i] =
            (struct interest){.kind = {resource, wanted->interests[i].actions}, .hint = wanted->interests[i].hint};
    }
    return true;
}

static bool
match_all_events(struct registry *registry, struct profile *profile, const struct plugin *plugin, uint32_t number)
{
    for (uint32_t i = 0; i < registry->event_count; i++) {
        if (!match_add_plugin(registry, &profile->matches[i], plugin, number, registry->events[i].kind)) {
            for (uint32_t j = 0; j < i; j++) {
                match_remove_plugin(registry, &profile->matches[j], UINT64_C(1) << number);
            }
            return false;
        }
    }
    return true;
}

static void
plugin_clear(struct registry *registry, struct plugin *plugin)
{
    memory_free(registry->memory, MEMORY_OTHER, plugin->interests, plugin->interest_count * sizeof *plugin->interests);
    memset(plugin, 0, sizeof *plugin);
}

schedq_status_t
registry_add_plugin(struct registry *registry, const schedq_plugin_t *wanted, uint64_t *bit)
{
    struct profile *profile = registry->profiles[wanted->profile];
    uint32_t number = profile->plugin_count;

    if (find_plugin(profile, wanted->name, strlen(wanted->name), &number) != NULL) {
        *bit = UINT64_C(1) << number;
        return SCHEDQ_EXISTS;
    }
    if (profile->plugin_count == REGISTRY_PLUGINS_MAX) {
        return SCHEDQ_FULL;
    }
    struct plugin *plugin = &profile->plugins[number];
    name_set(&plugin->name, wanted->name, strlen(wanted->name));
    plugin->flags = wanted->flags;
    plugin->pre_enqueue = wanted->pre_enqueue;
    plugin->ctx = wanted->ctx;
    if (!copy_interests(registry, plugin, wanted) || !match_all_events(registry, profile, plugin, number)) {
        plugin_clear(registry, plugin);
        return SCHEDQ_NOMEM;
    }
    if (plugin->pre_enqueue != NULL) {
        profile->gates[profile->gate_count++] =
            (struct gate){.number = (uint8_t)number, .pre_enqueue = plugin->pre_enqueue, .ctx = plugin->ctx};
    }
    *bit = UINT64_C(1) << number;
    profile->spread |= (plugin->flags & SCHEDQ_PLUGIN_SPREAD) != 0 ? *bit : 0;
    profile->plugin_count++;
    word_store(&profile->known, profile->known | *bit);
    return SCHEDQ_OK;
}

uint64_t
registry_rejector(struct registry *registry, schedq_profile_t number, const char *name, uint32_t length)
{
    struct profile *profile = registry->profiles[number];
    uint32_t plugin = profile->plugin_count;

    if (find_plugin(profile, name, length, &plugin) != NULL) {
        return UINT64_C(1) << plugin;
    }
    if (plugin == REGISTRY_PLUGINS_MAX) {
        return SCHEDQ_REJECTOR_OTHERS;
    }
    name_set(&profile->plugins[plugin].name, name, length);
    profile->plugin_count++;
    profile->late |= UINT64_C(1) << plugin;
    word_store(&profile->known, profile->known | UINT64_C(1) << plugin);
    return UINT64_C(1) << plugin;
}

/* ---- questions --------------------------------------------------------------------------------------------------------- */

uint32_t
registry_event_count(const struct registry *registry)
{
    return word_load(&registry->event_count);
}

uint32_t
registry_profile_count(const struct registry *registry)
{
    return registry->profile_count;
}

uint64_t
registry_known(const struct registry *registry, schedq_profile_t profile)
{
    return word_load(&registry->profiles[profile]->known);
}

uint64_t
registry_gate_bits(const struct registry *registry, schedq_profile_t number)
{
    const struct profile *profile = registry->profiles[number];
    uint64_t bits = 0;

    if (registry->rules->host) {
        return registry_known(registry, number) & ~SCHEDQ_REJECTOR_OTHERS;
    }
    for (uint32_t i = 0; i < profile->gate_count; i++) {
        bits |= UINT64_C(1) << profile->gates[i].number;
    }
    return bits;
}

static uint64_t
always_reached(const struct registry *registry, const struct profile *profile)
{
    return registry->rules->match == MATCH_ALL ? UINT64_MAX : profile->late | SCHEDQ_REJECTOR_OTHERS;
}

bool
registry_is_registered(const struct registry *registry, schedq_event_t event)
{
    if (registry->events[event].wildcard || registry->rules->match == MATCH_ALL) {
        return true;
    }
    for (uint32_t i = 0; i < registry->profile_count; i++) {
        if (registry->profiles[i]->matches[event].count > 0 || registry->profiles[i]->late != 0) {
            return true;
        }
    }
    return false;
}

struct hint_list
registry_hints(const struct registry *registry, schedq_profile_t number, schedq_event_t event)
{
    const struct profile *profile = registry->profiles[number];
    const struct match *match = &profile->matches[event];

    return (struct hint_list){
        .entries = match->entries, .count = match->count, .always = always_reached(registry, profile)};
}

uint64_t
registry_reached(const struct registry *registry, schedq_profile_t number, schedq_event_t event)
{
    const struct profile *profile = registry->profiles[number];

    if (registry->events[event].wildcard) {
        return UINT64_MAX;
    }
    return profile->matches[event].interested | always_reached(registry, profile);
}

bool
registry_gate_registered(const struct registry *registry, schedq_profile_t profile, uint8_t gate, schedq_event_t event)
{
    return (registry->profiles[profile]->matches[event].interested & gate_bit(gate)) != 0;
}

/* ---- life ---------------------------------------------------------------------------------------------------------------- */

static bool
intern_fixed_names(struct registry *registry)
{
    bool early = registry->rules->kube_minor != 0 && registry->rules->kube_minor <= 30;
    const char *const resources[] = {"*", "Pod", "AssignedPod", "UnschedulablePod", "Node"};
    const char *const labels[] = {early ? "PodAdd" : "UnschedulablePodAdd",
                                  early ? "PodUpdate" : "UnschedulablePodUpdate",
                                  "ScheduleAttemptFailure",
                                  "BackoffComplete",
                                  "PopFromBackoffQ",
                                  "ForceActivate",
                                  "UnschedulableTimeout"};

    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++) {
        if (intern_resource(registry, resources[i]) == NO_NAME) {
            return false;
        }
    }
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        if (intern_label(registry, labels[i]) == NO_NAME) {
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
                                            SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION};
    static const struct {
        const char *resource;
        const uint32_t *actions;
        size_t count;
    } groups[] = {
        {"UnschedulablePod", pod_actions, sizeof pod_actions / sizeof pod_actions[0]},
        {"AssignedPod", pod_actions, sizeof pod_actions / sizeof pod_actions[0]},
        {"Node", node_actions, sizeof node_actions / sizeof node_actions[0]},
    };
    schedq_event_t event;

    if (registry_define_event(registry, "*", SCHEDQ_ACTION_ALL, NULL, &event) != SCHEDQ_OK) {
        return false;
    }
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        for (size_t j = 0; j < groups[i].count; j++) {
            if (registry_define_event(registry, groups[i].resource, groups[i].actions[j], NULL, &event) != SCHEDQ_OK) {
                return false;
            }
        }
    }
    return true;
}

bool
registry_open(struct registry *registry, struct memory *memory, const struct rules *rules, uint32_t events_max)
{
    schedq_profile_t profile;

    *registry = (struct registry){
        .memory = memory, .rules = rules, .events_max = events_max == 0 ? REGISTRY_EVENTS_MAX : events_max};
    return intern_fixed_names(registry) && registry_define_profile(registry, DEFAULT_PROFILE, &profile) == SCHEDQ_OK &&
           define_fixed_events(registry);
}

void
registry_close(struct registry *registry)
{
    struct memory *memory = registry->memory;

    for (uint32_t i = 0; i < registry->profile_count; i++) {
        profile_free(registry, registry->profiles[i], registry->event_count);
    }
    memory_free(memory, MEMORY_OTHER, registry->profiles, registry->profile_capacity * sizeof(struct profile *));
    memory_free(memory, MEMORY_OTHER, registry->events, registry->event_capacity * sizeof *registry->events);
    memory_free(memory, MEMORY_OTHER, registry->resources, registry->resource_capacity * sizeof *registry->resources);
    memory_free(memory, MEMORY_OTHER, registry->labels, registry->label_capacity * sizeof *registry->labels);
}
