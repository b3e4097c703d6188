/*
 * Serving time.
 *
 * The pods that are due stand first in their bins (backoff.h, waiting.h). They are read, not taken: moved like by an
 * event (mover.h), after which the heads pass what is stale. So two who serve at once do the same work twice, and one
 * who stops anywhere leaves the rest to the others: whoever finds the deadline passed serves all of it.
 *
 * The kube presets count a gated pod from its Timestamp, and 1.34 does not let it go either: an old gated pod stays,
 * and every flush in which there is one counts as an event (D13 of kube's defects). A flush that nobody asked for
 * waits kube's 30 seconds before it repeats that.
 *
 * WHO SERVES. The timer thread if it runs; a sleeper too, when it finds time a whole tick late: the thread may have
 * been stopped by its debugger or its scheduler. Without the thread, every blocking pop that finds nothing; and
 * schedq_tick.
 *
 * LINEARIZATION. Of each pod: its switch (mover.h). Of the deadline: deadline.h.
 *
 * ORDERING
 *   deadline_begin:A, looks at all bins        |  refs, marks, deadline_lower:A (deadline.h)
 *   serve_is_poppable, serve_upkeep:A, wake:A  |  prepare:A, look (sleepers.c)
 * Sums over tallies, `poppable` and leftover_again are relaxed: they are advice. An old sum of pops wakes one sleeper
 * for nothing; of two who read leftover_again at once both flush.
 *
 * PROGRESS. Lock-free. A call's rounds are bounded (ROUNDS_MAX, PLANS_MAX); what came meanwhile keeps the deadline at
 * "due now". A thread that stops has moved what it had switched (mover.h); behind deadline_begin:A it leaves "due now".
 *
 * EVIDENCE. tests/model: tick, deadline; stress/explore: tick_*, serve_sleepers, serve_sleepers_tick, timer_*,
 * sleep_frozen; tests/unit/test_tick.c, test_leftover.c, test_timer.c, test_lockfree_timer.c.
 */
#include "lockfree/serve.h"

#include "lockfree/backoff.h"
#include "lockfree/events.h"
#include "lockfree/ops.h"
#include "lockfree/publish.h"
#include "lockfree/stray.h"
#include "lockfree/timer.h"
#include "lockfree/waiting.h"
#include "lockfree/workers.h"
#include "policy/backoff.h"
#include "policy/leftover.h"

#define READ_AT_ONCE 64
#define PLANS_MAX 4
#define ROUNDS_MAX 4

struct serving {
    struct worker *worker;
    int64_t now;
    schedq_result_t *result;
    bool no_memory; /* some pod that is due stayed */
};

/* One pass over the pods of a bin that are due. */
struct flush {
    struct mover mover;
    enum place place;
    int64_t limit; /* keys up to this are due */
    bool any;      /* a pod is due */
};

static void
flush_bin(struct flush *flush, struct bin *bin)
{
    struct worker *worker = flush->mover.worker;
    struct queue *queue = queue_of(worker);
    const struct bin_caller caller = bin_caller(worker);
    struct bin_reader reader;
    struct bin_ref refs[READ_AT_ONCE];
    size_t count;
    bool helps = flush->place == PLACE_BACKOFF || flush->place == PLACE_ERROR_BACKOFF;

    bin_read_begin(&reader, bin, &queue->runs, flush->limit);
    while ((count = bin_read(&reader, refs, READ_AT_ONCE)) > 0) {
        for (size_t i = 0; i < count; i++) {
            const struct entry *entry = entry_at(&queue->entries, ref_record(refs[i].ref));
            uint64_t life = entry != NULL ? u64_load_acquire(&entry->life) : 0; /* mover_try looks again */
            uint64_t state;
            bool here = helps ? bin_judge(bin, &caller, refs[i].ref, refs[i].cause, &state) : bin_has(bin, refs[i].ref);

            if (here) {
                flush->any = true;
                mover_try(&flush->mover, ref_record(refs[i].ref), life);
            }
        }
    }
    mover_end(&flush->mover);
    bin_pass(bin, &queue->runs);
}

static struct flush
flush_of(const struct serving *serving, enum place place, int64_t limit)
{
    return (struct flush){
        .mover = {.worker = serving->worker, .now = serving->now, .recount = true, .result = serving->result},
        .place = place,
        .limit = limit};
}

/* ---- backoff ----------------------------------------------------------------------------------------------------------------- */

static bool
backoff_is_over(struct mover *mover, const struct view *view, struct way *way)
{
    const struct flush *flush = mover->ctx;
    const struct queue *queue = queue_of(mover->worker);
    const struct subject subject = mover_subject(view);

    if (state_place(view->state) != flush->place || backoff_expiry_of(queue, &view->history) > flush->limit) {
        return false;
    }
    *way = queue->base.rules.host ? (struct way){.place = PLACE_ACTIVE} : route_from_backoff(mover->worker, &subject);
    return true;
}

