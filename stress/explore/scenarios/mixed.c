/* Programs drawn at random: what no author of a scenario thought of. */
#include "scenarios.h"
#include "world.h"

#define CALLS 4
#define KEYS 3
#define PRIORITIES 3

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
    UPKEEP("mixed_upkeep", "any calls, trim, workers that come and go, and few bands", two_bands),
    UPKEEP("mixed_upkeep_counted", "the same with counted objects", counted_and_few_bands),
    UPKEEP("mixed_upkeep_relaxed", "the same with relaxed order", relaxed),
    {.name = NULL},
};
