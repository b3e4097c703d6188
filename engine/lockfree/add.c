/*
 * Adding pods.
 *
 *   admit      caps, a record, a name, an order key. Nobody sees any of it.
 *   insert     the index makes the pod exist (index_insert), or says that the name is there.
 *   publish    its ref goes where pops find it
 *   finish     the index forgets that the pod may be unpublished; this is the full fence
 *   mark       the word of the band; then sleepers
 *
 * WHO STOPS WHERE. Before insert: nothing happened. Between insert and finish: whoever meets the name in the index publishes
 * the pod once more (publish_settle), so nobody is told of a pod that no pop can find. A pop that comes between publish and
 * finish takes the pod like any other.
 * Several pods: batch.c.
 */
#include "lockfree/add.h"

#include "lockfree/objects.h"
#include "lockfree/ops.h"
#include "lockfree/publish.h"
#include "lockfree/report.h"
#include "policy/order.h"

/* ---- admitting ---------------------------------------------------------------------------------------------------------- */

/* Records taken and not given back, at a moment during this call, or fewer: see charge.h. */
static int64_t
records_in_use(const struct queue *queue)
{
    uint64_t taken = 0, given = 0;

    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *worker = ptr_load_acquire(&queue->workers[i]);

        taken += worker != NULL ? u64_load_acquire(&worker->tally.taken) : 0;
    }
    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *worker = ptr_load_acquire(&queue->workers[i]);

        given += worker != NULL ? u64_load_acquire(&worker->tally.given) : 0;
    }
    return (int64_t)(taken - given);
}

static uint32_t
pods_max(const struct queue *queue)
{
    return queue->base.config.max_pods != 0 ? queue->base.config.max_pods : PODS_MAX;
}

/* As long as fewer records exist than pods are allowed, nobody has to count. */
static bool
may_be_full(const struct queue *queue)
{
    return slab_made(&queue->entries.records) >= pods_max(queue);
}

static schedq_status_t
check_full(struct worker *worker)
{
    const struct queue *queue = queue_of(worker);

    if (!may_be_full(queue) || records_in_use(queue) < pods_max(queue)) {
        return SCHEDQ_OK;
    }
    worker_say(&worker->base, "pods: there are %u, as many as there may be (max_pods)", pods_max(queue));
    return SCHEDQ_FULL;
}

static schedq_status_t
find_band(struct worker *worker, int32_t priority, struct band **band)
{
    schedq_status_t status = SCHEDQ_OK;

    *band = publish_band(worker, priority, false, &status);
    if (*band == NULL && status == SCHEDQ_FULL) {
        worker_say(&worker->base,
                   "priority %d: %u other priorities are in the queue, as many as there may be (max_bands)", priority,
                   queue_of(worker)->bands.max);
    }
    return *band != NULL ? SCHEDQ_OK : status;
}

/* CLOCK_MONOTONIC gives two adds, of which one ended before the other began, different readings. Other clocks may not. */
static bool
clock_repeats(const struct queue *queue)
{
    return queue->base.clock.source.now_ns != NULL || clock_is_virtual(&queue->base.clock);
}

/* With a clock that repeats readings one word gives every key of the queue; else the worker's own last key is enough. */
static int64_t
draw_key(struct worker *worker, int64_t now)
{
    struct queue *queue = queue_of(worker);

    if (clock_repeats(queue)) {
        uint64_t last = u64_load(&queue->last_key);

        for (;;) {
            int64_t key = order_key_next(now, (int64_t)last);
            uint64_t found = u64_cas_value(&queue->last_key, last, (uint64_t)key);

            if (found == last) {
                worker->last_drawn = key;
                return key;
            }
            last = found;
        }
    }
    worker->last_drawn = order_key_next(now, worker->last_drawn);
    return worker->last_drawn;
}

static int64_t
key_of(struct worker *worker, const schedq_pod_spec_t *spec, int64_t now)
{
    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        return spec->order_key;
    }
    return spec->timestamp_ns != 0 ? spec->timestamp_ns : draw_key(worker, now);
}

