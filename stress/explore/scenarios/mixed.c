/* Programs drawn at random: what no author of a scenario thought of. */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

#define CALLS 4
#define KEYS 3
#define PRIORITIES 3

#define LABEL 7

#define GATED_KEYS 2

#define ALLOCATIONS_A_FAILURE 3

#define UPKEEP_CALLS 6
#define UPKEEP_KEYS 4

static uint32_t
draw(uint32_t limit)
{
    return random_below(sim_random(), limit);
}

static void
describe(struct actor *actor, uint32_t key)
{
    int32_t priority = (int32_t)draw(PRIORITIES);

    switch (draw(4)) {
    case 0:
        (void)actor_update(actor, key, priority);
        break;
    case 1:
        (void)actor_update_at(actor, key, priority, draw(8));
        break;
    case 2:
        (void)actor_add_at(actor, key, priority, draw(8));
        break;
    default:
        (void)actor_add(actor, key, priority);
        break;
    }
}

static void
take(struct actor *actor)
{
    if (draw(4) == 0) {
        (void)actor_pop_many(actor, 2);
    } else {
        (void)actor_pop(actor);
    }
    if (draw(2) == 0) {
        (void)actor_done_all(actor);
    }
}

static void
anything(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        uint32_t key = draw(KEYS);

        switch (draw(8)) {
        case 0:
        case 1:
        case 2:
            describe(actor, key);
            break;
        case 3:
        case 4:
            take(actor);
            break;
        case 5:
            (void)actor_delete(actor, key);
            break;
        case 6:
            (void)actor_get(actor, key);
            break;
        default:
            actor_activate(actor, key);
            break;
        }
    }
    (void)actor_done_all(actor);
}

/* ---- with upkeep ----------------------------------------------------------------------------- */

static void
come_back(struct actor *actor)
{
    (void)actor_done_all(actor);
    actor_unregister(actor);
    if (draw(2) == 0) {
        (void)schedq_trim(world.queue);
    }
    actor_register(actor);
}

static void
keep_up(struct actor *actor)
{
    switch (draw(3)) {
    case 0:
        actor_trim(actor);
        break;
    case 1:
        come_back(actor);
        break;
    default:
        actor_tick(actor);
        break;
    }
}

static void
work(struct actor *actor)
{
    uint32_t key = draw(UPKEEP_KEYS);

    switch (draw(4)) {
    case 0:
    case 1:
        describe(actor, key);
        break;
    case 2:
        take(actor);
        break;
    default:
        (void)(draw(2) == 0 ? actor_delete(actor, key) : actor_get(actor, key));
        break;
    }
}

static void
work_and_keep_up(struct actor *actor)
{
    for (unsigned i = 0; i < UPKEEP_CALLS; i++) {
        if (draw(4) == 0) {
            keep_up(actor);
        } else {
            work(actor);
        }
    }
    (void)actor_done_all(actor);
}

/* ---- with pods that wait --------------------------------------------------------------------- */

static uint64_t
rejectors(void)
{
    static const uint64_t sets[] = {0, PLAIN, HINTED, PLAIN | HINTED};

    return sets[draw(4)];
}

static void
come(struct actor *actor, uint32_t key)
{
    int32_t priority = (int32_t)draw(PRIORITIES + 1) - 1; /* -1: gates hold it */

    switch (draw(6)) {
    case 0:
        (void)actor_add_until(actor, key, priority, BACKOFF_NS);
        break;
    case 1:
        (void)actor_add_labelled(actor, key, priority, LABEL);
        break;
    case 2:
        (void)actor_update(actor, key, priority);
        break;
    case 3:
        (void)actor_update_event(actor, key, priority, EVENT_HINTED);
        break;
    default:
        (void)actor_add(actor, key, priority);
        break;
    }
}

static void
try_one(struct actor *actor)
{
    if (!actor_pop(actor)) {
        return;
    }
    if (draw(3) > 0) {
        (void)actor_fail(actor, rejectors());
    } else if (actor_done(actor) && draw(2) == 0) {
        (void)actor_readd(actor, rejectors());
    }
}

static void
happen(struct actor *actor)
{
    static const schedq_event_t events[] = {EVENT_PLAIN, EVENT_HINTED, EVENT_GATE_A,
                                            SCHEDQ_EVENT_WILDCARD};

    switch (draw(4)) {
    case 0:
        actor_tick_after(actor, draw(3) * BACKOFF_NS);
        break;
    case 1:
        actor_open(actor, draw(2) == 0 ? GATE_A : GATE_B);
        break;
    default:
        actor_move(actor, events[draw(4)]);
        break;
    }
}

