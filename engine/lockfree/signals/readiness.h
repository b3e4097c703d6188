/*
 * Telling a host that waits somewhere else, in poll or by a callback (notifier.h).
 *
 * THE HOST WAITS                                  SOMETHING BECAME POPPABLE
 *   a pop that does not wait finds nothing          make it findable
 *   readiness_arm, if it is not armed               a full fence
 *   look again                                      waiters_wake: readiness_signal if it is armed
 *   nothing: readiness_keep
 *   something, or readiness_keep said false:
 *     readiness_disarm
 *
 * So the descriptor is readable from the first pod that came after a pop had found nothing until
 * the next pop that finds nothing. Between them an add does nothing for it: no system call, and no
 * access that it would not make anyway. readiness.c has the essay.
 */
#ifndef SCHEDQ_LOCKFREE_READINESS_H
#define SCHEDQ_LOCKFREE_READINESS_H

#include "lockfree/signals/sleepers.h"
#include "platform/notifier.h"

#define READINESS_CHANGER UINT64_C(0x400) /* one of up to 2^10 - 1 */
#define READINESS_HELPER UINT64_C(0x100000)
#define READINESS_HELPED UINT64_C(0x20000000)
#define READINESS_DOUBTED UINT64_C(0x40000000)
#define READINESS_ARMED UINT64_C(0x80000000)
#define READINESS_CHANGERS (READINESS_HELPER - READINESS_CHANGER)
#define READINESS_HELPERS (READINESS_HELPED - READINESS_HELPER)

/** May there be a waiter to tell of a pod: a thread that sleeps, or the host elsewhere? */
static inline bool
waiters_are_there(const struct sleepers *sleepers)
{
    return (uint32_t)u64_load(&sleepers->word) != 0;
}

/**
 * Wakes one sleeper, if there may be any, and tells the host if it waits elsewhere. After the
 * caller's full fence.
 */
void waiters_wake(struct sleepers *sleepers, const struct notifier *notifier);

/** Tells the host if it waits elsewhere. After the caller's full fence. */
void readiness_signal(struct sleepers *sleepers, const struct notifier *notifier);

/** Tells the host, if there is any to tell, whether or not it waits. A full fence. */
void readiness_signal_always(struct sleepers *sleepers, const struct notifier *notifier);

/** Will the host be told of the next pod, and is the descriptor not readable before? */
bool readiness_is_armed(const struct sleepers *sleepers);

/**
 * Is a thread about to write or to read the descriptor; or, if the queue is `closed`, would the
 * host be told of the next pod? The threads that have to tell the host may have stopped.
 */
bool readiness_is_overdue(const struct sleepers *sleepers, bool closed);

/**
 * After a look that found nothing, before another: from here on the host is told of a pod. A full
 * fence.
 */
void readiness_arm(struct sleepers *sleepers, const struct notifier *notifier);

/**
 * Ends readiness_arm. False: the host was told of a pod meanwhile; then readiness_disarm ends it.
 */
bool readiness_keep(struct sleepers *sleepers);

/** Ends readiness_arm: the host is told. */
void readiness_disarm(struct sleepers *sleepers, const struct notifier *notifier);

#endif
