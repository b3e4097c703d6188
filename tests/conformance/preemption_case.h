/*
 * A case of a preemption vector: what its lines say, before anything runs.
 *
 * Everything lives in the memory of the case, which is freed as a whole.
 */
#ifndef CONFORM_PREEMPTION_CASE_H
#define CONFORM_PREEMPTION_CASE_H

#include "fields.h"

#include <schedq/preemption.h>

/** cpu in milli, memory in MiB. */
struct case_amounts {
    struct number cpu, mem, gpu;
};

struct case_node {
    struct case_node *next;
    const char *name;
    struct case_amounts allocatable;
    struct number pods, tainted;
    int status; /* -1: not given, else SCHEDQ_NODE_... */
};

struct case_pod {
    struct case_pod *next;
    const char *name, *node, *space, *app, *tier, *disruption;
    struct case_amounts requests;
    struct number prio, start, deleting, is_protected;
};

struct case_budget {
    struct case_budget *next;
    const char *name, *space, *selector;
    struct number allowed;
    struct list disrupted;
};

struct case_nominated {
    struct case_nominated *next;
    const char *name, *node;
    struct case_amounts requests;
    struct number prio;
};

struct case_extender {
    struct case_extender *next;
    const char *name;
    struct list drop, empty;
    struct number fails, ignorable, uninterested;
};

/** An answer of which any one has to match. */
struct case_answer {
    struct case_answer *next;
    struct list lines; /* without "> " */
    unsigned line;     /* of the first one */
};

struct preemption_case {
    const char *file;
    unsigned line;
    const char *id, *class_name;
    schedq_preset_t preset;
    struct number percentage, absolute, offset;
    struct case_node *nodes;
    struct case_pod *pods;
    struct case_budget *budgets;
    struct case_nominated *nominated;
    struct case_extender *extenders;
    const char *preemptor; /* NULL: not given yet */
    struct case_amounts requests;
    struct number prio;
    const char *nominated_node; /* NULL: none */
    bool never;
    struct case_answer *answers;
    struct obstack memory;
};

const struct case_node *case_node_named(const struct preemption_case *of, const char *name);

/** What the filter phase said of a node, as given, or as it follows from the rest. */
int case_status(const struct preemption_case *of, const struct case_node *node);

#endif
