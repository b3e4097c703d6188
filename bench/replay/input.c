/* Reading files and reporting what is wrong with them. */
#include "input.h"

#include "alloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { READ_BYTES = 1 << 17, SHOWN_MAX = 10 };

static bool
read_all(gzFile stream, input_file_t *file)
{
    size_t capacity = 0;

    for (;;) {
        file->text = alloc_grow(file->text, &capacity, file->size + READ_BYTES + 1, 1);
        int got = gzread(stream, file->text + file->size, READ_BYTES);
        if (got <= 0) {
            file->text[file->size] = '\0';
            return got == 0;
        }
        file->size += (size_t)got;
    }
}

bool
input_read(input_file_t *file, const char *path, input_problems_t *problems)
{
    *file = (input_file_t){.path = path};
    errno = 0;
    gzFile stream = gzopen(path, "rb");
    if (stream == NULL) {
        fprintf(problems->out, "%s: cannot open: %s\n", path, strerror(errno));
        return false;
    }
    bool complete = read_all(stream, file);
    int code = Z_OK;
    const char *zlib_says = gzerror(stream, &code);
    if (!complete || code != Z_OK) {
        fprintf(problems->out, "%s: cannot read after %zu bytes: %s\n", path, file->size,
                code == Z_ERRNO       ? strerror(errno)
                : code == Z_BUF_ERROR ? "the gzip data ends too early"
                                      : zlib_says);
        complete = false;
    }
    gzclose_r(stream);
    if (!complete || code != Z_OK) {
        input_free(file);
    }
    return complete;
}

void
input_free(input_file_t *file)
{
    free(file->text);
    *file = (input_file_t){0};
}

void
input_row_begin(input_row_t *row, size_t line)
{
    row->line = line;
    row->count = 0;
    row->fault.found = false;
}

void
input_row_add(input_row_t *row, char *field)
{
    row->fields = alloc_grow(row->fields, &row->capacity, row->count + 1, sizeof *row->fields);
    row->fields[row->count++] = field;
}

void
input_row_free(input_row_t *row)
{
    free(row->fields);
    *row = (input_row_t){0};
}

/* A value from a broken file may hold anything: what is printed is short and on one line. */
static void
copy_printable(char *to, size_t size, const char *from)
{
    size_t length = strlen(from);
    bool whole = length < size;
    size_t shown = whole ? length : size - 4;

    for (size_t i = 0; i < shown; i++) {
        to[i] = iscntrl((unsigned char)from[i]) ? '?' : from[i];
    }
    memcpy(to + shown, whole ? "" : "...", whole ? 1 : 4);
}

void
input_fault(input_row_t *row, size_t column, const char *value, const char *legal, ...)
{
    input_fault_t *fault = &row->fault;
    va_list arguments;

    if (fault->found) {
        return;
    }
    fault->found = true;
    fault->column = column + 1;
    fault->name = row->names != NULL && column < row->name_count ? row->names[column] : NULL;
    copy_printable(fault->value, sizeof fault->value, value);
    va_start(arguments, legal);
    vsnprintf(fault->legal, sizeof fault->legal, legal, arguments);
    va_end(arguments);
}

static void
print_fault(const input_file_t *file, const input_row_t *row, FILE *out)
{
    const input_fault_t *fault = &row->fault;

    fprintf(out, "%s:%zu: ", file->path, row->line);
    if (fault->column > 0) {
        fprintf(out, "column %zu", fault->column);
        fprintf(out, fault->name != NULL ? " (%s): " : ": ", fault->name);
    }
    fprintf(out, "value \"%s\", legal: %s\n", fault->value, fault->legal);
}

bool
input_skip(const input_file_t *file, const input_row_t *row, input_problems_t *problems)
{
    problems->bad_lines++;
    if (!problems->skip_bad) {
        print_fault(file, row, problems->out);
        return false;
    }
    if (problems->bad_lines <= SHOWN_MAX) {
        fputs("skipped: ", problems->out);
        print_fault(file, row, problems->out);
    } else if (problems->bad_lines == SHOWN_MAX + 1) {
        fputs("skipped: more lines, which are only counted\n", problems->out);
    }
    return true;
}

bool
input_next_line(const input_file_t *file, size_t *at, size_t *line, input_row_t *row)
{
    if (*at >= file->size) {
        return false;
    }
    char *start = file->text + *at;
    char *end = memchr(start, '\n', file->size - *at);
    if (end == NULL) {
        end = file->text + file->size;
    }
    *at = (size_t)(end - file->text) + 1;
    *end = '\0';
    input_row_begin(row, ++*line);
    if (memchr(start, '\0', (size_t)(end - start)) != NULL) {
        input_fault(row, SIZE_MAX, start, "text without NUL bytes");
    }
    char *rest = NULL;
    for (char *field = strtok_r(start, " \t\r", &rest); field != NULL;
         field = strtok_r(NULL, " \t\r", &rest)) {
        input_row_add(row, field);
    }
    return true;
}
