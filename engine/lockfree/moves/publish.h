/*
 * Making a pod findable where its word says, or will say: the first half of "publish, then switch",
 * and the second half for pods that stay active.
 *
 * CONTRACT. publish_ref makes a ref visible; with a full fence and publish_mark (or bin_mark)
 * behind it, scans that begin afterwards find it. publish_follow: after true the pod, if it still
 * is active in this life, stands where its newest description says, and walks look there; also if
 * who described it stopped.
 *
 * LINEARIZATION. publish_ref: lane_publish:A or bin_publish_run:A. publish_follow:
 * publish_follow:C, or a helper's switch_announced:B.
 *
 * ORDERING
 *   ref ; bin_mark:A | begin_clearing:A, scan (bin.h)
 *   ref, publish_follow:B, publish_follow:C -> scan, take_from:A or walk_take:B (pop.c)
 *       the walk meets the pod in one of its two places, or begins again
 *   ref ; publish_wake's two loads | sleepers_prepare:A, look (sleepers.c)
 *   ref ; publish_wake's two loads | take_or_say_empty:A, look (pop.c)
 *
 * PROGRESS. Lock-free; what is prepared does not fail. A thread that stops behind the ref leaves it
 * FUTURE: who meets it marks the bin, raises reorder and switches (bin_judge, switch_help). One
 * that stops before leaves a lag (state.h), which ends when somebody pops the pod or is told of it.
 * One that stops before publish_wake wakes nobody: a tick does (serve.c).
 *
 * EVIDENCE. tests/model: description, walk, help, retire, bin; stress/explore: update_raise and the
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
 * The same for any key and any bin, and for one ref more: a caller who is adding a pod has prepared
 * for that one.
 */
bool publish_prepare(struct worker *worker, struct bin *bin);

/**
 * Puts one ref where consumers of the bin find it; it was prepared. Then a full fence, then
 * publish_mark or bin_mark.
 */
void publish_ref(struct worker *worker, struct bin *bin, const struct placing *placing);

/**
 * After a full fence: makes consumers look into the band. False: it is retired; the worker forgets
 * it.
 */
bool publish_mark(struct worker *worker, struct band *band);

/**
 * Moves a pod that is active to where its newest description wants it, if it does not stand there.
 *
 * Not active, or another life: nothing. False: no memory; the pod stays where it is, and is a stray
 * (stray.h).
 */
bool publish_follow(struct worker *worker, uint32_t record, uint64_t life);

/** After something became poppable, and a full fence: tells sleepers and hosts. */
void publish_wake(struct worker *worker);

#endif
