package schedq

/*
#cgo pkg-config: schedq
#cgo CFLAGS: -std=gnu11 -O2
#cgo noescape schedq_create
#cgo nocallback schedq_create
#cgo noescape schedq_destroy
#cgo nocallback schedq_destroy
#cgo noescape schedq_destroy_with_pods
#cgo nocallback schedq_destroy_with_pods
#cgo noescape schedq_reserve
#cgo nocallback schedq_reserve
#cgo nocallback schedq_trim
#cgo nocallback schedq_words
#cgo nocallback schedq_close
#include <schedq/schedq.h>
*/
import "C"

import (
	"sync/atomic"
	"unsafe"
)

// Queue is a scheduling queue. All its methods may be called from any goroutine at any time, unless they say otherwise:
// setup ends with the first call that touches pods, and nothing may overlap with Destroy.
type Queue struct {
	c     *C.schedq_t
	words *Words
	now   func() int64 // nil: the library reads CLOCK_MONOTONIC

	pool pool

	pods    sleepers // goroutines that wait for a pod
	groups  sleepers // those that wait for a group, or a pod
	closed  chan struct{}
	closing atomic.Bool

	sleepsTo atomic.Int64  // when Run's goroutine wakes up by itself
	earlier  chan struct{} // holds one wake-up for it
}

// New makes a queue.
//
// now is the queue's clock in nanoseconds, not before any earlier reading; it is read once before each call. nil: the
// library's own, CLOCK_MONOTONIC. A clock that goes on only when the program says so makes tests repeatable.
//
// Errors: ErrInvalid with the field, its value and the legal range; ErrNoMemory.
func New(config Config, now func() int64) (*Queue, error) {
	var why whyText
	var c *C.schedq_t

	if config.structSize == 0 {
		return nil, &Error{ErrInvalid, "New", "a Config begins with DefaultConfig or PresetConfig"}
	}
	if now != nil {
		config.externalClock = true
		config.startNS = now()
	}
	status := Status(C.schedq_create((*C.schedq_config_t)(unsafe.Pointer(&config)), &c, &why[0], whySize))
	if status != OK {
		return nil, asError(status, "New", why.String())
	}
	queue := &Queue{
		c:       c,
		words:   (*Words)(unsafe.Pointer(C.schedq_words(c))),
		now:     now,
		pool:    newPool(config.MaxWorkers),
		pods:    sleepers{poppable: make(chan struct{}, 1)},
		groups:  sleepers{poppable: make(chan struct{}, 1)},
		closed:  make(chan struct{}),
		earlier: make(chan struct{}, 1),
	}
	queue.sleepsTo.Store(nobodySleeps)
	return queue, nil
}

// Words returns the queue's numbers.
func (queue *Queue) Words() *Words {
	if queue.words == nil {
		noQueue()
	}
	return queue.words
}

// alive is the library's queue, for a call that needs no worker.
func (queue *Queue) alive() *C.schedq_t {
	if queue.c == nil {
		noQueue()
	}
	return queue.c
}

func noQueue() {
	panic("schedq: a call on a queue after its Destroy, or on one that New did not make")
}

// Close closes the queue and wakes every goroutine in Pop. Pops go on until nothing is poppable, adds get ErrClosed, and
// tokens work as before. It does not wait for pods that back off, are parked or gated: Pop answers ErrClosed while they are there.
// To finish all, count the pods that are done or deleted, and close at the last one. It may be called again.
func (queue *Queue) Close() {
	_ = C.schedq_close(queue.c)
	if queue.closing.CompareAndSwap(false, true) {
		close(queue.closed)
	}
}

// Destroy ends a queue that has no pods (declared groups may be left) and frees its memory. No other call may overlap with it or follow it if it
// returns nil, not even [Queue.Run], which returns soon after [Queue.Close]: wait for it. A program that cannot promise that calls
// Close only. The queue is closed in any case.
//
// Errors: ErrNotEmpty, which says how many pods are where: end them, or call DestroyWithPods.
func (queue *Queue) Destroy() error {
	var why whyText

	queue.Close()
	queue.pool.drain()
	status := Status(C.schedq_destroy(queue.c, &why[0], whySize))
	return queue.ended(status, "Destroy", &why)
}

// DestroyWithPods ends the queue, drops the pods that are left, and frees its memory. As Destroy otherwise.
func (queue *Queue) DestroyWithPods() error {
	var why whyText

	queue.Close()
	queue.pool.drain()
	status := Status(C.schedq_destroy_with_pods(queue.c, &why[0], whySize))
	return queue.ended(status, "DestroyWithPods", &why)
}

func (queue *Queue) ended(status Status, call string, why *whyText) error {
	if status == OK {
		queue.c, queue.words = nil, nil
	}
	return asError(status, call, why.String())
}

// Reserve allocates for that many pods (names of at most 63 bytes), priorities and workers.
//
// Errors: ErrInvalid, above a cap; ErrNoMemory.
func (queue *Queue) Reserve(pods, bands, workers int) error {
	var why whyText

	for _, given := range []struct {
		name  string
		value int
	}{{"pods", pods}, {"bands", bands}, {"workers", workers}} {
		if err := fits32("Reserve", given.name, given.value); err != nil {
			return err
		}
	}
	status := Status(C.schedq_reserve(queue.alive(), C.uint32_t(pods), C.uint32_t(bands), C.uint32_t(workers), &why[0], whySize))
	return asError(status, "Reserve", why.String())
}

// Trim gives memory that holds no pod back to the allocator.
func (queue *Queue) Trim() error {
	return asError(Status(C.schedq_trim(queue.alive())), "Trim", "")
}

// tell passes on what a call did: to goroutines in Pop, and to the one in Run.
func (queue *Queue) tell(result *Result) {
	if result.Poppable {
		queue.wakeOne()
	}
	if queue.words.NextDeadline() < queue.sleepsTo.Load() {
		wake(queue.earlier)
	}
}

// tellEnd is tell behind the end of a cycle, which answers with no result: it may let a pod of the same class go.
func (queue *Queue) tellEnd() {
	queue.tell(&Result{Poppable: queue.words.Poppable()})
}

// tellPop is tell behind a pop: one that keeps pods back, because of their class, has them due some time.
func (queue *Queue) tellPop() {
	queue.tell(&Result{})
}

// wake leaves a wake-up in a channel that holds one.
func wake(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}
