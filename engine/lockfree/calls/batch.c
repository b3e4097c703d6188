/*
 * Adding many pods at once.
 *
 * THE STRAIGHT PATH. Nearly all batches are of plain pods whose order keys are drawn (add_next).
 * Their keys are drawn at once, in the caller's order. Then pod after pod is let in, the best
 * first. Where the priorities never rise, that is the caller's order, and the index finds equal
 * names. Else a small batch is gone through once for each priority, and equal names are looked for
 * first. No memory is taken.
 *
 * ANY OTHER batch is admitted in the caller's order, which decides which pods are refused when the
 * queue gets full, and which of two equal names comes in. Then it is sorted, and pod after pod goes
 * through insert to finish. With max_bands each goes in before the next is admitted, because the
 * bound counts active pods: then the order is the caller's. A gate that is asked ends the section
 * in which a band or a lot was found; it is found again. Members of groups go in behind all others,
 * in the caller's order, which decides the member that completes a group, and so its Timestamp.
 *
 * ON BOTH the best pod goes in first: so a pop never takes one pod of a batch while another that
 * ranks before it is still to come, also if a call asks for one of them by its name meanwhile. Pods
 * of one band that follow each other are marked together, before a pod of another enters: a call
 * that reports one of them marks the band for all that are published. A batch hashes names ahead of
 * the accesses to memory, and saves readings of the clock, sections, wake-ups and marks.
 *
 * The work on any other batch takes about 200 bytes a pod. A small batch uses the BATCH_ROOM that
 * the worker keeps; a larger one takes memory for the call, and adds nothing without it.
 *
 * Ordering and progress: add.c, for each pod. A thread that stops keeps what it had admitted of the
 * batch: records, names and descriptions.
 */
#include "lockfree/calls/add.h"

#include "lockfree/calls/ops.h"
#include "lockfree/calls/sort.h"
#include "lockfree/moves/publish.h"

#include <string.h>

/* One call's work on an array. */
struct many {
    struct worker *worker;
    const struct add_batch *batch;
    schedq_result_t *result;
    struct arrival *arrivals; /* admitted ones */
    size_t admitted, entered;
    /* by hash: 1 + the newest arrival; to find names that are there twice */
    uint32_t *buckets;
    uint32_t *next;    /* by arrival: the one before it in its bucket */
    uint32_t *first;   /* by element: 1 + the arrival of an element before with the same name */
    uint8_t *statuses; /* the caller's, or own ones */
    size_t bucket_mask;
    size_t bytes;
    int64_t now;
    uint64_t pauses;       /* of the worker, before the first was admitted */
    struct band *unmarked; /* of the last that was published; NULL: it is marked */
    bool repeated;         /* some name is there twice */
};

static void *
take_room(struct worker *worker, size_t bytes)
{
    struct memory *memory = &queue_of(worker)->base.memory;

    if (bytes > BATCH_ROOM) {
        return memory_alloc(memory, MEMORY_OTHER, bytes, CACHE_LINE);
    }
    if (worker->batch_room == NULL) {
        worker->batch_room = memory_alloc(memory, MEMORY_OTHER, BATCH_ROOM, CACHE_LINE);
    }
    return worker->batch_room;
}

static void
give_room(const struct many *many)
{
    if (many->bytes > BATCH_ROOM) {
        memory_free(&queue_of(many->worker)->base.memory, MEMORY_OTHER, many->arrivals,
                    many->bytes);
    }
}

static bool
many_open(struct many *many)
{
    size_t count = many->batch->count;
    size_t buckets = 16;

    while (buckets < 2 * count) {
        buckets *= 2;
    }
    many->bucket_mask = buckets - 1;
    many->bytes =
        count * (sizeof *many->arrivals + 2 * sizeof(uint32_t) + 1) + buckets * sizeof(uint32_t);
    many->arrivals = take_room(many->worker, many->bytes);
    if (many->arrivals == NULL) {
        return false;
    }
    many->buckets = (uint32_t *)(void *)(many->arrivals + count);
    many->next = many->buckets + buckets;
    many->first = many->next + count;
    many->statuses = many->batch->statuses;
    if (many->statuses == NULL) {
        many->statuses = (uint8_t *)(many->first + count);
        memset(many->statuses, SCHEDQ_OK, count);
    }
    memset(many->buckets, 0, buckets * sizeof *many->buckets);
    return true;
}

static const char *
text_of(const struct many *many, size_t element)
{
    return many->batch->names + many->batch->items[element].name_offset;
}

