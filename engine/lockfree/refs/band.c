/* Bands of band.h, which has the essay. */
#include "lockfree/refs/band.h"

#include <stddef.h>

#define SWEPT_AT_ONCE 2 /* leaves, for each that was added */
#define RIPE_AT_ONCE 64
#define LEAVING ((uintptr_t)1) /* in a cell: the band left the table */

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

/* Of an id that was drawn. */
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
 * Of a stack of ids; 0: it is empty. Ends, like id_push and id_draw: each failed exchange is
 * another's.
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
        uint32_t found = u32_cas_value(&bands->drawn, last, last + 1);

        if (found == last) {
            return last + 1;
        }
        last = found;
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
    uintptr_t band = (uintptr_t)ptr_load_acquire(&cell->band); /* of band_make:A, leave_table:A */

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

static void band_note(struct bin *bin);

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
    bin_open(
        &band->bin, &band->word,
        &(struct residence){.entries = bands->entries, .place = PLACE_ACTIVE, .band = band->id});
    band->bin.note = band_note;
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

/* After the last grace period. */
static bool
band_end(struct epoch_block *block)
{
    struct band *band = (struct band *)(void *)((char *)block - offsetof(struct band, block));

    band_free(band->bands, band);
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static size_t
table_bytes(uint32_t leaves)
{
    return sizeof(struct band_table) + leaves * sizeof(struct band_leaf_row);
}

static size_t
leaf_bytes(uint32_t rows)
{
    return sizeof(struct band_leaf) + rows * sizeof(struct band_row);
}

bool
bands_open(struct bands *bands, struct memory *memory, const struct entries *entries,
           struct run_pool *pool)
{
    struct band_table *table = memory_alloc(memory, MEMORY_QUEUES, table_bytes(0), CACHE_LINE);

    bands->memory = memory;
    bands->entries = entries;
    bands->pool = pool;
    ptr_store(&bands->table, table);
    return table != NULL;
}

static void
leaf_free(struct bands *bands, struct band_leaf *leaf)
{
    memory_free(bands->memory, MEMORY_QUEUES, leaf, leaf_bytes(leaf->capacity));
}

void
bands_close(struct bands *bands)
{
    struct band_table *table = ptr_load(&bands->table);

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
        memory_free(bands->memory, MEMORY_QUEUES, table, table_bytes(table->capacity));
    }
}

/*
 * The leaf where a priority is, if it is anywhere: the last whose top does not rank behind it, or
 * the first.
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

/* The row of a priority in a leaf; its count: there is none. */
static uint32_t
row_of(const struct band_leaf *leaf, int32_t priority)
{
    uint32_t low = 0, high = leaf->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (leaf->rows[middle].priority > priority) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < leaf->count && leaf->rows[low].priority == priority ? low : leaf->count;
}

static bool
is_retired(const struct band *band)
{
    return bin_phase(u64_load_acquire(&band->word)) == BIN_RETIRED; /* of retire:B, for ever */
}

bool
band_keep(struct band *band)
{
    uint64_t word = u64_load_acquire(&band->word); /* of bin_mark_from:A, leave:A, retire:B */

    /* Ends: each failed exchange means that another thread kept or marked it, or retired it. */
    while (bin_phase(word) == BIN_LEAVING) {
        uint64_t next = bin_word_next(word, BIN_CLEAR);
        uint64_t found = u64_cas_value(&band->word, word, next); /* band_keep:A */

        word = found == word ? next : found;
    }
    return bin_phase(word) != BIN_RETIRED;
}

/* NULL: there is none, or it is retired. */
static struct band *
find(const struct band_table *table, int32_t priority)
{
    if (table->count == 0) {
        return NULL;
    }
    const struct band_leaf *leaf = table->leaves[leaf_of(table, priority)].leaf;
    uint32_t row = row_of(leaf, priority);
    struct band *band = row < leaf->count ? leaf->rows[row].band : NULL;

    return band != NULL && band_keep(band) ? band : NULL;
}

/* ---- the summary ----------------------------------------------------------------------------- */

/*
 * Sets the bit of a row, and raises the version. Ends: each failed exchange is another producer's
 * or consumer's.
 */
