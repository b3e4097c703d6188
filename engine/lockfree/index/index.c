/*
 * From "namespace/name" to the pod's record: lines of one cache line, insertions that commit on the
 * line's control word, tables that are replaced while they are used.
 *
 * 1 CONTRACT. A name has at most one living pod; an adder of a second is told which one lives. A
 *   pod is found from the commit of its insertion to the end of its life, and no call reports it
 *   before a ref of it is published. Whether a pod lives is said by its record (life, state word):
 *   a name is free as soon as the state word says so, whether or not the cell is removed. Not an
 *   ordered map, not for iteration; calls that come with a handle or a token need it only to
 *   remove.
 *
 * 2 MEMORY. A table is a header and 2^n home lines, then a pool of overflow lines. All threads
 *   write all of it.
 *   home line       control | link | 6 cells
 *   overflow line   link | 7 cells
 *   control         sequence:50 | FROZEN | MOVED | position:12
 *   cell            life:28 | tag:6 | TENTATIVE | SETTLED | record:28
 *
 * A cell is 0, TENTATIVE, a pod, which is SETTLED, or without either mark DEAD.
 * An overflow line belongs to one home line for the table's life. A position counts along the
 * chain; control names one as position + 1, 0 names none. An insertion touches its line and no
 * record but those with the same tag.
 *
 * 3 STATES
 *   cell       0 -> TENTATIVE                  take_cell:B, the inserter
 *              0 -> pod                        place_cell:A, a mover, in a line that is not in use
 *              DEAD -> TENTATIVE               take_cell:B, not of the cell that is named
 *              pod that is over -> TENTATIVE   take_cell:B, not of the cell that is named
 *              TENTATIVE, named, pod over -> DEAD  index_remove:A, any thread
 *              pod that is over -> DEAD        index_remove:B, index_remove_directly:A, any thread
 *              TENTATIVE, not named -> DEAD    abandon_cell:A, its inserter only
 *              TENTATIVE, named -> pod         index_finish:A, index_complete:C, any thread
 *   position   none, or another, whose cell is not TENTATIVE -> named
 *                              commit:A, the inserter of the cell there: the insertion
 *              named -> none   index_complete:D, any thread, once the cell is not TENTATIVE
 *   line       in use -> FROZEN -> MOVED   index_move_line:B and C, any thread, with none named
 *   table      next: NULL -> a table       index_grow:A
 *              current -> its next         switch_table:A, with all lines MOVED
 *
 * 4 INVARIANTS
 *   a  A named position's cell holds the pod that was committed with it, or that pod's DEAD.
 *   b  A TENTATIVE cell that is not named is its inserter's: no other takes it or counts it.
 *   c  A pod has one cell in a line while it lives: its inserter keeps the one that it took, movers
 *      come to the same one.
 *   d  A cell has no value twice: the pod stays in it when it is DEAD, and 0 does not come back.
 *   e  Before a line is MOVED, only its movers write the line of the next table that it goes to.
 *   f  Behind a cell that is 0 all are 0: an inserter takes one that is not named, which 0 never
 *      is, and of those that are 0 the first, as a mover does; and none becomes 0 again. So a scan
 *      ends there.
 * Why take_cell keeps (a): it reads the cell, finds it DEAD or judges its pod over, and then finds
 * the control word as it was, naming another position or none. The pod was committed before it was
 * over, so its naming had begun before, and ended; it has no second one. Another naming of the cell
 * needs another value in it, and then the exchange fails (d).
 * A control word may go on naming a cell that is not TENTATIVE any more. Such a naming means
 * nothing: the next inserter replaces it by its own, and a remover leaves it there, which saves
 * each of them an exchange. Only an inserter that finds no other cell than the named one takes the
 * name out first (look_around).
 *
 * 5 LINEARIZATION POINTS
 *   DONE          commit:A. The exchange fails if anything was committed in the line since the
 *                 control word was read; all that was committed before is in cells that are not
 *                 TENTATIVE, and was seen by the scan.
 *   EXISTS, found index_look:C
 *   none          a pod with the name that lived at find_line:B had its cell before, and is seen
 *                 unless it is over. So there is a moment in the call without one: find_line:B, or
 *                 the end of that pod.
 *   NOMEM         make_room: no cell, no overflow line, no table
 *   removal       none: the pod's end is its state word's
 *
 * 6 ORDERING. Each exchange is a full fence.
 *   commit:A -> index_insert_directly:C, insert_round:B, find_line:B, index_move_line:A
 *       the record, and the cell, of what was committed
 *   commit:A, index_complete:D -> index_complete:B after index_complete:A
 *       whether the cell was read while it was named
 *   commit:A, index_complete:D -> take_cell:A after index_look:C
 *       whether anything was committed since
 *   the owner's state word -> index_look:A, B, C
 *       in this order, then life again: see index_look
 *   take_cell:B, place_cell:A -> scan_home:A, index_overflow_lets_in:A, look_around:A, look_up:A,
 *           index_find:B, find_stale:A, copy_line:B, index_has:A
 *       the record of a cell
 *   index_lengthen:A -> spot_step:A, scan_home:B, index_overflow_lets_in:B
 *       an overflow line with link 0
 *   switch_table:A -> find_line:A, index_find:A, index_insert_directly:A, make_room:A
 *       the table's header
 *   index_grow:A -> index_insert_directly:B, insert_round:A, copy_line:A
 *       the table's header
 *   index_remove:A and B, index_remove_directly:A -> scan_home:A, index_overflow_lets_in:A,
 *           look_around:A
 *       nothing: DEAD says no more than the state word of a pod that is over
 *   index_move_line:C -> find_line:B, and the same load in index_remove_directly
 *       MOVED: all pods of the line are in the next table
 *   advance:B -> advance:A
 *       lines below the frontier are MOVED
 * index_finish:A comes after the ref is published: a reader of the cell without TENTATIVE finds a
 * pod that a pop finds.
 *
 * 7 PROGRESS. Lock-free. If a thread stops for ever after
 *   take_cell:B         one cell of one line stays taken until the line moves
 *   commit:A            the next thread that meets the line settles the pod and goes on
 *   index_move_line:B   the next inserter in the line copies it; lookups read it as it is
 *   index_help's add    the second pass (frontier) finds its lines
 *   index_grow:A        others move the lines; the thread that finds the pool used up grows next
 *   switch_table:A      the old table's memory stays allocated until the allocator's end
 *   an overflow line was taken   it is one of those that insertions leave over, one a thread
 * Each retry follows another thread's commit, completion, take, link or freeze. A find helps only
 * the pod that it reports.
 *
 * 8 ABA, RECLAMATION. {life, record} names one insertion; a record's life is new each time, and a
 *   cell is taken with the value that was judged (d). Tables are retired through the epoch by the
 *   thread that unlinked them.
 *
 * GROWTH. Movers copy a FROZEN line's living pods each into the first cell that is 0 of its line in
 * the next table (d, e: all come to the same cell). A late mover finds the pod, or a cell that is
 * not 0, or puts a pod that is over into an unused cell: a cell that may be taken. Insertions move
 * their own line and a few more, then go on. A table gets twice the lines when half of the pool is
 * used and there are more than two pods a line; the same number when the pool is used up and there
 * are fewer, since overflow lines stay where they were needed once. If the next table's pool were
 * used up before all pods have moved, the line would stay FROZEN: found as before, and adds to it
 * answer NOMEM.
 *
 * 9 WRAPAROUND. sequence: 50 bits, at most two an insertion; at 10 million insertions a second in
 *   one line 1.8 years. life: 28 of its 36 bits. A cell may be left behind by a life that is over,
 *   and fit a later life of the same record. A reader follows it to that record, compares the
 *   name, and goes on: harmless. index_has compares no name: it takes that later life for settled
 *   while it is being added. An exchange on a cell can be fooled if its thread stops before
 *   it, while the record goes through a multiple of 2^28 versions (27 s at 10 million a second of
 *   one record), and the life at exactly that version gets a name with the same line and tag and
 *   takes the same cell. Spare lines: stack.h.
 *
 * 10 NOT CHOSEN. Chains of records: two misses more. A control word that names the record, beside
 *   seven cells: overflow cells that two lines share, and a model showed two ways to lose a living
 *   pod. Moving pods by ordinary insertions: a model found a pod that was counted though it was
 *   never committed. A count of moved lines: a thread that stops between the mark and the count
 *   ends all growth. ck_ht: it decays with removals. A first table with the queue: index_make:A
 *   makes it with the first worker, so that queues without one are small.
 *
 * 11 EVIDENCE. tests/model: index, index_growth; stress/explore: index_growth, index_reserve,
 *   add_one_key, find_told, delete_readd; tests/unit/test_lockfree_index.c.
 */
