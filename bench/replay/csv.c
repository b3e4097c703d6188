/* RFC 4180, in place: an unescaped field is never longer than its text. */
#include "csv.h"

#include <string.h>

void
csv_begin(csv_reader_t *reader, const input_file_t *file)
{
    static const char byte_order_mark[] = {'\xef', '\xbb', '\xbf'};
    size_t size = sizeof byte_order_mark;

    *reader = (csv_reader_t){.file = file};
    if (file->size >= size && memcmp(file->text, byte_order_mark, size) == 0) {
        reader->at = size;
    }
}

/* Puts the reader behind the line that it is in. */
static void
skip_line(csv_reader_t *reader)
{
    const input_file_t *file = reader->file;
    const char *end = memchr(file->text + reader->at, '\n', file->size - reader->at);

    reader->at = end != NULL ? (size_t)(end - file->text) + 1 : file->size;
    reader->line++;
}

/* Where the quote at `open` is closed; the file's size if nowhere. */
static size_t
closing_quote(const input_file_t *file, size_t open)
{
    size_t at = open + 1;

    while (at < file->size) {
        if (file->text[at] == '"') {
            if (file->text[at + 1] != '"') {
                return at;
            }
            at++;
        }
        at++;
    }
    return file->size;
}

/* The quoted field at the reader's place, unescaped; its end is returned in *end. */
static bool
read_quoted(csv_reader_t *reader, input_row_t *row, char **end)
{
    const input_file_t *file = reader->file;
    size_t close = closing_quote(file, reader->at);

    if (close == file->size) {
        input_fault(row, row->count, "\"", "a quote that is closed");
        return false;
    }
    char *to = file->text + reader->at;
    for (size_t from = reader->at + 1; from < close; from++) {
        from += file->text[from] == '"';
        reader->line += file->text[from] == '\n';
        *to++ = file->text[from];
    }
    reader->at = close + 1;
    *end = to;
    return true;
}

static void
read_plain(csv_reader_t *reader, char **end)
{
    char *text = reader->file->text;

    reader->at += strcspn(text + reader->at, ",\"\n");
    *end = text + reader->at;
    if (text[reader->at] == '\n' && *end > text && (*end)[-1] == '\r') {
        (*end)--;
    }
}

/* Reads one field and what ends it. False: a fault. *last tells whether the record ends with it. */
static bool
read_field(csv_reader_t *reader, input_row_t *row, bool *last)
{
    const input_file_t *file = reader->file;
    char *start = file->text + reader->at;
    char *end = start;

    if (*start != '"') {
        read_plain(reader, &end);
    } else if (!read_quoted(reader, row, &end)) {
        return false;
    } else if (strncmp(file->text + reader->at, "\r\n", 2) == 0) {
        reader->at++;
    }
    char delimiter = file->text[reader->at];
    if (delimiter == '"' || (delimiter != ',' && delimiter != '\n' && reader->at < file->size)) {
        char value[] = {delimiter, '\0'};
        input_fault(row, row->count, value,
                    "a comma or the line's end after the field, quotes only around all of it");
        return false;
    }
    *last = delimiter != ',';
    *end = '\0';
    input_row_add(row, start);
    reader->at++;
    return true;
}

static bool
is_empty_line(const csv_reader_t *reader)
{
    const char *text = reader->file->text + reader->at;

    return *text == '\n' || strncmp(text, "\r\n", 2) == 0;
}

bool
csv_next(csv_reader_t *reader, input_row_t *row)
{
    bool last = false;

    while (reader->at < reader->file->size && is_empty_line(reader)) {
        skip_line(reader);
    }
    input_row_begin(row, reader->line + 1);
    if (reader->at >= reader->file->size) {
        return false;
    }
    while (!last) {
        if (!read_field(reader, row, &last)) {
            skip_line(reader);
            return true;
        }
    }
    reader->line++;
    return true;
}
