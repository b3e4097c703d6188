/*
 * What a round is like: which names and priorities, full or nearly empty, how it ends. Decided by
 * seed and round alone.
 */
#ifndef SCHEDQ_HISTORY_PLAN_H
#define SCHEDQ_HISTORY_PLAN_H

#include "options.h"

typedef enum phase {
    PHASE_DEEP, /* more comes than goes */
    PHASE_MIXED,
    PHASE_SCARCE, /* pops find nothing, or wait */
    PHASES
} phase_t;

enum { PLAN_PRIORITIES = 8 };

typedef struct plan {
    uint64_t round;
    uint32_t names; /* adds and updates choose among the first so many */
    unsigned priority_count;
    int32_t priorities[PLAN_PRIORITIES];
    phase_t phases[PHASES]; /* one after the other, a third of the operations each */
    unsigned keyed_in;      /* one pod in so many has an order key of its own */
    bool new_workers;
    bool timer;          /* the timer thread runs */
    unsigned gates_shut; /* a bit for each gate that is shut as the round begins */
    bool drain;          /* ends empty; else pods stay for the next round */
    unsigned hand_overs;
    bool last;
    bool close_early; /* the last round: close in its middle, else when the others sleep */
} plan_t;

void plan_round(plan_t *plan, const options_t *options, uint64_t round, bool last);

/** The next of a sequence of random numbers. */
static inline uint64_t
dice_next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** 0..below - 1 */
static inline uint32_t
dice_roll(uint64_t *state, uint32_t below)
{
    return (uint32_t)((dice_next(state) >> 32) * below >> 32);
}

#endif
