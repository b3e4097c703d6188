/*
 * The verdict over a ledger. What a frozen thread's last call may have done is counted in its
 * favour, from the moment when that call began.
 */
#include "cluster.h"
#include "ledger.h"

#include "scheduler.h"

static moment
earlier(moment one, moment other)
{
    return one < other ? one : other;
}

static moment
open_since(const struct ledger *ledger, enum call_kind kind, uint32_t key, uint64_t handle)
{
    moment since = NEVER;

    for (unsigned i = 0; i < OPEN_CALLS_MAX; i++) {
        const struct open_call *call = &ledger->calls[i];
        bool fits =
            kind == CALL_POP || (kind == CALL_DONE ? call->handle == handle || call->handle == 0
                                                   : call->key == key || call->key == ANY_KEY);

        if (call->open && call->kind == kind && fits) {
            since = earlier(since, call->began);
        }
    }
    return since;
}

/*
 * A deletion ends the pod, whatever flight it was noted for: what a stopped failure did may have
 * been seen by nobody then.
 */
static moment
deleted_since(const struct ledger *ledger, uint64_t handle)
{
    moment since = NEVER;

    for (uint32_t i = 0; i < ledger->life_count; i++) {
        const struct life *life = &ledger->lives[i];

        if (life->handle == handle && life->ended_by_delete) {
            since = earlier(since, life->end_began);
        }
    }
    return since;
}

moment
ledger_exists_until(const struct ledger *ledger, const struct life *life)
{
    moment until = earlier(life->end_began, open_since(ledger, CALL_DELETE, life->key, 0));

    until = earlier(until, open_since(ledger, CALL_DONE, 0, life->handle));
    until = earlier(until, deleted_since(ledger, life->handle));
    return life->next == 0
               ? until
               : earlier(until, ledger_exists_until(ledger, &ledger->lives[life->next - 1]));
}

moment
ledger_active_until(const struct ledger *ledger, const struct life *life)
{
    moment until = earlier(life->pop_began, ledger_exists_until(ledger, life));

    /* Of one that was ever kept back nothing is said from then on, though it was let go. */
    for (uint32_t i = 0; i < ledger->keep_count; i++) {
        if (ledger->keeps[i].handle == life->handle) {
            until = earlier(until, ledger->keeps[i].began);
        }
    }
    /* Nor of one that its class may keep back. */
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        if (ledger->attempts[i].key == life->key && ledger->attempts[i].class_id != 0) {
            until = earlier(until, ledger->attempts[i].began);
        }
    }
    return life->pops == 0 ? earlier(until, open_since(ledger, CALL_POP, 0, 0)) : until;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Is there an update of this pod that did not end before `from`, and began before `to`? */
static bool
is_updated(const struct ledger *ledger, uint32_t key, moment from, moment to)
{
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        const struct attempt *attempt = &ledger->attempts[i];

        if (attempt->is_update && attempt->key == key && attempt->ended > from &&
            attempt->began < to) {
            return true;
        }
    }
    return false;
}

/*
 * A pod that loses its order key is ordered by its Timestamp, and not among those with the same
 * one.
 */
static bool
ever_had_key(const struct ledger *ledger, const struct life *life)
{
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        if (ledger->attempts[i].key == life->key && ledger->attempts[i].keyed) {
            return true;
        }
    }
    return false;
}

static bool
ranks_before(const struct ledger *ledger, const struct life *one, const struct life *other)
{
    if (one->from_backoff || other->from_backoff) {
        return !one->from_backoff;
    }
    if (one->priority != other->priority) {
        return one->priority > other->priority;
    }
    if (ledger->relaxed || one->timestamp > other->timestamp) {
        return false;
    }
    bool drawn = !ever_had_key(ledger, one) && !ever_had_key(ledger, other);

    return (one->timestamp < other->timestamp && (!drawn || !ledger->moving_clock)) ||
           (ledger->still_clock && drawn && other->add_began != NEVER &&
            one->active < other->add_began);
}

/* Whatever it was described as until `taken` was popped, its priority was the higher one. */
static bool
ranks_higher_all_along(const struct ledger *ledger, const struct life *better,
                       const struct life *taken)
{
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        const struct attempt *attempt = &ledger->attempts[i];

        if (attempt->key == better->key && attempt->began < taken->pop_ended &&
            attempt->priority <= taken->priority) {
            return false;
        }
    }
    return !better->from_backoff;
}

static bool
ranks_before_all_along(const struct ledger *ledger, const struct life *better,
                       const struct life *taken)
{
    return !is_updated(ledger, taken->key, taken->pop_began, taken->pop_ended) &&
           (is_updated(ledger, better->key, taken->pop_began, NEVER)
                ? ranks_higher_all_along(ledger, better, taken)
                : ranks_before(ledger, better, taken));
}

