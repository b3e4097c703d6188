/*
 * The Prometheus text of a queue, under kube-scheduler's names where it has them. One function per
 * family of lines.
 */
#ifndef SCHEDQ_OBSERVE_METRICS_H
#define SCHEDQ_OBSERVE_METRICS_H

#include "observe/text.h"
#include "plugins/registry.h"

/** How a family of lines begins. */
void metrics_head(struct text *text, const char *name, const char *type, const char *help);

/** What an engine tells beside its statistics. */
struct metrics_inside {
    uint64_t wakes;         /* of threads that wait in a pop */
    uint64_t waiting_bytes; /* memory that was replaced and is not freed yet */
    uint64_t standing;      /* calls that keep it from being freed */
};

/** Pods by place, and schedq's own counters. `entities`: kube's gauge of them too. */
void metrics_stats(struct text *text, const schedq_stats_t *stats,
                   const struct metrics_inside *inside, bool entities);

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

/** Two more counters for each place: members that came with their records, and records. */
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

/** One pod as the metrics see it. */
struct metrics_pod {
    schedq_place_t place;
    schedq_profile_t profile;
    uint32_t attempts;
    int64_t timestamp_ns;
    uint64_t rejectors; /* unschedulable and pending */
};

/** Sums over all pods. */
struct metrics_pods;
void metrics_pods_add(struct metrics_pods *pods, const struct metrics_pod *pod);

/** Adds every pod, but for those that were deleted in flight. */
typedef void (*metrics_pods_fn)(const void *queue, struct metrics_pods *pods);

/** Waiting pods by rejector; all by place and age, and by place and attempts. Allocates. */
void metrics_pods(struct text *text, const struct registry *registry, int64_t now,
                  metrics_pods_fn visit, const void *queue);

/** What pre-queueing hints answered, by plugin; nothing unless they are switched on. */
void metrics_pre_hints(struct text *text, const struct registry *registry);

#endif
