/**
 * Verbs for queues with SCHEDQ_DECIDE_HOST, where the caller says where pods go. They use a fixture
 * made by fx_setup_host.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_HOST_H
#define SCHEDQ_TESTS_SUPPORT_HOST_H

#include "fixture.h"

/** Draws the sequence of an event. */
uint64_t hx_begin(fixture_t *fixture);
/** Draws a sequence and stamps these plugins of profile 0 with it. */
uint64_t hx_event(fixture_t *fixture, uint64_t plugins);
/** schedq_fail with a verdict. */
schedq_status_t hx_fail(fixture_t *fixture, schedq_token_t *token, schedq_place_t place,
                        uint64_t rejectors, uint64_t judged_up_to, schedq_result_t *result);
/** Adds, pops and parks; the pod must be the best one. */
schedq_pod_t hx_park(fixture_t *fixture, const char *name, uint64_t object, uint64_t rejectors);
/** Adds, pops and lets back off; no rejectors: as after an error. */
void hx_back_off(fixture_t *fixture, const char *name, schedq_profile_t profile,
                 uint64_t rejectors);
/** schedq_apply of one decision under the label NodeAdd. */
schedq_status_t hx_apply(fixture_t *fixture, uint64_t ref, schedq_place_t place, uint8_t gate,
                         uint64_t judged_up_to, schedq_result_t *result);
/** A query for parked and gated pods of profile 0. */
schedq_query_t hx_query(uint64_t rejectors, uint64_t gates);
/** All candidates, `step` at a time; `room` must hold them and `step` more. Returns how many. */
size_t hx_collect(fixture_t *fixture, schedq_query_t query, schedq_candidate_t *out, size_t room,
                  size_t step);

#endif
