/*
 * Adding pods.
 *
 * CONTRACT. After OK the pod exists under its name, and pops that begin afterwards look where it
 * is. EXISTS, FULL, NOMEM, CLOSED and RETRY leave nothing of it. Caps are no locks: adds that
 * overlap may pass one together.
 *
 *   admit      caps, a record, a name, an order key; no other thread sees them
 *   insert     the index makes the pod exist (index_insert), or says that the name is there.
 *   publish    its ref goes where pops find it
 *   finish     the index forgets that the pod may be unpublished; this is the full fence
 *   mark       the word of the band; then sleepers
 * A pod that does not become active is marked, and its deadline lowered, before finish; a gated one
 * looks at its gate's stamp there. Several pods: batch.c.
 *
 * LINEARIZATION. OK: commit:A of the index. EXISTS: index_look:C. FULL: the moment between the two
 * sums (records_in_use), or the end of the first look (bands_is_full). CLOSED: the load of
 * `closed`. RETRY: the look at the gate's stamp.
 *
 * ORDERING
 *   fill:A (release), commit:A -> report_record:A, index_look:C
 *       the record is whole, found by its number or by its name
 *   ref, add_complete:A | look_up:A without TENTATIVE, settle_told
 *       a caller that is told of the pod has marked its band
 *   ref, add_complete:A, bin_mark:A | begin_clearing:A, scan (bin.h)
 *       no band that has the ref is cleared
 *   ref, transfer_announce:A, the gate's stamp | stamps, events_announce:A, lots (stamps.c)
 *       no event is missed
 *   ref, transfer_announce:A, mark, deadline_lower:A | deadline_begin:A, looks (deadline.h)
 *       the deadline is not later than the pod's expiry
 *   ref, add_complete:A, publish_wake | sleepers_prepare:A, look (sleepers.c)
 *   ref, transfer_announce:A, publish_wake | sleepers_prepare:A, look
 *       no sleeper misses the pod
 *
 * PROGRESS. Lock-free; admit and insert may allocate. A thread that stops
 *   before insert           holds a record, a name, perhaps a description, which count as taken,
 *                           and one reference to the object, which is released with the queue if
 *                           fill:A was stored; a pod that would wait counts in the word of its
 *                           place, a nomination in that of nominations
 *   from insert to finish   a thread that meets the name in the index publishes the pod once more
 *                           (settle_pod), so no caller is told of a pod that no pop can find; a
 *                           pop between publish and finish takes the pod like any other
 *   from finish to mark     a call that reports the pod marks its band (settle_told)
 *   before it wakes a sleeper   a tick does (serve_upkeep)
 *
 * EVIDENCE. tests/model: index, bin (REPORTER), gate, sleepers; stress/explore: add_one_key,
 * push_pop, find_told, told_add, told_batch, batches, event_gate_add, delete_readd, no_memory_*;
 * stress/history: once; tests/unit/test_add.c, test_batch.c, test_caps.c, test_readd.c,
 * test_no_memory.c.
 */
#include "lockfree/calls/add.h"

#include "lockfree/calls/events.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/settle.h"
#include "lockfree/moves/switch.h"
#include "policy/history.h"
#include "policy/order.h"

/* ---- admitting ------------------------------------------------------------------------------- */

/*
 * Records taken and not given back, at a moment during this call, or fewer: both sums only grow,
 * and what was taken is added up before what was given back, so the difference was true in between,
 * or more. Hence the loads of counts are acquire. Those of pointers and of their number read from
 * slot_worker:A and join:A (workers.c).
 */
static int64_t
records_in_use(const struct queue *queue)
{
    uint64_t taken = 0, given = 0;

    for (uint32_t i = 0; i < queue_counters(queue); i++) {
        const struct worker *worker = queue_counter(queue, i);

        taken += worker != NULL ? u64_load_acquire(&worker->tally.taken) : 0;
    }
    for (uint32_t i = 0; i < queue_counters(queue); i++) {
        const struct worker *worker = queue_counter(queue, i);

        given += worker != NULL ? u64_load_acquire(&worker->tally.given) : 0;
    }
    return (int64_t)(taken - given);
}

