/*
 * How long has a pod been in flight? A pop looks at no clock.
 *
 * But pops are in order: each pod in flight has its pop's place in it. A watchdog notes, at each
 * look, the time and how far pops have come. A pod whose place is not behind a note was popped
 * before the time of that note.
 *
 * NOTES. The oldest first. Those of the last limit are at least 1/8 of it apart: so few are enough,
 * and a pod is overdue at most 1/8 of the limit late. Of older notes those stay that are needed to
 * tell an age to within a half.
 */
#ifndef SCHEDQ_POLICY_FLIGHTS_H
#define SCHEDQ_POLICY_FLIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#define FLIGHT_NOTES 32

struct flight_note {
    int64_t at;
    uint64_t popped; /* place of the last pop by then */
};

/** All zero: no note. */
struct flights {
    uint64_t count;
    struct flight_note notes[FLIGHT_NOTES];
};

/** The time from then till now; 0 if the clock went back. */
static inline int64_t
flights_ago(int64_t then, int64_t now)
{
    uint64_t ago = (uint64_t)now - (uint64_t)then;

    return now <= then ? 0 : ago > INT64_MAX ? INT64_MAX : (int64_t)ago;
}

/** `limit`: ages from this one on matter; more than 0. */
void flights_note(struct flights *flights, int64_t limit, int64_t now, uint64_t popped);

/** For how long the pod of this pop has been in flight, at least. */
int64_t flights_age(const struct flights *flights, uint64_t pop_order, int64_t now);

#endif
