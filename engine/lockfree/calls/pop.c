/*
 * Taking pods: the walk from the highest band down, the claim, and waiting.
 *
 * STRICT ORDER. A pop never returns Y if some X that ranks before Y was active during the whole
 * call. The walk looks into the bands from the top and takes the least key of the first that has
 * one; what it passes was empty, or its refs were stale, when it looked. Two things could hide X:
 *   X moved meanwhile from a place that the walk had not reached to one that it had passed. Only
 *   transfer_follow moves active pods, and it raises `reorder` between publication and switch. The
 *   walk reads `reorder` first (walk_take:A) and again before each claim and before EMPTY
 *   (take_head:A): unchanged means that no such switch came before the walk looked.
 *
 *   X is in a bin whose word is CLEAR. X's producer sets the word before its call returns
 *   (bin_mark). So that call is still running, and no caller was told yet that X is active.
 *
 * A stale head's key is at most its successor's, so the least key over unjudged heads is a lower
 * bound; it is judged, and passed or claimed, before another is looked for.
 *
 * RELAXED. Inside a band any pod will do: first the worker's own lane, then two others, then runs;
 * all of it only if these are empty. The bands are walked as above.
 *
 * LINEARIZATION. OK: the CAS of the claim (claim:A). EMPTY: the last load of `reorder`
 * (walk_take:B). CLOSED: EMPTY, if `closed` was set before the walk began.
 *
 * An updater replaces a pod's description before it moves the pod. A consumer that meets such a
 * pod in its old place moves it first, and looks again: so each pod is popped in the order of the
 * description that the caller gets.
 *
 * ORDERING
 *   ref, switch_announced:A, switch -> scan, take_head:A or walk_take:B
 *       a walk that misses the pod in both places sees `reorder` raised since walk_take:A
 *   ref ; bin_mark_from:A -> walk_leaf:A, scan (bin.h)
 *   a switch -> claim:A
 *       the holder sees what was stored for the pod before that switch
 *   begin_flight:A -> entry_pop_order
 *       if there is an order, `popped` is this flight's
 *   take_or_say_empty:A, second look | ref ; publish_wake
 *   pop_or_sleep:A, second look | ref ; sleepers_wake_one:A (sleepers.c)
 *   pop_or_sleep:A, the deadline, sleepers_watch:A | the deadline ; sleepers_wake_for:A (timer.h)
 *   lockfree_close's exchange -> the load of `closed` before a walk
 *
 * PROGRESS. A walk begins again only if an update moved a pod; a claim fails only if another thread
 * claimed, moved or deleted the pod. A consumer that stops after the claim holds that pod and
 * nothing else: the head it did not advance is passed by the next.
 *
 * WHO WAKES WHOM. A producer wakes one sleeper; a pop that takes a pod and leaves something behind
 * wakes the next. A sleeper that leaves by its deadline looks once more: the wake-up may have been
 * meant for it.
 *
 * TIME. A waiting pop that finds time late serves one slice (serve.h), then looks for its pod. The
 * rest stays due. A pop that leaves hands it over, with the
 * watch (sleepers.h), to one that sleeps; if none does, the next that finds nothing to pop serves
 * it.
 *
 * EVIDENCE. tests/model: claim, walk, help, sleepers; stress/explore: push_pop, claim, bands,
 * relaxed, update_raise, update_lower, told_*, tick_pop, sleep_*, close; stress/history: strict
 * order, lost wake-up; tests/unit/test_pop_order.c, test_blocking_pop.c, test_poppable.c,
 * test_relaxed.c.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/calls/serve.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/publish.h"
#include "lockfree/moves/stray.h"
#include "lockfree/moves/switch.h"
#include "lockfree/refs/tie.h"
#include "policy/backoff.h"
#include "policy/history.h"

#include <string.h>

#define AHEAD_RECORD 8 /* its lines are brought */
#define AHEAD_NAME 4   /* its record is here by now: what done will write is brought */

/* ---- the walk -------------------------------------------------------------------------------- */

enum step { STEP_NOTHING, STEP_AGAIN, STEP_TAKEN };

