/* What an update is classified as, by the library and by the vector. */
#ifndef CONFORM_CLASSIFICATION_H
#define CONFORM_CLASSIFICATION_H

#include "operation.h"

#include <schedq/schedq.h>

#include <stdio.h>

/** Compares; a difference is an error in `result`. */
bool check_classification(schedq_preset_t preset, const struct pod_text *old,
                          const struct pod_text *new, const schedq_event_t *expected, size_t count,
                          FILE *result);

#endif
