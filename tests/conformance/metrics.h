/* The metrics at the end of a vector, against those that the queue writes. */
#ifndef CONFORM_METRICS_H
#define CONFORM_METRICS_H

#include "world.h"

/** Compares both ways: what the vector states, and that nothing else is counted. Reports the first difference. */
bool metrics_agree(struct world *world);

#endif
