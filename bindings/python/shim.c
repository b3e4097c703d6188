/* See shim.h. */
#include "shim.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIVE, ENDING, ENDED };
enum { DEAD_BEFORE_TAKEN = 32, REFS_IN_CHUNK = 512, HINTS = 256 };

struct ref {
    _Atomic(uint64_t) count;
    struct ref *next; /* on the list of dead ones */
};

struct chunk {
    struct chunk *next;
    struct ref refs[REFS_IN_CHUNK];
};

struct sqp_queue {
    schedq_t *queue;
    void *self;
    _Atomic(size_t) inside; /* calls between their begin and their end */
    _Atomic(int) life;      /* LIVE, ENDING, ENDED */
    _Atomic(schedq_worker_t *)
        some;                   /* a worker that some thread got; perhaps not registered any more */
    _Atomic(struct ref *) dead; /* refs with count 0, the newest first */
    _Atomic(size_t) dead_count; /* of them; may be ahead of the list */
    _Atomic(struct chunk *) chunks; /* all memory of refs */
    _Atomic(int) attention;         /* see sqp_ask_for_attention */
};

static _Thread_local char words[512];

const char *
sqp_words(void)
{
    return words;
}

/* ---- the guard ------------------------------------------------------------------------------- */

/* As sqp_end sequentially consistent: of a call and an end that meet, one sees the other. */
static int
count_in(sqp_queue *queue)
{
    (void)atomic_fetch_add(&queue->inside, 1);
    if (atomic_load(&queue->life) == LIVE) {
        return SCHEDQ_OK;
    }
    (void)atomic_fetch_sub(&queue->inside, 1);
    return SCHEDQ_INVALID;
}

static int
enter(sqp_queue *queue)
{
    int status = count_in(queue);

    words[0] = '\0';
    if (status != SCHEDQ_OK) {
        (void)snprintf(words, sizeof words, "the queue has ended");
    }
    return status;
}

static int
leave(sqp_queue *queue, int status)
{
    if (atomic_load_explicit(&queue->dead_count, memory_order_relaxed) >= DEAD_BEFORE_TAKEN ||
        atomic_load_explicit(&queue->attention, memory_order_relaxed) != 0) {
        status |= SQP_DEAD;
    }
    (void)atomic_fetch_sub_explicit(&queue->inside, 1, memory_order_release);
    return status;
}

static int
enter_with_worker(sqp_queue *queue, schedq_worker_t **worker)
{
    int status = enter(queue);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = (int)schedq_worker_get(queue->queue, worker, words, sizeof words);
    if (status != SCHEDQ_OK) {
        return leave(queue, status);
    }
    if (atomic_load_explicit(&queue->some, memory_order_relaxed) == NULL) {
        atomic_store_explicit(&queue->some, *worker, memory_order_relaxed);
    }
    return SCHEDQ_OK;
}

static int
leave_with_worker(sqp_queue *queue, const schedq_worker_t *worker, int status)
{
    if (status == SCHEDQ_INVALID || status == SCHEDQ_FULL || status == SCHEDQ_BUSY) {
        (void)snprintf(words, sizeof words, "%s", schedq_worker_error(worker));
    }
    return leave(queue, status);
}

