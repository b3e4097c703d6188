/*
 * Judges descriptions before anything is changed. Each check returns true, or writes into `words`
 * what is wrong: the field, its value, and what it may be.
 */
#ifndef SCHEDQ_PREEMPTION_CHECK_H
#define SCHEDQ_PREEMPTION_CHECK_H

#include <schedq/preemption.h>

#include <stdbool.h>

/** Where the words go; all zero: nowhere. */
struct words {
    char *text;
    size_t size;
};

__attribute__((format(printf, 2, 3))) void words_say(const struct words *words, const char *format,
                                                     ...);

/** INVALID with "FIELD NULL: a pointer". */
bool check_pointer(const struct words *words, const char *field, const void *pointer);
/** The struct_size of a struct that its initializer has not touched is none. */
bool check_size(const struct words *words, const char *what, uint32_t size, size_t expected);
/** A text of min..317 bytes. */
bool check_text_of(const struct words *words, const char *field, const char *text, uint32_t min);
/** "namespace/name". */
bool check_full_name(const struct words *words, const char *field, const char *name);
bool check_flag(const struct words *words, const char *field, uint32_t value);
bool check_zero(const struct words *words, const char *field, uint64_t value);
bool check_amount(const struct words *words, const char *field, int64_t value);
bool check_time(const struct words *words, const char *field, int64_t value);
/** `resource_count`: resources of the snapshot. */
bool check_amounts(const struct words *words, const char *field, const schedq_amounts_t *amounts,
                   uint32_t resource_count);
bool check_allocator(char *why, size_t why_size, const schedq_allocator_t *allocator);

bool check_node_spec(const struct words *words, const schedq_node_spec_t *spec,
                     uint32_t resource_count);
bool check_running_spec(const struct words *words, const schedq_running_spec_t *spec,
                        uint32_t resource_count);
bool check_budget_spec(const struct words *words, const schedq_budget_spec_t *spec);
bool check_nominated_spec(const struct words *words, const schedq_nominated_spec_t *spec,
                          uint32_t resource_count);

#endif
