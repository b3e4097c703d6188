/*
 * Taking pods: the walk from the highest band down, the claim, and waiting.
 *
 * STRICT ORDER. A pop never returns Y if some X that ranks before Y was active during the whole
 * call. The walk looks into the bands from the top and takes the least key of the first that has
 * one; what it passes was empty, or its refs were stale, when it looked. Two things could hide X:
 *   X moved meanwhile from a place that the walk had not reached to one that it had passed. Only
 *   transfer_follow moves active pods, and it raises `reorder` between publication and switch. The
 *   walk reads `reorder` first (walk_take:A) and again before each claim and before EMPTY
 *   (take_plain:A): unchanged means that no such switch came before the walk looked.
 *
 *   X is in a band that is not shown, or whose leaf is not. X's producer marks the band before its
 *   call returns (band_mark). So that call is still running, and no caller was told yet that X is
 *   active.
 *
 * A stale head's key is at most its successor's, so the least key over unjudged heads is a lower
 * bound; the walk judges that head, and passes or claims it, before it looks for another. A lane
 * that was not looked into had nothing before that key when its front was read (bin.h).
 *
 * MANY PODS come from one walk, which goes on where the last pod was, as long as `reorder` is
 * unchanged: a pod that became active meanwhile in a band that the walk has passed was not active
 * during the whole call. Nor was a pod that came into the present band since the walk looked into
 * it (bin_next).
 *
 * THE STRAIGHT PATH is take_first: one pod, of the best band of the first leaf that has one, if
 * that band and those above it, which are empty, have one lane each and nothing else; take_plain
 * claims it by one CAS and answers from its record. If any of this does not hold, the call walks:
 * it begins anew, and takes plain pods in the same way.
 *
 * RELAXED. Inside a band any pod will do. The pop looks into the worker's own lane, then two
 * others, then runs; into the whole band only if these are empty. The bands are walked as above.
 *
 * LINEARIZATION. OK: the CAS of the claim (take_plain:B). EMPTY: the last load of `reorder`
 * (walk_take:B). CLOSED: EMPTY, if `closed` was set before the walk began.
 *
 * An updater replaces a pod's description before it moves the pod. A consumer that meets such a
 * pod in its old place moves it first, and looks again: so each pod is popped in the order of the
 * description that the caller gets.
 *
 * ORDERING
 *   ref, switch_announced:A, switch -> scan, take_plain:A, take_other:A or walk_take:B
 *       a walk that misses the pod in both places sees `reorder` raised since walk_take:A
 *   ref ; band_mark:A -> walk_on:A, walk_on:B, scan (band.h)
 *   a switch -> take_plain:B, take_other:B
 *       the holder sees what was stored for the pod before that switch
 *   begin_flight:A -> entry_pop_order
 *       a reader that finds an order finds `popped` of the same flight
 *   `reorder`, a switch, the count of backoff -> has_backoff:A, walk_take:B
 *       a pod left backoff for a band that the walk had passed: the walk sees `reorder` raised
 *   look_again:A, second look, the count of READY groups | ref ; publish_wake, gather_wake
 *   pop_or_sleep:A, second look | ref ; sleepers_wake_one:A (sleepers.c)
 *   pop_or_sleep:A, the deadline, sleepers_watch:A | the deadline ; sleepers_wake_for:A (timer.h)
 *   pop_or_sleep:A, the flag | lockfree_wait_cancel:A ; sleepers_wake_named:A (sleepers.c)
 *   readiness_arm:A, `closed`, second look | ref ; waiters_are_there (readiness.c)
 *   lockfree_close's exchange -> the load of `closed` before a walk
 *
 * PROGRESS. A walk begins again only if an update moved a pod; a claim fails only if another thread
 * claimed, moved or deleted the pod. A consumer that stops after the claim holds that pod and
 * nothing else: the next consumer passes the head that it did not advance.
 *
 * WAKE-UPS. A producer wakes one sleeper; a pop that takes a pod and leaves something behind wakes
 * the next. A sleeper whose deadline has passed looks for a pod once more before it leaves: a
 * producer may have woken it just then. A sleeper whose wait is cancelled takes no pod: it wakes
 * another sleeper.
 *
 * A HOST THAT WAITS ELSEWHERE (readiness.h) is told of the first pod behind a pop that found
 * nothing. Such a pop, if it does not wait, arms and looks again.
 *
 * CANCEL sets a flag in the worker. Each round of a wait looks at the flag before it looks for a
 * pod; the round that finds it set takes it back, and the wait ends.
 *
 * TIME. A waiting pop that finds time late serves one slice (serve.h), then looks for its pod. The
 * rest stays due. policy/slices.h says when it returns at its own deadline. A pop that returns
 * hands the rest, and the watch (sleepers.h), to one that sleeps; if none sleeps, the next pop that
 * finds nothing serves the rest.
 *
 * EVIDENCE. tests/model: claim, walk, help, sleepers, readiness; stress/explore: push_pop, claim,
 * urgent, bands, relaxed, update_raise, update_lower, told_*, tick_pop, sleep_*, cancel_*,
 * readiness_*, close; stress/history: strict order, lost wake-up; tests/unit/test_pop_order.c,
 * test_blocking_pop.c, test_wait_fd.c, test_wait_cancel.c, test_poppable.c, test_relaxed.c,
 * test_lockfree_half_done.c.
 */
#include "lockfree/calls/pop.h"
#include "lockfree/calls/class.h"
#include "lockfree/calls/ops.h"
#include "lockfree/calls/serve.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/gather_gate.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/publish.h"
#include "lockfree/moves/stray.h"
#include "lockfree/moves/switch.h"
#include "lockfree/refs/tie.h"
#include "policy/backoff.h"
#include "policy/history.h"
#include "policy/slices.h"

#include <string.h>

#define AHEAD 8 /* so many pods ahead, records are prefetched */

enum step { STEP_NOTHING, STEP_AGAIN, STEP_TAKEN };

/* ---- the claimed pod ------------------------------------------------------------------------- */

/* What updates and movers said of a pod that waited, as of the claim. */
struct said {
    struct description description;
    struct gating gating;
    uint64_t desc; /* names both */
};

