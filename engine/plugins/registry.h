/*
 * What the caller registered: profiles, their plugins, events; and for each event and profile,
 * which plugins it concerns.
 *
 * All matching of events with registrations is done here, when either is registered, so that a move
 * looks a list up and compares no string.
 *
 * THREADS. Nothing here locks, waits, or goes back: what is published stays until registry_close,
 * so an id is valid until then.
 *   setup alone   registry_define_profile, registry_add_plugin: they overlap with no other call.
 *           What they write is plain.
 *   any time      the rest, on any threads. registry_define_event and registry_rejector publish an
 *                 object that is complete by one CAS into the first free slot of a row (events.c,
 *                 profiles.c); a call that loses the slot looks at what took it. So numbers are
 *                 dense, and the same name never gets two.
 */
#ifndef SCHEDQ_PLUGINS_REGISTRY_H
#define SCHEDQ_PLUGINS_REGISTRY_H

#include "platform/atomic.h"
#include "platform/memory.h"
#include "policy/label.h"
#include "policy/requeue.h"
#include "policy/rules.h"

#define REGISTRY_NAME_MAX 127
#define REGISTRY_PLUGINS_MAX 63
/* bits of a rejector set: and SCHEDQ_REJECTOR_OTHERS */
#define REGISTRY_REJECTORS (REGISTRY_PLUGINS_MAX + 1)
#define REGISTRY_PROFILES_MAX 255
#define REGISTRY_EVENTS_MAX 65535

struct registry_name {
    char text[REGISTRY_NAME_MAX + 1];
};

/* Events lie in chunks, which are made when their first event is and never move. */
#define EVENT_CHUNK 256
#define EVENT_CHUNKS (REGISTRY_EVENTS_MAX / EVENT_CHUNK + 1)

struct profile;

struct registry {
    struct memory *memory;
    const struct rules *rules;
    const char *const *fixed_labels; /* LABEL_FIRST_EVENT texts */
    uint32_t events_max;
    /* Of setup alone. */
    bool has_gates; /* some plugin has a PreEnqueue */
    bool has_hints; /* some plugin has a hint */
    bool has_pre_hints;
    struct profile **profiles;
    uint32_t profile_count, profile_capacity;
    /* those that match.h has numbers for, and those of interests */
    struct registry_name *resources;
    uint32_t resource_count, resource_capacity;
    /* Written at any time. */
    /* so many slots are taken, at least; raised above an id before the id is returned */
    atomic_u64 event_count;
    atomic_ptr event_chunks[EVENT_CHUNKS];
};

/**
 * With the default profile and the predefined events. False if there is no memory; close it then
 * too.
 */
bool registry_open(struct registry *registry, struct memory *memory, const struct rules *rules,
                   uint32_t events_max);
void registry_close(struct registry *registry);

/* Each leaves the registry as it was unless it returns SCHEDQ_OK. Arguments were checked. */
schedq_status_t registry_define_event(struct registry *registry, const char *resource,
                                      uint32_t actions, const char *label, schedq_event_t *event);
schedq_status_t registry_define_profile(struct registry *registry, const char *name,
                                        schedq_profile_t *profile);
schedq_status_t registry_add_plugin(struct registry *registry, const schedq_plugin_t *plugin,
                                    uint64_t *bit);

/**
 * The bit of a name, which is published if it is new. SCHEDQ_REJECTOR_OTHERS if the numbers are
 * used up.
 *
 * Allocates only after calls that overlapped spent the profile's spares: never under an engine's
 * lock. If it then finds no memory: SCHEDQ_REJECTOR_OTHERS.
 */
uint64_t registry_rejector(struct registry *registry, schedq_profile_t profile, const char *name,
                           uint32_t length);

/* ---- profiles and plugins -------------------------------------------------------------------- */

static inline uint32_t
registry_profile_count(const struct registry *registry)
{
    return registry->profile_count;
}

const char *registry_profile_name(const struct registry *registry, schedq_profile_t profile);

/** Bits that rejector sets of this profile may hold. */
uint64_t registry_known(const struct registry *registry, schedq_profile_t profile);
/**
 * Those whose names came late: every event reaches them. A bit that was seen among the known is
 * seen here afterwards.
 */
uint64_t registry_late(const struct registry *registry, schedq_profile_t profile);
/**
 * Late ones and SCHEDQ_REJECTOR_OTHERS: a host's mask may have been computed before they had a bit.
 */
uint64_t registry_reached_always(const struct registry *registry, schedq_profile_t profile);
/**
 * The name of a plugin, late names included; `number` is that of a known bit other than
 * SCHEDQ_REJECTOR_OTHERS.
 */
const char *registry_plugin_name(const struct registry *registry, schedq_profile_t profile,
                                 uint32_t number);

/** How often the plugin's pre-queueing hints listed pods, or answered that all are concerned. */
uint64_t registry_pre_hints_said(const struct registry *registry, schedq_profile_t profile,
                                 uint32_t number, bool listed);

/** Plugins with SCHEDQ_PLUGIN_SPREAD. */
uint64_t registry_spread(const struct registry *registry, schedq_profile_t profile);
/** Plugins that have a PreEnqueue, or all with host decisions. */
uint64_t registry_gate_bits(const struct registry *registry, schedq_profile_t profile);
/** What gating_ask asks. */
const struct gate *registry_gates(const struct registry *registry, schedq_profile_t profile,
                                  uint32_t *count);

/* ---- events ---------------------------------------------------------------------------------- */

uint32_t registry_event_count(const struct registry *registry);
/** It was defined. The calls below are for such events only. */
bool registry_has_event(const struct registry *registry, schedq_event_t event);
bool registry_is_wildcard(const struct registry *registry, schedq_event_t event);
uint32_t registry_actions(const struct registry *registry, schedq_event_t event);

/**
 * The number under which moves by this event are counted: that of the first event with the same
 * label text, or LABEL_*.
 */
uint32_t registry_label(const struct registry *registry, schedq_event_t event);
/** All label numbers are below; it only grows. */
uint32_t registry_label_count(const struct registry *registry);
/** NULL for a number that no label has: that of an event that is counted under another one's. */
const char *registry_label_text(const struct registry *registry, uint32_t label);

/** Did any plugin of any profile ask for this event? Always true for the wildcard. */
bool registry_is_registered(const struct registry *registry, schedq_event_t event);

struct hint_list registry_hints(const struct registry *registry, schedq_profile_t profile,
                                schedq_event_t event);

/**
 * Is the event worth another attempt of a pod? The wildcard is to every one, after its backoff.
 * `calls`: requeue.h.
 */
enum strategy registry_judge(const struct registry *registry, schedq_profile_t profile,
                             schedq_event_t event, const struct requeue_question *question,
                             uint64_t *calls);

/** The rejectors of a profile that an event reaches; all for the wildcard. */
uint64_t registry_reached(const struct registry *registry, schedq_profile_t profile,
                          schedq_event_t event);

/** Does a pod behind this gate hear of the event? Without a gate (0) each does. */
bool registry_gate_hears(const struct registry *registry, schedq_profile_t profile, uint8_t gate,
                         schedq_event_t event);

#endif
