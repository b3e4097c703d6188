/*
 * A lock-free stack of numbered objects that are used again at once: one word {tag:36, number:28};
 * the links lie in the objects.
 *
 * Each change raises the tag, so the CAS of a late thread fails though the same object may be on
 * top again (ABA). A popper may read the link of an object that another thread has popped and uses:
 * the link is nonsense then, and the tag has changed. The object's memory must stay mapped; that is
 * the user's duty.
 *
 * Ordering: each change is a full fence; a popper sees the link and the contents that the pusher
 * stored. Progress: lock-free, a failed swing is another's success. A thread that stops holds what
 * it had popped. Wraparound: 2^36 changes, 1.9 hours at 10 million a second, and a thread must
 * sleep exactly so long. Not chosen: ck_stack, whose 16-byte exchange is assembly that neither
 * ThreadSanitizer nor the controlled scheduler sees.
 *
 *   push   seen = u64_load(stack);
 *          do link = stack_top(seen); while (!stack_swing(stack, &seen, number));
 *   pop    seen = u64_load_acquire(stack);
 *          while ((top = stack_top(seen)) != 0 && !stack_swing(stack, &seen, link of top));
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
 * Puts `number` on top of what was `*seen`. False: another thread was first, and *seen is the word
 * that it wrote.
 */
static inline bool
stack_swing(atomic_u64 *stack, uint64_t *seen, uint32_t number)
{
    uint64_t next = ((*seen >> STACK_TAG_SHIFT) + 1) << STACK_TAG_SHIFT | number;

    return u64_swing(stack, seen, next);
}

#endif
