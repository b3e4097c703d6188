/* Allocation that ends the program when there is no memory. */
#include "alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *
checked(void *memory, size_t bytes)
{
    if (memory == NULL) {
        fprintf(stderr, "out of memory: %zu bytes were refused\n", bytes);
        exit(EXIT_FAILURE);
    }
    return memory;
}

void *
alloc_array(size_t count, size_t item)
{
    size_t safe = count == 0 ? 1 : count;

    return checked(calloc(safe, item), safe * item);
}

void *
alloc_grow(void *array, size_t *capacity, size_t needed, size_t item)
{
    if (array != NULL && needed <= *capacity) {
        return array;
    }
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < needed) {
        wanted = needed;
    }
    if (wanted < 16) {
        wanted = 16;
    }
    *capacity = wanted;
    return checked(reallocarray(array, wanted, item), wanted * item);
}

char *
alloc_text(const char *text, size_t length)
{
    char *copy = alloc_array(length + 1, 1);

    memcpy(copy, text, length);
    return copy;
}
