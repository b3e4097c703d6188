/* The metrics at the end of a vector, against those that the queue writes. */
#ifndef CONFORM_METRICS_H
#define CONFORM_METRICS_H

#include "script.h"

/**
 * Compares both ways: what the vector states, and that nothing else is counted. Reports the first
 * difference.
 *
 * @param text what the queue under test writes; it is cut
 */
bool metrics_agree(struct script *script, char *text);

#endif
