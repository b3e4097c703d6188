/*
 * Pre-queueing hints: the pods that a change can concern at all, by name.
 *
 * They are asked before an engine does anything for the change, and say names: no engine's pod is
 * looked for. Later, when an event is judged for a pod that waits, the pod's name is looked for in
 * the list. So a list neither grows old nor misses a pod that comes meanwhile: a pod of a listed
 * name is judged, wherever it stood when the list was made. Pods in flight are told of the event
 * as ever, and their failures judge it without a list.
 *
 * A pod that is on no list is not judged. One that is on some is judged without the plugins that
 * gave a list which it is not on: they stay silent.
 *
 * MEMORY. If there is none for a list, nothing is narrowed.
 */
#ifndef SCHEDQ_PLUGINS_NARROW_H
#define SCHEDQ_PLUGINS_NARROW_H

#include "plugins/registry.h"

struct listed {
    uint32_t hash, length;
    size_t text; /* in the list's texts */
    uint64_t bit;
    uint32_t next; /* of its chain: 1 + its number, or 0 */
    schedq_profile_t profile;
};

/** The pods that are listed, and the plugins that listed them. Begins as narrow_begin makes it. */
struct schedq_pod_list {
    struct memory *memory;
    uint64_t seed;
    struct listed *listed;
    uint32_t count, capacity;
    uint32_t *chains; /* of `capacity`, a power of two, by hash */
    char *texts;
    size_t used, room;
    uint64_t *narrowed; /* by profile: plugins that gave a list */
    uint32_t profiles;
    schedq_profile_t profile; /* whose answer is awaited */
    uint64_t bit;
    bool failed; /* no memory */
};

void narrow_begin(struct schedq_pod_list *list, const struct registry *registry, uint64_t seed);

/**
 * Asks the pre-queueing hints that are registered for an event, of all profiles. False: nothing is
 * narrowed, because none was there, or one answered "all", or memory is missing.
 */
bool narrow_ask(struct schedq_pod_list *list, struct registry *registry, schedq_event_t event,
                uint64_t old_object, uint64_t new_object);

void narrow_end(struct schedq_pod_list *list);

/**
 * Is a pod of this name and profile to be judged? *silent: the plugins of its profile that are not
 * to be asked.
 */
bool narrow_concerns(const struct schedq_pod_list *list, schedq_profile_t profile, const char *name,
                     uint32_t length, uint64_t *silent);

/**
 * A verdict without the plugins that stay silent: SKIP if no other rejected the pod. Else false,
 * and the two sets are what is left.
 */
static inline bool
narrow_skips(uint64_t silent, uint64_t *unschedulable, uint64_t *pending)
{
    bool rejected = (*unschedulable | *pending) != 0;

    *unschedulable &= ~silent;
    *pending &= ~silent;
    return rejected && (*unschedulable | *pending) == 0;
}

#endif
