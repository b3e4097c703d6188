/*
 * The objects that pods are described by. Where the queue counts them, a table has the references
 * of each that is in use, the queue's and the callers' own, and what is asked of a dead one is
 * noted.
 */
#ifndef SCHEDQ_HISTORY_OBJECTS_H
#define SCHEDQ_HISTORY_OBJECTS_H

#include "lives.h"

/** Ends the process if there is no memory. */
void objects_open(unsigned threads, bool counted);
void objects_close(void);

/** Another object of this thread's; counted: with one reference, the caller's. */
uint64_t objects_next(unsigned thread);
/** The caller's reference. */
void objects_give_back(uint64_t object);

/* The queue's callbacks; the objects of events are small numbers. */
void objects_retain(void *ctx, uint64_t object);
void objects_release(void *ctx, uint64_t object);

/** It was handed out, by a pop or to a callback: it has to be alive. */
void objects_handed_out(uint64_t object);

/** When all is quiet: what pods have is alive, and nothing was done to a dead one. */
void objects_check(const lives_t *lives, report_t *report);
/** When the queue is destroyed: nothing is alive. */
void objects_check_end(report_t *report);

#endif
