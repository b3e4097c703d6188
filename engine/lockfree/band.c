/*
 * Bands of band.h, which has the essay: linearization, ordering, progress. Each load of the table, of a chunk or of a bin's word
 * names the store that it reads from; each loop over an exchange says whose progress another round is.
 */
#include "lockfree/band.h"

#define USED_AT_ONCE 256

struct chunk {
    atomic_u64 words[BAND_CHUNK]; /* of the bins: a walk over many bands reads eight in one line */
    atomic_ptr bands[BAND_CHUNK];
};

static size_t
table_bytes(uint32_t count)
{
    return sizeof(struct band_table) + count * sizeof(struct band_row);
}

bool
bands_open(struct bands *bands, struct memory *memory, const struct entries *entries, atomic_u64 *reorder,
           struct run_pool *pool, const struct charge_books *books, uint32_t max)
{
    struct band_table *table = memory_alloc(memory, MEMORY_QUEUES, table_bytes(0), CACHE_LINE);

    bands->memory = memory;
    bands->entries = entries;
    bands->reorder = reorder;
    bands->pool = pool;
    bands->books = *books;
    bands->max = max;
    ptr_store(&bands->table, table);
    return table != NULL;
}

static struct chunk *
chunk_of(const struct bands *bands, uint32_t id)
{
    return ptr_load_acquire(&bands->chunks[id / BAND_CHUNK]); /* chunk_of:A reads from chunk_make:A */
}

struct band *
bands_at(const struct bands *bands, uint32_t id)
{
    return ptr_load_acquire(&chunk_of(bands, id)->bands[id % BAND_CHUNK]); /* bands_at:B reads from band_make:A */
}

void
bands_close(struct bands *bands)
{
    struct band_table *table = ptr_load(&bands->table);

    if (table != NULL) {
        memory_free(bands->memory, MEMORY_QUEUES, table, table_bytes(table->capacity));
    }
    for (uint32_t i = 0; i < BAND_CHUNKS; i++) {
        struct chunk *chunk = ptr_load(&bands->chunks[i]);

        for (uint32_t j = 0; chunk != NULL && j < BAND_CHUNK; j++) {
            struct band *band = ptr_load(&chunk->bands[j]);

            if (band != NULL) {
                bin_close(&band->bin, bands->memory);
                memory_free(bands->memory, MEMORY_QUEUES, band, sizeof *band);
            }
        }
        memory_free(bands->memory, MEMORY_QUEUES, chunk, sizeof *chunk);
    }
}

/* ---- objects ------------------------------------------------------------------------------------------------------------ */

/* Ends, like spare_pop: each failed swing is another's (stack.h). Relaxed: the swing publishes the link. */
static void
spare_push(struct bands *bands, struct band *band)
{
    uint64_t seen = u64_load(&bands->spare);

    do {
        u64_store(&band->next_spare, stack_top(seen));
    } while (!stack_swing(&bands->spare, &seen, band->id));
}

static struct band *
spare_pop(struct bands *bands)
{
    uint64_t seen = u64_load_acquire(&bands->spare); /* reads from a swing of spare_push */

    while (stack_top(seen) != 0) {
        struct band *band = bands_at(bands, stack_top(seen));

        if (stack_swing(&bands->spare, &seen, (uint32_t)u64_load_acquire(&band->next_spare))) {
            return band;
        }
    }
    return NULL;
}

static struct chunk *
chunk_make(struct bands *bands, uint32_t id)
{
    atomic_ptr *place = &bands->chunks[id / BAND_CHUNK];
    struct chunk *chunk = ptr_load_acquire(place); /* as chunk_of:A */

    if (chunk != NULL) {
        return chunk;
    }
    chunk = memory_alloc(bands->memory, MEMORY_QUEUES, sizeof *chunk, CACHE_LINE);
    if (chunk != NULL && !ptr_cas(place, NULL, chunk)) { /* chunk_make:A; never NULL again */
        memory_free(bands->memory, MEMORY_QUEUES, chunk, sizeof *chunk);
        chunk = ptr_load_acquire(place);
    }
    return chunk;
}

