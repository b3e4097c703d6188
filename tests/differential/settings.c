/*
 * Draws a round: most are short, so that many configurations are met; some are long, so that tables
 * grow.
 */
#include "settings.h"

#include "spec.h"

/* So that a short run is not one long round. */
#define LONG_EVERY 256

/* One in so many rounds. */
#define ALIKE_EVERY 4

#define HOUR_NS INT64_C(3600000000000)
#define DAY_NS (24 * HOUR_NS)

static const schedq_preset_t presets[] = {SCHEDQ_PRESET_DEFAULT, SCHEDQ_PRESET_KUBE_1_37,
                                          SCHEDQ_PRESET_KUBE_1_34, SCHEDQ_PRESET_KUBE_1_26,
                                          SCHEDQ_PRESET_KUBE_1_12};

/* About as likely in each power of two from 2^low to 2^high. */
static uint32_t
some_scale(chance_t *chance, uint32_t low, uint32_t high)
{
    uint32_t base = 1U << (low + chance_below(chance, high - low + 1));

    return base + chance_below(chance, base);
}

static void
draw_caps(schedq_config_t *config, chance_t *chance, uint32_t names, uint32_t one_in)
{
    static const uint32_t bands[] = {1, 2, 3, 8, 64};

    if (chance_one_in(chance, one_in)) {
        config->max_pods = chance_one_in(chance, 8)
                               ? 0
                               : 1 + (chance_below(chance, names) >> chance_below(chance, 4));
    }
    if (chance_one_in(chance, one_in)) {
        config->max_bands = chance_one_in(chance, 8) ? 0 : CHANCE_OF(chance, bands);
    }
}

/* Backoffs of whole units of the clock end at readings that it can show; others do not. */
static void
draw_times(schedq_config_t *config, chance_t *chance)
{
    if (chance_one_in(chance, 2)) {
        config->initial_backoff_ns = (int64_t)(1 + chance_below(chance, 2000)) << CLOCK_BITS;
        config->max_backoff_ns = chance_one_in(chance, 8)
                                     ? 0
                                     : (config->initial_backoff_ns << chance_below(chance, 6)) >>
                                           (chance_one_in(chance, 8) ? 1 : 0);
    }
    if (config->max_backoff_ns != 0 && config->max_backoff_ns < INT64_C(1) << CLOCK_BITS) {
        config->max_backoff_ns = INT64_C(1) << CLOCK_BITS;
    }
    if (chance_one_in(chance, 2)) {
        config->max_parked_ns =
            (int64_t)(1 + (chance_below(chance, 4000) >> chance_below(chance, 8))) << CLOCK_BITS;
    }
}

/* What the presets set, anybody may. */
static void
draw_behaviour(schedq_config_t *config, chance_t *chance)
{
    static const uint8_t kube_minors[] = {0, 12, 26, 34, 37};

    config->keep_order = chance_one_in(chance, 4);
    config->requeue ^= chance_one_in(chance, 12);
    config->pop_from_backoff ^= chance_one_in(chance, 4);
    config->backoff_window ^= chance_one_in(chance, 8);
    config->backoff_at_expiry ^= chance_one_in(chance, 8);
    config->backoff_counts ^= chance_one_in(chance, 8);
    config->errors_park ^= chance_one_in(chance, 8);
    config->gates_see_wildcards ^= chance_one_in(chance, 8);
    if (chance_one_in(chance, 12)) {
        config->kube_minor = CHANCE_OF(chance, kube_minors);
    }
    if (config->kube_minor != 0 && chance_one_in(chance, 2)) {
        config->flush_ns = (int64_t)(1 + chance_below(chance, 1 << chance_below(chance, 12)))
                           << CLOCK_BITS;
    }
}

