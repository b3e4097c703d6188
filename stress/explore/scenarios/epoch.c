/* Grace periods alone: what is retired while a section, or a guest's, begins that reads it. */
#include "arena.h"
#include "scenarios.h"

#include "platform/epoch.h"

#include <string.h>

#define THREADS 3
#define RETIRERS 2 /* the first threads; the last one reads */

struct item {
    struct epoch_block block;
    atomic_u64 value;
};

static struct {
    struct memory memory;
    struct epoch *epoch;
    struct epoch_record *records[THREADS];
    atomic_ptr items[RETIRERS];
} ground;

static void
epoch_begin(const struct scenario *scenario)
{
    const schedq_allocator_t allocator = arena_allocator();

    (void)scenario;
    memset(&ground, 0, sizeof ground);
    memory_open(&ground.memory, &allocator);
    ground.epoch = epoch_open(&ground.memory, true);
    for (unsigned i = 0; i < THREADS; i++) {
        ground.records[i] = epoch_record_make(ground.epoch);
    }
    for (unsigned i = 0; i < RETIRERS; i++) {
        ptr_store(&ground.items[i],
                  memory_alloc(&ground.memory, MEMORY_OTHER, sizeof(struct item), CACHE_LINE));
    }
}

static void
retire_item(unsigned thread)
{
    struct item *item = ptr_exchange(&ground.items[thread], NULL);

    epoch_retire(ground.records[thread], &item->block, &ground.memory, MEMORY_OTHER, sizeof *item);
    epoch_poll(ground.records[thread]);
    epoch_poll(ground.records[thread]);
}

/* An item that was freed is no more to be read: the scheduler says so. */
static void
read_items(unsigned thread)
{
    for (unsigned i = RETIRERS; i-- > 0;) {
        epoch_enter(ground.records[thread]);
        const struct item *item = ptr_load_acquire(&ground.items[i]);

        if (item != NULL) {
            SIM_CHECK(u64_load(&item->value) == 0, "item %u has another value", i);
        }
        epoch_leave(ground.records[thread]);
    }
}

/* The same of a thread that has no record. */
static void
read_as_guest(void)
{
    for (unsigned sections = 0; sections < 2; sections++) {
        epoch_guest_enter(ground.epoch);
        const struct item *item = ptr_load_acquire(&ground.items[0]);

        if (item != NULL) {
            SIM_CHECK(u64_load(&item->value) == 0, "the item has another value");
        }
        epoch_guest_leave(ground.epoch);
    }
}

static void
guests_thread(const struct scenario *scenario, unsigned thread)
{
    (void)scenario;
    if (thread == 0) {
        retire_item(0);
        retire_item(1); /* which nobody reads */
    } else {
        read_as_guest();
    }
}

static void
epoch_thread(const struct scenario *scenario, unsigned thread)
{
    (void)scenario;
    if (thread < RETIRERS) {
        retire_item(thread);
    } else {
        read_items(thread);
    }
}

/* What no section and no other thread holds back is freed by a few polls. */
static void
epoch_drain(const struct scenario *scenario)
{
    (void)scenario;
    for (unsigned i = 0; i < RETIRERS && sim_frozen() == 0; i++) {
        for (unsigned polls = 0; polls < 3; polls++) {
            epoch_poll(ground.records[i]);
        }
        SIM_CHECK(!epoch_waits(ground.records[i]), "item %u still waits", i);
    }
}

static void
epoch_end(const struct scenario *scenario)
{
    (void)scenario;
    epoch_close(ground.epoch);
    memory_close(&ground.memory);
}

static const struct harness epoch_harness = {epoch_begin, epoch_thread, epoch_drain, epoch_end};
static const struct harness guests_harness = {epoch_begin, guests_thread, epoch_drain, epoch_end};

const struct scenario epoch_scenarios[] = {
    {.name = "epoch_retire",
     .about = "two threads retire what a third reads",
     .harness = &epoch_harness,
     .threads = THREADS},
    {.name = "epoch_guests",
     .about = "a thread retires what two without a record read",
     .harness = &guests_harness,
     .threads = THREADS},
    {.name = NULL},
};
