/* Presets, and the legal range of every field of a configuration. */
#include "api/config.h"

#include "api/call.h"

#include <inttypes.h>

#define MILLISECOND INT64_C(1000000)
#define SECOND (1000 * MILLISECOND)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)

/* ---- presets --------------------------------------------------------------------------------- */

static void
set_kube_1_34(schedq_config_t *config)
{
    config->class_patience_ns = 0;
    config->kube_minor = SCHEDQ_PRESET_KUBE_1_34;
    config->backoff_window = 1;
    config->backoff_at_expiry = 1;
    config->gates_see_wildcards = 0;
    config->count_cycles = 1;
}

static void
set_kube_1_37(schedq_config_t *config)
{
    set_kube_1_34(config);
    config->kube_minor = SCHEDQ_PRESET_KUBE_1_37;
    config->gates_see_wildcards = 1;
}

static void
set_kube_1_26(schedq_config_t *config)
{
    config->class_patience_ns = 0;
    config->kube_minor = SCHEDQ_PRESET_KUBE_1_26;
    config->requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    config->pop_from_backoff = 0;
    config->backoff_counts = SCHEDQ_COUNT_ATTEMPTS;
    config->errors_park = 1;
    config->count_cycles = 1;
}

static void
set_kube_1_12(schedq_config_t *config)
{
    set_kube_1_26(config);
    config->kube_minor = SCHEDQ_PRESET_KUBE_1_12;
    config->max_backoff_ns = 0;
    config->max_parked_ns = 60 * SECOND;
    config->errors_park = 0;
}

schedq_status_t
schedq_config_preset(schedq_config_t *config, schedq_preset_t preset)
{
    schedq_config_t filled = SCHEDQ_CONFIG_INIT;

    if (config == NULL || config->struct_size != sizeof *config) {
        return SCHEDQ_INVALID;
    }
    switch (preset) {
    case SCHEDQ_PRESET_DEFAULT:
        break;
    case SCHEDQ_PRESET_KUBE_1_37:
        set_kube_1_37(&filled);
        break;
    case SCHEDQ_PRESET_KUBE_1_34:
        set_kube_1_34(&filled);
        break;
    case SCHEDQ_PRESET_KUBE_1_26:
        set_kube_1_26(&filled);
        break;
    case SCHEDQ_PRESET_KUBE_1_12:
        set_kube_1_12(&filled);
        break;
    default:
        return SCHEDQ_INVALID;
    }
    *config = filled;
    return SCHEDQ_OK;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

struct field {
    const char *name;
    int64_t value, min, max;
    bool zero; /* 0 is legal too */
};

static bool
check_fields(const struct field *fields, size_t count, char *why, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        const struct field *field = &fields[i];
        bool legal = (field->value >= field->min && field->value <= field->max) ||
                     (field->zero && field->value == 0);

        if (!legal) {
            say(why, size, "%s %" PRId64 ": %s%" PRId64 "..%" PRId64, field->name, field->value,
                field->zero ? "0 or " : "", field->min, field->max);
            return false;
        }
    }
    return true;
}

#define FIELD(field_name, lowest, highest)                                   \
    {                                                                        \
#field_name, (int64_t)config->field_name, (lowest), (highest), false \
    }
#define FIELD_OR_0(field_name, lowest, highest)                             \
    {                                                                       \
#field_name, (int64_t)config->field_name, (lowest), (highest), true \
    }

static bool
check_ranges(const schedq_config_t *config, char *why, size_t size)
{
    const struct field fields[] = {
        FIELD(max_pods, 0, PODS_MAX),
        FIELD(max_bands, 0, BANDS_MAX),
        FIELD(max_workers, 1, WORKERS_MAX),
        FIELD_OR_0(max_events, SCHEDQ_EVENT_FIRST_FREE - 1, REGISTRY_EVENTS_MAX),
        FIELD(event_log, 0, 1 << 20),
        FIELD(max_lots, 1, 65535),
        FIELD(fences, SCHEDQ_FENCES_ASYMMETRIC, SCHEDQ_FENCES_REAL),
        FIELD(pre_queueing_hints, 0, 1),
        FIELD(initial_backoff_ns, MILLISECOND, HOUR),
        FIELD_OR_0(max_backoff_ns, MILLISECOND, DAY),
        FIELD(max_parked_ns, MILLISECOND, 365 * DAY),
        FIELD(tick_ns, MILLISECOND / 10, SECOND),
        FIELD_OR_0(class_patience_ns, MILLISECOND, 365 * DAY),
        FIELD(engine, SCHEDQ_ENGINE_LOCKFREE, SCHEDQ_ENGINE_MUTEX),
        FIELD(order, SCHEDQ_ORDER_STRICT, SCHEDQ_ORDER_RELAXED),
        FIELD(objects, SCHEDQ_OBJECTS_STABLE, SCHEDQ_OBJECTS_BORROWED),
        FIELD(decide, SCHEDQ_DECIDE_CALLBACKS, SCHEDQ_DECIDE_HOST),
        FIELD(external_clock, 0, 1),
        FIELD(requeue, SCHEDQ_REQUEUE_HINTS, SCHEDQ_REQUEUE_MOVE_CYCLE),
        FIELD(pop_from_backoff, 0, 1),
        FIELD(backoff_window, 0, 1),
        FIELD(backoff_at_expiry, 0, 1),
        FIELD(backoff_counts, SCHEDQ_COUNT_FAILURES, SCHEDQ_COUNT_ATTEMPTS),
        FIELD(errors_park, 0, 1),
        FIELD(keep_order, 0, 1),
        FIELD(gates_see_wildcards, 0, 1),
        FIELD(count_cycles, 0, 1),
        FIELD(fifo, 0, 1),
        FIELD_OR_0(flush_ns, MILLISECOND, HOUR),
        FIELD(start_ns, 0, INT64_MAX),
    };

    return check_fields(fields, sizeof fields / sizeof fields[0], why, size);
}

