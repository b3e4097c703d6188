/*
 * What a registry consists of. Only the files of this directory include this; others ask
 * registry.h.
 *
 * An event and a late name never change after they were published; registry_define_profile and
 * registry_add_plugin, which are alone, extend the matches of events that are there.
 */
#ifndef SCHEDQ_PLUGINS_PARTS_H
#define SCHEDQ_PLUGINS_PARTS_H

#include "plugins/registry.h"

/* ---- names (registry.c) ---------------------------------------------------------------------- */

bool name_is(const struct registry_name *name, const char *text, size_t length);
void name_set(struct registry_name *name, const char *text, size_t length);

/** Makes room for one more element; the array and its capacity change only on success. */
bool make_room(struct memory *memory, void **array, uint32_t count, uint32_t *capacity,
               size_t element_bytes);

/**
 * The number of a resource that no interest names: an event with it matches only interests in all
 * resources.
 */
#define RESOURCE_UNREGISTERED UINT32_MAX

uint32_t resource_find(const struct registry *registry, const char *text);
/** Finds or adds it; setup alone. RESOURCE_UNREGISTERED if there is no memory. */
uint32_t resource_add(struct registry *registry, const char *text);

/* ---- plugins and profiles (profiles.c) ------------------------------------------------------- */

struct interest {
    struct event_kind kind;
    schedq_hint_fn hint;
    schedq_pre_hint_fn pre_hint;
};

/** A late name is a plugin without anything else. */
struct plugin {
    struct registry_name name;
    schedq_profile_t profile;
    uint32_t spare; /* 1 + which of the profile's spares it is; 0: it was allocated */
    uint32_t interest_count;
    struct interest *interests;
    void *ctx;
    atomic_u64 pre_hints_said[2]; /* how often they answered "all", and listed pods */
};

struct profile {
    atomic_u64 known;
    atomic_u64 late;
    uint64_t spread, gate_bits;
    uint32_t gate_count;
    atomic_u32 spares_used;
    atomic_ptr plugins[REGISTRY_PLUGINS_MAX]; /* taken from the first on */
    struct gate gates[REGISTRY_PLUGINS_MAX];
    struct registry_name name;
    struct plugin spares[REGISTRY_PLUGINS_MAX];
};

/** NULL: the slot is free, and so are those that follow. */
static inline const struct plugin *
plugin_at(const struct profile *profile, uint32_t number)
{
    return ptr_load_acquire(&profile->plugins[number]);
}

void profile_free(struct registry *registry, struct profile *profile);

/* ---- matches (matches.c) --------------------------------------------------------------------- */

/** One event as one profile sees it. */
struct match {
    struct hint_entry *entries;
    uint32_t count, capacity;
    uint64_t interested; /* plugins among entries */
};

/** Appends what one plugin registered for an event. False: no memory, nothing changed. */
bool match_add_plugin(struct registry *registry, struct match *match, const struct plugin *plugin,
                      uint32_t number, struct event_kind incoming);
/** Takes the entries of the plugin that was added last away again. */
void match_remove_plugin(struct match *match, uint64_t bit);
/**
 * Fills an empty match with what all plugins of a profile registered. False: no memory, it is
 * empty.
 */
bool match_add_profile(struct registry *registry, struct match *match,
                       const struct profile *profile, struct event_kind incoming);
void match_clear(struct registry *registry, struct match *match);

/* ---- events (events.c) ----------------------------------------------------------------------- */

struct event {
    struct match *matches; /* by profile */
    uint32_t match_capacity;
    uint32_t label; /* registry_label */
    uint32_t actions;
    bool wildcard;
    const char *resource, *label_text; /* in `texts` */
    char texts[];
};

/** The slot of an event: SCHEDQ_EVENT_NONE has none. */
static inline uint32_t
event_slot(schedq_event_t event)
{
    return event - 1u;
}

/** NULL: there is no event in this slot, nor in any that follows. */
struct event *event_find(const struct registry *registry, uint32_t slot);

/** An event that exists. */
static inline struct event *
event_at(const struct registry *registry, schedq_event_t event)
{
    uint32_t slot = event_slot(event);
    const atomic_ptr *chunk = ptr_load_acquire(&registry->event_chunks[slot / EVENT_CHUNK]);

    return ptr_load_acquire(&chunk[slot % EVENT_CHUNK]);
}

/** What match.h compares. The number of a resource becomes known when an interest names it. */
struct event_kind event_kind(const struct registry *registry, const struct event *event);

/** Makes room for one more profile in every event; setup alone. False: no memory. */
bool events_make_profile_room(struct registry *registry);
void events_free(struct registry *registry);

#endif
