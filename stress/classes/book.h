/*
 * What threads did with pods of classes in one round, call by call, and the rules that it has to
 * keep.
 *
 * Pods are numbers below PODS; each is added once in a round. Classes are numbers from 1 to
 * CLASSES. No two of them lie in one slot of the queue, where the second one would stay open.
 */
#ifndef SCHEDQ_CLASSES_BOOK_H
#define SCHEDQ_CLASSES_BOOK_H

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PODS = 512, CLASSES = 6, THREADS_MAX = 32, RECORDS_MAX = 1 << 16 };

/** The class that a pod is added with; 0: none. */
static inline uint32_t
class_of(uint32_t pod)
{
    return pod % (CLASSES + 1);
}

typedef enum book_call {
    CALL_NONE, /* a plant took the call away */
    CALL_ADD,
    CALL_POP,
    CALL_DONE,
    CALL_FAIL,
    CALL_DELETE,
    CALL_HOLD,
    CALL_TOUCH, /* release, or an update that leaves its class: a pod that is kept back is let go */
    CALL_WANDER, /* an update that takes its class away */
    CALL_SERVE,  /* tick, or a pop that found nothing: it may do what another thread left over */
    CALL_LOOK    /* when all is quiet: where the pod is */
} book_call_t;

/** A call that returned OK. A done or a fail that returned GONE is recorded too. */
typedef struct record {
    uint64_t begin, end; /* stamps */
    uint64_t token;
    uint32_t pod, scout; /* scout: CALL_LOOK's; NO_POD: the class has none */
    uint32_t attempts;
    uint8_t call, status, place, thread;
    bool shares; /* CALL_FAIL: for reasons that its class shares */
    bool kept;   /* CALL_LOOK: its class keeps it back */
    bool late;   /* the patience of all that were kept back is over */
} record_t;

#define NO_POD UINT32_MAX

typedef struct book {
    size_t count;
    record_t records[RECORDS_MAX];
} book_t;

typedef enum rule {
    RULE_ONE,      /* while a class is shut, and its scout stays, no other pod of it is tried */
    RULE_SCOUT,    /* when all is quiet, a pod that is kept back has a scout that will be tried */
    RULE_PATIENCE, /* behind its patience no pod is kept back */
    RULE_LOST,     /* each pod ends, without its patience if its scouts end */
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

/** Sorts a round's calls by class, for rules_tried. */
void rules_begin(book_t *book);

/**
 * The pops of pods that the class of this failure, which parked its pod, may keep back, made while
 * it was surely shut. Writes at most `room`; returns how many.
 */
size_t rules_tried(const record_t *failure, record_t **pops, size_t room);

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
