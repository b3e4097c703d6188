/*
 * The rules. A member is surely in a cycle from the return of its pop to the begin of what ends it,
 * and surely aside from the return of its add, or of a failure, to the begin of its next pop or of
 * its deletion. What may be either, because calls overlap, breaks no rule.
 */
#include "book.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POPS_MAX 64 /* of one pod in a round */

/* What a round did to one pod. */
typedef struct life {
    const record_t *added, *deleted;
    const record_t *pops[POPS_MAX]; /* by attempts */
    const record_t *uses[POPS_MAX]; /* what ended the cycle of that pop; NULL: nothing */
    uint32_t pop_count;
} life_t;

/* A cycle of a group. */
typedef struct cycle {
    const record_t *pop; /* the record of one of its members */
    const record_t *end; /* NULL: it did not end */
    uint32_t count;      /* of members */
} cycle_t;

static life_t lives[PODS];
static cycle_t cycles[RECORDS_MAX];
static size_t cycle_count;
static const record_t *declared[GROUPS + 1];

void
rules_print(const record_t *record)
{
    static const char *const names[] = {
        [CALL_NONE] = "none",     [CALL_DECLARE] = "group_add", [CALL_ADD] = "add",
        [CALL_DELETE] = "delete", [CALL_POP] = "pop_group",     [CALL_PLAIN_POP] = "try_pop",
        [CALL_DONE] = "done",     [CALL_FAIL] = "fail",         [CALL_END] = "group_done"};
    printf("  thread %u [%" PRIu64 ", %" PRIu64 "] %s: pod %u, group %u, attempts %u, %s\n",
           record->thread, record->begin, record->end, names[record->call], record->pod,
           record->group, record->attempts, schedq_status_name((schedq_status_t)record->status));
}

/* ---- what happened to each pod, and to each group -------------------------------------------- */

static int
by_attempts(const void *left, const void *right)
{
    const record_t *a = *(const record_t *const *)left, *b = *(const record_t *const *)right;
    return (a->attempts > b->attempts) - (a->attempts < b->attempts);
}

static int
by_token(const void *left, const void *right)
{
    const record_t *a = *(const record_t *const *)left, *b = *(const record_t *const *)right;
    return (a->token > b->token) - (a->token < b->token);
}

static const record_t *uses[RECORDS_MAX];
static size_t use_count;

static const record_t *
use_of(const record_t *pop)
{
    const record_t **found = bsearch(&pop, uses, use_count, sizeof *uses, by_token);
    return found != NULL ? *found : NULL;
}

static void
note_call(const record_t *record)
{
    life_t *life = &lives[record->pod];
    switch (record->call) {
    case CALL_DECLARE:
        declared[record->group] = record;
        break;
    case CALL_ADD:
        life->added = record;
        break;
    case CALL_DELETE:
        life->deleted = record;
        break;
    case CALL_POP:
    case CALL_PLAIN_POP:
        if (life->pop_count < POPS_MAX)
            life->pops[life->pop_count++] = record;
        break;
    case CALL_DONE:
    case CALL_FAIL:
        uses[use_count++] = record;
        break;
    default:
        break;
    }
}

static void
note_lives(const book_t *book)
{
    memset(lives, 0, sizeof lives);
    memset(declared, 0, sizeof declared);
    use_count = 0;
    for (size_t i = 0; i < book->count; i++)
        note_call(&book->records[i]);
    qsort(uses, use_count, sizeof *uses, by_token);
    for (uint32_t pod = 0; pod < PODS; pod++) {
        life_t *life = &lives[pod];
        qsort(life->pops, life->pop_count, sizeof *life->pops, by_attempts);
        for (uint32_t i = 0; i < life->pop_count; i++)
            life->uses[i] = use_of(life->pops[i]);
    }
}

/* By group, then by the end of the pop. */
static int
by_group(const void *left, const void *right)
{
    const record_t *a = ((const cycle_t *)left)->pop, *b = ((const cycle_t *)right)->pop;
    int order = (a->group > b->group) - (a->group < b->group);
    return order != 0 ? order : (a->end > b->end) - (a->end < b->end);
}

/* The records of one pop stand together. */
static void
note_cycle(const record_t *pop)
{
    if (cycle_count > 0 && cycles[cycle_count - 1].pop->cycle == pop->cycle)
        cycles[cycle_count - 1].count++;
    else
        cycles[cycle_count++] = (cycle_t){.pop = pop, .count = 1};
}

static void
note_cycles(const book_t *book)
{
    cycle_count = 0;
    for (size_t i = 0; i < book->count; i++) {
        if (book->records[i].call == CALL_POP && book->records[i].cycle != 0)
            note_cycle(&book->records[i]);
    }
    for (size_t i = 0; i < book->count; i++) {
        const record_t *end = &book->records[i];
        for (size_t j = 0; end->call == CALL_END && j < cycle_count; j++) {
            if (cycles[j].pop->cycle == end->token)
                cycles[j].end = end;
        }
    }
    qsort(cycles, cycle_count, sizeof *cycles, by_group);
}

