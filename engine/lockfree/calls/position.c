/*
 * How many pods a pop would take before one: two bounds.
 *
 * CONTRACT. At one moment of the call no fewer than `lower` pods ranked before it, and no more than
 * `upper`. Equal keys that callers chose may go either way: between the bounds. If no other call is
 * at work meanwhile, the bounds differ by those with an equal key only.
 *
 * BY ARITHMETIC. A lane and a run are sorted, so refs of higher bands are counted by the ends of
 * segments and runs, those of the pod's own band by a binary search in each (bin_count). Nothing is
 * judged but the stale refs in front. Each pod that stays has a ref that is counted: lanes first,
 * then slots of runs downwards (bin.h). Refs behind which no pod is are counted too, the holes:
 * refs that a deletion or an update left behind, refs that were published twice, or of a pod that
 * is on its way. So the refs before the pod are an upper bound of the pods before it. A lower bound
 * follows from the other refs: workers have counted all active pods (switch.h), and at most as many
 * of these are not before the pod as there are refs that are not.
 *     upper   refs before the pod + slack
 *     lower   all active pods - refs that are not before it, its own too - slack
 *
 * THE MOMENT is between the sum of active pods and the first look at refs. Of the pods that were
 * active then, these make the counts wrong, each by one:
 *   it left   and a look missed it, or it was in the sum and not there. The worker that took it
 *             counts it as left, behind that and in the same section. So it is among the leaves
 *             that came in between; or its worker is inside of a section behind the looks, and
 *             counts for as many pods as its call may take (`room`)
 *   it moved  inside the order, and its old and its new place were looked at the wrong way round.
 *             Then `reorder` was raised in between; or before, and the thread was inside of a
 *             section at the moment, because the switch came after it
 * These are the slack. What becomes active after the moment makes both counts of refs larger, and
 * the sum no larger: a pod is counted as active behind its publication and switch. One that is not
 * counted so far, or left before it was counted, makes the sum smaller. All this is on the safe
 * side: it widens the bounds.
 *
 * BY RECORDS. If there are more holes than the slack explains, each record is looked at once too,
 * with a moment of its own. A pod that stays is seen as it ranks; one that an update has described
 * and not moved may rank either way. There are no holes, but the slack of so long a look is larger,
 * so the narrower bounds are told.
 *
 * A THREAD THAT DIED inside a call may have taken pods without counting them: the sum is too large
 * for ever. Then only records are looked at, and `lower` is 0. If no other thread is at work (there
 * is no slack, and the sum is as before), `lower` is the pods that were seen before this one.
 *
 * COST. O(bands + lanes in them + segments of SEGMENT_SLOTS_MAX refs + log of the pod's band). By
 * records: O(records). While pods are only added and popped there are no holes; those that a
 * deleted, updated or held active pod leaves behind go when pops pass them. A move's pods are
 * counted behind the last of its batch (switches_end), so they look like holes meanwhile.
 *
 * ORDERING
 *   ref ; the count of active pods -> read_active:A
 *       the looks behind the sum find a ref of each pod that is in it
 *   a pod's claim, deletion or hold, the count of active pods, count_taken:A, delete_at:A or
 *   hold_install:A -> read_leaves:A, B, C
 *       leaves are read once before the sum of active pods: a pod whose leave is among them is not
 *       in the sum. They are read again at the end: the next row
 *   count_taken:A, delete_at:A or hold_install:A, epoch_leave:A -> under_way:A, then
 *   read_leaves:A, B, C
 *       a worker that is outside has counted what it took, and the last sum of leaves has it
 *   room, epoch_enter:B, a claim, deletion or switch -> bin_count or count_record, under_way:A
 *       a call that misses a pod, or finds it elsewhere, sees the worker that took or moved it
 *       inside, or out again
 *   ref, switch_announced:A, switch -> bin_count, `reorder` again
 *       a call that misses a pod in both places sees `reorder` raised
 *   `reorder`, under_way:A
 *       the worker of a switch that is still to come, and whose raise was read before, is seen
 *       inside; the looks find what was published before that raise
 *
 * PROGRESS. Lock-free: a further round means that another thread changed the pod, or advanced a
 * head. Nothing is written, but for an update of that pod that is half done (settle.h).
 *
 * EVIDENCE. tests/unit/test_peek.c, test_position_threads.c; tests/differential: position;
 * stress/explore: position_*; stress/history: line.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/moves/report.h"
#include "lockfree/moves/settle.h"
#include "policy/order.h"

/* What is compared with. */
struct sought {
    int32_t priority; /* of its band */
    int64_t key;
    bool by_priority; /* alone */
};

/* What was counted: refs or records of active pods, the sought one among them. */
struct found {
    uint64_t all;
    uint64_t before, upto; /* that rank before it; and those that may, itself among them */
};

/* ---- what moves meanwhile -------------------------------------------------------------------- */

/* At least the pods that left the order so far: deletions and holds of waiting pods count too. */
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

        active += worker != NULL ? u64_load_acquire(&worker->tally.active) : 0; /* read_active:A */
    }
    return active;
}

