/*
 * delete: makes the word DEAD, from any place but flight; containers are not touched, their refs
 * are stale by that. In flight it sets a flag: the name is free at once, the record stays its
 * holder's.
 *
 * LINEARIZATION. The switch to DEAD, or the flag (entry_switch:A). NOT_FOUND: the look at the index
 * or the word.
 *
 * ORDERING. The word changes by a full fence (state.h, entry.h).
 *
 * PROGRESS. Lock-free: each further round is another thread's change of the pod, or its end. A
 * thread that stops behind the deletion: finish.c.
 *
 * EVIDENCE. tests/model: park (DELETE); stress/explore: delete_*; tests/unit/test_delete.c.
 */
#include "lockfree/calls/class.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/switch.h"

/* delete_at for a member that waits for its group; the group is told. */
COLD static schedq_status_t
delete_member(struct worker *worker, uint32_t record, uint64_t life, schedq_result_t *result)
{
    struct view view;

    if (!report_view(queue_of(worker), record, life, &view) || view_is_group(&view)) {
        return SCHEDQ_NOT_FOUND;
    }
    if (state_place(view.state) != PLACE_ASIDE) {
        return SCHEDQ_RETRY;
    }
    const uint64_t group = view.description.group, counted = gather_leaves(worker, group);

    if (!entry_switch(view.entry, view.state, view.desc,
                      state_switched(view.state, 0, PLACE_DEAD))) {
        u64_store_release(&worker->joining, 0);
        return SCHEDQ_RETRY;
    }
    describe_end(worker, &view.description);
    switch_leave(worker, PLACE_ASIDE);
    finish_record(worker, record, view.entry);
    tally_add_last(&worker->tally.deletes, 1); /* as delete_at:A */
    gather_left(worker, group, counted, view.gate, result);
    report_told(record, &view, result);
    result->place = SCHEDQ_NOWHERE;
    result->gate = 0; /* as report_pod */
    return SCHEDQ_OK;
}

/* kube: a member that leaves, also from flight, makes a record that is queued come in again. */
COLD static void
leave_in_flight(struct worker *worker, uint64_t group, schedq_result_t *result)
{
    if (queue_of(worker)->base.rules.groups_as_kube) {
        gather_left(worker, group, 0, 0, result);
    }
}

/* Notes the class of a pod that is about to be deleted. */
COLD static void
note_class(struct worker *worker, uint32_t record, uint64_t life)
{
    struct view view;

    worker->leaving = report_view(queue_of(worker), record, life, &view)
                          ? class_of_view(queue_of(worker), &view)
                          : (struct class_key){0};
}

/* Behind the deletion: if the pod was its class's scout, the next one is. May leave the section. */
COLD static void
leave_class(struct worker *worker, uint32_t record, uint64_t life, schedq_result_t *result)
{
    const struct class_key key = worker->leaving;

    result->poppable |= class_hands_over(worker, &key, entry_handle(record, life));
}

/*
 * One attempt. What is told was read at the word that the exchange compares. SCHEDQ_NOT_FOUND: the
 * record's pod is another, or none; SCHEDQ_RETRY: it changed.
 */
STRAIGHT schedq_status_t
delete_at(struct worker *worker, uint32_t record, uint64_t life, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, record);
    uint64_t state = entry != NULL ? entry_state(entry) : state_of(PLACE_FREE);
    struct view view;

    if (!state_is_pod(state)) {
        return SCHEDQ_NOT_FOUND;
    }
    if (state_place(state) == PLACE_ASIDE) {
        return delete_member(worker, record, life, result);
    }
    report_brief(queue, entry, state, &view);
    uint32_t hash = (uint32_t)(u64_load_acquire(&entry->name) >> 32);

    if (view.life != life || view_is_group(&view)) {
        return SCHEDQ_NOT_FOUND;
    }
    bool flies = state_place(state) == PLACE_INFLIGHT;
    uint64_t next = flies ? state | FLAG_DELETED : state_switched(state, 0, PLACE_DEAD);

    const bool classed = (view.description.flags & DESCRIBED_CLASS) != 0;

    if (classed) {
        note_class(worker, record, life);
    }
    if (!entry_switch(entry, state, view.desc, next)) {
        return SCHEDQ_RETRY;
    }
    describe_end(worker, &view.description);
    if (flies) {
        index_remove(&queue->index, hash, record, life);
    } else {
        switch_leave(worker, state_place(state));
        finish_record(worker, record, entry);
    }
    tally_add_last(&worker->tally.deletes, 1); /* delete_at:A, read by read_leaves */
    if (flies && route_is_aside(&view)) {
        leave_in_flight(worker, view.description.group, result);
    }
    report_told(record, &view, result);
    result->place = flies ? SCHEDQ_INFLIGHT : SCHEDQ_NOWHERE;
    if (classed) {
        leave_class(worker, record, life, result);
    }
    return SCHEDQ_OK;
}

schedq_status_t
lockfree_delete(schedq_worker_t *base, const struct pod_key *key, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    uint32_t record = ref_record(key->pod.bits);
    uint64_t life = ref_version(key->pod.bits);
    bool named = key->pod.bits == 0;
    schedq_status_t status;

    section_begin(worker);
    /* Ends: each further round is another thread's change of the pod, or its end. */
    do {
        if (named) {
            record = index_find(&queue->index, &caller, &key->name, &life);
        }
        bool known = named ? record != 0 : record < slab_end(&queue->entries.records);

        status = known ? delete_at(worker, record, life, result) : SCHEDQ_NOT_FOUND;
    } while (status == SCHEDQ_RETRY || (status == SCHEDQ_NOT_FOUND && named && record != 0));
    section_ask(worker);
    section_leave_ended(worker);
    return status;
}
