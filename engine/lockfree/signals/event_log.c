/*
 * The ring of event_log.h.
 *
 * 1 CONTRACT. A read of sequence s returns what the writer of s wrote, whole, or a gap. Not: that a
 *   written event is there.
 *
 * 2 MEMORY. Slots of 32 bytes, two on a cache line, each written by the events that fall on it.
 *   `forgotten` has a line of its own; it is written when the last flight ends.
 *
 * 3 STATES of a slot, its word
 *     0        empty            -> t|BUSY   the writer of t: CAS (claim_slot:A)
 *     s        record of s      -> t|BUSY   the writer of t > s: CAS (claim_slot:A)
 *                               -> s|BUSY   a forgetter of s: CAS (drop:A)
 *     s|BUSY   being written    -> s        its writer: store or exchange (publish:A, B)
 *              being forgotten  -> 0        the forgetter: store (drop:B)
 *   The thread that made a slot BUSY owns its fields. A writer that finds BUSY or a larger
 *   sequence, or whose CAS fails, gives up.
 *
 * 4 INVARIANTS. COUNTED: each reference of the log is in one field of one slot, but for those that
 *   a call has in hand. So event_log_close lets go the fields of all slots, and a thread that dies
 *   here loses two references at most (tested: they add up at the end).
 *
 * 5 LINEARIZATION. Recorded: publish:A, B. Found: the second look (event_log_read:C). A gap: the
 *   first or second look.
 *
 * 6 ORDERING
 *   claim_slot:A or drop:A, exchange_objects:A -> event_log_read:B, C
 *       a read of a later writer's field makes event_log_read:C find that writer's BUSY, or more
 *   publish:A or B -> event_log_read:A, B
 *       the record of that word, or a later one
 *   claim_slot:A or drop:A, the scan of the pins | hazard_pin_event, event_log_read:C
 *       if event_log_read:C finds s, the scan finds the pins (hazard.c)
 *   publish:B, C | event_log_forget:A, B
 *       no record with references stays at or below `forgotten`; one without needs no exchange
 *
 * 7 PROGRESS. Wait-free, but for the caller's callbacks and event_log_forget:A, which is lock-free.
 *   A thread that stops while the slot is BUSY makes a gap of every event that falls on it, and
 *   keeps its two objects. One that stops between event_log_forget:A and its last slot keeps the
 *   objects of the others until events take their slots.
 *
 * 8 ABA. A sequence has one writer, and forgetting ends in 0, not in s: a word that reads s twice
 *   was s in between. 0 does come back; a writer's CAS from 0 finds no objects in either case.
 *
 * 9 WRAPAROUND. 63 bits: see stamps.c.
 *
 * 10 NOT CHOSEN. Waiting for the writer, or helping it: its record is worth one hint call. A
 *   lock-free list of records: it would need reclamation at the rate of events.
 *
 * 11 EVIDENCE. tests/model: event_log; stress/explore: event_log, event_counted;
 *   tests/unit/test_lockfree_event_log.c.
 */
#include "lockfree/signals/event_log.h"

#include "platform/memory_first.h"

#include <assert.h>
#include <string.h>

#define BUSY UINT64_C(1)

/* What a slot held. */
struct held {
    uint64_t old_object, new_object;
};

static uint64_t
word_of(uint64_t sequence)
{
    return sequence << 1;
}

static uint64_t
word_sequence(uint64_t word)
{
    return word >> 1;
}

static struct event_slot *
slot_of(const struct event_log *log, uint64_t sequence)
{
    struct event_slot *ring = ptr_load(&log->ring); /* relaxed: event_log_make came before */

    return &ring[sequence & (log->size - 1)];
}

/* ---- references ------------------------------------------------------------------------------ */

static void
retain(const struct event_log *log, uint64_t object)
{
    if (log->counted && object != 0) {
        inside_calls(CALLBACK_RETAIN);
        log->retain(log->hazards->ctx, object);
        inside_calls(CALLBACK_NONE);
    }
}

/* Gives back a reference that no reader can have found. */
static void
give_back(const struct event_log *log, uint64_t object)
{
    if (log->counted && object != 0) {
        hazards_call(log->hazards, object);
    }
}

static void
let_go(const struct event_log *log, struct hazard_slot *hazard, const struct held *held)
{
    if (log->counted && held->old_object != 0) {
        hazard_release(log->hazards, hazard, held->old_object);
    }
    if (log->counted && held->new_object != 0) {
        hazard_release(log->hazards, hazard, held->new_object);
    }
}

/*
 * Sets the objects of a BUSY slot; for the slot's owner. The loads are relaxed: the CAS that made
 * the slot BUSY read the last owner's release.
 */
static struct held
exchange_objects(struct event_slot *slot, uint64_t old_object, uint64_t new_object)
{
    const struct held held = {.old_object = u64_load(&slot->old_object),
                              .new_object = u64_load(&slot->new_object)};

    /* exchange_objects:A, read by event_log_read:B */
    u64_store_release(&slot->old_object, old_object);
    u64_store_release(&slot->new_object, new_object);
    return held;
}

/* ---- life ------------------------------------------------------------------------------------ */

void
event_log_open(struct event_log *log, struct memory *memory, uint32_t size, uint8_t objects_mode,
               struct hazards *hazards, void (*retain_object)(void *ctx, uint64_t object))
{
    memset(log, 0, sizeof *log);
    log->size = size;
    log->counted = objects_mode == SCHEDQ_OBJECTS_COUNTED;
    log->borrowed = objects_mode == SCHEDQ_OBJECTS_BORROWED;
    log->memory = memory;
    log->hazards = hazards;
    log->retain = retain_object;
}

