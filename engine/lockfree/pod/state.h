/*
 * The state word of a pod's record: where the pod is, in one word that is the only truth about it.
 *
 *   version:36 | place:4 | detail:24
 *
 * The detail of a pod that is ACTIVE is band:20, lag:4; of one that waits (BACKOFF, ERROR_BACKOFF,
 * PARKED, GATED, HELD, ASIDE) the lag; of one in flight the flags; else 0. One that is ASIDE has
 * two flags above the lag: whether it passed the gates there, and whether an answer of theirs could
 * not be noted.
 *
 * CONTRACT. Containers (lanes, runs, the index) hold refs {record, version} and keys; they are
 * hints. A pod is where its word says. Every change of place, of band or of the position inside a
 * band is one CAS of the word that raises the version by one. A ref that is stale, duplicated or
 * early is harmless: it is judged against the word before it is used.
 *
 * THE THREADS THAT TAKE A POD FROM A PLACE, AND THE ACCESS
 *   from \ to      ACTIVE          BACKOFF,      PARKED,           HELD      INFLIGHT    DEAD
 *                                  ERROR_BACKOFF GATED
 *   FREE           owner: store    owner: store  owner: store      owner     -           -
 *   ACTIVE         update: sw      -             -                 hold: sw  pop: sw     delete: sw
 *   BACKOFF        tick, activate  update: sw    gate: sw          hold: sw  pop: sw     delete: sw
 *   ERROR_BACKOFF  tick, activate  update: sw    gate: sw          hold: sw  -           delete: sw
 *   PARKED         move, activate  move: sw      update, gate: sw  hold: sw  -           delete: sw
 *   GATED          move, activate  move: sw      update, gate: sw  hold: sw  -           delete: sw
 *   HELD           release, tick   release, tick gate: sw          hold: sw  -           delete: sw
 *   INFLIGHT       holder: sw      holder: sw    holder: sw        holder    holder: sw  holder: sw
 * A member of a group is ASIDE instead, wherever another pod would be ACTIVE or wait for time or an
 * event (route.h): its ways are FREE, HELD and INFLIGHT -> ASIDE -> HELD, DEAD, ASIDE (an update),
 * each by the access above, and ASIDE -> INFLIGHT by its group's pop, if it passed the gates. The
 * thread that asked the gates notes PASSED and UNNOTED by a CAS that keeps the version. The owner
 * stores FREE over DEAD, and DEAD leads nowhere else.
 * "sw" is a CAS from the exact word that the decision was taken on, to version + 1. The owner of a
 * record that is FREE or DEAD is the thread whose CAS made it DEAD, until it gives the record to a
 * free list; then the thread that takes it from there. The holder has the token, and the token is
 * the version: a thread that lost the version lost the pod. Flags change without a version, in
 * INFLIGHT and ASIDE only: DELETED the pod was deleted, ACTIVATED it was activated, JUDGE an event
 * came while the holder was about to park it. A switch out of INFLIGHT fails if a flag was set
 * meanwhile.
 *
 * BAND is the id of an active pod's band. An id is used again, but not while a pod is active in its
 * band: the pod's ref keeps the band from retirement (band.h).
 *
 * LAG. An update of an active pod that changes its band or its order key, and every update of a
 * waiting pod, replaces the description first, and moves the pod afterwards if it has to be moved.
 * The replacement raises the version and the lag: refs of `version - lag` stay VALID, so the pod is
 * still found in its old place, and only the ref of the next version can become valid. So no ref
 * that was published for an older description becomes valid beside the newest one, and nothing that
 * was decided on an older description is applied. The switch sets the lag to 0.
 *
 * PUBLISH, THEN SWITCH. A thread that moves a pod at version v publishes the ref {record, v+1} in
 * the container of the new place (the ref is FUTURE until the switch), then switches. A thread that
 * meets a FUTURE ref performs the switch, to the band of the container. So a thread that stops
 * anywhere leaves a pod where it was, or where another thread finds it.
 *
 * LINEARIZATION. Of each change of a pod's place: the CAS of its word. Of finding a pod: the load
 * of the word.
 *
 * ORDERING
 *   stores into the record, a CAS of the word -> a load of the word
 *       also the stores before earlier CASes. Fields read by acquire loads between two loads of the
 *       word are of its version if both find the same (report.c)
 *
 * PROGRESS. Wait-free. A thread that stops before its CAS has changed nothing; behind it, the pod
 * is where the word says, and its ref was published before. (New pods: add.c.)
 *
 * WRAPAROUND. 36 bits at 10 million changes a second of one record: 1.9 hours. A ref that slept
 * exactly that long could let a pop claim a pod early inside its own band; no pod could be lost by
 * it. Versions have no order: they are compared for being equal, or measured from one that they
 * cannot have come all round from (a life's first, a page's floor, the base).
 *
 * EVIDENCE. tests/unit/test_lockfree_state.c enumerates place x operation x concurrent second
 * operation against the table; tests/model: claim, intent, description.
 */
