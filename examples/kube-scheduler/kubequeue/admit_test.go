package kubequeue

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	listersv1 "k8s.io/client-go/listers/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"schedq"
)

func TestUpdateWithAnotherUIDReplaces(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		old := test.park("a", "1")
		test.update(test.logger, old, test.pod("a", "2"))
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		if info := test.pop(); info.Pod.UID != "2" || info.Attempts != 1 {
			test.Errorf("popped %+v", info)
		}
		test.update(test.logger, nil, test.pod("b", "3"))
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:1; records:2")
	})
}

func TestUpdateInFlightIsTakenWhenThePodFails(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		old := test.add("a", "1")
		info := test.pop()
		changed := old.DeepCopy()
		changed.Labels = map[string]string{"new": "yes"}
		test.update(test.logger, old, changed)
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:1; records:1")
		test.fail(info, nodePluginName)
		if got := test.get("a").Pod; got != changed {
			test.Errorf("the failed pod is %v, want the updated one", got)
		}
	})
}

// there is what an update looks at first.
func (test *fixture) there(name string) (schedq.Result, *entry) {
	test.Helper()
	found, err := test.library.Find(name)
	if err != nil {
		test.Fatal(err)
	}
	return found, test.table.get(found.Object)
}

// The informer may see a pod waiting whose cycle has ended when the update gets to the library.
func TestUpdateAfterTheCycleAddsNothing(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		found, entry := test.there("ns/a")
		test.Done(test.pop().Pod.UID)
		if test.changeQueued(test.logger, entry, found.Pod, entry.record.Load(), pod, nil) {
			test.Error("a pod was updated whose cycle has ended")
		}
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
		if stats, err := test.library.Stats(); err != nil || stats.Adds != 1 {
			test.Errorf("the library counts %d pods that were added, %v", stats.Adds, err)
		}
	})
}

// bindLate places a pod as the scheduler does, whose bind then fails: it comes back, and may be popped.
func (test *fixture) bindLate() {
	test.Helper()
	info := test.pop().DeepCopy()
	test.Done(info.Pod.UID)
	test.fail(info)
	test.clock.SetTime(test.clock.Now().Add(2 * time.Second))
	if _, _, err := test.library.Tick(); err != nil {
		test.Fatal(err)
	}
}

// A bind may fail, too, before the update gets to the library: then the pod is there again, in another life.
func TestUpdateOfALifeThatEndedLeavesTheNextOneAlone(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		found, entry := test.there("ns/a")
		test.bindLate()
		if test.changeQueued(test.logger, entry, found.Pod, entry.record.Load(), pod, nil) {
			test.Error("a pod was updated whose cycle has ended")
		}
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		if info := test.pop(); info.Pod.UID != pod.UID || info.Attempts != 2 {
			test.Errorf("popped %+v", info)
		}
	})
}

// lister does something before it finds the first pod.
type lister struct {
	listersv1.PodLister
	before func()
}

func (lister *lister) Pods(namespace string) listersv1.PodNamespaceLister {
	if before := lister.before; before != nil {
		lister.before = nil
		before()
	}
	return lister.PodLister.Pods(namespace)
}

// The nominator asks the lister between the look at the pod and its update.
func TestUpdateReachesAPodThatComesBackMeanwhile(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		test.nominator.lister = &lister{test.nominator.lister, test.bindLate}
		changed := pod.DeepCopy()
		changed.Status.NominatedNodeName = "node"
		test.update(test.logger, pod, changed)
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		if info := test.pop(); info.Pod != changed || info.Attempts != 2 {
			test.Errorf("popped %+v", info)
		}
	})
}

func TestGate(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.pod("a", "1")
		pod.Labels = map[string]string{"gate": "shut"}
		test.offer(pod)
		info := test.get("a")
		if info.GatingPlugin != gatePluginName || !info.UnschedulablePlugins.Has(gatePluginName) ||
			len(info.GatingPluginEvents) != 1 {
			test.Errorf("gated as %+v", info)
		}
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.Activate(test.logger, map[string]*v1.Pod{"": pod})
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
		open := pod.DeepCopy()
		open.Labels["gate"] = "open"
		test.update(test.logger, pod, open)
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
	})
}

// An event that opens the gate may come while the gate is being asked.
func TestGateThatOpensWhileItIsAsked(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.pod("a", "1")
		pod.Labels = map[string]string{"gate": "shut"}
		times := 0
		test.gates.before = func() {
			if times++; times == 1 {
				test.MoveAllToActiveOrBackoffQueue(test.logger,
					fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel}, nil, nil, nil)
			} else {
				pod.Labels["gate"] = "open"
			}
		}
		test.offer(pod)
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
	})
}

func TestAddOfAnotherPodUnderTheNameReplaces(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.park("a", "1")
		test.add("a", "2")
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		info := test.pop()
		test.add("a", "3")
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:1; records:1")
		test.Done(info.Pod.UID)
		if again := test.pop(); again.Pod.UID != "3" {
			test.Errorf("popped %v, want the last one", again.Pod.UID)
		}
	})
}

// A gated pod hears of its gate's events only, whoever else rejected it.
func TestGatedPodDoesNotHearOfOthersEvents(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		info := test.pop()
		shut := pod.DeepCopy()
		shut.Labels = map[string]string{"gate": "shut"}
		test.update(test.logger, pod, shut)
		test.fail(info, nodePluginName)
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		if gated := test.get("a"); !gated.UnschedulablePlugins.HasAll(nodePluginName, gatePluginName) {
			test.Fatalf("gated as %+v", gated)
		}
		asked := 0
		test.gates.before = func() { asked++ }
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		if asked != 0 {
			test.Error("an event that the gate did not register had it asked")
		}
	})
}
