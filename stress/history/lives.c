/*
 * Passes over the records: calls that make pods, pops, failures, which chain the stays; all others;
 * the order in time.
 */
#include "lives.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "names.h"

void
lives_make(lives_t *lives, const book_t *book, size_t operations)
{
    size_t records = (size_t)book->capacity * (book->threads + 1);
    lives->capacity = records;
    lives->lives = malloc(records * sizeof *lives->lives);
    lives->stays = malloc(records * sizeof *lives->stays);
    lives->sortable = malloc(records * sizeof *lives->sortable);
    lives->scratch = malloc(records * sizeof *lives->scratch);
    if (lives->lives == NULL || lives->stays == NULL || lives->sortable == NULL ||
        lives->scratch == NULL) {
        fprintf(stderr, "schedq-history: no memory for %zu lives\n", records);
        exit(1);
    }
    map_make(&lives->by_pod, operations);
    map_make(&lives->by_token, operations);
}

void
lives_free(lives_t *lives)
{
    free(lives->lives);
    free(lives->stays);
    free(lives->sortable);
    free(lives->scratch);
    map_free(&lives->by_pod);
    map_free(&lives->by_token);
}

const record_t *
life_description(const life_t *life, uint64_t object)
{
    const record_t *record = life->created;
    if (record->object == object)
        return record;
    for (record = life->first_update; record != NULL && record->object != object;
         record = record->next_update)
        ;
    return record;
}

bool
life_is_nudged(const life_t *life, uint64_t from, uint64_t until)
{
    for (const record_t *nudge = life->nudges; nudge != NULL; nudge = nudge->next_nudge) {
        if (nudge->end >= from && nudge->begin <= until)
            return true;
    }
    return false;
}

/* Surely another description took the place of this one before `time`. */
static bool
is_replaced_before(const record_t *description, const record_t *later, uint64_t time)
{
    for (; later != NULL && later->begin < time; later = later->next_update) {
        if (later->begin > description->end && later->end < time)
            return true;
    }
    return false;
}

/* Of the same life, by begin; NULL: it is the last one. */
static const record_t *
description_after(const life_t *life, const record_t *description)
{
    return description == life->created ? life->first_update : description->next_update;
}

const record_t *
life_next_description(const life_t *life, const record_t *before, uint64_t from, uint64_t until)
{
    const record_t *next = before != NULL ? description_after(life, before) : life->created;
    while (next != NULL && next->begin <= until &&
           is_replaced_before(next, description_after(life, next), from))
        next = description_after(life, next);
    return next != NULL && next->begin <= until ? next : NULL;
}

bool
life_objects_are(const life_t *life, uint64_t from, uint64_t until,
                 bool (*good)(uint64_t object, unsigned what), unsigned what)
{
    const record_t *description = life_next_description(life, NULL, from, until);
    for (; description != NULL;
         description = life_next_description(life, description, from, until)) {
        if (!good(description->object, what))
            return false;
    }
    return true;
}

void
stay_print(const report_t *report, const stay_t *stay)
{
    const life_t *life = stay->life;
    record_print(report->book, life->created, stdout);
    if (stay->began != life->created)
        record_print(report->book, stay->began, stdout);
    if (stay->witness != NULL) {
        printf("  it was active when this returned:\n");
        record_print(report->book, stay->witness, stdout);
        printf("  and then:\n");
    }
    for (const record_t *update = life->first_update; update != NULL; update = update->next_update)
        record_print(report->book, update, stdout);
    if (stay->popped != NULL)
        record_print(report->book, stay->popped, stdout);
    if (stay->next == NULL && life->ended != NULL)
        record_print(report->book, life->ended, stdout);
}

/* ---- what a record says about its life ------------------------------------------------------- */

static bool
tells_name(const record_t *record)
{
    return record->status == SCHEDQ_OK &&
           (record_is_pop(record) || record->call == OP_GET || record_peeks(record));
}

/* Not who sees a pod in flight: its holder may be about to fail it, with the next Timestamp. */
static bool
tells_timestamp(const record_t *record)
{
    return record->timestamp_ns != 0 && !record_fails(record) && record->place != SCHEDQ_INFLIGHT;
}

static bool
is_of_stay(const stay_t *stay, const record_t *record)
{
    return !stay->timed || stay->timestamp_ns == record->timestamp_ns;
}

