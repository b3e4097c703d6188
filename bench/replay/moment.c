/* Dates and times of moment.h; timegm knows the calendar. */
#define _GNU_SOURCE /* timegm */
#include "moment.h"

#include "fields.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

/* Exactly so many digits, from low to high, behind which `*text` then stands. */
static bool
take_digits(const char **text, unsigned digits, int low, int high, int *value)
{
    int number = 0;

    for (unsigned i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)(*text)[i])) {
            return false;
        }
        number = 10 * number + (*text)[i] - '0';
    }
    *text += digits;
    *value = number;
    return number >= low && number <= high;
}

static bool
take(const char **text, char byte)
{
    if (**text != byte) {
        return false;
    }
    ++*text;
    return true;
}

/* A day that the month does not have becomes one of the next. */
static bool
take_date(const char **text, struct tm *date)
{
    if (!take_digits(text, 4, 1970, 9999, &date->tm_year) || !take(text, '-') ||
        !take_digits(text, 2, 1, 12, &date->tm_mon) || !take(text, '-') ||
        !take_digits(text, 2, 1, 31, &date->tm_mday)) {
        return false;
    }
    date->tm_year -= 1900;
    date->tm_mon--;
    struct tm day = *date;

    return timegm(&day) >= 0 && day.tm_mday == date->tm_mday;
}

static bool
take_decimals(const char **text, int64_t *nanoseconds)
{
    char decimals[16] = "0.";
    size_t digits = strspn(*text, "0123456789");

    if (digits + 2 >= sizeof decimals) {
        return false;
    }
    memcpy(decimals + 2, *text, digits);
    *text += digits;
    return number_seconds(decimals, nanoseconds);
}

static bool
take_time(const char **text, struct tm *time, int64_t *nanoseconds)
{
    if (!take_digits(text, 2, 0, 23, &time->tm_hour) || !take(text, ':') ||
        !take_digits(text, 2, 0, 59, &time->tm_min)) {
        return false;
    }
    if (!take(text, ':')) {
        return true;
    }
    return take_digits(text, 2, 0, 59, &time->tm_sec) &&
           (!take(text, '.') || take_decimals(text, nanoseconds));
}

/* What the clock is ahead of UTC. */
static bool
take_zone(const char **text, int *seconds)
{
    bool behind = **text == '-';
    int hours, minutes = 0;

    *seconds = 0;
    if (**text == '\0' || take(text, 'Z')) {
        return true;
    }
    if ((!take(text, '+') && !take(text, '-')) || !take_digits(text, 2, 0, 23, &hours)) {
        return false;
    }
    if (**text != '\0') {
        (void)take(text, ':');
        if (!take_digits(text, 2, 0, 59, &minutes)) {
            return false;
        }
    }
    *seconds = (behind ? -60 : 60) * (60 * hours + minutes);
    return true;
}

bool
moment_read(const char *text, int64_t *value_ns)
{
    struct tm date = {0};
    int64_t nanoseconds = 0;
    int ahead = 0;

    if (number_seconds(text, value_ns)) {
        return true;
    }
    if (!take_date(&text, &date)) {
        return false;
    }
    if (*text != '\0') {
        if ((!take(&text, 'T') && !take(&text, ' ')) || !take_time(&text, &date, &nanoseconds) ||
            !take_zone(&text, &ahead) || *text != '\0') {
            return false;
        }
    }
    int64_t seconds = (int64_t)timegm(&date) - ahead;

    if (seconds < 0 || seconds > WORKLOAD_SECONDS_MAX) {
        return false;
    }
    *value_ns = seconds * NS_PER_SECOND + nanoseconds;
    return *value_ns <= WORKLOAD_SECONDS_MAX * NS_PER_SECOND;
}