static void
leaf_note(struct band_leaf *leaf, uint32_t row)
{
    struct pair seen;

    do {
        seen.low = u64_load(&leaf->summary.low); /* relaxed: the exchange compares */
        seen.high = u64_load(&leaf->summary.high);
    } while (!pair_cas(&leaf->summary, seen, /* leaf_note:A */
                       (struct pair){.low = seen.low | UINT64_C(1) << row, .high = seen.high + 1}));
}

/*
 * bin.note: called between CLEAR and SET. A band that is in the table no more was retired since,
 * without pods.
 */
static void
band_note(struct bin *bin)
{
    struct band *band = (struct band *)(void *)((char *)bin - offsetof(struct band, bin));
    const struct bands *bands = band->bands;
    const struct band_table *table, *now = bands_table(bands);

    /* Ends: each further round means that the table was replaced. */
    do {
        table = now;
        if (table->count == 0) {
            return;
        }
        struct band_leaf *leaf = table->leaves[leaf_of(table, band->priority)].leaf;
        uint32_t row = row_of(leaf, band->priority);

        if (row == leaf->count || leaf->rows[row].band != band) {
            return;
        }
        leaf_note(leaf, row);
        now = bands_table(bands); /* band_note:A */
    } while (now != table);
}

/* ---- replacing leaves ------------------------------------------------------------------------ */

/* Leaves [from, to) of a table, which are replaced by others. */
struct cut {
    const struct band_table *table;
    uint32_t from, to;
    bool splits; /* by two at least */
};

/* The rows of a cut, one after the other. */
struct row_reader {
    const struct cut *cut;
    uint32_t leaf, row;
};

static const struct band_row *
next_row(struct row_reader *reader)
{
    while (reader->leaf < reader->cut->to) {
        const struct band_leaf *leaf = reader->cut->table->leaves[reader->leaf].leaf;

        if (reader->row < leaf->count) {
            return &leaf->rows[reader->row++];
        }
        reader->leaf++;
        reader->row = 0;
    }
    return NULL;
}

static struct row_reader
read_rows(const struct cut *cut)
{
    return (struct row_reader){.cut = cut, .leaf = cut->from};
}

/* A table that is being made. */
struct draft {
    struct bands *bands;
    struct band_table *table;
    uint32_t first;    /* of the new leaves; the table's count is their end */
    uint32_t leaf_max; /* rows that each of them gets */
};

static bool
draft_open(struct draft *draft, const struct cut *cut, uint32_t rows)
{
    const struct band_table *old = cut->table;
    uint32_t full = (rows + BAND_ROWS - 1) / BAND_ROWS;
    uint32_t fresh = cut->splits && full < 2 ? 2 : full;
    uint32_t capacity = old->count - (cut->to - cut->from) + fresh;
    struct bands *bands = draft->bands;

    draft->table =
        memory_alloc_raw(bands->memory, MEMORY_QUEUES, table_bytes(capacity), CACHE_LINE);
    if (draft->table == NULL) {
        return false;
    }
    draft->table->capacity = capacity;
    draft->table->count = draft->first = cut->from;
    draft->table->rows = old->rows;
    draft->leaf_max = fresh > 0 ? (rows + fresh - 1) / fresh : 0;
    for (uint32_t i = 0; i < cut->from; i++) {
        draft->table->leaves[i] = old->leaves[i];
    }
    return true;
}

static void
draft_drop(struct draft *draft, uint32_t end)
{
    for (uint32_t i = draft->first; i < end; i++) {
        leaf_free(draft->bands, draft->table->leaves[i].leaf);
    }
    memory_free(draft->bands->memory, MEMORY_QUEUES, draft->table,
                table_bytes(draft->table->capacity));
}

