/*
 * The bare queue: the table of name_table.h, and of its own two flat arrays:
 *
 *   positions   4 bytes a pod: where it is in the heap, or IN_FLIGHT
 *   heap       16 bytes an item: the whole order and the pod's number, so that a comparison touches
 *              no pod. The root is item 1, so two siblings never lie on two cache lines
 *
 * Memory that will be needed a little later is prefetched where its address is known: with 100,000
 * pods most of the time goes into cache misses.
 */
#include "bare.h"

#include "name_table.h"

#include <pthread.h>
#include <time.h>

enum {
    CAPACITY_MAX = 1 << 30,
    ROOT = 1,
};

#define IN_FLIGHT UINT32_MAX

/*
 * The order as one 128-bit number, smaller first: inverted priority (32 bits), arrival (64), pod
 * (32). Equal arrivals are ordered by the pod's number, which means nothing.
 */
typedef struct item {
    uint64_t high;
    uint64_t low;
} item_t;

struct bare {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    uint32_t sleepers;
    uint32_t heap_count;
    item_t *heap;
    uint32_t *positions;
    name_table_t table;
};

_Static_assert((int)BARE_NAME_MAX == (int)NAME_MAX_BYTES, "what the header says of names");

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

/* ---- life ------------------------------------------------------------------------------------ */

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
    queue->heap = flat_array((size_t)capacity + ROOT, sizeof *queue->heap);
    queue->positions = flat_array(capacity, sizeof *queue->positions);
    if (!name_table_make(&queue->table, capacity) || !queue->heap || !queue->positions) {
        bare_free(queue);
        return NULL;
    }
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
    name_table_free(&queue->table);
    free(queue);
}

/* ---- operations ------------------------------------------------------------------------------ */

static bare_status_t
add_locked(bare_t *queue, const char *name, const pod_t *values)
{
    name_table_t *table = &queue->table;
    name_cell_t *cell = name_search(table, name, values->name_length, values->hash);
    if (cell->pod != NO_POD) {
        return BARE_EXISTS;
    }
    if (table->free_count == 0) {
        return BARE_FULL;
    }
    uint32_t pod = name_take(table, cell, name, values);
    heap_up(queue, ++queue->heap_count, item_make(values->priority, values->arrival_ns, pod));
    return BARE_OK;
}

/* What add_locked stores; the map's cell is on its way. */
static pod_t
values_of(const bare_t *queue, const bare_new_t *pod, int64_t arrival_ns)
{
    uint32_t hash = name_hash(pod->name, pod->name_length);

    name_prefetch(&queue->table, hash);
    return (pod_t){
        .object = pod->object,
        .arrival_ns = arrival_ns,
        .hash = hash,
        .name_length = pod->name_length,
        .priority = pod->priority,
    };
}

bare_status_t
bare_add(bare_t *queue, const char *name, uint32_t length, int32_t priority, uint64_t object)
{
    if (!name_fits(length)) {
        return BARE_BAD_NAME;
    }
    const bare_new_t pod = {name, length, priority, object};
    pod_t values = values_of(queue, &pod, clock_ns());

    pthread_mutex_lock(&queue->mutex);
    bare_status_t status = add_locked(queue, name, &values);
    bool wake = status == BARE_OK && queue->sleepers > 0;
    pthread_mutex_unlock(&queue->mutex);
    if (wake) {
        pthread_cond_signal(&queue->arrived);
    }
    return status;
}

bare_status_t
bare_add_many(bare_t *queue, const bare_new_t *pods, uint32_t count)
{
    pod_t values[BARE_BATCH_MAX];
    bare_status_t status = BARE_OK;
    int64_t now_ns = clock_ns();

    for (uint32_t i = 0; i < count; i++) {
        /* A nanosecond apart, so that they leave in the order given. */
        values[i] = values_of(queue, &pods[i], now_ns + i);
    }
    pthread_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count && status == BARE_OK; i++) {
        status = add_locked(queue, pods[i].name, &values[i]);
    }
    bool wake = queue->sleepers > 0;
    pthread_mutex_unlock(&queue->mutex);
    if (wake) {
        pthread_cond_broadcast(&queue->arrived);
    }
    return status;
}

static void
pop_locked(bare_t *queue, bare_popped_t *out)
{
    uint32_t pod = (uint32_t)queue->heap[ROOT].low;
    const pod_t *values = &queue->table.pods[pod];

    /* done comes soon: it walks the map from this cell. */
    name_prefetch(&queue->table, values->hash);
    heap_remove(queue, ROOT);
    queue->positions[pod] = IN_FLIGHT;
    if (queue->heap_count > 0) {
        __builtin_prefetch(&queue->table.pods[(uint32_t)queue->heap[ROOT].low]);
    }
    out->object = values->object;
    out->name = name_of_pod(&queue->table, pod);
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

uint32_t
bare_pop_many(bare_t *queue, bare_popped_t *out, uint32_t capacity)
{
    uint32_t count = 0;

    pthread_mutex_lock(&queue->mutex);
    while (count < capacity && queue->heap_count > 0) {
        pop_locked(queue, &out[count++]);
    }
    pthread_mutex_unlock(&queue->mutex);
    return count;
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
    name_release(&queue->table, pod);
    pthread_mutex_unlock(&queue->mutex);
}

void
bare_done_many(bare_t *queue, const bare_pod_t *pods, uint32_t count)
{
    pthread_mutex_lock(&queue->mutex);
    for (uint32_t i = 0; i < count; i++) {
        name_release(&queue->table, pods[i]);
    }
    pthread_mutex_unlock(&queue->mutex);
}

/* The pending pod of this name, or NO_POD. */
static uint32_t
find_pending(bare_t *queue, const char *name, uint32_t length, uint32_t hash)
{
    uint32_t pod = name_search(&queue->table, name, length, hash)->pod;
    if (pod == NO_POD || queue->positions[pod] == IN_FLIGHT) {
        return NO_POD;
    }
    return pod;
}

static void
update_locked(bare_t *queue, uint32_t pod, int32_t priority, uint64_t object)
{
    pod_t *values = &queue->table.pods[pod];
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
    uint32_t hash = name_hash(name, length);

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
    uint32_t hash = name_hash(name, length);

    pthread_mutex_lock(&queue->mutex);
    uint32_t pod = find_pending(queue, name, length, hash);
    if (pod != NO_POD) {
        heap_remove(queue, queue->positions[pod]);
        name_release(&queue->table, pod);
    }
    pthread_mutex_unlock(&queue->mutex);
    return pod != NO_POD ? BARE_OK : BARE_NOT_FOUND;
}

bare_status_t
bare_find(bare_t *queue, const char *name, uint32_t length, uint64_t *object)
{
    if (!name_fits(length)) {
        return BARE_BAD_NAME;
    }
    uint32_t hash = name_hash(name, length);

    pthread_mutex_lock(&queue->mutex);
    uint32_t pod = name_search(&queue->table, name, length, hash)->pod;
    if (pod != NO_POD) {
        *object = queue->table.pods[pod].object;
    }
    pthread_mutex_unlock(&queue->mutex);
    return pod != NO_POD ? BARE_OK : BARE_NOT_FOUND;
}
