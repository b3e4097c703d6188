/*
 * The end of a flight, and of a record.
 *
 * CONTRACT. The token is the version at which the pod went into flight; only its holder may end the
 * flight, by a CAS from exactly that version. The thread that makes the word DEAD owns the record
 * and what it holds: description, object, name. The index is told before the record is given back;
 * a reader of the word needs no index.
 *
 * LINEARIZATION. OK, GONE: end_flight:A. GONE if the deletion's flag was set before. STALE: the
 * load of the word.
 *
 * ORDERING
 *   a holder's relaxed stores, a switch -> end_flight:A, or another CAS to DEAD
 *   give_later:A -> take_ended, finish_ended
 *       the record as the guest left it
 *   end_flight:A ; stores of the record's, name's or description's next user
 *       -> a late reader's loads, then of the word (report.c, index_line.c, entry.c)
 *       the reader finds the word changed, so nothing here needs a release of its own
 *
 * WITHOUT A WORKER. A call that may not use the worker (api/pods.c) can end flights too: neither
 * the pod's words nor the index belong to a worker, and what the record held goes to the slabs'
 * shared lists by way of caches on the stack. Its section is a guest's (epoch.h). Only the release
 * of a counted object needs a worker's list: the record, DEAD and out of the index, waits in
 * `ended` for the next pop that takes a pod, or call that ends a flight with a worker, for a tick,
 * an unregistration, or destroy. No more wait there than were in flight at the last pop.
 *
 *   state of the record       index   token   the thread that may act
 *   INFLIGHT                  holds   good    the holder, a guest: one CAS decides (end_flight:A)
 *   DEAD, in the guest's hand not     used    the guest
 *   DEAD, in `ended`          not     used    the thread that takes it off the stack
 *   free                      not     used    the slab
 *
 * PROGRESS. Lock-free; without a deletion or an update in between done is one CAS, and
 * index_remove_directly. A thread that stops after end_flight:A has ended the pod: its name is
 * free, and no token or handle finds it. What it had not given back is lost: a record, which stays
 * counted, a name's cell, a description, one reference to an object.
 *
 * EVIDENCE. tests/model: intent, description, index (deleter); stress/explore: delete_in_flight,
 * update_in_flight, delete_flight_readd, upkeep_update_done; stress/history: once;
 * tests/unit/test_failure.c, test_delete.c, test_former_lives.c.
 */
#include "lockfree/moves/finish.h"

#include "lockfree/calls/class.h"
#include "lockfree/calls/ops.h"
#include "lockfree/index/index_direct.h"
#include "lockfree/memory/stack.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/objects.h"

/* Objects that are released when the record is given back; that runs the caller's code. */
struct held {
    uint64_t newest, popped;
};

/* The life is over: ends its hints under its label and its group. As describe_life_end. */
static void
end_life(struct queue *queue, struct epoch_record *epoch, uint32_t record,
         const struct entry *entry, const struct description_record *newest)
{
    const uint8_t marks = attributes_profile(u64_load(&newest->attributes));

    if ((marks & (MARK_LABEL | MARK_MEMBER)) != 0) {
        describe_life_end(queue, epoch, ref_make(u64_load(&entry->life), record),
                          (marks & MARK_LABEL) != 0 ? u64_load(&newest->label) : 0,
                          (marks & MARK_MEMBER) != 0 ? u64_load(&newest->group) : 0);
    }
}

/* For a pod that was described anew, or whose objects are counted. */
RARELY static struct held
give_description(struct worker *worker, uint32_t record, const struct entry *entry, uint64_t desc)
{
    struct queue *queue = queue_of(worker);
    const struct description_record *newest = description_at(&queue->entries, desc);

    if (newest != NULL) {
        end_life(queue, worker->epoch, record, entry, newest);
    }
    const struct held held = {.newest = u64_load(newest != NULL ? &newest->object : &entry->object),
                              .popped = u64_load(&entry->popped)};

    description_give(&queue->entries, &worker->descriptions, desc);
    return held;
}

RARELY static void
let_go(struct worker *worker, struct held held, bool flew)
{
    object_release(worker, held.newest);
    if (flew) {
        object_give_back(queue_of(worker), held.popped);
    }
    if (u64_load(&queue_of(worker)->ended) != 0) {
        finish_ended(worker);
    }
}

