/*
 * Adding pods.
 *
 * CONTRACT. After OK the pod exists under its name, and pops that begin afterwards look where it
 * is. After EXISTS, FULL, NOMEM, CLOSED and RETRY the queue keeps nothing of the new pod. A cap is
 * checked without a lock: adds that overlap may exceed it together.
 *
 *   admit      caps, a record, a name, an order key; no other thread sees them
 *   insert     the index makes the pod exist (index_insert), or says that the name is there.
 *   publish    its ref goes where pops find it
 *   finish     the index forgets that the pod may be unpublished; this is the full fence
 *   mark       the word of the band; then sleepers
 * For a pod that does not become active the adder marks the bin and lowers the deadline before
 * finish; for a gated one it looks at the gate's stamp there too. Several pods: batch.c.
 *
 * LINEARIZATION. OK: commit:A of the index. EXISTS: index_look:C. FULL: the moment between the two
 * sums (records_in_use), or the end of the first look (bands_is_full). CLOSED: the load of
 * `closed`. RETRY: the look at the gate's stamp.
 *
 * ORDERING
 *   fill:A (release), commit:A -> report_record:A, index_look:C
 *       a reader that finds the record, by its number or by its name, finds it whole
 *   ref, let_in:A | look_up:A without TENTATIVE, settle_told
 *       a caller that is told of the pod has marked its band
 *   ref, let_in:A, band_mark:A | summary_doubt:A, scan (bin.h)
 *       no band that has the ref is cleared
 *   ref, transfer_announce:A, the gate's stamp | stamps, announce:A, lots (stamps.c)
 *       no event is missed
 *   ref, transfer_announce:A, mark, deadline_lower:A | deadline_begin:A, looks (deadline.h)
 *       the deadline is not later than the pod's expiry
 *   ref, let_in:A, publish_wake | sleepers_prepare:A, look (sleepers.c)
 *   ref, transfer_announce:A, publish_wake | sleepers_prepare:A, look
 *       no sleeper misses the pod
 *
 * PROGRESS. Lock-free; admit and insert may allocate. A thread that stops
 *   before insert           holds a record, a name, perhaps a description, which count as taken,
 *                           and one reference to the object, which is released with the queue if
 *                           fill:A was stored; if the pod was to wait, the word of its place counts
 *                           it; a nomination counts in the word of nominations
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
#include "lockfree/index/index_direct.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/settle.h"
#include "lockfree/moves/switch.h"
#include "policy/history.h"
#include "policy/order.h"

/* ---- admitting ------------------------------------------------------------------------------- */

/*
 * No more than the records that were in use at the moment between the two loops. Both sums only
 * grow: what the first loop reads was taken before that moment, and what was given back by then is
 * among what the second loop reads. So FULL is right at that moment. The loads of counts are
 * acquire to keep this order. Those of pointers and of their number read from slot_worker:A and
 * join:A (workers.c).
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
    return (int64_t)(taken - given - u64_load_acquire(&queue->guests.given));
}

uint32_t
add_pods_max(const struct queue *queue)
{
    return queue->base.config.max_pods != 0 ? queue->base.config.max_pods : PODS_MAX;
}

/* As long as fewer records exist than pods are allowed, no count is needed. */
static inline bool
may_be_full(const struct queue *queue)
{
    return slab_made(&queue->entries.records) >= add_pods_max(queue);
}

static schedq_status_t
check_pods(struct worker *worker)
{
    const struct queue *queue = queue_of(worker);

    if (records_in_use(queue) < add_pods_max(queue)) {
        return SCHEDQ_OK;
    }
    worker_say(&worker->base, "pods: there are %u, as many as there may be (max_pods)",
               add_pods_max(queue));
    return SCHEDQ_FULL;
}

/*
 * [max_bands] Checked for each new pod, whatever place it gets: it is not checked again when a
 * waiting pod becomes active.
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

schedq_status_t
add_check_pods(struct worker *worker)
{
    return may_be_full(queue_of(worker)) ? check_pods(worker) : SCHEDQ_OK;
}

COLD static schedq_status_t
check_bounds(struct worker *worker, int32_t priority)
{
    const struct queue *queue = queue_of(worker);
    schedq_status_t status = add_check_pods(worker);

    return status == SCHEDQ_OK && queue->base.config.max_bands != 0 ? check_bands(worker, priority)
                                                                    : status;
}

/* Why there is no band. */
COLD static schedq_status_t
say_no_band(struct worker *worker, int32_t priority)
{
    if (!bands_are_out(&queue_of(worker)->bands)) {
        return SCHEDQ_NOMEM;
    }
    worker_say(&worker->base, "priority %d: there are %u others, as many as there may be", priority,
               BANDS_MAX);
    return SCHEDQ_FULL;
}