/* False: no memory. */
static bool
draft_put(struct draft *draft, const struct band_row *row)
{
    struct band_table *table = draft->table;
    struct band_leaf *leaf =
        table->count > draft->first ? table->leaves[table->count - 1].leaf : NULL;

    if (leaf == NULL || leaf->count == leaf->capacity) {
        leaf = memory_alloc_raw(draft->bands->memory, MEMORY_QUEUES, leaf_bytes(draft->leaf_max),
                                CACHE_LINE);
        if (leaf == NULL) {
            return false;
        }
        leaf->capacity = draft->leaf_max;
        leaf->count = 0;
        u64_store(&leaf->summary.high, 0);
        table->leaves[table->count++] = (struct band_leaf_row){.top = row->priority, .leaf = leaf};
    }
    leaf->rows[leaf->count++] = *row;
    u64_store(&leaf->summary.low, UINT64_MAX >> (64 - leaf->count));
    return true;
}

/* The rows of the cut that are not retired, and one more; false: no memory. */
static bool
draft_fill(struct draft *draft, const struct cut *cut, const struct band_row *more)
{
    struct row_reader reader = read_rows(cut);
    const struct band_row *row;

    while ((row = next_row(&reader)) != NULL) {
        if (more != NULL && row->priority <= more->priority) {
            if (!draft_put(draft, more)) {
                return false;
            }
            more = NULL;
        }
        if (!is_retired(row->band) && !draft_put(draft, row)) {
            return false;
        }
    }
    return more == NULL || draft_put(draft, more);
}

/* The next row of the cut that the new leaves do not have. */
static const struct band_row *
next_dropped(struct row_reader *old, struct row_reader *fresh, const struct band_row **kept)
{
    const struct band_row *row;

    while ((row = next_row(old)) != NULL) {
        while (*kept != NULL &&
               ((*kept)->priority > row->priority ||
                ((*kept)->priority == row->priority && (*kept)->band != row->band))) {
            *kept = next_row(fresh);
        }
        if (*kept == NULL || (*kept)->band != row->band) {
            return row;
        }
    }
    return NULL;
}

/* An exchange, as what is retired has to be unlinked by one (epoch.h). */
static void
leave_cell(struct bands *bands, struct band *band)
{
    uintptr_t leaving = (uintptr_t)band | LEAVING;

    /* NOLINT(performance-no-int-to-ptr) */
    (void)ptr_cas(&cell_of(bands, band->id)->band, band, (void *)leaving);
}

/*
 * Gives back the bands that left the table by this thread's exchange; first what leads to them,
 * then they.
 */
static void
leave_table(struct bands *bands, struct epoch_record *epoch, const struct cut *cut,
            const struct cut *fresh)
{
    struct row_reader old = read_rows(cut), other = read_rows(fresh);
    const struct band_row *kept = next_row(&other), *row;
    bool any = false;

    while ((row = next_dropped(&old, &other, &kept)) != NULL) {
        leave_cell(bands, row->band);
        any = true;
    }
    if (!any) {
        return;
    }
    (void)u64_add(&bands->removals, 1); /* leave_table:A, read by publish_band */
    old = read_rows(cut);
    other = read_rows(fresh);
    kept = next_row(&other);
    while ((row = next_dropped(&old, &other, &kept)) != NULL) {
        epoch_retire_with(epoch, &row->band->block, bands->memory, MEMORY_QUEUES, 0, band_end);
    }
}

enum replaced { REPLACED, OUTDATED, NO_MEMORY };

/*
 * Replaces leaves of the table by such without retired bands, and with `made`, if it is not NULL.
 */
