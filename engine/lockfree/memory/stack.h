/*
 * A lock-free stack of numbered objects that are used again at once: one word {tag:36, number:28};
 * the links lie in the objects.
 *
 * Each change raises the tag, so a thread that was late finds another word, though the same object
 * may be on top again (ABA). Who pops reads a link of an object that may have been taken, and used,
 * by somebody else meanwhile: then the link is nonsense, and the tag has changed. The object's
 * memory has to stay: its owner sees to that.
 *
 * Ordering: each change is a full fence; what the pusher stored before it, link and contents, is
 * seen by who pops. Progress: lock-free, a failed swing is another's success. A thread that stops
 * holds what it had popped. Wraparound: 2^36 changes; at 10 million a second 1.9 hours, and then
 * only for a thread that slept exactly so long. Not chosen: ck_stack, whose 16-byte exchange is
 * assembly that neither ThreadSanitizer nor the controlled scheduler sees.
 *
 *   push   seen = u64_load(stack);                         pop   seen = u64_load_acquire(stack);
 *          do link = stack_top(seen);                            while (stack_top(seen) != 0) {
 *          while (!stack_swing(stack, &seen, number));               next = the link of
 *                                                                    stack_top(seen); if
 *                                                                    (stack_swing(stack, &seen,
 *                                                                    next)) ... }
 */
#ifndef SCHEDQ_LOCKFREE_STACK_H
#define SCHEDQ_LOCKFREE_STACK_H

#include "platform/atomic.h"

#define STACK_TAG_SHIFT 28

/** The number on top; 0: the stack is empty. */
static inline uint32_t
stack_top(uint64_t stack)
{
    return (uint32_t)(stack & ((UINT64_C(1) << STACK_TAG_SHIFT) - 1));
}

/**
 * Puts `number` on top of what was `*seen`. False: somebody was first, *seen is the newest; that is
 * his progress.
 */
static inline bool
stack_swing(atomic_u64 *stack, uint64_t *seen, uint32_t number)
{
    uint64_t next = ((*seen >> STACK_TAG_SHIFT) + 1) << STACK_TAG_SHIFT | number;
    uint64_t found = u64_cas_value(stack, *seen, next);

    if (found == *seen) {
        return true;
    }
    *seen = found;
    return false;
}

#endif
