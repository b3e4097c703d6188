/*
 * Bad arguments of the calls that set a queue up, and of those without a worker: INVALID, and words
 * in `why`.
 */
#include <string.h>

#include "fixture.h"

static void
bad_event_definitions_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    schedq_event_t event;
    char name[129];
    char *why = fixture->why;
    const size_t room = sizeof fixture->why;
    memset(name, 'x', 128);
    name[128] = '\0';
#define BAD_EVENT(resource, actions, label, part)                                          \
    assert_status(schedq_event_define(queue, resource, actions, label, &event, why, room), \
                  SCHEDQ_INVALID);                                                         \
    assert_contains(why, part)
    BAD_EVENT(NULL, SCHEDQ_ACTION_ADD, NULL, "resource");
    BAD_EVENT("", SCHEDQ_ACTION_ADD, NULL, "resource");
    BAD_EVENT(name, SCHEDQ_ACTION_ADD, NULL, "127");
    BAD_EVENT("Thing", 0, NULL, "actions");
    BAD_EVENT("Thing", 0x8000, NULL, "actions");
    BAD_EVENT("Thing", SCHEDQ_ACTION_ADD, name, "label");
#undef BAD_EVENT
    assert_status(schedq_event_define(queue, "Thing", SCHEDQ_ACTION_ADD, NULL, NULL, why, room),
                  SCHEDQ_INVALID);
    assert_contains(why, "event");
    assert_status(schedq_event_define(NULL, "Thing", SCHEDQ_ACTION_ADD, NULL, &event, why, room),
                  SCHEDQ_INVALID);
    name[127] = '\0';
    assert_ok(schedq_event_define(queue, name, SCHEDQ_ACTION_ADD, name, &event, why, room));
    assert_int_equal(event, SCHEDQ_EVENT_FIRST_FREE);
    assert_string_equal(why, "");
}

static void
known_events_get_their_id_again(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    schedq_event_t event, again;
    assert_ok(schedq_event_define(queue, "Node", SCHEDQ_ACTION_ADD, NULL, &event, NULL, 0));
    assert_int_equal(event, SCHEDQ_EVENT_NODE_ADD);
    assert_ok(schedq_event_define(queue, "Node", SCHEDQ_ACTION_ADD, "NodeAdd", &event, NULL, 0));
    assert_int_equal(event, SCHEDQ_EVENT_NODE_ADD);
    assert_ok(schedq_event_define(queue, "*", SCHEDQ_ACTION_ALL, NULL, &event, NULL, 0));
    assert_int_equal(event, SCHEDQ_EVENT_WILDCARD);
    assert_ok(schedq_event_define(queue, "AssignedPod", SCHEDQ_ACTION_UPDATE, "", &event, NULL, 0));
    assert_int_equal(event, SCHEDQ_EVENT_ASSIGNED_POD_UPDATE);
    assert_ok(schedq_event_define(queue, "UnschedulablePod", SCHEDQ_ACTION_DELETE, NULL, &event,
                                  NULL, 0));
    assert_int_equal(event, SCHEDQ_EVENT_UNSCHEDULED_POD_DELETE);
    assert_ok(schedq_event_define(queue, "Node", SCHEDQ_ACTION_ADD, "Mine", &event, NULL, 0));
    assert_true(event >= SCHEDQ_EVENT_FIRST_FREE);
    assert_ok(schedq_event_define(queue, "Node", SCHEDQ_ACTION_ADD, "Mine", &again, NULL, 0));
    assert_int_equal(event, again);
}

static void
bad_profiles_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    schedq_profile_t profile = 99;
    char name[129];
    char *why = fixture->why;
    const size_t room = sizeof fixture->why;
    memset(name, 'x', 128);
    name[128] = '\0';
    assert_status(schedq_profile_define(queue, NULL, &profile, why, room), SCHEDQ_INVALID);
    assert_contains(why, "name");
    assert_status(schedq_profile_define(queue, "", &profile, why, room), SCHEDQ_INVALID);
    assert_status(schedq_profile_define(queue, name, &profile, why, room), SCHEDQ_INVALID);
    assert_contains(why, "127");
    assert_status(schedq_profile_define(queue, "batch", NULL, why, room), SCHEDQ_INVALID);
    assert_contains(why, "profile");
    assert_status(schedq_profile_define(NULL, "batch", &profile, why, room), SCHEDQ_INVALID);
    assert_ok(schedq_profile_define(queue, "default-scheduler", &profile, why, room));
    assert_int_equal(profile, 0);
    assert_ok(schedq_profile_define(queue, "batch", &profile, why, room));
    assert_int_equal(profile, 1);
    assert_ok(schedq_profile_define(queue, "batch", &profile, why, room));
    assert_int_equal(profile, 1);
}

static void
bad_plugins_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    char *why = fixture->why;
    const size_t room = sizeof fixture->why;
    char name[129];
    uint64_t bit;
    schedq_interest_t interest = {.resource = "Node", .actions = SCHEDQ_ACTION_ADD};
    schedq_plugin_t good, plugin;
    memset(name, 'x', 128);
    name[128] = '\0';
    good = (schedq_plugin_t)SCHEDQ_PLUGIN_INIT;
    good.name = "Fit";
    good.interests = &interest;
    good.interest_count = 1;
