/* Counts and prints the outcomes of coverage.h. */
#include "coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "operation.h"

static const char *const question_names[QUESTIONS] = {"hint", "PreEnqueue", "preCheck", "affinity",
                                                      "pre-hint"};

static const struct {
    const char *name;
    unsigned features; /* with any of them it has to happen */
} marks[MARKS] = {
    [MARK_POP_FROM_BACKOFF] = {"pop from backoff that is over", FEATURE_TIME},
    [MARK_POP_FROM_BACKOFF_EARLY] = {"pop from backoff before its end", FEATURE_TIME},
    [MARK_POP_REJECTED] = {"pop of a pod with rejectors", FEATURE_EVENTS},
    [MARK_POP_PENDING] = {"pop of a pod with pending rejectors", FEATURE_EVENTS},
    [MARK_POP_NOMINATED] = {"pop of a nominated pod", FEATURE_NOMINATE},
    [MARK_FAIL_LOG_OVERFLOW] = {"failure after more events than the log keeps", FEATURE_EVENTS},
    [MARK_FAIL_NEWEST] = {"failure with the newest description", FEATURE_TIME | FEATURE_EVENTS},
    [MARK_FAIL_NO_REJECTOR] = {"failure without rejectors", FEATURE_TIME | FEATURE_EVENTS},
    [MARK_FAIL_LATE_NAME] = {"failure by a late name", FEATURE_EVENTS},
    [MARK_FAIL_OTHERS] = {"failure by OTHERS", FEATURE_EVENTS},
    [MARK_FAIL_PENDING_ALONE] = {"failure by pending rejectors alone", FEATURE_EVENTS},
    [MARK_ACTIVATE_IN_FLIGHT] = {"activation of a pod in flight", FEATURE_PODS},
    [MARK_UPDATE_ONLY] = {"update of the one pod that is meant", FEATURE_PODS},
    [MARK_UPDATE_ANOTHER] = {"update of another pod than has the name", FEATURE_PODS},
    [MARK_UPDATE_IN_FLIGHT] = {"update with events of a pod in flight", FEATURE_EVENTS},
    [MARK_MOVE_TARGET] = {"wildcard with a target", FEATURE_EVENTS},
    [MARK_MOVE_WILDCARD_WITH_OBJECT] = {"wildcard with a new object and no target", FEATURE_EVENTS},
    [MARK_MOVE_DEFINED_EVENT] = {"event that was defined late", FEATURE_EVENTS},
    [MARK_CLOCK_EXACT] = {"clock set to the next deadline", FEATURE_TIME},
    [MARK_CLOCK_BEFORE] = {"clock set to just before the next deadline", FEATURE_TIME},
    [MARK_CLOCK_WINDOW] = {"clock set to a whole second", FEATURE_TIME},
    [MARK_CLOCK_LEFTOVER] = {"clock set beyond the leftover limit", FEATURE_TIME},
    [MARK_LATE_NAME_OTHERS] = {"late name that got OTHERS", FEATURE_EVENTS},
    [MARK_CANDIDATES_MANY_CALLS] = {"candidates in several calls", FEATURE_HOST},
    [MARK_APPLY_OLD_REF] = {"verdict on an old ref", FEATURE_HOST},
    [MARK_APPLY_BACKOFF_OVER] = {"verdict on a backoff that is over", FEATURE_HOST | FEATURE_TIME},
    [MARK_NOMINATED_SEVERAL] = {"several pods nominated to one node", FEATURE_NOMINATE},
    [MARK_NESTED_DONE] = {"cycle that a callback ended", FEATURE_NESTED},
    [MARK_NESTED_GONE] = {"the same of a pod that was deleted", FEATURE_NESTED},
    [MARK_CLOCK_END] = {"clock set to the end of time", FEATURE_ENDS},
};

void
coverage_count(coverage_t *coverage, uint8_t kind, const seen_t *seen)
{
    for (unsigned i = 0; i < QUESTIONS; i++) {
        coverage->questions[kind][i] += seen->questions[i];
    }
    if (seen->answered && seen->status < STATUSES) {
        unsigned outcome = (unsigned)(seen->about_pod ? seen->before * PLACES + seen->after
                                                      : PLACES * PLACES + seen->effects);

        coverage->outcomes[kind][seen->status][outcome]++;
    }
}

