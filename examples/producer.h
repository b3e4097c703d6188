/*
 * What epoll.c and libuv.c share beside their loops: a queue, and a thread that adds pods to it.
 */
#ifndef EXAMPLES_PRODUCER_H
#define EXAMPLES_PRODUCER_H

#include <stdio.h>
#include <stdlib.h>

#include <schedq/schedq.h>

#define PODS 8

static schedq_t *queue;

static void
must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* Asks for the words here, after the call: of two arguments C may evaluate either one first. */
static void
worker_must(schedq_worker_t *worker, int ok)
{
    must(ok, schedq_worker_error(worker));
}

/* The thread's worker is given back when the thread ends. */
static void *
add_pods(void *unused)
{
    schedq_worker_t *worker;
    char why[200];

    (void)unused;
    must(schedq_worker_get(queue, &worker, why, sizeof why) == SCHEDQ_OK, why);
    for (int i = 0; i < PODS; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        char name[16];
        int length = snprintf(name, sizeof name, "pod-%d", i);

        spec.object = (uint64_t)i;
        worker_must(worker, schedq_add(worker, name, (size_t)length, &spec, NULL) == SCHEDQ_OK);
    }
    return NULL;
}

#endif
