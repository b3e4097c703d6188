/*
 * Making a ref findable in a bin.
 *
 * CONTRACT. publish_ref makes a ref visible; with a full fence and bin_mark behind it, scans that
 * begin afterwards find it.
 *
 * LINEARIZATION. publish_ref: lane_publish:A or bin_publish_run:A.
 *
 * ORDERING
 *   ref ; bin_mark | summary_doubt:A, scan (bin.h)
 *   ref ; publish_wake's two loads | sleepers_prepare:A, look (sleepers.c)
 *   ref ; publish_wake's two loads | readiness_arm:A, look (readiness.c)
 *   ref ; publish_wake's two loads | look_again:A, look (pop.c)
 *
 * PROGRESS. Lock-free; what is prepared does not fail. A thread that stops behind the ref leaves it
 * FUTURE: a helper marks the bin, raises reorder and switches (bin_judge, switch_help). One that
 * stops before the ref leaves a lag (state.h), which ends when the pod is popped or reported. One
 * that stops before publish_wake wakes no sleeper: a tick does (serve.c).
 *
 * EVIDENCE. tests/model: description, walk, help, bands, bin; stress/explore: update_raise and the
 * other programs of update.c, told_*, order_keys, band_retire, no_memory_gather;
 * tests/unit/test_update.c, test_order_keys.c, test_pop_order.c.
 */
#ifndef SCHEDQ_LOCKFREE_PUBLISH_H
#define SCHEDQ_LOCKFREE_PUBLISH_H

#include "lockfree/moves/switch.h"
#include "lockfree/queue.h"
#include "lockfree/refs/tie.h"

/** The spot in which a worker notes where it found the band of this priority last. */
static inline struct band_spot *
publish_spot(struct worker *worker, int32_t rank)
{
    return &worker->spots[(uint32_t)rank * UINT32_C(0x9e3779b1) / (UINT32_MAX / BAND_SPOTS + 1)];
}

/** The band of a priority (config.fifo is taken into account): bands_get. */
static inline struct band *
publish_band(struct worker *worker, int32_t priority)
{
    struct queue *queue = queue_of(worker);
    int32_t rank = queue_rank(queue, priority);

    return bands_get(&queue->bands, worker->epoch, rank, publish_spot(worker, rank));
}

/** bin_mark of a band that this worker has from publish_band. */
STRAIGHT bool
publish_mark(struct worker *worker, struct band *band)
{
    return band_mark(band, publish_spot(worker, band->priority));
}

/** A ref on its way into a bin, with what orders it there. */
struct placing {
    uint64_t ref;
    int64_t key;
    struct tie tie; /* only where the bin's residence orders ties */
    uint32_t cause; /* why it is moved, for helpers (switch.h) */
};

/**
 * A lane accepts keys that do not decrease; for active pods, none above the next key this worker
 * will draw.
 */
static inline bool
publish_fits(const struct worker *worker, const struct lane *lane, int64_t key)
{
    return key >= lane->last_key && key <= worker->last_drawn;
}

/* Room for one ref more than is published: an adder may have made room for its own. */
#define PUBLISH_ROOM 2

/** publish_prepare where something is missing. */
bool publish_make_room(struct worker *worker, struct bin *bin);

/** publish_prepare_key if the key does not go straight into the lane, or the lane is in a bank. */
struct lane *publish_prepare_other(struct worker *worker, struct band *band, int64_t key);

/**
 * Makes sure that a ref with this key can be published in the band; not a housekeeper's. Returns
 * the worker's lane there. NULL: no memory, nothing changed.
 */
static inline struct lane *
publish_prepare_key(struct worker *worker, struct band *band, int64_t key)
{
    struct lane *lane = bank_first_lane(&band->bin.bank, worker->base.number);

    return lane != NULL && lane_has_room(lane, 1) && publish_fits(worker, lane, key)
               ? lane
               : publish_prepare_other(worker, band, key);
}

/**
 * The same for any key and any bin, with room for one ref more: an adder that helps has prepared
 * room for its own.
 */
