package schedq

/*
#cgo noescape schedq_worker_register
#cgo nocallback schedq_worker_register
#cgo nocallback schedq_worker_unregister
#cgo nocallback schedq_worker_error
#include <schedq/schedq.h>
*/
import "C"

import (
	"sync/atomic"
	"unsafe"
)

// pool keeps the workers that no call has. It makes one when a call finds none, up to a capacity, so there are as many as
// there ever were calls at once.
//
// The worker that was used last is the warmest: the engine keeps memory per worker. It waits in `last`, where the next
// call finds it first; the others are in a channel, which hands them out in turns. Who finds neither and may not make
// another sleeps on the channel, where `last` is out of sight. So a sleeper registers before it looks at `last` for the
// last time, and who fills `last` looks for sleepers afterwards: one of the two sees the other.
type pool struct {
	last     unsafe.Pointer // a *C.schedq_worker_t, or nil
	others   chan *C.schedq_worker_t
	sleepers atomic.Int32
	made     atomic.Int32 // workers that are registered, or are being
	capacity int32
}

func newPool(capacity uint32) pool {
	return pool{others: make(chan *C.schedq_worker_t, capacity), capacity: int32(capacity)}
}

// takeLast takes what is in last; nil if nothing is.
func (pool *pool) takeLast() *C.schedq_worker_t {
	return (*C.schedq_worker_t)(atomic.SwapPointer(&pool.last, nil))
}

// take returns a worker that no other call has.
func (pool *pool) take(queue *C.schedq_t) *C.schedq_worker_t {
	if worker := pool.takeLast(); worker != nil {
		return worker
	}
	select {
	case worker := <-pool.others:
		return worker
	default:
		return pool.another(queue)
	}
}

func (pool *pool) another(queue *C.schedq_t) *C.schedq_worker_t {
	if queue == nil {
		noQueue()
	}
	if pool.made.Add(1) <= pool.capacity {
		var worker *C.schedq_worker_t
		if C.schedq_worker_register(queue, &worker, nil, 0) == C.SCHEDQ_OK {
			return worker
		}
	}
	// Without memory for another one those that there are have to do; without any there is nothing to wait for.
	if pool.made.Add(-1) == 0 {
		panic("schedq: no memory for the first worker")
	}
	pool.sleepers.Add(1)
	defer pool.sleepers.Add(-1)
	if worker := pool.takeLast(); worker != nil {
		return worker
	}
	return <-pool.others
}

// put gives a worker back.
func (pool *pool) put(worker *C.schedq_worker_t) {
	if !atomic.CompareAndSwapPointer(&pool.last, nil, unsafe.Pointer(worker)) {
		pool.others <- worker
		return
	}
	if pool.sleepers.Load() > 0 {
		if worker := pool.takeLast(); worker != nil {
			pool.others <- worker
		}
	}
}

// drain unregisters all workers. No call is under way.
func (pool *pool) drain() {
	for ; pool.made.Load() > 0; pool.made.Add(-1) {
		worker := pool.takeLast()
		if worker == nil {
			worker = <-pool.others
		}
		_ = C.schedq_worker_unregister(worker)
	}
}

// enter begins a call that touches pods: the clock is read, a worker taken.
func (queue *Queue) enter() *C.schedq_worker_t {
	if queue.now != nil {
		queue.Words().advance(queue.now())
	}
	return queue.pool.take(queue.c)
}

// leave ends it. The words of a refusal are the worker's, so they are read before another call gets it.
func (queue *Queue) leave(worker *C.schedq_worker_t, call string, status Status) error {
	var err error

	if status == ErrInvalid || status == ErrFull || status == ErrBusy {
		err = asError(status, call, C.GoString(C.schedq_worker_error(worker)))
	} else if status != OK {
		err = status
	}
	queue.pool.put(worker)
	return err
}
