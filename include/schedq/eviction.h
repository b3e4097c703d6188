/** @file
 * schedq/eviction: carries out what schedq/preemption.h decided, in the order that a scheduler
 * relies on.
 *
 * An evictor calls back to delete victims, and to end the nominations of less important pods. A
 * preemptor is held while its victims are deleted: PreEnqueue refuses it (schedq_evictor_holds), so
 * that no try is wasted on a node that is not free yet. The caller keeps the snapshot and the
 * preemptor's own nomination, see schedq_preempt. "Evict" is a deletion here, not kube's Eviction
 * API: the decision has taken budgets into account.
 *
 * NOW (later = 0, for decision.holds 0). All is done on the caller's thread, before the preemptor's
 * cycle ends: first the victims, one after the other, then the nominations. The first deletion that
 * fails ends the eviction, and the nominations stay. `evict` was not called for the victims behind
 * that one (all but the first evicted.sent + evicted.gone + 1): mark them back too.
 *
 * LATER (later = 1, for decision.holds 1). The scheduler does not wait: `spawn` runs a task on a
 * thread of the caller's. In this order:
 *   1 the preemptor is held, before `spawn`
 *   2 nominations of less important pods end
 *   3 all victims but the last are deleted; one that fails does not stop the others
 *   4 the preemptor is not held any more
 *   5 the last victim is deleted, also if an earlier step failed. The event of its deletion brings
 *     the preemptor back
 *   6 `activate` is called, if a step failed or the last victim was gone: events of other victims
 *     may have come while the preemptor was held
 *
 * PLUGIN. Register a plugin whose pre_enqueue is !schedq_evictor_holds(...), with {"AssignedPod",
 * SCHEDQ_ACTION_DELETE} among its interests. An event that comes while the pod is held puts it
 * behind this gate; only an event of the plugin's interests brings it out. Call schedq_fail with
 * the bits of the plugins that rejected the preemptor; one of them must have that interest too. The
 * pod may be parked before, during or after the eviction. With SCHEDQ_DECIDE_HOST: gate the pod
 * while schedq_evictor_holds is 1; judge the last victim's event, or `activate`, as any other.
 *
 * LIBRARY. schedq::evictor (pkg-config schedq-evictor) brings schedq::schedq and
 * schedq::preemption. It calls neither: its callbacks do. Its memory is libc's, or comes from
 * config.allocator.
 *
 * THREADS. Calls may overlap with each other on any threads, and with the tasks; destroy with none.
 * LATER the callbacks run on the thread of the task: they need a worker of their own, and must
 * exclude the snapshot's other users before a [cluster] call. They may call the evictor, but not
 * destroy it. Objects must stay valid until the task has ended; the preemptor may have left the
 * queue by then.
 */
#ifndef SCHEDQ_EVICTION_H
#define SCHEDQ_EVICTION_H

#include <schedq/preemption.h>
#include <schedq/schedq.h>


