/*
 * Does an event that happened match an event that a plugin registered?
 *
 * MATCH_SHARED (schedq): the resources agree ("*" registered agrees with all, Pod registered agrees
 * with AssignedPod, UnscheduledPod and TargetPod), and an action bit is shared. All update bits
 * together are a generic Update, a change that has no bit: only a plugin that registered all of
 * them shares it.
 * MATCH_NUMERIC (kube 1.33 and later): a bit is shared, and the incoming actions are, as a number,
 * at most the registered ones. The number keeps a generic Update from plugins that registered one
 * specific bit. It is no subset test: some events of several bits are missed, some are not.
 * MATCH_RESOURCE (kube 1.26): a bit is shared, and "*" agrees only as the full wildcard. MATCH_ALL
 * (kube 1.12): every event matches.
 */
#ifndef SCHEDQ_POLICY_MATCH_H
#define SCHEDQ_POLICY_MATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of interned resource names; what callers name further follows RESOURCE_FIRST_FREE. */
enum {
    RESOURCE_ANY,
    RESOURCE_POD,
    RESOURCE_ASSIGNED_POD,
    RESOURCE_UNSCHEDULED_POD,
    RESOURCE_TARGET_POD,
    RESOURCE_NODE,
    RESOURCE_FIRST_FREE
};

struct event_kind {
    uint32_t resource;
    uint32_t actions;
};

enum match_rule { MATCH_SHARED, MATCH_NUMERIC, MATCH_RESOURCE, MATCH_ALL };

/** {"*", All}: concerns every plugin. */
bool match_is_wildcard(struct event_kind kind);

bool match_event(enum match_rule rule, struct event_kind registered, struct event_kind incoming);

#endif
