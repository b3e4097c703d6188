/* Events, profiles, plugins, rejectors: what a caller registers. */
#include "api/call.h"
#include "api/check.h"

#include <inttypes.h>
#include <string.h>

#define INTERESTS_MAX 256

static bool
check_pointer(const void *argument, const char *name, char *why, size_t why_size)
{
    if (argument == NULL) {
        say(why, why_size, "%s NULL: a pointer", name);
        return false;
    }
    return true;
}

/* What an engine's refusal means here. */
static void
say_setup_is_over(schedq_status_t status, char *why, size_t why_size)
{
    if (status == SCHEDQ_BUSY) {
        say(why, why_size, SETUP_IS_OVER);
    }
}

static bool
check_actions(uint32_t actions, char *why, size_t why_size)
{
    if (actions == 0 || (actions & ~(uint32_t)SCHEDQ_ACTION_ALL) != 0) {
        say(why, why_size, "actions 0x%" PRIx32 ": one or more bits of 0x%x", actions,
            SCHEDQ_ACTION_ALL);
        return false;
    }
    return true;
}

schedq_status_t
schedq_event_define(schedq_t *queue, const char *resource, uint32_t actions, const char *label,
                    schedq_event_t *event, char *why, size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    bool legal = check_pointer(resource, "resource", why, why_size) &&
                 check_pointer(event, "event", why, why_size) &&
                 check_text(why, why_size, "resource", resource, strlen(resource)) &&
                 check_actions(actions, why, why_size) &&
                 (label == NULL || label[0] == '\0' ||
                  check_text(why, why_size, "label", label, strlen(label)));

    status =
        legal ? queue->ops->event_define(queue, resource, actions, label, event) : SCHEDQ_INVALID;
    if (status == SCHEDQ_FULL) {
        say(why, why_size, "events: %" PRIu32 " are defined, as many as there may be (max_events)",
            registry_event_count(&queue->registry));
    }
    call_end(&call);
    return status;
}

schedq_status_t
schedq_profile_define(schedq_t *queue, const char *name, schedq_profile_t *profile, char *why,
                      size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    bool legal = check_pointer(name, "name", why, why_size) &&
                 check_pointer(profile, "profile", why, why_size) &&
                 check_text(why, why_size, "name", name, strlen(name));

    status = legal ? queue->ops->profile_define(queue, name, profile) : SCHEDQ_INVALID;
    if (status == SCHEDQ_FULL) {
        say(why, why_size, "profiles: %d are defined, as many as there may be",
            REGISTRY_PROFILES_MAX);
    }
    say_setup_is_over(status, why, why_size);
    call_end(&call);
    return status;
}

static bool
check_interest(const schedq_t *queue, const schedq_interest_t *interest, char *why, size_t why_size)
{
    if (!check_pointer(interest->resource, "interest.resource", why, why_size) ||
        !check_text(why, why_size, "interest.resource", interest->resource,
                    strlen(interest->resource)) ||
        !check_actions(interest->actions, why, why_size)) {
        return false;
    }
    if (interest->reserved != 0) {
        say(why, why_size, "interest.reserved %" PRIu32 ": 0", interest->reserved);
        return false;
    }
    if (queue->rules.host && interest->hint != NULL) {
        say(why, why_size, "interest.hint: NULL, since decide is SCHEDQ_DECIDE_HOST");
        return false;
    }
    return true;
}

