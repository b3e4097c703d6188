/*
 * What callers do to single pods: find, get, update, delete.
 *
 * UPDATE replaces the description by one CAS on {state word, description word}: it fails if the pod left its place, or ended,
 * meanwhile. If the new description changes where an active pod stands, the same CAS raises the lag (state.h), and
 * publish_follow moves the pod. A pod in flight is only described anew: its place is decided when its flight ends.
 *
 * DELETE makes the word DEAD from any waiting place; containers are not touched, their refs are stale by that. In flight it sets a
 * flag: the name is free at once, the record stays its holder's.
 */
#include "lockfree/add.h"
#include "lockfree/finish.h"
#include "lockfree/objects.h"
#include "lockfree/ops.h"
#include "lockfree/publish.h"
#include "lockfree/report.h"

/*
 * The pod that has a name; 0: none. A pod that ends between the two looks is looked for again: another may have its name.
 * Ends: each further round means that a pod ended.
 */
static uint32_t
find_name(struct worker *worker, const char *name, uint32_t length, uint32_t hash, struct view *view)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    const struct index_key key = {.name = name, .length = length, .hash = hash};
    uint32_t record;
    uint64_t state;

    do {
        record = index_find(&queue->index, &caller, &key, &state);
    } while (record != 0 && !report_found(queue, record, state, view));
    return record;
}

schedq_status_t
lockfree_find(schedq_worker_t *base, const char *name, uint32_t length, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    uint32_t hash = index_hash(&queue_of(worker)->index, name, length);
    struct view view;

    section_begin(worker);
    uint32_t record = find_name(worker, name, length, hash, &view);
    if (record != 0) {
        publish_told(worker, record, view.life, view.state);
        report_pod(record, &view, result);
    }
    section_end(worker);
    return record != 0 ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}

/* ---- get ------------------------------------------------------------------------------------------------------------------ */

/* Name and object as of one version; the object retained. False: the pod is gone. */
static bool
take_pod(struct worker *worker, schedq_pod_t pod, struct view *view)
{
    struct queue *queue = queue_of(worker);
    uint32_t record = ref_record(pod.bits);
    bool exists = record < slab_end(&queue->entries.records);

    /* Ends: each further round means that the pod changed. */
    while (exists && report_view(queue, record, ref_version(pod.bits), view)) {
        names_copy(&queue->names, view->name, worker->name, view->name_length);
        if (objects_take(worker, view->entry, view->state, &view->description, &view->desc)) {
            return true;
        }
    }
    return false;
}

schedq_status_t
lockfree_get(schedq_worker_t *base, schedq_pod_t pod, schedq_visit_fn visit, void *ctx)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    schedq_pod_info_t info;
    struct view view;

    section_begin(worker);
    bool found = take_pod(worker, pod, &view);
    if (found) {
        publish_told(worker, ref_record(pod.bits), view.life, view.state);
    }
    section_end(worker);
    if (!found) {
        return SCHEDQ_NOT_FOUND;
    }
    report_info(queue, ref_record(pod.bits), &view, worker->name, &info);
    (void)visit(ctx, &info);
    object_give_back(queue, view.description.object);
    return SCHEDQ_OK;
}

/* ---- update --------------------------------------------------------------------------------------------------------------- */

struct update {
    const schedq_pod_spec_t *spec;
    uint64_t replacement; /* a description record, the caller's until it is installed; 0: none so far */
    struct band *band;    /* of the new priority */
    uint32_t record;
    struct view before;
};

static void
describe(struct update *update, struct description *description)
{
    const schedq_pod_spec_t *spec = update->spec;
    const struct description *old = &update->before.description;

    *description = *old;
    description->object = spec->object;
    description->priority = spec->priority;
    description->flags = spec->flags;
    description->described_node = spec->nominated_node;
    description->charged = update->band->id;
    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        description->own_key = true;
        description->order_key = spec->order_key;
    } else if ((old->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        description->own_key = true;
        description->order_key = update->before.history.timestamp_ns;
    }
}

