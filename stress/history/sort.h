/*
 * A stable radix sort: the checker's speed is that of its sorts.
 */
#ifndef SCHEDQ_HISTORY_SORT_H
#define SCHEDQ_HISTORY_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct sortable {
    uint64_t key;
    void *item;
} sortable_t;

/**
 * Sorts by key, ascending; `scratch` has room for `count`. Digits in which all keys agree cost
 * nothing.
 */
void sort_by_key(sortable_t *items, sortable_t *scratch, size_t count);

#endif
