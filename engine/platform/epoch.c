/* Grace periods of epoch.h. */
#include "platform/epoch.h"

#include "platform/membarrier.h"
#include "platform/words.h"

struct epoch *
epoch_open(struct memory *memory, bool asymmetric)
{
    struct epoch *epoch = memory_alloc(memory, MEMORY_OTHER, sizeof *epoch, CACHE_LINE);

    if (epoch != NULL) {
        u64_store(&epoch->now, EPOCH_OUTSIDE + 1);
        u64_store(&epoch->asked, EPOCH_OUTSIDE + 1);
        epoch->memory = memory;
        epoch->asymmetric = asymmetric && membarrier_register();
    }
    return epoch;
}

uint64_t
epoch_asks(const struct epoch *epoch)
{
    return u64_load(&epoch->asks);
}

uint64_t
epoch_waiting_bytes(const struct epoch *epoch)
{
    /* of epoch_record_join:A */
    const struct epoch_record *record = ptr_load_acquire(&epoch->records);
    uint64_t bytes = 0;

    for (; record != NULL; record = record->older) {
        bytes += word_load(&record->bytes);
    }
    return bytes;
}

uint64_t
epoch_standing(const struct epoch *epoch)
{
    /* of epoch_record_join:A */
    const struct epoch_record *record = ptr_load_acquire(&epoch->records);
    uint64_t now = u64_load(&epoch->now), guests = u64_load(&epoch->guests);
    uint64_t standing = guests / (EPOCH_GUESTS + 1) < now ? guests & EPOCH_GUESTS : 0;

    for (; record != NULL; record = record->older) {
        uint64_t inside = u64_load(&record->inside);

        standing += inside != EPOCH_OUTSIDE && inside < now;
    }
    return standing;
}

/* ---- records --------------------------------------------------------------------------------- */

struct epoch_record *
epoch_record_prepare(struct epoch *epoch)
{
    struct epoch_record *record =
        memory_alloc(epoch->memory, MEMORY_OTHER, sizeof *record, CACHE_LINE);

    if (record != NULL) {
        record->epoch = epoch;
    }
    return record;
}

/* A thread that died behind its exchange may not have noted that the record joined. */
static bool
has_joined(const struct epoch_record *record)
{
    /* of epoch_record_join:A */
    const struct epoch_record *at = ptr_load_acquire(&record->epoch->records);

    while (at != NULL && at != record) {
        at = at->older;
    }
    return at != NULL;
}

void
epoch_record_drop(struct epoch_record *record)
{
    if (has_joined(record)) {
        return; /* epoch_close frees it */
    }
    memory_free(record->epoch->memory, MEMORY_OTHER, record, sizeof *record);
}

void
epoch_record_join(struct epoch_record *record)
{
    struct epoch *epoch = record->epoch;

    /* Ends: each failed exchange is another thread's join. */
    do {
        record->older = ptr_load(&epoch->records);
        /* epoch_record_join:A; records stay, so no ABA */
    } while (!ptr_cas(&epoch->records, record->older, record));
}

struct epoch_record *
epoch_record_make(struct epoch *epoch)
{
    struct epoch_record *record = epoch_record_prepare(epoch);

    if (record != NULL) {
        epoch_record_join(record);
    }
    return record;
}

/* ---- what was retired ------------------------------------------------------------------------ */

/* Only the owner writes. */
static void
count_bytes(struct epoch_record *record, uint64_t change)
{
    word_store(&record->bytes, word_load(&record->bytes) + change);
}

void
epoch_retire(struct epoch_record *record, struct epoch_block *block, struct memory *memory,
             enum memory_kind kind, size_t bytes)
{
    epoch_retire_with(record, block, memory, kind, bytes, NULL);
}

void
epoch_retire_with(struct epoch_record *record, struct epoch_block *block, struct memory *memory,
                  enum memory_kind kind, size_t bytes, bool (*ends)(struct epoch_block *block))
{
    size_t pressure = record->pressure + EPOCH_BLOCK * (1 + bytes / EPOCH_BLOCK_BYTES);

    block->next = record->fresh;
    block->memory = memory;
    block->bytes = bytes;
    block->kind = kind;
    block->ends = ends;
    record->pressure = pressure < EPOCH_DUE ? (uint32_t)pressure : EPOCH_DUE;
    count_bytes(record, bytes);
    atomic_light_fence(); /* a death in between finds a list */
    record->fresh = block;
}

/* A record that is not in the list yet leaves no bookmark of a block that is deleted already. */
void
epoch_unmark_all(struct epoch *epoch, void *block)
{
    /* of epoch_record_join:A */
    struct epoch_record *record = ptr_load_acquire(&epoch->records);

    for (; record != NULL; record = record->older) {
        for (uint32_t i = 0; i < EPOCH_BOOKMARKS; i++) {
            if (ptr_load(&record->bookmarks[i]) == block) {
                (void)ptr_cas(&record->bookmarks[i], block, NULL); /* epoch_unmark_all:A */
            }
        }
    }
}

/* A thread that dies in between leaves bytes counted that are free. */
static void
free_all(struct epoch_record *record, struct epoch_block **list)
{
    uint64_t bytes = 0;

    while (*list != NULL) {
        struct epoch_block *block = *list;

        *list = block->next;
        atomic_light_fence(); /* a death in between frees nothing twice */
        bytes += block->bytes;
        if (block->ends == NULL || !block->ends(block)) {
            memory_free(block->memory, block->kind, block, block->bytes);
        }
    }
    count_bytes(record, 0 - bytes);
}

