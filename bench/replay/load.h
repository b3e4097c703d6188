/*
 * From file names to a workload: recognises each file's format by its content and calls its parser.
 */
#ifndef SCHEDQ_REPLAY_LOAD_H
#define SCHEDQ_REPLAY_LOAD_H

#include "input.h"
#include "workload.h"

/* Either `trace`, or `pods` with or without `nodes`; the others are NULL. */
typedef struct load_files {
    const char *trace;
    const char *pods;
    const char *nodes;
} load_files_t;

/* Fills an initialized workload and finishes it. False: problems->out says why not. */
bool workload_load(workload_t *workload, const load_files_t *files, input_problems_t *problems);

#endif
