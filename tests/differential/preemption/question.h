/* A random question about a world, put to both sides. */
#ifndef DIFFERENTIAL_PREEMPTION_QUESTION_H
#define DIFFERENTIAL_PREEMPTION_QUESTION_H

#include "world.h"

/** Draws a question, asks both sides, compares. False: `difference` says where. */
bool question_agrees(struct world *world, chance_t *chance, char *difference, size_t size);

/** How often each outcome was met, to see that the draws reach all of them. */
struct tally {
    uint64_t decisions, outcomes[SCHEDQ_PREEMPT_EXTENDER + 1], ineligible, candidates, violations,
        clears, fits;
};

extern struct tally tally;

#endif
