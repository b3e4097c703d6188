/* The allocator of lack.h. */
#include "lack.h"

#include <stdlib.h>
#include <string.h>

#define GARBAGE 0xa5

static void *
lack_alloc(void *ctx, size_t bytes, size_t align)
{
    lack_t *lack = ctx;
    size_t unit = align < sizeof(void *) ? sizeof(void *) : align;

    if (lack->left == 0) {
        lack->happened = true;
        return NULL;
    }
    lack->left -= lack->left > 0 ? 1 : 0;
    void *block = aligned_alloc(unit, (bytes + unit - 1) / unit * unit);

    if (block != NULL) {
        memset(block, GARBAGE, bytes);
        lack->blocks++;
    }
    return block;
}

static void
lack_free(void *ctx, void *memory, size_t bytes)
{
    lack_t *lack = ctx;

    memset(memory, GARBAGE, bytes);
    free(memory);
    lack->blocks--;
}

schedq_allocator_t
lack_allocator(lack_t *lack)
{
    return (schedq_allocator_t){.alloc = lack_alloc, .free = lack_free, .ctx = lack};
}

void
lack_after(lack_t *lack, int64_t given)
{
    lack->left = given;
    lack->happened = false;
}

bool
lack_ends(lack_t *lack)
{
    lack->left = -1;
    return lack->happened;
}
