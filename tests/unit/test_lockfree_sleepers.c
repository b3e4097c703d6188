/*
 * lockfree/signals/sleepers.h: no wake-up is lost, whoever comes first. Each sleep of the threads
 * ends by itself some time: one that did so while a pod lay there, no producer was about to wake a
 * sleeper, and no sleeper that was woken waited for a processor, was overlooked, and counts.
 */
#define _GNU_SOURCE /* gettid */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"
#include "lockfree/signals/sleepers.h"
#include "patience.h"

static int64_t
now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void
nobody_waits_nobody_is_woken(void **state)
{
    struct sleepers sleepers = {0};
    (void)state;
    assert_false(sleepers_wake_one(&sleepers));
    assert_int_equal(sleepers_waiting(&sleepers), 0);
    uint32_t sequence = sleepers_prepare(&sleepers).sequence;
    assert_int_equal(sleepers_waiting(&sleepers), 1);
    sleepers_cancel(&sleepers);
    assert_int_equal(sleepers_waiting(&sleepers), 0);
    assert_false(sleepers_wake_one(&sleepers));
    assert_int_equal(sleepers_prepare(&sleepers).sequence, sequence);
    sleepers_cancel(&sleepers);
}

static void
a_wake_up_between_prepare_and_wait_is_kept(void **state)
{
    struct sleepers sleepers = {0};
    (void)state;
    uint32_t sequence = sleepers_prepare(&sleepers).sequence;
    assert_true(sleepers_wake_one(&sleepers));
    sleepers_wait(&sleepers, sequence, FUTEX_NO_DEADLINE, 0);
    sleepers_cancel(&sleepers);
    sequence = sleepers_prepare(&sleepers).sequence;
    sleepers_wake_all(&sleepers);
    sleepers_wait(&sleepers, sequence, FUTEX_NO_DEADLINE, 0);
    sleepers_cancel(&sleepers);
    assert_int_equal(sleepers_waiting(&sleepers), 0);
}

static void
a_deadline_ends_the_sleep(void **state)
{
    struct sleepers sleepers = {0};
    (void)state;
    const int64_t deadlines[] = {INT64_MIN, -1, 0, 1, now() - 1000000000, now() + 20000000};
    for (unsigned i = 0; i < sizeof deadlines / sizeof *deadlines; i++) {
        uint32_t sequence = sleepers_prepare(&sleepers).sequence;
        while (now() < deadlines[i])
            sleepers_wait(&sleepers, sequence, deadlines[i], 0);
        sleepers_wait(&sleepers, sequence, deadlines[i], 0);
        sleepers_cancel(&sleepers);
    }
    assert_int_equal(sleepers_waiting(&sleepers), 0);
}

static void
neither_half_disturbs_the_other(void **state)
{
    struct sleepers sleepers = {0};
    (void)state;
    u64_store(&sleepers.word, UINT64_C(0xffffffff) << 32);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(sleepers_prepare(&sleepers).sequence, UINT32_MAX);
    assert_true(sleepers_wake_one(&sleepers)); /* the sequence wraps */
    assert_int_equal(sleepers_waiting(&sleepers), 64);
    assert_int_equal(sleepers_prepare(&sleepers).sequence, 0);
    for (unsigned i = 0; i < 65; i++)
        sleepers_cancel(&sleepers);
    assert_int_equal(u64_load(&sleepers.word), 0);
}

static void
the_earliest_time_is_watched_and_one_that_is_past_is_not(void **state)
{
    struct sleepers sleepers;
    (void)state;
    sleepers_open(&sleepers);
    assert_false(sleepers_watch(&sleepers, INT64_MAX, 0, 10));
    assert_true(sleepers_watch(&sleepers, 100, 0, 10));
    assert_false(sleepers_watch(&sleepers, 100, 0, 10));
    assert_false(sleepers_watch(&sleepers, 200, 0, 10));
    assert_true(sleepers_watch(&sleepers, 50, 0, 10));
    assert_false(sleepers_watch(&sleepers, 70, 60, 10)); /* a tick late at most */
    assert_true(sleepers_watch(&sleepers, 70, 61, 10));
    sleepers_unwatch(&sleepers, 50); /* another watches by now */
    assert_false(sleepers_watch(&sleepers, 80, 61, 10));
    sleepers_unwatch(&sleepers, 70);
    assert_true(sleepers_watch(&sleepers, 80, 61, 10));
}

