/*
 * The engines that can be put under stress, and what each of them has.
 *
 * The mix of calls follows from that alone: every choice between calls names what it needs
 * (actor_choose), and no other code asks which engine runs.
 */
#ifndef SCHEDQ_STRESS_ENGINES_H
#define SCHEDQ_STRESS_ENGINES_H

#include <argp.h>
#include <stdint.h>

/* What a call may need that not every engine has. */
enum {
    NEEDS_NOTHING = 0,
    NEEDS_WAITING = 1,     /* parking and backoff: add_unschedulable, readd, and pods that wait */
    NEEDS_EVENTS = 2,      /* plugins, gates, moves */
    NEEDS_NOMINATIONS = 4, /* nominate, nominated_pods, and nominations of specs */
    NEEDS_WALKS = 8,       /* snapshot and metrics */
    NEEDS_TIMER = 16,      /* schedq_run */
    NEEDS_EVERYTHING = 31
};

typedef struct engine {
    const char *name;
    uint8_t number; /* SCHEDQ_ENGINE_ */
    unsigned has;   /* NEEDS_ bits */
} engine_t;

/** NULL: there is no engine of that name. */
const engine_t *engine_find(const char *name);

/** The library's own choice. */
const engine_t *engine_default(void);

/**
 * The one that --engine names; a wrong name is answered with the legal ones, and ends the program.
 */
const engine_t *engine_of_argument(struct argp_state *state, const char *name);

#endif
