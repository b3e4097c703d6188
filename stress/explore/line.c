/*
 * What may be said of the line. Of each pod two spans are known: in which it may have been active,
 * and in which it surely was. So it is of descriptions: an update may show from its beginning, and
 * what it replaces surely does not after its end.
 *
 *   position   at one moment of the call, at which the pod may have been active, `lower` pods may
 *              have ranked before it, and no more than `upper` surely did
 *   peek       each pod may have been there; none is shown while one that surely ranks before it
 *              was there all along, and has not been shown before. Who stays is missing only if
 *              others that left may have been taken for their turns
 *
 * What a frozen thread adds is counted in favour of the answer.
 */
#include "ledger.h"

#include "scheduler.h"

enum rank { RANKS_BEFORE, MAY_RANK_BEFORE, RANKS_NOT_BEFORE };

/* ---- spans ----------------------------------------------------------------------------------- */

/* Since when the pod is held at `to`. NEVER: it is not, or another call may have let it go. */
static moment
held_from(const struct ledger *ledger, const struct life *life, moment to)
{
    moment from = NEVER;

    for (uint32_t i = 0; i < ledger->keep_count; i++) {
        const struct keep *keep = &ledger->keeps[i];

        if (keep->handle == life->handle && !keep->holds && keep->began <= to) {
            return NEVER;
        }
        if (keep->handle == life->handle && keep->holds && keep->stays && keep->ended < from) {
            from = keep->ended;
        }
    }
    return from;
}

static bool
may_be_there(const struct ledger *ledger, const struct life *life, moment from, moment to)
{
    moment since = life->add_began == NEVER ? 0 : life->add_began;
    moment until = life->pops > 0 ? life->pop_ended : life->ends > 0 ? life->end_ended : NEVER;
    moment held = held_from(ledger, life, to);

    return since <= to && (until < held ? until : held) >= from;
}

static bool
is_there(const struct ledger *ledger, const struct life *life, moment from, moment to)
{
    return life->active < from && ledger_active_until(ledger, life) > to;
}

static bool
is_there_all_along(const struct ledger *ledger, const struct life *life,
                   const struct question *question)
{
    return is_there(ledger, life, question->began, question->ended);
}

static bool
is_replaced(const struct ledger *ledger, const struct life *life, const struct attempt *attempt,
            moment before)
{
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        const struct attempt *newer = &ledger->attempts[i];

        if (newer->status == SCHEDQ_OK && newer->handle == life->handle &&
            newer->began > attempt->ended && newer->ended < before) {
            return true;
        }
    }
    return false;
}

/* May the attempt describe the pod at some moment from..to? */
static bool
may_describe(const struct ledger *ledger, const struct life *life, const struct attempt *attempt,
             moment from, moment to)
{
    bool is_its_own =
        attempt->status == SCHEDQ_OK ? attempt->handle == life->handle : attempt->status == -1;

    return attempt->key == life->key && is_its_own && attempt->began <= to &&
           !is_replaced(ledger, life, attempt, from);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* By the time of their adds. */
static enum rank
rank_by_age(const struct life *one, const struct life *other)
{
    if (one->attempts > 0 || other->attempts > 0) {
        return MAY_RANK_BEFORE;
    }
    if (other->add_began != NEVER && one->active < other->add_began) {
        return RANKS_BEFORE;
    }
    return one->add_began != NEVER && other->active < one->add_began ? RANKS_NOT_BEFORE
                                                                     : MAY_RANK_BEFORE;
}

static enum rank
rank_of(const struct ledger *ledger, const struct life *one, const struct attempt *its,
        const struct life *other, const struct attempt *others)
{
    if (its->priority != others->priority) {
        return its->priority > others->priority ? RANKS_BEFORE : RANKS_NOT_BEFORE;
    }
    if (ledger->relaxed) {
        return RANKS_NOT_BEFORE;
    }
    if (its->keyed && others->keyed) {
        return its->order_key < others->order_key ? RANKS_BEFORE : RANKS_NOT_BEFORE;
    }
    return its->keyed || others->keyed ? MAY_RANK_BEFORE : rank_by_age(one, other);
}

/* However both may be described from..to; `object`: the other by this one; 0: by any. */
static enum rank
rank_during(const struct ledger *ledger, const struct life *one, const struct life *other,
            uint64_t object, moment from, moment to)
{
    unsigned found[RANKS_NOT_BEFORE + 1] = {0};

    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        for (uint32_t j = 0; j < ledger->attempt_count; j++) {
            const struct attempt *its = &ledger->attempts[i], *others = &ledger->attempts[j];

            if (may_describe(ledger, one, its, from, to) &&
                (object == 0 ? may_describe(ledger, other, others, from, to) : j == object - 1)) {
                found[rank_of(ledger, one, its, other, others)]++;
            }
        }
    }
    if (found[RANKS_BEFORE] > 0 && found[MAY_RANK_BEFORE] + found[RANKS_NOT_BEFORE] == 0) {
        return RANKS_BEFORE;
    }
    return found[RANKS_BEFORE] + found[MAY_RANK_BEFORE] > 0 ? MAY_RANK_BEFORE : RANKS_NOT_BEFORE;
}

