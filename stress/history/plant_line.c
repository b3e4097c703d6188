/* Plants about labels, and about the line: peek, peek_many, position. */
#include "plant_parts.h"

/* A look that begins when the pod is there, and ends before anybody takes it. */
static record_t *
look_at(const book_t *book, const life_t *life)
{
    const stay_t *stay = life->first;
    uint64_t from = stay->active_from > life->created->end ? stay->active_from : life->created->end;
    return plant_is_plain(life) ? plant_look_between(book, from, stay->taken_from) : NULL;
}

static record_t *
look_at_some_of_a_label(const book_t *book, const lives_t *lives, uint32_t *label)
{
    record_t *look = NULL;
    for (size_t i = 0; i < lives->count && look == NULL; i++) {
        *label = lives->lives[i].created->label;
        look = *label != 0 ? look_at(book, &lives->lives[i]) : NULL;
    }
    return look;
}

/* A call on a label that says that no pod has it. */
static bool
reach_nobody(const book_t *book, const lives_t *lives, uint8_t call, uint32_t room)
{
    uint32_t label;
    record_t *look = look_at_some_of_a_label(book, lives, &label);
    if (look == NULL)
        return false;
    plant_rewrite(look, call, SCHEDQ_OK);
    look->label = label;
    look->room = room;
    return true;
}

bool
plant_label_missed(book_t *book, lives_t *lives)
{
    return reach_nobody(book, lives, OP_LABEL_CANCEL, MANY);
}

bool
plant_label_count(book_t *book, lives_t *lives)
{
    return reach_nobody(book, lives, OP_LABEL_COUNT, 0);
}

/* A label is held before one of its pods is popped, and not released. */
bool
plant_label_kept(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        bool fits = life->created->label != 0 && life->first->popped != NULL;
        record_t *look = fits ? look_at(book, life) : NULL;
        if (look == NULL)
            continue;
        plant_rewrite(look, OP_LABEL_HOLD, SCHEDQ_OK);
        look->label = life->created->label;
        look->count = 1;
        return true;
    }
    return false;
}

bool
plant_label_other(book_t *book, lives_t *lives)
{
    (void)lives;
    for (size_t i = 0; i < book->count; i++) {
        record_t *record = book->all[i];
        if (record->call == OP_LABEL_CANCEL && record->life != NULL && record->label > 1) {
            record->label--;
            return true;
        }
    }
    return false;
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Some pod of a higher priority is active during the whole look. */
static bool
another_is_before(const lives_t *lives, const record_t *look, const life_t *life)
{
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *other = &lives->lives[i];
        if (plant_is_plain(other) && other->created->priority > life->created->priority &&
            other->first->active_from < look->begin && other->first->taken_from > look->end)
            return true;
    }
    return false;
}

/* A look at a pod that has others before it becomes a call about that pod. */
static record_t *
rewrite_as_call_on_later(const book_t *book, const lives_t *lives, uint8_t call)
{
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        record_t *look = look_at(book, life);
        if (look == NULL || !another_is_before(lives, look, life))
            continue;
        plant_rewrite_about(look, call, life);
        look->place = SCHEDQ_ACTIVE;
        return look;
    }
    return NULL;
}

bool
plant_position_low(book_t *book, lives_t *lives)
{
    return rewrite_as_call_on_later(book, lives, OP_POSITION) != NULL;
}

bool
plant_position_high(book_t *book, lives_t *lives)
{
    record_t *call = rewrite_as_call_on_later(book, lives, OP_POSITION);
    if (call != NULL)
        call->lower = call->upper = book->count;
    return call != NULL;
}

static bool
show_later(const book_t *book, const lives_t *lives, uint8_t call, uint32_t room)
{
    record_t *record = rewrite_as_call_on_later(book, lives, call);
    if (record == NULL)
        return false;
    record->count = 1;
    record->room = room;
    return true;
}

bool
plant_peek_order(book_t *book, lives_t *lives)
{
    return show_later(book, lives, OP_PEEK, 1);
}

bool
plant_peek_gap(book_t *book, lives_t *lives)
{
    return show_later(book, lives, OP_PEEK_MANY, 1);
}

/* One call shows its first pod again instead of the second. */
bool
plant_peek_twice(book_t *book, lives_t *lives)
{
    (void)lives;
    for (size_t i = 0; i + 1 < book->count; i++) {
        const record_t *first = book->all[i];
        record_t *second = book->all[i + 1];
        if (first->call != OP_PEEK_MANY || second->element != first->element + 1)
            continue;
        uint16_t element = second->element;
        *second = *first;
        second->element = element;
        return true;
    }
    return false;
}

/* A peek becomes a call that asked for all pods, and was shown one. */
bool
plant_peek_few(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *call = book->all[i];
        if (call->call == OP_PEEK && call->status == SCHEDQ_OK && call->place == SCHEDQ_ACTIVE) {
            call->call = OP_PEEK_MANY;
            call->room = (uint32_t)lives->count;
            return true;
        }
    }
    return false;
}
