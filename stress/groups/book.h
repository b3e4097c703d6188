/*
 * What threads did with groups in one round, call by call, and the rules that it has to keep.
 *
 * Pods are numbers below PODS; each is added once in a round. Groups are numbers from 1 to GROUPS.
 */
#ifndef SCHEDQ_GROUPS_BOOK_H
#define SCHEDQ_GROUPS_BOOK_H

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PODS = 512, GROUPS = 16, THREADS_MAX = 32, RECORDS_MAX = 1 << 16 };

/** The group that a pod names; 0: none. */
static inline uint32_t
group_of(uint32_t pod)
{
    return pod % (GROUPS + 1);
}

/** 2..5 */
static inline uint32_t
quorum_of(uint32_t group)
{
    return 2 + group % 4;
}

typedef enum book_call {
    CALL_NONE, /* a plant took the call away */
    CALL_DECLARE,
    CALL_ADD,
    CALL_DELETE,
    CALL_POP,       /* of groups: a record for each pod, all with the same interval */
    CALL_PLAIN_POP, /* of pods */
    CALL_DONE,
    CALL_FAIL,
    CALL_END /* group_done */
} book_call_t;

/** A call that returned OK. A done or a fail that returned GONE is recorded too. */
typedef struct record {
    uint64_t begin, end; /* stamps */
    uint64_t token;      /* of the pod; CALL_END: of the group */
    uint64_t cycle;      /* CALL_POP: the group's token; 0: it took a pod that is in no group */
    uint32_t pod;
    uint32_t group; /* the call's; CALL_POP: the root that it returned; of a pod: its own */
    uint32_t attempts;
    uint8_t call, status, outcome, thread;
    bool late; /* in the drain, after all threads: a quorum is 1 then */
} record_t;

typedef struct book {
    size_t count;
    record_t records[RECORDS_MAX];
} book_t;

typedef enum rule {
    RULE_ALONE,  /* no pop of pods returns a member, and a group comes with its own members */
    RULE_ONCE,   /* a member is in one cycle at a time, and ends once */
    RULE_CYCLES, /* so is a group */
    RULE_QUORUM, /* no group comes before its quorum is there */
    RULE_WHOLE,  /* a member that surely waits is popped with its group */
    RULE_LOST,   /* each pod ends */
    RULES
} rule_t;

typedef struct report {
    uint64_t round, seed;
    uint64_t violations[RULES], obligations[RULES];
    const char *again;
} report_t;

const char *rule_name(rule_t rule);
/** Checks a round. What is wrong is printed. */
void rules_check(book_t *book, report_t *report);

/** Falsifies a history, so that a rule is broken. False: this one has no place for it. */
typedef bool plant_fn(book_t *book);

typedef struct plant {
    const char *name;
    rule_t rule;
    plant_fn *plant;
} plant_t;

/** The last one has no name. */
extern const plant_t plants[];

#endif
