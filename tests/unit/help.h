/*
 * Helping a FUTURE ref, for tests of containers by themselves: as the engine does (switch_help),
 * and nothing is counted.
 */
#ifndef TESTS_UNIT_HELP_H
#define TESTS_UNIT_HELP_H

#include "lockfree/refs/lane.h"

/** Until the ref is VALID or STALE; *state is the word that says so. */
static inline enum verdict
help_word(atomic_u64 *word, uint64_t ref, enum place place, uint32_t band, atomic_u64 *reorder,
          uint64_t *state)
{
    *state = u64_load_acquire(word);
    for (;;) {
        enum verdict verdict = state_judge(*state, ref, place, band);
        if (verdict != VERDICT_FUTURE)
            return verdict;
        uint64_t next = state_switched(*state, band, place);
        if (place == PLACE_ACTIVE && state_place(*state) == PLACE_ACTIVE)
            (void)u64_add(reorder, 1);
        uint64_t found = u64_cas_value(word, *state, next);
        *state = found == *state ? next : found;
    }
}

/** bin_caller.help; its ctx is the counter of moves inside the order. */
static inline enum verdict
help_bin(void *ctx, const struct residence *residence, struct entry *entry, uint64_t ref,
         uint32_t cause, uint64_t *state)
{
    (void)cause;
    return help_word(&entry->word.low, ref, residence->place, residence->band, ctx, state);
}

#endif