struct walk {
    struct worker *worker;
    struct band_table *table;
    uint64_t reorder;
    struct bin_head head; /* what was taken */
    uint32_t leaf, row;   /* where it was */
    uint32_t record;
    struct entry *entry;
    uint64_t state; /* in flight */
    bool from_backoff;
    struct description description;
    struct gating gating; /* of a pod that has a description of its own */
    uint64_t desc;        /* at the claim */
};

/* ---- the claimed pod ------------------------------------------------------------------------- */

static void
describe_history(const struct queue *queue, const struct entry *entry, schedq_popped_t *out)
{
    uint64_t counts = u64_load(&entry->attempts_rejections);

    out->history.timestamp_ns = time_load(&entry->timestamp);
    out->history.initial_attempt_ns = time_load(&entry->initial_attempt);
    out->history.attempts = (uint32_t)(counts >> 32);
    out->history.rejections = (uint32_t)counts;
    out->history.errors = (uint32_t)u64_load(&entry->errors);
    out->history.reserved = 0;
    out->backoff_expiry_ns = backoff_public(backoff_expiry_of(queue, &out->history));
    out->history.attempts = history_raised(out->history.attempts);
}

/* What movers said of the pod while it waited: the holder makes it the record's. */
static void
take_gating(const struct walk *walk, schedq_popped_t *out)
{
    out->unschedulable |= walk->gating.refused;
    if (out->history.initial_attempt_ns == 0) {
        out->history.initial_attempt_ns = walk->gating.first;
        time_store(&walk->entry->initial_attempt, walk->gating.first);
    }
}

/*
 * The record is this worker's: others only replace its description. So it is read and written
 * relaxed, behind claim:A. The description that the
 * caller gets is that of the claim.
 */
static void
begin_flight(const struct walk *walk, schedq_popped_t *out)
{
    struct queue *queue = queue_of(walk->worker);
    struct entry *entry = walk->entry;
    uint64_t attributes = u64_load(&entry->attributes);
    bool counts = queue->base.rules.count_cycles || !queue->has_ticks;
    uint64_t order = counts ? u64_add(&queue->pop_orders, 1) + 1 : clock_ticks();

    describe_history(queue, entry, out);
    out->token.bits = ref_make(state_version(walk->state), walk->record);
    out->pod = entry_handle(walk->record, u64_load(&entry->life));
    out->object = walk->description.object;
    out->name = names_text(&queue->names, (uint32_t)u64_load(&entry->name));
    out->name_length = attributes_name_length(attributes);
    out->priority = walk->description.priority;
    out->unschedulable = u64_load(&entry->unschedulable);
    out->pending = u64_load(&entry->pending);
    out->seen = u64_load_acquire(u64_of(&queue->base.words.event_sequence)); /* of stamps_draw:A */
    out->cycle = queue->base.rules.count_cycles ? order : 0;
    out->nominated_node = walk->description.nominated_node;
    out->from_backoff = walk->from_backoff;
    out->profile = attributes_profile(attributes);
    out->flags = walk->description.flags;
    memset(out->reserved, 0, sizeof out->reserved);
    if (walk->desc != 0) {
        take_gating(walk, out);
    }
    u64_store(&entry->attempts_rejections,
              (uint64_t)out->history.attempts << 32 | out->history.rejections);
    u64_store(&entry->unschedulable, 0);
    u64_store(&entry->pending, 0);
    u64_store(&entry->seen, out->seen);
    u64_store(&entry->popped, walk->description.object);
    u64_store_release(&entry->flight, order); /* begin_flight:A; not 0: `popped` is this flight's */
}

/* ---- taking ---------------------------------------------------------------------------------- */

/* The coming pods' lines come from memory while the caller works. */
static void
prefetch_coming(const struct walk *walk)
{
    const struct queue *queue = queue_of(walk->worker);

    if (walk->head.is_run) {
        return;
    }
    const struct entry *far = lane_ahead(&walk->head.lane, &queue->entries, AHEAD_RECORD);
    const struct entry *near = lane_ahead(&walk->head.lane, &queue->entries, AHEAD_NAME);

    if (far != NULL) {
        __builtin_prefetch(far, 1);
        __builtin_prefetch((const char *)far + CACHE_LINE, 1);
    }
    if (near != NULL) {
        uint64_t name = u64_load(&near->name);

        index_prefetch(&queue->index, (uint32_t)(name >> 32));
        names_prefetch(&queue->names, (uint32_t)name);
    }
}

