/* Three passes over the records: calls that make pods, pops, all others; then the order in time. */
#include "lives.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

void
lives_make(lives_t *lives, const book_t *book, size_t operations)
{
    size_t records = (size_t)book->capacity * (book->threads + 1);
    lives->capacity = records;
    lives->lives = malloc(records * sizeof *lives->lives);
    lives->sortable = malloc(records * sizeof *lives->sortable);
    lives->scratch = malloc(records * sizeof *lives->scratch);
    if (lives->lives == NULL || lives->sortable == NULL || lives->scratch == NULL) {
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
    for (record = life->first_update; record != NULL && record->object != object; record = record->next_update)
        ;
    return record;
}

/* ---- what a record says about its life --------------------------------------------------------------------------- */

static bool
tells_name(const record_t *record)
{
    return record->status == SCHEDQ_OK && (record_is_pop(record) || record->call == CALL_GET);
}

static bool
tells_timestamp(const record_t *record)
{
    return record->timestamp_ns != 0;
}

static void
bind(life_t *life, record_t *record, report_t *report)
{
    record->life = life;
    if (record->name == NO_NAME && !tells_name(record))
        record->name = life->created->name;
    if (record->name != life->created->name)
        report_violation(report, RULE_STATES, life->created, record, "a pod shows up under another name");
    if (record->garbled)
        report_violation(report, RULE_STATES, life->popped, record, "the name that pop gave changed before done");
    if (!tells_timestamp(record))
        return;
    if (life->timed && life->timestamp_ns != record->timestamp_ns)
        report_violation(report, RULE_STATES, life->created, record,
                         "a pod's Timestamp changes from %" PRId64 " to %" PRId64, life->timestamp_ns,
                         record->timestamp_ns);
    life->timed = true;
    life->timestamp_ns = record->timestamp_ns;
}

static void
resolve_creation(lives_t *lives, record_t *record, report_t *report)
{
    life_t *other = map_get(&lives->by_pod, record->pod);
    life_t *life = &lives->lives[lives->count++];
    memset(life, 0, sizeof *life);
    life->created = record;
    life->sure_from = record->end;
    life->taken_from = UINT64_MAX;
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
    life_t *other = map_get(&lives->by_token, record->token);
    if (life == NULL) {
        report_violation(report, RULE_ONCE, record, NULL, "a pod was popped that nobody added, or that ended before");
        return;
    }
    if (life->popped != NULL)
        report_violation(report, RULE_ONCE, life->popped, record, "a pod was popped twice");
    else
        life->popped = record;
    bind(life, record, report);
    if (life->taken_from > record->begin)
        life->taken_from = record->begin;
    if (record->from < life->created->begin && life->created->begin <= record->end)
        record->from = life->created->begin; /* a pop that waited takes nothing before it is there */
    if (record->token == 0)
        report_violation(report, RULE_TOKENS, record, NULL, "a popped pod has no token");
    else if (other != NULL)
        report_violation(report, RULE_TOKENS, other->popped, record, "a token was given twice");
    else
        map_put(&lives->by_token, record->token, life);
}

static void
resolve_token(lives_t *lives, record_t *record, report_t *report)
{
    life_t *life = map_get(&lives->by_token, record->token);
    if (life == NULL) {
        if (record->status != SCHEDQ_STALE)
            report_violation(report, RULE_TOKENS, record, NULL, "a token works that no pop of this round gave");
        return;
    }
    bind(life, record, report);
    if (!record_is_done(record) || record->status == SCHEDQ_STALE)
        return;
    record_t **use = record->status == SCHEDQ_OK ? &life->ended : &life->returned;
    if (life->returned != NULL || (life->ended != NULL && record_is_done(life->ended)))
        report_violation(report, RULE_TOKENS, life->returned != NULL ? life->returned : life->ended, record,
                         "a token was used twice");
    else if (*use != NULL)
        report_violation(report, RULE_ONCE, *use, record, "a pod ended twice");
    else
        *use = record;
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
        report_violation(report, RULE_ONCE, record, NULL, "a pod was deleted that nobody added, or that ended before");
        return;
    }
    if (life->ended != NULL)
        report_violation(report, RULE_ONCE, life->ended, record, "a pod ended twice");
    else
        life->ended = record;
    if (life->taken_from > record->begin)
        life->taken_from = record->begin;
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
        report_violation(report, RULE_STATES, record, NULL, "a pod is there that nobody added, or that ended before");
        return;
    }
    if (life->sure_from > record->end) {
        life->sure_from = record->end;
        life->witness = record;
    }
    if (record->thread == book->threads && record->call == CALL_FIND)
        life->pending = record;
}

static void
resolve_rest(lives_t *lives, const book_t *book, record_t *record, report_t *report)
{
    if (record_creates(record) || record_is_pop(record))
        return;
    if (record_is_done(record) || record->call == CALL_ALIVE)
        resolve_token(lives, record, report);
    else if (record->call == CALL_DELETE_NAME || record->call == CALL_DELETE_POD)
        resolve_deletion(lives, record, report);
    else if (record->pod != 0)
        resolve_look(lives, book, record, report);
}

/* ---- the round as a whole ---------------------------------------------------------------------------------------- */

static void
gather(book_t *book)
{
    book->count = 0;
    for (unsigned thread = 0; thread <= book->threads; thread++) {
        for (uint32_t i = 0; i < book->pages[thread].count; i++) {
            record_t *record = &book->pages[thread].records[i];
            record->from = record->begin;
            record->life = NULL;
            record->next_update = NULL;
            if (record->call != CALL_NOTHING)
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
        if (record->call != CALL_UPDATE || life == NULL || !record_sees(record))
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
    map_clear(&lives->by_pod);
    map_clear(&lives->by_token);
    gather(book);
    for (size_t i = 0; i < book->count; i++) {
        if (record_creates(book->all[i]))
            resolve_creation(lives, book->all[i], report);
    }
    for (size_t i = 0; i < book->count; i++) {
        if (record_is_pop(book->all[i]) && book->all[i]->status == SCHEDQ_OK)
            resolve_pop(lives, book->all[i], report);
    }
    for (size_t i = 0; i < book->count; i++)
        resolve_rest(lives, book, book->all[i], report);
    sort_by_time(lives, book);
    chain_updates(book);
}
