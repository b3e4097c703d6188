/* Each plant makes one answer of a round wrong. */
#include "book.h"

#include <string.h>

static record_t *
find_use(book_t *book, const record_t *pop)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *use = &book->records[i];
        if ((use->call == CALL_DONE || use->call == CALL_FAIL) && use->token == pop->token)
            return use;
    }
    return NULL;
}

static record_t *
find_end(book_t *book, const record_t *pop)
{
    for (size_t i = 0; i < book->count; i++) {
        if (book->records[i].call == CALL_END && book->records[i].token == pop->cycle)
            return &book->records[i];
    }
    return NULL;
}

static record_t *
find_add(book_t *book, uint32_t pod)
{
    for (size_t i = 0; i < book->count; i++) {
        if (book->records[i].call == CALL_ADD && book->records[i].pod == pod)
            return &book->records[i];
    }
    return NULL;
}

static bool
is_member_pop(const record_t *record)
{
    return record->call == CALL_POP && record->cycle != 0;
}

/* The next pop of the same pod; NULL: there is none. */
static record_t *
find_next(book_t *book, const record_t *pop)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *next = &book->records[i];
        if (is_member_pop(next) && next->pod == pop->pod && next->attempts == pop->attempts + 1)
            return next;
    }
    return NULL;
}

/* A pop of pods returned a member. */
static bool
plant_alone(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        if (is_member_pop(&book->records[i])) {
            book->records[i].call = CALL_PLAIN_POP;
            return true;
        }
    }
    return false;
}

static bool
plant_stranger(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        if (is_member_pop(&book->records[i])) {
            book->records[i].group = 1 + book->records[i].group % GROUPS;
            return true;
        }
    }
    return false;
}

/* The failure between two pops of a member begins when the second is over. */
static bool
plant_twice(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *pop = &book->records[i];
        const record_t *next = is_member_pop(pop) ? find_next(book, pop) : NULL;
        record_t *use = next != NULL ? find_use(book, pop) : NULL;
        if (use == NULL)
            continue;
        use->begin = use->end = next->end + 1;
        return true;
    }
    return false;
}

/* A member that failed was done: it is popped behind its end. */
static bool
plant_again(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *pop = &book->records[i];
        record_t *use =
            is_member_pop(pop) && find_next(book, pop) != NULL ? find_use(book, pop) : NULL;
        if (use == NULL)
            continue;
        use->call = CALL_DONE;
        return true;
    }
    return false;
}

static bool
plant_open(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *pop = &book->records[i];
        record_t *end = is_member_pop(pop) ? find_end(book, pop) : NULL;
        for (size_t j = 0; end != NULL && j < book->count; j++) {
            const record_t *next = &book->records[j];
            if (!is_member_pop(next) || next->group != pop->group || next->end <= end->end)
                continue;
            end->begin = end->end = UINT64_MAX;
            return true;
        }
    }
    return false;
}

/* Before any cycle of its group ended in PLACED: the quorum counts. */
static bool
needs_quorum(const book_t *book, const record_t *pop)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *end = &book->records[i];
        if (end->call == CALL_END && end->group == pop->group &&
            end->outcome == SCHEDQ_GROUP_PLACED && end->begin <= pop->end)
            return false;
    }
    return true;
}

/* Of a cycle that needs its quorum, all members but one were never there. */
static bool
plant_early(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *pop = &book->records[i];
        if (!is_member_pop(pop) || pop->late || !needs_quorum(book, pop))
            continue;
        const uint64_t cycle = pop->cycle;
        for (size_t j = i + 1; j < book->count; j++) {
            record_t *other = &book->records[j];
            if (!is_member_pop(other) || other->cycle != cycle)
                continue;
            uint32_t pod = other->pod;
            for (size_t k = 0; k < book->count; k++) {
                if (book->records[k].pod == pod && book->records[k].call != CALL_DECLARE &&
                    book->records[k].call != CALL_END)
                    book->records[k].call = CALL_NONE;
            }
        }
        return true;
    }
    return false;
}

/* A member that was added long before the pop is popped later. */
static bool
plant_left(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *pop = &book->records[i];
        const record_t *added = is_member_pop(pop) ? find_add(book, pop->pod) : NULL;
        const record_t *declared = NULL;
        record_t *use = added != NULL ? find_use(book, pop) : NULL;
        for (size_t j = 0; j < book->count && declared == NULL; j++) {
            if (book->records[j].call == CALL_DECLARE && book->records[j].group == pop->group)
                declared = &book->records[j];
        }
        if (use == NULL || use->call != CALL_DONE || pop->attempts != 1 || declared == NULL ||
            declared->end >= pop->begin || added->end >= pop->begin || use->status != SCHEDQ_OK)
            continue;
        for (size_t j = 0; j < book->count; j++) {
            const record_t *other = &book->records[j];
            if (other->call != CALL_POP || other->cycle != pop->cycle || other->pod == pop->pod)
                continue;
            pop->begin = pop->end = use->end + 1;
            pop->cycle = 0;
            use->begin = use->end = pop->end + 1;
            return true;
        }
    }
    return false;
}

const plant_t group_plants[] = {
    {"alone", RULE_ALONE, plant_alone},
    {"stranger", RULE_ALONE, plant_stranger},
    {"twice", RULE_ONCE, plant_twice},
    {"again", RULE_ONCE, plant_again},
    {"open", RULE_CYCLES, plant_open},
    {"early", RULE_QUORUM, plant_early},
    {"left", RULE_WHOLE, plant_left},
    {"lost", RULE_LOST, plant_lost},
    {0},
};
