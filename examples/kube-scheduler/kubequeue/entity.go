package kubequeue

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	v1 "k8s.io/api/core/v1"
)

// What the library holds is a pod, or a group of pods that is tried as one: an entity. Most of this package needs to know of
// groups only what is here; a release, or a configuration, without groups has none. groups_1_37.go says what groups are.

// entity is a group that an entry stands for.
type entity interface {
	// happened judges an event while the group is gated, check for at least one of its pods, or if pods are named, of those.
	happened(logger klog.Logger, entry *entry, event uint64, kind *eventKind, named *named, old, new any,
		check internalqueue.PreEnqueueCheck)
	// leftover is an event that reaches the group if it was not tried after a time, in the library's nanoseconds.
	leftover(logger klog.Logger, entry *entry, event uint64, kind *eventKind, notAfter int64)
	// pods lists its pods.
	pods() []*v1.Pod
}

// groups are all groups of a queue.
type groups interface {
	// queued is a pod that waits; nil: no such pod is in a group.
	queued(name string, uid types.UID) *framework.PodInfo
	// narrows: an event for which pods are named is judged for their groups only.
	narrows() bool
	// name names the group of a pod that is named and passes check.
	name(named *named, pod types.NamespacedName, check internalqueue.PreEnqueueCheck)
	// land ends the flight of a pod that was popped with its group.
	land(uid types.UID)
	// ticked takes what the end of backoffs brought, and says how many groups are among it.
	ticked(logger klog.Logger) int
	// inFlight lists the pods that were popped with their groups.
	inFlight() []*v1.Pod
	// aside lists the pods that wait in no place: for the end of their group's cycle, and for their group to be declared.
	aside() (pending, incomplete []*v1.Pod)
	// shown shows what is aside, and counts what is at the places.
	shown() shown
	// close ends all flights.
	close()
}

// shown is how much of groups is at a place.
type shown struct{ active, backoff, gated atPlace }

type atPlace struct{ groups, pods int }
