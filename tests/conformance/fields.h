/*
 * The fields of one line of a vector, and the values that fields hold.
 *
 * Everything is cut in place: the pieces point into the line. Arrays come from the vector's memory,
 * which is freed as a whole. Each function that returns false has reported what it expected.
 */
#ifndef CONFORM_FIELDS_H
#define CONFORM_FIELDS_H

#include <obstack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct fields {
    const char *file;
    unsigned line;
    struct obstack *memory;
    char **item;
    size_t count;
};

/** A number that a line may leave out; its value is 0 then. */
struct number {
    int64_t value;
    bool given;
};

struct list {
    char **item;
    size_t count;
};

/**
 * RESOURCE:ACTION|ACTION, and what the metrics call it; a NULL label is the library's own choice.
 */
struct event_text {
    const char *resource;
    uint32_t actions;
    const char *label;
};

/** Zeroed memory that lives as long as the vector. */
void *keep(struct obstack *memory, size_t count, size_t size);

/** A copy of a text in such memory. */
char *keep_text(struct obstack *memory, const char *text);

/** Cuts a line at its spaces. */
bool fields_split(struct fields *fields, char *text);
/** Cuts "key=value" and returns the value; NULL if the field has no '='. */
char *field_value(char *field);
/** The same items in any order; both lists are sorted by it. */
bool list_equal(struct list *left, struct list *right);
/** The same fields in any order. */
bool fields_equal(struct obstack *memory, const char *left, const char *right);
/** Cuts at the commas; "" is the empty list. */
bool parse_list(const struct fields *fields, const char *key, char *text, struct list *list);
bool parse_number(const struct fields *fields, const char *key, const char *text, int64_t min,
                  int64_t max, struct number *number);
/**
 * Writes nanoseconds since the vector's time 0 in its milliseconds, with a fraction if there is
 * one.
 */
void write_time(FILE *out, int64_t since_ns);
/** RESOURCE:ACTION|ACTION */
bool parse_event(const struct fields *fields, char *text, struct event_text *event);

#endif
