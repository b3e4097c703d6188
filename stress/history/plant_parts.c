/* Looks of threads, rewritten. */
#include "plant_parts.h"

#include <string.h>

#include "names.h"

record_t *
plant_look_between(const book_t *book, uint64_t after, uint64_t before)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *record = book->sorted[i];
        if (record->begin > before)
            return NULL;
        if (record->call == OP_FIND && record->thread != book->threads && record->begin > after &&
            record->end < before)
            return record;
    }
    return NULL;
}

void
plant_rewrite(record_t *record, uint8_t call, schedq_status_t status)
{
    record_t old = *record;
    memset(record, 0, sizeof *record);
    record->begin = old.begin;
    record->end = old.end;
    record->settled = old.settled;
    record->thread = old.thread;
    record->call = call;
    record->status = (uint8_t)status;
    record->name = NO_NAME;
}

void
plant_rewrite_about(record_t *record, uint8_t call, const life_t *life)
{
    plant_rewrite(record, call, SCHEDQ_OK);
    record->name = life->created->name;
    record->pod = life->created->pod;
    record->object = life->created->object;
    record->priority = life->created->priority;
    record->timestamp_ns = life->first->timestamp_ns;
}

void
plant_rewrite_as_look(record_t *record, const stay_t *stay, schedq_place_t place)
{
    plant_rewrite_about(record, OP_FIND, stay->life);
    record->timestamp_ns = stay->timestamp_ns;
    record->place = (uint8_t)place;
}

bool
plant_is_never_held(const life_t *life)
{
    return life->kept_from == UINT64_MAX;
}

bool
plant_is_plain(const life_t *life)
{
    return plant_is_never_held(life) && life->first_update == NULL && life->first == life->last &&
           life->first->timed && life->created->call != CALL_CARRY;
}

record_t *
plant_only_pop(const life_t *life)
{
    return life->first == life->last ? life->first->popped : NULL;
}

bool
plant_is_done_life(const life_t *life)
{
    return plant_only_pop(life) != NULL && life->ended != NULL && record_is_done(life->ended);
}
