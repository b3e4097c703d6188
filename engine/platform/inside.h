/*
 * Which queues this thread is inside of: how a call from a callback is told from any other call,
 * and which callback that is.
 *
 * A thread keeps a stack of frames, one per call. A queue that is on it must not be entered again;
 * another queue may be. The stack is empty whenever the thread is in no call. While the caller's
 * code runs, the innermost frame says which kind it is.
 *
 * The frame of a call with a worker lies in the worker, where others can read what runs
 * (engine/worker.h). Its queue stays the same, and each call leaves it as it found it: so such a
 * call writes no more of it than `outer`. Other calls have a frame on their stack.
 *
 * Every call asks, so it is inline, and the words are in static TLS: sixteen bytes of the reserve
 * that the C library keeps for libraries that are opened at run time.
 *
 * INSIDE_LOOK. What happens seldom costs the others nothing: a stack that ends in INSIDE_LOOK
 * instead of NULL sends the thread's next outermost call to inside_settle. So it is with a thread
 * whose number is not known yet, that was refused and has words to forget, or that lives in a child
 * after a fork.
 */
#ifndef SCHEDQ_PLATFORM_INSIDE_H
#define SCHEDQ_PLATFORM_INSIDE_H

#include "platform/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The caller's code that a call runs; up to WAKE as schedq_callback_t. */
enum callback {
    CALLBACK_NONE,
    CALLBACK_HINT,
    CALLBACK_PRE_HINT, /* no lock is held */
    CALLBACK_PRE_ENQUEUE,
    CALLBACK_PRECHECK,
    CALLBACK_AFFINITY,
    CALLBACK_CLOCK,
    CALLBACK_RETAIN,
    CALLBACK_RELEASE,
    CALLBACK_VISITOR,
    CALLBACK_WAKE,
    CALLBACK_VISITED, /* the release behind a visitor */
    CALLBACK_DESTROY, /* releases of a queue that ends */
    CALLBACK_WRITER,
    CALLBACK_SLEEP /* no callback: a call that waits sleeps */
};

#define INSIDE_KIND_BITS 8
#define INSIDE_PLUGIN_BITS 8 /* 1 + its number, 0: none is known; above these the profile */

struct inside {
    const void *queue;
    struct inside *outer;
    /* low half: kind, plugin, profile of the caller's code that runs; high: a mark (worker.h) */
    uint64_t what;
};

/** The word for a plugin's callback. */
static inline uint32_t
inside_plugin(enum callback callback, uint32_t plugin, uint32_t profile)
{
    return (uint32_t)callback | (plugin + 1) << INSIDE_KIND_BITS |
           profile << (INSIDE_KIND_BITS + INSIDE_PLUGIN_BITS);
}

/** Ends a stack, as NULL does: see above. */
#define INSIDE_LOOK ((struct inside *)1)

struct inside_thread {
    struct inside *top;
    uint32_t number; /* the kernel's, of this thread; 0: not known yet */
};

#if defined(SCHEDQ_ATOMICS_CONTROLLED)
/** The simulated thread's; simulated threads share the variables of the one thread there is. */
struct inside_thread *inside_thread(void);
#define INSIDE_THREAD (*inside_thread())
#else
extern _Thread_local struct inside_thread inside_own __attribute__((tls_model("initial-exec")));
/*
 * The calling thread's. It is named and not pointed to. A sanitizer compares each pointer with
 * NULL. For the address of such a variable gcc 12 takes the flags of the addition that makes it,
 * and the linker replaces that by an instruction that sets none.
 */
#define INSIDE_THREAD inside_own
#endif

static inline bool
inside_is_frame(const struct inside *frame)
{
    return (uintptr_t)frame > (uintptr_t)INSIDE_LOOK;
}

/** May this call go on without a look? Else inside_find, then inside_settle. */
static inline bool
inside_is_plain(void)
{
    return INSIDE_THREAD.top == NULL;
}

/** The innermost frame of this queue; NULL: the thread is not inside of it. */
const struct inside *inside_find(const void *queue);

static inline enum callback
inside_callback(const struct inside *frame)
{
    return (enum callback)(word_load(&frame->what) & ((1u << INSIDE_KIND_BITS) - 1));
}

/**
 * For an outermost call: the thread's number is known from here on. `again`: there is a reason to
 * look at the next call, too.
 */
void inside_settle(bool again);

/** The thread's next outermost call is to look. */
void inside_look_next(void);

/** How many forks lie between the process that loaded the library and this one. */
uint32_t inside_forks(void);

/** From here on forks are counted. To be called once: a further call counts each fork twice. */
void inside_watch_forks(void);

/** inside_enter with a frame that knows its queue. */
static inline void
inside_enter_again(struct inside *frame)
{
    frame->outer = INSIDE_THREAD.top;
    INSIDE_THREAD.top = frame;
}

static inline void
inside_enter(struct inside *frame, const void *queue)
{
    frame->queue = queue;
    frame->what = CALLBACK_NONE;
    inside_enter_again(frame);
}

/** `frame` is the one that was entered last. */
static inline void
inside_leave(const struct inside *frame)
{
    INSIDE_THREAD.top = frame->outer;
}

/**
 * The caller's code begins, or ends (CALLBACK_NONE): enum callback, or inside_plugin's. Does
 * nothing if no call was entered.
 */
static inline void
inside_calls(uint32_t what)
{
    struct inside *frame = INSIDE_THREAD.top;

    if (inside_is_frame(frame)) {
        word_store(&frame->what, (uint64_t)what);
    }
}

/**
 * The same if other code of the caller's may be running. Returns what ran before, with its mark.
 */
static inline uint64_t
inside_interrupts(uint32_t what)
{
    const struct inside *frame = INSIDE_THREAD.top;
    uint64_t before = inside_is_frame(frame) ? word_load(&frame->what) : CALLBACK_NONE;

    inside_calls(what);
    return before;
}

/** What ran before goes on. */
static inline void
inside_goes_on(uint64_t before)
{
    struct inside *frame = INSIDE_THREAD.top;

    if (inside_is_frame(frame)) {
        word_store(&frame->what, before);
    }
}

#endif
