package schedq

/*
#cgo noescape schedq_watch
#cgo nocallback schedq_watch
#cgo noescape schedq_overdue_text
#cgo nocallback schedq_overdue_text
#include <schedq/schedq.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// OverdueKind says what is overdue.
type OverdueKind uint8

const (
	OverdueInFlight OverdueKind = 1 + iota // a pod whose cycle has not ended
	OverdueGated                           // a pod that a gate keeps out
	OverdueLeftover                        // a pod that nothing freed but the limit of waiting
	OverdueCall                            // a worker inside of a call
	OverdueCallback                        // a callback that has not returned
)

// Watchdog is one of a queue: its limits, nanoseconds on the queue's clock, and what its looks left for the next one. NewWatchdog
// makes it. One call of [Queue.Watch] at a time.
type Watchdog struct {
	InFlight, Gated, Call, Callback int64 // 0: that kind is not looked for
	Leftovers                       bool
	notes                           [66]C.uint64_t
}

// NewWatchdog has the library's default limits.
func NewWatchdog() *Watchdog {
	return &Watchdog{InFlight: 900e9, Gated: 3600e9, Call: 10e9, Callback: 1e9, Leftovers: true}
}

// Overdue is one that is.
type Overdue struct {
	Kind      OverdueKind
	Profile   Profile
	Gate      Gate    // OverdueGated; a hint or gate that runs: the plugin's
	Worker    uint32  // a call, a callback: number of the worker
	Thread    uint32  // the same: the kernel's number of the thread
	Pod       Pod     // else
	Rejectors Plugins // OverdueLeftover: what rejected it, until its next pop
	For       int64   // at least so long
	Text      string  // all of it as a sentence
}

// Watch looks once, and names what is overdue, limit of them at most; found counts all. A host calls it once a period.
//
// Errors: ErrInvalid, limit is less than 0, or one of the watchdog's is; ErrTimedOut (only with the mutex engine), the lock was not to be had, and only
// workers are named.
func (queue *Queue) Watch(watchdog *Watchdog, limit int) (overdue []Overdue, found int, err error) {
	if watchdog == nil {
		return nil, 0, isNil("Watch", "watchdog")
	}
	if limit < 0 {
		return nil, 0, &Error{ErrInvalid, "Watch", fmt.Sprintf("limit %d: 0 or more", limit)}
	}
	out := make([]C.schedq_overdue_t, limit)
	watch := C.schedq_watch_t{
		struct_size: C.uint32_t(unsafe.Sizeof(C.schedq_watch_t{})),
		inflight_ns: C.int64_t(watchdog.InFlight),
		gated_ns:    C.int64_t(watchdog.Gated),
		call_ns:     C.int64_t(watchdog.Call),
		callback_ns: C.int64_t(watchdog.Callback),
		notes:       watchdog.notes,
	}
	var count C.size_t

	if watchdog.Leftovers {
		watch.leftovers = 1
	}
	worker := queue.enter()
	status := Status(C.schedq_watch(worker, &watch, unsafe.SliceData(out), C.size_t(len(out)), &count))
	watchdog.notes = watch.notes
	for i := range out[:min(int(count), len(out))] {
		overdue = append(overdue, overdueOf(worker, &out[i]))
	}
	return overdue, int(count), queue.leave(worker, "Watch", status)
}

func overdueOf(worker *C.schedq_worker_t, from *C.schedq_overdue_t) Overdue {
	text := make([]C.char, 512)

	C.schedq_overdue_text(worker, from, &text[0], C.size_t(len(text)))
	return Overdue{
		Kind:      OverdueKind(from.kind),
		Profile:   Profile(from.profile),
		Gate:      Gate(from.plugin),
		Worker:    uint32(from.worker),
		Thread:    uint32(from.thread),
		Pod:       Pod{uint64(from.pod.bits)},
		Rejectors: Plugins(from.rejectors),
		For:       int64(from.for_ns),
		Text:      C.GoString(&text[0]),
	}
}
