package kubequeue

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

func TestUpdateWithAnotherUIDReplaces(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		old := test.park("a", "1")
		test.Update(test.logger, old, test.pod("a", "2"))
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
		if info := test.pop(); info.Pod.UID != "2" || info.Attempts != 1 {
			test.Errorf("popped %+v", info)
		}
		test.Update(test.logger, nil, test.pod("b", "3"))
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:1; records:2")
	})
}

func TestUpdateInFlightIsTakenWhenThePodFails(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		old := test.add("a", "1")
		info := test.pop()
		changed := old.DeepCopy()
		changed.Labels = map[string]string{"new": "yes"}
		test.Update(test.logger, old, changed)
		test.want("activeQ:0; backoffQ:0; unschedulablePods:0; inFlight:1; records:1")
		test.fail(info, nodePluginName)
		if got := test.get("a").Pod; got != changed {
			test.Errorf("the failed pod is %v, want the updated one", got)
		}
	})
}

// The informer may see a pod waiting whose cycle has ended when the update gets to the library.
func TestUpdateAfterTheCycleAddsNothing(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		found, err := test.library.Find("ns/a")
		if err != nil {
			test.Fatal(err)
		}
		entry := test.table.get(found.Object)
		test.Done(test.pop().Pod.UID)
		test.changeQueued(test.logger, entry, entry.record.Load(), pod, nil)
		test.want("activeQ:0; backoffQ:0; unschedulablePods:0; inFlight:0; records:0")
		if stats, err := test.library.Stats(); err != nil || stats.Adds != 1 {
			test.Errorf("the library counts %d pods that were added, %v", stats.Adds, err)
		}
	})
}

func TestGate(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.pod("a", "1")
		pod.Labels = map[string]string{"gate": "shut"}
		test.Add(test.logger, pod)
		info := test.get("a")
		if info.GatingPlugin != gatePluginName || !info.UnschedulablePlugins.Has(gatePluginName) ||
			len(info.GatingPluginEvents) != 1 {
			test.Errorf("gated as %+v", info)
		}
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.Activate(test.logger, map[string]*v1.Pod{"": pod})
		test.want("activeQ:0; backoffQ:0; unschedulablePods:1; inFlight:0; records:1")
		open := pod.DeepCopy()
		open.Labels["gate"] = "open"
		test.Update(test.logger, pod, open)
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
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
		test.Add(test.logger, pod)
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
	})
}

func TestAddOfAnotherPodUnderTheNameReplaces(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.park("a", "1")
		test.add("a", "2")
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
		info := test.pop()
		test.add("a", "3")
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:1; records:1")
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
		test.Update(test.logger, pod, shut)
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
