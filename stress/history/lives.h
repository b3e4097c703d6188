/*
 * Lives: what the records of a round say about each pod, from the call that made it to the one that ended it.
 *
 * A handle names one life, a token one cycle of it, so nearly every answer says which life it is about. What does not
 * fit (a handle that nobody made, a token given twice) is reported here.
 */
#ifndef SCHEDQ_HISTORY_LIVES_H
#define SCHEDQ_HISTORY_LIVES_H

#include "map.h"
#include "report.h"
#include "sort.h"

typedef struct life {
    record_t *created;
    record_t *popped;
    record_t *ended;                      /* the done or delete that was OK */
    record_t *returned;                   /* the done that got GONE */
    record_t *pending;                    /* found when all was quiet */
    record_t *first_update, *last_update; /* by begin */
    uint64_t sure_from;      /* active at the latest from here: the return of the call that made it, or of `witness` */
    const record_t *witness; /* an earlier return that shows it was there; NULL: none */
    uint64_t taken_from;     /* begin of the first call that took or deleted it; UINT64_MAX: none did */
    int64_t timestamp_ns;
    bool timed; /* timestamp_ns is known */
    /* ---- automaton.c ---- */
    uint8_t state;
    uint64_t object;
} life_t;

typedef struct lives {
    life_t *lives;
    size_t count, capacity;
    map_t by_pod, by_token;
    sortable_t *sortable, *scratch;
} lives_t;

void lives_make(lives_t *lives, const book_t *book, size_t operations);
void lives_free(lives_t *lives);
/** Fills lives from the book, and the checker's part of the book. */
void lives_resolve(lives_t *lives, book_t *book, report_t *report);
/** The record that gave this life this object, NULL if none did. */
const record_t *life_description(const life_t *life, uint64_t object);

#endif
