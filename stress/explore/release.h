/*
 * After the threads of a scenario with waiting pods: is what waits right to wait, and does all of
 * it come out?
 */
#ifndef EXPLORE_RELEASE_H
#define EXPLORE_RELEASE_H

#include "actor.h"

/** No event was missed, the public words count what waits, and the deadline is not too late. */
void release_check(struct actor *healthy);

/**
 * Wherever threads stopped: a thread that serves time comes to a rest. A tick may leave to the next
 * one what it could not do, and what it made due. What a host has to decide stays due.
 */
void release_rest(struct actor *healthy);

/**
 * Pops all that backs off when its time has come, then what is parked or gated: by time, or by
 * events.
 */
void release_all(struct actor *healthy);

/** Pops and ends what can be popped. */
void release_pop(struct actor *healthy);

#endif
