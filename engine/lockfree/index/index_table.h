/*
 * The index's memory: tables of lines, what a control word and a cell say, and the pool of overflow
 * lines.
 *
 * Only the files index*.c and index_direct.h include this. The protocol on these words is told in
 * index.c.
 */
#ifndef SCHEDQ_LOCKFREE_INDEX_TABLE_H
#define SCHEDQ_LOCKFREE_INDEX_TABLE_H

#include "lockfree/index/index.h"
#include "lockfree/memory/stack.h"

/* ---- control word: sequence:50 | FROZEN | MOVED | position:12 -------------------------------- */

#define CONTROL_POSITION UINT64_C(0xfff) /* 0: none named; else 1 + the position in the chain */
#define CONTROL_MOVED (UINT64_C(1) << 12)
#define CONTROL_FROZEN (UINT64_C(1) << 13)
#define CONTROL_SEQUENCE_SHIFT 14

/** Positions that a control word can name. */
#define POSITIONS_MAX ((uint32_t)CONTROL_POSITION)

static inline uint64_t
control_next(uint64_t control, uint64_t low)
{
    return ((control >> CONTROL_SEQUENCE_SHIFT) + 1) << CONTROL_SEQUENCE_SHIFT | low;
}

/** Position + 1; 0: none. */
static inline uint32_t
control_named(uint64_t control)
{
    return (uint32_t)(control & CONTROL_POSITION);
}

/* ---- cell: life:28 | tag:6 | TENTATIVE | SETTLED | record:28 --------------------------------- */

#define CELL_RECORD REF_INDEX_MASK
#define CELL_SETTLED (UINT64_C(1) << 28)
#define CELL_TENTATIVE (UINT64_C(1) << 29)
#define CELL_TAG_SHIFT 30
#define CELL_TAG (UINT64_C(0x3f) << CELL_TAG_SHIFT)
#define CELL_LIFE_SHIFT 36
#define CELL_LIFE ((UINT64_C(1) << 28) - 1)

/* The cell is DEAD as made. The tag is of the hash's high end, a line's number of its low end. */
static inline uint64_t
cell_make(uint64_t life, uint32_t hash, uint32_t record)
{
    return life << CELL_LIFE_SHIFT | (uint64_t)(hash >> 26) << CELL_TAG_SHIFT | record;
}

static inline uint32_t
cell_record(uint64_t cell)
{
    return (uint32_t)(cell & CELL_RECORD);
}

/** What a cell says besides its life and its record: tag:6 | TENTATIVE | SETTLED. */
static inline uint64_t
cell_marks(uint64_t cell)
{
    return cell >> STATE_VERSION_SHIFT & 0xff;
}

/** 0 or DEAD. */
static inline bool
cell_is_free(uint64_t cell)
{
    return (cell & (CELL_SETTLED | CELL_TENTATIVE)) == 0;
}

/** Is the pod in `cell` settled, and has it the tag of `other`? Then their names may be equal. */
static inline bool
cell_resembles(uint64_t cell, uint64_t other)
{
    return ((cell ^ (other | CELL_SETTLED)) & (CELL_TAG | CELL_SETTLED)) == 0;
}

/* ---- lines and tables ------------------------------------------------------------------------ */

#define LINE_WORDS 8
#define HOME_CONTROL 0
#define HOME_LINK 1
#define HOME_FIRST 2
#define HOME_CELLS 6 /* words 2 to 7 */
#define OVERFLOW_LINK 0
#define OVERFLOW_CELLS 7 /* words 1 to 7 */

#define LINES_MAX (UINT32_C(1) << 26)

struct index_line {
    _Alignas(CACHE_LINE) atomic_u64 word[LINE_WORDS];
};

struct index_table {
    struct epoch_block block; /* what a table begins with, to be retired */
    atomic_ptr next;          /* the table that this one's pods move to; never changes again */
    size_t bytes;
    uint32_t mask; /* home lines - 1 */
    uint32_t pool; /* overflow lines */

    _Alignas(CACHE_LINE) atomic_u64 spare; /* a stack (stack.h) of overflow lines that came back */
    atomic_u64 cursor;                     /* lines below are taken by movers */
    atomic_u64 frontier;                   /* lines below are moved */
    atomic_u32 taken;                      /* overflow lines that were taken out of the pool */
    atomic_u32 claimed;                    /* a thread makes the next table: advice */
    /* overflow lines that the previous table's pods may need */
    uint32_t kept;
    uint32_t spared; /* overflow lines that stopped threads may hold */

    struct index_line lines[]; /* home lines, then overflow lines 1 to pool */
};

