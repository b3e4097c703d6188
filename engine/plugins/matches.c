/* Which plugins of a profile an event concerns: lists of hints, in the order of registration. */
#include "platform/inside.h"
#include "plugins/parts.h"

static uint32_t
count_matching(const struct registry *registry, const struct plugin *plugin,
               struct event_kind incoming)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < plugin->interest_count; i++) {
        count += match_event(registry->rules->match, plugin->interests[i].kind, incoming) ? 1 : 0;
    }
    return count;
}

static bool
make_entry_room(struct registry *registry, struct match *match, uint32_t count)
{
    if (count <= match->capacity) {
        return true;
    }
    struct hint_entry *entries = memory_grow(registry->memory, MEMORY_OTHER, match->entries,
                                             match->capacity, count, sizeof *entries);
    if (entries == NULL) {
        return false;
    }
    match->entries = entries;
    match->capacity = count;
    return true;
}

bool
match_add_plugin(struct registry *registry, struct match *match, const struct plugin *plugin,
                 uint32_t number, struct event_kind incoming)
{
    uint32_t more = count_matching(registry, plugin, incoming);

    if (more == 0) {
        return true;
    }
    if (!make_entry_room(registry, match, match->count + more)) {
        return false;
    }
    match->interested |= UINT64_C(1) << number;
    for (uint32_t i = 0; i < plugin->interest_count; i++) {
        if (match_event(registry->rules->match, plugin->interests[i].kind, incoming)) {
            match->entries[match->count++] =
                (struct hint_entry){.bit = UINT64_C(1) << number,
                                    .hint = plugin->interests[i].hint,
                                    .ctx = plugin->ctx,
                                    .what = inside_plugin(CALLBACK_HINT, number, plugin->profile)};
        }
    }
    return true;
}

void
match_remove_plugin(struct match *match, uint64_t bit)
{
    while (match->count > 0 && match->entries[match->count - 1].bit == bit) {
        match->count--;
    }
    match->interested &= ~bit;
}

bool
match_add_profile(struct registry *registry, struct match *match, const struct profile *profile,
                  struct event_kind incoming)
{
    const struct plugin *plugin;

    for (uint32_t i = 0; i < REGISTRY_PLUGINS_MAX && (plugin = plugin_at(profile, i)) != NULL;
         i++) {
        if (!match_add_plugin(registry, match, plugin, i, incoming)) {
            match_clear(registry, match);
            return false;
        }
    }
    return true;
}

void
match_clear(struct registry *registry, struct match *match)
{
    memory_free(registry->memory, MEMORY_OTHER, match->entries,
                match->capacity * sizeof *match->entries);
    *match = (struct match){0};
}