/* The stay with the Timestamp that the record tells; the first stay's may not be known yet. */
static void
bind_timestamp(life_t *life, record_t *record, report_t *report)
{
    stay_t *stay = record->stay != NULL ? record->stay : life->first;
    while (record->stay == NULL && stay->next != NULL && !(stay->timed && is_of_stay(stay, record)))
        stay = stay->next;
    if (record->stay == NULL && !is_of_stay(stay, record))
        stay = life->first;
    if (!is_of_stay(stay, record)) {
        report_violation(report, RULE_STATES, stay->began, record,
                         "a pod's Timestamp changes from %" PRId64 " to %" PRId64,
                         stay->timestamp_ns, record->timestamp_ns);
        return;
    }
    record->stay = stay;
    stay->timed = true;
    stay->timestamp_ns = record->timestamp_ns;
}

static void
bind(life_t *life, record_t *record, report_t *report)
{
    record->life = life;
    if (record->name == NO_NAME && !tells_name(record))
        record->name = life->created->name;
    if (record->name != life->created->name)
        report_violation(report, RULE_STATES, life->created, record,
                         "a pod shows up under another name");
    if (record->garbled)
        report_violation(report, RULE_STATES, record->stay != NULL ? record->stay->popped : NULL,
                         record, "the name that pop gave changed before its cycle ended");
    if (tells_timestamp(record))
        bind_timestamp(life, record, report);
}

/* ---- stays ----------------------------------------------------------------------------------- */

static bool
is_poppable(const book_t *book, uint8_t place)
{
    return place == SCHEDQ_ACTIVE || (place == SCHEDQ_BACKOFF && book->settings.pop_from_backoff);
}

/* A pod that add_many made is active, or gated if it has a gate. */
static uint8_t
place_of_creation(const record_t *record)
{
    if (record->call == OP_ADD_MANY)
        return object_gate(record->object) == NO_GATE ? SCHEDQ_ACTIVE : SCHEDQ_NOWHERE;
    return record->place;
}

/* A call whose interval is over at `end` found it at `place`. */
static void
see(const book_t *book, stay_t *stay, const record_t *record, uint8_t place)
{
    bool active = place == SCHEDQ_ACTIVE;
    if (active && stay->active_from > record->end) {
        stay->active_from = record->end;
        stay->witness = record == stay->began ? NULL : record;
    }
    if (is_poppable(book, place) && stay->poppable_from > record->end)
        stay->poppable_from = record->end;
    if (place != SCHEDQ_BACKOFF && place != SCHEDQ_ERROR_BACKOFF)
        return;
    if (stay->backoff_first == NULL || stay->backoff_first->end > record->end)
        stay->backoff_first = record;
    if (record != stay->began &&
        (stay->backoff_last == NULL || stay->backoff_last->begin < record->begin))
        stay->backoff_last = record;
}

static stay_t *
add_stay(lives_t *lives, const book_t *book, life_t *life, record_t *began)
{
    stay_t *stay = &lives->stays[lives->stay_count++];
    *stay = (stay_t){.life = life,
                     .began = began,
                     .active_from = UINT64_MAX,
                     .poppable_from = UINT64_MAX,
                     .taken_from = UINT64_MAX};
    if (life->first == NULL) {
        life->first = stay;
    } else {
        stay->number = life->last->number + 1;
        stay->flight = life->last->popped;
        stay->timed = true;
        stay->timestamp_ns = began->timestamp_ns;
        life->last->next = stay;
    }
    life->last = stay;
    see(book, stay, began, life->first == stay ? place_of_creation(began) : began->place);
    return stay;
}

static void
resolve_creation(lives_t *lives, const book_t *book, record_t *record, report_t *report)
{
    life_t *other = map_get(&lives->by_pod, record->pod);
    life_t *life = &lives->lives[lives->count++];
    memset(life, 0, sizeof *life);
    life->created = record;
    life->kept_from = record->place == SCHEDQ_HELD ? 0 : UINT64_MAX;
    record->stay = add_stay(lives, book, life, record);
    bind(life, record, report);
    if (record->pod == 0)
        report_violation(report, RULE_TOKENS, record, NULL, "a new pod has no handle");
    else if (other != NULL)
        report_violation(report, RULE_TOKENS, other->created, record, "a handle was given twice");
    else
        map_put(&lives->by_pod, record->pod, life);
}

