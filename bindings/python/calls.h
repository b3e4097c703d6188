/*
 * The calls that need nothing of shim.c but its guard: CALL with the calling thread's own worker,
 * CALL_QUEUE with the queue. NAME, the parameters, the arguments of schedq_NAME. Included with both
 * macros defined.
 */
CALL(try_pop, (struct sqp_queue * queue, schedq_popped_t *out), (worker, out))
CALL(try_pop_many, (struct sqp_queue * queue, schedq_popped_t *out, size_t capacity, size_t *count),
     (worker, out, capacity, count))
CALL(pop, (struct sqp_queue * queue, schedq_popped_t *out), (worker, out))
CALL(pop_for, (struct sqp_queue * queue, int64_t wait_ns, schedq_popped_t *out),
     (worker, wait_ns, out))
CALL(pop_many, (struct sqp_queue * queue, schedq_popped_t *out, size_t capacity, size_t *count),
     (worker, out, capacity, count))
CALL(pop_many_for,
     (struct sqp_queue * queue, int64_t wait_ns, schedq_popped_t *out, size_t capacity,
      size_t *count),
     (worker, wait_ns, out, capacity, count))
CALL(token_alive, (struct sqp_queue * queue, schedq_token_t token), (worker, token))
CALL(fail,
     (struct sqp_queue * queue, schedq_token_t *token, const schedq_failure_t *failure,
      schedq_result_t *result),
     (worker, token, failure, result))
CALL(readd,
     (struct sqp_queue * queue, const char *name, size_t length, const schedq_pod_spec_t *spec,
      const schedq_history_t *history, const schedq_failure_t *failure, schedq_result_t *result),
     (worker, name, length, spec, history, failure, result))
CALL(add,
     (struct sqp_queue * queue, const char *name, size_t length, const schedq_pod_spec_t *spec,
      schedq_result_t *result),
     (worker, name, length, spec, result))
CALL(update,
     (struct sqp_queue * queue, const char *name, size_t length, const schedq_pod_spec_t *spec,
      uint64_t old_object, const schedq_event_t *events, size_t event_count,
      schedq_result_t *result),
     (worker, name, length, spec, old_object, events, event_count, result))
CALL(delete, (struct sqp_queue * queue, schedq_pod_t pod, schedq_result_t *result),
     (worker, pod, result))
CALL(delete_name,
     (struct sqp_queue * queue, const char *name, size_t length, schedq_result_t *result),
     (worker, name, length, result))
CALL(activate,
     (struct sqp_queue * queue, const schedq_pod_t *pods, size_t count, schedq_result_t *result),
     (worker, pods, count, result))
CALL(nominate, (struct sqp_queue * queue, schedq_pod_t pod, uint64_t node), (worker, pod, node))
CALL(hold, (struct sqp_queue * queue, schedq_pod_t pod, schedq_result_t *result),
     (worker, pod, result))
CALL(release, (struct sqp_queue * queue, schedq_pod_t pod, schedq_result_t *result),
     (worker, pod, result))
CALL(not_before,
     (struct sqp_queue * queue, schedq_pod_t pod, int64_t time_ns, schedq_result_t *result),
     (worker, pod, time_ns, result))
CALL(label_cancel,
     (struct sqp_queue * queue, uint64_t label, schedq_result_t *results, size_t room,
      size_t *count),
     (worker, label, results, room, count))
CALL(label_hold, (struct sqp_queue * queue, uint64_t label, size_t *count), (worker, label, count))
CALL(label_release, (struct sqp_queue * queue, uint64_t label, size_t *count),
     (worker, label, count))
CALL(label_count, (struct sqp_queue * queue, uint64_t label, size_t *count), (worker, label, count))
CALL(group_add,
     (struct sqp_queue * queue, uint64_t group, const schedq_group_spec_t *spec,
      schedq_result_t *result),
     (worker, group, spec, result))