/* Corrects the answer that the record gave; the holder stores the initial attempt in the record. */
RARELY static void
tell_said(const struct said *said, struct entry *entry, schedq_popped_t *out)
{
    out->priority = said->description.priority;
    out->nominated_node = said->description.nominated_node;
    out->flags = said->description.flags & POD_FLAGS;
    out->flushed = (said->gating.stay & STAY_FLUSHED) != 0;
    out->unschedulable |= said->gating.refused;
    if (out->history.initial_attempt_ns == 0) {
        out->history.initial_attempt_ns = said->gating.first;
        time_store(&entry->initial_attempt, said->gating.first);
    }
}

RARELY static int64_t
told_expiry(const struct queue *queue, const struct entry *entry)
{
    uint64_t counts = u64_load(&entry->attempts_rejections);
    const schedq_history_t history = {.timestamp_ns = time_load(&entry->timestamp),
                                      .attempts = (uint32_t)(counts >> 32),
                                      .rejections = (uint32_t)counts,
                                      .errors = u32_load(&entry->errors)};

    return backoff_public(backoff_expiry_of(queue, &history));
}

/* Draws what orders the pop among the pops, where the processor's count of ticks does not. */
RARELY static uint64_t
number_pop(struct queue *queue, schedq_popped_t *out)
{
    uint64_t number = u64_add(&queue->pop_orders, 1) + 1;

    out->cycle = queue->base.rules.count_cycles ? number : 0;
    return number;
}

/*
 * The record is this worker's: others only replace its description. So it is read and written
 * relaxed, behind take_plain:B. The description that the caller gets is that of the claim; the
 * record's own never changes. The lines that the end of the pod will write are prefetched: they
 * come while the caller works. `said` NULL: nothing was said. `order` 0: the pop draws an order of
 * its own.
 */
STRAIGHT void
begin_flight(struct queue *queue, struct entry *entry, uint64_t token, const struct said *said,
             uint64_t order, schedq_popped_t *out)
{
    uint64_t name = u64_load(&entry->name);

    out->token.bits = token;
    index_prefetch(&queue->index, (uint32_t)(name >> 32));
    out->name = entry_name(&queue->names, entry, (uint32_t)name);
    __builtin_prefetch(out->name, 1);
    out->pod = entry_handle(ref_record(token), u64_load(&entry->life));

    uint64_t object = said != NULL ? said->description.object : u64_load(&entry->object);

    out->object = object;

    uint64_t attributes = u64_load(&entry->attributes);

    out->name_length = attributes_name_length(attributes);
    out->priority = attributes_priority(attributes);
    out->profile = attributes_profile(attributes);
    out->flags = attributes_flags(attributes);
    out->from_backoff = 0;
    out->flushed = 0;
    memset(out->reserved, 0, sizeof out->reserved);
    out->nominated_node = 0;
    out->history.timestamp_ns = time_load(&entry->timestamp);
    out->history.initial_attempt_ns = time_load(&entry->initial_attempt);

    uint64_t counts = u64_load(&entry->attempts_rejections);
    uint32_t errors = u32_load(&entry->errors);
    uint32_t attempts = history_raised((uint32_t)(counts >> 32));

    out->history.attempts = attempts;
    out->history.rejections = (uint32_t)counts;
    out->history.errors = errors;
    out->history.reserved = 0;
    out->backoff_expiry_ns =
        backoff_never_was(&queue->base.rules.backoff, (uint32_t)counts | errors)
            ? 0
            : told_expiry(queue, entry);
    u64_store(&entry->attempts_rejections, (uint64_t)attempts << 32 | (uint32_t)counts);
    out->unschedulable = u64_load(&entry->unschedulable);
    u64_store(&entry->unschedulable, 0);
    out->pending = u64_load(&entry->pending);
    u64_store(&entry->pending, 0);
    out->seen = u64_load_acquire(u64_of(&queue->base.words.event_sequence)); /* of stamps_draw:A */
    u64_store(&entry->seen, out->seen);
    out->cycle = 0;
    if (said != NULL) {
        tell_said(said, entry, out);
    }
    u64_store(&entry->popped, object);
    u64_store_release(&entry->flight, /* begin_flight:A; not 0: `popped` is this flight's */
                      order != 0         ? order
                      : queue->has_ticks ? clock_ticks()
                                         : number_pop(queue, out));
    probe_pop(queue, out);
}

/* ---- one pod --------------------------------------------------------------------------------- */

/*
 * For a head whose pod's word is not simply what the ref says. Returns the word if the pod is here:
 * by an older ref that is still good, or because this thread helped it to come. Else 0, and the
 * head is passed.
 */
RARELY static uint64_t
look_at_head(struct worker *worker, struct bin *bin, struct bin_head *head, struct entry *entry)
{
    const struct bin_caller caller = bin_caller(worker);
    uint64_t ref = bin_head_ref(head);
    uint64_t state = 0;
    enum verdict verdict = entry != NULL ? bin_verdict_of(bin, entry, ref, &state) : VERDICT_STALE;

    if (verdict == VERDICT_VALID ||
        (verdict == VERDICT_FUTURE &&
         bin_help(bin, &caller, entry, ref, bin_head_cause(head), &state))) {
        return state;
    }
    bin_pass_stale(bin, head);
    return 0;
}

/*
 * Before the claim: takes a reference to the object, and reads what was said. False: another thread
 * changed, moved or took the pod.
 */
RARELY static bool
take_said(struct worker *worker, struct entry *entry, uint64_t state, struct said *said)
{
    struct queue *queue = queue_of(worker);

    /*
     * A worker may do nothing but pop, while its cycles are ended without a worker: records that
     * ended so must not pile up.
     */
    if (objects_counted(queue) && u64_load(&queue->ended) != 0) {
        finish_ended(worker);
    }
    if (!objects_take(worker, entry, state, &said->description, &said->desc)) {
        return false;
    }
    /*
     * The stay word is loaded relaxed, behind the acquire load of `state`. Stay word and gating are
     * as of the claim, because the claim compares the words.
     */
    (void)entry_gating(&queue->entries, entry, said->desc, &said->gating);
    gating_judge(&said->gating, u64_load(&entry->flight), state);
    return true;
}

