/* Options by argp. Every refusal names the value and what is legal. */
#include "options.h"

#include <string.h>
#include <time.h>

#include "plant.h"
#include "support/arguments.h"

enum { KEY_ROUND = 0x100, KEY_KEEP, KEY_PLANTS, KEY_COVERAGE };

const char *const preset_names[PRESETS_ALL + 1] = {"default",   "kube-1.34", "kube-1.26",
                                                   "kube-1.12", "host",      "all"};

static const struct {
    const char *name;
    unsigned features;
} features[] = {
    {"pods", FEATURE_PODS},
    {"time", FEATURE_TIME},
    {"events", FEATURE_EVENTS},
    {"gates", FEATURE_GATES},
    {"nominate", FEATURE_NOMINATE},
    {"look", FEATURE_LOOK},
    {"host", FEATURE_HOST | FEATURE_TIME | FEATURE_EVENTS | FEATURE_GATES},
    {"core", FEATURE_PODS},
    {"all", FEATURES_ALL},
};

static const struct argp_option known[] = {
    {"operations", 'n', "N", 0, "how many; 1..10^12, default 1000000", 0},
    {"seed", 's', "S", 0, "of all random choices; default: the time", 0},
    {"engine", 'e', "NAME", 0, "compared with the mutex engine: lockfree (default) or mutex", 0},
    {"preset", 'p', "NAME", 0,
     "default, kube-1.34, kube-1.26, kube-1.12, host, or all (default): in turn", 0},
    {"features", 'f', "NAME", 0,
     "a list of pods, time, events, gates, nominate, look, host; all (default); core: pods alone",
     0},
    {"workers", 'w', "N", 0,
     "workers of each queue, which take turns; 1..16, default: each round draws it", 0},
    {"plant", 'P', "NAME", 0,
     "distort one side; exit status 0 only if it is found; all: each of them", 0},
    {"plants", KEY_PLANTS, 0, 0, "print the names for --plant", 0},
    {"coverage", KEY_COVERAGE, 0, 0,
     "print how often each outcome happened; exit status 1 if one that has to did not; slower", 0},
    {"round", KEY_ROUND, "R", 0, "only this round of the run", 0},
    {"keep", KEY_KEEP, "I,J,..", 0,
     "with --round: only these of its operations, in this process (for a debugger)", 0},
    {0},
};

static void
choose_engine(options_t *options, const argument_choice_t *engine)
{
    options->engine = (uint8_t)engine->value;
    options->engine_name = engine->name;
}

static void
choose_preset(struct argp_state *state, options_t *options, const char *name)
{
    for (unsigned i = 0; i <= PRESETS_ALL; i++) {
        if (strcmp(name, preset_names[i]) == 0) {
            options->preset = i;
            return;
        }
    }
    argument_bad(state, "preset", name, "default, kube-1.34, kube-1.26, kube-1.12, host, all");
}

static unsigned
feature_bits(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (strlen(features[i].name) == length && strncmp(name, features[i].name, length) == 0) {
            return features[i].features;
        }
    }
    return 0;
}

static void
choose_features(struct argp_state *state, options_t *options, const char *list)
{
    options->features = FEATURE_PODS;
    options->features_name = list;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        unsigned bits = feature_bits(at, length);

        if (bits == 0) {
            argument_bad(state, "features", list,
                         "all, core, and lists of pods, time, events, gates, nominate, look, host");
        }
        options->features |= bits;
        at += length;
        if (*at == '\0') {
            return;
        }
    }
}

static void
choose_kept(struct argp_state *state, options_t *options, char *list)
{
    char *rest = list;

    for (char *item = strsep(&rest, ","); item != NULL; item = strsep(&rest, ",")) {
        if (options->keep_count == KEEP_MAX) {
            argument_bad(state, "keep", item, "at most %d operations", KEEP_MAX);
        }
        options->keep[options->keep_count++] =
            (uint32_t)argument_number(state, "keep", item, 0, UINT32_MAX);
    }
}

static error_t
parse_option(int key, char *argument, struct argp_state *state)
{
    options_t *options = state->input;

    switch (key) {
    case 'n':
        options->operations =
            argument_number(state, "operations", argument, 1, UINT64_C(1000000000000));
        return 0;
    case 's':
        options->seed = argument_number(state, "seed", argument, 0, UINT64_MAX);
        return 0;
    case 'e':
        choose_engine(options, argument_choice(state, "engine", argument, argument_engines));
        return 0;
    case 'p':
        choose_preset(state, options, argument);
        return 0;
    case 'f':
        choose_features(state, options, argument);
        return 0;
    case 'w':
        options->workers = (uint32_t)argument_number(state, "workers", argument, 1, 16);
        return 0;
    case 'P':
        if (strcmp(argument, "all") != 0 && plant_find(argument) == NULL) {
            argument_bad(state, "plant", argument, "all, and what --plants prints");
        }
        options->plant = argument;
        return 0;
    case KEY_PLANTS:
        options->list_plants = true;
        return 0;
    case KEY_COVERAGE:
        options->coverage = true;
        return 0;
    case KEY_ROUND:
        options->round = (int64_t)argument_number(state, "round", argument, 0, INT32_MAX);
        return 0;
    case KEY_KEEP:
        choose_kept(state, options, argument);
        return 0;
    case ARGP_KEY_ARG:
        argument_unexpected(state, argument);
        return 0;
    case ARGP_KEY_END:
        if (options->keep_count > 0 && options->round < 0) {
            argp_error(state, "--keep comes alone: legal are --round and --keep");
        }
        if (options->preset == PRESET_HOST && (options->features & FEATURE_HOST) == 0) {
            argument_bad(state, "preset", "host", "others, but with --features host or all");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void
options_parse(options_t *options, int argc, char **argv)
{
    static const struct argp parser = {
        known,
        parse_option,
        NULL,
        "Makes the same random public calls to a queue of the mutex engine and to a "
        "queue of another engine and compares "
        "every answer. A difference is shrunk to a short sequence of calls.\v"
        "A run is cut into rounds: each has its own configuration and a new pair of "
        "queues. Exit status: 0 no difference "
        "(with --plant: it was found); 1 a difference, a crash or a call that did not "
        "return (with --plant: not found); "
        "2 bad usage.",
        NULL,
        NULL,
        NULL};

    *options = (options_t){.operations = 1000000,
                           .seed = (uint64_t)time(NULL),
                           .preset = PRESETS_ALL,
                           .features = FEATURES_ALL,
                           .features_name = "all",
                           .round = -1};
    choose_engine(options, argument_engine_default());
    arguments_parse(&parser, argc, argv, options);
}