/*
 * An add that ended before another one began has drawn the smaller key. Each add reads the clock
 * once. With a fine clock the second reading is larger. A worker's own last key then tells apart
 * only the keys that it draws from one reading: those of a batch, which run ahead of the clock by
 * less than a nanosecond a pod. A clock that repeats readings does not order the adds of two
 * workers, so there one word gives every key of the queue. Adds that overlap may draw equal keys;
 * then either pod may be popped first.
 *
 * Ends: each failed exchange means that another thread drew a key. The load is relaxed: the
 * exchange compares, and orders two adds of which one ended before the other began.
 */
static int64_t
draw_shared_key(struct worker *worker, int64_t now)
{
    struct queue *queue = queue_of(worker);
    uint64_t last = u64_load(&queue->last_key);
    int64_t key;

    do {
        key = order_key_next(now, (int64_t)last);
        /* draw_shared_key:A */
    } while (!u64_swing(&queue->last_key, &last, (uint64_t)key));
    return key;
}

static inline int64_t
draw_order_key(struct worker *worker, int64_t now)
{
    worker->last_drawn = queue_of(worker)->shares_keys ? draw_shared_key(worker, now)
                                                       : order_key_next(now, worker->last_drawn);
    return worker->last_drawn;
}

int64_t
add_draw_key(struct worker *worker, int64_t now)
{
    return draw_order_key(worker, now);
}

static inline int64_t
key_of(struct worker *worker, const struct incoming_pod *pod, int64_t now)
{
    const schedq_pod_spec_t *spec = pod->spec;

    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        return spec->order_key;
    }
    if (pod->history != NULL) { /* its Timestamp becomes now, whatever the spec says */
        return queue_of(worker)->base.rules.keep_order ? pod->history->timestamp_ns
                                                       : draw_order_key(worker, now);
    }
    return spec->timestamp_ns != 0 ? spec->timestamp_ns : draw_order_key(worker, now);
}

/* ---- where it goes --------------------------------------------------------------------------- */

/* What is stored in the record besides the spec, packed as its fields are. */
struct origin {
    int64_t timestamp, initial_attempt;
    uint64_t unschedulable, pending;
    uint64_t attempts_rejections;
    uint32_t errors;
};

/*
 * Returns the pod's history as it is in its new place, and fills in *origin if the pod comes back.
 */
static schedq_history_t
find_origin(const struct incoming_pod *pod, int64_t now, struct origin *origin)
{
    schedq_history_t history = {.timestamp_ns = origin->timestamp};

    if (pod->history != NULL) {
        origin->unschedulable = pod->failure->unschedulable;
        origin->pending = pod->failure->pending;
        history = *pod->history;
        history.timestamp_ns = now;
        history_count_failure(&history.rejections, &history.errors,
                              origin->unschedulable | origin->pending);
        origin->attempts_rejections = (uint64_t)history.attempts << 32 | history.rejections;
        origin->errors = history.errors;
        origin->timestamp = now;
        origin->initial_attempt = history.initial_attempt_ns;
    }
    return history;
}

/* Used for pods that wait, or come with what the record has no field for (needs_description). */
static struct description
describe_arrival(const struct incoming_pod *pod, const struct arrival *arrival)
{
    const schedq_pod_spec_t *spec = pod->spec;

    return (struct description){.object = spec->object,
                                .order_key = arrival->key,
                                .priority = spec->priority,
                                .flags = spec->flags,
                                .marks = (spec->not_before_ns != 0 ? MARK_NOT_BEFORE : 0) |
                                         (spec->label != 0 ? MARK_LABEL : 0) |
                                         (spec->group != 0 ? MARK_MEMBER : 0),
                                .described_node = spec->nominated_node,
                                .not_before = spec->not_before_ns,
                                .label = spec->label,
                                .group = spec->group};
}

/* Asks the gates, outside of a section. */
static struct way
ask_way(struct worker *worker, const struct incoming_pod *pod, const struct view *view, int64_t now)
{
    struct way way;

    section_pause(worker);
    way = pod->history == NULL ? route_to_active(worker, view)
                               : route_by_strategy(worker, view, STRATEGY_AFTER_BACKOFF, now);
    section_resume(worker);
    return way;
}

