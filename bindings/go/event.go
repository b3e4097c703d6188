package schedq

/*
#cgo noescape schedq_notify
#cgo nocallback schedq_notify
#cgo noescape schedq_assigned_pod_added
#cgo nocallback schedq_assigned_pod_added
#cgo noescape schedq_assigned_pod_updated
#cgo nocallback schedq_assigned_pod_updated
#cgo noescape schedq_event_begin
#cgo nocallback schedq_event_begin
#cgo nocallback schedq_event_stamp
#cgo noescape schedq_candidates
#cgo nocallback schedq_candidates
#cgo noescape schedq_apply
#cgo nocallback schedq_apply
#cgo noescape schedq_apply_many
#cgo nocallback schedq_apply_many
#include <schedq/schedq.h>
*/
import "C"

import (
	"math"
	"unsafe"
)

// Change is an event that happened, with its objects; the library decides what it does.
type Change struct {
	Event     Event
	OldObject uint64 // 0 = absent
	NewObject uint64 // 0 = absent; a wildcard with one and without a Target reaches nobody
	Target    Pod    // with a wildcard: only this pod reacts
	// Precheck: the address of a schedq_precheck_fn, in C as those of Callbacks: only pods react to which it says yes. nil: all do.
	Precheck        unsafe.Pointer
	PrecheckContext unsafe.Pointer // in C memory
}

func (change *Change) c() C.schedq_change_t {
	return C.schedq_change_t{
		struct_size: C.sizeof_schedq_change_t,
		event:       C.schedq_event_t(change.Event),
		old_object:  C.uint64_t(change.OldObject),
		new_object:  C.uint64_t(change.NewObject),
		target:      C.schedq_pod_t{C.uint64_t(change.Target.bits)},

		precheck:     C.schedq_precheck_fn(change.Precheck),
		precheck_ctx: change.PrecheckContext,
	}
}

// Notify tells the queue that something changed in the cluster; the change must be visible before. [DecideLibrary]
//
// Errors: ErrInvalid, an unknown event or EventNone, a Target with another event than a wildcard, DecideHost; ErrNoMemory, the next
// Tick does the rest.
func (queue *Queue) Notify(change *Change) (result Result, err error) {
	if change == nil {
		return result, isNil("Notify", "change")
	}
	c := change.c()
	worker := queue.enter()
	status := Status(C.schedq_notify(worker, &c, result.c()))
	err = queue.leave(worker, "Notify", status)
	queue.tell(&result)
	return result, err
}

// AssignedPodAdded tells the queue that a pod of that namespace got a node: it reaches the pods of the namespace that a
// plugin with PluginSpread rejected. For RequeueMoveCycle; else Notify does it all. [DecideLibrary]
//
// Errors: as Notify.
func (queue *Queue) AssignedPodAdded(change *Change, namespace string) (result Result, err error) {
	if change == nil {
		return result, isNil("AssignedPodAdded", "change")
	}
	c := change.c()
	worker := queue.enter()
	status := Status(C.schedq_assigned_pod_added(worker, &c, text(namespace), C.size_t(len(namespace)), result.c()))
	err = queue.leave(worker, "AssignedPodAdded", status)
	queue.tell(&result)
	return result, err
}

// AssignedPodUpdated tells the queue that a pod that has a node changed. As AssignedPodAdded, but a scale-down reaches what
// Notify reaches. [DecideLibrary]
//
// Errors: as Notify.
func (queue *Queue) AssignedPodUpdated(change *Change, namespace string) (result Result, err error) {
	if change == nil {
		return result, isNil("AssignedPodUpdated", "change")
	}
	c := change.c()
	worker := queue.enter()
	status := Status(C.schedq_assigned_pod_updated(worker, &c, text(namespace), C.size_t(len(namespace)), result.c()))
	err = queue.leave(worker, "AssignedPodUpdated", status)
	queue.tell(&result)
	return result, err
}

// EventBegin draws the sequence of an event: 1, 2, ... Order: EventBegin; store the event in your own log under it;
// EventStamp; Candidates; Apply. [DecideHost]
func (queue *Queue) EventBegin() (sequence uint64, err error) {
	worker := queue.enter()
	status := Status(C.schedq_event_begin(worker, (*C.uint64_t)(&sequence)))
	return sequence, queue.leave(worker, "EventBegin", status)
}

