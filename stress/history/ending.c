/*
 * The hand-over is where a lost wake-up shows: all but one thread sleep without a deadline, and no
 * later call makes up for a wake-up that went astray. Two kinds of pods are there for this alone: a
 * ball is thrown to whoever catches it, and the next one not before; a pill sends the sleeper home
 * who takes it, one each. They rank last in a round that ends empty, so that sleepers take
 * everything else before, and first in the others, which have no balls.
 *
 * A ball may come by a way of its own: out of a backoff, when that is over; out of parking, by an
 * event or an activation; through a gate. What waits in a round that ends empty is set free before,
 * by one wildcard; then nothing but time brings it, and the sleepers must serve it themselves.
 */
#include "ending.h"

#include <time.h>

/* Nothing depends on whether the others fall asleep meanwhile; often they do. */
static void
nap(actor_t *actor)
{
    struct timespec pause = {0, (long)dice_roll(&actor->dice, 100) * 1000};
    if (dice_roll(&actor->dice, 3) == 0)
        nanosleep(&pause, NULL);
}

static description_t
describe_handed(const world_t *world, uint32_t name)
{
    bool last = world->plan.drain;
    return (description_t){.name = name,
                           .priority = last ? INT32_MIN : INT32_MAX,
                           .keyed = true,
                           .key = last ? INT64_MAX : INT64_MIN,
                           .never_gated = true};
}

static void
set_free(actor_t *actor)
{
    for (unsigned gate = 0; gate < GATES; gate++)
        actor_gate(actor, gate, false);
    actor_event(actor, KIND_WILDCARD, 0);
    actor_event(actor, KIND_GATES, 0); /* kube's gates hear no wildcard */
}

/*
 * Where pods are capped, those that wait have to go first: the sleepers take them. So have those in
 * flight whose tokens nobody has in hand.
 */
static uint64_t
hand_out(world_t *world, actor_t *actor, uint32_t name)
{
    const struct timespec pause = {0, 2000000};
    description_t what = describe_handed(world, name);
    uint64_t pod = actor_add(actor, &what);
    while (pod == 0 && world->book.settings.max_pods != 0) {
        set_free(actor);
        workload_finish_shared(world, actor);
        nanosleep(&pause, NULL);
        pod = actor_add(actor, &what);
    }
    return pod;
}

static uint32_t
ball(const world_t *world)
{
    return workload_names(world->options) - 1;
}

/* Spins without a call: nobody is helped. */
static void
wait_until_caught(world_t *world, uint64_t caught)
{
    const struct timespec pause = {0, 5000};
    while (atomic_load(&world->balls) == caught)
        nanosleep(&pause, NULL);
}

typedef enum throw {
    THROW_PLAIN,
    THROW_BY_TIME,
    THROW_THROUGH_GATE,
    THROW_BY_EVENT,
    THROW_BY_ACTIVATION,
    THROWS
} throw_t;

static void
throw_through_gate(world_t *world, actor_t *actor)
{
    description_t what = describe_handed(world, ball(world));
    what.never_gated = false;
    what.gated = true;
    actor_gate(actor, what.gate, true);
    actor_add(actor, &what);
    nap(actor);
    actor_gate(actor, what.gate, false);
    actor_event(actor, KIND_GATES, 0);
}

/* Somebody catches it, and parks it: see wait_for_pill. Then it comes back. */
static void
throw_parked(world_t *world, actor_t *actor, bool by_event)
{
    const struct timespec pause = {0, 5000};
    atomic_store(&world->park_next, true);
    uint64_t pod = hand_out(world, actor, ball(world));
    while (atomic_load(&world->park_next))
        nanosleep(&pause, NULL);
    nap(actor);
    if (by_event)
        actor_event(actor, KIND_TAINT, 0);
    else
        actor_activate(actor, &pod, 1);
}

