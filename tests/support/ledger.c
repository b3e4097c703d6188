/*
 * Reference counts by object number. A count below zero is remembered, since a later retain would
 * hide it.
 */
#include "ledger.h"

void
ledger_init(ledger_t *ledger)
{
    for (uint64_t i = 0; i < LEDGER_OBJECTS; i++)
        atomic_init(&ledger->counts[i], 0);
    atomic_init(&ledger->faults, 0);
    atomic_init(&ledger->retains, 0);
    atomic_init(&ledger->releases, 0);
}

void
ledger_retain(void *ctx, uint64_t object)
{
    ledger_t *ledger = ctx;
    atomic_fetch_add(&ledger->retains, 1);
    if (object >= LEDGER_OBJECTS)
        atomic_fetch_add(&ledger->faults, 1);
    else
        atomic_fetch_add(&ledger->counts[object], 1);
}

void
ledger_release(void *ctx, uint64_t object)
{
    ledger_t *ledger = ctx;
    atomic_fetch_add(&ledger->releases, 1);
    if (object >= LEDGER_OBJECTS || atomic_fetch_sub(&ledger->counts[object], 1) <= 0)
        atomic_fetch_add(&ledger->faults, 1);
}

int
ledger_count(ledger_t *ledger, uint64_t object)
{
    return atomic_load(&ledger->counts[object]);
}

int
ledger_sum(ledger_t *ledger)
{
    int sum = 0;
    for (uint64_t i = 0; i < LEDGER_OBJECTS; i++)
        sum += atomic_load(&ledger->counts[i]);
    return sum;
}