/* xorshift: which lanes a relaxed pop looks at. */
static uint32_t
next_random(struct worker *worker)
{
    worker->random ^= worker->random << 13;
    worker->random ^= worker->random >> 7;
    worker->random ^= worker->random << 17;
    return (uint32_t)(worker->random >> 32);
}

/* The pod to take from a band. Relaxed: any, only the priority counts. */
static bool
look_into(struct walk *walk, struct bin *bin)
{
    struct worker *worker = walk->worker;
    struct queue *queue = queue_of(worker);

    if (queue->base.config.order == SCHEDQ_ORDER_RELAXED &&
        bin_any(bin, &queue->runs, worker->base.number, next_random(worker), &walk->head)) {
        return true;
    }
    return bin_first(bin, &queue->runs, &walk->head);
}

/* False: another thread changed, moved or took the pod. */
static bool
claim(struct walk *walk, uint64_t state)
{
    const struct queue *queue = queue_of(walk->worker);
    uint64_t desc;

    if (!objects_take(walk->worker, walk->entry, state, &walk->description, &desc)) {
        return false;
    }
    walk->desc = desc;
    if (desc != 0) {
        /*
         * The stay word is relaxed: behind the acquire of `state`; both are as of the claim, which
         * compares the words.
         */
        (void)entry_gating(&queue->entries, walk->entry, desc, &walk->gating);
        gating_judge(&walk->gating, u64_load(&walk->entry->flight), state);
    }
    walk->state = state_switched(state, state_band(state), PLACE_INFLIGHT);
    if (entry_switch(walk->entry, state, desc, walk->state)) { /* claim:A */
        switch_leave(walk->worker, state_place(state));
        switch_enter(walk->worker, PLACE_INFLIGHT);
        return true;
    }
    object_release(walk->worker, walk->description.object);
    return false;
}

/* Of a ref that was FUTURE. */
static bool
head_is_helped(const struct walk *walk, struct bin *bin, uint64_t *state)
{
    const struct bin_caller caller = bin_caller(walk->worker);

    return bin_help(bin, &caller, walk->entry, bin_head_ref(&walk->head),
                    bin_head_cause(&walk->head), state);
}

/*
 * Is the pod of the walk's head here? Then *state is its word. Else the head is passed. The record
 * is addressed before its word is judged: behind the judgement the pod may end, and trim take its
 * page.
 */
static bool
head_is_here(struct walk *walk, struct bin *bin, uint64_t *state)
{
    uint64_t ref = bin_head_ref(&walk->head);
    enum verdict verdict = VERDICT_STALE;

    walk->record = ref_record(ref);
    walk->entry = entry_at(&queue_of(walk->worker)->entries, walk->record);
    if (walk->entry != NULL) {
        verdict = bin_verdict_of(bin, walk->entry, ref, state);
    }
    if (verdict == VERDICT_VALID ||
        (verdict == VERDICT_FUTURE && head_is_helped(walk, bin, state))) {
        return true;
    }
    bin_advance(&walk->head);
    return false;
}

/* NOTHING: the head was passed, or another thread changed the pod. */
static enum step
take_head(struct walk *walk, struct bin *bin)
{
    uint64_t state;

    if (!head_is_here(walk, bin, &state)) {
        return STEP_NOTHING;
    }
    if (u64_load_acquire(&queue_of(walk->worker)->reorder) != walk->reorder) { /* take_head:A */
        return STEP_AGAIN;
    }
    /* Described anew, and not moved so far: it has to be looked for in its new place. */
    if (state_place(state) == PLACE_ACTIVE && state_lag(state) != 0 &&
        transfer_follow(walk->worker, walk->record, u64_load_acquire(&walk->entry->life))) {
        return STEP_AGAIN;
    }
    if (!claim(walk, state)) {
        return STEP_NOTHING;
    }
    bin_advance(&walk->head);
    return STEP_TAKEN;
}

/* Takes the first pod of one band. */
static enum step
take_from(struct walk *walk, struct band *band, uint64_t word)
{
    struct queue *queue = queue_of(walk->worker);
    enum step step = STEP_NOTHING;

    /* Ends: each further round advanced a head, or another thread changed the pod. */
    while (step == STEP_NOTHING && look_into(walk, &band->bin)) {
        step = take_head(walk, &band->bin);
    }
    if (step == STEP_NOTHING) {
        bin_found_empty(&band->bin, &queue->runs, word);
    }
    return step;
}

