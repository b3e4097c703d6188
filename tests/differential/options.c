/* The options of schedq-fuzz. */
#include "options.h"

#include <string.h>
#include <time.h>

#include "plant.h"
#include "support/arguments.h"

enum { KEY_ROUND = 0x100, KEY_KEEP, KEY_PLANTS, KEY_COVERAGE };

const char *const preset_names[PRESETS_ALL + 1] = {
    "default", "kube-1.37", "kube-1.34", "kube-1.26", "kube-1.12", "host", "all"};

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
    {"hold", FEATURE_HOLD},
    {"groups", FEATURE_GROUPS},
    {"classes", FEATURE_CLASSES | FEATURE_TIME | FEATURE_EVENTS},
    {"nested", FEATURE_NESTED | FEATURE_EVENTS | FEATURE_GATES},
    {"ends", FEATURE_ENDS | FEATURE_TIME | FEATURE_EVENTS | FEATURE_HOLD},
    {"memory", FEATURE_MEMORY | FEATURE_TIME | FEATURE_EVENTS | FEATURE_GATES | FEATURE_NOMINATE |
                   FEATURE_LOOK | FEATURE_HOLD | FEATURE_GROUPS},
    {"host", FEATURE_HOST | FEATURE_TIME | FEATURE_EVENTS | FEATURE_GATES},
    {"core", FEATURE_PODS},
    {"all", FEATURES_ALL},
};

static void
choose_preset(const struct argp_state *state, void *input, char *name)
{
    options_t *options = input;

    for (unsigned i = 0; i <= PRESETS_ALL; i++) {
        if (strcmp(name, preset_names[i]) == 0) {
            options->preset = i;
            return;
        }
    }
    argument_bad(state, "preset", name,
                 "default, kube-1.37, kube-1.34, kube-1.26, kube-1.12, host, all");
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
choose_features(const struct argp_state *state, void *input, char *list)
{
    options_t *options = input;

    options->features = FEATURE_PODS;
    options->features_name = list;
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        unsigned bits = feature_bits(at, length);

        if (bits == 0) {
            argument_bad(state, "features", list,
                         "all, core, and lists of pods, time, events, gates, nominate, look, hold, "
                         "groups, classes, nested, ends, memory, host");
        }
        options->features |= bits;
        at += length;
        if (*at == '\0') {
            return;
        }
    }
}

static void
choose_kept(const struct argp_state *state, void *input, char *list)
{
    options_t *options = input;
    char *rest = list;

    for (char *item = strsep(&rest, ","); item != NULL; item = strsep(&rest, ",")) {
        if (options->keep_count == KEEP_MAX) {
            argument_bad(state, "keep", item, "at most %d operations", KEEP_MAX);
        }
        options->keep[options->keep_count++] =
            (uint32_t)argument_number(state, "keep", item, 0, UINT32_MAX);
    }
}

static void
choose_plant(const struct argp_state *state, void *input, char *name)
{
    options_t *options = input;

    if (strcmp(name, "all") != 0 && plant_find(name) == NULL) {
        argument_bad(state, "plant", name, "all, and what --plants prints");
    }
    options->plant = name;
}

static void
finish(const struct argp_state *state, void *input)
{
    const options_t *options = input;

    if (options->keep_count > 0 && options->round < 0) {
        argp_error(state, "--keep comes alone: legal are --round and --keep");
    }
    if (options->preset == PRESET_HOST && (options->features & FEATURE_HOST) == 0) {
        argument_bad(state, "preset", "host", "others, but with --features host or all");
    }
}

static const argument_t table[] = {
    ARGUMENT_NUMBER(options_t, operations, "operations", 'n', 1, UINT64_C(1000000000000),
                    "how many; 1..10^12, default 1000000"),
    ARGUMENT_NUMBER(options_t, seed, "seed", 's', 0, UINT64_MAX,
                    "of all random choices; default: the time"),
    ARGUMENT_CHOICE(options_t, engine, "engine", 'e', argument_engines,
                    "compared with the mutex engine: lockfree (default) or mutex"),
    ARGUMENT_CALL("preset", 'p', "NAME",
                  "default, kube-1.37, kube-1.34, kube-1.26, kube-1.12, host, or all (default): in "
                  "turn",
                  choose_preset),
    ARGUMENT_CALL("features", 'f', "NAME",
                  "a list of pods, time, events, gates, nominate, look, hold, groups, classes, "
                  "nested, ends, memory, host; all (default); core: pods alone",
                  choose_features),
    ARGUMENT_NUMBER(options_t, workers, "workers", 'w', 1, 16,
                    "workers of each queue, which take turns; 1..16, default: each round draws it"),
    ARGUMENT_CALL("plant", 'P', "NAME",
                  "distort one side; exit status 0 only if it is found; all: each of them",
                  choose_plant),
    ARGUMENT_FLAG(options_t, list_plants, "plants", KEY_PLANTS, "print the names for --plant"),
    ARGUMENT_FLAG(options_t, coverage, "coverage", KEY_COVERAGE,
                  "print how often each outcome happened; exit status 1 if one that has to did "
                  "not; slower"),
    ARGUMENT_NUMBER(options_t, round, "round", KEY_ROUND, 0, INT32_MAX,
                    "only this round of the run"),
    ARGUMENT_CALL("keep", KEY_KEEP, "I,J,..",
                  "with --round: only these of its operations, in this process (for a debugger)",
                  choose_kept),
    ARGUMENTS_END};

static const command_line_t line = {
    .table = table,
    .finish = finish,
    .doc = "Makes the same random public calls to a queue of the mutex engine and to a "
           "queue of another engine and compares "
           "every answer. A difference is shrunk to a short sequence of calls.\v"
           "A run is cut into rounds: each has its own configuration and a new pair of "
           "queues. Exit status: 0 no difference "
           "(with --plant: it was found); 1 a difference, a crash or a call that did not "
           "return (with --plant: not found); "
           "2 bad usage; 130 interrupted."};

void
options_parse(options_t *options, int argc, char **argv)
{
    *options = (options_t){.operations = 1000000,
                           .seed = (uint64_t)time(NULL),
                           .preset = PRESETS_ALL,
                           .engine = argument_engine_default(),
                           .features = FEATURES_ALL,
                           .features_name = "all",
                           .round = -1};
    arguments_read(&line, argc, argv, options);
}