static uint32_t
pods_max(const struct queue *queue)
{
    return queue->base.config.max_pods != 0 ? queue->base.config.max_pods : PODS_MAX;
}

/* As long as fewer records exist than pods are allowed, no count is needed. */
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
    worker_say(&worker->base, "pods: there are %u, as many as there may be (max_pods)",
               pods_max(queue));
    return SCHEDQ_FULL;
}

/*
 * [max_bands] Said of all new pods, whatever place they get: one that waits becomes active without
 * being asked.
 */
static schedq_status_t
check_bands(struct worker *worker, int32_t priority)
{
    struct queue *queue = queue_of(worker);
    const struct bin_caller caller = bin_caller(worker);
    uint32_t max = queue->base.config.max_bands;
    schedq_status_t status =
        bands_is_full(&queue->bands, &caller, queue_rank(queue, priority), max);

    if (status == SCHEDQ_FULL) {
        worker_say(&worker->base,
                   "priority %d: active pods have %u other priorities, as many as there may be "
                   "(max_bands)",
                   priority, max);
    }
    return status;
}

static schedq_status_t
find_band(struct worker *worker, int32_t priority, struct band **band)
{
    *band = publish_band(worker, priority);
    if (*band != NULL || !bands_are_out(&queue_of(worker)->bands)) {
        return *band != NULL ? SCHEDQ_OK : SCHEDQ_NOMEM;
    }
    worker_say(&worker->base, "priority %d: there are %u others, as many as there may be", priority,
               BANDS_MAX);
    return SCHEDQ_FULL;
}

/*
 * Of two adds the first of which ended before the second began, the first draws the smaller key.
 * Each reads the clock once in its call. With a fine clock the second reading is larger, and its
 * worker's own last key tells apart only what the worker draws in one reading: a batch, whose keys
 * run ahead of the clock by less than a nanosecond a pod. A clock that repeats readings says
 * nothing of two workers, so there one word gives every key of the queue. Adds that overlap may
 * draw equal keys; then either pod may be popped first.
 *
 * Ends: each failed exchange is another's key. Loaded relaxed: the exchange compares, and is what
 * orders two adds of which one ended before the other began.
 */
