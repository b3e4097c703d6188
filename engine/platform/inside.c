/* The stack of inside.h. */
#include "platform/inside.h"

#include <stddef.h>

static _Thread_local struct inside *innermost;

bool
inside_is(const void *queue)
{
    for (const struct inside *frame = innermost; frame != NULL; frame = frame->outer) {
        if (frame->queue == queue) {
            return true;
        }
    }
    return false;
}

void
inside_enter(struct inside *frame, const void *queue)
{
    frame->queue = queue;
    frame->outer = innermost;
    innermost = frame;
}

void
inside_leave(const struct inside *frame)
{
    innermost = frame->outer;
}
