/*
 * The parts of engine/platform that this program replaces: futex.h, descriptor.h, membarrier.h,
 * clock.h, inside.h and thread.h ask the scheduler. They are linked instead of the library's,
 * because a program's own objects come before an archive's.
 */
#include "platform.h"

#include "scheduler.h"

#include "platform/clock.h"
#include "platform/descriptor.h"
#include "platform/futex.h"
#include "platform/inside.h"
#include "platform/membarrier.h"
#include "platform/thread.h"

void
futex_wait(atomic_u32 *word, uint32_t expected, int64_t deadline_ns, uint32_t bits)
{
    sim_sleep(word, expected, deadline_ns, bits, __builtin_return_address(0));
}

void
futex_wake(atomic_u32 *word, uint32_t count)
{
    sim_wake(word, count, FUTEX_ANY, __builtin_return_address(0));
}

void
futex_wake_bits(atomic_u32 *word, uint32_t bits)
{
    sim_wake(word, UINT32_MAX, bits, __builtin_return_address(0));
}

/* ---- descriptor.h: one in each episode ------------------------------------------------------- */

static atomic_u32 readable;

int
descriptor_open(void)
{
    (void)u32_exchange(&readable, 0);
    return 1;
}

void
descriptor_close(int descriptor)
{
    (void)descriptor;
}

void
descriptor_set(int descriptor)
{
    (void)descriptor;
    (void)u32_exchange(&readable, 1);
    sim_wake(&readable, UINT32_MAX, FUTEX_ANY, __builtin_return_address(0));
}

void
descriptor_clear(int descriptor)
{
    (void)descriptor;
    (void)u32_exchange(&readable, 0);
}

void
platform_poll(void)
{
    while (u32_load(&readable) == 0) {
        sim_sleep(&readable, 0, INT64_MAX, FUTEX_ANY, __builtin_return_address(0));
    }
}

/* ---- membarrier.h ---------------------------------------------------------------------------- */

bool
membarrier_register(void)
{
    return sim_has_barriers();
}

bool
membarrier_ask(void)
{
    return sim_fence_all(__builtin_return_address(0));
}

/* ---- clock.h --------------------------------------------------------------------------------- */

int64_t
clock_monotonic(void)
{
    return sim_now();
}

bool
clock_repeats(const struct clock *clock)
{
    return clock->source.now_ns != NULL || clock_is_virtual(clock);
}

bool
clock_has_ticks(void)
{
    return false;
}

int64_t
clock_now(const struct clock *clock)
{
    if (clock->word != NULL) {
        return *clock->word;
    }
    if (clock->source.now_ns == NULL) {
        return clock_monotonic();
    }
    const uint64_t before = inside_interrupts(CALLBACK_CLOCK);
    int64_t now = clock->source.now_ns(clock->source.ctx);

    inside_goes_on(before);
    return now;
}

/* ---- inside.h: simulated threads share the thread-local variables of the one thread there is - */

struct inside_thread *
inside_thread(void)
{
    struct inside_thread *thread = sim_thread_local();

    if (thread->number == 0) {
        thread->number = 1; /* any but 0 */
    }
    return thread;
}

uint32_t
inside_forks(void)
{
    return 0;
}

void
inside_watch_forks(void)
{
}

void
inside_settle(bool again)
{
    (void)again;
}

/* ---- thread.h: the one thread that a queue starts becomes a thread of the scenario's --------- */

static struct {
    void *(*main)(void *argument);
    void *argument;
    bool ended;
} started;

bool
thread_start(struct thread *thread, void *(*main)(void *argument), void *argument)
{
    thread->id = 1;
    started.main = main;
    started.argument = argument;
    started.ended = false;
    return true;
}

bool
thread_lives(uint32_t number)
{
    (void)number;
    return true;
}

void
platform_run_thread(void)
{
    (void)started.main(started.argument);
    started.ended = true;
}

/* Looks when nobody else can run; who joins a frozen thread waits for ever. */
void
thread_join(const struct thread *thread)
{
    (void)thread;
    while (!started.ended) {
        bool quiet = sim_wait_for_quiet();

        SIM_CHECK(quiet || started.ended, "a thread is joined that sleeps");
        if (!started.ended) {
            sim_stop();
        }
    }
}
