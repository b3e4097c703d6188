/* Command line of schedq-history. */
#ifndef SCHEDQ_HISTORY_OPTIONS_H
#define SCHEDQ_HISTORY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arguments.h"

/* What is special about the queue. */
typedef enum kind_of_queue {
    QUEUE_PLAIN,
    QUEUE_COUNTED,
    QUEUE_CAPPED,
    QUEUE_KUBE,
    QUEUE_HOST
} kind_of_queue_t;

extern const argument_choice_t kinds_of_queue[];

typedef struct options {
    const argument_choice_t *engine;
    unsigned threads;
    uint64_t operations;       /* in all */
    uint32_t round_operations; /* recorded, then checked, at a time */
    uint32_t names;
    uint64_t seed;
    bool perturb;
    kind_of_queue_t queue;
    const char *plant; /* NULL: none */
} options_t;

/** Ends the process with status 2 on bad usage. */
void options_parse(options_t *options, int argc, char **argv);

#endif
