/*
 * Slots of workers.h.
 *
 * Any thread may make memory for a slot: the first to put it there wins (slot_worker:A). A slot is
 * taken by a CAS of its number's bit in one of the queue's words; its first owner joins the epoch
 * with it, and lets sums over all workers see it. Housekeepers are slots of their own kind, with
 * bits of their own: trim, reserve and metrics borrow one, and a tick polls them.
 *
 * CONTRACT. Between take_bit:A and give_bit:A all that lies in the slot is one owner's, and plain.
 * The memory stays until the queue ends, so any thread may read a slot's counts (tallies).
 *
 * FIRST WORKER. What only calls with a worker need is made before the first slot: the ring of
 * events, the tables of nominations and names, a housekeeper (workers_make_shared). Several threads
 * may do that at once; one of each stays.
 *
 * LINEARIZATION. A slot is taken at take_bit:A and free at give_bit:A. FULL: each bit was found
 * taken once, not all at one moment.
 *
 * ORDERING
 *   give_bit:A -> take_bit:A, workers_count
 *       what the last owner did
 *   slot_worker:A -> acquire loads of the slot
 *       the slot's memory
 *   join:A -> queue_slots
 *       the slots below that number
 * Adoption has no such edge: the caller knows that the last owner's thread is dead, which orders
 * what it did.
 *
 * A DEATH INSIDE A CALL may come between any two instructions. What others read is stored
 * atomically, in the order that they need anyway. What is the owner's alone is plain, and may be
 * half done: an object may be in a cache and given away already, a cached band may be beside
 * another band's priority. So adoption forgets all that is plain (forget): free objects, a run,
 * releases that wait, where bands and groups were found, candidates that were read ahead. Lanes go
 * on where they were published last (lane_resume). That costs a bounded amount of memory until the
 * queue ends; plain stores need no order anywhere. A thread that died while it slept in a pop is
 * not counted as a waiter any more.
 *
 * PROGRESS. Lock-free; making a slot allocates. A thread that stops with a slot keeps it, and what
 * lies in it: SLAB_CACHE_MAX free objects of each kind, its lanes, from which others go on taking
 * pods. One that stops with a housekeeper keeps that; when HOUSEKEEPERS have, trim does nothing,
 * and reserve and metrics answer NOMEM.
 *
 * EVIDENCE. stress/explore: workers, trim_lanes, upkeep_register_first, upkeep_register_trim,
 * upkeep_register_reserve, mixed_upkeep; tests/unit/test_workers.c, test_lockfree_adopt.c,
 * test_lockfree_death.c, test_upkeep_threads.c.
 */
#include "lockfree/calls/workers.h"

#include "lockfree/calls/mover.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/stray.h"
#include "lockfree/moves/waiting.h"
#include "platform/words.h"

#include <string.h>

static size_t
kept_bytes(const struct queue *queue)
{
    return hazard_room(queue->base.config.max_workers) * sizeof(struct hazard_kept);
}

static size_t
worker_bytes(const struct queue *queue)
{
    uint32_t kinds = queue->base.rules.counts_entities ? 2 : 1;

    return sizeof(struct worker) + kinds * sizeof(struct incoming);
}

/* Makes what a worker needs and a housekeeper does not. */
static bool
equip(struct queue *queue, struct worker *worker)
{
    struct memory *memory = &queue->base.memory;

    worker->batch = memory_alloc(memory, MEMORY_OTHER, sizeof *worker->batch, CACHE_LINE);
    if (objects_counted(queue)) {
        worker->kept = memory_alloc(memory, MEMORY_OTHER, kept_bytes(queue), CACHE_LINE);
    }
    return worker->batch != NULL && (worker->kept != NULL || !objects_counted(queue));
}

static void
unmake(struct queue *queue, struct worker *worker)
{
    struct memory *memory = &queue->base.memory;

    if (worker->epoch != NULL && !worker->joined) { /* else epoch_close frees it */
        epoch_record_drop(worker->epoch);
    }
    memory_free(memory, MEMORY_OTHER, worker->batch_room, BATCH_ROOM);
    memory_free(memory, MEMORY_OTHER, worker->batch, sizeof *worker->batch);
    memory_free(memory, MEMORY_OTHER, worker->kept, kept_bytes(queue));
    memory_free(memory, MEMORY_OTHER, worker->ahead, CANDIDATES_AHEAD_BYTES);
    memory_free(memory, MEMORY_OTHER, worker, worker_bytes(queue));
}

static struct worker *
make(struct queue *queue, uint32_t number)
{
    struct worker *worker =
        memory_alloc(&queue->base.memory, MEMORY_OTHER, worker_bytes(queue), CACHE_LINE);

    if (worker == NULL) {
        return NULL;
    }
    worker->epoch = epoch_record_prepare(queue->epoch);
    if (worker->epoch == NULL || (number != HOUSEKEEPER && !equip(queue, worker))) {
        unmake(queue, worker);
        return NULL;
    }
    worker_make_base(&worker->base, &queue->base, number);
    worker->last_drawn = INT64_MIN;
    worker->random = number + 1;
    return worker;
}

