/* Making pods findable, for settle.h, which has the essay. */
#include "lockfree/moves/settle.h"

#include "lockfree/calls/events.h"
#include "lockfree/moves/stray.h"

/*
 * A pod that was never moved belongs where its description says. If another thread changed the pod
 * meanwhile, that thread found it, and nothing has to be done.
 *
 * A gated pod may have missed events of its gate while it could not be found: the caller sees to it
 * that its gate is asked.
 */
bool
settle_again(struct worker *worker, uint32_t record, const struct view *view)
{
    const struct way own = {.place = state_place(view->state), .gate = view->gate};
    enum place place = own.place;
    int64_t now = place == PLACE_GATED ? queue_now(queue_of(worker)) : 0;
    struct transfer transfer;

    if (place == PLACE_INFLIGHT) {
        return true;
    }
    if (worker->base.number == HOUSEKEEPER && place != PLACE_ACTIVE) {
        /* a housekeeper has no lanes: a worker that has them publishes the pod */
        stray_leave(queue_of(worker), STRAY_UNPUBLISHED);
        return true;
    }
    if (!transfer_prepare(worker, record, view, &own, now, &transfer)) {
        stray_leave_short(queue_of(worker), STRAY_UNPUBLISHED);
        return false;
    }
    if (entry_state(view->entry) != view->state) {
        return true;
    }
    /*
     * It was described anew and not moved, or its band was retired: so it is moved, not published
     * again.
     */
    if (place == PLACE_ACTIVE && transfer.to.band->id != state_band(view->state)) {
        bool moved = transfer_follow(worker, record, view->life);

        publish_wake(worker);
        return moved;
    }
    transfer_announce(worker, &transfer.to, ref_make(state_base(view->state), record), CAUSE_NONE,
                      false);
    publish_wake(worker);
    return true;
}

/*
 * The caller is inside of the index, and has tables, lots and bands of this section in hand: so the
 * gate is asked when the call ends. For a second pod a note is left, and a tick asks.
 */
static void
ask_later(struct worker *worker, uint32_t record, uint64_t life)
{
    if (u64_load(&worker->settled) != 0) {
        stray_leave(queue_of(worker), STRAY_UNJUDGED);
    } else {
        /* before the index says that the pod is settled: a tick asks if this thread stops */
        u64_store_release(&worker->settled, ref_make(life, record));
    }
}

void
settle_ask(struct worker *worker)
{
    uint64_t settled = u64_load(&worker->settled);

    if (settled != 0) {
        (void)events_help(worker, ref_record(settled), ref_version(settled));
        u64_store_release(&worker->settled, 0);
    }
    worker->told = 0;
}

bool
settle_pod(void *ctx, uint32_t record, uint64_t life)
{
    struct worker *worker = ctx;
    struct view view;

    if (!report_view(queue_of(worker), record, life, &view) || state_version(view.state) != life) {
        return true; /* the pod is over, or was found before */
    }
    /* What was prepared for a pod of the worker's own stays prepared. */
    struct run *prepared = worker->spare_run;

    worker->spare_run = NULL;
    bool settled = settle_again(worker, record, &view);

    if (prepared != NULL && worker->spare_run != NULL) {
        run_give(&queue_of(worker)->runs, worker->spare_run);
    }
    worker->spare_run = prepared != NULL ? prepared : worker->spare_run;
    if (state_place(view.state) == PLACE_GATED && worker->base.number != HOUSEKEEPER) {
        ask_later(worker, record, life);
    }
    return settled;
}

/* ---- before a caller is told ----------------------------------------------------------------- */

/*
 * Its ref is published: the index says so. But its publisher may have stopped before it marked the
 * band. No fence: the ref was visible before the caller saw the pod.
 */
static void
mark(struct worker *worker, uint32_t record, const struct view *view)
{
    struct band *band = bands_at(&queue_of(worker)->bands, state_band(view->state));

    /*
     * The caller is told of an update that was described and has not moved the pod, so that update
     * is finished first.
     */
    if (state_lag(view->state) != 0 || band == NULL || !bin_mark(&band->bin)) {
        (void)transfer_follow(worker, record, view->life);
    }
}

/*
 * Has a worker named the pod as one whose gates it still has to ask? A note says that some pod's
 * were not asked, so with a note every pod counts.
 */
static bool
is_owed(const struct queue *queue, uint32_t record, uint64_t life)
{
    const uint64_t debt = ref_make(life, record);

    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *other = ptr_load_acquire(&queue->workers[i]); /* of slot_worker:A */

        if (other != NULL &&
            (u64_load_acquire(&other->owed) == debt || u64_load_acquire(&other->settled) == debt)) {
            return true;
        }
    }
    return stray_is_noted(queue, STRAY_UNJUDGED | STRAY_UNPUBLISHED);
}

/*
 * A pod is told of as gated only if its gates were asked since it can be found. They are asked once
 * in a call: if a thread gates the pod afterwards, it asked later still. False: it changed.
 */
static bool
pay(struct worker *worker, uint32_t record, struct view *view)
{
    struct queue *queue = queue_of(worker);
    const uint64_t debt = ref_make(view->life, record);

    if (worker->told == debt || !is_owed(queue, record, view->life)) {
        return entry_state(view->entry) == view->state; /* pay:A */
    }
    worker->told = debt;
    events_help_placed(worker, record, view->life);
    if (u64_load(&worker->settled) == debt) {
        u64_store_release(&worker->settled, 0);
    }
    return report_view(queue, record, view->life, view);
}

bool
settle_told(struct worker *worker, uint32_t record, struct view *view)
{
    if (state_place(view->state) == PLACE_GATED && !queue_of(worker)->base.rules.host &&
        !pay(worker, record, view)) {
        return false;
    }
    /* also one that became active while its gates were asked */
    if (state_place(view->state) == PLACE_ACTIVE) {
        mark(worker, record, view);
    }
    return true;
}
