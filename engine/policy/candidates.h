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

#include <schedq/schedq.h>

#include <stdbool.h>

/** A waiting pod, as far as it matters here. */
struct waiting_pod {
    schedq_place_t place;
    uint8_t profile, gate;
    uint64_t rejectors; /* unschedulable and pending */
    int64_t time;       /* its Timestamp; in the backoff places its expiry */
};

bool candidates_wants(const schedq_query_t *query, uint64_t reached, const struct waiting_pod *pod);

/** May it want a pod, parked or gated, of which all but the time is known? */
bool candidates_may_want(const schedq_query_t *query, uint64_t reached, uint8_t profile,
                         uint8_t gate, uint64_t rejectors);

#endif
