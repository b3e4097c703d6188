/*
 * Preemption in a simulation: a snapshot of the cluster that follows the simulated one, a decision for each pod that fits
 * nowhere, and its evictions.
 *
 * A pod that found no node is decided about at its pop. What was decided is carried out when nobody is at work: with
 * kube-1.12 before the cycle ends, one victim after the other; with kube-1.34 after it, while PreEnqueue holds the
 * preemptor. Victims return to the queue at once and lose what they have run.
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

/* As verdicts_find, on nodes that still have room with the pods nominated there that are at least as important. */
uint32_t sim_preempt_find(sim_worker_t *worker, size_t pod, unsigned *lacks);
/* Decides for the pod that the worker popped and that fits nowhere. */
void sim_preempt_decide(sim_worker_t *worker, size_t pod);

void sim_preempt_node_joined(sim_t *sim, uint32_t node);
/* The pod got its place on a node; its nomination ends. */
void sim_preempt_placed(sim_worker_t *worker, size_t pod);
/* It runs from now on. */
void sim_preempt_bound(sim_t *sim, size_t pod);
/* It left its node. */
void sim_preempt_ended(sim_t *sim, size_t pod);

/* Before the end of a cycle that placed its pod nowhere: what has to be done before that. Nobody is at work. */
void sim_preempt_before_end(sim_t *sim, sim_worker_t *worker, sim_worker_t *ending);
/* Just before that pod is parked: the nomination is set or cleared, and what is done later handed over. Takes the lock. */
void sim_preempt_hand_over(sim_worker_t *worker, schedq_failure_t *failure);
/* Is there something to carry out? */
bool sim_preempt_is_due(const sim_t *sim);
/* Carries it out. Nobody is at work. */
void sim_preempt_carry_out(sim_t *sim, sim_worker_t *worker);

#endif
