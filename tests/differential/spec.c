/* Specs of spec.h. */
#include "spec.h"

#include <inttypes.h>

#include "plugins.h"

#define OWN_TIMES (INT64_C(1) << (CLOCK_BITS - 1))
#define ORDER_KEYS (OWN_TIMES + (INT64_C(1) << (CLOCK_BITS - 2)))
#define TICKS_MAX ((INT64_C(1) << (63 - CLOCK_BITS)) - 1)
#define OWN_BANDS (1 << 24)

static int32_t
some_priority(const world_t *world, chance_t *chance)
{
    static const int32_t classes[] = {
        0,          1000,       10000,     1000000,       -10,       -1,           1,
        2000000000, 2000001000, INT32_MAX, INT32_MAX - 1, INT32_MIN, INT32_MIN + 1};

    switch (world->settings.priorities) {
    case PRIORITIES_ONE:
        return 0;
    case PRIORITIES_FEW:
        return (int32_t)chance_below(chance, 4);
    case PRIORITIES_CLASSES:
        return CHANCE_OF(chance, classes);
    case PRIORITIES_MANY:
        return (int32_t)chance_below(chance, 500);
    default:
        return (int32_t)(uint32_t)chance_next(chance);
    }
}

/* In units of 1 << CLOCK_BITS: near the clock, or anywhere. */
static int64_t
some_ticks(const world_t *world, chance_t *chance, int64_t low)
{
    int64_t now = world->now >> CLOCK_BITS;
    int64_t ticks;

    switch (chance_below(chance, 8)) {
    case 0:
        ticks = low;
        break;
    case 1:
        ticks = TICKS_MAX;
        break;
    case 2:
        ticks = (int64_t)(chance_next(chance) >> CLOCK_BITS) + low;
        break;
    default:
        ticks = now + (int64_t)chance_below(chance, 32) - 16;
        break;
    }
    return ticks < low ? low : ticks > TICKS_MAX ? TICKS_MAX : ticks;
}

static int64_t
ticks_to_ns(int64_t ticks)
{
    return ticks * (INT64_C(1) << CLOCK_BITS);
}

/* No other pod has this one. */
static int64_t
own_order_key(const world_t *world, chance_t *chance, uint32_t name)
{
    if (name < 2 && chance_one_in(chance, 3)) {
        return name == 0 ? INT64_MIN : INT64_MAX;
    }
    return ticks_to_ns(some_ticks(world, chance, -TICKS_MAX - 1)) + ORDER_KEYS + name;
}

static bool
bands_are_plenty(const schedq_config_t *config)
{
    return !config->fifo && (config->max_bands == 0 || config->max_bands > 64);
}

int64_t
spec_any_time(const world_t *world, chance_t *chance)
{
    static const int64_t ends[] = {0, 1, INT64_MAX - 1, INT64_MAX};
    int64_t near = chance_below(chance, 1U << 31);

    switch (chance_below(chance, 4)) {
    case 0:
        return CHANCE_OF(chance, ends);
    case 1:
        return INT64_MAX - near;
    case 2:
        return world->now > near ? world->now - near : 0;
    default:
        return time_after(world->now, near);
    }
}

/*
 * Members that tie, as at the end of time, join a group of kube's in no order, and how often their
 * gates are asked tells it: each has a key of its own.
 */
static void
draw_any_order(const world_t *world, chance_t *chance, uint32_t name, schedq_pod_spec_t *spec)
{
    static const int64_t first_keys[] = {INT64_MIN, 0, INT64_MAX - NAMES_MAX};

    spec->priority = OWN_BANDS + (int32_t)name;
    spec->timestamp_ns = chance_one_in(chance, 2) ? spec_any_time(world, chance) : 0;
    if (may_be_member(name)) {
        spec->flags |= SCHEDQ_POD_ORDER_KEY;
        spec->order_key = CHANCE_OF(chance, first_keys) + name;
    } else if (chance_one_in(chance, 4)) {
        spec->flags |= SCHEDQ_POD_ORDER_KEY;
        spec->order_key = spec_any_time(world, chance) ^ (chance_one_in(chance, 2) ? -1 : 0);
    }
}

static void
draw_order(const world_t *world, chance_t *chance, uint32_t name, schedq_pod_spec_t *spec)
{
    static const int64_t shared_keys[] = {INT64_MIN, 0, INT64_MAX};

    if (world->settings.priorities == PRIORITIES_OWN) {
        draw_any_order(world, chance, name, spec);
        return;
    }
    spec->priority = some_priority(world, chance);
    if (chance_one_in(chance, 4)) {
        spec->timestamp_ns = ticks_to_ns(some_ticks(world, chance, 0)) + OWN_TIMES + name;
    }
    if (chance_one_in(chance, 5)) {
        spec->flags |= SCHEDQ_POD_ORDER_KEY;
        spec->order_key = own_order_key(world, chance, name);
    } else if (!may_be_member(name) && chance_one_in(chance, 4) &&
               bands_are_plenty(&world->settings.config)) {
        spec->flags |= SCHEDQ_POD_ORDER_KEY;
        spec->priority = OWN_BANDS + (int32_t)name;
        spec->order_key = CHANCE_OF(chance, shared_keys);
    }
}

static void
append_name(name_text_t *names, bool kube, uint32_t name, schedq_add_item_t *item)
{
    item->name_offset = names->used;
    item->name_length = name_write(kube, name, names->text + names->used);
    names->used += item->name_length;
}

