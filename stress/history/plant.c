/*
 * Each plant looks for calls of the round that can be changed so that the answer asked for becomes
 * wrong and is nothing but wrong: the windows around it must be certain. A look (find) of some
 * thread is what most are made of.
 */
#include "plant.h"

#include <string.h>

#include "cluster.h"
#include "names.h"
#include "plant_parts.h"

#define FORGED (UINT64_C(1) << 63)

/* ---- exactly-once ---------------------------------------------------------------------------- */

static bool
plant_lost(book_t *book, lives_t *lives)
{
    (void)book;
    for (size_t i = 0; i < lives->count; i++) {
        life_t *life = &lives->lives[i];
        if (!plant_is_done_life(life))
            continue;
        plant_only_pop(life)->call = OP_NONE;
        life->ended->call = OP_NONE;
        return true;
    }
    return false;
}

static bool
plant_duplicated(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        life_t *life = &lives->lives[i];
        const record_t *popped = plant_only_pop(life);
        record_t *look = popped != NULL ? plant_look_between(book, popped->end, UINT64_MAX) : NULL;
        if (look == NULL)
            continue;
        plant_rewrite_about(look, OP_TRY_POP, life);
        look->token = popped->token | FORGED;
        look->attempts = popped->attempts;
        return true;
    }
    return false;
}

static bool
plant_unknown(book_t *book, lives_t *lives)
{
    (void)book;
    for (size_t i = 0; i < lives->count; i++) {
        if (plant_only_pop(&lives->lives[i]) != NULL) {
            plant_only_pop(&lives->lives[i])->pod ^= FORGED;
            return true;
        }
    }
    return false;
}

/* ---- state-machine --------------------------------------------------------------------------- */

static bool
plant_absent(book_t *book, lives_t *lives)
{
    (void)lives;
    for (size_t i = 0; i < book->count; i++) {
        record_t *look = book->sorted[i];
        if (look->call != OP_FIND || look->life == NULL || look->stay == NULL ||
            look->begin <= look->stay->active_from || look->end >= look->stay->taken_from ||
            look->thread == book->threads)
            continue;
        uint32_t name = look->name;
        plant_rewrite(look, OP_FIND, SCHEDQ_NOT_FOUND);
        look->name = name;
        return true;
    }
    return false;
}

static bool
plant_reappears(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        record_t *look =
            life->ended != NULL ? plant_look_between(book, life->ended->end, UINT64_MAX) : NULL;
        if (look == NULL)
            continue;
        plant_rewrite_about(look, OP_FIND, life);
        look->place = SCHEDQ_ACTIVE;
        return true;
    }
    return false;
}

static bool
plant_description(book_t *book, lives_t *lives)
{
    (void)book;
    for (size_t i = 0; i < lives->count; i++) {
        life_t *life = &lives->lives[i];
        const record_t *update = life->first_update;
        record_t *popped = plant_only_pop(life);
        if (popped == NULL || update == NULL || update->end >= popped->begin)
            continue;
        popped->object = update->replaced;
        return true;
    }
    return false;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static bool
plant_token_twice(book_t *book, lives_t *lives)
{
    const record_t *first = NULL;
    (void)book;
    for (size_t i = 0; i < lives->count; i++) {
        record_t *popped = plant_only_pop(&lives->lives[i]);
        if (popped == NULL)
            continue;
        if (first != NULL) {
            popped->token = first->token;
            return true;
        }
        first = popped;
    }
    return false;
}

static bool
plant_stale_early(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        record_t *look =
            plant_is_done_life(life)
                ? plant_look_between(book, plant_only_pop(life)->end, life->ended->begin)
                : NULL;
        if (look == NULL)
            continue;
        plant_rewrite(look, OP_DONE, SCHEDQ_STALE);
        look->token = plant_only_pop(life)->token;
        return true;
    }
    return false;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Each pop gives what the other gave; tokens stay. */
static void
swap_pops(record_t *a, record_t *b)
{
    record_t old = *a;
    a->pod = b->pod;
    a->object = b->object;
    a->name = b->name;
    a->priority = b->priority;
    a->timestamp_ns = b->timestamp_ns;
    b->pod = old.pod;
    b->object = old.object;
    b->name = old.name;
    b->priority = old.priority;
    b->timestamp_ns = old.timestamp_ns;
}

static bool
is_swappable(const record_t *record, uint64_t since)
{
    return record_is_pop(record) && record->status == SCHEDQ_OK && record->life != NULL &&
           plant_is_plain(record->life) && !record->from_backoff && !record->life->created->keyed &&
           record->stay->active_from < since;
}

static bool
ranks_before(const record_t *a, const record_t *b, bool by_priority)
{
    return by_priority ? a->priority > b->priority
                       : a->priority == b->priority && a->timestamp_ns + MANY < b->timestamp_ns;
}

static bool
swap_some_pops(const book_t *book, bool by_priority)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *first = book->sorted[i];
        if (!is_swappable(first, first->begin))
            continue;
        for (size_t j = i + 1; j < book->count && j < i + 500; j++) {
            record_t *second = book->sorted[j];
            if (is_swappable(second, first->begin) && second->begin > first->end &&
                ranks_before(first, second, by_priority)) {
                swap_pops(first, second);
                return true;
            }
        }
    }
    return false;
}

