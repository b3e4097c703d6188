/*
 * The bare queue. Everything lives in six flat arrays that bare_new allocates:
 *
 *   pods       32 bytes a pod: what pop returns, and the hash, so that done hashes nothing
 *   names      64 bytes a pod: the name and a NUL
 *   positions   4 bytes a pod: where it is in the heap, or IN_FLIGHT
 *   heap       16 bytes an item: the whole order and the pod's number, so that a comparison touches
 *              no pod. The root is item 1, so two siblings never lie on two cache lines
 *   cells       8 bytes, at least two for each pod: the hash map, open addressing, linear probing,
 *              removal by moving later cells back (no tombstones, so that it does not decay under
 *              churn)
 *
 *   free_pods   4 bytes a pod: the free numbers, a stack, so that the one freed last, whose memory
 *           is warm, is used next
 *
 * Memory that will be needed a little later is prefetched where its address is known: with 100,000
 * pods most of the time goes into cache misses.
 */
#include "bare.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    NAME_CELL = BARE_NAME_MAX + 1,
    CAPACITY_MAX = 1 << 30,
    ROOT = 1,
};

#define IN_FLIGHT UINT32_MAX
#define NO_POD UINT32_MAX

typedef struct pod {
    uint64_t object;
    int64_t arrival_ns;
    uint32_t hash;
    uint32_t name_length;
    int32_t priority;
    uint32_t unused;
} pod_t;

/*
 * The order as one 128-bit number, smaller first: inverted priority (32 bits), arrival (64), pod
 * (32). Equal arrivals are ordered by the pod's number, which means nothing.
 */
typedef struct item {
    uint64_t high;
    uint64_t low;
} item_t;

typedef struct cell {
    uint32_t hash;
    uint32_t pod; /* NO_POD: empty */
} cell_t;

struct bare {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    uint32_t sleepers;
    uint32_t capacity;
    uint32_t heap_count;
    uint32_t free_count;
    uint32_t cell_mask;
    item_t *heap;
    uint32_t *positions;
    pod_t *pods;
    char *names;
    cell_t *cells;
    uint32_t *free_pods;
};

static int64_t
clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- heap ------------------------------------------------------------------------------------ */

static item_t
item_make(int32_t priority, int64_t arrival_ns, uint32_t pod)
{
    /* Flipping all bits but the sign turns "greater int32 first" into "smaller uint32 first". */
    uint64_t order = (uint32_t)priority ^ UINT32_C(0x7fffffff);
    uint64_t arrival = (uint64_t)arrival_ns;
    return (item_t){.high = order << 32 | arrival >> 32, .low = arrival << 32 | pod};
}

static inline bool
item_before(const item_t *a, const item_t *b)
{
    return a->high < b->high || (a->high == b->high && a->low < b->low);
}

static inline void
heap_put(bare_t *queue, uint32_t position, const item_t *item)
{
    queue->heap[position] = *item;
    queue->positions[(uint32_t)item->low] = position;
}

static void
heap_up(bare_t *queue, uint32_t hole, item_t item)
{
    while (hole > ROOT) {
        uint32_t parent = hole / 2;
        if (!item_before(&item, &queue->heap[parent])) {
            break;
        }
        heap_put(queue, hole, &queue->heap[parent]);
        hole = parent;
    }
    heap_put(queue, hole, &item);
}

/*
 * Fills a hole from below down to a leaf, then lets the item rise from there. The item comes from
 * the end of the heap, so it belongs far down: one comparison a level instead of two.
 */
static void
heap_down(bare_t *queue, uint32_t hole, item_t item)
{
    const uint32_t last = queue->heap_count;
    uint32_t child = 2 * hole;

    while (child < last) {
        /* Address arithmetic only: a prefetch beyond the end does nothing. */
        __builtin_prefetch((const char *)queue->heap + (size_t)child * 4 * sizeof(item_t), 1);
        child += item_before(&queue->heap[child + 1], &queue->heap[child]);
        heap_put(queue, hole, &queue->heap[child]);
        hole = child;
        child = 2 * hole;
    }
    if (child == last) {
        heap_put(queue, hole, &queue->heap[child]);
        hole = child;
    }
    heap_up(queue, hole, item);
}

static void
heap_remove(bare_t *queue, uint32_t position)
{
    uint32_t last = queue->heap_count--;
    if (position != last) {
        heap_down(queue, position, queue->heap[last]);
    }
}

/* ---- hash map -------------------------------------------------------------------------------- */

