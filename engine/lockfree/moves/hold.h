/*
 * Pods that are kept back: the place HELD.
 *
 * WHAT KEEPS A POD BACK is in its description: a mark, which a call sets and takes away, and a time
 * before which it is not to be popped. A pod that is not in flight and is kept back is HELD, from
 * one and the same exchange on: the one that installs the description. So no word ever says that a
 * pod may be popped which its description keeps back.
 *
 * STATES. `keeps` is description_keeps at the time of the call.
 *   from \ what it says    keeps, by the mark   keeps, by the time    keeps not
 *   ACTIVE or waiting      HELD, nowhere        HELD, in the bin      as it is
 *   HELD                   HELD, nowhere        HELD, in the bin      HELD, in the bin, due now;
 *                                                                     then out by a mover
 *   INFLIGHT               FLAG_JUDGE           FLAG_JUDGE            FLAG_JUDGE
 * "nowhere": in no container; its handle and its name find it. "the bin": waiting.held, by the
 * time. A holder whose pod fails asks the same question of the description that its switch
 * compares. A thread that serves time moves out what is due there (serve.c). A call that releases a
 * pod makes it due first, and then does what such a thread would do: if it stops in between, the
 * next thread that serves time does it. Updates of a held pod end its lag at once; only a
 * disturbance raises it (mover.h).
 *
 * NO HELPERS. A ref in the bin that is FUTURE belongs to a description that is not installed; a
 * thread that meets it leaves it alone (place_has_helpers). One that is due is made stale: its
 * publisher decides again, or has stopped (end_promise in mover.c).
 *
 * LINEARIZATION. entry_describe:A.
 *
 * ORDERING
 *   hold against pop         both exchange the same word: the later one fails. A pop that was first
 *                            has the pod in flight, and hold marks it there
 *   hold against a move      the same. What the mover published is stale: it names the next version
 *                            in another place
 *   hold against a failure   FLAG_JUDGE makes what the holder published stale, and its switch fail:
 *                            it sees the new description, as with an update
 *   hold against an update   both exchange the description word: the later one begins again
 *   ref, transfer_announce:A, deadline_lower:A | deadline_begin:A, waiting_may_be:A
 *       the planner sees the pod, or the deadline is lowered after its look (waiting.h)
 *
 * PROGRESS. Lock-free: each further round is another's change of the pod. A thread that stops
 * before the exchange leaves the pod where it was, and perhaps a stale ref and a deadline that is
 * too early. One that stops behind it has not given back the old description's record. If a thread
 * publishes a ref and does not exchange, and another thread then holds the pod, that ref is VALID
 * in the bin, under a time that is not the pod's. When it is due, the pod is held anew
 * (hold_is_due), and the ref is stale. A pod that its class keeps back is made due instead
 * (hold_end_turn): held anew, it would not be in the class's line any more.
 *
 * EVIDENCE. tests/model: hold; stress/explore: hold_*; stress/history: once (HELD);
 * tests/unit/test_hold.c, test_not_before.c.
 */
#ifndef SCHEDQ_LOCKFREE_HOLD_H
#define SCHEDQ_LOCKFREE_HOLD_H

#include "lockfree/moves/describe.h"
#include "lockfree/moves/transfer.h"

/**
 * Installs a description on the pod that `before` shows, which is not in flight, and holds the pod:
 * one that is held already, and not kept back any more, is due now. As describe_install. What
 * becomes of the group that a member leaves is told in `result`; then the section may have been
 * left.
 */
schedq_status_t hold_install(struct worker *worker, uint32_t record, const struct view *before,
                             struct redescription *change, int64_t now, schedq_result_t *result);

/**
 * Does its class keep it back? Then its turn names the version that the pod has (class.c), and
 * whoever held it anew would take the turn from it.
 */
static inline bool
hold_waits_for_turn(const struct view *view)
{
    return state_place(view->state) == PLACE_HELD &&
           (view->description.flags & DESCRIBED_BY_CLASS) != 0;
}

/**
 * Makes a pod due that its class keeps back. The next pop that meets it keeps it back again, unless
 * it is the scout. As hold_install.
 */
schedq_status_t hold_end_turn(struct worker *worker, uint32_t record, const struct view *before,
                              int64_t now);

#endif
