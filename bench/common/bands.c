/*
 * The queue of bands.h: the table of name_table.h, a doubly linked list of pods for each priority,
 * and a bit for each priority that has pods.
 *
 * Priorities are sorted, the highest first, in an array that only grows: a priority that is new is
 * inserted there once. So the first set bit is the band that pop takes from; a word tells which
 * words of bits are not empty.
 */
#include "bands.h"

#include "name_table.h"

#include <pthread.h>
#include <sched.h>

enum { BANDS_MAX = 4096, WORDS = BANDS_MAX / 64, SPINS = 64 };

#define IN_FLIGHT UINT32_MAX

typedef struct link {
    uint32_t next, prev; /* NO_POD ends */
} link_t;

typedef struct band {
    uint32_t head, tail;
} band_t;

struct bands {
    pthread_mutex_t mutex;
    bool spins;
    _Alignas(64) uint32_t taken; /* the lock that spins */
    _Alignas(64) uint64_t words; /* which of `bits` are not 0 */
    uint64_t bits[WORDS];
    uint32_t band_count;
    int32_t priorities[BANDS_MAX];
    band_t *lists[BANDS_MAX]; /* of these priorities */
    band_t bands[BANDS_MAX];  /* in the order in which they came up */
    link_t *links;
    name_table_t table; /* mark: number in `bands`, or IN_FLIGHT */
};

/* ---- lock ------------------------------------------------------------------------------------ */