CALL(group_update,
     (struct sqp_queue * queue, uint64_t group, const schedq_group_spec_t *spec,
      schedq_result_t *result),
     (worker, group, spec, result))
CALL(group_delete, (struct sqp_queue * queue, uint64_t group, schedq_result_t *result),
     (worker, group, result))
CALL(group_activate, (struct sqp_queue * queue, uint64_t group, schedq_result_t *result),
     (worker, group, result))
CALL(group_get, (struct sqp_queue * queue, uint64_t group, schedq_group_info_t *info),
     (worker, group, info))
CALL(try_pop_group,
     (struct sqp_queue * queue, schedq_popped_group_t *group, schedq_popped_t *members, size_t room,
      size_t *count),
     (worker, group, members, room, count))
CALL(pop_group_until,
     (struct sqp_queue * queue, int64_t deadline_ns, schedq_popped_group_t *group,
      schedq_popped_t *members, size_t room, size_t *count),
     (worker, deadline_ns, group, members, room, count))
CALL(group_done,
     (struct sqp_queue * queue, schedq_token_t *token, const schedq_group_end_t *end,
      schedq_result_t *result),
     (worker, token, end, result))
CALL(notify, (struct sqp_queue * queue, const schedq_change_t *change, schedq_result_t *result),
     (worker, change, result))
CALL(assigned_pod_added,
     (struct sqp_queue * queue, const schedq_change_t *change, const char *name, size_t length,
      schedq_result_t *result),
     (worker, change, name, length, result))
CALL(assigned_pod_updated,
     (struct sqp_queue * queue, const schedq_change_t *change, const char *name, size_t length,
      schedq_result_t *result),
     (worker, change, name, length, result))
CALL(tick, (struct sqp_queue * queue, int64_t *next_ns, schedq_result_t *result),
     (worker, next_ns, result))
CALL(find, (struct sqp_queue * queue, const char *name, size_t length, schedq_result_t *result),
     (worker, name, length, result))
CALL(watch,
     (struct sqp_queue * queue, schedq_watch_t *watch, schedq_overdue_t *out, size_t room,
      size_t *found),
     (worker, watch, out, room, found))
CALL(position, (struct sqp_queue * queue, schedq_pod_t pod, uint64_t *lower, uint64_t *upper),
     (worker, pod, lower, upper))
CALL(explain, (struct sqp_queue * queue, schedq_pod_t pod, schedq_explanation_t *explanation),
     (worker, pod, explanation))
CALL(count_reasons, (struct sqp_queue * queue, schedq_profile_t profile, schedq_reasons_t *reasons),
     (worker, profile, reasons))

CALL_QUEUE(event_define,
           (struct sqp_queue * queue, const char *resource, uint32_t actions, const char *label,
            schedq_event_t *event),
           (queue->queue, resource, actions, label, event, words, sizeof words))
CALL_QUEUE(profile_define, (struct sqp_queue * queue, const char *name, schedq_profile_t *profile),
           (queue->queue, name, profile, words, sizeof words))
CALL_QUEUE(reserve, (struct sqp_queue * queue, uint32_t pods, uint32_t bands, uint32_t workers),
           (queue->queue, pods, bands, workers, words, sizeof words))
CALL_QUEUE(trim, (struct sqp_queue * queue), (queue->queue))
CALL_QUEUE(close, (struct sqp_queue * queue), (queue->queue))
CALL_QUEUE(run, (struct sqp_queue * queue), (queue->queue, words, sizeof words))
CALL_QUEUE(stop, (struct sqp_queue * queue), (queue->queue))
CALL_QUEUE(clock_advance, (struct sqp_queue * queue, int64_t now_ns), (queue->queue, now_ns))
CALL_QUEUE(wait_fd, (struct sqp_queue * queue, int *fd), (queue->queue, fd, words, sizeof words))
CALL_QUEUE(stats, (struct sqp_queue * queue, schedq_stats_t *stats), (queue->queue, stats))
