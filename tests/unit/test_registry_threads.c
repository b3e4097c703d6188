/*
 * plugins/registry.h: events and late names that several threads define at once, while others read
 * all there are.
 *
 * A plain store in the place of either CAS (events.c, profiles.c), or a count that is told before
 * the slot is filled, fails here.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "expect.h"
#include "mailbox.h"
#include "plugins/registry.h"
#include "rounds.h"

enum {
    DEFINERS = 4,
    READERS = 2,
    ROUNDS = 100,
    EVENTS = 300, /* more than one chunk of events */
    LABELS = 100, /* events share them */
    NAMES = 58,
    PLUGINS = 2, /* registered before */
    PLANTED = 3  /* events that a plugin asked for */
};

typedef struct world {
    account_t account;
    struct memory memory;
    struct rules rules;
    struct registry registry;
    uint64_t registered[PLUGINS];
} world_t;

static uint64_t
add_plugin(world_t *world, const char *name, const char *resource, uint32_t actions)
{
    const schedq_interest_t interest = {.resource = resource, .actions = actions};
    uint64_t bit = 0;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    plugin.name = name;
    plugin.interests = &interest;
    plugin.interest_count = resource == NULL ? 0 : 1;
    assert_int_equal(registry_add_plugin(&world->registry, &plugin, &bit), SCHEDQ_OK);
    return bit;
}

static world_t *
make_world(uint32_t events_max)
{
    world_t *world = calloc(1, sizeof *world);
    account_init(&world->account);
    schedq_allocator_t allocator = account_allocator(&world->account);
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    rules_from_config(&world->rules, &config);
    memory_open(&world->memory, &allocator);
    assert_true(registry_open(&world->registry, &world->memory, &world->rules, events_max));
    return world;
}

static void
free_world(world_t *world)
{
    registry_close(&world->registry);
    assert_int_equal(memory_bytes(&world->memory, MEMORY_OTHER), 0);
    assert_int_equal(atomic_load(&world->account.blocks), 0);
    assert_int_equal(atomic_load(&world->account.faults), 0);
    memory_close(&world->memory);
    free(world);
}

/* ---- one thread ------------------------------------------------------------------------------ */

static schedq_event_t
define(world_t *world, const char *resource, uint32_t actions, const char *label)
{
    schedq_event_t event = UINT16_MAX;
    assert_int_equal(registry_define_event(&world->registry, resource, actions, label, &event),
                     SCHEDQ_OK);
    return event;
}

static void
events_with_the_same_label_share_its_number(void **state)
{
    (void)state;
    world_t *world = make_world(0);
    const struct registry *registry = &world->registry;
    schedq_event_t first = define(world, "Thing", SCHEDQ_ACTION_ADD, "Mine");
    schedq_event_t second = define(world, "Other", SCHEDQ_ACTION_ADD, "Mine");
    schedq_event_t fixed = define(world, "Thing", SCHEDQ_ACTION_DELETE, "ForceActivate");
    schedq_event_t node = define(world, "Thing", SCHEDQ_ACTION_UPDATE, "NodeAdd");
    assert_int_equal(registry_label(registry, second), registry_label(registry, first));
    assert_string_equal(registry_label_text(registry, registry_label(registry, first)), "Mine");
    assert_null(registry_label_text(registry, LABEL_FIRST_EVENT + second));
    assert_int_equal(registry_label(registry, fixed), LABEL_FORCE_ACTIVATE);
    assert_int_equal(registry_label(registry, node),
                     registry_label(registry, SCHEDQ_EVENT_NODE_ADD));
    assert_string_equal(registry_label_text(registry, LABEL_LEFTOVER), "UnschedulableTimeout");
    assert_int_equal(registry_label_count(registry),
                     LABEL_FIRST_EVENT + registry_event_count(registry));
    free_world(world);
}