static void
lock(bands_t *queue)
{
    if (!queue->spins) {
        pthread_mutex_lock(&queue->mutex);
        return;
    }
    for (unsigned tries = 1; __atomic_exchange_n(&queue->taken, 1, __ATOMIC_ACQUIRE) != 0;) {
        for (; __atomic_load_n(&queue->taken, __ATOMIC_RELAXED) != 0; tries++) {
            if (tries % SPINS == 0) {
                sched_yield();
            }
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    }
}

static void
unlock(bands_t *queue)
{
    if (!queue->spins) {
        pthread_mutex_unlock(&queue->mutex);
    } else {
        __atomic_store_n(&queue->taken, 0, __ATOMIC_RELEASE);
    }
}

/* ---- bands ----------------------------------------------------------------------------------- */

static void
mark(bands_t *queue, uint32_t position)
{
    queue->bits[position / 64] |= UINT64_C(1) << position % 64;
    queue->words |= UINT64_C(1) << position / 64;
}

static void
unmark(bands_t *queue, uint32_t position)
{
    uint64_t *word = &queue->bits[position / 64];

    *word &= ~(UINT64_C(1) << position % 64);
    if (*word == 0) {
        queue->words &= ~(UINT64_C(1) << position / 64);
    }
}

/* The first position whose priority is not higher. */
static uint32_t
position_of(const bands_t *queue, int32_t priority)
{
    uint32_t low = 0;
    uint32_t high = queue->band_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (queue->priorities[middle] > priority) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A new priority: positions behind it move, so the bits are set anew. */
static void
insert_band(bands_t *queue, uint32_t position, int32_t priority)
{
    if (queue->band_count == BANDS_MAX) {
        abort();
    }
    const size_t behind = queue->band_count - position;
    band_t *band = &queue->bands[queue->band_count++];

    *band = (band_t){NO_POD, NO_POD};
    memmove(&queue->priorities[position + 1], &queue->priorities[position],
            behind * sizeof queue->priorities[0]);
    memmove(&queue->lists[position + 1], &queue->lists[position], behind * sizeof(queue->lists[0]));
    queue->priorities[position] = priority;
    queue->lists[position] = band;
    queue->words = 0;
    memset(queue->bits, 0, sizeof queue->bits);
    for (uint32_t i = 0; i < queue->band_count; i++) {
        if (queue->lists[i]->head != NO_POD) {
            mark(queue, i);
        }
    }
}

static void
append(bands_t *queue, uint32_t pod)
{
    pod_t *values = &queue->table.pods[pod];
    uint32_t position = position_of(queue, values->priority);

    if (position == queue->band_count || queue->priorities[position] != values->priority) {
        insert_band(queue, position, values->priority);
    }
    band_t *band = queue->lists[position];

    values->mark = (uint32_t)(band - queue->bands);
    queue->links[pod] = (link_t){.next = NO_POD, .prev = band->tail};
    if (band->tail == NO_POD) {
        band->head = pod;
        mark(queue, position);
    } else {
        queue->links[band->tail].next = pod;
    }
    band->tail = pod;
}

static void
take_out(bands_t *queue, uint32_t pod)
{
    pod_t *values = &queue->table.pods[pod];
    band_t *band = &queue->bands[values->mark];
    const link_t link = queue->links[pod];

    values->mark = IN_FLIGHT;
    *(link.prev != NO_POD ? &queue->links[link.prev].next : &band->head) = link.next;
    *(link.next != NO_POD ? &queue->links[link.next].prev : &band->tail) = link.prev;
    if (band->head == NO_POD) {
        unmark(queue, position_of(queue, values->priority));
    }
}

/* The pod that pop takes, or NO_POD. */
static uint32_t
first(const bands_t *queue)
{
    if (queue->words == 0) {
        return NO_POD;
    }
    unsigned word = (unsigned)__builtin_ctzll(queue->words);
    return queue->lists[word * 64 + (unsigned)__builtin_ctzll(queue->bits[word])]->head;
}

/* ---- life ------------------------------------------------------------------------------------ */

bands_t *
bands_new(uint32_t capacity, bool spins)
{
    bands_t *queue = flat_array(1, sizeof *queue);

    if (queue == NULL) {
        return NULL;
    }
    memset(queue, 0, sizeof *queue);
    pthread_mutex_init(&queue->mutex, NULL);
    queue->spins = spins;
    queue->links = flat_array(capacity, sizeof *queue->links);
    if (!name_table_make(&queue->table, capacity) || queue->links == NULL) {
        bands_free(queue);
        return NULL;
    }
    return queue;
}

void
bands_free(bands_t *queue)
{
    if (queue == NULL) {
        return;
    }
    pthread_mutex_destroy(&queue->mutex);
    name_table_free(&queue->table);
    free(queue->links);
    free(queue);
}

/* ---- operations ------------------------------------------------------------------------------ */

bare_status_t
bands_add(bands_t *queue, const bare_new_t *pods, uint32_t count)
{
    pod_t values[BARE_BATCH_MAX];
    bare_status_t status = BARE_OK;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t hash = name_hash(pods[i].name, pods[i].name_length);

        name_prefetch(&queue->table, hash);
        values[i] = (pod_t){.object = pods[i].object,
                            .hash = hash,
                            .name_length = pods[i].name_length,
                            .priority = pods[i].priority};
    }
    lock(queue);
    for (uint32_t i = 0; i < count && status == BARE_OK; i++) {
        name_cell_t *cell =
            name_search(&queue->table, pods[i].name, pods[i].name_length, values[i].hash);

        if (cell->pod != NO_POD) {
            status = BARE_EXISTS;
        } else if (queue->table.free_count == 0) {
            status = BARE_FULL;
        } else {
            append(queue, name_take(&queue->table, cell, pods[i].name, &values[i]));
        }
    }
    unlock(queue);
    return status;
}

uint32_t
bands_pop(bands_t *queue, bare_popped_t *out, uint32_t capacity)
{
    uint32_t count = 0;
    uint32_t pod;

    lock(queue);
    while (count < capacity && (pod = first(queue)) != NO_POD) {
        const pod_t *values = &queue->table.pods[pod];
        uint32_t next = queue->links[pod].next;

        /* done comes soon: it walks the map from this cell. And the next pop takes that pod. */
        name_prefetch(&queue->table, values->hash);
        if (next != NO_POD) {
            __builtin_prefetch(&queue->table.pods[next]);
            __builtin_prefetch(&queue->links[next]);
        }
        take_out(queue, pod);
        out[count++] = (bare_popped_t){.object = values->object,
                                       .name = name_of_pod(&queue->table, pod),
                                       .name_length = values->name_length,
                                       .pod = pod,
                                       .priority = values->priority};
    }
    unlock(queue);
    return count;
}

void
bands_done(bands_t *queue, const bare_pod_t *pods, uint32_t count)
{
    lock(queue);
    for (uint32_t i = 0; i < count; i++) {
        name_release(&queue->table, pods[i]);
    }
    unlock(queue);
}

bare_status_t
bands_delete(bands_t *queue, const char *name, uint32_t length)
{
    uint32_t hash = name_hash(name, length);

    lock(queue);
    uint32_t pod = name_search(&queue->table, name, length, hash)->pod;
    bool found = pod != NO_POD && queue->table.pods[pod].mark != IN_FLIGHT;
    if (found) {
        take_out(queue, pod);
        name_release(&queue->table, pod);
    }
    unlock(queue);
    return found ? BARE_OK : BARE_NOT_FOUND;
}

bare_status_t
bands_find(bands_t *queue, const char *name, uint32_t length, uint64_t *object)
{
    uint32_t hash = name_hash(name, length);

    lock(queue);
    uint32_t pod = name_search(&queue->table, name, length, hash)->pod;
    if (pod != NO_POD) {
        *object = queue->table.pods[pod].object;
    }
    unlock(queue);
    return pod != NO_POD ? BARE_OK : BARE_NOT_FOUND;
}