// EventStamp raises the stamps of these plugins of one profile to the sequence: from here on no pod that they rejected is
// parked on an older judgement. Late names and RejectorOthers are always among them. [DecideHost]
//
// Errors: ErrInvalid, a sequence that was not drawn, an unknown profile.
func (queue *Queue) EventStamp(sequence uint64, profile Profile, plugins Plugins) error {
	worker := queue.enter()
	status := Status(C.schedq_event_stamp(worker, C.uint64_t(sequence), C.schedq_profile_t(profile), C.uint64_t(plugins)))
	return queue.leave(worker, "EventStamp", status)
}

// Query says which waiting pods Candidates copies out, and how far it is. A walk begins with a fresh one.
type Query struct {
	Profile   Profile
	Backoff   bool    // its pods in backoff and error backoff too, whatever their sets
	Rejectors Plugins // parked pods whose sets meet this, a late name or RejectorOthers, or are empty; 0 = none
	Gates     Plugins // gated pods whose gate is one of these, and no others; 0 = none
	// NotAfter: only pods whose Timestamp (backoff: expiry) is at most this; 0 = all.
	NotAfter int64

	cursor [3]uint64
}

// Candidates copies waiting pods out: the first count of out. 0 is the end; call again until then. Nothing is consumed. A
// pod that stays where it is all the while is given at least once, sometimes twice. [DecideHost]
//
// Errors: ErrInvalid, out is empty, or the profile unknown.
func (queue *Queue) Candidates(query *Query, out []Candidate) (count int, err error) {
	var found C.size_t

	if query == nil {
		return 0, isNil("Candidates", "query")
	}
	c := C.schedq_query_t{
		struct_size:  C.sizeof_schedq_query_t,
		profile:      C.schedq_profile_t(query.Profile),
		rejectors:    C.uint64_t(query.Rejectors),
		gates:        C.uint64_t(query.Gates),
		not_after_ns: C.int64_t(query.NotAfter),
		cursor:       *(*[3]C.uint64_t)(unsafe.Pointer(&query.cursor)),
	}

	if query.Backoff {
		c.backoff = 1
	}
	if query.NotAfter == 0 {
		c.not_after_ns = math.MaxInt64
	}
	worker := queue.enter()
	status := Status(C.schedq_candidates(worker, &c, (*C.schedq_candidate_t)(unsafe.Pointer(unsafe.SliceData(out))),
		C.size_t(len(out)), &found))
	if status == ErrEmpty {
		status = OK
	}
	err = queue.leave(worker, "Candidates", status)
	query.cursor = *(*[3]uint64)(unsafe.Pointer(&c.cursor))
	return int(found), err
}

// Apply moves a waiting pod if it still is what the Ref names. Object, Timestamp and order stay. [DecideHost]
//
// Errors: ErrChanged, it waits at a newer version, or its backoff is over and the decision was IfBackingOff, Result.Ref,
// Result.Object and Result.BackingOff: judge again; ErrGone, active, in flight or deleted: drop it; ErrRetry, Gated, and the gate has a newer stamp: ask PreEnqueue again; ErrNoMemory; ErrInvalid.
func (queue *Queue) Apply(decision *Decision) (result Result, err error) {
	if decision == nil {
		return result, isNil("Apply", "decision")
	}
	copied := *decision
	copied.structSize = uint32(unsafe.Sizeof(copied))
	worker := queue.enter()
	status := Status(C.schedq_apply(worker, (*C.schedq_decision_t)(unsafe.Pointer(&copied)), result.c()))
	err = queue.leave(worker, "Apply", status)
	queue.tell(&result)
	return result, err
}

// ApplyMany applies many decisions. answers and results receive what Apply would have answered for each; each may be nil,
// else it is as long as decisions. [DecideHost]
//
// Errors: the first that is not OK; the others were still applied. ErrInvalid for an illegal decision: nothing was applied.
func (queue *Queue) ApplyMany(decisions []Decision, answers []Status, results []Result) (sum Result, err error) {
	checkLength("ApplyMany", len(answers), len(decisions))
	checkLength("ApplyMany", len(results), len(decisions))
	if len(decisions) == 0 {
		return sum, nil
	}
	for i := range decisions {
		decisions[i].structSize = uint32(unsafe.Sizeof(decisions[i]))
	}
	worker := queue.enter()
	status := Status(C.schedq_apply_many(worker, (*C.schedq_decision_t)(unsafe.Pointer(&decisions[0])),
		C.size_t(len(decisions)), statuses(answers), (*C.schedq_result_t)(unsafe.Pointer(unsafe.SliceData(results))),
		sum.c()))
	err = queue.leave(worker, "ApplyMany", status)
	queue.tell(&sum)
	return sum, err
}