/* ---- what is shown --------------------------------------------------------------------------- */

static void
show_outcome(unsigned kind, unsigned status, unsigned outcome, uint64_t count)
{
    static const char *const effects[] = {"active", "backoff", "unschedulable", "gated", "left"};

    printf("%10" PRIu64 "  %-13s %-9s", count, operation_kinds[kind].name,
           schedq_status_name((schedq_status_t)status) + strlen("SCHEDQ_"));
    if (outcome < PLACES * PLACES) {
        printf(" %s -> %s\n", schedq_place_name((schedq_place_t)(outcome / PLACES)),
               schedq_place_name((schedq_place_t)(outcome % PLACES)));
        return;
    }
    for (unsigned i = 0; i < sizeof effects / sizeof *effects; i++) {
        if (((outcome - PLACES * PLACES) >> i & 1) != 0) {
            printf(" to %s", effects[i]);
        }
    }
    printf("\n");
}

static void
show_kind(const coverage_t *coverage, unsigned kind)
{
    for (unsigned status = 0; status < STATUSES; status++) {
        for (unsigned outcome = 0; outcome < PLACES * PLACES + EFFECTS; outcome++) {
            uint64_t count = coverage->outcomes[kind][status][outcome];

            if (count > 0) {
                show_outcome(kind, status, outcome, count);
            }
        }
    }
    for (unsigned i = 0; i < QUESTIONS; i++) {
        if (coverage->questions[kind][i] > 0) {
            printf("%10" PRIu64 "  %-13s asks %s\n", coverage->questions[kind][i],
                   operation_kinds[kind].name, question_names[i]);
        }
    }
}

/* ---- what has to happen ---------------------------------------------------------------------- */

#define TIMES (FEATURE_TIME)
#define EVENTS (FEATURE_EVENTS)
#define GATES (FEATURE_GATES)
#define HOST (FEATURE_HOST)
#define HOLD (FEATURE_HOLD)