#include "lockfree/index/index_direct.h"

#define RESERVE_PODS_PER_LINE 3
/* A large table looks how full it is at one in so many overflow lines. */
#define LARGE_TABLE 4096
#define LOOK_EVERY 64

void
index_open(struct index *index, struct memory *memory, const struct entries *entries,
           const struct names *names, index_settle_fn settle, uint32_t threads)
{
    *index = (struct index){
        .memory = memory, .entries = entries, .names = names, .settle = settle, .threads = threads};
}

bool
index_make(struct index *index, uint32_t lines)
{
    if (ptr_load_acquire(&index->table) != NULL) { /* of index_make:A, or switch_table:A */
        return true;
    }
    struct index_table *table = index_table_make(index, lines, 0);

    if (table != NULL && !ptr_cas(&index->table, NULL, table)) { /* index_make:A */
        index_table_free(index->memory, table);
    }
    return table != NULL;
}

void
index_close(struct index *index)
{
    struct index_table *table = ptr_load_acquire(&index->table);

    if (table != NULL) {
        index_table_free(index->memory, ptr_load_acquire(&table->next));
        index_table_free(index->memory, table);
    }
}

void
index_prefetch(const struct index *index, uint32_t hash)
{
    struct index_table *table = ptr_load_acquire(&index->table);

    __builtin_prefetch(table_home(table, hash), 1);
}

