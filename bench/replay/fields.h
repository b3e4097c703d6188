/*
 * Typed fields of a row. A field that is not legal becomes the row's fault; its value is then of no
 * use.
 *
 * Columns count from 0 here and from 1 in messages.
 */
#ifndef SCHEDQ_REPLAY_FIELDS_H
#define SCHEDQ_REPLAY_FIELDS_H

#include "input.h"
#include "workload.h"

/* Reads all of `text` as a whole number from min to max. */
bool number_whole(const char *text, int64_t min, int64_t max, int64_t *value);
/* Reads all of `text` as seconds, with at most nine decimals, from 0 to WORKLOAD_SECONDS_MAX. */
bool number_seconds(const char *text, int64_t *value_ns);

/* Reads all of `text` as a decimal number from min to max. */
bool number_real(const char *text, double min, double max, double *value);

int64_t field_whole(input_row_t *row, size_t column, int64_t min, int64_t max);
/* How long something takes, in nanoseconds. */
int64_t field_seconds(input_row_t *row, size_t column);
/*
 * When something happens, in nanoseconds, at least min_ns; `what` says what that is,
 * "not before ...".
 */
int64_t field_moment(input_row_t *row, size_t column, int64_t min_ns, const char *what);
/*
 * A name: 1..WORKLOAD_NAME_MAX bytes without '/', blanks and control characters. A copy; NULL if it
 * is a fault.
 */
char *field_name(input_row_t *row, size_t column);
/* Number of the priority class of this name. */
uint16_t field_class(input_row_t *row, size_t column, workload_t *workload);
/* Bits of the models in "A|B|C"; 0 for an empty field and "-". */
uint64_t field_models(input_row_t *row, size_t column, workload_t *workload);
/* Bit of one model; 0 for an empty field and "-". */
uint64_t field_model(input_row_t *row, size_t column, workload_t *workload);

#endif
