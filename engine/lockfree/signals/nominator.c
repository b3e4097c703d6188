/* Lists of hints for nominator.h, which has the essay: linearization, ordering, progress. */
#include "lockfree/signals/nominator.h"

#include "platform/memory_first.h"

/* Hints that an insertion takes off `old`: more than it adds. */
#define SWEEP 2
/* The same for an end (ENDS), when perhaps one of DENSITY hints is needed. */
#define SWEEP_ENDED SIZE(64, 2)
#define DENSITY 4
/* So many hints beyond DENSITY a life make an end drop hints; a reading, so many not needed. */
#define LITTER SIZE(8, 1)

struct hint {
    struct epoch_block block;
    struct hint *next;
    size_t count; /* from here to the list's end */
    uint64_t ref; /* {life, record} */
    uint64_t nomination, node;
};

/* A bucket as it was seen, or is to be. */
struct lists {
    struct hint *fresh, *old;
};

void
nominator_open(struct nominator *nominator, struct memory *memory, const struct entries *entries,
               enum nominator_kind kind)
{
    nominator->memory = memory;
    nominator->entries = entries;
    nominator->kind = kind;
}

/* Has it hints of labels, or of groups? Then no numbers are drawn. */
static bool
is_unnumbered(const struct nominator *nominator)
{
    return nominator->kind != HINTS_OF_NODES;
}

static uint32_t
bucket_count(const struct nominator *nominator)
{
    return is_unnumbered(nominator) ? LABEL_BUCKETS : NOMINATOR_BUCKETS;
}

/* Behind buckets of labels lies a count for each: of lives that have begun, and are not over. */
static size_t
bucket_bytes(const struct nominator *nominator)
{
    return bucket_count(nominator) *
           (sizeof(atomic_pair) + (is_unnumbered(nominator) ? sizeof(atomic_u32) : 0));
}

bool
nominator_make(struct nominator *nominator)
{
    return memory_alloc_first(nominator->memory, MEMORY_OTHER, &nominator->buckets,
                              bucket_bytes(nominator));
}

static struct hint *
hint_at(uint64_t address)
{
    return (struct hint *)(uintptr_t)address;
}

static struct pair
pair_of(const struct lists *lists)
{
    return (struct pair){(uintptr_t)lists->fresh, (uintptr_t)lists->old};
}

static size_t
hints_count(const struct hint *list)
{
    return list != NULL ? list->count : 0;
}

/* As of one moment. Ends: each further round is another's exchange of the pair. */
static struct lists
bucket_load(const atomic_pair *bucket)
{
    uint64_t old = u64_load_acquire(&bucket->high); /* bucket_load:A */

    for (;;) {
        uint64_t fresh = u64_load_acquire(&bucket->low); /* bucket_load:B */
        /* bucket_load:C, of no earlier exchange than B */
        uint64_t again = u64_load_acquire(&bucket->high);

        if (again == old) {
            return (struct lists){.fresh = hint_at(fresh), .old = hint_at(old)};
        }
        old = again;
    }
}

/* Frees the hints in front of `end`, which no bucket has. */
static void
hints_free(const struct nominator *nominator, struct hint *hints, const struct hint *end)
{
    while (hints != end) {
        struct hint *next = hints->next;

        memory_free(nominator->memory, MEMORY_OTHER, hints, sizeof *hints);
        hints = next;
    }
}

static void
hint_retire(const struct nominator *nominator, struct epoch_record *epoch, struct hint *hint)
{
    epoch_retire(epoch, &hint->block, nominator->memory, MEMORY_OTHER, sizeof *hint);
}

void
nominator_close(struct nominator *nominator)
{
    atomic_pair *buckets = ptr_load(&nominator->buckets);

    for (uint32_t i = 0; buckets != NULL && i < bucket_count(nominator); i++) {
        struct lists lists = bucket_load(&buckets[i]);

        hints_free(nominator, lists.fresh, NULL);
        hints_free(nominator, lists.old, NULL);
    }
    memory_free(nominator->memory, MEMORY_OTHER, buckets, bucket_bytes(nominator));
}

