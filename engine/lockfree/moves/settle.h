/*
 * Before a caller is told of a pod: making sure that the pod is found where its word says, though
 * the thread that brought it there may have stopped before it published the pod, or marked the bin.
 *
 * LINEARIZATION. None of its own: a pod that is settled twice is published twice, by refs of one
 * version.
 *
 * ORDERING. settle_again: transfer_announce:A.
 *   index_finish:A or a switch -> the load that found the pod, settle_told, bin_mark:A
 *       the mark comes after the ref, without a fence
 *
 * PROGRESS. Lock-free: one publication, and transfer_follow. A thread that stops in here leaves the
 * pod to the next call that reports it.
 *
 * EVIDENCE. tests/model: index (SETTLE_UNCHECKED), bin (REPORTER), description (READER);
 * stress/explore: find_told, told_*, event_gate_add, no_memory_find, no_memory_find_pop.
 */
#ifndef SCHEDQ_LOCKFREE_SETTLE_H
#define SCHEDQ_LOCKFREE_SETTLE_H

#include "lockfree/moves/report.h"
#include "lockfree/moves/transfer.h"

/**
 * Before a caller is told that a pod is there, whose word was `state`: makes sure that pops look
 * where it is.
 */
void settle_told(struct worker *worker, uint32_t record, uint64_t life, uint64_t state);

/**
 * Publishes the pod that `view` shows once more, where it is. False: no memory; it is a stray then.
 * Of a gated pod the gate has to be asked afterwards.
 */
bool settle_again(struct worker *worker, uint32_t record, const struct view *view);

/**
 * For the index: publishes a pod that exists, and whose adder may have stopped before it did. Its
 * gate is asked at the end of the call (settle_ask).
 */
bool settle_pod(void *ctx, uint32_t record, uint64_t life);

#endif
