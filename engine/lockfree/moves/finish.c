/*
 * The end of a flight, and of a record.
 *
 * CONTRACT. The token is the version at which the pod went into flight; only its holder may end the
 * flight, by a CAS from exactly that version. The thread that makes the word DEAD owns the record
 * and what it holds: description, object, name. The index is told before the record is given back;
 * a reader of the word needs no index.
 *
 * LINEARIZATION. OK, GONE: finish_flight:A. GONE if the deletion's flag was set before. STALE: the
 * load of the word.
 *
 * ORDERING
 *   a holder's relaxed stores, a switch -> finish_flight:A, or another CAS to DEAD
 *   finish_flight:A ; stores of the record's, name's or description's next user
 *       -> a late reader's loads, then of the word (report.c, index_line.c, entry.c)
 *       the reader finds the word changed, so nothing here needs a release of its own
 *
 * PROGRESS. Lock-free; without a deletion or an update in between done is one CAS, and
 * index_remove. A thread that stops after finish_flight:A has ended the pod: its name is free, and
 * no token or handle finds it. What it had not given back is lost: a record, which stays counted, a
 * name's cell, a description, one reference to an object.
 *
 * EVIDENCE. tests/model: intent, description, index (deleter); stress/explore: delete_in_flight,
 * update_in_flight, delete_flight_readd, upkeep_update_done; stress/history: once;
 * tests/unit/test_failure.c, test_delete.c, test_former_lives.c.
 */
#include "lockfree/moves/finish.h"

#include "lockfree/calls/ops.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/objects.h"

void
finish_record(struct worker *worker, uint32_t record, struct entry *entry)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    /* Relaxed, as below: stored before the CAS to DEAD; since then the record is this worker's. */
    uint64_t desc = u64_load(&entry->word.high);
    const struct description_record *newest = description_at(&queue->entries, desc);
    uint64_t object = u64_load(newest != NULL ? &newest->object : &entry->object);
    uint64_t name = u64_load(&entry->name);

    /*
     * Counted before the call returns: a thread that the caller tells of the pod's end finds it
     * counted.
     */
    tally_add(&worker->tally.given, 1);
    index_remove(&queue->index, &caller, (uint32_t)(name >> 32), record, u64_load(&entry->life));
    description_give(&queue->entries, &worker->descriptions, desc);
    names_give(&queue->names, &worker->names, (uint32_t)name);
    slab_give(&queue->entries.records, &worker->records, record);
    object_release(worker, object);
}

/* The record of a token, and its word; NULL: the token was used, or never given. */
static struct entry *
entry_of_token(const struct queue *queue, schedq_token_t token, uint64_t *state)
{
    uint32_t record = ref_record(token.bits);
    struct entry *entry =
        record < slab_end(&queue->entries.records) ? entry_at(&queue->entries, record) : NULL;

    if (entry == NULL) {
        return NULL;
    }
    /* acquire: reads from the pop's take_head:B, or from a holder's raise_version:A */
    *state = entry_state(entry);
    bool flies =
        state_place(*state) == PLACE_INFLIGHT && state_version(*state) == ref_version(token.bits);

    return flies ? entry : NULL;
}

/* Of a pod that was deleted in flight it ended then. */
static void
end_nomination(struct worker *worker, const struct entry *entry)
{
    struct description description;

    if (u64_load_acquire(&entry->word.high) !=
        0) { /* of entry_describe:A; constant since finish_flight:A */
        (void)entry_description(&queue_of(worker)->entries, entry, &description);
        describe_end(worker, &description);
    }
}

struct entry *
finish_entry_of_token(const struct queue *queue, schedq_token_t token)
{
    uint64_t state;

    return entry_of_token(queue, token, &state);
}

uint64_t
finish_object(const struct queue *queue, const struct entry *entry)
{
    struct description description;

    (void)entry_description(&queue->entries, entry, &description);
    return description.object;
}

schedq_status_t
finish_flight(struct worker *worker, schedq_token_t token)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry;
    uint64_t state;

    /* Ends: the word changes under a token only by its flags, and each flag is set once. */
    do {
        entry = entry_of_token(queue, token, &state);
        if (entry == NULL) {
            return SCHEDQ_STALE;
        }
        /* finish_flight:A */
    } while (
        !u64_cas(&entry->word.low, state, state_switched(state, state_band(state), PLACE_DEAD)));
    bool deleted = (state & FLAG_DELETED) != 0;
    uint64_t popped = u64_load(&entry->popped); /* relaxed: stored before pop returned the token */

    if (!deleted) {
        end_nomination(worker, entry);
    }
    finish_record(worker, ref_record(token.bits), entry);
    object_give_back(queue, popped);
    tally_add(&worker->tally.inflight, UINT64_MAX);
    tally_add(&worker->tally.dones, deleted ? 0 : 1);
    return deleted ? SCHEDQ_GONE : SCHEDQ_OK;
}

schedq_status_t
lockfree_done_many(schedq_worker_t *base, const schedq_token_t *tokens, size_t count,
                   uint8_t *statuses)
{
    struct worker *worker = worker_of(base);
    schedq_status_t first = SCHEDQ_OK;

    section_begin(worker);
    for (size_t i = 0; i < count; i++) {
        schedq_status_t status = finish_flight(worker, tokens[i]);

        if (statuses != NULL) {
            statuses[i] = (uint8_t)status;
        }
        first = first == SCHEDQ_OK ? status : first;
    }
    section_leave(worker);
    return first;
}

schedq_status_t
lockfree_token_alive(schedq_worker_t *base, schedq_token_t token)
{
    struct worker *worker = worker_of(base);
    uint64_t state = 0;

    section_begin(worker);
    bool flies = entry_of_token(queue_of(worker), token, &state) != NULL;
    section_leave(worker);
    if (!flies) {
        return SCHEDQ_STALE;
    }
    return (state & FLAG_DELETED) != 0 ? SCHEDQ_GONE : SCHEDQ_OK;
}