int64_t
add_draw_key(struct worker *worker, int64_t now)
{
    struct queue *queue = queue_of(worker);

    if (queue->shares_keys) {
        uint64_t last = u64_load(&queue->last_key);

        for (;;) {
            int64_t key = order_key_next(now, (int64_t)last);
            uint64_t found =
                u64_cas_value(&queue->last_key, last, (uint64_t)key); /* add_draw_key:A */

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
key_of(struct worker *worker, const struct incoming_pod *pod, int64_t now)
{
    const schedq_pod_spec_t *spec = pod->spec;
    bool keeps = pod->history != NULL && queue_of(worker)->base.rules.keep_order;

    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        return spec->order_key;
    }
    int64_t key = spec->timestamp_ns != 0 ? spec->timestamp_ns : add_draw_key(worker, now);

    return keeps ? pod->history->timestamp_ns : key;
}

/* ---- where it goes --------------------------------------------------------------------------- */

/* What the record gets besides the spec. */
struct origin {
    const schedq_history_t *history; /* as it is in the new place */
    schedq_history_t raised;         /* that of a pod that comes back */
    int64_t timestamp, initial_attempt;
    uint64_t unschedulable, pending;
};

static const schedq_history_t no_history;

static void
find_origin(const struct queue *queue, const struct incoming_pod *pod, int64_t now,
            struct origin *origin)
{
    const schedq_pod_spec_t *spec = pod->spec;

    if (pod->history == NULL) {
        origin->history = &no_history;
        origin->timestamp = spec->timestamp_ns != 0 ? spec->timestamp_ns : now;
        origin->initial_attempt = queue->base.rules.attempt_starts_at_add ? origin->timestamp : 0;
        origin->unschedulable = origin->pending = 0;
        return;
    }
    origin->unschedulable = pod->failure->unschedulable;
    origin->pending = pod->failure->pending;
    origin->raised = *pod->history;
    origin->raised.timestamp_ns = now;
    history_count_failure(&origin->raised.rejections, &origin->raised.errors,
                          origin->unschedulable | origin->pending);
    origin->history = &origin->raised;
    origin->timestamp = now;
    origin->initial_attempt = origin->raised.initial_attempt_ns;
}

/* Only pods that wait, or come with a node, need it: the record has all of the others. */
static struct description
describe_arrival(const struct incoming_pod *pod, const struct arrival *arrival)
{
    const schedq_pod_spec_t *spec = pod->spec;

    return (struct description){.object = spec->object,
                                .order_key = arrival->key,
                                .priority = spec->priority,
                                .flags = spec->flags,
                                .described_node = spec->nominated_node};
}

/* Asks the gates, outside of a section. */
static struct way
ask_way(struct worker *worker, const struct incoming_pod *pod, const struct view *view, int64_t now)
{
    struct way way;

    section_pause(worker);
    way = pod->history == NULL ? route_to_active(worker, view)
                               : route_after_backoff(worker, view, now);
    section_resume(worker);
    return way;
}

/* The way of a new pod, of one that comes back, and of what a host says. */
static struct way
choose_way(struct worker *worker, const struct incoming_pod *pod, const struct origin *origin,
           int64_t now)
{
    const struct queue *queue = queue_of(worker);
    bool host = queue->base.rules.host;
    uint8_t gate = pod->history == NULL ? pod->spec->gate : host ? pod->failure->gate : 0;

    if (gate != 0) {
        return (struct way){.place = PLACE_GATED, .gate = gate};
    }
    if (pod->history == NULL && (host || !queue->base.registry.has_gates)) {
        return (struct way){.place = PLACE_ACTIVE};
    }
    if (host) {
        return route_admitted(queue, origin->unschedulable | origin->pending, origin->history,
                              pod->failure->place == SCHEDQ_BACKOFF, now);
    }
    const struct view view = {.description = {.object = pod->spec->object},
                              .history = *origin->history,
                              .unschedulable = origin->unschedulable,
                              .pending = origin->pending,
                              .profile = pod->spec->profile};

    return ask_way(worker, pod, &view, now);
}

/* A host's gate holds only if it heard of no event that the host has not judged. */
static schedq_status_t
check_gate(const struct queue *queue, const struct incoming_pod *pod, uint64_t *judged_up_to,
           schedq_result_t *result)
{
    bool again = pod->history != NULL;
    uint8_t gate = again ? pod->failure->gate : pod->spec->gate;

    if (!queue->base.rules.host || gate == 0) {
        return SCHEDQ_OK;
    }
    *judged_up_to = again ? pod->failure->judged_up_to : pod->spec->judged_up_to;
    if (stamps_newest(&queue->stamps, pod->spec->profile, gate_bit(gate)) <= *judged_up_to) {
        return SCHEDQ_OK;
    }
    result->sequence = stamps_drawn(&queue->stamps);
    return SCHEDQ_RETRY;
}

static bool
enters_nominator(const struct queue *queue, const struct incoming_pod *pod, enum place place)
{
    enum nominate_rule rule = queue->base.rules.nominate;

    if (place == PLACE_ACTIVE && nominate_when_active(rule, pod->label)) {
        return true;
    }
    return rule == NOMINATE_AT_ADD || (rule == NOMINATE_ALWAYS && pod->history != NULL);
}

/* ---- the record ------------------------------------------------------------------------------ */

/*
 * The record has no field for a node: a pod that comes with one begins with a description record.
 */
static bool
describe_node(struct worker *worker, const struct incoming_pod *pod, const struct arrival *arrival,
              uint64_t *desc)
{
    struct queue *queue = queue_of(worker);

    *desc = 0;
    if (pod->spec->nominated_node == 0) {
        return true;
    }
    struct description description = describe_arrival(pod, arrival);

    *desc = description_take(&queue->entries, &worker->descriptions);
    if (*desc == 0) {
        return false;
    }
    description.own_key = (description.flags & SCHEDQ_POD_ORDER_KEY) != 0;
    if (enters_nominator(queue, pod, arrival->to.place) &&
        !describe_first_nomination(worker, arrival->record, ref_version(arrival->ref),
                                   &description)) {
        description_give(&queue->entries, &worker->descriptions, *desc);
        return false;
    }
    description_fill(&queue->entries, *desc, &description, NULL);
    return true;
}

/*
 * The record is this worker's alone, hence relaxed; the last store, a release, makes it ready for
 * the index.
 */
static void
fill(struct worker *worker, const struct arrival *arrival, const struct incoming_pod *pod,
     const struct origin *origin, uint64_t desc, uint32_t name)
{
    const struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, arrival->record);
    const schedq_pod_spec_t *spec = pod->spec;
    const schedq_history_t *history = origin->history;
    uint64_t life = ref_version(arrival->ref);

    u64_store(&entry->life, life);
    u64_store(&entry->word.high, desc);
    u64_store(&entry->object, spec->object);
    time_store(&entry->order_key, arrival->key);
    u64_store(&entry->attributes,
              attributes_pack(spec->priority, spec->name_length, spec->profile, spec->flags));
    u64_store(&entry->name, (uint64_t)arrival->hash << 32 | name);
    u64_store(&entry->unschedulable, origin->unschedulable | gate_bit(arrival->to.gate));
    u64_store(&entry->pending, origin->pending);
    time_store(&entry->timestamp, origin->timestamp);
    time_store(&entry->initial_attempt, origin->initial_attempt);
    u64_store(&entry->attempts_rejections, (uint64_t)history->attempts << 32 | history->rejections);
    u64_store(&entry->errors, history->errors);
    u64_store(&entry->seen, 0);
    u64_store(&entry->flight, stay_word(life, arrival->to.gate));
    u64_store_release(&entry->word.low,
                      state_make(life, arrival->to.place == PLACE_ACTIVE ? arrival->band->id : 0,
                                 /* fill:A, read by report_record:A */
                                 arrival->to.place));
}

/* What the host is told beside the ref. */
static bool
backs_off(const struct worker *worker, const struct way *way, const struct origin *origin,
          int64_t now)
{
    schedq_history_t history = *origin->history;

    history.timestamp_ns = origin->timestamp;
    return route_is_backing_off(queue_of(worker), way->gate, &history, now);
}

static bool
find_way(struct worker *worker, const struct incoming_pod *pod, const struct way *way,
         struct origin *origin, struct arrival *arrival, int64_t now)
{
    const struct rules *rules = &queue_of(worker)->base.rules;

    arrival->cause = way->place == PLACE_GATED && !rules->counts_updates
                         ? CAUSE_NONE
                         : cause_of(pod->label, false);
    if (way->place == PLACE_ACTIVE) {
        arrival->to = (struct destination){.place = PLACE_ACTIVE,
                                           .band = arrival->band,
                                           .bin = &arrival->band->bin,
                                           .key = arrival->key,
                                           .due = SCHEDQ_NO_DEADLINE};
        if (origin->initial_attempt == 0) {
            origin->initial_attempt = now;
        }
        return true;
    }
    arrival->backing_off = rules->host && backs_off(worker, way, origin, now);

    const struct view view = {.description = describe_arrival(pod, arrival),
                              .history = *origin->history,
                              .unschedulable = origin->unschedulable,
                              .pending = origin->pending,
                              .profile = pod->spec->profile};

    return transfer_find(worker, &view, way, rules->gates_see_leftover ? now : origin->timestamp,
                         &arrival->to);
}

static schedq_status_t
take_record(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
            const struct origin *origin, struct arrival *arrival)
{
    struct queue *queue = queue_of(worker);
    uint32_t cell = names_take(&queue->names, &worker->names, name->text, name->length);

    if (cell == 0) {
        return SCHEDQ_NOMEM;
    }
    if (!describe_node(worker, pod, arrival, &arrival->desc)) {
        names_give(&queue->names, &worker->names, cell);
        return SCHEDQ_NOMEM;
    }
    /* before: what the record holds is released when the queue ends */
    object_retain(queue, pod->spec->object);
    fill(worker, arrival, pod, origin, arrival->desc, cell);
    return SCHEDQ_OK;
}

/*
 * Before the record can be read: a call with a guessed handle counts what it does, too.
 */
static void
count_arrival(struct worker *worker, const struct arrival *arrival)
{
    tally_add(&worker->tally.taken, 1);
    switch_enter(worker, arrival->to.place);
}

static void
count_departure(struct worker *worker, enum place place)
{
    switch_leave(worker, place);
    tally_add(&worker->tally.given, 1);
}

schedq_status_t
add_admit(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
          int64_t now, struct arrival *arrival, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct origin origin;
    schedq_status_t status = check_gate(queue, pod, &arrival->judged_up_to, result);

    status = status == SCHEDQ_OK ? check_full(worker) : status;
    if (status == SCHEDQ_OK && queue->base.config.max_bands != 0) {
        status = check_bands(worker, pod->spec->priority);
    }
    if (status != SCHEDQ_OK) {
        return status;
    }
    arrival->rank = queue_rank(queue, pod->spec->priority);
    arrival->record = slab_take(&queue->entries.records, &worker->records);
    if (arrival->record == 0) {
        return SCHEDQ_NOMEM;
    }
    const struct entry *entry = entry_at(&queue->entries, arrival->record);

    arrival->ref =
        ref_make(version_next(state_version(u64_load(&entry->word.low))), arrival->record);
    arrival->key = key_of(worker, pod, now);
    find_origin(queue, pod, now, &origin);
    if (!queue->base.rules.host) {
        arrival->judged_up_to = stamps_drawn(&queue->stamps); /* before the gates are asked */
    }
    const struct way way = choose_way(worker, pod, &origin, now);

    if (way.place == PLACE_ACTIVE) {
        status = find_band(worker, pod->spec->priority, &arrival->band);
    }
    if (status == SCHEDQ_OK && !find_way(worker, pod, &way, &origin, arrival, now)) {
        status = SCHEDQ_NOMEM;
    }
    if (status != SCHEDQ_OK) {
        slab_give(&queue->entries.records, &worker->records, arrival->record);
        return status;
    }
    count_arrival(worker, arrival);
    status = take_record(worker, name, pod, &origin, arrival);
    if (status != SCHEDQ_OK) {
        count_departure(worker, arrival->to.place);
        slab_give(&queue->entries.records, &worker->records, arrival->record);
    }
    return status;
}

/* The pod never existed. */
void
add_give_up(struct worker *worker, const struct arrival *arrival)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, arrival->record);
    const uint64_t life = ref_version(arrival->ref);
    struct description description;
    uint64_t desc, state;

    /*
     * Ends: each further round means that a call with a guessed handle changed the pod. A deleter
     * gave all back, and trim perhaps the page; the holder will. */
    do {
        state = entry != NULL ? entry_state(entry) : 0;
        if (state_place(state) == PLACE_FREE || state_place(state) == PLACE_DEAD ||
            state_place(state) == PLACE_INFLIGHT || u64_load_acquire(&entry->life) != life) {
            return;
        }
        desc = entry_description(&queue->entries, entry, &description);
        /*
         * add_give_up:A. A call that goes through records by number saw the pod, and asks the index
         * (report_exists), or counts.
         */
    } while (!entry_switch(entry, state, desc, state_switched(state, 0, PLACE_FREE)));
    count_departure(worker, state_place(state));
    describe_end(worker, &description);
    description_give(&queue->entries, &worker->descriptions, desc);
    names_give(&queue->names, &worker->names, (uint32_t)u64_load(&entry->name));
    slab_give(&queue->entries.records, &worker->records, arrival->record);
    object_give_back(queue, description.object);
}

