/*
 * Serving time.
 *
 * The pods that are due, held ones too, are first in their bins (backoff.h, waiting.h). They are
 * read, not taken, and moved as by an event (mover.h). The next look at a bin passes the stale
 * refs. So two threads that serve at once do the same work twice, and one that stops leaves the
 * rest to the others.
 *
 * ONE LOOK at the bins serves, and finds the next deadline: it begins with the marker (deadline.h).
 * While the marker is there, each holder that parks exchanges it, and looks for a sleeper to wake.
 * So a look that moves more pods than MARKED_FEW lets its marker go, and another look follows.
 *
 * SLICES. A pop serves SERVE_SLICE pods, then looks for its own (pop.c); a gate that is asked
 * counts as one. A slice that comes to its end leaves the deadline at "due now": the next thread
 * that looks serves the next slice. A tick serves all.
 *
 * FLUSHES. The kube presets try leftovers in flushes (policy/leftover.h). leftover_flushed says
 * what the last one reached. The thread whose CAS raises it has begun a flush (begin_flush:A): it
 * announces the event, once, and looks at the gated pods. The parked pods that the flush reaches
 * are due from then on, for every thread, slice by slice. The look at the gated ones is not divided
 * into slices. Up to 1.34 kube counts their wait from their Timestamps, and 1.34 does not let them
 * go either, so no later look could tell which have been tried. 1.37 counts it from their last
 * flush, whose time is in the description that the flush installs (mover.h). The flush finds them
 * in their lots, as an event does, and not by age: a walk through lots meets no pod that it
 * published anew itself (events.c). A thread that stops behind begin_flush:A leaves them to the
 * next flush.
 *
 * WHAT NO THREAD CAN SERVE. Backoff that only the host ends: the word says "due now" to the host,
 * and neither the timer thread nor a sleeper looks at it (serve_due). Pods for which memory is
 * missing: the word says "due now" too, and a thread that tries again waits longer each time
 * (timer.c, pop.c). For notes (stray.h) that found no memory the word says when they are tried
 * again: pods that become due before that are served.
 *
 * THE THREADS THAT SERVE. schedq_tick serves time. So does the timer thread if it runs; it may be
 * stopped by a debugger or by the system's scheduler. So a sleeper that finds time a whole tick
 * late serves it too. One sleeper watches for that: a timer thread that stopped makes each pod late
 * by a tick, and no more. Without a timer thread, each blocking pop that finds nothing serves.
 *
 * LINEARIZATION. Of each pod: its switch (mover.h). Of the deadline: deadline.h.
 *
 * ORDERING
 *   deadline_begin:A, looks at all bins | refs, marks, deadline_lower:A (deadline.h)
 *   deadline_begin:A, look at the notes | note, deadline_lower:A (stray.h)
 *   the caller's clock, sleepers_wake_all:A | sleepers_prepare:A, the look at the clock
 * Sums over tallies, `poppable` and loads of leftover_flushed are relaxed: they are advice. An old
 * sum of pops wakes one sleeper for nothing; an old leftover_flushed lets a thread begin a flush
 * too early, and the CAS of begin_flush:A fails.
 *
 * PROGRESS. Lock-free. A call's rounds are bounded (ROUNDS_MAX); what came meanwhile keeps the
 * deadline at "due now". A thread that stops has moved what it had switched (mover.h); behind
 * deadline_begin:A it leaves "due now".
 *
 * EVIDENCE. tests/model: tick, deadline; stress/explore: tick_*, serve_sleepers,
 * serve_sleepers_tick, timer_*, sleep_frozen; tests/unit/test_tick.c, test_leftover.c,
 * test_timer.c, test_lockfree_timer.c.
 */
#include "lockfree/calls/serve.h"

#include "lockfree/calls/events.h"
#include "lockfree/calls/hold.h"
#include "lockfree/calls/ops.h"
#include "lockfree/calls/timer.h"
#include "lockfree/calls/workers.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/publish.h"
#include "lockfree/moves/stray.h"
#include "lockfree/moves/waiting.h"
#include "policy/backoff.h"
#include "policy/leftover.h"

#define DUE_AHEAD 8 /* refs whose records are fetched */
#define ROUNDS_MAX 5
#define MARKED_FEW SIZE(256, 1) /* pods that are moved while the deadline is a marker */

