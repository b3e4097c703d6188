/* A queue's life as a whole: create, destroy, memory, clock, timer thread, close, numbers. */
#include "api/call.h"
#include "api/config.h"
#include "api/own.h"
#include "api/sample.h"
#include "platform/hash.h"
#include "platform/words.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

static pthread_once_t forks_are_watched = PTHREAD_ONCE_INIT;
static const struct engine_ops *const engines[] = {&lockfree_engine, &mutex_engine};

static const struct engine_ops *
engine_of(uint8_t number)
{
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (engines[i]->number == number) {
            return engines[i];
        }
    }
    return NULL;
}

static void
fill_base(schedq_t *queue, const schedq_config_t *config, const struct engine_ops *ops)
{
    queue->ops = ops;
    queue->forks = inside_forks();
    queue->seed = hash_seed(&queue->memory, queue);
    queue->config = *config;
    queue->clock = (struct clock){.source = config->clock,
                                  .word = config->external_clock ? &queue->words.now_ns : NULL};
    queue->words.now_ns = config->start_ns;
    queue->words.next_deadline_ns = SCHEDQ_NO_DEADLINE;
    rules_from_config(&queue->rules, config);
}

/* The queue's own record lies in the memory that it describes. */
static schedq_t *
allocate(const schedq_config_t *config, const struct engine_ops *ops)
{
    struct memory memory;

    memory_open(&memory, &config->allocator);
    schedq_t *queue = memory_alloc(&memory, MEMORY_OTHER, ops->queue_bytes, CACHE_LINE);
    if (queue != NULL) {
        queue->memory = memory;
    }
    return queue;
}

static void
deallocate(schedq_t *queue)
{
    struct memory memory = queue->memory;
    size_t bytes = queue->ops->queue_bytes;

    memory_free(&memory, MEMORY_OTHER, queue, bytes);
    memory_close(&memory);
}

static schedq_status_t
no_memory(const schedq_config_t *config, char *why, size_t why_size)
{
    say(why, why_size, "no memory for a queue: %s returned NULL",
        config->allocator.alloc != NULL ? "config.allocator.alloc" : "the library's allocator");
    return SCHEDQ_NOMEM;
}

schedq_status_t
schedq_create(const schedq_config_t *config, schedq_t **out, char *why, size_t why_size)
{
    say(why, why_size, "%s", "");
    if (out != NULL) {
        *out = NULL;
    }
    if (out == NULL || config == NULL) {
        say(why, why_size, "%s NULL: a pointer", out == NULL ? "queue" : "config");
        return SCHEDQ_INVALID;
    }
    if (!config_check(config, why, why_size)) {
        return SCHEDQ_INVALID;
    }
    (void)pthread_once(&forks_are_watched, inside_watch_forks);
    schedq_t *queue = allocate(config, engine_of(config->engine));
    if (queue == NULL) {
        return no_memory(config, why, why_size);
    }
    fill_base(queue, config, engine_of(config->engine));
    if (!registry_open(&queue->registry, &queue->memory, &queue->rules, config->max_events) ||
        !sample_open(queue) || !queue->ops->open(queue)) {
        sample_shut(queue);
        registry_close(&queue->registry);
        deallocate(queue);
        return no_memory(config, why, why_size);
    }
    *out = queue;
    return SCHEDQ_OK;
}

/* ---- ending ---------------------------------------------------------------------------------- */

/* SCHEDQ_NOT_EMPTY, and words: how many pods are where. */
static schedq_status_t
check_empty(const schedq_stats_t *stats, char *why, size_t why_size)
{
    const struct {
        const char *place;
        uint64_t pods;
    } places[] = {{"active", stats->active},     {"backoff", stats->backoff + stats->error_backoff},
                  {"parked", stats->parked},     {"gated", stats->gated},
                  {"held", stats->held},         {"aside", stats->aside},
                  {"in flight", stats->inflight}};
    char text[160];
    size_t length = 0;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i].pods != 0) {
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRIu64 " %s",
                                       length > 0 ? ", " : "", places[i].pods, places[i].place);
        }
    }
    if (length == 0) {
        return SCHEDQ_OK;
    }
    say(why, why_size, "%s: end them first, or call schedq_destroy_with_pods", text);
    return SCHEDQ_NOT_EMPTY;
}

/* Workers that belong to threads go back here; others refuse. */
static schedq_status_t
end(schedq_t *queue, bool with_pods, char *why, size_t why_size)
{
    schedq_stats_t stats;

    queue->ops->stats(queue, &stats);
    schedq_status_t status = with_pods ? SCHEDQ_OK : check_empty(&stats, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!own_claim(queue, stats.workers, why, why_size)) {
        return SCHEDQ_BUSY;
    }
    own_take_back(queue);
    status = queue->ops->shut(queue);
    if (status != SCHEDQ_OK) {
        return status;
    }
    own_close(queue);
    sample_shut(queue);
    registry_close(&queue->registry);
    notifier_shut(&queue->notifier);
    deallocate(queue);
    return SCHEDQ_OK;
}