#ifndef SCHEDQ_LOCKFREE_STATE_H
#define SCHEDQ_LOCKFREE_STATE_H

#include "lockfree/memory/sizes.h"
#include "platform/atomic.h"

#include <schedq/schedq.h>

#define STATE_VERSION_SHIFT 28
#define STATE_PLACE_SHIFT 24
#define STATE_BAND_SHIFT 4 /* in the detail, above the lag */
#define STATE_VERSION_MASK ((UINT64_C(1) << 36) - 1)
#define STATE_PLACE_MASK UINT64_C(15)
#define STATE_BAND_MASK UINT64_C(0xfffff)
#define STATE_DETAIL_MASK ((UINT64_C(1) << STATE_PLACE_SHIFT) - 1)

#define REF_INDEX_MASK ((UINT64_C(1) << STATE_VERSION_SHIFT) - 1)

enum place {
    PLACE_FREE,
    PLACE_ACTIVE,
    PLACE_BACKOFF,
    PLACE_PARKED,
    PLACE_GATED,
    PLACE_INFLIGHT,
    PLACE_DEAD,
    PLACE_ERROR_BACKOFF,
    PLACE_HELD,
    PLACE_ASIDE, /* a member of a group: in no container */
    /* a group's record: */
    PLACE_IDLE,  /* in no container: it has too few members */
    PLACE_READY, /* active, in a bin of its own */
    PLACE_CYCLE  /* in flight; its token is the base, which descriptions and disturbances keep */
};

#define STATE_PLACES 13

enum state_flag {
    FLAG_DELETED = 1,   /* in flight, deleted meanwhile: its holder gets GONE */
    FLAG_ACTIVATED = 2, /* in flight, activated meanwhile: it is retried when it fails */
    /* in flight, and an event found it where its holder is parking it: the holder judges again */
    FLAG_JUDGE = 4,
    /*
     * aside; since its gate was noted its gates said otherwise, and there was no memory to note
     * that
     */
    FLAG_UNNOTED = 1 << 22,
    FLAG_PASSED = 1 << 23 /* aside, and the gates let it pass since it came there */
};

#define FLAGS_ASIDE ((uint64_t)FLAG_PASSED | FLAG_UNNOTED)

#define STATE_LAG_ACTIVE ((UINT32_C(1) << STATE_BAND_SHIFT) - 1)
#define STATE_LAG_WAITING SIZE((UINT32_C(1) << 22) - 1, 3) /* below FLAG_UNNOTED */

static inline uint64_t
state_make(uint64_t version, uint32_t band, enum place place)
{
    return (version & STATE_VERSION_MASK) << STATE_VERSION_SHIFT |
           (uint64_t)band << STATE_BAND_SHIFT | (uint64_t)place << STATE_PLACE_SHIFT;
}

/** A place as the word has it. */
static inline uint64_t
state_of(enum place place)
{
    return (uint64_t)place << STATE_PLACE_SHIFT;
}

static inline uint64_t
state_version(uint64_t state)
{
    return state >> STATE_VERSION_SHIFT;
}

static inline uint32_t
state_band(uint64_t state)
{
    return (uint32_t)(state >> STATE_BAND_SHIFT & STATE_BAND_MASK);
}

static inline enum place
state_place(uint64_t state)
{
    return (enum place)(state >> STATE_PLACE_SHIFT & STATE_PLACE_MASK);
}

/** The flags of a pod in flight. */
static inline uint64_t
state_flags(uint64_t state)
{
    return state & STATE_DETAIL_MASK;
}

