/*
 * The hints of nominator.h, which has the essay: linearization, ordering, progress. An array is published by one exchange
 * (nominator_insert:B) and never changed; each further round, of an insertion or a reading, is another's insertion.
 */
#include "lockfree/nominator.h"

struct hint {
    uint64_t ref; /* {life, record} */
    uint64_t nomination, node;
};

struct hints {
    struct epoch_block block;
    uint32_t capacity, count;
    struct hint items[];
};

static size_t
hints_bytes(uint32_t capacity)
{
    return sizeof(struct hints) + capacity * sizeof(struct hint);
}

bool
nominator_open(struct nominator *nominator, struct memory *memory, const struct entries *entries)
{
    nominator->memory = memory;
    nominator->entries = entries;
    nominator->buckets = memory_alloc(memory, MEMORY_OTHER, NOMINATOR_BUCKETS * sizeof *nominator->buckets, CACHE_LINE);
    return nominator->buckets != NULL;
}

static void
hints_free(const struct nominator *nominator, struct hints *hints)
{
    if (hints != NULL) {
        memory_free(nominator->memory, MEMORY_OTHER, hints, hints_bytes(hints->capacity));
    }
}

void
nominator_close(struct nominator *nominator)
{
    if (nominator->buckets == NULL) {
        return;
    }
    for (uint32_t i = 0; i < NOMINATOR_BUCKETS; i++) {
        hints_free(nominator, ptr_load(&nominator->buckets[i]));
    }
    memory_free(nominator->memory, MEMORY_OTHER, nominator->buckets, NOMINATOR_BUCKETS * sizeof *nominator->buckets);
}

uint64_t
nominator_draw(struct nominator *nominator)
{
    return u64_add(&nominator->drawn, 1) + 1;
}

static atomic_ptr *
bucket_of(const struct nominator *nominator, uint64_t node)
{
    return &nominator->buckets[(node * UINT64_C(0x9e3779b97f4a7c15) >> 32) % NOMINATOR_BUCKETS];
}

/* ---- judging ------------------------------------------------------------------------------------------------------------- */

enum standing { STANDING_OVER, STANDING_NOT_YET, STANDING_NOMINATED };

static enum standing
judge_description(const struct hint *hint, const struct description *description)
{
    if (description->nomination != hint->nomination) {
        return description->nomination < hint->nomination ? STANDING_NOT_YET : STANDING_OVER;
    }
    return description->nominated_node == hint->node ? STANDING_NOMINATED : STANDING_OVER;
}

static enum standing
judge(const struct entries *entries, const struct hint *hint)
{
    const struct entry *entry = entry_at(entries, ref_record(hint->ref));
    uint64_t life = ref_version(hint->ref);

    /* Ends: each further round means that somebody changed the word. */
    while (entry != NULL) {
        uint64_t state = entry_state(entry); /* judge:A */
        struct description description;

        if (version_next(state_version(state)) == life) { /* free, and its next life is being made */
            return STANDING_NOT_YET;
        }
        if (!state_is_pod(state)) {
            return STANDING_OVER;
        }
        bool is_its_life = u64_load_acquire(&entry->life) == life; /* acquire: judge:B comes after */

        (void)entry_description(entries, entry, &description);
        if (state_version(entry_state(entry)) == state_version(state)) { /* judge:B */
            return is_its_life ? judge_description(hint, &description) : STANDING_OVER;
        }
    }
    return STANDING_OVER;
}

/* ---- inserting ----------------------------------------------------------------------------------------------------------- */

static bool
is_same(const struct hint *a, const struct hint *b)
{
    return a->ref == b->ref && a->nomination == b->nomination && a->node == b->node;
}

/* What has to be kept of `old`, and `added`, by nomination. NULL: no memory. */
static struct hints *
hints_with(const struct nominator *nominator, const struct hints *old, const struct hint *added)
{
    uint32_t old_count = old != NULL ? old->count : 0;
    struct hints *hints =
        memory_alloc(nominator->memory, MEMORY_OTHER, hints_bytes(old_count + 1), _Alignof(struct hints));
    bool placed = false;

    if (hints == NULL) {
        return NULL;
    }
    hints->capacity = old_count + 1;
    for (uint32_t i = 0; i < old_count; i++) {
        const struct hint *hint = &old->items[i];

        if (!placed && hint->nomination >= added->nomination) {
            hints->items[hints->count++] = *added;
            placed = true;
        }
        if (!is_same(hint, added) && judge(nominator->entries, hint) != STANDING_OVER) {
            hints->items[hints->count++] = *hint;
        }
    }
    if (!placed) {
        hints->items[hints->count++] = *added;
    }
    return hints;
}

bool
nominator_insert(struct nominator *nominator, struct epoch_record *epoch, uint64_t node, uint32_t record, uint64_t life,
                 uint64_t nomination)
{
    const struct hint added = {.ref = ref_make(life, record), .nomination = nomination, .node = node};
    atomic_ptr *bucket = bucket_of(nominator, node);

    /* Ends: each further round is another's insertion. */
    for (;;) {
        struct hints *old = ptr_load_acquire(bucket); /* nominator_insert:A reads from nominator_insert:B */
        struct hints *hints = hints_with(nominator, old, &added);

        if (hints == NULL) {
            return false;
        }
        if (ptr_cas(bucket, old, hints)) { /* nominator_insert:B */
            if (old != NULL) {
                epoch_retire(epoch, &old->block, nominator->memory, MEMORY_OTHER, hints_bytes(old->capacity));
            }
            return true;
        }
        hints_free(nominator, hints);
    }
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

/* Its pod may be among them, by a nomination that was replaced after it was judged. Returns how many are left. */
static size_t
forget(struct nominated *out, size_t count, const struct hint *hint)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (ref_make(out[i].life, out[i].record) != hint->ref) {
            out[kept++] = out[i];
        }
    }
    return kept;
}

static size_t
collect(const struct entries *entries, const struct hints *hints, uint64_t node, struct nominated *out, size_t capacity)
{
    size_t stored = 0, more = 0;

    for (uint32_t i = 0; hints != NULL && i < hints->count; i++) {
        const struct hint *hint = &hints->items[i];

        if (hint->node != node || judge(entries, hint) != STANDING_NOMINATED) {
            continue;
        }
        stored = forget(out, stored, hint);
        if (stored < capacity) {
            out[stored++] = (struct nominated){
                .record = ref_record(hint->ref), .life = ref_version(hint->ref), .nomination = hint->nomination};
        } else {
            more++;
        }
    }
    return stored + more;
}

size_t
nominator_read(const struct nominator *nominator, uint64_t node, struct nominated *out, size_t capacity)
{
    const atomic_ptr *bucket = bucket_of(nominator, node);
    const struct hints *hints = ptr_load_acquire(bucket); /* nominator_read:A reads from nominator_insert:B */

    /* Ends: each further round is another's insertion. */
    for (;;) {
        size_t count = collect(nominator->entries, hints, node, out, capacity);
        const struct hints *again = ptr_load_acquire(bucket); /* nominator_read:B */

        if (again == hints) {
            return count;
        }
        hints = again;
    }
}
