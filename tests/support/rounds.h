/**
 * How often a random test tries: in full, or less where a sanitizer makes every try long.
 *
 * SCHEDQ_TEST_ROUNDS in the environment is the share in percent, 10..100, 100 by default. ctest
 * sets it to what the build's preset says (cmake/SchedqRounds.cmake).
 */
#ifndef SCHEDQ_TESTS_SUPPORT_ROUNDS_H
#define SCHEDQ_TESTS_SUPPORT_ROUNDS_H

/** That share of `full`, and at least 1; fails the test if the share is not legal. */
unsigned rounds_of(unsigned full);

#endif