#ifdef __cplusplus
extern "C" {
#endif

typedef struct schedq_evictor schedq_evictor_t; /**< carries decisions out */

/** What became of a request to delete a victim. */
enum {
    SCHEDQ_DELETE_SENT = 0, /**< accepted (grace may still run): its deletion event will come */
    SCHEDQ_DELETE_GONE = 1, /**< it was not there any more: no event will come */
    SCHEDQ_DELETE_FAILED = 2 /**< it goes on running: no event will come */
};

/**
 * Begin with SCHEDQ_EVICTOR_CONFIG_INIT, then set the callbacks. Copied by schedq_evictor_create.
 */
typedef struct schedq_evictor_config {
    uint32_t struct_size;  /**< set by SCHEDQ_EVICTOR_CONFIG_INIT */
    uint32_t max_held;     /**< preemptors held at once, 1..65536; default 1024 */
    /** all zero: libc's malloc. Several threads may use it at once */
    schedq_allocator_t allocator;

    /**
     * Deletes a victim; both arguments are objects; not NULL. In kube: sets its condition
     * DisruptionTarget with the reason PreemptionByScheduler, then deletes it. Returns
     * SCHEDQ_DELETE_...; any other value counts as FAILED. The event may come before it returns.
     * Two preemptors may have chosen one victim. If it terminates already, return SENT while its
     * event is still to come, GONE if the queue was told of it. Before FAILED mark it back.
     */
    int (*evict)(void *ctx, uint64_t victim, uint64_t preemptor);

    /**
     * Ends the nomination of a less important pod, in the snapshot and in the queue; not NULL.
     * LATER the pod may have a newer nomination: keep the generation in decision.clears by its
     * object, and end that one. On STALE the queue's nomination stays too, and nothing has failed.
     * Returns 0, or anything else if it failed.
     */
    int (*clear)(void *ctx, uint64_t nominated, uint64_t preemptor);

    /**
     * Brings a preemptor back without an event (schedq_activate), parked or still in flight: in
     * step 6, and if `spawn` refused, since an event may have found the preemptor held. By then it
     * may have been deleted, or the queue closed: that is no error. LATER only; not NULL if there
     * is a spawn.
     */
    void (*activate)(void *ctx, uint64_t preemptor);

    /**
     * Has task(argument) called once, soon, on any thread. (If spawn itself calls it,
     * schedq_evictor_evict waits for that.) Returns 0; anything else: the task will not be called,
     * nothing was evicted, and `activate` is called. NULL: nothing can be done LATER. If a task is
     * never called, its preemptor stays held, its memory is not freed, and schedq_evictor_destroy
     * answers BUSY. So a program that stops its threads calls the tasks that are left itself;
     * `evict` may return FAILED there.
     */
    int (*spawn)(void *ctx, void (*task)(void *argument), void *argument);

    void *ctx; /**< passed to all of them */
} schedq_evictor_config_t;

/** The defaults, without callbacks: `evict` and `clear` have to be set. */
#define SCHEDQ_EVICTOR_CONFIG_INIT                                                       \
    {                                                                                    \
        sizeof(schedq_evictor_config_t), 1024, {NULL, NULL, NULL, 0}, NULL, NULL, NULL, \
            NULL, NULL                                                                   \
    }

/** What is to be done. Lists are copied if it is done LATER. Begin with SCHEDQ_EVICTION_INIT. */
typedef struct schedq_eviction {
    uint32_t struct_size;    /**< set by SCHEDQ_EVICTION_INIT */
    uint32_t later;          /**< 0..1: 0: NOW; 1: LATER, by schedq_evictor_config.spawn */
    uint64_t preemptor;      /**< its object as PreEnqueue gets it, not 0. It must stay the same
                                  number while the preemptor is held (an index or a uid, not the
                                  address of a version) */
    /** objects of pods that do not terminate yet, in the order in which they are deleted */
    const uint64_t *victims;
    const uint64_t *clears;  /**< objects of nominated pods that are less important */
    uint32_t victim_count;   /**< elements of `victims` */
    uint32_t clear_count;    /**< elements of `clears` */
} schedq_eviction_t;

/** NOW, without a preemptor and lists: `preemptor` has to be set. */
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
 * @param config  copied
 * @param evictor receives it, NULL if there is none
 * @retval SCHEDQ_OK       *evictor is the caller's until schedq_evictor_destroy
 * @retval SCHEDQ_INVALID  *evictor is NULL; `why` says what is wrong
 * @retval SCHEDQ_NOMEM    *evictor is NULL
 *
 * Threads: any thread  Progress: wait-free but for the allocator; allocates.
 */
SCHEDQ_API schedq_status_t schedq_evictor_create(const schedq_evictor_config_t *config,
                                                 schedq_evictor_t **evictor, char *why,
                                                 size_t why_size);

/**
 * Frees an evictor; NULL is allowed.
 *
 * PreEnqueue asks it: destroy it after the queue, or when nothing can move a pod any more.
 * @retval SCHEDQ_OK    it is not valid any more
 * @retval SCHEDQ_BUSY  a task has not ended: join the thread that runs it; nothing changed
 *
 * Threads: overlaps with no other call on it  Progress: wait-free but for the allocator.
 */
SCHEDQ_API schedq_status_t schedq_evictor_destroy(schedq_evictor_t *evictor);

/**
 * Evicts the victims of a decision, now or later.
 *
 * LATER without victims does nothing, and ends no nomination: kube-scheduler does so when all
 * victims terminate already.
 *
 * With EXISTS, FULL, BUSY and NOMEM call again with later = 0, which holds nothing and needs no
 * memory, or give up.
 *
 * @param eviction what is to be done
 * @param evicted receives what was done; all zero with LATER and with a refusal; may be NULL
 * @retval SCHEDQ_OK       NOW: all is done if evicted->failed is 0. LATER: the task is handed over;
 *                         the preemptor is held until step 4, which may be over already
 * @retval SCHEDQ_EXISTS   this preemptor is held already; nothing is done
 * @retval SCHEDQ_FULL     max_held others are held, or were while it looked; nothing is done
 * @retval SCHEDQ_BUSY     there is no `spawn`, or it refused, and `activate` was called; nothing
 *                         else is done
 * @retval SCHEDQ_INVALID  struct_size; later is above 1; preemptor or an element of a list is 0, or
 *                         a list is missing; nothing is done
 * @retval SCHEDQ_NOMEM    nothing is done
 *
 * Threads: any thread, one call at a time for one preemptor  Progress: lock-free but for the
 *          callbacks; O(victims + clears), LATER + max_held; LATER allocates.
 */
SCHEDQ_API schedq_status_t schedq_evictor_evict(schedq_evictor_t *evictor,
                                                const schedq_eviction_t *eviction,
                                                schedq_evicted_t *evicted);

/**
 * Tells whether a pod is held: PreEnqueue has to ask before it lets the pod pass.
 *
 * A caller that has learned of the deletion of the pod's last victim gets 0.
 * @param preemptor its object, as in schedq_eviction_t
 * @retval 1 it is held
 * @retval 0 it is not; evictor is NULL; or preemptor is 0
 *
 * Threads: [any]  Progress: wait-free, O(preemptors that were ever held at once); O(1) while none
 *                 is held.
 */
SCHEDQ_API int schedq_evictor_holds(const schedq_evictor_t *evictor, uint64_t preemptor);

#ifdef __cplusplus
}
#endif
#endif