/** NULL: no memory, or too many lines. */
struct index_table *index_table_make(const struct index *index, uint32_t lines, uint32_t kept);
void index_table_free(struct memory *memory, struct index_table *table);

static inline uint32_t
table_lines(const struct index_table *table)
{
    return table->mask + 1;
}

static inline struct index_line *
table_home(struct index_table *table, uint32_t hash)
{
    return &table->lines[hash & table->mask];
}

static inline struct index_line *
table_overflow(struct index_table *table, uint64_t number)
{
    return &table->lines[table->mask + number];
}

/**
 * Overflow lines that insertions may use in the end; the rest are those that stopped threads may
 * hold.
 */
static inline uint32_t
table_usable(const struct index_table *table)
{
    return table->pool - table->spared;
}

/* ---- a walk along a home line and its overflow lines ----------------------------------------- */

struct spot {
    struct index_line *line;
    atomic_u64 *link; /* of `line` */
    uint32_t at;      /* word of the line */
    uint32_t position;
};

static inline struct spot
spot_first(struct index_line *home)
{
    return (struct spot){.line = home, .link = &home->word[HOME_LINK], .at = HOME_FIRST};
}

static inline atomic_u64 *
spot_cell(const struct spot *spot)
{
    return &spot->line->word[spot->at];
}

/** The next cell; false if there is none (yet): the spot then stays. */
static inline bool
spot_step(struct index_table *table, struct spot *spot)
{
    if (spot->at + 1 < LINE_WORDS) {
        spot->at++;
    } else {
        uint64_t number = u64_load_acquire(spot->link); /* spot_step:A */

        if (number == 0) {
            return false;
        }
        spot->line = table_overflow(table, number);
        spot->link = &spot->line->word[OVERFLOW_LINK];
        spot->at = LINE_WORDS - OVERFLOW_CELLS;
    }
    spot->position++;
    return true;
}

/** Why an overflow line is wanted: a move may use what insertions must leave. */
enum lengthening { LENGTHEN_INSERT_EARLY, LENGTHEN_INSERT, LENGTHEN_MOVE };

/**
 * Makes sure that the line of a spot at the end of its chain has a next one. False: the pool has
 * none for this purpose.
 *
 * INSERT_EARLY: into a table that the previous one's pods still move to.
 */
bool index_lengthen(struct index_table *table, const struct spot *spot, enum lengthening why);

/**
 * Does this table need twice as many lines? If not, a new one of its size has fewer unused lines.
 */
bool index_table_crowded(struct index_table *table);

/* ---- index_line.c: pods behind cells --------------------------------------------------------- */

enum sight { SIGHT_OVER, SIGHT_OTHER, SIGHT_SAME };

/** What was seen of a pod that is not over. */
struct seen {
    struct index_found pod;
    uint32_t hash;
};

/**
 * Is the pod of this cell over, and if not, does it have this name? `wanted` NULL: only the first.
 *
 * The life is read before and after everything else. If it is the cell's both times, no later owner
 * had written its own, which it does before it stores a state word: a state word read in between
 * that is a pod's is this pod's.
 */
STRAIGHT enum sight
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
                names_equal(entry_words(index->names, entry, cell_record(cell), (uint32_t)name,
                                        wanted->length),
                            wanted->text, wanted->length);

    *seen = (struct seen){.pod = {.life = life, .record = cell_record(cell)}, .hash = hash};
    if (!state_is_pod(entry_state(entry)) || u64_load(&entry->life) != life) { /* index_look:C */
        return SIGHT_OVER;
    }
    return same ? SIGHT_SAME : SIGHT_OTHER;
}

enum completion {
    COMPLETED,
    COMPLETION_CHANGED, /* another thread did it: the control word has changed */
    COMPLETION_REFUSED  /* the pod could not be settled: everything is as it was */
};

/** Completes the insertion that the control word names. */
enum completion index_complete(const struct index *index, const struct index_caller *caller,
                               struct index_table *table, struct index_line *home,
                               uint64_t control);

/* ---- index_growth.c: from one table to the next ---------------------------------------------- */

/** Gives `table`, which is the current one, a next one. False: no memory, and there is none. */
bool index_grow(struct index *index, struct index_table *table, uint32_t lines);

/**
 * Moves one line to the next table. False: no overflow line there; what is in the line stays
 * findable in it.
 */
bool index_move_line(struct index *index, const struct index_caller *caller,
                     struct index_table *table, struct index_line *home);

/** Moves a few lines, whichever are due. */
void index_help(struct index *index, const struct index_caller *caller, struct index_table *table);

/** Moves all that is left. False: a line could not be moved. */
bool index_move_all(struct index *index, const struct index_caller *caller,
                    struct index_table *table);

#endif
