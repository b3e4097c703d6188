/* Counts by call and answer; everything else is a sum of those. */
#include "counts.h"

#include <inttypes.h>

void
counts_add(counts_t *counts, const book_t *book)
{
    counts->pending = 0;
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->all[i];
        bool ok = record->status == SCHEDQ_OK;
        counts->records++;
        counts->outcomes[record->call][record->status]++;
        counts->adds += record_creates(record) && record->call != CALL_CARRY;
        counts->pops += ok && record_is_pop(record);
        counts->dones += ok && record_is_done(record);
        counts->deletes += ok && (record->call == CALL_DELETE_NAME || record->call == CALL_DELETE_POD);
        counts->updates += ok && record->call == CALL_UPDATE && !record->added;
        counts->pending += ok && record->call == CALL_FIND && record->thread == book->threads;
    }
}

void
counts_check(const counts_t *counts, schedq_t *queue, unsigned workers, report_t *report)
{
    schedq_stats_t stats;
    schedq_stats_init(&stats);
    schedq_stats(queue, &stats);
    const struct {
        const char *name;
        uint64_t said, counted;
    } rows[] = {
        {"adds", stats.adds, counts->adds},
        {"pops", stats.pops, counts->pops},
        {"dones", stats.dones, counts->dones},
        {"deletes", stats.deletes, counts->deletes},
        {"updates", stats.updates, counts->updates},
        {"active", stats.active, counts->pending},
        {"inflight", stats.inflight, 0},
        {"workers", stats.workers, workers},
        {"backoff", stats.backoff, 0},
        {"error_backoff", stats.error_backoff, 0},
        {"parked", stats.parked, 0},
        {"gated", stats.gated, 0},
        {"failures", stats.failures, 0},
        {"moves", stats.moves, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].said != rows[i].counted)
            report_violation(report, RULE_COUNTERS, NULL, NULL, "stats say %s %" PRIu64 ", counted %" PRIu64,
                             rows[i].name, rows[i].said, rows[i].counted);
    }
}

void
counts_print(const counts_t *counts)
{
    for (unsigned call = CALL_ADD; call < CALLS; call++) {
        printf("%-14s", call_name((uint8_t)call));
        for (unsigned status = 0; status <= SCHEDQ_INVALID; status++) {
            if (counts->outcomes[call][status] != 0)
                printf("  %s %" PRIu64, schedq_status_name((schedq_status_t)status) + sizeof "SCHEDQ_" - 1,
                       counts->outcomes[call][status]);
        }
        printf("\n");
    }
}
