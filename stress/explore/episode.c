/* Episodes of episode.h. */
#include "episode.h"

#include "arena.h"

#include <stdio.h>

#define MEASURED 32

static const struct scenario *running;

static void
begin(unsigned thread)
{
    (void)thread;
    running->harness->begin(running);
}

static void
body(unsigned thread)
{
    running->harness->thread(running, thread);
}

static void
drain(unsigned thread)
{
    (void)thread;
    running->harness->drain(running);
}

static void
end(unsigned thread)
{
    (void)thread;
    running->harness->end(running);
}

/* A queue with a frozen thread in it is abandoned; the arena forgets it. */
static bool
run_phases(const struct scenario *scenario)
{
    unsigned steady = scenario->never_frozen ? 0 : scenario->threads - scenario->steady;

    return sim_alone(begin) && sim_together(scenario->threads, steady, body) && sim_alone(drain) &&
           (sim_frozen() > 0 || sim_alone(end));
}

bool
episode_run(const struct scenario *scenario, const struct sim_plan *plan)
{
    running = scenario;
    arena_reset();
    sim_begin(plan);
    if (!run_phases(scenario)) {
        return false;
    }
    if (sim_frozen() == 0 && arena_live_bytes() != 0) {
        sim_fail("%llu bytes were not given back", (unsigned long long)arena_live_bytes());
    }
    return sim_failure() == NULL;
}

/* FNV-1a: scenarios of one seed do not run alike. */
static uint64_t
hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    }
    return hash;
}

uint64_t
episode_seed(const struct scenario *scenario, uint64_t seed, uint64_t episode)
{
    return random_mix(random_mix(hash_of(scenario->name) ^ seed) + episode);
}

struct sim_estimate
episode_measure(const struct scenario *scenario, uint64_t seed, enum sim_strategy strategy)
{
    struct sim_estimate sum = {0};

    for (uint64_t i = 0; i < MEASURED; i++) {
        struct sim_plan plan = {.seed = episode_seed(scenario, ~seed, i), .strategy = strategy};

        (void)episode_run(scenario, &plan);
        sum.steps += sim_steps() / MEASURED;
        for (unsigned t = 0; t < scenario->threads; t++) {
            sum.steps_of[t] += sim_steps_of(t) / MEASURED;
        }
    }
    return sum;
}
