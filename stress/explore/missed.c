/*
 * Missed events: a pod that still waits though something happened that must have brought it back.
 *
 * An occasion counts if its call ended, and began after the pop that handed the pod out had
 * returned: whoever fails the pod has to take it into account, whether the two calls overlapped or
 * not. What hints say depends on the pod's object, so an occasion that asks them counts only if all
 * the objects that the pod can have had since it began are wanted.
 */
#include "cluster.h"
#include "ledger.h"

#include "scheduler.h"

/* Was this description replaced before that moment, for sure? */
static bool
is_replaced(const struct ledger *ledger, const struct attempt *attempt, moment before)
{
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        const struct attempt *newer = &ledger->attempts[i];

        if (newer->handle == attempt->handle && newer->status == SCHEDQ_OK &&
            newer->ended < before && attempt->ended <= newer->began) {
            return true;
        }
    }
    return false;
}

/*
 * An update whose thread stopped, or that was never told its handle, is one of any pod with its
 * name.
 */
static bool
may_describe(const struct attempt *attempt, const struct life *life)
{
    return attempt->key == life->key &&
           (attempt->status == -1 ||
            (attempt->status == SCHEDQ_OK && attempt->handle == life->handle));
}

static bool
hints_want(const struct ledger *ledger, const struct life *life, moment since)
{
    for (uint32_t i = 0; i < ledger->attempt_count; i++) {
        const struct attempt *attempt = &ledger->attempts[i];

        if (may_describe(attempt, life) && !is_replaced(ledger, attempt, since) &&
            !cluster_wants(attempt->priority)) {
            return false;
        }
    }
    return true;
}

static bool
counts(const struct occasion *occasion, const struct life *life, moment since)
{
    return occasion->ended != NEVER && since != NEVER && occasion->began > since &&
           (occasion->handle == 0 || occasion->handle == life->handle);
}

static bool
helps_parked(const struct ledger *ledger, const struct occasion *occasion, const struct life *life)
{
    moment asked = occasion->is_update ? occasion->ended + 1 : occasion->began;

    return (occasion->reached & life->rejectors) != 0 ||
           ((occasion->hinted & life->rejectors) != 0 && hints_want(ledger, life, asked));
}

void
ledger_check_waiting(const struct ledger *ledger, const struct life *life, schedq_place_t place,
                     uint64_t gate_bit, moment gate_opened)
{
    for (uint32_t i = 0; i < ledger->occasion_count; i++) {
        const struct occasion *occasion = &ledger->occasions[i];

        if (place == SCHEDQ_PARKED && counts(occasion, life, life->flight_began)) {
            SIM_CHECK(!helps_parked(ledger, occasion, life),
                      "missed event: pod %u is parked, and occasion %u began after its pop",
                      life->key, i);
        }
        if (place == SCHEDQ_GATED && counts(occasion, life, gate_opened)) {
            SIM_CHECK(
                (occasion->gates & gate_bit) == 0,
                "missed event: pod %u is gated, and occasion %u began after its gate was opened",
                life->key, i);
        }
    }
}
