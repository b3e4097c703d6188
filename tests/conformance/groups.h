/*
 * Groups of a vector: their objects, which gates and hints ask for, and the operations on them.
 *
 * The queue knows a group by a number: the bytes of its name, so that numbers are in the order of
 * names. What upstream's queue does not know (an object's min, which pods exist) is here.
 */
#ifndef CONFORM_GROUPS_H
#define CONFORM_GROUPS_H

#include "world.h"

/** The number of a group; 0 for NULL. A name has at most 8 bytes. */
uint64_t group_number(const char *name);

/** A group of the script by name, declared or not; made if it is not there. */
struct group *groups_make(struct world *world, const char *name);

/** An event's object that is a group. */
uint64_t groups_object(struct world *world, const char *name, struct number min);

/** PreEnqueue of the gang: `ctx` is the world. */
int groups_pass_gang(void *ctx, uint64_t pod);
/** Hints that need groups; their ctx is the world. */
schedq_hint_t groups_hint_mine(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object);
schedq_hint_t groups_hint_min(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object);

void run_group_declare(struct world *world, const struct operation *operation, FILE *result);
void run_group_delete(struct world *world, const struct operation *operation, FILE *result);
void run_group_done(struct world *world, const struct operation *operation, FILE *result);
void run_group_get(struct world *world, const struct operation *operation, FILE *result);

#endif
