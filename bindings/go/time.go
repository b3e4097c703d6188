package schedq

/*
#cgo noescape schedq_tick
#cgo nocallback schedq_tick
#cgo nocallback schedq_now
#include <schedq/schedq.h>
*/
import "C"

import (
	"context"
	"math"
	"time"
)

// nobodySleeps is the plan of nobody: no deadline is earlier.
const nobodySleeps int64 = math.MinInt64

// Now reads the queue's clock, in nanoseconds.
func (queue *Queue) Now() int64 {
	if queue.now != nil {
		return queue.now()
	}
	return int64(C.schedq_now(queue.alive()))
}

// Tick does what time demands: due backoff becomes active, and with DecideLibrary pods that were parked for too long are
// tried again. next is when it is wanted again, on the queue's clock, or NoDeadline.
//
// [DecideHost] without Config.PopFromBackoff due backoff is left to Candidates and Apply (Result.Left), and next stays in
// the past until it is applied. Pods that were parked for too long are always left; they do not count in next.
//
// Errors: ErrNoMemory, the rest stays due.
func (queue *Queue) Tick() (result Result, next int64, err error) {
	var deadline C.int64_t

	worker := queue.enter()
	status := Status(C.schedq_tick(worker, &deadline, result.c()))
	err = queue.leave(worker, "Tick", status)
	queue.tell(&result)
	return result, int64(deadline), err
}

// Run serves time until the context ends or the queue is closed: it sleeps to the next deadline, calls Tick and then
// ticked, if that is not nil, which may call the queue. One goroutine of a queue runs it. The clock must go at the pace of
// time.Now: with one that the program moves by hand, call Tick instead.
func (queue *Queue) Run(ctx context.Context, ticked func(Result)) {
	const pause = time.Millisecond // between two ticks at least: next may stay in the past
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer queue.sleepsTo.Store(nobodySleeps)

	for {
		select {
		case <-ctx.Done():
			return
		case <-queue.closed:
			return
		case <-queue.earlier:
		case <-timer.C:
			result, _, _ := queue.Tick()
			if ticked != nil {
				ticked(result)
			}
		}
		timer.Reset(max(pause, queue.planSleep()))
	}
}

// planSleep says how long to sleep. The plan is published before the deadline is read again: whoever makes the deadline
// earlier after that sees the plan, and wakes Run.
func (queue *Queue) planSleep() time.Duration {
	const longest = time.Hour
	now := queue.Now()

	for {
		plan := min(queue.words.NextDeadline(), now+int64(longest))
		queue.sleepsTo.Store(plan)
		if queue.words.NextDeadline() >= plan {
			return time.Duration(plan - now)
		}
	}
}
