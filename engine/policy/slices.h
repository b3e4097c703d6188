/*
 * Until when a waiting pop serves time. It serves in slices, and looks for its pod behind each.
 *
 * The pop returns if its own deadline passes between two slices. If its deadline has passed before
 * the first slice, it serves what was due at its first look. It leaves to others what becomes due
 * later: gates may take longer to refuse all leftovers than these take to be due again.
 */
#ifndef SCHEDQ_POLICY_SLICES_H
#define SCHEDQ_POLICY_SLICES_H

#include <schedq/config.h>

#include <stdbool.h>

/** The slices of one pop. Begins with its deadline, the rest 0. */
struct slices {
    int64_t deadline;
    int64_t began; /* time of the first slice since it looked and nothing was due */
    bool serving;  /* the last round served a slice; the engine sets it */
};

static inline bool
slices_are_late(const struct slices *slices, int64_t now)
{
    return now >= slices->deadline && slices->deadline != SCHEDQ_NO_DEADLINE;
}

/** Another slice? It serves what is due at *now. False: the pop returns. */
static inline bool
slices_go_on(struct slices *slices, int64_t *now)
{
    if (!slices->serving) {
        slices->began = *now;
    } else if (slices_are_late(slices, *now)) {
        *now = slices->began;
        return slices_are_late(slices, slices->began);
    }
    return true;
}

#endif
