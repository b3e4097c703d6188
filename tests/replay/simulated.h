/*
 * A scenario from trace lines, and the result of its replay: workloads small enough to foresee.
 */
#ifndef SCHEDQ_TESTS_REPLAY_SIMULATED_H
#define SCHEDQ_TESTS_REPLAY_SIMULATED_H

#include "files.h"
#include "simulate.h"

#define SERVICE_NS 1000000

typedef struct world {
    loaded_t loaded;
    scenario_t scenario;
    int32_t priority[8];
    simulate_options_t options;
    simulate_result_t result;
    char why[400];
} world_t;

/* The first argument of the test's program names the engine: mutex (default) or lockfree. */
void world_choose_engine(int argc, char **argv);
/* `options` may be NULL: all nodes, one copy. */
void world_build(world_t *world, const char *lines, const scenario_options_t *options);
void world_set_priority(world_t *world, const char *class, int32_t priority);
/* Fails the test if the replay does. */
void world_run(world_t *world);
void world_tear_down(world_t *world);
/* Waits of the class that the only or last pod is of. */
const class_waits_t *world_waits(const world_t *world, const char *class);
/* A hundred pods of two classes on two nodes, some with GPUs: most have to wait. */
const char *world_crowd(void);

typedef struct world_crowd {
    schedq_preset_t preset;
    int preemption;
    unsigned workers;
    uint64_t seed;
} world_crowd_t;

/*
 * The digest of three copies of the crowd, LS being the important ones; fails the test unless all
 * are placed, and, with preemption, some were evicted before. */
uint64_t world_digest_of_crowd(const world_crowd_t *crowd);

#endif
