/* Bands of band.h, which has the essay. */
#include "lockfree/refs/band.h"

#include <stddef.h>
#include <string.h>

#define CUT_LEAVES 4 /* that one copy replaces, at most */
#define CUT_ROWS (CUT_LEAVES * SUMMARY_ROWS + 1)
#define SWEPT_AT_ONCE 2            /* leaves */
#define SWEEPS_AT_ONCE SIZE(32, 1) /* that begin and have not ended */
#define LEAVING ((uintptr_t)1)     /* in a cell: the band left the table */

/* ---- ids ------------------------------------------------------------------------------------- */

static uint32_t
chunk_number(uint32_t id)
{
    return 31 - (uint32_t)__builtin_clz(id / BAND_CHUNK_FIRST + 1);
}

static uint32_t
chunk_begin(uint32_t number)
{
    return BAND_CHUNK_FIRST * ((UINT32_C(1) << number) - 1);
}

static size_t
chunk_bytes(uint32_t number)
{
    return ((size_t)BAND_CHUNK_FIRST << number) * sizeof(struct band_cell);
}

/* The cell of an id that was drawn. */
static struct band_cell *
cell_of(const struct bands *bands, uint32_t id)
{
    uint32_t number = chunk_number(id);
    /* cell_of:A reads from chunk_make:A */
    struct band_cell *chunk = ptr_load_acquire(&bands->chunks[number]);

    return &chunk[id - chunk_begin(number)];
}

static bool
chunk_make(struct bands *bands, uint32_t number)
{
    if (ptr_load(&bands->chunks[number]) != NULL) {
        return true;
    }
    struct band_cell *chunk =
        memory_alloc(bands->memory, MEMORY_QUEUES, chunk_bytes(number), CACHE_LINE);

    /* chunk_make:A; never NULL again */
    if (chunk != NULL && !ptr_cas(&bands->chunks[number], NULL, chunk)) {
        memory_free(bands->memory, MEMORY_QUEUES, chunk, chunk_bytes(number));
        return true;
    }
    return chunk != NULL;
}

bool
bands_reserve(struct bands *bands, uint32_t count)
{
    for (uint32_t i = 0; i <= chunk_number(count); i++) {
        if (!chunk_make(bands, i)) {
            return false;
        }
    }
    return true;
}

/*
 * Takes an id from a stack; 0: it is empty. Ends, like id_push and id_draw: each failed exchange is
 * another thread's.
 */
static uint32_t
id_pop(const struct bands *bands, atomic_u64 *stack)
{
    uint64_t seen = u64_load_acquire(stack); /* reads from a swing of id_push */

    while (stack_top(seen) != 0) {
        uint32_t id = stack_top(seen);
        uint32_t next = (uint32_t)u64_load_acquire(&cell_of(bands, id)->next);

        if (stack_swing(stack, &seen, next)) {
            return id;
        }
    }
    return 0;
}

static void
id_push(const struct bands *bands, atomic_u64 *stack, uint32_t id)
{
    struct band_cell *cell = cell_of(bands, id);
    uint64_t seen = u64_load(stack);

    do {
        u64_store(&cell->next, stack_top(seen));
    } while (!stack_swing(stack, &seen, id));
}

/* 0: no memory, or no more ids. Memory first: an id that was drawn for nothing would be lost. */
static uint32_t
id_draw(struct bands *bands)
{
    uint32_t last = u32_load(&bands->drawn);

    while (last < BANDS_MAX && chunk_make(bands, chunk_number(last + 1))) {
        if (u32_swing(&bands->drawn, &last, last + 1)) {
            return last + 1;
        }
    }
    return 0;
}

bool
bands_are_out(const struct bands *bands)
{
    return u32_load(&bands->drawn) == BANDS_MAX && stack_top(u64_load(&bands->ids)) == 0;
}

/* ---- objects --------------------------------------------------------------------------------- */

static struct band *
cell_band(const struct band_cell *cell, uintptr_t *leaving)
{
    uintptr_t band = (uintptr_t)ptr_load_acquire(&cell->band); /* of band_make:A, leave_cell */

    *leaving = band & LEAVING;
    return (struct band *)(band & ~LEAVING); /* NOLINT(performance-no-int-to-ptr) */
}

