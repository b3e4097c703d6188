/*
 * The random part draws from a table of weights. The hand-over is where a lost wake-up shows: all but one thread sleep
 * without a deadline, and no later call makes up for a wake-up that went astray. Two kinds of pods are there for this
 * alone: a ball is thrown to whoever catches it, and the next one not before; a pill sends the sleeper home who takes
 * it, one each. They rank last in a round that ends empty, so that sleepers take everything else before, and first in
 * the others, which have no balls.
 */
#include "workload.h"

#include <sched.h>
#include <time.h>

#include "stamp.h"

typedef enum act {
    ACT_ADD,
    ACT_ADD_MANY,
    ACT_UPDATE,
    ACT_TRY_POP,
    ACT_POP,
    ACT_POP_MANY,
    ACT_DONE,
    ACT_DONE_MANY,
    ACT_DONE_AGAIN,
    ACT_ALIVE,
    ACT_FIND,
    ACT_GET,
    ACT_DELETE_NAME,
    ACT_DELETE_POD,
    ACTS
} act_t;

static const uint8_t weights[PHASES][ACTS] = {
    [PHASE_DEEP] = {[ACT_ADD] = 30,
                    [ACT_ADD_MANY] = 7,
                    [ACT_UPDATE] = 12,
                    [ACT_TRY_POP] = 9,
                    [ACT_POP] = 1,
                    [ACT_POP_MANY] = 1,
                    [ACT_DONE] = 10,
                    [ACT_DONE_MANY] = 1,
                    [ACT_DONE_AGAIN] = 2,
                    [ACT_ALIVE] = 2,
                    [ACT_FIND] = 10,
                    [ACT_GET] = 2,
                    [ACT_DELETE_NAME] = 4,
                    [ACT_DELETE_POD] = 4},
    [PHASE_MIXED] = {[ACT_ADD] = 18,
                     [ACT_ADD_MANY] = 4,
                     [ACT_UPDATE] = 11,
                     [ACT_TRY_POP] = 16,
                     [ACT_POP] = 2,
                     [ACT_POP_MANY] = 3,
                     [ACT_DONE] = 18,
                     [ACT_DONE_MANY] = 3,
                     [ACT_DONE_AGAIN] = 2,
                     [ACT_ALIVE] = 2,
                     [ACT_FIND] = 10,
                     [ACT_GET] = 2,
                     [ACT_DELETE_NAME] = 4,
                     [ACT_DELETE_POD] = 4},
    [PHASE_SCARCE] = {[ACT_ADD] = 18,
                      [ACT_ADD_MANY] = 2,
                      [ACT_UPDATE] = 5,
                      [ACT_TRY_POP] = 24,
                      [ACT_POP] = 3,
                      [ACT_POP_MANY] = 4,
                      [ACT_DONE] = 22,
                      [ACT_DONE_MANY] = 3,
                      [ACT_DONE_AGAIN] = 2,
                      [ACT_ALIVE] = 2,
                      [ACT_FIND] = 6,
                      [ACT_GET] = 2,
                      [ACT_DELETE_NAME] = 3,
                      [ACT_DELETE_POD] = 4},
};

static act_t
choose_act(actor_t *actor, phase_t phase)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < ACTS; i++)
        sum += weights[phase][i];
    unsigned number = dice_roll(&actor->dice, sum);
    unsigned act = 0;
    while (number >= weights[phase][act])
        number -= weights[phase][act++];
    return (act_t)act;
}

/* ---- one step ---------------------------------------------------------------------------------------------------- */

static description_t
describe(world_t *world, actor_t *actor)
{
    const plan_t *plan = &world->plan;
    description_t what = {.name = dice_roll(&actor->dice, plan->names),
                          .priority = plan->priorities[dice_roll(&actor->dice, plan->priority_count)],
                          .keyed = dice_roll(&actor->dice, plan->keyed_in) == 0};
    if (what.keyed)
        what.key = actor->last_timestamp - 1500000 + dice_roll(&actor->dice, 2000000);
    return what;
}

static void
add_many(world_t *world, actor_t *actor)
{
    description_t what[MANY];
    size_t count = 1 + dice_roll(&actor->dice, MANY);
    for (size_t i = 0; i < count; i++)
        what[i] = describe(world, actor);
    actor_add_many(actor, what, count);
}

