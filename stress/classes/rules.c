/*
 * The rules. A class is surely shut from the return of a failure that parks a pod of it to the
 * begin of the first call that may make its scout leave. All pops in between that are of pods that
 * the class may keep back are of one pod. What may be either, because calls overlap, breaks no
 * rule:
 *   a failure beside which another call gave a turn, or might have
 *   a pod that a call let go since it was tried last: it is tried, whatever its class
 *   a pod that was given its turn, perhaps, while another one became the scout: the same
 */
#include "book.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TRIED_MAX = 64 };

/* Two calls that overlap may both have made a scout. */
typedef struct doubt {
    uint64_t begin, end;
} doubt_t;

/* Calls about pods of a class, and those about any. */
typedef struct part {
    size_t count, doubt_count;
    record_t *records[RECORDS_MAX];
    doubt_t doubts[RECORDS_MAX];
} part_t;

static part_t parts[CLASSES + 1];
static uint64_t wandered[PODS]; /* begin of the call that took its class away; UINT64_MAX: none */

void
rules_print(const record_t *record)
{
    static const char *const names[] = {
        [CALL_NONE] = "none",  [CALL_ADD] = "add",       [CALL_POP] = "try_pop",
        [CALL_DONE] = "done",  [CALL_FAIL] = "fail",     [CALL_DELETE] = "delete",
        [CALL_HOLD] = "hold",  [CALL_TOUCH] = "release", [CALL_WANDER] = "update",
        [CALL_SERVE] = "tick", [CALL_LOOK] = "get",
    };
    printf("  thread %u [%" PRIu64 ", %" PRIu64 "] %s: pod %u of class %u, attempts %u, %s, %s\n",
           record->thread, record->begin, record->end, names[record->call], record->pod,
           record->pod != NO_POD ? class_of(record->pod) : 0, record->attempts,
           schedq_status_name((schedq_status_t)record->status),
           schedq_place_name((schedq_place_t)record->place));
}

/* ---- calls by class -------------------------------------------------------------------------- */

static bool
overlap(const record_t *a, const record_t *b)
{
    return a->begin <= b->end && b->begin <= a->end;
}

/* May it give a pod its turn, or a class its scout? */
static bool
may_turn(const record_t *record)
{
    switch (record->call) {
    case CALL_DONE:
    case CALL_FAIL:
    case CALL_DELETE:
    case CALL_HOLD:
    case CALL_TOUCH:
    case CALL_WANDER:
    case CALL_SERVE:
        return true;
    default:
        return false;
    }
}

/* May it make a scout leave? */
static bool
may_leave(const record_t *record)
{
    return record->call == CALL_DONE || record->call == CALL_DELETE || record->call == CALL_HOLD ||
           record->call == CALL_WANDER || (record->call == CALL_FAIL && !record->shares);
}

static bool
is_shared(const record_t *record)
{
    return record->call == CALL_FAIL && record->shares;
}

static void
note_doubts(part_t *part)
{
    part->doubt_count = 0;
    for (size_t i = 0; i < part->count; i++) {
        const record_t *failure = part->records[i];
        if (!is_shared(failure))
            continue;
        for (size_t j = 0; j < part->count; j++) {
            const record_t *other = part->records[j];
            if (other == failure || !may_turn(other) || !overlap(failure, other))
                continue;
            if (part->doubt_count < RECORDS_MAX)
                part->doubts[part->doubt_count++] =
                    (doubt_t){failure->begin < other->begin ? failure->begin : other->begin,
                              failure->end > other->end ? failure->end : other->end};
            break;
        }
    }
}

void
rules_begin(book_t *book)
{
    for (uint32_t pod = 0; pod < PODS; pod++)
        wandered[pod] = UINT64_MAX;
    for (uint32_t class = 0; class <= CLASSES; class ++)
        parts[class].count = 0;
    for (size_t i = 0; i < book->count; i++) {
        record_t *record = &book->records[i];
        bool about_all = record->pod == NO_POD;
        if (record->call == CALL_NONE)
            continue;
        if (record->call == CALL_WANDER && record->begin < wandered[record->pod])
            wandered[record->pod] = record->begin;
        for (uint32_t class = 1; class <= CLASSES; class ++) {
            part_t *part = &parts[class];
            if (about_all || class_of(record->pod) == class)
                part->records[part->count++] = record;
        }
    }
    for (uint32_t class = 1; class <= CLASSES; class ++)
        note_doubts(&parts[class]);
}

/* ---- one at a time --------------------------------------------------------------------------- */