struct serving {
    struct worker *worker;
    int64_t now;
    schedq_result_t *result;
    uint32_t slice; /* how many pods may be tried yet */
    bool moved;     /* a pod was moved, or tried */
    bool no_memory; /* some pod that is due stayed */
    bool noted;     /* the last look saw a note (stray.h), */
    int64_t wanted; /* and planned for this time */
    bool marked;    /* the deadline was exchanged for a marker: */
    struct planning planning;
};

/* One pass over the pods of a bin that are due. */
struct flush {
    struct mover mover;
    struct serving *serving;
    enum place place;
    int64_t limit; /* keys up to this are due */
    bool in_order; /* of what one reading gives, the earliest is tried first */
};

static void
prefetch_due(const struct queue *queue, const struct bin_ref *ref)
{
    const char *entry = (const char *)entry_at(&queue->entries, ref_record(ref->ref));

    if (entry != NULL) {
        __builtin_prefetch(entry, 1);
        __builtin_prefetch(entry + CACHE_LINE, 1);
    }
}

/* Sorts in place: sort.h sorts numbers of refs, which would need room. */
COLD static void
sort_due(struct bin_ref *due, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            const struct bin_ref moved = due[i];
            size_t to = i;

            for (; to >= gap && due[to - gap].key > moved.key; to -= gap) {
                due[to] = due[to - gap];
            }
            due[to] = moved;
        }
    }
}

/*
 * Tries the pods of refs that were read. First it passes *skip refs whose pods are still here:
 * those were tried before. Returns the number of the first ref that it tried.
 */
static size_t
try_due(struct flush *flush, struct bin *bin, const struct bin_ref *due, size_t count, size_t *skip)
{
    size_t first = 0;

    for (; first<count && * skip> 0; first++) {
        *skip -= bin_has(bin, due[first].ref) ? 1 : 0;
    }
    for (size_t i = first; i < count && flush->serving->slice > 0; i++) {
        if (i + DUE_AHEAD < count) {
            prefetch_due(queue_of(flush->mover.worker), &due[i + DUE_AHEAD]);
        }
        if (mover_try_due(&flush->mover, bin, &due[i])) {
            flush->serving->slice--;
            flush->serving->moved = true;
        }
    }
    return first;
}

/*
 * If the host was asked, between sections, the reading begins again, and skips as many as were
 * tried and stay. If one of these left meanwhile, a pod is skipped that was not tried: that pod is
 * still due.
 */
static void
flush_bin(struct flush *flush, struct bin *bin)
{
    const struct worker *worker = flush->mover.worker;
    struct run_pool *pool = &queue_of(worker)->runs;
    struct bin_reader reader;
    size_t count, stay = 0, skip = 0;
    uint64_t pauses;

    mover_begin(&flush->mover);
    struct bin_ref *due = flush->mover.batch->read.due;

    bin_read_begin(&reader, bin, pool, flush->limit);
    do {
        pauses = worker->pauses;
        count = bin_read(&reader, due, MOVER_DUE);
        flush->mover.alone = count == 1;
        if (flush->in_order) {
            sort_due(due, count);
        }
        size_t first = try_due(flush, bin, due, count, &skip);

        if (worker->pauses != pauses) {
            mover_end(&flush->mover);
            for (stay -= skip; first < count; first++) {
                stay += bin_has(bin, due[first].ref) ? 1 : 0;
            }
            (void)bin_is_empty(bin, pool);
            bin_read_begin(&reader, bin, pool, flush->limit);
            skip = stay;
        }
    } while (flush->serving->slice > 0 && (count == MOVER_DUE || worker->pauses != pauses));
    mover_end(&flush->mover);
    flush->serving->no_memory |= flush->mover.no_memory;
}

/* Tries one pod, that of a ref which a look found. */
static void
flush_one(struct flush *flush, struct bin *bin, const struct bin_ref *due)
{
    size_t skip = 0;

    mover_begin(&flush->mover);
    flush->mover.alone = true;
    (void)try_due(flush, bin, due, 1, &skip);
    mover_end(&flush->mover);
    flush->serving->no_memory |= flush->mover.no_memory;
}

