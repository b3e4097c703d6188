/*
 * The operations of the lock-free engine that its table names, by file.
 */
#ifndef SCHEDQ_LOCKFREE_OPS_H
#define SCHEDQ_LOCKFREE_OPS_H

#include "lockfree/queue.h"

/* group.c */
schedq_status_t lockfree_group_add(schedq_worker_t *worker, uint64_t group,
                                   const schedq_group_spec_t *spec, schedq_result_t *result);
schedq_status_t lockfree_group_update(schedq_worker_t *worker, uint64_t group,
                                      const schedq_group_spec_t *spec, schedq_result_t *result);
schedq_status_t lockfree_group_delete(schedq_worker_t *worker, uint64_t group,
                                      schedq_result_t *result);
schedq_status_t lockfree_group_activate(schedq_worker_t *worker, uint64_t group,
                                        schedq_result_t *result);
schedq_status_t lockfree_group_get(schedq_worker_t *worker, uint64_t group,
                                   schedq_group_info_t *info);

/* group_done.c */
schedq_status_t lockfree_group_done(schedq_worker_t *worker, schedq_token_t *token,
                                    const schedq_group_end_t *end, schedq_result_t *result);

/* add.c */
schedq_status_t lockfree_add(schedq_worker_t *worker, const struct hashed_name *name,
                             const schedq_pod_spec_t *spec, schedq_result_t *result);

/* batch.c */
schedq_status_t lockfree_add_many(schedq_worker_t *worker, const struct add_batch *batch,
                                  schedq_result_t *result);

/* pop.c */
schedq_status_t lockfree_pop(schedq_worker_t *worker, schedq_popped_t *out, size_t capacity,
                             size_t *count);
schedq_status_t lockfree_pop_waiting(schedq_worker_t *worker, int64_t deadline,
                                     schedq_popped_t *out, size_t capacity, size_t *count);
schedq_status_t lockfree_pop_group(schedq_worker_t *worker, bool waits, int64_t deadline,
                                   schedq_popped_group_t *group, schedq_popped_t *members,
                                   size_t room, size_t *count);
void lockfree_wait_cancel(schedq_worker_t *worker);
void lockfree_tell_host(schedq_t *queue);
void lockfree_close(schedq_t *queue);

/* finish.c */
schedq_status_t lockfree_done(schedq_worker_t *worker, schedq_token_t token);
schedq_status_t lockfree_done_many(schedq_worker_t *worker, const schedq_token_t *tokens,
                                   size_t count, uint8_t *statuses);
schedq_status_t lockfree_end_many(schedq_t *queue, const schedq_token_t *tokens, size_t count,
                                  uint8_t *statuses, bool held);
schedq_status_t lockfree_token_alive(schedq_worker_t *worker, schedq_token_t token);

/* fail.c */
schedq_status_t lockfree_fail(schedq_worker_t *worker, schedq_token_t *token,
                              const schedq_failure_t *failure, schedq_result_t *result);

/* readd.c */
schedq_status_t lockfree_readd(schedq_worker_t *worker, const struct hashed_name *name,
                               const schedq_pod_spec_t *spec, const schedq_history_t *history,
                               const schedq_failure_t *failure, schedq_result_t *result);

/* find.c */
schedq_status_t lockfree_find(schedq_worker_t *worker, const struct hashed_name *name,
                              schedq_result_t *result);

/* update.c */
schedq_status_t lockfree_update(schedq_worker_t *worker, const struct hashed_name *name,
                                const schedq_pod_spec_t *spec, uint64_t old_object,
                                const schedq_event_t *events, size_t count,
                                schedq_result_t *result);

/* delete.c */
schedq_status_t lockfree_delete(schedq_worker_t *worker, const struct pod_key *key,
                                schedq_result_t *result);

/* activate.c */
schedq_status_t lockfree_activate(schedq_worker_t *worker, const schedq_pod_t *pods, size_t count,
                                  schedq_result_t *result);

/* hold.c; `holds` false: releases */
schedq_status_t lockfree_hold(schedq_worker_t *worker, schedq_pod_t pod, bool holds,
                              schedq_result_t *result);
schedq_status_t lockfree_not_before(schedq_worker_t *worker, schedq_pod_t pod, int64_t time,
                                    schedq_result_t *result);

/* label.c */
schedq_status_t lockfree_labelled(schedq_worker_t *worker, uint64_t label, label_fn *each,
                                  void *ctx);

/* nominate.c */
schedq_status_t lockfree_nominate(schedq_worker_t *worker, schedq_pod_t pod, uint64_t node);

/* events.c */
schedq_status_t lockfree_notify(schedq_worker_t *worker, const schedq_change_t *change,
                                const struct assigned_pod *assigned,
                                const struct schedq_pod_list *listed, schedq_result_t *result);
void lockfree_event_begin(schedq_worker_t *worker, uint64_t *sequence);
schedq_status_t lockfree_event_stamp(schedq_worker_t *worker, uint64_t sequence,
                                     schedq_profile_t profile, uint64_t plugins);

/* candidates.c */
schedq_status_t lockfree_candidates(schedq_worker_t *worker, schedq_query_t *query,
                                    schedq_candidate_t *out, size_t capacity, size_t *count);

/* apply.c */
schedq_status_t lockfree_apply_many(schedq_worker_t *worker, const schedq_decision_t *decisions,
                                    size_t count, uint8_t *statuses, schedq_result_t *results,
                                    schedq_result_t *sum);

/* serve.c */
schedq_status_t lockfree_tick(schedq_worker_t *worker, int64_t *next, schedq_result_t *result);

/* get.c */
schedq_status_t lockfree_get(schedq_worker_t *worker, schedq_pod_t pod, schedq_visit_fn visit,
                             void *ctx);
schedq_status_t lockfree_snapshot(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx);
schedq_status_t lockfree_nominated_pods(schedq_worker_t *worker, uint64_t node,
                                        schedq_visit_fn visit, void *ctx);

/* peek.c */
schedq_status_t lockfree_peek(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx);
schedq_status_t lockfree_peek_many(schedq_worker_t *worker, size_t count, schedq_visit_fn visit,
                                   void *ctx);

/* position.c */
schedq_status_t lockfree_position(schedq_worker_t *worker, schedq_pod_t pod, uint64_t *lower,
                                  uint64_t *upper);

/* watch.c */
schedq_worker_t *lockfree_worker_at(schedq_t *queue, uint32_t number);
schedq_status_t lockfree_watch(schedq_worker_t *worker, struct watching *watching);

/* stats.c */
void lockfree_reasons(schedq_worker_t *worker, schedq_profile_t profile, schedq_reasons_t *reasons);
int64_t lockfree_flushed(schedq_t *queue);
void lockfree_stats(schedq_t *queue, schedq_stats_t *stats);
schedq_status_t lockfree_metrics(schedq_t *queue, struct text *text);

/* workers.c */
schedq_status_t lockfree_worker_register(schedq_t *queue, schedq_worker_t **worker);
void lockfree_worker_unregister(schedq_worker_t *worker);
schedq_status_t lockfree_worker_adopt(schedq_t *queue, schedq_worker_t *abandoned);

#endif