static bool
plant_priority_order(book_t *book, lives_t *lives)
{
    (void)lives;
    return swap_some_pops(book, true);
}

static bool
plant_time_order(book_t *book, lives_t *lives)
{
    (void)lives;
    return swap_some_pops(book, false);
}

static bool
plant_batch_order(book_t *book, lives_t *lives)
{
    (void)lives;
    for (size_t i = 0; i + 1 < book->count; i++) {
        record_t *first = book->all[i], *second = book->all[i + 1];
        bool one_call = first->call == OP_TRY_POP_MANY && second->call == OP_TRY_POP_MANY &&
                        first->thread == second->thread && first->begin == second->begin;
        if (one_call && is_swappable(first, first->begin) && is_swappable(second, first->begin) &&
            (ranks_before(first, second, true) || ranks_before(first, second, false))) {
            swap_pops(first, second);
            return true;
        }
    }
    return false;
}

/* The first pop of another pod, of less than the highest priority, in (after, before). */
static const record_t *
pop_between(const book_t *book, const life_t *not_of, uint64_t after, uint64_t before)
{
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->sorted[i];
        if (record->call == OP_TRY_POP && record->status == SCHEDQ_OK && record->life != NULL &&
            record->life != not_of && plant_is_plain(record->life) &&
            record->priority < INT32_MAX && record->begin > after && record->end < before)
            return record;
    }
    return NULL;
}

/* An update to the highest priority, after which a pop still takes another pod. */
static bool
plant_update_order(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        life_t *life = &lives->lives[i];
        record_t *taken = plant_only_pop(life); /* what ends it otherwise tells the old object */
        if (!plant_is_plain(life) || taken == NULL)
            continue;
        record_t *look =
            plant_look_between(book, life->first->active_from, life->first->taken_from);
        if (look == NULL || pop_between(book, life, look->end, life->first->taken_from) == NULL)
            continue;
        plant_rewrite_about(look, OP_UPDATE, life);
        look->object = life->created->object | FORGED;
        look->replaced = life->created->object;
        look->place = SCHEDQ_ACTIVE;
        look->priority = INT32_MAX;
        look->keyed = true;
        look->key = INT64_MIN;
        taken->object = look->object;
        return true;
    }
    return false;
}

/* A pop says that it took from backoff, while a pod is active. */
static bool
plant_from_backoff(book_t *book, lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        const record_t *pop =
            plant_is_plain(life)
                ? pop_between(book, life, life->first->active_from, life->first->taken_from)
                : NULL;
        if (pop == NULL)
            continue;
        ((record_t *)(uintptr_t)pop)->from_backoff = true;
        return true;
    }
    return false;
}

/* ---- empty, wake-up, timestamps, closed ------------------------------------------------------ */

static bool
find_nothing(const book_t *book, const lives_t *lives, uint8_t call, schedq_status_t status)
{
    for (size_t i = 0; i < lives->count; i++) {
        const stay_t *stay = lives->lives[i].first;
        record_t *look = plant_is_never_held(stay->life)
                             ? plant_look_between(book, stay->active_from, stay->taken_from)
                             : NULL;
        if (look == NULL)
            continue;
        plant_rewrite(look, call, status);
        return true;
    }
    return false;
}

static bool
plant_empty(book_t *book, lives_t *lives)
{
    return find_nothing(book, lives, OP_TRY_POP, SCHEDQ_EMPTY);
}

static bool
plant_peek_empty(book_t *book, lives_t *lives)
{
    return find_nothing(book, lives, OP_PEEK, SCHEDQ_EMPTY);
}

static bool
plant_timed_out(book_t *book, lives_t *lives)
{
    return find_nothing(book, lives, OP_POP_UNTIL, SCHEDQ_TIMEDOUT);
}

static void
set_timestamp(book_t *book, const life_t *life, int64_t timestamp_ns)
{
    for (size_t i = 0; i < book->count; i++) {
        if (book->all[i]->life == life && book->all[i]->timestamp_ns != 0)
            book->all[i]->timestamp_ns = timestamp_ns;
    }
}

static bool
plant_time_goes_back(book_t *book, lives_t *lives)
{
    const record_t *first = NULL;
    (void)lives;
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->sorted[i];
        if (record->call != OP_ADD || record->status != SCHEDQ_OK)
            continue;
        if (first != NULL && first->end < record->begin) {
            set_timestamp(book, record->life, first->timestamp_ns - 1);
            return true;
        }
        if (first == NULL)
            first = record;
    }
    return false;
}

static bool
plant_closed_add(book_t *book, lives_t *lives)
{
    (void)lives;
    for (size_t i = 0; i < book->count; i++) {
        record_t *record = book->sorted[book->count - 1 - i];
        if (record->call == OP_ADD && record->status == SCHEDQ_CLOSED) {
            record->status = SCHEDQ_OK;
            record->pod = record->object | FORGED;
            return true;
        }
    }
    return false;
}

