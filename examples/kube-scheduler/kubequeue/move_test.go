package kubequeue

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq"
)

func TestEventOfItsRejectorBringsAPodBack(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.park("a", "1")
		info := test.get("a")
		if !info.UnschedulablePlugins.Equal(sets.New(nodePluginName)) || info.UnschedulableCount != 1 {
			test.Errorf("parked as %+v", info)
		}
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeLabel, nil, nil, nil)
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
		if test.hints.asked.Load() != 0 {
			test.Error("an event that nobody registered reached a hint")
		}
		test.hints.answer = never
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
		test.hints.answer = always
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, func(*v1.Pod) bool { return false })
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
	})
}

func TestActivate(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		parked := test.park("a", "1")
		test.Activate(test.logger, map[string]*v1.Pod{"a": parked, "x": test.pod("unknown", "9")})
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		info := test.pop()
		test.Activate(test.logger, map[string]*v1.Pod{"a": parked})
		test.fail(info, nodePluginName)
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
	})
}

func TestLeftovers(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.park("a", "1")
		test.pass(5 * time.Minute)
		test.leftovers(test.logger)
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
		test.pass(time.Nanosecond)
		test.leftovers(test.logger)
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
	})
}

func TestWithoutPopFromBackoffGatesAreAskedWhenBackoffEnds(t *testing.T) {
	for _, engine := range []schedq.Engine{schedq.LockFree, schedq.Mutex} {
		test := newFixture(t, Options{Engine: engine, NoPopFromBackoff: true})
		pod := test.park("a", "1")
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
		shut := pod.DeepCopy()
		shut.Labels = map[string]string{"gate": "shut"}
		test.update(test.logger, pod, shut)
		test.pass(3 * time.Second)
		if info := test.get("a"); info.GatingPlugin != gatePluginName {
			test.Errorf("after its backoff the pod is %+v", info)
		}
	}
}

func TestWithoutPopFromBackoffAnUpdateAfterTheBackoffAsksTheGates(t *testing.T) {
	for _, engine := range []schedq.Engine{schedq.LockFree, schedq.Mutex} {
		for _, over := range []bool{false, true} {
			test := newFixture(t, Options{Engine: engine, NoPopFromBackoff: true})
			pod := test.add("a", "1")
			test.fail(test.pop(), gatePluginName)
			if over {
				test.pass(3 * time.Second)
			}
			asked := 0
			test.gates.before = func() { asked++ }
			shut := pod.DeepCopy()
			shut.Labels = map[string]string{"gate": "shut"}
			test.update(test.logger, pod, shut)
			if info := test.get("a"); (info.GatingPlugin == gatePluginName) != over || (asked > 0) != over {
				test.Errorf("backoff over: %v; the gate was asked %d times, the pod is %+v", over, asked, info)
			}
		}
	}
}

// A hint may take so long that the backoff, which let the pod by its gate, is over when its answer gets to the library.
func TestWithoutPopFromBackoffABackoffThatEndsWhileAHintRunsAsksTheGates(t *testing.T) {
	for _, engine := range []schedq.Engine{schedq.LockFree, schedq.Mutex} {
		test := newFixture(t, Options{Engine: engine, NoPopFromBackoff: true})
		pod := test.park("a", "1")
		shut := pod.DeepCopy()
		shut.Labels = map[string]string{"gate": "shut"}
		test.update(test.logger, pod, shut)
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
		test.hints.answer = func(*v1.Pod, any, any) fwk.QueueingHint {
			test.clock.SetTime(test.clock.Now().Add(3 * time.Second))
			return fwk.Queue
		}
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		if info := test.get("a"); info.GatingPlugin != gatePluginName {
			test.Errorf("after its backoff the pod is %+v; %s", info, test.summary())
		}
	}
}

func TestLogForgetsWhatNoFlightNeeds(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		test.pop()
		for range 3 * trimEvery {
			test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		}
		if test.log.get(1) == nil {
			test.Error("an event was forgotten that a pod in flight may need")
		}
		test.Done("1")
		for range 3 * trimEvery {
			test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		}
		if test.log.get(1) != nil || test.log.get(3*trimEvery) != nil {
			test.Error("an event is kept that nobody needs")
		}
	})
}

// What happens while a hint runs makes its answer out of date.
func TestUpdateWhileAHintRunsIsJudgedToo(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.park("a", "1")
		changed := pod.DeepCopy()
		changed.Labels = map[string]string{"gate": "shut"}
		times := 0
		test.hints.answer = func(*v1.Pod, any, any) fwk.QueueingHint {
			if times++; times == 1 {
				test.update(test.logger, pod, changed)
			}
			return fwk.Queue
		}
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		if info := test.get("a"); info.GatingPlugin != gatePluginName || info.Pod != changed {
			test.Errorf("the pod is %+v", info)
		}
	})
}

func TestActivationWhileAFailedPodIsJudged(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		info := test.pop()
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.hints.answer = func(*v1.Pod, any, any) fwk.QueueingHint {
			test.Activate(test.logger, map[string]*v1.Pod{"a": pod})
			return fwk.QueueSkip
		}
		test.fail(info, nodePluginName)
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
	})
}

func TestActivationIsForOnePod(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		first, second := test.add("a", "1"), test.add("b", "2")
		infos := []*framework.QueuedPodInfo{test.pop(), test.pop()}
		test.Activate(test.logger, map[string]*v1.Pod{"b": second})
		for _, info := range infos {
			test.fail(info, nodePluginName)
		}
		test.want("activeQ:0; backoffQ:1; unschedulable:1; inFlight:0; records:2")
		if parked := test.UnschedulablePods(); len(parked) != 1 || parked[0] != first {
			test.Errorf("parked: %v", parked)
		}
	})
}
