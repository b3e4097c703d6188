/*
 * An object is {thread + 1, generation, slot}; the slot's word is {generation, references}. A slot
 * is used again when its references are gone, by the next generation, so what comes too late finds
 * another one.
 */
#include "objects.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cluster.h"

#define SLOT_BITS 16
#define SLOTS (UINT32_C(1) << SLOT_BITS)
#define GENERATION_MASK UINT64_C(0xffffffff)
#define THREAD_SHIFT 48

typedef struct own {
    _Alignas(64) uint64_t serial; /* without a table */
    uint32_t cursor;
} own_t;

static struct {
    bool counted;
    unsigned threads;
    _Atomic uint64_t *words;
    own_t own[THREADS_MAX + 1];
    _Atomic int64_t events[CLASSES + 1]; /* references to an event's object */
    _Atomic uint64_t touched;            /* retained, released, handed out */
    _Atomic uint64_t dead_retained, dead_released, dead_handed_out;
} objects;

void
objects_open(unsigned threads, bool counted)
{
    objects.counted = counted;
    objects.threads = threads;
    if (!counted)
        return;
    objects.words = calloc((size_t)(threads + 1) * SLOTS, sizeof *objects.words);
    if (objects.words == NULL) {
        fprintf(stderr, "schedq-history: no memory for the objects\n");
        exit(1);
    }
}

void
objects_close(void)
{
    free(objects.words);
    objects.words = NULL;
}

static _Atomic uint64_t *
word_of(uint64_t object)
{
    return &objects
                .words[((object >> THREAD_SHIFT) - 1) * SLOTS + (object & (uint64_t)(SLOTS - 1))];
}

static uint64_t
generation_of(uint64_t object)
{
    return object >> SLOT_BITS & GENERATION_MASK;
}

uint64_t
objects_next(unsigned thread)
{
    own_t *own = &objects.own[thread];
    uint64_t base = (uint64_t)(thread + 1) << THREAD_SHIFT;
    if (!objects.counted)
        return base | ++own->serial;
    for (uint32_t looked = 0; looked < SLOTS; looked++) {
        uint64_t slot = own->cursor++ % SLOTS;
        _Atomic uint64_t *word = &objects.words[(uint64_t)thread * SLOTS + slot];
        uint64_t value = atomic_load(word);
        if ((uint32_t)value != 0)
            continue;
        uint64_t generation = ((value >> 32) + 1) & GENERATION_MASK;
        atomic_store(word, generation << 32 | 1);
        return base | generation << SLOT_BITS | slot;
    }
    printf("thread %u: %u objects are in use, and no more are given back\n", thread, SLOTS);
    exit(1);
}

/* By one; false: it is dead. */
static bool
change(uint64_t object, uint64_t by)
{
    _Atomic uint64_t *word = word_of(object);
    uint64_t value = atomic_load(word);
    do {
        if (value >> 32 != generation_of(object) || (uint32_t)value == 0)
            return false;
    } while (!atomic_compare_exchange_weak(word, &value, value + by));
    return true;
}

void
objects_give_back(uint64_t object)
{
    if (objects.counted && !change(object, UINT64_MAX))
        atomic_fetch_add(&objects.dead_released, 1);
}

static void
touch(void)
{
    atomic_fetch_add_explicit(&objects.touched, 1, memory_order_relaxed);
}

void
objects_retain(void *ctx, uint64_t object)
{
    (void)ctx;
    touch();
    if (object <= CLASSES)
        atomic_fetch_add(&objects.events[object], 1);
    else if (!change(object, 1))
        atomic_fetch_add(&objects.dead_retained, 1);
}

void
objects_release(void *ctx, uint64_t object)
{
    (void)ctx;
    touch();
    bool dead = object <= CLASSES ? atomic_fetch_sub(&objects.events[object], 1) <= 0
                                  : !change(object, UINT64_MAX);
    if (dead)
        atomic_fetch_add(&objects.dead_released, 1);
}

static bool
is_alive(uint64_t object)
{
    uint64_t value = atomic_load(word_of(object));
    return value >> 32 == generation_of(object) && (uint32_t)value != 0;
}

void
objects_handed_out(uint64_t object)
{
    if (!objects.counted)
        return;
    touch();
    if (!is_alive(object))
        atomic_fetch_add(&objects.dead_handed_out, 1);
}

static void
check_count(_Atomic uint64_t *count, const char *what, report_t *report)
{
    uint64_t number = atomic_exchange(count, 0);
    if (number != 0)
        report_violation(report, RULE_OBJECTS, NULL, NULL,
                         "%" PRIu64 " objects were %s that had no reference", number, what);
}

void
objects_check(const lives_t *lives, report_t *report)
{
    if (!objects.counted)
        return;
    report->obligations[RULE_OBJECTS] += atomic_exchange(&objects.touched, 0);
    check_count(&objects.dead_retained, "retained", report);
    check_count(&objects.dead_released, "released", report);
    check_count(&objects.dead_handed_out, "handed out", report);
    for (size_t i = 0; i < lives->count; i++) {
        const record_t *pending = lives->lives[i].pending;
        if (pending == NULL)
            continue;
        report_obligation(report, RULE_OBJECTS);
        if (!is_alive(pending->object))
            report_violation(report, RULE_OBJECTS, lives->lives[i].created, pending,
                             "a pod is there, and its object was given back");
    }
}

void
objects_check_end(report_t *report)
{
    uint64_t left = 0;
    if (!objects.counted)
        return;
    for (size_t i = 0; i < (size_t)(objects.threads + 1) * SLOTS; i++)
        left += (uint32_t)atomic_load(&objects.words[i]) != 0;
    for (unsigned i = 0; i <= CLASSES; i++)
        left += atomic_load(&objects.events[i]) != 0;
    if (left != 0)
        report_violation(report, RULE_OBJECTS, NULL, NULL,
                         "the queue is destroyed, and %" PRIu64 " objects were not given back",
                         left);
}
