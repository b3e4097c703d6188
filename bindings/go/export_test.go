package schedq

// Waiting is how many goroutines wait in Pop.
func (queue *Queue) Waiting() int { return int(queue.waiting.Load()) }
