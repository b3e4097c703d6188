/*
 * max_pods. FULL needs a moment in its call at which so many pods may have been there: each from
 * the begin of the call that made it until the one that ended it has settled, and each that some
 * call was just adding, whatever came of it. And never are there surely more: each from the end of
 * the one to the begin of the other, but for what calls that overlap add together.
 *
 * What ended is counted by a plain store, which a thread on another processor may see some time
 * after the call's end, unless the two threads order their calls by more than the clock. So a
 * capped queue's calls are followed by a fence and another stamp.
 */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct step {
    uint64_t time;
    int32_t by;
    int32_t pods; /* behind it */
} step_t;

struct caps_rule {
    step_t *steps; /* by time; those that raise come first */
    size_t count, room;
};

caps_rule_t *
caps_rule_make(const book_t *book)
{
    size_t records = 2 * (size_t)book->capacity * (book->threads + 1);
    caps_rule_t *rule = calloc(1, sizeof *rule);
    if (rule != NULL)
        rule->steps = malloc(records * sizeof *rule->steps);
    if (rule == NULL || rule->steps == NULL) {
        fprintf(stderr, "schedq-history: no memory for the caps\n");
        exit(1);
    }
    rule->room = records;
    return rule;
}

void
caps_rule_free(caps_rule_t *rule)
{
    free(rule->steps);
    free(rule);
}

static void
put(caps_rule_t *rule, uint64_t time, int32_t by)
{
    rule->steps[rule->count++] = (step_t){.time = time, .by = by};
}

static int
earlier(const void *a, const void *b)
{
    const step_t *first = a, *second = b;
    if (first->time != second->time)
        return first->time < second->time ? -1 : 1;
    return second->by - first->by;
}

/* The call that gave its record back; NULL: none did. */
static const record_t *
last_of(const life_t *life)
{
    return life->returned != NULL ? life->returned : life->ended;
}

/* Sorts the steps, and says how many pods there are behind each. Returns the most. */
static int32_t
add_up(caps_rule_t *rule)
{
    int32_t now = 0, most = 0;
    qsort(rule->steps, rule->count, sizeof *rule->steps, earlier);
    for (size_t i = 0; i < rule->count; i++) {
        now += rule->steps[i].by;
        rule->steps[i].pods = now;
        most = now > most ? now : most;
    }
    return most;
}

/* The most that there may have been at a moment of the call. */
static int32_t
most_during(const caps_rule_t *rule, const record_t *call)
{
    size_t first = 0, end = rule->count; /* the first step that is not before the call */
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (rule->steps[middle].time < call->begin)
            first = middle + 1;
        else
            end = middle;
    }
    int32_t most = first > 0 ? rule->steps[first - 1].pods : 0;
    for (size_t i = first; i < rule->count && rule->steps[i].time <= call->end; i++)
        most = rule->steps[i].pods > most ? rule->steps[i].pods : most;
    return most;
}

static void
check_full(caps_rule_t *rule, const lives_t *lives, const book_t *book, report_t *report)
{
    rule->count = 0;
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        put(rule, life->created->begin, 1);
        if (last_of(life) != NULL)
            put(rule, last_of(life)->settled, -1);
    }
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->all[i];
        if (record_may_create(record) && !record_creates(record) && record->status != SCHEDQ_FULL) {
            put(rule, record->begin, 1);
            put(rule, record->settled, -1);
        }
    }
    add_up(rule);
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->sorted[i];
        if (record->status != SCHEDQ_FULL || !record_may_create(record))
            continue;
        report_obligation(report, RULE_CAPS);
        int32_t most = most_during(rule, record);
        if (most < book->settings.max_pods)
            report_violation(report, RULE_CAPS, record, NULL,
                             "FULL, and during the whole call there were at most %" PRId32
                             " pods of %" PRId64,
                             most, book->settings.max_pods);
    }
}

/* Each thread may get past the cap with what one call adds. */
static void
check_most(caps_rule_t *rule, const lives_t *lives, const book_t *book, report_t *report)
{
    rule->count = 0;
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        put(rule, life->created->end, 1);
        if (life->ended != NULL)
            put(rule,
                life->ended->begin > life->created->end ? life->ended->begin : life->created->end,
                -1);
    }
    int32_t most = add_up(rule);
    if (most > book->settings.max_pods + (int64_t)book->threads * MANY)
        report_violation(report, RULE_CAPS, NULL, NULL,
                         "%" PRId32 " pods were there at once, max_pods is %" PRId64, most,
                         book->settings.max_pods);
}

void
caps_rule_check(caps_rule_t *rule, const lives_t *lives, const book_t *book, report_t *report)
{
    if (book->settings.max_pods == 0)
        return;
    check_full(rule, lives, book, report);
    check_most(rule, lives, book, report);
}