static void
resolve_pop(lives_t *lives, record_t *record, report_t *report)
{
    life_t *life = map_get(&lives->by_pod, record->pod);
    const record_t *other = map_get(&lives->by_token, record->token);
    if (life == NULL) {
        report_violation(report, RULE_ONCE, record, NULL,
                         "a pod was popped that nobody added, or that ended before");
        return;
    }
    record->life = life;
    record_t **link = &life->pops;
    while (*link != NULL && (*link)->attempts <= record->attempts)
        link = &(*link)->next_pop;
    record->next_pop = *link;
    *link = record;
    if (record->token == 0)
        report_violation(report, RULE_TOKENS, record, NULL, "a popped pod has no token");
    else if (other != NULL)
        report_violation(report, RULE_TOKENS, other, record, "a token was given twice");
    else
        map_put(&lives->by_token, record->token, record);
}

static void
resolve_failure(lives_t *lives, record_t *record, report_t *report)
{
    record_t *pop = map_get(&lives->by_token, record->token);
    if (pop == NULL)
        report_violation(report, RULE_TOKENS, record, NULL,
                         "a token works that no pop of this round gave");
    else if (pop->use != NULL)
        report_violation(report, RULE_TOKENS, pop->use, record, "a token was used twice");
    else
        pop->use = record;
}

static void
bind_pop(stay_t *stay, record_t *pop, report_t *report)
{
    stay->popped = pop;
    stay->taken_from = pop->begin;
    pop->stay = stay;
    bind(stay->life, pop, report);
    if (pop->from < stay->began->begin && stay->began->begin <= pop->end)
        pop->from = stay->began->begin; /* a pop that waited takes nothing before it is there */
}

/* No token has another use yet than a failure. */
static void
chain_stays(lives_t *lives, const book_t *book, life_t *life, report_t *report)
{
    uint32_t attempts = life->created->attempts;
    for (record_t *pop = life->pops; pop != NULL; pop = pop->next_pop) {
        if (life->last->popped != NULL && life->last->popped->use == NULL) {
            report_violation(report, RULE_ONCE, life->last->popped, pop, "a pod was popped twice");
            pop->stay = life->last;
            continue;
        }
        if (life->last->popped != NULL)
            add_stay(lives, book, life, life->last->popped->use);
        bind_pop(life->last, pop, report);
        if (pop->attempts != ++attempts)
            report_violation(report, RULE_STATES, life->created, pop,
                             "pop number %" PRIu32 " says %" PRIu32 " attempts", attempts,
                             pop->attempts);
        if (pop->use != NULL) {
            pop->use->stay = life->last;
            bind(life, pop->use, report);
        }
    }
    if (life->last->popped != NULL && life->last->popped->use != NULL)
        add_stay(lives, book, life, life->last->popped->use);
}

/* ---- the other records ----------------------------------------------------------------------- */

static void
resolve_token(lives_t *lives, record_t *record, report_t *report)
{
    record_t *pop = map_get(&lives->by_token, record->token);
    if (pop == NULL || pop->life == NULL) {
        if (record->status != SCHEDQ_STALE)
            report_violation(report, RULE_TOKENS, record, NULL,
                             "a token works that no pop of this round gave");
        return;
    }
    life_t *life = pop->life;
    record->stay = pop->stay;
    bind(life, record, report);
    if (!record_uses_token(record) || record->status == SCHEDQ_STALE)
        return;
    record_t **end = record->status == SCHEDQ_OK ? &life->ended : &life->returned;
    if (pop->use != NULL)
        report_violation(report, RULE_TOKENS, pop->use, record, "a token was used twice");
    else if (*end != NULL)
        report_violation(report, RULE_ONCE, *end, record, "a pod ended twice");
    else
        *end = record;
    if (pop->use == NULL)
        pop->use = record;
}

static void
resolve_deletion(lives_t *lives, record_t *record, report_t *report)
{
    life_t *life = map_get(&lives->by_pod, record->pod);
    if (life != NULL)
        bind(life, record, report);
    if (record->status != SCHEDQ_OK)
        return;
    if (life == NULL) {
        report_violation(report, RULE_ONCE, record, NULL,
                         "a pod was deleted that nobody added, or that ended before");
        return;
    }
    if (life->ended != NULL)
        report_violation(report, RULE_ONCE, life->ended, record, "a pod ended twice");
    else
        life->ended = record;
    if (life->last->taken_from > record->begin)
        life->last->taken_from = record->begin;
}

