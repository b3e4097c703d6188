#include "every_call.h"

#include <string.h>

typedef struct making {
    const every_call_t *on;
    schedq_status_t refusal;
    every_call_fn judge;
    void *ctx;
    char why[200];
} making_t;

static int
visit_nothing(void *ctx, const schedq_pod_info_t *pod)
{
    (void)ctx;
    (void)pod;
    return 1;
}

static int
write_nothing(void *ctx, const char *text, size_t length)
{
    (void)ctx;
    (void)text;
    (void)length;
    return 1;
}

static void
wake_nobody(void *ctx)
{
    (void)ctx;
}

/* A call whose words are the worker's. */
#define BY_WORKER(call)                                                          \
    do {                                                                         \
        schedq_status_t status_ = (call);                                        \
        making->judge(making->ctx, #call, status_, schedq_worker_error(worker)); \
    } while (0)

/* One whose words are in `why`. */
#define WITH_WHY(call)                                           \
    do {                                                         \
        making->why[0] = '\0';                                   \
        schedq_status_t status_ = (call);                        \
        making->judge(making->ctx, #call, status_, making->why); \
    } while (0)

#define WITHOUT_WORDS(call) making->judge(making->ctx, #call, (call), NULL)

#define ANSWERS(call, refused) \
    making->judge(making->ctx, #call, (call) == (refused) ? making->refusal : SCHEDQ_OK, NULL)

#define WHY making->why, sizeof making->why

static void
add_and_take(making_t *making)
{
    schedq_worker_t *worker = making->on->worker;
    schedq_token_t token = making->on->token;
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_add_item_t item = SCHEDQ_ADD_ITEM_INIT;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_history_t history = {0};
    schedq_popped_t popped;
    schedq_result_t result;
    size_t count;
    item.name_length = 4;
    BY_WORKER(schedq_add(worker, "ns/x", 4, &spec, &result));
    BY_WORKER(schedq_add_many(worker, "ns/x", 4, &item, 1, NULL, NULL, NULL));
    BY_WORKER(schedq_try_pop(worker, &popped));
    BY_WORKER(schedq_pop(worker, &popped));
    BY_WORKER(schedq_pop_for(worker, 0, &popped));
    BY_WORKER(schedq_pop_until(worker, 0, &popped));
    BY_WORKER(schedq_try_pop_many(worker, &popped, 1, &count));
    BY_WORKER(schedq_pop_many(worker, &popped, 1, &count));
    BY_WORKER(schedq_pop_many_for(worker, 0, &popped, 1, &count));
    BY_WORKER(schedq_pop_many_until(worker, 0, &popped, 1, &count));
    BY_WORKER(schedq_token_alive(worker, token));
    BY_WORKER(schedq_fail(worker, &token, &failure, NULL));
    BY_WORKER(schedq_readd(worker, "ns/x", 4, &spec, &history, &failure, NULL));
    BY_WORKER(schedq_update(worker, "ns/x", 4, &spec, 0, NULL, 0, NULL));
}

static void
change_pods(making_t *making)
{
    schedq_worker_t *worker = making->on->worker;
    schedq_pod_t pod = making->on->pod;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    schedq_decision_t decision = SCHEDQ_DECISION_INIT;
    schedq_candidate_t candidate;
    uint64_t sequence;
    size_t count;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    BY_WORKER(schedq_delete(worker, pod, NULL));
    BY_WORKER(schedq_delete_name(worker, "ns/x", 4, NULL));
    BY_WORKER(schedq_activate(worker, &pod, 1, NULL));
    BY_WORKER(schedq_nominate(worker, pod, 3));
    BY_WORKER(schedq_hold(worker, pod, NULL));
    BY_WORKER(schedq_release(worker, pod, NULL));
    BY_WORKER(schedq_not_before(worker, pod, 1, NULL));
    BY_WORKER(schedq_label_cancel(worker, 1, NULL, 0, &count));
    BY_WORKER(schedq_label_hold(worker, 1, &count));
    BY_WORKER(schedq_label_release(worker, 1, &count));
    BY_WORKER(schedq_label_count(worker, 1, &count));
    BY_WORKER(schedq_notify(worker, &change, NULL));
    BY_WORKER(schedq_assigned_pod_added(worker, &change, "ns", 2, NULL));
    BY_WORKER(schedq_assigned_pod_updated(worker, &change, "ns", 2, NULL));
    BY_WORKER(schedq_event_begin(worker, &sequence));
    BY_WORKER(schedq_event_stamp(worker, 0, 0, UINT64_MAX));
    BY_WORKER(schedq_candidates(worker, &query, &candidate, 1, &count));
    BY_WORKER(schedq_apply(worker, &decision, NULL));
    BY_WORKER(schedq_apply_many(worker, &decision, 1, NULL, NULL, NULL));
}

static void
use_groups(making_t *making)
{
    schedq_worker_t *worker = making->on->worker;
    schedq_token_t token = making->on->token;
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    schedq_popped_group_t group;
    schedq_popped_t member;
    size_t count;
    BY_WORKER(schedq_group_add(worker, 7, &spec, NULL));
    BY_WORKER(schedq_group_update(worker, 7, &spec, NULL));
    BY_WORKER(schedq_group_activate(worker, 7, NULL));
    BY_WORKER(schedq_group_get(worker, 7, &info));
    BY_WORKER(schedq_try_pop_group(worker, &group, &member, 1, &count));
    BY_WORKER(schedq_pop_group_for(worker, 0, &group, &member, 1, &count));
    BY_WORKER(schedq_pop_group_until(worker, 0, &group, &member, 1, &count));
    BY_WORKER(schedq_group_done(worker, &token, &end, NULL));
    BY_WORKER(schedq_group_delete(worker, 7, NULL));
}

static void
look(making_t *making)
{
    schedq_worker_t *worker = making->on->worker;
    schedq_pod_t pod = making->on->pod;
    schedq_explanation_t explanation = SCHEDQ_EXPLANATION_INIT;
    schedq_reasons_t reasons = SCHEDQ_REASONS_INIT;
    schedq_watch_t limits = SCHEDQ_WATCH_INIT;
    schedq_overdue_t overdue = {.kind = SCHEDQ_OVERDUE_INFLIGHT};
    schedq_result_t result;
    uint64_t lower, upper;
    int64_t next;
    size_t found;
    char text[100];
    BY_WORKER(schedq_find(worker, "ns/x", 4, &result));
    BY_WORKER(schedq_get(worker, pod, visit_nothing, NULL));
    BY_WORKER(schedq_snapshot(worker, visit_nothing, NULL));
    BY_WORKER(schedq_nominated_pods(worker, 3, visit_nothing, NULL));
    BY_WORKER(schedq_peek(worker, visit_nothing, NULL));
    BY_WORKER(schedq_peek_many(worker, 1, visit_nothing, NULL));
    BY_WORKER(schedq_position(worker, pod, &lower, &upper));
    BY_WORKER(schedq_explain(worker, pod, &explanation));
    BY_WORKER(schedq_count_reasons(worker, 0, &reasons));
    BY_WORKER(schedq_watch(worker, &limits, NULL, 0, &found));
    ANSWERS(schedq_overdue_text(worker, &overdue, text, sizeof text), 0);
    BY_WORKER(schedq_tick(worker, &next, NULL));
    WITHOUT_WORDS(schedq_wait_cancel(worker));
    BY_WORKER(schedq_worker_unregister(worker));
}

static void
set_up(making_t *making)
{
    schedq_t *queue = making->on->queue;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_event_t event;
    schedq_profile_t profile;
    schedq_worker_t *worker;
    uint64_t bit;
    int fd;
    plugin.name = "Late";
    WITH_WHY(schedq_event_define(queue, "Thing", SCHEDQ_ACTION_ADD, NULL, &event, WHY));
    WITH_WHY(schedq_profile_define(queue, "late", &profile, WHY));
    WITH_WHY(schedq_plugin_register(queue, &plugin, &bit, WHY));
    WITH_WHY(schedq_plugin_name(queue, 0, "Late", 4, &bit, WHY));
    WITH_WHY(schedq_wait_callback(queue, wake_nobody, NULL, WHY));
    WITH_WHY(schedq_wait_fd(queue, &fd, WHY));
    WITH_WHY(schedq_worker_register(queue, &worker, WHY));
    WITH_WHY(schedq_worker_get(queue, &worker, WHY));
    WITHOUT_WORDS(schedq_worker_adopt(queue, making->on->worker));
    ANSWERS(schedq_rejector_bit(queue, 0, "Late", 4), 0);
    ANSWERS(schedq_event_plugins(queue, 0, SCHEDQ_EVENT_NODE_ADD), 0);
    ANSWERS(schedq_rejector_name(queue, 0, SCHEDQ_REJECTOR_OTHERS), NULL);
}

static void
use_the_queue(making_t *making)
{
    schedq_t *queue = making->on->queue;
    const schedq_named_queue_t named = {queue, "queue"};
    const schedq_explanation_t explanation = SCHEDQ_EXPLANATION_INIT;
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    char text[100];
    WITHOUT_WORDS(schedq_stats(queue, &stats));
    WITHOUT_WORDS(schedq_metrics_write(queue, write_nothing, NULL));
    WITH_WHY(schedq_metrics_write_named(&named, 1, write_nothing, NULL, WHY));
    ANSWERS(schedq_pending_text(queue, text, sizeof text), 0);
    ANSWERS(schedq_explanation_text(queue, &explanation, text, sizeof text), 0);
    ANSWERS(schedq_words(queue), NULL);
    ANSWERS(schedq_next_deadline(queue), SCHEDQ_NO_DEADLINE);
    WITH_WHY(schedq_reserve(queue, 1, 1, 1, WHY));
    WITHOUT_WORDS(schedq_trim(queue));
    WITHOUT_WORDS(schedq_clock_advance(queue, 1));
    WITH_WHY(schedq_run(queue, WHY));
    WITHOUT_WORDS(schedq_stop(queue));
    WITHOUT_WORDS(schedq_close(queue));
    WITH_WHY(schedq_destroy(queue, WHY));
    WITH_WHY(schedq_destroy_with_pods(queue, WHY));
}

void
every_call_make(const every_call_t *on, schedq_status_t refusal, every_call_fn judge, void *ctx)
{
    making_t making = {.on = on, .refusal = refusal, .judge = judge, .ctx = ctx};
    add_and_take(&making);
    change_pods(&making);
    use_groups(&making);
    look(&making);
    set_up(&making);
    use_the_queue(&making);
}
