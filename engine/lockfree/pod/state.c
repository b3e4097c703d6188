/* Names of state.h. */
#include "lockfree/pod/state.h"

schedq_place_t
place_public(enum place place)
{
    static const schedq_place_t public[] = {
        [PLACE_FREE] = SCHEDQ_NOWHERE,    [PLACE_ACTIVE] = SCHEDQ_ACTIVE,
        [PLACE_BACKOFF] = SCHEDQ_BACKOFF, [PLACE_PARKED] = SCHEDQ_PARKED,
        [PLACE_GATED] = SCHEDQ_GATED,     [PLACE_INFLIGHT] = SCHEDQ_INFLIGHT,
        [PLACE_DEAD] = SCHEDQ_NOWHERE,    [PLACE_ERROR_BACKOFF] = SCHEDQ_ERROR_BACKOFF,
    };

    return public[place];
}
