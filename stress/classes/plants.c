/* Each plant makes one answer of a round wrong. */
#include "book.h"

/* The second of two pops while the class was shut was of another pod, which it keeps back. */
static bool
takes_other(const record_t *failure, record_t *second)
{
    const uint32_t was = second->pod;
    record_t *pops[2];
    for (uint32_t pod = class_of(was); pod < PODS; pod += CLASSES + 1) {
        second->pod = pod;
        if (pod != was && rules_tried(failure, pops, 2) == 2 && pops[1] == second)
            return true;
    }
    second->pod = was;
    return false;
}

static bool
plant_two(book_t *book)
{
    record_t *pops[2];
    rules_begin(book);
    for (size_t i = 0; i < book->count; i++) {
        const record_t *failure = &book->records[i];
        if (rules_tried(failure, pops, 2) == 2 && pops[0]->pod == pops[1]->pod &&
            takes_other(failure, pops[1]))
            return true;
    }
    return false;
}

static record_t *
find_look(book_t *book, bool late)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *record = &book->records[i];
        if (record->call == CALL_LOOK && record->late == late && (late || record->kept))
            return record;
    }
    return NULL;
}

static bool
plant_forgotten(book_t *book)
{
    record_t *record = find_look(book, false);
    if (record != NULL)
        record->scout = NO_POD;
    return record != NULL;
}

static bool
plant_late(book_t *book)
{
    record_t *record = find_look(book, true);
    if (record != NULL)
        record->kept = true;
    return record != NULL;
}

const plant_t class_plants[] = {
    {"two", RULE_ONE, plant_two},
    {"forgotten", RULE_SCOUT, plant_forgotten},
    {"late", RULE_PATIENCE, plant_late},
    {"lost", RULE_LOST, plant_lost},
    {0},
};
