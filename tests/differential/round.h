/* One round: its operations, as they are drawn or as they were recorded. */
#ifndef DIFFERENTIAL_ROUND_H
#define DIFFERENTIAL_ROUND_H

#include "operation.h"

/** Shared with the process that runs the rounds, which may end anywhere. */
typedef struct record {
    settings_t settings;
    uint64_t operations_done; /* in rounds before */
    uint64_t rounds_done;
    uint64_t met[STATUSES];
    coverage_t coverage;
    uint32_t most_pods;       /* at a time */
    uint64_t references_late; /* most references that the other engine held beyond those it owes */
    char difference[1024];    /* of the round; empty: none was seen */
    uint32_t at;              /* the operation that runs */
    uint8_t at_kind;
    uint32_t count;
    operation_t operations[ROUND_OPERATIONS_MAX];
} record_t;

/** Draws, records and runs a round; false: there is a difference, in the record. */
bool round_run(world_t *world, record_t *record, const options_t *options);

/**
 * Runs some operations of a recorded round, in their order, with every comparison after each.
 * `trace` gets the calls from kept[trace_from] on; NULL: nobody does.
 */
bool round_replay(world_t *world, record_t *record, const options_t *options, const uint32_t *kept,
                  uint32_t count, FILE *trace, uint32_t trace_from);

#endif
