/*
 * The Prometheus text of a queue, under kube-scheduler's names where it has them. One function per
 * family of lines.
 */
#ifndef SCHEDQ_OBSERVE_METRICS_H
#define SCHEDQ_OBSERVE_METRICS_H

#include "observe/text.h"
#include "plugins/registry.h"

/** Pods by place, and schedq's own counters. `entities`: kube's gauge of them too. */
void metrics_stats(struct text *text, const schedq_stats_t *stats, bool entities);

/** Where a pod comes in, as metrics tell it: both backoffs are one, parked and gated are one. */
enum incoming_place { INCOMING_ACTIVE, INCOMING_BACKOFF, INCOMING_UNSCHEDULABLE, INCOMING_PLACES };

/**
 * Each place has two counters: of the pods that came where the verdict on an event or a failure
 * named (IMMEDIATELY active, AFTER_BACKOFF backoff, SKIP unschedulable), and of all others. Of both
 * are kube's pods, of the others its entities.
 */
#define INCOMING_COUNTERS (2 * INCOMING_PLACES)

/** The counter of a place; `named`: the verdict named it. */
static inline uint32_t
incoming_counter(enum incoming_place place, bool named)
{
    return (uint32_t)place + (named ? INCOMING_PLACES : 0);
}

/** Members that came with their records, and records, which are entities, have two more. */
#define INCOMING_ALL (INCOMING_COUNTERS + 2 * INCOMING_PLACES)

static inline uint32_t
incoming_group_pods(enum incoming_place place)
{
    return INCOMING_COUNTERS + (uint32_t)place;
}

static inline uint32_t
incoming_groups(enum incoming_place place)
{
    return INCOMING_COUNTERS + INCOMING_PLACES + (uint32_t)place;
}

/** Says how many pods came into each place by a label; what it does not say is 0. */
typedef void (*metrics_incoming_fn)(const void *queue, uint32_t label,
                                    uint64_t counts[INCOMING_ALL]);
/** Nothing is said of what was none. */
void metrics_incoming(struct text *text, const struct registry *registry, metrics_incoming_fn count,
                      const void *queue);

/** Adds up the waiting pods of a profile by the number of each rejector's bit; `counts` are 0. */
typedef void (*metrics_rejectors_fn)(const void *queue, schedq_profile_t profile,
                                     uint64_t counts[REGISTRY_REJECTORS]);
void metrics_rejectors(struct text *text, const struct registry *registry,
                       metrics_rejectors_fn count, const void *queue);

/** What pre-queueing hints answered, by plugin; nothing unless they are switched on. */
void metrics_pre_hints(struct text *text, const struct registry *registry);

#endif