/* The look goes on without its marker: it will not set the deadline. */
static void
let_marker_go(struct serving *serving)
{
    if (serving->marked) {
        serving->marked = false;
        deadline_let_go(&queue_of(serving->worker)->deadline, &serving->planning);
    }
}

/*
 * flush_bin, perhaps while the look has its marker. Holders that park exchange the marker, so the
 * first MARKED_FEW pods are moved with it, and the others without. The bin of gated pods is read
 * once, because each reading asks the gates of those that stay.
 */
static void
flush_marked(struct flush *flush, struct bin *bin)
{
    struct serving *serving = flush->serving;
    uint32_t rest =
        serving->marked && serving->slice > MARKED_FEW ? serving->slice - MARKED_FEW : 0;

    if (flush->place == PLACE_GATED) {
        let_marker_go(serving);
        rest = 0;
    }
    serving->slice -= rest;
    flush_bin(flush, bin);
    serving->slice += rest;
    if (rest > 0 && serving->slice == rest) {
        let_marker_go(serving);
        flush_bin(flush, bin);
    }
}

/* ---- which go, and why ----------------------------------------------------------------------- */

/* Does a pod, or a group's record, that changed since its ref was read still back off? */
COLD static bool
backs_off_still(struct worker *worker, const struct view *view, int64_t limit)
{
    const struct backoff_counters counters = backoff_counters_of(&view->history);
    const struct backoff_rules rules = view_is_group(view) ? gather_backoff_rules(worker, view)
                                                           : queue_of(worker)->base.rules.backoff;

    return backoff_expiry(&rules, &counters, view->history.timestamp_ns) > limit;
}

static bool
backoff_is_over(struct mover *mover, const struct view *view, struct way *way)
{
    const struct flush *flush = mover->ctx;
    const struct queue *queue = queue_of(mover->worker);

    if (state_place(view->state) != flush->place ||
        (!mover_is_due(mover, view) && backs_off_still(mover->worker, view, flush->limit))) {
        return false;
    }
    *way = queue->base.rules.host ? (struct way){.place = PLACE_ACTIVE}
                                  : route_from_backoff(mover->worker, view);
    return true;
}

/*
 * Does the event of a flush reach a gated pod? With kube_minor 34 a gate hears of it only if it
 * registered for wildcards. One that the flush described already, and that another thread changed
 * before it moved, is tried again.
 */
static bool
flush_reaches(const struct flush *flush, const struct view *view)
{
    const struct queue *queue = queue_of(flush->mover.worker);
    int64_t tried = view->gating.tried, now = flush->mover.now;
    int64_t since = leftover_since(&queue->base.rules, view->history.timestamp_ns, tried, now);

    return (since <= flush->limit || tried == now) &&
           registry_gate_hears(&queue->base.registry, view->profile, view->gate,
                               SCHEDQ_EVENT_WILDCARD);
}

static bool
waited_too_long(struct mover *mover, const struct view *view, struct way *way)
{
    const struct flush *flush = mover->ctx;

    if (state_place(view->state) != flush->place ||
        (flush->place == PLACE_GATED && queue_of(mover->worker)->base.rules.leftover_is_event &&
         !flush_reaches(flush, view))) {
        return false;
    }
    *way = route_by_strategy(mover->worker, view, STRATEGY_AFTER_BACKOFF, mover->now);
    return true;
}

static struct flush
flush_of(struct serving *serving, enum place place, int64_t limit)
{
    const struct queue *queue = queue_of(serving->worker);
    struct flush flush = {.mover = {.worker = serving->worker,
                                    .now = serving->now,
                                    .recount = true,
                                    .result = serving->result},
                          .serving = serving,
                          .place = place,
                          .limit = limit};
    struct mover *mover = &flush.mover;

    mover->counts = mover->counts_gated = place != PLACE_GATED;
    if (place_waits_for_event(place)) {
        mover->label = LABEL_LEFTOVER;
        mover->decide = waited_too_long;
        mover->flushes = queue->base.rules.flush_begins_anew;
    } else if (place == PLACE_HELD) {
        mover->label = LABEL_POD_UPDATE;
        mover->decide = hold_is_due;
        flush.in_order =
            queue_has_groups(queue); /* the member that completes one dates its record */
    } else {
        mover->label = LABEL_BACKOFF_COMPLETE;
        mover->decide = backoff_is_over;
    }
    return flush;
}

