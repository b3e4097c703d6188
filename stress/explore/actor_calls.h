/*
 * What the calls of actor.h share, for actor*.c: each is a point, records its beginning, calls,
 * empties the store buffer (sim_call_ends), and records its end.
 */
#ifndef EXPLORE_ACTOR_CALLS_H
#define EXPLORE_ACTOR_CALLS_H

#include "actor.h"
#include "ledger.h"
#include "ops/op.h"

moment act_begin(struct actor *actor, const char *text, struct open_call call);
moment act_end(struct actor *actor, schedq_status_t status);

/** Legal are the answers of op_legal; refusals are those of the scenario, and `legal`. */
void act_check(struct actor *actor, const op_t *op, uint32_t legal);

struct span {
    moment began, ended;
};

/** All of it, for a call that needs nothing of its beginning; as act_check. */
struct span act_run(struct actor *actor, op_t *op, struct open_call call, uint32_t legal);

/** The spec of an attempt's object. */
schedq_pod_spec_t act_spec(const struct actor *actor, uint64_t object);
void act_attempt_ends(struct attempt *attempt, schedq_status_t status, moment ended);
void act_attempt_added(struct attempt *attempt, schedq_place_t place, uint64_t handle, moment began,
                       moment ended);

/** True: OK. */
bool act_find(struct actor *actor, uint32_t key, schedq_result_t *result);

/* ---- of a host that judges events itself: actor_host.c --------------------------------------- */

/** OK is told to the ledger. */
schedq_status_t act_apply(struct actor *actor, const schedq_decision_t *decision, uint32_t legal,
                          schedq_result_t *result);
/** Returns how many were found, `room` at most. */
size_t act_candidates(struct actor *actor, schedq_query_t *query, schedq_candidate_t *found,
                      size_t room);
/** What hosts look at before they look for candidates. */
bool act_anybody_waits(void);
/** Begins an event and stamps it; its occasion has not ended. */
struct occasion *act_event(struct actor *actor, schedq_event_t event, struct occasion reach,
                           uint64_t rejectors);

/** held[0] is not the actor's any more. */
void act_let_go(struct actor *actor);

#endif
