/*
 * The project's own trace format, version 1 (docs/TRACE.md): one line per pod and node, text, gzip
 * or plain.
 */
#ifndef SCHEDQ_REPLAY_TRACE_H
#define SCHEDQ_REPLAY_TRACE_H

#include "input.h"
#include "workload.h"

#define TRACE_MAGIC "schedq-trace"
#define TRACE_VERSION 1

/* Adds what the file holds to the workload. False: a problem was reported that ends the reading. */
bool trace_read(const input_file_t *file, workload_t *workload, input_problems_t *problems);
/*
 * Writes a finished workload, compressed if `path` ends in ".gz". The same workload gives the same
 * bytes. False: `why` says what failed.
 */
bool trace_write(const char *path, const workload_t *workload, char *why, size_t why_size);

#endif
