/* The threads of a row. */
#include "team.h"

void
team_open(team_t *team, const subject_t *subject, uint32_t pods)
{
    const row_t *row = subject->row;

    team->ops = subject->contestant->ops;
    team->row = row;
    team->queue = team->ops->open(subject->contestant, pods, row->threads);
    for (unsigned i = 0; i < row->threads; i++) {
        member_t *member = &team->members[i];
        member->worker = team->ops->join(team->queue);
        member->next_number = (uint64_t)i << 40;
        member->random = scramble(subject->seed + i);
    }
    pthread_barrier_init(&team->finish, NULL, row->threads);
}

void
team_close(team_t *team)
{
    for (unsigned i = 0; i < team->row->threads; i++) {
        team->ops->leave(team->members[i].worker);
    }
    pthread_barrier_destroy(&team->finish);
    team->ops->close(team->queue);
}

void
team_fill(team_t *team, uint32_t pods)
{
    for (uint32_t i = 0; i < pods; i++) {
        member_add(team, &team->members[0]);
    }
}

void
team_finish(team_t *team)
{
    pthread_barrier_wait(&team->finish);
}

void
member_add(const team_t *team, member_t *member)
{
    pod_name_t name;
    uint64_t number = member->next_number++;

    pod_name_make(&name, number);
    team->ops->add(member->worker, &name, random_priority(&member->random), number);
}

bool
member_take(const team_t *team, member_t *member)
{
    taken_t taken;

    if (!team->ops->try_pop(member->worker, &taken)) {
        return false;
    }
    member_read(member, &taken);
    team->ops->done(member->worker, taken.token);
    return true;
}

int64_t
team_balance(team_t *team)
{
    unsigned half = team->row->threads / 2;
    uint64_t balance = 0;

    for (unsigned i = 0; i < half; i++) {
        balance += atomic_load_explicit(&team->members[i].progress, memory_order_relaxed);
        balance -= atomic_load_explicit(&team->members[half + i].progress, memory_order_relaxed);
    }
    return (int64_t)balance;
}