/**
 * Is there a pod that callers may speak of? A pod that was deleted in flight is only its holder's.
 */
static inline bool
state_is_pod(uint64_t state)
{
    enum place place = state_place(state);
    bool deleted = place == PLACE_INFLIGHT && (state & FLAG_DELETED) != 0;

    return place != PLACE_FREE && place != PLACE_DEAD && !deleted;
}

/** The version after this one; 0 names none. */
static inline uint64_t
version_next(uint64_t version)
{
    uint64_t next = (version + 1) & STATE_VERSION_MASK;

    return next != 0 ? next : 1;
}

/**
 * Is this a version of the life that began at `life` and has come to `state`, or its next one?
 * Exact as long as that life has had no more than 2^36.
 */
static inline bool
state_has_had(uint64_t state, uint64_t life, uint64_t version)
{
    uint64_t lived = (state_version(state) - life) & STATE_VERSION_MASK;

    return ((version - life) & STATE_VERSION_MASK) <= lived + 1;
}

static inline bool
place_backs_off(enum place place)
{
    return place == PLACE_BACKOFF || place == PLACE_ERROR_BACKOFF;
}

/** PARKED, GATED: a pod waits there until an event comes. */
static inline bool
place_waits_for_event(enum place place)
{
    return place == PLACE_PARKED || place == PLACE_GATED;
}

/** May a thread that meets a pod's FUTURE ref there switch the pod? */
static inline bool
place_has_helpers(enum place place)
{
    return place == PLACE_ACTIVE || place == PLACE_READY || place_backs_off(place);
}

/** Is it kept out of the order, and away from events? */
static inline bool
place_is_kept(enum place place)
{
    return place == PLACE_HELD || place == PLACE_ASIDE;
}

/** Does a pod wait there, or is it kept there? A public word counts the pods of such a place. */
static inline bool
place_waits(enum place place)
{
    enum {
        waits = 1 << PLACE_BACKOFF | 1 << PLACE_ERROR_BACKOFF | 1 << PLACE_PARKED |
                1 << PLACE_GATED | 1 << PLACE_HELD | 1 << PLACE_ASIDE
    };

    return (waits >> place & 1) != 0;
}

/**
 * Is the stay word good there? It is where a pod waits, is kept or is active, and in an idle
 * record.
 */
static inline bool
place_has_stay(enum place place)
{
    enum {
        waits = 1 << PLACE_BACKOFF | 1 << PLACE_ERROR_BACKOFF | 1 << PLACE_PARKED |
                1 << PLACE_GATED | 1 << PLACE_HELD | 1 << PLACE_ASIDE | 1 << PLACE_ACTIVE |
                1 << PLACE_IDLE | 1 << PLACE_READY
    };

    return (waits >> place & 1) != 0;
}

static inline bool
state_waits(uint64_t state)
{
    return place_waits(state_place(state));
}

/** Does it wait for an event or for its backoff? About such pods a host decides. */
static inline bool
state_is_candidate(uint64_t state)
{
    return state_waits(state) && !place_is_kept(state_place(state));
}

/** How many versions ago the refs were published that are VALID. */
static inline uint32_t
state_lag(uint64_t state)
{
    enum { waiting = STATE_DETAIL_MASK };
    static const uint32_t lags[STATE_PLACES] = {
        [PLACE_ACTIVE] = STATE_LAG_ACTIVE, [PLACE_BACKOFF] = waiting,
        [PLACE_PARKED] = waiting,          [PLACE_GATED] = waiting,
        [PLACE_ERROR_BACKOFF] = waiting,   [PLACE_HELD] = waiting,
        [PLACE_ASIDE] = FLAG_UNNOTED - 1,  [PLACE_IDLE] = waiting,
        [PLACE_READY] = waiting,           [PLACE_CYCLE] = waiting,
    };

    return (uint32_t)state & lags[state_place(state)];
}

/** Must the pod be moved before it can get another description? */
static inline bool
state_lag_is_at_end(uint64_t state)
{
    return state_lag(state) >=
           (state_place(state) == PLACE_ACTIVE ? STATE_LAG_ACTIVE : STATE_LAG_WAITING);
}