/* ---- inserting ------------------------------------------------------------------------------- */

schedq_status_t
add_insert(struct worker *worker, struct arrival *arrival, const struct hashed_name *name,
           struct present *present)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    bool prepared = arrival->to.place == PLACE_ACTIVE
                        ? publish_prepare_key(worker, arrival->band, arrival->key)
                        : transfer_make_room(worker, &arrival->to);
    schedq_status_t status = SCHEDQ_NOMEM;

    if (!prepared) {
        add_give_up(worker, arrival);
        return SCHEDQ_NOMEM;
    }
    switch (index_insert(&queue->index, &caller, name, arrival->record, ref_version(arrival->ref),
                         &arrival->ticket, &present->record, &present->life)) {
    case INDEX_DONE:
        tally_add(&worker->tally.adds, 1);
        switch_count(worker, arrival->to.place, arrival->cause);
        return SCHEDQ_OK;
    case INDEX_EXISTS:
        status = SCHEDQ_EXISTS;
        break;
    case INDEX_NOMEM:
        break;
    }
    add_give_up(worker, arrival);
    return status;
}

/*
 * [host] The pod was there for a moment, and its gate heard of an event. A thread that changed the
 * pod since has to judge it.
 */
static bool
take_back_arrival(struct worker *worker, const struct arrival *arrival)
{
    const struct queue *queue = queue_of(worker);
    const uint64_t life = ref_version(arrival->ref);
    const uint64_t first = state_make(life, 0, PLACE_GATED);
    struct view view;

    if (!report_view(queue, arrival->record, life, &view) || view.state != first ||
        view.desc != arrival->desc ||
        !switch_pod(worker, view.entry, first, arrival->desc, state_switched(first, 0, PLACE_DEAD),
                    CAUSE_NONE)) {
        return false;
    }
    describe_end(worker, &view.description);
    finish_record(worker, arrival->record, view.entry);
    tally_add(&worker->tally.adds, UINT64_MAX);
    return true;
}

