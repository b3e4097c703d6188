/* The notes of flights.h. */
#include "policy/flights.h"

#include <string.h>

static void
drop(struct flights *flights, uint64_t i)
{
    flights->count--;
    memmove(&flights->notes[i], &flights->notes[i + 1],
            (flights->count - i) * sizeof flights->notes[0]);
}

/* Would the ages that this note tells be told to within a half without it, too? */
static bool
is_spare(const struct flights *flights, uint64_t i, int64_t limit, int64_t now)
{
    int64_t older = flights_ago(flights->notes[i - 1].at, now);
    int64_t younger = flights_ago(flights->notes[i + 1].at, now);

    return younger >= limit && older / 2 <= younger;
}

void
flights_note(struct flights *flights, int64_t limit, int64_t now, uint64_t popped)
{
    if (flights->count > 0 &&
        flights_ago(flights->notes[flights->count - 1].at, now) < limit / 8 + 1) {
        return;
    }
    for (uint64_t i = 1; i + 1 < flights->count;) {
        if (is_spare(flights, i, limit, now)) {
            drop(flights, i);
        } else {
            i++;
        }
    }
    if (flights->count == FLIGHT_NOTES) {
        drop(flights, 1);
    }
    flights->notes[flights->count++] = (struct flight_note){.at = now, .popped = popped};
}

int64_t
flights_age(const struct flights *flights, uint64_t pop_order, int64_t now)
{
    for (uint64_t i = 0; i < flights->count; i++) {
        if (flights->notes[i].popped >= pop_order) {
            return flights_ago(flights->notes[i].at, now);
        }
    }
    return 0;
}
