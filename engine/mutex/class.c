/*
 * Classes: pods that are kept back because another one of their class was rejected.
 *
 * The rejected pod is the class's scout, until it leaves the queue, is kept back, or is rejected
 * for reasons of its own; then the pod that was kept back first is let go, and is the scout. So
 * while a pod waits in a slot, the slot has a scout, and events have to wake the scout only.
 *
 * A pod that is kept back is HELD until its time (keeps.h), like any other pod that a time keeps
 * back. All that may be done to such a pod may be done to it, by other files. A change of the pod
 * makes its ref in the class's ring stale. A pod that was kept back and let go, whatever let it go,
 * is not kept back again before it was tried.
 *
 * A scout that is gated is a scout no more. But the gate may shut in the middle of a move: then
 * that is noted, and the next tick, or the next pop that finds nothing, looks.
 */
#include "mutex/class.h"

#include "mutex/hold.h"
#include "mutex/route.h"

/** A pop keeps so many pods back, then takes the next one whatever its class. */
#define CLASS_SLICE 256

static struct class_key
class_at(const struct mutex_queue *queue, uint32_t index)
{
    const struct entry *entry = pod_at(queue, index);

    return (struct class_key){.number = mutex_classes_of(&queue->classes, index),
                              .priority = entry->priority,
                              .profile = entry->profile};
}

/* Is there a scout, and is it one still? One that ended quietly may have no record any more. */
static bool
has_scout(const struct mutex_queue *queue, const struct class_slot *slot)
{
    if (!entries_have(&queue->entries, slot->scout)) {
        return false;
    }
    const struct entry *entry = pod_at(queue, slot->scout);
    const struct class_key key = class_at(queue, slot->scout);

    return entry->life == slot->life && entry->place != SCHEDQ_NOWHERE &&
           entry->place != SCHEDQ_GATED && entry->place != SCHEDQ_HELD &&
           (entry->marks & MARK_DELETED) == 0 && class_key_equal(&key, &slot->key);
}

static bool
is_scout(const struct mutex_queue *queue, const struct class_slot *slot, uint32_t index)
{
    return slot->scout == index && slot->life == pod_at(queue, index)->life;
}

/* The slot of a class that keeps this pod back; NULL: none does. */
static struct class_slot *
shut_by(const struct mutex_queue *queue, uint32_t index)
{
    const struct class_key key = class_at(queue, index);
    struct class_slot *slot = mutex_classes_slot(&queue->classes, &key);

    return slot != NULL && class_key_equal(&slot->key, &key) && !is_scout(queue, slot, index) &&
                   has_scout(queue, slot)
               ? slot
               : NULL;
}

static void
keep_until(struct mutex_queue *queue, uint32_t index, int64_t time)
{
    struct entry *entry = pod_at(queue, index);

    mutex_place_set_time(queue, entry, index, time);
    entry->flags |= ENTRY_WAITED | ENTRY_BY_CLASS;
}

/* Puts a pod that is kept back into its class's ring. Its time is set, and there is room. */
static void
hide(struct mutex_queue *queue, struct class_slot *slot, uint32_t index)
{
    mutex_classes_put(slot, entry_ref(pod_at(queue, index), index));
    queue->classes.hides++;
}

static bool
make_room(struct mutex_queue *queue, struct class_slot *slot)
{
    return mutex_keeps_grow(&queue->keeps) && mutex_classes_make_room(&queue->classes, slot);
}

static void
let_next_go(struct mutex_queue *queue, uint32_t index)
{
    schedq_result_t unseen = {0};

    mutex_hold_take_out(queue, index);
    mutex_place_set_time(queue, pod_at(queue, index), index, 0);
    mutex_hold_settle(queue, index, true, &unseen);
    queue->classes.turns++;
}

/* The next one takes its turn; if its gates refuse it, the next one after it. */
static void
promote(struct mutex_queue *queue, struct class_slot *slot)
{
    do {
        slot->scout = mutex_classes_take(&queue->classes, slot);
        if (slot->scout != NO_ENTRY) {
            slot->life = pod_at(queue, slot->scout)->life;
            slot->key = class_at(queue, slot->scout);
            let_next_go(queue, slot->scout);
        }
    } while (slot->scout != NO_ENTRY && !has_scout(queue, slot));
}

/* ---- pop ------------------------------------------------------------------------------------- */

/* Keeps an active pod back, if its class does. False: the pod is to be popped. */
COLD static bool
keep_back(struct mutex_queue *queue, uint32_t index)
{
    struct entry *entry = pod_at(queue, index);
    struct class_slot *slot = (entry->flags & ENTRY_WAITED) == 0 ? shut_by(queue, index) : NULL;
    schedq_result_t unseen = {0};
    const struct route route = {.queue = queue, .result = &unseen, .now = queue_now(queue)};

    if (slot == NULL || !make_room(queue, slot)) {
        return false;
    }
    keep_until(queue, index, class_until(&queue->base.rules, route.now));
    mutex_route_held(&route, index);
    hide(queue, slot, index);
    return true;
}

void
mutex_class_settle_active(struct mutex_queue *queue, const struct order *limit)
{
    for (uint32_t left = CLASS_SLICE; left > 0 && queue->active.count > 0; left--) {
        const struct order best = heap_best(&queue->active);
        uint32_t index = order_pod(best);

        if ((limit != NULL && !order_before(&best, limit)) ||
            !entry_has_class(pod_at(queue, index)) || !keep_back(queue, index)) {
            return;
        }
    }
}