static bool
is_power_of_two(uint32_t value)
{
    return (value & (value - 1)) == 0;
}

static bool
check_choices(const schedq_config_t *config, char *why, size_t size)
{
    if (!is_power_of_two(config->event_log)) {
        say(why, size, "event_log %" PRIu32 ": 0 or a power of two up to 1048576",
            config->event_log);
        return false;
    }
    if (config->kube_minor != 0 && config->kube_minor != SCHEDQ_PRESET_KUBE_1_12 &&
        config->kube_minor != SCHEDQ_PRESET_KUBE_1_26 &&
        config->kube_minor != SCHEDQ_PRESET_KUBE_1_34 &&
        config->kube_minor != SCHEDQ_PRESET_KUBE_1_37) {
        say(why, size, "kube_minor %u: 0, 12, 26, 34 or 37", config->kube_minor);
        return false;
    }
    if (config->kube_minor == 0 && config->flush_ns != 0) {
        say(why, size, "flush_ns %" PRId64 ": 0, since kube_minor is 0", config->flush_ns);
        return false;
    }
    if (!config->external_clock && config->start_ns != 0) {
        say(why, size, "start_ns %" PRId64 ": 0, since external_clock is 0", config->start_ns);
        return false;
    }
    for (size_t i = 0; i < sizeof config->clock.reserved / sizeof config->clock.reserved[0]; i++) {
        if (config->clock.reserved[i] != 0) {
            say(why, size, "clock.reserved[%zu] %" PRIu32 ": 0, as SCHEDQ_CONFIG_INIT sets it", i,
                config->clock.reserved[i]);
            return false;
        }
    }
    if (config->allocator.reserved != 0) {
        say(why, size, "allocator.reserved %" PRIu64 ": 0, as SCHEDQ_CONFIG_INIT sets it",
            config->allocator.reserved);
        return false;
    }
    return true;
}

static bool
check_callbacks(const schedq_config_t *config, char *why, size_t size)
{
    bool counted = config->objects == SCHEDQ_OBJECTS_COUNTED;

    if (config->decide == SCHEDQ_DECIDE_HOST && config->objects != SCHEDQ_OBJECTS_STABLE) {
        say(why, size, "objects %u: %d (STABLE), since decide is SCHEDQ_DECIDE_HOST",
            config->objects, SCHEDQ_OBJECTS_STABLE);
        return false;
    }
    if (counted && (config->retain == NULL || config->release == NULL)) {
        say(why, size, "%s NULL: a function, since objects is SCHEDQ_OBJECTS_COUNTED",
            config->retain == NULL ? "retain" : "release");
        return false;
    }
    if (!counted && (config->retain != NULL || config->release != NULL)) {
        say(why, size, "%s set: NULL, since objects is %u and not %d (COUNTED)",
            config->retain != NULL ? "retain" : "release", config->objects, SCHEDQ_OBJECTS_COUNTED);
        return false;
    }
    if (config->external_clock && (config->clock.now_ns != NULL || config->clock.is_virtual != 0)) {
        say(why, size, "clock: all zero, since external_clock is 1");
        return false;
    }
    if (config->clock.is_virtual > 1 ||
        (config->clock.is_virtual == 1 && config->clock.now_ns == NULL)) {
        say(why, size, "clock.is_virtual %" PRIu32 ": 0, or 1 with a now_ns function",
            config->clock.is_virtual);
        return false;
    }
    if ((config->allocator.alloc == NULL) != (config->allocator.free == NULL)) {
        say(why, size, "allocator: alloc and free, or neither");
        return false;
    }
    return true;
}

bool
config_check(const schedq_config_t *config, char *why, size_t why_size)
{
    if (config->struct_size != sizeof *config) {
        say(why, why_size, "struct_size %" PRIu32 ": %zu, as SCHEDQ_CONFIG_INIT sets it",
            config->struct_size, sizeof *config);
        return false;
    }
    return check_ranges(config, why, why_size) && check_choices(config, why, why_size) &&
           check_callbacks(config, why, why_size);
}
