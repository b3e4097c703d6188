/* Growing arrays, see snapshot.h. Without memory the program ends. */
#include "snapshot.h"

#include <errno.h>
#include <error.h>
#include <stdlib.h>

static void *
grow(void *array, size_t count, size_t size)
{
    void *grown = reallocarray(array, count + 1, size);

    if (grown == NULL) {
        error(EXIT_FAILURE, errno, "no memory for a snapshot");
    }
    return grown;
}

void
snapshot_add(struct snapshot *snapshot, const struct seen *seen)
{
    snapshot->pods = grow(snapshot->pods, snapshot->count, sizeof *seen);
    snapshot->pods[snapshot->count++] = *seen;
}

void
snapshot_nominate(struct snapshot *snapshot, const char *node, const char *pod)
{
    size_t rank = snapshot->nomination_count;

    snapshot->nominations = grow(snapshot->nominations, rank, sizeof *snapshot->nominations);
    snapshot->nominations[rank] = (struct nomination){node, pod, rank};
    snapshot->nomination_count++;
}

void
snapshot_free(struct snapshot *snapshot)
{
    free(snapshot->pods);
    free(snapshot->nominations);
    *snapshot = (struct snapshot){0};
}