/* ---- position -------------------------------------------------------------------------------- */

/* How many may rank before it at that moment. */
static uint64_t
most_before(const struct ledger *ledger, const struct life *asked, moment when)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < ledger->life_count; i++) {
        const struct life *life = &ledger->lives[i];

        if (life->handle != asked->handle && may_be_there(ledger, life, when, when) &&
            rank_during(ledger, life, asked, 0, when, when) != RANKS_NOT_BEFORE) {
            most++;
        }
    }
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        const struct attempt *attempt = &ledger->attempts[i];

        most += attempt->status == -1 && attempt->began <= when ? 1 : 0;
    }
    return most;
}

/* How many surely do. */
static uint64_t
least_before(const struct ledger *ledger, const struct life *asked, moment when)
{
    uint64_t least = 0;

    for (uint32_t i = 0; i < ledger->life_count; i++) {
        const struct life *life = &ledger->lives[i];

        if (life->handle != asked->handle && is_there(ledger, life, when, when) &&
            rank_during(ledger, life, asked, 0, when, when) == RANKS_BEFORE) {
            least++;
        }
    }
    return least;
}

/* Is there a moment at which both bounds hold for this life of the pod? Else *near is one. */
static bool
bounds_hold(const struct ledger *ledger, const struct life *asked, const struct question *question,
            struct question *near)
{
    for (moment when = question->began; when <= question->ended; when++) {
        if (may_be_there(ledger, asked, when, when)) {
            uint64_t least = least_before(ledger, asked, when);
            uint64_t most = most_before(ledger, asked, when);

            if (question->lower <= most && question->upper >= least) {
                return true;
            }
            *near = (struct question){.lower = least, .upper = most};
        }
    }
    return false;
}

static void
check_position(const struct ledger *ledger, const struct question *question)
{
    struct question near = {0};
    bool hold = false;

    for (uint32_t i = 0; i < ledger->life_count; i++) {
        const struct life *life = &ledger->lives[i];

        if (life->handle == question->handle) {
            SIM_CHECK(question->status == SCHEDQ_OK || !is_there_all_along(ledger, life, question),
                      "pod %u has no position, and was active all along", life->key);
            hold = hold || bounds_hold(ledger, life, question, &near);
        }
    }
    if (question->status != SCHEDQ_OK) {
        return;
    }
    SIM_CHECK(question->lower <= question->upper &&
                  (!question->quiet || ledger->relaxed || question->lower == question->upper),
              "position: bounds %llu and %llu%s", (unsigned long long)question->lower,
              (unsigned long long)question->upper, question->quiet ? ", all was quiet" : "");
    SIM_CHECK(hold,
              "position: %llu to %llu are before handle 0x%llx; that was so at no moment: at one "
              "there were %llu to %llu",
              (unsigned long long)question->lower, (unsigned long long)question->upper,
              (unsigned long long)question->handle, (unsigned long long)near.lower,
              (unsigned long long)near.upper);
}