struct walk {
    struct worker *worker;
    struct queue *queue;
    uint64_t reorder;
    struct band_table *table;
    schedq_popped_t *out; /* for the next pod */
    const schedq_popped_t *end;
    struct band_leaf *leaf; /* where it is */
    uint64_t rows, leaves;  /* from there on, as bits; rows 0: it is nowhere */
    uint32_t top;           /* the next */
    uint32_t kept_back;     /* pods since the last that was taken (class.h) */
    struct bin_head head;
};

/* Returns how many refs there are from the head on: a hint. */
STRAIGHT uint32_t
look_ahead(const struct queue *queue, const struct lane_head *head)
{
    uint32_t left = lane_left(head);

    if (left > AHEAD) {
        entry_prefetch(&queue->entries, lane_ahead(head, AHEAD));
    }
    return left;
}

/* Passes the head. Returns the same hint. */
STRAIGHT uint32_t
leave_head(const struct queue *queue, const struct bin_head *head)
{
    uint32_t left = head->is_run ? head->run.left : look_ahead(queue, &head->lane);

    bin_advance(head);
    return left;
}

/*
 * THE STRAIGHT PATH. Claims a pod if its word says exactly what its ref says, it has no description
 * of its own, and its object is not counted. Returns the token: the consumer passes the head next,
 * and then begins the flight. 0: one of these does not hold, or another thread changed the pod.
 * Nothing happened then.
 *
 * Both lines of the record will be read, then written: they are prefetched once, for writing.
 */
STRAIGHT uint64_t
take_plain(const struct bin *bin, uint64_t ref, struct queue *queue, uint64_t reorder,
           struct entry **taken)
{
    uint64_t state = bin_word_of(bin, ref);
    struct entry *entry = *taken = entry_at(&queue->entries, ref_record(ref));
    uint64_t version = state_next_version(state);

    if (entry == NULL) {
        return 0;
    }
    __builtin_prefetch(entry, 1);
    __builtin_prefetch((const char *)entry + CACHE_LINE, 1);
    if (entry_state(entry) != state ||
        u64_load_acquire(&queue->reorder) != reorder || /* take_plain:A */
        u64_load_acquire(&entry->word.high) != 0 || objects_counted(queue) ||
        !entry_switch(entry, state, 0, version | state_of(PLACE_INFLIGHT))) { /* take_plain:B */
        return 0;
    }
    return version | ref_record(ref);
}

/*
 * Does its class keep an active pod back? After CLASS_SLICE such pods in a row the next one is
 * taken.
 */
COLD static bool
keeps_back(struct walk *walk, uint32_t record, struct entry *entry, uint64_t state)
{
    bool kept = walk->kept_back < CLASS_SLICE && class_meet(walk->worker, record, entry, state);

    walk->kept_back += kept ? 1 : 0;
    return kept;
}

/*
 * Claims a pod that take_plain did not. NOTHING: the head was passed, or another thread changed the
 * pod. AGAIN: an update moved a pod since `reorder` was read.
 *
 * The record is addressed before its word is judged: behind the judgement the pod may end, and trim
 * may take its page.
 */
RARELY static enum step
take_other(struct walk *walk, struct bin *bin)
{
    struct worker *worker = walk->worker;
    struct queue *queue = queue_of(worker);
    uint64_t ref = bin_head_ref(&walk->head);
    struct entry *entry = entry_at(&queue->entries, ref_record(ref));
    uint64_t state = look_at_head(worker, bin, &walk->head, entry);
    struct said said;

    if (state == 0) {
        return STEP_NOTHING;
    }
    if (u64_load_acquire(&queue->reorder) != walk->reorder) { /* take_other:A */
        return STEP_AGAIN;
    }
    /* Described anew, and not moved so far: it has to be looked for in its new place. */
    if (state_place(state) == PLACE_ACTIVE && state_lag(state) != 0 &&
        transfer_follow(worker, ref_record(ref), u64_load_acquire(&entry->life))) {
        return STEP_AGAIN;
    }
    uint64_t version = state_next_version(state);

    if (!take_said(worker, entry, state, &said)) {
        return STEP_NOTHING;
    }
    if ((description_class(&said.description) != 0 &&
         keeps_back(walk, ref_record(ref), entry, state)) ||
        !entry_switch(entry, state, said.desc,
                      version | state_of(PLACE_INFLIGHT))) { /* take_other:B */
        object_release(worker, said.description.object);
        return STEP_NOTHING;
    }
    walk->kept_back = 0;
    walk->out->more = leave_head(queue, &walk->head) > 1;
    begin_flight(queue, entry, version | ref_record(ref), &said, 0, walk->out);
    return STEP_TAKEN;
}

STRAIGHT enum step
take_head(struct walk *walk, struct bin *bin)
{
    struct entry *entry;
    uint64_t token = take_plain(bin, bin_head_ref(&walk->head), walk->queue, walk->reorder, &entry);

    if (token == 0) {
        return take_other(walk, bin);
    }
    walk->out->more = leave_head(walk->queue, &walk->head) > 1;
    begin_flight(walk->queue, entry, token, NULL, 0, walk->out);
    return STEP_TAKEN;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* xorshift: which lanes a relaxed pop looks at. */
static uint32_t
next_random(struct worker *worker)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return (uint32_t)(worker->random >> 32);
}

/* Relaxed: any pod of the band, only the priority counts. */
RARELY static bool
look_around(struct walk *walk, struct bin *bin)
{
    struct worker *worker = walk->worker;

    return bin_any(bin, &walk->queue->runs, worker->base.number, next_random(worker), &walk->head);
}

/* The pod to take from a bin, or some other that shows that it is not empty. */
STRAIGHT bool
look_into(struct walk *walk, struct bin *bin)
{
    struct lane *lane = bin_only_lane(bin);

    if (lane != NULL) {
        return bin_first_of_lane(lane, &walk->head);
    }
    return (walk->queue->base.config.order == SCHEDQ_ORDER_RELAXED && look_around(walk, bin)) ||
           bin_compare(bin, &walk->queue->runs, &walk->head);
}