static bool
check_plugin_fields(const schedq_t *queue, const schedq_plugin_t *plugin, char *why,
                    size_t why_size)
{
    uint32_t profiles = registry_profile_count(&queue->registry);

    if (plugin->struct_size != sizeof *plugin) {
        say(why, why_size, "plugin.struct_size %" PRIu32 ": %zu, as SCHEDQ_PLUGIN_INIT sets it",
            plugin->struct_size, sizeof *plugin);
        return false;
    }
    if (plugin->profile >= profiles) {
        say(why, why_size, "plugin.profile %u: 0..%" PRIu32, plugin->profile, profiles - 1);
        return false;
    }
    if ((plugin->flags & ~SCHEDQ_PLUGIN_SPREAD) != 0) {
        say(why, why_size, "plugin.flags 0x%x: 0 or SCHEDQ_PLUGIN_SPREAD", plugin->flags);
        return false;
    }
    if (plugin->reserved[0] != 0 || plugin->reserved[1] != 0) {
        say(why, why_size, "plugin.reserved %u, %u: 0, as its initializer sets it",
            plugin->reserved[0], plugin->reserved[1]);
        return false;
    }
    if (plugin->interest_count > INTERESTS_MAX ||
        (plugin->interest_count > 0 && plugin->interests == NULL)) {
        say(why, why_size, "plugin.interest_count %zu: 0..%d, with as many interests",
            plugin->interest_count, INTERESTS_MAX);
        return false;
    }
    if (queue->rules.host && plugin->pre_hints != NULL) {
        say(why, why_size, "plugin.pre_hints: NULL, since decide is SCHEDQ_DECIDE_HOST");
        return false;
    }
    if (queue->rules.host && plugin->pre_enqueue != NULL) {
        say(why, why_size, "plugin.pre_enqueue: NULL, since decide is SCHEDQ_DECIDE_HOST");
        return false;
    }
    return true;
}

static bool
check_plugin(const schedq_t *queue, const schedq_plugin_t *plugin, char *why, size_t why_size)
{
    if (!check_pointer(plugin, "plugin", why, why_size) ||
        !check_plugin_fields(queue, plugin, why, why_size) ||
        !check_pointer(plugin->name, "plugin.name", why, why_size) ||
        !check_text(why, why_size, "plugin.name", plugin->name, strlen(plugin->name))) {
        return false;
    }
    for (size_t i = 0; i < plugin->interest_count; i++) {
        if (!check_interest(queue, &plugin->interests[i], why, why_size)) {
            return false;
        }
    }
    return true;
}

schedq_status_t
schedq_plugin_register(schedq_t *queue, const schedq_plugin_t *plugin, uint64_t *bit, char *why,
                       size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    bool legal =
        check_plugin(queue, plugin, why, why_size) && check_pointer(bit, "bit", why, why_size);

    status = legal ? queue->ops->plugin_register(queue, plugin, bit) : SCHEDQ_INVALID;
    if (status == SCHEDQ_FULL) {
        say(why, why_size, "plugins: profile %u has %d, as many as there may be", plugin->profile,
            REGISTRY_PLUGINS_MAX);
    }
    say_setup_is_over(status, why, why_size);
    call_end(&call);
    return status;
}

schedq_status_t
schedq_plugin_name(schedq_t *queue, schedq_profile_t profile, const char *name, size_t length,
                   uint64_t *bit, char *why, size_t why_size)
{
    struct call call;
    struct registry_name copy;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;

    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    call_end(&call);
    if (!check_pointer(name, "name", why, why_size) ||
        !check_text(why, why_size, "name", name, length)) {
        return SCHEDQ_INVALID;
    }
    memcpy(copy.text, name, length);
    copy.text[length] = '\0';
    plugin.profile = profile;
    plugin.name = copy.text;
    return schedq_plugin_register(queue, &plugin, bit, why, why_size);
}

uint64_t
schedq_event_plugins(schedq_t *queue, schedq_profile_t profile, schedq_event_t event)
{
    struct call call;
    uint64_t plugins = 0;

    if (call_begin(&call, queue) != SCHEDQ_OK) {
        return 0;
    }
    if (profile < registry_profile_count(&queue->registry) &&
        registry_has_event(&queue->registry, event)) {
        plugins = queue->ops->event_plugins(queue, profile, event);
    }
    call_end(&call);
    return plugins;
}

uint64_t
schedq_rejector_bit(schedq_t *queue, schedq_profile_t profile, const char *name, size_t length)
{
    struct call call;
    uint64_t bit = 0;

    if (call_begin(&call, queue) != SCHEDQ_OK) {
        return 0;
    }
    if (profile < registry_profile_count(&queue->registry) && name != NULL &&
        check_text(NULL, 0, "name", name, length)) {
        bit = queue->ops->rejector_bit(queue, profile, name, (uint32_t)length);
    }
    call_end(&call);
    return bit;
}