struct band *
bands_at(const struct bands *bands, uint32_t id)
{
    uintptr_t leaving;
    struct band *band = cell_band(cell_of(bands, id), &leaving); /* bands_at:A */

    return leaving == 0 ? band : NULL;
}

/* The row at a place of the table, which is leaf * SUMMARY_ROWS + row; NULL: there is none. */
static const struct band_row *
row_at(const struct band_table *table, uint32_t at)
{
    if (at / SUMMARY_ROWS >= table->count) {
        return NULL;
    }
    const struct band_leaf *leaf = table->leaves[at / SUMMARY_ROWS].leaf;

    return at % SUMMARY_ROWS < leaf->count ? &leaf->rows[at % SUMMARY_ROWS] : NULL;
}

/* Is the band shown at a place of the table? */
static bool
is_shown_at(const struct band *band, uint32_t at)
{
    const struct band_table *table = bands_table(band->bands); /* as band_mark:A */
    const struct band_row *row = row_at(table, at);

    return row != NULL && row->band == band &&
           summary_shows(&table->leaves[at / SUMMARY_ROWS].leaf->summary, at % SUMMARY_ROWS);
}

/* bin.mark */
static bool
mark_bin(struct bin *bin)
{
    struct band *band = (struct band *)(void *)((char *)bin - offsetof(struct band, bin));

    /* relaxed: what is there now is compared */
    return is_shown_at(band, u32_load(&bin->spot)) || band_mark_slowly(band);
}

static struct band *
band_make(struct bands *bands, int32_t priority)
{
    struct band *band = memory_alloc(bands->memory, MEMORY_QUEUES, sizeof *band, CACHE_LINE);

    if (band == NULL) {
        return NULL;
    }
    band->id = id_pop(bands, &bands->ids);
    band->id = band->id != 0 ? band->id : id_draw(bands);
    if (band->id == 0) {
        memory_free(bands->memory, MEMORY_QUEUES, band, sizeof *band);
        return NULL;
    }
    band->bands = bands;
    band->priority = priority;
    bin_open(&band->bin, &(struct residence){
                             .entries = bands->entries, .place = PLACE_ACTIVE, .band = band->id});
    band->bin.mark = mark_bin;
    ptr_store_release(&cell_of(bands, band->id)->band, band); /* band_make:A, read by bands_at:A */
    return band;
}

/* No thread has it, and no pod is active in it. */
static void
band_free(struct bands *bands, struct band *band)
{
    uint32_t id = band->id;

    bin_give_runs(&band->bin, bands->pool);
    bin_close(&band->bin, bands->memory);
    memory_free(bands->memory, MEMORY_QUEUES, band, sizeof *band);
    /* relaxed: id_push publishes it to the next owner of the id */
    ptr_store(&cell_of(bands, id)->band, NULL);
    id_push(bands, &bands->ids, id);
}

