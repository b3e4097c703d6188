/*
 * Pods behind cells: completing their insertion. Essay in index.c.
 * Wait-free: completing is two exchanges that any thread may make, and of each the first one
 * counts.
 */
#include "lockfree/index/index_table.h"

#include <assert.h>

static atomic_u64 *
cell_at(struct index_table *table, struct index_line *home, uint32_t position)
{
    struct spot spot = spot_first(home);

    while (spot.position < position) {
        bool there = spot_step(table, &spot);

        assert(there);
        (void)there;
    }
    return spot_cell(&spot);
}

enum completion
index_complete(const struct index *index, const struct index_caller *caller,
               struct index_table *table, struct index_line *home, uint64_t control)
{
    atomic_u64 *cell = cell_at(table, home, control_named(control) - 1);
    uint64_t value = u64_load_acquire(cell); /* index_complete:A */
    struct seen seen;

    if (u64_load_acquire(&home->word[HOME_CONTROL]) != control) { /* index_complete:B */
        return COMPLETION_CHANGED;
    }
    /*
     * The control word named the position when the cell was read: this is the pod that was
     * committed with it.
     */
    assert(value != 0);
    if ((value & CELL_TENTATIVE) != 0) {
        if (index_look(index, value, NULL, &seen) != SIGHT_OVER &&
            !index->settle(caller->ctx, cell_record(value), seen.pod.life)) {
            return COMPLETION_REFUSED;
        }
        (void)u64_cas(cell, value, value ^ (CELL_TENTATIVE | CELL_SETTLED)); /* index_complete:C */
    }
    /* index_complete:D */
    (void)u64_cas(&home->word[HOME_CONTROL], control, control_next(control, 0));
    return COMPLETED;
}
