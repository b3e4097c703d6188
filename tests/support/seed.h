/**
 * Random numbers that can be had again: SCHEDQ_TEST_SEED sets the seed, and every test that draws
 * prints it.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_SEED_H
#define SCHEDQ_TESTS_SUPPORT_SEED_H

#include <stdint.h>

/** The seed of this run; prints it with the line that repeats the run of `program`. */
uint64_t seed_of(const char *program);
/** The next number, 31 bits; `seed` is the state. */
uint64_t seed_next(uint64_t *seed);

#endif
