/*
 * Parked, gated and held pods: where events find them, and where time does.
 *
 * Each is published twice: in the lot of what it waits for (lots.h), and, if the rules limit its
 * waiting, in a bin by age. There are no helpers in either: only its holder or mover can judge a
 * pod that is about to be parked (mover.h, fail.c). With host decisions pods that back off are in a
 * lot too, where schedq_candidates finds them. A held pod is in no lot. One that a time releases is
 * in a bin by that time; one that a call releases is nowhere.
 *
 * ORDERING
 *   ref, the place's word raised ; deadline_lower:A | deadline_begin:A, waiting_may_be:A
 *       the word is raised by transfer_announce:A, announce_groups or switch_help, or before the
 *       pod was inserted. So if a planner finds 0, deadline_lower:A finds the planner's marker, or
 *       what it put in place of that, and lowers the deadline
 * The rest of ordering, progress and reclamation are those of lots.h and bin.h. The switch, or the
 * end of the add, comes after both refs, so their order is free.
 */
#ifndef SCHEDQ_LOCKFREE_WAITING_H
#define SCHEDQ_LOCKFREE_WAITING_H

#include "lockfree/queue.h"

/** Allocates nothing. */
void waiting_open(struct queue *queue);

/** When no other thread uses it. */
void waiting_close(struct queue *queue);

/** waiting_lot if it is not where this worker found it last: *cell is where it is. */
struct lot *waiting_get_lot(struct worker *worker, const struct lot_key *key,
                            const atomic_ptr **cell);

/** The lot of pods that wait so, in this section. Looked for first where it was found last. */
STRAIGHT struct lot *
waiting_lot(struct worker *worker, const struct lot_key *key)
{
    uint64_t plugins = key->unschedulable | key->pending;
    const atomic_ptr **cell =
        &worker->lots[plugins * UINT64_C(0x9e3779b97f4a7c15) / (UINT64_MAX / LOT_SPOTS + 1)];
    struct lot *lot = lots_again_in(*cell, key);

    return lot != NULL ? lot : waiting_get_lot(worker, key, cell);
}

/** The lot of pods in BACKOFF or ERROR_BACKOFF; NULL: hosts do not decide here. */
static inline struct lot *
waiting_backoff_lot(struct queue *queue, enum place place)
{
    return queue->base.rules.host
               ? &queue->waiting.backing_off[place == PLACE_ERROR_BACKOFF ? 1 : 0]
               : NULL;
}

/** The bin by age of PARKED or GATED pods; NULL: there is no limit for them. */
static inline struct bin *
waiting_ages(struct queue *queue, enum place place)
{
    const struct rules *rules = &queue->base.rules;
    bool timed = !rules->host &&
                 (place == PLACE_PARKED || rules->leftover_is_event || rules->gates_see_leftover);

    return timed ? &queue->waiting.ages[place == PLACE_PARKED ? 0 : 1] : NULL;
}

/**
 * May a pod wait in this place, BACKOFF, ERROR_BACKOFF, PARKED, GATED or HELD? False: its word is
 * 0. Called behind deadline_begin: so a thread that brings a pod there lowers the deadline
 * afterwards.
 */
static inline bool
waiting_may_be(struct queue *queue, enum place place)
{
    schedq_words_t *words = &queue->base.words;
    uint64_t *word = place == PLACE_BACKOFF         ? &words->backoff
                     : place == PLACE_ERROR_BACKOFF ? &words->error_backoff
                     : place == PLACE_PARKED        ? &words->parked
                     : place == PLACE_GATED         ? &words->gated
                                                    : &words->held;

    return u64_load(u64_of(word)) != 0; /* waiting_may_be:A, relaxed */
}

/** The first of a bin where time looks, past stale refs; ref 0: there is none. */
struct timed waiting_first_in(struct queue *queue, struct bin *bin);

/**
 * The pod that has waited longest, and since when. Goes past stale refs. Ref 0: none, or there is
 * no limit.
 */
struct timed waiting_oldest(struct queue *queue, enum place place);

/** The held pod that a time releases first, and that time. Goes past stale refs. ref 0: none. */
struct timed waiting_held_first(struct queue *queue);

/** Of the oldest parked and gated pod, what is due first, and when; SCHEDQ_NO_DEADLINE. */
struct timed waiting_next(const struct queue *queue, const struct timed *parked,
                          const struct timed *gated);

/** The same of the oldest that there are. */
struct timed waiting_first(struct queue *queue);

/** As backoff_tend. */
void waiting_tend(struct queue *queue, struct epoch_record *epoch, uint32_t worker);

#endif
