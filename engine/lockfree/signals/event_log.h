/*
 * What happened while pods were in flight: the newest events with their objects, for hints that are
 * asked later.
 *
 * A ring of a fixed number of slots; the event that drew sequence s goes into slot s mod size. A
 * reader asks for one sequence after the other and gets the record or a gap. A gap counts as an
 * event that helps: memory is constant, no call waits, and no event is missed.
 *
 * GAPS. An event is not there if it was not recorded, is not written yet, or was forgotten; if a
 * newer one took the slot; or if its writer found another writer at work in the slot (a writer that
 * died there leaves a gap at each turn of the ring).
 *
 * MEMORY. The ring is made for the first worker (memory_alloc_first:A), and stays.
 *
 * OBJECTS. 0 is no object. STABLE: they are stored. COUNTED: the log has a reference to each, until
 * the slot is taken by the next event, the event is forgotten, or the log ends. BORROWED: none is
 * stored, and every record is opaque.
 */
#ifndef SCHEDQ_LOCKFREE_EVENT_LOG_H
#define SCHEDQ_LOCKFREE_EVENT_LOG_H

#include "lockfree/memory/hazard.h"

struct event_slot {
    _Alignas(32) atomic_u64 word; /* {sequence:63, BUSY:1}; 0: empty */
    atomic_u64 event, old_object, new_object;
};

struct event_log {
    atomic_ptr ring; /* of event_slot; NULL before event_log_make, and if size is 0 */
    uint32_t size;   /* a power of two, or 0 */
    bool counted, borrowed;
    struct memory *memory;
    struct hazards *hazards; /* COUNTED: release and its ctx */
    void (*retain)(void *ctx, uint64_t object);
    /* events up to this one were forgotten, or their writers drop them */
    _Alignas(CACHE_LINE) atomic_u64 forgotten;
};

struct event_record {
    schedq_event_t event;
    uint64_t old_object, new_object;
    bool opaque; /* its objects are gone: hints cannot be asked */
};

/**
 * `size` is 0 or a power of two, `objects_mode` a schedq_objects_t. Allocates nothing.
 *
 * `hazards` outlives the log; `retain` gets its ctx, and may be NULL unless COUNTED.
 */
void event_log_open(struct event_log *log, struct memory *memory, uint32_t size,
                    uint8_t objects_mode, struct hazards *hazards,
                    void (*retain)(void *ctx, uint64_t object));

/** Called before a thread's first write or read, by any number of threads. False: no memory. */
bool event_log_make(struct event_log *log);

/** When no other thread uses it: lets all objects go, those of dead writers' slots too. */
void event_log_close(struct event_log *log);

/**
 * Records the event that drew `sequence` (1 or more, once each), or leaves a gap.
 *
 * The objects are alive during the call: the caller keeps its references to them.
 */
void event_log_write(struct event_log *log, struct hazard_slot *hazard, uint64_t sequence,
                     schedq_event_t event, uint64_t old_object, uint64_t new_object);

/**
 * The record of `sequence` (1 or more); false: a gap, and nothing is pinned.
 *
 * COUNTED: its objects stay alive until event_log_unpin, which comes before the next read. They use
 * the pins of hazard_pin_event; hazard_pin is free.
 */
bool event_log_read(const struct event_log *log, struct hazard_slot *hazard, uint64_t sequence,
                    struct event_record *record);

/** After a read that returned true. */
void event_log_unpin(const struct event_log *log, struct hazard_slot *hazard);

/**
 * Makes gaps of the events up to `up_to` and lets their objects go: no pod is in flight that would
 * ask for them.
 *
 * Only COUNTED; else nothing happens. Looks once at each sequence that was drawn since the last
 * call, `size` at most.
 */
void event_log_forget(struct event_log *log, struct hazard_slot *hazard, uint64_t up_to);

#endif
