/*
 * support/patience.h: what spins or sleeps for ever is stuck; what waits for a processor, or makes
 * progress, is not.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "patience.h"

#define CPU_LIMIT 1
#define LOOK_LIMIT 3

static pid_t
child_that(void (*acts)(void))
{
    pid_t child = patience_fork();

    assert_true(child >= 0);
    if (child == 0) {
        acts();
        _exit(7);
    }
    return child;
}

static void
spins(void)
{
    for (volatile unsigned i = 0;; i++) {
    }
}

static void
sleeps(void)
{
    for (;;) {
        (void)pause();
    }
}

/* Runnable, and never runs: so a process is that others keep from the processors. */
static void
starves(void)
{
    (void)raise(SIGSTOP);
}

static void
ends(void)
{
}

static void
end_child(pid_t child)
{
    int status;

    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
}

/* Looks until there is a verdict; `looks` at most. */
static patience_verdict_t
look_at(patience_t *patience, pid_t child, unsigned looks)
{
    patience_verdict_t verdict = PATIENCE_LASTS;
    int status;

    for (unsigned i = 0; verdict == PATIENCE_LASTS && i < looks; i++) {
        assert_false(patience_ended(child, &status));
        verdict = patience_look(patience, 0);
    }
    return verdict;
}

static void
a_process_that_spins_is_stuck(void **state)
{
    (void)state;
    pid_t child = child_that(spins);
    patience_t patience;

    patience_begin(&patience, child, CPU_LIMIT, LOOK_LIMIT);
    assert_int_equal(look_at(&patience, child, UINT32_MAX), PATIENCE_SPINS);
    end_child(child);
}

static void
a_process_that_sleeps_is_stuck(void **state)
{
    (void)state;
    pid_t child = child_that(sleeps);
    patience_t patience;

    patience_begin(&patience, child, 100, LOOK_LIMIT);
    assert_int_equal(look_at(&patience, child, UINT32_MAX), PATIENCE_SLEEPS);
    end_child(child);
}

static void
a_group_whose_processes_sleep_is_stuck(void **state)
{
    (void)state;
    pid_t child = child_that(sleeps);
    patience_t patience;

    assert_int_equal(setpgid(child, child), 0);
    patience_begin_group(&patience, child, 100, LOOK_LIMIT);
    assert_int_equal(look_at(&patience, child, UINT32_MAX), PATIENCE_SLEEPS);
    end_child(child);
}

static void
a_process_that_gets_no_processor_is_not_stuck(void **state)
{
    (void)state;
    pid_t child = child_that(starves);
    patience_t patience;
    int status;

    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
    patience_begin(&patience, child, CPU_LIMIT, LOOK_LIMIT);
    assert_int_equal(look_at(&patience, child, 4 * LOOK_LIMIT), PATIENCE_LASTS);
    assert_int_equal(patience.looks, 0);
    end_child(child);
}

static void
progress_begins_a_new_wait(void **state)
{
    (void)state;
    pid_t child = child_that(sleeps);
    patience_t patience;
    int status;

    patience_begin(&patience, child, 100, LOOK_LIMIT);
    for (uint64_t progress = 1; progress < 4 * LOOK_LIMIT; progress++) {
        assert_false(patience_ended(child, &status));
        assert_int_equal(patience_look(&patience, progress), PATIENCE_LASTS);
    }
    end_child(child);
}

static void
an_end_is_told_with_its_status(void **state)
{
    (void)state;
    pid_t child = child_that(ends);
    int status;

    while (!patience_ended(child, &status)) {
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_spins_is_stuck),
        cmocka_unit_test(a_process_that_sleeps_is_stuck),
        cmocka_unit_test(a_group_whose_processes_sleep_is_stuck),
        cmocka_unit_test(a_process_that_gets_no_processor_is_not_stuck),
        cmocka_unit_test(progress_begins_a_new_wait),
        cmocka_unit_test(an_end_is_told_with_its_status),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
