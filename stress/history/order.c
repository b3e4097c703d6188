/*
 * Strict order, between intervals: no pop returns Y while some X that ranks before Y is active
 * during the whole call.
 *
 * What is known for sure of each stay of a pod becomes windows {from, until, rank}: during all of
 * it the pod is active and ranks at least so. A stay of a pod without updates is one window, from
 * the return of the call that made it active, or of the first look that saw it so, to the begin of
 * what took it, or held it first. An update that runs may or may not have happened, so there is a
 * window for each description, one for each two that follow each other, with the worse rank, and
 * one for the whole stay with the worst. A pop's pod ranks as the best description that it had at
 * any time of the call.
 *
 * All windows and pops are swept by time. A Fenwick tree over ranks holds the greatest `until` of
 * the windows that have begun: a pop is wrong if a rank before its own is there with an `until`
 * after its end. What has ended needs no removal. A pop that took from backoff, EMPTY and TIMEDOUT
 * ask the same of all ranks. For the last two there are also windows without a rank: where pops
 * take from backoff, a pod there is as good as an active one. n log n for n records.
 *
 * Equal Timestamps, and equal order keys, may go either way. A call for many that takes pods, or
 * shows them (peek_many), has each two of them in order. EMPTY of peek and peek_many is judged as a
 * pop's; all else that they say, line.c judges.
 *
 * A pod that a call has seen is active from the return of that call on, though its adder may not
 * have returned. Of the pods of one add_many those that rank better come first: when one is popped,
 * the better ones are there.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "rank.h"

typedef struct item {
    uint64_t from, until; /* of the window, or the pop */
    rank_t rank;
    uint32_t place; /* of the rank among all ranks of the round, from 1 */
    bool is_pop;
    bool is_ranked;         /* the window: else the pod is poppable and perhaps not active */
    const record_t *record; /* the pop */
    const stay_t *stay;     /* the window's */
} item_t;

struct order {
    item_t *items;
    size_t count;
    sortable_t *sortable, *scratch;
    uint64_t *tree; /* by place */
    uint32_t places;
    size_t room;
    uint64_t latest_active;   /* greatest `until` so far, of any rank */
    uint64_t latest_poppable; /* also of pods in backoff */
};

static void *
room(size_t count, size_t size)
{
    void *memory = malloc(count * size);
    if (memory == NULL) {
        fprintf(stderr, "schedq-history: no memory for the order\n");
        exit(1);
    }
    return memory;
}

order_t *
order_make(const book_t *book)
{
    /*
     * Two windows for each description, two for each stay, and for each time one begins in the
     * midst of the other.
     */
    size_t items = 6 * (size_t)book->capacity * (book->threads + 1);
    order_t *order = room(1, sizeof *order);
    order->room = items;
    order->items = room(items, sizeof *order->items);
    order->sortable = room(items, sizeof *order->sortable);
    order->scratch = room(items, sizeof *order->scratch);
    order->tree = room(items + 1, sizeof *order->tree);
    return order;
}

void
order_free(order_t *order)
{
    free(order->items);
    free(order->sortable);
    free(order->scratch);
    free(order->tree);
    free(order);
}

static bool
overlap(const record_t *a, const record_t *b)
{
    return a->begin <= b->end && b->begin <= a->end;
}

/* ---- windows --------------------------------------------------------------------------------- */

static void
add_item(order_t *order, item_t item)
{
    if (order->count == order->room) {
        fprintf(stderr, "schedq-history: more than %zu windows\n", order->room);
        exit(1);
    }
    order->items[order->count++] = item;
}

static void
add_window(order_t *order, const stay_t *stay, uint64_t from, uint64_t until, rank_t rank)
{
    if (until > stay->taken_from)
        until = stay->taken_from;
    if (until > stay->life->kept_from)
        until = stay->life->kept_from;
    if (from < until)
        add_item(
            order,
            (item_t){.from = from, .until = until, .rank = rank, .is_ranked = true, .stay = stay});
}

static uint64_t
begin_of(const record_t *record)
{
    return record != NULL ? record->begin : UINT64_MAX;
}

static uint64_t
later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/*
 * The windows that begin with this description. `settled`: when all earlier descriptions were
 * given.
 */
static void
add_windows_of(order_t *order, const stay_t *stay, const record_t *description, uint64_t settled)
{
    const record_t *created = stay->life->created;
    const record_t *next =
        description == created ? stay->life->first_update : description->next_update;
    uint64_t from =
        description == created ? stay->active_from : later_of(description->end, stay->active_from);
    rank_t rank = rank_sure(stay, description);
    if (description != created && description->begin <= settled)
        return; /* nobody can tell which of the two came last */
    add_window(order, stay, from, begin_of(next), rank);
    if (next != NULL)
        add_window(order, stay, from, begin_of(next->next_update),
                   rank_worse(rank, rank_sure(stay, next)));
}

