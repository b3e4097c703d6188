/*
 * Points in time as recordings state them: seconds, from whatever moment they count, or a date and
 * time of ISO 8601.
 *
 * YYYY-MM-DD, then nothing (midnight), or T or a blank and hh:mm, hh:mm:ss, with up to nine
 * decimals; then nothing or Z (UTC), or what the clock is ahead of UTC: +hh, +hh:mm, +hhmm, or -.
 */
#ifndef SCHEDQ_REPLAY_MOMENT_H
#define SCHEDQ_REPLAY_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The legal ones, for messages; as far as WORKLOAD_SECONDS_MAX goes. */
#define MOMENT_FIRST "1970-01-01T00:00:00Z"
#define MOMENT_LAST "2096-10-02T07:06:40Z"

/*
 * Reads all of `text`; a date and time becomes nanoseconds since 1970. False: it is none, or not in
 * the range.
 */
bool moment_read(const char *text, int64_t *value_ns);

#endif