/* Makes it, if it is not there. NULL: no memory. */
static struct worker *
slot_worker(struct queue *queue, atomic_ptr *slot, uint32_t number)
{
    struct worker *worker = ptr_load_acquire(slot); /* of slot_worker:A */

    if (worker != NULL) {
        return worker;
    }
    struct worker *own = make(queue, number);

    if (own == NULL) {
        return NULL;
    }
    worker = ptr_cas_value(slot, NULL, own); /* slot_worker:A; never NULL again */
    if (worker != NULL) {
        unmake(queue, own);
        return worker;
    }
    return own;
}

bool
workers_make_shared(struct queue *queue)
{
    return slot_worker(queue, &queue->housekeepers[0], HOUSEKEEPER) != NULL &&
           event_log_make(&queue->log) && nominator_make(&queue->nominator) &&
           index_make(&queue->index, INDEX_LINES_FIRST);
}

/* Joins the epoch, once. For the owner of the slot's bit. */
static void
join(struct queue *queue, struct worker *worker)
{
    uint32_t number = worker->base.number;

    if (worker->joined) {
        return;
    }
    epoch_record_join(worker->epoch);
    worker->joined = true;
    if (number != HOUSEKEEPER) {
        hazard_join(&queue->hazards, &worker->pins, worker->kept);
        worker->hazard = &worker->pins;
        (void)u64_max(&queue->slots, number + 1); /* join:A, read by queue_slots */
    }
}

static bool
take_bit(atomic_u64 *bits, uint32_t number)
{
    uint64_t bit = UINT64_C(1) << number;
    uint64_t taken = u64_load(bits); /* relaxed, here and below: the exchange compares */

    /* Ends: each failed exchange means that another slot was taken or given back. */
    while ((taken & bit) == 0) {
        if (u64_swing(bits, &taken, taken | bit)) { /* take_bit:A */
            return true;
        }
    }
    return false;
}

/* What its owner did is visible to the next one. */
static void
give_bit(atomic_u64 *bits, uint32_t number)
{
    (void)u64_add(bits, -(UINT64_C(1) << number)); /* give_bit:A, read by take_bit:A */
}

struct worker *
workers_keep_house(struct queue *queue, uint32_t *house)
{
    for (uint32_t i = 0; i < HOUSEKEEPERS; i++) {
        if (!take_bit(&queue->housekeeping, i)) {
            continue;
        }
        struct worker *worker = slot_worker(queue, &queue->housekeepers[i], HOUSEKEEPER);

        if (worker != NULL) {
            join(queue, worker);
            *house = i;
            return worker;
        }
        give_bit(&queue->housekeeping, i);
    }
    return NULL;
}

static void
give_caches_back(struct worker *worker)
{
    struct queue *queue = queue_of(worker);

    if (worker->spare_run != NULL) {
        run_give(&queue->runs, worker->spare_run);
        worker->spare_run = NULL;
    }
    slab_flush(&queue->entries.records, &worker->records);
    slab_flush(&queue->entries.descriptions, &worker->descriptions);
    names_flush(&queue->names, &worker->names);
}

/* The slot's owner says whether memory is left in it that ticks have to free. */
static void
note_waits(struct queue *queue, uint32_t house, bool waits)
{
    uint64_t bit = UINT64_C(1) << house;
    bool noted = (u64_load(&queue->house_waits) & bit) != 0;

    if (noted != waits) {
        (void)u64_add(&queue->house_waits, waits ? bit : -bit);
    }
}

void
workers_leave_house(struct queue *queue, uint32_t house)
{
    struct worker *worker = ptr_load(&queue->housekeepers[house]);

    epoch_poll(worker->epoch);
    give_caches_back(worker);
    note_waits(queue, house, epoch_waits(worker->epoch));
    give_bit(&queue->housekeeping, house);
}

void
workers_poll(struct queue *queue)
{
    for (uint64_t waits = u64_load(&queue->house_waits); waits != 0; waits &= waits - 1) {
        uint32_t house = (uint32_t)__builtin_ctzll(waits);

        if (take_bit(&queue->housekeeping, house)) {
            struct worker *worker = ptr_load(&queue->housekeepers[house]);

            epoch_poll(worker->epoch);
            note_waits(queue, house, epoch_waits(worker->epoch));
            give_bit(&queue->housekeeping, house);
        }
    }
}

/* The word of a slot's bit. */
static atomic_u64 *
taken_word(struct queue *queue, uint32_t number)
{
    return &queue->taken[number / 64];
}

schedq_status_t
workers_take(struct queue *queue, struct worker **out)
{
    for (uint32_t i = 0; i < queue->base.config.max_workers; i++) {
        if (!take_bit(taken_word(queue, i), i % 64)) {
            continue;
        }
        struct worker *worker =
            workers_make_shared(queue) ? slot_worker(queue, &queue->workers[i], i) : NULL;

        if (worker == NULL) {
            give_bit(taken_word(queue, i), i % 64);
            return SCHEDQ_NOMEM;
        }
        join(queue, worker);
        *out = worker;
        return SCHEDQ_OK;
    }
    return SCHEDQ_FULL;
}

