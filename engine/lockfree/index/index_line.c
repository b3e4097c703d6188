/*
 * Pods behind cells: is one over, has it this name, and completing its insertion. Essay in index.c.
 * Wait-free: completing is two exchanges that any thread may make, and of each the first one
 * counts.
 */
#include "lockfree/index/index_table.h"

#include <assert.h>

/*
 * The life is read before and after everything else. If it is the cell's both times, no later owner
 * had written its own, which it does before it stores a state word: a state word read in between
 * that is a pod's is this pod's.
 */
enum sight
index_look(const struct index *index, uint64_t cell, const struct hashed_name *wanted,
           struct seen *seen)
{
    const struct entry *entry = entry_at(index->entries, cell_record(cell));

    if (entry == NULL) {
        return SIGHT_OVER; /* its page was trimmed */
    }
    uint64_t life = u64_load_acquire(&entry->life); /* index_look:A */

    if (((life ^ cell >> CELL_LIFE_SHIFT) & CELL_LIFE) != 0) {
        return SIGHT_OVER;
    }
    uint64_t name = u64_load_acquire(&entry->name); /* index_look:B */
    uint32_t hash = (uint32_t)(name >> 32);
    bool same = wanted != NULL && hash == wanted->hash &&
                names_equal(index->names, (uint32_t)name, wanted->text, wanted->length);

    *seen = (struct seen){.pod = {.life = life, .record = cell_record(cell)}, .hash = hash};
    if (!state_is_pod(entry_state(entry)) || u64_load(&entry->life) != life) { /* index_look:C */
        return SIGHT_OVER;
    }
    return same ? SIGHT_SAME : SIGHT_OTHER;
}

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
