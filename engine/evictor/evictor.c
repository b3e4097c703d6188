/*
 * Carrying out a decision: schedq/eviction.h says in which order, and why.
 *
 * THE HELD. An array of words; a word is 0 or the object of a preemptor that is held. `held` counts
 * those that are in it or about to be, `end` is one more than the highest word that was ever used.
 *
 *   hold      held + 1, then end is raised over a free word, then CAS 0 -> object
 *   let go    the word becomes 0, then held - 1
 *   look      held is 0: none. Else all words below end
 *
 * ORDERING. Each step is a full fence, and a look's loads are acquires. A thread that learns of a
 * hold from the thread that took it sees held > 0, end, and the word. Letting go comes before the
 * last deletion is sent (let_go:A), so a thread that learns of that deletion, in any way, finds the
 * word empty.
 *
 * PROGRESS. A hold looks at each word once, and ends in FULL if others take each one before it
 * does. Looks and letting go are wait-free. A thread that stops inside a task holds its own
 * preemptor and no other.
 *
 * ABA does not matter: a word says nothing but "this preemptor is held", whenever it is written.
 *
 * EVIDENCE. tests/unit/test_preemption_evictor.c, with threads under ThreadSanitizer;
 * schedq-explore's scenarios preempt_*, with the queue that it holds preemptors out of.
 */
#include <schedq/eviction.h>

#include "platform/atomic.h"
#include "platform/memory.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HELD_MAX 65536

struct schedq_evictor {
    struct memory memory;
    schedq_evictor_config_t config;
    atomic_u64 tasks; /* spawned, and not ended */
    atomic_u64 held;
    atomic_u32 end;
    atomic_u64 *words; /* config.max_held */
};

/* An eviction for later; its lists lie behind it: victims, then nominations. */
struct task {
    schedq_evictor_t *evictor;
    size_t bytes;
    uint32_t word;
    uint32_t victim_count, clear_count;
    uint64_t preemptor;
    uint64_t objects[];
};

/* ---- making ---------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static schedq_status_t
refuse(char *why, size_t why_size, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (why != NULL && why_size > 0) {
        (void)vsnprintf(why, why_size, format, arguments);
    }
    va_end(arguments);
    return SCHEDQ_INVALID;
}

static schedq_status_t
check_config(const schedq_evictor_config_t *config, char *why, size_t why_size)
{
    const schedq_allocator_t *allocator = &config->allocator;

    if (config->struct_size != sizeof *config) {
        return refuse(why, why_size,
                      "config.struct_size %" PRIu32 ": %zu, as SCHEDQ_EVICTOR_CONFIG_INIT sets it",
                      config->struct_size, sizeof *config);
    }
    if (config->max_held == 0 || config->max_held > HELD_MAX) {
        return refuse(why, why_size, "config.max_held %" PRIu32 ": 1..%d", config->max_held,
                      HELD_MAX);
    }
    if ((allocator->alloc == NULL) != (allocator->free == NULL)) {
        return refuse(why, why_size, "config.allocator: alloc and free, or neither");
    }
    if (allocator->reserved != 0) {
        return refuse(why, why_size,
                      "config.allocator.reserved %" PRIu64 ": 0, as its initializer sets it",
                      allocator->reserved);
    }
    if (config->evict == NULL || config->clear == NULL) {
        return refuse(why, why_size, "config.%s NULL: a function",
                      config->evict == NULL ? "evict" : "clear");
    }
    if (config->spawn != NULL && config->activate == NULL) {
        return refuse(why, why_size, "config.activate NULL: a function, because there is a spawn");
    }
    return SCHEDQ_OK;
}

static schedq_evictor_t *
make(const schedq_evictor_config_t *config)
{
    struct memory memory;

    memory_open(&memory, &config->allocator);
    schedq_evictor_t *evictor = memory_alloc(&memory, MEMORY_OTHER, sizeof *evictor, CACHE_LINE);

    if (evictor != NULL) {
        evictor->memory = memory;
        evictor->config = *config;
        evictor->words = memory_alloc(&evictor->memory, MEMORY_OTHER,
                                      config->max_held * sizeof *evictor->words, CACHE_LINE);
        if (evictor->words != NULL) {
            return evictor;
        }
        memory = evictor->memory;
        memory_free(&memory, MEMORY_OTHER, evictor, sizeof *evictor);
    }
    return NULL;
}

schedq_status_t
schedq_evictor_create(const schedq_evictor_config_t *config, schedq_evictor_t **evictor, char *why,
                      size_t why_size)
{
    if (why != NULL && why_size > 0) {
        why[0] = '\0';
    }
    if (evictor != NULL) {
        *evictor = NULL;
    }
    if (config == NULL || evictor == NULL) {
        return refuse(why, why_size, "%s NULL: a pointer", config == NULL ? "config" : "evictor");
    }
    schedq_status_t status = check_config(config, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    *evictor = make(config);
    return *evictor != NULL ? SCHEDQ_OK : SCHEDQ_NOMEM;
}

schedq_status_t
schedq_evictor_destroy(schedq_evictor_t *evictor)
{
    if (evictor == NULL) {
        return SCHEDQ_OK;
    }
    if (u64_load_acquire(&evictor->tasks) != 0) { /* reads from run_later:A */
        return SCHEDQ_BUSY;
    }
    struct memory memory = evictor->memory; /* of a record that lies in what it describes */

    memory_free(&memory, MEMORY_OTHER, evictor->words,
                evictor->config.max_held * sizeof *evictor->words);
    memory_free(&memory, MEMORY_OTHER, evictor, sizeof *evictor);
    memory_close(&memory);
    return SCHEDQ_OK;
}

