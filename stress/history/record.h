/*
 * One call of one thread, as it was made and answered; and the book of a round, which holds them
 * all.
 *
 * A call for many pods leaves one record per pod, all with the same interval. The fields below the
 * line are the checker's.
 */
#ifndef SCHEDQ_HISTORY_RECORD_H
#define SCHEDQ_HISTORY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ops/op.h"

enum { THREADS_MAX = 32, MANY = 8 /* pods of one call, at most */ };

/*
 * What a record is of: a call of ops/op.h, one that the checker tells apart, or no call. A record
 * of OP_NONE was made harmless by a plant.
 */
enum {
    CALL_CARRY = OPS, /* no call: a pod that is there as the round begins */
    CALL_DELETE_POD,  /* delete by handle; OP_DELETE: by name */
    CALL_TARGET,      /* notify of a wildcard with a target; OP_NOTIFY: any other */
    CALL_GATE,        /* no call: a gate opens or shuts */
    CALLS
};

struct life;
struct stay;

typedef struct record {
    uint64_t begin, end; /* stamps */
    uint64_t settled;    /* capped: from here on all that it stored can be seen; else its end */
    uint64_t pod;        /* the handle that was passed, or came back */
    uint64_t token;
    uint64_t object;   /* the one given, or found */
    uint64_t replaced; /* update: the object before */
    int64_t timestamp_ns;
    int64_t key;           /* keyed: the order key given; tick: the queue's clock just before */
    uint64_t lower, upper; /* position */
    int32_t priority;
    uint32_t name;
    uint32_t label;       /* add, readd, update, carry, label calls; 0: none */
    uint32_t count, room; /* label calls, peek_many: pods that it told of, and asked for */
    /* pop, carry, readd: the pod's history; a pop's attempts count it */
    uint32_t attempts, rejections, errors;
    uint8_t call, status, place, thread;
    uint8_t unschedulable, pending; /* fail, carry, readd: sets of plugins (cluster.h) */
    /* event: which, and whom it helps; update: which, if with_event */
    uint8_t kind, class;
    uint8_t gate;      /* gate: which */
    bool shut;         /* gate: from here on */
    bool with_event;   /* update: with an event, of `kind` */
    bool from_backoff; /* pop, peek, peek_many */
    bool keyed, added;
    bool tells_node;  /* pop, get, peek, carry, the last look: where the pod is nominated */
    uint8_t node;     /* and nominate; 0: nowhere */
    bool garbled;     /* done: the name that pop gave had changed */
    uint16_t element; /* which pod of a call for many */
    /* ---- */
    uint64_t from; /* it took effect at or after this: its begin, or later */
    struct life *life;
    struct stay *stay;          /* the one it is about; NULL: no telling */
    struct record *next_update; /* of the same life, by begin */
    struct record *next_nudge;  /* activate, target; or nominate: of the same life */
    struct record *next_pop;    /* of the same life, by attempts */
    struct record *use;         /* pop: what used its token */
} record_t;

/** One thread's part. Threads count without meeting each other in one cache line. */
typedef struct page {
    _Alignas(64) record_t *records;
    uint32_t count;
} page_t;

/** What the checker must know of the configuration. */
typedef struct settings {
    bool pop_from_backoff;
    bool kube;
    bool host;        /* decides by candidates and apply; no gates, activations or targets */
    int64_t max_pods; /* 0: FULL is no answer */
    int64_t initial_backoff_ns, max_backoff_ns;
} settings_t;

typedef struct book {
    settings_t settings;
    unsigned threads;  /* the main thread's page is that of number `threads` */
    uint32_t capacity; /* of each page */
    page_t pages[THREADS_MAX + 1];
    uint64_t begin; /* stamp before the round's first call */
    /* ---- */
    record_t **all;    /* thread by thread, each in its order */
    record_t **sorted; /* by `from` */
    size_t count;
} book_t;

/** Room for `capacity` records of each thread; ends the process if there is no memory. */
void book_make(book_t *book, unsigned threads, uint32_t capacity);
void book_free(book_t *book);
void book_clear(book_t *book);
/** The next record of a thread; ends the process if its part is full. */
record_t *book_take(book_t *book, unsigned thread);

const char *call_name(uint8_t call);
/** True if the call made the pod of its record. */
bool record_creates(const record_t *record);
/** Any kind of pop, whatever it answered. */
bool record_is_pop(const record_t *record);
/** done and done_many. */
bool record_is_done(const record_t *record);
/** done, done_many and fail. */
bool record_uses_token(const record_t *record);
/** A failure that was OK: its pod waits from here on. */
bool record_fails(const record_t *record);
/** activate and target: it brings its pod back, wherever it waits. */
bool record_nudges(const record_t *record);
/** delete of a pod, or label_cancel that told of one; whatever it answered. */
bool record_deletes(const record_t *record);
/** A call that makes a pod if it can. */
bool record_may_create(const record_t *record);
/** peek and peek_many. */
bool record_peeks(const record_t *record);
/** label_hold and label_release. */
bool record_keeps_label(const record_t *record);
/**
 * True if the call said that its pod is in the queue at a place: find, get, peek, position, update,
 * EXISTS.
 */
bool record_sees(const record_t *record);
/** One line; times count from the round's begin. */
void record_print(const book_t *book, const record_t *record, FILE *out);

#endif
