/* Making pods findable, for settle.h, which has the essay. */
#include "lockfree/moves/settle.h"

#include "lockfree/calls/events.h"

/*
 * The container of a pod that was never moved is that of its description. A thread that changed the
 * pod meanwhile found it.
 *
 * A gated pod may have missed events of its gate while it could not be found: the caller has its
 * gate asked.
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
        /* it has no lanes: a worker that has them publishes the pod */
        queue_note_stray(queue_of(worker), STRAY_UNPUBLISHED);
        return true;
    }
    if (!transfer_prepare(worker, record, view, &own, now, &transfer)) {
        queue_note_stray(queue_of(worker), STRAY_UNPUBLISHED);
        return false;
    }
    if (entry_state(view->entry) != view->state) {
        return true;
    }
    /*
     * Described anew and not moved, or its band was retired: it is moved, not published again.
     */
    if (place == PLACE_ACTIVE && transfer.to.band->id != state_band(view->state)) {
        bool moved = transfer_follow(worker, record, view->life);

        publish_wake(worker);
        return moved;
    }
    transfer_announce(worker, &transfer.to, ref_make(state_base(view->state), record), CAUSE_NONE);
    publish_wake(worker);
    return true;
}

/*
 * The index holds tables, and its callers lots and bands, of this section: so the gate is asked
 * when the call ends. For a second pod a note is left, and a tick asks.
 */
static void
ask_later(struct worker *worker, uint32_t record, uint64_t life)
{
    if (u64_load(&worker->settled) != 0) {
        queue_note_stray(queue_of(worker), STRAY_UNJUDGED);
    } else {
        /* before the index says that the pod is settled: a tick asks if this thread stops */
        u64_store_release(&worker->settled, ref_make(life, record));
    }
}

void
settle_ask(struct worker *worker)
{
    uint64_t settled = u64_load(&worker->settled);

    (void)events_help(worker, ref_record(settled), ref_version(settled));
    u64_store_release(&worker->settled, 0);
}

bool
settle_pod(void *ctx, uint32_t record, uint64_t life)
{
    struct worker *worker = ctx;
    struct view view;

    if (!report_view(queue_of(worker), record, life, &view) || state_version(view.state) != life) {
        return true; /* it is over, or it was found before */
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
     * An update that was described and has not moved the pod is told of as well, so it is finished.
     */
    if (state_lag(view->state) != 0 || band == NULL || !bin_mark(&band->bin)) {
        (void)transfer_follow(worker, record, view->life);
    }
}

static bool
is_noted(const struct queue *queue, uint64_t notes)
{
    return (u64_load_acquire(&queue->strays) & notes) != 0; /* of queue_note_stray:A */
}

/* Does somebody owe the pod's gates a question? */
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
    return is_noted(queue, STRAY_UNJUDGED | STRAY_UNPUBLISHED);
}

/*
 * A pod is told of as gated only if its gates were asked since it can be found. False: it changed.
 *
 * Ends: each further round is another thread's change of the pod, or this thread's, which brought
 * it behind another gate.
 */
static bool
pay(struct worker *worker, uint32_t record, struct view *view)
{
    struct queue *queue = queue_of(worker);
    const uint64_t debt = ref_make(view->life, record);
    uint64_t asked = 0; /* the word whose gates this call asked */

    while (state_place(view->state) == PLACE_GATED && view->state != asked &&
           is_owed(queue, record, view->life)) {
        asked = view->state;
        events_help_placed(worker, record, view->life);
        if (u64_load(&worker->settled) == debt) {
            u64_store_release(&worker->settled, 0);
        }
        if (!report_view(queue, record, view->life, view)) {
            return false;
        }
    }
    return entry_state(view->entry) == view->state; /* pay:A */
}

bool
settle_told(struct worker *worker, uint32_t record, struct view *view)
{
    const struct queue *queue = queue_of(worker);

    if (state_place(view->state) == PLACE_ACTIVE) {
        mark(worker, record, view);
        return true;
    }
    if (!state_waits(view->state)) {
        return true;
    }
    if (is_noted(queue, STRAY_UNPUBLISHED)) {
        (void)settle_again(worker, record, view);
    }
    return state_place(view->state) != PLACE_GATED || queue->base.rules.host ||
           pay(worker, record, view);
}
