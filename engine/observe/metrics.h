/*
 * The Prometheus text of a queue, under kube-scheduler's names where it has them. One function per family of lines.
 */
#ifndef SCHEDQ_OBSERVE_METRICS_H
#define SCHEDQ_OBSERVE_METRICS_H

#include "observe/text.h"

#include <schedq/schedq.h>

/** Pods by place, and schedq's own counters. */
void metrics_stats(struct text *text, const schedq_stats_t *stats);

void metrics_incoming_head(struct text *text);
void metrics_incoming(struct text *text, const char *place, const char *event, uint64_t count);

void metrics_rejector_head(struct text *text);
void metrics_rejector(struct text *text, const char *plugin, const char *profile, uint64_t count);

#endif
