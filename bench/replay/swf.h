/*
 * The Standard Workload Format 2.2: a job per line, 18 numbers each, -1 for what is unknown;
 * comments begin with ';'.
 *
 * A job becomes one pod: a processor is 1000 cpu_milli; no memory and no GPU, because SWF states
 * none of the nodes.
 *   processors  allocated (field 5), else requested (field 8), else 1
 *   run time    field 4, unknown = 0
 *   class       "queue-N" from field 15, "none" where it is unknown
 * Lines with status 2, 3, 4 are parts of a job that has a line of its own, and are passed over.
 *
 * Nodes are made from the header: each has W processors, MaxProcs in all, the last node gets what
 *   is left. W = the widest job, but at least MaxProcs / MaxNodes rounded up, or 64 (at most
 *   MaxProcs) without MaxNodes
 * So every job fits on an empty node.
 */
#ifndef SCHEDQ_REPLAY_SWF_H
#define SCHEDQ_REPLAY_SWF_H

#include "input.h"
#include "workload.h"

/* Sizes from the header comments; 0: not stated. */
typedef struct swf_header {
    int64_t max_procs;
    int64_t max_nodes;
} swf_header_t;

/*
 * Reads the header and leaves the file's text as it is. False: a problem was reported that ends the
 * reading.
 */
bool swf_read_header(const input_file_t *file, swf_header_t *header, input_problems_t *problems);
/* Adds the jobs to the workload. False: a problem was reported that ends the reading. */
bool swf_read_pods(const input_file_t *file, workload_t *workload, input_problems_t *problems);
/*
 * Adds nodes as the header says, wide enough for each pod of the workload. False: the header states
 * no size.
 */
bool swf_make_nodes(const input_file_t *file, const swf_header_t *header, workload_t *workload,
                    input_problems_t *problems);

#endif
