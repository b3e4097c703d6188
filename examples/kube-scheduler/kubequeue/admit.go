package kubequeue

import (
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	v1 "k8s.io/api/core/v1"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// nominatesGated: a pod that a gate refuses when it is added is nominated all the same.
const nominatesGated = release.Minor >= 37

// The informer tells of pods by Add, Update and Delete, from one goroutine. The library knows a pod by its name only, and has
// one pod a name, in flight too; here the uid is looked at: another pod under the name takes the place of the old one.

// admit puts a pod in the queue, active or gated, if it is this queue's. It is counted under an event.
func (queue *Queue) admit(logger klog.Logger, pod *v1.Pod, event fwk.ClusterEvent) {
	if !queue.shards.owns(queue.shards.of(pod)) {
		queue.foreign(logger, pod, pod)
		return
	}
	profile, label := queue.profiles.of(pod), event.Label()
	record := newRecord(profile, pod)
	entry := queue.table.add(profile, &queue.shards, record)
	spec := queue.spec(entry, record)
	for {
		spec.JudgedUpTo = queue.words.EventSequence()
		spec.Gate = queue.gate(logger, entry.profile, record.pod, 0)
		if (spec.Gate == 0 || nominatesGated) && record.pod.Status.NominatedNodeName != "" {
			queue.AddNominatedPod(logger, record.info, nil)
		}
		var result schedq.Result
		err := errNotOwned
		queue.shards.whileOwned(entry.shard, func() { result, err = queue.library.Add(entry.name, &spec) })
		switch err {
		case nil:
			queue.counted.entered(entry.profile, label, unasked, result.Place, spec.Gate.Plugins())
			moved(logger, record.pod, label, result.Place)
			return
		case schedq.ErrRetry: // the gate's verdict is out of date
			continue
		case schedq.ErrExists:
			if queue.replaces(entry, &result) {
				continue
			}
		case schedq.ErrClosed, errNotOwned:
		default:
			utilruntime.HandleErrorWithLogger(logger, err, "Pod cannot be queued", "pod", klog.KObj(record.pod))
		}
		queue.table.drop(entry.object)
		return
	}
}

// replaces makes room for a new pod under a name that is taken. A pod in flight stays if it is the same one: its cycle
// brings it back if need be.
func (queue *Queue) replaces(entry *entry, there *schedq.Result) bool {
	other := queue.table.get(there.Object)
	if other != nil && other.uid == entry.uid && there.Place == schedq.InFlight {
		other.record.Store(entry.record.Load())
		return false
	}
	queue.remove(there.Pod)
	return true
}

// remove deletes by handle.
func (queue *Queue) remove(pod schedq.Pod) {
	result, err := queue.library.DeletePod(pod)
	queue.left(&result, err)
}

// left ends the life of a pod that was deleted.
func (queue *Queue) left(result *schedq.Result, err error) {
	if err != nil {
		return
	}
	if entry := queue.table.get(result.Object); entry != nil && result.Place == schedq.Nowhere {
		queue.counted.released(entry.profile, result.Unschedulable|result.Pending)
	}
	queue.table.drop(result.Object)
}

// forget takes out the pod of a name, whatever its uid. The pod may be unknown, as each pod is once it was bound.
func (queue *Queue) forget(pod *v1.Pod) {
	queue.DeleteNominatedPodIfExists(pod)
	result, err := queue.library.Delete(nameOf(pod))
	queue.left(&result, err)
}

// update takes a pod's new state, and adds a pod that is unknown. A pod that waits is judged by what changed; one in flight
// will be, if it fails. old may be nil, or another pod of that name.
func (queue *Queue) update(logger klog.Logger, old, new *v1.Pod) {
	queue.change(logger, old, new, queue.changes(old, new))
}

// changes are the events that an update is to the pod itself.
func (queue *Queue) changes(old, new *v1.Pod) (events []*eventKind) {
	if old == nil {
		return []*eventKind{queue.kinds.of(release.OwnUpdate)}
	}
	for _, event := range release.Changes(new, old) {
		events = append(events, queue.kinds.of(event))
	}
	return events
}

func (queue *Queue) change(logger klog.Logger, old, new *v1.Pod, events []*eventKind) {
	name := nameOf(new)
	found, err := queue.library.Find(name)
	for err == nil {
		entry := queue.table.get(found.Object)
		if entry == nil { // its cycle ends just now: it is bound, or about to be
			return
		}
		// A shard is not changed in a queued pod: it leaves this one, and enters the other.
		if entry.uid != new.UID || entry.shard != queue.shards.of(new) {
			queue.remove(found.Pod)
			break
		}
		before := entry.record.Load()
		record := before.with(entry.profile, new)
		entry.record.Store(record)
		if found.Place == schedq.Held && record.alikeTo(before) {
			// Its class keeps it back, and the library knows nothing of what changed: an update there would let it go.
			if found, err = queue.library.Find(name); err != nil || found.Place == schedq.Held {
				return
			}
			continue
		}
		if found.Place == schedq.InFlight {
			queue.changeInFlight(logger, entry, found.Pod, old, new, events)
			return
		}
		if queue.changeQueued(logger, entry, found.Pod, record, old, events) {
			return
		}
		// Its cycle has ended since it was found: it is bound, or about to be. If its binding has failed already, it is back.
		if found, err = queue.library.Find(name); err != nil {
			return
		}
	}
	if old != nil && old.UID != new.UID {
		queue.DeleteNominatedPodIfExists(old)
	}
	if !queue.shards.owns(queue.shards.of(new)) {
		queue.foreign(logger, old, new)
		return
	}
	queue.admit(logger, new, release.UpdateOfUnknown)
}

// changeQueued updates a pod that was found active or waiting. false: that life of it has ended.
func (queue *Queue) changeQueued(logger klog.Logger, entry *entry, pod schedq.Pod, record *record, old *v1.Pod,
	events []*eventKind) bool {
	if old != nil {
		queue.UpdateNominatedPod(logger, old, record.info)
	}
	spec := queue.spec(entry, record)
	spec.Only = pod
	result, err := queue.library.Update(entry.name, &spec, 0, nil)
	switch {
	case err == schedq.ErrNotFound:
		return false
	case err != nil:
		utilruntime.HandleErrorWithLogger(logger, err, "Pod cannot be updated", "pod", klog.KObj(record.pod))
	case result.Place == schedq.InFlight:
		queue.changeInFlight(logger, entry, result.Pod, old, record.pod, events)
	case result.Place == schedq.Parked, result.Place == schedq.Gated:
		queue.judgeChange(logger, entry, &result, old, record.pod, events)
	}
	return true
}

// changeInFlight tells the pods in flight. The pod may have failed, and be parked on its old state, before the stamps: then it
// is judged as one that waits.
func (queue *Queue) changeInFlight(logger klog.Logger, entry *entry, pod schedq.Pod, old, new *v1.Pod, events []*eventKind) {
	for _, kind := range events {
		if kind.interesting {
			queue.happened(kind, old, new)
		}
	}
	found, err := queue.library.Find(entry.name)
	if err == nil && found.Pod == pod && (found.Place == schedq.Parked || found.Place == schedq.Gated) {
		queue.judgeChange(logger, entry, &found, old, new, events)
	}
}

// judgeChange takes a pod that waits to where the first event leads that takes it anywhere.
func (queue *Queue) judgeChange(logger klog.Logger, entry *entry, found *schedq.Result, old, new *v1.Pod,
	events []*eventKind) {
	pod := waitingResult(entry, found)
	pod.inPlace = true
	for _, kind := range events {
		place := queue.try(logger, pod, kind, nil, old, new)
		if place == schedq.Active || place == schedq.Backoff || place == schedq.ErrorBackoff {
			return
		}
	}
}
