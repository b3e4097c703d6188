/*
 * Depth of the queue over time, in a bounded number of samples: when they are full, every second
 * one is dropped and the interval between samples doubles. So the length of the run need not be
 * known.
 */
#ifndef SCHEDQ_REPLAY_DEPTH_H
#define SCHEDQ_REPLAY_DEPTH_H

#include <stddef.h>
#include <stdint.h>

enum { DEPTH_SAMPLES_MAX = 512 };

typedef struct depth_sample {
    int64_t time_ns;
    uint64_t active;
    uint64_t backoff; /* error backoff too */
    uint64_t parked;  /* gated too */
    uint64_t inflight;
    uint64_t running; /* on nodes */
} depth_sample_t;

/* Zero it first; set interval_ns and next_ns. */
typedef struct depth {
    depth_sample_t samples[DEPTH_SAMPLES_MAX];
    size_t count;
    int64_t interval_ns;
    int64_t next_ns; /* from when on the next sample is due */
} depth_t;

void depth_add(depth_t *depth, const depth_sample_t *sample);

#endif
