/*
 * How a queue tells a host that waits somewhere else: a descriptor, a callback, or both.
 *
 * Each is set once and stays until the queue ends: the descriptor by any thread, at any time; the
 * callback before the first worker comes. An engine decides when to tell (readiness.h, lock.c).
 */
#ifndef SCHEDQ_PLATFORM_NOTIFIER_H
#define SCHEDQ_PLATFORM_NOTIFIER_H

#include "platform/words.h"

#include <stdbool.h>
#include <stddef.h>

struct notifier {
    uint32_t used;       /* 1: there is one of the two */
    uint32_t descriptor; /* 1 + its number; 0: none */
    void (*wake)(void *ctx);
    void *ctx;
    uint32_t told; /* 1: a call that gave the descriptor has made it readable */
};

/** Is there a descriptor or a callback? */
static inline bool
notifier_is_used(const struct notifier *notifier)
{
    return word_load(&notifier->used) != 0;
}

/** Only before it is used by any other thread. */
void notifier_set_wake(struct notifier *notifier, void (*wake)(void *ctx), void *ctx);

/** The descriptor, which is made if there is none. Negative: the system has none to give. */
int notifier_descriptor(struct notifier *notifier);

/** Makes the descriptor readable, and calls back. */
void notifier_tell(const struct notifier *notifier);

/** Makes the descriptor not readable. */
void notifier_clear(const struct notifier *notifier);

/** Closes the descriptor. */
void notifier_shut(struct notifier *notifier);

#endif
