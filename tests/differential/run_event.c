/* Events, and what they are matched with: moves, definitions, late names, what PreEnqueue says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "plugins.h"
#include "run.h"

#define STORM_MAX 80
#define LATE_NAMES 80 /* more than a profile has room for */
#define UNKNOWN_PROFILE 9

/* ---- moves ----------------------------------------------------------------------------------- */

struct event {
    op_kind_t kind;
    schedq_change_t change;
    const life_t *target;
    const char *namespace_name;
    size_t namespace_length;
};

static void
mark_event(const world_t *world, const struct event *event)
{
    bool wildcard = event->change.event == SCHEDQ_EVENT_WILDCARD;

    if (wildcard && event->target != NULL) {
        world_mark(world, MARK_MOVE_TARGET);
    } else if (wildcard && event->change.new_object != 0) {
        world_mark(world, MARK_MOVE_WILDCARD_WITH_OBJECT);
    }
    if (event->change.event >= SCHEDQ_EVENT_FIRST_FREE) {
        world_mark(world, MARK_MOVE_DEFINED_EVENT);
    }
}

static void
move_both(world_t *world, const struct event *event)
{
    schedq_change_t moves[SIDES] = {event->change, event->change};
    both_t both = {0};

    SHOW(world, "schedq_%s event %u old 0x%" PRIx64 " new 0x%" PRIx64 "%s", op_name(event->kind),
         event->change.event, event->change.old_object, event->change.new_object,
         event->change.precheck != NULL ? " with preCheck" : "");
    if (event->target != NULL) {
        SHOW(world, " target pod %" PRIu32, event->target->name);
        moves[0].target = event->target->handles[0];
        moves[1].target = event->target->handles[1];
    }
    SHOW(world, "\n");
    moves[0].precheck_ctx = &world->sides[0];
    moves[1].precheck_ctx = &world->sides[1];
    BOTH(&both, .kind = event->kind, .change = &moves[side], .name = event->namespace_name,
         .name_length = event->namespace_length);
    if (both_run(world, &both)) {
        (void)compare_sums(world, both.results);
        mark_event(world, event);
    }
}

/* The namespace of a pod's name is what stands before the first slash, if there is one. */
static void
draw_namespace(const world_t *world, chance_t *chance, uint32_t name, char text[NAME_ROOM],
               struct event *event)
{
    (void)name_write(world_is_kube(world), name, text);
    event->namespace_name = text;
    event->namespace_length = strcspn(text, "/");
    if (chance_one_in(chance, 40)) {
        event->namespace_length = chance_one_in(chance, 2) ? 0 : 254;
    }
}

static uint64_t
some_object(world_t *world, chance_t *chance)
{
    uint64_t object = object_of(chance_below(chance, world->settings.names),
                                chance_below(chance, OBJECT_VARIANTS));

    if (chance_one_in(chance, 2)) {
        return 0;
    }
    world_lend(world, object);
    return object;
}

static void
draw_event(world_t *world, chance_t *chance, struct event *event)
{
    event->change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
    event->change.event =
        chance_one_in(chance, 12) ? SCHEDQ_EVENT_WILDCARD : plugins_event(world, chance);
    event->change.old_object = some_object(world, chance);
    event->change.new_object = some_object(world, chance);
    event->change.precheck = chance_one_in(chance, 4) ? plugins_precheck : NULL;
}

void
run_move(world_t *world, const operation_t *operation)
{
    static const op_kind_t kinds[] = {OP_NOTIFY, OP_NOTIFY, OP_NOTIFY, OP_ASSIGNED_POD_ADDED,
                                      OP_ASSIGNED_POD_UPDATED};
    chance_t chance = operation_chance(operation);
    struct event event = {.kind = CHANCE_OF(&chance, kinds)};
    char text[NAME_ROOM];

    draw_event(world, &chance, &event);
    draw_namespace(world, &chance, operation->name, text, &event);
    if (chance_one_in(&chance, 8)) {
        event.target = world_named(world, operation->name);
        event.change.event = chance_one_in(&chance, 4) ? event.change.event : SCHEDQ_EVENT_WILDCARD;
    }
    if (chance_one_in(&chance, 100)) {
        event.change.event = 60000; /* nobody defined it */
    }
    move_both(world, &event);
}

/* More than a small log keeps, while pods are in flight. */
void
run_storm(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);

    for (uint32_t left = 1 + chance_below(&chance, STORM_MAX); left > 0 && !world->different;
         left--) {
        struct event event = {.kind = OP_NOTIFY};

        world->lent_count = 0;
        draw_event(world, &chance, &event);
        if (event.change.event == SCHEDQ_EVENT_WILDCARD) {
            event.change.event = SCHEDQ_EVENT_NODE_ADD;
        }
        move_both(world, &event);
    }
}

void
move_everything(world_t *world)
{
    struct event event = {.kind = OP_NOTIFY};

    event.change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
    event.change.event = SCHEDQ_EVENT_WILDCARD;
    move_both(world, &event);
}

