/*
 * How many pods a pop would take before one: two bounds.
 *
 * CONTRACT. `lower` is at most as many pods as ranked before it at some time during the call,
 * `upper` at least as many as did so during all of it. Equal keys that callers chose may go either
 * way: between the bounds. If no pod becomes active, is popped, deleted or updated meanwhile, and
 * no other call is at work, the bounds differ by those with an equal key only.
 *
 * BY ARITHMETIC. A lane and a run are sorted, so refs of higher bands are counted by the ends of
 * segments and runs, those of the pod's own band by a binary search in each (bin_count). Nothing is
 * judged but the stale refs in front. What is counted so has holes: refs that a deletion or an
 * update left behind, refs that were published twice, or of a pod that is on its way. How many
 * there are is the difference between all refs and all active pods, which workers have counted
 * (switch.h). So
 *     upper   refs before the pod + what was moved inside the order meanwhile
 *     lower   refs before the pod - holes
 * Each pod that stays has a ref that is counted: lanes first, then slots of runs downwards
 * (bin.h). One that is moved inside the order may be passed by, and raises `reorder`.
 * The holes: pods that left during the call, and those that a pop, a deletion or a hold took and
 * has not counted, would make them seem fewer. Pods that left were counted as left in between; of
 * those that are not counted, their workers are inside of a section: one each, or as many as the
 * pop may take. What came meanwhile makes holes seem more: pods are summed up before refs are.
 *
 * BY RECORDS. If there are more holes than that leaves open, each record is looked at once. A pod
 * that ranks before it during the whole call is seen there, and none is seen that never did.
 *
 * COST. O(bands + lanes in them + segments of SEGMENT_SLOTS_MAX refs + log of the pod's band). By
 * records: O(records). While pods are only added, popped and moved by events there are no holes;
 * those that a deleted, updated or held active pod leaves behind go when pops pass them.
 *
 * ORDERING
 *   the switch of a pod, its worker's tallies,
 *   count_taken:A, delete_at:A or hold_install:A -> read_leaves:A
 *       who reads that a pod was counted as left reads the tally of active pods without it
 *   count_taken:A, delete_at:A or hold_install:A, epoch_leave:A -> under_way:A, read_leaves:A
 *       a worker that is outside has counted what it took
 *   ref, switch_announced:A, switch -> bin_count, the second load of `reorder`
 *
 * PROGRESS. Lock-free: a further round means that another thread changed the pod, or advanced a
 * head. Nothing is written, but for an update of that pod that is half done (settle.h).
 *
 * EVIDENCE. tests/unit/test_peek.c, test_position_threads.c; tests/differential: position.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/moves/report.h"
#include "lockfree/moves/settle.h"
#include "policy/order.h"

/* What is compared with. */
struct sought {
    uint32_t record;
    int32_t priority; /* of its band */
    int64_t key;
    bool by_priority; /* alone */
};

struct found {
    uint64_t all;          /* refs of active pods */
    uint64_t before, upto; /* that rank before it; and those that tie, itself among them */
};

/* ---- what moves meanwhile -------------------------------------------------------------------- */

/* Pods that left the order so far. Acquire, of count_taken:A, delete_at:A and hold_install:A. */
static uint64_t
read_leaves(const struct queue *queue)
{
    uint64_t leaves = 0;

    for (uint32_t i = 0; i < queue_counters(queue); i++) {
        const struct worker *worker = queue_counter(queue, i);

        if (worker != NULL) {
            leaves += u64_load_acquire(&worker->tally.pops) +    /* read_leaves:A */
                      u64_load_acquire(&worker->tally.deletes) + /* read_leaves:B */
                      u64_load_acquire(&worker->holds);          /* read_leaves:C */
        }
    }
    return leaves;
}

static uint64_t
read_active(const struct queue *queue)
{
    uint64_t active = 0;

    for (uint32_t i = 0; i < queue_counters(queue); i++) {
        const struct worker *worker = queue_counter(queue, i);

        active += worker != NULL ? u64_load_acquire(&worker->tally.active) : 0;
    }
    return active;
}

/* Pods that other workers may have taken and not counted. */
static uint64_t
under_way(const struct worker *self)
{
    const struct queue *queue = queue_of(self);
    uint64_t pods = 0;

    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *other = ptr_load_acquire(&queue->workers[i]); /* of slot_worker:A */

        if (other != NULL && other != self &&
            u64_load_acquire(&other->epoch->inside) != EPOCH_OUTSIDE) { /* under_way:A */
            uint64_t room = u64_load_acquire(&other->room);

            pods += room > 1 ? room : 1;
        }
    }
    return pods;
}

/* ---- by arithmetic --------------------------------------------------------------------------- */

static void
count_band(const struct queue *queue, const struct band *band, const struct sought *sought,
           struct found *found)
{
    bool own = band->priority == sought->priority;
    struct ref_counts counts = {0};