/* Is another pod likely to be due? *head is used up. */
static bool
is_next_due(struct bin_head *head, int64_t limit)
{
    return head->is_run ? head->run.left > 1
                        : lane_peek_next(&head->lane) && head->lane.key <= limit;
}

/*
 * Moves the pods of a bin that are due, in `rounds` passes at most. Most often one pod is due,
 * which the look has found: then the bin is not read. Returns the first pod that stays; ref 0:
 * there is none.
 */
static struct timed
flush_due(struct serving *serving, enum place place, int64_t limit, struct bin *bin,
          uint32_t rounds)
{
    struct queue *queue = queue_of(serving->worker);
    struct bin_head head;

    if (!bin_first_live(bin, &queue->runs, &head)) {
        return (struct timed){.ref = 0};
    }
    const struct bin_ref due = {
        .ref = bin_head_ref(&head), .key = bin_head_key(&head), .cause = bin_head_cause(&head)};
    struct timed first = {.at = due.key, .ref = due.ref};

    if (first.at <= limit) {
        struct flush flush = flush_of(serving, place, limit);

        flush.mover.ctx = &flush;
        if (place != PLACE_GATED && !is_next_due(&head, limit)) {
            flush_one(&flush, bin, &due);
            first = waiting_first_in(queue, bin);
        }
        for (; rounds > 0 && first.ref != 0 && first.at <= limit && serving->slice > 0 &&
               !flush.mover.no_memory;
             rounds--) {
            flush_marked(&flush, bin);
            first = waiting_first_in(queue, bin);
        }
    }
    return first;
}

/* ---- backoff --------------------------------------------------------------------------------- */

/*
 * The first pod of a backoff that the host ends. If it is due and was not moved there yet, this
 * thread moves it: the thread that published it may have stopped, and the host, which decides
 * about pods that wait, would not be told of it. Ref 0: there is none.
 */
static struct timed
first_for_host(struct serving *serving, struct bin *bin, int64_t limit)
{
    struct queue *queue = queue_of(serving->worker);
    const struct bin_caller caller = bin_caller(serving->worker);
    struct bin_head head;
    uint64_t state;

    /* Ends: each further round passes a ref that has become stale. */
    while (bin_first_live(bin, &queue->runs, &head)) {
        const struct timed first = {.at = bin_head_key(&head), .ref = bin_head_ref(&head)};

        if (first.at > limit || bin_judge(bin, &caller, first.ref, bin_head_cause(&head), &state)) {
            return first;
        }
    }
    return (struct timed){.ref = 0};
}

/*
 * *next becomes the first pod there that is not due so far, or is due and stays. A pod that an
 * update publishes anew meanwhile may be overlooked: the deadline says that it is due.
 */
__attribute__((noinline)) static void
flush_backoff(struct serving *serving, enum place place, struct timed *next)
{
    struct queue *queue = queue_of(serving->worker);
    bool ends = !queue->base.rules.host_ends_backoff;
    int64_t limit = backoff_latest_due(&queue->base.rules.backoff, serving->now);

    for (uint32_t used = backoff_used(queue, place); used != 0;) {
        struct bin *bin = backoff_next_used(queue, place, &used);
        int64_t bound = bin_bound(bin);

        if (bound > limit && bound >= next->at) {
            continue;
        }
        struct timed first = ends ? flush_due(serving, place, limit, bin, ROUNDS_MAX)
                                  : first_for_host(serving, bin, limit);

        if (first.ref != 0 && first.at < next->at) {
            *next = first;
        }
        serving->result->left |= !ends && first.ref != 0 && first.at <= limit ? 1 : 0;
    }
}

static struct timed
flush_backoffs(struct serving *serving)
{
    struct queue *queue = queue_of(serving->worker);
    struct timed next = {.at = SCHEDQ_NO_DEADLINE};

    if (waiting_may_be(queue, PLACE_BACKOFF)) {
        flush_backoff(serving, PLACE_BACKOFF, &next);
    }
    if (waiting_may_be(queue, PLACE_ERROR_BACKOFF)) {
        flush_backoff(serving, PLACE_ERROR_BACKOFF, &next);
    }
    if (next.at != SCHEDQ_NO_DEADLINE) {
        next.at = backoff_due(&queue->base.rules.backoff, next.at);
    }
    return next;
}

