/*
 * What the threads of a queue scenario did and were told, on one line of time, and whether it can
 * be true.
 *
 * An *attempt* is one call that describes a pod (add, update); its number is the pod's object. A
 * *life* is a pod from add to its end, named by its handle. A *look* is an answer that says that
 * something is not there. Every call has a moment when it began and one when it ended, so that
 * "surely" can be said of what lies between calls: contracts O and N of the header are checked from
 * that after the episode (verdict.c).
 *
 * A life that fails goes on as another struct life with the same handle: each
 * is popped at most once. The next one is made as soon as anybody is told of it, perhaps before the
 * failing call returns.
 *
 * An *occasion* is a call that must bring waiting pods back: an event, an activation. What happened
 * since the pop that handed a pod out may not be missed by its failure (missed.c).
 */
#ifndef EXPLORE_LEDGER_H
#define EXPLORE_LEDGER_H

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stdint.h>

#define ATTEMPTS_MAX 1024
#define LIVES_MAX 1024
#define LOOKS_MAX 1024
#define OCCASIONS_MAX 256
#define QUESTIONS_MAX 64
#define SHOWN_MAX 16
#define OPEN_CALLS_MAX 8
#define KEEPS_MAX 256
#define CANCELS_MAX 64
#define ANY_KEY UINT32_MAX

typedef uint64_t moment;
#define NEVER UINT64_MAX

enum call_kind {
    CALL_ADD,
    CALL_UPDATE,
    CALL_POP,
    CALL_DONE,
    CALL_DELETE,
    CALL_FIND,
    CALL_WORKER,
    CALL_FAIL,
    CALL_OTHER
};

/** A call that runs, or that a frozen thread will never end. */
struct open_call {
    bool open;
    enum call_kind kind;
    uint32_t key;      /* add, update, delete, find; delete: ANY_KEY: of several pods */
    uint64_t handle;   /* done, fail; 0: of several pods */
    uint32_t capacity; /* pop */
    moment began;
};

struct attempt {
    uint32_t key;
    int32_t priority;
    int64_t order_key;
    bool keyed, is_update;
    moment began, ended;
    int status;            /* -1: it runs */
    bool added;            /* it made a pod */
    bool replaced;         /* an update said that it replaced this one's object */
    uint64_t handle;       /* 0: none, or not known yet */
    uint64_t instead_of;   /* update: the object that it replaced; 0: none */
    schedq_place_t met_at; /* update: where it met the pod */
    int64_t references;
    int64_t not_before_ns;
    uint64_t label;
    uint64_t class_id;
};

struct life {
    uint64_t handle;
    uint32_t key;
    moment add_began;      /* of the call that made it; NEVER: nobody was told */
    moment exists, active; /* since when at the latest that is sure; NEVER: never was */
    uint32_t pops, ends, gones;
    moment pop_began, pop_ended;
    uint64_t object; /* as popped */
    int32_t priority;
    int64_t timestamp;
    moment end_began, end_ended; /* of the done or delete that ended it */
    bool ended_by_delete;
    bool deleted_in_flight; /* the deletion said so */
    unsigned holder;        /* who popped it */
    bool from_backoff;      /* that pop took it from there */
    uint32_t attempts;      /* pops before this one */
    /* since when at the latest it is sure that pops may take it: active, or backing off */
    moment poppable;
    /* of the call that ends its flight without success; NEVER: none */
    moment fail_began, fail_ended;
    uint64_t fail_rejectors;
    uint32_t next; /* 1 + number of the life that it goes on as; 0: none */
    /* the pop before this life had returned; NEVER: there was none, or its end is not known */
    moment flight_began;
    uint64_t rejectors; /* of the failure before */
    int64_t due;        /* backing off: until then; INT64_MAX: not known */
    int64_t popped_at;  /* when its pop had returned, on the cluster's clock */
};

struct look {
    bool is_pop; /* nothing to pop; else: no such pod */
    uint32_t key;
    moment began, ended;
};

/** A call that brings back those that it reaches. */
struct occasion {
    moment began, ended; /* NEVER: it runs */
    uint64_t handle;     /* not 0: this pod only */
    uint64_t reached;    /* by these rejectors */
    uint64_t hinted;     /* by these, if the pod is one of those that hints want (cluster.h) */
    uint64_t gates;      /* pods behind the gates with these bits */
    bool is_update;      /* its hint is asked for the object that it brings */
    uint64_t sequence;   /* [host] */
};

/** What a call said of the line: position of one pod, or peek and peek_many. */
struct question {
    uint64_t handle; /* position; 0: peek */
    int status;
    bool quiet; /* no other call was at work */
    moment began, ended;
    uint64_t lower, upper;
    size_t room, count;        /* peek: how many were asked for, were shown */
    uint64_t shown[SHOWN_MAX]; /* handles */
    uint64_t objects[SHOWN_MAX];
};

