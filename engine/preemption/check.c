/* The checks of check.h. */
#include "preemption/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FIRST_EXTENDED 3
#define SHOWN 120 /* bytes of a wrong text */

void
words_say(const struct words *words, const char *format, ...)
{
    va_list arguments;

    if (words->text == NULL || words->size == 0) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(words->text, words->size, format, arguments);
    va_end(arguments);
}

bool
check_pointer(const struct words *words, const char *field, const void *pointer)
{
    if (pointer == NULL) {
        words_say(words, "%s NULL: a pointer", field);
        return false;
    }
    return true;
}

bool
check_size(const struct words *words, const char *what, uint32_t size, size_t expected)
{
    if (size != expected) {
        words_say(words, "%s.struct_size %" PRIu32 ": %zu, as its initializer sets it", what, size,
                  expected);
        return false;
    }
    return true;
}

bool
check_text_of(const struct words *words, const char *field, const char *text, uint32_t min)
{
    if (!check_pointer(words, field, text)) {
        return false;
    }
    size_t length = strnlen(text, SCHEDQ_NAME_MAX + 1);

    if (length < min || length > SCHEDQ_NAME_MAX) {
        words_say(words, "%s \"%.*s\", %zu bytes or more: %" PRIu32 "..%d", field, SHOWN, text,
                  length, min, SCHEDQ_NAME_MAX);
        return false;
    }
    return true;
}

bool
check_full_name(const struct words *words, const char *field, const char *name)
{
    if (!check_text_of(words, field, name, 3)) {
        return false;
    }
    const char *slash = strchr(name, '/');

    if (slash == NULL || slash == name || slash[1] == '\0' || strchr(slash + 1, '/') != NULL) {
        words_say(words, "%s \"%.*s\": namespace/name, one '/', something on both sides", field,
                  SHOWN, name);
        return false;
    }
    return true;
}

bool
check_flag(const struct words *words, const char *field, uint32_t value)
{
    if (value > 1) {
        words_say(words, "%s %" PRIu32 ": 0..1", field, value);
        return false;
    }
    return true;
}

bool
check_zero(const struct words *words, const char *field, uint64_t value)
{
    if (value != 0) {
        words_say(words, "%s %" PRIu64 ": 0, as its initializer sets it", field, value);
        return false;
    }
    return true;
}

bool
check_amount(const struct words *words, const char *field, int64_t value)
{
    if (value < 0 || value > SCHEDQ_QUANTITY_MAX) {
        words_say(words, "%s %" PRId64 ": 0..%" PRId64, field, value, SCHEDQ_QUANTITY_MAX);
        return false;
    }
    return true;
}

bool
check_time(const struct words *words, const char *field, int64_t value)
{
    if (value < 0) {
        words_say(words, "%s %" PRId64 ": 0..%" PRId64, field, value, INT64_MAX);
        return false;
    }
    return true;
}

static bool
check_quantity(const struct words *words, const char *field, const schedq_amount_t *list,
               uint32_t at, uint32_t resource_count)
{
    const schedq_amount_t *quantity = &list[at];

    if (quantity->resource < FIRST_EXTENDED || quantity->resource >= resource_count) {
        words_say(words,
                  "%s.extended[%" PRIu32 "].resource %" PRIu32
                  ": one that schedq_cluster_resource gave, %d..%" PRIu32,
                  field, at, quantity->resource, FIRST_EXTENDED, resource_count - 1);
        return false;
    }
    for (uint32_t i = 0; i < at; i++) {
        if (list[i].resource == quantity->resource) {
            words_say(words, "%s.extended[%" PRIu32 "].resource %" PRIu32 ": each at most once",
                      field, at, quantity->resource);
            return false;
        }
    }
    return check_amount(words, "extended amount", quantity->amount) &&
           check_zero(words, "extended reserved", quantity->reserved);
}

bool
check_amounts(const struct words *words, const char *field, const schedq_amounts_t *amounts,
              uint32_t resource_count)
{
    if (!check_amount(words, "cpu_milli", amounts->cpu_milli) ||
        !check_amount(words, "memory_bytes", amounts->memory_bytes) ||
        !check_zero(words, "amounts.reserved", amounts->reserved)) {
        return false;
    }
    if (amounts->extended_count > SCHEDQ_RESOURCES_MAX) {
        words_say(words, "%s.extended_count %" PRIu32 ": 0..%d", field, amounts->extended_count,
                  SCHEDQ_RESOURCES_MAX);
        return false;
    }
    if (amounts->extended_count > 0 && !check_pointer(words, "extended", amounts->extended)) {
        return false;
    }
    for (uint32_t i = 0; i < amounts->extended_count; i++) {
        if (!check_quantity(words, field, amounts->extended, i, resource_count)) {
            return false;
        }
    }
    return true;
}

bool
check_allocator(char *why, size_t why_size, const schedq_allocator_t *allocator)
{
    const struct words words = {.text = why, .size = why_size};

    if (why != NULL && why_size > 0) {
        why[0] = '\0';
    }
    if (allocator != NULL && (allocator->alloc == NULL) != (allocator->free == NULL)) {
        words_say(&words, "allocator: alloc and free, or neither");
        return false;
    }
    return allocator == NULL || check_zero(&words, "allocator.reserved", allocator->reserved);
}

