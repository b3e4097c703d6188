/*
 * Compares the answers of the two sides, one kind of answer per function; [0] is the mutex
 * engine's.
 *
 * Each returns true if they agree. At the first difference it takes down what differs, and the
 * round is over. A planted distortion is applied to side 1 before the comparison.
 */
#ifndef DIFFERENTIAL_COMPARE_H
#define DIFFERENTIAL_COMPARE_H

#include "fields.h"
#include "ops/op.h"
#include "world.h"

/** Takes a difference down; the first one counts. Returns false. */
bool differ(world_t *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** True if this operation has to be distorted so. */
bool plant_due(const world_t *world, enum other what);

/** May the mutex engine plan time earlier than it has to? */
bool plans_in_vain(const world_t *world);

bool compare_status(world_t *world, const schedq_status_t statuses[SIDES]);
/** Those of the elements, if the calls have them. */
bool compare_statuses(world_t *world, op_t ops[SIDES]);
bool compare_got(world_t *world, op_t ops[SIDES]);

/** `out`, `size` bytes on each side, was filled with this, and is so still. */
#define UNTOUCHED 0x77
bool compare_untouched(world_t *world, const char *what, const void *out, size_t size);

/** Both name `life`; NULL: both are {0}. */
bool compare_pods(world_t *world, const life_t *life, schedq_pod_t pods[SIDES]);

/** All fields, of which `pod` has to name `life` (NULL: {0}). */
bool compare_results(world_t *world, const life_t *life, schedq_result_t results[SIDES]);
/** The same, and takes down the ref of a pod that waits. */
bool compare_referred(world_t *world, life_t *life, schedq_result_t results[SIDES]);
/** The same for a call that made a pod: its handles are new. */
bool compare_born(world_t *world, schedq_result_t results[SIDES]);
/** Counts and `poppable`: what a sum over many pods has. */
bool compare_sums(world_t *world, schedq_result_t results[SIDES]);

/** What functions return that answer with a mask or a number. */
bool compare_bits(world_t *world, const char *what, uint64_t bits[SIDES]);

/** All fields but pod and ref, which have to name the object's pod. */
bool compare_candidates(world_t *world, schedq_candidate_t candidates[SIDES]);

/** All fields but pod and token. The name has to be that of the object's pod. */
bool compare_popped(world_t *world, schedq_popped_t popped[SIDES]);

/** Field by field, as the table says. */
bool compare_table(world_t *world, const table_t *table, const void *mutex, void *other);

/** All fields but the pod; the names have to be that of the pod. */
bool compare_infos(world_t *world, uint32_t name, schedq_pod_info_t infos[SIDES]);

/** A name that a side gave is that of pod `number`, and ends in NUL. */
bool compare_name(world_t *world, uint32_t number, unsigned side, const char *text,
                  uint32_t length);

/** Words of both queues, and of the worker, references of the account: after every operation. */
bool compare_cheap(world_t *world);
/** Statistics and the pending text: from time to time. */
bool compare_counters(world_t *world);
/** Every reference that either side holds. */
bool compare_accounts(world_t *world);

#endif
