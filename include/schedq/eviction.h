/**
 * schedq/eviction: carries out what schedq/preemption.h decided, in the order that a scheduler
 * relies on.
 *
 * An evictor deletes victims and ends nominations of others through callbacks of the caller, and
 * keeps the set of pods whose victims are being deleted just now: PreEnqueue refuses these
 * (schedq_evictor_holds), so that no attempt is wasted on a node that is not free yet. The
 * preemptor's own nomination and the snapshot are the caller's, see schedq_preempt. "Evict" is a
 * deletion here, not kube's Eviction API, which heeds budgets: the decision has done that.
 *
 * NOW (later = 0: decision.holds is 0). One after the other, on the caller's thread, before the
 * cycle of the preemptor ends: victims first, then the nominations. The first deletion that fails
 * ends it: the nominations stay, and the victims behind it (all but the first evicted.sent +
 * evicted.gone + 1) were not asked for: mark them back too.
 *
 * LATER (later = 1: decision.holds is 1). The scheduler does not wait: `spawn` runs all of it on a
 * thread of the caller's. In this order:
 *   1 the preemptor is held
 *   2 nominations of less important pods end
 *   3 all victims but the last are deleted; one that fails does not stop the others
 *   4 the preemptor is not held any more
 *   5 the last victim is deleted, also if an earlier step failed: its deletion event brings the
 *   preemptor back
 *   6 `activate`, if a step failed or the last victim was gone: the events of the others may have
 *   come while it was held
 *
 * PLUGIN. Register a plugin whose pre_enqueue is !schedq_evictor_holds(...), with {"AssignedPod",
 * SCHEDQ_ACTION_DELETE} among its interests: an event that comes while the pod is held moves it
 * behind this gate, and only an event that this plugin hears of brings it out. Park the preemptor
 * with the bits of the plugins that rejected it (schedq_failure.unschedulable); one of them must
 * hear of that event too. When it is parked does not matter: before, during or after the eviction.
 * With SCHEDQ_DECIDE_HOST: gate the pod while schedq_evictor_holds, and judge the last victim's
 * event, or `activate`, as any other.
 *
 * LIBRARY. schedq::evictor (pkg-config schedq-evictor) brings schedq::schedq and
 * schedq::preemption. It calls neither of them: what it does to both it does through the callbacks.
 * Its memory is libc's, or comes from config.allocator.
 *
 * THREADS. Calls may overlap with each other on any threads, and with what `spawn` runs; destroy
 * with none. LATER the callbacks run on the thread that runs the task: they need a worker of their
 * own, and must exclude the snapshot's other users before a [cluster] call. They may call the
 * evictor, but not destroy it. Objects must stay valid until the task has ended; the preemptor may
 * have left the queue by then.
 */
#ifndef SCHEDQ_EVICTION_H
#define SCHEDQ_EVICTION_H

#include <schedq/preemption.h>
#include <schedq/schedq.h>