#define CALL(name, parameters, arguments)                                      \
    int sqp_##name parameters                                                  \
    {                                                                          \
        schedq_worker_t *worker;                                               \
        int status = enter_with_worker(queue, &worker);                        \
                                                                               \
        if (status != SCHEDQ_OK) {                                             \
            return status;                                                     \
        }                                                                      \
        return leave_with_worker(queue, worker, (int)schedq_##name arguments); \
    }
#define CALL_QUEUE(name, parameters, arguments)            \
    int sqp_##name parameters                              \
    {                                                      \
        int status = enter(queue);                         \
                                                           \
        if (status != SCHEDQ_OK) {                         \
            return status;                                 \
        }                                                  \
        return leave(queue, (int)schedq_##name arguments); \
    }
#include "calls.h"

static void
retain(void *ctx, uint64_t object)
{
    struct ref *ref = (struct ref *)(uintptr_t)object;

    (void)ctx;
    if (ref != NULL) {
        (void)atomic_fetch_add_explicit(&ref->count, 1, memory_order_relaxed);
    }
}

/* The count goes up before the ref is on the list, so that it is never below the truth. */
static void
release(void *ctx, uint64_t object)
{
    sqp_queue *queue = ctx;
    struct ref *ref = (struct ref *)(uintptr_t)object;

    if (ref == NULL || atomic_fetch_sub_explicit(&ref->count, 1, memory_order_acq_rel) != 1) {
        return;
    }
    (void)atomic_fetch_add_explicit(&queue->dead_count, 1, memory_order_relaxed);
    ref->next = atomic_load_explicit(&queue->dead, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&queue->dead, &ref->next, ref,
                                                  memory_order_release, memory_order_relaxed)) {
    }
}

static int
affinity(void *ctx, uint64_t pod, uint64_t assigned)
{
    const sqp_queue *queue = ctx;

    return sqp_py_affinity(queue->self, pod, assigned);
}

size_t
sqp_size(void)
{
    return sizeof(sqp_queue);
}

int
sqp_create(schedq_config_t *config, void *self, int has_affinity, sqp_queue *queue)
{
    words[0] = '\0';
    queue->self = self;
    config->objects = SCHEDQ_OBJECTS_COUNTED;
    config->object_ctx = queue;
    config->retain = retain;
    config->release = release;
    config->affinity_matches = has_affinity ? affinity : NULL;
    return (int)schedq_create(config, &queue->queue, words, sizeof words);
}

static void
free_chunks(sqp_queue *queue)
{
    struct chunk *chunk = atomic_load(&queue->chunks);

    while (chunk != NULL) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

/* Words are there unless the status is OK. */
static int
end(sqp_queue *queue, int stops, int with_pods)
{
    int live = LIVE;
    int status = SCHEDQ_BUSY;

    words[0] = '\0';
    if (!atomic_compare_exchange_strong(&queue->life, &live, ENDING)) {
        (void)snprintf(words, sizeof words, "another thread ends the queue");
        return live == ENDED ? SCHEDQ_OK : SCHEDQ_BUSY;
    }
    if (atomic_load(&queue->inside) == 0) {
        status = stops ? (int)schedq_stop(queue->queue) : SCHEDQ_OK;
        if (status == SCHEDQ_OK) {
            status = with_pods ? (int)schedq_destroy_with_pods(queue->queue, words, sizeof words)
                               : (int)schedq_destroy(queue->queue, words, sizeof words);
        }
    } else {
        (void)snprintf(words, sizeof words, "calls that have not returned: %zu",
                       atomic_load(&queue->inside));
    }
    if (status == SCHEDQ_OK) {
        free_chunks(queue);
    }
    atomic_store(&queue->life, status == SCHEDQ_OK ? ENDED : LIVE);
    return status;
}

int
sqp_end(sqp_queue *queue)
{
    return end(queue, 1, 1);
}

int
sqp_destroy(sqp_queue *queue, int with_pods)
{
    return end(queue, 0, with_pods);
}

/* ---- pods ------------------------------------------------------------------------------------ */

/* In a callback any worker does: schedq_done needs none of its own. */
static int
enter_to_end_cycles(sqp_queue *queue, schedq_worker_t **worker)
{
    int status = enter(queue);

    if (status == SCHEDQ_OK &&
        schedq_worker_get(queue->queue, worker, words, sizeof words) != SCHEDQ_OK) {
        *worker = atomic_load_explicit(&queue->some, memory_order_relaxed);
    }
    return status;
}

int
sqp_done(sqp_queue *queue, const schedq_popped_t *pod)
{
    schedq_worker_t *worker;
    int status = enter_to_end_cycles(queue, &worker);

    return status != SCHEDQ_OK ? status : leave(queue, (int)schedq_done(worker, pod->token));
}

int
sqp_done_many(sqp_queue *queue, const schedq_popped_t *const *pods, size_t count, uint8_t *statuses)
{
    schedq_token_t *tokens = malloc((count == 0 ? 1 : count) * sizeof *tokens);
    schedq_worker_t *worker;
    int status = enter_to_end_cycles(queue, &worker);

    for (size_t i = 0; tokens != NULL && i < count; i++) {
        tokens[i] = pods[i]->token;
    }
    if (status == SCHEDQ_OK) {
        status =
            leave(queue, tokens == NULL ? SCHEDQ_NOMEM
                                        : (int)schedq_done_many(worker, tokens, count, statuses));
    }
    free(tokens);
    return status;
}

int
sqp_add_plain(sqp_queue *queue, const char *name, size_t length, int32_t priority, uint64_t object,
              schedq_pod_t *pod)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_result_t result;
    int status;

    spec.priority = priority;
    spec.object = object;
    status = sqp_add(queue, name, length, &spec, &result);
    if ((status & ~SQP_DEAD) == SCHEDQ_OK) {
        *pod = result.pod;
    }
    (void)sqp_drop_refs(queue, &object, 1);
    return status;
}

int
sqp_add_many(sqp_queue *queue, const char *text, size_t text_length, const uint32_t *lengths,
             const int32_t *priorities, const uint64_t *objects, const schedq_pod_spec_t *spec,
             size_t count, schedq_pod_t *pods, uint8_t *statuses)
{
    schedq_add_item_t *items = malloc((count == 0 ? 1 : count) * sizeof *items);
    schedq_worker_t *worker;
    uint32_t offset = 0;
    int status;

    for (size_t i = 0; items != NULL && i < count; i++) {
        items[i] = (schedq_add_item_t){offset, lengths[i], *spec};
        items[i].spec.priority = priorities == NULL ? spec->priority : priorities[i];
        items[i].spec.object = objects == NULL ? spec->object : objects[i];
        offset += lengths[i];
    }
    status = enter_with_worker(queue, &worker);
    if (status == SCHEDQ_OK && items == NULL) {
        memset(statuses, SCHEDQ_NOMEM, count);
        status = leave(queue, SCHEDQ_NOMEM);
    } else if (status == SCHEDQ_OK) {
        status = leave_with_worker(
            queue, worker,
            (int)schedq_add_many(worker, text, text_length, items, count, pods, statuses, NULL));
    }
    free(items);
    if (objects != NULL) {
        (void)sqp_drop_refs(queue, objects, count);
    }
    return status;
}

int
sqp_leave_worker(sqp_queue *queue)
{
    schedq_worker_t *worker;
    int status = enter_with_worker(queue, &worker);

    return status != SCHEDQ_OK ? status : leave(queue, (int)schedq_worker_unregister(worker));
}

/* ---- callables ------------------------------------------------------------------------------- */

/* A hint is not told which interest it is of. So each number has a function of its own. */
#define HINT(hex)                                                                      \
    static schedq_hint_t hint_##hex(void *self, uint64_t pod, uint64_t old_object,     \
                                    uint64_t new_object)                               \
    {                                                                                  \
        return (schedq_hint_t)sqp_py_hint(self, 0x##hex, pod, old_object, new_object); \
    }
#define FOUR(what, a, b, c, d) what(a) what(b) what(c) what(d)
#define LOW(what, n) FOUR(what, n##0, n##1, n##2, n##3) FOUR(what, n##4, n##5, n##6, n##7)
#define HIGH(what, n) FOUR(what, n##8, n##9, n##a, n##b) FOUR(what, n##c, n##d, n##e, n##f)
#define ROW(what, n) LOW(what, n) HIGH(what, n)
#define LOW_ROWS(what) ROWS(what, 0, 1, 2, 3) ROWS(what, 4, 5, 6, 7)
#define HIGH_ROWS(what) ROWS(what, 8, 9, a, b) ROWS(what, c, d, e, f)
#define ROWS(what, a, b, c, d) ROW(what, a) ROW(what, b) ROW(what, c) ROW(what, d)
#define ALL_HINTS(what) LOW_ROWS(what) HIGH_ROWS(what)
ALL_HINTS(HINT)

#define HINT_NAME(hex) hint_##hex,
static const schedq_hint_fn hints[HINTS] = {ALL_HINTS(HINT_NAME)};

int
sqp_plugin_register(sqp_queue *queue, schedq_plugin_t *plugin, schedq_interest_t *interests,
                    const uint8_t *hinted, int gates, void *self, uint64_t *bit)
{
    int status = enter(queue);

    if (status != SCHEDQ_OK) {
        return status;
    }
    for (size_t i = 0; i < plugin->interest_count && i < HINTS; i++) {
        interests[i].hint = hinted[i] ? hints[i] : NULL;
    }
    plugin->interests = plugin->interest_count == 0 ? NULL : interests;
    plugin->pre_enqueue = gates ? sqp_py_gate : NULL;
    plugin->ctx = self;
    return leave(queue,
                 (int)schedq_plugin_register(queue->queue, plugin, bit, words, sizeof words));
}

int
sqp_set_precheck(schedq_change_t *change, void *self)
{
    change->precheck = sqp_py_precheck;
    change->precheck_ctx = self;
    return SCHEDQ_OK;
}

/* ---- what is asked of the queue -------------------------------------------------------------- */

int
sqp_rejector_bit(sqp_queue *queue, schedq_profile_t profile, const char *name, size_t length,
                 uint64_t *bit)
{
    int status = enter(queue);

    if (status == SCHEDQ_OK) {
        *bit = schedq_rejector_bit(queue->queue, profile, name, length);
        status = leave(queue, SCHEDQ_OK);
    }
    return status;
}

int
sqp_event_plugins(sqp_queue *queue, schedq_profile_t profile, schedq_event_t event,
                  uint64_t *plugins)
{
    int status = enter(queue);

    if (status == SCHEDQ_OK) {
        *plugins = schedq_event_plugins(queue->queue, profile, event);
        status = leave(queue, SCHEDQ_OK);
    }
    return status;
}

int
sqp_now(sqp_queue *queue, int64_t *now_ns)
{
    int status = enter(queue);

    if (status == SCHEDQ_OK) {
        *now_ns = schedq_now(queue->queue);
        status = leave(queue, SCHEDQ_OK);
    }
    return status;
}

int
sqp_next_deadline(sqp_queue *queue, int64_t *deadline_ns)
{
    int status = enter(queue);

    if (status == SCHEDQ_OK) {
        *deadline_ns = schedq_next_deadline(queue->queue);
        status = leave(queue, SCHEDQ_OK);
    }
    return status;
}

int
sqp_read_words(sqp_queue *queue, schedq_words_t *copy)
{
    int status = enter(queue);
    const schedq_words_t *numbers;

    if (status != SCHEDQ_OK) {
        return status;
    }
    numbers = schedq_words(queue->queue);
    if (numbers == NULL) {
        return leave(queue, SCHEDQ_BUSY);
    }
    copy->parked = __atomic_load_n(&numbers->parked, __ATOMIC_ACQUIRE);
    copy->gated = __atomic_load_n(&numbers->gated, __ATOMIC_ACQUIRE);
    copy->backoff = __atomic_load_n(&numbers->backoff, __ATOMIC_ACQUIRE);
    copy->error_backoff = __atomic_load_n(&numbers->error_backoff, __ATOMIC_ACQUIRE);
    copy->nominations = __atomic_load_n(&numbers->nominations, __ATOMIC_ACQUIRE);
    copy->event_sequence = __atomic_load_n(&numbers->event_sequence, __ATOMIC_ACQUIRE);
    copy->next_deadline_ns = __atomic_load_n(&numbers->next_deadline_ns, __ATOMIC_ACQUIRE);
    copy->now_ns = __atomic_load_n(&numbers->now_ns, __ATOMIC_ACQUIRE);
    copy->closed = __atomic_load_n(&numbers->closed, __ATOMIC_ACQUIRE);
    copy->poppable = __atomic_load_n(&numbers->poppable, __ATOMIC_ACQUIRE);
    copy->held = __atomic_load_n(&numbers->held, __ATOMIC_ACQUIRE);
    copy->aside = __atomic_load_n(&numbers->aside, __ATOMIC_ACQUIRE);
    return leave(queue, SCHEDQ_OK);
}

int
sqp_pending_text(sqp_queue *queue, char *text, size_t size)
{
    int status = enter(queue);

    if (status != SCHEDQ_OK) {
        return status;
    }
    return leave(queue,
                 schedq_pending_text(queue->queue, text, size) == 0 ? SCHEDQ_BUSY : SCHEDQ_OK);
}

int
sqp_rejector_name(sqp_queue *queue, schedq_profile_t profile, uint64_t bit, char *text, size_t size)
{
    int status = enter(queue);
    const char *name;

    if (status != SCHEDQ_OK) {
        return status;
    }
    name = schedq_rejector_name(queue->queue, profile, bit);
    if (name == NULL) {
        return leave(queue, SCHEDQ_NOT_FOUND);
    }
    (void)snprintf(text, size, "%s", name);
    return leave(queue, SCHEDQ_OK);
}

int
sqp_explanation_text(sqp_queue *queue, const schedq_explanation_t *explanation, char *text,
                     size_t size)
{
    int status = enter(queue);

    if (status != SCHEDQ_OK) {
        return status;
    }
    return leave(queue, schedq_explanation_text(queue->queue, explanation, text, size) == 0
                            ? SCHEDQ_BUSY
                            : SCHEDQ_OK);
}

int
sqp_overdue_text(sqp_queue *queue, const schedq_overdue_t *overdue, char *text, size_t size)
{
    schedq_worker_t *worker;
    int status = enter_with_worker(queue, &worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    return leave_with_worker(queue, worker,
                             schedq_overdue_text(worker, overdue, text, size) == 0 ? SCHEDQ_BUSY
                                                                                   : SCHEDQ_OK);
}

/* Room for `wanted` bytes in all. */
static int
grow(void **memory, size_t *capacity, size_t wanted, size_t size)
{
    size_t larger = *capacity == 0 ? 64 : *capacity;
    void *grown;

    if (wanted <= *capacity) {
        return 1;
    }
    while (larger < wanted) {
        larger *= 2;
    }
    grown = realloc(*memory, larger * size);
    if (grown == NULL) {
        return 0;
    }
    *memory = grown;
    *capacity = larger;
    return 1;
}

static int
append(void *ctx, const char *piece, size_t length)
{
    sqp_text *text = ctx;
    void *bytes = text->bytes;

    if (!grow(&bytes, &text->capacity, text->length + length, 1)) {
        return 0;
    }
    text->bytes = bytes;
    memcpy(text->bytes + text->length, piece, length);
    text->length += length;
    return 1;
}

int
sqp_metrics_write(sqp_queue *queue, sqp_text *text)
{
    int status = enter(queue);

    return status != SCHEDQ_OK
               ? status
               : leave(queue, (int)schedq_metrics_write(queue->queue, append, text));
}

void
sqp_text_free(sqp_text *text)
{
    free(text->bytes);
}

/* ---- visits ---------------------------------------------------------------------------------- */

static int
copy_pod(void *ctx, const schedq_pod_info_t *pod)
{
    sqp_visited *visited = ctx;
    void *pods = visited->pods;
    int room = grow(&pods, &visited->capacity, visited->count + 1, sizeof *pod);
    char *name = room ? strndup(pod->name, pod->name_length) : NULL;

    visited->pods = pods;
    if (name == NULL) {
        visited->no_memory = 1;
        return 0;
    }
    visited->pods[visited->count] = *pod;
    visited->pods[visited->count++].name = name;
    retain(NULL, pod->object);
    return 1;
}

#define VISIT(name, parameters, arguments)                                                   \
    int sqp_##name parameters                                                                \
    {                                                                                        \
        schedq_worker_t *worker;                                                             \
        int status = enter_with_worker(queue, &worker);                                      \
                                                                                             \
        if (status != SCHEDQ_OK) {                                                           \
            return status;                                                                   \
        }                                                                                    \
        status = (int)schedq_##name arguments;                                               \
        return leave_with_worker(queue, worker, visited->no_memory ? SCHEDQ_NOMEM : status); \
    }
VISIT(get, (struct sqp_queue * queue, schedq_pod_t pod, sqp_visited *visited),
      (worker, pod, copy_pod, visited))
VISIT(snapshot, (struct sqp_queue * queue, sqp_visited *visited), (worker, copy_pod, visited))
VISIT(nominated_pods, (struct sqp_queue * queue, uint64_t node, sqp_visited *visited),
      (worker, node, copy_pod, visited))
VISIT(peek, (struct sqp_queue * queue, sqp_visited *visited), (worker, copy_pod, visited))
VISIT(peek_many, (struct sqp_queue * queue, size_t count, sqp_visited *visited),
      (worker, count, copy_pod, visited))

void
sqp_visited_free(sqp_queue *queue, sqp_visited *visited)
{
    for (size_t i = 0; i < visited->count; i++) {
        free((void *)(uintptr_t)visited->pods[i].name);
        (void)sqp_drop_refs(queue, &visited->pods[i].object, 1);
    }
    free(visited->pods);
    *visited = (sqp_visited){NULL, 0, 0, 0};
}

/* ---- objects --------------------------------------------------------------------------------- */

static int
make_refs(sqp_queue *queue, uint64_t *refs, size_t count)
{
    size_t made = 0;

    while (made < count) {
        struct chunk *chunk = calloc(1, sizeof *chunk);
        if (chunk == NULL) {
            return SCHEDQ_NOMEM; /* what was made is freed with the queue */
        }
        for (size_t i = 0; i < REFS_IN_CHUNK && made < count; i++) {
            atomic_store_explicit(&chunk->refs[i].count, 1, memory_order_relaxed);
            refs[made++] = (uint64_t)(uintptr_t)&chunk->refs[i];
        }
        chunk->next = atomic_load_explicit(&queue->chunks, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&queue->chunks, &chunk->next, chunk,
                                                      memory_order_release, memory_order_relaxed)) {
        }
    }
    return SCHEDQ_OK;
}

int
sqp_make_refs(sqp_queue *queue, uint64_t *refs, size_t count)
{
    int status = enter(queue);

    return status != SCHEDQ_OK ? status : leave(queue, make_refs(queue, refs, count));
}

/* Keeps the words: they are those of the call that the references were for. */
int
sqp_drop_refs(sqp_queue *queue, const uint64_t *refs, size_t count)
{
    int status = count_in(queue);

    if (status == SCHEDQ_OK) {
        for (size_t i = 0; i < count; i++) {
            release(queue, refs[i]);
        }
        status = leave(queue, SCHEDQ_OK);
    }
    return status;
}

size_t
sqp_dead_count(sqp_queue *queue)
{
    return atomic_load_explicit(&queue->dead_count, memory_order_relaxed);
}

void
sqp_ask_for_attention(sqp_queue *queue, int asks)
{
    atomic_store_explicit(&queue->attention, asks, memory_order_relaxed);
}

/*
 * The whole list is taken, so that no exchange meets a ref that was taken and put back. What has
 * no room goes back.
 */
static size_t
take_dead(sqp_queue *queue, uint64_t *refs, size_t room)
{
    struct ref *ref = atomic_exchange_explicit(&queue->dead, NULL, memory_order_acquire);
    struct ref *last = ref;
    size_t taken = 0;

    while (ref != NULL && taken < room) {
        refs[taken++] = (uint64_t)(uintptr_t)ref;
        atomic_store_explicit(&ref->count, 1, memory_order_relaxed);
        ref = ref->next;
    }
    if (ref != NULL) {
        for (last = ref; last->next != NULL; last = last->next) {
        }
        last->next = atomic_load_explicit(&queue->dead, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&queue->dead, &last->next, ref,
                                                      memory_order_release, memory_order_relaxed)) {
        }
    }
    (void)atomic_fetch_sub_explicit(&queue->dead_count, taken, memory_order_relaxed);
    return taken;
}

