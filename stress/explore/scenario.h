/*
 * A scenario: a few simulated threads with short programs, what stands before them, and what must
 * hold after them.
 */
#ifndef EXPLORE_SCENARIO_H
#define EXPLORE_SCENARIO_H

#include "scheduler.h"

#include <schedq/schedq.h>

#include <stdbool.h>

struct actor;
struct scenario;

/** What all scenarios of one kind share. Each function but `thread` runs alone. */
struct harness {
    void (*begin)(const struct scenario *scenario);
    void (*thread)(const struct scenario *scenario, unsigned thread);
    void (*drain)(const struct scenario *scenario); /* a healthy thread, after the others */
    /* takes apart what begin made; not if a thread is frozen */
    void (*end)(const struct scenario *scenario);
};

typedef void scenario_body(struct actor *actor);

struct scenario {
    const char *name; /* NULL ends a table */
    const char *about;
    const struct harness *harness;
    unsigned threads;
    bool hidden;       /* `all` leaves it out */
    bool never_frozen; /* its threads wait for each other */
    unsigned steady;   /* so many of the last threads are never frozen */
    /*
     * not for an engine with a lock: who sleeps, or comes to a point, while he holds it stops all
     */
    bool sleeps;
    unsigned variant; /* the harness's */

    /* queue_harness (world.h). Those that are NULL do not exist. */
    void (*configure)(schedq_config_t *config);
    void (*prepare)(struct actor *actor);
    scenario_body *bodies[SIM_THREADS_MAX];
};

/** (title, text, settings, before, bodies...), of queue_harness (world.h). A body is a thread. */
#define SCENARIO(...) SCENARIO_OF(&queue_harness, false, 0, __VA_ARGS__)
/** The same of threads that sleep. */
#define SLEEPING(...) SCENARIO_OF(&queue_harness, true, 0, __VA_ARGS__)
/** The same of any harness: of the last `steadies` threads none is frozen. */
#define SCENARIO_OF(...) SCENARIO_AS(__VA_ARGS__)
#define SCENARIO_AS(with, sleeping, steadies, title, text, settings, before, ...)           \
    {                                                                                       \
        .name = (title), .about = (text), .harness = (with), .sleeps = (sleeping),          \
        .steady = (steadies), .configure = (settings), .prepare = (before),                 \
        .threads = sizeof((scenario_body *const[]){__VA_ARGS__}) / sizeof(scenario_body *), \
        .bodies = {                                                                         \
            __VA_ARGS__                                                                     \
        }                                                                                   \
    }

/** NULL: no such scenario. */
const struct scenario *scenario_find(const char *name);

/** The next of the scenarios that are not hidden; NULL first. */
const struct scenario *scenario_next(const struct scenario *scenario);

#endif
