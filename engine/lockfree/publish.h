/*
 * Making a pod findable where its word says, or will say: the first half of "publish, then switch", and the second half for
 * pods that stay active.
 */
#ifndef SCHEDQ_LOCKFREE_PUBLISH_H
#define SCHEDQ_LOCKFREE_PUBLISH_H

#include "lockfree/queue.h"

/** The band of a priority (config.fifo is taken into account); bands_get with the worker's memory of its last ones. */
struct band *publish_band(struct worker *worker, int32_t priority, bool exceed, schedq_status_t *status);

/** Makes sure that a ref with this key can be published in the band. False: no memory, nothing changed. */
bool publish_prepare(struct worker *worker, struct band *band, int64_t key);

/** The same for any key, and for one ref more: a caller who is adding a pod has prepared for that one. */
bool publish_prepare_move(struct worker *worker, struct band *band);

/** Puts one ref where consumers of the band find it; it was prepared. Then a full fence, then publish_mark. */
void publish_ref(struct worker *worker, struct band *band, uint64_t ref, int64_t key);

/** After a full fence: makes consumers look into the band. False: it is retired; the worker forgets it. */
bool publish_mark(struct worker *worker, struct band *band);

/**
 * Moves a pod that is active to where its newest description wants it, if it does not stand there.
 *
 * Not active, or another life: nothing. False: no memory; the pod stays where it is, and is a stray (stray.h).
 */
bool publish_follow(struct worker *worker, uint32_t record, uint64_t life);

/** Before a caller is told that a pod is there, whose word was `state`: makes sure that pops look where it is. */
void publish_told(struct worker *worker, uint32_t record, uint64_t life, uint64_t state);

/** Publishes a pod that is active at `state` once more. False: no memory; it is a stray then. */
bool publish_again(struct worker *worker, struct entry *entry, uint32_t record, uint64_t state);

/** For the index: makes a pod findable that exists, and whose adder may have stopped before he published it. */
bool publish_settle(void *ctx, uint32_t record, uint64_t life);

/** After something became poppable, and a full fence: tells sleepers and hosts. */
void publish_wake(struct worker *worker);

#endif
