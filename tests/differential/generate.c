/*
 * What operations there are and how often.
 *
 * A new public call gets a run_ function, a line here, and the fields of its answer in fields.c.
 */
#include "generate.h"

#define LOTTERY_MAX 4096 /* more than the sum of all weights */

const operation_kind_t operation_kinds[] = {
    {"add", 240, FEATURES_CORE, FLOW_IN, TARGETS_NONE, run_add},
    {"add-many", 30, FEATURES_CORE, FLOW_IN, TARGETS_NONE, run_add_many},
    {"update", 90, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_update},
    {"bad-spec", 10, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_bad_spec},
    {"try-pop", 160, FEATURES_CORE, FLOW_OUT, TARGETS_NONE, run_try_pop},
    {"pop", 20, FEATURES_CORE, FLOW_OUT, TARGETS_NONE, run_pop},
    {"pop-many", 20, FEATURES_CORE, FLOW_OUT, TARGETS_NONE, run_pop_many},
    {"done", 170, FEATURES_CORE, FLOW_OUT, TARGETS_CYCLE, run_done},
    {"done-many", 25, FEATURES_CORE, FLOW_OUT, TARGETS_CYCLES, run_done_many},
    {"token-alive", 30, FEATURES_CORE, FLOW_NONE, TARGETS_CYCLE, run_token_alive},
    {"forged-token", 6, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_forged_token},
    {"delete-name", 35, FEATURES_CORE, FLOW_OUT, TARGETS_NONE, run_delete_name},
    {"delete-handle", 35, FEATURES_CORE, FLOW_OUT, TARGETS_LIFE, run_delete_handle},
    {"find", 50, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_find},
    {"get", 40, FEATURES_CORE, FLOW_NONE, TARGETS_LIFE, run_get},
    {"forged-handle", 6, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_forged_handle},
    {"activate", 10, FEATURES_CORE, FLOW_NONE, TARGETS_LIVES, run_activate},
    {"clock", 40, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_clock},
    {"tick", 8, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_tick},
    {"stats", 4, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_stats},
    {"reserve", 1, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_reserve},
    {"trim", 1, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_trim},
    {"reregister", 3, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_reregister},
    {"extra-worker", 2, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_extra_worker},
    {"adopt", 2, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_adopt},
    {"fail", 150, FEATURES_ALL, FLOW_NONE, TARGETS_CYCLE, run_fail},
    {"readd", 25, FEATURES_ALL, FLOW_IN, TARGETS_NONE, run_readd},
    {"move", 25, FEATURES_ALL, FLOW_NONE, TARGETS_NONE, run_move},
    {"gates", 5, FEATURES_ALL, FLOW_NONE, TARGETS_NONE, run_gates},
    {"nominate", 20, FEATURES_ALL, FLOW_NONE, TARGETS_LIFE, run_nominate},
    {"nominated", 4, FEATURES_ALL, FLOW_NONE, TARGETS_NONE, run_nominated},
    {"snapshot", 1, FEATURES_ALL, FLOW_NONE, TARGETS_NONE, run_snapshot},
    {"close", 0, FEATURES_CORE, FLOW_NONE, TARGETS_NONE, run_close}, /* see draw_kind */
};

const uint32_t operation_kind_count = sizeof operation_kinds / sizeof *operation_kinds;

/* A kind as often as its weight says. */
typedef struct lottery {
    uint8_t tickets[LOTTERY_MAX];
    uint32_t count;
} lottery_t;

static const lottery_t *
lottery_of(enum features features)
{
    static lottery_t lotteries[FEATURES_ALL + 1];
    lottery_t *lottery = &lotteries[features];

    if (lottery->count > 0) {
        return lottery;
    }
    for (uint32_t i = 0; i < operation_kind_count; i++) {
        const operation_kind_t *kind = &operation_kinds[i];

        for (uint32_t j = 0; kind->features <= features && j < kind->weight; j++) {
            lottery->tickets[lottery->count++] = (uint8_t)i;
        }
    }
    return lottery;
}

static uint8_t
draw_any_kind(const world_t *world, chance_t *chance)
{
    const lottery_t *lottery = lottery_of(world->settings.features);

    return lottery->tickets[chance_below(chance, lottery->count)];
}

/* In every second phase the queues fill, in the others they run empty. */
static uint8_t
draw_kind(const world_t *world, chance_t *chance, uint32_t number)
{
    const settings_t *settings = &world->settings;
    enum flow against = number / settings->phase % 2 == 0 ? FLOW_OUT : FLOW_IN;

    if (settings->closes && !world->closed && number > settings->length - settings->length / 8 &&
        chance_one_in(chance, 16)) {
        return (uint8_t)(operation_kind_count - 1);
    }
    uint8_t kind = draw_any_kind(world, chance);

    for (unsigned i = 0; i < 3 && operation_kinds[kind].flow == against; i++) {
        kind = draw_any_kind(world, chance);
    }
    return kind;
}

/* Most often a pod that is there; else any of the round. */
static uint32_t
draw_life(const world_t *world, chance_t *chance)
{
    const life_t *life = world_named(world, chance_below(chance, world->settings.names));

    if (life != NULL && !chance_one_in(chance, 4)) {
        return life->reference;
    }
    return world->life_count > 0 ? world->lives[chance_below(chance, world->life_count)].reference : NOTHING;
}

/* Most often a token that was not used; else any of the round. */
static uint32_t
draw_cycle(const world_t *world, chance_t *chance)
{
    if (world->open_count > 0 && !chance_one_in(chance, 6)) {
        return world->cycles[world->open[chance_below(chance, world->open_count)]].reference;
    }
    return world->cycle_count > 0 ? world->cycles[chance_below(chance, world->cycle_count)].reference : NOTHING;
}

static void
draw_targets(const world_t *world, chance_t *chance, operation_t *operation)
{
    enum targets targets = operation_kinds[operation->kind].targets;
    bool many = targets == TARGETS_LIVES || targets == TARGETS_CYCLES;
    bool lives = targets == TARGETS_LIFE || targets == TARGETS_LIVES;

    if (targets == TARGETS_NONE) {
        return;
    }
    operation->target_count = (uint8_t)(many ? chance_below(chance, TARGETS_MAX + 1) : 1);
    for (uint32_t i = 0; i < operation->target_count; i++) {
        operation->targets[i] = lives ? draw_life(world, chance) : draw_cycle(world, chance);
    }
    if (operation->target_count > 1 && chance_one_in(chance, 4)) {
        operation->targets[operation->target_count - 1] = operation->targets[0];
    }
}

/* Sometimes the name of a pod in flight, which may be deleted: names come again while their last pod is still there. */
static uint32_t
draw_name(const world_t *world, chance_t *chance)
{
    if (world->open_count > 0 && chance_one_in(chance, 8)) {
        const cycle_t *cycle = &world->cycles[world->open[chance_below(chance, world->open_count)]];

        return world->lives[cycle->life].name;
    }
    return chance_below(chance, world->settings.names);
}

void
generate(const world_t *world, chance_t *chance, uint32_t number, operation_t *operation)
{
    *operation = (operation_t){.random = chance_next(chance),
                               .number = number,
                               .name = draw_name(world, chance),
                               .kind = draw_kind(world, chance, number),
                               .worker = (uint8_t)(number % world->settings.workers)};
    draw_targets(world, chance, operation);
}
