/*
 * The hash of a text, for the index of either engine.
 *
 * Seeded per queue, so that a chooser of names cannot choose the collisions. Not for anything
 * that leaves the process: the value depends on the seed and on the byte order.
 */
#ifndef SCHEDQ_PLATFORM_HASH_H
#define SCHEDQ_PLATFORM_HASH_H

#include <stdint.h>

/**
 * All 32 bits are equally good, so that an index may cut its line numbers and its tags out of
 * different ends.
 */
uint32_t hash_text(uint64_t seed, const char *text, uint32_t length);

/**
 * A seed that differs from queue to queue: address randomization is randomness enough against
 * chosen names.
 */
uint64_t hash_seed(const void *first, const void *second);

#endif
