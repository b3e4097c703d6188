//go:build kube134

package kubequeue

import (
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	apicalls "k8s.io/kubernetes/pkg/scheduler/framework/api_calls"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// What kube-scheduler 1.34 calls.

const preset = schedq.PresetKube134

// fitGates says which feature gate this queue has no answer to.
func fitGates(*Options) error {
	if !utilfeature.DefaultFeatureGate.Enabled(features.SchedulerQueueingHints) {
		return errors.New("feature gate SchedulerQueueingHints is off: this queue knows no other way to judge an event")
	}
	return nil
}

// tell: nothing has rejected a popped pod yet.
func tell(info *framework.QueuedPodInfo, _ *flight, _ *schedq.Popped) {
	info.UnschedulablePlugins, info.PendingPlugins = sets.New[string](), sets.New[string]()
}

func (queue *Queue) Add(logger klog.Logger, pod *v1.Pod) {
	queue.admit(logger, pod, framework.EventUnscheduledPodAdd)
}

func (queue *Queue) Update(logger klog.Logger, old, new *v1.Pod) { queue.update(logger, old, new) }

func (queue *Queue) Delete(pod *v1.Pod) { queue.forget(pod) }

func (queue *Queue) Pop(logger klog.Logger) (*framework.QueuedPodInfo, error) {
	entry, popped, err := queue.take(logger)
	if entry == nil {
		return nil, err
	}
	return queue.fly(entry, popped), nil
}

// newGroups: this release has none.
func newGroups(*Queue) groups { return nil }

// activateMember: no pod is a member.
func (queue *Queue) activateMember(klog.Logger, *v1.Pod) bool { return false }

func (queue *Queue) AddUnschedulableIfNotPresent(logger klog.Logger, info *framework.QueuedPodInfo, _ int64) error {
	return queue.putBack(logger, info)
}

func (queue *Queue) GetPod(name, namespace string) (*framework.QueuedPodInfo, bool) {
	return queue.find(name, namespace)
}

func (queue *Queue) PatchPodStatus(pod *v1.Pod, condition *v1.PodCondition,
	nominating *release.NominatingInfo) (<-chan error, error) {
	return queue.patch(apicalls.Implementations.PodStatusPatch(pod, condition, nominating))
}

// AssignedPodAdded and AssignedPodUpdated are for schedulers without queueing hints; here hints decide.
func (queue *Queue) AssignedPodAdded(logger klog.Logger, pod *v1.Pod) {
	queue.MoveAllToActiveOrBackoffQueue(logger, framework.EventAssignedPodAdd, nil, pod, nil)
}

func (queue *Queue) AssignedPodUpdated(logger klog.Logger, old, new *v1.Pod, event fwk.ClusterEvent) {
	queue.MoveAllToActiveOrBackoffQueue(logger, event, old, new, nil)
}
