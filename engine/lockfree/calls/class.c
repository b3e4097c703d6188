/* Classes of class.h, which has the essay. */
#include "lockfree/calls/class.h"

#include "lockfree/calls/hold.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/hold.h"
#include "lockfree/moves/stray.h"

/* ---- slots ----------------------------------------------------------------------------------- */

static struct classes *
classes_of(const struct queue *queue)
{
    return ptr_load_acquire(&queue->classes); /* of make_classes:A */
}

static struct class_slot *
slot_at(const struct queue *queue, uint32_t number)
{
    struct classes *classes = classes_of(queue);

    return classes != NULL ? ptr_load_acquire(&classes->slots[number]) /* of make_class_slot:A */
                           : NULL;
}

/* NULL: no class there was ever shut. */
static struct class_slot *
find_class_slot(const struct queue *queue, const struct class_key *key)
{
    return key->number != 0 ? slot_at(queue, class_slot_of(key)) : NULL;
}

static struct classes *
make_classes(struct queue *queue)
{
    struct memory *memory = &queue->base.memory;
    struct classes *classes = classes_of(queue);

    if (classes != NULL) {
        return classes;
    }
    classes = memory_alloc(memory, MEMORY_QUEUES, sizeof *classes, CACHE_LINE);
    if (classes == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < CLASS_SLOTS; i++) {
        ptr_store(&classes->slots[i], NULL);
    }
    if (!ptr_cas(&queue->classes, NULL, classes)) { /* make_classes:A */
        memory_free(memory, MEMORY_QUEUES, classes, sizeof *classes);
    }
    return classes_of(queue);
}

/* NULL: no memory. */
static struct class_slot *
make_class_slot(struct queue *queue, const struct class_key *key)
{
    struct memory *memory = &queue->base.memory;
    struct class_slot *slot = find_class_slot(queue, key);
    struct classes *classes = slot == NULL ? make_classes(queue) : NULL;

    if (slot != NULL || classes == NULL) {
        return slot;
    }
    slot = memory_alloc(memory, MEMORY_QUEUES, sizeof *slot, CACHE_LINE);
    if (slot == NULL) {
        return NULL;
    }
    u64_store(&slot->scout, 0);
    u64_store(&slot->drawn, 0);
    slot->number = class_slot_of(key);
    bin_open(&slot->waiting, &(struct residence){.entries = &queue->entries, .place = PLACE_HELD});
    if (!ptr_cas(&classes->slots[slot->number], NULL, slot)) { /* make_class_slot:A */
        bin_close(&slot->waiting, memory);
        memory_free(memory, MEMORY_QUEUES, slot, sizeof *slot);
    }
    return find_class_slot(queue, key);
}

void
classes_close(struct queue *queue)
{
    struct memory *memory = &queue->base.memory;
    struct classes *classes = ptr_load(&queue->classes);

    for (uint32_t i = 0; classes != NULL && i < CLASS_SLOTS; i++) {
        struct class_slot *slot = ptr_load(&classes->slots[i]);

        if (slot != NULL) {
            bin_close(&slot->waiting, memory);
            memory_free(memory, MEMORY_QUEUES, slot, sizeof *slot);
        }
    }
    memory_free(memory, MEMORY_QUEUES, classes, classes != NULL ? sizeof *classes : 0);
}

void
classes_tend(struct queue *queue, struct epoch_record *epoch, uint32_t worker)
{
    for (uint32_t i = 0; classes_of(queue) != NULL && i < CLASS_SLOTS; i++) {
        struct class_slot *slot = slot_at(queue, i);

        if (slot != NULL) {
            bin_tend(&slot->waiting, &queue->base.memory, epoch, worker);
        }
    }
}

/* ---- the scout ------------------------------------------------------------------------------- */

/*
 * Is the pod of this handle in the queue, of a class of this slot, and will it be tried? Then *key
 * is its class. Else it is no scout.
 */
static bool
is_good(const struct queue *queue, const struct class_slot *slot, uint64_t handle,
        struct class_key *key)
{
    struct view view;

    if (handle == 0 || !report_handle(queue, (schedq_pod_t){handle}, &view)) {
        return false; /* without a slot there is no handle */
    }
    enum place place = state_place(view.state);