uint64_t
nominator_draw(struct nominator *nominator)
{
    return u64_add(&nominator->drawn, 1) + 1;
}

/* The highest bits of the product depend on all bits of the node. */
static uint32_t
bucket_number(const struct nominator *nominator, uint64_t node)
{
    return (uint32_t)(node * UINT64_C(0x9e3779b97f4a7c15) >> 48) % bucket_count(nominator);
}

static atomic_pair *
bucket_of(const struct nominator *nominator, uint64_t node)
{
    atomic_pair *buckets = ptr_load(&nominator->buckets); /* relaxed: nominator_make came before */

    return &buckets[bucket_number(nominator, node)];
}

/* For labels: how many lives are counted in a key's bucket. */
static atomic_u32 *
lives_of(const struct nominator *nominator, uint64_t key)
{
    atomic_pair *buckets = ptr_load(&nominator->buckets); /* relaxed: as bucket_of */

    return (atomic_u32 *)(void *)&buckets[bucket_count(nominator)] + bucket_number(nominator, key);
}

/* ---- judging --------------------------------------------------------------------------------- */

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
judge_hint(const struct nominator *nominator, const struct hint *hint)
{
    const struct entries *entries = nominator->entries;
    const struct entry *entry = entry_at(entries, ref_record(hint->ref));
    uint64_t life = ref_version(hint->ref);

    /* Ends: each further round is another thread's change of the word. */
    while (entry != NULL) {
        uint64_t state = entry_state(entry); /* judge_hint:A */

        /* the record is free, and the hint's life is being made */
        if (version_next(state_version(state)) == life) {
            return STANDING_NOT_YET;
        }
        if (!state_is_pod(state)) {
            return STANDING_OVER;
        }
        /* acquire: judge_hint:B comes after */
        bool is_its_life = u64_load_acquire(&entry->life) == life;
        enum standing standing = STANDING_NOMINATED;

        if (!is_unnumbered(nominator)) {
            struct description description;

            (void)entry_description(entries, entry, &description);
            standing = judge_description(hint, &description);
        }
        if (state_version(entry_state(entry)) == state_version(state)) { /* judge_hint:B */
            return is_its_life ? standing : STANDING_OVER;
        }
    }
    return STANDING_OVER;
}

/* ---- inserting ------------------------------------------------------------------------------- */

/* Puts a copy of a hint in front of a list that is the caller's. False: no memory. */
static bool
prepend(const struct nominator *nominator, struct hint **list, const struct hint *hint)
{
    struct hint *copy =
        memory_alloc_raw(nominator->memory, MEMORY_OTHER, sizeof *copy, _Alignof(struct hint));

    if (copy == NULL) {
        return false;
    }
    copy->ref = hint->ref;
    copy->nomination = hint->nomination;
    copy->node = hint->node;
    copy->count = hints_count(*list) + 1;
    copy->next = *list;
    *list = copy;
    return true;
}

/*
 * What the bucket has to be without some hints of `old` that are over, and with `added`, unless it
 * is NULL. False: no memory; what was made is in front of seen->fresh.
 */
static bool
plan_exchange(const struct nominator *nominator, const struct lists *seen, const struct hint *added,
              size_t taken, struct lists *plan)
{
    *plan = *seen;
    if (added != NULL && !prepend(nominator, &plan->fresh, added)) {
        return false;
    }
    for (size_t i = 0; i < taken && plan->old != NULL; i++) {
        if (judge_hint(nominator, plan->old) != STANDING_OVER &&
            !prepend(nominator, &plan->fresh, plan->old)) {
            return false;
        }
        plan->old = plan->old->next;
    }
    return true;
}

enum exchanged { EXCHANGED, EXCHANGE_LOST, EXCHANGE_NO_MEMORY };

