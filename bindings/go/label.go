package schedq

/*
#cgo noescape schedq_label_cancel
#cgo nocallback schedq_label_cancel
#cgo noescape schedq_label_hold
#cgo nocallback schedq_label_hold
#cgo noescape schedq_label_release
#cgo nocallback schedq_label_release
#cgo noescape schedq_label_count
#cgo nocallback schedq_label_count
#include <schedq/schedq.h>
*/
import "C"

import "unsafe"

// CancelLabel deletes the pods that have a label ([PodSpec].Label), len(results) at most, and tells what became of each. It
// returns how many: call it again while it is len(results). results empty: it deletes all and tells nothing.
//
// Errors: ErrInvalid, the label is 0; ErrNoMemory, count pods were deleted.
func (queue *Queue) CancelLabel(label uint64, results []Result) (count int, err error) {
	var deleted C.size_t

	worker := queue.enter()
	status := Status(C.schedq_label_cancel(worker, C.uint64_t(label),
		(*C.schedq_result_t)(unsafe.Pointer(unsafe.SliceData(results))), C.size_t(len(results)), &deleted))
	return int(deleted), queue.leave(worker, "CancelLabel", status)
}

// HoldLabel holds the pods that have a label, as Hold does; those that are added later are not held. It returns how many are.
//
// Errors: ErrInvalid, the label is 0; ErrNoMemory, count pods are held.
func (queue *Queue) HoldLabel(label uint64) (count int, err error) {
	var held C.size_t

	worker := queue.enter()
	status := Status(C.schedq_label_hold(worker, C.uint64_t(label), &held))
	return int(held), queue.leave(worker, "HoldLabel", status)
}

// ReleaseLabel releases the pods that have a label, as Release does. It returns how many Hold does not keep back now.
//
// Errors: ErrInvalid, the label is 0; ErrNoMemory, count pods are released.
func (queue *Queue) ReleaseLabel(label uint64) (count int, err error) {
	var released C.size_t

	worker := queue.enter()
	status := Status(C.schedq_label_release(worker, C.uint64_t(label), &released))
	err = queue.leave(worker, "ReleaseLabel", status)
	if released > 0 {
		queue.wakeOne()
	}
	return int(released), err
}

// CountLabel counts the pods that have a label, those in flight too.
//
// Errors: ErrInvalid, the label is 0; ErrNoMemory.
func (queue *Queue) CountLabel(label uint64) (count int, err error) {
	var found C.size_t

	worker := queue.enter()
	status := Status(C.schedq_label_count(worker, C.uint64_t(label), &found))
	return int(found), queue.leave(worker, "CountLabel", status)
}
