/* The stack of inside.h. */
#include "platform/inside.h"

const struct inside *
inside_find(const void *queue)
{
    const struct inside *frame = INSIDE_THREAD.top;

    while (inside_is_frame(frame) && frame->queue != queue) {
        frame = frame->outer;
    }
    return inside_is_frame(frame) ? frame : NULL;
}

void
inside_look_next(void)
{
    struct inside *last = INSIDE_THREAD.top;

    if (!inside_is_frame(last)) {
        INSIDE_THREAD.top = INSIDE_LOOK;
        return;
    }
    while (inside_is_frame(last->outer)) {
        last = last->outer;
    }
    last->outer = INSIDE_LOOK;
}

#if !defined(SCHEDQ_ATOMICS_CONTROLLED)

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct inside_thread inside_own
    __attribute__((tls_model("initial-exec"))) = {.top = INSIDE_LOOK};

/* Written by a child's only thread, before it has others. */
static uint32_t forks;

static void
count_fork(void)
{
    forks++;
    inside_own.number = 0;
    inside_look_next();
}

void
inside_watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, count_fork);
}

uint32_t
inside_forks(void)
{
    return forks;
}

void
inside_settle(bool again)
{
    if (inside_own.number == 0) {
        inside_own.number = (uint32_t)syscall(SYS_gettid);
    }
    if (inside_own.top == INSIDE_LOOK && !again && forks == 0) {
        inside_own.top = NULL;
    }
}

#endif