/* Pods that others may have taken and not counted, or be moving. */
static uint64_t
under_way(const struct worker *self)
{
    const struct queue *queue = queue_of(self);
    uint64_t pods = 0;

    for (uint32_t i = 0; i < queue_counters(queue); i++) {
        const struct worker *other = queue_counter(queue, i);

        if (other != NULL && other != self &&
            u64_load_acquire(&other->epoch->inside) != EPOCH_OUTSIDE) { /* under_way:A */
            uint64_t room = u64_load_acquire(&other->room);

            pods += room > 1 ? room : 1;
        }
    }
    return pods;
}

/* What the moment is compared with. */
struct since {
    uint64_t leaves, reorder, active, under_way;
};

static struct since
since_now(const struct worker *worker)
{
    const struct queue *queue = queue_of(worker);
    struct since since;

    since.leaves = read_leaves(queue);
    since.active = read_active(queue);
    since.reorder = u64_load_acquire(&queue->reorder);
    since.under_way = under_way(worker);
    return since;
}

static uint64_t
slack_since(const struct worker *worker, const struct since *since)
{
    const struct queue *queue = queue_of(worker);
    uint64_t moves = u64_load_acquire(&queue->reorder) - since->reorder;
    uint64_t slack = since->under_way + moves + under_way(worker); /* read before the leaves */

    return slack + read_leaves(queue) - since->leaves;
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

/*
 * A record may be filled whose add has not made the pod exist: that pod is not in the sum. If the
 * sum is not relied on, the index is asked.
 */
static void
count_record(struct worker *worker, uint32_t record, const struct sought *sought,
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
    if (somebody_died(queue) && !report_exists(worker, record, &view)) {
        return;
    }
    int32_t priority = queue_rank(queue, view.description.priority);
    int64_t key = view.description.order_key;
    bool open = state_lag(view.state) != 0 ||
                (priority == sought->priority && (sought->by_priority || key == sought->key));
    bool before = !open && (priority > sought->priority ||
                            (priority == sought->priority && key < sought->key));

    found->all++;
    found->before += before ? 1 : 0;
    found->upto += before || open ? 1 : 0;
}

static void
count_records(struct worker *worker, const struct sought *sought, struct found *found)
{
    *found = (struct found){0};
    for (uint32_t i = 0; i < slab_end(&queue_of(worker)->entries.records); i++) {
        count_record(worker, i, sought, found);
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

struct bounds {
    uint64_t lower, upper;
};

static struct bounds
bounds_of(const struct found *found, uint64_t active, uint64_t slack)
{
    /* less than 0: not all are counted so far */
    int64_t least = (int64_t)(active - (found->all - found->before) - slack);
    uint64_t lower = least > 0 ? (uint64_t)least : 0;

    return (struct bounds){.lower = lower < found->before ? lower : found->before,
                           .upper = (found->upto > 0 ? found->upto - 1 : 0) + slack};
}

/*
 * The bounds hold in each case. False: they are wide, because the slack does not explain all holes,
 * or the sum is not known.
 */
static bool
bound_by_refs(struct worker *worker, const struct sought *sought, struct bounds *bounds)
{
    const struct since since = since_now(worker);
    struct found found;

    count_refs(queue_of(worker), sought, &found);
    uint64_t slack = slack_since(worker, &since);

    *bounds = bounds_of(&found, since.active, slack);
    if (somebody_died(queue_of(worker))) {
        *bounds = (struct bounds){.upper = UINT64_MAX};
    }
    return (int64_t)(found.all - since.active) <= (int64_t)slack;
}

static void
bound_by_records(struct worker *worker, const struct sought *sought, struct bounds *bounds)
{
    const struct queue *queue = queue_of(worker);
    const struct since since = since_now(worker);
    struct found found;

    count_records(worker, sought, &found);
    uint64_t slack = slack_since(worker, &since);

    *bounds = bounds_of(&found, since.active, slack);
    if (somebody_died(queue)) {
        bool quiet = slack == 0 && read_active(queue) == since.active;

        bounds->lower = quiet ? found.before : 0;
    }
}

/* The bounds of the pod as `view` shows it. */
static struct bounds
bound(struct worker *worker, const struct view *view)
{
    const struct queue *queue = queue_of(worker);
    const struct sought sought = {.priority = queue_rank(queue, view->description.priority),
                                  .key = view->description.order_key,
                                  .by_priority = queue->base.config.order == SCHEDQ_ORDER_RELAXED};
    struct bounds bounds;

    struct bounds others;

    if (bound_by_refs(worker, &sought, &bounds)) {
        return bounds;
    }
    bound_by_records(worker, &sought, &others);
    return others.upper - others.lower < bounds.upper - bounds.lower ? others : bounds;
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

/* Is the pod as it was seen? Then it had one rank all along. */
static bool
is_as_before(const struct view *view)
{
    return u64_load_acquire(&view->entry->word.high) == view->desc &&
           entry_state(view->entry) == view->state;
}

schedq_status_t
lockfree_position(schedq_worker_t *base, schedq_pod_t pod, uint64_t *lower, uint64_t *upper)
{
    struct worker *worker = worker_of(base);
    schedq_status_t status;
    struct bounds bounds;
    struct view view;

    section_begin(worker);
    /* Ends: each further round means that the pod changed. */
    do {
        status = find_active(worker, pod, &view);
        if (status == SCHEDQ_OK) {
            bounds = bound(worker, &view);
        }
    } while (status == SCHEDQ_OK && !is_as_before(&view));
    if (status == SCHEDQ_OK) {
        *lower = bounds.lower;
        *upper = bounds.upper;
    }
    section_end(worker);
    return status;
}
