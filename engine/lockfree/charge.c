/* The counts of charge.h. */
#include "lockfree/charge.h"

static struct charge *
own_count(struct charges *charges, struct memory *memory, uint32_t id)
{
    atomic_ptr *place = &charges->chunks[id / CHARGE_CHUNK];
    struct charge *chunk = ptr_load(place);

    if (chunk == NULL) {
        chunk = memory_alloc(memory, MEMORY_OTHER, CHARGE_CHUNK * sizeof *chunk, CACHE_LINE);
        ptr_store_release(place, chunk);
    }
    return chunk != NULL ? &chunk[id % CHARGE_CHUNK] : NULL;
}

/* Its own count nobody else writes. */
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

static int32_t
add_up(const struct charge *charge, uint32_t *moves)
{
    uint32_t left = u32_load_acquire(&charge->left);
    uint32_t entered = u32_load_acquire(&charge->entered);

    *moves += entered + left;
    return (int32_t)(entered - left);
}

int32_t
charge_sum(const atomic_ptr workers[WORKERS_MAX], const struct charge *shared, uint32_t id, uint32_t *moves)
{
    int32_t sum = add_up(shared, moves);

    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        const struct charges *charges = ptr_load_acquire(&workers[i]);
        const struct charge *chunk = charges != NULL ? ptr_load_acquire(&charges->chunks[id / CHARGE_CHUNK]) : NULL;

        sum += chunk != NULL ? add_up(&chunk[id % CHARGE_CHUNK], moves) : 0;
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
