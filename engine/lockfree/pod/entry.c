/*
 * Records and descriptions of entry.h, which has the essay. Here is the reading of a description
 * between two loads of its word.
 */
#include "lockfree/pod/entry.h"

_Static_assert(STATE_VERSION_MASK == SLAB_VERSION_MASK,
               "versions and tags go round where slab.h measures them");

/*
 * A record's versions go on over its lives; in a page that was made again they start above those of
 * the old one. Relaxed, here and below: the push of a magazine publishes the objects (slab.c).
 */
static void
record_prepare(void *object, uint64_t floor)
{
    struct entry *entry = object;

    u64_store(&entry->word.low, state_make(floor, 0, PLACE_FREE));
}

static uint64_t
record_version(const void *object)
{
    const struct entry *entry = object;

    /*
     * One more than it is: a ref of the next version may have been published for a switch that
     * never came.
     */
    return version_next(state_version(entry_state(entry)));
}

static void
description_prepare(void *object, uint64_t floor)
{
    struct description_record *record = object;

    u64_store(&record->tag, version_next(floor));
}

static uint64_t
description_version(const void *object)
{
    const struct description_record *record = object;

    return u64_load(&record->tag);
}

static const struct slab_kind record_kind = {
    .memory = MEMORY_ENTRIES,
    .bytes = sizeof(struct entry),
    .apart = NAMES_OWN,
    .page_bits = RECORD_PAGE_BITS,
    .link = offsetof(struct entry, order_key),
    .magazine_link = offsetof(struct entry, timestamp),
    .prepare = record_prepare,
    .version = record_version,
};

static const struct slab_kind description_kind = {
    .memory = MEMORY_ENTRIES,
    .bytes = sizeof(struct description_record),
    .page_bits = DESCRIPTION_PAGE_BITS,
    .link = offsetof(struct description_record, order_key),
    .magazine_link = offsetof(struct description_record, described_node),
    .prepare = description_prepare,
    .version = description_version,
};

void
records_open(struct entries *entries, struct memory *memory, uint64_t first)
{
    slab_open(&entries->records, &record_kind, memory);
    u64_store(&entries->records.floor, first); /* relaxed: no other thread has the slab yet */
    slab_open(&entries->descriptions, &description_kind, memory);
}

void
records_close(struct entries *entries)
{
    slab_close(&entries->descriptions);
    slab_close(&entries->records);
}

/* ---- descriptions ---------------------------------------------------------------------------- */

uint64_t
entry_description(const struct entries *entries, const struct entry *entry, struct description *out)
{
    /* entry_description:A reads from entry_describe:A */
    uint64_t desc = u64_load_acquire(&entry->word.high);

    /* Ends: each further round means that an update came in between. */
    for (;;) {
        struct gating gating;

        entry_copy(entries, entry, desc, out, &gating);
        uint64_t again = u64_load_acquire(&entry->word.high); /* entry_description:B */

        /*
         * If B reads what A read, the record was not given back in between: each value of the word
         * is used once.
         */
        if (again == desc) {
            return desc;
        }
        desc = again;
    }
}

/*
 * If the word still names the record afterwards, the record was not given back in between.
 */
bool
entry_gating(const struct entries *entries, const struct entry *entry, uint64_t desc,
             struct gating *out)
{
    struct description description;

    entry_copy(entries, entry, desc, &description, out);
    return u64_load_acquire(&entry->word.high) == desc; /* of entry_describe:A */
}
