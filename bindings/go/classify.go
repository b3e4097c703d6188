package schedq

/*
#cgo noescape schedq_classify_pod_update
#cgo nocallback schedq_classify_pod_update
#cgo noescape schedq_classify_node_update
#cgo nocallback schedq_classify_node_update
#include <schedq/schedq.h>
*/
import "C"

import "unsafe"

// Quantity is an amount of one resource.
type Quantity struct {
	Resource uint64 // the caller's number for it, unique in its slice
	Milli    int64  // thousandths
}

// PodFacts are what ClassifyPodUpdate compares. Equal numbers must mean equal contents: a hash or a version.
type PodFacts struct {
	Labels, Claims uint64
	Gates          uint32 // how many scheduling gates are left
	Tolerations    uint32 // how many tolerations
	Assigned       bool   // the pod has a node
	Target         bool   // it is the waiting pod itself: events of TargetPod, which kube-scheduler has from 1.37 on
	ScaleUp        bool   // a request that grew is an event of its own: from 1.37 on
	reserved       [5]uint8
}

// NodeFacts are what ClassifyNodeUpdate compares, as PodFacts.
type NodeFacts struct {
	Allocatable, Labels, Taints, Conditions, Annotations uint64

	Unschedulable    bool
	PreemptionPolicy uint8 // which one it has; 0: none, or none is known
	reserved         [2]uint8
	DeclaredFeatures uint32 // 0: not compared
}

// maxEvents is how many events one update can be.
const maxEvents = 7

// ClassifyPodUpdate says what an update of a pod means to waiting pods: 1 to 6 events, in kube-scheduler's order,
// appended to events.
func ClassifyPodUpdate(events []Event, before *PodFacts, beforeRequests []Quantity, after *PodFacts,
	afterRequests []Quantity) []Event {
	var found [maxEvents]Event

	count := C.schedq_classify_pod_update((*C.schedq_pod_facts_t)(unsafe.Pointer(before)), quantities(beforeRequests),
		C.size_t(len(beforeRequests)), (*C.schedq_pod_facts_t)(unsafe.Pointer(after)), quantities(afterRequests),
		C.size_t(len(afterRequests)), (*C.schedq_event_t)(unsafe.Pointer(&found)))
	return append(events, found[:count]...)
}

func quantities(values []Quantity) *C.schedq_quantity_t {
	return (*C.schedq_quantity_t)(unsafe.Pointer(unsafe.SliceData(values)))
}

// ClassifyNodeUpdate says what an update of a node means: 0 to 7 events, in kube-scheduler's order, appended to events.
// None: nothing that matters (a heartbeat).
func ClassifyNodeUpdate(events []Event, before, after *NodeFacts) []Event {
	var found [maxEvents]Event

	count := C.schedq_classify_node_update((*C.schedq_node_facts_t)(unsafe.Pointer(before)),
		(*C.schedq_node_facts_t)(unsafe.Pointer(after)), (*C.schedq_event_t)(unsafe.Pointer(&found)))
	return append(events, found[:count]...)
}