static void
draw_event_caps(schedq_config_t *config, chance_t *chance)
{
    static const uint32_t logs[] = {0, 1, 2, 16, 64};
    static const uint32_t lots[] = {1, 2, 8};
    static const uint32_t kinds[] = {0, SCHEDQ_EVENT_FIRST_FREE - 1, SCHEDQ_EVENT_FIRST_FREE + 2};

    if (chance_one_in(chance, 2)) {
        config->event_log = CHANCE_OF(chance, logs);
    }
    if (chance_one_in(chance, 2)) {
        config->max_lots = CHANCE_OF(chance, lots);
    }
    if (chance_one_in(chance, 2)) {
        config->max_events = CHANCE_OF(chance, kinds);
    }
}

/* The kube presets have none, most often. */
static void
draw_patience(schedq_config_t *config, const settings_t *settings, chance_t *chance)
{
    if (settings_have(settings, FEATURE_CLASSES) && !chance_one_in(chance, 4)) {
        config->class_patience_ns =
            (1 + (int64_t)chance_below(chance, 8)) * config->initial_backoff_ns;
    }
}

/* What the round makes no use of must not come about by itself. */
static void
leave_out_features(schedq_config_t *config, const settings_t *settings)
{
    if (!settings_have(settings, FEATURE_TIME)) {
        config->max_backoff_ns = 0;
        config->max_parked_ns = 365 * DAY_NS;
    }
    if (!settings_have(settings, FEATURE_EVENTS)) {
        config->errors_park = 0;
    }
}

static unsigned
preset_of(const settings_t *settings, const options_t *options)
{
    unsigned in_turn = settings_have(settings, FEATURE_HOST) ? PRESETS_ALL : PRESET_HOST;

    return options->preset < PRESETS_ALL ? options->preset : (unsigned)(settings->number % in_turn);
}

static void
draw_config(settings_t *settings, const options_t *options, chance_t *chance)
{
    schedq_config_t *config = &settings->config;
    unsigned preset = preset_of(settings, options);
    unsigned based_on = chance_below(chance, PRESET_HOST);

    *config = (schedq_config_t)SCHEDQ_CONFIG_INIT;
    (void)schedq_config_preset(config, presets[preset < PRESET_HOST ? preset : based_on]);
    settings->preset = preset_names[preset];
    settings->host = preset == PRESET_HOST;
    draw_caps(config, chance, settings->names, settings->features == FEATURE_PODS ? 3 : 8);
    config->max_workers = settings->workers + chance_below(chance, 2);
    config->objects = (uint8_t)chance_below(chance, 3);
    config->fifo = chance_one_in(chance, 6);
    config->external_clock = chance_one_in(chance, 2);
    config->count_cycles = chance_one_in(chance, 3);
    if (settings->features != FEATURE_PODS) {
        draw_behaviour(config, chance);
        draw_times(config, chance);
        draw_event_caps(config, chance);
        draw_patience(config, settings, chance);
        leave_out_features(config, settings);
    }
    if (settings->host) {
        config->decide = SCHEDQ_DECIDE_HOST;
        config->objects = SCHEDQ_OBJECTS_STABLE;
    }
}

/* A pod that has a class is no guest of nest.h. */
static void
draw_nested(settings_t *settings, chance_t *chance)
{
    if (!settings_have(settings, FEATURE_NESTED)) {
        return;
    }
    if (chance_one_in(chance, 2)) {
        settings->features &= ~(unsigned)FEATURE_NESTED;
        return;
    }
    settings->config.pre_queueing_hints = chance_one_in(chance, 2);
    if (!chance_one_in(chance, 4)) {
        settings->config.class_patience_ns = 0;
    }
}

