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

typedef struct look {
    int64_t when;
    uint64_t calls;
    int64_t cpu_ns;
} look_t;

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
    watch->counted += gap <= window / 2;
    watch->control_gap_ns = gap > watch->control_gap_ns ? gap : watch->control_gap_ns;
    if (to->calls != from->calls)
        watch->moving++;
    else if (gap > window / 2)
        watch->uncontrolled++;
    else if (to->cpu_ns - from->cpu_ns >= window / 5)
        watch->spinning++;
    else if (all_asleep(run, victim))
        watch->blocked++;
    else
        watch->starved++;
}

static look_t
look(run_t *run, const actor_t *victim)
{
    return (look_t){.when = clock_now(), .calls = sum_calls(run, victim)};
}

/*
 * One window; returns the look at its end. `moved` is when the others' calls last were seen to
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
        if (next.calls != last.calls)
            *moved = next.when;
        last = next;
    }
    last.cpu_ns = sum_cpu(run, victim);
    judge(run, victim, watch, from, &last);
    return last;
}

void
watch_others(run_t *run, const actor_t *victim, watch_t *watch)
{
    memset(watch, 0, sizeof *watch);
    look_t from = look(run, victim);
    from.cpu_ns = sum_cpu(run, victim);
    int64_t moved = from.when, end = from.when + (int64_t)run->options->milliseconds * 1000000;
    uint64_t calls = from.calls, pods = sum_pods(run, victim);
    while (from.when < end)
        from = watch_window(run, victim, watch, &from, &moved);
    watch->calls = from.calls - calls;
    watch->pods = sum_pods(run, victim) - pods;
}
