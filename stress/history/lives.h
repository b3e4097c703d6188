/*
 * Lives: what the records of a round say about each pod, from the call that made it to the one that
 * ended it. A life is a chain of stays: in each the pod waits, until it is popped, and is in
 * flight, until it fails; then the next begins.
 *
 * A handle names one life, a token and a Timestamp one stay of it, so nearly every answer says
 * which it is about. What does not fit (a handle that nobody made, a token given twice) is reported
 * here.
 */
#ifndef SCHEDQ_HISTORY_LIVES_H
#define SCHEDQ_HISTORY_LIVES_H

#include "map.h"
#include "report.h"
#include "sort.h"

typedef struct stay {
    struct life *life;
    struct stay *next;
    uint32_t number;
    /* the call that made the pod, or the failure of the stay before */
    record_t *began;
    /* the pop before that failure; NULL: the stay began with the life */
    const record_t *flight;
    record_t *popped; /* what ended the wait */
    /* active at the latest from here: the return of `began`, or of `witness` */
    uint64_t active_from;
    const record_t *witness; /* a look that shows it was active; NULL: `began` does */
    uint64_t poppable_from;  /* active, or in a backoff that pops take from */
    /* begin of the first call that took or deleted it; UINT64_MAX: none did */
    uint64_t taken_from;
    /* of the calls that found it in a backoff, the one that ended first */
    const record_t *backoff_first;
    const record_t *backoff_last; /* of the looks that did, the one that began last */
    int64_t timestamp_ns;
    bool timed; /* timestamp_ns is known */
} stay_t;

typedef struct life {
    record_t *created;
    record_t *ended;                      /* the done or delete that was OK */
    record_t *returned;                   /* the use of its token that got GONE */
    record_t *pending;                    /* found when all was quiet */
    record_t *first_update, *last_update; /* by begin */
    record_t *nudges;                     /* activate, target; in no order */
    record_t *nominations;                /* that were OK; in no order */
    record_t *pops;                       /* by attempts */
    uint64_t kept_from;                   /* begin of its first hold; UINT64_MAX: none */
    /* end of the last label call that held or released it, or did not reach it; 0: none */
    uint64_t unsure_until;
    stay_t *first, *last;
    /* ---- automaton.c ---- */
    uint8_t state, place; /* place: of a pod that waits */
    uint8_t held;         /* or in flight: will be */
    uint64_t object;
    const stay_t *stay;
    const stay_t *released; /* the last one in which a release let it go; NULL: none */
} life_t;

typedef struct lives {
    life_t *lives;
    stay_t *stays;
    size_t count, stay_count, capacity;
    map_t by_pod, by_token; /* lives; pops */
    sortable_t *sortable, *scratch;
} lives_t;

void lives_make(lives_t *lives, const book_t *book, size_t operations);
void lives_free(lives_t *lives);
/** Fills lives from the book, and the checker's part of the book. */
void lives_resolve(lives_t *lives, book_t *book, report_t *report);
/** The record that gave this life this object, NULL if none did. */
const record_t *life_description(const life_t *life, uint64_t object);
/**
 * The descriptions that the pod may have had at a time in [from, until], one after the other;
 * `before`: NULL: the first. NULL: there is no further one.
 */
const record_t *life_next_description(const life_t *life, const record_t *before, uint64_t from,
                                      uint64_t until);
/** May an activation or a target have moved it at a time in [from, until]? */
bool life_is_nudged(const life_t *life, uint64_t from, uint64_t until);
/** Is `good` said of every object that the pod may have had at a time in [from, until]? */
bool life_objects_are(const life_t *life, uint64_t from, uint64_t until,
                      bool (*good)(uint64_t object, unsigned what), unsigned what);
/** Everything that gave it its rank, and what ended that. */
void stay_print(const report_t *report, const stay_t *stay);

#endif