/* All of `features` have to be there. */
static const struct {
    const char *kind;
    uint8_t status, before, after;
    unsigned features;
} places[] = {
    {"add", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_ACTIVE, FEATURE_PODS},
    {"add", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_GATED, GATES},
    {"add", SCHEDQ_EXISTS, SCHEDQ_ACTIVE, SCHEDQ_ACTIVE, FEATURE_PODS},
    {"add", SCHEDQ_EXISTS, SCHEDQ_BACKOFF, SCHEDQ_BACKOFF, TIMES},
    {"add", SCHEDQ_EXISTS, SCHEDQ_ERROR_BACKOFF, SCHEDQ_ERROR_BACKOFF, TIMES},
    {"add", SCHEDQ_EXISTS, SCHEDQ_PARKED, SCHEDQ_PARKED, EVENTS},
    {"add", SCHEDQ_EXISTS, SCHEDQ_GATED, SCHEDQ_GATED, GATES},
    {"add", SCHEDQ_EXISTS, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, FEATURE_PODS},
    {"add", SCHEDQ_CLOSED, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"add", SCHEDQ_FULL, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"add", SCHEDQ_RETRY, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, HOST},
    {"update", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_ACTIVE, FEATURE_PODS},
    {"update", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_GATED, GATES},
    {"update", SCHEDQ_OK, SCHEDQ_ACTIVE, SCHEDQ_ACTIVE, FEATURE_PODS},
    {"update", SCHEDQ_OK, SCHEDQ_BACKOFF, SCHEDQ_BACKOFF, TIMES},
    {"update", SCHEDQ_OK, SCHEDQ_ERROR_BACKOFF, SCHEDQ_ERROR_BACKOFF, TIMES},
    {"update", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_ACTIVE, EVENTS},
    {"update", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_BACKOFF, EVENTS | TIMES},
    {"update", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_PARKED, EVENTS},
    {"update", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_GATED, EVENTS | GATES},
    {"update", SCHEDQ_OK, SCHEDQ_GATED, SCHEDQ_ACTIVE, EVENTS | GATES},
    {"update", SCHEDQ_OK, SCHEDQ_GATED, SCHEDQ_GATED, GATES},
    {"update", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, FEATURE_PODS},
    {"update", SCHEDQ_RETRY, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, HOST},
    {"update", SCHEDQ_NOT_FOUND, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"delete-name", SCHEDQ_OK, SCHEDQ_ACTIVE, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"delete-name", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"delete-handle", SCHEDQ_OK, SCHEDQ_ACTIVE, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"delete-handle", SCHEDQ_OK, SCHEDQ_BACKOFF, SCHEDQ_NOWHERE, TIMES},
    {"delete-handle", SCHEDQ_OK, SCHEDQ_ERROR_BACKOFF, SCHEDQ_NOWHERE, TIMES},
    {"delete-handle", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_NOWHERE, EVENTS},
    {"delete-handle", SCHEDQ_OK, SCHEDQ_GATED, SCHEDQ_NOWHERE, GATES},
    {"delete-handle", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"done", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"done", SCHEDQ_GONE, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, FEATURE_PODS},
    {"fail", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_ACTIVE, EVENTS},
    {"fail", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_BACKOFF, TIMES},
    {"fail", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_ERROR_BACKOFF, TIMES},
    {"fail", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_PARKED, EVENTS},
    {"fail", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_GATED, GATES | TIMES},
    {"fail", SCHEDQ_GONE, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, TIMES},
    {"fail", SCHEDQ_STALE, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, TIMES},
    {"fail", SCHEDQ_INVALID, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, EVENTS},
    {"fail", SCHEDQ_RETRY, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, HOST},
    {"readd", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_ACTIVE, TIMES},
    {"readd", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_BACKOFF, TIMES},
    {"readd", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_ERROR_BACKOFF, TIMES},
    {"readd", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_GATED, TIMES | GATES},
    {"readd", SCHEDQ_RETRY, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, HOST},
    {"nominate", SCHEDQ_OK, SCHEDQ_ACTIVE, SCHEDQ_ACTIVE, FEATURE_NOMINATE},
    {"nominate", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, FEATURE_NOMINATE},
    {"nominate", SCHEDQ_NOT_FOUND, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, FEATURE_NOMINATE},
    {"add", SCHEDQ_OK, SCHEDQ_NOWHERE, SCHEDQ_HELD, HOLD},
    {"add", SCHEDQ_EXISTS, SCHEDQ_HELD, SCHEDQ_HELD, HOLD},
    {"update", SCHEDQ_OK, SCHEDQ_ACTIVE, SCHEDQ_HELD, HOLD},
    {"update", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_HELD, HOLD},
    {"update", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_ACTIVE, HOLD},
    {"delete-handle", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_NOWHERE, HOLD},
    {"fail", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_HELD, HOLD | TIMES},
    {"hold", SCHEDQ_OK, SCHEDQ_ACTIVE, SCHEDQ_HELD, HOLD},
    {"hold", SCHEDQ_OK, SCHEDQ_BACKOFF, SCHEDQ_HELD, HOLD | TIMES},
    {"hold", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_HELD, HOLD | EVENTS},
    {"hold", SCHEDQ_OK, SCHEDQ_GATED, SCHEDQ_HELD, HOLD | GATES},
    {"hold", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_HELD, HOLD},
    {"hold", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, HOLD},
    {"hold", SCHEDQ_NOT_FOUND, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, HOLD},
    {"release", SCHEDQ_OK, SCHEDQ_ACTIVE, SCHEDQ_ACTIVE, HOLD},
    {"release", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_ACTIVE, HOLD},
    {"release", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_BACKOFF, HOLD | TIMES},
    {"release", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_GATED, HOLD | GATES},
    {"release", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_HELD, HOLD},
    {"release", SCHEDQ_OK, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, HOLD},
    {"not-before", SCHEDQ_OK, SCHEDQ_ACTIVE, SCHEDQ_HELD, HOLD},
    {"not-before", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_HELD, HOLD},
    {"not-before", SCHEDQ_OK, SCHEDQ_HELD, SCHEDQ_ACTIVE, HOLD},
    {"not-before", SCHEDQ_INVALID, SCHEDQ_HELD, SCHEDQ_HELD, HOLD},
    {"apply", SCHEDQ_GONE, SCHEDQ_HELD, SCHEDQ_HELD, HOST | HOLD},
    {"apply", SCHEDQ_OK, SCHEDQ_BACKOFF, SCHEDQ_ACTIVE, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_BACKOFF, SCHEDQ_BACKOFF, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_BACKOFF, SCHEDQ_GATED, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_ERROR_BACKOFF, SCHEDQ_ACTIVE, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_ACTIVE, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_BACKOFF, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_PARKED, SCHEDQ_GATED, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_GATED, SCHEDQ_ACTIVE, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_GATED, SCHEDQ_BACKOFF, HOST},
    {"apply", SCHEDQ_OK, SCHEDQ_GATED, SCHEDQ_GATED, HOST},
    {"apply", SCHEDQ_GONE, SCHEDQ_ACTIVE, SCHEDQ_ACTIVE, HOST},
    {"apply", SCHEDQ_GONE, SCHEDQ_INFLIGHT, SCHEDQ_INFLIGHT, HOST},
    {"apply", SCHEDQ_GONE, SCHEDQ_NOWHERE, SCHEDQ_NOWHERE, HOST},
    {"apply", SCHEDQ_CHANGED, SCHEDQ_PARKED, SCHEDQ_PARKED, HOST},
    {"apply", SCHEDQ_CHANGED, SCHEDQ_GATED, SCHEDQ_GATED, HOST},
    {"apply", SCHEDQ_RETRY, SCHEDQ_GATED, SCHEDQ_GATED, HOST},
    {"apply", SCHEDQ_RETRY, SCHEDQ_PARKED, SCHEDQ_PARKED, HOST},
    {"apply", SCHEDQ_INVALID, SCHEDQ_PARKED, SCHEDQ_PARKED, HOST},
};

