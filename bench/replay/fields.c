/* The numbers, names and labels that the formats share, with their legal ranges. */
#include "fields.h"

#include "alloc.h"
#include "moment.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool
number_whole(const char *text, int64_t min, int64_t max, int64_t *value)
{
    char *end = NULL;

    if (!isdigit((unsigned char)text[0]) && text[0] != '-') {
        return false; /* strtoll would take blanks and a plus */
    }
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < min || number > max) {
        return false;
    }
    *value = number;
    return true;
}

/* Up to nine decimals, as nanoseconds. */
static bool
read_decimals(const char *text, int64_t *nanoseconds)
{
    int64_t unit = NS_PER_SECOND / 10;

    *nanoseconds = 0;
    if (*text == '\0') {
        return false;
    }
    for (; isdigit((unsigned char)*text) && unit > 0; text++, unit /= 10) {
        *nanoseconds += (*text - '0') * unit;
    }
    return *text == '\0';
}

bool
number_seconds(const char *text, int64_t *value_ns)
{
    char whole[32];
    size_t digits = strspn(text, "0123456789");
    int64_t seconds = 0;
    int64_t decimals = 0;

    if (digits == 0 || digits >= sizeof whole) {
        return false;
    }
    memcpy(whole, text, digits);
    whole[digits] = '\0';
    if (!number_whole(whole, 0, WORKLOAD_SECONDS_MAX, &seconds)) {
        return false;
    }
    if (text[digits] != '\0' &&
        (text[digits] != '.' || !read_decimals(text + digits + 1, &decimals))) {
        return false;
    }
    *value_ns = seconds * NS_PER_SECOND + decimals;
    return *value_ns <= WORKLOAD_SECONDS_MAX * NS_PER_SECOND;
}

bool
number_real(const char *text, double min, double max, double *value)
{
    char *end = NULL;

    if (strspn(text, "0123456789.eE+-") != strlen(text)) {
        return false; /* strtod would take blanks, hexadecimal, "inf" and "nan" */
    }
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= min && number <= max)) {
        return false;
    }
    *value = number;
    return true;
}

int64_t
field_whole(input_row_t *row, size_t column, int64_t min, int64_t max)
{
    int64_t value = min;

    if (!number_whole(row->fields[column], min, max, &value)) {
        input_fault(row, column, row->fields[column], "a whole number from %" PRId64 " to %" PRId64,
                    min, max);
    }
    return value;
}

int64_t
field_seconds(input_row_t *row, size_t column)
{
    int64_t value = 0;

    if (!number_seconds(row->fields[column], &value)) {
        input_fault(row, column, row->fields[column],
                    "seconds from 0 to %" PRId64 ", at most 9 decimals", WORKLOAD_SECONDS_MAX);
    }
    return value;
}

int64_t
field_moment(input_row_t *row, size_t column, int64_t min_ns, const char *what)
{
    int64_t value = min_ns;

    if (!moment_read(row->fields[column], &value)) {
        input_fault(row, column, row->fields[column],
                    "seconds from 0 to %" PRId64
                    ", at most 9 decimals, or ISO 8601 from " MOMENT_FIRST " to " MOMENT_LAST,
                    WORKLOAD_SECONDS_MAX);
    } else if (value < min_ns) {
        input_fault(row, column, row->fields[column], "seconds from %.16g to %" PRId64 ": %s",
                    (double)min_ns / (double)NS_PER_SECOND, WORKLOAD_SECONDS_MAX, what);
    }
    return value;
}

static bool
is_label(const char *text, size_t length, size_t max)
{
    if (length == 0 || length > max) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte <= ' ' || byte == 0x7f || byte == '/' || byte == '|') {
            return false;
        }
    }
    return true;
}

char *
field_name(input_row_t *row, size_t column)
{
    const char *text = row->fields[column];
    size_t length = strlen(text);

    if (!is_label(text, length, WORKLOAD_NAME_MAX)) {
        input_fault(row, column, text,
                    "a name of 1 to %d bytes without '/', '|', blanks and control characters",
                    WORKLOAD_NAME_MAX);
        return NULL;
    }
    return alloc_text(text, length);
}

uint16_t
field_class(input_row_t *row, size_t column, workload_t *workload)
{
    const char *text = row->fields[column];

    if (!is_label(text, strlen(text), WORKLOAD_LABEL_MAX)) {
        input_fault(row, column, text,
                    "a class of 1 to %d bytes without '/', '|', blanks and control characters",
                    WORKLOAD_LABEL_MAX);
        return 0;
    }
    size_t number = workload_label(&workload->classes, text, WORKLOAD_CLASSES_MAX);
    if (number == WORKLOAD_CLASSES_MAX) {
        input_fault(row, column, text, "at most %d different classes in a file",
                    WORKLOAD_CLASSES_MAX);
    }
    return (uint16_t)number;
}

static uint64_t
model_bit(input_row_t *row, size_t column, workload_t *workload, const char *model)
{
    if (!is_label(model, strlen(model), WORKLOAD_LABEL_MAX)) {
        input_fault(row, column, row->fields[column],
                    "GPU models of 1 to %d bytes without '/' and blanks", WORKLOAD_LABEL_MAX);
        return 0;
    }
    size_t number = workload_label(&workload->models, model, WORKLOAD_MODELS_MAX);
    if (number == WORKLOAD_MODELS_MAX) {
        input_fault(row, column, model, "at most %d different GPU models", WORKLOAD_MODELS_MAX);
        return 0;
    }
    return UINT64_C(1) << number;
}

static bool
states_nothing(const char *text)
{
    return text[0] == '\0' || strcmp(text, "-") == 0;
}

uint64_t
field_models(input_row_t *row, size_t column, workload_t *workload)
{
    const char *text = row->fields[column];
    uint64_t bits = 0;

    if (states_nothing(text)) {
        return 0;
    }
    while (text != NULL) {
        const char *bar = strchr(text, '|');
        size_t length = bar != NULL ? (size_t)(bar - text) : strlen(text);
        char *model = alloc_text(text, length);
        bits |= model_bit(row, column, workload, model);
        free(model);
        text = bar != NULL ? bar + 1 : NULL;
    }
    return bits;
}

uint64_t
field_model(input_row_t *row, size_t column, workload_t *workload)
{
    return states_nothing(row->fields[column])
               ? 0
               : model_bit(row, column, workload, row->fields[column]);
}