/* The way of a pod that comes back, that may have a gate, or that a host decides about. */
static struct way
choose_way(struct worker *worker, const struct incoming_pod *pod, const struct view *view,
           int64_t now)
{
    const struct queue *queue = queue_of(worker);
    bool host = queue->base.rules.host;
    uint8_t gate = pod->history == NULL ? pod->spec->gate : host ? pod->failure->gate : 0;

    if (gate != 0) {
        return (struct way){.place = PLACE_GATED, .gate = gate};
    }
    if (!host) {
        return ask_way(worker, pod, view, now);
    }
    bool backoff = pod->failure->place == SCHEDQ_BACKOFF;
    struct way way =
        route_admitted(queue, view->unschedulable | view->pending, &view->history, backoff, now);

    route_name(queue, backoff, &way);
    return way;
}

/* The gate that a host names holds only if each event that stamped it was judged by the host. */
COLD static schedq_status_t
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
    return nominate_when_admitted(rule, pod->history != NULL) ||
           (rule == NOMINATE_ALWAYS && pod->history != NULL);
}

/* ---- the record ------------------------------------------------------------------------------ */

/*
 * Does the spec say what the record has no field for? Then the pod begins with a description
 * record.
 */
static inline bool
needs_description(const schedq_pod_spec_t *spec)
{
    return (spec->nominated_node | (uint64_t)spec->not_before_ns | spec->label | spec->group |
            spec->class_id) != 0;
}

/*
 * Called before the pod exists, so that a reader of this key (a label, a group) finds all pods that
 * have it. False: no memory.
 */
STRAIGHT bool
enter_under(struct worker *worker, struct nominator *nominator, uint64_t key,
            const struct arrival *arrival)
{
    return nominator_make(nominator) &&
           nominator_insert(nominator, worker->epoch, key, arrival->record,
                            ref_version(arrival->ref), 0);
}

COLD static bool
describe_more(struct worker *worker, const struct incoming_pod *pod, struct arrival *arrival)
{
    struct queue *queue = queue_of(worker);
    struct description description = describe_arrival(pod, arrival);

    description.marks |= (description.flags & SCHEDQ_POD_ORDER_KEY) != 0 ? MARK_OWN_KEY : 0;
    if (pod->spec->class_id != 0) {
        description_set_class(&description, pod->spec->class_id);
    }
    arrival->group = pod->spec->group;
    if (pod->spec->label != 0 && !enter_under(worker, &queue->labels, pod->spec->label, arrival)) {
        return false;
    }
    if (pod->spec->group != 0 && !enter_under(worker, &queue->members, pod->spec->group, arrival)) {
        return false;
    }
    if (description.described_node != 0 && enters_nominator(queue, pod, arrival->to.place) &&
        !describe_nominate(worker, arrival->record, ref_version(arrival->ref), &description,
                           &description)) {
        return false;
    }
    arrival->desc = description_make(&queue->entries, &worker->descriptions, &description, NULL);
    if (arrival->desc == 0) {
        describe_end(worker, &description);
        return false;
    }
    describe_life(queue, arrival->ref, pod->spec->label, pod->spec->group);
    return true;
}

/*
 * The record is this worker's alone, hence relaxed; the last store, a release, makes it ready for
 * the index.
 */
static inline void
fill(struct entry *entry, const struct arrival *arrival, const struct hashed_name *name,
     const schedq_pod_spec_t *spec, const struct origin *origin, uint32_t cell)
{
    uint64_t life = ref_version(arrival->ref);
    bool active = arrival->to.place == PLACE_ACTIVE;

    u64_store(&entry->life, life);
    u64_store(&entry->word.high, arrival->desc);
    u64_store(&entry->object, spec->object);
    time_store(&entry->order_key, arrival->key);
    u64_store(&entry->attributes, attributes_pack(spec->priority, name->length, spec->profile,
                                                  spec->flags & POD_FLAGS));
    u64_store(&entry->name, (uint64_t)arrival->hash << 32 | cell);
    u64_store(&entry->unschedulable, origin->unschedulable | gate_bit(arrival->to.gate));
    u64_store(&entry->pending, origin->pending);
    time_store(&entry->timestamp, origin->timestamp);
    time_store(&entry->initial_attempt, origin->initial_attempt);
    u64_store(&entry->attempts_rejections, origin->attempts_rejections);
    u32_store(&entry->errors, origin->errors);
    u32_store(&entry->freed, 0);
    u64_store(&entry->seen, 0);
    u64_store(&entry->flight, stay_word(life, arrival->to.gate));
    u64_store_release(&entry->word.low, /* fill:A, read by report_record:A */
                      state_make(life, active ? arrival->to.band->id : 0, arrival->to.place));
}

