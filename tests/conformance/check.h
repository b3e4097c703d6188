/* Runs a vector on a queue under test and compares everything that the vector states. */
#ifndef CONFORM_CHECK_H
#define CONFORM_CHECK_H

#include "subject.h"

/**
 * Reports the first difference and returns false then. `count` is raised by the operations that
 * were performed.
 */
bool check_script(struct script *script, struct subject *subject, size_t *count);

#endif
