/*
 * Profiles, their plugins, and names that come late.
 *
 * Setup writes plugins, alone. A late name takes the next slot of its profile at any time, like an
 * event (events.c): a call that loses a slot looks at the name that took it. A bit is returned only
 * after it is in `late` and then in `known`; a call that finds a name which is not known yet makes
 * it known.
 *
 * An object for each slot, a spare, comes with the profile, so that an engine whose calls do not
 * overlap never lacks memory for a name. A spare of a call that lost to the same name goes back if
 * no later one was taken, and else stays unused.
 */
#include "platform/inside.h"
#include "plugins/parts.h"

#include <string.h>

static uint64_t
bit_of(uint32_t number)
{
    return UINT64_C(1) << number;
}

/* ---- spares ---------------------------------------------------------------------------------- */

/* A zeroed plugin; NULL: the spares are used up and there is no memory. */
static struct plugin *
plugin_take(struct registry *registry, struct profile *profile)
{
    uint32_t used = u32_load(&profile->spares_used);

    while (used < REGISTRY_PLUGINS_MAX) {
        if (u32_swing(&profile->spares_used, &used, used + 1)) {
            profile->spares[used].spare = used + 1;
            return &profile->spares[used];
        }
    }
    return memory_alloc(registry->memory, MEMORY_OTHER, sizeof(struct plugin), CACHE_LINE);
}

/* Of a plugin that was not published. */
static void
plugin_give(struct registry *registry, struct profile *profile, struct plugin *plugin)
{
    uint32_t spare = plugin->spare;

    memory_free(registry->memory, MEMORY_OTHER, plugin->interests,
                plugin->interest_count * sizeof *plugin->interests);
    if (spare == 0) {
        memory_free(registry->memory, MEMORY_OTHER, plugin, sizeof *plugin);
    } else {
        memset(plugin, 0, sizeof *plugin);
        (void)u32_cas(&profile->spares_used, spare, spare - 1);
    }
}

/* ---- profiles -------------------------------------------------------------------------------- */

