/*
 * The scheduler's own test: a toy queue with a bug to find in each variant, and one without, which
 * must survive.
 *
 * Two bands (tagged stacks), a bitmap of the bands that are not empty, a free list of few records,
 * sleeping by an event count. Two producers and two consumers pass ITEMS items each through it.
 */
#include "scenarios.h"

#include "platform/futex.h"

#include <string.h>

enum toy_bug {
    NO_BUG,
    LOST_WAKE_UP,        /* a sleeper announces itself and does not look again */
    ABA,                 /* the stacks' tops have no tag */
    CLEAR_WITHOUT_CHECK, /* a band's bit is cleared without looking again */
    STORE_LOAD           /* a sleeper announces itself by a plain store: needs a fence */
};

#define PRODUCERS 2
#define CONSUMERS 2
#define ITEMS 4
#define RECORDS 4
#define BANDS 2

enum record_state { RECORD_FREE, RECORD_QUEUED, RECORD_RUNNING };

struct record {
    atomic_u32 next, state;
};

static struct {
    struct record records[RECORDS + 1]; /* number 0 names none */
    atomic_u64 bands[BANDS], free;      /* {tag:32, record:32} */
    atomic_u32 bitmap, wakes, sleepers[CONSUMERS], consumed, over;
    enum toy_bug bug;
} toy;

/* ---- stacks ---------------------------------------------------------------------------------- */

static uint64_t
top_after(uint64_t top, uint32_t record)
{
    return toy.bug == ABA ? record : ((top >> 32) + 1) << 32 | record;
}

static void
push(atomic_u64 *stack, uint32_t record)
{
    uint64_t top = u64_load(stack);

    for (;;) {
        u32_store(&toy.records[record].next, (uint32_t)top);
        uint64_t found = u64_cas_value(stack, top, top_after(top, record));

        if (found == top) {
            return;
        }
        top = found;
    }
}

static uint32_t
pop(atomic_u64 *stack)
{
    uint64_t top = u64_load(stack);

    while ((uint32_t)top != 0) {
        uint32_t next = u32_load(&toy.records[(uint32_t)top].next);
        uint64_t found = u64_cas_value(stack, top, top_after(top, next));

        if (found == top) {
            break;
        }
        top = found;
    }
    return (uint32_t)top;
}

/* ---- producers ------------------------------------------------------------------------------- */

static void
wake_all(void)
{
    (void)u32_add(&toy.wakes, 1);
    futex_wake(&toy.wakes, UINT32_MAX);
}

static uint32_t
take_record(void)
{
    uint32_t record = pop(&toy.free);

    while (record == 0) {
        sim_spin();
        record = pop(&toy.free);
    }
    return record;
}

static void
produce(unsigned producer)
{
    for (unsigned i = 0; i < ITEMS; i++) {
        uint32_t record = take_record();
        unsigned band = (producer + i) % BANDS;
        bool asleep = false;

        SIM_CHECK(u32_cas(&toy.records[record].state, RECORD_FREE, RECORD_QUEUED),
                  "record %u is taken twice", record);
        push(&toy.bands[band], record);
        u32_or(&toy.bitmap, 1u << band);
        for (unsigned c = 0; c < CONSUMERS; c++) {
            asleep = u32_load(&toy.sleepers[c]) != 0 || asleep;
        }
        if (asleep) {
            wake_all();
        }
    }
}

/* ---- consumers ------------------------------------------------------------------------------- */

static void
sleep_for_item(unsigned consumer)
{
    uint32_t wakes = u32_load(&toy.wakes);

    if (toy.bug == STORE_LOAD) {
        u32_store(&toy.sleepers[consumer], 1);
    } else {
        (void)u32_exchange(&toy.sleepers[consumer], 1);
    }
    if (toy.bug == LOST_WAKE_UP) {
        futex_wait(&toy.wakes, u32_load(&toy.wakes), FUTEX_NO_DEADLINE, FUTEX_ANY);
    } else if (u32_load(&toy.bitmap) == 0 && u32_load(&toy.over) == 0) {
        futex_wait(&toy.wakes, wakes, FUTEX_NO_DEADLINE, FUTEX_ANY);
    }
    u32_store(&toy.sleepers[consumer], 0);
}

static void
clear_band(unsigned band)
{
    uint32_t bits = u32_load(&toy.bitmap);

    while ((bits & 1u << band) != 0) {
        uint32_t found = u32_cas_value(&toy.bitmap, bits, bits & ~(1u << band));

        if (found == bits) {
            break;
        }
        bits = found;
    }
    if (toy.bug != CLEAR_WITHOUT_CHECK && (uint32_t)u64_load(&toy.bands[band]) != 0) {
        u32_or(&toy.bitmap, 1u << band);
    }
}

static void
consume_one(uint32_t record)
{
    SIM_CHECK(u32_cas(&toy.records[record].state, RECORD_QUEUED, RECORD_RUNNING),
              "record %u is popped twice", record);
    u32_store(&toy.records[record].state, RECORD_FREE);
    push(&toy.free, record);
    if (u32_add(&toy.consumed, 1) + 1 == PRODUCERS * ITEMS) {
        (void)u32_exchange(&toy.over, 1);
        wake_all();
    }
}

static void
consume(unsigned consumer)
{
    while (u32_load(&toy.over) == 0) {
        uint32_t bits = u32_load(&toy.bitmap);

        if (bits == 0) {
            sleep_for_item(consumer);
            continue;
        }
        unsigned band = (unsigned)__builtin_ctz(bits);
        uint32_t record = pop(&toy.bands[band]);
        if (record != 0) {
            consume_one(record);
        } else {
            clear_band(band);
        }
    }
}

/* ---- the harness ----------------------------------------------------------------------------- */

static void
toy_begin(const struct scenario *scenario)
{
    memset(&toy, 0, sizeof toy);
    toy.bug = (enum toy_bug)scenario->variant;
    for (uint32_t i = 1; i <= RECORDS; i++) {
        push(&toy.free, i);
    }
}

static void
toy_thread(const struct scenario *scenario, unsigned thread)
{
    (void)scenario;
    if (thread < PRODUCERS) {
        produce(thread);
    } else {
        consume(thread - PRODUCERS);
    }
}

static void
toy_drain(const struct scenario *scenario)
{
    (void)scenario;
    SIM_CHECK(u32_load(&toy.consumed) == PRODUCERS * ITEMS,
              "%u items were consumed, %u were produced", u32_load(&toy.consumed),
              PRODUCERS * ITEMS);
}

static void
toy_end(const struct scenario *scenario)
{
    (void)scenario;
}

static const struct harness toy_harness = {toy_begin, toy_thread, toy_drain, toy_end};

#define TOY(title, text, bug)                                                                    \
    {                                                                                            \
        .name = (title), .about = (text), .harness = &toy_harness,                               \
        .threads = PRODUCERS + CONSUMERS, .hidden = true, .never_frozen = true, .variant = (bug) \
    }

const struct scenario toy_scenarios[] = {
    TOY("toy", "a queue without a bug", NO_BUG),
    TOY("toy_lost_wake_up", "a sleeper does not look again", LOST_WAKE_UP),
    TOY("toy_aba", "stacks without tags", ABA),
    TOY("toy_clear", "a bit is cleared without looking again", CLEAR_WITHOUT_CHECK),
    TOY("toy_store_load", "a store and a load without a fence between", STORE_LOAD),
    {.name = NULL},
};