/** The version that a ref must have to be VALID. */
static inline uint64_t
state_base(uint64_t state)
{
    uint64_t version = state_version(state);
    uint32_t lag = state_lag(state);

    if (lag == 0) {
        return version;
    }
    /* 0 is no version. */
    return version > lag ? version - lag : (version - lag - 1) & STATE_VERSION_MASK;
}

/**
 * The word after an update that changes an active pod's place in the order, or after any update of
 * a waiting pod. The lag is not at its end.
 */
static inline uint64_t
state_described(uint64_t state)
{
    uint64_t rest = state & ((UINT64_C(1) << STATE_VERSION_SHIFT) - 1);

    return version_next(state_version(state)) << STATE_VERSION_SHIFT | (rest + 1);
}

/* ---- refs: {version, record}, with the version where the state word has it ------------------- */

static inline uint64_t
ref_make(uint64_t version, uint32_t record)
{
    return (version & STATE_VERSION_MASK) << STATE_VERSION_SHIFT | record;
}

static inline uint32_t
ref_record(uint64_t ref)
{
    return (uint32_t)(ref & REF_INDEX_MASK);
}

static inline uint64_t
ref_version(uint64_t ref)
{
    return ref >> STATE_VERSION_SHIFT;
}

/* ---- judging --------------------------------------------------------------------------------- */

enum verdict {
    VERDICT_STALE, /* the pod went on, or the record has another pod: drop the ref */
    VERDICT_VALID, /* the pod is here */
    VERDICT_FUTURE /* the pod was published here and is not switched yet: help */
};

/**
 * Is a pod at `now` where a container of `place` has it? A container of PARKED has gated pods too.
 */
static inline bool
place_matches(enum place place, enum place now)
{
    return now == place || (place == PLACE_PARKED && now == PLACE_GATED);
}

/**
 * What a ref from a container of `place` means while the word is `state`. `band` counts for ACTIVE
 * only.
 */
static inline enum verdict
state_judge(uint64_t state, uint64_t ref, enum place place, uint32_t band)
{
    enum place now = state_place(state);

    if (state_base(state) == ref_version(ref)) {
        bool here =
            place_matches(place, now) && (place != PLACE_ACTIVE || state_band(state) == band);

        return here ? VERDICT_VALID : VERDICT_STALE;
    }
    if (version_next(state_version(state)) != ref_version(ref) || now == PLACE_FREE ||
        now == PLACE_DEAD) {
        return VERDICT_STALE;
    }
    /* A flag makes the holder's switch fail: it decides again and publishes a newer version. */
    return now == PLACE_INFLIGHT && state_flags(state) != 0 ? VERDICT_STALE : VERDICT_FUTURE;
}

/** The version after that of `state`, at the bits where a word and a ref have it. */
static inline uint64_t
state_next_version(uint64_t state)
{
    const uint64_t one = UINT64_C(1) << STATE_VERSION_SHIFT;
    uint64_t next = (state & ~(one - 1)) + one;

    return next != 0 ? next : one; /* as version_next */
}

/** The word that a switch from `state` leads to; `band` counts for ACTIVE only. */
static inline uint64_t
state_switched(uint64_t state, uint32_t band, enum place place)
{
    return state_next_version(state) | state_make(0, place == PLACE_ACTIVE ? band : 0, place);
}

/** The public name of a place. */
static inline schedq_place_t
place_public(enum place place)
{
    static const uint8_t public[] = {
        [PLACE_FREE] = SCHEDQ_NOWHERE,    [PLACE_ACTIVE] = SCHEDQ_ACTIVE,
        [PLACE_BACKOFF] = SCHEDQ_BACKOFF, [PLACE_PARKED] = SCHEDQ_PARKED,
        [PLACE_GATED] = SCHEDQ_GATED,     [PLACE_INFLIGHT] = SCHEDQ_INFLIGHT,
        [PLACE_DEAD] = SCHEDQ_NOWHERE,    [PLACE_ERROR_BACKOFF] = SCHEDQ_ERROR_BACKOFF,
        [PLACE_HELD] = SCHEDQ_HELD,       [PLACE_ASIDE] = SCHEDQ_ASIDE,
        [PLACE_IDLE] = SCHEDQ_ASIDE,      [PLACE_READY] = SCHEDQ_ACTIVE,
        [PLACE_CYCLE] = SCHEDQ_INFLIGHT,
    };

    return (schedq_place_t) public[place];
}

#endif
