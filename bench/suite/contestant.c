/* The table of contestants. */
#include "contestant.h"

/* The first one is the one that `min` and `max` of a row speak of. */
const contestant_t contestants[] = {
    {"mutex", &schedq_ops, SCHEDQ_ENGINE_MUTEX, ABLE_EVENTS},
    {"schedq", &schedq_ops, SCHEDQ_ENGINE_LOCKFREE, ABLE_FROZEN},
    {"bare", &bare_ops, 0, ABLE_QUEUE},
};

const unsigned contestant_count = sizeof contestants / sizeof contestants[0];

_Static_assert(sizeof contestants / sizeof contestants[0] <= CONTESTANTS_MAX,
               "results have room for all");