/* One attempt: adds a hint, unless it is NULL, and takes some off `old`. */
static enum exchanged
exchange_lists(const struct nominator *nominator, struct epoch_record *epoch, atomic_pair *bucket,
               const struct hint *added, size_t taken)
{
    const struct lists seen = bucket_load(bucket);
    struct lists plan;
    bool planned = plan_exchange(nominator, &seen, added, taken, &plan);
    struct hint *made = plan.fresh;
    const struct hint *kept = plan.old;

    if (plan.old == NULL) {
        plan = (struct lists){.fresh = NULL, .old = made};
    }
    if (planned && pair_cas(bucket, pair_of(&seen), pair_of(&plan))) { /* exchange_lists:A */
        for (struct hint *hint = seen.old, *next; hint != kept; hint = next) {
            next = hint->next;
            hint_retire(nominator, epoch, hint);
        }
        return EXCHANGED;
    }
    hints_free(nominator, made, seen.fresh);
    return planned ? EXCHANGE_LOST : EXCHANGE_NO_MEMORY;
}

bool
nominator_insert(struct nominator *nominator, struct epoch_record *epoch, uint64_t node,
                 uint32_t record, uint64_t life, uint64_t nomination)
{
    const struct hint added = {
        .ref = ref_make(life, record), .nomination = nomination, .node = node};
    atomic_pair *bucket = bucket_of(nominator, node);
    enum exchanged exchanged;

    /* Ends: each further round is another's exchange of the pair. */
    do {
        exchanged = exchange_lists(nominator, epoch, bucket, &added, SWEEP);
    } while (exchanged == EXCHANGE_LOST);
    return exchanged == EXCHANGED;
}

void
nominator_count_begin(struct nominator *nominator, uint64_t key)
{
    (void)u32_add(lives_of(nominator, key), 1);
}

/* If its exchange fails, or it lacks memory, an end takes no hints off: the next one does. */
void
nominator_count_end(struct nominator *nominator, struct epoch_record *epoch, uint64_t key)
{
    atomic_pair *bucket = bucket_of(nominator, key);
    uint32_t lives = u32_add(lives_of(nominator, key), UINT32_MAX) - 1;

    if (epoch != NULL) {
        const struct lists seen = bucket_load(bucket);

        if (hints_count(seen.fresh) + hints_count(seen.old) >
            LITTER + (size_t)lives * ENDS_A_COUNT * DENSITY) {
            (void)exchange_lists(nominator, epoch, bucket, NULL, SWEEP_ENDED);
        }
    }
}

/* ---- the order of what was read -------------------------------------------------------------- */

typedef bool before_fn(const struct nominated *a, const struct nominated *b);

static bool
is_nominated_before(const struct nominated *a, const struct nominated *b)
{
    return a->nomination < b->nomination;
}

/* By pod, and of one pod the newest nomination first. */
static bool
is_numbered_before(const struct nominated *a, const struct nominated *b)
{
    uint64_t left = ref_make(a->life, a->record), right = ref_make(b->life, b->record);

    return left != right ? left < right : a->nomination > b->nomination;
}

