/*
 * Linearizability of the calls on each name, after Wing, Gong and Lowe.
 *
 *      absent -- add, update, readd -> WAITING
 *     WAITING -- pop --------> IN FLIGHT          WAITING -- delete ----> ended
 *   IN FLIGHT -- fail OK ----> WAITING          IN FLIGHT -- done OK ---> ended
 *   IN FLIGHT -- delete -----> DELETED            DELETED -- done, fail GONE -> ended
 *
 * A name has one pod at most that waits or is in flight, the occupant; pods deleted in flight live
 * on beside it until their holders come back. A pod's description (its object) is part of its
 * state: an update says which it replaced, a look or a pop must show the newest.
 *
 * A pod that waits is parked, gated, in a backoff or active. Events, time and activations move it
 * from one to the other without a call on its name, never back (may_become): a look that finds it
 * further on changes the state, so that no later one finds it where it was.
 *
 * A hold marks the occupant, a release takes the mark away. One that waits and has it is in HELD,
 * and nothing else: no pop takes it. Released, it may be anywhere but parked. Both answers say
 * whether the pod was in flight, so no more than one order with its pop and its failure is right.
 *
 * The calls of a name are cut where all calls before have ended and none after has begun; each
 * piece is searched for an order. A call may come next if no other one that is left ended before it
 * began. Calls that only look are taken as soon as their answer is right, which never spoils
 * anything; only calls that change the state are tried one after the other. What such a call does
 * is known from its answer, so the state, but for place and mark of the occupant, depends on which
 * calls were taken and not on their order: a set that led nowhere once is not tried again with that
 * place.
 *
 * label_hold and label_release that surely meet a pod (labels.c) are calls on it too, without an
 * answer: behind a piece with a label_release the pod may be anywhere. Of those that overlap its
 * add nobody can tell whether they reached it: until they are over the pod may be held or not,
 * whatever was seen; and then it is unknown, until a look, a pop, a failure or a further call says.
 *
 * A release leads back to places that the pod had before. A look that says one of them may have
 * come before the hold as well as after the release, and the order that is found need not be the
 * one that was: behind a piece with a release the pod may be anywhere again that the release may
 * have brought it to.
 */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "names.h"
#include "plan.h"

#define DEAD_SETS 4096u
#define STEPS_MAX 2000000u
#define PRINTED_CALLS 24
#define PRINTED_BEFORE 8u /* they made the state that a piece contradicts */

/* A place of pods that wait, for those of which nobody can tell where, but for HELD. */
#define ANYWHERE (SCHEDQ_HELD + 1)

enum { HELD_NO, HELD_YES, HELD_UNKNOWN };

enum { LIFE_UNBORN, LIFE_WAITING, LIFE_INFLIGHT, LIFE_DELETED, LIFE_ENDED };

struct automaton {
    uint32_t names;
    uint32_t *starts; /* of each name in `calls` */
    record_t **calls; /* name by name, each by `from` */
    /* the calls that are left of a piece; place `count` is the list's head */
    uint32_t *next, *previous;
    uint32_t *taken; /* looks taken, in order, to be put back */
    uint64_t *mixes; /* a random number for each call of a piece */
    /* sets of calls left that have no order; each piece has sets of its own */
    uint64_t dead[DEAD_SETS];
    uint64_t pieces;
    /* of the piece that is searched */
    record_t **piece;
    uint32_t count, taken_count, steps;
    uint64_t set;
    life_t *occupant;
};

static void *
room(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "schedq-history: no memory for the states\n");
        exit(1);
    }
    return memory;
}

automaton_t *
automaton_make(const book_t *book, uint32_t names)
{
    size_t records = (size_t)book->capacity * (book->threads + 1);
    automaton_t *automaton = room(1, sizeof *automaton);
    automaton->names = names;
    automaton->starts = room((size_t)names + 2, sizeof *automaton->starts);
    records *= 2; /* those of the book, and the touches */
    automaton->calls = room(records, sizeof *automaton->calls);
    automaton->next = room(records + 1, sizeof *automaton->next);
    automaton->previous = room(records + 1, sizeof *automaton->previous);
    automaton->taken = room(records, sizeof *automaton->taken);
    automaton->mixes = room(records, sizeof *automaton->mixes);
    uint64_t dice = 1;
    for (size_t i = 0; i < records; i++)
        automaton->mixes[i] = dice_next(&dice);
    return automaton;
}

