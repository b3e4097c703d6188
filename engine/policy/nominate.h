/*
 * When the node in a pod's own description (status.nominatedNodeName) reaches the nominator.
 */
#ifndef SCHEDQ_POLICY_NOMINATE_H
#define SCHEDQ_POLICY_NOMINATE_H

#include "policy/label.h"

#include <stdbool.h>
#include <stdint.h>

enum nominate_rule {
    NOMINATE_AT_ADD,      /* schedq: as soon as the pod is in the queue, gated or not */
    NOMINATE_WHEN_ADDED,  /* kube 1.37: as that, but not a pod that is in flight or comes back */
    NOMINATE_WHEN_ACTIVE, /* kube 1.34: when an add or an update makes it active */
    NOMINATE_ALWAYS       /* kube 1.26: and when it is activated, and when it failed */
};

/** Does that node reach the nominator when the pod becomes active for this reason? */
static inline bool
nominate_when_active(enum nominate_rule rule, uint32_t label)
{
    bool described = label == LABEL_POD_ADD || label == LABEL_POD_UPDATE;

    switch (rule) {
    case NOMINATE_WHEN_ACTIVE:
        return described;
    case NOMINATE_ALWAYS:
        return described || label == LABEL_FORCE_ACTIVATE;
    case NOMINATE_AT_ADD:
    case NOMINATE_WHEN_ADDED:
        break;
    }
    return false;
}

/**
 * Does it when the pod is admitted? `again`: the pod comes back with its history (schedq_readd).
 */
static inline bool
nominate_when_admitted(enum nominate_rule rule, bool again)
{
    return rule == NOMINATE_AT_ADD || (rule == NOMINATE_WHEN_ADDED && !again);
}

#endif