static bool
has_due(struct queue *queue, struct bin *bin, int64_t limit)
{
    struct bin_head head;

    return bin_first(bin, &queue->runs, &head) && bin_head_key(&head) <= limit;
}

static bool
flush_backoff(struct serving *serving, enum place place)
{
    struct queue *queue = queue_of(serving->worker);
    struct flush flush = flush_of(serving, place, backoff_latest_due(&queue->base.rules.backoff, serving->now));

    flush.mover.label = LABEL_BACKOFF_COMPLETE;
    flush.mover.counts = flush.mover.counts_gated = true;
    flush.mover.decide = backoff_is_over;
    flush.mover.ctx = &flush;
    for (uint32_t i = 0; i < BACKOFF_CLASSES; i++) {
        struct bin *bin = backoff_used(queue, place, i);

        if (bin == NULL || !has_due(queue, bin, flush.limit)) {
            continue;
        }
        if (queue->base.rules.host_ends_backoff) {
            serving->result->left = 1;
            continue;
        }
        /* What an update publishes anew meanwhile may be overlooked: it is due still. */
        for (uint32_t round = 0; round < ROUNDS_MAX && !serving->no_memory && has_due(queue, bin, flush.limit);
             round++) {
            mover_begin(&flush.mover);
            flush_bin(&flush, bin);
            serving->no_memory |= flush.mover.no_memory;
        }
    }
    return flush.any;
}

/* ---- leftovers ----------------------------------------------------------------------------------------------------------------- */

static bool
may_leave(const struct queue *queue, const struct view *view)
{
    return state_place(view->state) == PLACE_PARKED || !queue->base.rules.leftover_is_event ||
           registry_gate_hears(&queue->base.registry, view->profile, view->gate, SCHEDQ_EVENT_WILDCARD);
}

static bool
waited_too_long(struct mover *mover, const struct view *view, struct way *way)
{
    const struct flush *flush = mover->ctx;
    const struct subject subject = mover_subject(view);

    if (state_place(view->state) != flush->place || !may_leave(queue_of(mover->worker), view)) {
        return false;
    }
    *way = route_after_backoff(mover->worker, &subject, mover->now);
    return true;
}

/* True: there was an old one, whether or not it could leave. */
static bool
flush_old(struct serving *serving, enum place place)
{
    struct queue *queue = queue_of(serving->worker);
    struct bin *bin = waiting_ages(queue, place);
    int64_t limit = leftover_latest(&queue->base.rules, serving->now);
    struct flush flush = flush_of(serving, place, limit);

    flush.mover.label = LABEL_LEFTOVER;
    flush.mover.counts = flush.mover.counts_gated = place == PLACE_PARKED;
    flush.mover.decide = waited_too_long;
    flush.mover.ctx = &flush;
    if (bin == NULL) {
        return false;
    }
    bin_pass(bin, &queue->runs);
    if (has_due(queue, bin, limit)) {
        mover_begin(&flush.mover);
        flush_bin(&flush, bin);
        serving->no_memory |= flush.mover.no_memory;
    }
    return flush.any;
}

static bool
flush_gated_as_kube(struct serving *serving)
{
    bool any = flush_old(serving, PLACE_GATED);

    if (any) {
        time_store(&queue_of(serving->worker)->leftover_again, time_add(serving->now, LEFTOVER_FLUSH_NS));
    }
    return any;
}

static bool
flush_leftovers(struct serving *serving, bool asked)
{
    const struct queue *queue = queue_of(serving->worker);

    if (queue->base.rules.host) {
        return false;
    }
    if (!queue->base.rules.leftover_is_event) {
        bool moved = flush_old(serving, PLACE_PARKED);

        return flush_old(serving, PLACE_GATED) || moved;
    }
    /* Gated first: a parked pod that a gate refuses must not be tried twice in one flush. */
    bool any = (asked || serving->now >= time_load(&queue->leftover_again)) && flush_gated_as_kube(serving);

    any |= flush_old(serving, PLACE_PARKED);
    if (any) {
        events_announce(serving->worker, &(struct cluster_event){.event = SCHEDQ_EVENT_WILDCARD});
    }
    return any;
}