static void
finish_one(actor_t *actor)
{
    if (actor->in_hand_count == 0)
        return;
    unsigned which = dice_roll(&actor->dice, actor->in_hand_count);
    if (dice_roll(&actor->dice, 4) != 0) {
        actor_done_in_hand(actor, which);
        return;
    }
    _Atomic uint64_t *slot = &actor->shared->tokens[dice_roll(&actor->dice, SHARED_SLOTS)];
    uint64_t token = atomic_exchange_explicit(slot, actor_give_away(actor, which), memory_order_acq_rel);
    if (token != 0)
        actor_done(actor, token);
}

static void
finish_many(actor_t *actor)
{
    size_t count = actor->in_hand_count < MANY ? actor->in_hand_count : MANY;
    if (count > 0)
        actor_done_many(actor, count);
}

static void
finish_all(actor_t *actor)
{
    while (actor->in_hand_count > 0)
        finish_many(actor);
}

/* Somebody's token, who will use it too; one used before, perhaps rounds ago; or one that nobody ever got. */
static uint64_t
strange_token(actor_t *actor)
{
    switch (dice_roll(&actor->dice, 8)) {
    case 0:
        return dice_next(&actor->dice);
    case 1:
    case 2:
    case 3:
        return actor->used[dice_roll(&actor->dice, USED_TOKENS)];
    default:
        return atomic_load_explicit(&actor->shared->tokens[dice_roll(&actor->dice, SHARED_SLOTS)],
                                    memory_order_acquire);
    }
}

static uint64_t
strange_pod(actor_t *actor)
{
    uint64_t pod =
        atomic_load_explicit(&actor->shared->pods[dice_roll(&actor->dice, SHARED_SLOTS)], memory_order_relaxed);
    return pod != 0 && dice_roll(&actor->dice, 64) != 0 ? pod : dice_next(&actor->dice) | 1;
}

static uint64_t
token_to_ask(actor_t *actor)
{
    if (actor->in_hand_count > 0 && dice_roll(&actor->dice, 2) == 0)
        return actor->in_hand[dice_roll(&actor->dice, actor->in_hand_count)].token;
    return strange_token(actor);
}

static void
pop(actor_t *actor, act_t act)
{
    if (actor->in_hand_count > IN_HAND_MAX - MANY) {
        finish_many(actor);
        return;
    }
    if (act == ACT_TRY_POP)
        actor_try_pop(actor);
    else if (act == ACT_POP_MANY)
        actor_pop_many(actor, 1 + dice_roll(&actor->dice, MANY));
    else if (dice_roll(&actor->dice, 4) == 0)
        actor_pop(actor, 0);
    else
        actor_pop(actor, (int64_t)stamp_monotonic() + dice_roll(&actor->dice, 100000));
}

static void
step(world_t *world, actor_t *actor, act_t act)
{
    description_t what;
    switch (act) {
    case ACT_ADD:
        what = describe(world, actor);
        actor_add(actor, &what);
        break;
    case ACT_ADD_MANY:
        add_many(world, actor);
        break;
    case ACT_UPDATE:
        what = describe(world, actor);
        actor_update(actor, &what);
        break;
    case ACT_TRY_POP:
    case ACT_POP:
    case ACT_POP_MANY:
        pop(actor, act);
        break;
    case ACT_DONE:
        finish_one(actor);
        break;
    case ACT_DONE_MANY:
        finish_many(actor);
        break;
    case ACT_DONE_AGAIN:
        actor_done(actor, strange_token(actor));
        break;
    case ACT_ALIVE:
        actor_alive(actor, token_to_ask(actor));
        break;
    case ACT_FIND:
        actor_find(actor, dice_roll(&actor->dice, world->plan.names));
        break;
    case ACT_GET:
        actor_get(actor, strange_pod(actor));
        break;
    case ACT_DELETE_NAME:
        actor_delete_name(actor, dice_roll(&actor->dice, world->plan.names));
        break;
    case ACT_DELETE_POD:
        actor_delete_pod(actor, strange_pod(actor));
        break;
    case ACTS:
        break;
    }
}

/* ---- the parts of a round ---------------------------------------------------------------------------------------- */

static void
act_at_random(world_t *world, actor_t *actor)
{
    const uint32_t *made = &world->book.pages[actor->number].count;
    uint32_t quota = world->options->round_operations / world->options->threads;
    bool closes = world->plan.last && world->plan.close_early && actor->number == 0;
    for (unsigned i = 0; i < PHASES; i++) {
        while (*made < quota / PHASES * (i + 1)) {
            step(world, actor, choose_act(actor, world->plan.phases[i]));
            if (world->options->perturb && dice_roll(&actor->dice, 16) == 0)
                sched_yield();
            if (closes && *made > quota / 2) {
                actor_close(actor);
                closes = false;
            }
        }
    }
}