/* Takes more behind a pod that was taken. NOTHING: the bin has to be looked into again. */
RARELY static enum step
take_more(struct walk *walk, struct bin *bin)
{
    enum step step = STEP_TAKEN;

    while (step == STEP_TAKEN && walk->out != walk->end) {
        step = bin_next(&walk->head) ? take_head(walk, bin) : STEP_NOTHING;
        walk->out += step == STEP_TAKEN ? 1 : 0;
    }
    return step;
}

/* Takes from one bin until it is empty, or enough was taken. */
STRAIGHT enum step
take_from(struct walk *walk, struct bin *bin)
{
    /*
     * Ends: each further round took a pod or advanced a head, or another thread changed the pod.
     */
    while (look_into(walk, bin)) {
        enum step step = take_head(walk, bin);

        if (step == STEP_NOTHING) {
            continue;
        }
        if (step == STEP_AGAIN || ++walk->out == walk->end) {
            return step;
        }
        step = take_more(walk, bin);
        if (step != STEP_NOTHING) {
            return step;
        }
    }
    return STEP_NOTHING;
}

/*
 * A row that is shown but has no pods costs each walk a look at as many lanes as there are workers.
 * To take its bit away costs more than a few looks, and so does setting it again. So bits are taken
 * away after some looks for nothing, not at the first.
 */
static bool
passed_enough(struct worker *worker, uint64_t passed)
{
    for (uint32_t slots = queue_slots(queue_of(worker)); passed != 0; passed &= passed - 1) {
        worker->passed += slots;
    }
    if (worker->passed < BAND_PASSES) {
        return false;
    }
    worker->passed = 0;
    return true;
}

/* The walk passed `rows` of a leaf, but those in `rest`. */
RARELY static void
pass_rows(struct worker *worker, struct band_leaf *leaf, uint64_t rows, uint64_t rest)
{
    if (passed_enough(worker, rows & ~rest)) {
        bands_clear(&queue_of(worker)->bands, leaf,
                    rest != 0 ? (uint32_t)__builtin_ctzll(rest) + 1 : SUMMARY_ROWS);
    }
}

/* The walk passed leaves under its top that show no row. */
RARELY static void
pass_leaves(const struct walk *walk, uint64_t idle)
{
    walk->worker->walks = true;
    if (passed_enough(walk->worker, idle)) {
        bands_rest(&queue_of(walk->worker)->bands, walk->table, walk->top - 1, idle);
    }
}

/* Goes on to the next leaf that shows rows. False: there is none. */
STRAIGHT bool
walk_on(struct walk *walk)
{
    const struct band_table *table = walk->table;
    uint64_t leaves = walk->leaves & (walk->leaves - 1), begin = leaves;

    for (;; leaves &= leaves - 1) {
        while (leaves == 0) {
            if (begin != 0) {
                pass_leaves(walk, begin);
            }
            if (walk->top == table->top_count) {
                walk->rows = 0;
                return false;
            }
            begin = leaves = summary_bits(&table->tops[walk->top++]); /* walk_on:A */
        }
        uint32_t i = (walk->top - 1) * SUMMARY_ROWS + (uint32_t)__builtin_ctzll(leaves);

        walk->leaf = table->leaves[i].leaf;
        walk->rows = summary_bits(&walk->leaf->summary); /* walk_on:B, before the scans */
        if (walk->rows != 0) {
            break;
        }
    }
    walk->leaves = leaves;
    if (leaves != begin) {
        pass_leaves(walk, begin & ~leaves);
    }
    return true;
}

static enum step
walk_down(struct walk *walk)
{
    while (walk_on(walk)) {
        for (uint64_t rows = walk->rows; rows != 0; rows &= rows - 1) {
            enum step step = take_from(walk, &walk->leaf->rows[__builtin_ctzll(rows)].band->bin);

            if (step != STEP_NOTHING) {
                if (rows != walk->rows) {
                    pass_rows(walk->worker, walk->leaf, walk->rows, rows);
                }
                walk->rows = rows;
                return step;
            }
        }
        walk->worker->walks = true;
        pass_rows(walk->worker, walk->leaf, walk->rows, 0);
    }
    return STEP_NOTHING;
}

/*
 * May there be a pod to take out of backoff? The count is raised before a pod's switch, and lowered
 * behind the switch that takes it away: a pop that reads 0 because a pod became active finds
 * `reorder` raised.
 */
static bool
has_backoff(struct queue *queue)
{
    /* has_backoff:A reads from switch_change's additions */
    return queue->base.rules.pop_from_backoff &&
           u64_load_acquire(u64_of(&queue->base.words.backoff)) != 0;
}

/* The bin of the pod whose backoff ends first. Of pods with equal expiries tie.h decides. */
static struct bin *
first_in_backoff(struct walk *walk)
{
    struct queue *queue = queue_of(walk->worker);
    struct bin *best = NULL;

    for (uint32_t used = backoff_used(queue, PLACE_BACKOFF); used != 0;) {
        struct bin *bin = backoff_next_used(queue, PLACE_BACKOFF, &used);
        struct bin_head head;

        if (bin_first(bin, &queue->runs, &head) &&
            (best == NULL || ref_before(&bin->residence, bin_head_key(&head), bin_head_ref(&head),
                                        bin_head_key(&walk->head), bin_head_ref(&walk->head)))) {
            best = bin;
            walk->head = head;
        }
    }
    return best;
}

/*
 * Nothing is active: pods that back off are better than none, where the rules say so. Pods in error
 * backoff are left alone.
 */
RARELY static enum step
take_from_backoff(struct walk *walk)
{
    struct worker *worker = walk->worker;
    enum step step = STEP_NOTHING;
    struct bin *bin;

    /* Ends as take_from does. */
    while (step != STEP_AGAIN && walk->out != walk->end && (bin = first_in_backoff(walk)) != NULL) {
        step = take_head(walk, bin);
        if (step == STEP_TAKEN) {
            walk->out->from_backoff = 1;
            walk->out->more = 0; /* unknown */
            walk->out++;
            switch_leave(worker, PLACE_BACKOFF);
            switch_enter(worker, PLACE_ACTIVE); /* and out again: count_taken */
            switch_count(worker, PLACE_ACTIVE, cause_of(LABEL_POP_FROM_BACKOFF, false));
        }
    }
    return step;
}

