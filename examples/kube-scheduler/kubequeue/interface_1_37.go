//go:build !kube134

package kubequeue

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	apicalls "k8s.io/kubernetes/pkg/scheduler/framework/api_calls"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// What kube-scheduler 1.37 calls. There are entities in its queue, pods and groups of them; here each is a pod.

const preset = schedq.PresetKube137

// fitGates says which feature gate this queue has no answer to.
func fitGates() error {
	if utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		return errors.New("feature gate GenericWorkload is on: this queue keeps no pod groups")
	}
	return nil
}

// tell says what else the scheduler wants to know of a popped pod. What rejected it until now is for its log.
func tell(info *framework.QueuedPodInfo, flight *flight, popped *schedq.Popped) {
	info.UnschedulablePlugins = flight.entry.profile.names(popped.Unschedulable)
	info.PendingPlugins = flight.entry.profile.names(popped.Pending)
	info.WasFlushedFromUnschedulable, info.PodSignature = popped.Flushed, flight.record.signature
}

// Add puts a pod in the queue: active, or gated.
func (queue *Queue) Add(ctx context.Context, pod *v1.Pod) {
	queue.admit(klog.FromContext(ctx), pod, framework.EventUnscheduledPodAdd)
}

// Update takes a pod's new state, and adds a pod that is unknown.
func (queue *Queue) Update(ctx context.Context, old, new *v1.Pod) {
	queue.update(klog.FromContext(ctx), old, new)
}

// Delete forgets a pod.
func (queue *Queue) Delete(_ klog.Logger, pod *v1.Pod) { queue.forget(pod) }

// Pop takes the best pod and waits for one if there is none. nil, nil: the queue is closed.
func (queue *Queue) Pop(logger klog.Logger) (framework.QueuedEntityInfo, error) {
	info, err := queue.take(logger)
	if info == nil {
		return nil, err // no entity, not one that is nil
	}
	return info, err
}

// AddUnschedulablePodIfNotPresent ends the cycle of a pod that failed.
func (queue *Queue) AddUnschedulablePodIfNotPresent(logger klog.Logger, info *framework.QueuedPodInfo, _ int64) error {
	return queue.putBack(logger, info)
}

// GetPod describes a pod that is active, backs off, is parked or gated.
func (queue *Queue) GetPod(name, namespace string, _ *v1.PodSchedulingGroup) (*framework.QueuedPodInfo, bool) {
	return queue.find(name, namespace)
}

// PatchPodStatus hands a status to the API dispatcher. Only with the feature gate SchedulerAsyncAPICalls.
func (queue *Queue) PatchPodStatus(pod *v1.Pod, conditions []*v1.PodCondition,
	nominating *release.NominatingInfo) (<-chan error, error) {
	return queue.patch(apicalls.Implementations.PodStatusPatch(pod, conditions, nominating))
}

// Without the feature gate GenericWorkload there are no groups, and the scheduler calls none of these; its debugger and tests ask
// for the pods of groups, and there are none.

var errNoGroups = errors.New("kubequeue: this queue keeps no pod groups")

func (queue *Queue) AddPodGroup(klog.Logger, *schedulingv1beta1.PodGroup)    {}
func (queue *Queue) UpdatePodGroup(klog.Logger, *schedulingv1beta1.PodGroup) {}
func (queue *Queue) DeletePodGroup(klog.Logger, *schedulingv1beta1.PodGroup) {}

func (queue *Queue) AddCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup)    {}
func (queue *Queue) UpdateCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}
func (queue *Queue) DeleteCompositePodGroup(klog.Logger, *schedulingv1alpha3.CompositePodGroup) {}

func (queue *Queue) AddAttemptedPodGroupIfNeeded(klog.Logger, *framework.QueuedPodGroupInfo, int64, *fwk.Status) error {
	return errNoGroups
}

func (queue *Queue) GetPodGroup(string, string, fwk.EntityKeyType) (*framework.QueuedPodGroupInfo, bool) {
	return nil, false
}

func (queue *Queue) PendingPodGroupPods() []*v1.Pod        { return nil }
func (queue *Queue) IncompletePodGroupPodsPods() []*v1.Pod { return nil }
