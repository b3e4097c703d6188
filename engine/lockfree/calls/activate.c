/*
 * activate: pods that wait become active, and a pod in flight is retried when its flight fails.
 *
 * LINEARIZATION. The switch; events_activate_in_flight:A (events.c) in flight. ORDERING, PROGRESS:
 * mover.h.
 *
 * EVIDENCE. stress/explore: activate_*; tests/unit/test_activate.c.
 */
#include "lockfree/calls/events.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/gather_join.h"

/* mover.decide */
static bool
decide_active(struct mover *mover, const struct view *view, struct way *way)
{
    if (place_is_kept(state_place(view->state))) {
        return false;
    }
    *way = route_activated(mover->worker, view);
    return true;
}

/*
 * The records that the batch may hold, by their low bits. So mover_holds, which looks through the
 * batch, is seldom asked.
 */
struct named {
    uint64_t bits[64];
};

static void
activate(struct mover *mover, schedq_pod_t pod, struct named *named)
{
    struct queue *queue = queue_of(mover->worker);
    uint32_t record = ref_record(pod.bits);
    struct view view;

    if (!mover->alone) {
        uint64_t *word = &named->bits[record / 64 % 64], bit = UINT64_C(1) << record % 64;

        if ((*word & bit) != 0 && mover_holds(mover, record)) {
            mover_end(mover); /* a caller may name a pod twice */
        }
        *word |= bit;
    }
    if (!report_handle(queue, pod, &view) || !report_exists(mover->worker, record, &view)) {
        return;
    }
    if (state_place(view.state) == PLACE_ASIDE) {
        mover_end(mover);
        mover->no_memory |= !gather_activate(mover->worker, view.description.group, mover->result);
        return;
    }
    if (queue->base.rules.activates_in_flight) {
        events_activate_in_flight(view.entry, view.life);
    }
    if (!queue->base.rules.host) {
        mover_try(mover, record, &view);
    }
}

schedq_status_t
lockfree_activate(schedq_worker_t *base, const schedq_pod_t *pods, size_t count,
                  schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    struct mover mover = {.worker = worker,
                          .now = queue_now(queue),
                          .label = LABEL_FORCE_ACTIVATE,
                          .alone = count == 1,
                          .result = result,
                          .decide = decide_active};
    struct named named;

    section_begin(worker);
    mover_begin(&mover);
    for (size_t i = 0; i < count; i++) {
        if (!mover.alone && i % MOVER_BATCH == 0) {
            mover_end(&mover);
            named = (struct named){0};
        }
        activate(&mover, pods[i], &named);
    }
    mover_end(&mover);
    section_end(worker);
    return mover.no_memory ? SCHEDQ_NOMEM : SCHEDQ_OK;
}