/* The effect in some answer of this kind, alone or with others; 0: the status is enough. */
static const struct {
    const char *kind;
    uint8_t status, effect;
    unsigned features;
} answers[] = {
    {"try-pop", SCHEDQ_OK, 0, FEATURE_PODS},
    {"try-pop", SCHEDQ_EMPTY, 0, FEATURE_PODS},
    {"try-pop", SCHEDQ_CLOSED, 0, FEATURE_PODS},
    {"pop", SCHEDQ_OK, 0, FEATURE_PODS},
    {"pop", SCHEDQ_TIMEDOUT, 0, FEATURE_PODS},
    {"pop", SCHEDQ_CANCELED, 0, FEATURE_PODS},
    {"pop-many", SCHEDQ_OK, 0, FEATURE_PODS},
    {"pop-many", SCHEDQ_CANCELED, 0, FEATURE_PODS},
    {"activate", SCHEDQ_OK, EFFECT_ACTIVE, EVENTS},
    {"activate", SCHEDQ_OK, EFFECT_GATED, GATES | TIMES},
    {"tick", SCHEDQ_OK, EFFECT_ACTIVE, TIMES},
    {"tick", SCHEDQ_OK, EFFECT_BACKOFF, TIMES | EVENTS},
    {"tick", SCHEDQ_OK, EFFECT_GATED, TIMES | GATES},
    {"jump", SCHEDQ_OK, EFFECT_ACTIVE, TIMES},
    {"jump", SCHEDQ_OK, EFFECT_LEFT, HOST},
    {"move", SCHEDQ_OK, EFFECT_ACTIVE, EVENTS},
    {"move", SCHEDQ_OK, EFFECT_BACKOFF, EVENTS | TIMES},
    {"move", SCHEDQ_OK, EFFECT_GATED, EVENTS | GATES},
    {"move", SCHEDQ_INVALID, 0, EVENTS},
    {"define-event", SCHEDQ_OK, 0, EVENTS},
    {"define-event", SCHEDQ_FULL, 0, EVENTS},
    {"define-event", SCHEDQ_INVALID, 0, EVENTS},
    {"late-setup", SCHEDQ_BUSY, 0, EVENTS},
    {"event-stamp", SCHEDQ_OK, 0, HOST},
    {"event-stamp", SCHEDQ_INVALID, 0, HOST},
    {"candidates", SCHEDQ_EMPTY, 0, HOST},
    {"candidates", SCHEDQ_INVALID, 0, HOST},
    {"apply-many", SCHEDQ_OK, EFFECT_ACTIVE, HOST},
    {"apply-many", SCHEDQ_OK, EFFECT_BACKOFF, HOST},
    {"apply-many", SCHEDQ_OK, EFFECT_GATED, HOST},
};

