/*
 * Arguments that can be judged without looking at a pod. Each check returns true, or says in words
 * what is wrong: the argument, its value, and what it may be.
 */
#ifndef SCHEDQ_API_CHECK_H
#define SCHEDQ_API_CHECK_H

#include "engine.h"

#include <string.h>

bool check_says_null(schedq_worker_t *worker, const char *name);

static inline bool
check_not_null(schedq_worker_t *worker, const void *argument, const char *name)
{
    return argument != NULL || check_says_null(worker, name);
}

bool check_size(schedq_worker_t *worker, const char *name, uint32_t struct_size, size_t expected);

bool check_says_reserved(schedq_worker_t *worker, const char *name, const uint8_t *bytes,
                         size_t count);

/** Up to 8 bytes of the struct `name` that have no meaning yet. */
static inline bool
check_reserved(schedq_worker_t *worker, const char *name, const uint8_t *bytes, size_t count)
{
    static const uint8_t zero[8];

    return memcmp(bytes, zero, count) == 0 || check_says_reserved(worker, name, bytes, count);
}

/** One pass over the text says whether it is a name, and hashes it: *name. */
bool check_name(schedq_worker_t *worker, const char *text, size_t length, struct hashed_name *name);
/** Of a pop that waits for so long. */
bool check_wait(schedq_worker_t *worker, int64_t wait_ns);
bool check_event(schedq_worker_t *worker, const char *argument, schedq_event_t event);
bool check_profile(schedq_worker_t *worker, const char *argument, schedq_profile_t profile);

#define UPDATE_FLAGS (POD_FLAGS | SCHEDQ_POD_ADD)

/** A spec, and the pod's name: *hashed; `legal`: POD_FLAGS or UPDATE_FLAGS. */
bool check_named(schedq_worker_t *worker, const char *name, size_t length,
                 const schedq_pod_spec_t *spec, uint8_t legal, struct hashed_name *hashed);

/** Element `number` of many pods, its name in the text `names`: *name. */
bool check_item(schedq_worker_t *worker, const char *names, size_t names_length,
                const schedq_add_item_t *item, size_t number, struct hashed_name *name);

/** What `newest` brings; the fields that a failure ignores may be anything. */
bool check_description(schedq_worker_t *worker, const schedq_pod_spec_t *spec);

/**
 * All but its rejectors, which depend on the pod's profile. readd: a pod that is put back is never
 * parked.
 */
bool check_failure(schedq_worker_t *worker, const schedq_failure_t *failure, bool readd);
bool check_history(schedq_worker_t *worker, const schedq_history_t *history);

/** The call belongs to this way of deciding. */
bool check_decides(schedq_worker_t *worker, uint8_t decide, const char *function);

/** What is in the way of a [setup] call. */
#define SETUP_IS_OVER "a worker is registered (the timer thread is one), which ends setup"

/** 1..127 bytes without a NUL. */
bool check_text(char *why, size_t size, const char *argument, const char *text, size_t length);

#endif