static bool
plant_closed_pop(book_t *book, lives_t *lives)
{
    (void)lives;
    for (size_t i = 0; i < book->count; i++) {
        record_t *record = book->sorted[book->count - 1 - i];
        if (record->call == OP_TRY_POP && record->status == SCHEDQ_CLOSED) {
            record->status = SCHEDQ_EMPTY;
            return true;
        }
    }
    return false;
}

/* ---- nominations, caps ----------------------------------------------------------------------- */

/* A pop says a node that nobody ever named. */
static bool
plant_other_node(book_t *book, lives_t *lives)
{
    (void)lives;
    for (size_t i = 0; i < book->count; i++) {
        record_t *record = book->sorted[i];
        if (record->call == OP_TRY_POP && record->status == SCHEDQ_OK && record->life != NULL) {
            record->node = NODES + 1;
            return true;
        }
    }
    return false;
}

/* An add says FULL when most pods are gone: where the last look found its name free. */
static bool
plant_full(book_t *book, lives_t *lives)
{
    (void)lives;
    if (book->settings.max_pods == 0)
        return false;
    for (size_t i = book->count; i-- > 0;) {
        record_t *look = book->sorted[i];
        if (look->call == OP_FIND && look->status == SCHEDQ_NOT_FOUND &&
            look->thread != book->threads) {
            uint32_t name = look->name;
            plant_rewrite(look, OP_ADD, SCHEDQ_FULL);
            look->name = name;
            return true;
        }
    }
    return false;
}

/* ---- by name --------------------------------------------------------------------------------- */

static const plant_t plants[] = {
    {"lost", RULE_ONCE, plant_lost},
    {"duplicated", RULE_ONCE, plant_duplicated},
    {"unknown", RULE_ONCE, plant_unknown},
    {"absent", RULE_STATES, plant_absent},
    {"reappears", RULE_STATES, plant_reappears},
    {"description", RULE_STATES, plant_description},
    {"moved-back", RULE_STATES, plant_moved_back},
    {"kept", RULE_STATES, plant_kept},
    {"attempts", RULE_STATES, plant_attempts},
    {"token-twice", RULE_TOKENS, plant_token_twice},
    {"stale-early", RULE_TOKENS, plant_stale_early},
    {"priority-order", RULE_ORDER, plant_priority_order},
    {"time-order", RULE_ORDER, plant_time_order},
    {"update-order", RULE_ORDER, plant_update_order},
    {"batch-order", RULE_ORDER, plant_batch_order},
    {"from-backoff", RULE_ORDER, plant_from_backoff},
    {"empty", RULE_EMPTY, plant_empty},
    {"empty-backoff", RULE_EMPTY, plant_empty_backoff},
    {"timed-out", RULE_WAKEUP, plant_timed_out},
    {"asleep", RULE_WAKEUP, NULL},
    {"never-due", RULE_WAKEUP, NULL},
    {"missed-event", RULE_EVENTS, plant_missed_event},
    {"missed-in-flight", RULE_EVENTS, plant_missed_in_flight},
    {"missed-activation", RULE_EVENTS, plant_missed_activation},
    {"gated", RULE_GATES, plant_gated},
    {"gated-add", RULE_GATES, plant_gated_add},
    {"overdue", RULE_DUE, plant_overdue},
    {"time-goes-back", RULE_CLOCK, plant_time_goes_back},
    {"counter", RULE_COUNTERS, NULL},
    {"closed-add", RULE_CLOSED, plant_closed_add},
    {"closed-pop", RULE_CLOSED, plant_closed_pop},
    {"other-node", RULE_NOMINATIONS, plant_other_node},
    {"full", RULE_CAPS, plant_full},
    {"label-missed", RULE_LABELS, plant_label_missed},
    {"label-count", RULE_LABELS, plant_label_count},
    {"label-other", RULE_LABELS, plant_label_other},
    {"label-kept", RULE_STATES, plant_label_kept},
    {"position-low", RULE_LINE, plant_position_low},
    {"position-high", RULE_LINE, plant_position_high},
    {"peek-order", RULE_LINE, plant_peek_order},
    {"peek-gap", RULE_LINE, plant_peek_gap},
    {"peek-twice", RULE_LINE, plant_peek_twice},
    {"peek-few", RULE_LINE, plant_peek_few},
    {"peek-empty", RULE_LINE, plant_peek_empty},
    {"object-released", RULE_OBJECTS, NULL},
};

#define PLANTS (sizeof plants / sizeof *plants)

const plant_t *
plant_find(const char *name)
{
    for (size_t i = 0; i < PLANTS; i++) {
        if (strcmp(plants[i].name, name) == 0)
            return &plants[i];
    }
    return NULL;
}

const char *
plant_names(void)
{
    static char names[1024];
    names[0] = '\0';
    for (size_t i = 0; i < PLANTS; i++) {
        strcat(names, i == 0 ? "" : ", ");
        strcat(names, plants[i].name);
    }
    return names;
}
