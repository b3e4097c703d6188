/*
 * Which queues this thread is inside of: how a call from a callback is told from any other call.
 *
 * A thread keeps a stack of frames, one per call, each in that call's own stack frame. A queue that
 * is on it must not be entered again; another queue may be. The stack is empty whenever the thread
 * is in no call, so nothing thread-local outlives one.
 */
#ifndef SCHEDQ_PLATFORM_INSIDE_H
#define SCHEDQ_PLATFORM_INSIDE_H

#include <stdbool.h>

struct inside {
    const void *queue;
    struct inside *outer;
};

bool inside_is(const void *queue);
void inside_enter(struct inside *frame, const void *queue);

/** `frame` is the one that was entered last. */
void inside_leave(const struct inside *frame);

#endif