/* Ends: each round replaces the current table by the next. */
bool
index_reserve(struct index *index, const struct index_caller *caller, uint32_t pods)
{
    uint32_t lines = 1;

    while (lines < LINES_MAX && (uint64_t)lines * RESERVE_PODS_PER_LINE < pods) {
        lines *= 2;
    }
    for (;;) {
        struct index_table *table = ptr_load_acquire(&index->table);

        if (ptr_load_acquire(&table->next) == NULL) {
            if (table_lines(table) >= lines) {
                return true;
            }
            if (!index_grow(index, table, lines)) {
                return false;
            }
        }
        if (!index_move_all(index, caller, table)) {
            return false;
        }
    }
}

/* ---- insertion ------------------------------------------------------------------------------- */

RARELY bool
index_overflow_lets_in(struct index_table *table, uint64_t number, uint64_t value)
{
    do {
        struct index_line *line = table_overflow(table, number);

        for (uint32_t i = LINE_WORDS - OVERFLOW_CELLS; i < LINE_WORDS; i++) {
            uint64_t cell = u64_load_acquire(&line->word[i]); /* index_overflow_lets_in:A */

            if (cell == 0) {
                return true;
            }
            if ((cell & CELL_TENTATIVE) != 0 || cell_resembles(cell, value)) {
                return false;
            }
        }
        number = u64_load_acquire(&line->word[OVERFLOW_LINK]); /* index_overflow_lets_in:B */
    } while (number != 0);
    return true;
}

/*
 * Finds a cell of a pod that is over, which its remover has not marked. It reads records, so it is
 * called only if there is no other cell. False: none; *spot is the end of the chain.
 */
static bool
find_stale(const struct index *index, struct index_table *table, struct spot *spot,
           struct vacancy *vacancy)
{
    struct seen seen;

    do {
        uint64_t cell = u64_load_acquire(spot_cell(spot)); /* find_stale:A */

        /* TENTATIVE: of an inserter, which will commit with it. */
        if ((cell & CELL_SETTLED) != 0 && index_look(index, cell, NULL, &seen) == SIGHT_OVER) {
            vacancy->cell = spot_cell(spot);
            vacancy->value = cell;
            vacancy->position = spot->position;
            return true;
        }
    } while (spot_step(table, spot));
    return false;
}

