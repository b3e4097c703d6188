/*
 * The line: what peek and peek_many show, and between which bounds position is.
 *
 * Of each stay of a pod two windows are known: in one it may be active (from the begin of what
 * began the stay to the end of what took the pod), in the other it surely is (order.c). Its rank
 * is between a best and a worst one, of the descriptions that it may have had during the call.
 *
 *   position   At one moment of the call no more pods surely ranked before it than `upper`, and no
 *              fewer may have than `lower`. All moments are tried at which either number changes.
 *              A pod of the same rank may stand before it; it need not
 *   peek       No pod that ranks before the one shown was surely active during the whole call; if
 *              it waits in backoff, no pod at all
 *   peek_many  Before the n-th that is shown there are n - 1 others at most, so those that rank
 *              before it, and were active and not updated during the whole call, are among them.
 *              As many are shown as were asked for, or as were active during the whole call, less
 *              those that left the line, or were updated, meanwhile. None is shown twice. That each
 *              two stand in order, order.c says
 *
 * That the pod was there, described so, in a place where pops take it, the automaton says; of EMPTY
 * order.c does, as of a pop's.
 *
 * Not claimed: that the bounds of position are narrow; that peek_many shows the pods of one moment.
 * Nothing is said of a pod in backoff before another one there.
 *
 * All calls are swept by time, with a list of the stays that overlap the present one: n times as
 * much as there are pods at a time.
 */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "rank.h"

/* A time at which the number of pods before one changes. */
typedef struct turn {
    uint64_t time;
    int8_t may, surely; /* by how much */
} turn_t;

typedef struct ahead {
    int64_t may, surely;
} ahead_t;

struct line_rule {
    sortable_t *stays, *scratch; /* by the time from which on they may be active */
    size_t stay_count, next;
    const stay_t **present; /* that may overlap the call */
    size_t present_count;
    turn_t *turns; /* of one call */
    size_t turn_count;
};

line_rule_t *
line_rule_make(const book_t *book)
{
    size_t records = (size_t)book->capacity * (book->threads + 1);
    line_rule_t *rule = calloc(1, sizeof *rule);
    if (rule != NULL) {
        rule->stays = malloc(records * sizeof *rule->stays);
        rule->scratch = malloc(records * sizeof *rule->scratch);
        rule->present = malloc(records * sizeof *rule->present);
        rule->turns = malloc(4 * records * sizeof *rule->turns);
    }
    if (rule == NULL || rule->stays == NULL || rule->scratch == NULL || rule->present == NULL ||
        rule->turns == NULL) {
        fprintf(stderr, "schedq-history: no memory for the line\n");
        exit(1);
    }
    return rule;
}

void
line_rule_free(line_rule_t *rule)
{
    free(rule->stays);
    free(rule->scratch);
    free(rule->present);
    free(rule->turns);
    free(rule);
}

/* ---- windows --------------------------------------------------------------------------------- */

static uint64_t
may_until(const stay_t *stay)
{
    const record_t *end = stay->popped != NULL ? stay->popped
                          : stay->next == NULL ? stay->life->ended
                                               : NULL;
    return end != NULL ? end->end : UINT64_MAX;
}

static uint64_t
surely_until(const stay_t *stay)
{
    return stay->taken_from < stay->life->kept_from ? stay->taken_from : stay->life->kept_from;
}

static bool
is_active_throughout(const stay_t *stay, const record_t *call)
{
    return stay->active_from < call->begin && surely_until(stay) > call->end;
}

static void
gather_stays(line_rule_t *rule, const lives_t *lives)
{
    for (size_t i = 0; i < lives->stay_count; i++)
        rule->stays[i] = (sortable_t){lives->stays[i].began->begin, &lives->stays[i]};
    rule->stay_count = lives->stay_count;
    sort_by_key(rule->stays, rule->scratch, rule->stay_count);
    rule->next = rule->present_count = 0;
}

/* Calls come by begin, so what ended before one ended before all that follow. */
static void
gather_present(line_rule_t *rule, const record_t *call)
{
    size_t kept = 0;
    for (; rule->next < rule->stay_count && rule->stays[rule->next].key <= call->end; rule->next++)
        rule->present[rule->present_count++] = rule->stays[rule->next].item;
    for (size_t i = 0; i < rule->present_count; i++) {
        if (may_until(rule->present[i]) >= call->begin)
            rule->present[kept++] = rule->present[i];
    }
    rule->present_count = kept;
}