/**
 * A call that says what keeps a pod back: a mark, or a time. Between one that keeps it back and one
 * that lets it go nobody pops the pod (verdict.c).
 */
struct keep {
    uint64_t handle;
    bool is_time;
    bool holds;          /* a mark: or takes it away */
    int64_t until;       /* a time; 0: none */
    bool stays;          /* with memory the answer says HELD */
    moment began, ended; /* NEVER: it runs */
};

/** A call that ends all pods of a label. */
struct cancel {
    uint64_t label;
    moment began, ended; /* NEVER: it runs */
};

struct ledger {
    moment now;
    struct attempt attempts[ATTEMPTS_MAX]; /* object n is attempts[n - 1] */
    struct life lives[LIVES_MAX];
    struct look looks[LOOKS_MAX];
    struct occasion occasions[OCCASIONS_MAX];
    struct question questions[QUESTIONS_MAX];
    struct keep keeps[KEEPS_MAX];
    struct cancel cancels[CANCELS_MAX];
    uint32_t attempt_count, life_count, look_count, occasion_count, question_count, keep_count;
    uint32_t cancel_count;
    struct open_call calls[OPEN_CALLS_MAX]; /* per actor */
    bool relaxed;                           /* order is not promised inside a priority */
    /* equal Timestamps are the rule, and ordered by the calls that drew them */
    bool still_clock;
    /* and it moves: a Timestamp is older than the key that is drawn for it */
    bool moving_clock;
    /* who backs off can be popped, and no gate comes between */
    bool backoff_pops;
    bool any_history; /* pods come with attempts of their own */
    moment closing;   /* when the first close began */
    struct {
        uint64_t adds, pops, dones, failures, deletes, updates;
    } sums;
};

void ledger_reset(struct ledger *ledger);

/** A call of an actor begins, ends. */
moment ledger_begin(struct ledger *ledger, unsigned actor, struct open_call call);
moment ledger_end(struct ledger *ledger, unsigned actor);

/** A new attempt; returns its object. */
uint64_t ledger_attempt(struct ledger *ledger, struct attempt attempt);
struct attempt *ledger_attempt_of(struct ledger *ledger, uint64_t object);

/** The life with this handle; made if it is new. */
struct life *ledger_life(struct ledger *ledger, uint64_t handle, uint32_t key);

/** The same of an add that returns: by then the pod may have failed, and be in a later flight. */
struct life *ledger_added_life(struct ledger *ledger, uint64_t handle, uint32_t key);

/** Somebody was told at `when` that the life exists; `began` is when his call began. */
void ledger_told(struct ledger *ledger, struct life *life, schedq_place_t place, moment began,
                 moment when);

void ledger_popped(struct ledger *ledger, unsigned actor, const schedq_popped_t *popped,
                   uint32_t key, moment began, moment ended);
/**
 * A pod that was popped begins to fail; what came of it: it goes on in a place, it was deleted, or
 * it is held as before.
 */
void ledger_fail_begins(struct life *life, uint64_t rejectors, moment began);
void ledger_failed(struct ledger *ledger, struct life *life, schedq_place_t place, moment ended);
void ledger_fail_refused(struct life *life, bool gone);

/** The life as which one goes on that is about to fail, or itself. */
struct life *ledger_waiting(struct ledger *ledger, struct life *life);

struct occasion *ledger_occasion(struct ledger *ledger, struct occasion occasion);

struct cancel *ledger_cancel(struct ledger *ledger, struct cancel cancel);

struct keep *ledger_keep(struct ledger *ledger, struct keep keep);

void ledger_ended(struct ledger *ledger, struct life *life, bool by_delete, moment began,
                  moment ended);
void ledger_look(struct ledger *ledger, bool is_pop, uint32_t key, moment began, moment ended);

void ledger_question(struct ledger *ledger, const struct question *question);

/** Fails the episode if an answer about the line cannot be true (line.c). */
void ledger_check_questions(const struct ledger *ledger);

/**
 * Fails the episode if what was recorded cannot be true (verdict.c). `in_order`: the moments may be
 * relied on.
 */
void ledger_verdict(const struct ledger *ledger, bool in_order);

/**
 * Fails the episode if a pod waits in this place though an occasion must have brought it back
 * (missed.c).
 */
void ledger_check_waiting(const struct ledger *ledger, const struct life *life,
                          schedq_place_t place, uint64_t gate_bit, moment gate_opened);

/** The earliest moment at which a life may have stopped being active, being there. */
moment ledger_active_until(const struct ledger *ledger, const struct life *life);
moment ledger_exists_until(const struct ledger *ledger, const struct life *life);

#endif
