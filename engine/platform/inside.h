/*
 * Which queues this thread is inside of: how a call from a callback is told from any other call.
 *
 * A thread keeps a stack of frames, one per call, each in that call's own stack frame. A queue that
 * is on it must not be entered again; another queue may be. The stack is empty whenever the thread
 * is in no call, so nothing thread-local outlives one.
 *
 * Every call asks, so it is inline, and the one word is in static TLS: eight bytes of the reserve
 * that the C library keeps for libraries that are opened at run time.
 */
#ifndef SCHEDQ_PLATFORM_INSIDE_H
#define SCHEDQ_PLATFORM_INSIDE_H

#include <stdbool.h>
#include <stddef.h>

struct inside {
    const void *queue;
    struct inside *outer;
};

#if defined(SCHEDQ_ATOMICS_CONTROLLED)
/** The simulated thread's; simulated threads share the variables of the one thread there is. */
struct inside **inside_innermost(void);
#else
extern _Thread_local struct inside *inside_top __attribute__((tls_model("initial-exec")));

static inline struct inside **
inside_innermost(void)
{
    return &inside_top;
}
#endif

static inline bool
inside_is(const void *queue)
{
    const struct inside *frame = *inside_innermost();

    while (frame != NULL && frame->queue != queue) {
        frame = frame->outer;
    }
    return frame != NULL;
}

static inline void
inside_enter(struct inside *frame, const void *queue)
{
    struct inside **innermost = inside_innermost();

    frame->queue = queue;
    frame->outer = *innermost;
    *innermost = frame;
}

/** `frame` is the one that was entered last. */
static inline void
inside_leave(const struct inside *frame)
{
    *inside_innermost() = frame->outer;
}

#endif
