/*
 * Gates: which PreEnqueue plugin keeps a pod out, and which events a gated pod hears of.
 *
 * The plugin that gates a pod is asked first: most often it still refuses, and the others need not
 * run. The first refusal wins. A gate number is 1 + the plugin's number; 0 = no gate.
 */
#ifndef SCHEDQ_POLICY_GATING_H
#define SCHEDQ_POLICY_GATING_H

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stdint.h>

/** A plugin that has a PreEnqueue, in the order of registration. */
struct gate {
    uint8_t number; /* of the plugin in its profile */
    uint32_t what;  /* inside_plugin */
    schedq_pre_enqueue_fn pre_enqueue;
    void *ctx;
};

/** The plugin's bit; 0 for no gate, and for a number that no plugin has. */
static inline uint64_t
gate_bit(uint8_t gate)
{
    return gate == 0 || gate > 63 ? 0 : UINT64_C(1) << (gate - 1);
}

/**
 * Asks the gates about a pod that `current` gates (0: none). Returns the gate that refuses, or 0.
 */
uint8_t gating_ask(const struct gate *gates, uint32_t count, uint8_t current, uint64_t pod,
                   uint64_t *calls);

enum gating_rule {
    /* kube 1.34: what the gate's plugin registered; wildcards only if it registered them */
    GATING_OWN_EVENTS,
    GATING_OWN_AND_WILDCARDS, /* schedq: wildcards too */
    GATING_ALL_EVENTS         /* kube 1.26: as any parked pod */
};

/**
 * Does a pod behind a gate hear of an event? `registered`: the gate's plugin registered a match of
 * it.
 */
bool gating_hears(enum gating_rule rule, bool is_wildcard, bool registered);

#endif