static size_t
ring_bytes(const struct event_log *log)
{
    return log->size * sizeof(struct event_slot);
}

bool
event_log_make(struct event_log *log)
{
    return log->size == 0 ||
           memory_alloc_first(log->memory, MEMORY_OTHER, &log->ring, ring_bytes(log));
}

void
event_log_close(struct event_log *log)
{
    struct event_slot *ring = ptr_load(&log->ring);

    for (uint32_t i = 0; log->counted && ring != NULL && i < log->size; i++) {
        const struct held held = exchange_objects(&ring[i], 0, 0);

        give_back(log, held.old_object);
        give_back(log, held.new_object);
    }
    memory_free(log->memory, MEMORY_OTHER, ring, ring_bytes(log));
}

/* ---- forgetting ------------------------------------------------------------------------------ */

/* Empties a slot with a record, whose word is `word`. Another thread may be faster. */
static void
drop(const struct event_log *log, struct hazard_slot *hazard, struct event_slot *slot,
     uint64_t word)
{
    if (u64_cas(&slot->word, word, word | BUSY)) { /* drop:A */
        const struct held held = exchange_objects(slot, 0, 0);

        u64_store_release(&slot->word, 0); /* drop:B, read by claim_slot:A */
        let_go(log, hazard, &held);
    }
}

void
event_log_forget(struct event_log *log, struct hazard_slot *hazard, uint64_t up_to)
{
    if (!log->counted || log->size == 0) {
        return;
    }
    /* event_log_forget:A; gives what was forgotten before: each caller does another part */
    uint64_t from = u64_max(&log->forgotten, up_to);

    if (from < up_to && up_to - from > log->size) {
        from = up_to - log->size;
    }
    for (uint64_t i = from + 1; i <= up_to; i++) {
        struct event_slot *slot = slot_of(log, i);
        /* event_log_forget:B; relaxed: event_log_forget:A orders it, drop:A reads it again */
        uint64_t word = u64_load(&slot->word);

        /* It may be an older event's: not every one is recorded. */
        if (word != 0 && (word & BUSY) == 0 && word_sequence(word) <= up_to) {
            drop(log, hazard, slot, word);
        }
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Makes the slot that of the writer of `sequence`, whose objects are retained. */
static bool
claim_slot(struct event_slot *slot, uint64_t sequence)
{
    uint64_t found = u64_load(&slot->word);

    return (found & BUSY) == 0 && word_sequence(found) < sequence &&
           u64_cas(&slot->word, found, word_of(sequence) | BUSY); /* claim_slot:A */
}

/* A record that has references is dropped here, if it comes too late to be forgotten by others. */
static void
publish(const struct event_log *log, struct hazard_slot *hazard, struct event_slot *slot,
        uint64_t sequence, bool has_references)
{
    if (!has_references) {
        u64_store_release(&slot->word, word_of(sequence)); /* publish:A, read by event_log_read:A */
        return;
    }
    (void)u64_exchange(&slot->word, word_of(sequence)); /* publish:B */
    if (u64_load(&log->forgotten) >= sequence) { /* publish:C; relaxed: publish:A, B orders it */
        drop(log, hazard, slot, word_of(sequence));
    }
}

void
event_log_write(struct event_log *log, struct hazard_slot *hazard, uint64_t sequence,
                schedq_event_t event, uint64_t old_object, uint64_t new_object)
{
    if (log->size == 0) {
        return;
    }
    if (log->borrowed) {
        old_object = new_object = 0;
    }
    assert(sequence > 0);
    struct event_slot *slot = slot_of(log, sequence);

    /* Before the slot is BUSY: the callback may take its time. */
    retain(log, old_object);
    retain(log, new_object);
    if (!claim_slot(slot, sequence)) {
        give_back(log, old_object);
        give_back(log, new_object);
        return;
    }
    u64_store_release(&slot->event, event); /* event_log_write:A */
    const struct held held = exchange_objects(slot, old_object, new_object);

    publish(log, hazard, slot, sequence, log->counted && (old_object | new_object) != 0);
    let_go(log, hazard, &held);
}

/* ---- reading --------------------------------------------------------------------------------- */

bool
event_log_read(const struct event_log *log, struct hazard_slot *hazard, uint64_t sequence,
               struct event_record *record)
{
    assert(sequence > 0);
    if (log->size == 0) {
        return false;
    }
    const struct event_slot *slot = slot_of(log, sequence);

    if (u64_load_acquire(&slot->word) != word_of(sequence)) { /* event_log_read:A */
        return false;
    }
    /* event_log_read:B, three loads */
    *record = (struct event_record){
        .event = (schedq_event_t)u64_load_acquire(&slot->event),
        .old_object = u64_load_acquire(&slot->old_object),
        .new_object = u64_load_acquire(&slot->new_object),
        .opaque = log->borrowed,
    };
    if (log->counted) {
        hazard_pin_event(hazard, record->old_object, record->new_object);
    }
    /* event_log_read:C; relaxed: event_log_read:B, or the pin, orders it */
    if (u64_load(&slot->word) == word_of(sequence)) {
        return true;
    }
    event_log_unpin(log, hazard);
    return false;
}

void
event_log_unpin(const struct event_log *log, struct hazard_slot *hazard)
{
    if (log->counted) {
        hazard_unpin_event(hazard);
    }
}
