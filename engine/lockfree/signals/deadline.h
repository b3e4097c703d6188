/*
 * When time is wanted next: the word that hosts, the timer thread and sleepers look at.
 *
 * CONTRACT. When nobody is at work, the word is at most the time at which the first waiting pod is
 * due. It may be earlier: then somebody serves in vain and sets it right.
 *
 * HOW IT CHANGES
 *   lower     who parks a pod that is due at d, after it was published and its bin marked, and a
 *             full fence: the word becomes at most d
 *   begin     who is about to look at all that waits: the word becomes a marker, a value that no
 *             other time had
 *   end       who has looked: the marker becomes what was found, if it is still there. He wakes who
 *             sleeps for the word if it says less than it did before
 * A marker is before all times, so it reads as "due now": a thread that stops between begin and end
 * leaves everybody else with something to serve, and the next who serves begins with a marker of
 * his own. Who lowers the word and meets a marker replaces it by another marker, since it may stand
 * for something that is due earlier than his: so the `end` of who looked before fails. (A word
 * without markers would let `end` raise what a parker found low enough and left.)
 *
 * LINEARIZATION. deadline_lower: B, or A of the round that finds the word low enough.
 * deadline_begin: A. deadline_end: A.
 *
 * ORDERING
 *   publish, full fence, mark the bin ; deadline_lower:A   |   deadline_begin:A, a full fence ;
 *       look One of the two sees the other. Who looks passes over a bin of backoff that was never
 *       marked (backoff.h), so the mark has to come before the look at the word, like the
 *       publication.
 *   publish ; deadline_lower:B  ->  deadline_read:A        who finds the time finds the pod
 *   deadline_lower:B, deadline_end:A ; wake                by the callers: timer.c has both sides
 *
 * PROGRESS. read, begin and end are wait-free, lower is lock-free: a failed exchange is another's
 * success. A thread that stops after it published and before it lowered leaves a pod that is not
 * there so far; whoever switches it for him lowers the word first (switch.c).
 *
 * ABA, WRAPAROUND. Markers: 2^62 of them, one for each begin, and for each lowering that meets one.
 * A time that comes back says what it said before.
 *
 * EVIDENCE. tests/model: deadline; stress/explore: tick_fail, tick_fail_plain, timer_wakes,
 * serve_sleepers, and every program's end (release.c); tests/unit/test_lockfree_deadline.c.
 */
#ifndef SCHEDQ_LOCKFREE_DEADLINE_H
#define SCHEDQ_LOCKFREE_DEADLINE_H

#include "platform/atomic.h"

struct deadline {
    atomic_u64 *word;   /* words.next_deadline_ns */
    atomic_u64 markers; /* drawn */
};

/** `word` becomes SCHEDQ_NO_DEADLINE. */
void deadline_open(struct deadline *deadline, int64_t *word);

/** The word; before every time while somebody looks. */
int64_t deadline_read(const struct deadline *deadline);

/**
 * True: the word changed, and who sleeps for it has to plan anew. After the caller's full fence.
 */
bool deadline_lower(struct deadline *deadline, int64_t due);

/** From begin to end. */
struct planning {
    uint64_t marker, replaced;
};

/** Before looking at all that waits; a full fence. */
struct planning deadline_begin(struct deadline *deadline);

enum planned {
    PLANNED_AGAIN, /* something was parked meanwhile, and the word says "due now" */
    PLANNED,       /* the word says `next` */
    /*
     * it does, and who sleeps for it may not know: whoever parked that pod finds his time there,
     * and is silent
     */
    PLANNED_SOONER
};

/** After it, with what was found. */
enum planned deadline_end(struct deadline *deadline, const struct planning *planning, int64_t next);

#endif