static bool
same_name(const struct many *many, size_t a, size_t b)
{
    uint32_t length = many->batch->items[a].name_length;

    return length == many->batch->items[b].name_length &&
           memcmp(text_of(many, a), text_of(many, b), length) == 0;
}

/* 1 + the arrival that has this element's name; 0: none has. */
static uint32_t
same_before(struct many *many, size_t element, uint32_t hash)
{
    for (uint32_t i = many->buckets[hash & many->bucket_mask]; i != 0; i = many->next[i - 1]) {
        if (many->arrivals[i - 1].hash == hash &&
            same_name(many, many->arrivals[i - 1].element, element)) {
            return i;
        }
    }
    return 0;
}

static void
set_status(const struct many *many, size_t element, schedq_status_t status)
{
    many->statuses[element] = (uint8_t)status;
}

/* ---- the straight path ----------------------------------------------------------------------- */

#define FEW BATCH_HASHES
#define AHEAD 8 /* so many pods ahead, lines of the index are prefetched */

static int32_t
rank_of(const struct many *many, size_t element)
{
    return queue_rank(queue_of(many->worker), many->batch->items[element].spec.priority);
}

/* May two of a few pods have equal names? Their hashes say so. */
static bool
few_resemble(const struct add_batch *batch)
{
    uint8_t buckets[2 * FEW] = {0}, next[FEW];

    for (size_t i = 0; i < batch->count; i++) {
        uint8_t *bucket = &buckets[batch->hashes[i] % (2 * FEW)];

        for (uint32_t other = *bucket; other != 0; other = next[other - 1]) {
            if (batch->hashes[other - 1] == batch->hashes[i]) {
                return true;
            }
        }
        next[i] = *bucket;
        *bucket = (uint8_t)(i + 1);
    }
    return false;
}

/* Can the pods go in one after the other as they are? *top is the highest rank. */
static bool
is_straight(const struct many *many, bool *sorted, int32_t *top)
{
    const struct add_batch *batch = many->batch;
    int32_t last = rank_of(many, 0);

    *sorted = true;
    *top = last;
    for (size_t i = 0; i < batch->count; i++) {
        const schedq_pod_spec_t *spec = &batch->items[i].spec;
        int32_t rank = rank_of(many, i);

        if (!add_is_plain(spec) || (spec->flags & SCHEDQ_POD_ORDER_KEY) != 0 ||
            spec->timestamp_ns != 0 ||
            (batch->statuses != NULL && batch->statuses[i] != SCHEDQ_OK)) {
            return false;
        }
        *sorted = *sorted && rank <= last;
        *top = rank > *top ? rank : *top;
        last = rank;
    }
    return add_takes_plain(queue_of(many->worker), batch->count) &&
           (*sorted || (batch->count <= FEW && !few_resemble(batch)));
}

static schedq_status_t
add_element(struct many *many, size_t element, int64_t key)
{
    struct worker *worker = many->worker;
    const struct add_batch *batch = many->batch;
    const struct hashed_name name = name_in_batch(&queue_of(worker)->base, batch, element);
    schedq_pod_t pod = {0};

    if (element + AHEAD < batch->count && element + AHEAD < BATCH_HASHES) {
        index_prefetch(&queue_of(worker)->index, batch->hashes[element + AHEAD]);
    }
    schedq_status_t status =
        add_next(worker, &name, &batch->items[element].spec, many->now, key, &many->unmarked, &pod);

    if (batch->pods != NULL) {
        batch->pods[element] = pod;
    }
    if (batch->statuses != NULL) {
        batch->statuses[element] = (uint8_t)status;
    }
    many->result->to_active += status == SCHEDQ_OK ? 1 : 0;
    return status;
}

/*
 * Lets pods in, rank by rank from the top down: each pass also finds the next rank. Of a sorted
 * batch one pass lets in all, in the caller's order.
 */
static schedq_status_t
add_straight(struct many *many, bool sorted, int32_t top)
{
    struct worker *worker = many->worker;
    size_t count = many->batch->count, left = count, first = count;
    int64_t key = add_draw_key(worker, many->now);
    schedq_status_t of_first = SCHEDQ_OK;

    worker->last_drawn = key + (int64_t)count - 1;
    while (left > 0) {
        int32_t next = INT32_MIN;

        for (size_t i = 0; i < count; i++) {
            int32_t rank = rank_of(many, i);

            if (!sorted && rank != top) {
                next = rank < top && rank > next ? rank : next;
                continue;
            }
            schedq_status_t status = add_element(many, i, key + (int64_t)i);

            left--;
            if (status != SCHEDQ_OK && i < first) {
                first = i;
                of_first = status;
            }
        }
        top = next;
    }
    add_mark(worker, &many->unmarked);
    if (many->result->to_active != 0) {
        many->result->poppable = 1;
        publish_wake(worker);
    }
    return of_first;
}