/* ---- leftovers ------------------------------------------------------------------------------- */

/*
 * Tries the pods that have waited since `latest` or longer, once each. Returns the oldest that
 * stays; ref 0: none does.
 */
static struct timed
flush_old(struct serving *serving, enum place place, int64_t latest)
{
    struct queue *queue = queue_of(serving->worker);
    struct bin *ages = waiting_may_be(queue, place) ? waiting_ages(queue, place) : NULL;

    return ages != NULL ? flush_due(serving, place, latest, ages, 1) : (struct timed){.ref = 0};
}

static bool
has_leftover(struct queue *queue, enum place place, int64_t latest)
{
    const struct timed oldest = waiting_oldest(queue, place);

    return oldest.ref != 0 && oldest.at <= latest;
}

/* Tries each gated pod once, in the lots. */
static void
flush_gated(struct serving *serving, int64_t latest)
{
    struct flush flush = flush_of(serving, PLACE_GATED, latest);

    flush.mover.ctx = &flush;
    let_marker_go(serving);
    events_flush_gated(&flush.mover);
    serving->no_memory |= flush.mover.no_memory;
}

/*
 * Begins a flush if one is due. A gated pod that is old enough makes it due, whether or not it may
 * leave.
 */
static void
begin_flush(struct serving *serving)
{
    struct queue *queue = queue_of(serving->worker);
    const struct rules *rules = &queue->base.rules;
    int64_t flushed = time_load(&queue->leftover_flushed);
    int64_t latest = leftover_latest(rules, serving->now);

    if (!leftover_may_flush(rules, flushed, serving->now)) {
        return;
    }
    bool gated = has_leftover(queue, PLACE_GATED, latest);

    if (!(gated || has_leftover(queue, PLACE_PARKED, latest)) ||
        !u64_cas(&queue->leftover_flushed, (uint64_t)flushed,
                 (uint64_t)latest)) { /* begin_flush:A */
        return;
    }
    events_announce(serving->worker, &(struct cluster_event){.event = SCHEDQ_EVENT_WILDCARD});
    /* Before the parked pods are: a pod that a gate refuses must not be tried twice in a flush. */
    if (gated) {
        flush_gated(serving, latest);
        if (serving->no_memory) {
            /* the next look begins it anew */
            (void)u64_cas(&queue->leftover_flushed, (uint64_t)latest, (uint64_t)flushed);
        }
    }
    serving->moved = true;
}