static void
close_batch(struct epoch_record *record)
{
    /* close_batch:A, a full fence behind all unlinking */
    record->closed = u64_add(&record->epoch->now, 1) + 1;
    record->waiting = record->fresh;
    atomic_light_fence(); /* a death in between is mended */
    record->fresh = NULL;
    record->pressed = false;
}

/* A thread died in close_batch: the batch is waiting already. */
static void
mend(struct epoch_record *record)
{
    if (record->fresh == record->waiting) {
        record->fresh = NULL;
    }
}

void
epoch_close(struct epoch *epoch)
{
    struct epoch_record *first = ptr_load_acquire(&epoch->records); /* of epoch_record_join:A */

    for (struct epoch_record *record = first; record != NULL; record = record->older) {
        mend(record);
        free_all(record, &record->waiting);
        free_all(record, &record->fresh);
    }
    while (first != NULL) {
        struct epoch_record *older = first->older;

        memory_free(epoch->memory, MEMORY_OTHER, first, sizeof *first);
        first = older;
    }
    memory_free(epoch->memory, MEMORY_OTHER, epoch, sizeof *epoch);
}

/* ---- threads that will never come back ------------------------------------------------------- */

void
epoch_hold(struct epoch_record *record)
{
    if (u64_load(&record->inside) == EPOCH_OUTSIDE) {
        epoch_enter(record);
    }
}

void
epoch_abandon(struct epoch_record *record)
{
    mend(record);
    (void)ptr_cas(&record->epoch->asker, record, NULL);
    epoch_leave(record);
}

/* ---- grace periods --------------------------------------------------------------------------- */

static void
ask(struct epoch_record *record)
{
    struct epoch *epoch = record->epoch;

    if (!epoch->asymmetric || ptr_load(&epoch->asker) != NULL ||
        !ptr_cas(&epoch->asker, NULL, record)) { /* ask:A */
        return;
    }
    uint64_t now = u64_load_acquire(&epoch->now); /* ask:B, of close_batch:A */

    if (membarrier_ask()) { /* ask:C */
        u64_store(&epoch->asks, u64_load(&epoch->asks) + 1);
        u64_store_release(&epoch->asked, now); /* ask:D */
    }
    (void)ptr_cas(&epoch->asker, record, NULL);
}

/* Has a heavy barrier begun after the batch was closed, and ended? */
static bool
barrier_is_over(struct epoch_record *record)
{
    const struct epoch *epoch = record->epoch;

    if (!epoch->asymmetric) {
        return true;
    }
    if (u64_load_acquire(&epoch->asked) < record->closed) { /* barrier_is_over:A, of ask:D */
        ask(record);
    }
    return u64_load_acquire(&epoch->asked) >= record->closed;
}

/* Is every section over that began in an epoch before `number`? */
static bool
is_over(const struct epoch *epoch, uint64_t number)
{
    /* of epoch_record_join:A */
    const struct epoch_record *record = ptr_load_acquire(&epoch->records);
    uint64_t guests = u64_load_acquire(&epoch->guests); /* is_over:A */

    if ((guests & EPOCH_GUESTS) != 0 && guests / (EPOCH_GUESTS + 1) < number) {
        return false;
    }
    for (; record != NULL; record = record->older) {
        uint64_t inside = u64_load_acquire(&record->inside); /* is_over:B */

        if (inside != EPOCH_OUTSIDE && inside < number) {
            return false;
        }
    }
    return true;
}

/* True: no batch waits any more. */
static bool
free_waiting(struct epoch_record *record)
{
    struct epoch *epoch = record->epoch;

    if (record->closed == 0) {
        return true;
    }
    if (!barrier_is_over(record) || !is_over(epoch, record->closed)) {
        return false;
    }
    if (u64_load(&epoch->passed) < record->closed) {
        u64_store_release(&epoch->passed, record->closed); /* free_waiting:A */
    }
    free_all(record, &record->waiting);
    record->closed = 0;
    return true;
}

uint64_t
epoch_mark(struct epoch *epoch)
{
    return u64_add(&epoch->now, 1) + 1; /* epoch_mark:A, as close_batch:A */
}

bool
epoch_waits(const struct epoch_record *record)
{
    return record->pressure != 0;
}

static bool
wants_batch(const struct epoch_record *record)
{
    return record->fresh != NULL || record->pressed;
}

void
epoch_poll(struct epoch_record *record)
{
    if (!epoch_waits(record)) {
        return;
    }
    if (free_waiting(record) && wants_batch(record)) {
        close_batch(record);
        (void)free_waiting(record);
    }
    record->pressure = record->closed != 0 ? EPOCH_DUE / 2 : 0;
}

void
epoch_poll_due(struct epoch_record *record)
{
    if (free_waiting(record) && wants_batch(record)) {
        close_batch(record);
    }
    record->pressure = record->closed != 0 ? EPOCH_DUE / 2 : 0;
}

void
epoch_poll_often(struct epoch_record *record)
{
    if (record->pressure >= EPOCH_DUE / 2) {
        epoch_poll(record);
    }
    if (u64_load(&record->epoch->asked) != u64_load(&record->epoch->now)) {
        ask(record);
    }
}