static bool
is_current(const struct index *index, const struct index_table *table)
{
    return ptr_load_acquire(&index->table) == table; /* of switch_table:A */
}

/*
 * Doubles a table half of whose pool is in use, if its pods are the reason. A thread that does not
 * get the claim goes on.
 */
static void
grow_early(struct index *index, struct index_table *table)
{
    uint32_t taken = u32_load(&table->taken);
    uint32_t lines = table_lines(table);

    if (taken <= lines / 8 || (lines >= LARGE_TABLE && taken % LOOK_EVERY != 0) ||
        !is_current(index, table) || !index_table_crowded(table) ||
        !u32_cas(&table->claimed, 0, 1)) {
        return;
    }
    if (!index_grow(index, table, 2 * lines)) {
        u32_store(&table->claimed, 0);
    }
}

/*
 * The chain, which ends at `last`, is full: lengthens it, or gets rid of the table. False: no
 * memory.
 *
 * Ends: a true answer means that there is a free cell, a next table, or that the table is the
 * current one.
 */
static bool
make_room(struct index *index, const struct index_caller *caller, struct index_table *table,
          const struct spot *last)
{
    struct index_table *current = ptr_load_acquire(&index->table); /* make_room:A */

    if (ptr_load_acquire(&table->next) != NULL) { /* make_room:B */
        return true;
    }
    if (last->position + OVERFLOW_CELLS >= POSITIONS_MAX) {
        /* so many names in one line have equal hashes: more lines would not part them */
        return false;
    }
    if (index_lengthen(table, last, current == table ? LENGTHEN_INSERT : LENGTHEN_INSERT_EARLY)) {
        grow_early(index, table);
        return true;
    }
    /*
     * This table had no next one when `current` was read: so if they differ, `current` is before
     * it.
     */
    if (current != table) {
        return index_move_all(index, caller, current);
    }
    return index_grow(index, table,
                      index_table_crowded(table) ? 2 * table_lines(table) : table_lines(table));
}

/*
 * The table has a next one: moves the caller's own line, helps with a few more, and goes there.
 * NULL: no overflow line. A cell that was taken in a frozen line is not moved.
 */
COLD static struct index_table *
go_on(struct index *index, const struct index_caller *caller, struct index_table *table,
      uint32_t hash)
{
    if (!index_move_line(index, caller, table, table_home(table, hash))) {
        return NULL;
    }
    index_help(index, caller, table);
    return ptr_load_acquire(&table->next);
}

/* Only the inserter changes a TENTATIVE cell that is not named, so this cannot fail. */
static void
abandon_cell(const struct index_ticket *ticket)
{
    if (ticket->cell != NULL) {
        (void)u64_cas(ticket->cell, ticket->value,
                      ticket->value ^ CELL_TENTATIVE); /* abandon_cell:A */
    }
}

enum round { ROUND_DONE, ROUND_EXISTS, ROUND_NOMEM, ROUND_AGAIN };

/*
 * A look along the whole chain. DONE: no pod has the name, and there is a vacancy if one is wanted.
 * The named insertion is completed first if its pod may be unpublished, or if no other cell is
 * free.
 */
COLD static enum round
look_around(struct index *index, const struct index_caller *caller, const struct hashed_name *name,
            const struct index_ticket *ticket, struct index_line *home, uint64_t control,
            struct vacancy *vacancy, struct seen *found)
{
    struct index_table *table = ticket->table;
    struct spot spot = spot_first(home);
    bool open = false;

    *vacancy = (struct vacancy){.cell = NULL};
    do {
        uint64_t cell = u64_load_acquire(spot_cell(&spot)); /* look_around:A */

        if (cell_resembles(cell, ticket->value) &&
            index_look(index, cell, name, found) == SIGHT_SAME) {
            return ROUND_EXISTS;
        }
        if (control_named(control) == spot.position + 1) {
            open = (cell & CELL_TENTATIVE) != 0;
        } else if (cell_is_free(cell) && vacancy->cell == NULL) {
            *vacancy = (struct vacancy){spot_cell(&spot), cell, spot.position};
        }
    } while (spot_step(table, &spot));
    bool enough = ticket->cell != NULL || vacancy->cell != NULL;