int64_t
spec_not_before(const world_t *world, chance_t *chance)
{
    const schedq_config_t *config = &world->settings.config;

    if (settings_have(&world->settings, FEATURE_ENDS) && chance_one_in(chance, 2)) {
        return spec_any_time(world, chance);
    }
    switch (chance_below(chance, 8)) {
    case 0:
        return 0;
    case 1:
        return INT64_MAX;
    case 2:
        return world->now;
    default:
        return time_after(world->now, 1 + (int64_t)(chance_next(chance) %
                                                    (2 * (uint64_t)config->initial_backoff_ns)));
    }
}

void
spec_draw(const world_t *world, chance_t *chance, uint32_t name, name_text_t *names,
          schedq_add_item_t *item)
{
    schedq_pod_spec_t *spec = &item->spec;

    *spec = (schedq_pod_spec_t){.struct_size = sizeof(schedq_pod_spec_t),
                                .object = object_of(name, chance_below(chance, OBJECT_VARIANTS))};
    draw_order(world, chance, name, spec);
    if (chance_one_in(chance, 8)) {
        spec->flags |= SCHEDQ_POD_AFFINITY;
    }
    if (settings_have(&world->settings, FEATURE_EVENTS | FEATURE_GATES)) {
        spec->profile = profile_of(name);
    }
    if (settings_have(&world->settings, FEATURE_NOMINATE)) {
        spec->nominated_node = chance_one_in(chance, 8) ? 1 + chance_below(chance, 4) : 0;
    }
    if (world->settings.host && chance_one_in(chance, 4)) {
        spec->gate = plugins_gate(chance);
        spec->judged_up_to = plugins_judgement(world, chance, 0);
    }
    if (settings_have(&world->settings, FEATURE_HOLD) && spec->gate == 0 &&
        chance_one_in(chance, 10)) {
        spec->not_before_ns = spec_not_before(world, chance);
    }
    if (settings_have(&world->settings, FEATURE_HOLD) && chance_one_in(chance, 4)) {
        spec->label = 1 + chance_below(chance, LABELS);
    }
    if (settings_have(&world->settings, FEATURE_GROUPS) && !world->settings.host &&
        may_be_member(name) && chance_one_in(chance, 3)) {
        spec->group = group_of(name);
        spec->label = spec->label != 0 ? label_of_member(name) : 0;
    }
    if (settings_have(&world->settings, FEATURE_CLASSES) && !chance_one_in(chance, 8)) {
        spec->class_id =
            1 + (chance_one_in(chance, 8) ? chance_below(chance, CLASSES) : name % CLASSES);
    }
    append_name(names, world_is_kube(world), name, item);
}

void
spec_spoil(const world_t *world, chance_t *chance, uint32_t name, name_text_t *names,
           schedq_add_item_t *item)
{
    schedq_pod_spec_t *spec = &item->spec;

    switch (chance_below(chance, 13)) {
    case 12:
        spec->not_before_ns = chance_one_in(chance, 2) ? -1 : INT64_MIN;
        break;
    case 0:
        spec->profile = 7;
        break;
    case 1:
        spec->flags |= (uint8_t)(8U << chance_below(chance, 5));
        break;
    case 2:
        spec->reserved[chance_below(chance, sizeof spec->reserved)] = 1;
        break;
    case 3:
        spec->flags |= SCHEDQ_POD_ADD;
        spec->only.bits = UINT64_C(1) << chance_below(chance, 64);
        break;
    case 4:
        spec->timestamp_ns = chance_one_in(chance, 2) ? -1 : INT64_MIN;
        break;
    case 5:
        spec->gate = 200; /* no plugin has such a number */
        break;
    case 6:
        spec->struct_size ^= UINT32_C(1) << chance_below(chance, 32);
        break;
    default:
        /* The item's own name was the last one: it is replaced. */
        item->name_length =
            name_write_bad(world_is_kube(world), chance, name, names->text + item->name_offset);
        names->used = item->name_offset + SCHEDQ_NAME_MAX + 2;
        break;
    }
}

void
spec_for_life(const world_t *world, chance_t *chance, const life_t *life, uint32_t name,
              schedq_pod_spec_t *spec)
{
    bool has_key = (spec->flags & SCHEDQ_POD_ORDER_KEY) != 0;

    if (life != NULL && life->order_key && !life->own_time && !has_key) {
        spec->flags |= SCHEDQ_POD_ORDER_KEY;
        spec->order_key = own_order_key(world, chance, name);
    }
}

void
spec_show(const world_t *world, size_t name_length, const schedq_pod_spec_t *spec)
{
    SHOW(world, "    pod %" PRIu32 " (name of %zu bytes) object 0x%" PRIx64 " priority %" PRId32,
         object_name(spec->object), name_length, spec->object, spec->priority);
    SHOW(world, " timestamp %" PRId64 " flags 0x%x", spec->timestamp_ns, spec->flags);
    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        SHOW(world, " order_key %" PRId64, spec->order_key);
    }
    if (spec->nominated_node != 0 || spec->gate != 0) {
        SHOW(world, " nominated_node %" PRIu64 " gate %u judged_up_to %" PRIu64,
             spec->nominated_node, spec->gate, spec->judged_up_to);
    }
    if (spec->not_before_ns != 0) {
        SHOW(world, " not_before %" PRId64, spec->not_before_ns);
    }
    if (spec->group != 0) {
        SHOW(world, " group %" PRIu64, spec->group);
    }
    if (spec->class_id != 0) {
        SHOW(world, " class %" PRIu64, spec->class_id);
    }
    SHOW(world, "\n");
}