/*
 * Is anything left behind the last pod that was taken? A hint: refs are not judged. Of lower bands
 * only the summaries are looked at, so a sleeper may be woken for nothing.
 */
RARELY static bool
something_is_left(struct walk *walk)
{
    if (has_backoff(queue_of(walk->worker))) {
        return true;
    }
    if (walk->rows == 0) {
        return false;
    }
    uint64_t leaf = walk->leaves & (0 - walk->leaves);
    uint64_t lower = ~(walk->rows ^ (walk->rows - 1));

    if ((summary_bits(&walk->leaf->summary) & lower) != 0 ||
        look_into(walk, &walk->leaf->rows[__builtin_ctzll(walk->rows)].band->bin)) {
        return true;
    }
    walk->leaves = leaf | (summary_bits(&walk->table->tops[walk->top - 1]) & (0 - leaf));
    return walk_on(walk);
}

/*
 * One walk: takes as many pods as there are, up to `end`. True: again, an update moved a pod that
 * is active.
 */
STRAIGHT bool
walk_take(struct walk *walk, const schedq_popped_t *begin)
{
    struct queue *queue = walk->queue;

    walk->reorder = u64_load_acquire(&queue->reorder); /* walk_take:A */
    walk->table = bands_table(&queue->bands);
    walk->rows = walk->leaves = walk->top = 0;
    enum step step = walk_down(walk);

    if (step == STEP_NOTHING && has_backoff(queue)) {
        step = take_from_backoff(walk);
    }
    return step == STEP_AGAIN || (walk->out == begin && u64_load_acquire(&queue->reorder) !=
                                                            walk->reorder); /* walk_take:B */
}

/*
 * Nothing was found: is there a reason to look once more?
 *
 * Hosts look at words.poppable without a call: it may say 1 for nothing, and must not say 0 for
 * long if there is something. A producer publishes, fences, and sets it if it is 0. A pop that
 * found nothing sets it to 0 (a full fence), and looks a second time.
 */
RARELY static bool
look_again(struct worker *worker, enum pop_look *look)
{
    atomic_u32 *poppable = u32_of(&queue_of(worker)->base.words.poppable);

    if (*look == POP_LOOK_FIRST) {
        *look = POP_LOOK_BEHIND_STRAYS;
        if (stray_gather_in_time(worker)) {
            return true;
        }
    }
    if (*look == POP_LOOK_BEHIND_POPPABLE || u32_load(poppable) == 0) {
        return false;
    }
    *look = POP_LOOK_BEHIND_POPPABLE;
    if (queue_has_ready(queue_of(worker))) {
        return false; /* a group is poppable */
    }
    (void)u32_exchange(poppable, 0); /* look_again:A */
    if (queue_has_ready(queue_of(worker))) {
        u32_store(poppable, 1); /* a group is poppable by now; no look for pods finds it */
    }
    return true;
}

void
pop_looked(struct worker *worker, enum pop_look look)
{
    if (look == POP_LOOK_BEHIND_POPPABLE) {
        u32_store(u32_of(&queue_of(worker)->base.words.poppable), 1);
    }
}

/* May look_again say yes? Most often not: two words tell. */
static bool
may_look_again(struct queue *queue)
{
    return u32_load(u32_of(&queue->base.words.poppable)) != 0 || stray_is_noted(queue, STRAY_NOTES);
}

/*
 * The only top shows no leaf, and was read behind `reorder`. Is EMPTY the answer? False: the call
 * has to walk.
 */
static bool
nothing_else_is_there(struct queue *queue, const struct band_table *table, uint64_t reorder)
{
    return table->top_count == 1 && !has_backoff(queue) && !may_look_again(queue) &&
           !queue_is_closed(queue) &&
           u64_load_acquire(&queue->reorder) == reorder; /* as walk_take:B */
}

static void
pass_wake_up(struct worker *worker, const schedq_popped_t *last)
{
    struct queue *queue = queue_of(worker);

    if (last->more && waiters_are_there(&queue->sleepers)) {
        waiters_wake(&queue->sleepers, &queue->base.notifier);
    }
}

/*
 * Counted once for all pods of the call. A tick that does not find them counted may forget events
 * that came during their flights; their holders find gaps in the log, and judge by the stamps.
 */
static void
count_taken(struct worker *worker, size_t count)
{
    tally_add(&worker->tally.active, 0 - count);
    tally_add(&worker->tally.inflight, count);
    tally_add_last(&worker->tally.pops, count); /* count_taken:A, read by read_leaves */
}

static schedq_status_t
walk_for(struct worker *worker, schedq_popped_t *out, size_t capacity, size_t *count)
{
    struct queue *queue = queue_of(worker);
    bool closed = queue_is_closed(queue);
    enum pop_look look = POP_LOOK_FIRST;
    struct walk walk;

    worker->walks = false;
    walk.worker = worker;
    walk.queue = queue;
    walk.out = out;
    walk.end = out + capacity;
    walk.kept_back = 0;
    /* Ends: each further round means that an update moved a pod, or is due to look_again. */
    while (walk_take(&walk, out) ||
           (walk.out == out && may_look_again(queue) && look_again(worker, &look))) {
    }
    *count = (size_t)(walk.out - out);
    if (*count == 0) {
        return closed ? SCHEDQ_CLOSED : SCHEDQ_EMPTY;
    }
    schedq_popped_t *last = &out[*count - 1];

    worker->walks = worker->walks || !walk.head.alone;
    count_taken(worker, *count);
    for (; out != last; out++) {
        out->more = 1;
    }
    if (!last->more) {
        last->more = *count == capacity && something_is_left(&walk);
    }
    pop_looked(worker, look);
    pass_wake_up(worker, last);
    return SCHEDQ_OK;
}

RARELY static schedq_status_t arm_and_take(struct worker *worker, schedq_popped_t *out,
                                           size_t capacity, size_t *count);

