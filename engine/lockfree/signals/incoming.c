/*
 * Counts of incoming.h.
 */
#include "lockfree/signals/incoming.h"

static size_t
late_chunk_bytes(const struct incoming_late *late)
{
    return INCOMING_CHUNK * late->counters * sizeof(atomic_u64);
}

/* The counter of a label in its chunk. */
static atomic_u64 *
counter_in(const struct incoming_late *late, atomic_u64 *chunk, uint32_t label, uint32_t counter)
{
    return &chunk[label % INCOMING_CHUNK * late->counters + counter];
}

void
incoming_open(struct incoming_late *late, struct memory *memory, bool entities)
{
    late->memory = memory;
    late->counters = entities ? INCOMING_COUNTERS : INCOMING_PLACES;
}

void
incoming_close(struct incoming_late *late)
{
    for (uint32_t i = 0; i < INCOMING_CHUNKS; i++) {
        memory_free(late->memory, MEMORY_OTHER, ptr_load(&late->chunks[i]), late_chunk_bytes(late));
    }
}

static bool
make_chunk(struct incoming_late *late, atomic_ptr *place)
{
    atomic_u64 *chunk =
        memory_alloc(late->memory, MEMORY_OTHER, late_chunk_bytes(late), CACHE_LINE);

    if (chunk != NULL && !ptr_cas(place, NULL, chunk)) { /* make_chunk:A */
        memory_free(late->memory, MEMORY_OTHER, chunk, late_chunk_bytes(late));
    }
    return chunk != NULL;
}

bool
incoming_reserve(struct incoming_late *late, uint32_t label)
{
    atomic_ptr *place = &late->chunks[label / INCOMING_CHUNK];

    /* of make_chunk:A, here and below */
    return label < INCOMING_OWN || ptr_load_acquire(place) != NULL || make_chunk(late, place);
}

void
incoming_open_groups(struct incoming_late *groups, struct memory *memory)
{
    groups->memory = memory;
    groups->counters = 2 * INCOMING_PLACES;
}

void
incoming_count_group(struct incoming_late *groups, uint32_t label, enum incoming_place place,
                     uint64_t pods, bool entity)
{
    atomic_ptr *chunk = &groups->chunks[label / INCOMING_CHUNK];

    if (ptr_load_acquire(chunk) != NULL || make_chunk(groups, chunk)) {
        incoming_count_late(groups, label, (uint32_t)place, (uint32_t)pods);
        incoming_count_late(groups, label, INCOMING_PLACES + (uint32_t)place, entity ? 1 : 0);
    }
}

void
incoming_count_late(struct incoming_late *late, uint32_t label, uint32_t counter, uint32_t by)
{
    atomic_u64 *chunk = ptr_load_acquire(&late->chunks[label / INCOMING_CHUNK]);

    /*
     * More events were defined at once than there is room made ahead, and there was no memory: the
     * pods are not counted.
     */
    if (chunk != NULL) {
        (void)u64_add(counter_in(late, chunk, label, counter), by);
    }
}

uint64_t
incoming_of_late(const struct incoming_late *late, uint32_t label, uint32_t counter)
{
    atomic_u64 *chunk = ptr_load_acquire(&late->chunks[label / INCOMING_CHUNK]);

    bool has = chunk != NULL && counter < late->counters;

    return has ? u64_load(counter_in(late, chunk, label, counter)) : 0;
}