/*
 * One leaf of the table, from the top. Rows whose words are found at rest lose their bits, so that
 * later walks need not come here: `version` is read before the words.
 */
static enum step
walk_leaf(struct walk *walk, uint64_t bits)
{
    struct queue *queue = queue_of(walk->worker);
    const struct band_leaf *leaf = walk->table->leaves[walk->leaf].leaf;
    uint64_t version = band_leaf_version(leaf);
    enum step step = STEP_NOTHING;
    uint64_t at_rest = 0;

    for (uint64_t rest = bits; rest != 0 && step == STEP_NOTHING; rest &= rest - 1) {
        walk->row = (uint32_t)__builtin_ctzll(rest);
        struct band *band = leaf->rows[walk->row].band;
        uint64_t word = u64_load_acquire(&band->word); /* walk_leaf:A, before the scan */

        if (band_word_rests(word)) {
            at_rest |= rest & -rest;
        } else {
            step = take_from(walk, band, word);
        }
    }
    if (at_rest != 0) {
        bands_rest(&queue->bands, walk->worker->epoch, walk->table, walk->leaf, bits, version,
                   at_rest);
    }
    return step;
}

static enum step
walk_down(struct walk *walk)
{
    enum step step = STEP_NOTHING;

    for (uint32_t i = 0; i < walk->table->count && step == STEP_NOTHING; i++) {
        uint64_t bits = band_leaf_bits(walk->table->leaves[i].leaf);

        if (bits != 0) {
            walk->leaf = i;
            step = walk_leaf(walk, bits);
        }
    }
    return step;
}

/* ---- backoff --------------------------------------------------------------------------------- */

/* The bin of the pod whose backoff ends first. Of pods with equal expiries tie.h decides. */
static struct bin *
first_in_backoff(struct walk *walk)
{
    struct queue *queue = queue_of(walk->worker);
    struct bin *best = NULL;

    for (uint32_t i = 0; i < BACKOFF_CLASSES; i++) {
        struct bin *bin = backoff_used(queue, PLACE_BACKOFF, i);
        struct bin_head head;

        if (bin != NULL && bin_first(bin, &queue->runs, &head) &&
            (best == NULL || ref_before(&bin->residence, bin_head_key(&head), bin_head_ref(&head),
                                        bin_head_key(&walk->head), bin_head_ref(&walk->head)))) {
            best = bin;
            walk->head = head;
        }
    }
    return best;
}

/*
 * Nothing is active: pods that back off are better than none, where the rules say so. Errors are
 * left alone.
 */
static enum step
take_from_backoff(struct walk *walk)
{
    enum step step = STEP_NOTHING;
    struct bin *bin;

    /* Ends: each further round advanced a head, or another thread changed the pod. */
    while (step == STEP_NOTHING && (bin = first_in_backoff(walk)) != NULL) {
        step = take_head(walk, bin);
    }
    walk->from_backoff = step == STEP_TAKEN;
    if (walk->from_backoff) {
        switch_count(walk->worker, PLACE_ACTIVE, cause_of(LABEL_POP_FROM_BACKOFF, false));
    }
    return step;
}

static enum step
walk_all(struct walk *walk)
{
    struct queue *queue = queue_of(walk->worker);
    enum step step = walk_down(walk);

    walk->from_backoff = false;
    return step == STEP_NOTHING && queue->base.rules.pop_from_backoff ? take_from_backoff(walk)
                                                                      : step;
}

static bool
walk_take(struct walk *walk, struct worker *worker)
{
    struct queue *queue = queue_of(worker);

    walk->worker = worker;
    /* Ends: each further round means that an update moved a pod that is active. */
    for (;;) {
        walk->reorder = u64_load_acquire(&queue->reorder); /* walk_take:A */
        walk->table = bands_table(&queue->bands);
        enum step step = walk_all(walk);

        if (step == STEP_TAKEN) {
            return true;
        }
        /* walk_take:B */
        if (step == STEP_NOTHING && u64_load_acquire(&queue->reorder) == walk->reorder) {
            return false;
        }
    }
}