static void
for_a_time_that_is_watched_no_sleeper_is_woken(void **state)
{
    struct sleepers sleepers;
    (void)state;
    sleepers_open(&sleepers);
    uint32_t sequence = sleepers_prepare(&sleepers).sequence;
    sleepers_wake_for(&sleepers, 100, 0, 10);
    assert_int_equal(sleepers_prepare(&sleepers).sequence, sequence + 1);
    assert_true(sleepers_watch(&sleepers, 100, 0, 10));
    sleepers_wake_for(&sleepers, 100, 110, 10);
    sleepers_wake_for(&sleepers, INT64_MAX, 111, 10);
    assert_int_equal(sleepers_prepare(&sleepers).sequence, sequence + 1);
    sleepers_wake_for(&sleepers, 99, 0, 10);
    struct sleepers_ticket ticket = sleepers_prepare(&sleepers);
    assert_int_equal(ticket.sequence, sequence + 2);
    assert_int_equal(ticket.position, 4);
}

/* Its watcher stopped: else each later time would wait for the line. */
static void
for_a_time_behind_one_that_is_past_a_sleeper_is_woken(void **state)
{
    struct sleepers sleepers;
    (void)state;
    sleepers_open(&sleepers);
    uint32_t sequence = sleepers_prepare(&sleepers).sequence;
    assert_true(sleepers_watch(&sleepers, 100, 0, 10));
    sleepers_wake_for(&sleepers, 200, 111, 10);
    assert_int_equal(sleepers_prepare(&sleepers).sequence, sequence + 1);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { PRODUCERS = 2, CONSUMERS = 3, PODS_EACH = 20000 };

/*
 * Each lost wake-up shows once. Some sleeps may end while a thread that was woken has not come to
 * its pod.
 */
enum { OVERLOOKED_MAX = 20, SLEEP_MS = 100 };

typedef struct team {
    struct sleepers sleepers;
    atomic_u64 pods;       /* that lie there */
    atomic_u64 waking;     /* producers between a pod and its wake-up */
    atomic_u64 overlooked; /* sleeps that ended by themselves beside a pod */
    atomic_u64 taken;
    atomic_u32 closed;
    atomic_u32 consumers[CONSUMERS]; /* their threads' numbers */
} team_t;

static void
add_pod(team_t *team)
{
    (void)u64_add(&team->waking, 1);
    (void)u64_add(&team->pods, 1);
    (void)sleepers_wake_one(&team->sleepers);
    (void)u64_add(&team->waking, UINT64_MAX);
}

static bool
is_broken(team_t *team)
{
    return u64_load(&team->overlooked) > OVERLOOKED_MAX;
}

static bool
take(team_t *team)
{
    uint64_t pods = u64_load(&team->pods);
    while (pods > 0) {
        uint64_t found = u64_cas_value(&team->pods, pods, pods - 1);
        if (found == pods) {
            (void)u64_add(&team->taken, 1);
            if (pods > 1)
                (void)sleepers_wake_one(&team->sleepers); /* passes the wake-up on */
            return true;
        }
        pods = found;
    }
    return false;
}

/*
 * A pod lies there, and nobody is on the way to it. The word of the sleepers shows that nobody was
 * woken or went to sleep during the look.
 */
static bool
is_overlooked(team_t *team)
{
    uint64_t word = u64_load(&team->sleepers.word);
    for (unsigned i = 0; i < CONSUMERS; i++) {
        pid_t thread = (pid_t)u32_load(&team->consumers[i]);
        if (thread == 0 || (thread != gettid() && !patience_thread_sleeps(thread)))
            return false;
    }
    return u64_load(&team->waking) == 0 && u64_load(&team->pods) > 0 &&
           u64_load(&team->sleepers.word) == word;
}

/* Odd numbers come with short deadlines. */
static void
sleep_once(team_t *team, unsigned number)
{
    uint32_t sequence = sleepers_prepare(&team->sleepers).sequence;
    if (u64_load(&team->pods) == 0 && u32_load_acquire(&team->closed) == 0) {
        bool shortly = number % 2 != 0;
        int64_t until = now() + (shortly ? 50000 : SLEEP_MS * INT64_C(1000000));
        errno = 0; /* the clock does not tell: a sleeper that was woken may wait for a processor */
        sleepers_wait(&team->sleepers, sequence, until, 0);
        if (!shortly && errno == ETIMEDOUT && u64_load(&team->pods) > 0 && is_overlooked(team))
            (void)u64_add(&team->overlooked, 1);
    }
    sleepers_cancel(&team->sleepers);
}

typedef struct member {
    pthread_t thread;
    team_t *team;
    unsigned number, place;
} member_t;

static void *
consumer_main(void *argument)
{
    member_t *member = argument;
    team_t *team = member->team;
    u32_store(&team->consumers[member->place], (uint32_t)gettid());
    for (;;) {
        uint32_t closed = u32_load_acquire(&team->closed);
        if (take(team))
            continue;
        if (closed != 0)
            return NULL;
        sleep_once(team, member->number);
    }
}

/* Waits for each pod to be taken, so that a lost wake-up is not healed by the next one. */
static void *
patient_producer_main(void *argument)
{
    team_t *team = ((member_t *)argument)->team;
    for (unsigned i = 0; i < PODS_EACH && !is_broken(team); i++) {
        add_pod(team);
        while (u64_load(&team->pods) != 0)
            (void)sched_yield();
    }
    return NULL;
}

static void *
hasty_producer_main(void *argument)
{
    team_t *team = ((member_t *)argument)->team;
    for (unsigned i = 0; i < PODS_EACH && !is_broken(team); i++) {
        add_pod(team);
        if (i % 64 == 0)
            (void)sched_yield();
    }
    return NULL;
}

static void
run_team(void *(*producer_main)(void *), unsigned producers, bool deadlines)
{
    team_t team;
    member_t members[PRODUCERS + CONSUMERS];
    memset(&team, 0, sizeof team);
    sleepers_open(&team.sleepers);
    for (unsigned i = 0; i < producers + CONSUMERS; i++) {
        members[i] = (member_t){
            .team = &team, .number = deadlines ? i : 0, .place = i < producers ? 0 : i - producers};
        assert_int_equal(pthread_create(&members[i].thread, NULL,
                                        i < producers ? producer_main : consumer_main, &members[i]),
                         0);
    }
    for (unsigned i = 0; i < producers; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    u32_store(&team.closed, 1);
    sleepers_wake_all(&team.sleepers);
    for (unsigned i = producers; i < producers + CONSUMERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    assert_in_range(u64_load(&team.overlooked), 0, OVERLOOKED_MAX);
    assert_int_equal(u64_load(&team.taken), producers * PODS_EACH);
    assert_int_equal(u64_load(&team.pods), 0);
    assert_int_equal(sleepers_waiting(&team.sleepers), 0);
}

static void
one_pod_at_a_time_always_finds_somebody(void **state)
{
    (void)state;
    run_team(patient_producer_main, 1, false);
}

static void
many_pods_are_all_taken_by_sleepers_with_and_without_deadline(void **state)
{
    (void)state;
    run_team(hasty_producer_main, PRODUCERS, true);
    run_team(hasty_producer_main, PRODUCERS, false);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits_nobody_is_woken),
        cmocka_unit_test(a_wake_up_between_prepare_and_wait_is_kept),
        cmocka_unit_test(a_deadline_ends_the_sleep),
        cmocka_unit_test(neither_half_disturbs_the_other),
        cmocka_unit_test(the_earliest_time_is_watched_and_one_that_is_past_is_not),
        cmocka_unit_test(for_a_time_that_is_watched_no_sleeper_is_woken),
        cmocka_unit_test(for_a_time_behind_one_that_is_past_a_sleeper_is_woken),
        cmocka_unit_test(one_pod_at_a_time_always_finds_somebody),
        cmocka_unit_test(many_pods_are_all_taken_by_sleepers_with_and_without_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
