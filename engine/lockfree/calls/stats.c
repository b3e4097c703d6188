/*
 * Statistics and metrics: sums over the workers, which go on counting; of a queue at rest they are
 * exact. They are loaded relaxed: they publish nothing.
 *
 * EVIDENCE. tests/unit/test_look.c, test_metrics.c.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/calls/workers.h"
#include "lockfree/moves/gather.h"
#include "policy/group.h"

static void
add_tally(schedq_stats_t *stats, const struct tally *tally)
{
    stats->active += u64_load(&tally->active);
    stats->inflight += u64_load(&tally->inflight);
    stats->adds += u64_load(&tally->adds);
    stats->pops += u64_load(&tally->pops);
    stats->dones += u64_load(&tally->dones);
    stats->failures += u64_load(&tally->failures);
    stats->deletes += u64_load(&tally->deletes);
    stats->updates += u64_load(&tally->updates);
    stats->moves += u64_load(&tally->moves);
    stats->events += u64_load(&tally->events);
    stats->hint_calls += u64_load(&tally->hint_calls);
    stats->pre_enqueue_calls += u64_load(&tally->gate_calls);
}

static void
add_root(struct worker *worker, const struct view *view, schedq_stats_t *stats)
{
    uint8_t place = (uint8_t)place_public(state_place(view->state));
    struct group_found root;
    struct gathered gathered;
    uint64_t size = 0;

    if ((view->description.flags & DESCRIBED_ENDED) == 0 &&
        gather_find(worker, view->seen, &root) && gather_read(worker, root.block, &gathered)) {
        size = gathered.count;
        gather_free(&gathered);
    }
    group_count_root(stats, place, size);
}

/* Goes through every record, in a queue that has groups. A group in its cycle is no pod. */
static void
add_groups(schedq_t *base, schedq_stats_t *stats)
{
    struct queue *queue = queue_of_base(base);
    uint32_t house;
    struct worker *worker = queue_has_groups(queue) ? workers_keep_house(queue, &house) : NULL;

    if (worker == NULL) {
        return;
    }
    section_begin(worker);
    for (uint32_t i = 0; i < slab_end(&queue->entries.records); i++) {
        struct view view;

        if (report_any(queue, i, &view) && view_is_group(&view)) {
            stats->groups++;
            stats->inflight -= state_place(view.state) == PLACE_CYCLE ? 1 : 0;
            if (view.description.group == 0) {
                add_root(worker, &view, stats);
            }
        }
    }
    section_end(worker);
    workers_leave_house(queue, house);
}

void
lockfree_stats(schedq_t *base, schedq_stats_t *stats)
{
    const struct queue *queue = queue_of_base(base);
    /* Records have the words of short names. Pages may go between the two looks. */
    const uint64_t words = (uint64_t)slab_made(&queue->entries.records) * NAMES_OWN;
    const uint64_t entries = memory_bytes(&base->memory, MEMORY_ENTRIES);
    const uint64_t own = words < entries ? words : entries;

    *stats = (schedq_stats_t){
        .struct_size = (uint32_t)sizeof *stats,
        .workers = workers_count(queue),
        .fences = queue->epoch->asymmetric ? SCHEDQ_FENCES_ASYMMETRIC : SCHEDQ_FENCES_REAL,
        .membarriers = epoch_asks(queue->epoch),
        .backoff = u64_load(u64_of(&base->words.backoff)),
        .error_backoff = u64_load(u64_of(&base->words.error_backoff)),
        .parked = u64_load(u64_of(&base->words.parked)),
        .gated = u64_load(u64_of(&base->words.gated)),
        .held = u64_load(u64_of(&base->words.held)),
        .aside = u64_load(u64_of(&base->words.aside)),
        .groups_known = ptr_load(&queue->members.buckets) != NULL,
        .nominated = u64_load(u64_of(&base->words.nominations)),
        .bytes_entries = entries - own,
        .bytes_names = memory_bytes(&base->memory, MEMORY_NAMES) + own,
        .bytes_index = memory_bytes(&base->memory, MEMORY_INDEX),
        .bytes_queues = memory_bytes(&base->memory, MEMORY_QUEUES),
        .bytes_other = memory_bytes(&base->memory, MEMORY_OTHER),
    };
    add_tally(stats, &queue->guests);
    for (uint32_t i = 0; i < queue_counters(queue); i++) {
        const struct worker *worker = queue_counter(queue, i);

        if (worker != NULL) {
            add_tally(stats, &worker->tally);
            stats->class_hides += u64_load(&worker->hides);
            stats->class_turns += u64_load(&worker->turns);
        }
    }
    add_groups(base, stats);
    if ((int64_t)stats->active < 0) {
        stats->active = 0; /* popped by one worker, and not counted by the one that added them */
    }
}