/* May so many pods be taken without asking a gate, and without counting records first? */
STRAIGHT bool
takes_plain(const struct queue *queue, size_t count)
{
    return !queue->base.registry.has_gates &&
           slab_made(&queue->entries.records) + count <= queue->plain_max;
}

bool
add_takes_plain(const struct queue *queue, size_t count)
{
    return takes_plain(queue, count);
}

/*
 * Nearly all pods are plain: new, without a node, in a queue that takes them as they are. The steps
 * below are compiled twice, once for plain pods alone: there a pod's place is known when this is
 * compiled.
 */
STRAIGHT bool
is_plain(const struct queue *queue, const struct incoming_pod *pod)
{
    return pod->history == NULL && add_is_plain(pod->spec) && takes_plain(queue, 1);
}

/*
 * Checks of a pod that is not plain: its name, the gate that a host names, the bounds. With a
 * caller's clock a key is drawn only for a pod that gets in, so that equal calls draw equal keys;
 * and gates are asked only about a pod that gets in. So the name is looked for first.
 */
static schedq_status_t
check_first(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
            struct arrival *arrival, struct index_found *present, schedq_result_t *result)
{
    const struct queue *queue = queue_of(worker);
    bool looks = queue->shares_keys || may_be_full(queue) || queue->base.registry.has_gates ||
                 pod->spec->gate != 0;

    if (looks && add_is_present(worker, name, present)) {
        return SCHEDQ_EXISTS;
    }
    schedq_status_t status = check_gate(queue, pod, &arrival->judged_up_to, result);

    return status == SCHEDQ_OK ? check_bounds(worker, pod->spec->priority) : status;
}

STRAIGHT schedq_status_t
go_straight(struct worker *worker, const struct incoming_pod *pod, int64_t now,
            struct origin *origin, struct arrival *arrival)
{
    int32_t priority = pod->spec->priority;

    arrival->to.place = PLACE_ACTIVE;
    arrival->to.gate = 0;
    arrival->to.band = publish_band(worker, priority);
    if (origin->initial_attempt == 0) {
        origin->initial_attempt = now;
    }
    return arrival->to.band != NULL ? SCHEDQ_OK : say_no_band(worker, priority);
}

/* Finds where the pod goes. */
static schedq_status_t
find_way(struct worker *worker, const struct incoming_pod *pod, int64_t now, struct origin *origin,
         struct arrival *arrival)
{
    struct queue *queue = queue_of(worker);
    const struct rules *rules = &queue->base.rules;

    bool held = pod->spec->not_before_ns > now;

    bool aside = pod->spec->group != 0;

    if (!held && !aside && pod->history == NULL && pod->spec->gate == 0 &&
        (rules->host || !queue->base.registry.has_gates)) {
        return go_straight(worker, pod, now, origin, arrival);
    }
    struct view view = {.description = describe_arrival(pod, arrival),
                        .history = find_origin(pod, now, origin),
                        .unschedulable = origin->unschedulable,
                        .pending = origin->pending,
                        .profile = pod->spec->profile};

    if (!rules->host) {
        arrival->judged_up_to = stamps_drawn(&queue->stamps); /* before the gates are asked */
    }
    const struct way way = held    ? (struct way){.place = PLACE_HELD}
                           : aside ? (struct way){.place = PLACE_ASIDE}
                                   : choose_way(worker, pod, &view, now);

    arrival->cause |= way.named ? CAUSE_NAMED : 0;
    if (way.place == PLACE_ACTIVE) {
        return go_straight(worker, pod, now, origin, arrival);
    }
    if (held || aside || (way.place == PLACE_GATED && !rules->counts_updates)) {
        arrival->cause = CAUSE_NONE;
    }
    arrival->backing_off =
        rules->host && !held && !aside && route_is_backing_off(queue, way.gate, &view.history, now);
    return transfer_find(worker, &view, &way, rules->gates_see_leftover ? now : origin->timestamp,
                         &arrival->to)
               ? SCHEDQ_OK
               : SCHEDQ_NOMEM;
}

/*
 * Counts the pod before its record can be read: a call with a guessed handle may find the record
 * then, and counts what it does to the pod. An active pod is counted when it is published (let_in).
 */
static inline void
count_arrival(struct worker *worker, const struct arrival *arrival)
{
    tally_add(&worker->tally.taken, 1);
    switch_announce(worker, arrival->to.place);
}