static enum replaced
replace(struct bands *bands, struct epoch_record *epoch, const struct cut *cut, struct band *made)
{
    struct band_table *old = (struct band_table *)(uintptr_t)cut->table;
    const struct band_row more = {.priority = made != NULL ? made->priority : 0, .band = made};
    struct row_reader reader = read_rows(cut);
    struct draft draft = {.bands = bands};
    uint32_t before = 0, rows = made != NULL ? 1 : 0;

    for (const struct band_row *row = next_row(&reader); row != NULL; row = next_row(&reader)) {
        rows += is_retired(row->band) ? 0 : 1;
        before++;
    }
    if (!draft_open(&draft, cut, rows)) {
        return NO_MEMORY;
    }
    if (!draft_fill(&draft, cut, made != NULL ? &more : NULL)) {
        draft_drop(&draft, draft.table->count);
        return NO_MEMORY;
    }
    struct band_table *table = draft.table;
    const struct cut fresh = {.table = table, .from = draft.first, .to = table->count};

    for (uint32_t i = fresh.from; i < fresh.to; i++) {
        table->rows += table->leaves[i].leaf->count;
    }
    table->rows -= before;
    for (uint32_t i = cut->to; i < old->count; i++) {
        table->leaves[table->count++] = old->leaves[i];
    }
    if (!ptr_cas(&bands->table, old, table)) { /* replace:A */
        draft_drop(&draft, fresh.to);
        return OUTDATED;
    }
    leave_table(bands, epoch, cut, &fresh);
    for (uint32_t i = cut->from; i < cut->to; i++) {
        struct band_leaf *leaf = old->leaves[i].leaf;

        epoch_retire(epoch, &leaf->block, bands->memory, MEMORY_QUEUES, leaf_bytes(leaf->capacity));
    }
    epoch_retire(epoch, &old->block, bands->memory, MEMORY_QUEUES, table_bytes(old->capacity));
    return REPLACED;
}

/* ---- leaving --------------------------------------------------------------------------------- */

/*
 * After a grace period, perhaps outside of any section, where the words of pods must not be looked
 * at.
 */
static bool
band_is_ripe(struct epoch_block *block)
{
    struct band *band = (struct band *)(void *)((char *)block - offsetof(struct band, block));

    id_push(band->bands, &band->bands->ripe, band->id);
    return true;
}

/* Waits for a grace period, if that is not done already. */
static void
wait_for_calls(struct band *band, struct epoch_record *epoch, uint64_t leaving)
{
    if (u32_load(&band->waits) == 0 && u32_cas_value(&band->waits, 0, 1) == 0) {
        u64_store(&band->leaving, leaving); /* relaxed: the grace period orders it */
        epoch_retire_with(epoch, &band->block, band->bands->memory, MEMORY_QUEUES, 0, band_is_ripe);
    }
}

/* A band that is CLEAR begins to leave. */
static void
leave(struct band *band, struct epoch_record *epoch)
{
    uint64_t word = u64_load_acquire(&band->word); /* of finish_clearing:A, band_keep:A */
    uint64_t next = bin_word_next(word, BIN_LEAVING);

    if (bin_phase(word) == BIN_CLEAR && u64_cas(&band->word, word, next)) { /* leave:A */
        wait_for_calls(band, epoch, next);
    }
}

/*
 * A grace period ago the band was leaving, and no call has kept it since: the calls that had found
 * it before are over, and what they published is there. A pod whose producer stopped for ever
 * before it marked the bin is marked here.
 */
static bool
retire(struct bands *bands, struct epoch_record *epoch, struct band *band)
{
    uint64_t leaving = u64_load_acquire(&band->leaving); /* of wait_for_calls */

    /*
     * Before the look at the word: what begins to leave later waits for itself, what did before is
     * seen here.
     */
    /* retire:A; a full fence, as leave:A before the look at waits */
    (void)u32_cas_value(&band->waits, 1, 0);
    uint64_t word = u64_load_acquire(&band->word); /* of leave:A, band_keep:A, bin_mark_from:A */

    if (word == leaving && !bin_is_empty(&band->bin, bands->pool)) {
        (void)bin_mark(&band->bin);
        return false;
    }
    if (word != leaving && bin_phase(word) == BIN_LEAVING) {
        wait_for_calls(band, epoch, word);
        return false;
    }
    /* retire:B */
    return word == leaving && u64_cas(&band->word, word, bin_word_next(word, BIN_RETIRED));
}

static bool
spans(const struct band_leaf *leaf, int32_t priority)
{
    return leaf->count > 0 && leaf->rows[0].priority >= priority &&
           leaf->rows[leaf->count - 1].priority <= priority;
}

/*
 * Replaces the leaf where a retired band is, if it is in the table. `done` is the leaf that was
 * replaced last, or NULL: its rows that are retired have left with it.
 */
