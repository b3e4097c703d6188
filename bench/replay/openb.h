/*
 * CSV files of pods and nodes with the columns of the openb traces.
 *
 * The first record names the columns; their order does not matter, unknown ones are passed over.
 *
 *   pods   name cpu_milli memory_mib creation_time deletion_time
 *          and, where present: num_gpu gpu_milli gpu_spec qos scheduled_time
 *   nodes  sn cpu_milli memory_mib
 *          and, where present: gpu model creation_time
 *
 * A pod runs from scheduled_time, or creation_time where that is empty, to deletion_time.
 */
#ifndef SCHEDQ_REPLAY_OPENB_H
#define SCHEDQ_REPLAY_OPENB_H

#include "input.h"
#include "workload.h"

/* Add what the file holds to the workload. False: a problem was reported that ends the reading. */
bool openb_read_pods(const input_file_t *file, workload_t *workload, input_problems_t *problems);
bool openb_read_nodes(const input_file_t *file, workload_t *workload, input_problems_t *problems);

#endif
