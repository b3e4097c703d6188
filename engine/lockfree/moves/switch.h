/*
 * Switches: the second half of "publish, then switch", with everything that is counted by it.
 *
 * Whoever's CAS it is counts: pods by place, what came in by label, moves. A helper counts like the
 * mover would have, so what he has to know stands where the ref stands: the cause of a run (run.h).
 * A ref in a lane has none: there a holder published the pod that he failed, or an update moves it
 * inside the order.
 *
 * COUNTS. Pods that are active or in flight are in the workers' tallies. Those that wait are in the
 * public words, which hosts read without a call: a word is raised before the CAS that may bring the
 * pod, and taken back if that fails, so it is never 0 while a pod waits there. Who parks or gates a
 * pod raises it before he looks at the stamps (switch_announce), so a host that stamps an event and
 * then reads 0 misses nobody. A thread that stops between leaves it one too high; the sum over a
 * queue at rest, of threads that all returned, is exact.
 *
 * LINEARIZATION. switch_announced:B.
 *
 * ORDERING. switch_announced:B is a full fence: it publishes what its thread wrote before to who
 * reads the word (claim:A, report_record:A, switch_help:A). switch_announced:A stands between the
 * publication and the switch, for walks (pop.c). A word's raise stands before switch_announced:B,
 * its lowering behind it, each a full fence. Tallies are stored relaxed by their worker: sums of
 * them order nothing.
 *
 * PROGRESS. switch_pod is wait-free, switch_help lock-free: each further round is another's change
 * of the words. A thread that stops before switch_announced:B has moved nothing; behind it, the pod
 * has moved, and what it had not counted stays uncounted.
 *
 * EVIDENCE. tests/model: intent, help, walk, tick (counts); stress/explore: tick_tick,
 * help_backoff, batch_losers, and every program's end (release.c: words);
 * tests/unit/test_host_words.c, test_look.c, test_metrics.c.
 */
#ifndef SCHEDQ_LOCKFREE_SWITCH_H
#define SCHEDQ_LOCKFREE_SWITCH_H

#include "lockfree/queue.h"

/* A cause is 1 + a label, perhaps with CAUSE_MOVE: it counts as a move; CAUSE_NONE. */
#define CAUSE_NONE 0
#define CAUSE_MOVE (UINT32_C(1) << 31)

static inline uint32_t
cause_of(uint32_t label, bool moves)
{
    return (label + 1) | (moves ? CAUSE_MOVE : 0);
}

/** Do pods wait there, which a public word counts? */
static inline bool
place_has_word(enum place place)
{
    return place == PLACE_BACKOFF || place == PLACE_ERROR_BACKOFF || place == PLACE_PARKED ||
           place == PLACE_GATED;
}

/** Counts a pod that came into a place, for a cause. */
void switch_count(struct worker *worker, enum place to, uint32_t cause);

static inline void
switch_change(struct worker *worker, enum place place, uint64_t by)
{
    schedq_words_t *words = &queue_of(worker)->base.words;

    switch (place) {
    case PLACE_ACTIVE:
        tally_add(&worker->tally.active, by);
        break;
    case PLACE_INFLIGHT:
        tally_add(&worker->tally.inflight, by);
        break;
    case PLACE_BACKOFF:
        (void)u64_add(u64_of(&words->backoff), by);
        break;
    case PLACE_ERROR_BACKOFF:
        (void)u64_add(u64_of(&words->error_backoff), by);
        break;
    case PLACE_PARKED:
        (void)u64_add(u64_of(&words->parked), by);
        break;
    case PLACE_GATED:
        (void)u64_add(u64_of(&words->gated), by);
        break;
    case PLACE_FREE:
    case PLACE_DEAD:
        break;
    }
}

/** Raises or lowers how many pods there are in a place. */
static inline void
switch_enter(struct worker *worker, enum place place)
{
    switch_change(worker, place, 1);
}

static inline void
switch_leave(struct worker *worker, enum place place)
{
    switch_change(worker, place, UINT64_MAX);
}

/**
 * Raises the word of a place where a pod is to wait, if it is one; withdrawn if the pod does not
 * come.
 */
static inline void
switch_announce(struct worker *worker, enum place to)
{
    if (place_has_word(to)) {
        switch_enter(worker, to);
    }
}

static inline void
switch_withdraw(struct worker *worker, enum place to)
{
    if (place_has_word(to)) {
        switch_leave(worker, to);
    }
}

/**
 * Switches a pod whose words still are `state` and `desc` to `next`, and counts it. False: they
 * changed.
 *
 * DEAD is counted as leaving only.
 */
bool switch_pod(struct worker *worker, struct entry *entry, uint64_t state, uint64_t desc,
                uint64_t next, uint32_t cause);

/** The same for a pod whose coming was announced, and is still if this fails. */
bool switch_announced(struct worker *worker, struct entry *entry, uint64_t state, uint64_t desc,
                      uint64_t next, uint32_t cause);

/** Counts a switch that the caller made, of a pod whose coming was announced. */
void switch_counted(struct worker *worker, uint64_t state, uint64_t next, uint32_t cause);

#endif
