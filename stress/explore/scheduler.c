/*
 * The controlled scheduler: it runs the engine's real code, one simulated thread at a time, and
 * decides at every access to shared memory who runs next.
 *
 * WHY. A race between two threads needs one interleaving in millions, and on two cores most never
 * occur. Here each is as likely as any other, a run takes microseconds, and a seed repeats it
 * exactly.
 *
 * WHAT IS SIMULATED
 *   threads      fibers on stacks of their own (fiber.h). The engine's accesses go through
 *                platform/atomic.h; its back end for this build (atomic_controlled.h) calls
 *                control_load, control_store, control_rmw and control_fence below. A *point*,
 *                where another thread may run, comes before each of them, before futex_wait
 *                compares, and before futex_wake wakes. A thread runs on between two points.
 *   memory       x86-TSO: a store waits in its thread's buffer (buffer.h) until it leaves at
 *                random, at a rate drawn for each episode, or until a read-modify-write, a fence,
 *                the kernel or the allocator empties the buffer.
 *   membarrier   empties the buffer of each thread, one after the other in any order, others run in
 *                between. The kernel has none in a quarter of the episodes, and refuses now and
 *                then.
 *   futex        sleeping and waking, with sleepers that are woken in any order, wake for no reason
 *                now and then, and whose deadlines pass whenever that is worst: at random, and when
 *                nobody else can run.
 *   clock        CLOCK_MONOTONIC steps by READING_NS at each reading and jumps to a sleeper's
 *                deadline. (Readings repeat in scenarios with a virtual or external clock.)
 *   stopping     up to frozen_max threads stop for ever at a random point of theirs, as a thread
 *                does that its debugger, or its death, stops. Its stores reach memory: the
 *                processor does not stop with it.
 *   memory that was given back   every access through the facade is checked against the arena
 *           (arena.h).
 *
 * WHAT IS NOT
 *   reordering that TSO forbids: loads are not delayed, nor stores passed by stores. A missing
 *   acquire or release is for ThreadSanitizer to find (the C11 back end), and a processor with
 *   weaker order is not simulated. Concurrency Kit's own code (ck_ring_init) accesses memory
 *   directly: each of its calls is one step.
 *   platform/words.h too: those words change at once, without a point. Plain accesses are not
 *   points and pass the store buffer by. They are right where one thread owns the memory; the arena
 *   empties the buffer whenever memory changes hands through it. Signals, fork, the allocator's own
 *   races.
 *
 * WHAT IS FOUND, besides a scenario's own checks: a deadlock (nobody can run, and somebody sleeps
 * who is not frozen), a livelock (more than STEPS_MAX steps), an assertion or a crash in the engine
 * (main.c catches the signal).
 *
 * STRATEGIES. SIM_UNIFORM draws at each point; it finds what needs many switches. SIM_PCT
 * (Burckhardt and others 2010) runs the thread with the highest of random priorities and lowers the
 * running one's at depth - 1 random points; it finds a bug that needs d ordered accesses with
 * probability of at least 1 / (n * steps^(d-1)), also where one thread has to stand still while
 * others run for long. Depth 3..8 is drawn for each episode: below 3 a lost wake-up cannot be seen.
 */
#include "scheduler.h"

#include "arena.h"
#include "buffer.h"
#include "fiber.h"
#include "trace.h"

#include "platform/atomic.h"
#include "platform/inside.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STEPS_MAX 200000
#define DEPTH_MIN 3
#define DEPTH_MAX 8
#define FLUSH_RATES 7 /* 1/2, 1/4, ... 1/128 of the points let a store go */
/* of the points, in an episode that has spurious wake-ups or early deadlines */
#define STRAY_RATE 32
#define REFUSAL_RATE 32 /* of the barriers */
#define READING_NS 100  /* longer than the keys of one batch are apart */
/* deadlines so far off do not pass by themselves: a sleeper that needs them is a lost wake-up */
#define FAR_NS 100000000
#define ALONE SIM_THREADS_MAX

enum thread_state { RUNNABLE, ASLEEP, QUIET, FROZEN, ENDED };

struct thread {
    enum thread_state state; /* set_state */
    unsigned number;
    uint64_t steps, freeze_at; /* freeze_at 0: never */
    int64_t priority;          /* PCT */
    const void *word;          /* asleep on */
    uint32_t bits;             /* which wake it */
    int64_t deadline;
    struct inside_thread local;
    struct buffer buffer;
    struct fiber fiber;
};

