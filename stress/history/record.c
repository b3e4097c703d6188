/* Memory of records, what kind of call one is, and how it is printed. */
#include "record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "names.h"

static void *
room(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        fprintf(stderr, "schedq-history: no memory for %zu records\n", count);
        exit(1);
    }
    return memory;
}

void
book_make(book_t *book, unsigned threads, uint32_t capacity)
{
    memset(book, 0, sizeof *book);
    book->threads = threads;
    book->capacity = capacity;
    for (unsigned i = 0; i <= threads; i++)
        book->pages[i].records = room(capacity, sizeof(record_t));
    book->all = room((size_t)capacity * (threads + 1), sizeof *book->all);
    book->sorted = room((size_t)capacity * (threads + 1), sizeof *book->sorted);
}

void
book_free(book_t *book)
{
    for (unsigned i = 0; i <= book->threads; i++)
        free(book->pages[i].records);
    free(book->all);
    free(book->sorted);
}

void
book_clear(book_t *book)
{
    for (unsigned i = 0; i <= book->threads; i++)
        book->pages[i].count = 0;
    book->count = 0;
}

record_t *
book_take(book_t *book, unsigned thread)
{
    page_t *page = &book->pages[thread];
    if (page->count == book->capacity) {
        fprintf(stderr, "schedq-history: thread %u made more than %u records in a round\n", thread,
                book->capacity);
        exit(1);
    }
    return &page->records[page->count++];
}

const char *
call_name(uint8_t call)
{
    static const char *const own[CALLS] = {
        [OP_DELETE] = "delete(name)",    [OP_NOTIFY] = "event",
        [CALL_CARRY] = "was there",      [CALL_DELETE_POD] = "delete(handle)",
        [CALL_TARGET] = "event(target)", [CALL_GATE] = "gate"};
    return call < CALLS && own[call] != NULL ? own[call] : op_name(call);
}

bool
record_creates(const record_t *record)
{
    switch (record->call) {
    case CALL_CARRY:
        return true;
    case OP_ADD:
    case OP_ADD_MANY:
    case OP_READD:
        return record->status == SCHEDQ_OK;
    case OP_UPDATE:
        return record->status == SCHEDQ_OK && record->added;
    default:
        return false;
    }
}

bool
record_is_pop(const record_t *record)
{
    return record->call >= OP_TRY_POP && record->call <= OP_TRY_POP_MANY;
}

bool
record_is_done(const record_t *record)
{
    return record->call == OP_DONE || record->call == OP_DONE_MANY;
}

bool
record_uses_token(const record_t *record)
{
    return record_is_done(record) || record->call == OP_FAIL;
}

bool
record_fails(const record_t *record)
{
    return record->call == OP_FAIL && record->status == SCHEDQ_OK;
}

bool
record_nudges(const record_t *record)
{
    return record->call == OP_ACTIVATE || record->call == CALL_TARGET;
}

bool
record_deletes(const record_t *record)
{
    return record->call == OP_DELETE || record->call == CALL_DELETE_POD ||
           (record->call == OP_LABEL_CANCEL && record->count > 0);
}

bool
record_may_create(const record_t *record)
{
    return record->call == OP_ADD || record->call == OP_ADD_MANY || record->call == OP_READD ||
           record->call == OP_UPDATE;
}

bool
record_peeks(const record_t *record)
{
    return record->call == OP_PEEK || record->call == OP_PEEK_MANY;
}

bool
record_keeps_label(const record_t *record)
{
    return record->call == OP_LABEL_HOLD || record->call == OP_LABEL_RELEASE;
}

bool
record_sees(const record_t *record)
{
    switch (record->call) {
    case OP_ADD:
    case OP_READD:
        return record->status == SCHEDQ_EXISTS;
    case OP_UPDATE:
        return record->status == SCHEDQ_OK && !record->added;
    case OP_FIND:
    case OP_GET:
    case OP_PEEK:
    case OP_PEEK_MANY:
    case OP_POSITION:
        return record->status == SCHEDQ_OK;
    default:
        return false;
    }
}

static bool
describes(const record_t *record)
{
    return record->call == CALL_CARRY || record_may_create(record) ||
           ((record_is_pop(record) || record_peeks(record)) && record->status == SCHEDQ_OK);
}

/* What is said of events, gates and failures. */
static void
print_cause(const record_t *record, FILE *out)
{
    if (record->call == OP_NOTIFY || record->with_event)
        fprintf(out, " %s", kind_name(record->kind));
    if (record->call == OP_NOTIFY && record->kind == KIND_FIT)
        fprintf(out, " class %u", record->class);
    if (record->call == CALL_GATE)
        fprintf(out, " %u %s", record->gate, record->shut ? "shuts" : "opens");
    if (record->tells_node || record->call == OP_NOMINATE)
        fprintf(out, " node %u", record->node);
    if (record->call == OP_TICK)
        fprintf(out, " at %" PRId64, record->key);
    if (record->unschedulable != 0)
        fprintf(out, " unschedulable %#x", record->unschedulable);
    if (record->pending != 0)
        fprintf(out, " pending %#x", record->pending);
}

/* What is said of many pods. */
static void
print_numbers(const record_t *record, FILE *out)
{
    if (record->call == OP_POSITION && record->status == SCHEDQ_OK)
        fprintf(out, " %" PRIu64 " to %" PRIu64 " before it", record->lower, record->upper);
    if (record->room != 0)
        fprintf(out, " %" PRIu32 " of %" PRIu32, record->count, record->room);
    else if (record->count != 0)
        fprintf(out, " %" PRIu32 " pods", record->count);
}

void
record_print(const book_t *book, const record_t *record, FILE *out)
{
    fprintf(out, "  ");
    if (record->thread == book->threads)
        fprintf(out, "main    ");
    else
        fprintf(out, "thread %u", record->thread);
    fprintf(out, " [%" PRId64 " .. %" PRId64 "] %s", (int64_t)(record->begin - book->begin),
            (int64_t)(record->end - book->begin), call_name(record->call));
    if (record->name != NO_NAME)
        fprintf(out, " %.24s", names_text(record->name));
    if (describes(record))
        fprintf(out, " priority %" PRId32, record->priority);
    if (record->keyed)
        fprintf(out, " key %" PRId64, record->key);
    if (record->label != 0)
        fprintf(out, " label %" PRIu32, record->label);
    print_cause(record, out);
    if (record->element != 0)
        fprintf(out, " (element %u)", record->element);
    if (record->token != 0)
        fprintf(out, " token %" PRIx64, record->token);
    fprintf(out, " -> %s",
            record->call == CALL_CARRY ? "carried" : schedq_status_name(record->status));
    if (record->pod != 0)
        fprintf(out, " pod %" PRIx64, record->pod);
    if (record->object != 0)
        fprintf(out, " object %" PRIx64, record->object);
    if (record->replaced != 0)
        fprintf(out, " replaced %" PRIx64, record->replaced);
    print_numbers(record, out);
    if (record->place != SCHEDQ_NOWHERE)
        fprintf(out, " %s", schedq_place_name(record->place));
    if (record->added)
        fprintf(out, " added");
    if (record->from_backoff)
        fprintf(out, " from backoff");
    if (record->timestamp_ns != 0)
        fprintf(out, " timestamp %" PRId64, record->timestamp_ns);
    fprintf(out, "\n");
}