/* `arms`: if nothing is found, the host is told of the next pod. */
static schedq_status_t
leave_empty(struct worker *worker, schedq_popped_t *out, size_t capacity, size_t *count, bool arms)
{
    *count = 0;
    section_leave(worker);
    return arms && notifier_is_used(&queue_of(worker)->base.notifier)
               ? arm_and_take(worker, out, capacity, count)
               : SCHEDQ_EMPTY;
}

/*
 * Takes several pods, or one that the straight path did not. take_said may have let go of what
 * ended without a worker, and so swept hints: what waits is freed.
 */
RARELY static schedq_status_t
take_walking(struct worker *worker, schedq_popped_t *out, size_t capacity, size_t *count, bool arms)
{
    schedq_status_t status = walk_for(worker, out, capacity, count);

    if (status == SCHEDQ_EMPTY) {
        return leave_empty(worker, out, capacity, count, arms);
    }
    section_leave_ended(worker);
    return status;
}

/* something_is_left behind a pod that was the last that its band was seen to have. */
RARELY static bool
left_behind(struct worker *worker, struct band_table *table, uint64_t leaves,
            struct band_leaf *leaf, uint64_t rows)
{
    struct walk walk;

    walk.worker = worker;
    walk.queue = queue_of(worker);
    walk.table = table;
    walk.leaf = leaf;
    walk.rows = rows;
    walk.leaves = leaves;
    walk.top = 1;
    return something_is_left(&walk);
}

/* Takes a pod under the first top, which shows `leaves`. `reorder` was read before. */
STRAIGHT bool
take_first(struct worker *worker, struct band_table *table, uint64_t leaves, uint64_t reorder,
           schedq_popped_t *out)
{
    struct queue *queue = queue_of(worker);
    struct band_leaf *leaf = table->leaves[__builtin_ctzll(leaves)].leaf;
    const uint64_t shown = summary_bits(&leaf->summary); /* as walk_on:B */

    for (uint64_t rows = shown; rows != 0; rows &= rows - 1) {
        struct bin *bin = &leaf->rows[__builtin_ctzll(rows)].band->bin;
        struct lane *lane = bin_only_lane(bin);
        struct lane_head head;
        struct entry *entry;

        if (lane != NULL && !lane_peek(lane, &head)) {
            continue;
        }
        uint64_t token = lane != NULL ? take_plain(bin, head.ref, queue, reorder, &entry) : 0;

        if (token == 0) {
            return false;
        }
        bool more = look_ahead(queue, &head) > 1;

        lane_pass_one(&head);
        out->more = more;
        begin_flight(queue, entry, token, NULL, 0, out);
        if (!more) {
            out->more = (rows & (rows - 1)) != 0 || left_behind(worker, table, leaves, leaf, rows);
        }
        if (rows != shown) {
            pass_rows(worker, leaf, shown, rows);
        }
        return true;
    }
    return false;
}

/* Takes one pod by the straight path, as nearly always; else the call walks. */
__attribute__((noinline)) static schedq_status_t
take_at_once(struct worker *worker, schedq_popped_t *out, size_t capacity, size_t *count, bool arms)
{
    struct queue *queue = queue_of(worker);
    uint64_t reorder = u64_load_acquire(&queue->reorder); /* as walk_take:A */
    struct band_table *table = bands_table(&queue->bands);
    uint64_t leaves = summary_bits(&table->tops[0]); /* as walk_on:A */

    if (leaves != 0 && take_first(worker, table, leaves, reorder, out)) {
        *count = 1;
        count_taken(worker, 1);
        pass_wake_up(worker, out);
        section_leave(worker);
        return SCHEDQ_OK;
    }
    if (leaves == 0 && nothing_else_is_there(queue, table, reorder)) {
        return leave_empty(worker, out, capacity, count, arms);
    }
    return take_walking(worker, out, capacity, count, arms);
}

/* Callers jump from here: both ways are there once, and their steps, each called once, in line. */
static schedq_status_t
take(struct worker *worker, schedq_popped_t *out, size_t capacity, size_t *count, bool arms)
{
    if (capacity > 1) {
        u64_store(&worker->room, capacity);
    }
    section_begin(worker);
    return capacity > 1 || worker->walks ? take_walking(worker, out, capacity, count, arms)
                                         : take_at_once(worker, out, capacity, count, arms);
}

/* Nothing was found. If the host would not be told of the next pod, arms, and looks again. */
static schedq_status_t
arm_and_take(struct worker *worker, schedq_popped_t *out, size_t capacity, size_t *count)
{
    struct queue *queue = queue_of(worker);

    if (readiness_is_armed(&queue->sleepers)) {
        return SCHEDQ_EMPTY;
    }
    readiness_arm(&queue->sleepers, &queue->base.notifier);
    schedq_status_t status = take(worker, out, capacity, count, false);

    if (status != SCHEDQ_EMPTY || !readiness_keep(&queue->sleepers)) {
        readiness_disarm(&queue->sleepers, &queue->base.notifier);
    }
    return status;
}

schedq_status_t
lockfree_pop(schedq_worker_t *base, schedq_popped_t *out, size_t capacity, size_t *count)
{
    return take(worker_of(base), out, capacity, count, true);
}

/* ---- for a pop of groups --------------------------------------------------------------------- */

/*
 * Takes the best pod before the limit. The key of a stale head is a lower bound, so it may end the
 * search too.
 */
static enum step
walk_before(struct walk *walk, const struct pop_limit *limit)
{
    while (walk_on(walk)) {
        for (uint64_t rows = walk->rows; rows != 0; rows &= rows - 1) {
            struct band *band = walk->leaf->rows[__builtin_ctzll(rows)].band;
            struct bin *bin = &band->bin;

            if (limit != NULL && band->priority < limit->rank) {
                return STEP_NOTHING;
            }
            while (look_into(walk, bin)) {
                if (limit != NULL && band->priority == limit->rank &&
                    bin_head_key(&walk->head) >= limit->key) {
                    return STEP_NOTHING;
                }
                enum step step = take_head(walk, bin);

                if (step != STEP_NOTHING) {
                    walk->rows = rows;
                    return step;
                }
            }
        }
    }
    return STEP_NOTHING;
}