bool
check_node_spec(const struct words *words, const schedq_node_spec_t *spec, uint32_t resource_count)
{
    return check_size(words, "spec", spec->struct_size, sizeof *spec) &&
           check_text_of(words, "name", spec->name, 1) &&
           check_zero(words, "reserved", spec->reserved) &&
           check_amounts(words, "allocatable", &spec->allocatable, resource_count) &&
           check_amount(words, "pods", spec->pods);
}

static bool
check_labels(const struct words *words, const schedq_label_t *labels, uint32_t count)
{
    if (count > SCHEDQ_LABELS_MAX) {
        words_say(words, "label_count %" PRIu32 ": 0..%d", count, SCHEDQ_LABELS_MAX);
        return false;
    }
    if (count > 0 && !check_pointer(words, "labels", labels)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!check_text_of(words, "labels.key", labels[i].key, 1) ||
            !check_text_of(words, "labels.value", labels[i].value, 0)) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(labels[i].key, labels[j].key) == 0) {
                words_say(words, "labels[%" PRIu32 "].key \"%.*s\": each key once", i, SHOWN,
                          labels[i].key);
                return false;
            }
        }
    }
    return true;
}

static bool
check_reserved(const struct words *words, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!check_zero(words, "reserved", bytes[i])) {
            return false;
        }
    }
    return true;
}

bool
check_running_spec(const struct words *words, const schedq_running_spec_t *spec,
                   uint32_t resource_count)
{
    return check_size(words, "spec", spec->struct_size, sizeof *spec) &&
           check_full_name(words, "name", spec->name) &&
           check_amounts(words, "requests", &spec->requests, resource_count) &&
           check_labels(words, spec->labels, spec->label_count) &&
           check_flag(words, "terminating", spec->terminating) &&
           check_flag(words, "is_protected", spec->is_protected) &&
           check_flag(words, "disruption_status", spec->disruption_status) &&
           check_reserved(words, spec->reserved, sizeof spec->reserved) &&
           (spec->disruption_reason == NULL ||
            check_text_of(words, "disruption_reason", spec->disruption_reason, 0));
}

static bool
check_requirement(const struct words *words, const schedq_requirement_t *requirement)
{
    if (requirement->kind > SCHEDQ_LABEL_EXISTS) {
        words_say(words, "requirement.kind %" PRIu32 ": EQUALS %d, EXISTS %d", requirement->kind,
                  SCHEDQ_LABEL_EQUALS, SCHEDQ_LABEL_EXISTS);
        return false;
    }
    if (requirement->kind == SCHEDQ_LABEL_EXISTS && requirement->value != NULL) {
        words_say(words, "requirement.value: NULL with EXISTS");
        return false;
    }
    return check_text_of(words, "requirement.key", requirement->key, 1) &&
           (requirement->kind == SCHEDQ_LABEL_EXISTS ||
            check_text_of(words, "requirement.value", requirement->value, 0)) &&
           check_zero(words, "requirement.reserved", requirement->reserved);
}

static bool
check_selector(const struct words *words, const schedq_budget_spec_t *spec)
{
    if (spec->selector > SCHEDQ_SELECT_ALL_OF) {
        words_say(words, "selector %" PRIu32 ": NIL %d, INVALID %d, ALL_OF %d", spec->selector,
                  SCHEDQ_SELECT_NIL, SCHEDQ_SELECT_INVALID, SCHEDQ_SELECT_ALL_OF);
        return false;
    }
    uint32_t most = spec->selector == SCHEDQ_SELECT_ALL_OF ? SCHEDQ_LABELS_MAX : 0;

    if (spec->requirement_count > most) {
        words_say(words, "requirement_count %" PRIu32 ": 0..%" PRIu32 " with selector %" PRIu32,
                  spec->requirement_count, most, spec->selector);
        return false;
    }
    if (spec->requirement_count > 0 && !check_pointer(words, "requirements", spec->requirements)) {
        return false;
    }
    for (uint32_t i = 0; i < spec->requirement_count; i++) {
        if (!check_requirement(words, &spec->requirements[i])) {
            return false;
        }
    }
    return true;
}

bool
check_budget_spec(const struct words *words, const schedq_budget_spec_t *spec)
{
    if (!check_size(words, "spec", spec->struct_size, sizeof *spec) ||
        !check_zero(words, "reserved", spec->reserved) ||
        !check_full_name(words, "name", spec->name) || !check_selector(words, spec) ||
        (spec->disrupted_count > 0 && !check_pointer(words, "disrupted", spec->disrupted))) {
        return false;
    }
    for (uint32_t i = 0; i < spec->disrupted_count; i++) {
        if (!check_text_of(words, "disrupted", spec->disrupted[i], 1)) {
            return false;
        }
    }
    return true;
}

bool
check_nominated_spec(const struct words *words, const schedq_nominated_spec_t *spec,
                     uint32_t resource_count)
{
    return check_size(words, "spec", spec->struct_size, sizeof *spec) &&
           check_zero(words, "reserved", spec->reserved) &&
           check_full_name(words, "name", spec->name) &&
           check_amounts(words, "requests", &spec->requests, resource_count) &&
           check_time(words, "expires_ns", spec->expires_ns);
}
