/* Steps about groups. */
#include "gangs.h"

#include "clock.h"

#include <schedq/group.h>

#include <stdio.h>

enum { GANG_OTHERS = 100, OTHER = 1000000, NAME_ROOM = 32 };

#define BACKOFF_OVER_NS INT64_C(2000000000)

/* What a worker has in its hands between two steps. */
static struct {
    schedq_popped_group_t group;
    schedq_popped_t popped[GANG_MAX];
    size_t count;
} gangs[PLAY_WORKERS_MAX];

static void
declare(struct play *play, unsigned worker, uint64_t group, uint32_t quorum, int32_t priority)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

    spec.quorum = quorum;
    spec.priority = priority;
    schedq_status_t status =
        MEASURED(play, schedq_group_add(play->workers[worker], group, &spec, NULL));

    play_require(status == SCHEDQ_OK, play, "schedq_group_add");
}

static void
add_members(struct play *play, unsigned worker, uint64_t group, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        char name[NAME_ROOM];
        uint64_t number = play->next++;
        int length = snprintf(name, sizeof name, "default/pod-%010llu", (unsigned long long)number);

        spec.object = number + 1;
        spec.group = group;
        schedq_status_t status =
            MEASURED(play, schedq_add(play->workers[worker], name, (size_t)length, &spec, NULL));

        play_require(status == SCHEDQ_OK, play, "schedq_add");
    }
}

void
gangs_open(struct play *play)
{
    for (uint32_t i = 0; i < play->row->before; i++) {
        unsigned worker = i % play->worker_count;

        declare(play, worker, OTHER + i, GANG_OTHERS, 0);
        add_members(play, worker, OTHER + i, GANG_OTHERS);
    }
}

uint64_t
gang_join(struct play *play, unsigned worker)
{
    declare(play, worker, 1 + worker, play->row->size, GANG_PRIORITY);
    add_members(play, worker, 1 + worker, play->row->size);
    return play->row->size;
}

uint64_t
gang_pop(struct play *play, unsigned worker)
{
    schedq_status_t status =
        MEASURED(play, schedq_try_pop_group(play->workers[worker], &gangs[worker].group,
                                            gangs[worker].popped, GANG_MAX, &gangs[worker].count));

    play_require(status == SCHEDQ_OK && gangs[worker].count == play->row->size, play,
                 "schedq_try_pop_group");
    return gangs[worker].count;
}

uint64_t
gang_fail(struct play *play, unsigned worker)
{
    for (size_t i = 0; i < gangs[worker].count; i++) {
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
        schedq_token_t token = gangs[worker].popped[i].token;

        failure.unschedulable = play->waits;
        schedq_status_t status =
            MEASURED(play, schedq_fail(play->workers[worker], &token, &failure, NULL));

        play_require(status == SCHEDQ_OK, play, "schedq_fail");
    }
    return gangs[worker].count;
}

static schedq_place_t
end_cycle(struct play *play, unsigned worker, schedq_group_outcome_t outcome)
{
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    schedq_token_t token = gangs[worker].group.token;
    schedq_result_t result;

    end.outcome = (uint8_t)outcome;
    schedq_status_t status =
        MEASURED(play, schedq_group_done(play->workers[worker], &token, &end, &result));

    play_require(status == SCHEDQ_OK, play, "schedq_group_done");
    return (schedq_place_t)result.place;
}

uint64_t
gang_reject(struct play *play, unsigned worker)
{
    schedq_place_t place = end_cycle(play, worker, SCHEDQ_GROUP_REJECTED);

    play_require(place == SCHEDQ_PARKED, play, "schedq_group_done");
    return gangs[worker].count;
}

uint64_t
gang_event(struct play *play, unsigned worker)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;

    clock_pass(BACKOFF_OVER_NS);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.new_object = 1;
    schedq_status_t status = MEASURED(play, schedq_notify(play->workers[worker], &change, &result));

    play_require(status == SCHEDQ_OK && result.to_active == play->worker_count, play, "an event");
    return (uint64_t)play->row->size * play->worker_count;
}

uint64_t
gang_end(struct play *play, unsigned worker)
{
    for (size_t i = 0; i < gangs[worker].count; i++) {
        schedq_status_t status =
            MEASURED(play, schedq_done(play->workers[worker], gangs[worker].popped[i].token));

        play_require(status == SCHEDQ_OK, play, "schedq_done");
    }
    (void)end_cycle(play, worker, SCHEDQ_GROUP_PLACED);
    schedq_status_t status =
        MEASURED(play, schedq_group_delete(play->workers[worker], gangs[worker].group.group, NULL));

    play_require(status == SCHEDQ_OK, play, "schedq_group_delete");
    return gangs[worker].count;
}