/* ---- pods ------------------------------------------------------------------------------------ */

static void
check_company(const record_t *pop, report_t *report)
{
    uint32_t its = group_of(pop->pod);
    report->obligations[RULE_ALONE] += its != 0;
    if (pop->call == CALL_PLAIN_POP && its != 0)
        violation(report, RULE_ALONE, pop, NULL, "a member of group %u came alone", its);
    else if (pop->call == CALL_POP && pop->group != its)
        violation(report, RULE_ALONE, pop, NULL, "a pod of group %u came with group %u", its,
                  pop->group);
}

static void
check_life(const life_t *life, report_t *report)
{
    uint32_t ends = 0;
    for (uint32_t i = 0; i < life->pop_count; i++) {
        const record_t *pop = life->pops[i], *use = life->uses[i];
        const record_t *next = i + 1 < life->pop_count ? life->pops[i + 1] : NULL;
        check_company(pop, report);
        report->obligations[RULE_ONCE] += next != NULL;
        if (pop->attempts != i + 1)
            violation(report, RULE_ONCE, pop, next, "attempt %u is counted as %u", i + 1,
                      pop->attempts);
        else if (next != NULL && (use == NULL || use->begin > next->end))
            violation(report, RULE_ONCE, pop, next, "a pod was in two cycles at a time");
        else if (next != NULL && (use->call == CALL_DONE || use->status == SCHEDQ_GONE))
            violation(report, RULE_ONCE, use, next, "a pod was popped behind its end");
        else if (life->deleted != NULL && pop->begin > life->deleted->end)
            violation(report, RULE_ONCE, life->deleted, pop,
                      "a pod was popped behind its deletion");
        ends += use != NULL && use->call == CALL_DONE && use->status == SCHEDQ_OK;
    }
    ends += life->deleted != NULL;
    report->obligations[RULE_LOST] += life->added != NULL;
    if (ends > 1)
        violation(report, RULE_ONCE, life->added, life->deleted, "a pod ended %u times", ends);
    else if (life->added != NULL && ends == 0)
        violation(report, RULE_LOST, life->added,
                  life->pop_count > 0 ? life->pops[life->pop_count - 1] : NULL,
                  "a pod did not end");
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* May one of its cycles have ended in PLACED by then? */
static bool
may_be_placed(uint32_t group, uint64_t before)
{
    for (size_t i = 0; i < cycle_count; i++) {
        const record_t *end = cycles[i].end;
        if (cycles[i].pop->group == group && end != NULL && end->outcome == SCHEDQ_GROUP_PLACED &&
            end->begin <= before)
            return true;
    }
    return false;
}

static void
check_quorum(const cycle_t *cycle, report_t *report)
{
    const record_t *pop = cycle->pop;
    if (pop->late || may_be_placed(pop->group, pop->end))
        return;
    report->obligations[RULE_QUORUM]++;
    if (cycle->count < quorum_of(pop->group))
        violation(report, RULE_QUORUM, pop, NULL, "group %u came with %u members, its quorum is %u",
                  pop->group, cycle->count, quorum_of(pop->group));
}

/* Was the member surely aside during all of the call? */
static bool
surely_waits(const life_t *life, const record_t *call)
{
    if (life->added == NULL || (life->deleted != NULL && life->deleted->begin <= call->end))
        return false;
    uint64_t since = life->added->end;
    for (uint32_t i = 0; i < life->pop_count; i++) {
        if (since < call->begin && call->end < life->pops[i]->begin)
            return true;
        if (life->uses[i] == NULL || life->uses[i]->call != CALL_FAIL)
            return false;
        since = life->uses[i]->end;
    }
    return since < call->begin;
}

static void
check_whole(const cycle_t *cycle, report_t *report)
{
    const record_t *pop = cycle->pop;
    if (declared[pop->group] == NULL || declared[pop->group]->end >= pop->begin)
        return;
    report->obligations[RULE_WHOLE]++;
    for (uint32_t pod = pop->group; pod < PODS; pod += GROUPS + 1) {
        if (surely_waits(&lives[pod], pop))
            violation(report, RULE_WHOLE, lives[pod].added, pop, "pod %u was left behind", pod);
    }
}

void
rules_check(book_t *book, report_t *report)
{
    note_lives(book);
    note_cycles(book);
    for (uint32_t pod = 0; pod < PODS; pod++)
        check_life(&lives[pod], report);
    for (size_t i = 0; i < cycle_count; i++) {
        const cycle_t *cycle = &cycles[i], *next = &cycles[i + 1];
        check_quorum(cycle, report);
        check_whole(cycle, report);
        if (i + 1 == cycle_count || next->pop->group != cycle->pop->group)
            continue;
        report->obligations[RULE_CYCLES]++;
        if (cycle->end == NULL || cycle->end->begin > next->pop->end)
            violation(report, RULE_CYCLES, cycle->pop, next->pop,
                      "group %u was in two cycles at a time", cycle->pop->group);
    }
}