/* Returns the leftover that is due next. */
static struct timed
flush_leftovers(struct serving *serving)
{
    struct queue *queue = queue_of(serving->worker);
    int64_t latest = leftover_latest(&queue->base.rules, serving->now);
    struct timed parked, gated;

    if (queue->base.rules.leftover_is_event) {
        begin_flush(serving);
        parked = flush_old(serving, PLACE_PARKED, time_load(&queue->leftover_flushed));
        gated = waiting_oldest(queue, PLACE_GATED);
    } else {
        parked = flush_old(serving, PLACE_PARKED, latest);
        gated = flush_old(serving, PLACE_GATED, latest);
    }
    return waiting_next(queue, &parked, &gated);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/*
 * What a look plans for: `pod`, or a note (stray.h). What is noted is done by the next tick, not
 * here: gates would be asked too often.
 */
static struct timed
wanted_next(struct serving *serving, const struct timed *pod)
{
    const struct queue *queue = queue_of(serving->worker);
    struct timed next = *pod;

    serving->noted = stray_is_noted(queue, STRAY_NOTES);
    if (serving->noted) {
        int64_t at =
            stray_is_fresh(queue, STRAY_NOTES) ? TIME_AT_ONCE : time_load(&queue->strays_again);

        next = at < pod->at ? (struct timed){.at = at} : *pod;
    }
    serving->wanted = next.at;
    return next;
}

/*
 * One look at all that waits: serves what is due, and finds when the next pod is. Leftovers are
 * tried by the first look of a call only: those that stay would be tried again. A pod that is
 * parked during the look makes the deadline say "due now" (deadline.h), and so does a slice that
 * comes to its end.
 */
static int64_t
serve_once(struct serving *serving, bool is_first)
{
    struct queue *queue = queue_of(serving->worker);
    enum planned planned = PLANNED_AGAIN;

    const struct timed first = waiting_held_first(queue);

    /* before the look, because some of them go on to backoff */
    if (first.ref != 0 && first.at <= serving->now) {
        (void)flush_due(serving, PLACE_HELD, serving->now, &queue->waiting.held, 1);
    }
    serving->planning = deadline_begin(&queue->deadline);
    serving->marked = true;
    const struct timed backoff = flush_backoffs(serving);
    const struct timed waiting = is_first ? flush_leftovers(serving) : waiting_first(queue);
    const struct timed other = backoff.at < waiting.at ? backoff : waiting;
    const struct timed held = waiting_held_first(queue);
    const struct timed pod = held.ref != 0 && held.at < other.at ? held : other;

    const struct timed next = wanted_next(serving, &pod);

    if (serving->slice == 0) {
        let_marker_go(serving);
    } else if (serving->marked) {
        serving->marked = false;
        planned = deadline_end(&queue->deadline, &serving->planning, &next);
    }
    if (planned == PLANNED_SOONER) {
        timer_wake(queue);
    }
    return planned == PLANNED_AGAIN ? serving->now : pod.at;
}

/*
 * Does the deadline say when the first pod is due, and not a time before that? So it does if the
 * pod that it was taken from still waits: where it was, in the same stay.
 */
static bool
deadline_is_exact(struct queue *queue, int64_t due)
{
    uint64_t ref = deadline_first(&queue->deadline, due);
    const struct entry *entry = ref != 0 ? entry_at(&queue->entries, ref_record(ref)) : NULL;
    uint64_t state = entry != NULL ? entry_state(entry) : 0;

    return due == SCHEDQ_NO_DEADLINE ||
           (state_waits(state) && state_base(state) == ref_version(ref));
}

/* Something may be due at `now`. */
__attribute__((noinline)) static struct served
serve_due_pods(struct worker *worker, uint32_t slice, int64_t now, schedq_result_t *result)
{
    struct serving serving = {.worker = worker, .now = now, .result = result, .slice = slice};
    int64_t next;
    uint32_t round = 0;
    bool healed = false;

    /*
     * A look misses a pod that an update publishes anew where the look has been, if the old ref is
     * stale when the look comes to it. The update lowers the deadline, which then says "due now".
     * The rounds are bounded: holders that park all the time must not keep the thread here. A gate
     * may have refused a scout, in this call or in another: then another pod of the class is let
     * go.
     */
    do {
        next = serve_once(&serving, round == 0);
        if (stray_heal_classes(worker)) {
            healed = true;
            next = now;
        }
    } while (serving.slice > 0 && next <= now && !serving.no_memory && result->left == 0 &&
             ++round < ROUNDS_MAX);
    return (struct served){.moved = serving.moved || healed,
                           .no_memory = serving.no_memory,
                           .left = serving.slice == 0 || next <= now,
                           .noted = serving.noted,
                           .next = serving.noted ? serving.wanted : next};
}

struct served
serve_time(struct worker *worker, int64_t now, uint32_t slice, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    int64_t next = deadline_read(&queue->deadline);

    /* Nothing is due: no pod came to a place where time looks before the deadline was lowered. */
    if (next > now && deadline_is_exact(queue, next)) {
        return (struct served){.next = next};
    }
    return serve_due_pods(worker, slice, now, result);
}

int64_t
serve_due(const struct queue *queue)
{
    return queue->base.rules.host_ends_backoff ? SCHEDQ_NO_DEADLINE
                                               : deadline_read(&queue->deadline);
}

int64_t
serve_wanted(const struct queue *queue)
{
    int64_t next = serve_due(queue);
    int64_t patience = timer_is_running(queue) ? queue->base.rules.tick_ns : 0;

    return next == SCHEDQ_NO_DEADLINE ? next : time_add(next, patience);
}

void
serve_wake_sleeper(struct queue *queue)
{
    if (sleepers_waiting(&queue->sleepers) > 0) {
        sleepers_wake_for(&queue->sleepers, serve_wanted(queue), queue_now(queue),
                          queue->base.rules.tick_ns);
    }
}

void
server_begin(struct server *server, struct worker *worker)
{
    *server = (struct server){
        .worker = worker, .pause = queue_of(worker)->base.rules.tick_ns, .again = INT64_MIN};
}

int64_t
serve_pause(int64_t pause)
{
    return pause < WATCH_NS / 4 ? 4 * pause : WATCH_NS;
}

/*
 * Nothing changed, and there is something due still: memory is missing, or a thread stopped in
 * between.
 */
static void
pause_longer(struct server *server, int64_t now)
{
    server->again = time_add(now, server->pause);
    server->pause = serve_pause(server->pause);
}

bool
server_serve(struct server *server, int64_t wanted, int64_t now)
{
    struct worker *worker = server->worker;
    schedq_result_t unseen = {0};

    if (wanted > now || server->again > now) {
        return false;
    }
    section_begin(worker);
    (void)stray_gather_in_time(worker);
    const struct served served = serve_time(worker, now, SERVE_SLICE, &unseen);
    section_end(worker);
    if (served.moved && !served.no_memory) {
        server_begin(server, worker);
        return true;
    }
    if (served.left) {
        pause_longer(server, queue_now(queue_of(worker)));
    } else if (served.noted) {
        /* One tick: while the word says "due now", a holder that parks a pod wakes no server. */
        server->again = time_add(queue_now(queue_of(worker)), queue_of(worker)->base.rules.tick_ns);
    }
    return false;
}

/* ---- upkeep ---------------------------------------------------------------------------------- */

/* Sums over the workers. Relaxed: they are advice. */
struct sums {
    uint64_t pops, active, inflight;
};

/* Also asks about the pods that workers owe a question about. */
static struct sums
look_at_workers(struct worker *worker)
{
    const struct queue *queue = queue_of(worker);
    struct sums sums = {.inflight = u64_load(&queue->guests.inflight)};

    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *other = ptr_load_acquire(&queue->workers[i]); /* of slot_worker:A */

        if (other != NULL) {
            sums.pops += u64_load(&other->tally.pops);
            sums.active += u64_load(&other->tally.active);
            sums.inflight += u64_load(&other->tally.inflight);
            stray_ask_owed(worker, other);
        }
    }
    return sums;
}

