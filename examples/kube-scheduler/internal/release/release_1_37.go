//go:build !kube134

package release

import (
	"context"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
)

// Minor is the release of Kubernetes 1.
const Minor = 37

// Unschedulable is the word for the parked and gated pods in the summary of PendingPods.
const Unschedulable = "unschedulableEntities"

// Types that have moved, or have another name.
type (
	APICacher           = fwk.APICacher
	EnqueueExtensions   = fwk.EnqueueExtensions
	EventRecorder       = events.EventRecorderLogger
	Handle              = fwk.Handle
	NominatingInfo      = fwk.NominatingInfo
	Plugin              = fwk.Plugin
	PreEnqueuePlugin    = fwk.PreEnqueuePlugin
	PreFilterExtensions = fwk.PreFilterExtensions
	PreFilterResult     = fwk.PreFilterResult
	PreQueueingHintFn   = fwk.PreQueueingHintFn
	Queued              = fwk.QueuedEntityInfo // what a queue sort plugin compares
	Signature           = fwk.PodSignature
)

// ModeOverride is the mode of a nomination that does not look at the pod's status.
const ModeOverride = fwk.ModeOverride

// UpdateOfUnknown is the event under which an update counts that adds its pod.
var UpdateOfUnknown = framework.EventUnscheduledPodAdd

// OwnUpdate is what an update of a pod that is not bound is to this pod itself, if nothing is known of what it changed.
var OwnUpdate = framework.EventTargetPodUpdate

// Changes are what an update of a pod is to this pod itself.
func Changes(new, old *v1.Pod) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(new, old, true)
}

// Signer says what pods of a profile have in common: two with the same signature fit the same nodes. nil: they are not signed.
func Signer(profile framework.Framework) func(context.Context, *v1.Pod) Signature {
	if !utilfeature.DefaultFeatureGate.Enabled(features.OpportunisticBatching) {
		return nil
	}
	return profile.SignPod
}

// Signed is a signature as bytes; nil: there is none.
func Signed(signature Signature) []byte { return signature }

// PreQueueingHint is what a plugin gave with an event to name the pods that it can concern; nil: nothing, or the feature gate is off.
func PreQueueingHint(event *fwk.ClusterEventWithHint) PreQueueingHintFn {
	if !utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPreQueueingHints) {
		return nil
	}
	return event.PreQueueingHintFn
}

// CountPreQueueingHint counts an answer of a plugin's pre-queueing hints.
func CountPreQueueingHint(plugin, answer string) {
	schedmetrics.PreQueueingHintEvaluations.WithLabelValues(plugin, answer).Inc()
}

// Informers makes the informers that a scheduler needs.
func Informers(client clientset.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0, nil)
}

// Replace gives a scheduler a queue.
func Replace(sched *scheduler.Scheduler, queue internalqueue.SchedulingQueue) {
	sched.SchedulingQueue, sched.NextEntity = queue, queue.Pop
}

// GetPod finds a queued pod.
func GetPod(queue internalqueue.SchedulingQueue, pod *v1.Pod) (*framework.QueuedPodInfo, bool) {
	return queue.GetPod(pod.Name, pod.Namespace, pod.Spec.SchedulingGroup)
}

// Entities counts what is queued at a place; nil: this release does not.
func Entities(place string) metrics.GaugeMetric {
	return schedmetrics.QueuedEntities.WithLabelValues(place, schedmetrics.Pod)
}

// Groups counts the groups of pods that are queued at a place; nil: this release has none.
func Groups(place string) metrics.GaugeMetric {
	return schedmetrics.QueuedEntities.WithLabelValues(place, schedmetrics.PodGroup)
}

// IncomingEntities counts what an event brought to a place from another; nil: this release does not.
func IncomingEntities(place, event string) metrics.CounterMetric {
	return schedmetrics.SchedulerQueueIncomingEntities.WithLabelValues(place, event, schedmetrics.Pod)
}
