/*
 * What members that join and leave, and other changes of a group, do to its record.
 *
 * JOIN. Announce (a count, and `joining`), the member's commit or switch, then gather_joined: raise
 * `changes`, look at the record. IDLE: complete it. Queued: ask about the newcomer, or, as kube
 * does, about all. In its cycle: the holder looks. LEAVE. Look at `counted`, switch, gather_left.
 *
 * ORDERING
 *   commit of a member, `waiting`, `changes` | switch of the record to IDLE, looks at `changes`
 *       the joiner sees the record IDLE, or the thread that brought it there sees the join
 *   sum of the members at the declaration, `counted` -> a leaver's look, its switch
 *       what a leaver takes off is in the sum
 *   joining, commit -> a tick's look
 *       if the joiner stopped in between, the tick reads the members, and completes
 *
 * PROGRESS. Lock-free: each further round is another's change of the record, or an event of a gate
 * that refuses. A thread that stops is named by `joining` until it has looked again.
 *
 * EVIDENCE. tests/model: group; stress/explore: group_*; tests/unit/test_group.c.
 */
#ifndef SCHEDQ_LOCKFREE_GATHER_JOIN_H
#define SCHEDQ_LOCKFREE_GATHER_JOIN_H

#include "lockfree/moves/gather_record.h"

/** Called before a member is ASIDE. Returns what gather_joined, or gather_withdraw, needs. */
uint64_t gather_announce(struct worker *worker, uint64_t number);
void gather_withdraw(struct worker *worker, uint64_t number, uint64_t counted);

/**
 * After the member is ASIDE: completes the group, or asks the gates if the record is queued.
 * `newcomer` 0: they are asked about all members, or about none.
 */
void gather_joined(struct worker *worker, uint64_t number, uint64_t counted, schedq_pod_t newcomer,
                   schedq_result_t *result);

/**
 * Fills result->unschedulable with what rejects the member after its join, if it is ASIDE: the
 * group asked the gates about it.
 */
void gather_tell_joined(struct worker *worker, schedq_pod_t member, schedq_result_t *result);

/** Called before a member leaves ASIDE. Returns what gather_left needs. */
uint64_t gather_leaves(struct worker *worker, uint64_t number);

/** Called when a member is not ASIDE any more; `gate`: the gate that refused it, or 0. */
void gather_left(struct worker *worker, uint64_t number, uint64_t counted, uint8_t gate,
                 schedq_result_t *result);

/**
 * After the caller asked about a group's members, and brought its record to GATED, or left it
 * there: is the member that was refused still with it? If not, asks again. May leave the section.
 */
void gather_look_at_gate(struct worker *worker, uint64_t number, schedq_result_t *result);

/**
 * Something other than a join or a leave may have made the root complete, or incomplete. A queued
 * record that comes in because of it is counted by `label`.
 */
void gather_changed(struct worker *worker, uint64_t number, uint32_t label,
                    schedq_result_t *result);

/**
 * A READY record has a member about which no gate was asked, or that a gate refused: gates are
 * asked about all. NOMEM, or AGAIN: look for the record again. Leaves the section.
 */
enum gather_step gather_ask_newcomers(struct worker *worker, const struct group_found *root);

/**
 * A root's record, if it waits: where an activation puts it; in its cycle it is noted. False: no
 * memory, it is as it was.
 */
bool gather_activate(struct worker *worker, uint64_t number, schedq_result_t *result);

/** A tick: a worker named the group, and may have stopped. */
void gather_look_after(struct worker *worker, uint64_t number);

#endif
