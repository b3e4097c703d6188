/* The thread's body complains to a mailbox: it must not assert. */
#include "sleeper.h"

#include <string.h>
#include <time.h>

static void *
sleep_in_pop(void *argument)
{
    sleeper_t *sleeper = argument;
    schedq_worker_t *worker;
    schedq_popped_t popped;
    if (!mailbox_check(sleeper->mailbox,
                       schedq_worker_register(sleeper->queue, &worker, NULL, 0) == SCHEDQ_OK))
        return NULL;
    sleeper->status = schedq_pop_until(worker, sleeper->deadline_ns, &popped);
    if (sleeper->status == SCHEDQ_OK) {
        strncpy(sleeper->name, popped.name, sizeof sleeper->name - 1);
        mailbox_check(sleeper->mailbox, schedq_done(worker, popped.token) == SCHEDQ_OK);
    }
    mailbox_check(sleeper->mailbox, schedq_worker_unregister(worker) == SCHEDQ_OK);
    return NULL;
}

void
sleeper_start(sleeper_t *sleeper, fixture_t *fixture, mailbox_t *mailbox, int64_t deadline_ns)
{
    memset(sleeper, 0, sizeof *sleeper);
    sleeper->queue = fx_queue(fixture);
    sleeper->mailbox = mailbox;
    sleeper->deadline_ns = deadline_ns;
    assert_int_equal(pthread_create(&sleeper->thread, NULL, sleep_in_pop, sleeper), 0);
}

void
sleeper_join(sleeper_t *sleeper, schedq_status_t expected)
{
    assert_int_equal(pthread_join(sleeper->thread, NULL), 0);
    assert_status(sleeper->status, expected);
    mailbox_assert_empty(sleeper->mailbox);
}

void
sleeper_pause(void)
{
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
}