/*
 * Gives back what the record of a pod that is over held, and the record. Relaxed: stored before the
 * CAS to DEAD; since then the record is this worker's.
 */
STRAIGHT void
give_record(struct worker *worker, uint32_t record, struct entry *entry, uint64_t desc, bool flew)
{
    struct queue *queue = queue_of(worker);
    uint64_t name = u64_load(&entry->name);
    bool counted = objects_counted(queue);
    struct held held = {0, 0};

    index_remove_directly(&queue->index, (uint32_t)(name >> 32), record, u64_load(&entry->life));
    if (desc != 0 || counted) {
        held = give_description(worker, record, entry, desc);
    }
    names_give(&queue->names, &worker->names, (uint32_t)name);
    slab_give_known(&queue->entries.records, &worker->records, RECORD_LAYOUT, record, entry);
    if (counted) {
        let_go(worker, held, flew);
    }
}

/*
 * Counted before the call returns: a thread that the caller tells of the pod's end finds it
 * counted.
 */
void
finish_record(struct worker *worker, uint32_t record, struct entry *entry)
{
    tally_add(&worker->tally.given, 1);
    give_record(worker, record, entry, u64_load(&entry->word.high), false);
}

static bool
flies(uint64_t state, schedq_token_t token)
{
    return state_place(state) == PLACE_INFLIGHT && state_version(state) == ref_version(token.bits);
}

uint64_t
finish_object(const struct queue *queue, const struct entry *entry)
{
    struct description description;

    (void)entry_description(&queue->entries, entry, &description);
    return description.object;
}

/*
 * Ends the flight of a pod, whether its word has flags or not. Returns the word that it had; 0: the
 * token was used, or never given. The loop ends: the word changes under a token only by its flags,
 * and each flag is set once.
 */
RARELY static uint64_t
end_flagged(struct entry *entry, schedq_token_t token)
{
    for (uint64_t state = entry_state(entry); flies(state, token); state = entry_state(entry)) {
        if (u64_cas(&entry->word.low, state, state_switched(state, 0, PLACE_DEAD))) {
            return state; /* as end_flight:A */
        }
    }
    return 0;
}

/*
 * Its nomination ends, unless it ended with the pod's deletion. The description is constant since
 * end_flight:A. True: *described has a class.
 */
RARELY static bool
end_described(struct queue *queue, const struct entry *entry, struct description *described)
{
    (void)entry_description(&queue->entries, entry, described);
    describe_end_in(queue, described);
    return description_class(described) != 0;
}

static struct class_key
class_of_ended(const struct queue *queue, const struct entry *entry,
               const struct description *described)
{
    return class_of(queue, described, attributes_profile(u64_load(&entry->attributes)));
}

/*
 * If the pod was the scout of its class, another pod becomes it. May leave the section: the record
 * is this worker's, so its page stays.
 */
COLD static void
hand_over(struct worker *worker, uint32_t record, const struct entry *entry,
          const struct description *described)
{
    const struct class_key key = class_of_ended(queue_of(worker), entry, described);

    (void)class_hands_over(worker, &key, entry_handle(record, u64_load(&entry->life)));
}

/* Called behind the exchange that ended the flight: the record is this worker's. */
STRAIGHT void
end_rest(struct worker *worker, schedq_token_t token, struct entry *entry, bool deleted)
{
    struct queue *queue = queue_of(worker);
    uint64_t desc = u64_load_acquire(&entry->word.high); /* of entry_describe:A */
    struct description described;

    probe_done(queue, token.bits);
    if (!deleted && desc != 0 && end_described(queue, entry, &described)) {
        hand_over(worker, ref_record(token.bits), entry, &described);
    }
    give_record(worker, ref_record(token.bits), entry, desc, true);
}

/*
 * Ends one flight, and the pod; not counted. False: the word has flags, or the token is not good.
 */
STRAIGHT bool
end_flight(struct worker *worker, schedq_token_t token)
{
    struct entry *entry = entry_at(&queue_of(worker)->entries, ref_record(token.bits));
    uint64_t state = (token.bits & ~REF_INDEX_MASK) | state_of(PLACE_INFLIGHT);

    if (entry == NULL ||
        !u64_cas(&entry->word.low, state,
                 state_next_version(state) | state_of(PLACE_DEAD))) { /* end_flight:A */
        return false;
    }
    end_rest(worker, token, entry, false);
    return true;
}

