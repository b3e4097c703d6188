package schedq

/*
#cgo noescape schedq_explain
#cgo nocallback schedq_explain
#cgo noescape schedq_explanation_text
#cgo nocallback schedq_explanation_text
#cgo nocallback schedq_rejector_name
#cgo noescape schedq_count_reasons
#cgo nocallback schedq_count_reasons
#include <schedq/schedq.h>
*/
import "C"

import "unsafe"

// Explanation is why a pod is where it is. Times are nanoseconds on the queue's clock.
type Explanation struct {
	Place         Place
	Profile       Profile
	Gate          Gate
	Pod           Pod
	Unschedulable Plugins // what rejected it, until its next pop
	Pending       Plugins // of these, the ones that only wait for something
	History       History
	Now           int64  // when the call looked
	BackoffExpiry int64  // backoff: as compared; else 0
	Wake          int64  // when time alone brings it on; NoDeadline: it does not
	NominatedNode uint64 // 0 = not nominated
	Nomination    uint64 // orders the pods nominated to one node; 0 = not nominated
	FreedBy       string // label of the event that freed it last; "" = none did
	Group         uint64 // what it is tried together with; 0: it is tried by itself, and the rest of the group is 0
	GroupRoot     uint64 // as in GroupInfo; 0: it has none, or is not declared
	GroupWaiting  uint64 // members that are aside, as in GroupInfo
	GroupQuorum   uint32 // as described; 0 means 1, or that it is not declared
	GroupPlace    Place  // of its root's record; Aside: a quorum is missing; Nowhere: it has no root
	GroupDeclared bool
	KeptByClass   bool   // as in PodInfo
	Class         uint64 // the same
	Scout         Pod    // the same: whom it waits for if its class keeps it back
	Text          string // all of it as a sentence
}

// Explain tells why a pod is where it is, in flight too.
//
// Errors: ErrNotFound, it is in no place, or was deleted in flight; ErrNoMemory.
func (queue *Queue) Explain(pod Pod) (Explanation, error) {
	from := C.schedq_explanation_t{struct_size: C.uint32_t(unsafe.Sizeof(C.schedq_explanation_t{}))}

	worker := queue.enter()
	status := Status(C.schedq_explain(worker, C.schedq_pod_t{C.uint64_t(pod.bits)}, &from))
	if err := queue.leave(worker, "Explain", status); err != nil {
		return Explanation{}, err
	}
	return Explanation{
		Place:         Place(from.place),
		Profile:       Profile(from.profile),
		Gate:          Gate(from.gate),
		Pod:           Pod{uint64(from.pod.bits)},
		Unschedulable: Plugins(from.unschedulable),
		Pending:       Plugins(from.pending),
		History:       *(*History)(unsafe.Pointer(&from.history)),
		Now:           int64(from.now_ns),
		BackoffExpiry: int64(from.backoff_expiry_ns),
		Wake:          int64(from.wake_ns),
		NominatedNode: uint64(from.nominated_node),
		Nomination:    uint64(from.nomination),
		FreedBy:       C.GoString(from.freed_by),
		Group:         uint64(from.group),
		GroupRoot:     uint64(from.group_root),
		GroupWaiting:  uint64(from.group_waiting),
		GroupQuorum:   uint32(from.group_quorum),
		GroupPlace:    Place(from.group_place),
		GroupDeclared: from.group_declared != 0,
		KeptByClass:   from.kept_by_class != 0,
		Class:         uint64(from.class_id),
		Scout:         Pod{uint64(from.scout.bits)},
		Text:          queue.textOf(&from),
	}, nil
}

func (queue *Queue) textOf(explanation *C.schedq_explanation_t) string {
	text := make([]C.char, 512)

	length := int(C.schedq_explanation_text(queue.c, explanation, &text[0], C.size_t(len(text))))
	if length >= len(text) {
		text = make([]C.char, length+1)
		C.schedq_explanation_text(queue.c, explanation, &text[0], C.size_t(len(text)))
	}
	return C.GoString(&text[0])
}

// RejectorName is the name of the one plugin in a set, "others" for RejectorOthers; "" if nobody has that bit, or the set
// has more than one.
func (queue *Queue) RejectorName(profile Profile, plugin Plugins) string {
	return C.GoString(C.schedq_rejector_name(queue.alive(), C.schedq_profile_t(profile), C.uint64_t(plugin)))
}

// Reasons is how many pods wait for what.
type Reasons struct {
	Parked, Gated         uint64     // pods of the profile
	Backoff, ErrorBackoff uint64     // pods of all profiles
	ParkedBy              [64]uint64 // [n]: parked pods that the plugin whose bit is 1 << n rejected; a pod counts for each
	GatedBy               [64]uint64 // [n]: gated pods that plugin n keeps out
}

// CountReasons counts the parked and gated pods of a profile by the plugins that keep them there: exact when the queue is
// quiet.
//
// Errors: ErrInvalid, unknown profile.
func (queue *Queue) CountReasons(profile Profile) (Reasons, error) {
	from := C.schedq_reasons_t{struct_size: C.uint32_t(unsafe.Sizeof(C.schedq_reasons_t{}))}

	worker := queue.enter()
	status := Status(C.schedq_count_reasons(worker, C.schedq_profile_t(profile), &from))
	if err := queue.leave(worker, "CountReasons", status); err != nil {
		return Reasons{}, err
	}
	return Reasons{
		Parked:       uint64(from.parked),
		Gated:        uint64(from.gated),
		Backoff:      uint64(from.backoff),
		ErrorBackoff: uint64(from.error_backoff),
		ParkedBy:     *(*[64]uint64)(unsafe.Pointer(&from.parked_by)),
		GatedBy:      *(*[64]uint64)(unsafe.Pointer(&from.gated_by)),
	}, nil
}