static void
look_or_leave(struct actor *actor, uint32_t key)
{
    switch (draw(6)) {
    case 0:
        (void)actor_delete(actor, key);
        break;
    case 1:
        actor_cancel_label(actor, LABEL);
        break;
    case 2:
        actor_nominate(actor, key, draw(3));
        break;
    case 3:
        actor_snapshot(actor);
        break;
    case 4:
        actor_trim(actor);
        break;
    default:
        (void)actor_get(actor, key);
        break;
    }
}

static void
wait_or_work(struct actor *actor, uint32_t key)
{
    switch (draw(8)) {
    case 0:
    case 1:
        come(actor, key);
        break;
    case 2:
        actor_keep_back(actor, key);
        break;
    case 3:
    case 4:
        try_one(actor);
        break;
    case 5:
        happen(actor);
        break;
    case 6:
        actor_activate(actor, key);
        break;
    default:
        look_or_leave(actor, key);
        break;
    }
}

static void
wait_and_work(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        wait_or_work(actor, draw(KEYS));
    }
    (void)actor_done_all(actor);
}

static void
wait_and_keep_up(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        if (draw(4) == 0) {
            keep_up(actor);
        } else {
            wait_or_work(actor, draw(KEYS));
        }
    }
    (void)actor_done_all(actor);
}

/* Some go on with the workers of threads that stopped in a call. */
static void
wait_and_succeed(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        if (draw(3) == 0) {
            actor_succeed(actor);
        } else if (draw(4) == 0) {
            keep_up(actor);
        } else {
            wait_or_work(actor, draw(KEYS));
        }
    }
    (void)actor_done_all(actor);
}

/* ---- with gates that most calls ask ---------------------------------------------------------- */

static void
come_gated(struct actor *actor, uint32_t key)
{
    int32_t priority = (int32_t)draw(2) * 2 - 1;

    switch (draw(4)) {
    case 0:
        (void)actor_update(actor, key, priority);
        break;
    case 1:
        (void)actor_update_event(actor, key, priority, draw(2) == 0 ? EVENT_HINTED : EVENT_PLAIN);
        break;
    default:
        (void)actor_add(actor, key, priority);
        break;
    }
}

/* Asks gates, or hints. */
static void
ask_or_work(struct actor *actor, uint32_t key)
{
    switch (draw(8)) {
    case 0:
    case 1:
        come_gated(actor, key);
        break;
    case 2:
        actor_keep_back(actor, key);
        break;
    case 3:
        try_one(actor);
        break;
    case 4:
        (void)actor_delete(actor, key);
        break;
    case 5:
        actor_activate(actor, key);
        break;
    default:
        happen(actor);
        break;
    }
}

static void
ask_shut_and_work(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        if (draw(4) == 0) {
            cluster_shut(draw(2) == 0 ? GATE_A : GATE_B);
        } else if (draw(4) == 0) {
            actor_open(actor, draw(2) == 0 ? GATE_A : GATE_B);
        } else {
            ask_or_work(actor, draw(GATED_KEYS));
        }
    }
    (void)actor_done_all(actor);
}

static void
ask_and_work(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        ask_or_work(actor, draw(GATED_KEYS));
    }
    (void)actor_done_all(actor);
}

static void
prepare_gated(struct actor *actor)
{
    for (uint32_t key = 0; key < GATED_KEYS; key++) {
        (void)actor_add(actor, key, (int32_t)draw(2) * 2 - 1);
    }
    if (draw(2) == 0) {
        (void)actor_pop_and_fail(actor, rejectors());
    }
}

static void
prepare_waiting(struct actor *actor)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        come(actor, key);
    }
    for (uint32_t i = draw(KEYS); i > 0; i--) {
        (void)actor_pop_and_fail(actor, rejectors());
    }
    actor_keep_back(actor, draw(KEYS));
}

static void
prepare_waiting_in_few_bands(struct actor *actor)
{
    world_allow(SCHEDQ_FULL);
    prepare_waiting(actor);
}

static void
prepare_waiting_without_memory(struct actor *actor)
{
    prepare_waiting(actor);
    world_lacks_memory(ALLOCATIONS_A_FAILURE);
}

/* Some pages and lanes are there that nobody needs; few bands may be. */
static void
prepare_upkeep(struct actor *actor)
{
    uint32_t end = UPKEEP_KEYS + draw(3) * 12;

    world_allow(SCHEDQ_FULL);
    for (uint32_t key = UPKEEP_KEYS; key < end; key++) {
        (void)actor_add(actor, key, (int32_t)draw(PRIORITIES));
    }
    for (uint32_t key = UPKEEP_KEYS; key < end; key++) {
        (void)actor_delete(actor, key);
    }
    for (uint32_t i = draw(4); i > 0; i--) {
        (void)actor_add(actor, draw(UPKEEP_KEYS), (int32_t)draw(PRIORITIES));
    }
    come_back(actor);
}

static void
prepare_some(struct actor *actor)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        if (draw(2) == 0) {
            (void)actor_add(actor, key, (int32_t)draw(PRIORITIES));
        }
    }
}

