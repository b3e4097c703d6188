/*
 * delete: makes the word DEAD from any waiting place; containers are not touched, their refs are
 * stale by that. In flight it sets a flag: the name is free at once, the record stays its holder's.
 *
 * LINEARIZATION. The switch to DEAD, or the flag (entry_switch:A). NOT_FOUND: the look at the index
 * or the word.
 *
 * ORDERING. The word changes by a full fence (state.h, entry.h).
 *
 * PROGRESS. Lock-free: each further round is another's change of the pod, or its end. A thread that
 * stops behind the deletion: finish.c.
 *
 * EVIDENCE. tests/model: park (DELETE); stress/explore: delete_*; tests/unit/test_delete.c.
 */
#include "lockfree/calls/find.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/switch.h"

/* One attempt at the word that `view` shows. */
static bool
delete_at(struct worker *worker, uint32_t record, const struct view *view)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = view->entry;

    if (state_place(view->state) != PLACE_INFLIGHT) {
        uint64_t dead = state_switched(view->state, state_band(view->state), PLACE_DEAD);

        if (!switch_pod(worker, entry, view->state, view->desc, dead, CAUSE_NONE)) {
            return false;
        }
        describe_end(worker, &view->description);
        finish_record(worker, record, entry);
        return true;
    }
    /* of this life, if the flag is set */
    uint32_t hash = (uint32_t)(u64_load_acquire(&entry->name) >> 32);

    if (!entry_flag(entry, view->state, view->desc, FLAG_DELETED)) {
        return false;
    }
    describe_end(worker, &view->description);
    index_remove(&queue->index, hash, record, view->life);
    return true;
}

/* By handle, or by name: the pod that the key means; 0: none. */
static uint32_t
find_key(struct worker *worker, const struct pod_key *key, struct view *view)
{
    struct queue *queue = queue_of(worker);
    uint32_t record = ref_record(key->pod.bits);

    if (key->pod.bits == 0) {
        return find_name(worker, &key->name, view);
    }
    bool there = record < slab_end(&queue->entries.records) &&
                 report_view(queue, record, ref_version(key->pod.bits), view);

    return there ? record : 0;
}

schedq_status_t
lockfree_delete(schedq_worker_t *base, const struct pod_key *key, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    schedq_status_t status = SCHEDQ_NOT_FOUND;
    struct view view;
    uint32_t record;

    section_begin(worker);
    /* Ends: each further round is another thread's change of the pod, or its end. */
    while (status != SCHEDQ_OK && (record = find_key(worker, key, &view)) != 0) {
        if (delete_at(worker, record, &view)) {
            status = SCHEDQ_OK;
        }
    }
    if (status == SCHEDQ_OK) {
        report_pod(queue, record, &view, result);
        result->ref = result->backing_off = 0;
        result->place =
            state_place(view.state) == PLACE_INFLIGHT ? SCHEDQ_INFLIGHT : SCHEDQ_NOWHERE;
        tally_add(&worker->tally.deletes, 1);
    }
    section_ask(worker);
    section_leave(worker);
    return status;
}
