/* Notes and gathering of stray.h. */
#include "lockfree/moves/stray.h"

#include "lockfree/calls/class.h"
#include "lockfree/calls/events.h"
#include "lockfree/calls/timer.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/settle.h"

/*
 * Ends: each failed exchange is another's change of the notes.
 *
 * Who finds no memory once more does not make a tick due before its time: a tick would do that
 * itself, again and again, behind its plan.
 */
void
stray_leave(struct queue *queue, uint64_t note)
{
    uint64_t notes = u64_load(&queue->strays);

    /* stray_leave:A */
    while (!u64_swing(&queue->strays, &notes, (notes + STRAY_BITS + 1) | note)) {
    }
    bool again = (notes & note & STRAY_NO_MEMORY) != 0;

    atomic_fence(); /* stray_leave:B, as the publication of what is due */
    if (deadline_lower(&queue->deadline, again ? time_load(&queue->strays_again) : TIME_AT_ONCE)) {
        timer_wake(queue);
    }
}

/* A pod that is published is published twice by this, which is harmless. */
static void
bring_back(struct worker *worker, uint32_t record, uint64_t notes)
{
    struct view view;

    if (!report_any(queue_of(worker), record, &view) || !report_exists(worker, record, &view)) {
        return;
    }
    if (view_is_group(&view)) {
        gather_look_after(worker, view.seen);
        return;
    }
    bool settled = (notes & STRAY_UNPUBLISHED) == 0 || settle_again(worker, record, &view);

    if (!settled || !transfer_follow(worker, record, view.life)) {
        stray_leave(queue_of(worker), STRAY_UNMOVED | STRAY_NO_MEMORY);
    } else if ((notes & STRAY_UNPUBLISHED) != 0 && state_place(view.state) == PLACE_GATED) {
        (void)events_help(worker, record, view.life);
    }
}

void
stray_ask(struct worker *worker, uint64_t owed)
{
    if (owed != 0) {
        (void)events_help(worker, ref_record(owed), ref_version(owed));
    }
}

/* Not if another note was left since `notes` were read, or another thread took some. */
static void
take_notes(struct queue *queue, uint64_t notes, uint64_t done)
{
    uint64_t left = notes & ~done;

    if ((left & STRAY_NOTES) == 0) {
        left &= ~(uint64_t)STRAY_NO_MEMORY;
    }
    (void)u64_cas(&queue->strays, notes, left); /* take_notes:A */
}

/* Was memory missing a short time ago? The time is advice. */
static bool
is_too_early(const struct queue *queue, uint64_t notes)
{
    return (notes & STRAY_NO_MEMORY) != 0 && queue_now(queue) < time_load(&queue->strays_again);
}

bool
stray_heal_classes(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    uint64_t notes = u64_load_acquire(&queue->strays); /* as stray_gather:A */

    if ((notes & STRAY_CLASSES) == 0 || is_too_early(queue, notes)) {
        return false;
    }
    class_heal(worker);
    take_notes(queue, notes, STRAY_CLASSES);
    return true;
}

/*
 * The notes go when all is done, and only if no other was left meanwhile: what finds no memory here
 * leaves one. A thread that stops in here takes no note away, and two threads that meet here do the
 * same work.
 */
bool
stray_gather(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    /* stray_gather:A reads from stray_leave:A */
    uint64_t notes = u64_load_acquire(&queue->strays);

    if ((notes & STRAY_NOTES) == 0) {
        return false;
    }
    for (uint32_t i = 0; (notes & (STRAY_UNMOVED | STRAY_UNPUBLISHED)) != 0 &&
                         i < slab_end(&queue->entries.records);
         i++) {
        bring_back(worker, i, notes);
    }
    if ((notes & STRAY_UNJUDGED) != 0) {
        events_judge_all(worker);
    }
    if ((notes & STRAY_CLASSES) != 0) {
        class_heal(worker);
    }
    section_ask(worker); /* callers may end without */
    take_notes(queue, notes, STRAY_NOTES);
    if (stray_is_noted(queue, STRAY_NO_MEMORY)) {
        time_store(&queue->strays_again, time_add(queue_now(queue), STRAY_PAUSE_NS));
    }
    return true;
}

bool
stray_gather_in_time(struct worker *worker)
{
    const struct queue *queue = queue_of(worker);

    return !is_too_early(queue, u64_load(&queue->strays)) && stray_gather(worker);
}
