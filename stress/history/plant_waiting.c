/*
 * Plants about pods that wait: events, gates, backoffs that are over, the way from one place to the
 * other.
 */
#include "plant_parts.h"

#include "cluster.h"

/*
 * An event in (after, before) that helps whoever has one of these rejectors, whatever its object.
 */
static const record_t *
event_between(const book_t *book, uint8_t rejectors, uint64_t after, uint64_t before)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->sorted[i];
        if (record->begin > before)
            return NULL;
        if (record->call == OP_NOTIFY && record->kind != KIND_FIT && record->begin > after &&
            record->end < before && (kind_hearers(record->kind) & rejectors) != 0)
            return record;
    }
    return NULL;
}

static uint8_t
rejectors_of(const record_t *failure)
{
    return (uint8_t)(failure->unschedulable | failure->pending);
}

static bool
is_parked_plainly(const stay_t *stay)
{
    return stay->life->first_update == NULL && plant_is_never_held(stay->life) &&
           record_fails(stay->began) && stay->began->place == SCHEDQ_PARKED;
}

/*
 * Some look between `cause` and the end of the stay tells that the pod is where it was. False:
 * there is no cause, or no such look.
 */
static bool
still_there_after(book_t *book, const record_t *cause, const stay_t *stay, schedq_place_t place)
{
    record_t *look = cause != NULL ? plant_look_between(book, cause->end, stay->taken_from) : NULL;
    if (look == NULL)
        return false;
    plant_rewrite_as_look(look, stay, place);
    return true;
}

bool
plant_missed_event(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->stay_count; i++) {
        const stay_t *stay = &lives->stays[i];
        const record_t *event =
            is_parked_plainly(stay)
                ? event_between(book, rejectors_of(stay->began), stay->began->end, stay->taken_from)
                : NULL;
        if (still_there_after(book, event, stay, SCHEDQ_PARKED))
            return true;
    }
    return false;
}

bool
plant_missed_in_flight(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->stay_count; i++) {
        const stay_t *stay = &lives->stays[i];
        if (!record_fails(stay->began) || stay->began->place == SCHEDQ_PARKED ||
            !plant_is_never_held(stay->life) ||
            event_between(book, rejectors_of(stay->began), stay->flight->end, stay->began->begin) ==
                NULL)
            continue;
        stay->began->place = SCHEDQ_PARKED;
        return true;
    }
    return false;
}

bool
plant_missed_activation(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->stay_count; i++) {
        const stay_t *stay = &lives->stays[i];
        const record_t *nudge = is_parked_plainly(stay) ? stay->life->nudges : NULL;
        while (nudge != NULL && nudge->begin <= stay->began->end)
            nudge = nudge->next_nudge;
        if (still_there_after(book, nudge, stay, SCHEDQ_PARKED))
            return true;
    }
    return false;
}

bool
plant_gated(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        const stay_t *stay = lives->lives[i].first;
        if (!plant_is_plain(stay->life) || object_gate(stay->life->created->object) != NO_GATE)
            continue;
        const record_t *event =
            event_between(book, 1u << PLUGIN_GATE, stay->active_from, stay->taken_from);
        if (still_there_after(book, event, stay, SCHEDQ_GATED))
            return true;
    }
    return false;
}

bool
plant_gated_add(book_t *book, lives_t *lives)
{
    (void)book;
    for (size_t i = 0; i < lives->count; i++) {
        record_t *created = lives->lives[i].created;
        if (created->call == OP_ADD && object_gate(created->object) == NO_GATE) {
            created->place = SCHEDQ_GATED;
            return true;
        }
    }
    return false;
}

/* A hold of a pod before it is popped, and no release. */
bool
plant_kept(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        const record_t *popped = plant_is_never_held(life) ? life->first->popped : NULL;
        record_t *look =
            popped != NULL ? plant_look_between(book, life->created->end, popped->begin) : NULL;
        if (look != NULL) {
            plant_rewrite_about(look, OP_HOLD, life);
            look->place = SCHEDQ_HELD;
            return true;
        }
    }
    return false;
}

/* Backoffs of stays without a failure before are the shortest. */
bool
plant_overdue(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->stay_count; i++) {
        const stay_t *stay = &lives->stays[i];
        int64_t expiry = stay->timestamp_ns + book->settings.max_backoff_ns;
        if (stay->backoff_first == NULL || !stay->timed || stay->life->first_update != NULL ||
            stay->life->nudges != NULL || !plant_is_never_held(stay->life) ||
            object_gate(stay->life->created->object) != NO_GATE)
            continue;
        for (size_t j = 0; j < book->count; j++) {
            const record_t *tick = book->sorted[j];
            bool late = tick->call == OP_TICK && tick->begin > stay->backoff_first->end &&
                        tick->key > expiry;
            record_t *look = late ? plant_look_between(book, tick->end, stay->taken_from) : NULL;
            if (look == NULL)
                continue;
            plant_rewrite_as_look(look, stay, SCHEDQ_BACKOFF);
            return true;
        }
    }
    return false;
}

/* A pod that is active is parked again, without a failure. */
bool
plant_moved_back(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->stay_count; i++) {
        const stay_t *stay = &lives->stays[i];
        record_t *look = stay->life->first_update == NULL && stay->timed
                             ? plant_look_between(book, stay->active_from, stay->taken_from)
                             : NULL;
        if (look == NULL)
            continue;
        plant_rewrite_as_look(look, stay, SCHEDQ_PARKED);
        return true;
    }
    return false;
}

bool
plant_attempts(book_t *book, lives_t *lives)
{
    (void)book;
    for (size_t i = 0; i < lives->count; i++) {
        if (lives->lives[i].last->popped != NULL) {
            lives->lives[i].last->popped->attempts++;
            return true;
        }
    }
    return false;
}

bool
plant_empty_backoff(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->stay_count; i++) {
        const stay_t *stay = &lives->stays[i];
        record_t *look = stay->poppable_from < stay->active_from && stay->life->nudges == NULL &&
                                 plant_is_never_held(stay->life)
                             ? plant_look_between(book, stay->poppable_from, stay->taken_from)
                             : NULL;
        if (look == NULL)
            continue;
        plant_rewrite(look, OP_TRY_POP, SCHEDQ_EMPTY);
        return true;
    }
    return false;
}
