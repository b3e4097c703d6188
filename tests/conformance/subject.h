/*
 * The queue under test: whatever performs the operations of a vector and tells what became of them.
 *
 * There are two: local.h is the library in this process, driver.h a child process that speaks
 * lines, for bindings in other languages. All comparing is done by the caller, from what these
 * functions write.
 */
#ifndef CONFORM_SUBJECT_H
#define CONFORM_SUBJECT_H

#include "operation.h"
#include "script.h"
#include "snapshot.h"

#include <stdbool.h>
#include <stdio.h>

struct subject {
    /**
     * Makes the queue that the script's head describes. Reports and returns false if it is refused.
     */
    bool (*open)(struct subject *subject, struct script *script);
    /**
     * Performs an operation and writes its result; what a vector cannot contain begins with
     * "error".
     */
    void (*perform)(struct subject *subject, const struct operation *operation, FILE *result);
    /**
     * Fills an empty snapshot, which the caller frees. Reports and returns false if it cannot be
     * had.
     */
    bool (*look)(struct subject *subject, struct snapshot *snapshot);
    /**
     * Writes the metrics in the Prometheus text format. Reports and returns false if they cannot be
     * had.
     */
    bool (*write_metrics)(struct subject *subject, FILE *text);
    /**
     * Ends the queue; follows every open, also one that failed. Reports and returns false if it is
     * refused.
     */
    bool (*close)(struct subject *subject);
};

/** What a user chooses. */
struct subject_options {
    const char *engine_name;
    uint8_t engine;
    size_t workers;
};

#endif
