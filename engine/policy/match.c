/* The rules of match.h. */
#include "policy/match.h"

#include <schedq/schedq.h>

bool
match_is_wildcard(struct event_kind kind)
{
    return kind.resource == RESOURCE_ANY && kind.actions == SCHEDQ_ACTION_ALL;
}

static bool
resources_agree(uint32_t registered, uint32_t incoming)
{
    if (registered == RESOURCE_POD) {
        return incoming == RESOURCE_POD || incoming == RESOURCE_ASSIGNED_POD ||
               incoming == RESOURCE_UNSCHEDULED_POD || incoming == RESOURCE_TARGET_POD;
    }
    return registered == incoming;
}

/* All update bits together are one thing, which an interest in some of them does not share. */
static uint32_t
shared_actions(uint32_t registered, uint32_t incoming)
{
    bool whole = (incoming & SCHEDQ_ACTION_UPDATE) == SCHEDQ_ACTION_UPDATE;

    if (whole && (registered & SCHEDQ_ACTION_UPDATE) != SCHEDQ_ACTION_UPDATE) {
        incoming &= ~(uint32_t)SCHEDQ_ACTION_UPDATE;
    }
    return registered & incoming;
}

bool
match_event(enum match_rule rule, struct event_kind registered, struct event_kind incoming)
{
    if (rule == MATCH_ALL || match_is_wildcard(registered)) {
        return true;
    }
    bool agree = resources_agree(registered.resource, incoming.resource);
    bool share = (registered.actions & incoming.actions) != 0;

    if (rule == MATCH_RESOURCE) {
        return agree && share;
    }
    if (!agree && registered.resource != RESOURCE_ANY) {
        return false;
    }
    if (rule == MATCH_SHARED) {
        return shared_actions(registered.actions, incoming.actions) != 0;
    }
    return share && incoming.actions <= registered.actions;
}