/* Has some row behind the walk's a word that is set? */
static bool
lower_bands_left(const struct walk *walk)
{
    uint64_t above = UINT64_MAX >> (63 - walk->row);

    for (uint32_t i = walk->leaf; i < walk->table->count; i++) {
        const struct band_leaf *leaf = walk->table->leaves[i].leaf;

        for (uint64_t bits = band_leaf_bits(leaf) & ~above; bits != 0; bits &= bits - 1) {
            if (!band_word_rests(u64_load_acquire(&leaf->rows[__builtin_ctzll(bits)].band->word))) {
                return true;
            }
        }
        above = 0;
    }
    return false;
}

/*
 * Hints: refs are not judged. In lower bands the words are enough for a caller, but not for waking
 * a sleeper.
 */
static bool
anything_left(const struct walk *walk)
{
    struct queue *queue = queue_of(walk->worker);
    struct bin_head head;
    bool here = walk->head.is_run ? walk->head.run.left > 1 : lane_has_more(&walk->head.lane);

    if (queue->base.rules.pop_from_backoff && u64_load(u64_of(&queue->base.words.backoff)) > 0) {
        return true;
    }
    if (walk->from_backoff) {
        return false;
    }
    struct band *band = walk->table->leaves[walk->leaf].leaf->rows[walk->row].band;

    return here || bin_first(&band->bin, &queue->runs, &head) || lower_bands_left(walk);
}

static bool
take_one(struct worker *worker, schedq_popped_t *out)
{
    struct walk walk;

    if (!walk_take(&walk, worker)) {
        return false;
    }
    tally_add(&worker->tally.pops, 1);
    prefetch_coming(&walk);
    begin_flight(&walk, out);
    out->more = anything_left(&walk);
    return true;
}

/*
 * Hosts look at words.poppable without a call: it may say 1 for nothing, and must not say 0 for
 * long if there is something. A producer publishes, fences, and sets it if it is 0; here it is set
 * to 0, a fence, and a second look.
 */
static bool
take_or_say_empty(struct worker *worker, schedq_popped_t *out)
{
    atomic_u32 *poppable = u32_of(&queue_of(worker)->base.words.poppable);

    if (take_one(worker, out) || (stray_gather(worker) && take_one(worker, out))) {
        return true;
    }
    if (u32_load(poppable) == 0) {
        return false;
    }
    (void)u32_exchange(poppable, 0); /* take_or_say_empty:A */
    if (!take_one(worker, out)) {
        return false;
    }
    u32_store(poppable, 1);
    return true;
}

static void
pass_wake_up(struct worker *worker, const schedq_popped_t *last)
{
    struct sleepers *sleepers = &queue_of(worker)->sleepers;

    if (last->more && sleepers_waiting(sleepers) > 0) {
        (void)sleepers_wake_one(sleepers);
    }
}

