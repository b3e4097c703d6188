/* Copies for report.h, which has the essay. */
#include "lockfree/moves/report.h"

#include "lockfree/calls/class.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/route.h"
#include "policy/backoff.h"

/* A group's record has its initial attempt where a pod has its Timestamp (entry.h). */
COLD void
report_group(uint64_t state, struct view *view)
{
    const int64_t first = view->history.timestamp_ns;

    if ((view->description.flags & DESCRIBED_FORGOTTEN) != 0 && state_place(state) != PLACE_CYCLE) {
        view->history = (schedq_history_t){.initial_attempt_ns = view->gating.first};
    } else if (first != 0) {
        view->history.initial_attempt_ns = first;
    }
    view->history.timestamp_ns = view->description.not_before;
}

bool
report_record(const struct queue *queue, uint32_t record, struct view *view)
{
    struct entry *entry = entry_at(&queue->entries, record);

    /* Ends: each further round means that the words changed. */
    while (entry != NULL) {
        /* report_record:A reads from fill:A, or a CAS of the word */
        uint64_t state = entry_state(entry);

        if (state_place(state) == PLACE_FREE || state_place(state) == PLACE_DEAD) {
            return false;
        }
        if (report_at(queue, entry, state, view)) {
            return true;
        }
    }
    return false;
}

void
report_pod(const struct queue *queue, uint32_t record, const struct view *view,
           schedq_result_t *result)
{
    report_told(record, view, result);
    if (queue->base.rules.host && state_is_candidate(view->state)) {
        result->ref = ref_make(state_version(view->state), record);
        result->backing_off =
            route_is_backing_off(queue, view->gate, &view->history, queue_now(queue));
    }
    result->place = (uint8_t)place_public(state_place(view->state));
    if (state_place(view->state) == PLACE_ASIDE) {
        result->gate = 0; /* its group's record is gated by what refuses a member */
    }
}

/* The scout is another pod: its page may be gone outside of a section. */
COLD static void
report_class(struct worker *worker, const struct view *view, schedq_pod_info_t *info)
{
    const struct queue *queue = queue_of(worker);
    const struct class_key key = class_of_view(queue, view);

    info->class_id = key.number;
    info->kept_by_class = state_place(view->state) == PLACE_HELD &&
                          (view->description.flags & DESCRIBED_BY_CLASS) != 0;
    section_begin(worker);
    info->scout = class_scout(queue, &key);
    section_leave(worker);
}

void
report_info(struct worker *worker, uint32_t record, const struct view *view,
            schedq_pod_info_t *info)
{
    const struct queue *queue = queue_of(worker);
    enum place place = state_place(view->state);
    bool flying = place == PLACE_INFLIGHT;
    bool backs_off = place_backs_off(place);
    bool deleted = flying && (view->state & FLAG_DELETED) != 0;
    int64_t expiry = backs_off ? backoff_expiry_of(queue, &view->history) : BACKOFF_NONE;

    *info = (schedq_pod_info_t){
        .struct_size = (uint32_t)sizeof *info,
        .place = (uint8_t)place_public(state_place(view->state)),
        .profile = view->profile,
        .flags = view->description.flags & POD_FLAGS,
        .pod = entry_handle(record, view->life),
        .object = view->description.object,
        .name = worker->name,
        .name_length = view->name_length,
        .priority = view->description.priority,
        .history = view->history,
        .deleted = deleted,
        .backoff_expiry_ns = backoff_public(expiry),
        .unschedulable = view->unschedulable,
        .pending = view->pending,
        .gate = view->gate,
        .freed_by = view->freed,
        .nominated_node = deleted ? 0 : view->description.nominated_node,
        .nomination =
            deleted || view->description.nominated_node == 0 ? 0 : view->description.nomination,
        .not_before_ns = description_time(&view->description),
        .held = description_is_held(&view->description),
        .label = description_label(&view->description),
        .group = description_group(&view->description),
        .pop_order = flying ? view->pop_order : 0,
        .cycle = flying && queue->base.rules.count_cycles ? view->pop_order : 0,
    };
    if (description_class(&view->description) != 0) {
        report_class(worker, view, info);
    }
}

bool
report_is_indexed(struct worker *worker, uint32_t record, const struct view *view)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    struct hashed_name name = {.text = worker->name, .length = view->name_length};
    uint64_t life;

    name.hash = (uint32_t)(u64_load_acquire(&view->entry->name) >> 32);
    if (index_has(&queue->index, name.hash, record, view->life)) {
        return true;
    }
    names_copy(view_words(queue, view), worker->name, view->name_length);
    if (entry_state(view->entry) != view->state) {
        return true; /* the thread that changed it had found it */
    }
    return index_find(&queue->index, &caller, &name, &life) == record && life == view->life;
}
