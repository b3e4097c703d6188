/*
 * Plants: true histories that are falsified in one place, to see that the checker finds it.
 *
 * Each belongs to one rule, and counts as found only if that rule complains. Four are no changes
 * of a history: "asleep" makes a thread sleep where no pod ever comes, "never-due" makes backoffs
 * last for an hour, "counter" miscounts an add, "object-released" gives a reference back that is
 * the queue's.
 */
#ifndef SCHEDQ_HISTORY_PLANT_H
#define SCHEDQ_HISTORY_PLANT_H

#include "lives.h"

typedef struct plant {
    const char *name;
    rule_t rule;
    /** Falsifies; false if this round has no place for it. NULL: done elsewhere. */
    bool (*apply)(book_t *book, lives_t *lives);
} plant_t;

/** NULL if there is none of that name. */
const plant_t *plant_find(const char *name);
/** All names, with commas. */
const char *plant_names(void);

#endif
