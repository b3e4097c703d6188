/** @file
 * schedq/hold: pods that are kept back, by a call, or until a time.
 *
 * A held pod is in the queue: its name is taken, it is found, counted, updated, nominated and
 * deleted. But no pop returns it, and no event, tick, flush or activation brings it out, until
 * schedq_release, or the time before which it is not to be popped, lets it go. Use it for what is
 * suspended, waits for a budget, or is to be tried at a certain time.
 *
 * Two things keep a pod back, each by itself: the mark that schedq_hold sets, and a time
 * (schedq_pod_spec_t.not_before_ns, schedq_not_before; or its class: config.class_patience_ns).
 * While one of them does, and the pod is not in flight, its place is SCHEDQ_HELD. In flight it is
 * noted: the pod is held when its cycle fails, whatever rejected it; done ends it as ever.
 *
 * WHAT BECOMES OF A POD THAT IS LET GO. It is tried again, as a waiting pod that an update makes
 * worth it: it backs off if its backoff is not over, else PreEnqueue is asked, and it is active, or
 * gated. That is so also if it was parked or gated before: which events it missed need not be
 * known. Timestamp, order and history are those that it had. ([host] It is active, or backs off: a
 * gate that it had is forgotten. So ask PreEnqueue before you release a pod, and give no time to
 * one that is gated: hold it instead.)
 *
 * WHEN. A time is on the queue's clock. It lets pods go as the end of a backoff does: at the latest
 * one tick after it, plus the time to move those due before it, while a thread serves time
 * (GUARANTEES, time; where only the host ends backoff, schedq_tick does). words.next_deadline_ns
 * counts it.
 *
 * ORDERING. A pop that starts after schedq_hold returned does not return the pod, until a
 * schedq_release of it starts. A pop that overlaps may have been first: then the answer's place is
 * INFLIGHT. A hold and a release that overlap take effect one after the other.
 *
 * WHAT THE CALLS ANSWER, by the place before. The status is SCHEDQ_OK; this is result->place. Each
 * call may be repeated: what is so already stays so.
 *
 *   before                  hold       release        not_before: later   not_before: 0, or past
 *   active, backoff,        HELD       as it is       HELD until then     as it is
 *   error backoff, parked,
 *   gated
 *   HELD by schedq_hold     HELD       let go, HELD   HELD; the time      HELD
 *                                      if a time is   counts when it is
 *                                      ahead          released
 *   HELD until a time       HELD; its  HELD until     HELD until then     let go
 *                           time is    its time
 *                           not enough
 *   in flight               INFLIGHT,  INFLIGHT, not  INFLIGHT, noted     INFLIGHT, no time noted
 *                           noted      noted
 * An update replaces the time (spec.not_before_ns, 0: none), not the mark; so does the newest spec
 * of a failure. readd begins without a mark.
 *
 * CLASSES. Pods of one class (spec.class_id), profile and priority fail alike, their caller says.
 * A pod that plugins reject, not for failure.own_reasons, and that is parked, is the scout of its
 * class. While there is one, the class is shut:
 *   - A pop that meets another active pod of it does not take that pod. The pod is HELD until
 *     config.class_patience_ns later, as if schedq_not_before had said so (info.kept_by_class).
 *   - A pod that was in flight by then, and would be parked for such reasons too, is HELD in the
 *     same way instead.
 *   - The scout is woken, backs off, is popped and fails like any pod. So an event tries one pod
 *     of the class, not all.
 *   - The scout leaves when it is done, deleted, held or gated, when it gets another class or
 *     priority, or is rejected for own_reasons. Then the pod that was kept back first is let go,
 *     and is the scout; if none was, the class is open. A call that gates the scout, or ends it
 *     without a worker, leaves that to a tick, which is due at once (schedq_next_deadline), or to
 *     a pop that finds nothing else. (LOCKFREE: so does a pop that keeps a pod back just then.)
 *   - schedq_hold takes a pod out of its class's turns: when schedq_release lets it go, it is
 *     tried.
 * A pod is kept back once at most between two tries: whatever lets it go (time, a call here, an
 * update, its turn) brings it to a pop that takes it. So its class delays its try by the patience
 * at most, beside its backoff, its gate and its turn among the active pods.
 * A pop keeps back 256 pods, then takes the next one, whatever its class: of n pods that are active
 * when their class is shut, n / 257 are tried, once. At most 1,024 classes are shut at a time. They
 * lie in slots, by a hash: of two that meet there the second stays open, and its pods are tried.
 * A pod is tried, too, if there is no memory to keep it back. Only a pop keeps an active pod back:
 * until then all calls that look see it active.
 */
#ifndef SCHEDQ_HOLD_H
#define SCHEDQ_HOLD_H

#include <schedq/pod.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Keeps a pod back until it is released.
 *
 * @param result the pod as it is then: HELD; or INFLIGHT: it is held if its cycle fails; may be
 *               NULL
 * @retval SCHEDQ_OK         also if it was held
 * @retval SCHEDQ_NOT_FOUND  it is in no place, or was deleted in flight
 * @retval SCHEDQ_NOMEM      (never with MUTEX) nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_hold(schedq_worker_t *worker, schedq_pod_t pod,
                                       schedq_result_t *result);

/**
 * Lets a pod go that schedq_hold keeps back; not one that only a time keeps back.
 *
 * @param result the pod as it is then, and where it was moved; HELD: a time keeps it back, or
 *               (LOCKFREE) memory is missing to move it: it is due then, and a tick moves it; may
 *               be NULL
 * @retval SCHEDQ_OK         also if it was not held
 * @retval SCHEDQ_NOT_FOUND  it is in no place, or was deleted in flight
 * @retval SCHEDQ_NOMEM      (never with MUTEX) nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_release(schedq_worker_t *worker, schedq_pod_t pod,
                                          schedq_result_t *result);

/**
 * Keeps a pod back until a time, instead of the time that it had.
 *
 * @param time_ns on the queue's clock, at least 0; 0, or one that is past: none
 * @param result  as schedq_release; may be NULL
 * @retval SCHEDQ_OK         also if that is its time already
 * @retval SCHEDQ_NOT_FOUND  it is in no place, or was deleted in flight
 * @retval SCHEDQ_NOMEM      nothing changed
 * @retval SCHEDQ_INVALID    time_ns is negative; nothing changed
 * @retval SCHEDQ_BUSY       nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_not_before(schedq_worker_t *worker, schedq_pod_t pod,
                                             int64_t time_ns, schedq_result_t *result);

#ifdef __cplusplus
}
#endif

#endif
