package schedq

// Waiting is how many goroutines wait in a pop.
func (queue *Queue) Waiting() int {
	return int(queue.pods.waiting.Load() + queue.groups.waiting.Load())
}