static void
a_plugin_hears_of_its_resource_whenever_the_event_was_defined(void **state)
{
    (void)state;
    world_t *world = make_world(0);
    const struct registry *registry = &world->registry;
    schedq_event_t before = define(world, "leases", SCHEDQ_ACTION_ADD, NULL);
    schedq_event_t stranger = define(world, "volumes", SCHEDQ_ACTION_ADD, NULL);
    uint64_t lease = add_plugin(world, "Lease", "leases", SCHEDQ_ACTION_ALL);
    schedq_event_t after = define(world, "leases", SCHEDQ_ACTION_DELETE, NULL);
    schedq_event_t other = define(world, "claims", SCHEDQ_ACTION_ADD, NULL);
    assert_true(registry_reached(registry, 0, before) == (lease | SCHEDQ_REJECTOR_OTHERS));
    assert_true(registry_reached(registry, 0, after) == (lease | SCHEDQ_REJECTOR_OTHERS));
    assert_true(registry_reached(registry, 0, stranger) == SCHEDQ_REJECTOR_OTHERS);
    assert_true(registry_reached(registry, 0, other) == SCHEDQ_REJECTOR_OTHERS);
    schedq_profile_t batch;
    assert_int_equal(registry_define_profile(&world->registry, "batch", &batch), SCHEDQ_OK);
    assert_true(registry_reached(registry, batch, before) == SCHEDQ_REJECTOR_OTHERS);
    assert_int_equal(registry_hints(registry, batch, after).count, 0);
    free_world(world);
}

static void
late_names_need_no_memory_if_no_calls_overlap(void **state)
{
    (void)state;
    world_t *world = make_world(0);
    char name[16];
    atomic_store(&world->account.fail_all, true);
    for (int i = 0; i < REGISTRY_PLUGINS_MAX; i++) {
        int length = snprintf(name, sizeof name, "name %d", i);
        assert_true(registry_rejector(&world->registry, 0, name, (uint32_t)length) == UINT64_C(1)
                                                                                          << i);
        assert_string_equal(registry_plugin_name(&world->registry, 0, (uint32_t)i), name);
    }
    assert_true(registry_rejector(&world->registry, 0, "one more", 8) == SCHEDQ_REJECTOR_OTHERS);
    assert_true(registry_rejector(&world->registry, 0, "name 7", 6) == UINT64_C(1) << 7);
    (void)account_heal(&world->account);
    free_world(world);
}

/* Every allocation of a definition fails in turn. */
static void
a_definition_without_memory_changes_nothing(void **state)
{
    (void)state;
    world_t *world = make_world(0);
    schedq_event_t event = UINT16_MAX;
    schedq_status_t status = SCHEDQ_NOMEM;
    char label[16];
    while (registry_event_count(&world->registry) < EVENT_CHUNK) {
        snprintf(label, sizeof label, "%u", registry_event_count(&world->registry));
        define(world, "Thing", SCHEDQ_ACTION_ADD, label);
    }
    add_plugin(world, "Any", "*", SCHEDQ_ACTION_ALL);
    uint64_t bytes = memory_bytes(&world->memory, MEMORY_OTHER);
    int64_t site = 0;
    for (; status == SCHEDQ_NOMEM; site++) {
        assert_int_equal(registry_event_count(&world->registry), EVENT_CHUNK);
        assert_true(memory_bytes(&world->memory, MEMORY_OTHER) == bytes);
        account_fail_after(&world->account, site);
        status =
            registry_define_event(&world->registry, "Thing", SCHEDQ_ACTION_DELETE, NULL, &event);
        (void)account_heal(&world->account);
    }
    assert_int_equal(status, SCHEDQ_OK);
    assert_int_equal(event, EVENT_CHUNK + 1);
    assert_int_equal(site, 5); /* the event, its matches, the hints, a chunk; none */
    free_world(world);
}

/*
 * Every allocation of a plugin's registration fails in turn: its spare and the entries it made are
 * used by the next try.
 */
