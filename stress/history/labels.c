/*
 * Label calls. What they claim of a pod depends on when its add returned, and on its end:
 *
 *   the add returned before the call began, and nothing had begun to end the pod when it ended
 *       the call counts it; label_cancel ends it, unless it had no more room; by label_hold it is
 *       held, by label_release it is not, at one moment of the call
 *   the add or the end overlaps the call
 *       the call may have reached it or not
 *   any other pod of the label, and every pod of another
 *       the call does not count it, tell of it or change it. An add under way that finds its name
 *       taken may be counted
 *
 * What label_cancel told of is a deletion like any other (automaton.c). label_hold and
 * label_release say only how many pods they reached; so each becomes a touch of each life that it
 * surely came to, which the automaton orders among the calls on that pod. Of the others nobody can
 * tell whether they are held until the call is over. These calls are made by one thread a label
 * (workload.c), as are the holds of its pods.
 *
 * Not claimed: that the pods of a label are reached at one moment, nor in any order.
 */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

struct labels_rule {
    uint32_t labels; /* one more than the greatest */
    /* by label: [starts[label], starts[label + 1]) */
    uint32_t *life_starts, *add_starts;
    life_t **lives;
    const record_t **adds; /* that made no pod */
    record_t *touches;
    size_t touch_count, room;
};

static void *
room(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "schedq-history: no memory for the labels\n");
        exit(1);
    }
    return memory;
}

labels_rule_t *
labels_rule_make(const book_t *book, uint32_t names)
{
    labels_rule_t *rule = room(1, sizeof *rule);
    rule->room = (size_t)book->capacity * (book->threads + 1);
    rule->labels = names_group(names) + 2;
    rule->life_starts = room(rule->labels + 2, sizeof *rule->life_starts);
    rule->add_starts = room(rule->labels + 2, sizeof *rule->add_starts);
    rule->lives = room(rule->room, sizeof *rule->lives);
    rule->adds = room(rule->room, sizeof *rule->adds);
    rule->touches = room(rule->room, sizeof *rule->touches);
    return rule;
}

void
labels_rule_free(labels_rule_t *rule)
{
    free(rule->life_starts);
    free(rule->add_starts);
    free(rule->lives);
    free(rule->adds);
    free(rule->touches);
    free(rule);
}

/* ---- by label -------------------------------------------------------------------------------- */

/* starts[label + 2] counts those of the label; then [label + 1] is where its next one goes. */
static void
add_up(const labels_rule_t *rule, uint32_t *starts)
{
    for (uint32_t label = 1; label <= rule->labels; label++)
        starts[label + 1] += starts[label];
}

static void
sort_lives(labels_rule_t *rule, const lives_t *lives)
{
    memset(rule->life_starts, 0, (rule->labels + 2) * sizeof *rule->life_starts);
    for (size_t i = 0; i < lives->count; i++)
        rule->life_starts[lives->lives[i].created->label + 2]++;
    add_up(rule, rule->life_starts);
    for (size_t i = 0; i < lives->count; i++)
        rule->lives[rule->life_starts[lives->lives[i].created->label + 1]++] = &lives->lives[i];
}

static bool
adds_nothing(const record_t *record)
{
    return record->label != 0 && record_may_create(record) && !record_creates(record);
}

static void
sort_adds(labels_rule_t *rule, const book_t *book)
{
    memset(rule->add_starts, 0, (rule->labels + 2) * sizeof *rule->add_starts);
    for (size_t i = 0; i < book->count; i++) {
        if (adds_nothing(book->all[i]))
            rule->add_starts[book->all[i]->label + 2]++;
    }
    add_up(rule, rule->add_starts);
    for (size_t i = 0; i < book->count; i++) {
        if (adds_nothing(book->all[i]))
            rule->adds[rule->add_starts[book->all[i]->label + 1]++] = book->all[i];
    }
}

/* ---- which pods a call reaches --------------------------------------------------------------- */

static bool
may_reach(const record_t *call, const life_t *life)
{
    return life->created->begin <= call->end &&
           (life->ended == NULL || life->ended->end >= call->begin);
}

