/*
 * What callers are told of a pod: copies, dropped if the pod changed while they were taken.
 *
 * CONTRACT. A view shows the record at one value of its state word. Counters, sets and times of a
 * pod in flight change without that word, so a view may have some of them old and some new; the
 * description is of one moment always.
 *
 * LINEARIZATION. report_unchanged:A.
 *
 * ORDERING
 *   fill:A, or a CAS of the word -> report_record:A
 *       what was stored into the record before
 *   a CAS of the word ; a later owner's stores -> acquire loads of fields, report_unchanged:A
 *       if it finds the same word, no field is a later owner's
 *
 * PROGRESS. Lock-free: each further round means that the word changed. Nothing is written.
 *
 * EVIDENCE. tests/model: description (READER, LOOK_ONCE); stress/explore: batch_look, told_*,
 * upkeep_get; tests/unit/test_look.c, test_former_lives.c, test_lockfree_entry.c.
 */
#ifndef SCHEDQ_LOCKFREE_REPORT_H
#define SCHEDQ_LOCKFREE_REPORT_H

#include "lockfree/queue.h"

/** A pod's record at one version of its state word. */
struct view {
    struct entry *entry; /* its memory: valid until the section ends, also if the pod ends */
    uint64_t state, desc, life;
    struct description description;
    struct gating gating; /* of this stay */
    schedq_history_t history;
    uint64_t unschedulable, pending;
    uint64_t pop_order;
    uint64_t seen;  /* in flight */
    uint32_t freed; /* for visitors: entry_freed */
    uint8_t gate;   /* 1 + number of the plugin; 0: none */
    uint32_t name;  /* the name's place (names.h) */
    uint32_t name_length;
    uint8_t profile;
};

/**
 * Reads what the record holds while its word is `state`, which the caller read there: words, life,
 * what is constant in it, description, gating, gate, sets, Timestamp. They are of one moment only
 * if an exchange then finds the words unchanged, or report_unchanged:A does.
 */
STRAIGHT void
report_brief(const struct queue *queue, struct entry *entry, uint64_t state, struct view *view)
{
    uint64_t flight = u64_load_acquire(&entry->flight); /* as in entry_pop_order */
    uint64_t attributes = u64_load_acquire(&entry->attributes);

    view->entry = entry;
    view->state = state;
    view->desc = u64_load_acquire(&entry->word.high); /* of entry_describe:A */
    view->life = u64_load_acquire(&entry->life);
    view->profile = attributes_profile(attributes);
    view->name_length = attributes_name_length(attributes);
    view->pop_order = (flight & STAY_MARK) == 0 ? flight : 0;
    view->history.timestamp_ns = (int64_t)u64_load_acquire(&entry->timestamp);
    view->pending = u64_load_acquire(&entry->pending);
    entry_copy(&queue->entries, entry, view->desc, &view->description, &view->gating);
    gating_judge(&view->gating, flight, state);
    view->gate = gating_gate(&view->gating, state, queue_backoff_keeps_gate(queue));
    view->unschedulable = u64_load_acquire(&entry->unschedulable) | view->gating.refused;
}

/** The same of a group's record, whose history is read in another way than a pod's. */
COLD void report_group(uint64_t state, struct view *view);

/** report_brief, and what the pod's backoff depends on. */
STRAIGHT void
report_failures(const struct queue *queue, struct entry *entry, uint64_t state, struct view *view)
{
    uint64_t counts = u64_load_acquire(&entry->attempts_rejections);

    report_brief(queue, entry, state, view);
    view->history.attempts = (uint32_t)(counts >> 32);
    view->history.rejections = (uint32_t)counts;
    view->history.errors = u32_load_acquire(&entry->errors);
}

/**
 * The name's words, of a pod that was seen, perhaps in an earlier section. NULL: their page is
 * gone. If the pod is over, they may be of another name.
 */
STRAIGHT const atomic_u64 *
view_words(const struct queue *queue, const struct view *view)
{
    if (names_is_cell(view->name)) {
        return names_cell(&queue->names, view->name, view->name_length);
    }
    const struct entry *entry = entry_at(&queue->entries, view->name); /* else in the record */

    return entry != NULL ? entry_own_words(entry, view->name) : NULL;
}

/** Did the record hold what was read of it at the word `state`? */
STRAIGHT bool
report_unchanged(const struct entry *entry, uint64_t state, const struct view *view)
{
    /* Each value of the word is used once, so the description was not given back in between. */
    return u64_load_acquire(&entry->word.high) == view->desc &&
           entry_state(entry) == state; /* report_unchanged:A */
}

