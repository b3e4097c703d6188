package schedq

/*
#cgo noescape visited_peek
#cgo nocallback visited_peek
#cgo noescape visited_peek_many
#cgo nocallback visited_peek_many
#cgo noescape schedq_position
#cgo nocallback schedq_position
#include "visit.h"
*/
import "C"

import "fmt"

// Peek copies the pod that TryPop would take now, and takes nothing.
//
// Errors: ErrEmpty, nothing is poppable; ErrNoMemory.
func (queue *Queue) Peek() (PodInfo, error) {
	var visited C.struct_visited

	worker := queue.enter()
	status := Status(C.visited_peek(worker, &visited))
	err := queue.leave(worker, "Peek", status)
	pods := takeVisited(&visited)
	if err != nil {
		return PodInfo{}, err
	}
	return pods[0], nil
}

// PeekMany copies the pods that the next count pops would take, in that order, and takes none. There may be fewer.
//
// Errors: ErrEmpty, nothing is poppable; ErrInvalid, count is less than 1; ErrNoMemory.
func (queue *Queue) PeekMany(count int) ([]PodInfo, error) {
	var visited C.struct_visited

	if count < 1 {
		return nil, &Error{ErrInvalid, "PeekMany", fmt.Sprintf("count %d: 1 or more", count)}
	}
	worker := queue.enter()
	status := Status(C.visited_peek_many(worker, C.size_t(count), &visited))
	err := queue.leave(worker, "PeekMany", status)
	return takeVisited(&visited), err
}

// Position tells how many active pods rank before one, as two bounds that are equal if nothing else happens meanwhile.
//
// Errors: ErrGone, it is not active: Explain says where it is; ErrNotFound.
func (queue *Queue) Position(pod Pod) (lower, upper uint64, err error) {
	var low, high C.uint64_t

	worker := queue.enter()
	status := Status(C.schedq_position(worker, C.schedq_pod_t{C.uint64_t(pod.bits)}, &low, &high))
	err = queue.leave(worker, "Position", status)
	return uint64(low), uint64(high), err
}
