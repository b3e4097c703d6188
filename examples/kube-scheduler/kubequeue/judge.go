package kubequeue

import (
	"context"
	"math/rand"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	v1 "k8s.io/api/core/v1"

	"schedq"
)

// Plugins judge: hints say what an event is worth to a pod, gates whether a pod may be tried at all. Both are Go code of
// unknown length over Go objects. They run with nothing held, on a record that does not change. The result is applied
// only if the pod still is at the version that was judged.

// strategy is what an event means to a pod.
type strategy int

const (
	skip strategy = iota
	afterBackoff
	immediately
	unasked // immediately, and no hint said so: an activation, the end of a backoff
)

// rejectors are the plugins that rejected a pod.
type rejectors struct {
	unschedulable schedq.Plugins
	pending       schedq.Plugins // those that only wait for something
}

func (rejectors rejectors) all() schedq.Plugins { return rejectors.unschedulable | rejectors.pending }

// worth says what an event means to a pod, by the plugins that named it, if only some pods were named.
func (queue *Queue) worth(logger klog.Logger, kind *eventKind, named *named, profile *profile, pod *v1.Pod, rejectors rejectors,
	old, new any) strategy {
	switch {
	case rejectors.all() == 0:
		return afterBackoff
	case kind.wildcard:
		// A wildcard with a pod is for that pod only.
		if target, isPod := new.(*v1.Pod); new != nil && (!isPod || target.UID != pod.UID) {
			return skip
		}
		return afterBackoff
	case profile.unknown, rejectors.all()&schedq.RejectorOthers != 0:
		return afterBackoff
	}
	reaction := kind.reaction(profile)
	best := skip
	for set := reaction.plugins & rejectors.all() &^ named.silent(profile, pod); set != 0; set &= set - 1 {
		bit := set & -set
		// Only a plugin that waits can do better than what is there already.
		if best == afterBackoff && rejectors.pending&bit == 0 {
			continue
		}
		for _, hint := range reaction.hints[bit.Gate()-1] {
			if queue.ask(logger, kind, profile, bit, hint, pod, old, new) == fwk.QueueSkip {
				continue
			}
			if rejectors.pending&bit != 0 {
				return immediately
			}
			best = afterBackoff
			break
		}
		if best == afterBackoff && rejectors.pending == 0 {
			break
		}
	}
	return best
}

// ask asks one hint. An error counts as an event that helps, or the pod could be stuck.
func (queue *Queue) ask(logger klog.Logger, kind *eventKind, profile *profile, bit schedq.Plugins, hint fwk.QueueingHintFn,
	pod *v1.Pod, old, new any) fwk.QueueingHint {
	start := time.Now()
	answer, err := hint(logger, pod, old, new)
	outcome := schedmetrics.QueueingHintResultQueue
	switch {
	case err != nil:
		outcome = schedmetrics.QueueingHintResultError
	case answer == fwk.QueueSkip:
		outcome = schedmetrics.QueueingHintResultQueueSkip
	}
	profile.each(bit, func(plugin *plugin) {
		if err != nil {
			utilruntime.HandleErrorWithLogger(logger, err, "QueueingHintFn returns error", "event", kind.label, "plugin",
				plugin.name, "pod", klog.KObj(pod))
		}
		queue.recorder.ObserveQueueingHintDurationAsync(plugin.name, kind.label, outcome, schedmetrics.SinceInSeconds(start))
	})
	if err != nil {
		return fwk.Queue
	}
	return answer
}

// pluginSamplePercent is how many runs of gates are measured plugin by plugin, as scheduler.New has it.
const pluginSamplePercent = 10

const preEnqueue = "PreEnqueue"

// gate asks the gates, the one that holds the pod first, and returns the one that refuses; 0: none.
func (queue *Queue) gate(logger klog.Logger, profile *profile, pod *v1.Pod, current schedq.Gate) (refused schedq.Gate) {
	if len(profile.gates) == 0 {
		return 0
	}
	ctx := klog.NewContext(context.Background(), logger)
	start := time.Now()
	outcome := fwk.Success
	defer func() {
		schedmetrics.FrameworkExtensionPointDuration.WithLabelValues(preEnqueue, outcome.String(), profile.name).
			Observe(schedmetrics.SinceInSeconds(start))
	}()
	measured := rand.Intn(100) < pluginSamplePercent
	for _, plugin := range profile.gates {
		if plugin.bit.Gate() == current {
			if outcome = queue.askGate(ctx, plugin, pod, measured); outcome != fwk.Success {
				return current
			}
		}
	}
	for _, plugin := range profile.gates {
		if plugin.bit.Gate() == current {
			continue
		}
		if outcome = queue.askGate(ctx, plugin, pod, measured); outcome != fwk.Success {
			return plugin.bit.Gate()
		}
	}
	return 0
}

func (queue *Queue) askGate(ctx context.Context, plugin *plugin, pod *v1.Pod, measured bool) fwk.Code {
	start := time.Now()
	status := plugin.gate.PreEnqueue(ctx, pod)
	if measured {
		queue.recorder.ObservePluginDurationAsync(preEnqueue, plugin.name, status.Code().String(),
			schedmetrics.SinceInSeconds(start))
	}
	switch {
	case status.IsSuccess():
		return fwk.Success
	case status.Code() == fwk.Error:
		utilruntime.HandleErrorWithContext(ctx, status.AsError(), "Unexpected error running PreEnqueue plugin", "pod",
			klog.KObj(pod), "plugin", plugin.name)
	default:
		klog.FromContext(ctx).V(4).Info("Status after running PreEnqueue plugin", "pod", klog.KObj(pod), "plugin",
			plugin.name, "status", status)
	}
	return status.Code()
}
