/* One operation of a vector, as its line states it. Nothing here knows the queue. */
#ifndef CONFORM_OPERATION_H
#define CONFORM_OPERATION_H

#include "fields.h"

enum operation_kind {
    OP_ADD,
    OP_POP,
    OP_FAIL,
    OP_DONE,
    OP_MOVE,
    OP_UPDATE,
    OP_DELETE,
    OP_ACTIVATE,
    OP_ASSIGNED_ADD,
    OP_ASSIGNED_UPDATE,
    OP_NOMINATE,
    OP_DENOMINATE,
    OP_TICK,
    OP_GET,
    OP_PENDING,
    OP_CLOSE,
    OP_GROUP_ADD,
    OP_GROUP_UPDATE,
    OP_GROUP_DELETE,
    OP_GROUP_DONE,
    OP_GROUP_GET,
    OP_COMPOSITE_ADD,
    OP_COMPOSITE_UPDATE,
    OP_COMPOSITE_DELETE,
    OP_COUNT
};

/** A pod by the two names it has; the uid is the name unless the line states another one. */
struct pod_name {
    const char *name;
    const char *uid;
};

/** <spec> of the format. Absent texts are NULL. */
struct pod_text {
    struct pod_name id;
    const char *profile;
    const char *affinity;
    const char *nominated;
    const char *group;
    struct number prio, gate, need, label, cpu, tol, claim;
    int64_t name_number; /* the K of pK */
};

struct operation {
    enum operation_kind kind;
    unsigned line; /* its result stands one line below, its state two */
    int64_t time_ms;
    const char *text; /* the whole line */
    const char *result;
    char *state;
    struct pod_text pod;
    const char *node; /* nominate: NODE, "-" or "status" */
    struct pod_name *activated;
    size_t activated_count;
    struct event_text event;   /* move, assigned-update */
    struct event_text *events; /* update */
    size_t event_count;
    struct number old_number, new_number;
    struct pod_name target;
    const char *target_uid; /* move: uid=U, until the line is complete; then target has it */
    const char *app, *ns, *precheck;
    const char *group;  /* operations on a group; move: the new object is that group */
    const char *parent; /* its parent, above it */
    const char *old_group, *status;
    struct pod_name moved_pod; /* move: the new object is that pod */
    struct number min, old_min;
    struct list plugins, pending;
    struct number cycle, after_done, attempts, unschedulable, errors, initial_attempt, changed;
};

/** Reads a line that begins with a time. Reports and returns false if it is malformed. */
bool operation_parse(struct operation *operation, const char *file, unsigned line, char *text,
                     struct obstack *memory);

#endif