/* The clock cannot tell pods apart by the bits that spec.h speaks of, so their priorities do. */
static void
draw_ends(settings_t *settings, chance_t *chance)
{
    static const int64_t shortest = 1000000, longest_backoff[] = {HOUR_NS, DAY_NS};
    schedq_config_t *config = &settings->config;

    if (!settings_have(settings, FEATURE_ENDS)) {
        return;
    }
    if (!chance_one_in(chance, 4)) {
        settings->features &= ~(unsigned)FEATURE_ENDS;
        return;
    }
    settings->priorities = PRIORITIES_OWN;
    settings->names = settings->names > 512 ? 512 : settings->names;
    config->fifo = 0;
    config->max_bands = 0;
    if (chance_one_in(chance, 2)) {
        config->initial_backoff_ns = chance_one_in(chance, 2) ? shortest : HOUR_NS;
        config->max_backoff_ns = chance_one_in(chance, 3) ? 0 : CHANCE_OF(chance, longest_backoff);
    }
    if (chance_one_in(chance, 2)) {
        config->max_parked_ns = chance_one_in(chance, 2) ? shortest : 365 * DAY_NS;
    }
    if (config->kube_minor != 0 && chance_one_in(chance, 2)) {
        config->flush_ns = chance_one_in(chance, 2) ? shortest : HOUR_NS;
    }
    if (config->class_patience_ns != 0 && chance_one_in(chance, 2)) {
        config->class_patience_ns = chance_one_in(chance, 2) ? shortest : 365 * DAY_NS;
    }
}

/* What a class or a pre-queueing hint does, it leaves undone without memory. */
static void
draw_memory(settings_t *settings, const options_t *options, chance_t *chance)
{
    if (!settings_have(settings, FEATURE_MEMORY)) {
        return;
    }
    if (options->engine->value != SCHEDQ_ENGINE_MUTEX || chance_one_in(chance, 2)) {
        settings->features &= ~(unsigned)FEATURE_MEMORY;
        return;
    }
    settings->features &= ~(unsigned)FEATURE_NESTED;
    settings->config.class_patience_ns = 0;
    settings->config.pre_queueing_hints = 0;
}

void
settings_draw(settings_t *settings, const options_t *options, uint64_t round,
              uint64_t operations_left)
{
    chance_t chance = {chance_mix(options->seed) ^ chance_mix(round + 1)};

    *settings =
        (settings_t){.seed = chance_next(&chance), .number = round, .features = options->features};
    bool pods_alone = settings->features == FEATURE_PODS;

    bool is_long = pods_alone ? chance_one_in(&chance, 24) : round % LONG_EVERY == LONG_EVERY - 1;

    settings->length =
        is_long ? ROUND_OPERATIONS_MAX : some_scale(&chance, 6, pods_alone ? 15 : 11);
    if (settings->length > operations_left) {
        settings->length = (uint32_t)operations_left;
    }
    settings->names = settings->length == ROUND_OPERATIONS_MAX
                          ? NAMES_OF_LONG_ROUNDS
                          : some_scale(&chance, 2, pods_alone ? 11 : 9);
    settings->workers = options->workers != 0 ? options->workers : 1 + chance_below(&chance, 4);
    settings->flight =
        pods_alone || chance_one_in(&chance, 4) ? 0 : chance_below(&chance, 1 + settings->names);
    settings->phase = some_scale(&chance, 5, 14);
    settings->priorities = (enum priorities)chance_below(&chance, PRIORITIES_ANY + 1);
    settings->drains = !chance_one_in(&chance, 3);
    settings->closes = chance_one_in(&chance, 4);
    draw_config(settings, options, &chance);
    settings->alike = settings_have(settings, FEATURE_EVENTS) && !settings->host &&
                      chance_one_in(&chance, ALIKE_EVERY);
    if (settings->alike) {
        settings->names = some_scale(&chance, 6, 9);
        settings->flight = 0;
        settings->features &= FEATURE_PODS | FEATURE_TIME | FEATURE_EVENTS | FEATURE_LOOK;
        settings->priorities = (enum priorities)chance_below(&chance, PRIORITIES_FEW + 1);
    }
    draw_nested(settings, &chance);
    draw_ends(settings, &chance);
    draw_memory(settings, options, &chance);
}
