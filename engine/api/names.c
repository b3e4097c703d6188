/* Enumerators as text, and the version. */
#include <schedq/schedq.h>

const char *
schedq_status_name(schedq_status_t status)
{
    static const char *const names[] = {
        [SCHEDQ_OK] = "SCHEDQ_OK",
        [SCHEDQ_EMPTY] = "SCHEDQ_EMPTY",
        [SCHEDQ_CLOSED] = "SCHEDQ_CLOSED",
        [SCHEDQ_TIMEDOUT] = "SCHEDQ_TIMEDOUT",
        [SCHEDQ_EXISTS] = "SCHEDQ_EXISTS",
        [SCHEDQ_NOT_FOUND] = "SCHEDQ_NOT_FOUND",
        [SCHEDQ_STALE] = "SCHEDQ_STALE",
        [SCHEDQ_GONE] = "SCHEDQ_GONE",
        [SCHEDQ_FULL] = "SCHEDQ_FULL",
        [SCHEDQ_NOMEM] = "SCHEDQ_NOMEM",
        [SCHEDQ_BUSY] = "SCHEDQ_BUSY",
        [SCHEDQ_RETRY] = "SCHEDQ_RETRY",
        [SCHEDQ_CHANGED] = "SCHEDQ_CHANGED",
        [SCHEDQ_INVALID] = "SCHEDQ_INVALID",
        [SCHEDQ_NOT_EMPTY] = "SCHEDQ_NOT_EMPTY",
        [SCHEDQ_CANCELED] = "SCHEDQ_CANCELED",
    };

    return (size_t)status < sizeof names / sizeof names[0] ? names[status] : "SCHEDQ_UNKNOWN";
}

const char *
schedq_status_text(schedq_status_t status)
{
    static const char *const texts[] = {
        [SCHEDQ_OK] = "it was done",
        [SCHEDQ_EMPTY] = "there is nothing to take",
        [SCHEDQ_CLOSED] = "the queue is closed: it takes no new pods; a pop: none is active now",
        [SCHEDQ_TIMEDOUT] = "the time to wait is over and nothing came",
        [SCHEDQ_EXISTS] = "the name is taken already",
        [SCHEDQ_NOT_FOUND] = "no such pod, group, node, budget or nomination",
        [SCHEDQ_STALE] =
            "this token was used before or never given, or this nomination was replaced",
        [SCHEDQ_GONE] = "the pod was deleted meanwhile, or is not where this call needs it",
        [SCHEDQ_FULL] = "a limit of the configuration is reached",
        [SCHEDQ_NOMEM] = "there is not enough memory",
        [SCHEDQ_BUSY] = "the queue or the worker is in use by another call, or this is a callback",
        [SCHEDQ_RETRY] = "newer events came: judge them, then call again",
        [SCHEDQ_CHANGED] = "the pod has changed: judge it as it is now, then call again",
        [SCHEDQ_INVALID] = "an argument is out of its range",
        [SCHEDQ_NOT_EMPTY] = "the queue still has pods",
        [SCHEDQ_CANCELED] = "schedq_wait_cancel ended this wait",
    };

    return (size_t)status < sizeof texts / sizeof texts[0] ? texts[status] : "unknown status";
}

const char *
schedq_place_name(schedq_place_t place)
{
    static const char *const names[] = {
        [SCHEDQ_NOWHERE] = "nowhere",   [SCHEDQ_ACTIVE] = "active",
        [SCHEDQ_BACKOFF] = "backoff",   [SCHEDQ_ERROR_BACKOFF] = "error-backoff",
        [SCHEDQ_PARKED] = "parked",     [SCHEDQ_GATED] = "gated",
        [SCHEDQ_INFLIGHT] = "inflight", [SCHEDQ_HELD] = "held",
        [SCHEDQ_ASIDE] = "aside",
    };

    return (size_t)place < sizeof names / sizeof names[0] ? names[place] : names[SCHEDQ_NOWHERE];
}

uint32_t
schedq_version(void)
{
    return SCHEDQ_VERSION_MAJOR << 16 | SCHEDQ_VERSION_MINOR << 8 | SCHEDQ_VERSION_PATCH;
}