/* The record is this worker's alone; the last store makes it ready for the index. */
static void
fill(struct worker *worker, struct arrival *arrival, const schedq_pod_spec_t *spec, uint32_t name, int64_t now)
{
    const struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, arrival->record);
    int64_t timestamp = spec->timestamp_ns != 0 ? spec->timestamp_ns : now;
    int64_t initial = queue->base.rules.attempt_starts_at_add ? timestamp : 0;
    uint64_t life = version_next(state_version(u64_load(&entry->word.low)));

    arrival->key = key_of(worker, spec, now);
    arrival->ref = ref_make(life, arrival->record);
    u64_store(&entry->life, life);
    u64_store(&entry->word.high, 0);
    u64_store(&entry->object, spec->object);
    time_store(&entry->order_key, arrival->key);
    u64_store(&entry->attributes, attributes_pack(spec->priority, spec->name_length, spec->profile, spec->flags));
    u64_store(&entry->name, (uint64_t)arrival->hash << 32 | name);
    u64_store(&entry->unschedulable, 0);
    u64_store(&entry->pending, 0);
    time_store(&entry->timestamp, timestamp);
    time_store(&entry->initial_attempt, initial != 0 ? initial : now);
    u64_store(&entry->attempts_rejections, 0);
    u64_store(&entry->errors_charged, arrival->band->id);
    u64_store(&entry->seen, 0);
    u64_store(&entry->flight, 0);
    u64_store_release(&entry->word.low, state_make(life, arrival->band->id, PLACE_ACTIVE)); /* fill:A */
}

schedq_status_t
add_admit(struct worker *worker, const char *text, const schedq_pod_spec_t *spec, int64_t now, struct arrival *arrival)
{
    struct queue *queue = queue_of(worker);
    schedq_status_t status = check_full(worker);

    if (status == SCHEDQ_OK) {
        status = find_band(worker, spec->priority, &arrival->band);
    }
    if (status != SCHEDQ_OK) {
        return status;
    }
    arrival->rank = queue_rank(queue, spec->priority);
    arrival->record = slab_take(&queue->entries.records, &worker->records);
    if (arrival->record == 0) {
        return SCHEDQ_NOMEM;
    }
    uint32_t name = names_take(&queue->names, &worker->names, text, spec->name_length);

    if (name == 0) {
        slab_give(&queue->entries.records, &worker->records, arrival->record);
        return SCHEDQ_NOMEM;
    }
    fill(worker, arrival, spec, name, now);
    object_retain(queue, spec->object);
    tally_add(&worker->tally.taken, 1);
    pod_enters(worker, arrival->band->id);
    return SCHEDQ_OK;
}

/* The pod never existed. */
void
add_give_up(struct worker *worker, const struct arrival *arrival)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, arrival->record);
    uint64_t object = u64_load(&entry->object);
    uint32_t name = (uint32_t)u64_load(&entry->name);

    u64_store_release(&entry->word.low, state_make(version_next(ref_version(arrival->ref)), 0, PLACE_FREE));
    names_give(&queue->names, &worker->names, name);
    slab_give(&queue->entries.records, &worker->records, arrival->record);
    tally_add(&worker->tally.given, 1);
    pod_leaves(worker, arrival->band->id);
    object_give_back(queue, object);
}

/* ---- inserting ---------------------------------------------------------------------------------------------------------- */

schedq_status_t
add_insert(struct worker *worker, struct arrival *arrival, const char *text, uint32_t length, struct present *present)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    const struct index_key key = {.name = text, .length = length, .hash = arrival->hash};

    switch (index_insert(&queue->index, &caller, &key, arrival->record, ref_version(arrival->ref), &arrival->ticket,
                         &present->record, &present->state)) {
    case INDEX_DONE:
        tally_add(&worker->tally.adds, 1);
        tally_add(&worker->tally.active, 1);
        return SCHEDQ_OK;
    case INDEX_EXISTS:
        add_give_up(worker, arrival);
        return SCHEDQ_EXISTS;
    case INDEX_NOMEM:
        break;
    }
    add_give_up(worker, arrival);
    return SCHEDQ_NOMEM;
}

/* From its insertion on the pod may be anybody's: nothing of its record is read here. */
void
add_complete(struct worker *worker, const struct arrival *arrival)
{
    publish_ref(worker, arrival->band, arrival->ref, arrival->key);
    index_finish(&arrival->ticket); /* complete:A, a full fence behind the publication */
    if (!publish_mark(worker, arrival->band)) {
        (void)publish_follow(worker, arrival->record, ref_version(arrival->ref));
    }
}

/* ---- one pod ------------------------------------------------------------------------------------------------------------ */

