/*
 * Consumers: pop in every way, then finish, fail, delete or bring back. They end when the queue is
 * closed.
 */
#include <string.h>
#include <time.h>

#include "world.h"

#define BATCH 4
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- ways to end a cycle ---- */

/* A pod's name is the queue's memory until its cycle ends: callers ask for the index before. */
static void
count_end(actor_t *actor, unsigned index, schedq_status_t status, const char *call)
{
    tally_t *tally = &actor->world->tally;
    if (status == SCHEDQ_OK)
        TALLY_COUNT(tally->dones[index]);
    else if (status == SCHEDQ_GONE)
        TALLY_COUNT(tally->gones);
    else
        tally_violation(tally, "%s says %s", call, schedq_status_name(status));
}

static void
finish(actor_t *actor, const schedq_popped_t *popped)
{
    tally_t *tally = &actor->world->tally;
    unsigned index = tally_index(popped->name);
    schedq_status_t alive = schedq_token_alive(actor->worker, popped->token);
    schedq_status_t status = schedq_done(actor->worker, popped->token);
    TALLY_CHECK(tally, alive == SCHEDQ_OK || (alive == SCHEDQ_GONE && status == SCHEDQ_GONE),
                "token_alive says %s, then done says %s", schedq_status_name(alive),
                schedq_status_name(status));
    count_end(actor, index, status, "done");
    if (actor_roll(actor, 8) == 0) {
        status = schedq_done(actor->worker, popped->token);
        TALLY_CHECK(tally, status == SCHEDQ_STALE, "a second done says %s",
                    schedq_status_name(status));
    }
}

static void
finish_together(actor_t *actor, const schedq_popped_t *popped, size_t count)
{
    schedq_token_t tokens[BATCH];
    unsigned indices[BATCH];
    uint8_t statuses[BATCH];
    for (size_t i = 0; i < count; i++) {
        tokens[i] = popped[i].token;
        indices[i] = tally_index(popped[i].name);
    }
    schedq_done_many(actor->worker, tokens, count, statuses);
    for (size_t i = 0; i < count; i++)
        count_end(actor, indices[i], (schedq_status_t)statuses[i], "done_many");
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
        failure.newest.object = actor_hold(
            actor, tally_object(tally_index(popped->name), actor_roll(actor, TALLY_VARIANTS)));
        failure.newest.priority = (int32_t)actor_roll(actor, 5) - 2;
    }
    schedq_status_t status =
        schedq_add_unschedulable(actor->worker, &popped->token, &failure, NULL);
    if (failure.has_newest)
        actor_let_go(actor, failure.newest.object);
    if (status == SCHEDQ_OK)
        TALLY_COUNT(actor->world->tally.failures);
    else
        count_end(actor, 0, status, "add_unschedulable");
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
    spec.object = actor_hold(actor, tally_object(index, 0));
    spec.priority = popped->priority;
    schedq_failure_init(&failure);
    failure.unschedulable = actor_roll(actor, 2) != 0 ? actor_rejectors(actor) : 0;
    finish(actor, popped);
    schedq_status_t status = schedq_readd(actor->worker, name, &spec, &history, &failure, NULL);
    actor_let_go(actor, spec.object);
    tally_t *tally = &actor->world->tally;
    if (status == SCHEDQ_OK)
        TALLY_COUNT(tally->adds[index]);
    else
        TALLY_CHECK(tally, status == SCHEDQ_EXISTS, "readd says %s", schedq_status_name(status));
}

/* Deletes what it holds, and perhaps adds the name again before its cycle ends. */
static void
delete_held(actor_t *actor, const schedq_popped_t *popped)
{
    tally_t *tally = &actor->world->tally;
    unsigned index = tally_index(popped->name);
    schedq_status_t status = schedq_delete(actor->worker, popped->pod, NULL, 0, NULL);
    if (status == SCHEDQ_OK)
        TALLY_COUNT(tally->deletes[index]);
    else
        TALLY_CHECK(tally, status == SCHEDQ_NOT_FOUND, "delete in flight says %s",
                    schedq_status_name(status));
    if (actor_roll(actor, 2) == 0)
        producer_add(actor, index);
    status = schedq_done(actor->worker, popped->token);
    TALLY_CHECK(tally, status == SCHEDQ_GONE, "done of a deleted pod says %s",
                schedq_status_name(status));
    TALLY_COUNT(tally->gones);
}

static void
use(actor_t *actor, schedq_popped_t *popped)
{
    enum { FINISH, DELETE_HELD, FAIL, BRING_BACK };
    static const choice_t choices[] = {{FINISH, 6, NEEDS_NOTHING},
                                       {DELETE_HELD, 1, NEEDS_NOTHING},
                                       {FAIL, 8, NEEDS_WAITING},
                                       {BRING_BACK, 1, NEEDS_WAITING}};
    switch (world_is_running(actor->world) ? actor_choose(actor, choices, COUNT_OF(choices))
                                           : FINISH) {
    case FAIL:
        fail(actor, popped);
        break;
    case BRING_BACK:
        bring_back(actor, popped);
        break;
    case DELETE_HELD:
        delete_held(actor, popped);
        break;
    default:
        finish(actor, popped);
    }
}

/* ---- pops ---- */

static void
look_at(actor_t *actor, const schedq_popped_t *popped)
{
    world_t *world = actor->world;
    tally_t *tally = &world->tally;
    unsigned index = tally_index(popped->name);
    char name[32];
    TALLY_COUNT(tally->pops);
    atomic_store_explicit(&world->recent[actor_roll(actor, WORLD_RECENT)], index,
                          memory_order_relaxed);
    TALLY_CHECK(tally,
                popped->name_length == tally_name(index, name) && strcmp(popped->name, name) == 0,
                "\"%s\" was popped, %u bytes", popped->name, popped->name_length);
    if (!tally_object_is_of(popped->object, index))
        tally_violation(tally, "%s was popped with object %llu", popped->name,
                        (unsigned long long)popped->object);
    else
        TALLY_CHECK(tally, TALLY_READ(tally->references[popped->object]) > 0,
                    "%s was popped, its object is not held", popped->name);
}

static void
use_all(actor_t *actor, schedq_popped_t *popped, size_t count)
{
    for (size_t i = 0; i < count; i++)
        look_at(actor, &popped[i]);
    if (actor_roll(actor, 64) == 0)
        actor_nap(actor, 50);
    if (count > 1 && actor_roll(actor, 2) == 0) {
        finish_together(actor, popped, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        use(actor, &popped[i]);
}

static int64_t
soon(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec + 1000000;
}

static schedq_status_t
pop_somehow(actor_t *actor, schedq_popped_t *out, size_t *count)
{
    *count = 1;
    switch (actor_roll(actor, 8)) {
    case 0:
        return schedq_try_pop(actor->worker, out);
    case 1:
        return schedq_pop_many(actor->worker, out, BATCH, count);
    case 2:
        return schedq_pop(actor->worker, 0, out);
    case 3:
        return schedq_pop(actor->worker, soon(), out);
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
            use_all(&actor, popped, count);
        } else {
            TALLY_CHECK(&start->world->tally, status == SCHEDQ_EMPTY || status == SCHEDQ_TIMEDOUT,
                        "pop says %s", schedq_status_name(status));
        }
        if (world_is_running(start->world) && actor_roll(&actor, 512) == 0)
            actor_change_worker(&actor);
    }
    actor_end(&actor);
    return NULL;
}
