package kubequeue

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	v1 "k8s.io/api/core/v1"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// For people who look at a scheduler: its debugger, which SIGUSR2 starts, and tests.

// queued is a pod as the queue has it, for the nominator: not one in flight.
func (queue *Queue) queued(name string, uid types.UID) *framework.PodInfo {
	if queue.groups != nil {
		if info := queue.groups.queued(name, uid); info != nil {
			return info
		}
	}
	found, err := queue.library.Find(name)
	if err != nil {
		return queue.elsewhere(name, uid)
	}
	entry := queue.table.get(found.Object)
	if found.Place == schedq.InFlight || entry == nil || entry.uid != uid {
		return nil
	}
	return entry.record.Load().private()
}

// find describes a pod that is active, backs off, is parked or gated.
func (queue *Queue) find(name, namespace string) (*framework.QueuedPodInfo, bool) {
	found, err := queue.library.Find(namespace + "/" + name)
	if err != nil || found.Place == schedq.InFlight {
		return nil, false
	}
	pod, err := queue.library.Get(found.Pod)
	if err != nil {
		return nil, false
	}
	entry := queue.table.get(pod.Object)
	if entry == nil {
		return nil, false
	}
	info := queue.describe(entry.record.Load(), &pod.History)
	if pod.History.InitialAttempt != 0 {
		first := queue.time(pod.History.InitialAttempt)
		info.InitialAttemptTimestamp = &first
	}
	info.BackoffExpiration = queue.time(pod.BackoffExpiry)
	info.UnschedulablePlugins = entry.profile.names(pod.Unschedulable)
	info.PendingPlugins = entry.profile.names(pod.Pending)
	info.GatingPlugin, info.GatingPluginEvents = entry.profile.gating(pod.Gate)
	return info, true
}

// list returns the pods at some places, place by place, by priority and time.
func (queue *Queue) list(places ...schedq.Place) (lists [][]*v1.Pod) {
	pods, err := queue.library.Snapshot()
	if err != nil {
		return make([][]*v1.Pod, len(places))
	}
	slices.SortStableFunc(pods, func(a, b schedq.PodInfo) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.History.Timestamp, b.History.Timestamp))
	})
	for _, place := range places {
		var list []*v1.Pod
		for i := range pods {
			entry := queue.table.get(pods[i].Object)
			if entry == nil || shownAt(pods[i].Place, entry) != place {
				continue
			}
			switch {
			case entry.entity != nil:
				list = append(list, entry.entity.pods()...)
			default:
				list = append(list, entry.record.Load().pod)
			}
		}
		lists = append(lists, list)
	}
	return lists
}

// shownAt is the place at which kube-scheduler shows an entry that is at a place of the library. A group that is held backs off.
func shownAt(place schedq.Place, entry *entry) schedq.Place {
	switch {
	case place == schedq.ErrorBackoff, place == schedq.Held && entry.entity != nil:
		return schedq.Backoff
	case place == schedq.Gated:
		return schedq.Parked
	}
	return asParked(place)
}

// PendingPods lists all pods that are queued, and counts them in words.
func (queue *Queue) PendingPods() ([]*v1.Pod, string) {
	lists := queue.list(schedq.Active, schedq.Backoff, schedq.Parked)
	summary := fmt.Sprintf("activeQ:%v; backoffQ:%v; %s:%v", len(lists[0]), len(lists[1]), release.Unschedulable, len(lists[2]))
	if queue.groups != nil {
		pending, incomplete := queue.groups.aside()
		lists = append(lists, incomplete, pending)
		summary += fmt.Sprintf("; pendingPodGroupMemberPods:%v; incompletePodGroupPods:%v", len(pending), len(incomplete))
	}
	return slices.Concat(lists...), summary
}

// PodsInActiveQ lists the active pods, in the order in which they would be popped.
func (queue *Queue) PodsInActiveQ() []*v1.Pod { return queue.list(schedq.Active)[0] }

// PodsInBackoffQ lists the pods that back off.
func (queue *Queue) PodsInBackoffQ() []*v1.Pod { return queue.list(schedq.Backoff)[0] }

// UnschedulablePods lists the parked and the gated pods.
func (queue *Queue) UnschedulablePods() []*v1.Pod { return queue.list(schedq.Parked)[0] }

// InFlightPods lists the pods that were popped and whose cycle has not ended.
func (queue *Queue) InFlightPods() (pods []*v1.Pod) {
	for _, flight := range queue.flights.all() {
		pods = append(pods, flight.record.pod)
	}
	if queue.groups != nil {
		pods = append(pods, queue.groups.inFlight()...)
	}
	return pods
}

// Records is how many entities the Go side keeps for the library: when nothing happens, as many as there are in the queue, and
// pods in flight that are in no group. For tests that look for leaks.
func (queue *Queue) Records() int { return queue.table.count() }
