/*
 * The bundled trace of a real cluster through a queue, as schedq-replay does it. A file of its own,
 * because the replay's headers and the suite's both call what they are about a workload.
 */
#ifndef SCHEDQ_BENCH_REPLAYED_H
#define SCHEDQ_BENCH_REPLAYED_H

#include <stdint.h>

/* What a replay gave. The costs are medians of single calls, a reading of the clock included. */
typedef struct replayed {
    double cpu_ns; /* user CPU of the whole replay, the scheduler's own work included */
    double tick_ns, pop_ns, add_unschedulable_ns, move_all_ns;
    uint64_t digest; /* of all decisions */
} replayed_t;

typedef struct replayed_trace replayed_trace_t;

/* `copies` superposed, on that share of the nodes. NULL: it cannot be read; stderr says why. */
replayed_trace_t *replayed_open(uint32_t copies, double nodes_fraction);
void replayed_close(replayed_trace_t *trace);
/* Replays it. NULL, or what went wrong. */
const char *replayed_run(replayed_trace_t *trace, uint8_t engine, replayed_t *out);

#endif
