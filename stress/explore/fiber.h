/*
 * A stack of its own, and switching between two of them: what a simulated thread runs on.
 *
 * On x86-64 a switch is a dozen instructions; elsewhere ucontext, ten times slower because it asks
 * the kernel to save the signal mask. (-DFIBER_UCONTEXT takes it on x86-64 too.) AddressSanitizer
 * is told of every switch.
 */
#ifndef EXPLORE_FIBER_H
#define EXPLORE_FIBER_H

#include <stddef.h>

#define FIBER_STACK_BYTES (128 * 1024)

#if !defined(__x86_64__) && !defined(FIBER_UCONTEXT)
#define FIBER_UCONTEXT 1
#endif

#if defined(FIBER_UCONTEXT)
#include <ucontext.h>
#endif

struct fiber {
#if defined(FIBER_UCONTEXT)
    ucontext_t context;
#else
    void *stack_pointer;
#endif
    char *stack; /* lowest address; NULL for the program's own stack */
    void (*entry)(void);
    const void *sanitizer_bottom; /* of the program's own stack, learnt when it is left */
    size_t sanitizer_bytes;
    void *sanitizer_fake;
};

/**
 * Makes the next switch to `fiber` call `entry`, which must not return. Whatever ran on it is
 * forgotten.
 *
 * The stack is mapped at the first call and kept.
 */
void fiber_prepare(struct fiber *fiber, void (*entry)(void));

/** Returns when somebody switches to `from`. */
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
