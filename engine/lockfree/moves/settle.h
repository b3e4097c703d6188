/*
 * What is done before a caller is told of a pod. The thread that brought the pod where its word
 * says may have stopped before it published the pod, marked the bin, or asked the gates of a gated
 * pod. These calls do that in its place: pops then find the pod there, and the gates of a gated pod
 * were asked since it can be found.
 *
 * LINEARIZATION. None of its own: a pod that is settled twice is published twice, by refs of one
 * version, and a question that is asked twice has one answer. "Gated": pay:A, or the question that
 * pay asked.
 *
 * ORDERING. settle_again: transfer_announce:A.
 *   index_finish:A or a switch -> the load that found the pod, settle_told, bin_mark
 *       the mark comes after the ref, without a fence
 *   owed or settled, index_finish:A or a switch -> the load that found the pod, is_owed
 *       a caller that finds the pod finds the debt of the adder or mover that put it there
 *   the switch that pays, owed or settled is 0 -> is_owed, pay:A
 *       a caller that finds no debt sees the pod as the question left it
 *
 * PROGRESS. Lock-free: one publication, and transfer_follow; the gates of a pod are asked in one
 * round for a call. A thread that stops in here leaves the pod to the next call that reports it.
 *
 * EVIDENCE. tests/model: index (SETTLE_UNCHECKED), bin (REPORTER), description (READER);
 * stress/explore: find_told, told_*, event_gate_add, event_gate_told, event_gate_reserve,
 * no_memory_find, no_memory_find_pop; stress/history: gates, empty;
 * tests/unit/test_lockfree_told.c.
 */
#ifndef SCHEDQ_LOCKFREE_SETTLE_H
#define SCHEDQ_LOCKFREE_SETTLE_H

#include "lockfree/moves/report.h"
#include "lockfree/moves/transfer.h"

/**
 * Before a caller is told that a pod is there, as *view shows it: makes sure that pops look where
 * it is, and that its gate is asked. A waiting pod that no lot or bin has is noted as a stray,
 * which events, time and candidates gather. False: the pod changed; look at it again. True: *view
 * may be newer than it was.
 *
 * May leave the section for the gates (queue.h), so nothing else that was read in it is used
 * afterwards. The worker has no mover under way.
 */
bool settle_told(struct worker *worker, uint32_t record, struct view *view);

/**
 * Publishes the pod that `view` shows once more, where it is. False: no memory; it is a stray then.
 * Of a gated pod the gate has to be asked afterwards.
 */
bool settle_again(struct worker *worker, uint32_t record, const struct view *view);

/**
 * For the index: publishes a pod that exists, since its adder may have stopped before it did. Its
 * gate is asked at the end of the call (settle_ask).
 */
bool settle_pod(void *ctx, uint32_t record, uint64_t life);

#endif