/* ---- position -------------------------------------------------------------------------------- */

static void
turn_at(line_rule_t *rule, uint64_t time, int may, int surely)
{
    rule->turns[rule->turn_count++] = (turn_t){time, (int8_t)may, (int8_t)surely};
}

/* At one time, what makes the bounds easier to keep comes first. */
static bool
makes_it_harder(const turn_t *turn)
{
    return turn->may < 0 || turn->surely > 0;
}

static int
comes_first(const void *a, const void *b)
{
    const turn_t *first = a, *second = b;
    if (first->time != second->time)
        return first->time < second->time ? -1 : 1;
    return makes_it_harder(first) - makes_it_harder(second);
}

/* What `stay` adds to the numbers: when the call begins, and by turns. */
static void
count_stay(line_rule_t *rule, const stay_t *stay, const record_t *call, bool surely, ahead_t *ahead)
{
    uint64_t from = stay->began->begin, until = may_until(stay);
    uint64_t surely_from = stay->active_from, surely_to = surely_until(stay);
    if (from <= call->begin)
        ahead->may++;
    else
        turn_at(rule, from, 1, 0);
    if (until < call->end)
        turn_at(rule, until, -1, 0);
    if (!surely || surely_from >= surely_to || surely_to <= call->begin || surely_from >= call->end)
        return;
    if (surely_from < call->begin)
        ahead->surely++;
    else
        turn_at(rule, surely_from, 0, 1);
    if (surely_to <= call->end)
        turn_at(rule, surely_to, 0, -1);
}

static bool
fits(const ahead_t *ahead, const record_t *call)
{
    return ahead->surely <= (int64_t)call->upper && ahead->may >= (int64_t)call->lower;
}

/* The best and the worst rank of the pod in any of its stays that overlap the call. */
static void
bounds_of_life(const record_t *call, rank_t *best, rank_t *worst)
{
    *best = (rank_t){UINT32_MAX, UINT64_MAX};
    *worst = (rank_t){0, 0};
    for (const stay_t *stay = call->life->first; stay != NULL; stay = stay->next) {
        rank_t better, worse;
        if (stay->began->begin > call->end || may_until(stay) < call->begin)
            continue;
        rank_bounds(stay, call->begin, call->end, &better, &worse);
        *best = rank_better(*best, better);
        *worst = rank_worse(*worst, worse);
    }
}

static void
check_position(line_rule_t *rule, const record_t *call, report_t *report)
{
    ahead_t ahead = {0, 0};
    rank_t best, worst;
    bounds_of_life(call, &best, &worst);
    rule->turn_count = 0;
    for (size_t i = 0; i < rule->present_count; i++) {
        const stay_t *stay = rule->present[i];
        rank_t better, worse;
        if (stay->life == call->life || stay->began->begin > call->end)
            continue;
        rank_bounds(stay, call->begin, call->end, &better, &worse);
        if (!rank_is_before(worst, better))
            count_stay(rule, stay, call, rank_is_before(worse, best), &ahead);
    }
    qsort(rule->turns, rule->turn_count, sizeof *rule->turns, comes_first);
    const ahead_t at_first = ahead;
    ahead_t extreme = ahead; /* the most that may have been, the fewest that were */
    bool good = fits(&ahead, call);
    for (size_t i = 0; i < rule->turn_count && !good; i++) {
        ahead.may += rule->turns[i].may;
        ahead.surely += rule->turns[i].surely;
        extreme.may = ahead.may > extreme.may ? ahead.may : extreme.may;
        extreme.surely = ahead.surely < extreme.surely ? ahead.surely : extreme.surely;
        good = fits(&ahead, call);
    }
    if (at_first.surely != 0 || call->upper != 0)
        report_obligation(report, RULE_LINE);
    if (!good)
        report_violation(report, RULE_LINE, call, NULL,
                         "at no moment of the call: %" PRId64
                         " pods at least ranked before it, %" PRId64 " at most",
                         extreme.surely, extreme.may);
}

/* ---- peek ------------------------------------------------------------------------------------ */