static inline uint64_t
mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide_t;
    wide_t product = (wide_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t
load_64(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/*
 * Eight bytes a step; the last step takes the last eight bytes, which may overlap the step before.
 */
static uint32_t
hash_name(const char *name, uint32_t length)
{
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = mix(length ^ k, UINT64_C(0xd1b54a32d192ed03));

    if (length < 8) {
        uint64_t word = 0;
        memcpy(&word, name, length);
        return (uint32_t)mix(hash ^ word, k);
    }
    for (uint32_t i = 0; i + 8 < length; i += 8) {
        hash = mix(hash ^ load_64(name + i), k);
    }
    return (uint32_t)mix(hash ^ load_64(name + length - 8), k);
}

static bool
pod_has_name(const bare_t *queue, uint32_t pod, const char *name, uint32_t length)
{
    return queue->pods[pod].name_length == length &&
           memcmp(queue->names + (size_t)pod * NAME_CELL, name, length) == 0;
}

/* The cell of this name, or the empty cell that ends its search. */
static cell_t *
map_search(bare_t *queue, const char *name, uint32_t length, uint32_t hash)
{
    uint32_t i = hash & queue->cell_mask;
    for (;; i = (i + 1) & queue->cell_mask) {
        cell_t *cell = &queue->cells[i];
        if (cell->pod == NO_POD) {
            return cell;
        }
        if (cell->hash == hash && pod_has_name(queue, cell->pod, name, length)) {
            return cell;
        }
    }
}

static void
map_remove(bare_t *queue, uint32_t pod)
{
    const uint32_t mask = queue->cell_mask;
    uint32_t hole = queue->pods[pod].hash & mask;

    while (queue->cells[hole].pod != pod) {
        hole = (hole + 1) & mask;
    }
    /*
     * A later cell of the cluster fills the hole unless the hole lies before the cell's own home.
     */
    for (uint32_t i = (hole + 1) & mask; queue->cells[i].pod != NO_POD; i = (i + 1) & mask) {
        uint32_t home = queue->cells[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            queue->cells[hole] = queue->cells[i];
            hole = i;
        }
    }
    queue->cells[hole].pod = NO_POD;
}

/* ---- life ------------------------------------------------------------------------------------ */

static uint32_t
cells_for(uint32_t capacity)
{
    uint32_t cells = 4;
    while (cells < 2 * capacity) {
        cells *= 2;
    }
    return cells;
}

static void *
flat_array(size_t count, size_t size)
{
    size_t bytes = (count * size + 63) / 64 * 64;
    return aligned_alloc(64, bytes);
}

static bool
allocate(bare_t *queue, uint32_t capacity, uint32_t cells)
{
    queue->heap = flat_array((size_t)capacity + ROOT, sizeof *queue->heap);
    queue->positions = flat_array(capacity, sizeof *queue->positions);
    queue->pods = flat_array(capacity, sizeof *queue->pods);
    queue->names = flat_array(capacity, NAME_CELL);
    queue->cells = flat_array(cells, sizeof *queue->cells);
    queue->free_pods = flat_array(capacity, sizeof *queue->free_pods);
    return queue->heap && queue->positions && queue->pods && queue->names && queue->cells &&
           queue->free_pods;
}

bare_t *
bare_new(uint32_t capacity)
{
    if (capacity == 0 || capacity > CAPACITY_MAX) {
        return NULL;
    }
    bare_t *queue = calloc(1, sizeof *queue);
    if (queue == NULL) {
        return NULL;
    }
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->arrived, NULL);
    uint32_t cells = cells_for(capacity);
    if (!allocate(queue, capacity, cells)) {
        bare_free(queue);
        return NULL;
    }
    queue->capacity = capacity;
    queue->cell_mask = cells - 1;
    for (uint32_t i = 0; i < cells; i++) {
        queue->cells[i].pod = NO_POD;
    }
    for (uint32_t i = 0; i < capacity; i++) {
        queue->free_pods[i] = capacity - 1 - i;
    }
    queue->free_count = capacity;
    return queue;
}

void
bare_free(bare_t *queue)
{
    if (queue == NULL) {
        return;
    }
    pthread_cond_destroy(&queue->arrived);
    pthread_mutex_destroy(&queue->mutex);
    free(queue->heap);
    free(queue->positions);
    free(queue->pods);
    free(queue->names);
    free(queue->cells);
    free(queue->free_pods);
    free(queue);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool
name_fits(uint32_t length)
{
    return length >= 1 && length <= BARE_NAME_MAX;
}

/* Takes a free pod and fills it; the caller has seen that there is one. */
static uint32_t
pod_take(bare_t *queue, const char *name, const pod_t *values)
{
    uint32_t pod = queue->free_pods[--queue->free_count];
    char *name_cell = queue->names + (size_t)pod * NAME_CELL;

    queue->pods[pod] = *values;
    memcpy(name_cell, name, values->name_length);
    name_cell[values->name_length] = '\0';
    return pod;
}

static void
pod_release(bare_t *queue, uint32_t pod)
{
    map_remove(queue, pod);
    queue->free_pods[queue->free_count++] = pod;
}

static bare_status_t
add_locked(bare_t *queue, const char *name, const pod_t *values)
{
    cell_t *cell = map_search(queue, name, values->name_length, values->hash);
    if (cell->pod != NO_POD) {
        return BARE_EXISTS;
    }
    if (queue->free_count == 0) {
        return BARE_FULL;
    }
    uint32_t pod = pod_take(queue, name, values);
    *cell = (cell_t){.hash = values->hash, .pod = pod};
    heap_up(queue, ++queue->heap_count, item_make(values->priority, values->arrival_ns, pod));
    return BARE_OK;
}

bare_status_t
bare_add(bare_t *queue, const char *name, uint32_t length, int32_t priority, uint64_t object)
{
    if (!name_fits(length)) {
        return BARE_BAD_NAME;
    }
    uint32_t hash = hash_name(name, length);
    __builtin_prefetch(&queue->cells[hash & queue->cell_mask], 1);
    pod_t values = {
        .object = object,
        .arrival_ns = clock_ns(),
        .hash = hash,
        .name_length = length,
        .priority = priority,
    };
    pthread_mutex_lock(&queue->mutex);
    bare_status_t status = add_locked(queue, name, &values);
    bool wake = status == BARE_OK && queue->sleepers > 0;
    pthread_mutex_unlock(&queue->mutex);
    if (wake) {
        pthread_cond_signal(&queue->arrived);
    }
    return status;
}

static void
pop_locked(bare_t *queue, bare_popped_t *out)
{
    uint32_t pod = (uint32_t)queue->heap[ROOT].low;
    const pod_t *values = &queue->pods[pod];

    /* done comes soon: it walks the map from this cell. */
    __builtin_prefetch(&queue->cells[values->hash & queue->cell_mask], 1);
    heap_remove(queue, ROOT);
    queue->positions[pod] = IN_FLIGHT;
    if (queue->heap_count > 0) {
        __builtin_prefetch(&queue->pods[(uint32_t)queue->heap[ROOT].low]);
    }
    out->object = values->object;
    out->name = queue->names + (size_t)pod * NAME_CELL;
    out->name_length = values->name_length;
    out->pod = pod;
    out->priority = values->priority;
}

bare_status_t
bare_try_pop(bare_t *queue, bare_popped_t *out)
{
    bare_status_t status = BARE_EMPTY;

    pthread_mutex_lock(&queue->mutex);
    if (queue->heap_count > 0) {
        pop_locked(queue, out);
        status = BARE_OK;
    }
    pthread_mutex_unlock(&queue->mutex);
    return status;
}

void
bare_pop(bare_t *queue, bare_popped_t *out)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->heap_count == 0) {
        queue->sleepers++;
        pthread_cond_wait(&queue->arrived, &queue->mutex);
        queue->sleepers--;
    }
    pop_locked(queue, out);
    pthread_mutex_unlock(&queue->mutex);
}

