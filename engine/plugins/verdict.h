/*
 * What a caller says of a pod that failed or waits: judged by the pod's profile, which only the
 * engine that has the pod knows.
 *
 * A check returns SCHEDQ_OK; or SCHEDQ_INVALID, and writes to `why` what is wrong, as the checks of
 * api/ do.
 */
#ifndef SCHEDQ_PLUGINS_VERDICT_H
#define SCHEDQ_PLUGINS_VERDICT_H

#include "plugins/registry.h"

/** Are its rejectors those of the profile, and has it no gate? Else it is to be checked. */
static inline bool
verdict_fits(const struct registry *registry, schedq_profile_t profile,
             const schedq_failure_t *failure)
{
    uint64_t rejectors = failure->unschedulable | failure->pending;

    return (rejectors & ~registry_known(registry, profile)) == 0 && failure->gate == 0;
}

/** Are its rejectors and its gate those of the profile? */
schedq_status_t verdict_check_failure(const struct registry *registry, schedq_profile_t profile,
                                      const schedq_failure_t *failure, char *why, size_t size);

/** Is it a gate of the profile, or 0? `argument` is its name in `why`. */
schedq_status_t verdict_check_gate(const struct registry *registry, schedq_profile_t profile,
                                   const char *argument, uint8_t gate, char *why, size_t size);

/**
 * [host] Does the pod go to where it waits for events? Then the verdict must have covered those
 * that came so far.
 */
static inline bool
verdict_covers_events(const schedq_failure_t *failure)
{
    return failure->place == SCHEDQ_PARKED || failure->place == SCHEDQ_GATED;
}

/**
 * [host] They are those that reach one of these rejectors; 0: all, any event helps a pod that
 * nothing rejected.
 */
static inline uint64_t
verdict_rejectors(const schedq_failure_t *failure)
{
    return failure->place == SCHEDQ_GATED ? gate_bit(failure->gate)
                                          : failure->unschedulable | failure->pending;
}

#endif