/* Looks after the groups that workers are about to complete. */
COLD static void
look_at_groups(struct worker *worker)
{
    const struct queue *queue = queue_of(worker);

    if (!stray_is_noted(queue, STRAY_GROUPS)) {
        return;
    }
    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *other = ptr_load_acquire(&queue->workers[i]); /* of slot_worker:A */
        uint64_t joining = other != NULL ? u64_load_acquire(&other->joining) : 0;

        if (joining != 0) {
            gather_look_after(worker, joining);
        }
    }
}

static bool
is_in_a_band(struct queue *queue)
{
    const struct band_table *table = bands_table(&queue->bands);

    for (uint32_t i = 0; i < table->count; i++) {
        const struct band_leaf *leaf = table->leaves[i].leaf;

        for (uint64_t bits = summary_bits(&leaf->summary); bits != 0; bits &= bits - 1) {
            if (!bin_is_empty(&leaf->rows[__builtin_ctzll(bits)].band->bin, &queue->runs)) {
                return true;
            }
        }
    }
    return false;
}

/*
 * Looks into the bin, as into bands: a thread that stopped behind its switch has not counted the
 * record.
 */
static bool
a_group_is_ready(struct queue *queue)
{
    struct groups *groups = queue_groups(queue);

    return groups != NULL && !bin_is_empty(&groups->ready, &queue->runs);
}

/*
 * Can a pod be popped? A thread that stopped before it counted makes the sum wrong for ever. So the
 * sum decides only while `poppable` is 1; a pop that finds nothing sets it to 0. Otherwise the
 * bands are looked into: a producer may have stopped before it set the word, or woke a sleeper.
 */
static bool
a_pod_is_poppable(struct queue *queue, uint64_t active)
{
    schedq_words_t *words = &queue->base.words;

    return ((int64_t)active > 0 && u32_load(u32_of(&words->poppable)) != 0) ||
           (queue->base.rules.pop_from_backoff && u64_load(u64_of(&words->backoff)) > 0) ||
           is_in_a_band(queue);
}