static size_t
take_many(struct worker *worker, schedq_popped_t *out, size_t capacity)
{
    size_t count = 0;

    section_begin(worker);
    queue_sweep(worker);
    if (take_or_say_empty(worker, out)) {
        count = 1;
        while (count < capacity && out[count - 1].more && take_one(worker, &out[count])) {
            count++;
        }
        pass_wake_up(worker, &out[count - 1]);
    }
    section_leave(worker);
    return count;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* A caller's clock need not be CLOCK_MONOTONIC, so what is left on it is waited for on that. */
static int64_t
futex_deadline(const struct queue *queue, int64_t deadline, int64_t now)
{
    if (deadline == SCHEDQ_NO_DEADLINE || clock_is_virtual(&queue->base.clock)) {
        return FUTEX_NO_DEADLINE;
    }
    return time_add(clock_monotonic(), time_add(deadline, -now));
}

/* One waiting call. */
struct wait {
    struct server server;
    int64_t deadline;
};

/*
 * Time is read after sleepers_prepare:A, so a deadline that is lowered later changes the sequence,
 * or is watched (sleepers.c).
 */
static void
sleep_in_line(const struct wait *wait, const struct sleepers_ticket *ticket, int64_t now)
{
    struct queue *queue = queue_of(wait->server.worker);
    struct sleepers *sleepers = &queue->sleepers;
    int64_t wanted = serve_wanted(queue);
    int64_t until = time_earlier(wait->deadline, time_add(now, WATCH_NS * ticket->position));

    wanted = wanted > wait->server.again ? wanted : wait->server.again;
    if (clock_is_virtual(&queue->base.clock) ||
        !sleepers_watch(sleepers, wanted, now, queue->base.rules.tick_ns)) {
        sleepers_wait(sleepers, ticket->sequence, futex_deadline(queue, until, now));
        return;
    }
    if (wanted > now) {
        sleepers_wait(sleepers, ticket->sequence,
                      futex_deadline(queue, time_earlier(until, wanted), now));
    }
    sleepers_unwatch(sleepers, wanted);
}

/* One round: SCHEDQ_EMPTY means that it is worth another. */
static schedq_status_t
pop_or_sleep(struct wait *wait, schedq_popped_t *out)
{
    struct worker *worker = wait->server.worker;
    struct queue *queue = queue_of(worker);
    /* pop_or_sleep:A, a full fence */
    const struct sleepers_ticket ticket = sleepers_prepare(&queue->sleepers);
    bool closed = queue_is_closed(queue);
    schedq_status_t status = SCHEDQ_EMPTY;

    if (take_many(worker, out, 1) > 0) {
        status = SCHEDQ_OK;
    } else if (closed) {
        status = SCHEDQ_CLOSED;
    } else {
        int64_t now = queue_now(queue);

        /* A slice only: then it looks for its pod. */
        if (!server_serve(&wait->server, serve_wanted(queue), now)) {
            if (now >= wait->deadline) {
                status = SCHEDQ_TIMEDOUT;
            } else {
                sleep_in_line(wait, &ticket, now);
            }
        }
    }
    sleepers_cancel(&queue->sleepers);
    return status;
}

/* What was left of time, or lies ahead, is another sleeper's from here on. */
static void
hand_over_watch(struct queue *queue)
{
    if (!clock_is_virtual(&queue->base.clock)) {
        serve_wake_sleeper(queue); /* behind sleepers_cancel:A */
    }
}

/* A wake-up that reached a caller that leaves without a pod was perhaps another's. */
static schedq_status_t
look_once_more(struct worker *worker, schedq_popped_t *out)
{
    bool closed = queue_is_closed(queue_of(worker));

    if (take_many(worker, out, 1) > 0) {
        return SCHEDQ_OK;
    }
    return closed ? SCHEDQ_CLOSED : SCHEDQ_TIMEDOUT;
}

static schedq_status_t
pop_waiting(struct worker *worker, int64_t deadline, schedq_popped_t *out)
{
    struct wait wait = {.deadline = deadline};
    schedq_status_t status = SCHEDQ_EMPTY;

    if (take_many(worker, out, 1) > 0) {
        return SCHEDQ_OK;
    }
    server_begin(&wait.server, worker);
    /* Waits for a pod, the deadline, or the end: the one loop here that need not end. */
    while (status == SCHEDQ_EMPTY) {
        status = pop_or_sleep(&wait, out);
    }
    if (status == SCHEDQ_TIMEDOUT) {
        status = look_once_more(worker, out);
    }
    hand_over_watch(queue_of(worker));
    return status;
}

schedq_status_t
lockfree_pop(schedq_worker_t *base, enum pop_mode mode, int64_t deadline, schedq_popped_t *out,
             size_t capacity, size_t *count)
{
    struct worker *worker = worker_of(base);

    if (mode == POP_WAIT) {
        schedq_status_t status = pop_waiting(worker, deadline, out);

        *count = status == SCHEDQ_OK ? 1 : 0;
        return status;
    }
    bool closed = queue_is_closed(queue_of(worker));

    *count = take_many(worker, out, capacity);
    if (*count > 0) {
        return SCHEDQ_OK;
    }
    return closed ? SCHEDQ_CLOSED : SCHEDQ_EMPTY;
}

/* ---- close ----------------------------------------------------------------------------------- */

void
lockfree_close(schedq_t *base)
{
    struct queue *queue = queue_of_base(base);

    /* before the sleepers are woken: they look at it again */
    (void)u32_exchange(u32_of(&base->words.closed), 1);
    sleepers_wake_all(&queue->sleepers);
}