static void
add_active(order_t *order, const stay_t *stay)
{
    const life_t *life = stay->life;
    rank_t worst = rank_sure(stay, life->created);
    uint64_t settled = life->created->end;
    if (life->first_update != NULL)
        add_windows_of(order, stay, life->created, 0);
    for (const record_t *update = life->first_update; update != NULL;
         update = update->next_update) {
        if (update->begin >= stay->taken_from)
            break;
        bool alone = update->begin > settled && update->end <= stay->active_from;
        worst = alone ? rank_sure(stay, update) : rank_worse(worst, rank_sure(stay, update));
        add_windows_of(order, stay, update, settled);
        settled = later_of(update->end, settled);
    }
    add_window(order, stay, stay->active_from, UINT64_MAX, worst);
}

/* An activation may take a pod out of backoff that its gate then refuses. */
static void
add_stay(order_t *order, const stay_t *stay)
{
    if (stay->active_from < stay->taken_from)
        add_active(order, stay);
    if (stay->poppable_from >= stay->active_from || stay->poppable_from >= stay->taken_from)
        return;
    if (stay->life->kept_from == UINT64_MAX &&
        !life_is_nudged(stay->life, stay->began->begin, stay->taken_from))
        add_item(order,
                 (item_t){.from = stay->poppable_from, .until = stay->taken_from, .stay = stay});
}

/* The pods of one add_many, which stand side by side. */
static void
see_batch(record_t *const *batch, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        life_t *life = batch[i]->life;
        for (size_t j = 0; life != NULL && object_gate(batch[i]->object) == NO_GATE && j < count;
             j++) {
            const life_t *other = batch[j]->life;
            if (other == NULL || other->first->popped == NULL || other->first_update != NULL)
                continue;
            const record_t *popped = other->first->popped;
            if (popped->end < life->first->active_from &&
                rank_is_before(rank_of(life->first, batch[i]), rank_of(other->first, batch[j]))) {
                life->first->active_from = popped->end;
                life->first->witness = popped;
            }
        }
    }
}

static bool
same_call(const record_t *a, const record_t *b)
{
    return a->call == b->call && a->thread == b->thread && a->begin == b->begin;
}

static size_t
batch_length(record_t *const *records, size_t count)
{
    size_t length = 1;
    while (length < count && same_call(records[0], records[length]))
        length++;
    return length;
}

static void
see_batches(const book_t *book)
{
    for (size_t i = 0, length; i < book->count; i += length) {
        length = batch_length(book->all + i, book->count - i);
        if (book->all[i]->call == OP_ADD_MANY)
            see_batch(book->all + i, length);
    }
}

static void
add_pops(order_t *order, const book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->all[i];
        bool finds_nothing = record_peeks(record) && record->status == SCHEDQ_EMPTY;
        if (!(record_is_pop(record) || finds_nothing) ||
            (record->status == SCHEDQ_OK && record->stay == NULL))
            continue;
        item_t item = {
            .from = record->begin, .until = record->end, .is_pop = true, .record = record};
        if (record->status == SCHEDQ_OK)
            item.rank = rank_of_pop(record);
        add_item(order, item);
    }
}

/* ---- the sweep ------------------------------------------------------------------------------- */

static void
place_ranks(order_t *order)
{
    for (size_t i = 0; i < order->count; i++)
        order->sortable[i] = (sortable_t){order->items[i].rank.key, &order->items[i]};
    sort_by_key(order->sortable, order->scratch, order->count);
    for (size_t i = 0; i < order->count; i++)
        order->sortable[i].key = ((item_t *)order->sortable[i].item)->rank.band;
    sort_by_key(order->sortable, order->scratch, order->count);
    order->places = 0;
    for (size_t i = 0; i < order->count; i++) {
        item_t *item = order->sortable[i].item;
        if (i == 0 || rank_is_before(((item_t *)order->sortable[i - 1].item)->rank, item->rank))
            order->places++;
        item->place = order->places;
    }
}

/* A window that begins when a pop begins does not last during the whole of it: pops go first. */
static void
sort_by_begin(order_t *order)
{
    for (size_t i = 0; i < order->count; i++) {
        item_t *item = &order->items[i];
        order->sortable[i] = (sortable_t){item->from * 2 + !item->is_pop, item};
    }
    sort_by_key(order->sortable, order->scratch, order->count);
}

static void
raise_tree(order_t *order, uint32_t place, uint64_t until)
{
    for (; place <= order->places && order->tree[place] < until; place += place & -place)
        order->tree[place] = until;
}

/* The greatest `until` of places before `place`. */
static uint64_t
latest_before(const order_t *order, uint32_t place)
{
    uint64_t latest = 0;
    for (place--; place > 0; place -= place & -place) {
        if (order->tree[place] > latest)
            latest = order->tree[place];
    }
    return latest;
}

/* How late the windows last that make this pop wrong, as far as they have begun. */
static uint64_t
latest_against(const order_t *order, const item_t *pop)
{
    if (pop->record->status != SCHEDQ_OK)
        return order->latest_poppable;
    return pop->record->from_backoff ? order->latest_active : latest_before(order, pop->place);
}