enum pop_step
pop_before(struct worker *worker, uint64_t reorder, const struct pop_limit *limit,
           schedq_popped_t *out)
{
    struct queue *queue = queue_of(worker);
    struct walk walk;

    walk.worker = worker;
    walk.queue = queue;
    walk.out = out;
    walk.end = out + 1;
    walk.kept_back = 0;
    walk.reorder = reorder;
    walk.table = bands_table(&queue->bands);
    walk.rows = walk.leaves = walk.top = 0;
    enum step step = walk_before(&walk, limit);

    if (step == STEP_NOTHING && limit == NULL && has_backoff(queue)) {
        step = take_from_backoff(&walk);
    }
    if (step == STEP_TAKEN) {
        count_taken(worker, 1);
        out->more = out->more || queue_has_ready(queue) || something_is_left(&walk);
        pass_wake_up(worker, out);
    }
    return step == STEP_TAKEN ? POP_TAKEN : step == STEP_AGAIN ? POP_AGAIN : POP_NOTHING;
}

uint64_t
pop_draw_order(struct queue *queue)
{
    return queue->has_ticks ? clock_ticks() : u64_add(&queue->pop_orders, 1) + 1;
}

bool
pop_something_is_left(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    struct walk walk;
    bool left = queue_has_ready(queue) || has_backoff(queue);

    walk.worker = worker;
    walk.queue = queue;
    walk.table = bands_table(&queue->bands);
    walk.rows = walk.leaves = walk.top = 0;
    while (!left && walk_on(&walk)) {
        for (uint64_t rows = walk.rows; !left && rows != 0; rows &= rows - 1) {
            left = look_into(&walk, &walk.leaf->rows[__builtin_ctzll(rows)].band->bin);
        }
    }
    return left;
}

bool
pop_looks_again(struct worker *worker, enum pop_look *look)
{
    return may_look_again(queue_of(worker)) && look_again(worker, look);
}

bool
pop_take_member(struct worker *worker, struct gathered_pod *pod)
{
    struct view *view = &pod->view;
    struct said said;

    /*
     * The first round takes it as it was read, if it has not changed since. Ends: each further
     * round is another thread's change of the member.
     */
    while ((entry_state(view->entry) == view->state ||
            report_view(queue_of(worker), pod->record, view->life, view)) &&
           state_place(view->state) == PLACE_ASIDE &&
           gather_passed(queue_of(worker), view->state)) {
        uint64_t version = state_next_version(view->state);

        if (!take_said(worker, view->entry, view->state, &said)) {
            continue;
        }
        if (entry_switch(view->entry, view->state, said.desc, version | state_of(PLACE_INFLIGHT))) {
            pod->token = version | pod->record;
            view->description = said.description;
            view->gating = said.gating;
            view->desc = said.desc;
            switch_leave(worker, PLACE_ASIDE);
            switch_enter(worker, PLACE_INFLIGHT);
            return true;
        }
        object_release(worker, said.description.object);
    }
    return false;
}

void
pop_give_back(struct worker *worker, struct gathered_pod *pod)
{
    struct entry *entry = pod->view.entry;
    uint64_t token = pod->token;

    pod->token = 0;
    u64_store(&entry->popped, pod->view.description.object); /* finish_flight gives it back */
    switch_enter(worker, PLACE_ASIDE);
    /* Ends: each further round is a flag, or another description. */
    for (;;) {
        uint64_t state = entry_state(entry);

        if ((state & FLAG_DELETED) != 0) {
            switch_leave(worker, PLACE_ASIDE);
            (void)finish_flight(worker, (schedq_token_t){token});
            return;
        }
        if (u64_cas(&entry->word.low, state, state_switched(state, 0, PLACE_ASIDE))) {
            switch_leave(worker, PLACE_INFLIGHT);
            object_give_back(queue_of(worker), pod->view.description.object);
            return;
        }
    }
}

void
pop_begin_member(struct worker *worker, const struct gathered_pod *pod, uint64_t cycle,
                 uint64_t order, int64_t since, schedq_popped_t *out)
{
    struct entry *entry = pod->view.entry;
    const struct said said = {
        .description = pod->view.description, .gating = pod->view.gating, .desc = pod->view.desc};

    begin_flight(queue_of(worker), entry, pod->token, &said, order, out);
    u64_store(&entry->seen, cycle);
    if (out->history.initial_attempt_ns == 0 && since != 0) {
        out->history.initial_attempt_ns =
            since > out->history.timestamp_ns ? since : out->history.timestamp_ns;
        time_store(&entry->initial_attempt, out->history.initial_attempt_ns);
    }
    tally_add_last(&worker->tally.pops, 1); /* as count_taken:A */
}

/* ---- waiting --------------------------------------------------------------------------------- */

/*
 * The queue's clock need not be CLOCK_MONOTONIC: the time that is left on the one is added to the
 * other.
 */
static int64_t
futex_deadline(const struct queue *queue, int64_t deadline, int64_t now)
{
    if (deadline == SCHEDQ_NO_DEADLINE || clock_is_virtual(&queue->base.clock)) {
        return FUTEX_NO_DEADLINE;
    }
    return time_add(clock_monotonic(), time_add(deadline, -now));
}

/* One waiting call, and what it asks for. */
struct wait {
    struct server server;
    struct slices slices;
    schedq_popped_t *out;
    size_t capacity;
    size_t *count;
    struct group_pop *pop; /* NULL: of pods */
};

static schedq_status_t
take_for(struct worker *worker, const struct wait *wait)
{
    return wait->pop != NULL ? group_take(worker, wait->pop)
                             : take(worker, wait->out, wait->capacity, wait->count, false);
}

/* CANCELED: schedq_wait_cancel wanted this wait to end; the flag is taken back. */
static schedq_status_t
look_once(struct worker *worker, const struct wait *wait)
{
    atomic_u32 *canceled = u32_of(&worker->base.canceled);

    /* A flag that this look misses is found by the next round, or by the next wait. */
    if (u32_load(canceled) != 0) {
        (void)u32_exchange(canceled, 0);
        *wait->count = 0;
        return SCHEDQ_CANCELED;
    }
    return take_for(worker, wait);
}