/* ---- any other ------------------------------------------------------------------------------- */

static schedq_status_t
admit_element(struct many *many, size_t element)
{
    struct worker *worker = many->worker;
    struct queue *queue = queue_of(worker);
    const schedq_pod_spec_t *spec = &many->batch->items[element].spec;
    const struct hashed_name name = name_in_batch(&queue->base, many->batch, element);
    struct arrival *arrival = &many->arrivals[many->admitted];
    struct index_found present;

    if (queue_is_closed(queue)) {
        return SCHEDQ_CLOSED;
    }
    many->first[element] = same_before(many, element, name.hash);
    if (many->first[element] != 0) {
        many->repeated = true;
        return SCHEDQ_OK; /* what became of the first is not known so far */
    }
    index_prefetch(&queue->index, name.hash);
    arrival->element = element;
    schedq_status_t status =
        add_admit_new(worker, &name, spec, many->now, arrival, &present, many->result);

    if (status == SCHEDQ_OK) {
        many->next[many->admitted] = many->buckets[name.hash & many->bucket_mask];
        many->buckets[name.hash & many->bucket_mask] = (uint32_t)++many->admitted;
    }
    return status;
}

/* sort_numbers's `before`. */
static bool
ranks_before(const void *ctx, uint32_t i, uint32_t j)
{
    const struct many *many = ctx;
    const struct arrival *a = &many->arrivals[i], *b = &many->arrivals[j];
    bool a_joins = a->to.place == PLACE_ASIDE, b_joins = b->to.place == PLACE_ASIDE;

    if (a_joins || b_joins) {
        return a_joins && b_joins ? a->element < b->element : b_joins;
    }
    if (a->rank != b->rank) {
        return a->rank > b->rank;
    }
    return a->key != b->key ? a->key < b->key : a->element < b->element;
}

/*
 * Finds the arrival's band, or its lot, again: it may have been given back while a gate was asked
 * about another pod. False: no memory.
 */
static bool
find_place_again(struct worker *worker, struct arrival *arrival, const schedq_pod_spec_t *spec)
{
    const struct way way = {.place = arrival->to.place, .gate = arrival->to.gate};

    if (place_is_kept(way.place)) {
        return true; /* its bin stays; or there is none */
    }
    if (way.place == PLACE_GATED) {
        const struct view view = {.description = {.flags = spec->flags}, .profile = spec->profile};

        return transfer_find(worker, &view, &way, arrival->to.key, &arrival->to);
    }
    struct band *band = publish_band(worker, spec->priority);

    if (band == NULL) {
        return false;
    }
    /*
     * The band that was found first may be retired, and its successor has another id: the word has
     * to name that one, or no walk takes the pod. The pod is not published so far.
     */
    struct entry *entry = entry_at(&queue_of(worker)->entries, arrival->record);
    uint64_t life = ref_version(arrival->ref), state = entry != NULL ? entry_state(entry) : 0;

    if (state_version(state) == life && state_place(state) == PLACE_ACTIVE &&
        state_band(state) != band->id) {
        (void)u64_cas(&entry->word.low, state, state_make(life, band->id, PLACE_ACTIVE));
    }
    arrival->to.band = band;
    return true;
}

/*
 * Lets an admitted pod in. Its band is marked before the next arrival goes elsewhere, or the
 * section may be left.
 */
static schedq_status_t
enter_arrival(struct many *many, struct arrival *arrival)
{
    struct worker *worker = many->worker;
    const schedq_add_item_t *item = &many->batch->items[arrival->element];
    const schedq_pod_spec_t *spec = &item->spec;
    const struct hashed_name name = {.text = text_of(many, arrival->element),
                                     .length = item->name_length,
                                     .hash = arrival->hash};
    struct index_found present;
    struct view view;

    if (worker->pauses != many->pauses && !find_place_again(worker, arrival, spec)) {
        add_give_up(worker, arrival->ref, arrival->to.place);
        return SCHEDQ_NOMEM;
    }
    if (arrival->to.place != PLACE_ACTIVE || arrival->to.band != many->unmarked) {
        add_mark(worker, &many->unmarked);
    }
    schedq_status_t status = add_enter(worker, arrival, &name, many->result, &present);

    if (status == SCHEDQ_OK) {
        if (many->batch->pods != NULL) {
            many->batch->pods[arrival->element].bits = arrival->ref;
        }
        if (arrival->to.place == PLACE_ACTIVE) {
            many->unmarked = arrival->to.band;
            many->result->to_active++;
            many->result->poppable = 1;
        }
    } else if (status == SCHEDQ_EXISTS) {
        add_mark(many->worker, &many->unmarked);
        (void)add_tell_present(worker, &present, &view);
    }
    return status;
}

