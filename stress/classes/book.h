/*
 * Rounds of calls on pods of classes, and the rules that they have to keep.
 *
 * Classes are numbers from 1 to CLASSES. No two of them lie in one slot of the queue, where the
 * second one would stay open.
 */
#ifndef SCHEDQ_CLASSES_BOOK_H
#define SCHEDQ_CLASSES_BOOK_H

#include "rounds/rounds.h"

enum { CLASSES = 6 };

#define BACKOFF_NS INT64_C(1000000)
#define PATIENCE_NS INT64_C(3600000000000)

/** The class that a pod is added with; 0: none. */
static inline uint32_t
class_of(uint32_t pod)
{
    return pod % (CLASSES + 1);
}

enum {
    CALL_HOLD = CALL_OWN,
    CALL_TOUCH, /* release, or an update that leaves its class: a pod that is kept back is let go */
    CALL_WANDER, /* an update that takes its class away */
    CALL_SERVE,  /* tick, or a pop that found nothing: it may do what another thread left over */
    CALL_LOOK    /* when all is quiet: where the pod is */
};

/** A scout, where there is none; the pod of a call about all of them. */
#define NO_POD UINT32_MAX

enum {
    RULE_ONE,      /* while a class is shut, and its scout stays, no other pod of it is tried */
    RULE_SCOUT,    /* when all is quiet, a pod that is kept back has a scout that will be tried */
    RULE_PATIENCE, /* behind its patience no pod is kept back */
    RULE_LOST,     /* each pod ends, without its patience if its scouts end */
};

void class_act(actor_t *actor);
void class_end_one(actor_t *actor);
/** In every second round the holders of all scouts never report. */
void class_drain(actor_t *actor);

void rules_check(book_t *book, report_t *report);
void rules_print(const record_t *record);
/** Sorts a round's calls by class, for rules_tried. */
void rules_begin(book_t *book);

/**
 * The pops of pods that the class of this failure, which parked its pod, may keep back, made while
 * it was surely shut. Writes at most `room`; returns how many.
 */
size_t rules_tried(const record_t *failure, record_t **pops, size_t room);

extern const plant_t class_plants[];

#endif
