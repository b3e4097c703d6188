/*
 * Preemption in a simulation: a snapshot of the cluster that follows the simulated one, a decision
 * for each pod that fits nowhere, and its evictions.
 *
 * A cycle that found no node ends with a decision; those that end at the same time decide one after
 * the other, and each sees what the earlier ones nominated. kube-1.12 evicts before the cycle ends,
 * one victim after the other; kube-1.34 when it has ended, while PreEnqueue holds the preemptor.
 * Victims return to the queue at once and lose what they have run.
 *
 * A pod is protected between its placing and the end of that cycle. All with the
 * lock, unless it says otherwise.
 */
#ifndef SCHEDQ_REPLAY_SIM_PREEMPT_H
#define SCHEDQ_REPLAY_SIM_PREEMPT_H

#include "sim.h"

/* False: sim_fail said why. Nothing to open without preemption. */
bool sim_preempt_open(sim_t *sim);
void sim_preempt_close(sim_t *sim);

/* The plugin that holds preemptors back, for presets that have one. */
bool sim_preempt_register(sim_t *sim);

/*
 * As verdicts_find, on nodes that still have room with the pods nominated there that are at least
 * as important.
 */
uint32_t sim_preempt_find(sim_worker_t *worker, size_t pod, unsigned *lacks);
void sim_preempt_node_joined(sim_t *sim, uint32_t node);
/* The pod got its place on a node; its nomination ends. */
void sim_preempt_placed(sim_worker_t *worker, size_t pod);
/* It runs from now on. */
void sim_preempt_bound(sim_t *sim, size_t pod);
/* It left its node. */
void sim_preempt_ended(sim_t *sim, size_t pod);

/*
 * Decides at the end of `ending`'s cycle, which placed its pod nowhere. Nobody is at work; `worker`
 * moves time on.
 */
void sim_preempt_decide(sim_t *sim, sim_worker_t *worker, sim_worker_t *ending);
/*
 * The pod that failed, as it is now: some presets take its nomination from there. Takes the lock.
 */
void sim_preempt_describe(const sim_worker_t *worker, schedq_failure_t *failure,
                          schedq_pod_spec_t *newest);
/* Is there something to carry out? */
bool sim_preempt_is_due(const sim_t *sim);
/* Carries it out. Nobody is at work. */
void sim_preempt_carry_out(sim_t *sim, sim_worker_t *worker);

#endif
