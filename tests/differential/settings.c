/* Draws a round: most are short, so that many configurations are met; some are long, so that tables grow. */
#include "settings.h"

static const schedq_preset_t presets[PRESETS_ALL] = {SCHEDQ_PRESET_DEFAULT, SCHEDQ_PRESET_KUBE_1_34,
                                                     SCHEDQ_PRESET_KUBE_1_26, SCHEDQ_PRESET_KUBE_1_12};

/* About as likely in each power of two from 2^low to 2^high. */
static uint32_t
some_scale(chance_t *chance, uint32_t low, uint32_t high)
{
    uint32_t base = 1U << (low + chance_below(chance, high - low + 1));

    return base + chance_below(chance, base);
}

static void
draw_caps(schedq_config_t *config, chance_t *chance, uint32_t names)
{
    static const uint32_t bands[] = {1, 2, 3, 8, 64};

    if (chance_one_in(chance, 3)) {
        config->max_pods = chance_one_in(chance, 8) ? 0 : 1 + (chance_below(chance, names) >> chance_below(chance, 4));
    }
    if (chance_one_in(chance, 3)) {
        config->max_bands = chance_one_in(chance, 8) ? 0 : CHANCE_OF(chance, bands);
    }
}

static void
draw_config(settings_t *settings, const options_t *options, chance_t *chance)
{
    schedq_config_t *config = &settings->config;
    unsigned preset = options->preset < PRESETS_ALL ? options->preset : (unsigned)(settings->number % PRESETS_ALL);

    (void)schedq_config_preset(config, sizeof *config, presets[preset]);
    settings->preset = preset_names[preset];
    draw_caps(config, chance, settings->names);
    config->max_workers = settings->workers + chance_below(chance, 2);
    config->objects = (uint8_t)chance_below(chance, 3);
    config->fifo = chance_one_in(chance, 6);
    config->external_clock = chance_one_in(chance, 2);
    config->count_cycles = chance_one_in(chance, 3);
    if (settings->features == FEATURES_ALL) {
        config->keep_order = chance_one_in(chance, 4);
        config->event_log = chance_one_in(chance, 2) ? 16 : config->event_log;
        config->max_lots = chance_one_in(chance, 2) ? 2 : config->max_lots;
    }
}

void
settings_draw(settings_t *settings, const options_t *options, uint64_t round, uint64_t operations_left)
{
    chance_t chance = {chance_mix(options->seed) ^ chance_mix(round + 1)};

    *settings = (settings_t){.seed = chance_next(&chance), .number = round, .features = options->features};
    settings->length = chance_one_in(&chance, 24) ? ROUND_OPERATIONS_MAX : some_scale(&chance, 6, 15);
    if (settings->length > operations_left) {
        settings->length = (uint32_t)operations_left;
    }
    settings->names = settings->length == ROUND_OPERATIONS_MAX ? NAMES_OF_LONG_ROUNDS : some_scale(&chance, 2, 11);
    settings->workers = options->workers != 0 ? options->workers : 1 + chance_below(&chance, 4);
    settings->phase = some_scale(&chance, 5, 14);
    settings->priorities = (enum priorities)chance_below(&chance, PRIORITIES_ANY + 1);
    settings->drains = !chance_one_in(&chance, 3);
    settings->closes = chance_one_in(&chance, 4);
    draw_config(settings, options, &chance);
}
