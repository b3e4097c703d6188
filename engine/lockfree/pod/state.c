/*
 * state_help of state.h, for tests of containers by themselves: the engine helps by switch_help,
 * which counts too.
 */
#include "lockfree/pod/state.h"

enum verdict
state_help(atomic_u64 *word, uint64_t ref, enum place place, uint32_t band, atomic_u64 *reorder,
           uint64_t *state)
{
    /* state_help:A reads from state_help:C, and from every other CAS of the word */
    *state = u64_load_acquire(word);
    for (;;) {
        enum verdict verdict = state_judge(*state, ref, place, band);

        if (verdict != VERDICT_FUTURE) {
            return verdict;
        }
        uint64_t next = state_switched(*state, band, place);

        if (place == PLACE_ACTIVE && state_place(*state) == PLACE_ACTIVE) {
            (void)u64_add(reorder, 1); /* state_help:B, read by take_from:A, walk_take:B */
        }
        uint64_t found = u64_cas_value(word, *state, next); /* state_help:C */

        *state = found == *state ? next : found;
    }
}

schedq_place_t
place_public(enum place place)
{
    static const schedq_place_t public[] = {
        [PLACE_FREE] = SCHEDQ_NOWHERE,    [PLACE_ACTIVE] = SCHEDQ_ACTIVE,
        [PLACE_BACKOFF] = SCHEDQ_BACKOFF, [PLACE_PARKED] = SCHEDQ_PARKED,
        [PLACE_GATED] = SCHEDQ_GATED,     [PLACE_INFLIGHT] = SCHEDQ_INFLIGHT,
        [PLACE_DEAD] = SCHEDQ_NOWHERE,    [PLACE_ERROR_BACKOFF] = SCHEDQ_ERROR_BACKOFF,
    };

    return public[place];
}
