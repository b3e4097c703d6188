/*
 * The registry alone: events and late names that several threads define at once. Equal ones get
 * equal numbers, whoever is told a number can use it, and a thread that stops takes no number away
 * from the others.
 */
#include "scenarios.h"

#include "arena.h"
#include "plugins/registry.h"

#include <stdio.h>
#include <string.h>

#define THREADS 3
#define EVENTS 4
#define NAMES 4
#define LABELS 2 /* events share them */
#define UNKNOWN UINT32_MAX

static struct {
    struct memory memory;
    struct rules rules;
    struct registry registry;
    uint32_t events[THREADS][EVENTS];
    uint64_t names[THREADS][NAMES];
} world;

static void
registry_begin(const struct scenario *scenario)
{
    const schedq_allocator_t allocator = arena_allocator();
    schedq_config_t config = SCHEDQ_CONFIG_INIT;

    (void)scenario;
    arena_reset();
    memset(&world, 0, sizeof world);
    memset(world.events, 0xff, sizeof world.events);
    rules_from_config(&world.rules, &config);
    memory_open(&world.memory, &allocator);
    SIM_CHECK(registry_open(&world.registry, &world.memory, &world.rules,
                            SCHEDQ_EVENT_FIRST_FREE - 1 + EVENTS),
              "no memory for a registry");
}

/* ---- what is true of everything that can be seen --------------------------------------------- */

static void
check_events(void)
{
    const struct registry *registry = &world.registry;
    uint32_t count = registry_event_count(registry);

    for (uint32_t i = SCHEDQ_EVENT_FIRST_FREE; i <= count; i++) {
        schedq_event_t event = (schedq_event_t)i;
        uint32_t label = registry_label(registry, event);
        const char *text =
            label < registry_label_count(registry) ? registry_label_text(registry, label) : NULL;

        SIM_CHECK(text != NULL && text[0] != '\0', "event %u has no label", i);
        SIM_CHECK((registry_reached(registry, 0, event) & SCHEDQ_REJECTOR_OTHERS) != 0,
                  "event %u reaches nobody", i);
    }
}

static void
check_names(void)
{
    uint64_t known = registry_known(&world.registry, 0) & ~SCHEDQ_REJECTOR_OTHERS;

    SIM_CHECK((known & ~registry_late(&world.registry, 0)) == 0, "a known name is not late");
    for (uint64_t bits = known; bits != 0; bits &= bits - 1) {
        const char *name =
            registry_plugin_name(&world.registry, 0, (uint32_t)__builtin_ctzll(bits));

        SIM_CHECK(name != NULL && name[0] != '\0', "a known name is empty");
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

static uint32_t
define_event(uint32_t number)
{
    schedq_event_t event = 0;
    char label[16];

    snprintf(label, sizeof label, "label %u", number % LABELS);
    schedq_status_t status =
        registry_define_event(&world.registry, "Thing", UINT32_C(1) << number, label, &event);

    SIM_CHECK(status == SCHEDQ_OK, "event %u: status %d", number, status);
    SIM_CHECK(registry_has_event(&world.registry, event), "event %u is not below the count", event);
    SIM_CHECK(registry_actions(&world.registry, event) == UINT32_C(1) << number,
              "id %u is another event's", event);
    return event;
}

static uint64_t
define_name(uint32_t number)
{
    char name[16];
    int length = snprintf(name, sizeof name, "name %u", number);
    uint64_t bit = registry_rejector(&world.registry, 0, name, (uint32_t)length);

    SIM_CHECK((registry_known(&world.registry, 0) & bit) != 0 &&
                  (registry_late(&world.registry, 0) & bit) != 0,
              "the bit of name %u is not known", number);
    SIM_CHECK(
        strcmp(registry_plugin_name(&world.registry, 0, (uint32_t)__builtin_ctzll(bit)), name) == 0,
        "the bit of name %u is another's", number);
    return bit;
}

/* The last thread goes backward. */
static void
registry_thread(const struct scenario *scenario, unsigned thread)
{
    bool backward = thread + 1 == THREADS;

    (void)scenario;
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t number = backward ? EVENTS - 1 - i : i;

        world.events[thread][number] = define_event(number);
        check_events();
        world.names[thread][number] = define_name(number);
        check_names();
    }
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/*
 * All is defined once more: what a frozen thread left half done is finished, and nobody was told
 * otherwise.
 */
static void
registry_drain(const struct scenario *scenario)
{
    uint32_t events = 0;
    uint64_t names = 0;

    (void)scenario;
    for (uint32_t number = 0; number < EVENTS; number++) {
        uint32_t event = define_event(number);
        uint64_t bit = define_name(number);

        for (unsigned thread = 0; thread < THREADS; thread++) {
            uint32_t told = world.events[thread][number];

            SIM_CHECK(told == UNKNOWN || told == event, "event %u: ids %u and %u", number, told,
                      event);
            SIM_CHECK(world.names[thread][number] == 0 || world.names[thread][number] == bit,
                      "name %u has two bits", number);
        }
        events |= UINT32_C(1) << (event - SCHEDQ_EVENT_FIRST_FREE);
        names |= bit;
    }
    SIM_CHECK(events == (1u << EVENTS) - 1 &&
                  registry_event_count(&world.registry) == SCHEDQ_EVENT_FIRST_FREE - 1 + EVENTS,
              "ids are not dense");
    SIM_CHECK(names == (1u << NAMES) - 1, "bits are not dense");
    check_events();
    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t first = UNKNOWN,
                 label =
                     registry_label(&world.registry, (schedq_event_t)(SCHEDQ_EVENT_FIRST_FREE + i));

        for (uint32_t j = EVENTS; j-- > 0;) {
            schedq_event_t other = (schedq_event_t)(SCHEDQ_EVENT_FIRST_FREE + j);

            first = registry_label(&world.registry, other) == label ? other : first;
        }
        SIM_CHECK(label == LABEL_FIRST_EVENT + first - 1, "label %u is not its first event's",
                  label);
    }
}

static void
registry_end(const struct scenario *scenario)
{
    (void)scenario;
    registry_close(&world.registry);
    SIM_CHECK(memory_bytes(&world.memory, MEMORY_OTHER) == 0, "memory is left");
    memory_close(&world.memory);
}

static const struct harness registry_harness = {registry_begin, registry_thread, registry_drain,
                                                registry_end};

const struct scenario registry_scenarios[] = {
    {.name = "registry_define",
     .about = "three threads define the same events and late names, and read all there are",
     .harness = &registry_harness,
     .threads = THREADS},
    {.name = NULL},
};
