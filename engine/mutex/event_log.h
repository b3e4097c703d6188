/*
 * What happened while pods were in flight.
 *
 * Each event draws a sequence. A stamp per rejector and profile holds the newest event that reached
 * it, so a failing pod learns in as many comparisons as it has rejectors whether anything happened
 * that concerns it. Only then it reads the log, a ring of the newest events with their objects, and
 * asks hints. An event that fell out of the ring, or whose objects were only borrowed, counts as
 * one that helps (after the backoff): memory is constant, and nothing is missed.
 *
 * Nothing is recorded while no pod is in flight, and the objects are let go when the last flight
 * ends.
 */
#ifndef SCHEDQ_MUTEX_EVENT_LOG_H
#define SCHEDQ_MUTEX_EVENT_LOG_H

#include "mutex/entry.h"

#define STAMPS 64

struct event_record {
    uint64_t sequence; /* 0: empty */
    uint64_t old_object, new_object;
    schedq_event_t event;
    bool opaque; /* its objects are gone: hints cannot be asked */
};

struct event_log {
    schedq_t *queue;
    struct event_record *ring;  /* NULL before mutex_event_log_make, and if size is 0 */
    uint32_t size;              /* a power of two, or 0 */
    uint64_t newest;            /* sequence of the newest event */
    uint64_t first_held;        /* records in [first_held, newest] may hold objects */
    uint64_t (*stamps)[STAMPS]; /* by profile */
    uint32_t stamps_capacity;
};

bool mutex_event_log_open(struct event_log *log, schedq_t *queue);

/** Before the first event. False: no memory. */
bool mutex_event_log_make(struct event_log *log);
void mutex_event_log_shut(struct event_log *log);

/** Stamps for one more profile. False: no memory. */
bool mutex_event_log_add_profile(struct event_log *log, uint32_t profile_count);

uint64_t mutex_event_log_draw(struct event_log *log);

/** Raises the stamps of these rejectors; never lowers one. */
void mutex_event_log_stamp(struct event_log *log, schedq_profile_t profile, uint64_t rejectors,
                           uint64_t sequence);

/** Writes the newest event down, for the pods in flight. */
void mutex_event_log_record(struct event_log *log, schedq_event_t event, uint64_t old_object,
                            uint64_t new_object);

/** Lets all objects go: no pod is in flight. */
void mutex_event_log_forget(struct event_log *log);

/** The newest stamp among these rejectors. */
uint64_t mutex_event_log_newest_stamp(const struct event_log *log, schedq_profile_t profile,
                                      uint64_t rejectors);

/** What the events since its pop mean to a pod that fails with the rejectors it has now. */
enum strategy mutex_event_log_judge(const struct event_log *log, const struct entry *entry,
                                    uint64_t *hint_calls);

#endif
