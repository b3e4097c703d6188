/*
 * Making a ref findable in a bin.
 *
 * CONTRACT. publish_ref makes a ref visible; with a full fence and bin_mark behind it, scans that
 * begin afterwards find it.
 *
 * LINEARIZATION. publish_ref: lane_publish:A or bin_publish_run:A.
 *
 * ORDERING
 *   ref ; bin_mark:A | begin_clearing:A, scan (bin.h)
 *   ref ; publish_wake's two loads | sleepers_prepare:A, look (sleepers.c)
 *   ref ; publish_wake's two loads | look_again:A, look (pop.c)
 *
 * PROGRESS. Lock-free; what is prepared does not fail. A thread that stops behind the ref leaves it
 * FUTURE: a helper marks the bin, raises reorder and switches (bin_judge, switch_help). One that
 * stops before leaves a lag (state.h), which ends when the pod is popped or reported. One that
 * stops before publish_wake wakes no sleeper: a tick does (serve.c).
 *
 * EVIDENCE. tests/model: description, walk, help, bands, bin; stress/explore: update_raise and the
 * other programs of update.c, told_*, order_keys, band_retire, no_memory_gather;
 * tests/unit/test_update.c, test_order_keys.c, test_pop_order.c.
 */
#ifndef SCHEDQ_LOCKFREE_PUBLISH_H
#define SCHEDQ_LOCKFREE_PUBLISH_H

#include "lockfree/queue.h"

/**
 * The band of a priority (config.fifo is taken into account); bands_get with the worker's memory of
 * its last ones.
 */
struct band *publish_band(struct worker *worker, int32_t priority);

/** A ref on its way into a bin, with what orders it there. */
struct placing {
    uint64_t ref;
    int64_t key;
    struct tie tie; /* only where the bin's residence orders ties */
    uint32_t cause; /* why it is moved (switch.h) */
};

/**
 * Makes sure that a ref with this key can be published in the band. False: no memory, nothing
 * changed.
 */
bool publish_prepare_key(struct worker *worker, struct band *band, int64_t key);

/**
 * The same for any key and any bin, and for one ref more: an adder has prepared for that one.
 */
bool publish_prepare(struct worker *worker, struct bin *bin);

/**
 * Puts one ref where consumers of the bin find it; it was prepared. Then a full fence, then
 * bin_mark.
 */
void publish_ref(struct worker *worker, struct bin *bin, const struct placing *placing);

/**
 * publish_ref of a ref that no lane may take: in a run. Need not be prepared. False: no memory,
 * nothing changed.
 */
bool publish_in_run(struct worker *worker, struct bin *bin, const struct bin_ref *ref);

/** After something became poppable, and a full fence: tells sleepers and hosts. */
void publish_wake(struct worker *worker);

#endif