static void
report_arrival(const struct queue *queue, const struct arrival *arrival, schedq_result_t *result)
{
    enum place place = arrival->to.place;

    result->pod = entry_handle(arrival->record, ref_version(arrival->ref));
    result->place = (uint8_t)place_public(place);
    result->gate = arrival->to.gate;
    if (queue->base.rules.host && place != PLACE_ACTIVE) {
        result->ref = arrival->ref;
        result->backing_off = arrival->backing_off;
    }
    transfer_report(place, result);
    result->poppable |= transfer_is_poppable(queue, place) ? 1 : 0;
}

static bool
gate_heard(const struct queue *queue, const struct arrival *arrival)
{
    return arrival->to.place == PLACE_GATED &&
           stamps_newest(&queue->stamps, arrival->profile, gate_bit(arrival->to.gate)) >
               arrival->judged_up_to;
}

/*
 * A pod that does not become active: all that time and events need is done, or owed, before the
 * name is finished. So a call that reports the pod before settles it, and a later one finds it
 * settled.
 */
static schedq_status_t
complete_waiting(struct worker *worker, const struct arrival *arrival, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);

    transfer_announce(worker, &arrival->to, arrival->ref, CAUSE_NONE);
    bool heard = gate_heard(queue, arrival);
    bool asks = heard && !queue->base.rules.host;

    if (asks) {
        /* If the adder stops in between, a tick asks. */
        u64_store(&worker->owed, ref_make(ref_version(arrival->ref), arrival->record));
    }
    index_finish(&arrival->ticket); /* before the gate is asked: the ticket is of this section */
    if (asks) {
        events_help_placed(worker, arrival->record, ref_version(arrival->ref));
    }
    report_arrival(queue, arrival, result);
    if (!heard || !queue->base.rules.host) {
        return SCHEDQ_OK;
    }
    result->sequence = stamps_drawn(&queue->stamps);
    return take_back_arrival(worker, arrival) ? SCHEDQ_RETRY : SCHEDQ_OK;
}

