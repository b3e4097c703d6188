/*
 * CSV records as RFC 4180 has them: a field may be quoted, a quoted field may hold commas, line
 * ends and doubled quotes; lines end in LF or CRLF. A byte order mark at the start is passed over.
 */
#ifndef SCHEDQ_REPLAY_CSV_H
#define SCHEDQ_REPLAY_CSV_H

#include "input.h"

/* Walks over the records of a file, whose text it changes. */
typedef struct csv_reader {
    const input_file_t *file;
    size_t at;
    size_t line; /* the line before the one that begins at `at` */
} csv_reader_t;

void csv_begin(csv_reader_t *reader, const input_file_t *file);
/*
 * The next record that is not an empty line, its fields unescaped in place; false at the end. A
 * record that breaks the rules comes with a fault, and reading goes on at the next line: a quote
 * that is never closed costs one line, not the rest of the file.
 */
bool csv_next(csv_reader_t *reader, input_row_t *row);

#endif
