/* The heap of running pods. */
#include "completions.h"

#include "alloc.h"

#include <stdbool.h>
#include <stdlib.h>

static bool
before(completion_t a, completion_t b)
{
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.pod < b.pod;
}

void
completions_push(completions_t *completions, int64_t time_ns, uint32_t pod)
{
    size_t needed = completions->count + 1;
    completion_t added = {.time_ns = time_ns, .pod = pod};

    completions->heap = alloc_grow(completions->heap, &completions->capacity, needed, sizeof *completions->heap);
    size_t at = completions->count++;
    while (at > 0 && before(added, completions->heap[(at - 1) / 2])) {
        completions->heap[at] = completions->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    completions->heap[at] = added;
}

completion_t
completions_pop(completions_t *completions)
{
    completion_t *heap = completions->heap;
    completion_t first = heap[0];
    completion_t moved = heap[--completions->count];
    size_t count = completions->count;
    size_t at = 0;

    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(heap[child + 1], heap[child])) {
            child++;
        }
        if (!before(heap[child], moved)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
    return first;
}

void
completions_free(completions_t *completions)
{
    free(completions->heap);
    *completions = (completions_t){0};
}
