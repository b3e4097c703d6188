/*
 * All pods of a label. Where they are found: nominator.h, LABELS.
 *
 * A record has its label before the index makes the pod exist, or answers that the name is there.
 * So the index is asked about each pod that was found: nothing is done to one that never existed.
 * It need not be asked if no other thread was inside of a section after the pods were found
 * (nobody_else_is_inside:A), but for two cases. Where there are gates, an adder of many leaves its
 * section to ask one. And after a thread died inside of a call, the adoption of its worker ended
 * its section, whatever the thread was at.
 *
 * LINEARIZATION. Of a pod that is found: the look at the index. What is done to it is a call of its
 * own.
 *
 * ORDERING
 *   exchange_lists:A, the commit that makes the pod exist (add.c) -> bucket_load:A to C
 *       a call that begins after the add returned finds the pod, as long as it lives
 *   epoch_enter, exchange_lists:A -> bucket_load:A to C, nobody_else_is_inside:A
 *       a call that found a pod sees its adder inside, or out again: then the pod exists, or its
 *       word has changed since it was found, or the adder died
 *   the note of a death, the end of the section (workers.c) -> nobody_else_is_inside:A,
 *   somebody_died:A
 *       a call that sees a dead adder out again sees that a thread died
 *
 * PROGRESS. The reading begins again only for room, if the label got pods meanwhile. Nothing is
 * held between two pods.
 *
 * EVIDENCE. tests/model: nominator, label; stress/history: labels; tests/unit/test_label.c,
 * test_label_threads.c, test_lockfree_adopt.c.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/moves/hinted.h"
#include "lockfree/moves/report.h"
#include "lockfree/moves/waiting.h"

/* Does the pod exist, or did it a moment ago? What is done to it finds out which. */
static bool
exists(struct worker *worker, const struct nominated *pod)
{
    const schedq_pod_t handle = entry_handle(pod->record, pod->life);
    bool found;
    struct view view;

    /* Ends: each further round means that the pod changed, or its add gave up. */
    do {
        found = report_handle(queue_of(worker), handle, &view) &&
                report_exists(worker, pod->record, &view);
    } while (found && entry_state(view.entry) != view.state);
    return found;
}

static bool
nobody_else_is_inside(const struct worker *self)
{
    const struct queue *queue = queue_of(self);

    for (uint32_t i = 0; i < queue_counters(queue); i++) {
        const struct worker *other = queue_counter(queue, i);

        if (other != NULL && other != self &&
            u64_load_acquire(&other->epoch->inside) !=
                EPOCH_OUTSIDE) { /* nobody_else_is_inside:A */
            return false;
        }
    }
    return true;
}

static void
keep_those_that_exist(struct worker *worker, struct hinted *found)
{
    const struct queue *queue = queue_of(worker);
    size_t kept = 0;

    if (!queue->base.registry.has_gates && nobody_else_is_inside(worker) && !somebody_died(queue)) {
        return;
    }
    section_begin(worker);
    for (size_t i = 0; i < found->count; i++) {
        if (exists(worker, &found->pods[i])) {
            found->pods[kept++] = found->pods[i];
        }
    }
    section_end(worker);
    found->count = kept;
}

/*
 * Puts held pods in front of the others, so that none of them gets its class's turn when the scout
 * goes.
 */
static void
put_kept_back_first(struct worker *worker, struct hinted *found)
{
    const struct queue *queue = queue_of(worker);
    size_t first = 0;

    section_begin(worker);
    for (size_t i = 0; i < found->count; i++) {
        const struct nominated pod = found->pods[i];
        const struct entry *entry = entry_at(&queue->entries, pod.record);

        /* NULL: the pod is over, and its page was given back */
        if (entry != NULL && state_place(entry_state(entry)) == PLACE_HELD) {
            found->pods[i] = found->pods[first];
            found->pods[first++] = pod;
        }
    }
    section_end(worker);
}

schedq_status_t
lockfree_labelled(schedq_worker_t *base, uint64_t label, label_fn *each, void *ctx)
{
    struct worker *worker = worker_of(base);
    struct hinted found;
    schedq_status_t status = SCHEDQ_OK;

    section_begin(worker);
    bool read = hinted_read(worker, &queue_of(worker)->labels, label, &found);
    section_end(worker);
    if (!read) {
        return SCHEDQ_NOMEM;
    }
    keep_those_that_exist(worker, &found);
    if (waiting_may_be(queue_of(worker), PLACE_HELD)) {
        put_kept_back_first(worker, &found);
    }
    for (size_t i = 0; status == SCHEDQ_OK && i < found.count; i++) {
        status = each(ctx, entry_handle(found.pods[i].record, found.pods[i].life));
    }
    hinted_free(worker, &found);
    return status;
}
