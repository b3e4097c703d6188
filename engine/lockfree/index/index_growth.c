/*
 * Moving the pods of a table's lines to the next table, line by line. Essay in index.c.
 */
#include "lockfree/index/index_table.h"

/*
 * What one insertion does for the others while pods move: lines that it moves, or that it finds
 * moved.
 */
#define HELP_LINES 4
#define CHECK_LINES 32
#define SWEEP_LINES 256

bool
index_grow(struct index *index, struct index_table *table, uint32_t lines)
{
    if (ptr_load_acquire(&table->next) != NULL) { /* of index_grow:A, another's */
        return true;
    }
    /*
     * A table of the same size is made when most of the overflow lines hold nothing: half of them
     * is room enough.
     */
    uint32_t kept = lines == table_lines(table) ? table_usable(table) / 2 : table_usable(table);
    struct index_table *next = index_table_make(index, lines, kept);

    if (next == NULL) {
        return ptr_load_acquire(&table->next) != NULL;
    }
    if (!ptr_cas(&table->next, NULL, next)) { /* index_grow:A */
        index_table_free(index->memory, next);
    }
    return true;
}

/*
 * Puts a cell into a line of the next table: into the first that is 0, unless it is found before
 * that.
 *
 * Only movers write there until the line that they come from is MOVED, and none makes a cell 0
 * again. So all movers of one pod come to the same cell. A late mover finds the pod, or that the
 * pod is over.
 */
static bool
place_cell(struct index_table *table, struct index_line *home, uint64_t cell)
{
    struct spot spot = spot_first(home);

    /* Ends: the chain becomes at most as long as the one that the cell comes from. */
    for (;;) {
        atomic_u64 *word = spot_cell(&spot);
        uint64_t found = u64_load_acquire(word); /* of place_cell:A, another mover's */

        if (found == 0) {
            found = u64_cas_value(word, 0, cell); /* place_cell:A */
        }
        if (found == 0 || found == cell) {
            return true;
        }
        if (!spot_step(table, &spot)) {
            if (!index_lengthen(table, &spot, LENGTHEN_MOVE)) {
                return false;
            }
            (void)spot_step(table, &spot);
        }
    }
}

/* Copies the pods of a line that is FROZEN; none of them is named. */
static bool
copy_line(const struct index *index, struct index_table *table, struct index_line *home)
{
    struct index_table *next = ptr_load_acquire(&table->next); /* copy_line:A */
    struct spot spot = spot_first(home);
    struct seen seen;

    do {
        uint64_t cell = u64_load_acquire(spot_cell(&spot)); /* copy_line:B */

        /* TENTATIVE: of an inserter that has not committed, and will not in this table. */
        if ((cell & CELL_SETTLED) == 0 || index_look(index, cell, NULL, &seen) == SIGHT_OVER) {
            continue;
        }
        if (!place_cell(next, table_home(next, seen.hash), cell)) {
            return false;
        }
    } while (spot_step(table, &spot));
    return true;
}

static void
prefetch_pods(const struct index *index, struct index_line *home)
{
    for (uint32_t i = LINE_WORDS - HOME_CELLS; i < LINE_WORDS; i++) {
        uint64_t cell = u64_load(&home->word[i]);
        const struct entry *entry =
            cell_is_free(cell) ? NULL : entry_at(index->entries, cell_record(cell));

        if (entry != NULL) {
            __builtin_prefetch(&entry->word);
            __builtin_prefetch(&entry->life);
        }
    }
}

bool
index_move_line(struct index *index, const struct index_caller *caller, struct index_table *table,
                struct index_line *home)
{
    atomic_u64 *word = &home->word[HOME_CONTROL];

    /*
     * Ends: insertions look at table.next first, so only those that are under way can change the
     * control word.
     */
    for (;;) {
        uint64_t control = u64_load_acquire(word); /* index_move_line:A */

        if ((control & CONTROL_MOVED) != 0) {
            return true;
        }
        if (control_named(control) != 0) {
            if (index_complete(index, caller, table, home, control) == COMPLETION_REFUSED) {
                return false;
            }
        } else if ((control & CONTROL_FROZEN) == 0) {
            prefetch_pods(index, home);
            /* index_move_line:B */
            (void)u64_cas(word, control, control_next(control, CONTROL_FROZEN));
        } else if (copy_line(index, table, home)) {
            (void)u64_cas(word, control, control | CONTROL_MOVED); /* index_move_line:C */
        } else {
            return (u64_load_acquire(word) & CONTROL_MOVED) != 0;
        }
    }
}

static void
switch_table(struct index *index, const struct index_caller *caller, struct index_table *table)
{
    if (ptr_cas(&index->table, table, ptr_load_acquire(&table->next))) { /* switch_table:A */
        epoch_retire(caller->epoch, &table->block, index->memory, MEMORY_INDEX, table->bytes);
    }
}

/*
 * The second pass: a thread that raises the frontier has found, or made, every line below it MOVED.
 * So no line is left behind by a thread that took lines from the cursor and stopped.
 */
static bool
advance(struct index *index, const struct index_caller *caller, struct index_table *table,
        uint32_t count)
{
    uint64_t from = u64_load_acquire(&table->frontier); /* advance:A */
    uint64_t to = from + count < table_lines(table) ? from + count : table_lines(table);

    for (uint64_t i = from; i < to; i++) {
        if (!index_move_line(index, caller, table, &table->lines[i])) {
            return false;
        }
    }
    if (from != to) {
        (void)u64_cas(&table->frontier, from, to); /* advance:B */
    }
    if (to == table_lines(table)) {
        switch_table(index, caller, table);
    }
    return true;
}

void
index_help(struct index *index, const struct index_caller *caller, struct index_table *table)
{
    uint64_t lines = table_lines(table);

    if (u64_load(&table->cursor) >= lines) {
        (void)advance(index, caller, table, CHECK_LINES);
        return;
    }
    uint64_t first = u64_add(&table->cursor, HELP_LINES);

    for (uint64_t i = first; i < first + HELP_LINES && i < lines; i++) {
        /* a line that fails is left to the second pass */
        (void)index_move_line(index, caller, table, &table->lines[i]);
    }
}

/* Ends: in each round this or another thread raises the frontier. */
bool
index_move_all(struct index *index, const struct index_caller *caller, struct index_table *table)
{
    while (ptr_load_acquire(&index->table) == table) {
        if (!advance(index, caller, table, SWEEP_LINES)) {
            return false;
        }
    }
    return true;
}
