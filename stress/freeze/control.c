/*
 * Each control thread leaves its readings in a ring, so that any interval can be judged after it is
 * over.
 */
#define _GNU_SOURCE /* affinity */
#include "control.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#define CORES_MAX 64u
#define READINGS 4096u
#define STEP_NS INT64_C(250000)

typedef struct control {
    pthread_t thread;
    atomic_size_t count; /* readings so far; the newest is at (count - 1) % READINGS */
    atomic_int_fast64_t readings[READINGS];
} control_t;

static control_t controls[CORES_MAX];
static unsigned cores;
static atomic_bool over;

int64_t
clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

void
clock_sleep_until(int64_t when)
{
    struct timespec t = {(time_t)(when / 1000000000), (long)(when % 1000000000)};
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void *
read_the_clock(void *argument)
{
    control_t *control = argument;
    while (!atomic_load_explicit(&over, memory_order_relaxed)) {
        int64_t now = clock_now();
        size_t count = atomic_load_explicit(&control->count, memory_order_relaxed);
        atomic_store_explicit(&control->readings[count % READINGS], now, memory_order_relaxed);
        atomic_store_explicit(&control->count, count + 1, memory_order_release);
        clock_sleep_until(now + STEP_NS);
    }
    return NULL;
}

static bool
start_on(size_t core)
{
    control_t *control = &controls[cores];
    cpu_set_t set;
    pthread_attr_t attributes;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    pthread_attr_init(&attributes);
    bool good = pthread_attr_setaffinity_np(&attributes, sizeof set, &set) == 0 &&
                pthread_create(&control->thread, &attributes, read_the_clock, control) == 0;
    pthread_attr_destroy(&attributes);
    cores += good;
    return good;
}

bool
control_start(void)
{
    cpu_set_t set;
    bool good = sched_getaffinity(0, sizeof set, &set) == 0;
    for (size_t core = 0; good && core < CPU_SETSIZE && cores < CORES_MAX; core++) {
        if (CPU_ISSET(core, &set))
            good = start_on(core);
    }
    return good;
}

void
control_stop(void)
{
    atomic_store(&over, true);
    for (unsigned i = 0; i < cores; i++)
        pthread_join(controls[i].thread, NULL);
}

unsigned
control_cores(void)
{
    return cores;
}

static int64_t
gap_on(control_t *control, int64_t from, int64_t to)
{
    size_t count = atomic_load_explicit(&control->count, memory_order_acquire);
    int64_t later = to, longest = 0;
    for (size_t back = 1; back <= count && back < READINGS && later > from; back++) {
        int64_t reading = atomic_load_explicit(&control->readings[(count - back) % READINGS],
                                               memory_order_relaxed);
        if (reading >= to)
            continue;
        int64_t earlier = reading > from ? reading : from;
        longest = later - earlier > longest ? later - earlier : longest;
        later = earlier;
    }
    return later > from && later - from > longest ? later - from : longest;
}

int64_t
control_gap(int64_t from, int64_t to)
{
    int64_t longest = 0;
    for (unsigned i = 0; i < cores; i++) {
        int64_t gap = gap_on(&controls[i], from, to);
        longest = gap > longest ? gap : longest;
    }
    return longest;
}