static void
counted(schedq_config_t *config)
{
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
external_clock(schedq_config_t *config)
{
    config->external_clock = 1;
    config->start_ns = 1000; /* beyond every order key here */
}

static void
two_bands(schedq_config_t *config)
{
    config->max_bands = 2;
}

static void
counted_and_few_bands(schedq_config_t *config)
{
    config->objects = SCHEDQ_OBJECTS_COUNTED;
    config->max_bands = 2 + draw(3);
}

static void
waiting_counted(schedq_config_t *config)
{
    cluster_use(config);
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
waiting_in_few_bands(schedq_config_t *config)
{
    waiting_counted(config);
    config->max_bands = 2 + draw(2);
}

static void
waiting_listed(schedq_config_t *config)
{
    cluster_use(config);
    config->kube_minor = 37;
    config->pre_queueing_hints = 1;
}

/* Whatever else behaves otherwise. */
static void
waiting_otherwise(schedq_config_t *config)
{
    cluster_use(config);
    config->pop_from_backoff = (uint8_t)draw(2);
    config->gates_see_wildcards = (uint8_t)draw(2);
    config->objects = draw(2) == 0 ? SCHEDQ_OBJECTS_STABLE : SCHEDQ_OBJECTS_COUNTED;
    config->event_log = draw(2) * 4;
}

static void
relaxed(schedq_config_t *config)
{
    config->order = SCHEDQ_ORDER_RELAXED;
    config->max_bands = 2;
}

#define UPKEEP(title, text, settings)                                                   \
    SCENARIO(title, text, settings, prepare_upkeep, work_and_keep_up, work_and_keep_up, \
             work_and_keep_up)

const struct scenario mixed_scenarios[] = {
    SCENARIO("mixed", "any calls, three threads, three names", NULL, prepare_some, anything,
             anything, anything),
    SCENARIO("mixed_four", "any calls, four threads, a clock that stands still", external_clock,
             prepare_some, anything, anything, anything, anything),
    SCENARIO("mixed_counted", "any calls, counted objects", counted, prepare_some, anything,
             anything, anything),
    SLEEPING("mixed_waiting",
             "any calls, of gated pods, too, that fail, are kept back, labelled, activated",
             cluster_use, prepare_waiting, wait_and_work, wait_and_work, wait_and_work),
    SLEEPING("mixed_waiting_two", "the same by two threads", cluster_use, prepare_waiting,
             wait_and_work, wait_and_work),
    SLEEPING("mixed_waiting_counted",
             "the same with counted objects, trim, and workers that come and go", waiting_counted,
             prepare_waiting, wait_and_keep_up, wait_and_keep_up, wait_and_keep_up),
    SLEEPING("mixed_waiting_bands", "the same in few bands", waiting_in_few_bands,
             prepare_waiting_in_few_bands, wait_and_keep_up, wait_and_keep_up, wait_and_keep_up),
    SLEEPING("mixed_waiting_listed", "pods that wait, with pre-queueing hints", waiting_listed,
             prepare_waiting, wait_and_work, wait_and_work, wait_and_work),
    SLEEPING("mixed_waiting_otherwise", "pods that wait, with other configurations",
             waiting_otherwise, prepare_waiting, wait_and_work, wait_and_work, wait_and_work),
    SLEEPING("mixed_waiting_ungated", "pods that wait, and pops take those that back off",
             cluster_use_without_gates, prepare_waiting, wait_and_work, wait_and_work,
             wait_and_work),
    SLEEPING("mixed_waiting_no_memory", "pods that wait while one allocation out of three fails",
             cluster_use, prepare_waiting_without_memory, wait_and_work, wait_and_work,
             wait_and_work),
    SLEEPING("mixed_waiting_four", "the same by four threads, of which two have lanes in banks",
             waiting_counted, prepare_waiting, wait_and_keep_up, wait_and_keep_up, wait_and_keep_up,
             wait_and_keep_up),
    SLEEPING("mixed_waiting_adopted",
             "pods that wait, and the workers of threads that stopped are adopted", waiting_counted,
             prepare_waiting, wait_and_succeed, wait_and_succeed, wait_and_succeed,
             wait_and_succeed),
    SLEEPING("mixed_gated_shut", "any calls that ask gates, which open and shut", waiting_counted,
             prepare_gated, ask_shut_and_work, ask_shut_and_work, ask_shut_and_work),
    SLEEPING("mixed_gated", "any calls that ask gates, of two names", waiting_counted,
             prepare_gated, ask_and_work, ask_and_work, ask_and_work),
    UPKEEP("mixed_upkeep", "any calls, trim, workers that come and go, and few bands", two_bands),
    UPKEEP("mixed_upkeep_counted", "the same with counted objects", counted_and_few_bands),
    UPKEEP("mixed_upkeep_relaxed", "the same with relaxed order", relaxed),
    {.name = NULL},
};
