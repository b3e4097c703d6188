/*
 * Rounds differ in all that an engine's structures depend on: few names meet each other more often,
 * new priorities come and old ones go, own order keys arrive out of order.
 */
#include "plan.h"

#include "cluster.h"

/*
 * The pool is far smaller than what a queue can name in its life, and has both ends of the range.
 */
static int32_t
choose_priority(uint64_t *dice)
{
    uint32_t number = dice_roll(dice, 64);
    return number == 0 ? INT32_MIN : number == 1 ? INT32_MAX : ((int32_t)number - 32) * 1000;
}

static void
choose_priorities(plan_t *plan, uint64_t *dice)
{
    static const unsigned counts[] = {1, 2, 4, 4, 8, 8};
    plan->priority_count = counts[dice_roll(dice, 6)];
    for (unsigned i = 0; i < PLAN_PRIORITIES; i++)
        plan->priorities[i] = choose_priority(dice);
}

void
plan_round(plan_t *plan, const options_t *options, uint64_t round, bool last)
{
    static const uint32_t shares[] = {1, 1, 4, 16};
    static const unsigned keyed_in[] = {1000000, 4, 4, 2};
    uint64_t dice = options->seed * UINT64_C(0x2545f4914f6cdd1d) + round;
    *plan = (plan_t){.round = round, .last = last};
    plan->names = options->names / shares[dice_roll(&dice, 4)];
    if (plan->names < 8)
        plan->names = 8;
    choose_priorities(plan, &dice);
    unsigned first = dice_roll(&dice, PHASES);
    for (unsigned i = 0; i < PHASES; i++)
        plan->phases[i] = (phase_t)((first + i) % PHASES);
    plan->keyed_in = keyed_in[dice_roll(&dice, 4)];
    plan->new_workers = round > 0 && dice_roll(&dice, 4) == 0;
    plan->drain = last || dice_roll(&dice, 3) == 0;
    plan->hand_overs = 4 + dice_roll(&dice, 12);
    plan->close_early = options->seed % 2 == 0;
    plan->timer = dice_roll(&dice, 3) == 0;
    plan->gates_shut = dice_roll(&dice, 1u << GATES);
}