/* end_flight for any token. As schedq_done. */
RARELY static schedq_status_t
end_any(struct worker *worker, schedq_token_t token)
{
    struct entry *entry = entry_at(&queue_of(worker)->entries, ref_record(token.bits));
    uint64_t state = entry != NULL ? end_flagged(entry, token) : 0;
    bool deleted = (state & FLAG_DELETED) != 0;

    if (state == 0) {
        return SCHEDQ_STALE;
    }
    end_rest(worker, token, entry, deleted);
    return deleted ? SCHEDQ_GONE : SCHEDQ_OK;
}

/* Counted before the call returns: a thread that the caller tells of an end finds it counted. */
static void
count_ends(struct worker *worker, uint64_t over, uint64_t done)
{
    tally_add(&worker->tally.given, over);
    tally_add(&worker->tally.inflight, 0 - over);
    tally_add(&worker->tally.dones, done);
}

schedq_status_t
finish_flight(struct worker *worker, schedq_token_t token)
{
    schedq_status_t status = end_any(worker, token);

    count_ends(worker, status != SCHEDQ_STALE ? 1 : 0, status == SCHEDQ_OK ? 1 : 0);
    return status;
}

schedq_status_t
lockfree_done(schedq_worker_t *base, schedq_token_t token)
{
    struct worker *worker = worker_of(base);
    schedq_status_t status = SCHEDQ_OK;

    section_begin(worker);
    if (end_flight(worker, token)) {
        count_ends(worker, 1, 1);
    } else {
        status = finish_flight(worker, token);
    }
    section_leave_ended(worker);
    return status;
}

schedq_status_t
lockfree_done_many(schedq_worker_t *base, const schedq_token_t *tokens, size_t count,
                   uint8_t *statuses)
{
    struct worker *worker = worker_of(base);
    schedq_status_t first = SCHEDQ_OK;
    uint64_t over = 0, done = 0;

    section_begin(worker);
    for (size_t i = 0; i < count; i++) {
        schedq_status_t status =
            end_flight(worker, tokens[i]) ? SCHEDQ_OK : end_any(worker, tokens[i]);

        if (statuses != NULL) {
            statuses[i] = (uint8_t)status;
        }
        over += status != SCHEDQ_STALE ? 1 : 0;
        done += status == SCHEDQ_OK ? 1 : 0;
        first = first == SCHEDQ_OK ? status : first;
    }
    count_ends(worker, over, done);
    section_leave_ended(worker);
    return first;
}

/* ---- without a worker ------------------------------------------------------------------------ */

/* Gives back the record where objects are not counted: it, and the name, are used again at once. */
static void
give_at_once(struct queue *queue, uint32_t record, struct entry *entry, uint64_t desc)
{
    struct slab_cache records = {0}, descriptions = {0};
    struct names_cache names = {0};
    uint32_t name = (uint32_t)u64_load(&entry->name);

    if (desc != 0) {
        end_life(queue, NULL, record, entry, description_at(&queue->entries, desc));
        description_give(&queue->entries, &descriptions, desc);
        slab_flush(&queue->entries.descriptions, &descriptions);
    }
    names_give(&queue->names, &names, name);
    names_flush(&queue->names, &names);
    slab_give_known(&queue->entries.records, &records, RECORD_LAYOUT, record, entry);
    slab_flush(&queue->entries.records, &records);
}

/* The link by which a record is in `ended`: it is DEAD, and not the slab's. */
static atomic_u64 *
ended_link(struct entry *entry)
{
    return (atomic_u64 *)(void *)((char *)entry + RECORD_LAYOUT.link);
}

/* The release of a counted object needs a worker's list (hazard.h). Ends: as stack_swing. */
static void
give_later(struct queue *queue, uint32_t record, struct entry *entry)
{
    uint64_t seen = u64_load(&queue->ended);

    do {
        u64_store(ended_link(entry), stack_top(seen));
    } while (!stack_swing(&queue->ended, &seen, record)); /* give_later:A */
}

