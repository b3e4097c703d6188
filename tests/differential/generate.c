/*
 * What operations there are and how often.
 *
 * A new public call gets a run_ function, a line here, and the fields of its answer in fields.c.
 */
#include "generate.h"

#define LOTTERY_MAX 4096 /* more than the sum of all weights */
/* Where pods are alike, they are parked so much more often than anything else happens to them. */
#define CROWD 16

const operation_kind_t operation_kinds[] = {
    {"add", 240, FEATURE_PODS, MODE_ANY, FLOW_IN, TARGETS_NAME, run_add},
    {"add-many", 30, FEATURE_PODS, MODE_ANY, FLOW_IN, TARGETS_NONE, run_add_many},
    {"update", 90, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NAME, run_update},
    {"bad-spec", 10, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_bad_spec},
    {"try-pop", 160, FEATURE_PODS, MODE_ANY, FLOW_OUT, TARGETS_NONE, run_try_pop},
    {"pop", 20, FEATURE_PODS, MODE_ANY, FLOW_OUT, TARGETS_NONE, run_pop},
    {"pop-many", 20, FEATURE_PODS, MODE_ANY, FLOW_OUT, TARGETS_NONE, run_pop_many},
    {"cancel", 6, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_cancel},
    {"descriptor", 20, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_descriptor},
    {"done", 170, FEATURE_PODS, MODE_ANY, FLOW_OUT, TARGETS_CYCLE, run_done},
    {"done-many", 25, FEATURE_PODS, MODE_ANY, FLOW_OUT, TARGETS_CYCLES, run_done_many},
    {"done-alone", 15, FEATURE_PODS, MODE_ANY, FLOW_OUT, TARGETS_CYCLE, run_done_alone},
    {"token-alive", 30, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_CYCLE, run_token_alive},
    {"forged-token", 6, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_forged_token},
    {"delete-name", 35, FEATURE_PODS, MODE_ANY, FLOW_OUT, TARGETS_NAME, run_delete_name},
    {"delete-handle", 35, FEATURE_PODS, MODE_ANY, FLOW_OUT, TARGETS_LIFE, run_delete_handle},
    {"find", 50, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NAME, run_find},
    {"get", 40, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_LIFE, run_get},
    {"position", 20, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_LIFE, run_position},
    {"explain", 30, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_LIFE, run_explain},
    {"reasons", 4, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_reasons},
    {"peek", 20, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_peek},
    {"peek-many", 6, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_peek_many},
    {"forged-handle", 6, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_forged_handle},
    {"activate", 20, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_LIVES, run_activate},
    {"clock", 40, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_clock},
    {"tick", 12, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_tick},
    {"stats", 4, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_stats},
    {"reserve", 1, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_reserve},
    {"trim", 1, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_trim},
    {"reregister", 3, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_reregister},
    {"extra-worker", 2, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_extra_worker},
    {"adopt", 2, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_adopt},
    {"fail", 220, FEATURE_TIME | FEATURE_EVENTS, MODE_ANY, FLOW_NONE, TARGETS_CYCLE, run_fail},
    {"readd", 25, FEATURE_TIME | FEATURE_EVENTS, MODE_ANY, FLOW_IN, TARGETS_NAME, run_readd},
    {"jump", 25, FEATURE_TIME, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_jump},
    {"timer", 1, FEATURE_TIME, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_timer},
    {"move", 80, FEATURE_EVENTS, MODE_CALLBACKS, FLOW_NONE, TARGETS_NONE, run_move},
    {"storm", 2, FEATURE_EVENTS, MODE_CALLBACKS, FLOW_NONE, TARGETS_NONE, run_storm},
    {"define-event", 4, FEATURE_EVENTS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_define_event},
    {"event-plugins", 6, FEATURE_EVENTS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_event_plugins},
    {"late-name", 6, FEATURE_EVENTS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_late_name},
    {"late-setup", 1, FEATURE_EVENTS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_late_setup},
    {"gates", 12, FEATURE_GATES, MODE_CALLBACKS, FLOW_NONE, TARGETS_NONE, run_gates},
    {"nominate", 20, FEATURE_NOMINATE, MODE_ANY, FLOW_NONE, TARGETS_LIFE, run_nominate},
    {"nominated", 4, FEATURE_NOMINATE, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_nominated},
    {"hold", 30, FEATURE_HOLD, MODE_ANY, FLOW_NONE, TARGETS_LIFE, run_hold},
    {"release", 40, FEATURE_HOLD, MODE_ANY, FLOW_NONE, TARGETS_LIFE, run_release},
    {"not-before", 20, FEATURE_HOLD, MODE_ANY, FLOW_NONE, TARGETS_LIFE, run_not_before},
    {"label", 30, FEATURE_HOLD, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_label},
    {"group", 90, FEATURE_GROUPS, MODE_CALLBACKS, FLOW_NONE, TARGETS_NAME, run_group},
    {"pop-group", 120, FEATURE_GROUPS, MODE_CALLBACKS, FLOW_OUT, TARGETS_NONE, run_pop_group},
    {"group-done", 60, FEATURE_GROUPS, MODE_CALLBACKS, FLOW_NONE, TARGETS_NAME, run_group_done},
    {"snapshot", 1, FEATURE_LOOK, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_snapshot},
    {"watch", 6, FEATURE_LOOK, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_watch},
    {"metrics", 1, FEATURE_LOOK, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_metrics},
    {"event-begin", 30, FEATURE_HOST, MODE_HOST, FLOW_NONE, TARGETS_NONE, run_event_begin},
    {"event-stamp", 30, FEATURE_HOST, MODE_HOST, FLOW_NONE, TARGETS_NONE, run_event_stamp},
    {"candidates", 8, FEATURE_HOST, MODE_HOST, FLOW_NONE, TARGETS_NONE, run_candidates},
    {"apply", 150, FEATURE_HOST, MODE_HOST, FLOW_NONE, TARGETS_LIFE, run_apply},
    {"apply-many", 40, FEATURE_HOST, MODE_HOST, FLOW_NONE, TARGETS_LIVES, run_apply_many},
    {"apply-walk", 4, FEATURE_HOST, MODE_HOST, FLOW_NONE, TARGETS_NONE, run_apply_walk},
    {"close", 0, FEATURE_PODS, MODE_ANY, FLOW_NONE, TARGETS_NONE, run_close}, /* see draw_kind */
};

