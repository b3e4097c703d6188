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

/* Up from a hole, to where `moved` belongs. */
static void
fill_upwards(completions_t *completions, size_t at, completion_t moved)
{
    completion_t *heap = completions->heap;

    while (at > 0 && before(moved, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = moved;
}

/* Down from a hole, the rest of the way up. */
static void
fill(completions_t *completions, size_t at, completion_t moved)
{
    completion_t *heap = completions->heap;
    size_t count = completions->count;

    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(heap[child + 1], heap[child])) {
            child++;
        }
        if (!before(heap[child], moved)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    fill_upwards(completions, at, moved);
}

void
completions_push(completions_t *completions, int64_t time_ns, uint32_t pod)
{
    size_t needed = completions->count + 1;

    completions->heap =
        alloc_grow(completions->heap, &completions->capacity, needed, sizeof *completions->heap);
    fill_upwards(completions, completions->count++, (completion_t){.time_ns = time_ns, .pod = pod});
}

completion_t
completions_pop(completions_t *completions)
{
    completion_t first = completions->heap[0];

    fill(completions, 0, completions->heap[--completions->count]);
    return first;
}

void
completions_remove(completions_t *completions, uint32_t pod)
{
    size_t at = 0;

    while (completions->heap[at].pod != pod) {
        at++;
    }
    fill(completions, at, completions->heap[--completions->count]);
}

void
completions_free(completions_t *completions)
{
    free(completions->heap);
    *completions = (completions_t){0};
}