void
profile_free(struct registry *registry, struct profile *profile)
{
    for (uint32_t i = 0; i < REGISTRY_PLUGINS_MAX; i++) {
        struct plugin *plugin = ptr_load(&profile->plugins[i]);

        if (plugin != NULL) {
            plugin_give(registry, profile, plugin);
        }
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
    if (!make_room(registry->memory, (void **)&registry->profiles, registry->profile_count,
                   &registry->profile_capacity, sizeof(struct profile *)) ||
        !events_make_profile_room(registry)) {
        return SCHEDQ_NOMEM;
    }
    struct profile *profile =
        memory_alloc(registry->memory, MEMORY_OTHER, sizeof *profile, CACHE_LINE);
    if (profile == NULL) {
        return SCHEDQ_NOMEM;
    }
    name_set(&profile->name, name, strlen(name));
    u64_store(&profile->known, SCHEDQ_REJECTOR_OTHERS);
    *number = (schedq_profile_t)registry->profile_count;
    registry->profiles[registry->profile_count++] = profile;
    return SCHEDQ_OK;
}

/* ---- plugins --------------------------------------------------------------------------------- */

/*
 * Goes on until `*number` is that of the plugin with this name (true), or is free, or the row ends.
 */
static bool
search(const struct profile *profile, const char *name, size_t length, uint32_t *number)
{
    for (; *number < REGISTRY_PLUGINS_MAX; ++*number) {
        const struct plugin *plugin = plugin_at(profile, *number);

        if (plugin == NULL || name_is(&plugin->name, name, length)) {
            return plugin != NULL;
        }
    }
    return false;
}

static bool
copy_interests(struct registry *registry, struct plugin *plugin, const schedq_plugin_t *wanted)
{
    if (wanted->interest_count == 0) {
        return true;
    }
    plugin->interests =
        memory_alloc(registry->memory, MEMORY_OTHER,
                     wanted->interest_count * sizeof *plugin->interests, CACHE_LINE);
    if (plugin->interests == NULL) {
        return false;
    }
    plugin->interest_count = (uint32_t)wanted->interest_count;
    for (uint32_t i = 0; i < plugin->interest_count; i++) {
        uint32_t resource = resource_add(registry, wanted->interests[i].resource);

        if (resource == RESOURCE_UNREGISTERED) {
            return false;
        }
        plugin->interests[i] =
            (struct interest){.kind = {resource, wanted->interests[i].actions},
                              .hint = wanted->interests[i].hint,
                              .pre_hint = wanted->pre_hints != NULL ? wanted->pre_hints[i] : NULL};
        registry->has_pre_hints = registry->has_pre_hints || plugin->interests[i].pre_hint != NULL;
        registry->has_hints = registry->has_hints || wanted->interests[i].hint != NULL;
    }
    return true;
}

static bool
match_all_events(struct registry *registry, schedq_profile_t profile, const struct plugin *plugin,
                 uint32_t number)
{
    struct event *event;

    for (uint32_t i = 0; i < registry->events_max && (event = event_find(registry, i)) != NULL;
         i++) {
        if (!match_add_plugin(registry, &event->matches[profile], plugin, number,
                              event_kind(registry, event))) {
            for (uint32_t j = 0; j < i; j++) {
                match_remove_plugin(&event_find(registry, j)->matches[profile], bit_of(number));
            }
            return false;
        }
    }
    return true;
}

static void
add_gate(struct registry *registry, struct profile *profile, const struct plugin *plugin,
         uint32_t number, schedq_pre_enqueue_fn pre_enqueue)
{
    if (pre_enqueue != NULL) {
        registry->has_gates = true;
        profile->gates[profile->gate_count++] =
            (struct gate){.number = (uint8_t)number,
                          .what = inside_plugin(CALLBACK_PRE_ENQUEUE, number, plugin->profile),
                          .pre_enqueue = pre_enqueue,
                          .ctx = plugin->ctx};
        profile->gate_bits |= bit_of(number);
    }
}

schedq_status_t
registry_add_plugin(struct registry *registry, const schedq_plugin_t *wanted, uint64_t *bit)
{
    struct profile *profile = registry->profiles[wanted->profile];
    uint32_t number = 0;

    if (search(profile, wanted->name, strlen(wanted->name), &number)) {
        *bit = bit_of(number);
        return SCHEDQ_EXISTS;
    }
    if (number == REGISTRY_PLUGINS_MAX) {
        return SCHEDQ_FULL;
    }
    struct plugin *plugin = plugin_take(registry, profile);
    if (plugin == NULL) {
        return SCHEDQ_NOMEM;
    }
    name_set(&plugin->name, wanted->name, strlen(wanted->name));
    plugin->ctx = wanted->ctx;
    plugin->profile = wanted->profile;
    if (!copy_interests(registry, plugin, wanted) ||
        !match_all_events(registry, wanted->profile, plugin, number)) {
        plugin_give(registry, profile, plugin);
        return SCHEDQ_NOMEM;
    }
    add_gate(registry, profile, plugin, number, wanted->pre_enqueue);
    *bit = bit_of(number);
    profile->spread |= (wanted->flags & SCHEDQ_PLUGIN_SPREAD) != 0 ? *bit : 0;
    ptr_store_release(&profile->plugins[number], plugin);
    u64_or(&profile->known, *bit);
    return SCHEDQ_OK;
}

/* ---- late names ------------------------------------------------------------------------------ */

/* False: the numbers are used up, or there is no memory. `*own` was taken if it is not NULL. */
static bool
find_or_publish(struct registry *registry, struct profile *profile, const char *name,
                uint32_t length, uint32_t *number, struct plugin **own)
{
    while (!search(profile, name, length, number)) {
        if (*number == REGISTRY_PLUGINS_MAX) {
            return false;
        }
        if (*own == NULL) {
            *own = plugin_take(registry, profile);
            if (*own == NULL) {
                return false;
            }
            name_set(&(*own)->name, name, length);
        }
        if (ptr_cas(&profile->plugins[*number], NULL, *own)) {
            *own = NULL;
            return true;
        }
    }
    return true;
}

uint64_t
registry_rejector(struct registry *registry, schedq_profile_t profile_number, const char *name,
                  uint32_t length)
{
    struct profile *profile = registry->profiles[profile_number];
    struct plugin *own = NULL;
    uint32_t number = 0;
    bool found = find_or_publish(registry, profile, name, length, &number, &own);

    if (own != NULL) {
        plugin_give(registry, profile, own);
    }
    if (!found) {
        return SCHEDQ_REJECTOR_OTHERS;
    }
    /* What setup registered is known; so this name came late. */
    if ((u64_load_acquire(&profile->known) & bit_of(number)) == 0) {
        u64_or(&profile->late, bit_of(number));
        u64_or(&profile->known, bit_of(number));
    }
    return bit_of(number);
}
