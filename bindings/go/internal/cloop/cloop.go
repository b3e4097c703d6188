// Package cloop is what the benchmarks of schedq compare with: the same calls, in a loop in C.
package cloop

/*
#cgo pkg-config: schedq
#cgo CFLAGS: -std=gnu11 -O2
#include <stdlib.h>
#include "cloop.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Loop is a queue of its own, with one worker.
type Loop struct{ loop C.struct_loop }

// New makes a queue of that engine with `pending` pods of a low priority, which stay.
func New(engine uint8, pending int) (*Loop, error) {
	loop := (*Loop)(C.calloc(1, C.sizeof_struct_loop))
	if status := C.loop_open(&loop.loop, C.uint8_t(engine), C.size_t(pending)); status != C.SCHEDQ_OK {
		return nil, fmt.Errorf("no loop in C: status %d", int(status))
	}
	return loop, nil
}

// Close ends it.
func (loop *Loop) Close() {
	C.loop_close(&loop.loop)
	C.free(unsafe.Pointer(loop))
}

// Lives lets that many pods go in, out and end, one call each; false if a call failed.
func (loop *Loop) Lives(count int) bool { return C.loop_lives(&loop.loop, C.size_t(count)) != 0 }

// Batches does the same with a call for each 64 pods.
func (loop *Loop) Batches(count int) bool { return C.loop_batches(&loop.loop, C.size_t(count)) != 0 }

// Finds looks a name up that often.
func (loop *Loop) Finds(count int) bool { return C.loop_finds(&loop.loop, C.size_t(count)) != 0 }
