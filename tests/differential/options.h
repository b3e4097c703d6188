/* What the command line asks for. */
#ifndef DIFFERENTIAL_OPTIONS_H
#define DIFFERENTIAL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define PRESETS_ALL 4 /* presets 0..3 are those of preset_names; this one takes them in turn */
#define KEEP_MAX 4096

enum features { FEATURES_CORE = 1, FEATURES_ALL = 2 };

typedef struct options {
    uint64_t operations;
    uint64_t seed;
    uint8_t engine; /* config.engine */
    const char *engine_name;
    unsigned preset;
    enum features features;
    const char *plant; /* NULL: none; a name that the list of plants has, or "all" */
    uint32_t workers;
    int64_t round; /* -1: all */
    uint32_t keep[KEEP_MAX];
    uint32_t keep_count;
    bool list_plants;
} options_t;

extern const char *const preset_names[PRESETS_ALL + 1];

void options_parse(options_t *options, int argc, char **argv);

#endif
