/*
 * Violations: counted by rule, the first few printed with the calls that show them.
 */
#ifndef SCHEDQ_HISTORY_REPORT_H
#define SCHEDQ_HISTORY_REPORT_H

#include "record.h"

typedef enum rule {
    RULE_ONCE,   /* every add ends in one done or one delete, or is pending */
    RULE_STATES, /* the calls on a name fit in an order in which each answer is right */
    RULE_TOKENS, /* no token or handle twice; STALE after the use, and only then */
    /* no pop returns a pod while one that ranks before it is active during the whole call; from a
     * backoff only if none is active */
    RULE_ORDER,
    RULE_EMPTY, /* EMPTY and CLOSED only if no pod is there to be popped during the whole call */
    /* TIMEDOUT likewise; and no sleeper stays asleep while a pod is active or becomes due */
    RULE_WAKEUP,
    /* an event, an activation or an update brings back the parked pods that it helps */
    RULE_EVENTS,
    RULE_GATES,       /* no pod is gated that its gate lets pass, after an event of the gate */
    RULE_DUE,         /* no pod is in a backoff that is over, after a tick */
    RULE_CLOCK,       /* an add or a failure that follows another has no older Timestamp */
    RULE_COUNTERS,    /* schedq_stats says what happened */
    RULE_CLOSED,      /* after close nothing enters, and pops end with CLOSED */
    RULE_NOMINATIONS, /* a pod is nominated where the last nomination said, and is listed there */
    RULE_CAPS,        /* FULL only while max_pods pods may have been there; never more of them */
    /* a label call reaches each pod of its label that is there during the whole of it */
    RULE_LABELS,
    /* peek and peek_many show the pods that rank first, position says how many rank before; EMPTY
     * as above */
    RULE_LINE,
    /* counted objects: alive while the queue may hand them out, all given back in the end */
    RULE_OBJECTS,
    RULES
} rule_t;

typedef struct report {
    const char *again; /* the command that reproduces */
    uint64_t seed;
    uint64_t round;
    const book_t *book;
    uint64_t violations[RULES];
    uint64_t obligations[RULES]; /* how often a rule had something to decide */
} report_t;

const char *rule_name(rule_t rule);
/**
 * Counts a violation, and prints it with up to two calls (NULL: none) if it is among the first of
 * its rule.
 */
void report_violation(report_t *report, rule_t rule, const record_t *first, const record_t *second,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));
/** A rule looks at something that could violate it. */
static inline void
report_obligation(report_t *report, rule_t rule)
{
    report->obligations[rule]++;
}

/** True if this violation would be printed: for callers that print more behind it. */
bool report_is_printing(const report_t *report, rule_t rule);
uint64_t report_sum(const report_t *report);

#endif