/* Nothing depends on whether the others fall asleep meanwhile; often they do. */
static void
nap(actor_t *actor)
{
    struct timespec pause = {0, (long)dice_roll(&actor->dice, 100) * 1000};
    if (dice_roll(&actor->dice, 3) == 0)
        nanosleep(&pause, NULL);
}

static void
hand_out(world_t *world, actor_t *actor, uint32_t name)
{
    bool last = world->plan.drain;
    description_t what = {
        .name = name, .priority = last ? INT32_MIN : INT32_MAX, .keyed = true, .key = last ? INT64_MAX : INT64_MIN};
    actor_add(actor, &what);
}

static uint32_t
ball(const world_t *world)
{
    return workload_names(world->options) - 1;
}

/* No call of this thread helps a sleeper that overslept: it only waits. */
static void
throw_ball(world_t *world, actor_t *actor)
{
    const struct timespec pause = {0, 5000};
    uint64_t caught = atomic_load(&world->balls);
    hand_out(world, actor, ball(world));
    while (atomic_load(&world->balls) == caught)
        nanosleep(&pause, NULL);
}

static void
hand_over(world_t *world, actor_t *actor)
{
    for (unsigned i = 0; i < world->plan.hand_overs; i++) {
        description_t what = describe(world, actor);
        actor_add(actor, &what);
        nap(actor);
    }
    for (unsigned i = 0; world->plan.drain && i < world->plan.hand_overs; i++) {
        throw_ball(world, actor);
        nap(actor);
    }
    for (unsigned i = 0; i + 1 < world->options->threads; i++) {
        hand_out(world, actor, world->options->names + i);
        nap(actor);
    }
}

static void
wait_for_pill(world_t *world, actor_t *actor)
{
    while (actor_pop(actor, SCHEDQ_NO_DEADLINE) == SCHEDQ_OK) {
        uint32_t name = actor->in_hand[0].index;
        actor_done_in_hand(actor, 0);
        if (name == ball(world))
            atomic_fetch_add(&world->balls, 1);
        else if (name >= world->options->names)
            return;
    }
}

/* A sleeper that nobody wakes: the plant "asleep". */
static void
sleep_elsewhere(world_t *world, actor_t *actor)
{
    schedq_popped_t popped;
    atomic_store_explicit(&actor->doing, CALL_WAIT, memory_order_relaxed);
    schedq_pop(world->elsewhere, SCHEDQ_NO_DEADLINE, &popped);
}

static void
end_round(world_t *world, actor_t *actor)
{
    unsigned giver = (unsigned)(world->plan.round % world->options->threads);
    if (world->options->threads == 1) {
        while (world->plan.drain && actor_try_pop(actor) == SCHEDQ_OK)
            actor_done_in_hand(actor, 0);
    } else if (actor->number == giver) {
        hand_over(world, actor);
    } else if (world->elsewhere != NULL && actor->number == (giver + 1) % world->options->threads) {
        sleep_elsewhere(world, actor);
    } else {
        wait_for_pill(world, actor);
    }
}

static void
end_queue(world_t *world, actor_t *actor)
{
    if (!world->plan.close_early && actor->number == 0) {
        nap(actor);
        actor_close(actor);
    }
    while (actor_pop(actor, SCHEDQ_NO_DEADLINE) == SCHEDQ_OK)
        actor_done_in_hand(actor, 0);
    description_t what = describe(world, actor);
    actor_add(actor, &what);
    actor_add_many(actor, &what, 1);
    actor_update(actor, &what);
    actor_try_pop(actor);
    actor_pop_many(actor, 1);
}

void
workload_run(world_t *world, unsigned number)
{
    actor_t *actor = &world->actors[number];
    act_at_random(world, actor);
    finish_all(actor);
    pthread_barrier_wait(&world->all_done); /* from here on nobody takes or deletes another one's pill */
    if (world->plan.last)
        end_queue(world, actor);
    else
        end_round(world, actor);
}

void
workload_look(world_t *world)
{
    actor_t *actor = &world->actors[world->options->threads];
    for (unsigned i = 0; i < SHARED_SLOTS; i++) {
        uint64_t token = atomic_exchange_explicit(&world->shared.tokens[i], 0, memory_order_acquire);
        if (token != 0)
            actor_done(actor, token);
    }
    for (uint32_t name = 0; name < workload_names(world->options); name++)
        actor_find(actor, name);
}
