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

// What kube-scheduler 1.37 calls. There are entities in its queue: pods, and with the feature gate GenericWorkload groups of them.

const preset = schedq.PresetKube137

// fitGates says which feature gate a queue with these options has no answer to.
func fitGates(options *Options) error {
	if options.Shards != nil && utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) {
		return errors.New("feature gate GenericWorkload is on, and pods are split over several schedulers: " +
			"each of them would have some members of a group")
	}
	return nil
}

// tell says what else the scheduler wants to know of a popped pod. What rejected it until now is for its log.
func tell(info *framework.QueuedPodInfo, flight *flight, popped *schedq.Popped) {
	info.UnschedulablePlugins = flight.entry.profile.names(popped.Unschedulable)
	info.PendingPlugins = flight.entry.profile.names(popped.Pending)
	info.WasFlushedFromUnschedulable, info.PodSignature = popped.Flushed, flight.record.signature
}

// Add puts a pod in the queue: active, or gated; a member of a group into its group.
func (queue *Queue) Add(ctx context.Context, pod *v1.Pod) {
	if groups := queue.of(pod); groups != nil {
		groups.add(klog.FromContext(ctx), pod)
		return
	}
	queue.admit(klog.FromContext(ctx), pod, framework.EventUnscheduledPodAdd)
}

// Update takes a pod's new state, and adds a pod that is unknown.
func (queue *Queue) Update(ctx context.Context, old, new *v1.Pod) {
	if groups := queue.of(new); groups != nil {
		groups.update(klog.FromContext(ctx), old, new, queue.changes(old, new))
		return
	}
	queue.update(klog.FromContext(ctx), old, new)
}

// Delete forgets a pod.
func (queue *Queue) Delete(logger klog.Logger, pod *v1.Pod) {
	if groups := queue.of(pod); groups != nil {
		groups.forget(logger, pod)
		return
	}
	queue.forget(pod)
}

// Pop takes the best pod, or group of pods, and waits for one if there is none. nil, nil: the queue is closed.
func (queue *Queue) Pop(logger klog.Logger) (framework.QueuedEntityInfo, error) {
	for {
		entry, popped, err := queue.take(logger)
		switch {
		case entry == nil:
			return nil, err // no entity, not one that is nil
		case entry.entity == nil:
			return queue.fly(entry, popped), nil
		}
		if info := queue.groups.(*podGroups).pop(logger, entry, popped.Token); info != nil {
			return info, nil
		}
	}
}

// AddUnschedulablePodIfNotPresent ends the cycle of a pod that failed.
func (queue *Queue) AddUnschedulablePodIfNotPresent(logger klog.Logger, info *framework.QueuedPodInfo, _ int64) error {
	if groups := queue.of(info.Pod); groups != nil {
		groups.putBack(logger, info)
		return nil
	}
	return queue.putBack(logger, info)
}

// activateMember activates a member's group. false: the pod is no member.
func (queue *Queue) activateMember(logger klog.Logger, pod *v1.Pod) bool {
	groups := queue.of(pod)
	if groups != nil {
		groups.activate(logger, pod)
	}
	return groups != nil
}

// GetPod describes a pod that is active, backs off, is parked or gated, or waits for its group.
func (queue *Queue) GetPod(name, namespace string, group *v1.PodSchedulingGroup) (*framework.QueuedPodInfo, bool) {
	if groups := queue.of(&v1.Pod{Spec: v1.PodSpec{SchedulingGroup: group}}); groups != nil {
		return groups.find(name, namespace)
	}
	return queue.find(name, namespace)
}

// PatchPodStatus hands a status to the API dispatcher. Only with the feature gate SchedulerAsyncAPICalls.
func (queue *Queue) PatchPodStatus(pod *v1.Pod, conditions []*v1.PodCondition,
	nominating *release.NominatingInfo) (<-chan error, error) {
	return queue.patch(apicalls.Implementations.PodStatusPatch(pod, conditions, nominating))
}

// Without the feature gate GenericWorkload the scheduler calls none of these.

// withGroups does something with groups, if there are any.
func (queue *Queue) withGroups(do func(*podGroups)) {
	if groups, _ := queue.groups.(*podGroups); groups != nil {
		do(groups)
	}
}

// AddPodGroup tells of a group. Its pods that came before join it.
func (queue *Queue) AddPodGroup(logger klog.Logger, group *schedulingv1beta1.PodGroup) {
	queue.withGroups(func(groups *podGroups) { groups.addPodGroup(logger, group) })
}

// UpdatePodGroup takes a group's new state.
func (queue *Queue) UpdatePodGroup(logger klog.Logger, group *schedulingv1beta1.PodGroup) {
	queue.withGroups(func(groups *podGroups) { groups.updatePodGroup(logger, group) })
}

// DeletePodGroup forgets a group. Its pods wait for another one of its name.
func (queue *Queue) DeletePodGroup(logger klog.Logger, group *schedulingv1beta1.PodGroup) {
	queue.withGroups(func(groups *podGroups) { groups.deletePodGroup(logger, group) })
}

// withComposites does something with groups that are above others, if there are any.
func (queue *Queue) withComposites(do func(*podGroups)) {
	queue.withGroups(func(groups *podGroups) {
		if groups.forest.composites {
			do(groups)
		}
	})
}

// AddCompositePodGroup tells of a group above others. The pods that waited for it join it.
func (queue *Queue) AddCompositePodGroup(logger klog.Logger, group *schedulingv1alpha3.CompositePodGroup) {
	queue.withComposites(func(groups *podGroups) { groups.addComposite(logger, group) })
}

// UpdateCompositePodGroup takes its new state.
func (queue *Queue) UpdateCompositePodGroup(logger klog.Logger, group *schedulingv1alpha3.CompositePodGroup) {
	queue.withComposites(func(groups *podGroups) { groups.updateComposite(logger, group) })
}

// DeleteCompositePodGroup forgets it. The pods below it wait for another one of its name.
func (queue *Queue) DeleteCompositePodGroup(logger klog.Logger, group *schedulingv1alpha3.CompositePodGroup) {
	queue.withComposites(func(groups *podGroups) { groups.deleteComposite(logger, group) })
}

// AddAttemptedPodGroupIfNeeded ends the cycle of a group.
//
// Errors: the group is queued.
func (queue *Queue) AddAttemptedPodGroupIfNeeded(logger klog.Logger, popped *framework.QueuedPodGroupInfo, _ int64,
	status *fwk.Status) (err error) {
	queue.withGroups(func(groups *podGroups) { err = groups.done(logger, popped, status) })
	return err
}

// GetPodGroup describes a root that is queued.
func (queue *Queue) GetPodGroup(name, namespace string, kind fwk.EntityKeyType) (info *framework.QueuedPodGroupInfo, found bool) {
	queue.withGroups(func(groups *podGroups) {
		info, found = groups.findGroup(fwk.EntityKey{Type: kind, Namespace: namespace, Name: name})
	})
	return info, found
}

// PendingPodGroupPods lists the pods that wait for the end of their group's cycle.
func (queue *Queue) PendingPodGroupPods() (pods []*v1.Pod) {
	queue.withGroups(func(groups *podGroups) { pods, _ = groups.aside() })
	return pods
}

// IncompletePodGroupPodsPods lists the pods whose group, or one above it, was not told of.
func (queue *Queue) IncompletePodGroupPodsPods() (pods []*v1.Pod) {
	queue.withGroups(func(groups *podGroups) { _, pods = groups.aside() })
	return pods
}
