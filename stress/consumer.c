/* Consumers: pop in every way, then finish, fail, or finish and bring back. They end when the queue is closed. */
#include <string.h>

#include "world.h"

#define BATCH 4

static void
count_gone(actor_t *actor, schedq_status_t status, const char *call)
{
    tally_t *tally = &actor->world->tally;
    if (status == SCHEDQ_GONE)
        atomic_fetch_add(&tally->gones, 1);
    else
        tally_violation(tally, "%s says %s", call, schedq_status_name(status));
}

static void
finish(actor_t *actor, const schedq_popped_t *popped)
{
    unsigned index = tally_index(popped->name);
    schedq_status_t status = schedq_done(actor->worker, popped->token);
    if (status == SCHEDQ_OK)
        atomic_fetch_add(&actor->world->tally.dones[index], 1);
    else
        count_gone(actor, status, "done");
}

static void
fail(actor_t *actor, schedq_popped_t *popped)
{
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    unsigned choice = actor_roll(actor, 4);
    if (choice != 0)
        failure.unschedulable = actor_rejectors(actor);
    if (choice == 1)
        failure.pending = actor_rejectors(actor);
    if (actor_roll(actor, 4) == 0) {
        failure.has_newest = 1;
        failure.newest.object = tally_index(popped->name) + 1;
        failure.newest.priority = (int32_t)actor_roll(actor, 5) - 2;
    }
    schedq_status_t status = schedq_add_unschedulable(actor->worker, &popped->token, &failure, NULL);
    if (status == SCHEDQ_OK)
        atomic_fetch_add(&actor->world->tally.failures, 1);
    else
        count_gone(actor, status, "add_unschedulable");
}

static void
bring_back(actor_t *actor, const schedq_popped_t *popped)
{
    char name[32];
    unsigned index = tally_index(popped->name);
    schedq_pod_spec_t spec;
    schedq_failure_t failure;
    schedq_history_t history = popped->history;
    memset(&spec, 0, sizeof spec);
    spec.name_length = tally_name(index, name);
    spec.object = index + 1;
    spec.priority = popped->priority;
    schedq_failure_init(&failure);
    failure.unschedulable = actor_roll(actor, 2) != 0 ? actor_rejectors(actor) : 0;
    finish(actor, popped);
    schedq_status_t status = schedq_readd(actor->worker, name, &spec, &history, &failure, NULL);
    tally_t *tally = &actor->world->tally;
    if (status == SCHEDQ_OK)
        atomic_fetch_add(&tally->adds[index], 1);
    else
        TALLY_CHECK(tally, status == SCHEDQ_EXISTS, "readd says %s", schedq_status_name(status));
}

static void
use(actor_t *actor, schedq_popped_t *popped)
{
    tally_t *tally = &actor->world->tally;
    unsigned index = tally_index(popped->name);
    atomic_fetch_add(&tally->pops, 1);
    TALLY_CHECK(tally, popped->object == index + 1, "%s was popped with object %llu", popped->name,
                (unsigned long long)popped->object);
    TALLY_CHECK(tally, atomic_load(&tally->references[index + 1]) > 0, "%s was popped, its object is not held",
                popped->name);
    unsigned choice = world_is_running(actor->world) ? actor_roll(actor, 16) : 0;
    if (choice < 7)
        finish(actor, popped);
    else if (choice < 15)
        fail(actor, popped);
    else
        bring_back(actor, popped);
}

static schedq_status_t
pop_somehow(actor_t *actor, schedq_popped_t *out, size_t *count)
{
    schedq_status_t status;
    *count = 1;
    switch (actor_roll(actor, 8)) {
    case 0:
        return schedq_try_pop(actor->worker, out);
    case 1:
        status = schedq_pop_many(actor->worker, out, BATCH, count);
        return status;
    case 2:
        return schedq_pop(actor->worker, 0, out);
    default:
        return schedq_pop(actor->worker, SCHEDQ_NO_DEADLINE, out);
    }
}

void *
consumer_run(void *argument)
{
    const start_t *start = argument;
    actor_t actor;
    schedq_popped_t popped[BATCH];
    schedq_status_t status;
    size_t count;
    actor_begin(&actor, start->world, start->number);
    while ((status = pop_somehow(&actor, popped, &count)) != SCHEDQ_CLOSED) {
        if (status == SCHEDQ_OK) {
            for (size_t i = 0; i < count; i++)
                use(&actor, &popped[i]);
        } else {
            TALLY_CHECK(&start->world->tally, status == SCHEDQ_EMPTY || status == SCHEDQ_TIMEDOUT, "pop says %s",
                        schedq_status_name(status));
        }
    }
    actor_end(&actor);
    return NULL;
}