/* Fills the record, whose number, version and way are known. */
STRAIGHT schedq_status_t
fill_record(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
            bool plain, const struct origin *origin, struct entry *entry, struct arrival *arrival)
{
    struct queue *queue = queue_of(worker);
    uint32_t cell = entry_keep_name(&queue->names, &worker->names, entry, arrival->record,
                                    name->text, name->length);

    if (cell == 0) {
        return SCHEDQ_NOMEM;
    }
    arrival->desc = 0;
    if (!plain && needs_description(pod->spec) && !describe_more(worker, pod, arrival)) {
        names_give(&queue->names, &worker->names, cell);
        return SCHEDQ_NOMEM;
    }
    count_arrival(worker, arrival);
    /* before fill: when the queue ends, it releases the object of each filled record */
    object_retain(queue, pod->spec->object);
    fill(entry, arrival, name, pod->spec, origin, cell);
    return SCHEDQ_OK;
}

/*
 * Nothing is admitted. If there is a pod of this name, the answer is EXISTS, whatever else was in
 * the way. Hints may name the record's next life already, so that version is skipped: no pod gets
 * it (nominator.h, LABELS).
 */
COLD static schedq_status_t
refuse(struct worker *worker, const struct hashed_name *name, schedq_status_t status,
       uint32_t record, struct index_found *present)
{
    struct entries *entries = &queue_of(worker)->entries;

    if (record != 0) {
        struct entry *entry = entry_at(entries, record);

        u64_store_release(&entry->word.low, state_switched(entry_state(entry), 0, PLACE_FREE));
        slab_give(&entries->records, &worker->records, record);
    }
    return status == SCHEDQ_EXISTS || add_is_present(worker, name, present) ? SCHEDQ_EXISTS
                                                                            : status;
}

/* False: *status says why not. `key` NULL: it is drawn. */
STRAIGHT bool
admit(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
      bool plain, int64_t now, const int64_t *key, struct arrival *arrival,
      struct index_found *present, schedq_result_t *result, schedq_status_t *status)
{
    struct queue *queue = queue_of(worker);
    const schedq_pod_spec_t *spec = pod->spec;
    uint32_t record = 0;
    void *memory;

    *status = plain ? SCHEDQ_OK : check_first(worker, name, pod, arrival, present, result);
    if (*status == SCHEDQ_OK) {
        record = slab_take_known(&queue->entries.records, &worker->records, RECORD_LAYOUT, &memory);
        *status = record != 0 ? SCHEDQ_OK : SCHEDQ_NOMEM;
    }
    if (*status != SCHEDQ_OK) {
        *status = refuse(worker, name, *status, 0, present);
        return false;
    }
    struct entry *entry = memory;
    int64_t timestamp = spec->timestamp_ns != 0 ? spec->timestamp_ns : now;
    struct origin origin = {.timestamp = timestamp,
                            .initial_attempt =
                                queue->base.rules.attempt_starts_at_add ? timestamp : 0};

    arrival->record = record;
    arrival->hash = name->hash;
    arrival->ref = ref_make(version_next(state_version(u64_load(&entry->word.low))), record);
    arrival->key = key != NULL ? *key : key_of(worker, pod, now);
    arrival->rank = queue_rank(queue, spec->priority);
    arrival->profile = spec->profile;
    arrival->cause = cause_of(pod->label, false);
    *status = plain ? go_straight(worker, pod, now, &origin, arrival)
                    : find_way(worker, pod, now, &origin, arrival);
    if (*status == SCHEDQ_OK) {
        *status = fill_record(worker, name, pod, plain, &origin, entry, arrival);
    }
    if (*status != SCHEDQ_OK) {
        *status = refuse(worker, name, *status, record, present);
        return false;
    }
    return true;
}

schedq_status_t
add_admit(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
          int64_t now, struct arrival *arrival, struct index_found *present,
          schedq_result_t *result)
{
    schedq_status_t status;

    return admit(worker, name, pod, false, now, NULL, arrival, present, result, &status) ? SCHEDQ_OK
                                                                                         : status;
}

schedq_status_t
add_admit_new(struct worker *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
              int64_t now, struct arrival *arrival, struct index_found *present,
              schedq_result_t *result)
{
    const struct incoming_pod pod = {.spec = spec, .label = LABEL_POD_ADD};
    schedq_status_t status;

    if (!is_plain(queue_of(worker), &pod)) {
        const struct incoming_pod other = pod;

        return add_admit(worker, name, &other, now, arrival, present, result);
    }
    return admit(worker, name, &pod, true, now, NULL, arrival, present, result, &status) ? SCHEDQ_OK
                                                                                         : status;
}

/* Counts the pod as having come, behind the count of its leaving: the two cancel out. */
static void
count_late(struct worker *worker, enum place place)
{
    if (place == PLACE_ACTIVE) {
        switch_enter(worker, PLACE_ACTIVE);
    }
}