/* Contract O: no pop returns `taken` while `better` is active during the whole of that call. */
static void
check_pair(const struct ledger *ledger, const struct life *better, const struct life *taken)
{
    if (better->active < taken->pop_began &&
        ledger_active_until(ledger, better) > taken->pop_ended &&
        ranks_before_all_along(ledger, better, taken)) {
        sim_fail("order: pod %u (priority %d) was popped while pod %u (priority %d) was active all "
                 "along",
                 taken->key, taken->priority, better->key, better->priority);
    }
}

static void
check_order(const struct ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->life_count; i++) {
        for (uint32_t j = 0; j < ledger->life_count; j++) {
            if (i != j && ledger->lives[i].pops > 0 && ledger->lives[j].pops > 0) {
                check_pair(ledger, &ledger->lives[i], &ledger->lives[j]);
            }
        }
    }
}

/* ---- looks ----------------------------------------------------------------------------------- */

static void
check_look(const struct ledger *ledger, const struct look *look)
{
    for (uint32_t i = 0; i < ledger->life_count; i++) {
        const struct life *life = &ledger->lives[i];

        if (look->is_pop) {
            SIM_CHECK(
                life->poppable > look->began || ledger_active_until(ledger, life) < look->ended,
                "a pop found nothing while pod %u was there to be popped all along", life->key);
        } else if (life->key == look->key) {
            SIM_CHECK(life->exists > look->began || ledger_exists_until(ledger, life) < look->ended,
                      "pod %u was not found though it was there all along", life->key);
        }
    }
}

/* ---- pods that are kept back ----------------------------------------------------------------- */

/* May it have let the pod go that `keep` keeps back, before the pop of `life` was over? */
static bool
lets_go(const struct keep *other, const struct keep *keep, const struct life *life)
{
    bool between = other->ended > keep->began && other->began < life->pop_ended;
    bool opens = other->is_time ? other->until <= life->popped_at : !other->holds;

    return other->handle == keep->handle && other->is_time == keep->is_time && between && opens;
}

static bool
is_let_go(const struct ledger *ledger, const struct keep *keep, const struct life *life)
{
    for (uint32_t i = 0; i < ledger->keep_count; i++) {
        if (lets_go(&ledger->keeps[i], keep, life)) {
            return true;
        }
    }
    return keep->is_time && is_updated(ledger, life->key, keep->began, life->pop_ended);
}

/* No pop that begins after a hold returned returns the pod, unless it was let go. */
static void
check_kept(const struct ledger *ledger, const struct keep *keep)
{
    for (uint32_t i = 0; i < ledger->life_count; i++) {
        const struct life *life = &ledger->lives[i];

        if (life->handle == keep->handle && life->pops > 0 && life->pop_began > keep->ended &&
            (keep->is_time ? keep->until > life->popped_at : keep->holds)) {
            SIM_CHECK(is_let_go(ledger, keep, life), "pod %u was popped while it was kept back",
                      life->key);
        }
    }
}

/* Did its class, or the time of an attempt whose thread stopped, keep it back, perhaps? */
static bool
may_be_kept_otherwise(const struct ledger *ledger, uint64_t handle)
{
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        const struct attempt *attempt = &ledger->attempts[i];

        if ((attempt->handle == handle && attempt->class_id != 0) ||
            (attempt->status == -1 && (attempt->class_id != 0 || attempt->not_before_ns != 0))) {
            return true;
        }
    }
    return false;
}

/* Who releases a pod that nothing else keeps back brings it out. */
static void
check_released(const struct ledger *ledger, const struct keep *keep)
{
    if (keep->is_time || keep->holds || !keep->stays ||
        may_be_kept_otherwise(ledger, keep->handle)) {
        return;
    }
    for (uint32_t i = 0; i < ledger->keep_count; i++) {
        const struct keep *other = &ledger->keeps[i];

        if (other->handle == keep->handle &&
            (other->is_time ||
             (other->holds && other->ended > keep->began && other->began < keep->ended))) {
            return;
        }
    }
    SIM_CHECK(false, "a release found pod %llx held, and nothing kept it back",
              (unsigned long long)keep->handle);
}

/* ---- pods of a label ------------------------------------------------------------------------- */

