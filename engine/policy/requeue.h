/*
 * Is an event worth another attempt of a pod, and how soon?
 *
 * Only plugins that rejected the pod are asked. A Queue from one that the pod is merely waiting for
 * (its pending set) skips the backoff; from any other it means "after the backoff". A pod without
 * rejectors failed with an error, and anything may help it.
 */
#ifndef SCHEDQ_POLICY_REQUEUE_H
#define SCHEDQ_POLICY_REQUEUE_H

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stdint.h>

enum strategy { STRATEGY_SKIP, STRATEGY_AFTER_BACKOFF, STRATEGY_IMMEDIATELY };

/** A plugin that registered for an event; hint NULL: always worth it. */
struct hint_entry {
    uint64_t bit;
    schedq_hint_fn hint;
    void *ctx;
    uint32_t what; /* inside_plugin */
};

/** What one profile has to say about one event. */
struct hint_list {
    const struct hint_entry *entries;
    uint32_t count;
    uint64_t always; /* rejectors that every event reaches: those whose names came late */
};

struct requeue_question {
    uint64_t pod, old_object, new_object;
    uint64_t unschedulable, pending;
    bool ask; /* false: no hint is called, registering for the event is enough (kube <= 1.27) */
    /*
     * the event's objects are gone (borrowed ones): as without `ask`, and no answer is IMMEDIATELY
     */
    bool opaque;
};

/**
 * Answers for an event that is no wildcard. `calls` is raised by the number of hints that were
 * called.
 */
enum strategy requeue_for_event(const struct hint_list *hints,
                                const struct requeue_question *question, uint64_t *calls);

/**
 * The strongest answer that a pod with these rejectors can get: where a walk over several events
 * may stop.
 */
enum strategy requeue_strongest(uint64_t pending);

#endif