    *key = class_of_view(queue, &view);
    /* a held one that nothing keeps back any more is on its way out, or a tick brings it out */
    return (place != PLACE_HELD || !description_keeps(&view.description, queue_now(queue))) &&
           place != PLACE_GATED && key->number != 0 && class_slot_of(key) == slot->number;
}

/* Is it a scout of this class? */
static bool
is_good_for(const struct queue *queue, const struct class_slot *slot, uint64_t handle,
            const struct class_key *key)
{
    struct class_key its;

    return is_good(queue, slot, handle, &its) && class_key_equal(&its, key);
}

/* The pod that waits longest, as a handle, and its ref; 0: none waits. */
static uint64_t
first_waiting(struct worker *worker, struct class_slot *slot, uint64_t *ref)
{
    struct queue *queue = queue_of(worker);
    struct bin_head head;
    struct view view;

    /* Ends: each further round passes a ref that has become stale. */
    while (bin_first_live(&slot->waiting, &queue->runs, &head)) {
        *ref = bin_head_ref(&head);
        if (report_any(queue, ref_record(*ref), &view) && bin_has(&slot->waiting, *ref)) {
            return entry_handle(ref_record(*ref), view.life).bits;
        }
    }
    return 0;
}

/*
 * Lets the pod of the ref go. False: it is no scout, because it had left, or was changed, or a gate
 * refused it. *poppable becomes true if the pod was made so. May leave the section.
 */
static bool
let_next_go(struct worker *worker, const struct class_slot *slot, uint64_t handle, uint64_t ref,
            bool *poppable)
{
    struct queue *queue = queue_of(worker);
    const uint32_t record = ref_record(ref);
    struct class_key key;
    struct view view;

    /* Ends: each further round is another thread's change of the pod. */
    while (report_handle(queue, (schedq_pod_t){handle}, &view)) {
        if (state_place(view.state) != PLACE_HELD || state_base(view.state) != ref_version(ref)) {
            return is_good(queue, slot, handle, &key);
        }
        struct redescription change = describe_begin(&view);
        schedq_result_t unseen = {0};

        description_set_time(&change.description, 0);
        schedq_status_t status =
            hold_install(worker, record, &view, &change, queue_now(queue), &unseen);

        if (status == SCHEDQ_NOMEM) {
            stray_leave_short(queue, STRAY_CLASSES); /* a tick lets it go */
            return true;
        }
        if (status == SCHEDQ_OK) {
            hold_leave(worker, record, view.life, &unseen);
            *poppable |= unseen.poppable != 0;
            tally_add(&worker->turns, 1);
            return is_good(queue, slot, handle, &key); /* else a gate refused it */
        }
    }
    return false;
}

/*
 * `scout`, as the slot has it, is no scout any more; 0: there was none. The first pod that waits
 * becomes the scout. True: a pod was made poppable. May leave the section.
 */
static bool
promote(struct worker *worker, struct class_slot *slot, uint64_t scout)
{
    struct queue *queue = queue_of(worker);
    uint64_t ref = 0;
    bool poppable = false;

    /* Ends: each further round is another thread's change of a pod that waits, or listed one. */
    for (;;) {
        uint64_t next = first_waiting(worker, slot, &ref);

        if (!u64_cas(&slot->scout, scout, next)) { /* promote:A */
            return poppable;
        }
        if (next != 0 && let_next_go(worker, slot, next, ref, &poppable)) {
            return poppable;
        }
        if (next == 0 && bin_is_empty(&slot->waiting, &queue->runs)) {
            return poppable;
        }
        scout = next;
    }
}

schedq_pod_t
class_scout(const struct queue *queue, const struct class_key *key)
{
    const struct class_slot *slot = find_class_slot(queue, key);
    uint64_t scout = slot != NULL ? u64_load_acquire(&slot->scout) : 0; /* of promote:A */

    return (schedq_pod_t){is_good_for(queue, slot, scout, key) ? scout : 0};
}

/* Is it the scout of its class? */
static bool
has_scout(const struct queue *queue, const struct class_key *key, schedq_pod_t pod)
{
    const struct class_slot *slot = find_class_slot(queue, key);

    return slot != NULL && u64_load_acquire(&slot->scout) == pod.bits; /* of promote:A */
}

