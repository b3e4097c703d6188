/*
 * The memory of index_table.h; essay in index.c. Samples are relaxed: they decide about growth
 * only.
 */
#include "lockfree/index/index_table.h"

/*
 * Overflow lines beyond a quarter of the home lines: for tables that are small. What stopped
 * threads may hold comes on top.
 */
#define POOL_EXTRA 8

/* A sample of so many lines tells how full a table is to a sixteenth. */
#define SAMPLE_LINES 128

struct index_table *
index_table_make(const struct index *index, uint32_t lines, uint32_t kept)
{
    uint32_t pool = lines / 4 + POOL_EXTRA + index->threads;
    size_t bytes = sizeof(struct index_table) + ((size_t)lines + pool) * sizeof(struct index_line);
    struct index_table *table =
        lines <= LINES_MAX ? memory_alloc(index->memory, MEMORY_INDEX, bytes, CACHE_LINE) : NULL;

    if (table != NULL) {
        table->bytes = bytes;
        table->mask = lines - 1;
        table->pool = pool;
        table->kept = kept;
        table->spared = index->threads;
    }
    return table;
}

void
index_table_free(struct memory *memory, struct index_table *table)
{
    if (table != NULL) {
        memory_free(memory, MEMORY_INDEX, table, table->bytes);
    }
}

static uint32_t
spare_pop(struct index_table *table)
{
    uint64_t seen = u64_load_acquire(&table->spare); /* spare_pop:A */

    while (stack_top(seen) != 0) {
        uint32_t line = stack_top(seen);
        /* The line may be another's already: then this is any value, and the swing fails. */
        uint64_t below = u64_load(&table_overflow(table, line)->word[OVERFLOW_LINK]);

        if (stack_swing(&table->spare, &seen, (uint32_t)below)) { /* spare_pop:B */
            return line;
        }
    }
    return 0;
}

static void
spare_push(struct index_table *table, uint32_t line)
{
    uint64_t seen = u64_load(&table->spare);

    do {
        u64_store(&table_overflow(table, line)->word[OVERFLOW_LINK], stack_top(seen));
    } while (!stack_swing(&table->spare, &seen, line)); /* spare_push:A */
}

static uint32_t
pool_limit(const struct index_table *table, enum lengthening why)
{
    uint32_t usable = table_usable(table);

    switch (why) {
    case LENGTHEN_MOVE:
        return table->pool;
    case LENGTHEN_INSERT:
        return usable;
    default:
        return usable > table->kept ? usable - table->kept : 0;
    }
}

/* An overflow line without a link. Ends: each failed exchange is another thread's taking. */
static uint32_t
overflow_take(struct index_table *table, enum lengthening why)
{
    uint32_t limit = pool_limit(table, why);
    uint32_t taken = u32_load(&table->taken);

    if (why != LENGTHEN_MOVE && taken >= limit) {
        return 0;
    }
    uint32_t line = spare_pop(table);

    if (line != 0) {
        u64_store(&table_overflow(table, line)->word[OVERFLOW_LINK], 0);
        return line;
    }
    while (taken < limit) {
        if (u32_swing(&table->taken, &taken, taken + 1)) {
            return taken + 1;
        }
    }
    return 0;
}

bool
index_lengthen(struct index_table *table, const struct spot *spot, enum lengthening why)
{
    uint32_t line = overflow_take(table, why);

    if (line == 0) {
        return u64_load(spot->link) != 0;
    }
    if (!u64_cas(spot->link, 0, line)) { /* index_lengthen:A */
        spare_push(table, line);
    }
    return true;
}

/* Cells in use in a chain; some of them may be of pods that are over. */
static uint32_t
chain_load(struct index_table *table, uint32_t number)
{
    struct spot spot = spot_first(&table->lines[number]);
    uint32_t used = 0;

    do {
        used += !cell_is_free(u64_load(spot_cell(&spot)));
    } while (spot_step(table, &spot));
    return used;
}

bool
index_table_crowded(struct index_table *table)
{
    uint32_t lines = table_lines(table);
    uint32_t sample = lines < SAMPLE_LINES ? lines : SAMPLE_LINES;
    uint32_t first = u32_load(&table->taken) * SAMPLE_LINES; /* another part each time */
    uint64_t used = 0, overflow = 0;

    for (uint32_t i = 0; i < sample; i++) {
        uint32_t load = chain_load(table, (first + i) & table->mask);

        used += load;
        overflow +=
            load > HOME_CELLS ? (load - HOME_CELLS + OVERFLOW_CELLS - 1) / OVERFLOW_CELLS : 0;
    }
    return used > 2 * (uint64_t)sample ||
           overflow * lines > (uint64_t)(table_usable(table) / 4) * sample;
}
