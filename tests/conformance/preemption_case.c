/* Questions about a case. */
#include "preemption_case.h"

#include <string.h>

const struct case_node *
case_node_named(const struct preemption_case *of, const char *name)
{
    for (const struct case_node *node = of->nodes; node != NULL; node = node->next) {
        if (strcmp(node->name, name) == 0) {
            return node;
        }
    }
    return NULL;
}

/* A request that alone exceeds the allocatable amount cannot be helped. */
static bool
exceeds(const struct case_amounts *requests, const struct case_amounts *allocatable)
{
    return requests->cpu.value > allocatable->cpu.value ||
           requests->mem.value > allocatable->mem.value ||
           requests->gpu.value > allocatable->gpu.value;
}

int
case_status(const struct preemption_case *of, const struct case_node *node)
{
    if (node->status >= 0) {
        return node->status;
    }
    return node->tainted.value != 0 || exceeds(&of->requests, &node->allocatable)
               ? SCHEDQ_NODE_UNRESOLVABLE
               : SCHEDQ_NODE_UNSCHEDULABLE;
}