bool
class_hands_over(struct worker *worker, const struct class_key *key, schedq_pod_t pod)
{
    struct queue *queue = queue_of(worker);

    return has_scout(queue, key, pod) && promote(worker, find_class_slot(queue, key), pod.bits);
}

bool
class_look(struct worker *worker, const struct class_key *key, schedq_pod_t pod)
{
    struct queue *queue = queue_of(worker);

    return has_scout(queue, key, pod) &&
           !is_good_for(queue, find_class_slot(queue, key), pod.bits, key) &&
           promote(worker, find_class_slot(queue, key), pod.bits);
}

bool
class_scouts(struct worker *worker, const struct class_key *key, schedq_pod_t pod)
{
    struct queue *queue = queue_of(worker);
    struct class_slot *slot = make_class_slot(queue, key);
    uint64_t scout = slot != NULL ? u64_load_acquire(&slot->scout) : pod.bits; /* of promote:A */
    struct class_key its;

    if (scout == pod.bits || is_good(queue, slot, scout, &its)) {
        return false;
    }
    return u64_cas(&slot->scout, scout, pod.bits) && /* class_scouts:A */
           class_look(worker, key, pod);
}

void
class_doubt(struct queue *queue, const struct class_key *key, schedq_pod_t pod)
{
    if (has_scout(queue, key, pod)) {
        stray_leave(queue, STRAY_CLASSES);
    }
}

void
class_heal(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    struct class_key its;

    for (uint32_t i = 0; i < CLASS_SLOTS; i++) {
        struct class_slot *slot = slot_at(queue, i);
        uint64_t scout = slot != NULL ? u64_load_acquire(&slot->scout) : 0; /* of promote:A */

        if (slot != NULL && !is_good(queue, slot, scout, &its)) {
            (void)promote(worker, slot, scout);
        }
    }
}

/* ---- pods that wait -------------------------------------------------------------------------- */

bool
class_is_shut(struct worker *worker, const struct class_key *key, schedq_pod_t pod)
{
    struct queue *queue = queue_of(worker);
    struct class_slot *slot = find_class_slot(queue, key);
    uint64_t scout = slot != NULL ? u64_load_acquire(&slot->scout) : 0; /* of promote:A */

    return scout != 0 && scout != pod.bits && is_good_for(queue, slot, scout, key) &&
           publish_prepare(worker, &slot->waiting);
}

bool
class_list(struct worker *worker, const struct class_key *key, uint64_t ref, bool may)
{
    struct queue *queue = queue_of(worker);
    struct class_slot *slot = find_class_slot(queue, key);
    const struct placing placing = {.ref = ref, .key = (int64_t)u64_add(&slot->drawn, 1)};
    struct class_key its;

    tally_add(&worker->hides, 1);
    (void)publish_ref(worker, &slot->waiting, &placing);
    atomic_fence();                                  /* class_list:A */
    uint64_t scout = u64_load_acquire(&slot->scout); /* of promote:A */

    if (is_good(queue, slot, scout, &its)) {
        return false;
    }
    if (!may) {
        stray_leave(queue, STRAY_CLASSES);
    }
    return may && promote(worker, slot, scout);
}

bool
class_meet(struct worker *worker, uint32_t record, struct entry *entry, uint64_t state)
{
    struct queue *queue = queue_of(worker);
    schedq_result_t unseen = {0};
    struct view view;

    /* if the pod changed, the claim fails */
    if (state_place(state) != PLACE_ACTIVE || !report_at(queue, entry, state, &view) ||
        (view.description.flags & DESCRIBED_WAITED) != 0) {
        return false;
    }
    const struct class_key key = class_of_view(queue, &view);

    if (!class_is_shut(worker, &key, entry_handle(record, view.life))) {
        return false;
    }
    const int64_t now = queue_now(queue);
    struct redescription change = describe_begin(&view);

    description_set_time_by_class(&change.description, class_until(&queue->base.rules, now));
    if (hold_install(worker, record, &view, &change, now, &unseen) != SCHEDQ_OK) {
        return false;
    }
    (void)class_list(worker, &key, ref_make(state_version(change.word), record), false);
    return true;
}