static void
a_plugin_without_memory_leaves_no_trace(void **state)
{
    (void)state;
    world_t *world = make_world(0);
    const schedq_interest_t interests[] = {{.resource = "*", .actions = SCHEDQ_ACTION_ALL},
                                           {.resource = "leases", .actions = SCHEDQ_ACTION_ADD}};
    uint64_t bit = 0;
    schedq_status_t status = SCHEDQ_NOMEM;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    plugin.name = "Any";
    plugin.interests = interests;
    plugin.interest_count = 2;
    for (int64_t site = 0; status == SCHEDQ_NOMEM; site++) {
        assert_true(registry_known(&world->registry, 0) == SCHEDQ_REJECTOR_OTHERS);
        for (uint32_t event = 1; event <= registry_event_count(&world->registry); event++)
            assert_int_equal(registry_hints(&world->registry, 0, (schedq_event_t)event).count, 0);
        account_fail_after(&world->account, site);
        status = registry_add_plugin(&world->registry, &plugin, &bit);
        (void)account_heal(&world->account);
    }
    assert_int_equal(status, SCHEDQ_OK);
    assert_int_equal(bit, 1);
    assert_int_equal(registry_hints(&world->registry, 0, SCHEDQ_EVENT_NODE_ADD).count, 1);
    free_world(world);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    pthread_barrier_t start;
    atomic_u32 at_work; /* definers */
    unsigned round;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    unsigned number;
    schedq_event_t events[EVENTS];
    uint64_t names[NAMES];
    uint32_t refused;
} member_t;

static schedq_status_t
define_number(struct registry *registry, unsigned number, schedq_event_t *event)
{
    char resource[32], label[32];
    snprintf(resource, sizeof resource, number < PLANTED ? "leases" : "thing %u", number);
    snprintf(label, sizeof label, "label %u", number % LABELS);
    return registry_define_event(registry, resource, UINT32_C(1) << number % 4, label, event);
}

static uint64_t
name_number(struct registry *registry, unsigned number)
{
    char name[32];
    int length = snprintf(name, sizeof name, "late %u", number);
    return registry_rejector(registry, 0, name, (uint32_t)length);
}

/*
 * In some rounds all define the same at the same time; in others two go forward and two backward.
 */
static unsigned
step(const member_t *member, unsigned i, unsigned count)
{
    return member->team->round % 4 == 0 && member->number >= DEFINERS / 2 ? count - 1 - i : i;
}

static void
define_names(member_t *member)
{
    team_t *team = member->team;
    struct registry *registry = &team->world->registry;
    for (unsigned i = 0; i < NAMES; i++) {
        unsigned number = step(member, i, NAMES);
        uint64_t bit = member->names[number] = name_number(registry, number);
        mailbox_check(&team->mailbox, (registry_known(registry, 0) & bit) != 0);
        mailbox_check(&team->mailbox, (registry_late(registry, 0) & bit) != 0);
    }
}

static void
define_events(member_t *member)
{
    team_t *team = member->team;
    struct registry *registry = &team->world->registry;
    for (unsigned i = 0; i < EVENTS; i++) {
        unsigned number = step(member, i, EVENTS);
        schedq_event_t event = UINT16_MAX;
        schedq_status_t status = define_number(registry, number, &event);
        member->events[number] = event;
        member->refused += status == SCHEDQ_FULL ? 1 : 0;
        mailbox_check(&team->mailbox, status == SCHEDQ_FULL || registry_has_event(registry, event));
    }
}

static void *
definer_main(void *argument)
{
    member_t *member = argument;
    pthread_barrier_wait(&member->team->start);
    define_names(member);
    define_events(member);
    (void)u32_add(&member->team->at_work, UINT32_MAX);
    return NULL;
}