/*
 * The host is told whether or not it is armed (readiness.h): a thread may have disarmed it, and
 * stopped before it told the host. If a thread began to write to the descriptor, or to read from
 * it, and has not ended, the host is told whether or not a pod is poppable.
 *
 * With a caller's clock each tick wakes all sleepers, which look at their deadlines. Else there is
 * no fence between the look for pods and the one for sleepers: a sleeper that both miss is found by
 * the next tick.
 *
 * True: something happened. Not so if only a group is poppable: those that sleep may all be waiting
 * for pods, however long the group waits for its pop.
 */
static bool
wake_sleepers(struct queue *queue, bool poppable, bool pods, bool popped)
{
    bool is_virtual = clock_is_virtual(&queue->base.clock);

    if (is_virtual) {
        sleepers_wake_all(&queue->sleepers);
    }
    bool awaited = poppable && waiters_are_there(&queue->sleepers);

    if (awaited && !popped && !is_virtual) {
        (void)sleepers_wake_one(&queue->sleepers);
    }
    if ((awaited && (is_virtual || !popped)) ||
        readiness_is_overdue(&queue->sleepers, queue_is_closed(queue))) {
        readiness_signal_always(&queue->sleepers, &queue->base.notifier);
    }
    return popped || (awaited && pods && !is_virtual);
}

/* Behind all that makes pods active; ends the section. True: something happened. */
static bool
keep_up(struct worker *worker, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    uint64_t drawn = stamps_drawn(&queue->stamps);
    const struct sums sums = look_at_workers(worker);

    if (queue->log.counted && sums.inflight == 0) {
        /* the pods that would ask for them are gone */
        event_log_forget(&queue->log, worker->hazard, drawn);
    }
    bool pods = a_pod_is_poppable(queue, sums.active);
    bool poppable = pods || a_group_is_ready(queue);

    if (u64_load(&queue->ended) != 0) {
        finish_ended(worker);
    }
    section_ask(worker);
    section_leave(worker);
    if (u64_load(&queue->house_waits) != 0) {
        workers_poll(queue);
    }
    epoch_poll_often(worker->epoch);
    result->poppable = poppable;
    if (poppable && u32_load(u32_of(&queue->base.words.poppable)) == 0) {
        u32_store(u32_of(&queue->base.words.poppable), 1); /* relaxed: it may say so for nothing */
    }
    bool popped = u64_load(&queue->pops_at_tick) != sums.pops &&
                  u64_exchange(&queue->pops_at_tick, sums.pops) != sums.pops;

    return wake_sleepers(queue, poppable, pods, popped);
}

/*
 * A sleeper that a producer woke may have stopped for ever, or the producer before it woke one. If
 * there is work, and no pop took any since the last time, one more is woken.
 */
bool
serve_upkeep(struct worker *worker, schedq_result_t *result)
{
    section_begin(worker);
    if (stray_is_noted(queue_of(worker), STRAY_NOTES | STRAY_GROUPS)) {
        (void)stray_gather_in_time(worker);
        look_at_groups(worker);
    }
    return keep_up(worker, result);
}

schedq_status_t
lockfree_tick(schedq_worker_t *base, int64_t *next, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);

    section_begin(worker);
    const bool noted = stray_is_noted(queue_of(worker), STRAY_NOTES | STRAY_GROUPS);

    if (noted) {
        (void)stray_gather(worker); /* what is due, and in no bin so far, is served too */
        look_at_groups(worker);
    }
    const struct served served = serve_time(worker, queue_now(queue_of(worker)), SERVE_ALL, result);
    (void)keep_up(worker, result);
    /* upkeep moves pods into backoff, behind the plan */
    int64_t wanted = time_earlier(served.next, deadline_read(&queue_of(worker)->deadline));

    *next = wanted > 0 ? wanted : 0; /* other threads plan, or have stopped: it is due now */
    bool lacks = (noted || wanted <= TIME_AT_ONCE) && stray_is_short(queue_of(worker), STRAY_NOTES);

    return served.no_memory || lacks ? SCHEDQ_NOMEM : SCHEDQ_OK;
}