/* The pod never existed. */
COLD void
add_give_up(struct worker *worker, uint64_t ref, enum place place)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, ref_record(ref));
    const uint64_t life = ref_version(ref);
    struct description description;
    uint64_t desc, state;

    /*
     * Ends: each further round means that a call with a guessed handle changed the pod. If such a
     * call deleted the pod, it gave everything back, and trim perhaps the page. If it popped the
     * pod, the holder gives all back.
     */
    do {
        state = entry != NULL ? entry_state(entry) : 0;
        if (state_place(state) == PLACE_FREE || state_place(state) == PLACE_DEAD ||
            state_place(state) == PLACE_INFLIGHT || u64_load_acquire(&entry->life) != life) {
            count_late(worker, place);
            return;
        }
        desc = entry_description(&queue->entries, entry, &description);
        /*
         * add_give_up:A. A call that goes through records by number may have seen the pod: it asks
         * the index whether the pod exists (report_exists), or only counts.
         */
    } while (!entry_switch(entry, state, desc, state_switched(state, 0, PLACE_FREE)));
    switch_leave(worker, state_place(state));
    count_late(worker, place);
    tally_add(&worker->tally.given, 1);
    describe_end(worker, &description);
    describe_life_end(queue, worker->epoch, ref, description_label(&description),
                      description_group(&description));
    description_give(&queue->entries, &worker->descriptions, desc);
    names_give(&queue->names, &worker->names, (uint32_t)u64_load(&entry->name));
    slab_give(&queue->entries.records, &worker->records, ref_record(ref));
    object_give_back(queue, description.object);
}

/* ---- inserting ------------------------------------------------------------------------------- */

COLD static enum index_answer
insert_in_rounds(struct worker *worker, const struct hashed_name *name, struct index_ticket *ticket,
                 struct index_found *present)
{
    const struct index_caller caller = index_caller(worker);

    return index_insert_in_rounds(&queue_of(worker)->index, &caller, name, ticket, present);
}

/* Makes room for a pod that does not become active. */
RARELY static bool
prepare_elsewhere(struct worker *worker, const struct arrival *arrival)
{
    return transfer_make_room(worker, &arrival->to);
}

/* *lane: where an active pod goes; it was prepared. */
STRAIGHT schedq_status_t
insert(struct worker *worker, const struct arrival *arrival, const struct hashed_name *name,
       bool active, struct lane **lane, struct index_ticket *ticket, struct index_found *present)
{
    struct index *index = &queue_of(worker)->index;
    const enum place place = active ? PLACE_ACTIVE : arrival->to.place;
    enum index_answer answer = INDEX_DONE;

    *lane = active ? publish_prepare_key(worker, arrival->to.band, arrival->key) : NULL;
    if (active ? *lane == NULL : !prepare_elsewhere(worker, arrival)) {
        answer = INDEX_NOMEM;
    } else if (!active) {
        const struct index_caller caller = index_caller(worker);

        answer = index_insert(index, &caller, name, arrival->ref, ticket, present);
    } else if (!index_insert_directly(index, name->hash, arrival->ref, ticket)) {
        struct index_ticket begun = *ticket; /* a copy: the caller's ticket needs no address */

        answer = insert_in_rounds(worker, name, &begun, present);
        *ticket = begun;
    }
    if (answer != INDEX_DONE) {
        add_give_up(worker, arrival->ref, place);
        return answer == INDEX_EXISTS ? SCHEDQ_EXISTS : SCHEDQ_NOMEM;
    }
    tally_add(&worker->tally.adds, 1);
    switch_count(worker, place, arrival->cause);
    probe_add(queue_of(worker), arrival->ref, name->text, name->length);
    return SCHEDQ_OK;
}

/*
 * [host] Takes the pod back, because its gate heard of an event. False: another thread changed the
 * pod since; that thread has to judge it.
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
report_waiting(const struct queue *queue, const struct arrival *arrival, schedq_result_t *result)
{
    enum place place = arrival->to.place;

    result->pod = entry_handle(arrival->record, ref_version(arrival->ref));
    result->place = (uint8_t)place_public(place);
    result->gate = arrival->to.gate;
    if (queue->base.rules.host && !place_is_kept(place)) {
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
 * Completes a pod that does not become active: all that time and events need is done, or noted as
 * owed, before index_finish. So a call that reports the pod before that settles it, and a later
 * call finds it settled.
 */
