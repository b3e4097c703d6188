/*
 * What the queues of some scenarios are told about: plugins, gates, nodes and a clock.
 *
 * PLUGINS, in this order. HINTED hears of EVENT_HINTED, and its hint wants pods with a priority of
 * WANTED or more. PLAIN hears of EVENT_PLAIN, and has no hint. GATE_A and GATE_B have a PreEnqueue,
 * which holds pods with negative priorities, and hear of EVENT_GATE_A and EVENT_GATE_B. A gate is
 * closed at first, and once opened stays open until cluster_shut.
 *
 * TIME is a virtual clock that only cluster_pass moves: a long way, so that one step is enough for
 * a backoff, or for the limit of waiting.
 */
#ifndef EXPLORE_CLUSTER_H
#define EXPLORE_CLUSTER_H

#include "ledger.h"

enum { HINTED = 1, PLAIN = 2, GATE_A = 4, GATE_B = 8 }; /* bits of rejector sets */

/* That of the first name that comes late: every event reaches it. */
#define LATE_NAME "Late"
#define LATE 16

#define EVENT_HINTED SCHEDQ_EVENT_NODE_ADD
#define EVENT_PLAIN SCHEDQ_EVENT_NODE_UPDATE_LABEL
#define EVENT_GATE_A SCHEDQ_EVENT_NODE_DELETE
#define EVENT_GATE_B SCHEDQ_EVENT_NODE_UPDATE_TAINT
#define EVENT_OF_NOBODY SCHEDQ_EVENT_NODE_UPDATE_CONDITION

#define WANTED 2

#define BACKOFF_NS 1000000   /* the first; 1 ms is the least there is */
#define LIMIT_NS 1000000000L /* of being parked */

/** For a scenario's configure: plugins are registered, and the clock is virtual. */
void cluster_use(schedq_config_t *config);

/** The same without gates: pods are active when they come. */
void cluster_use_without_gates(schedq_config_t *config);

/** The same without hints: pods of one set are alike to an event, which asks nothing of them. */
void cluster_use_without_hints(schedq_config_t *config);

/** Without gates, with the scheduler's CLOCK_MONOTONIC. */
void cluster_use_real_time(schedq_config_t *config);

/** Host decisions, no gates. */
void cluster_use_host(schedq_config_t *config);

/** Before a scenario's configure; after the queue was made. */
void cluster_reset(void);
void cluster_begin(schedq_t *queue);

bool cluster_is_used(void);
bool cluster_has_gates(void);

/** Would the hint of HINTED have such a pod tried again? Without hints any pod is. */
bool cluster_wants(int32_t priority);

void cluster_open(uint64_t gate);

/** It may have been open. */
void cluster_shut(uint64_t gate);

/** When that was; NEVER: it is closed. */
moment cluster_opened(uint64_t gate);

int64_t cluster_now(void);
void cluster_pass(int64_t ns);

/** What an event reaches; a wildcard all. */
struct occasion cluster_reach(schedq_event_t event);

#endif