static schedq_status_t
prepare_update(struct worker *worker, struct update *update)
{
    struct queue *queue = queue_of(worker);
    schedq_status_t status;

    update->band = publish_band(worker, update->spec->priority, true, &status);
    if (update->band == NULL) {
        return status;
    }
    if (update->replacement == 0) {
        update->replacement = description_take(&queue->entries, &worker->descriptions);
    }
    bool ready = update->replacement != 0 && publish_prepare_move(worker, update->band);

    return ready ? SCHEDQ_OK : SCHEDQ_NOMEM;
}

static void
installed(struct worker *worker, struct update *update)
{
    struct queue *queue = queue_of(worker);
    const struct view *before = &update->before;

    update->replacement = 0;
    /* Off first: the pod must not count twice for a moment. */
    pod_leaves(worker, before->description.charged);
    pod_enters(worker, update->band->id);
    description_give(&queue->entries, &worker->descriptions, before->desc);
    object_release(worker, before->description.object);
    tally_add(&worker->tally.updates, 1);
}

/* One attempt on what update->before shows. False: the pod changed meanwhile. */
static bool
install(struct worker *worker, struct update *update)
{
    uint32_t record = update->record;
    struct queue *queue = queue_of(worker);
    const struct view *before = &update->before;
    struct description description;

    describe(update, &description);
    bool moves = state_place(before->state) != PLACE_INFLIGHT &&
                 (description.order_key != before->description.order_key ||
                  queue_rank(queue, description.priority) != queue_rank(queue, before->description.priority));

    if (moves && state_lag(before->state) == STATE_LAG_MAX) {
        (void)publish_follow(worker, record, before->life);
        return false;
    }
    description_fill(&queue->entries, update->replacement, &description);
    uint64_t described = moves ? state_described(before->state) : before->state;

    if (!entry_describe(before->entry, before->state, before->desc, described, update->replacement)) {
        return false;
    }
    installed(worker, update);
    /* An update that came before, and stopped before it moved the pod, is finished here too. */
    (void)publish_follow(worker, record, before->life);
    return true;
}

/* kube's move request sequence: events of a pod in flight count, whatever they are. */
static void
draw_events(struct queue *queue, const schedq_event_t *events, size_t count)
{
    const struct rules *rules = &queue->base.rules;

    if (!rules->hints) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (!rules->ignores_unregistered || registry_is_registered(&queue->base.registry, events[i])) {
            (void)u64_add(u64_of(&queue->base.words.event_sequence), 1);
        }
    }
}

/* SCHEDQ_NOT_FOUND: no pod has this name. */
static schedq_status_t
update_present(struct worker *worker, const char *name, uint32_t hash, struct update *update)
{
    /* Ends: each further round means that somebody changed the pod, or ended it. */
    do {
        update->record = find_name(worker, name, update->spec->name_length, hash, &update->before);
        if (update->record == 0) {
            return SCHEDQ_NOT_FOUND;
        }
        if (update->before.profile != update->spec->profile) {
            worker_say(&worker->base, "spec.profile %u: %u, a pod keeps its profile", update->spec->profile,
                       update->before.profile);
            return SCHEDQ_INVALID;
        }
        schedq_status_t status = prepare_update(worker, update);

        if (status != SCHEDQ_OK) {
            return status;
        }
    } while (!install(worker, update));
    return SCHEDQ_OK;
}

static void
report_updated(const struct update *update, schedq_result_t *result)
{
    const struct view *before = &update->before;

    result->pod = entry_handle(update->record, before->life);
    result->object = before->description.object;
    result->unschedulable = before->unschedulable;
    result->pending = before->pending;
    result->timestamp_ns = before->history.timestamp_ns;
    result->place = (uint8_t)place_public(state_place(before->state));
}

