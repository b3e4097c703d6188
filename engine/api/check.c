/* The checks of check.h. */
#include "api/check_straight.h"

#include "api/call.h"

#include <inttypes.h>
#include <string.h>

bool
check_says_null(schedq_worker_t *worker, const char *name)
{
    worker_say(worker, "%s NULL: a pointer", name);
    return false;
}

bool
check_size(schedq_worker_t *worker, const char *name, uint32_t struct_size, size_t expected)
{
    if (struct_size != expected) {
        worker_say(worker, "%s.struct_size %" PRIu32 ": %zu, as its initializer sets it", name,
                   struct_size, expected);
        return false;
    }
    return true;
}

bool
check_says_reserved(schedq_worker_t *worker, const char *name, const uint8_t *bytes, size_t count)
{
    size_t set = 0;

    while (set + 1 < count && bytes[set] == 0) {
        set++;
    }
    worker_say(worker, "%s.reserved[%zu] %u: 0, as its initializer sets it", name, set, bytes[set]);
    return false;
}

/* Nothing is shown of a length that no text can have: then the text may be anything. */
bool
check_says_length(schedq_worker_t *worker, const char *text, size_t length)
{
    int shown = length <= PTRDIFF_MAX ? (int)(length < 40 ? length : 40) : 0;

    worker_say(worker, "name \"%.*s%s\": %zu bytes: 1..%d", shown, text, shown > 0 ? "..." : "",
               length, SCHEDQ_NAME_MAX);
    return false;
}

bool
check_is_name(schedq_worker_t *worker, const char *text, size_t length)
{
    const char *slash = memchr(text, '/', length);
    const char *nul = memchr(text, '\0', length);
    const char *end = text + length;
    int shown = (int)(length < 120 ? length : 120);

    if (nul != NULL) {
        worker_say(worker, "name \"%.*s\": byte %zu of its %zu is NUL: none may be", shown, text,
                   (size_t)(nul - text), length);
        return false;
    }
    if (worker->queue->config.kube_minor != 0 &&
        (slash == NULL || slash == text || slash + 1 == end ||
         memchr(slash + 1, '/', (size_t)(end - slash - 1)) != NULL)) {
        worker_say(worker,
                   "name \"%.*s\": namespace/name, one '/', something on both sides, since "
                   "kube_minor is %u",
                   shown, text, worker->queue->config.kube_minor);
        return false;
    }
    return true;
}

bool
check_name(schedq_worker_t *worker, const char *text, size_t length, struct hashed_name *name)
{
    return check_bytes(worker, text, length, name);
}

bool
check_wait(schedq_worker_t *worker, int64_t wait_ns)
{
    if (wait_ns < 0) {
        worker_say(worker, "wait_ns %" PRId64 ": 0..%" PRId64, wait_ns, INT64_MAX);
        return false;
    }
    return true;
}

bool
check_event(schedq_worker_t *worker, const char *argument, schedq_event_t event)
{
    const struct registry *registry = &worker->queue->registry;

    if (!registry_has_event(registry, event)) {
        worker_say(worker, "%s %u%s: 1..%" PRIu32, argument, event,
                   event == SCHEDQ_EVENT_NONE ? " (SCHEDQ_EVENT_NONE)" : "",
                   registry_event_count(registry));
        return false;
    }
    return true;
}

bool
check_profile(schedq_worker_t *worker, const char *argument, schedq_profile_t profile)
{
    uint32_t count = registry_profile_count(&worker->queue->registry);

    if (profile >= count) {
        worker_say(worker, "%s %u: 0..%" PRIu32, argument, profile, count - 1);
        return false;
    }
    return true;
}

static bool
gate_is_known(schedq_worker_t *worker, const char *argument, schedq_profile_t profile, uint8_t gate)
{
    if (gate == 0) {
        return true;
    }
    if (!worker->queue->rules.host) {
        worker_say(worker, "%s %u: 0, since gates are callbacks here", argument, gate);
        return false;
    }
    if ((gate_bit(gate) & registry_gate_bits(&worker->queue->registry, profile)) == 0) {
        worker_say(worker, "%s %u: 0, or 1 + the number of a plugin of profile %u", argument, gate,
                   profile);
        return false;
    }
    return true;
}

static bool
description_is_legal(schedq_worker_t *worker, const char *argument, const schedq_pod_spec_t *spec,
                     uint8_t legal)
{
    if (!check_size(worker, argument, spec->struct_size, sizeof *spec)) {
        return false;
    }
    if ((spec->flags & ~legal) != 0) {
        worker_say(worker, "%s.flags 0x%x: bits of 0x%x%s", argument, spec->flags, legal,
                   (spec->flags & ~UPDATE_FLAGS) == 0
                       ? "; SCHEDQ_POD_ADD 0x4 is for schedq_update only"
                       : "");
        return false;
    }
    bool names_one = (legal & SCHEDQ_POD_ADD) != 0 && (spec->flags & SCHEDQ_POD_ADD) == 0;

    if (spec->only.bits != 0 && !names_one) {
        worker_say(worker,
                   "%s.only 0x%" PRIx64 ": 0; only schedq_update without SCHEDQ_POD_ADD knows it",
                   argument, spec->only.bits);
        return false;
    }
    if (!check_reserved(worker, argument, spec->reserved, sizeof spec->reserved)) {
        return false;
    }
    if (spec->not_before_ns < 0) {
        worker_say(worker, "%s.not_before_ns %" PRId64 ": 0..%" PRId64, argument,
                   spec->not_before_ns, INT64_MAX);
        return false;
    }
    return true;
}

bool
check_description(schedq_worker_t *worker, const schedq_pod_spec_t *spec)
{
    return description_is_legal(worker, "failure.newest", spec, POD_FLAGS);
}

