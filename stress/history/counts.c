/* Counts by call and answer; everything else is a sum of those. */
#include "counts.h"

#include <inttypes.h>
#include <string.h>

#include "cluster.h"

void
counts_add(counts_t *counts, const book_t *book)
{
    memset(counts->pending, 0, sizeof counts->pending);
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->all[i];
        bool ok = record->status == SCHEDQ_OK;
        counts->records++;
        counts->outcomes[record->call][record->status]++;
        counts->adds += record_creates(record) && record->call != CALL_CARRY;
        counts->pops += ok && record_is_pop(record);
        counts->dones += ok && record_is_done(record);
        counts->deletes += ok && record_deletes(record);
        counts->updates += ok && record->call == OP_UPDATE && !record->added;
        counts->failures += record_fails(record);
        counts->events += ok && (record->call == CALL_TARGET ||
                                 (record->call == OP_NOTIFY &&
                                  (book->settings.host || kind_is_registered(record->kind))));
        if (ok && record->call == OP_FIND && record->thread == book->threads &&
            record->place <= SCHEDQ_HELD)
            counts->pending[record->place]++;
    }
}

typedef struct row {
    const char *name;
    uint64_t said, counted;
} row_t;

static void
compare(const row_t *rows, size_t count, report_t *report)
{
    for (size_t i = 0; i < count; i++) {
        if ((rows[i].said | rows[i].counted) != 0)
            report_obligation(report, RULE_COUNTERS);
        if (rows[i].said != rows[i].counted)
            report_violation(report, RULE_COUNTERS, NULL, NULL,
                             "stats say %s %" PRIu64 ", counted %" PRIu64, rows[i].name,
                             rows[i].said, rows[i].counted);
    }
}

/* The words that a host reads without a call. */
static void
compare_words(const schedq_words_t *words, const schedq_stats_t *stats, report_t *report)
{
    const row_t rows[] = {
        {"parked pods, the words another number", stats->parked, words->parked},
        {"gated pods, the words another number", stats->gated, words->gated},
        {"held pods, the words another number", stats->held, words->held},
        {"pods in backoff, the words another number", stats->backoff, words->backoff},
        {"pods in error backoff, the words another number", stats->error_backoff,
         words->error_backoff},
    };
    compare(rows, sizeof rows / sizeof *rows, report);
}

static void
compare_places(const counts_t *counts, const schedq_stats_t *stats, report_t *report)
{
    const uint64_t *pending = counts->pending;
    const row_t rows[] = {
        {"active", stats->active, pending[SCHEDQ_ACTIVE]},
        {"backoff", stats->backoff, pending[SCHEDQ_BACKOFF]},
        {"error_backoff", stats->error_backoff, pending[SCHEDQ_ERROR_BACKOFF]},
        {"parked", stats->parked, pending[SCHEDQ_PARKED]},
        {"gated", stats->gated, pending[SCHEDQ_GATED]},
        {"inflight", stats->inflight, pending[SCHEDQ_INFLIGHT]},
        {"held", stats->held, pending[SCHEDQ_HELD]},
    };
    compare(rows, sizeof rows / sizeof *rows, report);
}

void
counts_check(const counts_t *counts, schedq_t *queue, unsigned workers, bool moving,
             report_t *report)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    uint64_t pending = 0;
    schedq_stats(queue, &stats);
    for (unsigned place = 0; place <= SCHEDQ_HELD; place++)
        pending += counts->pending[place];
    const row_t rows[] = {
        {"adds", stats.adds, counts->adds},
        {"pops", stats.pops, counts->pops},
        {"dones", stats.dones, counts->dones},
        {"failures", stats.failures, counts->failures},
        {"deletes", stats.deletes, counts->deletes},
        {"updates", stats.updates, counts->updates},
        {"events", stats.events, counts->events},
        {"workers", stats.workers, workers},
        {"pods",
         stats.active + stats.backoff + stats.error_backoff + stats.parked + stats.gated +
             stats.held + stats.inflight,
         pending},
    };
    compare(rows, sizeof rows / sizeof *rows, report);
    if (moving)
        return;
    compare_places(counts, &stats, report);
    compare_words(schedq_words(queue), &stats, report);
}

void
counts_print(const counts_t *counts)
{
    static const uint8_t calls[][4] = {
        {OP_ADD, OP_ADD_MANY, OP_READD, OP_UPDATE},
        {OP_TRY_POP, OP_POP_UNTIL, OP_POP, OP_TRY_POP_MANY},
        {OP_DONE, OP_DONE_MANY, OP_FAIL, OP_TOKEN_ALIVE},
        {OP_DELETE, CALL_DELETE_POD, OP_FIND, OP_GET},
        {OP_NOTIFY, CALL_TARGET, OP_ACTIVATE, OP_TICK},
        {OP_NOMINATE, OP_HOLD, OP_RELEASE, CALL_GATE},
        {OP_LABEL_CANCEL, OP_LABEL_HOLD, OP_LABEL_RELEASE, OP_LABEL_COUNT},
        {OP_PEEK, OP_PEEK_MANY, OP_POSITION, OP_CLOSE},
        {OP_NONE, OP_NONE, OP_NONE, OP_NONE}};
    for (unsigned i = 0; calls[i / 4][i % 4] != OP_NONE; i++) {
        uint8_t call = calls[i / 4][i % 4];
        printf("%-14s", call_name(call));
        for (unsigned status = 0; status <= SCHEDQ_CANCELED; status++) {
            if (counts->outcomes[call][status] != 0)
                printf("  %s %" PRIu64,
                       schedq_status_name((schedq_status_t)status) + sizeof "SCHEDQ_" - 1,
                       counts->outcomes[call][status]);
        }
        printf("\n");
    }
}
