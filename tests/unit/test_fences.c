/*
 * config.fences and stats.fences: what the host asked for, what the kernel has, and how often it is
 * asked.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/membarrier.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

#if defined(__SANITIZE_THREAD__)
#define SANITIZED_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SANITIZED_THREADS 1
#endif
#endif

/* ThreadSanitizer does not know what they order: the library leaves them alone then. */
static bool
barriers_are_used(void)
{
#if defined(SANITIZED_THREADS)
    return false;
#else
    return fx_engine() == SCHEDQ_ENGINE_LOCKFREE &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

static void
the_default_is_asymmetric_where_the_kernel_has_it(void **state)
{
    assert_int_equal(fx_stats(*state).fences,
                     barriers_are_used() ? SCHEDQ_FENCES_ASYMMETRIC : SCHEDQ_FENCES_REAL);
}

enum { PODS = 200000, BATCH = 500 };

/* Segments of lanes are retired all the time. */
static void
add_pop_and_end(fixture_t *fixture, unsigned pods)
{
    char name[16];
    for (unsigned i = 0; i < pods + BATCH; i++) {
        if (i < pods) {
            snprintf(name, sizeof name, "ns/%u", i);
            fx_add(fixture, name, 0);
        }
        if (i >= BATCH) {
            snprintf(name, sizeof name, "ns/%u", i - BATCH);
            schedq_popped_t popped = fx_pop(fixture, name);
            fx_done(fixture, &popped);
        }
    }
}

/* 16 bytes a pod, 32 KiB a barrier: once in 2,048 pods. */
static void
the_kernel_is_asked_once_in_thousands_of_pods(void **state)
{
    fixture_t *fixture = *state;
    add_pop_and_end(fixture, PODS);
    schedq_stats_t stats = fx_stats(fixture);
    assert_in_range(stats.membarriers, 0, PODS / 1500);
    assert_true(!barriers_are_used() || stats.membarriers > 0);
    assert_true(stats.bytes_queues < 400000);
}

static void
real_fences_ask_the_kernel_for_nothing(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.fences = SCHEDQ_FENCES_REAL;
    add_pop_and_end(fixture, PODS / 10);
    fx_tick(fixture);
    assert_ok(schedq_trim(fx_queue(fixture)));
    assert_int_equal(fx_stats(fixture).fences, SCHEDQ_FENCES_REAL);
    assert_int_equal(fx_stats(fixture).membarriers, 0);
    assert_true(fx_stats(fixture).bytes_queues < 400000);
}

/* From now on in this process. */
static bool
refuse_barriers(uint32_t error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum { NO_SANDBOX = 77 };

/* In a process of its own; the exit status. */
static int
in_a_sandbox(uint32_t error, void (*body)(fixture_t *fixture, uint32_t error))
{
    pid_t child = fork();
    if (child == 0) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        body(fixture, error);
        fx_free(fixture);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void
expect_real_fences(fixture_t *fixture, uint32_t error)
{
    if (!refuse_barriers(error))
        _exit(NO_SANDBOX);
    add_pop_and_end(fixture, 20000);
    schedq_stats_t stats = fx_stats(fixture);
    if (stats.fences != SCHEDQ_FENCES_REAL || stats.membarriers != 0 || stats.bytes_queues > 400000)
        _exit(1);
}

static void
a_sandbox_that_refuses_gets_real_fences(void **state)
{
    (void)state;
    static const uint32_t errors[] = {ENOSYS, EPERM};
    for (unsigned i = 0; i < 2; i++) {
        int status = in_a_sandbox(errors[i], expect_real_fences);
        if (status == NO_SANDBOX)
            skip();
        assert_int_equal(status, 0);
    }
}

/* What waits then stays until the queue ends. */
static void
expect_nothing_freed(fixture_t *fixture, uint32_t error)
{
    bool used = barriers_are_used();
    add_pop_and_end(fixture, 100);
    if (!refuse_barriers(error))
        _exit(NO_SANDBOX);
    add_pop_and_end(fixture, 20000);
    schedq_stats_t stats = fx_stats(fixture);
    if (stats.membarriers != 0 || (used && stats.fences != SCHEDQ_FENCES_ASYMMETRIC) ||
        stats.bytes_queues > 20000 * 16 + 800000)
        _exit(1);
}

static void
a_sandbox_that_refuses_later_frees_nothing_and_works(void **state)
{
    (void)state;
    int status = in_a_sandbox(EPERM, expect_nothing_freed);
    if (status == NO_SANDBOX)
        skip();
    assert_int_equal(status, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(the_default_is_asymmetric_where_the_kernel_has_it),
        fx_test(the_kernel_is_asked_once_in_thousands_of_pods),
        fx_test(real_fences_ask_the_kernel_for_nothing),
        fx_test(a_sandbox_that_refuses_gets_real_fences),
        fx_test(a_sandbox_that_refuses_later_frees_nothing_and_works),
    };
    return fx_run_tests(argc, argv, tests);
}
