/*
 * Stops a thread at whatever instruction it is at, for as long as wanted or for ever.
 *
 * The stop is a signal handler that waits; it touches its own thread's `ice` and a futex, nothing
 * else, so it may interrupt anything. Where the thread was is what it noted itself: the call before
 * it entered it, and the allocator.
 */
#ifndef SCHEDQ_FREEZE_ICE_H
#define SCHEDQ_FREEZE_ICE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "call.h"

typedef struct ice {
    atomic_uint word;       /* RUNNING, ASKED, STOPPED; the futex of the stopped thread */
    atomic_uint call;       /* the library call that the thread is in */
    atomic_uint allocating; /* it is in the allocator */
} ice_t;

/** Installs the handler of SIGUSR1. */
void ice_install(void);
/** Makes `ice` the calling thread's. A thread without one cannot be stopped. */
void ice_take(ice_t *ice);
/** The calling thread's, or NULL. */
ice_t *ice_own(void);

/** Returns when the thread stands still; false if the signal cannot be sent. */
bool ice_freeze(ice_t *ice, pthread_t thread);
void ice_release(ice_t *ice);

/*
 * The fences keep the compiler from moving the caller's stores across, as the handler would see it.
 */
static inline void
ice_enter(ice_t *ice, unsigned call)
{
    atomic_store_explicit(&ice->call, call, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void
ice_leave(ice_t *ice)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&ice->call, OP_NONE, memory_order_relaxed);
}

#endif