static schedq_status_t
update_or_add(struct worker *worker, const char *names, struct update *update, schedq_result_t *result)
{
    const schedq_pod_spec_t *spec = update->spec;
    uint32_t hash = index_hash(&queue_of(worker)->index, names + spec->name_offset, spec->name_length);
    schedq_status_t status;
    struct present present;

    /* Ends: between "not there" and "exists" somebody else added it, between the other two somebody ended it. */
    for (;;) {
        status = update_present(worker, names + spec->name_offset, hash, update);
        if (status == SCHEDQ_OK) {
            report_updated(update, result);
        }
        if (status != SCHEDQ_NOT_FOUND) {
            return status;
        }
        status = add_one(worker, names, spec, hash, result, &present);
        if (status != SCHEDQ_EXISTS) {
            result->added = status == SCHEDQ_OK;
            return status;
        }
    }
}

schedq_status_t
lockfree_update(schedq_worker_t *base, const char *names, const schedq_pod_spec_t *spec, uint64_t old_object,
                const schedq_event_t *events, size_t count, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    struct update update = {.spec = spec};

    (void)old_object;
    section_begin(worker);
    object_retain(queue, spec->object);
    schedq_status_t status = update_or_add(worker, names, &update, result);

    if (status != SCHEDQ_OK || result->added) {
        object_give_back(queue, spec->object); /* add_one took its own */
    } else if (result->place == SCHEDQ_INFLIGHT) {
        draw_events(queue, events, count);
    }
    description_give(&queue->entries, &worker->descriptions, update.replacement);
    section_end(worker);
    return status;
}

/* ---- delete --------------------------------------------------------------------------------------------------------------- */

/* One attempt at the word that `view` shows. */
static bool
delete_at(struct worker *worker, uint32_t record, const struct view *view)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    struct entry *entry = view->entry;

    if (state_place(view->state) != PLACE_INFLIGHT) {
        uint64_t dead = state_switched(view->state, state_band(view->state), PLACE_DEAD);

        if (!entry_switch(entry, view->state, view->desc, dead)) {
            return false;
        }
        finish_record(worker, record, entry);
        tally_add(&worker->tally.active, UINT64_MAX);
        return true;
    }
    uint32_t hash = (uint32_t)(u64_load_acquire(&entry->name) >> 32);

    if (!entry_flag(entry, view->state, view->desc, FLAG_DELETED)) {
        return false;
    }
    index_remove(&queue->index, &caller, hash, record, view->life);
    return true;
}

/* By handle, or by name: the pod that the key means; 0: none. */
static uint32_t
find_key(struct worker *worker, const struct pod_key *key, uint32_t hash, struct view *view)
{
    struct queue *queue = queue_of(worker);
    uint32_t record = ref_record(key->pod.bits);

    if (key->pod.bits == 0) {
        return find_name(worker, key->name, key->name_length, hash, view);
    }
    bool there =
        record < slab_end(&queue->entries.records) && report_view(queue, record, ref_version(key->pod.bits), view);

    return there ? record : 0;
}

schedq_status_t
lockfree_delete(schedq_worker_t *base, const struct pod_key *key, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    uint32_t hash = key->pod.bits == 0 ? index_hash(&queue->index, key->name, key->name_length) : 0;
    schedq_status_t status = SCHEDQ_NOT_FOUND;
    struct view view;
    uint32_t record;

    section_begin(worker);
    /* Ends: each further round means that somebody changed the pod, or ended it. */
    while (status != SCHEDQ_OK && (record = find_key(worker, key, hash, &view)) != 0) {
        if (delete_at(worker, record, &view)) {
            status = SCHEDQ_OK;
        }
    }
    if (status == SCHEDQ_OK) {
        report_pod(record, &view, result);
        result->place = state_place(view.state) == PLACE_INFLIGHT ? SCHEDQ_INFLIGHT : SCHEDQ_NOWHERE;
        tally_add(&worker->tally.deletes, 1);
    }
    section_end(worker);
    return status;
}
