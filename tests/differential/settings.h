/*
 * What holds for a whole round: the configuration of both queues, and what its operations look
 * like.
 */
#ifndef DIFFERENTIAL_SETTINGS_H
#define DIFFERENTIAL_SETTINGS_H

#include <schedq/schedq.h>

#include "chance.h"
#include "options.h"

#define ROUND_OPERATIONS_MAX 131072
#define WORKERS_MAX 17 /* one more than are ever registered at a time */
#define NAMES_OF_LONG_ROUNDS 32768

enum priorities {
    PRIORITIES_ONE,     /* all the same */
    PRIORITIES_FEW,     /* 0..3 */
    PRIORITIES_CLASSES, /* those of a cluster, and the ends of the range */
    PRIORITIES_MANY,    /* 0..499 */
    PRIORITIES_ANY,     /* any 32 bits */
    PRIORITIES_OWN      /* each pod has its own: order keys and Timestamps tell nothing */
};

typedef struct settings {
    schedq_config_t config; /* without engine, clock context and object context */
    const char *preset;
    uint64_t seed; /* of the round */
    uint64_t number;
    uint32_t length;  /* operations */
    uint32_t names;   /* pods have the numbers below */
    uint32_t workers; /* of each queue */
    uint32_t flight;  /* about as many pods are in flight, if there are so many */
    uint32_t phase;   /* operations until the mixture changes */
    enum priorities priorities;
    unsigned features; /* of enum features */
    bool host;         /* config.decide */
    /* no callback is there to be asked, and there are few sets of rejectors: many pods are alike */
    bool alike;
    /* at its end everything is popped and done; else the queues end with what is in them */
    bool drains;
    bool closes; /* the queues are closed at some time */
} settings_t;

static inline bool
settings_have(const settings_t *settings, unsigned features)
{
    return (settings->features & features) != 0;
}

void settings_draw(settings_t *settings, const options_t *options, uint64_t round,
                   uint64_t operations_left);

#endif