COLD static schedq_status_t
complete_waiting(struct worker *worker, const struct arrival *arrival,
                 const struct index_ticket *ticket, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);

    transfer_announce(worker, &arrival->to, arrival->ref, CAUSE_NONE, false);
    bool heard = gate_heard(queue, arrival);
    bool asks = heard && !queue->base.rules.host;

    if (asks) {
        /* If the adder stops in between, a tick asks the gate. */
        u64_store(&worker->owed, ref_make(ref_version(arrival->ref), arrival->record));
    }
    index_finish(ticket); /* before the gate is asked: the ticket is of this section */
    if (asks) {
        events_help_placed(worker, arrival->record, ref_version(arrival->ref));
    } else if (heard) {
        uint64_t sequence = stamps_drawn(&queue->stamps);

        if (take_back_arrival(worker, arrival)) {
            result->sequence = sequence;
            return SCHEDQ_RETRY;
        }
    }
    report_waiting(queue, arrival, result);
    return SCHEDQ_OK;
}

/* The pod joins its group. May leave the section. */
COLD static schedq_status_t
let_member_in(struct worker *worker, const struct arrival *arrival, const struct hashed_name *name,
              schedq_result_t *result, struct index_found *present)
{
    struct index_ticket ticket;
    struct lane *lane;
    uint64_t counted = gather_announce(worker, arrival->group);
    schedq_status_t status = insert(worker, arrival, name, false, &lane, &ticket, present);

    if (status != SCHEDQ_OK) {
        gather_withdraw(worker, arrival->group, counted);
        return status;
    }
    index_finish(&ticket);
    report_waiting(queue_of(worker), arrival, result);
    gather_joined(worker, arrival->group, counted,
                  entry_handle(arrival->record, ref_version(arrival->ref)), result);
    return SCHEDQ_OK;
}

/*
 * After its insertion another thread may hold the pod, so its record is not read here. For an
 * active pod the caller still has to mark the band and to write the result.
 */
STRAIGHT schedq_status_t
let_in(struct worker *worker, const struct arrival *arrival, const struct hashed_name *name,
       bool active, schedq_result_t *result, struct index_found *present)
{
    struct index_ticket ticket;
    struct lane *lane;

    if (!active && arrival->to.place == PLACE_ASIDE) {
        return let_member_in(worker, arrival, name, result, present);
    }
    schedq_status_t status = insert(worker, arrival, name, active, &lane, &ticket, present);

    if (status != SCHEDQ_OK || !active) {
        return status != SCHEDQ_OK ? status : complete_waiting(worker, arrival, &ticket, result);
    }
    publish_in_band(worker, arrival->to.band, lane, arrival->ref, arrival->key);
    index_finish(&ticket);              /* let_in:A, a full fence behind the publication */
    switch_enter(worker, PLACE_ACTIVE); /* behind the publication: position.c */
    return SCHEDQ_OK;
}

schedq_status_t
add_enter(struct worker *worker, const struct arrival *arrival, const struct hashed_name *name,
          schedq_result_t *result, struct index_found *present)
{
    return arrival->to.place == PLACE_ACTIVE
               ? let_in(worker, arrival, name, true, result, present)
               : let_in(worker, arrival, name, false, result, present);
}

/* ---- one pod --------------------------------------------------------------------------------- */

/* Settles the pod, before the caller says EXISTS. False: the pod has ended by now. */
bool
add_tell_present(struct worker *worker, const struct index_found *present, struct view *view)
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
add_is_present(struct worker *worker, const struct hashed_name *name, struct index_found *present)
{
    const struct index_caller caller = index_caller(worker);
    struct view view;

    /* Ends: each further round means that a pod ended. */
    do {
        present->record = index_find(&queue_of(worker)->index, &caller, name, &present->life);
    } while (present->record != 0 && !add_tell_present(worker, present, &view));
    return present->record != 0;
}

STRAIGHT schedq_status_t
add_as(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
       bool plain, int64_t now, schedq_result_t *result, struct index_found *present)
{
    struct arrival arrival;
    schedq_status_t status;

    if (!plain) {
        status = add_admit(worker, name, pod, now, &arrival, present, result);
        if (status != SCHEDQ_OK) {
            return status;
        }
    } else if (!admit(worker, name, pod, true, now, NULL, &arrival, present, result, &status)) {
        return status;
    }
    status = plain ? let_in(worker, &arrival, name, true, result, present)
                   : add_enter(worker, &arrival, name, result, present);
    if (status != SCHEDQ_OK) {
        return status;
    }
    if (result != NULL) {
        result->object = pod->spec->object;
        result->timestamp_ns =
            pod->history == NULL && pod->spec->timestamp_ns != 0 ? pod->spec->timestamp_ns : now;
    }
    if (plain || arrival.to.place == PLACE_ACTIVE) {
        (void)publish_mark(worker, arrival.to.band);
        if (result != NULL) {
            result->pod.bits = arrival.ref; /* its first version is its life */
            result->place = SCHEDQ_ACTIVE;
            result->to_active++;
            result->poppable = 1;
        }
    }
    if (plain || result->poppable) {
        publish_wake(worker);
    }
    return status;
}

