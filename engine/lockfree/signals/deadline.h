/*
 * When time is wanted next: the word that hosts, the timer thread and sleepers look at.
 *
 * CONTRACT. While no call is under way, the word is at most the time at which the first waiting pod
 * is due. It may be earlier, for what is noted (stray.h) or for nothing: then the next call that
 * serves time sets it right.
 *
 * HOW IT CHANGES
 *   lower   by a holder or mover that parks a pod due at d, after the pod was published, its bin
 *           marked, and a full fence: the word becomes at most d
 *   begin   by a planner, before it looks at all that waits: the word becomes a marker, a value
 *           that no other time had
 *   let go  by a planner that has more to serve than a few pods: the marker becomes a time before
 *           all others, and the planner begins anew afterwards
 *   end     by the planner: the marker becomes what it found, if the marker is still there; if the
 *           word says less than before, the planner wakes a sleeper
 * A marker is before all times, so it reads as "due now": a planner that stops between begin and
 * end leaves the others something to serve, and the next one begins with a marker of its own. A
 * `lower` that meets a marker replaces it by another one: the first may stand for a time earlier
 * than d. So the `end` of the planner that looked before fails. (Without markers `end` could raise
 * a word that a holder had found low enough and left.)
 *
 * THE FIRST POD. A planner leaves the ref of the pod whose time it put into the word. While that
 * pod waits, and the word says that time, the word is exact: a look before that time finds nothing
 * due, and no other time. Two planners may mix ref and time; then a look takes a word for exact
 * that is too early, and the look that comes at that time sets it right.
 *
 * LINEARIZATION. deadline_lower: B, or A of the round that finds the word low enough.
 * deadline_begin: A. deadline_end: A.
 *
 * ORDERING
 *   ref, mark ; deadline_lower:A | deadline_begin:A, look
 *       a planner passes over a bin of backoff that is not noted as used (backoff.h): the note
 *       comes before the ref. It passes over a place whose word says that no pod is there: the word
 *       is raised before the word of time is lowered (waiting.h)
 *   ref, deadline_lower:B -> deadline_read:A
 *       a reader of the time finds the pod
 *   deadline_lower:B, deadline_end:A ; wake
 *       timer.c has both sides
 *
 * PROGRESS. read, begin, let go and end are wait-free, lower is lock-free: a failed exchange is
 * another's success. A thread that stops after it published and before it lowered leaves the pod in
 * its old place; a helper lowers the word before it switches the pod (switch.c).
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

/** A time, and the ref of the pod that it is about; ref 0: none. */
struct timed {
    int64_t at;
    uint64_t ref;
};

struct deadline {
    atomic_u64 *word;   /* words.next_deadline_ns */
    atomic_u64 markers; /* drawn */
    /* the pod that a planner found first, and when it is due: deadline_first */
    atomic_u64 first_due, first_ref;
};

/** `word` becomes SCHEDQ_NO_DEADLINE. */
void deadline_open(struct deadline *deadline, int64_t *word);

/** The word; before every time while a planner looks. */
int64_t deadline_read(const struct deadline *deadline);

/**
 * True: the word changed, and a thread that sleeps for it has to plan anew. After the caller's full
 * fence.
 */
bool deadline_lower(struct deadline *deadline, int64_t due);

/** A planner's look, from begin to end. */
struct planning {
    uint64_t marker, replaced;
};

/** Begins a look at all that waits; a full fence. */
struct planning deadline_begin(struct deadline *deadline);

enum planned {
    PLANNED_AGAIN, /* something was parked meanwhile, and the word says "due now" */
    PLANNED,       /* the word says `next` */
    /*
     * the word says `next`, and sleepers may not know: the pod's holder found it low enough, and
     * woke none
     */
    PLANNED_SOONER
};

/**
 * Instead of the end, for a planner that has much to serve first: the word says "due now" by a time
 * before all others, which calls that lower it leave alone.
 */
void deadline_let_go(struct deadline *deadline, const struct planning *planning);

/** Ends the look, with the first time that it found. */
enum planned deadline_end(struct deadline *deadline, const struct planning *planning,
                          const struct timed *next);

/** The ref of the pod that is first due, at the time that the word says; 0: not known. */
uint64_t deadline_first(const struct deadline *deadline, int64_t due);

#endif