void
automaton_free(automaton_t *automaton)
{
    free(automaton->starts);
    free(automaton->calls);
    free(automaton->next);
    free(automaton->previous);
    free(automaton->taken);
    free(automaton->mixes);
    free(automaton);
}

/* ---- the states: what each answer demands, what it does -------------------------------------- */

/*
 * Can a pod get from one place to the other without a failure? From BACKOFF a gate takes it back
 * when it is activated, or, where pop does not take from backoff, when that is over. A pod that
 * failed with an error is one that its gate rejected after that.
 */
static bool
may_become(uint8_t from, uint8_t to)
{
    switch (from) {
    case SCHEDQ_PARKED:
        return to == SCHEDQ_PARKED || to == SCHEDQ_GATED || to == SCHEDQ_BACKOFF ||
               to == SCHEDQ_ACTIVE;
    case SCHEDQ_ERROR_BACKOFF:
        return to == SCHEDQ_ERROR_BACKOFF || to == SCHEDQ_GATED || to == SCHEDQ_BACKOFF ||
               to == SCHEDQ_ACTIVE;
    case SCHEDQ_GATED:
    case SCHEDQ_BACKOFF:
        return to == SCHEDQ_GATED || to == SCHEDQ_BACKOFF || to == SCHEDQ_ACTIVE;
    case ANYWHERE:
        return to != SCHEDQ_HELD && to != SCHEDQ_INFLIGHT;
    default:
        return to == from;
    }
}

/* Of a pod that waits. */
static bool
may_be_at(const life_t *life, uint8_t place)
{
    return (life->held == HELD_UNKNOWN && place == SCHEDQ_HELD) || may_become(life->place, place);
}

static bool
may_see(const automaton_t *automaton, const record_t *record, uint64_t object)
{
    const life_t *life = record->life;
    if (life == NULL || automaton->occupant != life || life->object != object)
        return false;
    if (life->state == LIFE_INFLIGHT)
        return record->place == SCHEDQ_INFLIGHT;
    return life->state == LIFE_WAITING && (record->stay == NULL || record->stay == life->stay) &&
           may_be_at(life, record->place);
}

static bool
may_delete(const automaton_t *automaton, const record_t *record)
{
    const life_t *life = record->life;
    uint8_t then = life != NULL && life->state == LIFE_INFLIGHT ? SCHEDQ_INFLIGHT : SCHEDQ_NOWHERE;
    return life != NULL && automaton->occupant == life && life->object == record->object &&
           record->place == then;
}

/* The state of the stay that the token is of: when the pod waits again, the token is used up. */
static uint8_t
state_of_token(const record_t *record)
{
    const life_t *life = record->life;
    if (life == NULL)
        return LIFE_ENDED;
    if (life->state == LIFE_UNBORN)
        return LIFE_UNBORN;
    if (record->stay->number < life->stay->number)
        return LIFE_ENDED;
    return record->stay == life->stay ? life->state : LIFE_WAITING;
}

/* A failure takes the token when it begins, and may end long after it. */
static bool
is_being_used(const record_t *record)
{
    const record_t *popped = record->stay != NULL ? record->stay->popped : NULL;
    const record_t *use = popped != NULL && popped->token == record->token ? popped->use : NULL;
    return use != NULL && use->call == OP_FAIL && use->begin <= record->end;
}

static bool
may_use_token(const record_t *record)
{
    uint8_t state = state_of_token(record);
    switch (record->status) {
    case SCHEDQ_OK:
        return state == LIFE_INFLIGHT &&
               (!record_fails(record) || record->life->held == HELD_UNKNOWN ||
                (record->place == SCHEDQ_HELD) == (record->life->held == HELD_YES));
    case SCHEDQ_GONE:
        return state == LIFE_DELETED;
    case SCHEDQ_STALE:
        return state == LIFE_ENDED || is_being_used(record);
    default:
        return false;
    }
}

static bool
may_pop(const record_t *record)
{
    const life_t *life = record->life;
    return life->state == LIFE_WAITING && life->held != HELD_YES && life->stay == record->stay &&
           life->object == record->object &&
           (!record->from_backoff || may_become(life->place, SCHEDQ_BACKOFF));
}

