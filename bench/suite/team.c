/* The threads of a row. */
#include "team.h"

void
team_open(team_t *team, const subject_t *subject, uint32_t pods, bool relaxed)
{
    const row_t *row = subject->row;

    team->ops = subject->contestant->ops;
    team->row = row;
    team->queue = team->ops->open(subject->contestant, &(room_t){pods, row->threads, relaxed});
    for (unsigned i = 0; i < row->threads; i++) {
        member_t *member = &team->members[i];
        member->worker = team->ops->join(team->queue);
        member->next_number = (uint64_t)i << 40;
        member->random = scramble(subject->seed + i);
    }
    pthread_barrier_init(&team->finish, NULL, row->threads);
}

static void
check_balance(team_t *team)
{
    uint64_t balance = 0;
    uint64_t objects = 0;

    while (member_take(team, &team->members[0])) {
    }
    for (unsigned i = 0; i < team->row->threads; i++) {
        const member_t *member = &team->members[i];

        balance += member->balance;
        objects += member->objects_in - member->objects_out;
    }
    if (balance != 0 || objects != 0) {
        bench_fail("%s: %lld pods more came in than came out", team->row->name, (long long)balance);
    }
}

void
team_close(team_t *team)
{
    check_balance(team);
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
member_put(const team_t *team, member_t *member, uint64_t number, int32_t priority)
{
    pod_name_t name;

    pod_name_make(&name, number);
    team->ops->add(member->worker, &name, priority, number);
    member->objects_in += number;
    member->balance++;
}

void
member_add(const team_t *team, member_t *member)
{
    member_put(team, member, member->next_number++, random_priority(&member->random));
}

void
member_add_many(const team_t *team, member_t *member, unsigned count)
{
    fresh_t pods[BATCH];

    for (unsigned i = 0; i < count; i++) {
        pods[i].object = member->next_number++;
        pods[i].priority = random_priority(&member->random);
        pod_name_make(&pods[i].name, pods[i].object);
        member->objects_in += pods[i].object;
    }
    member->balance += count;
    team->ops->add_many(member->worker, pods, count);
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

unsigned
member_take_many(const team_t *team, member_t *member, unsigned capacity)
{
    taken_t taken[BATCH];
    unsigned count = team->ops->pop_many(member->worker, taken, capacity);

    for (unsigned i = 0; i < count; i++) {
        member_read(member, &taken[i]);
    }
    if (count > 0) {
        team->ops->done_many(member->worker, taken, count);
    }
    return count;
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