size_t
sqp_take_dead(sqp_queue *queue, uint64_t *refs, size_t room)
{
    size_t taken = 0;

    if (count_in(queue) == SCHEDQ_OK) {
        taken = take_dead(queue, refs, room);
        (void)leave(queue, SCHEDQ_OK);
    }
    return taken;
}

/* ---- initializers ---------------------------------------------------------------------------- */

#define INIT(name, type, initializer) \
    void sqp_init_##name(type *name)  \
    {                                 \
        *name = (type)initializer;    \
    }
INIT(config, schedq_config_t, SCHEDQ_CONFIG_INIT)
INIT(spec, schedq_pod_spec_t, SCHEDQ_POD_SPEC_INIT)
INIT(failure, schedq_failure_t, SCHEDQ_FAILURE_INIT)
INIT(group, schedq_group_spec_t, SCHEDQ_GROUP_SPEC_INIT)
INIT(group_end, schedq_group_end_t, SCHEDQ_GROUP_END_INIT)
INIT(group_info, schedq_group_info_t, SCHEDQ_GROUP_INFO_INIT)
INIT(plugin, schedq_plugin_t, SCHEDQ_PLUGIN_INIT)
INIT(change, schedq_change_t, SCHEDQ_CHANGE_INIT)
INIT(stats, schedq_stats_t, SCHEDQ_STATS_INIT)
INIT(explanation, schedq_explanation_t, SCHEDQ_EXPLANATION_INIT)
INIT(reasons, schedq_reasons_t, SCHEDQ_REASONS_INIT)
INIT(watch, schedq_watch_t, SCHEDQ_WATCH_INIT)
