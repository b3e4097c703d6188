package schedq

/*
#cgo noescape schedq_try_pop
#cgo nocallback schedq_try_pop
#cgo noescape schedq_try_pop_many
#cgo nocallback schedq_try_pop_many
#include <schedq/schedq.h>
*/
import "C"

import (
	"context"
	"sync/atomic"
	"unsafe"
)

// A pop that finds nothing registers as waiting, looks again, and only then sleeps: what became poppable before it
// registered is found by the second look, what comes later meets a waiter to wake. The channel holds one wake-up. More
// are not needed: who takes a pod passes the wake-up on as long as there is more.
//
// What became poppable may be a group, which a pop of pods passes by. So those that wait for groups are woken beside those
// that wait for pods, and each kind has a wake-up of its own.

// sleepers are the goroutines that wait in pops of one kind.
type sleepers struct {
	waiting  atomic.Int32  // that sleep, or are about to
	poppable chan struct{} // holds one wake-up for them
}

// popBatch is how many pods a pop of many gets per call.
const popBatch = 64

// fill copies what a pop gave, but for the name, which is the queue's memory.
func (popped *Popped) fill(from *C.schedq_popped_t) {
	popped.Token.bits = uint64(from.token.bits)
	popped.Pod.bits = uint64(from.pod.bits)
	popped.Object = uint64(from.object)
	popped.Priority = int32(from.priority)
	popped.History = *(*History)(unsafe.Pointer(&from.history))
	popped.Unschedulable = Plugins(from.unschedulable)
	popped.Pending = Plugins(from.pending)
	popped.Seen = uint64(from.seen)
	popped.Cycle = uint64(from.cycle)
	popped.NominatedNode = uint64(from.nominated_node)
	popped.BackoffExpiry = int64(from.backoff_expiry_ns)
	popped.FromBackoff = from.from_backoff != 0
	popped.Flushed = from.flushed != 0
	popped.More = from.more != 0
	popped.Profile = Profile(from.profile)
	popped.Flags = PodFlags(from.flags)
}

// TryPop takes the best pod in no group, without waiting; groups come by TryPopGroup only. It does not serve time: a due backoff stays until Run or Tick.
//
// Errors: ErrEmpty; ErrClosed, and nothing is poppable.
func (queue *Queue) TryPop() (popped Popped, err error) {
	var out C.schedq_popped_t

	worker := queue.enter()
	status := Status(C.schedq_try_pop(worker, &out))
	err = queue.leave(worker, "TryPop", status)
	queue.tellPop()
	if err == nil {
		popped.fill(&out)
		popped.Name = C.GoStringN(out.name, C.int(out.name_length))
	}
	return popped, err
}

// TryPopMany takes up to len(out) of the best pods, without waiting, and returns how many; 0 and an error, or at least 1
// and nil. What is taken, it takes by as many as 64 at a time.
//
// Errors: as TryPop.
func (queue *Queue) TryPopMany(out []Popped) (taken int, err error) {
	var batch [popBatch]C.schedq_popped_t
	var count C.size_t

	for taken < len(out) && err == nil {
		capacity := min(popBatch, len(out)-taken)
		worker := queue.enter()
		status := Status(C.schedq_try_pop_many(worker, &batch[0], C.size_t(capacity), &count))
		err = queue.leave(worker, "TryPopMany", status)
		queue.tellPop()
		if err == nil {
			fillMany(out[taken:], batch[:count])
			taken += int(count)
		}
	}
	if taken > 0 {
		return taken, nil
	}
	return 0, err
}

// fillMany makes one string of all names, and cuts it.
func fillMany(out []Popped, batch []C.schedq_popped_t) {
	length := 0
	for i := range batch {
		length += int(batch[i].name_length)
	}
	names := make([]byte, 0, length)
	for i := range batch {
		names = append(names, unsafe.Slice((*byte)(unsafe.Pointer(batch[i].name)), batch[i].name_length)...)
	}
	all := unsafe.String(unsafe.SliceData(names), len(names))
	for i := range batch {
		out[i].fill(&batch[i])
		out[i].Name, all = all[:batch[i].name_length], all[batch[i].name_length:]
	}
}

// Pop takes the best pod in no group, and waits for one if there is none; groups come by PopGroup only. The goroutine that waits holds neither a thread nor a
// worker. Time has to be served meanwhile: by Run, or by calls of Tick.
//
// Errors: ErrClosed, the queue is closed and nothing is poppable; the context's, and nothing is poppable.
func (queue *Queue) Pop(ctx context.Context) (popped Popped, err error) {
	err = queue.wait(ctx, &queue.pods, func() (more bool, err error) {
		popped, err = queue.TryPop()
		return popped.More, err
	})
	return popped, err
}

// PopMany takes up to len(out) of the best pods, and waits for the first as Pop does. It returns how many: 0 and an error,
// or at least 1 and nil. Who finds len(out) = 0 does not wait.
//
// Errors: as Pop.
func (queue *Queue) PopMany(ctx context.Context, out []Popped) (taken int, err error) {
	if len(out) == 0 {
		return 0, nil
	}
	err = queue.wait(ctx, &queue.pods, func() (more bool, err error) {
		taken, err = queue.TryPopMany(out)
		return taken > 0 && out[taken-1].More, err
	})
	return taken, err
}

// wait calls try until it finds something, and passes the wake-up on if there is more.
func (queue *Queue) wait(ctx context.Context, kind *sleepers, try func() (more bool, err error)) error {
	for {
		more, err := try()
		if err == ErrEmpty {
			more, err = queue.tryOrSleep(ctx, kind, try)
			if err == ErrEmpty {
				continue
			}
		}
		if err == nil && more {
			queue.wakeOne()
		}
		return err
	}
}

// tryOrSleep registers as waiting, looks again, and sleeps. ErrEmpty: it was woken.
func (queue *Queue) tryOrSleep(ctx context.Context, kind *sleepers, try func() (bool, error)) (more bool, err error) {
	kind.waiting.Add(1)
	defer kind.waiting.Add(-1)

	more, err = try()
	if err != ErrEmpty {
		return more, err
	}
	select {
	case <-kind.poppable:
	case <-queue.closed:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	return false, ErrEmpty
}

// wakeOne wakes a goroutine of each kind that waits, if there is one.
func (queue *Queue) wakeOne() {
	queue.pods.wakeOne()
	queue.groups.wakeOne()
}

func (kind *sleepers) wakeOne() {
	if kind.waiting.Load() > 0 {
		wake(kind.poppable)
	}
}