/* Called after the last grace period. */
static bool
band_end(struct epoch_block *block)
{
    struct band *band = (struct band *)(void *)((char *)block - offsetof(struct band, block));

    band_free(band->bands, band);
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static uint32_t
tops_of(uint32_t leaves)
{
    return leaves == 0 ? 1 : (leaves + SUMMARY_ROWS - 1) / SUMMARY_ROWS;
}

static size_t
table_bytes(uint32_t leaves)
{
    return sizeof(struct band_table) + tops_of(leaves) * sizeof(struct summary) +
           leaves * sizeof(struct band_leaf_row);
}

static size_t
leaf_bytes(uint32_t rows)
{
    return sizeof(struct band_leaf) + rows * sizeof(struct band_row);
}

/* All leaves are shown. NULL: no memory. */
static struct band_table *
table_make(struct bands *bands, uint32_t leaves)
{
    struct band_table *table =
        memory_alloc_raw(bands->memory, MEMORY_QUEUES, table_bytes(leaves), CACHE_LINE);

    if (table == NULL) {
        return NULL;
    }
    table->count = leaves;
    table->top_count = tops_of(leaves);
    for (uint32_t i = 0; i < table->top_count; i++) {
        uint32_t left = leaves - i * SUMMARY_ROWS;

        summary_open(&table->tops[i], left < SUMMARY_ROWS ? left : SUMMARY_ROWS);
    }
    table->leaves = (struct band_leaf_row *)(void *)&table->tops[table->top_count];
    return table;
}

static void
table_free(struct bands *bands, struct band_table *table)
{
    memory_free(bands->memory, MEMORY_QUEUES, table, table_bytes(table->count));
}

/* All rows are shown. NULL: no memory. */
static struct band_leaf *
leaf_of_rows(struct bands *bands, const struct band_row *rows, uint32_t count, uint64_t leaving)
{
    struct band_leaf *leaf =
        memory_alloc_raw(bands->memory, MEMORY_QUEUES, leaf_bytes(count), CACHE_LINE);

    if (leaf != NULL) {
        summary_open(&leaf->summary, count);
        leaf->count = count;
        leaf->leaving = leaving;
        memcpy(leaf->rows, rows, count * sizeof *rows);
    }
    return leaf;
}

static void
leaf_free(struct bands *bands, struct band_leaf *leaf)
{
    memory_free(bands->memory, MEMORY_QUEUES, leaf, leaf_bytes(leaf->count));
}

bool
bands_open(struct bands *bands, struct memory *memory, const struct entries *entries,
           struct run_pool *pool)
{
    bands->memory = memory;
    bands->entries = entries;
    bands->pool = pool;
    struct band_table *table = table_make(bands, 0);

    if (table != NULL) {
        table->rows = 0;
        table->number = 1;
    }
    ptr_store(&bands->table, table);
    return table != NULL;
}

void
bands_close(struct bands *bands)
{
    struct band_table *table = ptr_load(&bands->table), *waiting = ptr_load(&bands->leaving);

    while (waiting != NULL) {
        struct band_table *next = waiting->next_leaving;

        table_free(bands, waiting);
        waiting = next;
    }
    for (uint32_t id = 1; id <= u32_load(&bands->drawn); id++) {
        uintptr_t leaving;
        struct band *band = cell_band(cell_of(bands, id), &leaving);

        if (band != NULL) {
            bin_close(&band->bin, bands->memory);
            memory_free(bands->memory, MEMORY_QUEUES, band, sizeof *band);
        }
    }
    for (uint32_t i = 0; i < BAND_CHUNKS; i++) {
        memory_free(bands->memory, MEMORY_QUEUES, ptr_load(&bands->chunks[i]), chunk_bytes(i));
    }
    if (table != NULL) {
        for (uint32_t i = 0; i < table->count; i++) {
            leaf_free(bands, table->leaves[i].leaf);
        }
        table_free(bands, table);
    }
}

/*
 * The leaf in which a priority is, if it is in the table: the last leaf whose top does not rank
 * behind it, or the first.
 */
static uint32_t
leaf_of(const struct band_table *table, int32_t priority)
{
    uint32_t low = 0, high = table->count;

    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;

        if (table->leaves[middle].top >= priority) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first row of a leaf that does not rank before a priority. */
static uint32_t
row_of(const struct band_leaf *leaf, int32_t priority)
{
    const struct band_row *from = leaf->rows;
    uint32_t left = leaf->count;

    while (left > 0) {
        uint32_t half = (left + 1) / 2;

        from += from[half - 1].priority > priority ? half : 0;
        left -= half;
    }
    return (uint32_t)(from - leaf->rows);
}

/* The row of a priority, and where it is; NULL: there is none. */
static const struct band_row *
find(const struct band_table *table, int32_t priority, uint32_t *spot)
{
    if (table->count == 0) {
        return NULL;
    }
    uint32_t i = leaf_of(table, priority);
    const struct band_leaf *leaf = table->leaves[i].leaf;
    uint32_t row = row_of(leaf, priority);

    *spot = i * SUMMARY_ROWS + row;
    return row < leaf->count && leaf->rows[row].priority == priority ? &leaf->rows[row] : NULL;
}

/* ---- the summaries --------------------------------------------------------------------------- */

bool
band_mark_slowly(struct band *band)
{
    /* Ends: each further round is due to another thread's change of the table or a summary. */
    for (;;) {
        struct band_table *table = bands_table(band->bands); /* as band_mark:A */
        uint32_t spot = u32_load(&band->bin.spot); /* relaxed: what is there now is compared */
        const struct band_row *row = row_at(table, spot);

        if (row == NULL || row->band != band) {
            row = find(table, band->priority, &spot);
            if (row == NULL || row->band != band) {
                return false;
            }
            u32_store(&band->bin.spot, spot);
        }
        uint32_t i = spot / SUMMARY_ROWS, number = spot % SUMMARY_ROWS;
        struct band_leaf *leaf = table->leaves[i].leaf;
        const struct pair seen = summary_see(&leaf->summary);

        if (summary_shows(&leaf->summary, number)) {
            return true;
        }
        if (summary_sleeps(seen)) {
            if (bands_table(band->bands) != table) { /* band_mark_slowly:A reads from replace:A */
                continue;
            }
            summary_note(&table->tops[i / SUMMARY_ROWS], i % SUMMARY_ROWS);
        }
        if (summary_set(&leaf->summary, seen, number)) {
            return true;
        }
    }
}

void
bands_clear(struct bands *bands, struct band_leaf *leaf, uint32_t below)
{
    const struct pair seen = summary_see(&leaf->summary);
    uint64_t rows = seen.low & UINT64_MAX >> (SUMMARY_ROWS - below), empty = 0, doubt;

    if (rows == 0 || !summary_doubt(&leaf->summary, seen, below, &doubt)) {
        return;
    }
    for (; rows != 0; rows &= rows - 1) {
        struct bin *bin = &leaf->rows[__builtin_ctzll(rows)].band->bin;

        empty |= bin_is_empty(bin, bands->pool) ? rows & (0 - rows) : 0;
    }
    summary_clear(&leaf->summary, doubt, empty);
}

void
bands_rest(struct bands *bands, struct band_table *table, uint32_t top, uint64_t idle)
{
    const struct pair seen = summary_see(&table->tops[top]); /* before leaves are put to sleep */
    uint64_t asleep = 0;

    for (uint64_t rest = idle & seen.low; rest != 0; rest &= rest - 1) {
        uint32_t i = top * SUMMARY_ROWS + (uint32_t)__builtin_ctzll(rest);

        asleep |= summary_sleep(&table->leaves[i].leaf->summary) ? rest & (0 - rest) : 0;
    }
    summary_take(&table->tops[top], seen, asleep);
    if (table->count > BAND_LEAVES_KEPT && u32_load(&bands->due) == 0 &&
        __builtin_popcountll(seen.low & ~asleep) <= SUMMARY_ROWS / 2) {
        (void)u32_add(&bands->due, (uint32_t)__builtin_popcountll(asleep) / SWEPT_AT_ONCE + 1);
    }
}

/* ---- replacing leaves ------------------------------------------------------------------------ */

/* What a copy of leaves does to their rows. */
enum purpose {
    ADDS,   /* puts in a row */
    KEEPS,  /* no row is leaving any more */
    BEGINS, /* rows without pods are leaving, by a number of their own */
    ENDS,   /* rows that are leaving by a number go, unless they have pods; the others stay */
};

struct change {
    enum purpose purpose;
    struct band *made; /* ADDS */
    uint64_t number;   /* ENDS */
    bool again;        /* BEGINS, also if all those rows are leaving already */
};

/* Leaves [from, to) of a table, at most CUT_LEAVES, and the rows that replace theirs. */
struct cut {
    struct band_table *table;
    uint32_t from, to;
    uint32_t count;   /* of rows that stay */
    uint32_t dropped; /* that go; they come last */
    uint32_t first;   /* rows of the first of the new leaves */
    uint64_t leaving;
    struct band_row rows[CUT_ROWS];
};

/* False: for this purpose nothing need be replaced. */
static bool
cut_rows(struct cut *cut, struct bands *bands, const struct change *change)
{
    bool matters = change->purpose == ADDS || change->purpose == KEEPS;

    cut->count = cut->dropped = 0;
    cut->leaving = change->number;
    for (uint32_t i = cut->from; i < cut->to; i++) {
        const struct band_leaf *leaf = cut->table->leaves[i].leaf;

        for (uint32_t j = 0; j < leaf->count; j++) {
            struct band_row row = leaf->rows[j];
            bool was = row.leaving, ends = was && leaf->leaving == change->number;

            switch (change->purpose) {
            case ADDS:
                cut->leaving = leaf->leaving;
                break;
            case KEEPS:
                row.leaving = false;
                break;
            case BEGINS:
                row.leaving = bin_is_empty(&row.band->bin, bands->pool);
                matters = matters || (row.leaving && (change->again || !was));
                break;
            case ENDS:
                row.leaving = false;
                matters = matters || ends;
                if (ends && bin_is_empty(&row.band->bin, bands->pool)) {
                    cut->rows[CUT_ROWS - ++cut->dropped] = row;
                    continue;
                }
                break;
            }
            cut->rows[cut->count++] = row;
        }
    }
    return matters;
}

/*
 * Puts a row where it belongs. If that is at an end, the leaf is split beside it: the next row is
 * most often added there.
 */
static void
cut_add(struct cut *cut, struct band *made)
{
    uint32_t at = cut->count++;

    for (; at > 0 && cut->rows[at - 1].priority < made->priority; at--) {
        cut->rows[at] = cut->rows[at - 1];
    }
    cut->rows[at] = (struct band_row){.priority = made->priority, .band = made};
    cut->first = at == 0 ? 1 : at == cut->count - 1 ? at : cut->count / 2;
}

static uint32_t
leaves_for(const struct cut *cut)
{
    return (cut->count + BAND_ROWS - 1) / BAND_ROWS;
}

static void
drop_leaves(struct bands *bands, const struct band_table *table, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        leaf_free(bands, table->leaves[i].leaf);
    }
}

/* The table as the cut would make it; NULL: no memory. */
static struct band_table *
draft(struct bands *bands, const struct cut *cut)
{
    const struct band_table *old = cut->table;
    uint32_t fresh = leaves_for(cut), put = 0;
    struct band_table *table = table_make(bands, old->count - (cut->to - cut->from) + fresh);

    if (table == NULL) {
        return NULL;
    }
    memcpy(table->leaves, old->leaves, cut->from * sizeof *old->leaves);
    for (uint32_t i = 0; i < fresh; i++) {
        uint32_t left = fresh - i;
        uint32_t rows = i == 0 && cut->first != 0 && fresh > 1
                            ? cut->first
                            : (cut->count - put + left - 1) / left;
        struct band_leaf *leaf = leaf_of_rows(bands, &cut->rows[put], rows, cut->leaving);

        if (leaf == NULL) {
            drop_leaves(bands, table, cut->from, cut->from + i);
            table_free(bands, table);
            return NULL;
        }
        table->leaves[cut->from + i] =
            (struct band_leaf_row){.top = cut->rows[put].priority, .leaf = leaf};
        put += rows;
    }
    memcpy(&table->leaves[cut->from + fresh], &old->leaves[cut->to],
           (old->count - cut->to) * sizeof *old->leaves);
    return table;
}

/* An exchange, as what is retired has to be unlinked by one (epoch.h). */
static void
leave_cell(struct bands *bands, struct band *band)
{
    uintptr_t leaving = (uintptr_t)band | LEAVING;

    /* NOLINT(performance-no-int-to-ptr) */
    (void)ptr_cas(&cell_of(bands, band->id)->band, band, (void *)leaving);
}

/* First takes away what leads to a band, then retires the band. */
static void
drop_band(struct bands *bands, struct epoch_record *epoch, struct band *band)
{
    leave_cell(bands, band);
    epoch_retire_with(epoch, &band->block, bands->memory, MEMORY_QUEUES, sizeof *band, band_end);
}

/* Puts a table into `leaving`. Ends: each failed exchange is another thread's. */
static void
wait_for(struct bands *bands, struct band_table *table)
{
    do {
        table->next_leaving = ptr_load(&bands->leaving);
        /* wait_for:A */
    } while (!ptr_cas(&bands->leaving, table->next_leaving, table));
    (void)u64_cas(&bands->waits, 0, table->mark); /* wait_for:B */
}

/* Called behind replace:A. */
static void
retire_table(struct bands *bands, struct epoch_record *epoch, const struct cut *cut, bool begins)
{
    struct band_table *old = cut->table;
    size_t bytes = table_bytes(old->count);

    if (begins) {
        old->leaving = cut->leaving;
        old->high = cut->rows[0].priority;
        old->low = cut->rows[cut->count - 1].priority;
        old->mark = epoch_mark(epoch->epoch);
        epoch_press(epoch, bytes);
        wait_for(bands, old);
    } else {
        epoch_retire(epoch, &old->block, bands->memory, MEMORY_QUEUES, bytes);
    }
}

enum replaced { REPLACED, OUTDATED, NO_MEMORY };

/* Replaces leaves of a table; those that need not be replaced count as replaced. */
static enum replaced
replace(struct bands *bands, struct epoch_record *epoch, struct cut *cut,
        const struct change *change)
{
    struct band_table *old = cut->table;

    cut->first = 0;
    if (!cut_rows(cut, bands, change)) {
        return REPLACED;
    }
    if (change->purpose == BEGINS) {
        cut->leaving = u64_add(&bands->leavings, 1) + 1;
    } else if (change->purpose == ADDS) {
        cut_add(cut, change->made);
    }
    struct band_table *table = draft(bands, cut);

    if (table == NULL) {
        return NO_MEMORY;
    }
    table->rows = old->rows + (change->purpose == ADDS ? 1 : 0) - cut->dropped;
    table->number = old->number + 1;
    if (!ptr_cas(&bands->table, old, table)) { /* replace:A */
        drop_leaves(bands, table, cut->from, cut->from + leaves_for(cut));
        table_free(bands, table);
        return OUTDATED;
    }
    for (uint32_t i = 0; i < cut->dropped; i++) {
        drop_band(bands, epoch, cut->rows[CUT_ROWS - 1 - i].band);
    }
    for (uint32_t i = cut->from; i < cut->to; i++) {
        struct band_leaf *leaf = old->leaves[i].leaf;

        epoch_retire(epoch, &leaf->block, bands->memory, MEMORY_QUEUES, leaf_bytes(leaf->count));
    }
    if (change->purpose == ADDS && leaves_for(cut) > 1) {
        (void)u32_add(&bands->due, 1);
    }
    retire_table(bands, epoch, cut, change->purpose == BEGINS);
    return REPLACED;
}

/* Begins a cut with the leaf where a priority is, or belongs. */
static void
cut_at(struct cut *cut, struct band_table *table, int32_t priority)
{
    cut->table = table;
    cut->from = leaf_of(table, priority);
    cut->to = table->count > 0 ? cut->from + 1 : 0;
}

/* ---- getting --------------------------------------------------------------------------------- */

/* For a priority that is not in the table, or is leaving. */
__attribute__((noinline)) static struct band *
get_slowly(struct bands *bands, struct epoch_record *epoch, int32_t priority)
{
    struct change change = {.purpose = ADDS};
    enum replaced replaced = OUTDATED;
    struct band *made = NULL, *band = NULL;
    struct cut cut;
    uint32_t at;

    /* Ends: each further round means that another thread replaced the table. */
    while (replaced == OUTDATED) {
        struct band_table *table = bands_table(bands);
        const struct band_row *row = find(table, priority, &at);

        band = row != NULL ? row->band : made;
        if (row != NULL && !row->leaving) {
            break;
        }
        if (band == NULL) {
            band = made = band_make(bands, priority);
        }
        if (band == NULL) {
            return NULL;
        }
        change.purpose = row != NULL ? KEEPS : ADDS;
        change.made = made;
        cut_at(&cut, table, priority);
        replaced = replace(bands, epoch, &cut, &change);
    }
    if (made != NULL && (made != band || replaced == NO_MEMORY)) {
        drop_band(bands, epoch, made);
    }
    return replaced == NO_MEMORY ? NULL : band;
}

struct band *
bands_look_up(struct bands *bands, struct epoch_record *epoch, int32_t priority,
              struct band_spot *spot)
{
    const struct band_table *table = bands_table(bands);
    uint32_t at;
    const struct band_row *row = find(table, priority, &at);

    if (row == NULL || row->leaving) {
        return get_slowly(bands, epoch, priority);
    }
    *spot = (struct band_spot){.number = table->number,
                               .band = row->band,
                               .summary = &table->leaves[at / SUMMARY_ROWS].leaf->summary,
                               .priority = priority,
                               .row = at % SUMMARY_ROWS};
    return row->band;
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* In the leaves with priorities from `high` down to `low`. */
static void
replace_all(struct bands *bands, struct epoch_record *epoch, int32_t high, int32_t low,
            const struct change *change)
{
    enum replaced replaced = REPLACED;
    bool more = true;
    struct cut cut;

    /* Ends: each round goes on, or another thread replaced the table. */
    while (more && replaced != NO_MEMORY) {
        struct band_table *table = bands_table(bands);
        uint32_t left;

        cut_at(&cut, table, high);
        left = table->count - cut.from;
        cut.to = cut.from + (left < CUT_LEAVES ? left : CUT_LEAVES);
        replaced = replace(bands, epoch, &cut, change);
        if (replaced == REPLACED) {
            more = cut.to < table->count && table->leaves[cut.to].top >= low;
            high = more ? table->leaves[cut.to].top : high;
        }
    }
}

/*
 * Looks at the tables in `leaving`. When a table's mark has passed, the rows that began to leave as
 * it was replaced are taken out, unless they have pods.
 */
static void
end_leaving(struct bands *bands, struct epoch_record *epoch)
{
    uint64_t waits = u64_load(&bands->waits);

    if (waits == 0) {
        return;
    }
    if (!epoch_passed(epoch->epoch, waits)) {
        epoch_press(epoch, 0);
        return;
    }
    if (!u64_cas(&bands->waits, waits, 0)) { /* end_leaving:A */
        return;
    }
    /* relaxed: how many may begin is no promise */
    u64_store(&bands->ended, u64_load(&bands->leavings));
    /* end_leaving:B, of wait_for:A */
    struct band_table *table = ptr_exchange(&bands->leaving, NULL);

    while (table != NULL) {
        struct band_table *next = table->next_leaving;
        const struct change change = {.purpose = ENDS, .number = table->leaving};

        if (epoch_passed(epoch->epoch, table->mark)) {
            replace_all(bands, epoch, table->high, table->low, &change);
            table_free(bands, table);
        } else {
            wait_for(bands, table);
        }
        table = next;
    }
}

/* Ends: each failed exchange means that another thread took one, or added one. */
static bool
take_due(struct bands *bands)
{
    uint32_t due = u32_load(&bands->due);

    while (due > 0) {
        if (u32_swing(&bands->due, &due, due - 1)) {
            return true;
        }
    }
    return false;
}

/*
 * A few sweeps begin before the first has ended: workers that bring new priorities split leaves off
 * faster than grace periods pass. Many have begun and not ended only while a thread stands in a
 * section.
 */
static bool
may_begin(const struct bands *bands)
{
    return u64_load(&bands->waits) == 0 ||
           u64_load(&bands->leavings) - u64_load(&bands->ended) < SWEEPS_AT_ONCE;
}

void
bands_sweep(struct bands *bands, struct epoch_record *epoch)
{
    end_leaving(bands, epoch);
    struct cut cut = {.table = bands_table(bands)};

    if (may_begin(bands) && take_due(bands) && cut.table->count > 0) {
        cut_at(&cut, cut.table, (int32_t)u32_load(&bands->swept));
        uint32_t left = cut.table->count - cut.from;

        cut.to = cut.from + (left < SWEPT_AT_ONCE ? left : SWEPT_AT_ONCE);
        /* relaxed: any place will do */
        u32_store(&bands->swept, cut.to < cut.table->count ? (uint32_t)cut.table->leaves[cut.to].top
                                                           : (uint32_t)INT32_MAX);
        (void)replace(bands, epoch, &cut, &(struct change){.purpose = BEGINS});
    }
}

void
bands_trim(struct bands *bands, struct epoch_record *epoch)
{
    end_leaving(bands, epoch);
    replace_all(bands, epoch, INT32_MAX, INT32_MIN,
                &(struct change){.purpose = BEGINS, .again = true});
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* A pod that was active in a band. */
struct witness {
    const struct entry *entry;
    uint64_t state;
};

static bool
find_witness(struct bands *bands, const struct bin_caller *caller, struct band *band,
             struct witness *witness)
{
    struct bin_head head;

    /* Ends: each round goes past a ref that is stale. */
    while (bin_first(&band->bin, bands->pool, &head)) {
        uint64_t ref = bin_head_ref(&head);

        /*
         * The entry is taken before its word is judged: after that the pod may end, and trim take
         * its page.
         */
        witness->entry = entry_at(bands->entries, ref_record(ref));
        if (witness->entry != NULL &&
            bin_judge(&band->bin, caller, ref, bin_head_cause(&head), &witness->state)) {
            return true;
        }
        bin_advance(&head);
    }
    return false;
}

/*
 * Finds active pods of up to `max` bands other than the priority's. UINT32_MAX: that one has a pod.
 */
static uint32_t
find_witnesses(struct bands *bands, const struct bin_caller *caller, int32_t priority,
               struct witness *witnesses, uint32_t max)
{
    const struct band_table *table = bands_table(bands);
    uint32_t count = 0, spot;
    const struct band_row *own = find(table, priority, &spot);

    if (own != NULL && find_witness(bands, caller, own->band, &witnesses[0])) {
        return UINT32_MAX;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        const struct band_leaf *leaf = table->leaves[i].leaf;

        for (uint64_t bits = summary_bits(&leaf->summary); bits != 0 && count < max;
             bits &= bits - 1) {
            struct band *band = leaf->rows[__builtin_ctzll(bits)].band;

            if (band->priority != priority &&
                find_witness(bands, caller, band, &witnesses[count])) {
                count++;
            }
        }
    }
    return count;
}

static bool
all_stand(const struct witness *witnesses, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (entry_state(witnesses[i].entry) != witnesses[i].state) {
            return false;
        }
    }
    return true;
}

schedq_status_t
bands_is_full(struct bands *bands, const struct bin_caller *caller, int32_t priority, uint32_t max)
{
    if (bands_table(bands)->rows < max) {
        return SCHEDQ_OK;
    }
    struct witness *witnesses =
        memory_alloc_raw(bands->memory, MEMORY_OTHER, max * sizeof *witnesses, CACHE_LINE);
    schedq_status_t status = SCHEDQ_FULL;

    if (witnesses == NULL) {
        return SCHEDQ_NOMEM;
    }
    /* Ends: each further round means that a pod was moved, taken or changed. */
    do {
        if (find_witnesses(bands, caller, priority, witnesses, max) != max) {
            status = SCHEDQ_OK;
        }
    } while (status == SCHEDQ_FULL && !all_stand(witnesses, max));
    memory_free(bands->memory, MEMORY_OTHER, witnesses, max * sizeof *witnesses);
    return status;
}

/* ---- lanes of a worker ----------------------------------------------------------------------- */

void
bands_tend(struct bands *bands, struct epoch_record *epoch, uint32_t worker)
{
    const struct band_table *table = bands_table(bands);

    for (uint32_t i = 0; i < table->count; i++) {
        const struct band_leaf *leaf = table->leaves[i].leaf;

        for (uint32_t j = 0; j < leaf->count; j++) {
            bin_tend(&leaf->rows[j].band->bin, bands->memory, epoch, worker);
        }
    }
}