/* The worker is about to belong to no thread. What it owes is noted, and a tick does it. */
static void
note_owed(struct worker *worker)
{
    if (u64_load_acquire(&worker->owed) != 0 || u64_load_acquire(&worker->settled) != 0) {
        stray_leave(queue_of(worker), STRAY_UNJUDGED);
        u64_store(&worker->owed, 0);
        u64_store(&worker->settled, 0);
    }
    worker->joins_up_to.group = 0;
    if (u64_load_acquire(&worker->joining) != 0) {
        stray_leave(queue_of(worker), STRAY_UNMOVED); /* groups are looked after */
        u64_store(&worker->joining, 0);
    }
}

void
workers_give(struct worker *worker)
{
    struct queue *queue = queue_of(worker);

    section_begin(worker);
    note_owed(worker);
    finish_ended(worker);
    hazard_retry(&queue->hazards, worker->hazard);
    bands_tend(&queue->bands, worker->epoch, worker->base.number);
    backoff_tend(queue, worker->epoch, worker->base.number);
    waiting_tend(queue, worker->epoch, worker->base.number);
    section_end(worker);
    epoch_poll(worker->epoch);
    give_caches_back(worker);
    give_bit(taken_word(queue, worker->base.number), worker->base.number % 64);
}

uint32_t
workers_count(const struct queue *queue)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < WORKERS_MAX / 64; i++) {
        /* of give_bit:A */
        count += (uint32_t)__builtin_popcountll(u64_load_acquire(&queue->taken[i]));
    }
    return count;
}

bool
workers_reserve(struct queue *queue, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (slot_worker(queue, &queue->workers[i], i) == NULL) {
            return false;
        }
    }
    return true;
}

void
workers_free(struct queue *queue)
{
    for (uint32_t i = 0; i < WORKERS_MAX + HOUSEKEEPERS; i++) {
        struct worker *worker = i < WORKERS_MAX ? ptr_load(&queue->workers[i])
                                                : ptr_load(&queue->housekeepers[i - WORKERS_MAX]);

        if (worker != NULL) {
            unmake(queue, worker);
        }
    }
}

/* ---- the table's functions ------------------------------------------------------------------- */

schedq_status_t
lockfree_worker_register(schedq_t *base, schedq_worker_t **out)
{
    struct worker *worker;
    schedq_status_t status = workers_take(queue_of_base(base), &worker);

    if (status == SCHEDQ_OK) {
        worker->base.words[0] = '\0';
        u32_store(u32_of(&worker->base.canceled), 0);
        worker_open(&worker->base);
        *out = &worker->base;
    }
    return status;
}

/*
 * The worker's memory stays, and stays busy: a call with a worker that was unregistered is refused,
 * and is no use after free.
 */
void
lockfree_worker_unregister(schedq_worker_t *base)
{
    workers_give(worker_of(base));
}

/*
 * Forgets what is the owner's alone, and may not be whole. Objects that wait for their release are
 * never released then.
 */
static void
forget(struct worker *worker)
{
    worker->spare_run = NULL;
    worker->told = 0;
    worker->outside = false; /* it may have died in the host's code */
    worker->records = worker->descriptions = (struct slab_cache){0};
    worker->names = (struct names_cache){0};
    memset(worker->spots, 0, sizeof worker->spots);
    memset(worker->known_groups, 0, sizeof worker->known_groups);
    if (worker->ahead != NULL) {
        worker->ahead->next = worker->ahead->count = 0;
        worker->ahead->marked = false;
    }
    /*
     * The worker says SLEEP only while its thread is counted, so the count that is taken away here
     * was added.
     */
    if (inside_callback(&worker->base.inside) == CALLBACK_SLEEP) {
        sleepers_cancel(&queue_of(worker)->sleepers);
    }
    hazard_forget(worker->hazard);
}

/*
 * A thread that died inside a call left its section open, and perhaps a pin, or a pod that it had
 * not published: the next call that meets the pod's name in the index publishes it. A thread that
 * died between calls left all of it whole.
 */
schedq_status_t
lockfree_worker_adopt(schedq_t *base, schedq_worker_t *abandoned)
{
    struct queue *queue = queue_of_base(base);

    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        struct worker *worker = ptr_load_acquire(&queue->workers[i]); /* of slot_worker:A */

        if (worker != NULL && &worker->base == abandoned && worker != timer_worker(queue) &&
            (u64_load_acquire(taken_word(queue, i)) >> i % 64 & 1) != 0) {
            epoch_hold(worker->epoch); /* for the table of bands */
            bands_tend(&queue->bands, NULL, i);
            backoff_tend(queue, NULL, i);
            waiting_tend(queue, NULL, i);
            if (worker_user(&worker->base) != 0) {
                forget(worker);
                u32_store_release(&queue->uncounted, 1); /* read by somebody_died:A */
            }
            epoch_abandon(worker->epoch); /* what lanes point to was held until here */
            note_owed(worker);
            worker_open(&worker->base);
            return SCHEDQ_OK;
        }
    }
    return SCHEDQ_INVALID;
}
