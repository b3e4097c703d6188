/*
 * An insertion and a removal as they nearly always go, in line in add and done. The essay is at the
 * head of index.c.
 */
#ifndef SCHEDQ_LOCKFREE_INDEX_DIRECT_H
#define SCHEDQ_LOCKFREE_INDEX_DIRECT_H

#include "lockfree/index/index_table.h"

/* A cell that an insertion may take, with what it held. */
struct vacancy {
    atomic_u64 *cell; /* NULL: none */
    uint64_t value;
    uint32_t position;
};

/** Does nothing in a chain of overflow lines hinder an insertion? False: something may. */
bool index_overflow_lets_in(struct index_table *table, uint64_t number, uint64_t value);

/*
 * A look that nearly always is enough. True: nothing hinders an insertion of this cell's value, and
 * there is a vacancy at home. False: that is not certain.
 *
 * Behind a cell that is 0 none has a pod, and none is named (f); nor is one in an overflow line.
 *
 * No processor can guess which cells have pods. So the marks of all are judged at once, those of a
 * cell in the byte that has the number of its word. The vacancy is the first cell of which they say
 * that it is free: a cell that is 0 is behind all others.
 */
STRAIGHT bool
scan_home(struct index_table *table, struct index_line *home, uint64_t control, uint64_t value,
          struct vacancy *vacancy)
{
    const uint64_t each = UINT64_C(0x0101010101010101), tops = each << 7;
    const uint64_t pod = cell_marks(value ^ (CELL_TENTATIVE | CELL_SETTLED));
    uint64_t cells[LINE_WORDS], marks = 0, cell = 0;

#pragma GCC unroll 8
    for (uint32_t i = HOME_FIRST; i < LINE_WORDS; i++) {
        cell = cells[i] = u64_load_acquire(&home->word[i]); /* scan_home:A */
        if (cell == 0) {
            break;
        }
        marks |= cell_marks(cell) << 8 * i;
    }
    uint64_t differs = marks ^ pod * each;
    uint64_t alike = (differs - each) & ~differs & tops; /* not 0: a byte that does not differ */
    uint64_t tentative = marks & cell_marks(CELL_TENTATIVE) * each;
    /* For a name in an overflow line this is any bit: then no cell at home is 0. */
    uint64_t named = UINT64_C(1) << (8 * (HOME_FIRST - 1 + control_named(control)) & 63);
    uint64_t vacant = ~marks & ~named & each << 8 * HOME_FIRST;

    if ((alike | tentative) != 0 || vacant == 0) {
        return false;
    }
    if (cell != 0) {
        uint64_t number = u64_load_acquire(&home->word[HOME_LINK]); /* scan_home:B */

        if (number != 0 && !index_overflow_lets_in(table, number, value)) {
            return false;
        }
    }
    uint32_t at = (uint32_t)__builtin_ctzll(vacant) / 8;

    vacancy->cell = &home->word[at];
    vacancy->value = cells[at];
    vacancy->position = at - HOME_FIRST;
    return true;
}

/* Takes the vacant cell, unless something was committed or taken since control was read. */
static inline bool
take_cell(const struct vacancy *vacancy, struct index_line *home, uint64_t control, uint64_t value)
{
    return u64_load_acquire(&home->word[HOME_CONTROL]) == control && /* take_cell:A */
           u64_cas(vacancy->cell, vacancy->value, value);            /* take_cell:B */
}

/* The insertion point. */
static inline bool
commit(struct index_line *home, uint64_t control, uint32_t position)
{
    return u64_cas(&home->word[HOME_CONTROL], control, /* commit:A */
                   control_next(control, position + 1));
}

/**
 * index_insert as it nearly always goes. False: it was not done; index_insert_in_rounds goes on
 * from *ticket.
 */
STRAIGHT bool
index_insert_directly(const struct index *index, uint32_t hash, uint64_t ref,
                      struct index_ticket *ticket)
{
    struct index_table *table = ptr_load_acquire(&index->table); /* index_insert_directly:A */
    struct index_line *home = table_home(table, hash);
    const uint64_t value = cell_make(ref_version(ref), hash, ref_record(ref)) | CELL_TENTATIVE;
    struct vacancy vacancy;

    ticket->table = table;
    ticket->value = value;
    ticket->cell = NULL;
    if (ptr_load_acquire(&table->next) != NULL) { /* index_insert_directly:B */
        return false;
    }
    uint64_t control = u64_load_acquire(&home->word[HOME_CONTROL]); /* index_insert_directly:C */

    if ((control & CONTROL_FROZEN) != 0 || !scan_home(table, home, control, value, &vacancy) ||
        !take_cell(&vacancy, home, control, value)) {
        return false;
    }
    ticket->cell = vacancy.cell;
    ticket->position = vacancy.position;
    return commit(home, control, vacancy.position);
}

/**
 * index_remove as it nearly always goes: the cell is at home, and settled. If the line has MOVED,
 * the cell that counts is in another table.
 */
STRAIGHT void
index_remove_directly(struct index *index, uint32_t hash, uint32_t record, uint64_t life)
{
    const uint64_t dead = cell_make(life, hash, record), settled = dead | CELL_SETTLED;
    struct index_line *home =
        table_home(ptr_load_acquire(&index->table), hash); /* as find_line:A */

    if ((u64_load_acquire(&home->word[HOME_CONTROL]) & CONTROL_MOVED) == 0) { /* as find_line:B */
#pragma GCC unroll 8
        for (uint32_t i = HOME_FIRST; i < LINE_WORDS; i++) {
            if (u64_load(&home->word[i]) == settled) {
                (void)u64_cas(&home->word[i], settled, dead); /* index_remove_directly:A */
                return;
            }
        }
    }
    index_remove(index, hash, record, life);
}

#endif