/* 0: there is none. Ends: as stack_swing. */
static uint32_t
take_ended(struct queue *queue)
{
    uint64_t seen = u64_load_acquire(&queue->ended); /* of give_later:A */
    uint32_t record, next;

    do {
        record = stack_top(seen);
        if (record == 0) {
            return 0;
        }
        /* The page stays mapped while the record is not free. If it is free, the exchange fails. */
        const struct entry *entry = entry_at(&queue->entries, record);

        next = entry != NULL ? (uint32_t)u64_load(ended_link((struct entry *)(uintptr_t)entry)) : 0;
    } while (!stack_swing(&queue->ended, &seen, next));
    return record;
}

void
finish_ended(struct worker *worker)
{
    struct queue *queue = queue_of(worker);

    /* Ends: each round takes one that a call ended. */
    for (uint32_t record = take_ended(queue); record != 0; record = take_ended(queue)) {
        struct entry *entry = entry_at(&queue->entries, record);
        uint32_t name = (uint32_t)u64_load(&entry->name);
        const struct held held =
            give_description(worker, record, entry, u64_load(&entry->word.high));

        names_give(&queue->names, &worker->names, name);
        slab_give_known(&queue->entries.records, &worker->records, RECORD_LAYOUT, record, entry);
        object_release(worker, held.newest);
    }
}

void
finish_ended_alone(struct queue *queue)
{
    for (uint32_t record = take_ended(queue); record != 0; record = take_ended(queue)) {
        object_give_back(queue, finish_object(queue, entry_at(&queue->entries, record)));
    }
}

/* As end_flight. */
static schedq_status_t
end_as_guest(struct queue *queue, schedq_token_t token)
{
    uint32_t record = ref_record(token.bits);
    struct entry *entry = entry_at(&queue->entries, record);
    uint64_t state = entry != NULL ? end_flagged(entry, token) : 0;

    if (state == 0) {
        return SCHEDQ_STALE;
    }
    probe_done(queue, token.bits);
    bool deleted = (state & FLAG_DELETED) != 0;
    uint64_t desc = u64_load_acquire(&entry->word.high); /* of entry_describe:A */
    uint64_t popped = u64_load(&entry->popped);

    struct description described;

    if (!deleted && desc != 0 && end_described(queue, entry, &described)) {
        const struct class_key key = class_of_ended(queue, entry, &described);

        class_doubt(queue, &key, entry_handle(record, u64_load(&entry->life)));
    }
    index_remove(&queue->index, (uint32_t)(u64_load(&entry->name) >> 32), record,
                 u64_load(&entry->life));
    (void)u64_add(&queue->guests.given, 1);
    (void)u64_add(&queue->guests.inflight, UINT64_MAX);
    (void)u64_add(&queue->guests.dones, deleted ? 0 : 1);
    if (objects_counted(queue)) {
        give_later(queue, record, entry);
        object_give_back(queue, popped);
    } else {
        give_at_once(queue, record, entry, desc);
    }
    return deleted ? SCHEDQ_GONE : SCHEDQ_OK;
}

schedq_status_t
lockfree_end_many(schedq_t *base, const schedq_token_t *tokens, size_t count, uint8_t *statuses,
                  bool held)
{
    struct queue *queue = queue_of_base(base);
    schedq_status_t first = SCHEDQ_OK;

    (void)held;
    epoch_guest_enter(queue->epoch);
    for (size_t i = 0; i < count; i++) {
        schedq_status_t status = end_as_guest(queue, tokens[i]);

        if (statuses != NULL) {
            statuses[i] = (uint8_t)status;
        }
        first = first == SCHEDQ_OK ? status : first;
    }
    epoch_guest_leave(queue->epoch);
    return first;
}

schedq_status_t
lockfree_token_alive(schedq_worker_t *base, schedq_token_t token)
{
    struct worker *worker = worker_of(base);

    section_begin(worker);
    const struct entry *entry = entry_at(&queue_of(worker)->entries, ref_record(token.bits));
    uint64_t state = entry != NULL ? entry_state(entry) : 0;

    section_leave(worker);
    if (!flies(state, token)) {
        return SCHEDQ_STALE;
    }
    return (state & FLAG_DELETED) != 0 ? SCHEDQ_GONE : SCHEDQ_OK;
}