/* Memory first: an id that was drawn for nothing would be lost. */
static struct band *
band_make(struct bands *bands, schedq_status_t *status)
{
    uint32_t last = u32_load(&bands->ids);
    struct band *band = memory_alloc(bands->memory, MEMORY_QUEUES, sizeof *band, CACHE_LINE);

    *status = SCHEDQ_NOMEM;
    /* Ends: each failed exchange means that somebody drew an id. Loaded relaxed: the exchange compares. */
    while (band != NULL) {
        uint32_t id = last + 1;
        struct chunk *chunk = id <= BANDS_MAX ? chunk_make(bands, id) : NULL;

        if (chunk == NULL) {
            *status = id <= BANDS_MAX ? SCHEDQ_NOMEM : SCHEDQ_FULL;
            memory_free(bands->memory, MEMORY_QUEUES, band, sizeof *band);
            return NULL;
        }
        uint32_t found = u32_cas_value(&bands->ids, last, id); /* band_make:B, before there is an object of this id */

        if (found == last) {
            band->id = id;
            bin_open(&band->bin, &chunk->words[id % BAND_CHUNK],
                     &(struct residence){
                         .entries = bands->entries, .place = PLACE_ACTIVE, .band = id, .reorder = bands->reorder});
            ptr_store_release(&chunk->bands[id % BAND_CHUNK], band); /* band_make:A, read by bands_at:B, made:A */
            return band;
        }
        last = found;
    }
    return NULL;
}

bool
bands_reserve(struct bands *bands, uint32_t count)
{
    schedq_status_t status;

    /* Ends: each round draws an id. Relaxed: an old number is one round more. */
    while (u32_load(&bands->ids) < count) {
        struct band *band = band_make(bands, &status);

        if (band == NULL) {
            return false;
        }
        spare_push(bands, band);
    }
    return true;
}

/* ---- the table ---------------------------------------------------------------------------------------------------------- */

/* The first row that does not rank before the priority. */
static uint32_t
search(const struct band_table *table, int32_t priority)
{
    uint32_t low = 0, high = table->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (table->rows[middle].priority > priority) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool
is_retired(const struct band_row *row)
{
    return bin_phase(u64_load_acquire(row->word)) == BIN_RETIRED; /* of bin_retire:A, for ever */
}

static struct band *
find(const struct band_table *table, int32_t priority)
{
    uint32_t i = search(table, priority);
    bool found = i < table->count && table->rows[i].priority == priority && !is_retired(&table->rows[i]);

    return found ? table->rows[i].band : NULL;
}

/* A copy of the table without retired bands, and with `band`. NULL: no memory. */
static struct band_table *
table_with(struct bands *bands, const struct band_table *table, struct band *band)
{
    struct band_table *copy = memory_alloc(bands->memory, MEMORY_QUEUES, table_bytes(table->count + 1), CACHE_LINE);
    const struct band_row row = {.priority = band->priority, .band = band, .word = band->bin.word};
    bool placed = false;

    if (copy == NULL) {
        return NULL;
    }
    copy->capacity = table->count + 1;
    for (uint32_t i = 0; i < table->count; i++) {
        if (!placed && table->rows[i].priority <= band->priority) {
            copy->rows[copy->count++] = row;
            placed = true;
        }
        if (!is_retired(&table->rows[i])) {
            copy->rows[copy->count++] = table->rows[i];
        }
    }
    if (!placed) {
        copy->rows[copy->count++] = row;
    }
    return copy;
}

static uint32_t
live_rows(const struct band_table *table)
{
    uint32_t live = 0;

    for (uint32_t i = 0; i < table->count; i++) {
        live += is_retired(&table->rows[i]) ? 0 : 1;
    }
    return live;
}

/* Pods of a band at a moment during this call, or fewer. */
static int32_t
pods_of(const struct bands *bands, const struct band *band)
{
    uint32_t entered = charge_entered(&bands->books, &band->charge, band->id);

    return (int32_t)(entered - charge_left(&bands->books, &band->charge, band->id));
}

/* How many of the rows from `first` on, up to USED_AT_ONCE, had pods at one moment, or fewer. */
static uint32_t
used_at_once(const struct bands *bands, const struct band_table *table, uint32_t first)
{
    uint32_t entered[USED_AT_ONCE];
    uint32_t end = table->count - first < USED_AT_ONCE ? table->count : first + USED_AT_ONCE;
    uint32_t used = 0;

    for (uint32_t i = first; i < end; i++) {
        const struct band *band = table->rows[i].band;

        entered[i - first] = charge_entered(&bands->books, &band->charge, band->id);
    }
    for (uint32_t i = first; i < end; i++) {
        const struct band *band = table->rows[i].band;
        uint32_t left = charge_left(&bands->books, &band->charge, band->id);

        used += (int32_t)(entered[i - first] - left) > 0 ? 1 : 0;
    }
    return used;
}

/* Of one moment, if there are at most USED_AT_ONCE priorities. */
static bool
is_full(const struct bands *bands, const struct band_table *table)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < table->count; i += USED_AT_ONCE) {
        used += used_at_once(bands, table, i);
    }
    return used >= bands->max;
}