/* Reads whatever there is of one event. */
static bool
event_is_whole(const world_t *world, schedq_event_t event)
{
    const struct registry *registry = &world->registry;
    struct hint_list hints = registry_hints(registry, 0, event);
    uint64_t asked = 0;
    for (uint32_t i = 0; i < hints.count; i++)
        asked |= hints.entries[i].bit;
    const char *label = registry_label_text(registry, registry_label(registry, event));
    uint64_t late = registry_late(registry, 0);
    bool reached = (registry_reached(registry, 0, event) & (asked | late)) == (asked | late);
    return reached && label != NULL && label[0] != '\0' && registry_actions(registry, event) != 0 &&
           registry_label(registry, event) < registry_label_count(registry) &&
           registry_is_wildcard(registry, event) == (event == SCHEDQ_EVENT_WILDCARD) &&
           (registry_is_registered(registry, event) || (asked == 0 && late == 0));
}

static void
read_names(team_t *team)
{
    const struct registry *registry = &team->world->registry;
    uint64_t registered = team->world->registered[0] | team->world->registered[1];
    uint64_t known = registry_known(registry, 0);
    mailbox_check(&team->mailbox,
                  (known & ~registry_late(registry, 0)) == (registered | SCHEDQ_REJECTOR_OTHERS));
    for (uint64_t bits = known & ~SCHEDQ_REJECTOR_OTHERS; bits != 0; bits &= bits - 1)
        mailbox_check(&team->mailbox, registry_plugin_name(
                                          registry, 0, (uint32_t)__builtin_ctzll(bits))[0] != '\0');
}

/* One reads all events again and again, the other waits for the newest. */
static void *
reader_main(void *argument)
{
    member_t *member = argument;
    team_t *team = member->team;
    bool all = member->number == DEFINERS, more = true;
    pthread_barrier_wait(&team->start);
    while (more) {
        more = u32_load(&team->at_work) != 0;
        uint32_t count = registry_event_count(&team->world->registry);
        for (uint32_t event = all ? 1 : count; event <= count; event++)
            mailbox_check(&team->mailbox, event_is_whole(team->world, (schedq_event_t)event));
        read_names(team);
    }
    return NULL;
}