static void
drop_row(struct bands *bands, struct epoch_record *epoch, int32_t priority,
         const struct band_leaf **done)
{
    const struct band_table *table = bands_table(bands);
    struct cut cut = {.table = table};

    if (*done != NULL && spans(*done, priority)) {
        return;
    }

    if (table->count > 0) {
        cut.from = leaf_of(table, priority);
        cut.to = cut.from + 1;
        const struct band_leaf *leaf = table->leaves[cut.from].leaf;
        uint32_t row = row_of(leaf, priority);

        /* not replaced: the row leaves with the next copy of its leaf */
        if (row < leaf->count && is_retired(leaf->rows[row].band) &&
            replace(bands, epoch, &cut, NULL) == REPLACED) {
            *done = leaf;
        }
    }
}

/* Bands that are ripe leave the table; neighbours with one copy of their leaf. */
static void
drop_ripe(struct bands *bands, struct epoch_record *epoch, uint32_t count)
{
    int32_t priorities[RIPE_AT_ONCE];
    const struct band_leaf *done = NULL;
    uint32_t retired = 0;

    for (uint32_t id = 1; count > 0 && (id = id_pop(bands, &bands->ripe)) != 0; count--) {
        struct band *band = bands_at(bands, id);

        if (retire(bands, epoch, band)) {
            priorities[retired++] = band->priority;
        }
    }
    for (uint32_t i = 0; i < retired; i++) {
        drop_row(bands, epoch, priorities[i], &done);
    }
}

/*
 * What has no pods in one leaf begins to leave. True: a retired band is still there, for want of
 * memory.
 */
static bool
leave_rows(struct bands *bands, struct epoch_record *epoch, const struct band_leaf *leaf)
{
    bool retired = false;

    for (uint32_t i = 0; i < leaf->count; i++) {
        struct band *band = leaf->rows[i].band;
        /* of bin_mark_from:A, finish_clearing:A, retire:B */
        uint64_t word = u64_load_acquire(&band->word);

        retired = retired || bin_phase(word) == BIN_RETIRED;
        if (band_word_rests(word) ||
            (bin_is_empty(&band->bin, bands->pool) && bin_clear(&band->bin, bands->pool))) {
            leave(band, epoch);
        }
    }
    return retired;
}

static void
sweep_leaf(struct bands *bands, struct epoch_record *epoch, const struct band_table *table,
           uint32_t i)
{
    if (leave_rows(bands, epoch, table->leaves[i].leaf)) {
        (void)replace(bands, epoch, &(struct cut){.table = table, .from = i, .to = i + 1}, NULL);
    }
}

/* Ends: each failed exchange means that another thread took one, or added one. */
static bool
take_due(struct bands *bands)
{
    uint32_t due = u32_load(&bands->due);

    while (due > 0) {
        uint32_t found = u32_cas_value(&bands->due, due, due - 1);

        if (found == due) {
            return true;
        }
        due = found;
    }
    return false;
}

void
bands_sweep(struct bands *bands, struct epoch_record *epoch)
{
    for (uint32_t i = take_due(bands) ? 0 : SWEPT_AT_ONCE; i < SWEPT_AT_ONCE; i++) {
        const struct band_table *table = bands_table(bands);

        if (table->count > 0) {
            sweep_leaf(bands, epoch, table, u32_add(&bands->swept, 1) % table->count);
        }
    }
    drop_ripe(bands, epoch, RIPE_AT_ONCE);
}

/* All that is retired leaves with one copy of the table. */
void
bands_trim(struct bands *bands, struct epoch_record *epoch)
{
    const struct band_table *table = bands_table(bands);
    bool retired = false;

    for (uint32_t i = 0; i < table->count; i++) {
        retired = leave_rows(bands, epoch, table->leaves[i].leaf) || retired;
    }
    /* Ends: what is put back waits for a grace period. */
    for (uint32_t id = id_pop(bands, &bands->ripe); id != 0; id = id_pop(bands, &bands->ripe)) {
        retired = retire(bands, epoch, bands_at(bands, id)) || retired;
    }
    /* Ends: each further round means that another thread replaced the table. */
    while (retired) {
        const struct band_table *now = bands_table(bands);

        retired =
            replace(bands, epoch, &(struct cut){.table = now, .to = now->count}, NULL) == OUTDATED;
    }
}

