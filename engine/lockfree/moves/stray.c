/* Notes and gathering of stray.h. */
#include "lockfree/moves/stray.h"

#include "lockfree/calls/class.h"
#include "lockfree/calls/events.h"
#include "lockfree/calls/timer.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/settle.h"

#define ONE_NOTE (UINT64_C(1) << STRAY_COUNTED)
#define ONE_SHORT (UINT64_C(1) << STRAY_SHORT_COUNTED)

/* Returns the notes before it. Ends: each failed exchange is another's change of the notes. */
COLD static uint64_t
leave(struct queue *queue, uint64_t note, uint64_t counted)
{
    uint64_t notes = u64_load(&queue->strays);

    /* leave:A */
    while (!u64_swing(&queue->strays, &notes, (notes + counted) | note)) {
    }
    atomic_fence(); /* leave:B, as the publication of what is due */
    return notes;
}

COLD static void
make_due(struct queue *queue, int64_t due)
{
    if (deadline_lower(&queue->deadline, due)) {
        timer_wake(queue);
    }
}

void
stray_leave(struct queue *queue, uint64_t note)
{
    (void)leave(queue, note, ONE_NOTE);
    make_due(queue, TIME_AT_ONCE);
}

/*
 * The first short note makes a tick due at once. A later one makes it due at strays_again. Else a
 * tick that leaves one itself would be followed by a tick at once, without end.
 */
void
stray_leave_short(struct queue *queue, uint64_t note)
{
    uint64_t notes = leave(queue, note << STRAY_SHORT, ONE_SHORT);
    bool again = (notes & (uint64_t)STRAY_NOTES << STRAY_SHORT) != 0;

    make_due(queue, again ? time_load(&queue->strays_again) : TIME_AT_ONCE);
}

/* A pod that was published before is published twice by this, which is harmless. */
COLD static void
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
        stray_leave_short(queue_of(worker), STRAY_UNMOVED);
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

/* ---- passes ---------------------------------------------------------------------------------- */

/*
 * The notes that one pass read, and the kinds that it works on: `again`, for which memory was
 * missing, and `fresh`, for which it was not.
 */
struct pass {
    uint64_t notes, fresh, again;
};

/* `always`: also what lacked memory a short time ago. That time is advice. */
COLD static struct pass
begin_pass(const struct queue *queue, uint64_t kinds, bool always)
{
    /* begin_pass:A reads from leave:A */
    struct pass pass = {.notes = u64_load_acquire(&queue->strays)};

    pass.fresh = pass.notes & kinds;
    pass.again = pass.notes >> STRAY_SHORT & kinds;
    if (pass.again != 0 && !always && queue_now(queue) < time_load(&queue->strays_again)) {
        pass.again = 0;
    }
    return pass;
}

static bool
same_count(uint64_t notes, uint64_t before, unsigned counted, unsigned end)
{
    return ((notes ^ before) << (64 - end)) >> (64 - end + counted) == 0;
}

/*
 * Takes away the notes of a pass. Fresh ones stay if any fresh note was left since, short ones if
 * any short note was. Ends: each failed exchange is another's change of the notes.
 */
COLD static void
take_notes(struct queue *queue, const struct pass *pass)
{
    uint64_t notes = u64_load(&queue->strays), taken;

    do {
        taken = 0;
        if (same_count(notes, pass->notes, STRAY_COUNTED, STRAY_SHORT_COUNTED)) {
            taken |= pass->fresh;
        }
        if (same_count(notes, pass->notes, STRAY_SHORT_COUNTED, 64)) {
            taken |= pass->again << STRAY_SHORT;
        }
    } while ((notes & taken) != 0 &&
             !u64_swing(&queue->strays, &notes, notes & ~taken)); /* take_notes:A */
}

/* A pass that left short notes out does not put them off. */
COLD static void
end_pass(struct queue *queue, const struct pass *pass)
{
    bool all = (pass->notes >> STRAY_SHORT & STRAY_NOTES & ~pass->again) == 0;

    take_notes(queue, pass);
    if (all && stray_is_short(queue, STRAY_NOTES)) {
        int64_t now = queue_now(queue);

        if (pass->again != 0 || time_load(&queue->strays_again) <= now) {
            time_store(&queue->strays_again, time_add(now, STRAY_PAUSE_NS));
        }
    }
}

bool
stray_heal_classes(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    const struct pass pass = begin_pass(queue, STRAY_CLASSES, false);

    if ((pass.fresh | pass.again) == 0) {
        return false;
    }
    class_heal(worker);
    end_pass(queue, &pass);
    return true;
}

/*
 * The notes go when all is done, and only if no other was left meanwhile: what finds no memory here
 * leaves one. A thread that stops in here takes no note away, and two threads that meet here do the
 * same work.
 */
COLD static bool
gather_notes(struct worker *worker, bool always)
{
    struct queue *queue = queue_of(worker);
    const struct pass pass = begin_pass(queue, STRAY_NOTES, always);
    const uint64_t notes = pass.fresh | pass.again;

    if (notes == 0) {
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
    section_ask(worker); /* callers may end without asking */
    end_pass(queue, &pass);
    return true;
}

bool
stray_gather(struct worker *worker)
{
    return gather_notes(worker, true);
}

bool
stray_gather_in_time(struct worker *worker)
{
    return gather_notes(worker, false);
}
