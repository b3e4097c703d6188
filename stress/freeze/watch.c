/* Sampling: five looks at the progress counters per window, the judgement at its end. */
#define _GNU_SOURCE /* pthread_getcpuclockid */
#include "watch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

#define LOOKS 5

/* A freeze without enough windows that count ends after so many times its length. */
#define LENGTHS_MAX 100

typedef struct look {
    int64_t when;
    uint64_t works;
    int64_t cpu_ns;
} look_t;

/* One of the others, since the freeze began. */
typedef struct suspect {
    uint64_t calls;
    int64_t cpu_ns;
    bool slept; /* at every look so far, in a call that does not wait for a pod */
} suspect_t;

static int64_t
cpu_time(const actor_t *actor)
{
    clockid_t clock;
    struct timespec t;
    if (pthread_getcpuclockid(actor->thread, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static uint64_t
sum_calls(run_t *run, const actor_t *victim)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->actor_count; i++) {
        if (&run->actors[i] != victim)
            sum += atomic_load_explicit(&run->actors[i].calls, memory_order_relaxed);
    }
    return sum;
}

static uint64_t
sum_works(run_t *run, const actor_t *victim)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->actor_count; i++) {
        if (&run->actors[i] != victim)
            sum += atomic_load_explicit(&run->actors[i].works, memory_order_relaxed);
    }
    return sum;
}

static uint64_t
sum_pods(run_t *run, const actor_t *victim)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->actor_count; i++) {
        if (&run->actors[i] != victim)
            sum += atomic_load_explicit(&run->actors[i].pods, memory_order_relaxed);
    }
    return sum;
}

static int64_t
sum_cpu(run_t *run, const actor_t *victim)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < run->actor_count; i++) {
        if (&run->actors[i] != victim)
            sum += cpu_time(&run->actors[i]);
    }
    return sum;
}

/*
 * The kernel's letter for it; 'S' is asleep. Without stdio: the victim may stand in malloc, with
 * its lock.
 */
static char
state_of(const actor_t *actor)
{
    char path[64], text[128] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&actor->tid));
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return '?';
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    const char *name_end = length > 0 ? strrchr(text, ')') : NULL;
    return name_end != NULL && name_end[1] == ' ' ? name_end[2] : '?';
}

static bool
all_asleep(run_t *run, const actor_t *victim)
{
    for (unsigned i = 0; i < run->actor_count; i++) {
        if (&run->actors[i] != victim && state_of(&run->actors[i]) != 'S')
            return false;
    }
    return true;
}

static void
judge(run_t *run, const actor_t *victim, watch_t *watch, const look_t *from, const look_t *to)
{
    int64_t window = (int64_t)run->options->window * 1000000;
    int64_t gap = control_gap(from->when, to->when);
    watch->windows++;
    watch->control_gap_ns = gap > watch->control_gap_ns ? gap : watch->control_gap_ns;
    if (to->works != from->works)
        watch->moving++;
    else if (gap > window / 2)
        watch->uncontrolled++;
    else if (to->cpu_ns - from->cpu_ns >= window / 5)
        watch->spinning++;
    else if (all_asleep(run, victim))
        watch->blocked++;
    else
        watch->starved++;
    watch->counted = watch->moving + watch->blocked + watch->spinning;
}

/* ---- single threads ---- */

static void
suspect_all(run_t *run, suspect_t *suspects)
{
    for (unsigned i = 0; i < run->actor_count; i++) {
        actor_t *actor = &run->actors[i];
        suspects[i] = (suspect_t){atomic_load(&actor->calls), cpu_time(actor), true};
    }
}

static bool
sleeps_inside(actor_t *actor)
{
    unsigned call = atomic_load_explicit(&actor->ice.call, memory_order_relaxed);
    return call != OP_NONE && !op_waits(call) && state_of(actor) == 'S';
}

static void
look_at_suspects(run_t *run, const actor_t *victim, suspect_t *suspects)
{
    for (unsigned i = 0; i < run->actor_count; i++) {
        if (&run->actors[i] != victim && suspects[i].slept)
            suspects[i].slept = sleeps_inside(&run->actors[i]);
    }
}

static unsigned
count_stuck(run_t *run, const actor_t *victim, const suspect_t *suspects)
{
    int64_t half = (int64_t)run->options->milliseconds * 1000000 / 2;
    unsigned stuck = 0;
    for (unsigned i = 0; i < run->actor_count; i++) {
        actor_t *actor = &run->actors[i];
        if (actor == victim || atomic_load(&actor->calls) != suspects[i].calls)
            continue;
        bool spun = cpu_time(actor) - suspects[i].cpu_ns >= half;
        if (spun || suspects[i].slept)
            printf("thread %u %s in %s\n", actor->number, spun ? "spins" : "sleeps",
                   call_name(atomic_load(&actor->ice.call)));
        stuck += spun || suspects[i].slept;
    }
    return stuck;
}

static look_t
look(run_t *run, const actor_t *victim)
{
    return (look_t){.when = clock_now(), .works = sum_works(run, victim)};
}

/*
 * One window; returns the look at its end. `moved` is when the others' work last was seen to
 * change.
 */
static look_t
watch_window(run_t *run, const actor_t *victim, watch_t *watch, const look_t *from, int64_t *moved)
{
    int64_t step = (int64_t)run->options->window * 1000000 / LOOKS;
    look_t last = *from;
    for (int i = 1; i <= LOOKS; i++) {
        clock_sleep_until(from->when + i * step);
        look_t next = look(run, victim);
        int64_t gap = next.when - *moved;
        watch->others_gap_ns = gap > watch->others_gap_ns ? gap : watch->others_gap_ns;
        if (next.works != last.works)
            *moved = next.when;
        last = next;
    }
    last.cpu_ns = sum_cpu(run, victim);
    judge(run, victim, watch, from, &last);
    return last;
}

unsigned
watch_wanted(const options_t *options)
{
    unsigned half = options->milliseconds / options->window / 2;
    return half > 0 ? half : 1;
}

void
watch_others(run_t *run, const actor_t *victim, watch_t *watch)
{
    suspect_t suspects[ACTORS_MAX];
    memset(watch, 0, sizeof *watch);
    suspect_all(run, suspects);
    look_t from = look(run, victim);
    from.cpu_ns = sum_cpu(run, victim);
    int64_t moved = from.when, length = (int64_t)run->options->milliseconds * 1000000;
    int64_t end = from.when + length, last = from.when + LENGTHS_MAX * length;
    uint64_t calls = sum_calls(run, victim), pods = sum_pods(run, victim);
    while (from.when < end || (watch->counted < watch_wanted(run->options) && from.when < last)) {
        from = watch_window(run, victim, watch, &from, &moved);
        look_at_suspects(run, victim, suspects);
    }
    watch->stuck = count_stuck(run, victim, suspects);
    watch->calls = sum_calls(run, victim) - calls;
    watch->pods = sum_pods(run, victim) - pods;
}