static bool
may_enter(const automaton_t *automaton, const record_t *record)
{
    const life_t *life = record->life;
    switch (record->status) {
    case SCHEDQ_OK:
        return record_creates(record) ? automaton->occupant == NULL && life->state == LIFE_UNBORN
                                      : may_see(automaton, record, record->replaced);
    case SCHEDQ_EXISTS:
        return record->call == OP_ADD_MANY ? automaton->occupant != NULL
                                           : may_see(automaton, record, record->object);
    case SCHEDQ_CLOSED:
        return record->call != OP_UPDATE || automaton->occupant == NULL;
    case SCHEDQ_FULL:
        return automaton->occupant == NULL;
    default:
        return false;
    }
}

static bool
may_keep(const automaton_t *automaton, const record_t *record)
{
    const life_t *life = record->life;
    if (record->status != SCHEDQ_OK || automaton->occupant != life)
        return record->status != SCHEDQ_OK && automaton->occupant != life;
    if (life->state == LIFE_INFLIGHT || record->place == SCHEDQ_INFLIGHT)
        return life->state == LIFE_INFLIGHT && record->place == SCHEDQ_INFLIGHT;
    return (record->place == SCHEDQ_HELD) == (record->call == OP_HOLD);
}

/* GONE: it is not active. */
static bool
may_tell_position(const automaton_t *automaton, const record_t *record)
{
    const life_t *life = record->life;
    if (record->status == SCHEDQ_NOT_FOUND || life == NULL)
        return automaton->occupant != life;
    if (record->status == SCHEDQ_OK)
        return may_see(automaton, record, life->object);
    return automaton->occupant == life &&
           (life->state != LIFE_WAITING || life->place != SCHEDQ_ACTIVE ||
            life->held == HELD_UNKNOWN);
}

static bool
is_legal(const automaton_t *automaton, const record_t *record)
{
    switch (record->call) {
    case CALL_CARRY:
    case OP_ADD:
    case OP_ADD_MANY:
    case OP_READD:
    case OP_UPDATE:
        return may_enter(automaton, record);
    case OP_TRY_POP:
    case OP_POP:
    case OP_POP_UNTIL:
    case OP_TRY_POP_MANY:
        return may_pop(record);
    case OP_DONE:
    case OP_DONE_MANY:
    case OP_FAIL:
    case OP_TOKEN_ALIVE:
        return may_use_token(record);
    case OP_DELETE:
        return record->status == SCHEDQ_OK ? may_delete(automaton, record)
                                           : automaton->occupant == NULL;
    case CALL_DELETE_POD:
    case OP_LABEL_CANCEL:
        return record->status == SCHEDQ_OK ? may_delete(automaton, record)
                                           : automaton->occupant != record->life;
    case OP_FIND:
        return record->status == SCHEDQ_OK ? may_see(automaton, record, record->object)
                                           : automaton->occupant == NULL;
    case OP_GET:
    case OP_PEEK:
    case OP_PEEK_MANY:
        return record->status == SCHEDQ_OK ? may_see(automaton, record, record->object)
                                           : automaton->occupant != record->life;
    case OP_HOLD:
    case OP_RELEASE:
        return may_keep(automaton, record);
    case OP_LABEL_HOLD:
    case OP_LABEL_RELEASE:
        return true; /* whose pod is over, it does nothing to */
    case OP_POSITION:
        return may_tell_position(automaton, record);
    case OP_NOMINATE:
        return (record->status == SCHEDQ_OK) == (automaton->occupant == record->life);
    default:
        return false;
    }
}

/* A call on the pod's label that overlaps its add may still come, whatever this one finds. */
static bool
tells_nothing_of_holds(const record_t *record)
{
    return record->from <= record->life->unsure_until;
}

/*
 * A look that finds the pod further on than any before; asked of calls that are legal. A position
 * does not say in which stay the pod was active.
 */
static bool
finds_it_moved(const record_t *record)
{
    const life_t *life = record->life;
    return record_sees(record) && record->call != OP_POSITION && life != NULL &&
           life->state == LIFE_WAITING && !tells_nothing_of_holds(record) &&
           (life->place != record->place || life->held == HELD_UNKNOWN);
}

static bool
changes(const record_t *record)
{
    if (finds_it_moved(record))
        return true;
    if (record->call == OP_TOKEN_ALIVE || record->call == OP_FIND || record->call == OP_GET ||
        record->call == OP_NOMINATE || record->call == OP_POSITION || record_peeks(record))
        return false;
    if (record_keeps_label(record))
        return record->life->state == LIFE_WAITING || record->life->state == LIFE_INFLIGHT;
    return record->call == CALL_CARRY || record->status == SCHEDQ_OK ||
           (record_uses_token(record) && record->status == SCHEDQ_GONE);
}

