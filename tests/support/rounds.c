#include "rounds.h"

#include <stdlib.h>

#include "expect.h"

#define PERCENT_MIN 10

unsigned
rounds_of(unsigned full)
{
    const char *given = getenv("SCHEDQ_TEST_ROUNDS");
    unsigned long percent = given != NULL ? strtoul(given, NULL, 10) : 100;
    if (percent < PERCENT_MIN || percent > 100)
        fail_msg("SCHEDQ_TEST_ROUNDS is %s: legal are %d..100", given, PERCENT_MIN);
    unsigned rounds = (unsigned)(full * percent / 100);
    return rounds > 0 ? rounds : 1;
}