const uint32_t operation_kind_count = sizeof operation_kinds / sizeof *operation_kinds;

/* A kind as often as its weight says. */
typedef struct lottery {
    uint8_t tickets[LOTTERY_MAX];
    uint32_t count;
} lottery_t;

/* Does it bring pods to where they wait for events, or to the way there? */
static bool
parks(const operation_kind_t *kind)
{
    return kind->run == run_add || kind->run == run_try_pop || kind->run == run_fail;
}

static uint32_t
weight_of(const operation_kind_t *kind, const settings_t *settings)
{
    bool refused = kind->mode == (settings->host ? MODE_CALLBACKS : MODE_HOST);

    if (!settings_have(settings, kind->features)) {
        return 0;
    }
    if (settings->alike && !parks(kind)) {
        return kind->weight > 0 ? 1 + kind->weight / CROWD : 0;
    }
    return refused && kind->weight > 1 ? 1 : kind->weight;
}

/* All rounds of a process have the same features. */
static const lottery_t *
lottery_of(const settings_t *settings)
{
    static lottery_t lotteries[3];
    lottery_t *lottery = &lotteries[settings->host ? 1 : settings->alike ? 2 : 0];

    if (lottery->count > 0) {
        return lottery;
    }
    for (uint32_t i = 0; i < operation_kind_count; i++) {
        for (uint32_t left = weight_of(&operation_kinds[i], settings); left > 0; left--) {
            lottery->tickets[lottery->count++] = (uint8_t)i;
        }
    }
    return lottery;
}

static uint8_t
draw_any_kind(const world_t *world, chance_t *chance)
{
    const lottery_t *lottery = lottery_of(&world->settings);

    return lottery->tickets[chance_below(chance, lottery->count)];
}

/* Tokens are used when enough pods are in flight. */
static bool
lacks_flights(const world_t *world, uint8_t kind)
{
    enum targets targets = operation_kinds[kind].targets;

    return (targets == TARGETS_CYCLE || targets == TARGETS_CYCLES) &&
           world->settings.features != FEATURE_PODS && world->open_count <= world->settings.flight;
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

    for (unsigned i = 0;
         i < 3 && (operation_kinds[kind].flow == against || lacks_flights(world, kind)); i++) {
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
    return world->life_count > 0 ? world->lives[chance_below(chance, world->life_count)].reference
                                 : NOTHING;
}

/* [host] Most often one that waited when it was last heard of. */
static uint32_t
draw_waiting(const world_t *world, chance_t *chance)
{
    for (unsigned i = 0; i < 12; i++) {
        const life_t *life = world_named(world, chance_below(chance, world->settings.names));

        if (life != NULL && life->waits) {
            return life->reference;
        }
    }
    return draw_life(world, chance);
}

/* Most often a token that was not used; else any of the round. */
static uint32_t
draw_cycle(const world_t *world, chance_t *chance)
{
    if (world->open_count > 0 && !chance_one_in(chance, 6)) {
        return world->cycles[world->open[chance_below(chance, world->open_count)]].reference;
    }
    return world->cycle_count > 0
               ? world->cycles[chance_below(chance, world->cycle_count)].reference
               : NOTHING;
}

/* Sometimes that of a pod that was deleted in flight, if one is met. */
static uint32_t
draw_guest(const world_t *world, chance_t *chance)
{
    for (unsigned i = 0; i < 8 && world->open_count > 0; i++) {
        const cycle_t *cycle = &world->cycles[world->open[chance_below(chance, world->open_count)]];
        const life_t *life = &world->lives[cycle->life];

        if (world_named(world, life->name) != life) {
            return cycle->reference;
        }
    }
    return draw_cycle(world, chance);
}

static void
draw_targets(const world_t *world, chance_t *chance, operation_t *operation)
{
    enum targets targets = operation_kinds[operation->kind].targets;
    bool many = targets == TARGETS_LIVES || targets == TARGETS_CYCLES;
    bool lives = targets == TARGETS_LIFE || targets == TARGETS_LIVES;
    bool waiting = operation_kinds[operation->kind].mode == MODE_HOST;

    if (targets == TARGETS_NONE || targets == TARGETS_NAME) {
        return;
    }
    operation->target_count = (uint8_t)(many ? chance_below(chance, TARGETS_MAX + 1) : 1);
    for (uint32_t i = 0; i < operation->target_count; i++) {
        operation->targets[i] = !lives    ? draw_cycle(world, chance)
                                : waiting ? draw_waiting(world, chance)
                                          : draw_life(world, chance);
    }
    if (operation->target_count > 1 && chance_one_in(chance, 4)) {
        operation->targets[operation->target_count - 1] = operation->targets[0];
    }
}

/*
 * Sometimes the name of a pod in flight, which may be deleted: names come again while their last
 * pod is still there.
 */
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
    operation->guest =
        settings_have(&world->settings, FEATURE_NESTED) ? draw_guest(world, chance) : NOTHING;
}