#define BAD_PLUGIN(change, part)                                                            \
    plugin = good;                                                                          \
    change;                                                                                 \
    assert_status(schedq_plugin_register(queue, &plugin, &bit, why, room), SCHEDQ_INVALID); \
    assert_contains(why, part)
    BAD_PLUGIN(plugin.struct_size = 4, "struct_size");
    BAD_PLUGIN(plugin.profile = 1, "profile");
    BAD_PLUGIN(plugin.flags = 2, "flags");
    BAD_PLUGIN(plugin.reserved[1] = 1, "reserved");
    BAD_PLUGIN(plugin.name = NULL, "name");
    BAD_PLUGIN(plugin.name = "", "name");
    BAD_PLUGIN(plugin.name = name, "127");
    BAD_PLUGIN(plugin.interests = NULL, "interests");
    BAD_PLUGIN(plugin.interest_count = 257, "256");
    BAD_PLUGIN(interest.resource = NULL, "resource");
    interest.resource = "";
    BAD_PLUGIN((void)0, "resource");
    interest.resource = "Node";
    BAD_PLUGIN(interest.actions = 0, "actions");
    BAD_PLUGIN(interest.actions = 0x8000, "actions");
    interest.actions = SCHEDQ_ACTION_ADD;
    BAD_PLUGIN(interest.reserved = 1, "reserved");
    interest.reserved = 0;
#undef BAD_PLUGIN
    assert_status(schedq_plugin_register(queue, NULL, &bit, why, room), SCHEDQ_INVALID);
    assert_contains(why, "plugin");
    assert_status(schedq_plugin_register(queue, &good, NULL, why, room), SCHEDQ_INVALID);
    assert_contains(why, "bit");
    assert_status(schedq_plugin_register(NULL, &good, &bit, why, room), SCHEDQ_INVALID);
    assert_ok(schedq_plugin_register(queue, &good, &bit, why, room));
    assert_int_equal(bit, 1);
    bit = 0;
    assert_status(schedq_plugin_register(queue, &good, &bit, why, room), SCHEDQ_EXISTS);
    assert_int_equal(bit, 1);
}

static void
bad_rejector_names_have_no_bit(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    char name[128];
    memset(name, 'x', sizeof name);
    assert_int_equal(schedq_rejector_bit(NULL, 0, "Fit", 3), 0);
    assert_int_equal(schedq_rejector_bit(queue, 1, "Fit", 3), 0);
    assert_int_equal(schedq_rejector_bit(queue, 0, NULL, 3), 0);
    assert_int_equal(schedq_rejector_bit(queue, 0, "Fit", 0), 0);
    assert_int_equal(schedq_rejector_bit(queue, 0, name, 128), 0);
    assert_true(schedq_rejector_bit(queue, 0, name, 127) != 0);
}

static void
a_worker_of_another_queue_cannot_be_adopted(void **state)
{
    fixture_t *fixture = *state;
    fixture_t *other = fx_new(SCHEDQ_PRESET_DEFAULT);
    assert_status(schedq_worker_adopt(fx_queue(fixture), fx_worker(other)), SCHEDQ_INVALID);
    assert_status(schedq_worker_adopt(fx_queue(fixture), NULL), SCHEDQ_INVALID);
    assert_ok(schedq_worker_adopt(fx_queue(other), fx_worker(other)));
    fx_add(other, "ns/a", 0);
    fx_free(other);
}

static void
a_queue_with_workers_is_not_destroyed(void **state)
{
    fixture_t *fixture = *state;
    fx_worker(fixture);
    assert_status(schedq_destroy_with_pods(fx_queue(fixture), NULL, 0), SCHEDQ_BUSY);
    fx_add(fixture, "ns/a", 0);
}

static void
reservations_above_a_cap_are_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_pods = 10;
    fixture->config.max_bands = 4;
    fixture->config.max_workers = 2;
    schedq_t *queue = fx_queue(fixture);
    char *why = fixture->why;
    const size_t room = sizeof fixture->why;
    assert_status(schedq_reserve(queue, 11, 4, 2, why, room), SCHEDQ_INVALID);
    assert_contains(why, "pods");
    assert_contains(why, "11");
    assert_contains(why, "10");
    assert_status(schedq_reserve(queue, 10, 5, 2, why, room), SCHEDQ_INVALID);
    assert_contains(why, "bands");
    assert_status(schedq_reserve(queue, 10, 4, 3, why, room), SCHEDQ_INVALID);
    assert_contains(why, "workers");
    assert_ok(schedq_reserve(queue, 10, 4, 2, why, room));
    assert_string_equal(why, "");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(bad_rejector_names_have_no_bit),
        fx_test(a_worker_of_another_queue_cannot_be_adopted),
        fx_test(a_queue_with_workers_is_not_destroyed),
        fx_test(reservations_above_a_cap_are_refused),
        fx_test(bad_event_definitions_are_refused),
        fx_test(known_events_get_their_id_again),
        fx_test(bad_profiles_are_refused),
        fx_test(bad_plugins_are_refused),
    };
    return fx_run_tests(argc, argv, tests);
}