typedef struct before {
    life_t *occupant;
    const stay_t *stay, *released;
    uint64_t object;
    uint8_t state, place, held;
} before_t;

static before_t
remember(const automaton_t *automaton, const life_t *life)
{
    if (life == NULL)
        return (before_t){.occupant = automaton->occupant};
    return (before_t){automaton->occupant, life->stay,  life->released, life->object,
                      life->state,         life->place, life->held};
}

static void
restore(automaton_t *automaton, life_t *life, const before_t *before)
{
    automaton->occupant = before->occupant;
    if (life == NULL)
        return;
    life->stay = before->stay;
    life->released = before->released;
    life->object = before->object;
    life->state = before->state;
    life->place = before->place;
    life->held = before->held;
}

static void
wait_at(life_t *life, const stay_t *stay, uint8_t place)
{
    life->state = LIFE_WAITING;
    life->stay = stay;
    life->place = place;
}

/*
 * A new pod that has a gate may be gated for a moment, whatever its call says when it is over;
 * add_many does not say.
 */
static uint8_t
first_place(const record_t *record)
{
    bool gated = record->call != CALL_CARRY && record->place != SCHEDQ_ERROR_BACKOFF &&
                 object_gate(record->object) != NO_GATE;
    return gated ? SCHEDQ_GATED : record->call == OP_ADD_MANY ? SCHEDQ_ACTIVE : record->place;
}

/* A release may bring it anywhere that an error's backoff may lead to. */
static void
keep_back(life_t *life, bool hold)
{
    if (life->state == LIFE_WAITING && hold) {
        life->place = SCHEDQ_HELD;
    } else if (life->state == LIFE_WAITING && life->held != HELD_NO) {
        life->place = life->held == HELD_YES ? SCHEDQ_ERROR_BACKOFF : ANYWHERE;
        life->released = life->stay;
    }
    life->held = hold ? HELD_YES : HELD_NO;
}

/* Where it is seen, or fails to, says whether it is held. */
static void
learn_place(life_t *life, uint8_t place)
{
    life->place = place;
    if (life->held == HELD_UNKNOWN)
        life->held = place == SCHEDQ_HELD ? HELD_YES : HELD_NO;
}

/*
 * Behind a piece: what its looks said of a pod that it released may be of the time before. A call
 * on a label has no answer that says in which stay it met the pod.
 */
static void
forget_looks(automaton_t *automaton, record_t **piece, uint32_t count)
{
    life_t *life = automaton->occupant;
    for (uint32_t i = 0; i < count && life != NULL; i++) {
        if (piece[i]->life != life)
            continue;
        if (life->state != LIFE_WAITING || life->held == HELD_YES)
            continue;
        if (piece[i]->call == OP_LABEL_RELEASE)
            life->place = ANYWHERE;
        else if (piece[i]->call == OP_RELEASE && life->released == life->stay &&
                 life->place != ANYWHERE)
            life->place = SCHEDQ_ERROR_BACKOFF;
    }
}

