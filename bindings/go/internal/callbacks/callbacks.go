// Package callbacks has functions in C for the tests of schedq, which cannot have them: go test takes no cgo.
package callbacks

/*
#cgo pkg-config: schedq
#include "callbacks.h"
*/
import "C"

import "unsafe"

var (
	IsOdd    = unsafe.Pointer(C.is_odd)     // a preCheck: is the pod's object odd?
	IsAtMost = unsafe.Pointer(C.is_at_most) // a PreEnqueue whose context is Limit
	IsEnough = unsafe.Pointer(C.is_enough)  // a hint: the new object is not less than the pod's
	Limit    = unsafe.Pointer(&C.limit)
)

// SetLimit sets what Limit points to. No call may be under way.
func SetLimit(limit uint64) { C.limit = C.uint64_t(limit) }
