/* Counted switches of switch.h, which has the essay. */
#include "lockfree/moves/switch.h"

#include "lockfree/moves/backoff.h"
#include "policy/backoff.h"

/*
 * Without a cause, a pod in flight was failed by its holder, and a lane had the ref. If it goes to
 * backoff, the verdict named that.
 */
static uint32_t
cause_known(const struct queue *queue, uint32_t cause, uint64_t state, enum place to)
{
    bool named = queue->base.rules.counts_entities && place_backs_off(to);

    return cause == CAUSE_NONE && state_place(state) == PLACE_INFLIGHT
               ? cause_of(LABEL_FAILURE, false) | (named ? CAUSE_NAMED : 0)
               : cause;
}

bool
switch_pod(struct worker *worker, struct entry *entry, uint64_t state, uint64_t desc, uint64_t next,
           uint32_t cause)
{
    switch_announce(worker, state_place(next));
    if (switch_announced(worker, entry, state, desc, next, cause)) {
        return true;
    }
    switch_withdraw(worker, state_place(next));
    return false;
}

/* ---- many ------------------------------------------------------------------------------------ */

void
switches_begin(struct worker *worker, struct switches *switches, enum place to, uint32_t count,
               bool from_backoff)
{
    struct queue *queue = queue_of(worker);

    *switches = (struct switches){.to = to, .announced = place_waits(to) ? count : 0};
    if (from_backoff && switch_stays_in_order(queue, PLACE_BACKOFF, to)) {
        (void)u64_add(&queue->reorder, 1); /* switches_begin:A, as switch_announced:A */
    }
}

void
switches_end(struct worker *worker, const struct switches *switches, uint32_t cause)
{
    if (switches->came != switches->announced) {
        switch_change(worker, switches->to, (uint64_t)switches->came - switches->announced);
    }
    for (uint32_t place = PLACE_BACKOFF, left = switches->came; left > 0; place++) {
        if (switches->left[place] > 0) {
            switch_change(worker, (enum place)place, -(uint64_t)switches->left[place]);
            left -= switches->left[place];
        }
    }
    if (switches->came > switches->named) {
        switch_count_many(worker, switches->to, cause, switches->came - switches->named);
    }
    if (switches->named > 0 && cause != CAUSE_NONE) {
        switch_count_many(worker, switches->to, cause | CAUSE_NAMED, switches->named);
    }
}

/* ---- helping --------------------------------------------------------------------------------- */

/*
 * The pod's publisher may have stopped before it lowered the deadline. What is read was stored
 * before the ref that the helper met; if it is of another version, the switch fails, and the
 * deadline is too early at worst.
 */
static void
look_after_deadline(struct worker *worker, const struct entry *entry, enum place place)
{
    struct queue *queue = queue_of(worker);
    /* acquire: switch_announced:B comes after */
    uint64_t counts = u64_load_acquire(&entry->attempts_rejections);
    const schedq_history_t history = {.timestamp_ns = (int64_t)u64_load_acquire(&entry->timestamp),
                                      .attempts = (uint32_t)(counts >> 32),
                                      .rejections = (uint32_t)counts,
                                      .errors = u32_load_acquire(&entry->errors)};

    if (place_backs_off(place)) {
        int64_t due = backoff_due(&queue->base.rules.backoff, backoff_expiry_of(queue, &history));

        if (deadline_lower(&queue->deadline, due)) {
            timer_wake(queue);
        }
    }
}

/*
 * The description may have changed without the version (a nomination): then the same switch is
 * tried again.
 */
enum verdict
switch_help(void *ctx, const struct residence *residence, struct entry *entry, uint64_t ref,
            uint32_t cause, uint64_t *state)
{
    struct worker *worker = ctx;

    *state = entry_state(entry); /* switch_help:A */
    /* Ends: each further round is another thread's change of the words. */
    for (;;) {
        enum verdict verdict = state_judge(*state, ref, residence->place, residence->band);

        if (verdict != VERDICT_FUTURE) {
            return verdict;
        }
        /* of entry_describe:A; switch_announced:B compares it */
        uint64_t desc = u64_load_acquire(&entry->word.high);
        uint32_t band = residence->place == PLACE_ACTIVE ? residence->band : state_band(*state);
        uint64_t next = state_switched(*state, band, residence->place);

        switch_announce(worker, residence->place); /* before the deadline: waiting_may_be */
        look_after_deadline(worker, entry, residence->place);
        if (switch_announced(worker, entry, *state, desc, next,
                             cause_known(queue_of(worker), cause, *state, residence->place))) {
            switch_note_freed(worker, ref_record(ref), entry, *state, next, cause);
            *state = next;
        } else {
            switch_withdraw(worker, residence->place);
            *state = entry_state(entry);
        }
    }
}
