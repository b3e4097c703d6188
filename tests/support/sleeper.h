/**
 * A thread that sleeps in schedq_pop until it gets a pod, a deadline passes or the queue is closed.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_SLEEPER_H
#define SCHEDQ_TESTS_SUPPORT_SLEEPER_H

#include <pthread.h>

#include "fixture.h"
#include "mailbox.h"

typedef struct sleeper {
    pthread_t thread;
    schedq_t *queue;
    mailbox_t *mailbox;
    int64_t deadline_ns;
    schedq_status_t status; /* what pop said */
    char name[64];          /* of the pod, which is done by then */
} sleeper_t;

void sleeper_start(sleeper_t *sleeper, fixture_t *fixture, mailbox_t *mailbox, int64_t deadline_ns);
/** Waits for its end, and asserts what its pop said. */
void sleeper_join(sleeper_t *sleeper, schedq_status_t expected);
/** Gives the others time to fall asleep; nothing depends on whether they do. */
void sleeper_pause(void);

#endif