static const struct {
    const char *kind;
    uint8_t question;
    unsigned features;
} asked[] = {
    {"move", QUESTION_HINT, EVENTS},
    {"move", QUESTION_PRECHECK, EVENTS},
    {"move", QUESTION_AFFINITY, EVENTS},
    {"move", QUESTION_PRE_ENQUEUE, EVENTS | GATES},
    {"move", QUESTION_PRE_HINT, EVENTS | FEATURE_NESTED},
    {"update", QUESTION_HINT, EVENTS},
    {"fail", QUESTION_HINT, EVENTS},
    {"fail", QUESTION_PRE_ENQUEUE, GATES | TIMES},
    {"activate", QUESTION_PRE_ENQUEUE, GATES},
    {"release", QUESTION_PRE_ENQUEUE, GATES | HOLD},
    {"tick", QUESTION_PRE_ENQUEUE, TIMES | GATES},
    {"add", QUESTION_PRE_ENQUEUE, GATES},
    {"readd", QUESTION_PRE_ENQUEUE, TIMES | GATES},
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static unsigned
kind_named(const char *name)
{
    unsigned kind = 0;

    while (strcmp(operation_kinds[kind].name, name) != 0) {
        kind++;
    }
    return kind;
}

static bool
has(unsigned features, unsigned wanted)
{
    return (features & wanted) == wanted;
}

static unsigned
say_missing(unsigned kind, unsigned status, unsigned outcome)
{
    printf("MISSING ");
    show_outcome(kind, status, outcome, 0);
    return 1;
}

static unsigned
missing_places(const coverage_t *coverage, unsigned features)
{
    unsigned missing = 0;

    for (size_t i = 0; i < LENGTH(places); i++) {
        unsigned kind = kind_named(places[i].kind),
                 outcome = places[i].before * PLACES * 1U + places[i].after;

        if (has(features, places[i].features) &&
            coverage->outcomes[kind][places[i].status][outcome] == 0) {
            missing += say_missing(kind, places[i].status, outcome);
        }
    }
    return missing;
}

static unsigned
missing_answers(const coverage_t *coverage, unsigned features)
{
    unsigned missing = 0;

    for (size_t i = 0; i < LENGTH(answers); i++) {
        unsigned kind = kind_named(answers[i].kind);
        uint64_t count = 0;

        for (unsigned effects = 0; effects < EFFECTS; effects++) {
            if ((effects & answers[i].effect) == answers[i].effect) {
                count += coverage->outcomes[kind][answers[i].status][PLACES * PLACES + effects];
            }
        }
        if (has(features, answers[i].features) && count == 0) {
            missing += say_missing(kind, answers[i].status, PLACES * PLACES + answers[i].effect);
        }
    }
    return missing;
}

static unsigned
missing_questions(const coverage_t *coverage, unsigned features)
{
    unsigned missing = 0;

    for (size_t i = 0; i < LENGTH(asked); i++) {
        if (has(features, asked[i].features) &&
            coverage->questions[kind_named(asked[i].kind)][asked[i].question] == 0) {
            printf("MISSING %s asks %s\n", asked[i].kind, question_names[asked[i].question]);
            missing++;
        }
    }
    return missing;
}

static unsigned
missing_marks(const coverage_t *coverage, unsigned features)
{
    unsigned missing = 0;

    for (unsigned i = 0; i < MARKS; i++) {
        printf("%10" PRIu64 "  %s\n", coverage->marks[i], marks[i].name);
        if (coverage->marks[i] == 0 && (marks[i].features & features) != 0) {
            printf("MISSING %s\n", marks[i].name);
            missing++;
        }
    }
    return missing;
}

unsigned
coverage_show(const coverage_t *coverage, unsigned features)
{
    for (unsigned kind = 0; kind < operation_kind_count; kind++) {
        show_kind(coverage, kind);
    }
    unsigned missing = missing_marks(coverage, features) + missing_places(coverage, features) +
                       missing_answers(coverage, features) + missing_questions(coverage, features);

    printf("%u outcomes that have to happen did not\n", missing);
    return missing;
}
