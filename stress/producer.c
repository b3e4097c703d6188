/*
 * Producers: they add until the drain, one by one, in batches, or by an update of an unknown name.
 */
#include <string.h>

#include "world.h"

#define BATCH 8
#define PENDING_MAX 1500

void
producer_add(actor_t *actor, unsigned index)
{
    schedq_pod_spec_t spec;
    char name[32];
    size_t length = actor_spec(actor, index, &spec, name);
    op_t op = {.kind = OP_ADD, .name = name, .name_length = length, .spec = &spec};
    (void)actor_do(actor, &op, &index);
    actor_let_go(actor, spec.object);
}

void
producer_add_one(actor_t *actor)
{
    producer_add(actor, actor_index(actor));
}

void
producer_add_batch(actor_t *actor)
{
    schedq_add_item_t items[BATCH];
    char names[BATCH * 32];
    unsigned indices[BATCH];
    op_t op = {.kind = OP_ADD_MANY,
               .count = BATCH,
               .names = names,
               .names_length = sizeof names,
               .items = items};
    for (uint32_t i = 0; i < BATCH; i++) {
        indices[i] = actor_index(actor);
        items[i].name_offset = 32 * i;
        items[i].name_length =
            (uint32_t)actor_spec(actor, indices[i], &items[i].spec, names + 32 * i);
    }
    (void)actor_do(actor, &op, indices);
    for (unsigned i = 0; i < BATCH; i++)
        actor_let_go(actor, items[i].spec.object);
}

static void
update_one(actor_t *actor)
{
    static const schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL;
    (void)actor_update(actor, actor_index(actor), &event, actor_roll(actor, 2), NULL);
}

static void
wait_if_full(actor_t *actor)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    schedq_stats(actor->world->queue, &stats);
    if (stats.active + stats.backoff + stats.error_backoff + stats.parked + stats.gated >
        PENDING_MAX)
        actor_nap(actor, 500);
}

void *
producer_run(void *argument)
{
    const start_t *start = argument;
    actor_t actor;
    actor_begin(&actor, start->world, start->number);
    while (world_is_running(start->world)) {
        unsigned choice = actor_roll(&actor, 16);
        if (choice < 11)
            producer_add_one(&actor);
        else if (choice < 13)
            producer_add_batch(&actor);
        else
            update_one(&actor);
        if (actor_roll(&actor, 32) == 0)
            wait_if_full(&actor);
        if (actor_roll(&actor, 512) == 0)
            actor_change_worker(&actor);
    }
    actor_end(&actor);
    return NULL;
}