/* ---- fail ------------------------------------------------------------------------------------ */

static enum class_turn
judge_shared(struct mutex_queue *queue, uint32_t index, int64_t now)
{
    const struct class_key key = class_at(queue, index);
    struct class_slot *slot =
        mutex_classes_make(&queue->classes) ? mutex_classes_slot(&queue->classes, &key) : NULL;

    if (slot == NULL) {
        return CLASS_NOTHING;
    }
    bool same = class_key_equal(&slot->key, &key);

    if (is_scout(queue, slot, index) && same) {
        return CLASS_SCOUTS;
    }
    if (has_scout(queue, slot)) {
        if (!same || !make_room(queue, slot)) {
            return CLASS_NOTHING;
        }
        keep_until(queue, index, class_until(&queue->base.rules, now));
        return CLASS_HIDES;
    }
    slot->key = key;
    slot->scout = index;
    slot->life = pod_at(queue, index)->life;
    return CLASS_SCOUTS;
}

void
mutex_class_fails(struct mutex_queue *queue, uint32_t index)
{
    queue->classes.turn = CLASS_NOTHING;
    queue->classes.scouted = mutex_class_scouted(queue, index);
}

void
mutex_class_note_try(struct mutex_queue *queue, uint32_t index)
{
    struct entry *entry = pod_at(queue, index);

    if ((entry->flags & ENTRY_BY_CLASS) != 0) {
        mutex_place_set_time(queue, entry, index, 0);
    }
    entry->flags &= (uint8_t)~ENTRY_WAITED;
}

void
mutex_class_judge(struct mutex_queue *queue, uint32_t index, const schedq_failure_t *failure,
                  bool parks, int64_t now)
{
    queue->classes.turn =
        parks && class_shares(failure) ? judge_shared(queue, index, now) : CLASS_NOTHING;
}

void
mutex_class_failed(struct mutex_queue *queue, uint32_t index, bool failed)
{
    const struct class_key key = class_at(queue, index);
    struct class_slot *scouted = queue->classes.scouted;
    enum class_turn turn = queue->classes.turn;

    queue->classes.turn = CLASS_NOBODY;
    queue->classes.scouted = NULL;
    if (!failed) {
        return;
    }
    if (turn == CLASS_HIDES) {
        hide(queue, mutex_classes_slot(&queue->classes, &key), index);
    }
    if (scouted != NULL && turn == CLASS_NOTHING && pod_at(queue, index)->place == SCHEDQ_PARKED) {
        promote(queue, scouted);
    } else {
        mutex_class_look(queue, scouted);
    }
}

/* ---- the scout ------------------------------------------------------------------------------- */

uint32_t
mutex_class_scout(const struct mutex_queue *queue, uint32_t index)
{
    const struct class_key key = class_at(queue, index);
    const struct class_slot *slot = mutex_classes_slot(&queue->classes, &key);

    return slot != NULL && class_key_equal(&slot->key, &key) && has_scout(queue, slot) ? slot->scout
                                                                                       : NO_ENTRY;
}

struct class_slot *
mutex_class_scouted(const struct mutex_queue *queue, uint32_t index)
{
    const struct class_key key = class_at(queue, index);
    struct class_slot *slot = key.number != 0 ? mutex_classes_slot(&queue->classes, &key) : NULL;

    return slot != NULL && is_scout(queue, slot, index) ? slot : NULL;
}

void
mutex_class_look(struct mutex_queue *queue, struct class_slot *scouted)
{
    if (scouted != NULL && !has_scout(queue, scouted)) {
        promote(queue, scouted);
    }
}

void
mutex_class_doubt(struct mutex_queue *queue, uint32_t index)
{
    if (mutex_class_scouted(queue, index) != NULL) {
        queue->classes.doubted = queue->time_changed = true;
    }
}

/*
 * Looks again first: the scout may be a good one by now, or the call that gated it found another.
 */
bool
mutex_class_is_due(struct mutex_queue *queue)
{
    const struct class_slot *slots = queue->classes.slots;
    uint32_t i = 0;

    while (i < CLASS_SLOTS && (slots[i].scout == NO_ENTRY || has_scout(queue, &slots[i]))) {
        i++;
    }
    queue->classes.doubted = i < CLASS_SLOTS;
    return queue->classes.doubted;
}

void
mutex_class_end_quietly(struct mutex_queue *queue, uint32_t index)
{
    mutex_class_doubt(queue, index);
    mutex_classes_set(&queue->classes, index, 0);
}

void
mutex_class_end(struct mutex_queue *queue, uint32_t index)
{
    struct class_slot *slot = mutex_class_scouted(queue, index);

    entry_changed(pod_at(queue, index)); /* the next one's gate may try the token */
    mutex_classes_set(&queue->classes, index, 0);
    mutex_class_look(queue, slot);
}

void
mutex_class_heal(struct mutex_queue *queue)
{
    struct class_slot *slots = queue->classes.slots;

    queue->classes.doubted = false;
    queue->time_changed = true;
    for (uint32_t i = 0; slots != NULL && i < CLASS_SLOTS; i++) {
        if (slots[i].scout != NO_ENTRY) {
            mutex_class_look(queue, &slots[i]);
        }
    }
}
