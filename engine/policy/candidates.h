/*
 * Which waiting pods a host asks for (schedq_candidates).
 *
 * Parked pods by what rejected them; one that nothing rejected is helped by any event. Gated pods
 * by their gate. Pods that back off all together, whatever their sets. Of all these, the ones that
 * came up to the query's time.
 *
 * `reached` are the query's rejectors and those that every event reaches (registry_reached_always).
 */
#ifndef SCHEDQ_POLICY_CANDIDATES_H
#define SCHEDQ_POLICY_CANDIDATES_H

#include "policy/gating.h"

#include <schedq/schedq.h>

#include <stdbool.h>

/** A waiting pod, as far as it matters here. */
struct waiting_pod {
    schedq_place_t place;
    uint8_t profile, gate;
    uint64_t rejectors; /* unschedulable and pending */
    int64_t time;       /* its Timestamp; in the backoff places its expiry */
};

static inline bool
candidates_wants(const schedq_query_t *query, uint64_t reached, const struct waiting_pod *pod)
{
    if (pod->profile != query->profile || pod->time > query->not_after_ns) {
        return false;
    }
    switch (pod->place) {
    case SCHEDQ_PARKED:
        return query->rejectors != 0 && (pod->rejectors == 0 || (pod->rejectors & reached) != 0);
    case SCHEDQ_GATED:
        return (query->gates & gate_bit(pod->gate)) != 0;
    case SCHEDQ_BACKOFF:
    case SCHEDQ_ERROR_BACKOFF:
        return query->backoff != 0;
    default:
        return false;
    }
}

/** May it want a pod, parked or gated, of which all but the time is known? */
static inline bool
candidates_may_want(const schedq_query_t *query, uint64_t reached, uint8_t profile, uint8_t gate,
                    uint64_t rejectors)
{
    const struct waiting_pod oldest = {.place = gate != 0 ? SCHEDQ_GATED : SCHEDQ_PARKED,
                                       .profile = profile,
                                       .gate = gate,
                                       .rejectors = rejectors,
                                       .time = INT64_MIN};

    return candidates_wants(query, reached, &oldest);
}

#endif
