/*
 * Input files: read whole (gzip or plain, found by content), split into rows of fields, and
 * complained about.
 *
 * A broken line is described by file, line, column, value and legal range. Without skip_bad the
 * first one ends the reading; with it, each is counted once and left out, and only the first few
 * are shown.
 */
#ifndef SCHEDQ_REPLAY_INPUT_H
#define SCHEDQ_REPLAY_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A file in memory. `text` ends in NUL, which `size` does not count. */
typedef struct input_file {
    const char *path;
    char *text;
    size_t size;
} input_file_t;

/* What was wrong with the input so far. */
typedef struct input_problems {
    FILE *out; /* where complaints go */
    bool skip_bad;
    uint64_t bad_lines;
} input_problems_t;

/* The first thing that is wrong with a row. */
typedef struct input_fault {
    bool found;
    size_t column;    /* from 1; 0: the row as a whole */
    const char *name; /* of the column; NULL: it has none */
    char value[80];   /* shortened, without control characters */
    char legal[160];
} input_fault_t;

/* One line, or one CSV record, cut into fields. */
typedef struct input_row {
    size_t line; /* where it begins, from 1 */
    char **fields;
    size_t count;
    size_t capacity;
    const char *const *names; /* of the columns; NULL: none */
    size_t name_count;
    input_fault_t fault;
} input_row_t;

/* Reads a file. False: it said on problems->out why not. */
bool input_read(input_file_t *file, const char *path, input_problems_t *problems);
void input_free(input_file_t *file);

/* Forgets the fields and the fault; `line` is where the next row begins. */
void input_row_begin(input_row_t *row, size_t line);
void input_row_add(input_row_t *row, char *field);
void input_row_free(input_row_t *row);

/* Notes a fault, unless the row has one; `column` counts from 0, SIZE_MAX is the row as a whole. */
void input_fault(input_row_t *row, size_t column, const char *value, const char *legal, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports the row's fault. True: go on without this row; false: stop. */
bool input_skip(const input_file_t *file, const input_row_t *row, input_problems_t *problems);

/*
 * The next line from *at, cut at blanks in place; false at the end of the text. Empty lines are
 * rows without fields. *line is the number of the line before. A NUL byte in the line is a fault of
 * the row.
 */
bool input_next_line(const input_file_t *file, size_t *at, size_t *line, input_row_t *row);

#endif