bool
check_is_legal(schedq_worker_t *worker, const schedq_pod_spec_t *spec, uint8_t flags)
{
    if (!check_profile(worker, "spec.profile", spec->profile) ||
        !description_is_legal(worker, "spec", spec, flags)) {
        return false;
    }
    if (spec->group != 0 && worker->queue->rules.host) {
        worker_say(worker, "spec.group %" PRIu64 ": 0, with config.decide = SCHEDQ_DECIDE_HOST",
                   spec->group);
        return false;
    }
    if (spec->timestamp_ns < 0) {
        worker_say(worker, "spec.timestamp_ns %" PRId64 ": 0..%" PRId64, spec->timestamp_ns,
                   INT64_MAX);
        return false;
    }
    if (spec->gate != 0 && spec->not_before_ns != 0) {
        worker_say(worker, "spec.gate %u, not_before_ns %" PRId64 ": one of them 0", spec->gate,
                   spec->not_before_ns);
        return false;
    }
    return gate_is_known(worker, "spec.gate", spec->profile, spec->gate);
}

bool
check_named(schedq_worker_t *worker, const char *name, size_t length, const schedq_pod_spec_t *spec,
            uint8_t legal, struct hashed_name *hashed)
{
    return check_not_null(worker, spec, "spec") && check_bytes(worker, name, length, hashed) &&
           check_any(worker, spec, legal);
}

bool
check_item(schedq_worker_t *worker, const char *names, size_t names_length,
           const schedq_add_item_t *item, size_t number, struct hashed_name *name)
{
    if (item->name_length > names_length || item->name_offset > names_length - item->name_length) {
        worker_say(worker,
                   "items[%zu]: name_offset %" PRIu32 ", name_length %" PRIu32
                   ": within the %zu bytes of names",
                   number, item->name_offset, item->name_length, names_length);
        return false;
    }
    return check_bytes(worker, names + item->name_offset, item->name_length, name) &&
           check_any(worker, &item->spec, POD_FLAGS);
}

static bool
place_fits(schedq_worker_t *worker, const schedq_failure_t *failure, bool readd)
{
    if (!worker->queue->rules.host) {
        if (failure->place != SCHEDQ_NOWHERE || failure->gate != 0) {
            worker_say(worker, "failure.place %u, gate %u: 0, since callbacks decide here",
                       failure->place, failure->gate);
            return false;
        }
        return true;
    }
    bool legal = failure->place == SCHEDQ_ACTIVE || failure->place == SCHEDQ_BACKOFF ||
                 failure->place == SCHEDQ_GATED || (failure->place == SCHEDQ_PARKED && !readd);
    if (!legal) {
        worker_say(worker, "failure.place %u: ACTIVE %d, BACKOFF %d, GATED %d%s", failure->place,
                   SCHEDQ_ACTIVE, SCHEDQ_BACKOFF, SCHEDQ_GATED, readd ? "" : ", PARKED 4");
        return false;
    }
    if ((failure->place == SCHEDQ_GATED) != (failure->gate != 0)) {
        worker_say(worker, "failure.gate %u: %s", failure->gate,
                   failure->gate == 0 ? "1 + a plugin's number, since place is GATED"
                                      : "0, since place is not GATED");
        return false;
    }
    return true;
}

bool
check_failure(schedq_worker_t *worker, const schedq_failure_t *failure, bool readd)
{
    if (!check_not_null(worker, failure, "failure") ||
        !check_size(worker, "failure", failure->struct_size, sizeof *failure) ||
        !place_fits(worker, failure, readd)) {
        return false;
    }
    if (readd && failure->newest != NULL) {
        worker_say(worker, "failure.newest: NULL, since the spec of a readd is the newest");
        return false;
    }
    if ((failure->own_reasons | (unsigned)failure->reserved << 8) > 1) {
        if (failure->own_reasons > 1) {
            worker_say(worker, "failure.own_reasons %u: 0 or 1", failure->own_reasons);
        } else {
            (void)check_reserved(worker, "failure", &failure->reserved, sizeof failure->reserved);
        }
        return false;
    }
    return failure->newest == NULL || check_description(worker, failure->newest);
}

bool
check_history(schedq_worker_t *worker, const schedq_history_t *history)
{
    if (!check_not_null(worker, history, "history")) {
        return false;
    }
    if (history->timestamp_ns < 0 || history->initial_attempt_ns < 0) {
        worker_say(worker,
                   "history: timestamp_ns %" PRId64 ", initial_attempt_ns %" PRId64 ": 0..%" PRId64,
                   history->timestamp_ns, history->initial_attempt_ns, INT64_MAX);
        return false;
    }
    if (history->reserved != 0) {
        worker_say(worker, "history.reserved %" PRIu32 ": 0", history->reserved);
        return false;
    }
    return true;
}

bool
check_decides(schedq_worker_t *worker, uint8_t decide, const char *function)
{
    if (worker->queue->config.decide != decide) {
        worker_say(worker, "%s: only with config.decide = %s", function,
                   decide == SCHEDQ_DECIDE_HOST ? "SCHEDQ_DECIDE_HOST" : "SCHEDQ_DECIDE_CALLBACKS");
        return false;
    }
    return true;
}

bool
check_text(char *why, size_t size, const char *argument, const char *text, size_t length)
{
    if (length == 0 || length > REGISTRY_NAME_MAX || memchr(text, '\0', length) != NULL) {
        say(why, size, "%s \"%.*s\" of %zu bytes: 1..%d bytes, no NUL", argument,
            (int)(length < 60 ? length : 60), text, length, REGISTRY_NAME_MAX);
        return false;
    }
    return true;
}
