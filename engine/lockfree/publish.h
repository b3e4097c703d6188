/*
 * Making a pod findable where its word says, or will say: the first half of "publish, then switch", and the second half for
 * pods that stay active.
 */
#ifndef SCHEDQ_LOCKFREE_PUBLISH_H
#define SCHEDQ_LOCKFREE_PUBLISH_H

#include "lockfree/queue.h"

/** The band of a priority (config.fifo is taken into account); bands_get with the worker's memory of its last ones. */
struct band *publish_band(struct worker *worker, int32_t priority, bool exceed, schedq_status_t *status);

/** A ref on its way into a bin, with what orders it there. */
struct placing {
    uint64_t ref;
    int64_t key;
    struct tie tie; /* only where the bin's residence orders ties */
    uint32_t cause; /* why it is moved (switch.h) */
};

/** Makes sure that a ref with this key can be published in the band. False: no memory, nothing changed. */
bool publish_prepare_key(struct worker *worker, struct band *band, int64_t key);

/** The same for any key and any bin, and for one ref more: a caller who is adding a pod has prepared for that one. */
bool publish_prepare(struct worker *worker, struct bin *bin);

/** Puts one ref where consumers of the bin find it; it was prepared. Then a full fence, then publish_mark or bin_mark. */
void publish_ref(struct worker *worker, struct bin *bin, const struct placing *placing);

/** After a full fence: makes consumers look into the band. False: it is retired; the worker forgets it. */
bool publish_mark(struct worker *worker, struct band *band);

/**
 * Moves a pod that is active to where its newest description wants it, if it does not stand there.
 *
 * Not active, or another life: nothing. False: no memory; the pod stays where it is, and is a stray (stray.h).
 */
bool publish_follow(struct worker *worker, uint32_t record, uint64_t life);

/** After something became poppable, and a full fence: tells sleepers and hosts. */
void publish_wake(struct worker *worker);

#endif
