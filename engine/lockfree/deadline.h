/*
 * When time is wanted next: the word that hosts, the timer thread and sleepers look at.
 *
 * CONTRACT. When nobody is at work, the word is at most the time at which the first waiting pod is due. It may be earlier: then
 * somebody serves in vain and sets it right.
 *
 * HOW IT CHANGES
 *   lower     who parks a pod that is due at d, after it was published and a full fence: the word becomes at most d
 *   begin     who is about to look at all that waits: the word becomes a marker, a value that no other time had
 *   end       who has looked: the marker becomes what was found, if it is still there. He wakes who sleeps for the word if it says
 *             less than it did before
 * A marker is before all times, so it reads as "due now": a thread that stops between begin and end leaves everybody else
 * with something to serve, and the next who serves begins with a marker of his own. Who lowers the word and meets a marker
 * replaces it by another marker, since it may stand for something that is due earlier than his: so the `end` of who looked
 * before fails. (A word without markers would let `end` raise what a parker found low enough and left.)
 *
 * ORDERING. publish, full fence, deadline_lower:A ; deadline_begin:A (full fence), look. One of the two sees the other.
 *
 * PROGRESS. Lock-free: a failed exchange is another's success.
 *
 * WRAPAROUND. Markers: 2^62 of them.
 *
 * EVIDENCE. tests/model: deadline; tests/unit/test_lockfree_deadline.c.
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

/** True: the word changed, and who sleeps for it has to plan anew. After the caller's full fence. */
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
    PLANNED_SOONER /* it does, and who sleeps for it may not know: whoever parked that pod finds his time there, and is silent */
};

/** After it, with what was found. */
enum planned deadline_end(struct deadline *deadline, const struct planning *planning, int64_t next);

#endif