    bin_count(&band->bin, &queue->runs, own ? sought->key : INT64_MIN, &counts);
    found->all += counts.all;
    if (band->priority > sought->priority) {
        found->before += counts.all;
        found->upto += counts.all;
    } else if (own) {
        found->before += sought->by_priority ? 0 : counts.before;
        found->upto += sought->by_priority ? counts.all : counts.upto;
    }
}

/* All bands, shown or not: a pod whose band is not shown is counted as active. */
static void
count_refs(const struct queue *queue, const struct sought *sought, struct found *found)
{
    const struct band_table *table = bands_table(&queue->bands);

    *found = (struct found){0};
    for (uint32_t i = 0; i < table->count; i++) {
        const struct band_leaf *leaf = table->leaves[i].leaf;

        for (uint32_t j = 0; j < leaf->count; j++) {
            count_band(queue, leaf->rows[j].band, sought, found);
        }
    }
}

/* ---- by records ------------------------------------------------------------------------------ */

/* `checks`: a record may be filled whose add has not made the pod exist. */
static void
count_record(struct worker *worker, uint32_t record, bool checks, const struct sought *sought,
             struct found *found)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, record);
    struct view view;

    do {
        uint64_t state = entry != NULL ? entry_state(entry) : state_of(PLACE_FREE);

        if (state_place(state) != PLACE_ACTIVE) {
            return;
        }
        report_brief(queue, entry, state, &view);
        view.name = (uint32_t)u64_load_acquire(&entry->name); /* for report_exists */
        /* Ends: each further round means that the pod changed. */
    } while (u64_load_acquire(&entry->word.high) != view.desc || entry_state(entry) != view.state);
    if (checks && !report_exists(worker, record, &view)) {
        return;
    }
    int32_t priority = queue_rank(queue, view.description.priority);
    int64_t key = view.description.order_key;
    bool tied = priority == sought->priority && (sought->by_priority || key == sought->key);
    bool before =
        priority > sought->priority || (priority == sought->priority && !tied && key < sought->key);

    found->all++;
    found->before += before ? 1 : 0;
    found->upto += before || tied ? 1 : 0;
}

static void
count_records(struct worker *worker, const struct sought *sought, struct found *found)
{
    struct queue *queue = queue_of(worker);
    bool checks = under_way(worker) > 0 || u32_load_acquire(&queue->uncounted) != 0;

    *found = (struct found){0};
    for (uint32_t i = 0; i < slab_end(&queue->entries.records); i++) {
        if (i != sought->record) {
            count_record(worker, i, checks, sought, found);
        }
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

/* False: too many holes. */
static bool
count(struct worker *worker, const struct sought *sought, uint64_t *lower, uint64_t *upper)
{
    struct queue *queue = queue_of(worker);
    struct found found;
    uint64_t leaves = read_leaves(queue);
    uint64_t reorder = u64_load_acquire(&queue->reorder);
    uint64_t active = read_active(queue);

    count_refs(queue, sought, &found);
    uint64_t moves = u64_load_acquire(&queue->reorder) - reorder;
    uint64_t open = under_way(worker) + moves; /* before the leaves are read again */

    open += read_leaves(queue) - leaves;
    if (u32_load_acquire(&queue->uncounted) != 0 || (int64_t)(found.all - active) > (int64_t)open) {
        return false;
    }
    uint64_t holes = (int64_t)(found.all - active + open) > 0 ? found.all - active + open : 0;

    *lower = found.before > holes ? found.before - holes : 0;
    *upper = (found.upto > 0 ? found.upto - 1 : 0) + moves;
    return true;
}

/* The pod, if it is active. */
static schedq_status_t
find_active(struct worker *worker, schedq_pod_t pod, struct view *view)
{
    /* Ends: each further round means that the pod changed. */
    while (report_handle(queue_of(worker), pod, view)) {
        if (settle_told(worker, ref_record(pod.bits), view)) {
            return state_place(view->state) == PLACE_ACTIVE ? SCHEDQ_OK : SCHEDQ_GONE;
        }
    }
    return SCHEDQ_NOT_FOUND;
}

schedq_status_t
lockfree_position(schedq_worker_t *base, schedq_pod_t pod, uint64_t *lower, uint64_t *upper)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    struct view view;

    section_begin(worker);
    schedq_status_t status = find_active(worker, pod, &view);

    if (status == SCHEDQ_OK) {
        const struct sought sought = {.record = ref_record(pod.bits),
                                      .priority = queue_rank(queue, view.description.priority),
                                      .key = view.description.order_key,
                                      .by_priority =
                                          queue->base.config.order == SCHEDQ_ORDER_RELAXED};
        struct found found;

        if (!count(worker, &sought, lower, upper)) {
            count_records(worker, &sought, &found);
            *lower = found.before;
            *upper = found.upto;
        }
    }
    section_end(worker);
    return status;
}
