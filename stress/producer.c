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
    tally_t *tally = &actor->world->tally;
    actor_spec(actor, index, &spec, name);
    schedq_status_t status = schedq_add(actor->worker, name, &spec, NULL);
    actor_let_go(actor, spec.object);
    if (status == SCHEDQ_OK)
        TALLY_COUNT(tally->adds[index]);
    else
        TALLY_CHECK(tally, status == SCHEDQ_EXISTS, "add says %s", schedq_status_name(status));
}

void
producer_add_one(actor_t *actor)
{
    producer_add(actor, actor_index(actor));
}

void
producer_add_batch(actor_t *actor)
{
    schedq_pod_spec_t specs[BATCH];
    char names[BATCH * 32];
    unsigned indices[BATCH];
    uint8_t statuses[BATCH];
    tally_t *tally = &actor->world->tally;
    for (uint32_t i = 0; i < BATCH; i++) {
        indices[i] = actor_index(actor);
        actor_spec(actor, indices[i], &specs[i], names + 32 * i);
        specs[i].name_offset = 32 * i;
    }
    schedq_add_many(actor->worker, names, specs, BATCH, NULL, statuses, NULL);
    for (unsigned i = 0; i < BATCH; i++) {
        actor_let_go(actor, specs[i].object);
        if (statuses[i] == SCHEDQ_OK)
            TALLY_COUNT(tally->adds[indices[i]]);
        else
            TALLY_CHECK(tally, statuses[i] == SCHEDQ_EXISTS, "add_many says %s",
                        schedq_status_name((schedq_status_t)statuses[i]));
    }
}

static void
update_one(actor_t *actor)
{
    schedq_pod_spec_t spec;
    schedq_result_t result;
    char name[32];
    tally_t *tally = &actor->world->tally;
    unsigned index = actor_index(actor);
    actor_spec(actor, index, &spec, name);
    schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL;
    schedq_status_t status = schedq_update(actor->worker, name, &spec, spec.object, &event,
                                           actor_roll(actor, 2), &result);
    actor_let_go(actor, spec.object);
    TALLY_CHECK(tally, status == SCHEDQ_OK, "update says %s", schedq_status_name(status));
    if (status == SCHEDQ_OK && result.added)
        TALLY_COUNT(tally->adds[index]);
}

static void
wait_if_full(actor_t *actor)
{
    schedq_stats_t stats;
    schedq_stats_init(&stats);
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
