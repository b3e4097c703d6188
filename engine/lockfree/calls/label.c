/*
 * All pods of a label. Where they are found: nominator.h, LABELS.
 *
 * LINEARIZATION. Of a pod that is found: the load of its description in the reading. What is done
 * to it is a call of its own.
 *
 * ORDERING
 *   nominator_insert:A, the commit that makes the pod exist (add.c) -> bucket_load:A to C
 *       who begins after the add returned finds the pod, as long as it lives
 *
 * PROGRESS. Lock-free: a reading that begins again means that another thread added a pod whose
 * label is in the same bucket, or dropped hints there. Nothing is held between two pods.
 *
 * EVIDENCE. tests/model: nominator; tests/unit/test_label.c.
 */
#include "lockfree/calls/ops.h"

static size_t
read_label(struct worker *worker, uint64_t label, struct nominated *pods, size_t capacity)
{
    struct nominator *labels = &queue_of(worker)->labels;

    section_begin(worker);
    size_t count = ptr_load_acquire(&labels->buckets) != NULL /* of nominator_make */
                       ? nominator_read(labels, worker->epoch, label, pods, capacity)
                       : 0;
    section_end(worker);
    return count;
}

schedq_status_t
lockfree_labelled(schedq_worker_t *base, uint64_t label, label_fn *each, void *ctx)
{
    struct worker *worker = worker_of(base);
    struct memory *memory = &queue_of(worker)->base.memory;
    struct nominated few[16];
    struct nominated *pods = few;
    size_t capacity = sizeof few / sizeof few[0];
    size_t count;
    schedq_status_t status = SCHEDQ_OK;

    /* Ends: each further round means that pods of the label were added meanwhile. */
    while ((count = read_label(worker, label, pods, capacity)) > capacity) {
        if (pods != few) {
            memory_free(memory, MEMORY_OTHER, pods, capacity * sizeof *pods);
        }
        capacity = count;
        pods = memory_alloc(memory, MEMORY_OTHER, capacity * sizeof *pods, CACHE_LINE);
        if (pods == NULL) {
            return SCHEDQ_NOMEM;
        }
    }
    for (size_t i = 0; status == SCHEDQ_OK && i < count; i++) {
        status = each(ctx, entry_handle(pods[i].record, pods[i].life));
    }
    if (pods != few) {
        memory_free(memory, MEMORY_OTHER, pods, capacity * sizeof *pods);
    }
    return status;
}
