/*
 * Memory for the replay tools: a tool that has none says so and ends, so callers need no check.
 *
 * Only for programs; the library itself reports SCHEDQ_NOMEM.
 */
#ifndef SCHEDQ_REPLAY_ALLOC_H
#define SCHEDQ_REPLAY_ALLOC_H

#include <stddef.h>

/* Zeroed memory for `count` items; exit status 1 without memory. */
void *alloc_array(size_t count, size_t item);
/* Room for at least `needed` items; *capacity follows. Growth is by half, so appending is cheap. */
void *alloc_grow(void *array, size_t *capacity, size_t needed, size_t item);
/* A copy that ends in NUL. */
char *alloc_text(const char *text, size_t length);

#endif