static void
take_effect(automaton_t *automaton, record_t *record)
{
    life_t *life = record->life;
    if (record_creates(record)) {
        automaton->occupant = life;
        life->object = record->object;
        wait_at(life, life->first, first_place(record));
        life->held = record->place == SCHEDQ_HELD ? HELD_YES : HELD_NO;
    } else if (record->call == OP_HOLD || record->call == OP_LABEL_HOLD) {
        keep_back(life, true);
    } else if (record->call == OP_RELEASE || record->call == OP_LABEL_RELEASE) {
        keep_back(life, false);
    } else if (record->call == OP_UPDATE) {
        /* it says where the pod is when the call is over, perhaps moved by then */
        life->object = record->object;
    } else if (record_sees(record)) {
        learn_place(life, record->place);
    } else if (record_is_pop(record)) {
        life->state = LIFE_INFLIGHT;
        life->held = HELD_NO;
    } else if (record_fails(record)) {
        wait_at(life, life->stay->next, record->place);
        learn_place(life, record->place);
    } else if (record_uses_token(record)) {
        life->state = LIFE_ENDED;
        automaton->occupant = record->status == SCHEDQ_OK ? NULL : automaton->occupant;
    } else {
        life->state = life->state == LIFE_INFLIGHT ? LIFE_DELETED : LIFE_ENDED;
        automaton->occupant = NULL;
    }
    if (tells_nothing_of_holds(record)) {
        life->held = HELD_UNKNOWN;
        life->place = ANYWHERE;
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

static void
unlink_call(automaton_t *automaton, uint32_t i)
{
    automaton->next[automaton->previous[i]] = automaton->next[i];
    automaton->previous[automaton->next[i]] = automaton->previous[i];
    automaton->set ^= automaton->mixes[i];
}

static void
relink_call(automaton_t *automaton, uint32_t i)
{
    automaton->next[automaton->previous[i]] = i;
    automaton->previous[automaton->next[i]] = i;
    automaton->set ^= automaton->mixes[i];
}

/*
 * Takes every look that may come next and is right. Returns true if there was one: then others may
 * come next.
 */
static bool
take_looks(automaton_t *automaton)
{
    uint64_t first_end = UINT64_MAX;
    bool any = false;
    for (uint32_t i = automaton->next[automaton->count]; i != automaton->count;
         i = automaton->next[i]) {
        record_t *record = automaton->piece[i];
        if (record->from > first_end)
            break;
        if (is_legal(automaton, record) && !changes(record)) {
            unlink_call(automaton, i);
            automaton->taken[automaton->taken_count++] = i;
            any = true;
        } else if (record->end < first_end) {
            first_end = record->end;
        }
    }
    return any;
}

static void
put_looks_back(automaton_t *automaton, uint32_t down_to)
{
    while (automaton->taken_count > down_to)
        relink_call(automaton, automaton->taken[--automaton->taken_count]);
}

static bool search(automaton_t *automaton);

static bool
try_change(automaton_t *automaton, uint32_t i)
{
    record_t *record = automaton->piece[i];
    life_t *life = record->life;
    const before_t before = remember(automaton, life);
    take_effect(automaton, record);
    unlink_call(automaton, i);
    if (search(automaton))
        return true;
    relink_call(automaton, i);
    restore(automaton, life, &before);
    return false;
}

static bool
try_changes(automaton_t *automaton)
{
    uint64_t first_end = UINT64_MAX;
    for (uint32_t i = automaton->next[automaton->count]; i != automaton->count;
         i = automaton->next[i]) {
        record_t *record = automaton->piece[i];
        if (record->from > first_end)
            break;
        if (is_legal(automaton, record) && changes(record) && try_change(automaton, i))
            return true;
        if (record->end < first_end)
            first_end = record->end;
    }
    return false;
}

/* True if what is left of the piece has an order; else everything is as it was. */
static bool
search(automaton_t *automaton)
{
    uint32_t taken = automaton->taken_count;
    while (take_looks(automaton))
        ;
    if (automaton->next[automaton->count] == automaton->count)
        return true;
    uint64_t set = automaton->set;
    if (automaton->occupant != NULL && automaton->occupant->state == LIFE_WAITING)
        set ^= automaton->occupant->place * UINT64_C(0x9e3779b97f4a7c15);
    if (automaton->occupant != NULL)
        set ^= automaton->occupant->held * UINT64_C(0x2545f4914f6cdd1d);
    uint64_t *dead = &automaton->dead[set % DEAD_SETS];
    if (*dead != set && ++automaton->steps < STEPS_MAX && try_changes(automaton))
        return true;
    *dead = set;
    put_looks_back(automaton, taken);
    return false;
}

static bool
search_piece(automaton_t *automaton, record_t **piece, uint32_t count)
{
    automaton->piece = piece;
    automaton->count = count;
    automaton->taken_count = 0;
    automaton->steps = 0;
    automaton->set = dice_next(&automaton->pieces);
    for (uint32_t i = 0; i <= count; i++) {
        automaton->next[i] = i == count ? 0 : i + 1;
        automaton->previous[i] = i == 0 ? count : i - 1;
    }
    for (uint32_t i = 0; i < count; i++)
        automaton->set ^= automaton->mixes[i];
    return search(automaton);
}

/* Most pieces are a call or a few, whose order in time is right. */
static uint32_t
walk_piece(automaton_t *automaton, record_t **piece, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!is_legal(automaton, piece[i]))
            return i;
        if (changes(piece[i]))
            take_effect(automaton, piece[i]);
    }
    return count;
}

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t
name_of(const record_t *record)
{
    return record->life != NULL ? record->life->created->name : record->name;
}

/* A call that says nothing about any name, or that lives_resolve has reported. */
static bool
is_mute(const record_t *record)
{
    return name_of(record) == NO_NAME || record_nudges(record) ||
           (record->life == NULL &&
            (record_is_pop(record) || record_uses_token(record) || record->call == OP_TOKEN_ALIVE));
}

