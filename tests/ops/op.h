/*
 * The vocabulary of the tools that make calls at random: what a call is named, how it is made, and
 * what the header lets it answer.
 *
 * An operation holds what is given to the call and what came back. op_run makes the call, and does
 * nothing else: a tool's clocks, stamps and notes stand around it. A new call of the header gets
 * its line in op.c, and every tool that takes operations can make it, record it and print it.
 */
#ifndef SCHEDQ_TESTS_OPS_OP_H
#define SCHEDQ_TESTS_OPS_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <schedq/schedq.h>

/** Pods of one call, at most. */
#define OP_PODS_MAX 64

typedef enum op_kind {
    OP_NONE, /* no call */
    OP_ADD,
    OP_ADD_MANY,
    OP_READD,
    OP_UPDATE,
    OP_TRY_POP,
    OP_POP,
    OP_POP_FOR,
    OP_POP_UNTIL,
    OP_POP_MANY,
    OP_POP_MANY_FOR,
    OP_POP_MANY_UNTIL,
    OP_TRY_POP_MANY,
    OP_DONE,
    OP_DONE_MANY,
    OP_TOKEN_ALIVE,
    OP_FAIL,
    OP_DELETE,
    OP_FIND,
    OP_GET,
    OP_ACTIVATE,
    OP_NOMINATE,
    OP_HOLD,
    OP_RELEASE,
    OP_NOT_BEFORE,
    OP_LABEL_CANCEL,
    OP_LABEL_HOLD,
    OP_LABEL_RELEASE,
    OP_LABEL_COUNT,
    OP_GROUP_ADD,
    OP_GROUP_UPDATE,
    OP_GROUP_DELETE,
    OP_GROUP_ACTIVATE,
    OP_GROUP_GET,
    OP_TRY_POP_GROUP,
    OP_POP_GROUP_FOR,
    OP_POP_GROUP_UNTIL,
    OP_GROUP_DONE,
    OP_NOTIFY,
    OP_TICK,
    OP_SNAPSHOT,
    OP_NOMINATED_PODS,
    OP_PEEK,
    OP_PEEK_MANY,
    OP_POSITION,
    OP_EXPLAIN,
    OP_COUNT_REASONS,
    OP_WATCH,
    OP_ASSIGNED_POD_ADDED,
    OP_ASSIGNED_POD_UPDATED,
    OP_EVENT_BEGIN,
    OP_EVENT_STAMP,
    OP_CANDIDATES,
    OP_APPLY,
    OP_APPLY_MANY,
    OP_WAIT_CANCEL,
    OP_CLOSE,
    OPS
} op_kind_t;

typedef struct op {
    op_kind_t kind;
    /* given; what a call does not take is left out */
    size_t count;     /* of a call that takes many, or has room for many */
    bool terse;       /* asks for no statuses of elements; delete: for no result */
    const char *name; /* of the pod; assigned_pod_added, ..updated: the namespace */
    size_t name_length;
    const schedq_pod_spec_t *spec;
    const char *names; /* add_many: of the items */
    size_t names_length;
    const schedq_add_item_t *items;
    const schedq_pod_t *pods;
    schedq_token_t *tokens;
    const schedq_history_t *history;
    const schedq_failure_t *failure;
    uint64_t old_object;
    const schedq_event_t *events;
    size_t event_count;
    const schedq_change_t *change;
    uint64_t sequence, rejectors;
    schedq_profile_t profile; /* event_stamp, count_reasons */
    schedq_query_t *query;
    const schedq_decision_t *decisions;
    int64_t deadline_ns; /* pop_until, pop_group_until; not_before: the time */
    int64_t wait_ns;     /* pop_for and its like */
    uint64_t node;
    uint64_t label;
    uint64_t group;
    const schedq_group_spec_t *group_spec;
    const schedq_group_end_t *group_end;
    size_t room;            /* label_cancel: of `results`; pops of groups: of `popped` */
    schedq_t *queue;        /* close */
    schedq_worker_t *waits; /* wait_cancel: whose wait */
    schedq_visit_fn visit;
    void *ctx;
    /* answered */
    schedq_popped_t *popped;             /* room for `count`, or `room`; the caller's */
    schedq_popped_group_t *popped_group; /* the caller's */
    schedq_group_info_t *group_info;     /* the caller's */
    schedq_pod_t *added;                 /* add_many: room for `count`, or NULL; the caller's */
    schedq_candidate_t *candidates;      /* room for `count`; the caller's */
    schedq_result_t
        *results;     /* apply_many: room for `count`, or NULL; label_cancel; the caller's */
    int64_t *next_ns; /* tick: or NULL; the caller's */
    size_t got; /* pods popped, or that need room, candidates, those of a label, what is overdue */
    uint64_t lower, upper;             /* position */
    schedq_explanation_t *explanation; /* explain; the caller's */
    schedq_reasons_t *reasons;         /* count_reasons; the caller's */
    schedq_watch_t *watch;             /* watch; the caller's */
    schedq_overdue_t *overdue;         /* the same: room for `count` */
    schedq_status_t status;
    uint8_t statuses[OP_PODS_MAX]; /* add_many, done_many, apply_many */
    schedq_result_t result;
} op_t;

/** A set of statuses. */
#define OP_LEGAL(status) (UINT32_C(1) << (status))

/** As in the header, without its prefix: "add", "try_pop_many". */
const char *op_name(op_kind_t kind);

/** Makes the call. Returns its status. */
schedq_status_t op_run(schedq_worker_t *worker, op_t *op);

/** It waits until there is a pod. */
bool op_waits(op_kind_t kind);

/** It takes one pod. */
bool op_pops_one(op_kind_t kind);

/** It asks for a status of each element. */
bool op_has_statuses(const op_t *op);

/** Statuses that it has: one, or as many as it has pods. */
size_t op_elements(const op_t *op);
schedq_status_t op_element(const op_t *op, size_t element);

/**
 * What the call may answer somebody who uses each token once and calls in no callback. `closes`:
 * the queue may be closed. `refusals`: of NOMEM, FULL, RETRY, CHANGED and CANCELED those that can
 * happen, to calls that can answer so.
 */
uint32_t op_legal(const op_t *op, bool closes, uint32_t refusals);

/** The operation made a pod. */
bool op_made(const op_t *op, size_t element);

#endif