static schedq_status_t
destroy(schedq_t *queue, bool with_pods, char *why, size_t why_size)
{
    struct call call;

    if (queue == NULL) {
        say(why, why_size, "%s", "");
        return SCHEDQ_OK;
    }
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);
    if (status != SCHEDQ_OK) {
        return status;
    }
    inside_calls(CALLBACK_DESTROY);
    status = end(queue, with_pods, why, why_size);
    call_end(&call);
    return status;
}

schedq_status_t
schedq_destroy(schedq_t *queue, char *why, size_t why_size)
{
    return destroy(queue, false, why, why_size);
}

schedq_status_t
schedq_destroy_with_pods(schedq_t *queue, char *why, size_t why_size)
{
    return destroy(queue, true, why, why_size);
}

/* ---- memory, clock, timer thread, close ------------------------------------------------------ */

static bool
check_reserve(const char *name, uint32_t value, uint32_t cap, uint32_t width, char *why,
              size_t why_size)
{
    uint32_t max = cap == 0 ? width : cap;

    if (value > max) {
        say(why, why_size, "%s %" PRIu32 ": 0..%" PRIu32, name, value, max);
        return false;
    }
    return true;
}

schedq_status_t
schedq_reserve(schedq_t *queue, uint32_t pods, uint32_t bands, uint32_t workers, char *why,
               size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    const schedq_config_t *config = &queue->config;

    if (!check_reserve("pods", pods, config->max_pods, PODS_MAX, why, why_size) ||
        !check_reserve("bands", bands, config->max_bands, BANDS_MAX, why, why_size) ||
        !check_reserve("workers", workers, config->max_workers, WORKERS_MAX, why, why_size)) {
        status = SCHEDQ_INVALID;
    } else {
        status = queue->ops->reserve(queue, pods, bands, workers);
    }
    call_end(&call);
    return status;
}

schedq_status_t
schedq_trim(schedq_t *queue)
{
    struct call call;
    schedq_status_t status = call_begin(&call, queue);

    if (status == SCHEDQ_OK) {
        queue->ops->trim(queue);
        memory_purge(&queue->memory);
        call_end(&call);
    }
    return status;
}

schedq_words_t *
schedq_words(schedq_t *queue)
{
    struct call call;

    if (call_begin(&call, queue) != SCHEDQ_OK) {
        return NULL;
    }
    call_end(&call);
    return &queue->words;
}

schedq_status_t
schedq_clock_advance(schedq_t *queue, int64_t now_ns)
{
    struct call call;
    schedq_status_t status = call_begin(&call, queue);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (queue->config.external_clock) {
        word_raise_i64(&queue->words.now_ns, now_ns);
    } else {
        status = SCHEDQ_INVALID;
    }
    call_end(&call);
    return status;
}

int64_t
schedq_now(schedq_t *queue)
{
    return queue != NULL ? clock_now(&queue->clock) : 0;
}

schedq_status_t
schedq_run(schedq_t *queue, char *why, size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (clock_is_virtual(&queue->clock)) {
        say(why, why_size, "clock: a real one; with a virtual or external clock call schedq_tick");
        status = SCHEDQ_INVALID;
    } else {
        status = queue->ops->run(queue);
        if (status == SCHEDQ_FULL) {
            say(why, why_size, "workers: all %" PRIu32 " are registered (max_workers)",
                queue->config.max_workers);
        }
    }
    call_end(&call);
    return status;
}

schedq_status_t
schedq_stop(schedq_t *queue)
{
    struct call call;
    schedq_status_t status = call_begin(&call, queue);

    if (status == SCHEDQ_OK) {
        queue->ops->stop(queue);
        call_end(&call);
    }
    return status;
}

schedq_status_t
schedq_close(schedq_t *queue)
{
    struct call call;
    schedq_status_t status = call_begin(&call, queue);

    if (status == SCHEDQ_OK) {
        queue->ops->close(queue);
        call_end(&call);
    }
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------- */

schedq_status_t
schedq_stats(schedq_t *queue, schedq_stats_t *stats)
{
    struct call call;
    schedq_status_t status = call_begin(&call, queue);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (stats == NULL || stats->struct_size != sizeof *stats) {
        status = SCHEDQ_INVALID;
    } else {
        queue->ops->stats(queue, stats);
    }
    call_end(&call);
    return status;
}

size_t
schedq_pending_text(schedq_t *queue, char *text, size_t size)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    if ((text == NULL && size > 0) || schedq_stats(queue, &stats) != SCHEDQ_OK) {
        return 0;
    }
    char groups[96] = "";

    if (stats.groups_known) {
        (void)snprintf(groups, sizeof groups,
                       "; pendingPodGroupMemberPods:%" PRIu64 "; incompletePodGroupPods:%" PRIu64,
                       stats.members_at[SCHEDQ_INFLIGHT],
                       stats.aside - stats.members_at[SCHEDQ_INFLIGHT]);
    }
    int length = snprintf(
        text, size, "activeQ:%" PRIu64 "; backoffQ:%" PRIu64 "; unschedulable%s:%" PRIu64 "%s",
        stats.active, stats.backoff + stats.error_backoff,
        queue->rules.unscheduled_by_1_37 ? "Entities" : "Pods", stats.parked + stats.gated, groups);

    return length < 0 ? 0 : (size_t)length;
}
