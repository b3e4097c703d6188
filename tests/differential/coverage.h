/*
 * How often each operation had each outcome: what a generator never brings about, it does not
 * compare.
 *
 * An outcome is the status of the operation's first call, and, if it is about one pod, the place of
 * that pod before and after; else the places that its result counts. Questions to callbacks, and
 * marks for what no answer tells, are counted besides. Only side 0 is looked at.
 */
#ifndef DIFFERENTIAL_COVERAGE_H
#define DIFFERENTIAL_COVERAGE_H

#include <schedq/schedq.h>
#include <stdbool.h>
#include <stdint.h>

#define STATUSES (SCHEDQ_CANCELED + 1)
#define PLACES (SCHEDQ_ASIDE + 1)
#define KINDS_MAX 80

/** What plugins and preChecks are asked. */
enum question {
    QUESTION_HINT,
    QUESTION_PRE_ENQUEUE,
    QUESTION_PRECHECK,
    QUESTION_AFFINITY,
    QUESTION_PRE_HINT,
    QUESTIONS
};

/* What a result with counts says: a bit for each. */
enum effect {
    EFFECT_ACTIVE = 1,
    EFFECT_BACKOFF = 2,
    EFFECT_PARKED = 4,
    EFFECT_GATED = 8,
    EFFECT_LEFT = 16
};
#define EFFECTS 32

enum mark {
    MARK_POP_FROM_BACKOFF,
    MARK_POP_FROM_BACKOFF_EARLY,
    MARK_POP_REJECTED,
    MARK_POP_PENDING,
    MARK_POP_NOMINATED,
    MARK_FAIL_LOG_OVERFLOW,
    MARK_FAIL_NEWEST,
    MARK_FAIL_NO_REJECTOR,
    MARK_FAIL_LATE_NAME,
    MARK_FAIL_OTHERS,
    MARK_FAIL_PENDING_ALONE,
    MARK_ACTIVATE_IN_FLIGHT,
    MARK_UPDATE_IN_FLIGHT,
    MARK_UPDATE_ONLY,
    MARK_UPDATE_ANOTHER,
    MARK_MOVE_TARGET,
    MARK_MOVE_WILDCARD_WITH_OBJECT,
    MARK_MOVE_DEFINED_EVENT,
    MARK_CLOCK_EXACT,
    MARK_CLOCK_BEFORE,
    MARK_CLOCK_WINDOW,
    MARK_CLOCK_LEFTOVER,
    MARK_LATE_NAME_OTHERS,
    MARK_CANDIDATES_MANY_CALLS,
    MARK_APPLY_OLD_REF,
    MARK_APPLY_BACKOFF_OVER,
    MARK_NOMINATED_SEVERAL,
    MARK_NESTED_DONE,
    MARK_NESTED_GONE,
    MARK_CLOCK_END,
    MARKS
};

typedef struct coverage {
    uint64_t outcomes[KINDS_MAX][STATUSES][PLACES * PLACES + EFFECTS];
    uint64_t questions[KINDS_MAX][QUESTIONS];
    uint64_t marks[MARKS];
} coverage_t;

/** One operation. */
typedef struct seen {
    bool answered;
    bool about_pod;
    uint8_t status;
    uint8_t before, after; /* schedq_place_t; about_pod */
    uint8_t effects;
    uint32_t questions[QUESTIONS];
} seen_t;

/** Counts an operation of this kind. */
void coverage_count(coverage_t *coverage, uint8_t kind, const seen_t *seen);

/**
 * Prints it all. Returns how many outcomes that have to happen did not, of the kinds that
 * `features` have.
 */
unsigned coverage_show(const coverage_t *coverage, unsigned features);

#endif