/* After its insertion another thread may hold the pod: its record is not read here. */
schedq_status_t
add_complete(struct worker *worker, const struct arrival *arrival, schedq_result_t *result)
{
    if (arrival->to.place != PLACE_ACTIVE) {
        return complete_waiting(worker, arrival, result);
    }
    const struct placing placing = {.ref = arrival->ref, .key = arrival->key};

    publish_ref(worker, &arrival->band->bin, &placing);
    index_finish(&arrival->ticket);      /* add_complete:A, a full fence behind the publication */
    (void)bin_mark(&arrival->band->bin); /* not retired: this call found it (band.h) */
    report_arrival(queue_of(worker), arrival, result);
    return SCHEDQ_OK;
}

/* ---- one pod --------------------------------------------------------------------------------- */

/*
 * With a caller's clock a key is drawn only for a pod that gets in, so that equal calls draw equal
 * keys; and gates are asked about no other. */
bool
add_looks_first(const struct queue *queue, const schedq_pod_spec_t *spec)
{
    return queue->shares_keys || may_be_full(queue) || queue->base.registry.has_gates ||
           spec->gate != 0;
}

/* Before EXISTS is said. False: the pod is over by now. */
bool
add_tell_present(struct worker *worker, const struct present *present, struct view *view)
{
    /* Ends: each further round means that the pod changed. */
    while (report_view(queue_of(worker), present->record, present->life, view)) {
        if (settle_told(worker, present->record, view)) {
            return true;
        }
    }
    return false;
}

