/*
 * The room that is left of a node beside the preemptor, while pods come back to it. Called for
 * every potential victim of every node that is visited, so it is here to be inlined.
 */
#ifndef SCHEDQ_PREEMPTION_ROOM_H
#define SCHEDQ_PREEMPTION_ROOM_H

#include "preemption/evaluation.h"

/** Takes a pod's requests out of the room (sign -1) or gives them back (1). */
static inline void
room_change(const schedq_preemption_t *of, struct lane *lane, const struct slot *slot, int64_t sign)
{
    int64_t *room = lane->room;

    room[NEED_PODS] += sign;
    room[NEED_CPU] += sign * slot->cpu;
    room[NEED_MEMORY] += sign * slot->memory;
    if (of->need_count == NEED_EXTENDED || (slot->flags & SLOT_EXTENDED) == 0) {
        return;
    }
    for (uint32_t i = NEED_EXTENDED; i < of->need_count; i++) {
        room[i] +=
            sign * amount_of(&of->cluster->pods[slot->pod.index].requests, of->needs[i].resource);
    }
}

/** The preemptor does not fit any more. */
static inline bool
room_is_short(const schedq_preemption_t *of, const struct lane *lane)
{
    int64_t all = lane->room[NEED_PODS] | lane->room[NEED_CPU] | lane->room[NEED_MEMORY];

    for (uint32_t i = NEED_EXTENDED; i < of->need_count; i++) {
        all |= lane->room[i];
    }
    return all < 0;
}

#endif
