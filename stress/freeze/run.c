/*
 * The queue of a run, with an allocator that notes who is inside it.
 *
 * The allocator's slow path is outside what a lock-free engine promises: a thread stopped there may
 * hold its lock. So all is reserved first, and a freeze that hits the allocator all the same is
 * told apart by its mark.
 *
 * The timer thread blocks all signals, so nobody could stop it. But it reads the queue's clock,
 * which is a function of this file: there it lets the one signal through, and from then on it can
 * be stopped at any instruction.
 */
#include "run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "plugins.h"

#define PRIORITIES 8u
#define PATIENCE_SECONDS 30
#define NAP_NS 100000
#define MS(n) ((n)*INT64_C(1000000))

static _Thread_local bool is_ours;

void
run_enter_thread(void)
{
    is_ours = true;
}

static void
adopt_timer_thread(run_t *run)
{
    sigset_t set;
    is_ours = true;
    ice_take(&run->timer.ice);
    ice_enter(&run->timer.ice, CALL_TIMER);
    run->timer.thread = pthread_self();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    atomic_store(&run->timer_known, true);
}

static int64_t
read_clock(void *ctx)
{
    run_t *run = ctx;
    if (!is_ours)
        adopt_timer_thread(run);
    if (ice_own() == &run->timer.ice)
        atomic_fetch_add_explicit(&run->timer.calls, 1, memory_order_relaxed);
    return clock_now();
}

static void
mark(unsigned value)
{
    ice_t *ice = ice_own();
    if (ice != NULL)
        atomic_store_explicit(&ice->allocating, value, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static void *
marked_alloc(void *ctx, size_t bytes, size_t align)
{
    run_t *run = ctx;
    void *memory = NULL;
    mark(1);
    if (posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, bytes) != 0)
        memory = NULL;
    mark(0);
    atomic_fetch_add_explicit(&run->allocations, 1, memory_order_relaxed);
    return memory;
}

static void
marked_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    mark(1);
    free(memory);
    mark(0);
}

static void
refuse(const char *call, schedq_status_t status, const char *why)
{
    fprintf(stderr, "schedq-freeze: %s: %s %s\n", call, schedq_status_name(status), why);
    exit(status == SCHEDQ_INVALID ? 2 : 1);
}

static void
make_queue(run_t *run)
{
    char why[200];
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    config.engine = (uint8_t)run->options->engine->value;
    config.allocator = (schedq_allocator_t){.alloc = marked_alloc, .free = marked_free, .ctx = run};
    config.clock = (schedq_clock_t){.now_ns = read_clock, .ctx = run};
    config.initial_backoff_ns = MS(1);
    config.max_backoff_ns = MS(4);
    config.max_parked_ns = MS(50);
    schedq_status_t status = schedq_create(&config, &run->queue, why, sizeof why);
    if (status != SCHEDQ_OK)
        refuse("schedq_create", status, why);
    plugins_register(run);
    /* Names, each once more for lives that were deleted in flight, and those in hands. */
    uint32_t pods = 2 * TALLY_NAMES + (run->options->threads + 1) * HELD_MAX;
    status =
        schedq_reserve(run->queue, pods, PRIORITIES, run->options->threads + 2, why, sizeof why);
    if (status != SCHEDQ_OK)
        refuse("schedq_reserve", status, why);
}

static void
start_timer(run_t *run)
{
    char why[200];
    actor_prepare(&run->timer, run, ACTORS_MAX + 2);
    schedq_status_t status = schedq_run(run->queue, why, sizeof why);
    if (status != SCHEDQ_OK)
        refuse("schedq_run", status, why);
}

bool
run_open(run_t *run, const options_t *options, uint64_t seed)
{
    memset(run, 0, sizeof *run);
    run_enter_thread();
    run->options = options;
    run->seed = seed;
    make_queue(run);
    for (unsigned i = 0; i < options->threads; i++) {
        char why[200];
        actor_t *actor = &run->actors[i];
        actor_prepare(actor, run, i);
        schedq_status_t status =
            schedq_worker_register(run->queue, &actor->worker, why, sizeof why);
        if (status != SCHEDQ_OK)
            refuse("schedq_worker_register", status, why);
    }
    start_timer(run);
    for (unsigned i = 0; i < options->threads; i++) {
        if (pthread_create(&run->actors[i].thread, NULL, actor_main, &run->actors[i]) != 0) {
            tally_violation(&run->tally, "thread %u cannot be started", i);
            return false;
        }
        run->actor_count++;
    }
    /* A signal to a thread that has no ice yet would be lost. */
    for (unsigned i = 0; i < run->actor_count; i++) {
        while (atomic_load(&run->actors[i].tid) == 0)
            clock_sleep_until(clock_now() + NAP_NS);
    }
    return true;
}

/* ---- waiting ---- */

void
run_wait(patience_t *patience)
{
    patience_begin(patience, getpid(), 4 * PATIENCE_SECONDS, PATIENCE_LOOKS(PATIENCE_SECONDS));
}

uint64_t
run_progress(run_t *run)
{
    return atomic_load(&run->settler.calls) + atomic_load(&run->tally.pops) +
           tally_sum(run->tally.adds) + tally_sum(run->tally.dones);
}

bool
run_waited(patience_t *patience, uint64_t progress)
{
    clock_sleep_until(clock_now() + NAP_NS);
    patience->naps++;
    return patience->naps % (PATIENCE_LOOK_NS / NAP_NS) != 0 ||
           patience_look(patience, progress) == PATIENCE_LASTS;
}

bool
run_join(run_t *run, pthread_t thread, void **result)
{
    patience_t patience;
    run_wait(&patience);
    while (!patience_joined(thread, result)) {
        if (patience_look(&patience, run_progress(run)) != PATIENCE_LASTS)
            return false;
    }
    return true;
}