/* ---- the held -------------------------------------------------------------------------------- */

/* OK with the word; EXISTS, FULL. */
static schedq_status_t
hold(schedq_evictor_t *evictor, uint64_t preemptor, uint32_t *word)
{
    if (schedq_evictor_holds(evictor, preemptor) != 0) {
        return SCHEDQ_EXISTS;
    }
    (void)u64_add(&evictor->held, 1);
    for (uint32_t i = 0; i < evictor->config.max_held; i++) {
        if (u64_load(&evictor->words[i]) != 0) { /* a hint: the exchange decides */
            continue;
        }
        (void)u32_max(&evictor->end, i + 1);
        if (u64_cas(&evictor->words[i], 0, preemptor)) { /* hold:A */
            *word = i;
            return SCHEDQ_OK;
        }
    }
    (void)u64_add(&evictor->held, UINT64_MAX);
    return SCHEDQ_FULL;
}

static void
let_go(schedq_evictor_t *evictor, uint32_t word)
{
    (void)u64_exchange(&evictor->words[word], 0); /* let_go:A */
    (void)u64_add(&evictor->held, UINT64_MAX);
}

int
schedq_evictor_holds(const schedq_evictor_t *evictor, uint64_t preemptor)
{
    if (evictor == NULL || preemptor == 0 || u64_load_acquire(&evictor->held) == 0) {
        return 0;
    }
    uint32_t end = u32_load_acquire(&evictor->end);

    for (uint32_t i = 0; i < end; i++) {
        if (u64_load_acquire(&evictor->words[i]) == preemptor) { /* reads from hold:A, let_go:A */
            return 1;
        }
    }
    return 0;
}

/* ---- evicting -------------------------------------------------------------------------------- */

/* False: it failed. */
static bool
evict(const schedq_evictor_t *evictor, uint64_t victim, uint64_t preemptor,
      schedq_evicted_t *evicted)
{
    const schedq_evictor_config_t *config = &evictor->config;

    switch (config->evict(config->ctx, victim, preemptor)) {
    case SCHEDQ_DELETE_SENT:
        evicted->sent++;
        return true;
    case SCHEDQ_DELETE_GONE:
        evicted->gone++;
        return true;
    default:
        evicted->failed = victim;
        return false;
    }
}

static void
clear(const schedq_evictor_t *evictor, const uint64_t *clears, uint32_t count, uint64_t preemptor,
      schedq_evicted_t *evicted)
{
    const schedq_evictor_config_t *config = &evictor->config;

    for (uint32_t i = 0; i < count; i++) {
        evicted->not_cleared += config->clear(config->ctx, clears[i], preemptor) != 0 ? 1 : 0;
    }
}

static void
evict_now(const schedq_evictor_t *evictor, const schedq_eviction_t *eviction,
          schedq_evicted_t *evicted)
{
    for (uint32_t i = 0; i < eviction->victim_count; i++) {
        if (!evict(evictor, eviction->victims[i], eviction->preemptor, evicted)) {
            return;
        }
    }
    clear(evictor, eviction->clears, eviction->clear_count, eviction->preemptor, evicted);
}

