/* Reads a preemption vector case by case. */
#ifndef CONFORM_PREEMPTION_READ_H
#define CONFORM_PREEMPTION_READ_H

#include "preemption_case.h"

struct preemption_reader {
    const char *file;
    char *rest;
    unsigned line;
    schedq_preset_t preset; /* of the source: the default of a case */
};

/** Reads the lines in front of the first case. False: malformed, which has been reported. */
bool preemption_begin(struct preemption_reader *reader, const char *file, char *text);

enum preemption_next { NEXT_CASE, NEXT_END, NEXT_MALFORMED };

/**
 * Reads the next case, which the caller frees whatever is returned; NEXT_MALFORMED has been
 * reported.
 */
enum preemption_next preemption_next_case(struct preemption_reader *reader,
                                          struct preemption_case *of);
void preemption_case_free(struct preemption_case *of);

#endif
