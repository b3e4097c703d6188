/* What the threads of all subjects do alike. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "rounds.h"

#include "history/stamp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* More than there are pods that may become due one after the other. */
enum { TICKS_TO_REST = 2 * PODS };

uint32_t
roll(actor_t *actor, uint32_t sides)
{
    actor->dice = actor->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(actor->dice >> 33) % sides;
}

uint32_t
some_pod(actor_t *actor)
{
    uint32_t added = atomic_load(&actor->round->pods_added);
    return roll(actor, added > 0 && added < PODS ? added : PODS);
}

bool
must_or(const actor_t *actor, const char *call, schedq_status_t status, schedq_status_t other)
{
    if (status == SCHEDQ_OK || status == other)
        return status == SCHEDQ_OK;
    fprintf(stdout, "%s answers %s: %s\n", call, schedq_status_name(status),
            schedq_worker_error(actor->worker));
    fflush(stdout);
    _Exit(1);
}

void
must(const actor_t *actor, const char *call, schedq_status_t status)
{
    (void)must_or(actor, call, status, SCHEDQ_OK);
}

record_t *
note(actor_t *actor, unsigned call, uint64_t begin, uint32_t pod)
{
    if (actor->count == sizeof actor->records / sizeof *actor->records) {
        fprintf(stderr, "%s: more than %zu calls in a round\n", program_invocation_short_name,
                actor->count);
        _Exit(1);
    }
    record_t *record = &actor->records[actor->count++];
    *record = (record_t){.call = (uint8_t)call,
                         .begin = begin,
                         .end = stamp_settled(),
                         .pod = pod,
                         .thread = (uint8_t)actor->number,
                         .late = actor->late};
    return record;
}

int
name_of(char name[16], uint32_t pod)
{
    return snprintf(name, 16, "p%u", pod);
}

uint32_t
number_of(const char *name)
{
    return (uint32_t)strtoul(name + 1, NULL, 10);
}

uint32_t
next_pod(actor_t *actor)
{
    return atomic_fetch_add(&actor->round->pods_added, 1);
}

record_t *
add_pod(actor_t *actor, uint32_t pod, schedq_pod_spec_t *spec)
{
    char name[16];
    spec->object = pod;
    uint64_t begin = stamp_begin();
    must(actor, "add", schedq_add(actor->worker, name, (size_t)name_of(name, pod), spec, NULL));
    return note(actor, CALL_ADD, begin, pod);
}

record_t *
delete_pod(actor_t *actor, uint32_t pod)
{
    char name[16];
    uint64_t begin = stamp_begin();
    schedq_status_t status =
        schedq_delete_name(actor->worker, name, (size_t)name_of(name, pod), NULL);
    return must_or(actor, "delete", status, SCHEDQ_NOT_FOUND) ? note(actor, CALL_DELETE, begin, pod)
                                                              : NULL;
}

void
notify(actor_t *actor)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    must(actor, "notify", schedq_notify(actor->worker, &change, NULL));
}

void
tick(actor_t *actor)
{
    must(actor, "tick", schedq_tick(actor->worker, NULL, NULL));
}

void
rest(actor_t *actor)
{
    schedq_t *queue = actor->round->queue;
    unsigned ticks = 0;
    while (schedq_next_deadline(queue) <= schedq_now(queue)) {
        if (ticks++ == TICKS_TO_REST) {
            printf("after %u ticks time is wanted still\n", ticks - 1);
            fflush(stdout);
            _Exit(1);
        }
        tick(actor);
    }
}
