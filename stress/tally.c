/* The account of a run. */
#include "tally.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t
tally_name(unsigned index, char *name)
{
    return (uint32_t)snprintf(name, 32, "s%u/pod-%u", index % 7, index);
}

unsigned
tally_index(const char *name)
{
    const char *dash = strchr(name, '-');
    return dash == NULL ? 0 : (unsigned)strtoul(dash + 1, NULL, 10) % TALLY_NAMES;
}

void
tally_violation(tally_t *tally, const char *format, ...)
{
    va_list arguments;
    TALLY_COUNT(tally->violations);
    va_start(arguments, format);
    flockfile(stderr);
    fputs("violation: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

static unsigned
enter(tally_t *tally, const op_t *op, size_t element, unsigned index)
{
    schedq_status_t status = op_element(op, element);
    switch (op->kind) {
    case OP_UPDATE:
        if (status == SCHEDQ_OK && op->result.added == 0)
            TALLY_COUNT(tally->updates);
        break;
    case OP_DELETE:
        if (status == SCHEDQ_OK) {
            TALLY_COUNT(tally->deletes[index]);
            if (op->result.place == SCHEDQ_INFLIGHT)
                TALLY_COUNT(tally->deletes_in_flight);
        }
        break;
    case OP_DONE:
    case OP_DONE_MANY:
        if (status == SCHEDQ_OK)
            TALLY_COUNT(tally->dones[index]);
        break;
    case OP_FAIL:
        if (status == SCHEDQ_OK)
            TALLY_COUNT(tally->failures);
        break;
    default:
        if (!op_made(op, element))
            return 0;
    }
    if (op_made(op, element))
        TALLY_COUNT(tally->adds[index]);
    if (status == SCHEDQ_GONE)
        TALLY_COUNT(tally->gones);
    return status == SCHEDQ_OK || status == SCHEDQ_GONE;
}

unsigned
tally_op(tally_t *tally, schedq_worker_t *worker, const op_t *op, const unsigned *indices,
         bool closes)
{
    unsigned changed = (unsigned)op->got;
    atomic_fetch_add_explicit(&tally->pops, op->got, memory_order_relaxed);
    for (size_t i = 0; i < op_elements(op); i++) {
        schedq_status_t status = op_element(op, i);
        TALLY_CHECK(tally, (op_legal(op, closes, 0) >> status & 1) != 0, "%s says %s: %s",
                    op_name(op->kind), schedq_status_name(status), schedq_worker_error(worker));
        changed += enter(tally, op, i, indices != NULL ? indices[i] : 0);
    }
    return changed;
}

void
tally_retain(void *ctx, uint64_t object)
{
    tally_t *tally = ctx;
    if (object == 0 || object > TALLY_OBJECTS)
        tally_violation(tally, "retain of object %llu, which nobody has",
                        (unsigned long long)object);
    else
        TALLY_COUNT(tally->references[object]);
}

void
tally_release(void *ctx, uint64_t object)
{
    tally_t *tally = ctx;
    if (object == 0 || object > TALLY_OBJECTS ||
        atomic_fetch_sub_explicit(&tally->references[object], 1, memory_order_relaxed) <= 0)
        tally_violation(tally, "release of object %llu, which nobody holds",
                        (unsigned long long)object);
}

void
tally_check_lives(tally_t *tally)
{
    for (unsigned i = 0; i < TALLY_NAMES; i++) {
        unsigned adds = atomic_load(&tally->adds[i]);
        unsigned dones = atomic_load(&tally->dones[i]), deletes = atomic_load(&tally->deletes[i]);
        TALLY_CHECK(tally, adds == dones + deletes, "pod-%u: %u adds, but %u dones and %u deletes",
                    i, adds, dones, deletes);
    }
}

void
tally_check_stats(tally_t *tally, schedq_t *queue, bool print)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    schedq_stats(queue, &stats);
    uint64_t failures = atomic_load(&tally->failures), gones = atomic_load(&tally->gones);
    uint64_t dones = tally_sum(tally->dones);
    const struct {
        const char *name;
        uint64_t queue, counted;
    } rows[] = {
        {"adds", stats.adds, tally_sum(tally->adds)},
        {"dones", stats.dones, dones},
        {"deletes", stats.deletes, tally_sum(tally->deletes)},
        {"updates", stats.updates, atomic_load(&tally->updates)},
        {"pops", stats.pops, atomic_load(&tally->pops)},
        {"failures", stats.failures, failures},
        {"gones (queue: deleted in flight)", atomic_load(&tally->deletes_in_flight), gones},
        {"cycles ended (queue: pops)", stats.pops, dones + failures + gones},
        {"active", stats.active, 0},
        {"waiting", stats.backoff + stats.error_backoff + stats.parked + stats.gated + stats.held,
         0},
        {"in flight", stats.inflight, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (print)
            printf("%-9s %llu\n", rows[i].name, (unsigned long long)rows[i].counted);
        TALLY_CHECK(tally, rows[i].queue == rows[i].counted, "the queue says %llu %s, counted %llu",
                    (unsigned long long)rows[i].queue, rows[i].name,
                    (unsigned long long)rows[i].counted);
    }
    if (print)
        printf("%-9s %llu\n", "moves", (unsigned long long)stats.moves);
}

void
tally_check_references(tally_t *tally)
{
    for (unsigned i = 0; i <= TALLY_OBJECTS; i++) {
        int references = atomic_load(&tally->references[i]);
        TALLY_CHECK(tally, references == 0, "object %u: %d references left", i, references);
    }
}

uint64_t
tally_sum(atomic_uint *counts)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TALLY_NAMES; i++)
        sum += atomic_load(&counts[i]);
    return sum;
}
