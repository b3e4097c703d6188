package schedq

/*
#cgo noescape visited_get
#cgo nocallback visited_get
#cgo noescape visited_snapshot
#cgo nocallback visited_snapshot
#cgo noescape visited_nominated
#cgo nocallback visited_nominated
#cgo noescape written_metrics
#cgo nocallback written_metrics
#cgo noescape schedq_pending_text
#cgo nocallback schedq_pending_text
#cgo noescape schedq_stats
#cgo nocallback schedq_stats
#include <stdlib.h>
#include "visit.h"
*/
import "C"

import (
	"io"
	"unsafe"
)

// Get copies one pod, in flight too.
//
// Errors: ErrNotFound, it is in no place, or was deleted in flight; ErrNoMemory.
func (queue *Queue) Get(pod Pod) (PodInfo, error) {
	var visited C.struct_visited

	worker := queue.enter()
	status := Status(C.visited_get(worker, C.schedq_pod_t{C.uint64_t(pod.bits)}, &visited))
	err := queue.leave(worker, "Get", status)
	pods := takeVisited(&visited)
	if err != nil {
		return PodInfo{}, err
	}
	return pods[0], nil
}

// Snapshot copies every pod, in no order; those in flight too, also the ones deleted meanwhile.
//
// Errors: ErrNoMemory.
func (queue *Queue) Snapshot() ([]PodInfo, error) {
	var visited C.struct_visited

	worker := queue.enter()
	status := Status(C.visited_snapshot(worker, &visited))
	err := queue.leave(worker, "Snapshot", status)
	return takeVisited(&visited), err
}

// NominatedPods copies the pods that are nominated to a node, in the order of their nominations.
//
// Errors: ErrInvalid, node is 0; ErrNoMemory.
func (queue *Queue) NominatedPods(node uint64) ([]PodInfo, error) {
	var visited C.struct_visited

	worker := queue.enter()
	status := Status(C.visited_nominated(worker, C.uint64_t(node), &visited))
	err := queue.leave(worker, "NominatedPods", status)
	return takeVisited(&visited), err
}

// takeVisited makes Go's what C copied, and frees that.
func takeVisited(visited *C.struct_visited) []PodInfo {
	defer C.free(unsafe.Pointer(visited.pods))
	defer C.free(unsafe.Pointer(visited.names))

	names := C.GoStringN(visited.names, C.int(visited.names_length))
	pods := make([]PodInfo, visited.count)
	for i, from := range unsafe.Slice(visited.pods, visited.count) {
		pods[i] = PodInfo{
			Place:         Place(from.place),
			Profile:       Profile(from.profile),
			Flags:         PodFlags(from.flags),
			Deleted:       from.deleted != 0,
			Pod:           Pod{uint64(from.pod.bits)},
			Object:        uint64(from.object),
			Name:          names[:from.name_length],
			Priority:      int32(from.priority),
			History:       *(*History)(unsafe.Pointer(&from.history)),
			BackoffExpiry: int64(from.backoff_expiry_ns),
			Unschedulable: Plugins(from.unschedulable),
			Pending:       Plugins(from.pending),
			Gate:          Gate(from.gate),
			PopOrder:      uint64(from.pop_order),
			Cycle:         uint64(from.cycle),
			NominatedNode: uint64(from.nominated_node),
			Nomination:    uint64(from.nomination),
			NotBefore:     int64(from.not_before_ns),
			Held:          from.held != 0,
			Label:         uint64(from.label),
			Group:         uint64(from.group),
			KeptByClass:   from.kept_by_class != 0,
			Class:         uint64(from.class_id),
			Scout:         Pod{uint64(from.scout.bits)},
		}
		names = names[from.name_length:]
	}
	return pods
}

// PendingText is "activeQ:%d; backoffQ:%d; unschedulablePods:%d"; backoffQ counts error backoff too, unschedulablePods
// gated pods too. A queue that knows groups adds "; pendingPodGroupMemberPods:%d; incompletePodGroupPods:%d".
func (queue *Queue) PendingText() string {
	var text [256]C.char // five numbers of at most 10 digits, and their names

	C.schedq_pending_text(queue.alive(), &text[0], C.size_t(len(text)))
	return C.GoString(&text[0])
}

// Stats reads counts and bytes: exact when the queue is quiet.
func (queue *Queue) Stats() (Stats, error) {
	stats := Stats{structSize: uint32(unsafe.Sizeof(Stats{}))}
	status := Status(C.schedq_stats(queue.alive(), (*C.schedq_stats_t)(unsafe.Pointer(&stats))))
	return stats, asError(status, "Stats", "")
}

// WriteMetrics writes the metrics in the Prometheus text format, under kube-scheduler's names where it has one.
//
// Errors: ErrNoMemory; the writer's.
func (queue *Queue) WriteMetrics(writer io.Writer) error {
	var written C.struct_written

	status := Status(C.written_metrics(queue.alive(), &written))
	defer C.free(unsafe.Pointer(written.text))
	if status != OK {
		return asError(status, "WriteMetrics", "")
	}
	_, err := writer.Write(unsafe.Slice((*byte)(unsafe.Pointer(written.text)), written.length))
	return err
}
