/* The lists of narrow.h. */
#include "plugins/narrow.h"

#include "platform/hash.h"
#include "platform/inside.h"
#include "plugins/parts.h"

#include <string.h>

#define LISTED_FIRST 64

void
narrow_begin(struct schedq_pod_list *list, const struct registry *registry, uint64_t seed)
{
    *list = (struct schedq_pod_list){
        .memory = registry->memory, .seed = seed, .profiles = registry->profile_count};
    list->narrowed = memory_alloc(list->memory, MEMORY_OTHER,
                                  list->profiles * sizeof *list->narrowed, CACHE_LINE);
    list->failed = list->narrowed == NULL;
}

void
narrow_end(struct schedq_pod_list *list)
{
    memory_free(list->memory, MEMORY_OTHER, list->narrowed,
                list->profiles * sizeof *list->narrowed);
    memory_free(list->memory, MEMORY_OTHER, list->listed, list->capacity * sizeof *list->listed);
    memory_free(list->memory, MEMORY_OTHER, list->chains, list->capacity * sizeof *list->chains);
    memory_free(list->memory, MEMORY_OTHER, list->texts, list->room);
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t *
chain_of(const struct schedq_pod_list *list, uint32_t hash)
{
    return &list->chains[hash & (list->capacity - 1)];
}

static void
enter_chain(struct schedq_pod_list *list, uint32_t number)
{
    uint32_t *chain = chain_of(list, list->listed[number].hash);

    list->listed[number].next = *chain;
    *chain = number + 1;
}

/* Twice as many chains, too. False: no memory, nothing changed. */
static bool
grow_listed(struct schedq_pod_list *list)
{
    uint32_t old = list->capacity, capacity = old == 0 ? LISTED_FIRST : 2 * old;
    uint32_t *chains =
        memory_alloc(list->memory, MEMORY_OTHER, capacity * sizeof *chains, CACHE_LINE);
    struct listed *listed = chains == NULL ? NULL
                                           : memory_grow(list->memory, MEMORY_OTHER, list->listed,
                                                         old, capacity, sizeof *listed);

    if (listed == NULL) {
        memory_free(list->memory, MEMORY_OTHER, chains, capacity * sizeof *chains);
        return false;
    }
    memory_free(list->memory, MEMORY_OTHER, list->chains, old * sizeof *chains);
    list->listed = listed;
    list->chains = chains;
    list->capacity = capacity;
    for (uint32_t i = 0; i < list->count; i++) {
        enter_chain(list, i);
    }
    return true;
}

static bool
grow_texts(struct schedq_pod_list *list, size_t length)
{
    size_t room = list->room == 0 ? LISTED_FIRST * sizeof(struct listed) : list->room;

    while (room < list->used + length) {
        room *= 2;
    }
    char *texts =
        memory_grow(list->memory, MEMORY_OTHER, list->texts, list->room, room, sizeof *texts);

    if (texts == NULL) {
        return false;
    }
    list->texts = texts;
    list->room = room;
    return true;
}

schedq_status_t
schedq_pod_list_add(schedq_pod_list_t *list, const char *name, size_t length)
{
    if (list == NULL || name == NULL || length == 0 || length > SCHEDQ_NAME_MAX) {
        return SCHEDQ_INVALID;
    }
    if ((list->count == list->capacity && !grow_listed(list)) ||
        (list->used + length > list->room && !grow_texts(list, length))) {
        list->failed = true;
        return SCHEDQ_NOMEM;
    }
    memcpy(list->texts + list->used, name, length);
    list->listed[list->count] = (struct listed){
        .hash = hash_text(list->seed, name, (uint32_t)length),
        .length = (uint32_t)length,
        .text = list->used,
        .bit = list->bit,
        .profile = list->profile,
    };
    list->used += length;
    enter_chain(list, list->count++);
    return SCHEDQ_OK;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* False: nothing is narrowed. */
static bool
ask_one(struct schedq_pod_list *list, struct plugin *plugin, schedq_pre_hint_fn pre_hint,
        uint64_t old_object, uint64_t new_object)
{
    inside_calls(
        inside_plugin(CALLBACK_PRE_HINT, (uint32_t)__builtin_ctzll(list->bit), list->profile));
    bool listed = pre_hint(plugin->ctx, old_object, new_object, list) == SCHEDQ_PRE_HINT_LISTED;

    inside_calls(CALLBACK_NONE);
    (void)u64_add(&plugin->pre_hints_said[listed ? 1 : 0], 1);
    list->narrowed[list->profile] |= list->bit;
    return listed && !list->failed;
}

static bool
ask_plugin(struct schedq_pod_list *list, const struct registry *registry, struct plugin *plugin,
           struct event_kind kind, uint64_t old_object, uint64_t new_object)
{
    for (uint32_t i = 0; i < plugin->interest_count; i++) {
        const struct interest *interest = &plugin->interests[i];

        if (interest->pre_hint != NULL &&
            match_event(registry->rules->match, interest->kind, kind) &&
            !ask_one(list, plugin, interest->pre_hint, old_object, new_object)) {
            return false;
        }
    }
    return true;
}

bool
narrow_ask(struct schedq_pod_list *list, struct registry *registry, schedq_event_t event,
           uint64_t old_object, uint64_t new_object)
{
    const struct event_kind kind = event_kind(registry, event_at(registry, event));
    uint64_t any = 0;

    for (uint32_t i = 0; i < list->profiles && !list->failed; i++) {
        struct profile *profile = registry->profiles[i];

        list->profile = (schedq_profile_t)i;
        for (uint32_t j = 0; j < REGISTRY_PLUGINS_MAX; j++) {
            struct plugin *plugin = ptr_load_acquire(&profile->plugins[j]); /* as plugin_at */

            if (plugin == NULL) {
                break;
            }
            list->bit = UINT64_C(1) << j;
            if (!ask_plugin(list, registry, plugin, kind, old_object, new_object)) {
                return false;
            }
        }
        any |= list->narrowed[i];
    }
    return any != 0 && !list->failed;
}

bool
narrow_concerns(const struct schedq_pod_list *list, schedq_profile_t profile, const char *name,
                uint32_t length, uint64_t *silent)
{
    uint32_t hash = hash_text(list->seed, name, length);
    uint32_t number = list->count > 0 ? *chain_of(list, hash) : 0;
    bool concerns = false;

    *silent = list->narrowed[profile];
    for (; number != 0; number = list->listed[number - 1].next) {
        const struct listed *listed = &list->listed[number - 1];

        if (listed->hash != hash || listed->length != length ||
            memcmp(list->texts + listed->text, name, length) != 0) {
            continue;
        }
        concerns = true;
        *silent &= listed->profile == profile ? ~listed->bit : UINT64_MAX;
    }
    return concerns;
}