static bool
flush_backoffs(struct serving *serving)
{
    bool any = flush_backoff(serving, PLACE_BACKOFF);

    return flush_backoff(serving, PLACE_ERROR_BACKOFF) || any;
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------------- */

/* What is parked while this looks makes the word say "due now" (deadline.h); whoever parks all the time shall not keep it here. */
static int64_t
plan(struct queue *queue)
{
    int64_t next = SCHEDQ_NO_DEADLINE;
    enum planned planned = PLANNED_AGAIN;

    for (uint32_t i = 0; i < PLANS_MAX && planned == PLANNED_AGAIN; i++) {
        const struct planning planning = deadline_begin(&queue->deadline);
        int64_t backoff = backoff_next(queue);
        int64_t waiting = waiting_next(queue);

        next = backoff < waiting ? backoff : waiting;
        planned = deadline_end(&queue->deadline, &planning, next);
    }
    if (planned == PLANNED_SOONER) {
        timer_wake(queue);
    }
    return planned == PLANNED_AGAIN ? queue_now(queue) : next;
}

struct served
serve_time(struct worker *worker, bool asked, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct serving serving = {.worker = worker, .now = queue_now(queue), .result = result};
    struct served served = {.moved = false};

    served.moved |= flush_backoffs(&serving);
    served.moved |= flush_leftovers(&serving, asked);
    served.next = plan(queue);
    /*
     * A look passes over a pod that an update publishes anew meanwhile, behind the look, and whose old place is stale when
     * the look arrives there. The update lowered the deadline, so the plan knows.
     */
    for (uint32_t i = 0; i < ROUNDS_MAX && served.next <= serving.now && !serving.no_memory && result->left == 0; i++) {
        served.moved |= flush_backoffs(&serving);
        served.next = plan(queue);
    }
    served.no_memory = serving.no_memory;
    return served;
}

int64_t
serve_wanted(const struct queue *queue)
{
    int64_t next = deadline_read(&queue->deadline);
    int64_t patience = timer_is_running(queue) ? queue->base.rules.tick_ns : 0;

    /* Where only the host serves, no sleeper has to. */
    return next == SCHEDQ_NO_DEADLINE || queue->base.rules.host_ends_backoff ? SCHEDQ_NO_DEADLINE
                                                                             : time_add(next, patience);
}

bool
serve_late(struct worker *worker)
{
    schedq_result_t unseen = {0};

    section_begin(worker);
    const struct served served = serve_time(worker, false, &unseen);
    section_end(worker);
    return served.moved;
}

/* ---- upkeep -------------------------------------------------------------------------------------------------------------------- */

/* Relaxed: advice. Pointers read from slot_worker:A (workers.c). */
static uint64_t
pops_so_far(const struct queue *queue)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *worker = ptr_load_acquire(&queue->workers[i]);

        sum += worker != NULL ? u64_load(&worker->tally.pops) : 0;
    }
    return sum;
}

bool
serve_is_poppable(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    const struct band_table *table = bands_table(&queue->bands);

    if (queue->base.rules.pop_from_backoff && u64_load(u64_of(&queue->base.words.backoff)) > 0) {
        return true;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        enum bin_phase phase = bin_phase(u64_load_acquire(table->rows[i].word)); /* of bin_mark:B */

        if ((phase == BIN_SET || phase == BIN_CLEARING) && !bin_is_empty(&table->rows[i].band->bin, &queue->runs)) {
            return true;
        }
    }
    return false;
}

/* The pods that would ask for them are gone. */
static void
forget_events(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    uint64_t drawn = stamps_drawn(&queue->stamps);
    uint64_t inflight = 0;

    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *other = ptr_load_acquire(&queue->workers[i]);

        inflight += other != NULL ? u64_load(&other->tally.inflight) : 0;
    }
    if (inflight == 0) {
        event_log_forget(&queue->log, worker->hazard, drawn);
    }
}

/*
 * The one sleeper that a producer woke may have stopped for ever, or the producer before he woke one. If there is work, and
 * nobody took any since the last tick, one more is woken. With a caller's clock each tick wakes all, who look at their deadlines.
 */
void
serve_upkeep(struct worker *worker, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    uint64_t pops = pops_so_far(queue);

    section_begin(worker);
    (void)stray_gather(worker);
    forget_events(worker);
    result->poppable = serve_is_poppable(worker);
    section_end(worker);
    workers_poll(queue);
    if (result->poppable) {
        u32_store(u32_of(&queue->base.words.poppable), 1); /* relaxed: it may say so for nothing */
    }
    atomic_fence(); /* serve_upkeep:A, between the look for pods and the look for sleepers */
    if (clock_is_virtual(&queue->base.clock)) {
        sleepers_wake_all(&queue->sleepers);
    } else if (u64_exchange(&queue->pops_at_tick, pops) == pops && result->poppable) {
        (void)sleepers_wake_one(&queue->sleepers);
    }
}

schedq_status_t
lockfree_tick(schedq_worker_t *base, int64_t *next, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);

    section_begin(worker);
    const struct served served = serve_time(worker, true, result);
    section_end(worker);
    serve_upkeep(worker, result);
    *next = served.next;
    return served.no_memory ? SCHEDQ_NOMEM : SCHEDQ_OK;
}