/* Or finds that it is over. */
static bool
surely_comes_to(const record_t *call, const life_t *life)
{
    return life->created->end < call->begin;
}

static bool
surely_reaches(const record_t *call, const life_t *life)
{
    return surely_comes_to(call, life) && (life->ended == NULL || life->ended->begin > call->end);
}

static void
touch(labels_rule_t *rule, const record_t *call, life_t *life)
{
    if (rule->touch_count == rule->room) {
        fprintf(stderr, "schedq-history: label calls meet more than %zu pods\n", rule->room);
        exit(1);
    }
    record_t *record = &rule->touches[rule->touch_count++];
    *record = *call;
    record->count = 0;
    record->name = life->created->name;
    record->pod = life->created->pod;
    record->life = life;
}

/* The calls of one label do not overlap: those before the add's return come before all others. */
static void
meet(labels_rule_t *rule, const record_t *call, life_t *life)
{
    if (call->call == OP_LABEL_HOLD && call->begin < life->kept_from)
        life->kept_from = call->begin;
    if (surely_comes_to(call, life))
        touch(rule, call, life);
    else if (life->unsure_until < call->end)
        life->unsure_until = call->end;
}

static void
meet_all(labels_rule_t *rule, const record_t *call)
{
    for (uint32_t i = rule->life_starts[call->label]; i < rule->life_starts[call->label + 1]; i++) {
        if (may_reach(call, rule->lives[i]))
            meet(rule, call, rule->lives[i]);
    }
}

void
labels_rule_resolve(labels_rule_t *rule, const lives_t *lives, const book_t *book)
{
    rule->touch_count = 0;
    sort_lives(rule, lives);
    sort_adds(rule, book);
    for (size_t i = 0; i < book->count; i++) {
        if (record_keeps_label(book->sorted[i]))
            meet_all(rule, book->sorted[i]);
    }
}

size_t
labels_rule_touches(labels_rule_t *rule, record_t **touches)
{
    *touches = rule->touches;
    return rule->touch_count;
}

/* ---- the rule -------------------------------------------------------------------------------- */

static uint32_t
adds_meanwhile(const labels_rule_t *rule, const record_t *call)
{
    uint32_t count = 0;
    for (uint32_t i = rule->add_starts[call->label]; i < rule->add_starts[call->label + 1]; i++)
        count += rule->adds[i]->begin <= call->end && rule->adds[i]->end >= call->begin;
    return count;
}

/* It had room left. */
static bool
tells_all(const record_t *call)
{
    return call->call != OP_LABEL_CANCEL || call->count < call->room;
}

static void
check_call(const labels_rule_t *rule, const record_t *call, report_t *report)
{
    const life_t *sure = NULL;
    uint32_t least = 0, most = adds_meanwhile(rule, call);
    for (uint32_t i = rule->life_starts[call->label]; i < rule->life_starts[call->label + 1]; i++) {
        const life_t *life = rule->lives[i];
        most += may_reach(call, life);
        if (surely_reaches(call, life)) {
            least++;
            sure = life;
        }
    }
    if (most != 0)
        report_obligation(report, RULE_LABELS);
    if (call->call == OP_LABEL_CANCEL && tells_all(call) && sure != NULL)
        report_violation(report, RULE_LABELS, call, sure->created,
                         "the second call's pod has the label, and was not cancelled");
    else if (call->count > most || (call->call != OP_LABEL_CANCEL && call->count < least))
        report_violation(report, RULE_LABELS, call, sure != NULL ? sure->created : NULL,
                         "%" PRIu32 " pods were counted, there were %" PRIu32 " to %" PRIu32,
                         call->count, least, most);
}

static bool
is_of_label(const record_t *record)
{
    return record->call >= OP_LABEL_CANCEL && record->call <= OP_LABEL_COUNT;
}

void
labels_rule_check(labels_rule_t *rule, const book_t *book, report_t *report)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->all[i];
        if (!is_of_label(record))
            continue;
        if (record->life != NULL && record->life->created->label != record->label)
            report_violation(report, RULE_LABELS, record->life->created, record,
                             "a pod was cancelled that has not the label");
        if (record->element == 0)
            check_call(rule, record, report);
    }
}