static void
resolve_look(lives_t *lives, const book_t *book, record_t *record, report_t *report)
{
    life_t *life = map_get(&lives->by_pod, record->pod);
    if (life != NULL)
        bind(life, record, report);
    if (!record_sees(record))
        return;
    if (life == NULL) {
        report_violation(report, RULE_STATES, record, NULL,
                         "a pod is there that nobody added, or that ended before");
        return;
    }
    if (record->stay != NULL)
        see(book, record->stay, record, record->place);
    if (record->thread == book->threads && record->call == OP_FIND)
        life->pending = record;
}

static void
resolve_nudge(lives_t *lives, record_t *record, report_t *report)
{
    life_t *life = map_get(&lives->by_pod, record->pod);
    if (life == NULL)
        return;
    bind(life, record, report);
    record->next_nudge = life->nudges;
    life->nudges = record;
}

static void
resolve_nomination(lives_t *lives, record_t *record, report_t *report)
{
    life_t *life = map_get(&lives->by_pod, record->pod);
    if (life == NULL)
        return;
    bind(life, record, report);
    if (record->status != SCHEDQ_OK)
        return;
    record->next_nudge = life->nominations;
    life->nominations = record;
}

static void
resolve_keep(lives_t *lives, record_t *record, report_t *report)
{
    life_t *life = map_get(&lives->by_pod, record->pod);
    if (life == NULL)
        return;
    bind(life, record, report);
    if (record->call == OP_HOLD && record->status == SCHEDQ_OK && record->begin < life->kept_from)
        life->kept_from = record->begin;
}

static void
resolve_rest(lives_t *lives, const book_t *book, record_t *record, report_t *report)
{
    if (record_creates(record) || record_fails(record) ||
        (record_is_pop(record) && record->status == SCHEDQ_OK))
        return;
    if (record_uses_token(record) || record->call == OP_TOKEN_ALIVE)
        resolve_token(lives, record, report);
    else if (record_deletes(record))
        resolve_deletion(lives, record, report);
    else if (record_nudges(record))
        resolve_nudge(lives, record, report);
    else if (record->call == OP_HOLD || record->call == OP_RELEASE)
        resolve_keep(lives, record, report);
    else if (record->call == OP_NOMINATE)
        resolve_nomination(lives, record, report);
    else if (record->pod != 0)
        resolve_look(lives, book, record, report);
}

/* ---- the round as a whole -------------------------------------------------------------------- */

static void
gather(book_t *book)
{
    book->count = 0;
    for (unsigned thread = 0; thread <= book->threads; thread++) {
        for (uint32_t i = 0; i < book->pages[thread].count; i++) {
            record_t *record = &book->pages[thread].records[i];
            record->from = record->begin;
            record->life = NULL;
            record->stay = NULL;
            record->next_update = record->next_nudge = record->next_pop = record->use = NULL;
            if (record->call != OP_NONE)
                book->all[book->count++] = record;
        }
    }
}

static void
sort_by_time(lives_t *lives, book_t *book)
{
    for (size_t i = 0; i < book->count; i++)
        lives->sortable[i] = (sortable_t){book->all[i]->from, book->all[i]};
    sort_by_key(lives->sortable, lives->scratch, book->count);
    for (size_t i = 0; i < book->count; i++)
        book->sorted[i] = lives->sortable[i].item;
}

static void
chain_updates(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *record = book->sorted[i];
        life_t *life = record->life;
        if (record->call != OP_UPDATE || life == NULL || !record_sees(record))
            continue;
        if (life->first_update == NULL)
            life->first_update = record;
        else
            life->last_update->next_update = record;
        life->last_update = record;
    }
}

void
lives_resolve(lives_t *lives, book_t *book, report_t *report)
{
    lives->count = 0;
    lives->stay_count = 0;
    map_clear(&lives->by_pod);
    map_clear(&lives->by_token);
    gather(book);
    for (size_t i = 0; i < book->count; i++) {
        if (record_creates(book->all[i]))
            resolve_creation(lives, book, book->all[i], report);
    }
    for (size_t i = 0; i < book->count; i++) {
        if (record_is_pop(book->all[i]) && book->all[i]->status == SCHEDQ_OK)
            resolve_pop(lives, book->all[i], report);
    }
    for (size_t i = 0; i < book->count; i++) {
        if (record_fails(book->all[i]))
            resolve_failure(lives, book->all[i], report);
    }
    for (size_t i = 0; i < lives->count; i++)
        chain_stays(lives, book, &lives->lives[i], report);
    for (size_t i = 0; i < book->count; i++)
        resolve_rest(lives, book, book->all[i], report);
    sort_by_time(lives, book);
    chain_updates(book);
}