/* ---- peek ------------------------------------------------------------------------------------ */

static bool
is_shown(const struct question *question, uint64_t handle, size_t before)
{
    size_t i = 0;

    while (i < before && question->shown[i] != handle) {
        i++;
    }
    return i < before;
}

/* peek_many may leave out who is moved before his turn. */
static bool
may_be_missing(const struct ledger *ledger, const struct life *life,
               const struct question *question)
{
    bool updated = false;

    for (uint32_t i = 0; i < ledger->attempt_count && question->room > 1; i++) {
        const struct attempt *attempt = &ledger->attempts[i];

        updated = updated || (attempt->is_update && attempt->key == life->key &&
                              attempt->began < question->ended && attempt->ended > question->began);
    }
    return updated;
}

/* The pod is shown as number `at`. */
static void
check_shown(const struct ledger *ledger, const struct life *life, const struct question *question,
            size_t at)
{
    for (uint32_t i = 0; i < ledger->life_count; i++) {
        const struct life *better = &ledger->lives[i];

        SIM_CHECK(better->handle == life->handle || !is_there_all_along(ledger, better, question) ||
                      is_shown(question, better->handle, at) ||
                      may_be_missing(ledger, better, question) ||
                      rank_during(ledger, better, life, question->objects[at], question->began,
                                  question->ended) != RANKS_BEFORE,
                  "peek shows pod %u, and before it not pod %u, which was active all along",
                  life->key, better->key);
    }
}

/* Was it there all along, and in its place? */
static bool
stays(const struct ledger *ledger, const struct life *life, const struct question *question)
{
    return is_there_all_along(ledger, life, question) && !may_be_missing(ledger, life, question);
}

/* Each that may have left or been moved may be one of those that were asked for. */
static void
check_missing(const struct ledger *ledger, const struct question *question)
{
    size_t explained = question->count;

    for (uint32_t i = 0; i < ledger->life_count; i++) {
        const struct life *life = &ledger->lives[i];

        explained += may_be_there(ledger, life, question->began, question->ended) &&
                             !stays(ledger, life, question) &&
                             !is_shown(question, life->handle, question->count)
                         ? 1
                         : 0;
    }
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        explained += ledger->attempts[i].status == -1 ? 1 : 0;
    }
    for (uint32_t i = 0; i < ledger->life_count && explained < question->room; i++) {
        const struct life *life = &ledger->lives[i];

        SIM_CHECK(!stays(ledger, life, question) ||
                      is_shown(question, life->handle, question->count),
                  "peek_many does not show pod %u, which was active all along", life->key);
    }
}

static void
check_peek(const struct ledger *ledger, const struct question *question)
{
    for (size_t at = 0; at < question->count; at++) {
        const struct life *only = NULL;
        unsigned lives = 0;

        SIM_CHECK(!is_shown(question, question->shown[at], at), "peek shows handle 0x%llx twice",
                  (unsigned long long)question->shown[at]);
        for (uint32_t i = 0; i < ledger->life_count; i++) {
            if (ledger->lives[i].handle == question->shown[at] &&
                may_be_there(ledger, &ledger->lives[i], question->began, question->ended)) {
                only = &ledger->lives[i];
                lives++;
            }
        }
        SIM_CHECK(lives > 0, "peek shows a pod that was not there: handle 0x%llx",
                  (unsigned long long)question->shown[at]);
        if (lives == 1) {
            check_shown(ledger, only, question, at);
        }
    }
    check_missing(ledger, question);
}

void
ledger_check_questions(const struct ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->question_count; i++) {
        const struct question *question = &ledger->questions[i];

        if (question->handle != 0) {
            check_position(ledger, question);
        } else {
            check_peek(ledger, question);
        }
    }
}