static void
run_later(void *argument)
{
    struct task *task = argument;
    schedq_evictor_t *evictor = task->evictor;
    const schedq_evictor_config_t *config = &evictor->config;
    uint32_t last = task->victim_count - 1;
    schedq_evicted_t evicted = {0};

    clear(evictor, task->objects + task->victim_count, task->clear_count, task->preemptor,
          &evicted);
    for (uint32_t i = 0; i < last; i++) {
        (void)evict(evictor, task->objects[i], task->preemptor, &evicted);
    }
    let_go(evictor, task->word);
    uint32_t sent_before = evicted.sent;

    (void)evict(evictor, task->objects[last], task->preemptor, &evicted);
    /* Events of the others may have come while it was held. */
    if (evicted.failed != 0 || evicted.not_cleared != 0 || evicted.sent == sent_before) {
        config->activate(config->ctx, task->preemptor);
    }
    memory_free(&evictor->memory, MEMORY_OTHER, task, task->bytes);
    (void)u64_add(&evictor->tasks, UINT64_MAX); /* run_later:A, the last access to the evictor */
}

static struct task *
make_task(schedq_evictor_t *evictor, const schedq_eviction_t *eviction)
{
    size_t count = (size_t)eviction->victim_count + eviction->clear_count;
    size_t bytes = sizeof(struct task) + count * sizeof(uint64_t);
    struct task *task = memory_alloc(&evictor->memory, MEMORY_OTHER, bytes, CACHE_LINE);

    if (task == NULL) {
        return NULL;
    }
    task->evictor = evictor;
    task->bytes = bytes;
    task->victim_count = eviction->victim_count;
    task->clear_count = eviction->clear_count;
    task->preemptor = eviction->preemptor;
    memcpy(task->objects, eviction->victims, eviction->victim_count * sizeof(uint64_t));
    if (eviction->clear_count > 0) {
        memcpy(task->objects + eviction->victim_count, eviction->clears,
               eviction->clear_count * sizeof(uint64_t));
    }
    return task;
}

static schedq_status_t
evict_later(schedq_evictor_t *evictor, const schedq_eviction_t *eviction)
{
    const schedq_evictor_config_t *config = &evictor->config;

    if (config->spawn == NULL) {
        return SCHEDQ_BUSY;
    }
    struct task *task = make_task(evictor, eviction);

    if (task == NULL) {
        return SCHEDQ_NOMEM;
    }
    schedq_status_t status = hold(evictor, eviction->preemptor, &task->word);

    if (status == SCHEDQ_OK) {
        uint32_t word = task->word; /* the task may have ended when spawn returns */

        (void)u64_add(&evictor->tasks, 1);
        if (config->spawn(config->ctx, run_later, task) == 0) {
            return SCHEDQ_OK;
        }
        let_go(evictor, word);
        /* An event may have come while it was held, and found it refused. */
        config->activate(config->ctx, eviction->preemptor);
        (void)u64_add(&evictor->tasks, UINT64_MAX);
        status = SCHEDQ_BUSY;
    }
    memory_free(&evictor->memory, MEMORY_OTHER, task, task->bytes);
    return status;
}

static bool
are_objects(const uint64_t *objects, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (objects == NULL || objects[i] == 0) {
            return false;
        }
    }
    return true;
}

schedq_status_t
schedq_evictor_evict(schedq_evictor_t *evictor, const schedq_eviction_t *eviction,
                     schedq_evicted_t *evicted)
{
    schedq_evicted_t unused;

    evicted = evicted != NULL ? evicted : &unused;
    *evicted = (schedq_evicted_t){0};
    if (evictor == NULL || eviction == NULL || eviction->struct_size != sizeof *eviction ||
        eviction->preemptor == 0 || eviction->later > 1 ||
        !are_objects(eviction->victims, eviction->victim_count) ||
        !are_objects(eviction->clears, eviction->clear_count)) {
        return SCHEDQ_INVALID;
    }
    if (eviction->later == 0) {
        evict_now(evictor, eviction, evicted);
        return SCHEDQ_OK;
    }
    return eviction->victim_count > 0 ? evict_later(evictor, eviction) : SCHEDQ_OK;
}
