/*
 * A host that waits for the descriptor, and threads that stopped before they told it: a tick tells,
 * whether or not a pod is poppable; or the call that asks for the descriptor.
 */
#include <poll.h>
#include <schedq/group.h>
#include <string.h>

#include "fixture.h"
#include "lockfree/queue.h"
#include "lockfree/signals/readiness.h"

static struct queue *
begin(fixture_t *fixture, int *fd)
{
    assert_ok(schedq_wait_fd(fx_queue(fixture), fd, NULL, 0));
    fx_pop_nothing(fixture);
    return queue_of_base(fixture->queue);
}

static bool
is_readable(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return poll(&wanted, 1, 0) == 1;
}

/* A pop that found nothing stops behind its read: what it read was for all loops. */
static void
stop_behind_the_read(struct queue *queue, int fd)
{
    assert_true(is_readable(fd));
    readiness_arm(&queue->sleepers, &queue->base.notifier);
    assert_false(is_readable(fd));
}

static void
a_tick_tells_of_a_close_whose_thread_stopped(void **state)
{
    fixture_t *fixture = *state;
    int fd;
    struct queue *queue = begin(fixture, &fd);
    fx_tick(fixture);
    assert_false(is_readable(fd));
    (void)u32_exchange(u32_of(&queue->base.words.closed), 1); /* as far as it came */
    fx_tick(fixture);
    assert_true(is_readable(fd));
}

static void
a_tick_tells_of_a_close_that_a_stopped_pop_read(void **state)
{
    fixture_t *fixture = *state;
    int fd;
    struct queue *queue = begin(fixture, &fd);
    assert_ok(schedq_close(fixture->queue));
    stop_behind_the_read(queue, fd);
    fx_tick(fixture);
    assert_true(is_readable(fd));
}

static void
a_tick_tells_of_a_deadline_that_a_stopped_pop_read(void **state)
{
    fixture_t *fixture = *state;
    int fd;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    struct queue *queue = begin(fixture, &fd);
    fx_fail(fixture, &popped, SCHEDQ_REJECTOR_OTHERS, 0);
    stop_behind_the_read(queue, fd);
    fx_tick(fixture);
    assert_true(is_readable(fd));
}

/* Nobody stopped. */
static void
a_tick_tells_nothing_else(void **state)
{
    fixture_t *fixture = *state;
    int fd;
    (void)begin(fixture, &fd);
    for (int i = 0; i < 3; i++) {
        fx_tick(fixture);
        assert_false(is_readable(fd));
    }
    assert_ok(schedq_close(fixture->queue));
    assert_true(is_readable(fd));
    fx_tick(fixture);
}

/* A thread stops behind the exchange that makes a group active, before it counts that. */
static void
a_tick_tells_of_a_group_whose_completer_stopped(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_pod_spec_t member = fx_spec(0);
    schedq_popped_group_t popped_group;
    schedq_popped_t popped;
    size_t count;
    int fd;
    struct queue *queue = begin(fixture, &fd);
    member.group = 7;
    assert_ok(schedq_group_add(fx_worker(fixture), 7, &group, NULL));
    (void)fx_add_spec(fixture, "ns/a", &member);
    fx_pop_nothing(fixture);
    (void)u64_add(&queue_groups(queue)->at_ready, UINT64_MAX);
    u32_store(u32_of(&queue->base.words.poppable), 0);
    assert_false(is_readable(fd));
    assert_int_equal(fx_tick(fixture).poppable, 1);
    assert_int_equal(schedq_words(fixture->queue)->poppable, 1);
    assert_true(is_readable(fd));
    (void)u64_add(&queue_groups(queue)->at_ready, 1);
    assert_ok(schedq_try_pop_group(fx_worker(fixture), &popped_group, &popped, 1, &count));
    assert_int_equal(fx_tick(fixture).poppable, 0);
}

/* Another call stopped when it had made the descriptor. */
static void
a_descriptor_is_readable_at_first_though_its_maker_stopped(void **state)
{
    fixture_t *fixture = *state;
    int fd, same;
    int made = notifier_descriptor(&fx_queue(fixture)->notifier);
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_wait_fd(fixture->queue, &fd, NULL, 0));
    assert_int_equal(fd, made);
    assert_true(is_readable(fd));
    (void)fx_pop(fixture, "ns/a");
    fx_pop_nothing(fixture);
    assert_ok(schedq_wait_fd(fixture->queue, &same, NULL, 0));
    assert_false(is_readable(same));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(a_tick_tells_of_a_close_whose_thread_stopped),
        fx_test_lockfree(a_tick_tells_of_a_close_that_a_stopped_pop_read),
        fx_test_lockfree(a_tick_tells_of_a_deadline_that_a_stopped_pop_read),
        fx_test_lockfree(a_tick_tells_nothing_else),
        fx_test_lockfree(a_tick_tells_of_a_group_whose_completer_stopped),
        fx_test_lockfree(a_descriptor_is_readable_at_first_though_its_maker_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
