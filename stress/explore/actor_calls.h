/*
 * What the calls of actor.h share, for actor*.c: each is a point, records its beginning, calls,
 * empties the store buffer (sim_call_ends), and records its end.
 */
#ifndef EXPLORE_ACTOR_CALLS_H
#define EXPLORE_ACTOR_CALLS_H

#include "actor.h"
#include "ledger.h"

#define LEGAL(status) (UINT32_C(1) << (status))

moment act_begin(struct actor *actor, const char *text, struct open_call call);
moment act_end(struct actor *actor, schedq_status_t status);

/** `legal`: a bit per status. */
void act_check(struct actor *actor, const char *call, schedq_status_t status, uint32_t legal);

/** The spec of an attempt's object. */
schedq_pod_spec_t act_spec(const struct actor *actor, uint64_t object);
void act_attempt_ends(struct attempt *attempt, schedq_status_t status, moment ended);
void act_attempt_added(struct attempt *attempt, schedq_place_t place, uint64_t handle, moment began,
                       moment ended);

/** True: OK. */
bool act_find(struct actor *actor, uint32_t key, schedq_result_t *result);

/** held[0] is not the actor's any more. */
void act_let_go(struct actor *actor);

#endif