/* `until` on CLOCK_MONOTONIC. */
static void
sleep_in_word(const struct wait *wait, const struct sleepers_ticket *ticket, int64_t until)
{
    schedq_worker_t *worker = &wait->server.worker->base;

    worker_sleeps(worker);
    sleepers_wait(&queue_of(wait->server.worker)->sleepers, ticket->sequence, until,
                  worker->number);
    worker_wakes(worker);
}

/*
 * The deadline is read after sleepers_prepare:A, so a thread that lowers it later changes the
 * sequence, or the new deadline is watched (sleepers.c).
 */
static void
sleep_in_line(const struct wait *wait, const struct sleepers_ticket *ticket, int64_t now)
{
    struct queue *queue = queue_of(wait->server.worker);
    struct sleepers *sleepers = &queue->sleepers;
    int64_t wanted = serve_wanted(queue);
    int64_t until = time_earlier(wait->slices.deadline, time_add(now, WATCH_NS * ticket->position));

    wanted = wanted > wait->server.again ? wanted : wait->server.again;
    if (clock_is_virtual(&queue->base.clock) ||
        !sleepers_watch(sleepers, wanted, now, queue->base.rules.tick_ns)) {
        sleep_in_word(wait, ticket, futex_deadline(queue, until, now));
        return;
    }
    if (wanted > now) {
        sleep_in_word(wait, ticket, futex_deadline(queue, time_earlier(until, wanted), now));
    }
    sleepers_unwatch(sleepers, wanted);
}

/* Serves one slice only: then the call looks for its pod. */
static bool
serve_slice(struct wait *wait, int64_t now)
{
    struct slices *slices = &wait->slices;

    slices->serving = slices_go_on(slices, &now) &&
                      server_serve(&wait->server, serve_wanted(queue_of(wait->server.worker)), now);
    return slices->serving;
}

/* One round: SCHEDQ_EMPTY means that it is worth another. */
static schedq_status_t
pop_or_sleep(struct wait *wait)
{
    struct worker *worker = wait->server.worker;
    struct queue *queue = queue_of(worker);
    /* pop_or_sleep:A, a full fence */
    const struct sleepers_ticket ticket = sleepers_prepare(&queue->sleepers);
    schedq_status_t status = look_once(worker, wait);

    if (status == SCHEDQ_EMPTY) {
        int64_t now = queue_now(queue);

        if (!serve_slice(wait, now)) {
            if (slices_are_late(&wait->slices, now)) {
                status = SCHEDQ_TIMEDOUT;
            } else {
                sleep_in_line(wait, &ticket, now);
            }
        }
    }
    sleepers_cancel(&queue->sleepers);
    return status;
}

/* Hands what this call leaves unserved, and the watch for what comes next, to another sleeper. */
static void
hand_over_watch(struct queue *queue)
{
    if (!clock_is_virtual(&queue->base.clock)) {
        serve_wake_sleeper(queue); /* behind sleepers_cancel:A */
    }
}

static schedq_status_t
wait_and_take(struct worker *worker, struct wait *wait)
{
    struct queue *queue = queue_of(worker);
    schedq_status_t status = look_once(worker, wait);

    if (status != SCHEDQ_EMPTY) {
        return status;
    }
    server_begin(&wait->server, worker);
    /* Waits for a pod, the deadline, or the end: the one loop here that need not end. */
    while (status == SCHEDQ_EMPTY) {
        status = pop_or_sleep(wait);
    }
    /*
     * This caller leaves without a pod: a wake-up that reached it was perhaps meant for another
     * sleeper.
     */
    if (status == SCHEDQ_TIMEDOUT) {
        status = take_for(worker, wait);
        status = status == SCHEDQ_EMPTY ? SCHEDQ_TIMEDOUT : status;
    } else if (status == SCHEDQ_CANCELED) {
        (void)sleepers_wake_one(&queue->sleepers); /* behind sleepers_cancel:A */
    }
    hand_over_watch(queue);
    return status;
}

schedq_status_t
lockfree_pop_waiting(schedq_worker_t *base, int64_t deadline, schedq_popped_t *out, size_t capacity,
                     size_t *count)
{
    struct wait wait = {
        .slices = {.deadline = deadline}, .out = out, .capacity = capacity, .count = count};

    return wait_and_take(worker_of(base), &wait);
}

schedq_status_t
lockfree_pop_group(schedq_worker_t *base, bool waits, int64_t deadline,
                   schedq_popped_group_t *group, schedq_popped_t *members, size_t room,
                   size_t *count)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    struct group_pop pop = {.group = group, .members = members, .room = room};
    struct wait wait = {.slices = {.deadline = deadline}, .pop = &pop, .count = &pop.count};
    schedq_status_t status = waits ? wait_and_take(worker, &wait) : group_take(worker, &pop);

    if (status == SCHEDQ_EMPTY && notifier_is_used(&queue->base.notifier) &&
        !readiness_is_armed(&queue->sleepers)) {
        readiness_arm(&queue->sleepers, &queue->base.notifier);
        status = group_take(worker, &pop);
        if (status != SCHEDQ_EMPTY || !readiness_keep(&queue->sleepers)) {
            readiness_disarm(&queue->sleepers, &queue->base.notifier);
        }
    }
    *count = status == SCHEDQ_OK || status == SCHEDQ_FULL ? pop.count : 0;
    return status;
}

void
lockfree_wait_cancel(schedq_worker_t *base)
{
    struct queue *queue = queue_of(worker_of(base));

    (void)u32_exchange(u32_of(&base->canceled), 1); /* lockfree_wait_cancel:A */
    sleepers_wake_named(&queue->sleepers, base->number);
}

void
lockfree_tell_host(schedq_t *base)
{
    readiness_signal_always(&queue_of_base(base)->sleepers, &base->notifier);
}

/* ---- close ----------------------------------------------------------------------------------- */

void
lockfree_close(schedq_t *base)
{
    struct queue *queue = queue_of_base(base);

    /* before the sleepers are woken: they look at it again */
    (void)u32_exchange(u32_of(&base->words.closed), 1);
    sleepers_wake_all(&queue->sleepers);
    readiness_signal_always(&queue->sleepers, &base->notifier);
}
