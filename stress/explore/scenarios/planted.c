/*
 * The checks' own test: each scenario breaks a promise on purpose, on the program's side of the
 * API, and must be found.
 */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

#include <schedq/hold.h>

static void
ignore_priorities(schedq_config_t *config)
{
    config->fifo = 1;
}

static void
counted(schedq_config_t *config)
{
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
add_up(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 2);
}

static void
consume_2(struct actor *actor)
{
    actor_consume(actor, 2);
}

/* Takes a pod without telling the ledger. */
static void
take_in_secret(struct actor *actor)
{
    schedq_popped_t popped;

    if (schedq_try_pop(actor->worker, &popped) == SCHEDQ_OK) {
        (void)schedq_done(actor->worker, popped.token);
    }
}

/* Takes a pod, tells, and keeps it for ever. */
static void
keep(struct actor *actor)
{
    (void)actor_pop(actor);
    actor->holds = 0;
}

/* Hands a pod out and tells of it twice. */
static void
pop_and_tell_twice(struct actor *actor)
{
    if (actor_pop(actor)) {
        const schedq_popped_t *popped = &actor->held[0];

        ledger_popped(&world.ledger, actor->number, popped,
                      world_key(popped->name, popped->name_length), world.ledger.now,
                      world.ledger.now);
    }
}

/* Holds a pod, and releases it without telling the ledger. */
static void
release_in_secret(struct actor *actor)
{
    schedq_result_t result;
    size_t length;
    const char *name = world_name(1, &length);

    actor_hold(actor, 1);
    if (schedq_find(actor->worker, name, length, &result) == SCHEDQ_OK) {
        (void)schedq_release(actor->worker, result.pod, NULL);
    }
    actor_consume(actor, 2);
}

/* A call for a label that does nothing. */
static void
pass_over(struct actor *actor)
{
    (void)actor_add_labelled(actor, 7, -5, 1);
    moment began = ++world.ledger.now;

    ledger_cancel(&world.ledger, (struct cancel){.label = 1, .began = began})->ended =
        ++world.ledger.now;
}

static void
release_held(struct actor *actor)
{
    if (actor_pop(actor)) {
        world.config.release(NULL, actor->held[0].object);
        (void)actor_done_all(actor);
    }
}

#define PLANTED(title, text, configuration, body)                                                  \
    {                                                                                              \
        .name = (title), .about = (text), .harness = &queue_harness, .threads = 3, .hidden = true, \
        .configure = (configuration), .bodies = {                                                  \
            add_up,                                                                                \
            body,                                                                                  \
            consume_2                                                                              \
        }                                                                                          \
    }

const struct scenario planted_scenarios[] = {
    PLANTED("planted_order", "priorities do not order", ignore_priorities, consume_2),
    PLANTED("planted_loss", "a pod is gone that was added", NULL, take_in_secret),
    PLANTED("planted_holder", "a pod stays in flight", NULL, keep),
    PLANTED("planted_twice", "a pod is popped twice", NULL, pop_and_tell_twice),
    PLANTED("planted_kept", "a held pod is released, and nobody is told", cluster_use_without_gates,
            release_in_secret),
    PLANTED("planted_label", "a call for a label passes a pod over", NULL, pass_over),
    PLANTED("planted_release", "an object is released once too often", counted, release_held),
    {.name = NULL},
};
