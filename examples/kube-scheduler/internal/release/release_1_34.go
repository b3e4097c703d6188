//go:build kube134

package release

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/component-base/metrics"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

const Minor = 34

const Unschedulable = "unschedulablePods"

type (
	APICacher           = framework.APICacher
	EnqueueExtensions   = framework.EnqueueExtensions
	EventRecorder       = events.EventRecorder
	Handle              = framework.Handle
	NominatingInfo      = framework.NominatingInfo
	Plugin              = framework.Plugin
	PreEnqueuePlugin    = framework.PreEnqueuePlugin
	PreFilterExtensions = framework.PreFilterExtensions
	PreFilterResult     = framework.PreFilterResult
	Queued              = fwk.QueuedPodInfo
	Signature           = struct{}
	PreQueueingHintFn   = func(logger klog.Logger, old, new any) (PreQueueingHintResult, error)
)

// PreQueueingHintResult is what 1.37 has.
type PreQueueingHintResult struct {
	AllPods bool
	Pods    []types.NamespacedName
}

const ModeOverride = framework.ModeOverride

var UpdateOfUnknown = framework.EventUnscheduledPodUpdate

var OwnUpdate = framework.EventUnscheduledPodUpdate

func Changes(new, old *v1.Pod) []fwk.ClusterEvent {
	return framework.PodSchedulingPropertiesChange(new, old)
}

func Signer(framework.Framework) func(context.Context, *v1.Pod) Signature { return nil }

func Signed(Signature) []byte { return nil }

func PreQueueingHint(*fwk.ClusterEventWithHint) PreQueueingHintFn { return nil }

func CountPreQueueingHint(string, string) {}

func Informers(client clientset.Interface) informers.SharedInformerFactory {
	return scheduler.NewInformerFactory(client, 0)
}

func Replace(sched *scheduler.Scheduler, queue internalqueue.SchedulingQueue) {
	sched.SchedulingQueue, sched.NextPod = queue, queue.Pop
}

func GetPod(queue internalqueue.SchedulingQueue, pod *v1.Pod) (*framework.QueuedPodInfo, bool) {
	return queue.GetPod(pod.Name, pod.Namespace)
}

func Entities(string) metrics.GaugeMetric { return nil }

func Groups(string) metrics.GaugeMetric { return nil }

func IncomingEntities(string, string) metrics.CounterMetric { return nil }