/* By this record of the call, or one before. */
static bool
is_shown(const life_t *life, const record_t *call)
{
    for (uint32_t i = 0; i <= call->element; i++) {
        if ((call - i)->life == life)
            return true;
    }
    return false;
}

static bool
is_updated_during(const life_t *life, const record_t *call)
{
    const record_t *update = life->first_update;
    while (update != NULL && update->end < call->begin)
        update = update->next_update;
    return update != NULL && update->begin <= call->end;
}

/*
 * Pods that are active during the whole call, rank before the one that it shows, and are not shown
 * so far; `all`: of any rank. One of them is *one. A call for many may miss one that is updated.
 */
static uint32_t
count_left_out(const line_rule_t *rule, const record_t *call, bool all, const stay_t **one)
{
    rank_t best = rank_of_pop(call);
    uint32_t count = 0;
    for (size_t i = 0; i < rule->present_count; i++) {
        const stay_t *stay = rule->present[i];
        rank_t better, worse;
        if (!is_active_throughout(stay, call) || is_shown(stay->life, call) ||
            (call->call == OP_PEEK_MANY && is_updated_during(stay->life, call)))
            continue;
        rank_bounds(stay, call->begin, call->end, &better, &worse);
        if (all || rank_is_before(worse, best)) {
            count++;
            *one = stay;
        }
    }
    return count;
}

/* Pods that may have left the line, or moved in it, during the call. */
static uint32_t
count_moves(const line_rule_t *rule, const record_t *call)
{
    uint32_t count = 0;
    for (size_t i = 0; i < rule->present_count; i++) {
        const stay_t *stay = rule->present[i];
        count += surely_until(stay) <= call->end || is_updated_during(stay->life, call);
    }
    return count;
}

static bool
shows_too_few(const line_rule_t *rule, const record_t *call, const stay_t **one)
{
    if (call->element + 1u != call->count || call->count == call->room)
        return false;
    uint32_t left_out = count_left_out(rule, call, true, one), wanted = call->room - call->count;
    return left_out != 0 && (left_out < wanted ? left_out : wanted) > count_moves(rule, call);
}

static void
check_twice(const record_t *call, report_t *report)
{
    for (uint32_t i = 1; i <= call->element; i++) {
        if ((call - i)->pod == call->pod)
            report_violation(report, RULE_LINE, call - i, call, "one call shows a pod twice");
    }
}

static void
complain(const record_t *call, const stay_t *stay, const char *what, report_t *report)
{
    bool printing = report_is_printing(report, RULE_LINE);
    report_violation(report, RULE_LINE, NULL, NULL, "%s", what);
    if (!printing)
        return;
    for (uint32_t i = 0; i < call->count; i++)
        record_print(report->book, call - call->element + i, stdout);
    printf("  the other pod:\n");
    stay_print(report, stay);
}

static void
check_peek(const line_rule_t *rule, const record_t *call, report_t *report)
{
    const stay_t *one = NULL;
    bool from_backoff = call->place == SCHEDQ_BACKOFF && report->book->settings.pop_from_backoff;
    report_obligation(report, RULE_LINE);
    check_twice(call, report);
    if (call->place != SCHEDQ_ACTIVE && !from_backoff)
        report_violation(report, RULE_LINE, call, NULL, "a pod is shown that no pop takes");
    else if (count_left_out(rule, call, from_backoff, &one) > 0)
        complain(call, one,
                 "during the whole of this call a pod was active that ranks before the one shown, "
                 "and was not shown",
                 report);
    else if (shows_too_few(rule, call, &one))
        complain(call, one, "fewer pods are shown than asked for, and more were active", report);
}

void
line_rule_check(line_rule_t *rule, const lives_t *lives, const book_t *book, report_t *report)
{
    gather_stays(rule, lives);
    for (size_t i = 0; i < book->count; i++) {
        const record_t *call = book->sorted[i];
        bool peeks = record_peeks(call) && call->stay != NULL;
        if (call->status != SCHEDQ_OK || call->life == NULL ||
            !(peeks || call->call == OP_POSITION))
            continue;
        gather_present(rule, call);
        if (peeks)
            check_peek(rule, call, report);
        else
            check_position(rule, call, report);
    }
}
