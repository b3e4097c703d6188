/*
 * One episode of a scenario: begin, the threads together, the healthy drain, the end.
 */
#ifndef EXPLORE_EPISODE_H
#define EXPLORE_EPISODE_H

#include "scenario.h"

/** False: sim_failure tells why. */
bool episode_run(const struct scenario *scenario, const struct sim_plan *plan);

/**
 * How long the scenario's threads are: the mean of a few episodes that depend on nothing but the
 * seed.
 */
struct sim_estimate episode_measure(const struct scenario *scenario, uint64_t seed,
                                    enum sim_strategy strategy);

/** The seed of one episode. */
uint64_t episode_seed(const struct scenario *scenario, uint64_t seed, uint64_t episode);

#endif
