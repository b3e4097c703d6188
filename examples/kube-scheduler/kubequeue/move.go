package kubequeue

import (
	"errors"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	v1 "k8s.io/api/core/v1"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// A cluster event is handled in an order that leaves no gap: draw its sequence, log it, raise the stamps, then read the pods that
// it may concern. A pod that is parked before the stamps is among those; one that is parked after them is judged by the
// goroutine that parks it, which finds the event in the log. The library gives only pods whose rejectors registered the event, so
// thousands of others cost nothing. Where plugins name the pods (narrow.go), those alone are judged.

// MoveAllToActiveOrBackoffQueue tries the pods again that an event could help. The scheduler's cache must have changed before.
func (queue *Queue) MoveAllToActiveOrBackoffQueue(logger klog.Logger, event fwk.ClusterEvent, old, new any,
	check internalqueue.PreEnqueueCheck) {
	kind := queue.kinds.of(event)
	if !kind.interesting {
		return
	}
	sequence := queue.happened(kind, old, new)
	named := queue.narrow(logger, kind, old, new, check)
	// Zero here proves that nothing was parked before the stamps.
	if queue.words.Parked() == 0 && queue.words.Gated() == 0 || named.none() {
		return
	}
	for i := range kind.reactions {
		queue.react(logger, sequence, kind, &kind.reactions[i], named, old, new, check)
	}
}

// happened draws the sequence of an event, logs it and raises the stamps.
func (queue *Queue) happened(kind *eventKind, old, new any) (sequence uint64) {
	sequence = queue.begin(kind, old, new)
	for i := range kind.reactions {
		reaction := &kind.reactions[i]
		must(queue.library.EventStamp(sequence, reaction.profile.number, kind.stamped(reaction)))
	}
	return sequence
}

func (queue *Queue) begin(kind *eventKind, old, new any) uint64 {
	sequence, err := queue.library.EventBegin()
	must(err)
	if queue.flights.count.Load() > 0 {
		queue.log.put(&happening{sequence, kind, old, new})
		queue.log.trim(sequence, &queue.flights)
	}
	return sequence
}

// must is for answers that only a mistake in this package can cause.
func must(err error) {
	if err != nil {
		panic("kubequeue: " + err.Error())
	}
}

// batchSize is how many pods cross from C at once: few enough for the stack.
const batchSize = 64

// react tries the pods of one profile.
func (queue *Queue) react(logger klog.Logger, sequence uint64, kind *eventKind, reaction *reaction, named *named, old, new any,
	check internalqueue.PreEnqueueCheck) {
	// Rejectors without a bit of their own hear of all, so the set is not empty.
	query := schedq.Query{
		Profile:   reaction.profile.number,
		Rejectors: kind.stamped(reaction) | schedq.RejectorOthers,
		Gates:     kind.gates(reaction),
	}
	queue.visit(&query, func(found []schedq.Candidate) {
		var batch batch
		for i := range found {
			entry := queue.table.get(found[i].Object)
			if entry == nil { // its life has ended
				continue
			}
			if entry.entity != nil {
				entry.entity.happened(logger, entry, sequence, kind, named, old, new, check)
				continue
			}
			if !named.has(entry.name) {
				continue
			}
			pod := waitingCandidate(entry, &found[i])
			record := entry.record.Load()
			if check != nil && !check(record.pod) {
				continue
			}
			strategy := queue.worth(logger, kind, named, entry.profile, record.pod, pod.rejectors, old, new)
			if strategy == skip {
				continue
			}
			pod.judged = strategy
			batch.add(pod, queue.decide(logger, &pod, record))
		}
		queue.applyBatch(logger, &batch, kind, named, old, new)
	})
}

// visit gives all pods that a query finds, some at a time.
func (queue *Queue) visit(query *schedq.Query, each func([]schedq.Candidate)) {
	var found [batchSize]schedq.Candidate
	for {
		count, err := queue.library.Candidates(query, found[:])
		must(err)
		if count == 0 {
			return
		}
		each(found[:count])
	}
}

// waiting is a pod that waits, at the version that was looked at.
type waiting struct {
	entry      *entry
	ref        schedq.Ref
	place      schedq.Place
	gate       schedq.Gate
	rejectors  rejectors
	backingOff bool
	inPlace    bool // if a gate refuses it where it is, it does not come in again
	flushed    bool // it waited for too long
	judged     strategy
}

func waitingCandidate(entry *entry, found *schedq.Candidate) waiting {
	return waiting{
		entry: entry, ref: found.Ref, place: found.Place, gate: found.Gate,
		rejectors: rejectors{found.Unschedulable, found.Pending}, backingOff: found.BackingOff,
	}
}

func waitingResult(entry *entry, found *schedq.Result) *waiting {
	return &waiting{
		entry: entry, ref: found.Ref, place: found.Place, gate: found.Gate,
		rejectors: rejectors{found.Unschedulable, found.Pending}, backingOff: found.BackingOff,
	}
}

// backoffHasPassed: gates that were asked before a backoff are not asked again when something takes the pod out of it.
const backoffHasPassed = release.Minor >= 35

// decide says where a pod goes that is to be tried again. Gates are asked, unless the pod backs off and the end of its backoff asks
// them, or its begin did. If the backoff ends before the decision is applied, the library says that the pod changed.
func (queue *Queue) decide(logger klog.Logger, pod *waiting, record *record) schedq.Decision {
	decision := schedq.Decision{
		Ref: pod.ref, Place: schedq.Active, Event: schedq.EventWildcard, JudgedUpTo: queue.words.EventSequence(),
		Flushed: pod.flushed,
	}
	if pod.judged == afterBackoff && pod.backingOff {
		decision.Place, decision.IfBackingOff = schedq.Backoff, queue.options.NoPopFromBackoff
	}
	asked := backoffHasPassed && !queue.options.NoPopFromBackoff && isBackoff(pod.place)
	if !decision.IfBackingOff && !asked {
		if decision.Gate = queue.gate(logger, pod.entry.profile, record.pod, pod.gate); decision.Gate != 0 {
			decision.Place = schedq.Gated
		}
	}
	return decision
}

func isBackoff(place schedq.Place) bool {
	return place == schedq.Backoff || place == schedq.ErrorBackoff
}

// batch are decisions that are applied in one call.
type batch struct {
	count     int
	pods      [batchSize]waiting
	decisions [batchSize]schedq.Decision
}

func (batch *batch) add(pod waiting, decision schedq.Decision) {
	batch.pods[batch.count], batch.decisions[batch.count] = pod, decision
	batch.count++
}

func (queue *Queue) applyBatch(logger klog.Logger, batch *batch, kind *eventKind, named *named, old, new any) {
	var answers [batchSize]schedq.Status
	var results [batchSize]schedq.Result
	if batch.count == 0 {
		return
	}
	_, _ = queue.library.ApplyMany(batch.decisions[:batch.count], answers[:batch.count], results[:batch.count])
	for i := range batch.count {
		pod := &batch.pods[i]
		if queue.applied(logger, pod, kind, &results[i], answers[i]) {
			continue
		}
		queue.try(logger, pod, kind, named, old, new)
	}
}

// try judges a pod that waits and takes it where that leads, and says where it is then; Nowhere: it does not wait any more.
func (queue *Queue) try(logger klog.Logger, pod *waiting, kind *eventKind, named *named, old, new any) schedq.Place {
	for {
		record := pod.entry.record.Load()
		strategy := queue.worth(logger, kind, named, pod.entry.profile, record.pod, pod.rejectors, old, new)
		if strategy == skip {
			return pod.place
		}
		if queue.route(logger, pod, record, kind, strategy) {
			return pod.place
		}
	}
}

// route takes a pod where a strategy leads. false: it changed meanwhile, judge it again.
func (queue *Queue) route(logger klog.Logger, pod *waiting, record *record, kind *eventKind, strategy strategy) bool {
	pod.judged = strategy
	decision := queue.decide(logger, pod, record)
	result, err := queue.library.Apply(&decision)
	answer := schedq.OK
	if err != nil && !errors.As(err, &answer) {
		must(err)
	}
	return queue.applied(logger, pod, kind, &result, answer)
}

// applied takes the answer to a decision. false: judge again.
func (queue *Queue) applied(logger klog.Logger, pod *waiting, kind *eventKind, result *schedq.Result,
	answer schedq.Status) bool {
	switch answer {
	case schedq.OK:
		was := pod.place
		pod.ref, pod.place, pod.gate, pod.backingOff = result.Ref, result.Place, result.Gate, result.BackingOff
		gained := result.Gate.Plugins() &^ pod.rejectors.all()
		pod.rejectors.unschedulable |= result.Gate.Plugins()
		queue.counted.moved(pod, kind, was, result.Place, gained)
		moved(logger, pod.entry.record.Load().pod, kind.label, result.Place)
		return true
	case schedq.ErrChanged:
		pod.ref, pod.place, pod.gate, pod.backingOff = result.Ref, result.Place, result.Gate, result.BackingOff
		pod.rejectors = rejectors{result.Unschedulable, result.Pending}
		return false
	case schedq.ErrRetry:
		return false
	case schedq.ErrGone:
	default:
		utilruntime.HandleErrorWithLogger(logger, answer, "Pod cannot be moved", "pod",
			klog.KObj(pod.entry.record.Load().pod), "event", kind.label)
	}
	pod.place = schedq.Nowhere
	return true
}

// Activate makes pods active that are parked, gated or back off; of a member of a group, the group. One in flight is tried again
// when it fails. Unknown pods, and the map's keys, mean nothing.
func (queue *Queue) Activate(logger klog.Logger, pods map[string]*v1.Pod) {
	for _, pod := range pods {
		if queue.activateMember(logger, pod) {
			continue
		}
		found, err := queue.library.Find(nameOf(pod))
		if err == nil && found.Place != schedq.Active {
			queue.activate(logger, pod, found.Pod)
		}
	}
}

// activate marks the pod first, then looks at it: if it was parked in between it is found; if it is parked later its holder gets RETRY.
func (queue *Queue) activate(logger klog.Logger, pod *v1.Pod, handle schedq.Pod) {
	kind := queue.kinds.of(framework.EventForceActivate)
	queue.begin(kind, nil, pod)
	if _, err := queue.library.Activate([]schedq.Pod{handle}); err != nil {
		utilruntime.HandleErrorWithLogger(logger, err, "Pod cannot be activated", "pod", klog.KObj(pod))
	}
	for {
		found, err := queue.library.Find(nameOf(pod))
		if err == nil && found.Pod == handle && found.Place == schedq.Held {
			_, err = queue.library.NotBefore(handle, 0) // its class keeps it back
		}
		if err != nil || found.Pod != handle || found.Ref == 0 {
			return
		}
		entry := queue.table.get(found.Object)
		if entry == nil {
			return
		}
		waiting := waitingResult(entry, &found)
		waiting.inPlace = true
		if queue.route(logger, waiting, entry.record.Load(), kind, unasked) {
			return
		}
	}
}
