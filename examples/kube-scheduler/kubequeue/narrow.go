package kubequeue

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// With the feature gate SchedulerPreQueueingHints a plugin may give a pre-queueing hint with an event that it registers. It is asked
// once for each such event, and names the pods that the event can concern, or says that all may be. Then only the named ones
// are judged. A pod that is on no list is not judged, not even by plugins that gave no list. A pod that is on some lists is judged
// without the plugins whose lists lack it.
//
// The named pods are picked out of the library's candidates. To find them by their names would miss some: a holder that parks a
// pod looks at the stamps and then makes it wait, and only a reader of candidates makes the holder look again. The hints are
// asked after the stamps, and the log does not keep the lists: a pod that was in flight during the event is judged as if there
// were none.

// preHint is a pre-queueing hint of a plugin.
type preHint struct {
	plugin string
	ask    release.PreQueueingHintFn
}

// named are the pods that an event can concern, as "namespace/name". nil: all.
type named struct {
	pods     sets.Set[string]
	byPlugin map[string]sets.Set[string] // of the plugins that gave a list, in whichever profile
	groups   sets.Set[string]            // that named pods are members of, by "namespace/name"
}

// narrow asks the pre-queueing hints of an event.
func (queue *Queue) narrow(logger klog.Logger, kind *eventKind, old, new any, check internalqueue.PreEnqueueCheck) *named {
	if len(kind.preHints) == 0 || old == nil && new == nil {
		return nil
	}
	made := &named{sets.New[string](), map[string]sets.Set[string]{}, sets.New[string]()}
	for _, hint := range kind.preHints {
		answer, err := hint.ask(logger, old, new)
		if err != nil {
			logger.Error(err, "PreQueueingHintFn returns error, so all pods are judged", "event", kind.label, "plugin", hint.plugin)
			return nil
		}
		if answer.AllPods {
			release.CountPreQueueingHint(hint.plugin, "all_pods")
			return nil
		}
		release.CountPreQueueingHint(hint.plugin, "narrowed")
		list := made.byPlugin[hint.plugin]
		if list == nil {
			list = sets.New[string]()
			made.byPlugin[hint.plugin] = list
		}
		for _, pod := range answer.Pods {
			name := pod.Namespace + "/" + pod.Name
			list.Insert(name)
			made.pods.Insert(name)
			if queue.groups != nil {
				queue.groups.name(made, pod, check)
			}
		}
	}
	if queue.groups != nil && !queue.groups.narrows() {
		return nil
	}
	return made
}

// none: no pod is named.
func (named *named) none() bool { return named != nil && len(named.pods) == 0 }

func (named *named) has(name string) bool { return named == nil || named.pods.Has(name) }

// silent are the plugins of a profile that gave a list on which the pod is not.
func (named *named) silent(profile *profile, pod *v1.Pod) (silent schedq.Plugins) {
	if named == nil {
		return 0
	}
	name, known := nameOf(pod), profile.plugins.Load().byName
	for from, list := range named.byPlugin {
		if plugin := known[from]; plugin != nil && !list.Has(name) {
			silent |= plugin.bit
		}
	}
	return silent
}