/* The calls of the book and the touches, by time; NULL: there is no more. */
typedef struct both {
    const book_t *book;
    record_t *touches;
    size_t touch_count, next, next_touch;
} both_t;

static record_t *
next_of(both_t *both)
{
    record_t *record = both->next < both->book->count ? both->book->sorted[both->next] : NULL;
    record_t *touch =
        both->next_touch < both->touch_count ? &both->touches[both->next_touch] : NULL;
    if (touch != NULL && (record == NULL || touch->from < record->from)) {
        both->next_touch++;
        return touch;
    }
    both->next += record != NULL;
    return record;
}

static void
sort_by_name(automaton_t *automaton, both_t both)
{
    uint32_t *starts = automaton->starts;
    record_t *record;
    memset(starts, 0, ((size_t)automaton->names + 2) * sizeof *starts);
    for (both_t count = both; (record = next_of(&count)) != NULL;) {
        if (!is_mute(record))
            starts[name_of(record) + 2]++;
    }
    for (uint32_t name = 1; name < automaton->names; name++)
        starts[name + 1] += starts[name];
    while ((record = next_of(&both)) != NULL) {
        if (!is_mute(record))
            automaton->calls[starts[name_of(record) + 1]++] = record;
    }
}

static void
print_state(const automaton_t *automaton, FILE *out)
{
    static const char *const states[] = {"unborn", "waits", "in flight", "deleted", "ended"};
    static const char *const held[] = {"not held", "held", "held or not"};
    const life_t *life = automaton->occupant;
    if (life == NULL)
        fprintf(out, "  then, before the last ones: no pod\n");
    else
        fprintf(out, "  then, before the last ones: %s, %s, %s, object %" PRIx64 "\n",
                states[life->state],
                life->state != LIFE_WAITING ? "nowhere"
                : life->place == ANYWHERE   ? "anywhere"
                                            : schedq_place_name(life->place),
                held[life->held], life->object);
}

static void
complain(automaton_t *automaton, record_t **piece, uint32_t count, report_t *report)
{
    bool printing = report_is_printing(report, RULE_STATES);
    report_violation(report, RULE_STATES, NULL, NULL,
                     "no order of these %u calls on %.24s explains their answers%s", count,
                     names_text(name_of(piece[0])),
                     automaton->steps >= STEPS_MAX ? " (the search was given up)" : "");
    for (uint32_t i = 0; printing && i < count && i < PRINTED_CALLS; i++)
        record_print(report->book, piece[i], stdout);
    if (printing)
        print_state(automaton, stdout);
}

static bool
check_piece(automaton_t *automaton, record_t **piece, uint32_t count)
{
    life_t *occupant = automaton->occupant;
    before_t before[8];
    if (count == 1)
        return walk_piece(automaton, piece, 1) == 1;
    if (count > 8)
        return search_piece(automaton, piece, count);
    for (uint32_t i = 0; i < count; i++)
        before[i] = remember(automaton, piece[i]->life);
    if (walk_piece(automaton, piece, count) == count)
        return true;
    for (uint32_t i = 0; i < count; i++)
        restore(automaton, piece[i]->life, &before[i]);
    automaton->occupant = occupant;
    return search_piece(automaton, piece, count);
}

static void
check_name(automaton_t *automaton, record_t **calls, uint32_t count, report_t *report)
{
    automaton->occupant = NULL;
    for (uint32_t i = 0, j; i < count; i = j) {
        uint64_t last_end = calls[i]->end;
        for (j = i + 1; j < count && calls[j]->from <= last_end; j++) {
            if (calls[j]->end > last_end)
                last_end = calls[j]->end;
        }
        report_obligation(report, RULE_STATES);
        if (!check_piece(automaton, calls + i, j - i)) {
            uint32_t start = i > PRINTED_BEFORE ? i - PRINTED_BEFORE : 0;
            complain(automaton, calls + start, j - start, report);
            return;
        }
        forget_looks(automaton, calls + i, j - i);
    }
}

void
automaton_check(automaton_t *automaton, const book_t *book, record_t *touches, size_t touch_count,
                report_t *report)
{
    sort_by_name(automaton, (both_t){.book = book, .touches = touches, .touch_count = touch_count});
    uint32_t start = 0;
    for (uint32_t name = 0; name < automaton->names; name++) {
        uint32_t end = automaton->starts[name + 1];
        check_name(automaton, automaton->calls + start, end - start, report);
        start = end;
    }
}
