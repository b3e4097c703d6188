package schedq

import (
	"sync/atomic"
	"time"
)

// Waiting is how many goroutines wait in a pop.
func (queue *Queue) Waiting() int {
	return int(queue.pods.waiting.Load() + queue.groups.waiting.Load())
}

// PlanSleep is how long Run would sleep now.
func (queue *Queue) PlanSleep() time.Duration { return queue.planSleep() }

// SetNextDeadline is what the library does.
func (words *Words) SetNextDeadline(deadline int64) { atomic.StoreInt64(&words.nextDeadline, deadline) }
