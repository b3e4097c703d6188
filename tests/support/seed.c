/*
 * A linear congruential generator: what matters is that the same seed draws the same numbers
 * everywhere.
 */
#include "seed.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engines.h"

#define SEED_DEFAULT 20240607

uint64_t
seed_of(const char *program)
{
    const char *given = getenv("SCHEDQ_TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : SEED_DEFAULT;
    print_message("seed %" PRIu64 "; again with: SCHEDQ_TEST_SEED=%" PRIu64 " %s --engine %s\n",
                  seed, seed, program, fx_engine_name());
    return seed;
}

uint64_t
seed_next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}