static struct {
    struct thread threads[SIM_THREADS_MAX + 1]; /* the last one is alone */
    unsigned count;
    uint32_t runnable;     /* a bit for each of them that is */
    struct thread *leader; /* of those, the one with the highest priority; NULL: not known */
    struct fiber program;
    struct thread *current; /* NULL: the program itself runs */
    bool alone;
    sim_body body;
    struct inside_thread program_local;

    struct sim_plan plan;
    struct random choices, bodies;
    bool pct, spurious, early, settled, barriers;
    uint32_t flush_rate;
    uint64_t change_at[DEPTH_MAX];
    unsigned changes, changed;
    int64_t lowest;
    uint64_t step;
    int64_t now;
    char failure[400];
} sim;

/* ---- ending ---------------------------------------------------------------------------------- */

void
sim_fail(const char *format, ...)
{
    va_list arguments;
    struct thread *self = sim.current;

    if (sim.failure[0] == '\0') {
        va_start(arguments, format);
        (void)vsnprintf(sim.failure, sizeof sim.failure, format, arguments);
        va_end(arguments);
    }
    if (self != NULL) {
        sim.current = NULL;
        fiber_switch(&self->fiber, &sim.program);
    }
}

const char *
sim_failure(void)
{
    return sim.failure[0] != '\0' ? sim.failure : NULL;
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool
is_over(const struct thread *thread)
{
    return thread->state == FROZEN || thread->state == ENDED;
}

static void
set_state(struct thread *thread, enum thread_state state)
{
    uint32_t bit = UINT32_C(1) << thread->number;

    thread->state = state;
    sim.runnable = state == RUNNABLE ? sim.runnable | bit : sim.runnable & ~bit;
    sim.leader = NULL;
}

/* ---- who is next ----------------------------------------------------------------------------- */

static uint32_t
draw(uint32_t limit)
{
    return random_below(&sim.choices, limit);
}

static struct thread *
any_in(enum thread_state state)
{
    struct thread *found[SIM_THREADS_MAX];
    uint32_t count = 0;

    for (unsigned i = 0; i < sim.count; i++) {
        if (sim.threads[i].state == state) {
            found[count++] = &sim.threads[i];
        }
    }
    return count == 0 ? NULL : found[draw(count)];
}

static struct thread *
earliest_deadline(void)
{
    struct thread *best = NULL;

    for (unsigned i = 0; i < sim.count; i++) {
        struct thread *thread = &sim.threads[i];

        if (thread->state == ASLEEP && thread->deadline - FAR_NS < sim.now &&
            (best == NULL || thread->deadline < best->deadline)) {
            best = thread;
        }
    }
    return best;
}

static void
time_out(struct thread *thread)
{
    trace_add(TRACE_TIMEOUT, thread->number, NULL, 0, NULL);
    sim.now = sim.now > thread->deadline ? sim.now : thread->deadline;
    set_state(thread, RUNNABLE);
}

static void
fail_deadlock(void)
{
    for (unsigned i = 0; i < sim.count; i++) {
        if (sim.threads[i].state == ASLEEP) {
            (void)snprintf(sim.failure, sizeof sim.failure,
                           "deadlock: nobody can run, and T%u sleeps", i);
        }
    }
}

/* NULL: nobody ever runs again. */
static struct thread *
choose_when_nobody_can(void)
{
    struct thread *next = earliest_deadline();

    if (next != NULL) {
        time_out(next);
        return next;
    }
    next = any_in(QUIET);
    if (next != NULL) {
        set_state(next, RUNNABLE);
        return next;
    }
    fail_deadlock();
    return NULL;
}

/* Of those that can run, that with this rank. */
static struct thread *
runnable_at(uint32_t rank)
{
    uint32_t rest = sim.runnable;

    while (rank-- > 0) {
        rest &= rest - 1;
    }
    return &sim.threads[__builtin_ctz(rest)];
}

static struct thread *
leader(void)
{
    for (uint32_t rest = sim.runnable; sim.leader == NULL || rest != 0; rest &= rest - 1) {
        struct thread *thread = &sim.threads[__builtin_ctz(rest)];

        if (sim.leader == NULL || thread->priority > sim.leader->priority) {
            sim.leader = thread;
        }
    }
    return sim.leader;
}

static struct thread *
choose(void)
{
    uint32_t runnable = sim.runnable;

    if (runnable == 0) {
        return sim.alone ? NULL : choose_when_nobody_can();
    }
    if (sim.pct) {
        return sim.leader != NULL ? sim.leader : leader();
    }
    /* One is not drawn. */
    return runnable_at(
        (runnable & (runnable - 1)) == 0 ? 0 : draw((uint32_t)__builtin_popcount(runnable)));
}

static void
reschedule(void)
{
    struct thread *self = sim.current;
    struct thread *next = choose();

    if (next != self) {
        sim.current = next;
        fiber_switch(&self->fiber, next != NULL ? &next->fiber : &sim.program);
    }
}

/* ---- points ---------------------------------------------------------------------------------- */

static void
demote(struct thread *thread)
{
    thread->priority = --sim.lowest;
    sim.leader = NULL;
}

static void
lower_at_change(void)
{
    while (sim.changed < sim.changes && sim.step >= sim.change_at[sim.changed]) {
        sim.changed++;
        demote(sim.current);
    }
}

static void
flush_some(void)
{
    struct thread *thread = &sim.threads[draw(sim.count)];

    if (!buffer_is_empty(&thread->buffer)) {
        struct buffered_store store = buffer_flush_one(&thread->buffer);

        trace_add(TRACE_FLUSH, thread->number, store.word, store.value, NULL);
    }
}

/* Sleepers whose deadline passes early, or who wake for no reason. */
static void
stray(void)
{
    struct thread *thread = any_in(ASLEEP);

    if (thread == NULL) {
        return;
    }
    if (thread->deadline != INT64_MAX && sim.early) {
        time_out(thread);
    } else if (sim.spurious) {
        trace_add(TRACE_AWAKE, thread->number, NULL, 0, NULL);
        set_state(thread, RUNNABLE);
    }
}

static void
stop_for_ever(struct thread *self, const void *where)
{
    trace_add(TRACE_FROZEN, self->number, NULL, 0, where);
    set_state(self, FROZEN);
    reschedule();
}

static inline void
count_step(void)
{
    if (++sim.step > STEPS_MAX) {
        sim_fail("livelock: more than %d steps", STEPS_MAX);
    }
}

static void
point(const void *where)
{
    struct thread *self = sim.current;

    count_step();
    if (sim.alone) {
        return;
    }
    self->steps++;
    if (self->steps == self->freeze_at) {
        stop_for_ever(self, where);
    }
    if (draw(sim.flush_rate) == 0) {
        flush_some();
    }
    if ((sim.spurious || sim.early) && draw(STRAY_RATE) == 0) {
        stray();
    }
    if (sim.pct) {
        lower_at_change();
    }
    reschedule();
}

/* ---- the facade's back end ------------------------------------------------------------------- */

__attribute__((noinline, cold)) static void
fail_dead(const void *word, const void *where)
{
    trace_add(TRACE_LOAD, sim.current->number, word, 0, where);
    sim_fail("access to memory that is not allocated, or not any more: arena+0x%llx",
             (unsigned long long)arena_offset(word));
}

static inline void
check_alive(const void *word, const void *where)
{
    if (__builtin_expect(arena_is_dead(word), 0)) {
        fail_dead(word, where);
    }
}

uint64_t
control_load(const void *word, unsigned bytes)
{
    const void *where = __builtin_return_address(0);
    uint64_t value;

    if (sim.current == NULL) {
        return memory_word(word, bytes);
    }
    if (sim.alone) { /* the ends of queues are long, and nobody else runs */
        count_step();
        check_alive(word, where);
        value = memory_word(word, bytes);
    } else {
        point(where);
        check_alive(word, where);
        value = buffer_load(&sim.current->buffer, word, bytes);
    }
    trace_add(TRACE_LOAD, sim.current->number, word, value, where);
    return value;
}

void
control_store(void *word, uint64_t value, unsigned bytes)
{
    const void *where = __builtin_return_address(0);

    if (sim.current == NULL) {
        memory_set_word(word, value, bytes);
        return;
    }
    point(where);
    check_alive(word, where);
    trace_add(TRACE_STORE, sim.current->number, word, value, where);
    if (sim.alone) {
        memory_set_word(word, value, bytes);
    } else {
        buffer_store(&sim.current->buffer, word, value, bytes);
    }
}

static void
fence_at(const void *where)
{
    if (sim.current != NULL) {
        point(where);
        trace_add(TRACE_FENCE, sim.current->number, NULL, 0, where);
        buffer_flush(&sim.current->buffer);
    }
}

void
control_fence(void)
{
    fence_at(__builtin_return_address(0));
}

void
control_rmw(const void *word)
{
    const void *where = __builtin_return_address(0);

    if (sim.current != NULL) {
        point(where);
        check_alive(word, where);
        buffer_flush(&sim.current->buffer);
        trace_add(TRACE_RMW, sim.current->number, word, memory_word(word, sizeof(uint32_t)), where);
    }
}

/* ---- membarrier ------------------------------------------------------------------------------ */

bool
sim_has_barriers(void)
{
    return sim.barriers;
}

/*
 * Processors are interrupted in any order, and each passes its fence when it is: between two of
 * them anything may happen.
 */
bool
sim_fence_all(const void *where)
{
    if (sim.current == NULL || sim.alone) {
        return true;
    }
    fence_at(where);
    if (draw(REFUSAL_RATE) == 0) {
        return false;
    }
    unsigned first = draw(sim.count);

    for (unsigned i = 0; i < sim.count; i++) {
        struct thread *thread = &sim.threads[(first + i) % sim.count];

        fence_at(where);
        trace_add(TRACE_FENCE, thread->number, NULL, 0, where);
        buffer_flush(&thread->buffer);
    }
    fence_at(where);
    return true;
}

/* ---- sleeping -------------------------------------------------------------------------------- */

/*
 * The kernel enters a sleeper in its list and compares under one lock, so a wake-up cannot come
 * between the two: from the comparison on this is one step. The point is before it, where the
 * caller has looked for the last time.
 */
void
sim_sleep(const void *word, uint32_t expected, int64_t deadline, uint32_t bits, const void *where)
{
    fence_at(where);
    if (sim.alone) {
        sim_fail("deadlock: the only thread wants to sleep");
    }
    struct thread *self = sim.current;
    if (memory_word(word, sizeof expected) != expected) {
        trace_add(TRACE_AWAKE, self->number, word, 0, where);
        return;
    }
    if (deadline <= sim.now) {
        trace_add(TRACE_TIMEOUT, self->number, word, 0, where);
        return;
    }
    trace_add(TRACE_SLEEP, self->number, word, expected, where);
    self->word = word;
    self->bits = bits;
    self->deadline = deadline;
    set_state(self, ASLEEP);
    reschedule();
}

static struct thread *
any_asleep_on(const void *word, uint32_t bits)
{
    struct thread *found[SIM_THREADS_MAX];
    uint32_t count = 0;

    for (unsigned i = 0; i < sim.count; i++) {
        if (sim.threads[i].state == ASLEEP && sim.threads[i].word == word &&
            (sim.threads[i].bits & bits) != 0) {
            found[count++] = &sim.threads[i];
        }
    }
    return count == 0 ? NULL : found[draw(count)];
}

void
sim_wake(const void *word, uint32_t count, uint32_t bits, const void *where)
{
    uint32_t woken = 0;

    fence_at(where);
    for (struct thread *thread = any_asleep_on(word, bits); thread != NULL && woken < count;
         thread = any_asleep_on(word, bits)) {
        set_state(thread, RUNNABLE);
        woken++;
    }
    trace_add(TRACE_WAKE, sim.current->number, word, woken, where);
}

void
sim_pass(int64_t ns)
{
    sim.now += ns;
}

int64_t
sim_now(void)
{
    sim.now += READING_NS;
    return sim.now;
}

struct inside_thread *
sim_thread_local(void)
{
    return sim.current != NULL ? &sim.current->local : &sim.program_local;
}

/* ---- for bodies ------------------------------------------------------------------------------ */

unsigned
sim_thread(void)
{
    return sim.current->number;
}

struct random *
sim_random(void)
{
    return &sim.bodies;
}

void
sim_point(void)
{
    if (sim.current != NULL) {
        point(__builtin_return_address(0));
    }
}

void
sim_spin(void)
{
    demote(sim.current);
    point(__builtin_return_address(0));
}

void
sim_settle(void)
{
    if (sim.current != NULL) {
        buffer_flush(&sim.current->buffer);
    }
}

void
sim_call_ends(void)
{
    if (sim.settled) {
        sim_settle();
    }
}

bool
sim_is_settled(void)
{
    return sim.settled;
}

void
sim_stop(void)
{
    stop_for_ever(sim.current, __builtin_return_address(0));
}

bool
sim_wait_for_quiet(void)
{
    struct thread *self = sim.current;

    set_state(self, QUIET);
    reschedule();
    for (unsigned i = 0; i < sim.count; i++) {
        if (&sim.threads[i] != self && !is_over(&sim.threads[i])) {
            return false;
        }
    }
    return true;
}

void
sim_drain(void)
{
    for (unsigned i = 0; i < sim.count; i++) {
        buffer_flush(&sim.threads[i].buffer);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

static void
enter(void)
{
    struct thread *self = sim.current;

    sim.body(sim.alone ? 0 : self->number);
    trace_add(TRACE_ENDED, self->number, NULL, 0, NULL);
    set_state(self, ENDED);
    reschedule();
}

static void
prepare(struct thread *thread, unsigned number)
{
    thread->number = number;
    set_state(thread, RUNNABLE);
    thread->steps = 0;
    thread->freeze_at = 0;
    thread->local = (struct inside_thread){0};
    buffer_clear(&thread->buffer);
    fiber_prepare(&thread->fiber, enter);
}

static void
run(struct thread *first)
{
    sim.current = first;
    if (first != NULL) {
        fiber_switch(&sim.program, &first->fiber);
    }
    sim.current = NULL;
}

bool
sim_alone(sim_body body)
{
    if (sim_failure() != NULL) {
        return false;
    }
    trace_add(TRACE_PHASE, ALONE, NULL, 0, "alone");
    sim.alone = true;
    sim.body = body;
    sim.step = 0;
    sim.runnable = 0;
    prepare(&sim.threads[ALONE], ALONE);
    run(&sim.threads[ALONE]);
    return sim_failure() == NULL;
}

static void
shuffle_priorities(void)
{
    for (unsigned i = 0; i < sim.count; i++) {
        sim.threads[i].priority = (int64_t)i;
    }
    for (unsigned i = sim.count; i > 1; i--) {
        unsigned other = draw(i);
        int64_t priority = sim.threads[i - 1].priority;

        sim.threads[i - 1].priority = sim.threads[other].priority;
        sim.threads[other].priority = priority;
    }
    sim.lowest = 0;
    sim.leader = NULL;
}

static uint32_t
at_least_one(uint64_t steps)
{
    return steps > 0 ? (uint32_t)steps : 1;
}

static void
plan_changes(void)
{
    sim.changed = 0;
    sim.changes = DEPTH_MIN - 1 + draw(DEPTH_MAX - DEPTH_MIN + 1);
    for (unsigned i = 0; i < sim.changes; i++) {
        uint64_t at = draw(at_least_one(sim.plan.estimate.steps));
        unsigned place = i;

        while (place > 0 && sim.change_at[place - 1] > at) {
            sim.change_at[place] = sim.change_at[place - 1];
            place--;
        }
        sim.change_at[place] = at;
    }
}

/* A thread whose point lies beyond its end is not frozen. */
static void
plan_freezes(unsigned steady)
{
    unsigned frozen = draw(sim.plan.frozen_max + 1);

    for (unsigned i = 0; i < frozen && steady > 0; i++) {
        unsigned chosen = draw(steady);

        sim.threads[chosen].freeze_at = 1 + draw(at_least_one(sim.plan.estimate.steps_of[chosen]));
    }
}

bool
sim_together(unsigned threads, unsigned steady, sim_body body)
{
    assert(threads >= 1 && threads <= SIM_THREADS_MAX && steady <= threads);
    if (sim_failure() != NULL) {
        return false;
    }
    trace_add(TRACE_PHASE, ALONE, NULL, threads, "together");
    sim.alone = false;
    sim.body = body;
    sim.step = 0;
    sim.runnable = 0;
    sim.count = threads;
    for (unsigned i = 0; i < threads; i++) {
        prepare(&sim.threads[i], i);
    }
    shuffle_priorities();
    plan_changes();
    plan_freezes(steady);
    run(choose());
    for (unsigned i = 0; i < threads; i++) {
        buffer_flush(&sim.threads[i].buffer);
    }
    return sim_failure() == NULL;
}

void
sim_begin(const struct sim_plan *plan)
{
    trace_reset();
    sim.plan = *plan;
    sim.choices.state = random_mix(plan->seed);
    sim.bodies.state = random_mix(plan->seed + 1);
    sim.failure[0] = '\0';
    sim.count = 0;
    sim.step = 0;
    sim.now = INT64_C(1000000000);
    sim.pct = plan->strategy == SIM_ANY ? draw(2) == 0 : plan->strategy == SIM_PCT;
    sim.flush_rate = 2u << draw(FLUSH_RATES);
    sim.spurious = draw(4) == 0;
    sim.early = draw(2) == 0;
    sim.settled = draw(4) != 0;
    sim.barriers = draw(4) != 0;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

unsigned
sim_frozen(void)
{
    unsigned frozen = 0;

    for (unsigned i = 0; i < sim.count; i++) {
        frozen += sim_is_frozen(i);
    }
    return frozen;
}

bool
sim_is_frozen(unsigned thread)
{
    return thread < sim.count && sim.threads[thread].state == FROZEN;
}

uint64_t
sim_steps(void)
{
    uint64_t steps = 0;

    for (unsigned i = 0; i < sim.count; i++) {
        steps += sim.threads[i].steps;
    }
    return steps;
}

uint64_t
sim_steps_of(unsigned thread)
{
    return sim.threads[thread].steps;
}

const char *
sim_strategy_name(void)
{
    return sim.pct ? "pct" : "uniform";
}
