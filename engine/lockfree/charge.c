/*
 * The counts of charge.h, which has the essay: ordering, progress, why a sum is of a moment. A worker stores only in his own book, so
 * his own loads are relaxed; who adds up loads with acquire.
 */
#include "lockfree/charge.h"

/* Relaxed: only this worker stores there. */
static struct charge *
own_count(struct charges *charges, struct memory *memory, uint32_t id)
{
    atomic_ptr *place = &charges->chunks[id / CHARGE_CHUNK];
    struct charge *chunk = ptr_load(place);

    if (chunk == NULL) {
        chunk = memory_alloc(memory, MEMORY_OTHER, CHARGE_CHUNK * sizeof *chunk, CACHE_LINE);
        ptr_store_release(place, chunk); /* own_count:A, read by count_of:B */
    }
    return chunk != NULL ? &chunk[id % CHARGE_CHUNK] : NULL;
}

/* Its own count nobody else writes, so load and store do. */
static void
raise(atomic_u32 *own, atomic_u32 *shared)
{
    if (own != NULL) {
        u32_store(own, u32_load(own) + 1);
    } else {
        (void)u32_add(shared, 1);
    }
}

void
charge_enter(struct charges *charges, struct memory *memory, struct charge *shared, uint32_t id)
{
    struct charge *own = own_count(charges, memory, id);

    raise(own != NULL ? &own->entered : NULL, &shared->entered);
}

void
charge_leave(struct charges *charges, struct memory *memory, struct charge *shared, uint32_t id)
{
    struct charge *own = own_count(charges, memory, id);

    raise(own != NULL ? &own->left : NULL, &shared->left);
}

static const struct charge *
count_of(const atomic_ptr *worker, uint32_t id)
{
    const struct charges *charges = ptr_load_acquire(worker); /* count_of:A reads from join:A */
    const struct charge *chunk =
        charges != NULL ? ptr_load_acquire(&charges->chunks[id / CHARGE_CHUNK]) : NULL; /* count_of:B */

    return chunk != NULL ? &chunk[id % CHARGE_CHUNK] : NULL;
}

/* Acquire, here and in charge_left: who adds up both finishes this sum before he begins that. The count: join:B. */
uint32_t
charge_entered(const struct charge_books *books, const struct charge *shared, uint32_t id)
{
    uint32_t sum = u32_load_acquire(&shared->entered);

    for (uint32_t i = 0; i < u64_load_acquire(books->count); i++) {
        const struct charge *count = count_of(&books->workers[i], id);

        sum += count != NULL ? u32_load_acquire(&count->entered) : 0;
    }
    return sum;
}

uint32_t
charge_left(const struct charge_books *books, const struct charge *shared, uint32_t id)
{
    uint32_t sum = u32_load_acquire(&shared->left);

    for (uint32_t i = 0; i < u64_load_acquire(books->count); i++) {
        const struct charge *count = count_of(&books->workers[i], id);

        sum += count != NULL ? u32_load_acquire(&count->left) : 0;
    }
    return sum;
}

void
charges_free(struct charges *charges, struct memory *memory)
{
    for (uint32_t i = 0; i < CHARGE_CHUNKS; i++) {
        memory_free(memory, MEMORY_OTHER, ptr_load(&charges->chunks[i]), CHARGE_CHUNK * sizeof(struct charge));
    }
}
