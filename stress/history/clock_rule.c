/* Two rules that need nothing but the order of calls in real time. */
#include "check.h"

#include <inttypes.h>

static bool
draws_timestamp(const record_t *record)
{
    return record->timestamp_ns != 0 && record->call != CALL_CARRY &&
           (record_creates(record) || record_fails(record));
}

/*
 * The newest Timestamp among the calls of one thread that ended before `time`; `next` goes on from
 * call to call.
 */
static const record_t *
newest_before(const page_t *page, uint32_t *next, const record_t *newest, uint64_t time)
{
    for (; *next < page->count && page->records[*next].end < time; (*next)++) {
        const record_t *record = &page->records[*next];
        if (draws_timestamp(record) &&
            (newest == NULL || record->timestamp_ns > newest->timestamp_ns))
            newest = record;
    }
    return newest;
}

void
clock_check(const book_t *book, report_t *report)
{
    uint32_t next[THREADS_MAX] = {0};
    const record_t *newest = NULL;
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->sorted[i];
        if (!draws_timestamp(record))
            continue;
        for (unsigned thread = 0; thread < book->threads; thread++)
            newest = newest_before(&book->pages[thread], &next[thread], newest, record->begin);
        if (newest != NULL)
            report_obligation(report, RULE_CLOCK);
        if (newest != NULL && newest->timestamp_ns > record->timestamp_ns)
            report_violation(report, RULE_CLOCK, newest, record,
                             "a later pod has an older Timestamp, by %" PRId64 " ns",
                             newest->timestamp_ns - record->timestamp_ns);
    }
}

static const record_t *
find_close(const book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        if (book->all[i]->call == OP_CLOSE)
            return book->all[i];
    }
    return NULL;
}

void
close_check(const book_t *book, report_t *report)
{
    const record_t *close = find_close(book);
    for (size_t i = 0; i < book->count; i++) {
        const record_t *record = book->all[i];
        bool closed = record->status == SCHEDQ_CLOSED;
        if (closed && (close == NULL || record->end < close->begin))
            report_violation(report, RULE_CLOSED, close, record,
                             "CLOSED before anybody closed the queue");
        if (close == NULL || record->begin < close->end)
            continue;
        report_obligation(report, RULE_CLOSED);
        if (record_creates(record))
            report_violation(report, RULE_CLOSED, close, record, "a pod entered after close");
        if (record_is_pop(record) &&
            (record->status == SCHEDQ_EMPTY || record->status == SCHEDQ_TIMEDOUT))
            report_violation(report, RULE_CLOSED, close, record,
                             "a pop of a closed queue does not say so");
    }
}
