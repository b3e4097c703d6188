/* The ring and the stamps of event_log.h. */
#include "mutex/event_log.h"

bool
mutex_event_log_open(struct event_log *log, schedq_t *queue)
{
    *log =
        (struct event_log){.queue = queue, .size = queue->rules.host ? 0 : queue->config.event_log};
    return mutex_event_log_add_profile(log, 1);
}

bool
mutex_event_log_make(struct event_log *log)
{
    if (log->ring == NULL && log->size > 0) {
        log->ring = memory_alloc(&log->queue->memory, MEMORY_OTHER, log->size * sizeof *log->ring,
                                 CACHE_LINE);
    }
    return log->ring != NULL || log->size == 0;
}

void
mutex_event_log_shut(struct event_log *log)
{
    mutex_event_log_forget(log);
    memory_free(&log->queue->memory, MEMORY_OTHER, log->ring, log->size * sizeof *log->ring);
    memory_free(&log->queue->memory, MEMORY_OTHER, log->stamps,
                log->stamps_capacity * sizeof *log->stamps);
}

bool
mutex_event_log_add_profile(struct event_log *log, uint32_t profile_count)
{
    uint32_t capacity = log->stamps_capacity == 0 ? 4 : log->stamps_capacity;

    while (capacity < profile_count) {
        capacity *= 2;
    }
    if (capacity == log->stamps_capacity) {
        return true;
    }
    uint64_t(*stamps)[STAMPS] = memory_grow(&log->queue->memory, MEMORY_OTHER, log->stamps,
                                            log->stamps_capacity, capacity, sizeof *stamps);
    if (stamps == NULL) {
        return false;
    }
    log->stamps = stamps;
    log->stamps_capacity = capacity;
    return true;
}

uint64_t
mutex_event_log_draw(struct event_log *log)
{
    return ++log->newest;
}

void
mutex_event_log_stamp(struct event_log *log, schedq_profile_t profile, uint64_t rejectors,
                      uint64_t sequence)
{
    uint64_t *stamps = log->stamps[profile];

    for (; rejectors != 0; rejectors &= rejectors - 1) {
        int plugin = __builtin_ctzll(rejectors);

        if (stamps[plugin] < sequence) {
            stamps[plugin] = sequence;
        }
    }
}

static void
log_release(const struct event_log *log, uint64_t object)
{
    const schedq_config_t *config = &log->queue->config;

    if (config->objects == SCHEDQ_OBJECTS_COUNTED && object != 0) {
        config_release(config, object);
    }
}

static void
log_retain(const struct event_log *log, uint64_t object)
{
    const schedq_config_t *config = &log->queue->config;

    if (config->objects == SCHEDQ_OBJECTS_COUNTED && object != 0) {
        config_retain(config, object);
    }
}

static void
record_clear(const struct event_log *log, struct event_record *record)
{
    if (record->sequence != 0) {
        log_release(log, record->old_object);
        log_release(log, record->new_object);
        *record = (struct event_record){0};
    }
}

void
mutex_event_log_record(struct event_log *log, schedq_event_t event, uint64_t old_object,
                       uint64_t new_object)
{
    bool opaque = log->queue->config.objects == SCHEDQ_OBJECTS_BORROWED;

    if (log->size == 0) {
        return;
    }
    struct event_record *record = &log->ring[log->newest & (log->size - 1)];

    record_clear(log, record);
    *record = (struct event_record){.sequence = log->newest, .event = event, .opaque = opaque};
    if (!opaque) {
        log_retain(log, old_object);
        log_retain(log, new_object);
        record->old_object = old_object;
        record->new_object = new_object;
    }
    if (log->first_held == 0) {
        log->first_held = log->newest;
    }
}

/* The oldest sequence that the ring can still hold. */
static uint64_t
ring_begin(const struct event_log *log)
{
    return log->newest >= log->size ? log->newest - log->size + 1 : 1;
}

void
mutex_event_log_forget(struct event_log *log)
{
    if (log->first_held == 0) {
        return;
    }
    uint64_t begin = ring_begin(log);

    for (uint64_t i = log->first_held > begin ? log->first_held : begin; i <= log->newest; i++) {
        record_clear(log, &log->ring[i & (log->size - 1)]);
    }
    log->first_held = 0;
}

uint64_t
mutex_event_log_newest_stamp(const struct event_log *log, schedq_profile_t profile,
                             uint64_t rejectors)
{
    uint64_t newest = 0;

    for (; rejectors != 0; rejectors &= rejectors - 1) {
        uint64_t stamp = log->stamps[profile][__builtin_ctzll(rejectors)];

        newest = stamp > newest ? stamp : newest;
    }
    return newest;
}

static enum strategy
judge_record(const struct event_log *log, const struct event_record *record,
             const struct entry *entry, uint64_t *hint_calls)
{
    const struct requeue_question question = {.pod = entry->object,
                                              .old_object = record->old_object,
                                              .new_object = record->new_object,
                                              .unschedulable = entry->unschedulable,
                                              .pending = entry->pending,
                                              .ask = true,
                                              .opaque = record->opaque};

    return registry_judge(&log->queue->registry, entry->profile, record->event, &question,
                          hint_calls);
}

enum strategy
mutex_event_log_judge(const struct event_log *log, const struct entry *entry, uint64_t *hint_calls)
{
    uint64_t seen = entry->flight.seen;
    enum strategy best = STRATEGY_SKIP;

    if (mutex_event_log_newest_stamp(log, entry->profile, entry->unschedulable | entry->pending) <=
        seen) {
        return STRATEGY_SKIP;
    }
    uint64_t begin = ring_begin(log);

    if (begin > seen + 1) {
        best = STRATEGY_AFTER_BACKOFF;
        seen = begin - 1;
    }
    for (uint64_t i = seen + 1; i <= log->newest && best < requeue_strongest(entry->pending); i++) {
        const struct event_record *record = log->size == 0 ? NULL : &log->ring[i & (log->size - 1)];
        enum strategy strategy = record == NULL || record->sequence != i
                                     ? STRATEGY_AFTER_BACKOFF
                                     : judge_record(log, record, entry, hint_calls);

        best = strategy > best ? strategy : best;
    }
    return best;
}