/* Was nothing else about the class going on that may turn? */
static bool
shuts_surely(const part_t *part, const record_t *failure)
{
    if (!is_shared(failure) || failure->place != SCHEDQ_PARKED || failure->late ||
        wandered[failure->pod] < failure->end)
        return false;
    for (size_t i = 0; i < part->count; i++) {
        if (part->records[i] != failure && may_turn(part->records[i]) &&
            overlap(part->records[i], failure))
            return false;
    }
    return true;
}

/* May its class not keep back the pod that this pop took? */
static bool
is_free(const part_t *part, const record_t *pop)
{
    uint64_t since = 0;
    if (pop->late || wandered[pop->pod] < pop->end)
        return true;
    for (size_t i = 0; i < part->count; i++) {
        const record_t *use = part->records[i];
        if (use->pod == pop->pod && use->call == CALL_FAIL && use->begin < pop->begin &&
            use->begin > since)
            since = use->begin;
    }
    for (size_t i = 0; i < part->count; i++) {
        const record_t *touch = part->records[i];
        if (touch->pod == pop->pod && (touch->call == CALL_TOUCH || touch->call == CALL_HOLD) &&
            touch->end > since && touch->begin < pop->end)
            return true;
    }
    for (size_t i = 0; i < part->doubt_count; i++) {
        if (part->doubts[i].end > since && part->doubts[i].begin < pop->end)
            return true;
    }
    return false;
}

static size_t
tried(const part_t *part, const record_t *failure, record_t **pops, size_t room)
{
    uint64_t until = UINT64_MAX;
    size_t count = 0;
    if (!shuts_surely(part, failure))
        return 0;
    for (size_t i = 0; i < part->count; i++) {
        const record_t *record = part->records[i];
        if (may_leave(record) && record->begin > failure->end && record->begin < until)
            until = record->begin;
    }
    for (size_t i = 0; i < part->count && count < room; i++) {
        record_t *pop = part->records[i];
        if (pop->call == CALL_POP && pop->begin > failure->end && pop->end < until &&
            !is_free(part, pop))
            pops[count++] = pop;
    }
    return count;
}

size_t
rules_tried(const record_t *failure, record_t **pops, size_t room)
{
    return failure->call == CALL_FAIL && class_of(failure->pod) != 0
               ? tried(&parts[class_of(failure->pod)], failure, pops, room)
               : 0;
}

static void
check_one(const part_t *part, const record_t *failure, report_t *report)
{
    record_t *pops[TRIED_MAX];
    size_t count = tried(part, failure, pops, TRIED_MAX);
    report->obligations[RULE_ONE] += count > 0;
    for (size_t i = 1; i < count; i++) {
        if (pops[i]->pod == pops[0]->pod)
            continue;
        violation(report, RULE_ONE, pops[0], pops[i],
                  "pod %u was rejected, its class shut, and two of it were tried", failure->pod);
        rules_print(failure);
        return;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void
check_look(const record_t *record, report_t *report)
{
    if (record->late) {
        if (record->kept)
            violation(report, RULE_PATIENCE, record, NULL, "its patience is over");
        return;
    }
    if (!record->kept)
        return;
    report->obligations[RULE_SCOUT]++;
    report->obligations[RULE_PATIENCE]++;
    if (record->scout == NO_POD)
        violation(report, RULE_SCOUT, record, NULL, "it waits, and no scout is tried for it");
}

static void
check_ends(const book_t *book, report_t *report)
{
    static const record_t *added[PODS];
    static uint32_t ends[PODS];
    memset(added, 0, sizeof added);
    memset(ends, 0, sizeof ends);
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = &book->records[i];
        if (record->call == CALL_ADD)
            added[record->pod] = record;
        else if (record->call == CALL_DELETE ||
                 (record->call == CALL_DONE && record->status == SCHEDQ_OK))
            ends[record->pod]++;
    }
    for (uint32_t pod = 0; pod < PODS; pod++) {
        report->obligations[RULE_LOST] += added[pod] != NULL;
        if (added[pod] != NULL && ends[pod] != 1)
            violation(report, RULE_LOST, added[pod], NULL, "it ended %u times", ends[pod]);
    }
}

void
rules_check(book_t *book, report_t *report)
{
    rules_begin(book);
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = &book->records[i];
        if (record->call == CALL_FAIL && class_of(record->pod) != 0)
            check_one(&parts[class_of(record->pod)], record, report);
        else if (record->call == CALL_LOOK)
            check_look(record, report);
    }
    check_ends(book, report);
}