/*
 * Sets the statuses of elements whose name an earlier element has: EXISTS if that one got in, else
 * its status.
 */
static void
settle_repeated(struct many *many)
{
    for (size_t i = 0; many->repeated && i < many->batch->count; i++) {
        if (many->first[i] != 0) {
            schedq_status_t first =
                (schedq_status_t)many->statuses[many->arrivals[many->first[i] - 1].element];

            set_status(many, i, first == SCHEDQ_OK ? SCHEDQ_EXISTS : first);
        }
    }
}

static void
enter_next(struct many *many, size_t number)
{
    struct arrival *arrival = &many->arrivals[number];

    set_status(many, arrival->element, enter_arrival(many, arrival));
    many->entered++;
}

/* The best first, then members. From here on next[] is the order in which arrivals go in. */
static void
enter_admitted(struct many *many)
{
    for (size_t i = many->entered; i < many->admitted; i++) {
        many->next[i] = (uint32_t)i;
    }
    sort_numbers(many->next + many->entered, many->admitted - many->entered, ranks_before, many);
    while (many->entered < many->admitted) {
        enter_next(many, many->next[many->entered]);
    }
    add_mark(many->worker, &many->unmarked);
}

static void
add_array(struct many *many)
{
    bool one_by_one = queue_of(many->worker)->base.config.max_bands != 0;

    for (size_t i = 0; i < many->batch->count; i++) {
        many->first[i] = 0;
        if (many->statuses[i] == SCHEDQ_OK) {
            set_status(many, i, admit_element(many, i));
        }
        /* next[] stays: arrivals that come look for their names there */
        if (one_by_one && many->entered < many->admitted) {
            enter_next(many, many->entered);
            add_mark(many->worker, &many->unmarked);
        }
    }
    enter_admitted(many);
    if (many->result->poppable) {
        publish_wake(many->worker);
    }
    settle_repeated(many);
}

static schedq_status_t
first_failure(const struct many *many)
{
    for (size_t i = 0; i < many->batch->count; i++) {
        if (many->statuses[i] != SCHEDQ_OK) {
            return (schedq_status_t)many->statuses[i];
        }
    }
    return SCHEDQ_OK;
}

/* No memory for the work on it: nothing is added. */
static schedq_status_t
refuse_all(const struct add_batch *batch)
{
    for (size_t i = 0; batch->statuses != NULL && i < batch->count; i++) {
        batch->statuses[i] = batch->statuses[i] == SCHEDQ_OK ? SCHEDQ_NOMEM : batch->statuses[i];
    }
    return batch->statuses != NULL ? (schedq_status_t)batch->statuses[0] : SCHEDQ_NOMEM;
}

/* For a batch of one: its result describes the pod, also one that exists. */
static schedq_status_t
add_only(schedq_worker_t *worker, const struct add_batch *batch, schedq_result_t *result)
{
    const schedq_pod_spec_t *spec = &batch->items[0].spec;
    const struct hashed_name name = name_in_batch(worker->queue, batch, 0);
    schedq_status_t status = lockfree_add(worker, &name, spec, result);

    if (batch->pods != NULL && status == SCHEDQ_OK) {
        batch->pods[0] = result->pod;
    }
    if (batch->statuses != NULL) {
        batch->statuses[0] = (uint8_t)status;
    }
    return status;
}

/* Adds a batch that many_open opened. */
static schedq_status_t
add_any(struct many *many)
{
    many->pauses = many->worker->pauses;
    add_array(many);
    schedq_status_t status = first_failure(many);

    give_room(many);
    return status;
}

schedq_status_t
lockfree_add_many(schedq_worker_t *base, const struct add_batch *batch, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct many many = {.worker = worker, .batch = batch, .result = result};
    bool sorted;
    int32_t top;

    if (batch->count == 0) {
        return SCHEDQ_OK;
    }
    if (batch->count == 1 && (batch->statuses == NULL || batch->statuses[0] == SCHEDQ_OK)) {
        return add_only(base, batch, result);
    }
    bool straight = is_straight(&many, &sorted, &top);

    if (!straight && !many_open(&many)) {
        return refuse_all(batch);
    }
    many.now = queue_now(queue_of(worker));
    section_begin(worker);
    queue_sweep(worker);
    schedq_status_t status = straight ? add_straight(&many, sorted, top) : add_any(&many);

    section_end(worker);
    return status;
}
