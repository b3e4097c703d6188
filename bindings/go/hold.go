package schedq

/*
#cgo noescape schedq_hold
#cgo nocallback schedq_hold
#cgo noescape schedq_release
#cgo nocallback schedq_release
#cgo noescape schedq_not_before
#cgo nocallback schedq_not_before
#include <schedq/schedq.h>
*/
import "C"

// Hold keeps a pod back until it is released. In flight it is held if its cycle fails.
//
// Errors: ErrNotFound, it is in no place, or was deleted in flight; ErrNoMemory.
func (queue *Queue) Hold(pod Pod) (result Result, err error) {
	worker := queue.enter()
	status := Status(C.schedq_hold(worker, C.schedq_pod_t{C.uint64_t(pod.bits)}, result.c()))
	return result, queue.leave(worker, "Hold", status)
}

// Release lets a pod go that Hold keeps back; not one that only a time keeps back.
//
// Errors: as Hold.
func (queue *Queue) Release(pod Pod) (result Result, err error) {
	worker := queue.enter()
	status := Status(C.schedq_release(worker, C.schedq_pod_t{C.uint64_t(pod.bits)}, result.c()))
	err = queue.leave(worker, "Release", status)
	queue.tell(&result)
	return result, err
}

// NotBefore keeps a pod back until a time on the queue's clock, instead of the time that it had; 0, or one that is past: none.
//
// Errors: as Hold; ErrInvalid, the time is negative.
func (queue *Queue) NotBefore(pod Pod, time int64) (result Result, err error) {
	worker := queue.enter()
	status := Status(C.schedq_not_before(worker, C.schedq_pod_t{C.uint64_t(pod.bits)}, C.int64_t(time), result.c()))
	err = queue.leave(worker, "NotBefore", status)
	queue.tell(&result)
	return result, err
}