void
bands_rest(struct bands *bands, struct epoch_record *epoch, struct band_table *table, uint32_t i,
           uint64_t bits, uint64_t version, uint64_t at_rest)
{
    struct band_leaf *leaf = table->leaves[i].leaf;
    const struct pair seen = {.low = bits, .high = version};

    /* bands_rest:A */
    if (!pair_cas(&leaf->summary, seen, (struct pair){.low = bits & ~at_rest, .high = version})) {
        return;
    }
    if ((bits & ~at_rest) == 0 && table->count > BAND_LEAVES_KEPT) {
        sweep_leaf(bands, epoch, table, i);
    }
}

struct band *
bands_get(struct bands *bands, struct epoch_record *epoch, int32_t priority)
{
    struct band *made = NULL, *band;

    /* Ends: each further round means that another thread replaced the table. */
    for (;;) {
        const struct band_table *table = bands_table(bands);
        struct cut cut = {.table = table};

        band = find(table, priority);
        if (band != NULL) {
            break;
        }
        if (table->count > 0) {
            cut.from = leaf_of(table, priority);
            cut.to = cut.from + 1;
            cut.splits = table->leaves[cut.from].leaf->count == BAND_ROWS;
        }
        made = made != NULL ? made : band_make(bands, priority);
        if (made == NULL) {
            return NULL;
        }
        enum replaced replaced = replace(bands, epoch, &cut, made);

        if (replaced == REPLACED) {
            if (cut.splits) {
                (void)u32_add(&bands->due, 1);
            }
            return made;
        }
        if (replaced == NO_MEMORY) {
            break;
        }
    }
    if (made != NULL) {
        leave_cell(bands, made);
        epoch_retire_with(epoch, &made->block, bands->memory, MEMORY_QUEUES, 0, band_end);
    }
    return band;
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
    while (!band_word_rests(u64_load_acquire(&band->word)) &&
           bin_first(&band->bin, bands->pool, &head)) {
        uint64_t ref = bin_head_ref(&head);

        /* Before the look at its word: behind it the pod may end, and trim take its page. */
        witness->entry = entry_at(bands->entries, ref_record(ref));
        if (witness->entry != NULL &&
            bin_judge(&band->bin, caller, ref, bin_head_cause(&head), &witness->state)) {
            return true;
        }
        bin_advance(&head);
    }
    return false;
}

/* Up to `max`, of other bands than that of the priority; UINT32_MAX: that band has a pod. */
static uint32_t
find_witnesses(struct bands *bands, const struct bin_caller *caller, int32_t priority,
               struct witness *witnesses, uint32_t max)
{
    const struct band_table *table = bands_table(bands);
    const struct cut all = {.table = table, .to = table->count};
    struct row_reader reader = read_rows(&all);
    struct band *own = find(table, priority);
    uint32_t count = 0;

    if (own != NULL && find_witness(bands, caller, own, &witnesses[0])) {
        return UINT32_MAX;
    }
    for (const struct band_row *row = next_row(&reader); row != NULL && count < max;
         row = next_row(&reader)) {
        if (row->priority != priority &&
            find_witness(bands, caller, row->band, &witnesses[count])) {
            count++;
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
bands_resume(struct bands *bands, uint32_t worker)
{
    const struct band_table *table = bands_table(bands);
    const struct cut all = {.table = table, .to = table->count};
    struct row_reader reader = read_rows(&all);

    for (const struct band_row *row = next_row(&reader); row != NULL; row = next_row(&reader)) {
        bin_resume(&row->band->bin, worker);
    }
}

void
bands_shrink(struct bands *bands, struct epoch_record *epoch, uint32_t worker)
{
    const struct band_table *table = bands_table(bands);
    const struct cut all = {.table = table, .to = table->count};
    struct row_reader reader = read_rows(&all);

    for (const struct band_row *row = next_row(&reader); row != NULL; row = next_row(&reader)) {
        bin_shrink(&row->band->bin, bands->memory, epoch, worker);
    }
}