void
add_mark(struct worker *worker, struct band **unmarked)
{
    if (*unmarked != NULL) {
        (void)publish_mark(worker, *unmarked);
        *unmarked = NULL;
    }
}

/* For a pod that was not let in. With EXISTS, settles the pod that has the name. */
COLD static schedq_status_t
tell_refused(struct worker *worker, schedq_status_t status, const struct index_found *present,
             struct band **unmarked)
{
    struct view view;

    if (status == SCHEDQ_EXISTS) {
        add_mark(worker, unmarked); /* that pod may be one that this batch added */
        (void)add_tell_present(worker, present, &view);
    }
    return status;
}

schedq_status_t
add_next(struct worker *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
         int64_t now, int64_t key, struct band **unmarked, schedq_pod_t *pod)
{
    const struct incoming_pod incoming = {.spec = spec, .label = LABEL_POD_ADD};
    struct arrival arrival;
    struct index_found present;
    schedq_status_t status;

    if (queue_is_closed(queue_of(worker))) {
        return SCHEDQ_CLOSED;
    }
    if (!admit(worker, name, &incoming, true, now, &key, &arrival, &present, NULL, &status)) {
        return tell_refused(worker, status, &present, unmarked);
    }
    if (arrival.to.band != *unmarked) {
        add_mark(worker, unmarked);
    }
    status = let_in(worker, &arrival, name, true, NULL, &present);
    if (status != SCHEDQ_OK) {
        return tell_refused(worker, status, &present, unmarked);
    }
    *unmarked = arrival.to.band;
    pod->bits = arrival.ref; /* its first version is its life */
    return SCHEDQ_OK;
}

__attribute__((noinline)) static schedq_status_t
add_other(struct worker *worker, const struct hashed_name *name, struct incoming_pod pod,
          int64_t now, schedq_result_t *result, struct index_found *present)
{
    schedq_result_t unseen = {0};

    return add_as(worker, name, &pod, false, now, result != NULL ? result : &unseen, present);
}

STRAIGHT schedq_status_t
add(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
    schedq_result_t *result, struct index_found *present)
{
    struct queue *queue = queue_of(worker);

    if (queue_is_closed(queue)) {
        return SCHEDQ_CLOSED;
    }
    index_prefetch(&queue->index, name->hash);
    int64_t now = queue_now(queue);

    return is_plain(queue, pod) ? add_as(worker, name, pod, true, now, result, present)
                                : add_other(worker, name, *pod, now, result, present);
}

schedq_status_t
add_one(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
        schedq_result_t *result, struct index_found *present)
{
    return add(worker, name, pod, result, present);
}

/*
 * The pod that has the name may end before the caller is told of it: then the add is tried again.
 * Ends: each further round means that a pod of this name ended.
 */
COLD static schedq_status_t
tell_or_add(struct worker *worker, const struct hashed_name *name, struct incoming_pod pod,
            schedq_result_t *result, struct index_found present)
{
    schedq_status_t status = SCHEDQ_EXISTS;
    struct view view;

    while (status == SCHEDQ_EXISTS && !add_tell_present(worker, &present, &view)) {
        status = add_one(worker, name, &pod, result, &present);
    }
    if (status == SCHEDQ_EXISTS && result != NULL) {
        report_pod(queue_of(worker), present.record, &view, result);
    }
    return status;
}

STRAIGHT schedq_status_t
add_or_tell(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
            schedq_result_t *result)
{
    struct index_found present;
    schedq_status_t status = add(worker, name, pod, result, &present);

    return status != SCHEDQ_EXISTS ? status : tell_or_add(worker, name, *pod, result, present);
}

schedq_status_t
add_again(struct worker *worker, const struct hashed_name *name, const struct incoming_pod *pod,
          schedq_result_t *result)
{
    return add_or_tell(worker, name, pod, result);
}

schedq_status_t
lockfree_add(schedq_worker_t *base, const struct hashed_name *name, const schedq_pod_spec_t *spec,
             schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    const struct incoming_pod pod = {.spec = spec, .label = LABEL_POD_ADD};

    section_begin(worker);
    queue_sweep(worker);
    schedq_status_t status = add_or_tell(worker, name, &pod, result);

    section_end(worker);
    return status;
}