/* Is there a pod of this name? Then *present is it, and pops look where it is. */
bool
add_is_present(struct worker *worker, const struct hashed_name *name, struct present *present)
{
    const struct index_caller caller = index_caller(worker);
    struct view view;

    /* Ends: each further round means that a pod ended. */
    do {
        present->record = index_find(&queue_of(worker)->index, &caller, name, &present->life);
    } while (present->record != 0 && !add_tell_present(worker, present, &view));
    return present->record != 0;
}

schedq_status_t
add_one(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
        schedq_result_t *result, struct present *present)
{
    struct queue *queue = queue_of(worker);
    const schedq_pod_spec_t *spec = pod->spec;
    struct arrival arrival;

    if (queue_is_closed(queue)) {
        return SCHEDQ_CLOSED;
    }
    index_prefetch(&queue->index, name->hash);
    int64_t now = queue_now(queue);

    if (add_looks_first(queue, spec) && add_is_present(worker, name, present)) {
        return SCHEDQ_EXISTS;
    }
    arrival.hash = name->hash;
    arrival.profile = spec->profile;
    schedq_status_t status = add_admit(worker, name, pod, now, &arrival, result);

    if (status != SCHEDQ_OK) {
        return add_is_present(worker, name, present) ? SCHEDQ_EXISTS : status;
    }
    status = add_insert(worker, &arrival, name, present);
    if (status == SCHEDQ_OK) {
        result->object = spec->object;
        result->timestamp_ns =
            pod->history == NULL && spec->timestamp_ns != 0 ? spec->timestamp_ns : now;
        status = add_complete(worker, &arrival, result);
    }
    if (result->poppable) {
        publish_wake(worker);
    }
    return status;
}

/* A pod that exists may be gone by the time it is described: then the add is tried again. */
schedq_status_t
lockfree_add(schedq_worker_t *base, const struct hashed_name *name, const schedq_pod_spec_t *spec,
             schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    const struct incoming_pod pod = {.spec = spec, .label = LABEL_POD_ADD};
    schedq_status_t status;
    struct view view;
    struct present present;

    section_begin(worker);
    queue_sweep(worker);
    /* Ends: each further round means that a pod of this name ended. */
    do {
        status = add_one(worker, name, &pod, result, &present);
    } while (status == SCHEDQ_EXISTS && !add_tell_present(worker, &present, &view));
    if (status == SCHEDQ_EXISTS) {
        report_pod(queue_of(worker), present.record, &view, result);
    }
    section_end(worker);
    return status;
}