/* With a caller's clock a key is drawn only for a pod that gets in, so that equal calls draw equal keys. */
bool
add_looks_first(const struct queue *queue)
{
    return clock_repeats(queue) || may_be_full(queue);
}

/* Before EXISTS is said. False: the pod is over by now. */
bool
add_tell_present(struct worker *worker, const struct present *present, struct view *view)
{
    if (!report_found(queue_of(worker), present->record, present->state, view)) {
        return false;
    }
    publish_told(worker, present->record, view->life, view->state);
    return true;
}

/* Is there a pod of this name? Then *present is it, and pops look where it is. */
bool
add_is_present(struct worker *worker, const char *text, uint32_t length, uint32_t hash, struct present *present)
{
    const struct index_caller caller = index_caller(worker);
    const struct index_key key = {.name = text, .length = length, .hash = hash};
    struct view view;

    /* Ends: each further round means that a pod ended. */
    do {
        present->record = index_find(&queue_of(worker)->index, &caller, &key, &present->state);
    } while (present->record != 0 && !add_tell_present(worker, present, &view));
    return present->record != 0;
}

/* What the caller is told, from the arguments: the pod may be gone by now. */
void
add_report(const struct arrival *arrival, const schedq_pod_spec_t *spec, int64_t now, schedq_result_t *result)
{
    result->pod = entry_handle(arrival->record, ref_version(arrival->ref));
    result->object = spec->object;
    result->timestamp_ns = spec->timestamp_ns != 0 ? spec->timestamp_ns : now;
    result->place = SCHEDQ_ACTIVE;
    result->to_active++;
    result->poppable = 1;
}

schedq_status_t
add_one(struct worker *worker, const char *names, const schedq_pod_spec_t *spec, uint32_t hash, schedq_result_t *result,
        struct present *present)
{
    struct queue *queue = queue_of(worker);
    struct arrival arrival;
    const char *text = names + spec->name_offset;

    if (queue_is_closed(queue)) {
        return SCHEDQ_CLOSED;
    }
    index_prefetch(&queue->index, hash);
    int64_t now = queue_now(queue);

    if (add_looks_first(queue) && add_is_present(worker, text, spec->name_length, hash, present)) {
        return SCHEDQ_EXISTS;
    }
    arrival.hash = hash;
    schedq_status_t status = add_admit(worker, text, spec, now, &arrival);

    if (status != SCHEDQ_OK) {
        return add_is_present(worker, text, spec->name_length, hash, present) ? SCHEDQ_EXISTS : status;
    }
    if (!publish_prepare(worker, arrival.band, arrival.key)) {
        add_give_up(worker, &arrival);
        return SCHEDQ_NOMEM;
    }
    status = add_insert(worker, &arrival, text, spec->name_length, present);
    if (status == SCHEDQ_OK) {
        add_report(&arrival, spec, now, result);
        add_complete(worker, &arrival);
        publish_wake(worker);
    }
    return status;
}

/* A pod that exists may be gone by the time it is described: then the add is tried again. */
static schedq_status_t
add_single(struct worker *worker, const struct add_batch *batch, schedq_result_t *result)
{
    const schedq_pod_spec_t *spec = &batch->specs[0];
    uint32_t hash = index_hash(&queue_of(worker)->index, batch->names + spec->name_offset, spec->name_length);
    schedq_status_t status;
    struct view view;
    struct present present;

    section_begin(worker);
    do {
        status = add_one(worker, batch->names, spec, hash, result, &present);
    } while (status == SCHEDQ_EXISTS && !add_tell_present(worker, &present, &view));
    if (status == SCHEDQ_EXISTS) {
        report_pod(present.record, &view, result);
    }
    section_end(worker);
    if (batch->pods != NULL && status == SCHEDQ_OK) {
        batch->pods[0] = result->pod;
    }
    if (batch->statuses != NULL) {
        batch->statuses[0] = (uint8_t)status;
    }
    return status;
}

schedq_status_t
lockfree_add_many(schedq_worker_t *base, const struct add_batch *batch, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);

    if (batch->count == 0) {
        return SCHEDQ_OK;
    }
    if (batch->count == 1 && (batch->statuses == NULL || batch->statuses[0] == SCHEDQ_OK)) {
        return add_single(worker, batch, result);
    }
    return batch_add(worker, batch, result);
}
