/*
 * The configuration as the engines read it: what a queue does differently from another, each
 * difference by its own name.
 *
 * No engine looks at a release number. A release is a set of these switches, and this file's source
 * is the only place that knows which release has which.
 */
#ifndef SCHEDQ_POLICY_RULES_H
#define SCHEDQ_POLICY_RULES_H

#include "policy/backoff.h"
#include "policy/gating.h"
#include "policy/match.h"
#include "policy/nominate.h"

#include <schedq/schedq.h>

struct rules {
    struct backoff_rules backoff;
    enum match_rule match;
    enum gating_rule gating;
    enum nominate_rule nominate;
    int64_t max_parked_ns;
    int64_t flush_ns; /* where leftover_is_event */
    int64_t tick_ns;
    int64_t class_patience_ns; /* 0: classes have no effect */
    uint8_t kube_minor;
    uint8_t objects; /* schedq_objects_t */
    bool host;       /* the host decides: nothing calls a hint or a gate */
    bool hints;      /* false: move cycles, as kube <= 1.27 */
    bool pre_hints;  /* a change is narrowed to the pods that plugins list */
    /* then gates are asked before backoff too, and not between backoff and active */
    bool pop_from_backoff;
    /* between backoff and active there is a gate that only the host can ask */
    bool host_ends_backoff;
    bool errors_park;
    bool errors_apart; /* pods that failed with an error back off in a heap of their own */
    bool keep_order;
    bool count_cycles;
    bool fifo;
    bool counts_updates;        /* the incoming counters see updates and pods that are gated */
    bool ignores_unregistered;  /* an event that no plugin registered changes nothing at all */
    bool targets_wildcards;     /* a wildcard with an object concerns that pod only */
    bool activates_in_flight;   /* activate reaches pods in flight */
    bool attempt_starts_at_add; /* the initial attempt counts from the add, gated time included */
    bool gated_never_backs_off;
    bool
        /*
         * a leftover flush also reaches the pods in flight, even if only gated pods are old (D13)
         */
        leftover_is_event;
    bool gates_see_leftover; /* old gated pods are tried again once per limit */
    /* a gated pod counts as waiting from its last flush on, if that is later than its Timestamp */
    bool flush_begins_anew;
    bool updates_add_as_add;  /* an update that adds counts as an add */
    bool backoff_opens_gates; /* the activation of a pod that backs off asks no gate again */
    bool counts_entities;     /* counters of arrivals that came from another place */
    bool unscheduled_by_1_37; /* names: UnscheduledPod, unschedulableEntities */
    /*
     * groups: a rejected one backs off, and no event helps it; a join or a leaving makes it come in
     * again, gates of all members asked; one that is in no queue has no history
     */
    bool groups_as_kube;
};

/** Why a pod comes in that an update adds. */
static inline uint32_t
rules_label_of_addition(const struct rules *rules)
{
    return rules->updates_add_as_add ? LABEL_POD_ADD : LABEL_POD_UPDATE;
}

/** The rules of a configuration that config_check accepted. */
void rules_from_config(struct rules *rules, const schedq_config_t *config);

#endif
