package main

import (
	"slices"
	"sync"
	"time"

	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// timed measures calls of the queue that it wraps: Add, and Pop from when something was there to pop.
type timed struct {
	internalqueue.SchedulingQueue

	adds, pops samples
}

func (timed *timed) added() *samples  { return &timed.adds }
func (timed *timed) popped() *samples { return &timed.pops }

// samples are durations.
type samples struct {
	mutex sync.Mutex
	all   []time.Duration
}

func (samples *samples) add(length time.Duration) {
	samples.mutex.Lock()
	defer samples.mutex.Unlock()
	samples.all = append(samples.all, length)
}

func (samples *samples) reset() {
	samples.mutex.Lock()
	defer samples.mutex.Unlock()
	samples.all = samples.all[:0]
}

// percentile is the smallest of them that this share is not above; 0 without any.
func (samples *samples) percentile(share float64) time.Duration {
	samples.mutex.Lock()
	defer samples.mutex.Unlock()
	if len(samples.all) == 0 {
		return 0
	}
	slices.Sort(samples.all)
	return samples.all[min(len(samples.all)-1, int(share*float64(len(samples.all))))]
}

func (timed *timed) add(start time.Time) { timed.adds.add(time.Since(start)) }

// pop is measured from the later of its call and the moment from which its pod could be popped.
func (timed *timed) pop(start time.Time, info *framework.QueuedPodInfo) {
	if info.Attempts == 1 && info.InitialAttemptTimestamp != nil && info.InitialAttemptTimestamp.After(start) {
		start = *info.InitialAttemptTimestamp
	}
	timed.pops.add(time.Since(start))
}
