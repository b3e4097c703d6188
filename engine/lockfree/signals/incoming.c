/*
 * Counts of incoming.h.
 */
#include "lockfree/signals/incoming.h"

struct chunk {
    atomic_u64 counts[INCOMING_CHUNK][INCOMING_PLACES];
};

void
incoming_open(struct incoming_late *late, struct memory *memory)
{
    late->memory = memory;
}

void
incoming_close(struct incoming_late *late)
{
    for (uint32_t i = 0; i < INCOMING_CHUNKS; i++) {
        memory_free(late->memory, MEMORY_OTHER, ptr_load(&late->chunks[i]), sizeof(struct chunk));
    }
}

bool
incoming_reserve(struct incoming_late *late, uint32_t label)
{
    atomic_ptr *place = &late->chunks[label / INCOMING_CHUNK];

    /* of incoming_reserve:A, here and below */
    if (label < INCOMING_OWN || ptr_load_acquire(place) != NULL) {
        return true;
    }
    struct chunk *chunk = memory_alloc(late->memory, MEMORY_OTHER, sizeof *chunk, CACHE_LINE);

    if (chunk != NULL && !ptr_cas(place, NULL, chunk)) { /* incoming_reserve:A */
        memory_free(late->memory, MEMORY_OTHER, chunk, sizeof *chunk);
    }
    return chunk != NULL;
}

void
incoming_count_late(struct incoming_late *late, uint32_t label, enum incoming_place place,
                    uint32_t by)
{
    struct chunk *chunk = ptr_load_acquire(&late->chunks[label / INCOMING_CHUNK]);

    /*
     * More events were defined at once than there is room made ahead, and there was no memory: the
     * pods are not counted.
     */
    if (chunk != NULL) {
        (void)u64_add(&chunk->counts[label % INCOMING_CHUNK][place], by);
    }
}

uint64_t
incoming_of_late(const struct incoming_late *late, uint32_t label, enum incoming_place place)
{
    const struct chunk *chunk = ptr_load_acquire(&late->chunks[label / INCOMING_CHUNK]);

    return chunk != NULL ? u64_load(&chunk->counts[label % INCOMING_CHUNK][place]) : 0;
}