/* From here on PreEnqueue says something else. */
void
run_gates(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);

    world->gate_epoch = chance_below(&chance, 4);
    SHOW(world, "PreEnqueue answers by rule %" PRIu32 "\n", world->gate_epoch);
}

/* ---- names ----------------------------------------------------------------------------------- */

/*
 * The same event under another label is another event; the same one again has the id that it has.
 */
void
run_define_event(world_t *world, const operation_t *operation)
{
    static const char *const resources[] = {"Late0", "Late1", "Node", "Pod", "*", "a.b.c", ""};
    static const uint32_t actions[] = {SCHEDQ_ACTION_ADD, SCHEDQ_ACTION_UPDATE, SCHEDQ_ACTION_ALL,
                                       0, 0x1000};
    static const char *const labels[] = {NULL, "", "Label1", "Label2"};
    chance_t chance = operation_chance(operation);
    const char *resource = CHANCE_OF(&chance, resources), *label = CHANCE_OF(&chance, labels);
    uint32_t bits = CHANCE_OF(&chance, actions);
    schedq_status_t statuses[SIDES];
    schedq_event_t events[SIDES] = {0, 0};

    SHOW(world, "schedq_event_define %s actions 0x%" PRIx32 " label %s\n", resource, bits,
         label != NULL ? label : "NULL");
    for (unsigned side = 0; side < SIDES; side++) {
        WORLD_CALL(world, side, statuses[side],
                   schedq_event_define(world->sides[side].queue, resource, bits, label,
                                       &events[side], NULL, 0));
    }
    if (compare_status(world, statuses) &&
        compare_bits(world, "event", (uint64_t[SIDES]){events[0], events[1]}) &&
        statuses[0] == SCHEDQ_OK && events[0] >= world->event_count) {
        world->event_count = events[0] + 1U;
    }
    world->worker_said = false;
}

static schedq_profile_t
some_profile(chance_t *chance)
{
    return (schedq_profile_t)(chance_one_in(chance, 12) ? UNKNOWN_PROFILE
                                                        : chance_below(chance, PROFILES));
}

void
run_event_plugins(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    schedq_profile_t profile = some_profile(&chance);
    schedq_event_t event = chance_one_in(&chance, 8) ? 60000 : plugins_event(world, &chance);
    uint64_t bits[SIDES];

    SHOW(world, "schedq_event_plugins profile %u event %u\n", profile, event);
    for (unsigned side = 0; side < SIDES; side++) {
        bits[side] = schedq_event_plugins(world->sides[side].queue, profile, event);
    }
    (void)compare_bits(world, "schedq_event_plugins", bits);
}

/* Sometimes a plugin's name, sometimes none that is legal. */
static uint32_t
draw_late_name(chance_t *chance, char text[16])
{
    switch (chance_below(chance, 12)) {
    case 0:
        return (uint32_t)sprintf(text, "Nodes");
    case 1:
        return 0;
    default:
        return (uint32_t)sprintf(text, "Late-%" PRIu32, chance_below(chance, LATE_NAMES));
    }
}

static void
late_name_both(world_t *world, schedq_profile_t profile, const char *text, uint32_t length)
{
    uint64_t bits[SIDES];

    SHOW(world, "schedq_rejector_bit profile %u \"%.*s\"\n", profile, (int)length, text);
    for (unsigned side = 0; side < SIDES; side++) {
        bits[side] = schedq_rejector_bit(world->sides[side].queue, profile, text, length);
    }
    if (!compare_bits(world, "schedq_rejector_bit", bits) || bits[0] == 0) {
        return;
    }
    world->sides[0].rejectors[profile] |= bits[0];
    world->sides[1].rejectors[profile] |= bits[1];
    if (bits[0] == SCHEDQ_REJECTOR_OTHERS) {
        world_mark(world, MARK_LATE_NAME_OTHERS);
    }
}

/* Most often one; sometimes so many that the profile's numbers are used up. */
void
run_late_name(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    schedq_profile_t profile = some_profile(&chance);
    uint32_t count = chance_one_in(&chance, 8) ? chance_below(&chance, 2 * LATE_NAMES) : 1;

    for (uint32_t i = 0; i < count && !world->different; i++) {
        char text[16] = "";
        uint32_t length = draw_late_name(&chance, text);

        late_name_both(world, profile, text, length);
    }
}

/* Setup is over. */
void
run_late_setup(world_t *world, const operation_t *operation)
{
    uint32_t call = (uint32_t)(operation->random % 3);
    schedq_status_t statuses[SIDES];

    SHOW(world, "setup after setup\n");
    for (unsigned side = 0; side < SIDES; side++) {
        schedq_t *queue = world->sides[side].queue;
        schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
        schedq_profile_t profile;
        uint64_t bit;

        plugin.name = "TooLate";
        statuses[side] = call == 0   ? schedq_profile_define(queue, "third", &profile, NULL, 0)
                         : call == 1 ? schedq_plugin_register(queue, &plugin, &bit, NULL, 0)
                                     : schedq_plugin_name(queue, 0, "TooLate", 7, &bit, NULL, 0);
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}
