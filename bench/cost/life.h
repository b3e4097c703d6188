/*
 * One pod's life, for schedq-cost --life, which counts the files and functions that it goes
 * through.
 *
 * Callgrind collects inside of the functions that are named life_*.
 */
#ifndef SCHEDQ_COST_LIFE_H
#define SCHEDQ_COST_LIFE_H

#include <stdbool.h>

/*
 * With the mutex engine or the other. `short_one`: added, popped, done. Else it is parked and
 * helped by an event between.
 */
void play_life(bool mutex, bool short_one);

#endif