/* A band in the table that has no pods stands there for nothing: whoever gets it brings one more priority. */
static bool
is_refused(const struct bands *bands, const struct band_table *table, const struct band *band)
{
    if (table->count < bands->max) {
        return false;
    }
    return (band == NULL || pods_of(bands, band) <= 0) && is_full(bands, table);
}

/* Retires bands without pods until there is a row less than max. An update may have gone beyond. */
static void
make_room(struct bands *bands, const struct band_table *table)
{
    uint32_t live = live_rows(table);

    for (uint32_t i = 0; i < table->count && live >= bands->max; i++) {
        struct band *band = table->rows[i].band;

        if (!is_retired(&table->rows[i]) && pods_of(bands, band) <= 0) {
            live -= bin_retire(&band->bin, bands->pool) ? 1 : 0;
        }
    }
}

struct band *
bands_get(struct bands *bands, struct epoch_record *epoch, int32_t priority, bool exceed, schedq_status_t *status)
{
    struct band *made = NULL;
    struct band *band;

    /* Ends: each further round means that somebody put a priority into the table. */
    for (;;) {
        struct band_table *table = ptr_load_acquire(&bands->table); /* bands_get:A reads from bands_get:B */

        band = find(table, priority);
        if (!exceed && is_refused(bands, table, band)) {
            *status = SCHEDQ_FULL;
            band = NULL;
            break;
        }
        if (band != NULL) {
            break;
        }
        make_room(bands, table);
        made = made != NULL ? made : spare_pop(bands);
        made = made != NULL ? made : band_make(bands, status);
        if (made == NULL) {
            break;
        }
        made->priority = priority;
        struct band_table *larger = table_with(bands, table, made);

        if (larger == NULL) {
            *status = SCHEDQ_NOMEM;
            break;
        }
        if (ptr_cas(&bands->table, table, larger)) { /* bands_get:B */
            epoch_retire(epoch, &table->block, bands->memory, MEMORY_QUEUES, table_bytes(table->capacity));
            return made;
        }
        memory_free(bands->memory, MEMORY_QUEUES, larger, table_bytes(larger->capacity));
    }
    if (made != NULL) {
        spare_push(bands, made);
    }
    return band;
}

/* ---- lanes of a worker ---------------------------------------------------------------------------------------------------- */

/* NULL: the id was drawn, its band is not there. Then no lane of this worker is in it: he would have seen it. */
static struct band *
made(const struct bands *bands, uint32_t id)
{
    const struct chunk *chunk = chunk_of(bands, id);

    return chunk != NULL ? ptr_load_acquire(&chunk->bands[id % BAND_CHUNK]) : NULL; /* made:A reads from band_make:A */
}

void
bands_resume(struct bands *bands, uint32_t worker)
{
    /* Of band_make:B: those in which the worker published came before. So too in bands_shrink. */
    for (uint32_t id = 1; id <= u32_load_acquire(&bands->ids); id++) {
        struct band *band = made(bands, id);

        if (band != NULL) {
            bin_resume(&band->bin, worker);
        }
    }
}

void
bands_shrink(struct bands *bands, struct epoch_record *epoch, uint32_t worker)
{
    for (uint32_t id = 1; id <= u32_load_acquire(&bands->ids); id++) {
        struct band *band = made(bands, id);

        if (band != NULL) {
            bin_shrink(&band->bin, bands->memory, epoch, worker);
        }
    }
}
