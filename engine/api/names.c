/* Enumerators as text, and the version. */
#include <schedq/schedq.h>

const char *
schedq_status_name(schedq_status_t status)
{
    static const char *const names[] = {
        [SCHEDQ_OK] = "SCHEDQ_OK",           [SCHEDQ_EMPTY] = "SCHEDQ_EMPTY",
        [SCHEDQ_CLOSED] = "SCHEDQ_CLOSED",   [SCHEDQ_TIMEDOUT] = "SCHEDQ_TIMEDOUT",
        [SCHEDQ_EXISTS] = "SCHEDQ_EXISTS",   [SCHEDQ_NOT_FOUND] = "SCHEDQ_NOT_FOUND",
        [SCHEDQ_STALE] = "SCHEDQ_STALE",     [SCHEDQ_GONE] = "SCHEDQ_GONE",
        [SCHEDQ_FULL] = "SCHEDQ_FULL",       [SCHEDQ_NOMEM] = "SCHEDQ_NOMEM",
        [SCHEDQ_BUSY] = "SCHEDQ_BUSY",       [SCHEDQ_RETRY] = "SCHEDQ_RETRY",
        [SCHEDQ_CHANGED] = "SCHEDQ_CHANGED", [SCHEDQ_INVALID] = "SCHEDQ_INVALID",
    };

    return (size_t)status < sizeof names / sizeof names[0] ? names[status] : "SCHEDQ_UNKNOWN";
}

const char *
schedq_place_name(schedq_place_t place)
{
    static const char *const names[] = {
        [SCHEDQ_NOWHERE] = "nowhere",      [SCHEDQ_ACTIVE] = "active",
        [SCHEDQ_BACKOFF] = "backoff",      [SCHEDQ_ERROR_BACKOFF] = "error-backoff",
        [SCHEDQ_PARKED] = "unschedulable", [SCHEDQ_GATED] = "gated",
        [SCHEDQ_INFLIGHT] = "inflight",
    };

    return (size_t)place < sizeof names / sizeof names[0] ? names[place] : names[SCHEDQ_NOWHERE];
}

uint32_t
schedq_version(void)
{
    return SCHEDQ_VERSION_MAJOR << 16 | SCHEDQ_VERSION_MINOR << 8 | SCHEDQ_VERSION_PATCH;
}
