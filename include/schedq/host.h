/** @file
 * schedq/host: for a host, a program that decides itself which waiting pods a change helps, instead
 * of being called back (config.decide = SCHEDQ_DECIDE_HOST; else these calls return INVALID).
 *
 * docs/HOST.md has the order of calls. A plugin's stamp is the sequence of the newest event that
 * concerns it. To judge an event is to decide whether it helps a pod.
 */
#ifndef SCHEDQ_HOST_H
#define SCHEDQ_HOST_H

#include <schedq/events.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Draws the sequence of an event.
 *
 * Order: begin; store the event in the host's own log under the sequence; stamp; candidates; apply.
 * @param sequence receives it: 1, 2, ...
 * @retval SCHEDQ_OK       words.event_sequence is at least *sequence
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_event_begin(schedq_worker_t *worker, uint64_t *sequence);

/**
 * Raises the stamps of these plugins of one profile to `sequence`, never back.
 *
 * Late names and SCHEDQ_REJECTOR_OTHERS are always among them. From here on schedq_fail returns
 * RETRY for a pod that they rejected, unless its judgement covers `sequence`.
 * @param profile  of the plugins
 * @param sequence one that schedq_event_begin drew
 * @param plugins  their bits; UINT64_MAX: a wildcard without a target
 * @retval SCHEDQ_OK       the stamps are at least `sequence`
 * @retval SCHEDQ_INVALID  sequence was not drawn, unknown profile; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What the host did before this call (its log) happens before the return of a RETRY that this stamp
 * causes.
 * Threads: [worker]  Progress: locks; O(plugins).
 */
SCHEDQ_API schedq_status_t schedq_event_stamp(schedq_worker_t *worker, uint64_t sequence,
                                              schedq_profile_t profile, uint64_t plugins);

/** Which waiting pods to copy out. Begin with SCHEDQ_QUERY_INIT; a default is 0. */
typedef struct schedq_query {
    uint32_t struct_size;  /**< set by SCHEDQ_QUERY_INIT */
    schedq_profile_t profile; /**< only pods of this one */
    uint8_t  backoff;      /**< 1: its pods in backoff and error backoff too, with any rejectors */
    uint8_t  reserved[2]; /**< zero */
    uint64_t rejectors;    /**< parked pods that one of these bits, a late name,
                                SCHEDQ_REJECTOR_OTHERS or nothing rejected; 0 = no parked pod */
    uint64_t gates;        /**< gated pods whose gate is one of these bits; 0 = no gated pod */
    int64_t  not_after_ns; /**< only pods whose Timestamp (backoff: expiry) is at most this, on the
                                queue's clock; default INT64_MAX = all */
    uint64_t cursor[3];    /**< all 0 = from the start. It keeps nothing alive. During a walk leave
                                the other fields as they are */
} schedq_query_t;

/** The defaults. */
#define SCHEDQ_QUERY_INIT                                                  \
    {                                                                      \
        sizeof(schedq_query_t), 0, 0, {0, 0}, 0, 0, INT64_MAX, {0, 0, 0}   \
    }

/**
 * A waiting pod at one version. Times are nanoseconds on the queue's clock. Layout frozen (64
 * bytes).
 */
typedef struct schedq_candidate {
    uint64_t     ref;       /**< for schedq_apply; never 0 */
    uint64_t     object;    /**< the caller's own */
    schedq_pod_t pod;       /**< its handle */
    uint64_t     unschedulable; /**< bits of the plugins that rejected it */
    uint64_t     pending;   /**< of those, the ones that only wait for something */
    int64_t      timestamp_ns; /**< when it entered the queue, or failed last */
    int64_t      expiry_ns;   /**< end of its backoff, cut as backoff_window says; 0 = none */
    uint8_t      place;       /**< schedq_place_t */
    uint8_t      gate;        /**< 1 + number of the plugin that gates it; 0 = none */
    uint8_t      backing_off; /**< 1: place BACKOFF is possible, ACTIVE skips it */
    schedq_profile_t profile; /**< whose plugins judge it */
    uint8_t      reserved[4]; /**< zero */
} schedq_candidate_t;

/**
 * Copies waiting pods out. The pods stay where they are; no object is retained (all are STABLE).
 *
 * A pod that stays in its place from before the first call until EMPTY is given at least once, also
 * if it is updated meanwhile; sometimes twice. schedq_apply does not disturb the walk.
 * Leftovers: not_after_ns = now - max_parked_ns - 1.
 * @param query    its cursor is advanced
 * @param out      room for `capacity`; the first *count are written
 * @param capacity at least 1, 64 is a good size
 * @param count    receives how many; not written with INVALID and BUSY
 * @retval SCHEDQ_OK       *count is at least 1; call again for the next
 * @retval SCHEDQ_EMPTY    the end: *count is 0
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(distinct rejector sets + pods looked at); holds nothing
 *          between calls. LOCKFREE: allocates, once for each worker, and goes on without it.
 */
