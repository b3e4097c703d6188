/*
 * The Prometheus text of a queue, under kube-scheduler's names where it has them. One function per family of lines.
 */
#ifndef SCHEDQ_OBSERVE_METRICS_H
#define SCHEDQ_OBSERVE_METRICS_H

#include "observe/text.h"
#include "plugins/registry.h"

/** Pods by place, and schedq's own counters. */
void metrics_stats(struct text *text, const schedq_stats_t *stats);

/** Where a pod comes in, as metrics tell it: both backoffs are one, parked and gated are one. */
enum incoming_place { INCOMING_ACTIVE, INCOMING_BACKOFF, INCOMING_UNSCHEDULABLE, INCOMING_PLACES };

void metrics_incoming_head(struct text *text);
/** Pods that came in for one reason, by place; nothing is said of none. */
void metrics_incoming(struct text *text, const struct registry *registry, uint32_t label,
                      const uint64_t counts[INCOMING_PLACES]);

void metrics_rejectors_head(struct text *text);
/** Waiting pods of a profile, by the number of the rejector's bit; others have the last number. */
void metrics_rejectors(struct text *text, const struct registry *registry, schedq_profile_t profile,
                       const uint64_t counts[REGISTRY_REJECTORS]);

#endif
