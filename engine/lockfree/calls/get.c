/*
 * Looking at pods while they move: get, snapshot, nominated pods.
 *
 * A snapshot goes through the records by number. A pod keeps its record for its whole life, so one
 * that is in the queue during the whole call is met exactly once, however it moves between places
 * meanwhile. Each pod is copied at one version of its word, its name included and its object
 * retained, and visited outside of the epoch section: a visitor may take its time.
 *
 * LINEARIZATION. Of each pod that is shown: the look at its words in objects_take.
 *
 * ORDERING. Pods: report.h; a name is read between the same two looks. report_exists: the index
 * knows a pod from commit:A on, so a record that is being filled is not shown.
 *
 * PROGRESS. Lock-free: each further round about a pod means that it changed. A thread that stops
 * here holds back what waits for a grace period, one pin and one reference.
 *
 * EVIDENCE. stress/explore: batch_look, told_lower_get, told_raise_get, upkeep_get, counted_update,
 * and every program's end (release.c); tests/unit/test_look.c, test_candidates_threads.c,
 * test_upkeep_threads.c.
 */
#include "lockfree/calls/get.h"

#include "lockfree/calls/ops.h"
#include "lockfree/moves/gather_find.h"
#include "lockfree/moves/hinted.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/settle.h"
#include "platform/inside.h"

/* ---- one pod --------------------------------------------------------------------------------- */

bool
get_take(struct worker *worker, struct view *view)
{
    names_copy(view_words(queue_of(worker), view), worker->name, view->name_length);
    view->freed = entry_freed(view->entry, view->life, view->state);
    return objects_take(worker, view->entry, view->state, &view->description, &view->desc);
}

bool
get_show(struct worker *worker, uint32_t record, const struct view *view, schedq_visit_fn visit,
         void *ctx)
{
    schedq_pod_info_t info;

    report_info(worker, record, view, &info);
    inside_calls(CALLBACK_VISITOR);
    bool more = visit(ctx, &info) != 0;

    inside_calls(CALLBACK_NONE);
    object_give_back(queue_of(worker), view->description.object);
    return more;
}

/* `exists`: the caller was told of the pod, so its add has inserted it. */
static bool
take_pod(struct worker *worker, schedq_pod_t pod, bool exists, struct view *view)
{
    uint32_t record = ref_record(pod.bits);

    /* Ends: each further round means that the pod changed. */
    while (report_handle(queue_of(worker), pod, view) &&
           (exists || report_exists(worker, record, view))) {
        if (settle_told(worker, record, view) && get_take(worker, view)) {
            return true;
        }
    }
    return false;
}

schedq_status_t
lockfree_get(schedq_worker_t *base, schedq_pod_t pod, schedq_visit_fn visit, void *ctx)
{
    struct worker *worker = worker_of(base);
    struct view view;

    section_begin(worker);
    bool found = take_pod(worker, pod, true, &view);
    section_end(worker);
    if (!found) {
        return SCHEDQ_NOT_FOUND;
    }
    (void)get_show(worker, ref_record(pod.bits), &view, visit, ctx);
    return SCHEDQ_OK;
}

/* ---- many pods ------------------------------------------------------------------------------- */

/* The record's pod; one that was deleted in flight too. */
static bool
take_by_number(struct worker *worker, uint32_t record, struct view *view)
{
    struct queue *queue = queue_of(worker);
    bool taken = false;

    section_begin(worker);
    /* Ends: each further round means that the pod changed. */
    while (!taken && report_record(queue, record, view) && !view_is_group(view) &&
           report_exists(worker, record, view)) {
        taken = settle_told(worker, record, view) && get_take(worker, view);
    }
    section_end(worker);
    return taken;
}

schedq_status_t
lockfree_snapshot(schedq_worker_t *base, schedq_visit_fn visit, void *ctx)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    bool more = true;

    for (uint32_t i = 0; more && i < slab_end(&queue->entries.records); i++) {
        struct view view;

        if (take_by_number(worker, i, &view)) {
            more = get_show(worker, i, &view, visit, ctx);
        }
    }
    return SCHEDQ_OK;
}

static void
visit_nominated(struct worker *worker, uint64_t node, const struct nominated *pods, size_t count,
                schedq_visit_fn visit, void *ctx)
{
    bool more = true;

    for (size_t i = 0; more && i < count; i++) {
        struct view view;

        section_begin(worker);
        bool found = take_pod(worker, entry_handle(pods[i].record, pods[i].life), false, &view);
        section_end(worker);
        if (found && view.description.nominated_node == node) {
            more = get_show(worker, pods[i].record, &view, visit, ctx);
        } else if (found) {
            object_give_back(queue_of(worker), view.description.object);
        }
    }
}

schedq_status_t
lockfree_nominated_pods(schedq_worker_t *base, uint64_t node, schedq_visit_fn visit, void *ctx)
{
    struct worker *worker = worker_of(base);
    struct hinted found;

    section_begin(worker);
    bool read = hinted_read(worker, &queue_of(worker)->nominator, node, &found);
    section_end(worker);
    if (!read) {
        return SCHEDQ_NOMEM;
    }
    visit_nominated(worker, node, found.pods, found.count, visit, ctx);
    hinted_free(worker, &found);
    return SCHEDQ_OK;
}