SCHEDQ_API schedq_status_t schedq_candidates(schedq_worker_t *worker, schedq_query_t *query,
                                             schedq_candidate_t *out, size_t capacity,
                                             size_t *count);

/** Where a waiting pod is to go. Begin with SCHEDQ_DECISION_INIT. */
typedef struct schedq_decision {
    uint32_t struct_size;  /**< set by SCHEDQ_DECISION_INIT */
    schedq_event_t event;  /**< the event that moves it; metrics count its label. For an activation
                                define {"*", ALL, "ForceActivate"} */
    /** schedq_place_t: ACTIVE; BACKOFF (acts as ACTIVE if it is over, see if_backing_off); GATED */
    uint8_t  place;
    uint8_t  gate;         /**< GATED: 1 + number of the plugin; its bit joins the sets; else 0 */
    uint8_t  uncounted;    /**< GATED: 0: the pod counts as incoming (an event). 1 (an update or an
                                activation that changes nothing): metrics do not count it if it was
                                parked or gated, nor does to_gated if it was gated. Other places:
                                0 */
    uint8_t  if_backing_off; /**< BACKOFF: 1: CHANGED if its backoff is over, since PreEnqueue was
                                  not asked; 0: it becomes active then. Other places: 0 */
    uint8_t  flushed;      /**< 1: the host's leftover limit moves it, and popped.flushed will say
                                so; no effect with GATED */
    uint8_t  reserved[5]; /**< zero */
    uint64_t ref;          /**< from a candidate, or a result */
    /** words.event_sequence as read before PreEnqueue ran; used if place is GATED */
    uint64_t judged_up_to;
} schedq_decision_t;

/** The defaults, of no pod. */
#define SCHEDQ_DECISION_INIT                                                             \
    {                                                                                    \
        sizeof(schedq_decision_t), SCHEDQ_EVENT_NONE, SCHEDQ_NOWHERE, 0, 0, 0, 0,        \
            {0, 0, 0, 0, 0}, 0, 0                                                        \
    }

/**
 * Moves a waiting pod, if it still is at the version that `ref` names.
 *
 * Its object, Timestamp and order stay.
 * @param decision where it is to go; not referenced after the call
 * @retval SCHEDQ_OK       it moved; a pod that stays gated has a new ref
 * @retval SCHEDQ_CHANGED  it waits at a newer version: judge result->object again, under
 *                         result->ref. Or its backoff is over and if_backing_off was 1: the ref is
 *                         the same, ask PreEnqueue. Nothing changed
 * @retval SCHEDQ_GONE     it is active, in flight, held or deleted: drop the decision; nothing
 *                         changed
 * @retval SCHEDQ_RETRY    GATED, and the gate's stamp is newer than judged_up_to: ask PreEnqueue
 *                         again, for events up to result->sequence; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) nothing changed
 * @retval SCHEDQ_INVALID  unknown event, SCHEDQ_EVENT_NONE too; illegal place; uncounted,
 *                         if_backing_off or flushed out of range; a gate that does not go with the
 *                         place, or is no plugin of the pod's profile; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_apply(schedq_worker_t *worker, const schedq_decision_t *decision,
                                        schedq_result_t *result);

/**
 * Applies many decisions, each as schedq_apply does. As with schedq_add_many, a pop never takes one
 * of the pods before all of them that rank before it are active.
 *
 * @param decisions NULL only if count is 0
 * @param count    elements of `decisions`
 * @param statuses receives what schedq_apply would have returned for element i; may be NULL
 * @param results  receives the result of element i; may be NULL
 * @param sum      counts over all
 * @retval SCHEDQ_OK       all of them are OK (count 0 too)
 * @retval other           the first status of an element that is not OK; the other elements were
 *                         applied all the same, see `statuses`
 * @retval SCHEDQ_INVALID  decisions is NULL, or one has an unknown event, an illegal place,
 *                         uncounted, if_backing_off or flushed out of range, or a gate that does
 *                         not go with its place; nothing changed, no array is written. (A gate that
 *                         is no plugin of the pod's profile: as `other`)
 * @retval SCHEDQ_BUSY     nothing changed, no array is written
 *
 * Threads: [worker]  Progress: locks; O(count log n).
 */
SCHEDQ_API schedq_status_t schedq_apply_many(schedq_worker_t *worker,
                                             const schedq_decision_t *decisions, size_t count,
                                             uint8_t *statuses, schedq_result_t *results,
                                             schedq_result_t *sum);

#ifdef __cplusplus
}
#endif

#endif
