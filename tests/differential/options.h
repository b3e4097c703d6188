/* What the command line asks for. */
#ifndef DIFFERENTIAL_OPTIONS_H
#define DIFFERENTIAL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arguments.h"

#define PRESET_HOST 5
#define PRESETS_ALL 6 /* presets 0..5 are those of preset_names; this one takes them in turn */
#define KEEP_MAX 4096

/* What the calls make use of: an engine that lacks something can be compared in the rest. */
enum features {
    FEATURE_PODS = 1,   /* they are active or in flight */
    FEATURE_TIME = 2,   /* errors, backoff, the leftover limit */
    FEATURE_EVENTS = 4, /* plugins, parking, moves */
    FEATURE_GATES = 8,  /* PreEnqueue */
    FEATURE_NOMINATE = 16,
    FEATURE_LOOK = 32, /* snapshot, metrics */
    FEATURE_HOST = 64, /* the host decides: candidates, apply */
    FEATURE_HOLD = 128,
    FEATURE_GROUPS = 256, /* pods that are tried together; not where the host decides */
    FEATURE_CLASSES = 512,
    FEATURE_NESTED = 1024, /* callbacks call the queue; pre-queueing hints, wake-ups of a host */
    FEATURE_ENDS = 2048,   /* times near the ends of what an int64_t holds */
    FEATURE_MEMORY = 4096, /* of the second mutex engine, runs out: lack.h */
    FEATURES_ALL = 8191
};

typedef struct options {
    uint64_t operations;
    uint64_t seed;
    const argument_choice_t *engine;
    unsigned preset;
    unsigned features; /* of enum features */
    const char *features_name;
    const char *plant; /* NULL: none; a name that the list of plants has, or "all" */
    uint32_t workers;
    int64_t round; /* -1: all */
    uint32_t keep[KEEP_MAX];
    uint32_t keep_count;
    bool list_plants;
    /* counts how often each outcome happened, and fails if one that has to did not */
    bool coverage;
} options_t;

extern const char *const preset_names[PRESETS_ALL + 1];

void options_parse(options_t *options, int argc, char **argv);

#endif
