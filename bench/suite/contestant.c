/* The table of contestants. */
#include "contestant.h"

#include <string.h>

/* `min` and `max` of a row speak of the second one, where it does not enter of the first. */
const contestant_t contestants[] = {
    {"mutex", &schedq_ops, SCHEDQ_ENGINE_MUTEX, false, ABLE_EVENTS, GROUP_ENGINES, NULL},
    {"schedq", &schedq_ops, SCHEDQ_ENGINE_LOCKFREE, false, ABLE_FROZEN, GROUP_ENGINES, NULL},
    {"bare", &bare_ops, 0, false, ABLE_QUEUE, GROUP_BARE | GROUP_RIVALS, NULL},
    {"bands", &bands_ops, 0, false, ABLE_LIFE, GROUP_RIVALS, NULL},
    {"bands-spin", &bands_spin_ops, 0, false, ABLE_LIFE, GROUP_RIVALS, NULL},
#ifdef SCHEDQ_BENCH_RIVALS
    {"tbb", &tbb_ops, 0, false, ABLE_LIFE, GROUP_RIVALS, NULL},
    {"tbb-unnamed", &tbb_unnamed_ops, 0, false, ABLE_PUSH_POP, GROUP_RIVALS, "no map of names"},
    {"moodycamel", &moodycamel_ops, 0, false, ABLE_PUSH_POP, GROUP_RIVALS,
     "order of one producer only"},
    {"moodycamel-unnamed", &moodycamel_unnamed_ops, 0, false, ABLE_PUSH_POP, GROUP_RIVALS,
     "no map of names, order of one producer only"},
#endif
    {"yielding", &schedq_ops, SCHEDQ_ENGINE_MUTEX, true, ABLE_EVENTS, GROUP_YIELDING, NULL},
    {"base", &schedq_ops, SCHEDQ_ENGINE_LOCKFREE, false, ABLE_FROZEN, GROUP_BASE, NULL},
};

const unsigned contestant_count = sizeof contestants / sizeof contestants[0];

_Static_assert(sizeof contestants / sizeof contestants[0] <= CONTESTANTS_MAX,
               "results have room for all");

const contestant_t *
contestant_find(const char *name)
{
    for (unsigned i = 0; i < contestant_count; i++) {
        if (strcmp(contestants[i].name, name) == 0) {
            return &contestants[i];
        }
    }
    return NULL;
}