    if (open || (!enough && control_named(control) != 0)) {
        return index_complete(index, caller, table, home, control) == COMPLETION_REFUSED
                   ? ROUND_NOMEM
                   : ROUND_AGAIN;
    }
    spot = spot_first(home);
    if (enough || find_stale(index, table, &spot, vacancy)) {
        return ROUND_DONE;
    }
    return make_room(index, caller, table, &spot) ? ROUND_AGAIN : ROUND_NOMEM;
}

static enum round
insert_round(struct index *index, const struct index_caller *caller, const struct hashed_name *name,
             struct index_ticket *ticket, struct seen *found)
{
    struct index_table *table = ticket->table;
    struct index_line *home = table_home(table, name->hash);
    struct vacancy vacancy;

    if (ptr_load_acquire(&table->next) != NULL) { /* insert_round:A */
        ticket->table = go_on(index, caller, table, name->hash);
        ticket->cell = NULL;
        return ticket->table != NULL ? ROUND_AGAIN : ROUND_NOMEM;
    }
    uint64_t control = u64_load_acquire(&home->word[HOME_CONTROL]); /* insert_round:B */

    if ((control & CONTROL_FROZEN) != 0) {
        return ROUND_AGAIN;
    }
    enum round round = look_around(index, caller, name, ticket, home, control, &vacancy, found);

    if (round != ROUND_DONE) {
        return round;
    }
    if (ticket->cell == NULL) {
        if (!take_cell(&vacancy, home, control, ticket->value)) {
            return ROUND_AGAIN;
        }
        ticket->cell = vacancy.cell;
        ticket->position = vacancy.position;
    }
    return commit(home, control, ticket->position) ? ROUND_DONE : ROUND_AGAIN;
}

/*
 * Ends: in each further round another thread committed, completed, took a cell, lengthened or froze
 * the line.
 */
COLD enum index_answer
index_insert_in_rounds(struct index *index, const struct index_caller *caller,
                       const struct hashed_name *name, struct index_ticket *ticket,
                       struct index_found *found)
{
    enum round round;
    struct seen seen;

    do {
        round = insert_round(index, caller, name, ticket, &seen);
    } while (round == ROUND_AGAIN);
    if (round == ROUND_DONE) {
        return INDEX_DONE;
    }
    abandon_cell(ticket);
    if (round == ROUND_NOMEM) {
        return INDEX_NOMEM;
    }
    *found = seen.pod;
    return INDEX_EXISTS;
}

enum index_answer
index_insert(struct index *index, const struct index_caller *caller, const struct hashed_name *name,
             uint64_t ref, struct index_ticket *ticket, struct index_found *found)
{
    return index_insert_directly(index, name->hash, ref, ticket)
               ? INDEX_DONE
               : index_insert_in_rounds(index, caller, name, ticket, found);
}

void
index_finish(const struct index_ticket *ticket)
{
    /* index_finish:A */
    (void)u64_cas(ticket->cell, ticket->value, ticket->value ^ (CELL_TENTATIVE | CELL_SETTLED));
}

/* ---- looking up, removing -------------------------------------------------------------------- */

/*
 * The home line where the pods of this hash are; *table is its table, *control its control word.
 * Ends: each round goes on to a newer table.
 */
static struct index_line *
find_line(const struct index *index, uint32_t hash, struct index_table **table, uint64_t *control)
{
    *table = ptr_load_acquire(&index->table); /* find_line:A */
    for (;;) {
        struct index_line *home = table_home(*table, hash);

        *control = u64_load_acquire(&home->word[HOME_CONTROL]); /* find_line:B */
        if ((*control & CONTROL_MOVED) == 0) {
            return home;
        }
        *table = ptr_load_acquire(&(*table)->next); /* of index_grow:A, before any line was MOVED */
    }
}

enum lookup { LOOKUP_NONE, LOOKUP_FOUND, LOOKUP_AGAIN };

