/* The tables of label.h. */
#include "policy/label.h"

#include <schedq/schedq.h>

#include <stdio.h>

static const char *
action_text(uint32_t actions)
{
    switch (actions) {
    case SCHEDQ_ACTION_ADD:
        return "Add";
    case SCHEDQ_ACTION_DELETE:
        return "Delete";
    case SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE:
        return "UpdateNodeAllocatable";
    case SCHEDQ_ACTION_UPDATE_NODE_LABEL:
        return "UpdateNodeLabel";
    case SCHEDQ_ACTION_UPDATE_NODE_TAINT:
        return "UpdateNodeTaint";
    case SCHEDQ_ACTION_UPDATE_NODE_CONDITION:
        return "UpdateNodeCondition";
    case SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION:
        return "UpdateNodeAnnotation";
    case SCHEDQ_ACTION_UPDATE_NODE_DECLARED_FEATURE:
        return "UpdateNodeDeclaredFeature";
    case SCHEDQ_ACTION_UPDATE_NODE_PREEMPTION_POLICY:
        return "UpdateNodePreemptionPolicy";
    case SCHEDQ_ACTION_UPDATE_POD_LABEL:
        return "UpdatePodLabel";
    case SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN:
        return "UpdatePodScaleDown";
    case SCHEDQ_ACTION_UPDATE_POD_SCALE_UP:
        return "UpdatePodScaleUp";
    case SCHEDQ_ACTION_UPDATE_POD_TOLERATION:
        return "UpdatePodToleration";
    case SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED:
        return "UpdatePodSchedulingGatesEliminated";
    case SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM:
        return "UpdatePodGeneratedResourceClaim";
    case SCHEDQ_ACTION_UPDATE:
        return "Update";
    case SCHEDQ_ACTION_ALL:
        return "All";
    default:
        return "";
    }
}

/* The names of kube <= 1.31, for the events that those releases have. */
static const char *
early_text(struct event_kind kind)
{
    static const struct {
        struct event_kind kind;
        const char *text;
    } names[] = {
        {{RESOURCE_ANY, SCHEDQ_ACTION_ALL}, "WildCardEvent"},
        {{RESOURCE_UNSCHEDULED_POD, SCHEDQ_ACTION_ADD}, "PodAdd"},
        {{RESOURCE_UNSCHEDULED_POD, SCHEDQ_ACTION_UPDATE}, "PodUpdate"},
        {{RESOURCE_NODE, SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE}, "NodeAllocatableChange"},
        {{RESOURCE_NODE, SCHEDQ_ACTION_UPDATE_NODE_LABEL}, "NodeLabelChange"},
        {{RESOURCE_NODE, SCHEDQ_ACTION_UPDATE_NODE_TAINT}, "NodeTaintChange"},
        {{RESOURCE_NODE, SCHEDQ_ACTION_UPDATE_NODE_CONDITION}, "NodeConditionChange"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].kind.resource == kind.resource && names[i].kind.actions == kind.actions) {
            return names[i].text;
        }
    }
    return NULL;
}

void
label_compose(char *text, size_t size, const char *resource, struct event_kind kind,
              uint8_t kube_minor)
{
    const char *early = kube_minor != 0 && kube_minor <= 31 ? early_text(kind) : NULL;

    if (early != NULL) {
        (void)snprintf(text, size, "%s", early);
    } else {
        (void)snprintf(text, size, "%s%s", resource, action_text(kind.actions));
    }
}
