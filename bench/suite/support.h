/*
 * What every workload uses: the clock, random numbers, names of pods, priorities, and the end when
 * something fails.
 */
#ifndef SCHEDQ_BENCH_SUPPORT_H
#define SCHEDQ_BENCH_SUPPORT_H

#include <schedq/schedq.h>

#include <stdint.h>
#include <time.h>

static inline int64_t
clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* A bijection of 64 bits that leaves no pattern (splitmix64's). */
static inline uint64_t
scramble(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* The next random number of a state that any value may start. */
static inline uint64_t
random_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return scramble(*state);
}

/* What a thread waits with in a spin. */
static inline void
spin_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/*
 * Seven pods of eight have priority 0, the others one of 100, 200 .. 700: a backlog of ordinary
 * pods, with a few that overtake them.
 */
static inline int32_t
random_priority(uint64_t *state)
{
    uint64_t draw = random_next(state);
    return draw % 8 != 0 ? 0 : (int32_t)(draw / 8 % 7 + 1) * 100;
}

/* "namespace/name" of a pod, made from its number. */
typedef struct pod_name {
    char text[40];
    uint32_t length;
} pod_name_t;

/* Different numbers give different names, all of 31 bytes. */
void pod_name_make(pod_name_t *name, uint64_t number);

/* Zeroed memory aligned to 128 bytes, for free(); ends the program when there is none. */
void *bench_alloc(size_t count, size_t size);

/* Prints a line that begins with "schedq-bench: " and ends the program with status 1. */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program unless `status` is SCHEDQ_OK; `call` names what returned it. */
static inline void
must(schedq_status_t status, const char *call)
{
    if (__builtin_expect(status != SCHEDQ_OK, 0)) {
        bench_fail("%s returned %s", call, schedq_status_name(status));
    }
}

#endif