/* One look along a line whose control word was `control`. */
static enum lookup
look_up(const struct index *index, const struct index_caller *caller,
        const struct hashed_name *name, struct index_table *table, struct index_line *home,
        uint64_t control, struct seen *seen)
{
    const uint64_t tag = cell_make(0, name->hash, 0);
    struct spot spot = spot_first(home);

    do {
        uint64_t cell = u64_load_acquire(spot_cell(&spot)); /* look_up:A */
        bool tentative = (cell & CELL_TENTATIVE) != 0;

        if (((cell ^ tag) & CELL_TAG) != 0 || cell_is_free(cell) ||
            (tentative && control_named(control) != spot.position + 1) ||
            index_look(index, cell, name, seen) != SIGHT_SAME) {
            continue;
        }
        switch (tentative ? index_complete(index, caller, table, home, control) : COMPLETED) {
        case COMPLETED:
            return LOOKUP_FOUND;
        case COMPLETION_CHANGED:
            return LOOKUP_AGAIN;
        case COMPLETION_REFUSED:
            return LOOKUP_NONE;
        }
    } while (spot_step(table, &spot));
    return LOOKUP_NONE;
}

/*
 * Looks along all of the line. Ends: a further round means that what the control word named was
 * completed.
 */
RARELY static uint32_t
find_along(const struct index *index, const struct index_caller *caller,
           const struct hashed_name *name, uint64_t *life)
{
    enum lookup answer;
    struct seen seen;

    do {
        struct index_table *table;
        uint64_t control;
        struct index_line *home = find_line(index, name->hash, &table, &control);

        answer = look_up(index, caller, name, table, home, control, &seen);
    } while (answer == LOOKUP_AGAIN);
    if (answer == LOOKUP_NONE) {
        return 0;
    }
    *life = seen.pod.life;
    return seen.pod.record;
}

/*
 * Nearly always the pod is settled, in its home line. Then its record says all, whatever the
 * control word says: also if the line has MOVED.
 */
uint32_t
index_find(struct index *index, const struct index_caller *caller, const struct hashed_name *name,
           uint64_t *life)
{
    struct index_table *table = ptr_load_acquire(&index->table); /* index_find:A */
    const struct index_line *home = table_home(table, name->hash);
    const uint64_t value = cell_make(0, name->hash, 0);

    for (uint32_t i = HOME_FIRST; i < LINE_WORDS; i++) {
        uint64_t cell = u64_load_acquire(&home->word[i]); /* index_find:B */
        struct seen seen;

        if (cell_resembles(cell, value) && index_look(index, cell, name, &seen) == SIGHT_SAME) {
            *life = seen.pod.life;
            return seen.pod.record;
        }
    }
    return find_along(index, caller, name, life);
}

bool
index_has(const struct index *index, uint32_t hash, uint32_t record, uint64_t life)
{
    const uint64_t settled = cell_make(life, hash, record) | CELL_SETTLED;
    struct index_table *table;
    uint64_t control;
    struct spot spot = spot_first(find_line(index, hash, &table, &control));

    do {
        if (u64_load_acquire(spot_cell(&spot)) == settled) { /* index_has:A */
            return true;
        }
    } while (spot_step(table, &spot));
    return false;
}

void
index_remove(struct index *index, uint32_t hash, uint32_t record, uint64_t life)
{
    const uint64_t value = cell_make(life, hash, record);
    struct index_table *table;
    uint64_t control;
    struct index_line *home = find_line(index, hash, &table, &control);
    struct spot spot = spot_first(home);

    do {
        atomic_u64 *word = spot_cell(&spot);
        uint64_t cell = u64_load(word);

        if (((cell ^ value) & ~(CELL_SETTLED | CELL_TENTATIVE)) == 0) {
            /* A TENTATIVE cell may be settled meanwhile: then a second exchange marks it. */
            if ((cell & CELL_TENTATIVE) == 0 || !u64_cas(word, cell, value)) { /* index_remove:A */
                (void)u64_cas(word, value | CELL_SETTLED, value);              /* index_remove:B */
            }
            return;
        }
    } while (spot_step(table, &spot));
}