void
bare_done(bare_t *queue, bare_pod_t pod)
{
    pthread_mutex_lock(&queue->mutex);
    pod_release(queue, pod);
    pthread_mutex_unlock(&queue->mutex);
}

/* The pending pod of this name, or NO_POD. */
static uint32_t
find_pending(bare_t *queue, const char *name, uint32_t length, uint32_t hash)
{
    uint32_t pod = map_search(queue, name, length, hash)->pod;
    if (pod == NO_POD || queue->positions[pod] == IN_FLIGHT) {
        return NO_POD;
    }
    return pod;
}

static void
update_locked(bare_t *queue, uint32_t pod, int32_t priority, uint64_t object)
{
    pod_t *values = &queue->pods[pod];
    uint32_t position = queue->positions[pod];
    bool rises = priority > values->priority;

    values->object = object;
    if (priority == values->priority) {
        return;
    }
    values->priority = priority;
    item_t item = item_make(priority, values->arrival_ns, pod);
    if (rises) {
        heap_up(queue, position, item);
    } else {
        heap_down(queue, position, item);
    }
}

bare_status_t
bare_update(bare_t *queue, const char *name, uint32_t length, int32_t priority, uint64_t object)
{
    if (!name_fits(length)) {
        return BARE_BAD_NAME;
    }
    uint32_t hash = hash_name(name, length);

    pthread_mutex_lock(&queue->mutex);
    uint32_t pod = find_pending(queue, name, length, hash);
    if (pod != NO_POD) {
        update_locked(queue, pod, priority, object);
    }
    pthread_mutex_unlock(&queue->mutex);
    return pod != NO_POD ? BARE_OK : BARE_NOT_FOUND;
}

bare_status_t
bare_delete(bare_t *queue, const char *name, uint32_t length)
{
    if (!name_fits(length)) {
        return BARE_BAD_NAME;
    }
    uint32_t hash = hash_name(name, length);

    pthread_mutex_lock(&queue->mutex);
    uint32_t pod = find_pending(queue, name, length, hash);
    if (pod != NO_POD) {
        heap_remove(queue, queue->positions[pod]);
        pod_release(queue, pod);
    }
    pthread_mutex_unlock(&queue->mutex);
    return pod != NO_POD ? BARE_OK : BARE_NOT_FOUND;
}
