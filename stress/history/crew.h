/*
 * The threads: they run the rounds together with the main thread, and are watched while they do.
 */
#ifndef SCHEDQ_HISTORY_CREW_H
#define SCHEDQ_HISTORY_CREW_H

#include <pthread.h>

#include "report.h"
#include "workload.h"

typedef struct crew {
    world_t *world;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t started; /* rounds */
    unsigned finished, hired;
    bool over;
    pthread_t threads[THREADS_MAX];
} crew_t;

/** Starts the threads; ends the process if one cannot be started. */
void crew_hire(crew_t *crew, world_t *world);
/**
 * Lets every thread run its part of the round.
 *
 * False: no thread ended a call for `patience` seconds of processor time, or while all of them
 * slept for as long (support/patience.h); they are still there, and may be in the queue.
 */
bool crew_run(crew_t *crew, unsigned patience);
/**
 * Says what the threads of a round that does not end are doing: a violation of wake-up, if that is
 * what it is.
 */
void crew_explain(crew_t *crew, report_t *report);
/** Ends the threads; their workers are unregistered. */
void crew_dismiss(crew_t *crew);

#endif
