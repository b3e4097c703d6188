/*
 * What the library asks when it decides: hints, gates and a preCheck of docs/CONFORMANCE.md, in C,
 * since C calls no Go. They judge what Go wrote into C memory.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include <schedq/schedq.h>

/* A group, by its objects that exist. Go writes it before the call that makes the library ask. */
struct gang {
    const struct gang *root; /* NULL: one above it does not exist */
    int enough;              /* it has a root, and as many pods as it wants */
};

/* What a payload of the queue is the address of: a pod at one version, or an object of an event. */
struct thing {
    int64_t number; /* a pod's is its need */
    int64_t name_number;
    int64_t gate;
    uint64_t uid;            /* Go's number of it; 0: no pod of the vector */
    const struct gang *gang; /* that a pod names, or that it is; NULL: none */
    int64_t min;             /* a group's */
};

schedq_hint_t judge_always(void *ctx, uint64_t pod, uint64_t before, uint64_t after);
schedq_hint_t judge_never(void *ctx, uint64_t pod, uint64_t before, uint64_t after);
schedq_hint_t judge_error(void *ctx, uint64_t pod, uint64_t before, uint64_t after);
schedq_hint_t judge_parity(void *ctx, uint64_t pod, uint64_t before, uint64_t after);
schedq_hint_t judge_fits(void *ctx, uint64_t pod, uint64_t before, uint64_t after);
schedq_hint_t judge_grew(void *ctx, uint64_t pod, uint64_t before, uint64_t after);
schedq_hint_t judge_mine(void *ctx, uint64_t pod, uint64_t before, uint64_t after);
schedq_hint_t judge_mygroup(void *ctx, uint64_t pod, uint64_t before, uint64_t after);
schedq_hint_t judge_mindown(void *ctx, uint64_t pod, uint64_t before, uint64_t after);

/* `gate` has the address of the number that it refuses. */
int judge_gate(void *gate, uint64_t pod);
int judge_gang(void *ctx, uint64_t pod);
int judge_precheck(void *ctx, uint64_t pod);

#endif
