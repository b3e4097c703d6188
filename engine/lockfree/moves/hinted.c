/* What hinted.h declares. */
#include "lockfree/moves/hinted.h"

bool
hinted_read(struct worker *worker, struct nominator *nominator, uint64_t key, struct hinted *found)
{
    struct memory *memory = &queue_of(worker)->base.memory;

    found->pods = found->few;
    found->capacity = sizeof found->few / sizeof found->few[0];
    found->count = 0;
    if (ptr_load_acquire(&nominator->buckets) == NULL) { /* of nominator_make */
        return true;
    }
    /* Ends: each further round means that as many pods came under the key meanwhile as it had. */
    while ((found->count = nominator_read(nominator, worker->epoch, key, found->pods,
                                          found->capacity)) > found->capacity) {
        hinted_free(worker, found);
        found->capacity = 2 * found->count;
        found->pods =
            memory_alloc(memory, MEMORY_OTHER, found->capacity * sizeof *found->pods, CACHE_LINE);
        if (found->pods == NULL) {
            return false;
        }
    }
    return true;
}

void
hinted_free(struct worker *worker, struct hinted *found)
{
    if (found->pods != found->few) {
        memory_free(&queue_of(worker)->base.memory, MEMORY_OTHER, found->pods,
                    found->capacity * sizeof *found->pods);
    }
}
