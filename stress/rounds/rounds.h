/*
 * The frame of tools that make random calls in rounds: each round has a queue of its own, threads
 * that record their calls with their intervals, and a check of what was recorded.
 *
 * What a tool adds is its subject: the calls, the rules that a history has to keep, and plants that
 * break one. Pods are numbers below PODS; each is added once in a round.
 */
#ifndef SCHEDQ_ROUNDS_H
#define SCHEDQ_ROUNDS_H

#include <schedq/schedq.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PODS = 512, THREADS_MAX = 32, RECORDS_MAX = 1 << 16, RULES_MAX = 8 };

/** A subject has more of its own, from CALL_OWN. */
enum {
    CALL_NONE, /* a plant took the call away */
    CALL_ADD,
    CALL_POP,
    CALL_DONE,
    CALL_FAIL,
    CALL_DELETE,
    CALL_OWN
};

/** A call that returned OK. A done or a fail that returned GONE is recorded too. */
typedef struct record {
    uint64_t begin, end; /* stamps */
    uint64_t token;
    uint64_t cycle; /* groups: the token of the group that a pop returned */
    uint32_t pod, attempts;
    uint32_t group; /* groups */
    uint32_t scout; /* classes */
    uint8_t call, status, thread;
    uint8_t place;   /* classes */
    uint8_t outcome; /* groups */
    bool shares;     /* classes, CALL_FAIL: for reasons that its class shares */
    bool kept;       /* classes: its class keeps it back */
    bool late;       /* the actor's */
} record_t;

typedef struct book {
    size_t count;
    record_t records[RECORDS_MAX];
} book_t;

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct round {
    schedq_t *queue;
    uint64_t plugin; /* that rejects pods */
    uint64_t number;
    unsigned threads, calls;
    atomic_uint pods_added, groups_declared;
    atomic_llong now;   /* classes: of the queue's clock */
    atomic_ullong made; /* calls, of all threads */
} round_t;

typedef struct actor {
    _Alignas(64) round_t *round;
    schedq_worker_t *worker;
    unsigned number;
    bool late; /* what the subject says of the drain */
    uint64_t dice;
    unsigned in_hand_count;
    record_t in_hand[PODS]; /* pops whose pods have not ended */
    size_t count;
    record_t records[RECORDS_MAX / 4];
} actor_t;

/** 0..sides - 1. */
uint32_t roll(actor_t *actor, uint32_t sides);
/** A pod that was added, if any was. */
uint32_t some_pod(actor_t *actor);
/** Ends the program unless the call answers OK, or `other`. True: OK. */
bool must_or(const actor_t *actor, const char *call, schedq_status_t status, schedq_status_t other);
void must(const actor_t *actor, const char *call, schedq_status_t status);
/** A record of a call of this actor that ends now. */
record_t *note(actor_t *actor, unsigned call, uint64_t begin, uint32_t pod);

int name_of(char name[16], uint32_t pod);
uint32_t number_of(const char *name);

/** Adds the next pod; `spec` is complete but for its object. NULL: all pods were added. */
record_t *add_pod(actor_t *actor, uint32_t pod, schedq_pod_spec_t *spec);
/** The number of the next one; PODS and more: there is none. */
uint32_t next_pod(actor_t *actor);
/** NULL: it is not there. */
record_t *delete_pod(actor_t *actor, uint32_t pod);
void notify(actor_t *actor);
void tick(actor_t *actor);
/** No other thread is at work. Ticks until nothing is due; if that is never, the program ends. */
void rest(actor_t *actor);

/* ---- rules ----------------------------------------------------------------------------------- */

typedef struct report {
    uint64_t round, seed;
    uint64_t violations[RULES_MAX], obligations[RULES_MAX];
    const char *again;
} report_t;

/** Counts it, and prints the first few of each rule. The records may be NULL. */
void violation(report_t *report, unsigned rule, const record_t *first, const record_t *second,
               const char *format, ...) __attribute__((format(printf, 5, 6)));

/** Falsifies a history, so that a rule is broken. False: this one has no place for it. */
typedef bool plant_fn(book_t *book);

typedef struct plant {
    const char *name;
    unsigned rule;
    plant_fn *plant;
} plant_t;

/** A done that returned OK was never made. */
bool plant_lost(book_t *book);

/* ---- subjects -------------------------------------------------------------------------------- */

typedef struct subject {
    const char *command, *doc;
    const char *const *rules; /* their names, in order; the last one is NULL */
    const plant_t *plants;    /* the last one has no name */
    void (*configure)(round_t *round, schedq_config_t *config);
    void (*act)(actor_t *actor);     /* one random call */
    void (*end_one)(actor_t *actor); /* of those in hand */
    void (*drain)(actor_t *actor);   /* when all threads have returned: ends all pods */
    void (*check)(book_t *book, report_t *report);
    void (*print)(const record_t *record);
} subject_t;

/** The end of a `doc`. */
#define ROUNDS_DOC                                                                                \
    "It says how often each rule had something to decide.\vExit status: 0 nothing wrong (with "   \
    "--plant: the planted violation was found); 1 a violation (with --plant: it was not found), " \
    "or a rule that never had anything to decide; 2 bad usage; 130 interrupted. A seed fixes "    \
    "what "                                                                                       \
    "the threads choose, not how they interleave."

/** The command; returns its exit status. */
int rounds_main(const subject_t *subject, int argc, char **argv);

#endif