#ifdef __cplusplus
extern "C" {
#endif

typedef struct schedq_evictor schedq_evictor_t;

/** What became of a request to delete a victim. */
enum {
    SCHEDQ_DELETE_SENT = 0, /**< accepted (grace may still run): its deletion event will come */
    SCHEDQ_DELETE_GONE = 1, /**< it was not there any more: no event will come */
    SCHEDQ_DELETE_FAILED = 2
};

/**
 * Begin with SCHEDQ_EVICTOR_CONFIG_INIT, then set the callbacks. Copied by schedq_evictor_create.
 */
typedef struct schedq_evictor_config {
    uint32_t struct_size;  /**< set by SCHEDQ_EVICTOR_CONFIG_INIT */
    uint32_t max_held;     /**< preemptors held at once, 1..65536; default 1024 */
    /** all zero: libc's malloc. Used by several threads at once */
    schedq_allocator_t allocator;

    /**
     * Deletes a victim, by objects; not NULL. In kube: sets its condition DisruptionTarget with the
     * reason PreemptionByScheduler, then deletes it. Returns SCHEDQ_DELETE_...; any other value
     * counts as FAILED. The event may come before it returns. Two preemptors may have chosen one
     * victim: for one that terminates already SENT, if its event is still to come; GONE if the
     * queue was told of it. Before FAILED the victim is marked back (schedq_preempt).
     */
    int (*evict)(void *ctx, uint64_t victim, uint64_t preemptor);

    /**
     * Ends the nomination of a less important pod, in the snapshot and in the queue; not NULL.
     * LATER it may have been nominated anew: keep the generation of decision.clears by its object
     * and end that one; on STALE leave the queue's nomination alone too, which counts as done.
     * Returns 0, or anything else if that failed.
     */
    int (*clear)(void *ctx, uint64_t nominated, uint64_t preemptor);

    /**
     * Brings a preemptor back without an event (schedq_activate), parked or still in flight; by
     * then it may have been deleted, or the queue closed: that is no error. LATER only; not NULL if
     * there is a spawn.
     */
    void (*activate)(void *ctx, uint64_t preemptor);

    /**
     * Calls task(argument) once, soon, on any thread; inside spawn is allowed, then
     * schedq_evictor_evict waits for it. Returns 0; anything else: it will not, and nothing was
     * evicted. NULL: nothing can be done LATER. A task that is never called keeps its preemptor
     * held, its memory, and the evictor (BUSY) for ever: a host that stops its threads calls what
     * is left itself, where `evict` may return FAILED.
     */
    int (*spawn)(void *ctx, void (*task)(void *argument), void *argument);

    void *ctx; /**< passed to all of them */
} schedq_evictor_config_t;

/** No callback yet: `evict` and `clear` have to be set. */
#define SCHEDQ_EVICTOR_CONFIG_INIT                                                       \
    {                                                                                    \
        sizeof(schedq_evictor_config_t), 1024, {NULL, NULL, NULL, 0}, NULL, NULL, NULL, \
            NULL, NULL                                                                   \
    }

/** What is to be done. Lists are copied if it is done LATER. Begin with SCHEDQ_EVICTION_INIT. */
typedef struct schedq_eviction {
    uint32_t struct_size;    /**< set by SCHEDQ_EVICTION_INIT */
    uint32_t later;          /**< 0..1: 1: by schedq_evictor_config.spawn */
    uint64_t preemptor;      /**< its object as PreEnqueue gets it, which must stay the same number
                                  while it is held (an index or a uid, not the address of a
                                  version); not 0 */
    /** objects of pods that do not terminate yet, in the order in which they are deleted */
    const uint64_t *victims;
    const uint64_t *clears;  /**< objects of nominated pods that are less important */
    uint32_t victim_count;   /**< of `victims` */
    uint32_t clear_count;    /**< of `clears` */
} schedq_eviction_t;

#define SCHEDQ_EVICTION_INIT                                 \
    {                                                        \
        sizeof(schedq_eviction_t), 0, 0, NULL, NULL, 0, 0 \
    }

/** What was done. LATER: all zero. */
typedef struct schedq_evicted {
    uint64_t failed;    /**< the victim whose deletion failed; 0 = none did */
    uint32_t sent;      /**< deletions sent */
    uint32_t gone;      /**< victims that were not there any more */
    uint32_t not_cleared; /**< nominations that could not be ended */
    uint32_t reserved; /**< zero */
} schedq_evicted_t;

/**
 * Makes an evictor.
 *
 * @param evictor receives it, NULL if there is none
 * @retval SCHEDQ_OK       *evictor is the caller's until schedq_evictor_destroy
 * @retval SCHEDQ_INVALID  `why` says what
 * @retval SCHEDQ_NOMEM
 *
 * Threads: any  Progress: wait-free but for the allocator; allocates.
 */
SCHEDQ_API schedq_status_t schedq_evictor_create(const schedq_evictor_config_t *config,
                                                 schedq_evictor_t **evictor, char *why,
                                                 size_t why_size);

/**
 * Frees an evictor; NULL is allowed.
 *
 * @retval SCHEDQ_OK
 * @retval SCHEDQ_BUSY  what was spawned has not ended: join the threads that run it; nothing
 *                      changed
 *
 * PreEnqueue asks it: destroy it after the queue, or when nothing can move a pod any more.
 *
 * Threads: overlaps with no other call on it  Progress: wait-free but for the allocator.
 */
SCHEDQ_API schedq_status_t schedq_evictor_destroy(schedq_evictor_t *evictor);

/**
 * Evicts the victims of a decision, now or later.
 *
 * LATER without victims does nothing at all, nor does it end nominations: as kube-scheduler does
 * when all victims terminate already.
 *
 * With EXISTS, FULL, BUSY and NOMEM call again with later = 0, which needs neither a place nor
 * memory, or leave it.
 *
 * @param evicted receives what was done now; may be NULL
 * @retval SCHEDQ_OK       NOW: done, as far as evicted->failed is 0. LATER: handed over; the
 *                         preemptor is held until step 4, which may be over already. With no
 *                         victims: nothing is done
 * @retval SCHEDQ_EXISTS   this preemptor is held already; nothing is done
 * @retval SCHEDQ_FULL     max_held others are held, or were while it looked; nothing is done
 * @retval SCHEDQ_BUSY     `spawn` refused, or there is none; nothing is done
 * @retval SCHEDQ_INVALID  preemptor or an element of a list is 0, a list is missing, later,
 *                         reserved; nothing is done
 * @retval SCHEDQ_NOMEM    nothing is done
 *
 * Threads: any, one call at a time for one preemptor  Progress: lock-free but for the callbacks;
 *          LATER allocates.
 */
SCHEDQ_API schedq_status_t schedq_evictor_evict(schedq_evictor_t *evictor,
                                                const schedq_eviction_t *eviction,
                                                schedq_evicted_t *evicted);

/**
 * Are victims of this pod being evicted? What PreEnqueue has to ask before it lets a pod pass. 0 or
 * 1.
 *
 * A caller that has learned of the deletion of its last victim (or asks after the queue was told of
 * that event) gets 0.
 *
 * Threads: any  Progress: wait-free, O(preemptors that were ever held at once); O(1) while none is
 *               held.
 */
SCHEDQ_API int schedq_evictor_holds(const schedq_evictor_t *evictor, uint64_t preemptor);

#ifdef __cplusplus
}
#endif
#endif
