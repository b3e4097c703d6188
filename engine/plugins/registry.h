/*
 * What the caller registered: profiles, their plugins, events; and for each event and profile, which plugins it concerns.
 *
 * All matching of events with registrations is done here, when either is registered, so that a move looks a list up and
 * compares no string. Nothing here locks: an engine calls it under its own rules. Only the counts and masks that argument
 * checks read (registry_event_count and so on) may be read at any time.
 */
#ifndef SCHEDQ_PLUGINS_REGISTRY_H
#define SCHEDQ_PLUGINS_REGISTRY_H

#include "platform/memory.h"
#include "policy/requeue.h"
#include "policy/rules.h"

#define REGISTRY_NAME_MAX 127
#define REGISTRY_PLUGINS_MAX 63
#define REGISTRY_PROFILES_MAX 255
#define REGISTRY_EVENTS_MAX 65535

/** Labels of what is no event of the cluster; labels of events follow. */
enum {
    LABEL_POD_ADD,
    LABEL_POD_UPDATE,
    LABEL_FAILURE,
    LABEL_BACKOFF_COMPLETE,
    LABEL_POP_FROM_BACKOFF,
    LABEL_FORCE_ACTIVATE,
    LABEL_LEFTOVER,
    LABEL_FIRST_EVENT
};

struct registry_name {
    char text[REGISTRY_NAME_MAX + 1];
};

struct interest {
    struct event_kind kind;
    schedq_hint_fn hint;
};

struct plugin {
    struct registry_name name;
    struct interest *interests;
    uint32_t interest_count;
    uint8_t flags;
    schedq_pre_enqueue_fn pre_enqueue;
    void *ctx;
};

/** One event as one profile sees it. */
struct match {
    struct hint_entry *entries;
    uint32_t count;
    uint64_t interested; /* plugins among entries */
};

struct profile {
    struct registry_name name;
    struct plugin plugins[REGISTRY_PLUGINS_MAX];
    struct gate gates[REGISTRY_PLUGINS_MAX];
    uint32_t plugin_count, gate_count;
    uint64_t known;        /* bits that a rejector set may hold */
    uint64_t late;         /* names that came late: every event reaches them */
    uint64_t spread;       /* SCHEDQ_PLUGIN_SPREAD */
    struct match *matches; /* by event */
    uint32_t match_capacity;
};

struct event {
    struct event_kind kind;
    uint32_t label;
    bool wildcard;
};

struct registry {
    struct memory *memory;
    const struct rules *rules;
    uint32_t events_max;
    struct profile **profiles;
    uint32_t profile_count, profile_capacity;
    struct event *events;
    uint32_t event_count, event_capacity;
    struct registry_name *resources;
    uint32_t resource_count, resource_capacity;
    struct registry_name *labels;
    uint32_t label_count, label_capacity;
};

/** With the default profile and the predefined events. False if there is no memory; close it then too. */
bool registry_open(struct registry *registry, struct memory *memory, const struct rules *rules, uint32_t events_max);
void registry_close(struct registry *registry);

/* Each leaves the registry as it was unless it returns SCHEDQ_OK. Arguments were checked. */
schedq_status_t registry_define_event(struct registry *registry, const char *resource, uint32_t actions,
                                      const char *label, schedq_event_t *event);
schedq_status_t registry_define_profile(struct registry *registry, const char *name, schedq_profile_t *profile);
schedq_status_t registry_add_plugin(struct registry *registry, const schedq_plugin_t *plugin, uint64_t *bit);

/** SCHEDQ_REJECTOR_OTHERS if the numbers are used up. */
uint64_t registry_rejector(struct registry *registry, schedq_profile_t profile, const char *name, uint32_t length);

uint32_t registry_event_count(const struct registry *registry);
uint32_t registry_profile_count(const struct registry *registry);
/** Bits that rejector sets of this profile may hold. */
uint64_t registry_known(const struct registry *registry, schedq_profile_t profile);
/** Plugins that have a PreEnqueue, or all with host decisions. */
uint64_t registry_gate_bits(const struct registry *registry, schedq_profile_t profile);

/** Did any plugin of any profile ask for this event? Always true for the wildcard. */
bool registry_is_registered(const struct registry *registry, schedq_event_t event);

struct hint_list registry_hints(const struct registry *registry, schedq_profile_t profile, schedq_event_t event);

/** The rejectors of a profile that an event reaches; all for the wildcard. */
uint64_t registry_reached(const struct registry *registry, schedq_profile_t profile, schedq_event_t event);

/** Did the plugin behind this gate register the event (the wildcard: register the wildcard)? */
bool registry_gate_registered(const struct registry *registry, schedq_profile_t profile, uint8_t gate,
                              schedq_event_t event);

#endif