/* Capped: only what is sure to come in. A host: neither gates nor activations. */
static throw_t
choose_throw(const world_t *world, actor_t *actor)
{
    static const throw_t by_host[] = {THROW_PLAIN, THROW_BY_TIME, THROW_BY_EVENT};
    throw_t first = world->book.settings.max_pods != 0 ? THROW_BY_EVENT : THROW_PLAIN;
    if (world->book.settings.host)
        return by_host[dice_roll(&actor->dice, sizeof by_host / sizeof *by_host)];
    return (throw_t)(first + dice_roll(&actor->dice, THROWS - (uint32_t)first));
}

/* No call of this thread helps a sleeper that overslept: it only waits. */
static void
throw_ball(world_t *world, actor_t *actor)
{
    description_t what = describe_handed(world, ball(world));
    uint64_t caught = atomic_load(&world->balls);
    switch (choose_throw(world, actor)) {
    case THROW_BY_TIME:
        actor_readd(actor, &what);
        break;
    case THROW_THROUGH_GATE:
        throw_through_gate(world, actor);
        break;
    case THROW_BY_EVENT:
        throw_parked(world, actor, true);
        break;
    case THROW_BY_ACTIVATION:
        throw_parked(world, actor, false);
        break;
    default:
        (void)hand_out(world, actor, ball(world));
    }
    wait_until_caught(world, caught);
}

static bool
anything_waits(world_t *world)
{
    schedq_words_t *words = schedq_words(world->queue);
    return (__atomic_load_n(&words->parked, __ATOMIC_ACQUIRE) |
            __atomic_load_n(&words->gated, __ATOMIC_ACQUIRE) |
            __atomic_load_n(&words->backoff, __ATOMIC_ACQUIRE) |
            __atomic_load_n(&words->error_backoff, __ATOMIC_ACQUIRE)) != 0;
}

/* In the rounds that end empty; the sleepers do the rest. */
static void
wait_until_free(world_t *world, actor_t *actor)
{
    const struct timespec pause = {0, 5000};
    if (!world->plan.drain)
        return;
    set_free(actor);
    while (anything_waits(world))
        nanosleep(&pause, NULL);
}

static void
hand_over(world_t *world, actor_t *actor)
{
    for (unsigned i = 0; i < world->plan.hand_overs; i++) {
        description_t what = workload_describe(world, actor);
        actor_add(actor, &what);
        nap(actor);
    }
    wait_until_free(world, actor);
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
        if (name == ball(world) && atomic_load(&world->park_next)) {
            actor_fail_in_hand(actor, 0, (rejection_t){.unschedulable = 1u << PLUGIN_TAINT});
            atomic_store(&world->park_next, false);
            continue;
        }
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
    atomic_store_explicit(&actor->doing, OP_POP, memory_order_relaxed);
    schedq_pop(world->elsewhere, &popped);
}

static void
drain_alone(world_t *world, actor_t *actor)
{
    const struct timespec window = {0, 20000000}; /* kube's backoffs last for a second */
    if (!world->plan.drain)
        return;
    set_free(actor);
    do {
        actor_tick(actor);
        while (actor_try_pop(actor) == SCHEDQ_OK)
            actor_done_in_hand(actor, 0);
        if (world->book.settings.kube)
            nanosleep(&window, NULL);
        nap(actor);
    } while (anything_waits(world));
}

void
ending_run(world_t *world, actor_t *actor)
{
    unsigned giver = (unsigned)(world->plan.round % world->options->threads);
    if (world->options->threads == 1) {
        drain_alone(world, actor);
    } else if (actor->number == giver) {
        hand_over(world, actor);
    } else if (world->elsewhere != NULL && actor->number == (giver + 1) % world->options->threads) {
        sleep_elsewhere(world, actor);
    } else {
        wait_for_pill(world, actor);
    }
}

void
ending_close(world_t *world, actor_t *actor)
{
    if (!world->plan.close_early && actor->number == 0) {
        nap(actor);
        actor_close(actor);
    }
    while (actor_pop(actor, SCHEDQ_NO_DEADLINE) == SCHEDQ_OK)
        actor_done_in_hand(actor, 0);
    description_t what = workload_describe(world, actor);
    actor_add(actor, &what);
    actor_add_many(actor, &what, 1);
    actor_update(actor, &what, KINDS);
    actor_try_pop(actor);
    actor_pop_many(actor, 1);
}
