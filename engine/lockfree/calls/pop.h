/*
 * What a pop of groups needs of the pop of pods: pods up to a limit, members, waiting.
 */
#ifndef SCHEDQ_LOCKFREE_POP_H
#define SCHEDQ_LOCKFREE_POP_H

#include "lockfree/moves/gather.h"

enum pop_step { POP_NOTHING, POP_AGAIN, POP_TAKEN };

/** What a pod has to rank before. */
struct pop_limit {
    int32_t rank;
    int64_t key;
};

/** A call of schedq_try_pop_group. */
struct group_pop {
    schedq_popped_group_t *group;
    schedq_popped_t *members;
    size_t room, count;
};

/**
 * Takes the best active pod that is before the limit; NULL: also one from backoff, where pops take
 * these. `reorder` was read before. AGAIN: an update moved a pod.
 */
enum pop_step pop_before(struct worker *worker, uint64_t reorder, const struct pop_limit *limit,
                         schedq_popped_t *out);

/** May something be poppable? */
bool pop_something_is_left(struct worker *worker);

/** The looks of one call: each begins because the one before found nothing. */
enum pop_look { POP_LOOK_FIRST, POP_LOOK_BEHIND_STRAYS, POP_LOOK_BEHIND_POPPABLE };

/** Nothing was found: is there a reason to look once more? `look` begins as POP_LOOK_FIRST. */
bool pop_looks_again(struct worker *worker, enum pop_look *look);

/** Called behind the last look, which found something. */
void pop_looked(struct worker *worker, enum pop_look look);

/** Takes a member that is ASIDE: only its state word changes. False: it is not there any more. */
bool pop_take_member(struct worker *worker, struct gathered_pod *pod);

/** Undoes pop_take_member. If another thread deleted the member meanwhile, ends it. */
void pop_give_back(struct worker *worker, struct gathered_pod *pod);

/** What orders a pop among others. */
uint64_t pop_draw_order(struct queue *queue);

/**
 * Begins the member's flight, and fills in *out. `since`: when its group became READY; 0: that is
 * not known.
 */
void pop_begin_member(struct worker *worker, const struct gathered_pod *pod, uint64_t cycle,
                      uint64_t order, int64_t since, schedq_popped_t *out);

/** group_pop.c: one attempt. OK, FULL, EMPTY, CLOSED, NOMEM. */
schedq_status_t group_take(struct worker *worker, struct group_pop *pop);

#endif
