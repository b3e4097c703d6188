/*
 * Grace periods: epoch.h on ck_epoch.
 *
 * libck's part of ck_epoch is not instrumented, so ThreadSanitizer is told what a grace period is:
 * what a section did happens before the free that waited for it. The address that names the domain
 * is that of its memory's description, because a retired block knows that one.
 */
#include "platform/epoch.h"

#include "platform/atomic.h"
#include "platform/ck.h"

struct epoch {
    ck_epoch_t domain;
    _Alignas(CACHE_LINE) struct memory *memory;
    atomic_ptr records; /* the newest */
};

struct epoch_record {
    ck_epoch_record_t own;
    struct epoch *epoch;
    struct epoch_record *older;
};

_Static_assert(sizeof(ck_epoch_entry_t) <= sizeof((struct epoch_block *)0)->link,
               "ck_epoch's words fit into a block");

#if defined(SCHEDQ_THREAD_SANITIZER)
void __tsan_acquire(void *word);
void __tsan_release(void *word);
#define SECTION_ENDS(memory) __tsan_release(memory)
#define GRACE_PERIOD_OVER(memory) __tsan_acquire(memory)
#else
#define SECTION_ENDS(memory) ((void)0)
#define GRACE_PERIOD_OVER(memory) ((void)0)
#endif

struct epoch *
epoch_open(struct memory *memory)
{
    struct epoch *epoch = memory_alloc(memory, MEMORY_OTHER, sizeof *epoch, CACHE_LINE);

    if (epoch != NULL) {
        ck_epoch_init(&epoch->domain);
        epoch->memory = memory;
    }
    return epoch;
}

void
epoch_close(struct epoch *epoch)
{
    struct epoch_record *first = ptr_load_acquire(&epoch->records); /* of epoch_record_join:A */

    for (struct epoch_record *record = first; record != NULL; record = record->older) {
        ck_epoch_reclaim(&record->own);
    }
    while (first != NULL) {
        struct epoch_record *older = first->older;

        memory_free(epoch->memory, MEMORY_OTHER, first, sizeof *first);
        first = older;
    }
    memory_free(epoch->memory, MEMORY_OTHER, epoch, sizeof *epoch);
}

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

void
epoch_record_drop(struct epoch_record *record)
{
    memory_free(record->epoch->memory, MEMORY_OTHER, record, sizeof *record);
}

void
epoch_record_join(struct epoch_record *record)
{
    struct epoch *epoch = record->epoch;

    ck_epoch_register(&epoch->domain, &record->own, NULL);
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

/*
 * CK's accesses do not pass through atomic.h. A section that begins stores to the record with a
 * full fence, and reads the domain's epoch; one that ends stores to the record.
 */
#if defined(SCHEDQ_ATOMICS_COUNTING)
#define COUNT_ENTER(record)                         \
    do {                                            \
        count_store(&(record)->own.active);         \
        count_fence();                              \
        count_load(&(record)->epoch->domain.epoch); \
        count_store(&(record)->own.epoch);          \
    } while (0)
#define COUNT_LEAVE(record) count_store(&(record)->own.active)
#else
#define COUNT_ENTER(record) ((void)0)
#define COUNT_LEAVE(record) ((void)0)
#endif

void
epoch_enter(struct epoch_record *record)
{
    COUNT_ENTER(record);
    ck_epoch_begin(&record->own, NULL);
}

void
epoch_leave(struct epoch_record *record)
{
#if defined(SCHEDQ_ATOMICS_CONTROLLED)
    /*
     * CK's words are not in the simulated store buffer: without this, a store of the section could
     * leave it afterwards.
     */
    atomic_fence();
#endif
    SECTION_ENDS(record->epoch->memory);
    COUNT_LEAVE(record);
    (void)ck_epoch_end(&record->own, NULL);
}

void
epoch_hold(struct epoch_record *record)
{
    if (ck_pr_load_uint(&record->own.active) == 0) {
        epoch_enter(record);
    }
}

void
epoch_abandon(struct epoch_record *record)
{
    if (ck_pr_load_uint(&record->own.active) != 0) {
        epoch_leave(record);
    }
}

static void
block_free(ck_epoch_entry_t *entry)
{
    struct epoch_block *block = (struct epoch_block *)(void *)entry;

    GRACE_PERIOD_OVER(block->memory);
    if (block->ends == NULL || !block->ends(block)) {
        memory_free(block->memory, block->kind, block, block->bytes);
    }
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
    block->memory = memory;
    block->bytes = bytes;
    block->kind = kind;
    block->ends = ends;
    ck_epoch_call(&record->own, (ck_epoch_entry_t *)(void *)block->link, block_free);
}

bool
epoch_waits(const struct epoch_record *record)
{
    return ck_pr_load_uint(&record->own.n_pending) != 0;
}

void
epoch_poll(struct epoch_record *record)
{
    if (epoch_waits(record)) {
        (void)ck_epoch_poll(&record->own);
    }
}