/* It reaches every pod whose add had returned before it began. */
static void
check_cancel(const struct ledger *ledger, const struct cancel *cancel)
{
    for (uint32_t i = 0; i < ledger->attempt_count && cancel->ended != NEVER; i++) {
        const struct attempt *attempt = &ledger->attempts[i];
        const struct life *life = NULL;

        for (uint32_t j = 0; j < ledger->life_count && life == NULL; j++) {
            life = ledger->lives[j].handle == attempt->handle ? &ledger->lives[j] : NULL;
        }
        if (attempt->added && attempt->label == cancel->label && attempt->ended < cancel->began &&
            life != NULL) {
            SIM_CHECK(ledger_exists_until(ledger, life) < cancel->ended,
                      "pod %u has the label that was cancelled, and is still there", attempt->key);
        }
    }
}

/* ---- lives ----------------------------------------------------------------------------------- */

static void
check_name_is_unique(const struct ledger *ledger, const struct life *one, const struct life *other)
{
    moment both = one->exists > other->exists ? one->exists : other->exists;
    moment until = earlier(ledger_exists_until(ledger, one), ledger_exists_until(ledger, other));

    SIM_CHECK(both == NEVER || both > until,
              "two pods %u were there at once: handles 0x%llx and 0x%llx", one->key,
              (unsigned long long)one->handle, (unsigned long long)other->handle);
}

static void
check_names(const struct ledger *ledger)
{
    for (uint32_t i = 0; i < ledger->life_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (ledger->lives[i].key == ledger->lives[j].key &&
                ledger->lives[i].handle != ledger->lives[j].handle) {
                check_name_is_unique(ledger, &ledger->lives[i], &ledger->lives[j]);
            }
        }
    }
}

static bool
was_deleted(const struct ledger *ledger, uint64_t handle)
{
    for (uint32_t i = 0; i < ledger->life_count; i++) {
        if (ledger->lives[i].handle == handle && ledger->lives[i].ended_by_delete) {
            return true;
        }
    }
    return false;
}

static void
check_end(const struct ledger *ledger, const struct life *life)
{
    bool deletion_runs = open_since(ledger, CALL_DELETE, life->key, 0) != NEVER;

    SIM_CHECK(life->gones == 0 || was_deleted(ledger, life->handle) || deletion_runs,
              "the holder of pod %u was told GONE, and nobody deleted it", life->key);
    SIM_CHECK(!life->ended_by_delete || life->pops == (life->deleted_in_flight ? 1u : 0u) ||
                  open_since(ledger, CALL_POP, 0, 0) != NEVER,
              "pod %u was deleted %s, and popped %u times", life->key,
              life->deleted_in_flight ? "in flight" : "while it waited", life->pops);
}

/* ---- objects --------------------------------------------------------------------------------- */

/*
 * A pop that began after an update had ended does not return what that update replaced; nor does
 * the only pop of a pod that the update met active.
 */
static void
check_object(const struct ledger *ledger, const struct life *life)
{
    const struct attempt *seen = &ledger->attempts[life->object - 1];

    SIM_CHECK(seen->status == -1 || (seen->status == SCHEDQ_OK && seen->handle == life->handle),
              "pod %u was popped with object %llu, whose call returned %s", life->key,
              (unsigned long long)life->object, schedq_status_name((schedq_status_t)seen->status));
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        const struct attempt *newer = &ledger->attempts[i];

        if (newer->handle == life->handle && newer->status == SCHEDQ_OK) {
            SIM_CHECK(seen->ended >= newer->began || newer->ended >= life->pop_began,
                      "pod %u was popped with object %llu, which had been replaced by %u",
                      life->key, (unsigned long long)life->object, i + 1);
            SIM_CHECK(newer->instead_of != life->object || newer->met_at != SCHEDQ_ACTIVE ||
                          cluster_is_used(),
                      "pod %u was popped with object %llu, which %u replaced while it was active",
                      life->key, (unsigned long long)life->object, i + 1);
        }
    }
}

void
ledger_verdict(const struct ledger *ledger, bool in_order)
{
    for (uint32_t i = 0; i < ledger->life_count; i++) {
        check_end(ledger, &ledger->lives[i]);
        if (ledger->lives[i].pops > 0 && in_order) {
            check_object(ledger, &ledger->lives[i]);
        }
    }
    if (!in_order) {
        return;
    }
    check_order(ledger);
    check_names(ledger);
    for (uint32_t i = 0; i < ledger->keep_count; i++) {
        check_kept(ledger, &ledger->keeps[i]);
        check_released(ledger, &ledger->keeps[i]);
    }
    for (uint32_t i = 0; i < ledger->cancel_count; i++) {
        check_cancel(ledger, &ledger->cancels[i]);
    }
    for (uint32_t i = 0; i < ledger->look_count; i++) {
        check_look(ledger, &ledger->looks[i]);
    }
    ledger_check_questions(ledger);
}
