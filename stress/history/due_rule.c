/*
 * A tick deals with what is due: a pod that was in a backoff before a tick began, and whose backoff
 * was over by then, is in none after the tick's return.
 *
 * The clock is read before the tick begins, so the tick's own reading is no earlier. Pods that a
 * gate may have taken out of the backoff are left out, since an event that read the clock earlier
 * may put them back: those that were activated, or held, and, where the gates stand behind the
 * backoff, those that have a gate.
 */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cluster.h"

#define SECOND_NS INT64_C(1000000000)

struct due_rule {
    sortable_t *ticks, *scratch; /* by end */
    record_t **newest;           /* newest[i] began last among the first i + 1 */
    size_t count;
};

due_rule_t *
due_rule_make(const book_t *book)
{
    size_t records = (size_t)book->capacity * (book->threads + 1);
    due_rule_t *rule = calloc(1, sizeof *rule);
    if (rule != NULL) {
        rule->ticks = malloc(records * sizeof *rule->ticks);
        rule->scratch = malloc(records * sizeof *rule->scratch);
        rule->newest = malloc(records * sizeof *rule->newest);
    }
    if (rule == NULL || rule->ticks == NULL || rule->scratch == NULL || rule->newest == NULL) {
        fprintf(stderr, "schedq-history: no memory for the ticks\n");
        exit(1);
    }
    return rule;
}

void
due_rule_free(due_rule_t *rule)
{
    free(rule->ticks);
    free(rule->scratch);
    free(rule->newest);
    free(rule);
}

static void
gather_ticks(due_rule_t *rule, const book_t *book)
{
    rule->count = 0;
    for (size_t i = 0; i < book->count; i++) {
        if (book->all[i]->call == OP_TICK && book->all[i]->status == SCHEDQ_OK)
            rule->ticks[rule->count++] = (sortable_t){book->all[i]->end, book->all[i]};
    }
    sort_by_key(rule->ticks, rule->scratch, rule->count);
    for (size_t i = 0; i < rule->count; i++) {
        record_t *tick = rule->ticks[i].item;
        rule->newest[i] =
            i > 0 && rule->newest[i - 1]->begin > tick->begin ? rule->newest[i - 1] : tick;
    }
}

/* Of the ticks that ended before `time` the one that began last. */
static const record_t *
tick_before(const due_rule_t *rule, uint64_t time)
{
    size_t low = 0, high = rule->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (rule->ticks[middle].key < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? rule->newest[low - 1] : NULL;
}

/* When the backoff is over with which the stay began. */
static int64_t
expiry_of(const stay_t *stay, const settings_t *settings)
{
    const record_t *before = stay->flight != NULL ? stay->flight : stay->began;
    uint32_t rejections = before->rejections, errors = before->errors;
    if (stay->flight != NULL) {
        bool rejected = (stay->began->unschedulable | stay->began->pending) != 0;
        rejections += rejected;
        errors = rejected ? 0 : errors + 1;
    }
    int64_t duration = settings->initial_backoff_ns;
    for (uint32_t n = errors > 0 ? errors : rejections;
         n > 1 && duration < settings->max_backoff_ns; n--)
        duration *= 2;
    int64_t expiry = stay->timestamp_ns +
                     (duration < settings->max_backoff_ns ? duration : settings->max_backoff_ns);
    /* kube 1.34 compares whole seconds, and at its expiry a pod still backs off */
    return settings->kube ? (expiry / SECOND_NS + 1) * SECOND_NS : expiry;
}

static bool
has_no_gate(uint64_t object, unsigned unused)
{
    (void)unused;
    return object_gate(object) == NO_GATE;
}

static bool
may_be_gated(const stay_t *stay, const record_t *look, const settings_t *settings)
{
    return life_is_nudged(stay->life, stay->began->begin, look->end) ||
           (!settings->pop_from_backoff &&
            !life_objects_are(stay->life, stay->began->begin, look->end, has_no_gate, 0));
}

static void
check_stay(const due_rule_t *rule, const stay_t *stay, const settings_t *settings, report_t *report)
{
    if (stay->backoff_last == NULL || !stay->timed ||
        stay->life->kept_from <= stay->backoff_last->end)
        return;
    const record_t *look = stay->backoff_last, *tick = tick_before(rule, look->begin);
    int64_t expiry = expiry_of(stay, settings);
    if (tick != NULL && tick->begin > stay->backoff_first->end)
        report_obligation(report, RULE_DUE);
    if (tick == NULL || tick->begin <= stay->backoff_first->end || tick->key < expiry ||
        may_be_gated(stay, look, settings))
        return;
    bool printing = report_is_printing(report, RULE_DUE);
    report_violation(report, RULE_DUE, tick, look,
                     "a pod backs off after a tick, though its backoff was over at %" PRId64,
                     expiry);
    if (!printing)
        return;
    printf("  its stay, and when it was first seen in backoff:\n");
    record_print(report->book, stay->began, stdout);
    record_print(report->book, stay->backoff_first, stdout);
    for (const record_t *update = stay->life->first_update; update != NULL;
         update = update->next_update)
        record_print(report->book, update, stdout);
}

void
due_rule_check(due_rule_t *rule, const lives_t *lives, const book_t *book, report_t *report)
{
    gather_ticks(rule, book);
    for (size_t i = 0; i < lives->stay_count; i++)
        check_stay(rule, &lives->stays[i], &book->settings, report);
}
