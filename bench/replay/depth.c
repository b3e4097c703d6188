/* Thinning of depth samples. */
#include "depth.h"

static void
halve(depth_t *depth)
{
    size_t kept = 0;

    for (size_t i = 0; i < depth->count; i += 2) {
        depth->samples[kept++] = depth->samples[i];
    }
    depth->count = kept;
    depth->interval_ns *= 2;
}

void
depth_add(depth_t *depth, const depth_sample_t *sample)
{
    if (depth->count == DEPTH_SAMPLES_MAX) {
        halve(depth);
    }
    depth->samples[depth->count++] = *sample;
    depth->next_ns = sample->time_ns + depth->interval_ns;
}