/* Sifts what lies at `root` down in heap[0, count), whose top is the last in the order. */
static void
sift_nominated(struct nominated *heap, size_t root, size_t count, before_fn *before)
{
    const struct nominated moved = heap[root];
    size_t child;

    /* Ends: each round is a level lower. */
    while ((child = 2 * root + 1) < count) {
        if (child + 1 < count && before(&heap[child], &heap[child + 1])) {
            child++;
        }
        if (!before(&moved, &heap[child])) {
            break;
        }
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = moved;
}

static void
sort(struct nominated *items, size_t count, before_fn *before)
{
    for (size_t root = count / 2; root-- > 0;) {
        sift_nominated(items, root, count, before);
    }
    for (; count > 1; count--) {
        const struct nominated last = items[0];

        items[0] = items[count - 1];
        items[count - 1] = last;
        sift_nominated(items, 0, count - 1, before);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* One reading of a bucket. */
struct reading {
    uint64_t node;
    struct nominated *out;
    size_t capacity, count;
    size_t pending;        /* hints of the node that are about to be installed */
    size_t needed, litter; /* hints in the bucket, of any node */
};

static void
read_list(const struct nominator *nominator, const struct hint *list, struct reading *reading)
{
    for (const struct hint *hint = list; hint != NULL; hint = hint->next) {
        enum standing standing = judge_hint(nominator, hint);

        if (standing == STANDING_NOMINATED && hint->node == reading->node &&
            reading->count++ < reading->capacity) {
            reading->out[reading->count - 1] = (struct nominated){.record = ref_record(hint->ref),
                                                                  .life = ref_version(hint->ref),
                                                                  .nomination = hint->nomination};
        }
        reading->pending += standing == STANDING_NOT_YET && hint->node == reading->node ? 1 : 0;
        reading->needed += standing != STANDING_OVER ? 1 : 0;
        reading->litter += standing == STANDING_OVER ? 1 : 0;
    }
}

static size_t
count_pending(const struct nominator *nominator, const struct hint *list, uint64_t node)
{
    size_t pending = 0;

    for (const struct hint *hint = list; hint != NULL; hint = hint->next) {
        pending += hint->node == node && judge_hint(nominator, hint) == STANDING_NOT_YET ? 1 : 0;
    }
    return pending;
}

/*
 * Was a description installed after its hint had been judged? Then the nomination that it replaced
 * may have been judged later. A hint that is not pending any more never is again: so equal counts
 * mean the same pending hints.
 */
static bool
is_overtaken(const struct nominator *nominator, const struct lists *seen,
             const struct reading *reading)
{
    return reading->pending != 0 && count_pending(nominator, seen->fresh, reading->node) +
                                            count_pending(nominator, seen->old, reading->node) !=
                                        reading->pending;
}

/* May one of its pods have been nominated anew, by a hint that was not read? */
static bool
is_replaced(const struct nominator *nominator, const atomic_pair *bucket, const struct lists *seen,
            const struct reading *reading)
{
    return is_overtaken(nominator, seen, reading) ||
           u64_load_acquire(&bucket->low) != (uintptr_t)seen->fresh || /* is_replaced:A */
           u64_load_acquire(&bucket->high) != (uintptr_t)seen->old;    /* is_replaced:B */
}

/*
 * Puts them in order, each pod once: by its newest nomination, for an older one was replaced after
 * it was judged.
 */
static size_t
put_in_order(const struct nominator *nominator, struct nominated *out, size_t count)
{
    size_t kept = 0;

    sort(out, count, is_numbered_before);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || out[i].record != out[kept - 1].record ||
            out[i].life != out[kept - 1].life) {
            out[kept++] = out[i];
        }
    }
    if (!is_unnumbered(nominator)) {
        sort(out, kept, is_nominated_before);
    }
    return kept;
}

static bool
copy_needed(const struct nominator *nominator, const struct hint *list, struct hint **copies)
{
    for (const struct hint *hint = list; hint != NULL; hint = hint->next) {
        if (judge_hint(nominator, hint) != STANDING_OVER && !prepend(nominator, copies, hint)) {
            return false;
        }
    }
    return true;
}

/*
 * Puts what is needed of a bucket in its place. Does nothing if there is no memory, or if the
 * bucket has changed.
 */
static void
sweep_bucket(const struct nominator *nominator, struct epoch_record *epoch, atomic_pair *bucket,
             const struct lists *seen)
{
    struct lists swept = {.fresh = NULL, .old = NULL};

    if (!copy_needed(nominator, seen->fresh, &swept.old) ||
        !copy_needed(nominator, seen->old, &swept.old) ||
        !pair_cas(bucket, pair_of(seen), pair_of(&swept))) { /* sweep_bucket:A */
        hints_free(nominator, swept.old, NULL);
        return;
    }
    for (struct hint *hint = seen->fresh, *next; hint != NULL; hint = next) {
        next = hint->next;
        hint_retire(nominator, epoch, hint);
    }
    for (struct hint *hint = seen->old, *next; hint != NULL; hint = next) {
        next = hint->next;
        hint_retire(nominator, epoch, hint);
    }
}

void
nominator_trim(struct nominator *nominator, struct epoch_record *epoch)
{
    atomic_pair *buckets = ptr_load_acquire(&nominator->buckets); /* of nominator_make */

    for (uint32_t i = 0; buckets != NULL && i < bucket_count(nominator); i++) {
        const struct lists seen = bucket_load(&buckets[i]);
        struct reading reading = {.node = 0};

        read_list(nominator, seen.fresh, &reading);
        read_list(nominator, seen.old, &reading);
        if (reading.litter > 0) {
            sweep_bucket(nominator, epoch, &buckets[i], &seen);
        }
    }
}

size_t
nominator_read(struct nominator *nominator, struct epoch_record *epoch, uint64_t node,
               struct nominated *out, size_t capacity)
{
    atomic_pair *bucket = bucket_of(nominator, node);

    /*
     * Ends: each further round is another's exchange of the pair, or installation of a description.
     */
    for (;;) {
        const struct lists seen = bucket_load(bucket);
        struct reading reading = {.node = node, .out = out, .capacity = capacity};

        read_list(nominator, seen.fresh, &reading);
        read_list(nominator, seen.old, &reading);
        if (!is_unnumbered(nominator) && is_replaced(nominator, bucket, &seen, &reading)) {
            continue;
        }
        if (reading.litter > reading.needed + LITTER) {
            sweep_bucket(nominator, epoch, bucket, &seen);
        }
        return reading.count > capacity ? reading.count
                                        : put_in_order(nominator, out, reading.count);
    }
}

/* ---- one by one ------------------------------------------------------------------------------ */

/* One walk through a bucket. */
struct visit {
    uint64_t key;
    nominated_fn *is_enough;
    void *ctx;
    size_t needed, litter; /* hints that were met, of any key */
};

/*
 * Is the life over? Perhaps it has not begun. The hint was loaded before, so all that is read here
 * is of this life, of the free record before it, or of a later life: the life is stored before the
 * word, and a pod's word with another life is a later one's.
 */
static inline bool
life_is_over(const struct nominator *nominator, uint32_t record, uint64_t life)
{
    const struct entry *entry = entry_at(nominator->entries, record);
    uint64_t state = entry != NULL ? entry_state(entry) : 0; /* life_is_over:A */

    return entry == NULL ||
           ((!state_is_pod(state) || u64_load_acquire(&entry->life) != life) && /* life_is_over:B */
            version_next(state_version(state)) != life);
}

static bool
visit_list(const struct nominator *nominator, const struct hint *list, struct visit *visit)
{
    for (const struct hint *hint = list; hint != NULL; hint = hint->next) {
        const uint32_t record = ref_record(hint->ref);
        const uint64_t life = ref_version(hint->ref);

        if (life_is_over(nominator, record, life)) {
            visit->litter++;
            continue;
        }
        visit->needed++;
        if (hint->node == visit->key && visit->is_enough(visit->ctx, record, life)) {
            return true;
        }
    }
    return false;
}

bool
nominator_any(const struct nominator *nominator, struct epoch_record *epoch, uint64_t key,
              nominated_fn *is_enough, void *ctx)
{
    struct visit visit = {.key = key, .is_enough = is_enough, .ctx = ctx};

    if (ptr_load_acquire(&nominator->buckets) == NULL) { /* of nominator_make */
        return false;
    }
    atomic_pair *bucket = bucket_of(nominator, key);
    const struct lists seen = bucket_load(bucket);
    bool enough =
        visit_list(nominator, seen.fresh, &visit) || visit_list(nominator, seen.old, &visit);

    if (!enough && visit.litter > visit.needed + LITTER) {
        sweep_bucket(nominator, epoch, bucket, &seen);
    }
    return enough;
}