STRAIGHT bool
publish_prepare(struct worker *worker, struct bin *bin)
{
    bool has_all = worker->spare_run != NULL &&
                   bank_has_room(&bin->bank, worker->base.number, PUBLISH_ROOM) &&
                   bin_has_slot(bin);

    return has_all || publish_make_room(worker, bin);
}

/** Does the ref fit a lane? */
STRAIGHT bool
publish_fits_lane(const struct worker *worker, const struct bin *bin, const struct lane *lane,
                  const struct placing *placing)
{
    if (bin->residence.place == PLACE_ACTIVE) {
        return publish_fits(worker, lane, placing->key);
    }
    if (placing->key != lane->last_key || bin->residence.ties == TIES_OPEN) {
        return placing->key >= lane->last_key;
    }
    return !tie_before(&placing->tie, &lane->last_tie);
}

/** The worker's lane, which was prepared, if the ref fits it; NULL: it does not. */
STRAIGHT struct lane *
publish_lane(const struct worker *worker, const struct bin *bin, const struct placing *placing)
{
    uint32_t number = worker->base.number;
    struct lane *lane = bin_lane(bin, number);

    if (number >= BANK_LANES && lane == NULL) {
        return NULL; /* a housekeeper */
    }
    return publish_fits_lane(worker, bin, lane, placing) ? lane : NULL;
}

STRAIGHT void
publish_in_lane(struct lane *lane, const struct placing *placing)
{
    lane_put(lane, placing->ref, placing->key < lane->last_key ? lane->last_key : placing->key);
    lane->last_tie.rank = placing->tie.rank; /* by fields, as in transfer_announce */
    lane->last_tie.key = placing->tie.key;
    lane_set_cause(lane, placing->cause);
    lane_publish(lane);
}

/**
 * Publishes a ref that no lane may take: in a run. Need not be prepared. True: by an exchange.
 * False: no memory, nothing changed.
 */
bool publish_in_run(struct worker *worker, struct bin *bin, uint64_t ref, int64_t key,
                    uint32_t cause);

/**
 * publish_ref of what fits neither the lane nor a run. Passed by value: the address of the
 * caller's struct is not taken, so it can stay in registers.
 */
COLD void publish_in_disorder(struct worker *worker, struct bin *bin, struct placing placing);

/**
 * Puts one ref where consumers of the bin find it; it was prepared. Then a full fence, then
 * bin_mark. True: the ref went by an exchange, bin_publish_run:A or bin_put_beside:A, which is
 * that fence.
 */
STRAIGHT bool
publish_ref(struct worker *worker, struct bin *bin, const struct placing *placing)
{
    struct lane *lane = publish_lane(worker, bin, placing);

    if (lane != NULL) {
        publish_in_lane(lane, placing);
        return false;
    }
    if (publish_in_run(worker, bin, placing->ref, placing->key, placing->cause)) {
        return true;
    }
    publish_in_disorder(worker, bin, *placing);
    return false;
}

/** publish_in_band of what does not fit the lane any more. */
void publish_in_band_other(struct worker *worker, struct band *band, uint64_t ref, int64_t key);

/**
 * publish_ref after publish_prepare_key, which gave the lane. If the worker helped another thread
 * since, another ref may have come into it.
 */
static inline void
publish_in_band(struct worker *worker, struct band *band, struct lane *lane, uint64_t ref,
                int64_t key)
{
    if (publish_fits(worker, lane, key)) {
        lane_put(lane, ref, key);
        lane_publish(lane);
    } else {
        publish_in_band_other(worker, band, ref, key);
    }
}

/** publish_wake where there is something to tell. */
void publish_wake_sleeper(struct worker *worker);

/** After something became poppable, and a full fence: tells sleepers and the host. */
static inline void
publish_wake(struct worker *worker)
{
    struct queue *queue = queue_of(worker);

    /* Relaxed: the caller's fence comes before both. */
    if (u32_load(u32_of(&queue->base.words.poppable)) == 0 || waiters_are_there(&queue->sleepers)) {
        publish_wake_sleeper(worker);
    }
}

#endif