static void
run_team(team_t *team, member_t *members, unsigned round)
{
    void *(*const mains[])(void *) = {definer_main, reader_main};
    team->round = round;
    mailbox_init(&team->mailbox);
    pthread_barrier_init(&team->start, NULL, DEFINERS + READERS);
    u32_store(&team->at_work, DEFINERS);
    for (unsigned i = 0; i < DEFINERS + READERS; i++) {
        members[i].team = team;
        members[i].number = i;
        members[i].refused = 0;
        assert_int_equal(
            pthread_create(&members[i].thread, NULL, mains[i < DEFINERS ? 0 : 1], &members[i]), 0);
    }
    for (unsigned i = 0; i < DEFINERS + READERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    pthread_barrier_destroy(&team->start);
    mailbox_assert_empty(&team->mailbox);
}

/* The numbers of labels are those that the order of the events gives. */
static void
assert_labels(const struct registry *registry)
{
    uint32_t count = registry_event_count(registry), used[LABEL_FIRST_EVENT + 512] = {0},
             labels = 0;
    for (uint32_t event = 1; event <= count; event++) {
        uint32_t label = registry_label(registry, (schedq_event_t)event);
        assert_true(label < LABEL_FIRST_EVENT || label == LABEL_FIRST_EVENT + event - 1 ||
                    used[label] != 0);
        used[label]++;
        labels += used[label] == 1 ? 1 : 0;
    }
    assert_int_equal(labels, SCHEDQ_EVENT_FIRST_FREE - 1 + LABELS);
}

static void
assert_same_answers(const member_t *members)
{
    for (unsigned i = 1; i < DEFINERS; i++) {
        assert_memory_equal(members[i].events, members[0].events, sizeof members[0].events);
        assert_memory_equal(members[i].names, members[0].names, sizeof members[0].names);
    }
}

static void
assert_dense(const member_t *member)
{
    bool taken[EVENTS] = {false};
    uint64_t bits = 0;
    for (unsigned i = 0; i < EVENTS; i++) {
        unsigned place = (unsigned)member->events[i] - SCHEDQ_EVENT_FIRST_FREE;
        assert_true(place < EVENTS && !taken[place]);
        taken[place] = true;
    }
    for (unsigned i = 0; i < NAMES; i++)
        bits |= member->names[i];
    assert_true(bits == ((UINT64_C(1) << NAMES) - 1) << PLUGINS);
}

static void
equal_definitions_of_several_threads_get_equal_numbers(void **state)
{
    (void)state;
    static member_t members[DEFINERS + READERS];
    const unsigned rounds = rounds_of(ROUNDS);
    for (unsigned round = 0; round < rounds; round++) {
        static team_t team;
        memset(&team, 0, sizeof team);
        world_t *world = team.world = make_world(0);
        world->registered[0] = add_plugin(world, "Lease", "leases", SCHEDQ_ACTION_ALL);
        world->registered[1] = add_plugin(world, "Deaf", NULL, 0);
        run_team(&team, members, round);
        assert_int_equal(registry_event_count(&world->registry),
                         SCHEDQ_EVENT_FIRST_FREE - 1 + EVENTS);
        assert_same_answers(members);
        assert_dense(&members[0]);
        assert_labels(&world->registry);
        for (unsigned i = 0; i < EVENTS; i++) {
            schedq_event_t again = UINT16_MAX;
            assert_int_equal(define_number(&world->registry, i, &again), SCHEDQ_OK);
            assert_int_equal(again, members[0].events[i]);
            assert_int_equal(registry_hints(&world->registry, 0, again).count, i < PLANTED ? 1 : 0);
            assert_int_equal(registry_actions(&world->registry, again), 1 << i % 4);
            char label[32];
            snprintf(label, sizeof label, "label %u", i % LABELS);
            assert_string_equal(
                registry_label_text(&world->registry, registry_label(&world->registry, again)),
                label);
        }
        for (unsigned i = 0; i < NAMES; i++) {
            char name[32];
            snprintf(name, sizeof name, "late %u", i);
            uint32_t number = (uint32_t)__builtin_ctzll(members[0].names[i]);
            assert_string_equal(registry_plugin_name(&world->registry, 0, number), name);
        }
        free_world(world);
    }
}

static void
several_threads_never_define_more_events_than_allowed(void **state)
{
    (void)state;
    static member_t members[DEFINERS + READERS];
    const unsigned rounds = rounds_of(ROUNDS);
    for (unsigned round = 0; round < rounds; round++) {
        static team_t team;
        memset(&team, 0, sizeof team);
        world_t *world = team.world = make_world(SCHEDQ_EVENT_FIRST_FREE - 1 + EVENTS / 2);
        world->registered[0] = add_plugin(world, "Lease", "leases", SCHEDQ_ACTION_ALL);
        world->registered[1] = add_plugin(world, "Deaf", NULL, 0);
        run_team(&team, members, round);
        assert_int_equal(registry_event_count(&world->registry),
                         SCHEDQ_EVENT_FIRST_FREE - 1 + EVENTS / 2);
        for (unsigned i = 0; i < DEFINERS; i++)
            assert_true(members[i].refused > 0);
        free_world(world);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_with_the_same_label_share_its_number),
        cmocka_unit_test(a_plugin_hears_of_its_resource_whenever_the_event_was_defined),
        cmocka_unit_test(late_names_need_no_memory_if_no_calls_overlap),
        cmocka_unit_test(a_definition_without_memory_changes_nothing),
        cmocka_unit_test(a_plugin_without_memory_leaves_no_trace),
        cmocka_unit_test(equal_definitions_of_several_threads_get_equal_numbers),
        cmocka_unit_test(several_threads_never_define_more_events_than_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
