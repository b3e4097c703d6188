/**
 * Threads that use one queue at the same time, each with a worker and random numbers of its own.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_SQUAD_H
#define SCHEDQ_TESTS_SUPPORT_SQUAD_H

#include "fixture.h"
#include "mailbox.h"

#define SQUAD_MAX 8

/** What one thread sees. It must not assert, but complain to the mailbox. */
typedef struct soldier {
    unsigned number; /* 0, 1, ... */
    uint64_t seed;
    schedq_t *queue;
    schedq_worker_t *worker;
    mailbox_t *mailbox;
    void *ctx;
} soldier_t;

typedef void (*squad_fn)(soldier_t *soldier);

/** Runs `body` on `count` threads, waits for all of them, and asserts that none complained. */
void squad_run(fixture_t *fixture, unsigned count, uint64_t seed, squad_fn body, void *ctx);

#endif
