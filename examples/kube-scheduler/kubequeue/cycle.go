package kubequeue

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq"
)

// A cycle is what happens between a pop and its end: Done when the pod is placed or forgotten, AddUnschedulablePodIfNotPresent when
// it failed. Both may come twice, late, or after each other; the library's token is used once, so only the first counts. A
// failure whose token is used up, a bind that failed after Done, brings the pod back with its history.

// take pops the best entity and waits for one if there is none. nil, nil: the queue is closed.
func (queue *Queue) take(logger klog.Logger) (*entry, *schedq.Popped, error) {
	for {
		popped, err := queue.library.Pop(context.Background())
		if err == schedq.ErrClosed {
			logger.V(2).Info("Scheduling queue is closed")
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		entry := queue.table.get(popped.Object)
		if entry == nil { // it was deleted between C and here
			_ = queue.library.Done(popped.Token)
			continue
		}
		if entry.entity == nil && !queue.mayPlace(entry.shard) && queue.dropLost(entry, &popped) {
			continue
		}
		return entry, &popped, nil
	}
}

// dropLost ends the life of a pod that was popped and is another queue's, or whose shard was lost and gained again since.
func (queue *Queue) dropLost(entry *entry, popped *schedq.Popped) (dropped bool) {
	drop := func() {
		queue.counted.released(entry.profile, popped.Unschedulable|popped.Pending)
		_ = queue.library.Done(popped.Token)
		queue.table.drop(entry.object)
		dropped = true
	}
	queue.shards.either(entry.shard, func() {
		if queue.table.get(entry.object) == nil {
			drop()
		}
	}, drop)
	return dropped
}

// fly notes a pod's flight and describes the pod.
func (queue *Queue) fly(entry *entry, popped *schedq.Popped) *framework.QueuedPodInfo {
	// A fresh address for every pop: the identity of the cycle.
	began := queue.time(popped.History.InitialAttempt)
	record := entry.record.Load()
	flight := &flight{entry: entry, record: record, token: popped.Token, began: &began}
	flight.seen.Store(popped.Seen)
	if before := queue.flights.begin(flight); before != nil && queue.endFlight(before) {
		_ = queue.library.Done(before.token)
	}
	flight.seen.Store(queue.words.EventSequence()) // what began before the pop returns, see log.go
	queue.cycle.Add(1)
	queue.counted.popped(entry.profile, popped)
	info := queue.describe(record, &popped.History)
	info.InitialAttemptTimestamp = &began
	info.BackoffExpiration = queue.time(popped.BackoffExpiry)
	tell(info, flight, popped)
	return info
}

// endFlight forgets a flight, and says whether it was there. The last one leaves the log empty.
func (queue *Queue) endFlight(flight *flight) bool {
	found, last := queue.flights.end(flight)
	if found {
		queue.counted.flying.Dec()
	}
	if last {
		queue.log.forget(queue.words.EventSequence(), &queue.flights)
	}
	return found
}

// describe makes a record and its history what the scheduler knows a pod as.
func (queue *Queue) describe(record *record, history *schedq.History) *framework.QueuedPodInfo {
	info := &framework.QueuedPodInfo{PodInfo: record.private()}
	info.Timestamp = queue.time(history.Timestamp)
	info.Attempts = int(history.Attempts)
	info.UnschedulableCount = int(history.Rejections)
	info.ConsecutiveErrorsCount = int(history.Errors)
	return info
}

// Done ends the cycle of a pod that was placed or forgotten.
func (queue *Queue) Done(uid types.UID) {
	if flight := queue.flights.of(uid); flight != nil {
		queue.land(flight)
	} else if queue.groups != nil {
		queue.groups.land(uid)
	}
}

// land ends a flight without a failure.
func (queue *Queue) land(flight *flight) {
	if !queue.endFlight(flight) {
		return
	}
	if err := queue.library.Done(flight.token); err == nil || err == schedq.ErrGone {
		queue.table.drop(flight.entry.object)
	}
}

// putBack ends the cycle of a pod that failed: it is parked, backs off, or is tried again because of what happened during the
// cycle. The cycle has ended when the pod can be popped again.
//
// Errors: the pod was deleted, or another one has its name by now.
func (queue *Queue) putBack(logger klog.Logger, info *framework.QueuedPodInfo) error {
	flight := queue.flights.ofCycle(info.InitialAttemptTimestamp)
	if flight == nil {
		return queue.bringBack(logger, info)
	}
	if flight.entry.uid != info.Pod.UID {
		// The failure handler looks pods up by name. The one that failed is gone, the informer brings the other.
		queue.land(flight)
		return fmt.Errorf("Pod %v was deleted while it was scheduled, and another one has its name", klog.KObj(info.Pod))
	}
	return queue.fail(logger, flight, info)
}

// fail decides where a failed pod goes, again as long as events come.
func (queue *Queue) fail(logger klog.Logger, flight *flight, info *framework.QueuedPodInfo) error {
	entry := flight.entry
	record := &record{info.Pod, info.PodInfo, flight.record.signature, flight.record.class}
	if !entry.record.CompareAndSwap(flight.record, record) {
		record = entry.record.Load() // an update during the flight
	}
	rejectors := rejectors{entry.profile.bits(info.UnschedulablePlugins), entry.profile.bits(info.PendingPlugins)}
	newest := queue.spec(entry, record)
	failure := schedq.Failure{
		Newest:        &newest,
		Unschedulable: rejectors.unschedulable, Pending: rejectors.pending,
		JudgedUpTo: queue.words.EventSequence(),
	}
	strategy, judged, token := skip, flight.seen.Load(), flight.token
	for {
		strategy = max(strategy, queue.judgeFlight(logger, entry.profile, record, rejectors, judged, failure.JudgedUpTo))
		judged = max(judged, failure.JudgedUpTo)
		queue.direct(logger, &failure, strategy, entry.profile, record)
		var result schedq.Result
		var err error
		fail := func() { result, err = queue.library.Fail(&token, &failure) }
		if !queue.shards.either(entry.shard, fail, func() { queue.land(flight) }) {
			return nil
		}
		switch err {
		case schedq.ErrRetry:
			record = entry.record.Load()
			failure.JudgedUpTo, newest = result.Sequence, queue.spec(entry, record)
			continue
		case nil:
			queue.failed(logger, flight, strategy, &result)
			return nil
		case schedq.ErrStale: // it ended meanwhile
			return queue.bringBack(logger, info)
		}
		queue.endFlight(flight)
		queue.table.drop(entry.object)
		if err == schedq.ErrGone {
			return fmt.Errorf("Pod %v was deleted while it was scheduled", klog.KObj(info.Pod))
		}
		_ = queue.library.Done(token)
		return fmt.Errorf("Pod %v is lost: %w", klog.KObj(info.Pod), err)
	}
}

// failed ends the flight of a pod that is in its new place.
func (queue *Queue) failed(logger klog.Logger, flight *flight, judged strategy, result *schedq.Result) {
	queue.endFlight(flight)
	queue.counted.entered(flight.entry.profile, framework.ScheduleAttemptFailure, judged, asParked(result.Place),
		result.Unschedulable|result.Pending)
	moved(logger, flight.record.pod, framework.ScheduleAttemptFailure, asParked(result.Place))
}

// judgeFlight says what the events in (judged, upTo] mean to a pod that failed.
func (queue *Queue) judgeFlight(logger klog.Logger, profile *profile, record *record, rejectors rejectors,
	judged, upTo uint64) strategy {
	best := skip
	if rejectors.all() == 0 {
		return afterBackoff
	}
	for sequence := judged + 1; sequence <= upTo; sequence++ {
		event := queue.log.get(sequence)
		if event == nil { // drawn and not logged yet, or overwritten
			best = max(best, afterBackoff)
		} else {
			best = max(best, queue.worth(logger, event.kind, nil, profile, record.pod, rejectors, event.old, event.new))
		}
		if best == immediately || best == afterBackoff && rejectors.pending == 0 {
			return best
		}
	}
	return best
}

// direct fills in where a failed pod goes: gates are asked if it is to be tried again.
func (queue *Queue) direct(logger klog.Logger, failure *schedq.Failure, strategy strategy, profile *profile, record *record) {
	failure.Gate, failure.OwnReasons = 0, false
	switch {
	case strategy == skip:
		failure.Place, failure.OwnReasons = schedq.Parked, queue.ownReasons(logger, failure, profile, record)
		return
	case strategy == afterBackoff && queue.options.MaxBackoff > 0:
		failure.Place = schedq.Backoff
	default:
		failure.Place = schedq.Active
	}
	if failure.Place == schedq.Active || !queue.options.NoPopFromBackoff {
		if failure.Gate = queue.gate(logger, profile, record.pod, 0); failure.Gate != 0 {
			failure.Place = schedq.Gated
		}
	}
}

// bringBack adds a pod that failed after its cycle had ended.
//
// Errors: its name is taken.
func (queue *Queue) bringBack(logger klog.Logger, info *framework.QueuedPodInfo) error {
	profile := queue.profiles.of(info.Pod)
	signature, class := profile.alike(info.Pod)
	record := &record{info.Pod, info.PodInfo, signature, class}
	entry := queue.table.add(profile, &queue.shards, record)
	spec := queue.spec(entry, record)
	failure := schedq.Failure{
		Unschedulable: profile.bits(info.UnschedulablePlugins), Pending: profile.bits(info.PendingPlugins),
	}
	history := schedq.History{
		Timestamp:      queue.nanoseconds(info.Timestamp),
		InitialAttempt: queue.firstAttempt(info.InitialAttemptTimestamp),
		Attempts:       uint32(info.Attempts),
		Rejections:     uint32(info.UnschedulableCount),
		Errors:         uint32(info.ConsecutiveErrorsCount),
	}
	for {
		failure.JudgedUpTo = queue.words.EventSequence()
		queue.direct(logger, &failure, afterBackoff, profile, record)
		var result schedq.Result
		err := errNotOwned
		queue.shards.whileOwned(entry.shard, func() { result, err = queue.library.Readd(entry.name, &spec, &history, &failure) })
		if err == schedq.ErrRetry {
			continue
		}
		if err == nil {
			queue.counted.entered(profile, framework.ScheduleAttemptFailure, afterBackoff, result.Place,
				result.Unschedulable|result.Pending)
			moved(logger, record.pod, framework.ScheduleAttemptFailure, result.Place)
			return nil
		}
		queue.table.drop(entry.object)
		switch err {
		case schedq.ErrExists:
			return fmt.Errorf("Pod %v is already present in the %s queue", klog.KObj(info.Pod), placeName(result.Place))
		case schedq.ErrClosed, errNotOwned:
			return nil
		}
		return fmt.Errorf("Pod %v is lost: %w", klog.KObj(info.Pod), err)
	}
}

func (queue *Queue) firstAttempt(at *time.Time) int64 {
	if at == nil {
		return 0
	}
	return queue.nanoseconds(*at)
}

// placeName is kube-scheduler's word for a place.
func placeName(place schedq.Place) string {
	if asParked(place) == schedq.Parked {
		return "unschedulable"
	}
	return place.String()
}
