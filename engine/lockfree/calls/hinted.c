/* What hinted.h declares. */
#include "lockfree/calls/hinted.h"

static size_t
read_once(struct worker *worker, struct nominator *nominator, uint64_t key, struct hinted *found)
{
    section_begin(worker);
    size_t count = ptr_load_acquire(&nominator->buckets) != NULL /* of nominator_make */
                       ? nominator_read(nominator, worker->epoch, key, found->pods, found->capacity)
                       : 0;
    section_end(worker);
    return count;
}

bool
hinted_read(struct worker *worker, struct nominator *nominator, uint64_t key, struct hinted *found)
{
    struct memory *memory = &queue_of(worker)->base.memory;

    found->pods = found->few;
    found->capacity = sizeof found->few / sizeof found->few[0];
    /* Ends: each further round means that as many pods came under the key meanwhile as it had. */
    while ((found->count = read_once(worker, nominator, key, found)) > found->capacity) {
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
