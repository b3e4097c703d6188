/* The random part draws from a table of weights; ending.c has the rest of a round. */
#include "workload.h"

#include <sched.h>

#include "ending.h"
#include "names.h"
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
    ACT_NOMINATE,
    ACT_FAIL,
    ACT_READD,
    ACT_EVENT,
    ACT_TARGET,
    ACT_ACTIVATE,
    ACT_TICK,
    ACT_GATE,
    ACT_HOLD,
    ACT_RELEASE,
    ACT_LABEL,
    ACT_PEEK,
    ACT_PEEK_MANY,
    ACT_POSITION,
    ACTS
} act_t;

static const uint8_t weights[PHASES][ACTS] = {
    [PHASE_DEEP] =
        {[ACT_ADD] = 30,        [ACT_ADD_MANY] = 7,   [ACT_UPDATE] = 12,   [ACT_TRY_POP] = 9,
         [ACT_POP] = 1,         [ACT_POP_MANY] = 1,   [ACT_DONE] = 10,     [ACT_DONE_MANY] = 1,
         [ACT_DONE_AGAIN] = 2,  [ACT_ALIVE] = 2,      [ACT_FIND] = 10,     [ACT_GET] = 2,
         [ACT_DELETE_NAME] = 4, [ACT_DELETE_POD] = 4, [ACT_NOMINATE] = 4,  [ACT_FAIL] = 8,
         [ACT_READD] = 1,       [ACT_EVENT] = 2,      [ACT_TARGET] = 1,    [ACT_ACTIVATE] = 1,
         [ACT_TICK] = 1,        [ACT_GATE] = 1,       [ACT_HOLD] = 4,      [ACT_RELEASE] = 1,
         [ACT_LABEL] = 3,       [ACT_PEEK] = 2,       [ACT_PEEK_MANY] = 1, [ACT_POSITION] = 3},
    [PHASE_MIXED] =
        {[ACT_ADD] = 18,        [ACT_ADD_MANY] = 4,   [ACT_UPDATE] = 11,   [ACT_TRY_POP] = 16,
         [ACT_POP] = 2,         [ACT_POP_MANY] = 3,   [ACT_DONE] = 18,     [ACT_DONE_MANY] = 3,
         [ACT_DONE_AGAIN] = 2,  [ACT_ALIVE] = 2,      [ACT_FIND] = 10,     [ACT_GET] = 2,
         [ACT_DELETE_NAME] = 4, [ACT_DELETE_POD] = 4, [ACT_NOMINATE] = 4,  [ACT_FAIL] = 14,
         [ACT_READD] = 1,       [ACT_EVENT] = 4,      [ACT_TARGET] = 1,    [ACT_ACTIVATE] = 1,
         [ACT_TICK] = 1,        [ACT_GATE] = 1,       [ACT_HOLD] = 4,      [ACT_RELEASE] = 1,
         [ACT_LABEL] = 3,       [ACT_PEEK] = 2,       [ACT_PEEK_MANY] = 1, [ACT_POSITION] = 3},
    [PHASE_SCARCE] =
        {[ACT_ADD] = 18,        [ACT_ADD_MANY] = 2,   [ACT_UPDATE] = 5,    [ACT_TRY_POP] = 24,
         [ACT_POP] = 3,         [ACT_POP_MANY] = 4,   [ACT_DONE] = 22,     [ACT_DONE_MANY] = 3,
         [ACT_DONE_AGAIN] = 2,  [ACT_ALIVE] = 2,      [ACT_FIND] = 6,      [ACT_GET] = 2,
         [ACT_DELETE_NAME] = 3, [ACT_DELETE_POD] = 4, [ACT_NOMINATE] = 4,  [ACT_FAIL] = 16,
         [ACT_READD] = 1,       [ACT_EVENT] = 8,      [ACT_TARGET] = 1,    [ACT_ACTIVATE] = 1,
         [ACT_TICK] = 1,        [ACT_GATE] = 1,       [ACT_HOLD] = 4,      [ACT_RELEASE] = 1,
         [ACT_LABEL] = 3,       [ACT_PEEK] = 2,       [ACT_PEEK_MANY] = 1, [ACT_POSITION] = 3},
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

/* ---- one step -------------------------------------------------------------------------------- */

description_t
workload_describe(world_t *world, actor_t *actor)
{
    const plan_t *plan = &world->plan;
    description_t what = {.name = dice_roll(&actor->dice, plan->names),
                          .priority =
                              plan->priorities[dice_roll(&actor->dice, plan->priority_count)],
                          .keyed = dice_roll(&actor->dice, plan->keyed_in) == 0};
    what.label = names_label(what.name);
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
        what[i] = workload_describe(world, actor);
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
    uint64_t token =
        atomic_exchange_explicit(slot, actor_give_away(actor, which), memory_order_acq_rel);
    if (token != 0)
        actor_done(actor, token);
}

static uint8_t
some_plugins(actor_t *actor)
{
    unsigned plugins = 1u << (PLUGIN_FIT + dice_roll(&actor->dice, PLUGIN_DEAF - PLUGIN_FIT));
    if (dice_roll(&actor->dice, 4) == 0)
        plugins |= 1u << (PLUGIN_FIT + dice_roll(&actor->dice, PLUGIN_OTHERS - PLUGIN_FIT));
    if (dice_roll(&actor->dice, 32) == 0)
        plugins |= 1u << PLUGIN_OTHERS;
    return (uint8_t)plugins;
}

/* One failure in four is an error. */
static rejection_t
some_rejection(actor_t *actor)
{
    rejection_t why = {0};
    unsigned choice = dice_roll(&actor->dice, 8);
    if (choice >= 2)
        why.unschedulable = some_plugins(actor);
    if (choice >= 6)
        why.pending = some_plugins(actor);
    return why;
}

/*
 * Now and then a tick and a look at the pod follow: without them a thread that is alone and slow
 * finds hardly a pod in a backoff before and behind a tick, and due_rule.c has nothing to decide.
 */
static void
fail_one(actor_t *actor)
{
    if (actor->in_hand_count == 0)
        return;
    unsigned which = dice_roll(&actor->dice, actor->in_hand_count);
    uint32_t name = actor->in_hand[which].index;
    actor_fail_in_hand(actor, which, some_rejection(actor));
    if (dice_roll(&actor->dice, 8) != 0)
        return;
    actor_tick(actor);
    actor_find(actor, name);
}

static void
send_event(actor_t *actor)
{
    static const kind_t kinds[] = {KIND_FIT,   KIND_FIT,   KIND_FIT,     KIND_FIT,
                                   KIND_FIT,   KIND_TAINT, KIND_TAINT,   KIND_LABEL,
                                   KIND_GATES, KIND_GATES, KIND_UNHEARD, KIND_WILDCARD};
    kind_t kind = kinds[dice_roll(&actor->dice, sizeof kinds / sizeof *kinds)];
    actor_event(actor, kind, kind == KIND_FIT ? dice_roll(&actor->dice, CLASSES) : 0);
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

/*
 * Somebody's token, who will use it too; one used before, perhaps rounds ago; or one that nobody
 * ever got.
 */
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
    uint64_t pod = atomic_load_explicit(&actor->shared->pods[dice_roll(&actor->dice, SHARED_SLOTS)],
                                        memory_order_relaxed);
    return pod != 0 && dice_roll(&actor->dice, 64) != 0 ? pod : dice_next(&actor->dice) | 1;
}

static void
activate(actor_t *actor)
{
    uint64_t pods[MANY];
    size_t count = 1 + dice_roll(&actor->dice, MANY);
    for (size_t i = 0; i < count; i++)
        pods[i] = strange_pod(actor);
    actor_activate(actor, pods, count);
}

/* An update of a label, of anything, or without an event. */
static void
update(world_t *world, actor_t *actor)
{
    static const unsigned kinds[] = {KIND_LABEL, KIND_GATES, KINDS, KINDS};
    description_t what = workload_describe(world, actor);
    unsigned kind = kinds[dice_roll(&actor->dice, sizeof kinds / sizeof *kinds)];
    actor_update(actor, &what, actor->book->settings.host ? KINDS : kind);
}

static void
use_again(actor_t *actor, uint64_t token)
{
    if (dice_roll(&actor->dice, 2) == 0)
        actor_fail(actor, token, some_rejection(actor));
    else
        actor_done(actor, token);
}

/*
 * Each pod is held and released by one thread, alone or with its label, so that the state in which
 * a piece of calls leaves it (automaton.c) does not depend on the order of two that overlap.
 */
static bool
draw_own_name(world_t *world, actor_t *actor, uint32_t *name)
{
    *name = dice_roll(&actor->dice, world->plan.names);
    return names_group(*name) % world->options->threads == actor->number;
}

static void
hold(world_t *world, actor_t *actor)
{
    uint32_t name;
    uint64_t pod = draw_own_name(world, actor, &name) ? actor_find(actor, name) : 0;
    if (pod != 0)
        actor_hold(actor, pod);
}

/* Anybody may cancel and count. */
static void
step_of_labels(world_t *world, actor_t *actor)
{
    uint32_t name;
    bool own = draw_own_name(world, actor, &name);
    uint32_t label = names_label(name);
    uint32_t choice = dice_roll(&actor->dice, 8);
    if (choice == 0)
        actor_label_release(actor);
    else if (label == 0)
        return;
    else if (choice == 1)
        actor_label_cancel(actor, label, 1 + dice_roll(&actor->dice, MANY));
    else if (own)
        actor_label_hold(actor, label);
    else
        actor_label_count(actor, label);
}

static void
turn_gate(actor_t *actor)
{
    unsigned gate = dice_roll(&actor->dice, GATES);
    bool shut = dice_roll(&actor->dice, 2) == 0;
    actor_gate(actor, gate, shut);
    if (!shut)
        actor_event(actor, KIND_GATES, 0);
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
step_of_waiting(world_t *world, actor_t *actor, act_t act)
{
    description_t what;
    switch (act) {
    case ACT_FAIL:
        fail_one(actor);
        break;
    case ACT_READD:
        what = workload_describe(world, actor);
        actor_readd(actor, &what);
        break;
    case ACT_EVENT:
        send_event(actor);
        break;
    case ACT_TARGET:
        if (world->book.settings.host)
            send_event(actor);
        else
            actor_target(actor, strange_pod(actor));
        break;
    case ACT_ACTIVATE:
        if (world->book.settings.host)
            send_event(actor);
        else
            activate(actor);
        break;
    case ACT_TICK:
        actor_tick(actor);
        break;
    case ACT_HOLD:
        hold(world, actor);
        break;
    case ACT_RELEASE:
        actor_release(actor);
        break;
    case ACT_LABEL:
        step_of_labels(world, actor);
        break;
    default:
        turn_gate(actor);
    }
}

static void
step(world_t *world, actor_t *actor, act_t act)
{
    description_t what;
    switch (act) {
    case ACT_ADD:
        what = workload_describe(world, actor);
        actor_add(actor, &what);
        break;
    case ACT_ADD_MANY:
        add_many(world, actor);
        break;
    case ACT_UPDATE:
        update(world, actor);
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
        use_again(actor, strange_token(actor));
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
    case ACT_PEEK:
        actor_peek(actor);
        break;
    case ACT_PEEK_MANY:
        actor_peek_many(actor, 1 + dice_roll(&actor->dice, MANY));
        break;
    case ACT_POSITION:
        actor_position(actor, strange_pod(actor));
        break;
    case ACT_DELETE_NAME:
        actor_delete_name(actor, dice_roll(&actor->dice, world->plan.names));
        break;
    case ACT_DELETE_POD:
        actor_delete_pod(actor, strange_pod(actor));
        break;
    case ACT_NOMINATE:
        actor_nominate(actor, strange_pod(actor), dice_roll(&actor->dice, NODES + 1));
        break;
    default:
        step_of_waiting(world, actor, act);
    }
}

static void
release_all(actor_t *actor)
{
    while (actor->kept_count > 0)
        actor_release(actor);
    while (actor->kept_label_count > 0)
        actor_label_release(actor);
}

/* ---- the parts of a round -------------------------------------------------------------------- */

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

void
workload_run(world_t *world, unsigned number)
{
    actor_t *actor = &world->actors[number];
    act_at_random(world, actor);
    finish_all(actor);
    release_all(actor);
    /* from here on nobody takes or deletes another one's pill */
    pthread_barrier_wait(&world->all_done);
    if (world->plan.last)
        ending_close(world, actor);
    else
        ending_run(world, actor);
    /* a closed queue's pods come out of backoff behind pops that found nothing */
    finish_all(actor);
}

void
workload_finish_shared(world_t *world, actor_t *actor)
{
    for (unsigned i = 0; i < SHARED_SLOTS; i++) {
        uint64_t token =
            atomic_exchange_explicit(&world->shared.tokens[i], 0, memory_order_acquire);
        if (token != 0)
            actor_done(actor, token);
    }
}

void
workload_look(world_t *world)
{
    actor_t *actor = &world->actors[world->options->threads];
    workload_finish_shared(world, actor);
    for (uint32_t name = 0; name < workload_names(world->options); name++)
        actor_look(actor, name);
}
