/* The rule of candidates.h. */
#include "policy/candidates.h"

#include "policy/gating.h"

bool
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

bool
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