static bool
is_against(const item_t *window, const item_t *pop)
{
    if (window->is_pop || window->from >= pop->from || window->until <= pop->until)
        return false;
    if (pop->record->status != SCHEDQ_OK)
        return true;
    return window->is_ranked && (pop->record->from_backoff || window->place < pop->place);
}

static const item_t *
find_window(const order_t *order, const item_t *pop)
{
    for (size_t i = 0; i < order->count; i++) {
        if (is_against(&order->items[i], pop))
            return &order->items[i];
    }
    return NULL;
}

static const char *
complaint_of(const record_t *pop)
{
    if (pop->status != SCHEDQ_OK)
        return "during the whole of this call a pod was there to be popped";
    return pop->from_backoff
               ? "during the whole of this pop, which took from backoff, a pod was active"
               : "during the whole of this pop a pod that ranks before was active";
}

static void
complain(const order_t *order, const item_t *pop, report_t *report)
{
    const item_t *window = find_window(order, pop);
    rule_t rule = pop->record->status == SCHEDQ_OK         ? RULE_ORDER
                  : record_peeks(pop->record)              ? RULE_LINE
                  : pop->record->status == SCHEDQ_TIMEDOUT ? RULE_WAKEUP
                                                           : RULE_EMPTY;
    bool printing = report_is_printing(report, rule);
    report_violation(report, rule, pop->record, NULL, "%s", complaint_of(pop->record));
    if (printing)
        stay_print(report, window->stay);
}

/*
 * Whatever found nothing, or ended by its deadline, might have found a pod. What took one might
 * have taken another, if one was there during the whole call.
 */
static void
count_obligation(const order_t *order, const item_t *pop, report_t *report)
{
    const record_t *record = pop->record;
    if (record->status == SCHEDQ_TIMEDOUT || record->call == OP_POP)
        report_obligation(report, RULE_WAKEUP);
    if (record->status == SCHEDQ_EMPTY || record->status == SCHEDQ_CLOSED)
        report_obligation(report, RULE_EMPTY);
    if (record->status == SCHEDQ_OK && order->latest_active > pop->until)
        report_obligation(report, RULE_ORDER);
}

static void
sweep(order_t *order, report_t *report)
{
    memset(order->tree, 0, ((size_t)order->places + 1) * sizeof *order->tree);
    order->latest_active = order->latest_poppable = 0;
    for (size_t i = 0; i < order->count; i++) {
        const item_t *item = order->sortable[i].item;
        if (item->is_pop) {
            count_obligation(order, item, report);
            if (latest_against(order, item) > item->until)
                complain(order, item, report);
            continue;
        }
        order->latest_poppable = later_of(order->latest_poppable, item->until);
        if (item->is_ranked) {
            order->latest_active = later_of(order->latest_active, item->until);
            raise_tree(order, item->place, item->until);
        }
    }
}

/* ---- pop_many, peek_many --------------------------------------------------------------------- */

/* Did this pod, which its call took later, rank before that one all the while? */
static bool
should_come_first(const record_t *later, const record_t *earlier)
{
    const stay_t *stay = later->stay;
    if (stay == NULL || earlier->stay == NULL || later->from_backoff ||
        stay->life->kept_from <= later->end || stay->active_from >= later->begin ||
        life_description(stay->life, later->object) == NULL)
        return false;
    for (const record_t *update = stay->life->first_update; update != NULL;
         update = update->next_update) {
        if (overlap(update, later))
            return false;
    }
    return earlier->from_backoff ||
           rank_is_before(rank_sure(stay, life_description(stay->life, later->object)),
                          rank_of_pop(earlier));
}

static void
check_two(const record_t *earlier, const record_t *later, rule_t rule, report_t *report)
{
    bool printing = report_is_printing(report, rule);
    if (!should_come_first(later, earlier))
        return;
    report_violation(report, rule, earlier, later,
                     "one call took, or showed, the second of these pods after the first");
    if (printing) {
        stay_print(report, earlier->stay);
        stay_print(report, later->stay);
    }
}

static void
check_batches(const book_t *book, report_t *report)
{
    for (size_t i = 0, length; i < book->count; i += length) {
        length = batch_length(book->all + i, book->count - i);
        if (book->all[i]->call != OP_TRY_POP_MANY && book->all[i]->call != OP_PEEK_MANY)
            continue;
        rule_t rule = book->all[i]->call == OP_PEEK_MANY ? RULE_LINE : RULE_ORDER;
        for (size_t later = i + 1; later < i + length; later++) {
            for (size_t earlier = i; earlier < later; earlier++)
                check_two(book->all[earlier], book->all[later], rule, report);
        }
    }
}

void
order_check(order_t *order, const lives_t *lives, const book_t *book, report_t *report)
{
    see_batches(book);
    order->count = 0;
    for (size_t i = 0; i < lives->stay_count; i++)
        add_stay(order, &lives->stays[i]);
    add_pops(order, book);
    place_ranks(order);
    sort_by_begin(order);
    sweep(order, report);
    check_batches(book, report);
}