/** What the record holds at the word `state`, which the caller read there. False: it changed. */
STRAIGHT bool
report_at(const struct queue *queue, struct entry *entry, uint64_t state, struct view *view)
{
    report_failures(queue, entry, state, view);
    view->name = (uint32_t)u64_load_acquire(&entry->name);
    view->history.initial_attempt_ns = (int64_t)u64_load_acquire(&entry->initial_attempt);
    view->history.reserved = 0;
    view->seen = u64_load_acquire(&entry->seen);
    if (view->history.initial_attempt_ns == 0) {
        view->history.initial_attempt_ns = view->gating.first;
        if ((view->description.flags & DESCRIBED_GROUP) != 0) {
            report_group(state, view);
        }
    }
    return report_unchanged(entry, state, view);
}

/**
 * The same of a pod that waits behind no gate, if its record says all of it: sets, profile,
 * description, and what its backoff depends on. False: it was described since it was added, had
 * no attempt, or changed.
 */
STRAIGHT bool
report_plain(const struct queue *queue, struct entry *entry, uint64_t state, struct view *view)
{
    uint64_t counts = u64_load_acquire(&entry->attempts_rejections);

    view->entry = entry;
    view->state = state;
    view->desc = 0;
    view->life = u64_load_acquire(&entry->life);
    view->profile = attributes_profile(u64_load_acquire(&entry->attributes));
    view->unschedulable = u64_load_acquire(&entry->unschedulable);
    view->pending = u64_load_acquire(&entry->pending);
    view->gate = 0;
    entry_copy(&queue->entries, entry, 0, &view->description, &view->gating);
    view->history =
        (schedq_history_t){.timestamp_ns = (int64_t)u64_load_acquire(&entry->timestamp),
                           .initial_attempt_ns = (int64_t)u64_load_acquire(&entry->initial_attempt),
                           .attempts = (uint32_t)(counts >> 32),
                           .rejections = (uint32_t)counts,
                           .errors = u32_load_acquire(&entry->errors)};
    return view->history.initial_attempt_ns != 0 && report_unchanged(entry, state, view);
}

/** What the record holds: a pod, or one that was deleted in flight. False: neither. */
bool report_record(const struct queue *queue, uint32_t record, struct view *view);

/** The record's pod, whichever it is. False: it has none. */
static inline bool
report_any(const struct queue *queue, uint32_t record, struct view *view)
{
    return report_record(queue, record, view) && state_is_pod(view->state);
}

/** False: the record has no pod, or not the one of this life. */
static inline bool
report_view(const struct queue *queue, uint32_t record, uint64_t life, struct view *view)
{
    return report_any(queue, record, view) && view->life == life;
}

static inline bool
view_is_group(const struct view *view)
{
    return (view->description.flags & DESCRIBED_GROUP) != 0;
}

/**
 * The pod of a handle. False: it names none. A handle may be a guess: false if it names a group's
 * record; but it may name a pod that its add takes back.
 */
static inline bool
report_handle(const struct queue *queue, schedq_pod_t pod, struct view *view)
{
    return ref_record(pod.bits) < slab_end(&queue->entries.records) &&
           report_view(queue, ref_record(pod.bits), ref_version(pod.bits), view) &&
           !view_is_group(view);
}

/** Pod, object, time, gate, sets: what a brief view has. */
static inline void
report_told(uint32_t record, const struct view *view, schedq_result_t *result)
{
    result->pod = entry_handle(record, view->life);
    result->object = view->description.object;
    result->timestamp_ns = view->history.timestamp_ns;
    result->gate = view->gate;
    result->unschedulable = view->unschedulable;
    result->pending = view->pending;
}

/** report_told, and the pod's place and ref. */
void report_pod(const struct queue *queue, uint32_t record, const struct view *view,
                schedq_result_t *result);

/** What a visitor gets, outside of a section; worker->name is a copy of the text. */
void report_info(struct worker *worker, uint32_t record, const struct view *view,
                 schedq_pod_info_t *info);

/** report_exists of a pod that was not moved since it came. */
bool report_is_indexed(struct worker *worker, uint32_t record, const struct view *view);

/**
 * Does the index know the pod that `view` shows? A record is filled before its pod exists; a
 * pod that does not exist must not go where pops find it. True also if the pod changed meanwhile.
 * Uses worker->name.
 */
static inline bool
report_exists(struct worker *worker, uint32_t record, const struct view *view)
{
    return state_version(view->state) != view->life || report_is_indexed(worker, record, view);
}

#endif
