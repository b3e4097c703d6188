/*
 * Consumers: pop in every way, then finish, fail, delete or bring back. They end when the queue is
 * closed.
 */
#include <string.h>
#include <time.h>

#include "world.h"

#define SOON_NS 1000000
#define BATCH 4

/* ---- ways to end a cycle ---- */

/* A pod's name is the queue's memory until its cycle ends: callers ask for the index before. */
static schedq_status_t
done(actor_t *actor, const schedq_popped_t *popped, unsigned index)
{
    schedq_token_t token = popped->token;
    return actor_do(actor, &(op_t){.kind = OP_DONE, .tokens = &token}, &index);
}

static void
finish(actor_t *actor, const schedq_popped_t *popped)
{
    schedq_token_t token = popped->token;
    unsigned index = tally_index(popped->name);
    schedq_status_t alive =
        actor_do(actor, &(op_t){.kind = OP_TOKEN_ALIVE, .tokens = &token}, NULL);
    schedq_status_t status = done(actor, popped, index);
    TALLY_CHECK(&actor->world->tally, alive == SCHEDQ_OK || status == SCHEDQ_GONE,
                "token_alive says %s, then done says %s", schedq_status_name(alive),
                schedq_status_name(status));
    if (actor_roll(actor, 8) == 0) {
        status = schedq_done(actor->worker, popped->token);
        TALLY_CHECK(&actor->world->tally, status == SCHEDQ_STALE, "a second done says %s",
                    schedq_status_name(status));
    }
}

static void
finish_together(actor_t *actor, const schedq_popped_t *popped, size_t count)
{
    schedq_token_t tokens[BATCH];
    unsigned indices[BATCH];
    for (size_t i = 0; i < count; i++) {
        tokens[i] = popped[i].token;
        indices[i] = tally_index(popped[i].name);
    }
    (void)actor_do(actor, &(op_t){.kind = OP_DONE_MANY, .count = count, .tokens = tokens}, indices);
}

static void
fail(actor_t *actor, schedq_popped_t *popped)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    unsigned choice = actor_roll(actor, 4);
    if (choice != 0)
        failure.unschedulable = actor_rejectors(actor);
    if (choice == 1)
        failure.pending = actor_rejectors(actor);
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    if (actor_roll(actor, 4) == 0) {
        newest.object = actor_hold(
            actor, tally_object(tally_index(popped->name), actor_roll(actor, TALLY_VARIANTS)));
        newest.priority = (int32_t)actor_roll(actor, 5) - 2;
        failure.newest = &newest;
    }
    op_t op = {.kind = OP_FAIL, .tokens = &popped->token, .failure = &failure};
    (void)actor_do(actor, &op, NULL);
    if (failure.newest != NULL)
        actor_let_go(actor, newest.object);
}

static void
bring_back(actor_t *actor, const schedq_popped_t *popped)
{
    char name[32];
    unsigned index = tally_index(popped->name);
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_history_t history = popped->history;
    spec.object = actor_hold(actor, tally_object(index, 0));
    spec.priority = popped->priority;
    failure.unschedulable = actor_roll(actor, 2) != 0 ? actor_rejectors(actor) : 0;
    finish(actor, popped);
    op_t op = {.kind = OP_READD,
               .name = name,
               .name_length = tally_name(index, name),
               .spec = &spec,
               .history = &history,
               .failure = &failure};
    (void)actor_do(actor, &op, &index);
    actor_let_go(actor, spec.object);
}

/* Deletes what it holds, and perhaps adds the name again before its cycle ends. */
static void
delete_held(actor_t *actor, const schedq_popped_t *popped)
{
    unsigned index = tally_index(popped->name);
    (void)actor_do(actor, &(op_t){.kind = OP_DELETE, .pods = &popped->pod}, &index);
    if (actor_roll(actor, 2) == 0)
        producer_add(actor, index);
    schedq_status_t status = done(actor, popped, index);
    TALLY_CHECK(&actor->world->tally, status == SCHEDQ_GONE, "done of a deleted pod says %s",
                schedq_status_name(status));
}

static void
use(actor_t *actor, schedq_popped_t *popped)
{
    unsigned choice = world_is_running(actor->world) ? actor_roll(actor, 16) : 0;
    if (choice < 6)
        finish(actor, popped);
    else if (choice < 14)
        fail(actor, popped);
    else if (choice == 14)
        bring_back(actor, popped);
    else
        delete_held(actor, popped);
}

/* ---- pops ---- */

static void
look_at(actor_t *actor, const schedq_popped_t *popped)
{
    world_t *world = actor->world;
    tally_t *tally = &world->tally;
    unsigned index = tally_index(popped->name);
    char name[32];
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
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec + SOON_NS;
}

static schedq_status_t
pop_somehow(actor_t *actor, schedq_popped_t *out, size_t *count)
{
    unsigned choice = actor_roll(actor, 8);
    op_t op = {.kind = choice == 0   ? OP_TRY_POP
                       : choice == 1 ? OP_TRY_POP_MANY
                       : choice == 2 ? OP_POP_FOR
                       : choice == 3 ? OP_POP_UNTIL
                                     : OP_POP,
               .count = BATCH,
               .popped = out,
               .wait_ns = actor_roll(actor, 2) == 0 ? 0 : SOON_NS,
               .deadline_ns = soon()};
    schedq_status_t status = actor_do(actor, &op, NULL);
    *count = op.got;
    return status;
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
        if (status == SCHEDQ_OK)
            use_all(&actor, popped, count);
        if (world_is_running(start->world) && actor_roll(&actor, 512) == 0)
            actor_change_worker(&actor);
    }
    actor_end(&actor);
    return NULL;
}
