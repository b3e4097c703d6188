/*
 * Sorting numbers in place: a heap sort. It needs no memory; qsort takes some from the C library.
 */
#ifndef SCHEDQ_LOCKFREE_SORT_H
#define SCHEDQ_LOCKFREE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** `before` is a strict order of what the numbers mean. */
void sort_numbers(uint32_t *numbers, size_t count,
                  bool (*before)(const void *ctx, uint32_t a, uint32_t b), const void *ctx);

#endif