/* 0: the worker has no such counter. */
static uint64_t
own_count(const struct worker *worker, uint32_t label, uint32_t counter)
{
    uint32_t kind = counter / INCOMING_PLACES;
    bool has = kind == 0 || worker->base.queue->rules.counts_entities;

    return has ? u64_load(&worker->incoming[kind].counts[label][counter % INCOMING_PLACES]) : 0;
}

/* metrics_incoming_fn */
static void
count_incoming(const void *base, uint32_t label, uint64_t counts[INCOMING_ALL])
{
    const struct queue *queue = base;
    const struct groups *groups = queue_groups(queue);

    for (uint32_t i = INCOMING_COUNTERS; i < INCOMING_ALL; i++) {
        counts[i] =
            groups != NULL ? incoming_of_late(&groups->incoming, label, i - INCOMING_COUNTERS) : 0;
    }
    for (uint32_t i = 0; i < INCOMING_COUNTERS; i++) {
        counts[i] = incoming_of_late(&queue->incoming_late, label, i);
        for (uint32_t j = 0; label < INCOMING_OWN && j < queue_counters(queue); j++) {
            const struct worker *worker = queue_counter(queue, j);

            counts[i] += worker != NULL ? own_count(worker, label, i) : 0;
        }
    }
}

/*
 * metrics_pods_fn. Goes through every record: exact whatever moved, and nothing is counted at
 * operation rate for a text read once a minute.
 */
static void
visit_pods(const void *base, struct metrics_pods *pods)
{
    const struct queue *queue = base;

    for (uint32_t i = 0; i < slab_end(&queue->entries.records); i++) {
        struct view view;

        if (report_any(queue, i, &view) && !view_is_group(&view)) {
            metrics_pods_add(pods,
                             &(struct metrics_pod){.place = place_public(state_place(view.state)),
                                                   .profile = view.profile,
                                                   .attempts = view.history.attempts,
                                                   .timestamp_ns = view.history.timestamp_ns,
                                                   .rejectors = view.unschedulable | view.pending});
        }
    }
}

static void
add_reason(schedq_reasons_t *reasons, const struct view *view)
{
    if (state_place(view->state) == PLACE_GATED) {
        reasons->gated++;
        reasons->gated_by[view->gate - 1]++;
        return;
    }
    reasons->parked++;
    for (uint64_t bits = view->unschedulable | view->pending; bits != 0; bits &= bits - 1) {
        reasons->parked_by[__builtin_ctzll(bits)]++;
    }
}

/*
 * Goes through every record, as visit_pods. A lot has the set of its pods, but not their
 * number: refs go stale in it without a write there. A number would be a write to a line of all
 * workers in each failure, and one more in each move.
 */
void
lockfree_reasons(schedq_worker_t *base, schedq_profile_t profile, schedq_reasons_t *reasons)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);

    reasons->backoff = u64_load(u64_of(&queue->base.words.backoff));
    reasons->error_backoff = u64_load(u64_of(&queue->base.words.error_backoff));
    section_begin(worker);
    for (uint32_t i = 0; i < slab_end(&queue->entries.records); i++) {
        struct view view;

        if (report_any(queue, i, &view) && place_waits_for_event(state_place(view.state)) &&
            view.profile == profile) {
            add_reason(reasons, &view);
        }
    }
    section_leave(worker);
}

int64_t
lockfree_flushed(schedq_t *base)
{
    return time_load(&queue_of_base(base)->leftover_flushed);
}

/* Records are read in a section: a trim may give their pages back. */
schedq_status_t
lockfree_metrics(schedq_t *base, struct text *text)
{
    struct queue *queue = queue_of_base(base);
    schedq_stats_t stats;
    uint32_t house;
    struct worker *worker = workers_keep_house(queue, &house);

    if (worker == NULL) {
        return SCHEDQ_NOMEM;
    }
    const struct metrics_inside inside = {.wakes = sleepers_wakes(&queue->sleepers),
                                          .waiting_bytes = epoch_waiting_bytes(queue->epoch),
                                          .standing = epoch_standing(queue->epoch)};

    lockfree_stats(base, &stats);
    metrics_stats(text, &stats, &inside, base->rules.counts_entities);
    metrics_incoming(text, &base->registry, count_incoming, queue);
    section_begin(worker);
    metrics_pods(text, &base->registry, queue_now(queue), visit_pods, queue);
    metrics_pre_hints(text, &base->registry);
    section_end(worker);
    workers_leave_house(queue, house);
    return text->failed ? SCHEDQ_NOMEM : SCHEDQ_OK;
}
