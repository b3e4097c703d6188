/* Runs of run.h, which has the essay. */
#include "lockfree/refs/run.h"

#include <assert.h>

static size_t
run_bytes(uint32_t size_class)
{
    return sizeof(struct run) + (sizeof(struct slot) << size_class);
}

static uint32_t
class_of(uint32_t count)
{
    uint32_t size_class = 0;

    while (UINT32_C(1) << size_class < count) {
        size_class++;
    }
    return size_class;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint32_t
number_reuse(struct run_pool *pool)
{
    /* of a swing of number_give; ends: see stack.h, as those below */
    uint64_t seen = u64_load_acquire(&pool->unused);

    while (stack_top(seen) != 0) {
        uint32_t number = stack_top(seen);
        /* a run by now: then the swing fails */
        const void *next = ptr_load_acquire(run_place(pool, number));
        uint32_t below = run_is_number(next) ? (uint32_t)((uintptr_t)next >> 1) : 0;

        if (stack_swing(&pool->unused, &seen, below)) {
            return number;
        }
    }
    return 0;
}

static void
number_give(struct run_pool *pool, uint32_t number)
{
    uint64_t seen = u64_load(&pool->unused);

    do {
        ptr_store(run_place(pool, number), (void *)((uintptr_t)stack_top(seen) << 1 | 1));
    } while (!stack_swing(&pool->unused, &seen, number));
}

/* Leaves stay until the pool closes. */
static bool
leaf_make(struct run_pool *pool, atomic_ptr *root)
{
    void *leaf =
        memory_alloc(pool->memory, MEMORY_QUEUES, RUN_LEAF * sizeof(atomic_ptr), CACHE_LINE);

    if (leaf != NULL && !ptr_cas(root, NULL, leaf)) { /* leaf_make:A */
        memory_free(pool->memory, MEMORY_QUEUES, leaf, RUN_LEAF * sizeof(atomic_ptr));
    }
    return leaf != NULL;
}

/* Number 0 names no run. */
static uint32_t
number_take(struct run_pool *pool)
{
    uint32_t reused = number_reuse(pool);
    uint32_t last = u32_load(&pool->numbers); /* relaxed: the exchange compares */

    if (reused != 0) {
        return reused;
    }
    /* Ends: each failed exchange is another thread's number. */
    for (;;) {
        uint32_t number = last + 1;

        if (number >= RUN_LEAF * RUN_ROOT) {
            return 0;
        }
        if (ptr_load_acquire(&pool->root[number / RUN_LEAF]) == NULL &&
            !leaf_make(pool, &pool->root[number / RUN_LEAF])) {
            return 0;
        }
        if (u32_swing(&pool->numbers, &last, number)) {
            return number;
        }
    }
}

/* ---- stacks of free runs --------------------------------------------------------------------- */

static void
push_free(struct run_pool *pool, struct run *run)
{
    atomic_u64 *stack = &pool->free[run->size_class];
    uint64_t seen = u64_load(stack);

    do {
        u64_store(&run->next, stack_top(seen));
    } while (!stack_swing(stack, &seen, run->number));
}

static struct run *
pop_free(struct run_pool *pool, uint32_t size_class)
{
    atomic_u64 *stack = &pool->free[size_class];
    uint64_t seen = u64_load_acquire(stack); /* of a swing of push_free */

    while (stack_top(seen) != 0) {
        struct run *run = run_at(pool, stack_top(seen));
        uint32_t next = run != NULL ? (uint32_t)u64_load_acquire(&run->next) : 0;

        if (stack_swing(stack, &seen, next)) {
            return run;
        }
    }
    return NULL;
}

/* ---- the pool -------------------------------------------------------------------------------- */

void
run_pool_open(struct run_pool *pool, struct memory *memory)
{
    pool->memory = memory;
}

static void
run_free(struct run_pool *pool, struct run *run)
{
    memory_free(pool->memory, MEMORY_QUEUES, run, run_bytes(run->size_class));
}

void
run_pool_close(struct run_pool *pool)
{
    segment_pool_trim(&pool->segments, pool->memory);
    uint32_t last = u32_load(&pool->numbers);

    /* The leaf of the number behind the last one may be made already. */
    for (uint32_t i = 0; i <= (last + 1) / RUN_LEAF && i < RUN_ROOT; i++) {
        atomic_ptr *leaf = ptr_load(&pool->root[i]);

        for (uint32_t j = 0; leaf != NULL && j < RUN_LEAF && i * RUN_LEAF + j <= last; j++) {
            struct run *run = ptr_load(&leaf[j]);

            if (run != NULL && !run_is_number(run)) {
                run_free(pool, run);
            }
        }
        memory_free(pool->memory, MEMORY_QUEUES, leaf, RUN_LEAF * sizeof(atomic_ptr));
    }
}

void
run_pool_trim(struct run_pool *pool, struct epoch_record *epoch)
{
    segment_pool_trim(&pool->segments, pool->memory);
    for (uint32_t i = 0; i < RUN_SIZES; i++) {
        struct run *run;

        while ((run = pop_free(pool, i)) != NULL) {
            uint32_t number = run->number;

            /* The next run of this number goes on with the generations. */
            /* relaxed: the run is this thread's */
            (void)u64_max(&pool->floor, u64_load(&run->generation));
            (void)ptr_exchange(run_place(pool, number), NULL); /* run_pool_trim:A */
            epoch_retire(epoch, &run->block, pool->memory, MEMORY_QUEUES, run_bytes(i));
            number_give(pool, number);
        }
    }
}

static struct run *
run_make(struct run_pool *pool, uint32_t size_class)
{
    struct run *run = memory_alloc(pool->memory, MEMORY_QUEUES, run_bytes(size_class), CACHE_LINE);

    if (run == NULL) {
        return NULL;
    }
    run->number = number_take(pool);
    run->size_class = size_class;
    if (run->number == 0) {
        run_free(pool, run);
        return NULL;
    }
    /* Relaxed: a number that was trimmed was given, by a full fence, after the floor was raised. */
    uint64_t generation = u64_load(&pool->floor) + 1;

    u64_store(&run->generation, generation);
    u64_store(&run->head, generation << 32);
    ptr_store_release(run_place(pool, run->number), run); /* run_make:A, read by run_at */
    return run;
}

struct run *
run_take(struct run_pool *pool, uint32_t count)
{
    uint32_t size_class = class_of(count);

    if (size_class >= RUN_SIZES) {
        return NULL;
    }
    struct run *run = pop_free(pool, size_class);

    return run != NULL ? run : run_make(pool, size_class);
}

/*
 * Relaxed: the slot was changed by a full fence before, so a thread that still reads the run by its
 * old word, and meets what is stored here or later, finds the slot changed. A late run_advance of
 * the old use is overwritten, or fails by the generation.
 */
void
run_renew(struct run *run)
{
    uint64_t generation = u64_load(&run->generation) + 1;

    u64_store(&run->generation, generation);
    u32_store(&run->count, 0);
    u32_store(&run->cause, 0);
    u64_store(&run->head, generation << 32);
}

/* run_renew comes first: the stack's exchange comes before another thread can take the run. */
void
run_give(struct run_pool *pool, struct run *run)
{
    run_renew(run);
    push_free(pool, run);
}

/* Relaxed: the run is the caller's; the CAS on a slot publishes it. */
static void
put_slot(struct slot *slot, uint64_t ref, int64_t key)
{
    time_store(&slot->key, key);
    u64_store(&slot->ref, ref);
}

void
run_put(struct run *run, uint64_t ref, int64_t key)
{
    uint32_t count = u32_load(&run->count);

    assert(count < run_room(run));
    assert(count == 0 || time_load(&run->slots[count - 1].key) <= key);
    put_slot(&run->slots[count], ref, key);
    u32_store(&run->count, count + 1);
}

/*
 * Acquire loads: bin_put_beside:A, which compares the other run's slot, comes after them. What is
 * read may be of another use of that run, in no order: then bin_put_beside:A fails.
 */
struct run *
run_put_beside(struct run *run, const struct run_pool *pool, uint64_t word, uint64_t ref,
               int64_t key, uint32_t cause)
{
    struct run *old = run_at(pool, word);

    if (old == NULL || u32_load_acquire(&old->cause) != cause) {
        return NULL;
    }
    uint32_t position = (uint32_t)u64_load_acquire(&old->head);
    uint32_t count = u32_load_acquire(&old->count), left = count - position;

    if (position >= count || left >= run_room(run)) {
        return NULL;
    }
    const struct slot *from = &old->slots[position], *end = from + left;
    struct slot *to = run->slots;

    for (; from != end; from++, to++) {
        int64_t next = (int64_t)u64_load_acquire(&from->key);

        if (next > key) {
            break;
        }
        put_slot(to, u64_load_acquire(&from->ref), next);
    }
    put_slot(to, ref, key);
    for (; from != end; from++) {
        put_slot(++to, u64_load_acquire(&from->ref), (int64_t)u64_load_acquire(&from->key));
    }
    u32_store(&run->count, left + 1);
    run_set_cause(run, cause);
    return old;
}

/* Acquire loads, so that run_peek:B is the last of them. */
enum run_sight
run_peek(const struct run_pool *pool, const atomic_u64 *slot, uint64_t word, struct run_head *out)
{
    struct run *run = run_at(pool, word);

    if (run == NULL) {
        return RUN_CHANGED;
    }
    uint64_t head = u64_load_acquire(&run->head);   /* run_peek:A */
    uint32_t count = u32_load_acquire(&run->count); /* of any use: no more than there is room for */
    uint32_t position = (uint32_t)head;

    if (position < count) {
        out->key = (int64_t)u64_load_acquire(&run->slots[position].key);
        out->ref = u64_load_acquire(&run->slots[position].ref);
        out->cause = u32_load_acquire(&run->cause);
    }
    if (u64_load_acquire(slot) != word) { /* run_peek:B */
        return RUN_CHANGED;
    }
    out->run = run;
    out->word = word;
    out->head = head;
    out->left = position < count ? count - position : 0;
    return out->left > 0 ? RUN_HEAD : RUN_EMPTY;
}

/* Acquire loads, so that the caller's second look at the slot is the last. */
uint32_t
run_count(const struct run_head *head, uint32_t behind, int64_t key)
{
    const struct slot *slots = &head->run->slots[(uint32_t)head->head];
    uint32_t low = behind, high = head->left;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if ((int64_t)u64_load_acquire(&slots[middle].key) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - behind;
}
