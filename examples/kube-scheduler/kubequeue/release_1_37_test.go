//go:build !kube134

package kubequeue

import (
	"context"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// What 1.37 does otherwise than 1.34.

// shut adds a pod that the gate refuses.
func (test *fixture) shut(name, uid string) *v1.Pod {
	test.Helper()
	pod := test.pod(name, uid)
	pod.Labels = map[string]string{"gate": "shut"}
	test.offer(pod)
	return pod
}

func TestAWildcardAsksTheGateAgain(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.shut("a", "1")
		label := framework.EventUnschedulableTimeout.Label()
		asked, came := 0, incomingCount(test.T, "unschedulable", label)
		test.gates.before = func() { asked++ }
		test.MoveAllToActiveOrBackoffQueue(test.logger, framework.EventUnschedulableTimeout, nil, nil, nil)
		if asked != 1 {
			test.Errorf("the gate was asked %d times, want once", asked)
		}
		if got := incomingCount(test.T, "unschedulable", label) - came; got != 1 {
			test.Errorf("a pod that was tried in vain came in %v times, want once", got)
		}
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
	})
}

func TestAGatedLeftoverIsTriedOncePerLimit(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.shut("a", "1")
		asked := 0
		test.gates.before = func() { asked++ }
		for _, step := range []struct {
			pass  time.Duration
			asked int
		}{{5 * time.Minute, 0}, {1, 1}, {5 * time.Minute, 1}, {1, 2}} {
			test.pass(step.pass)
			test.leftovers(test.logger)
			if asked != step.asked {
				test.Fatalf("the gate was asked %d times, want %d", asked, step.asked)
			}
		}
	})
}

func TestAPopTellsOfTheFlushAndOfTheRejectors(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.park("a", "1")
		test.pass(6 * time.Minute)
		test.leftovers(test.logger)
		info := test.pop()
		if !info.WasFlushedFromUnschedulable || !info.UnschedulablePlugins.Has(nodePluginName) {
			test.Errorf("popped after a flush as %+v", info)
		}
		test.fail(info, nodePluginName)
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		if info := test.pop(); info.WasFlushedFromUnschedulable {
			test.Errorf("popped after an event as %+v", info)
		}
	})
}

// A leftover that the gate holds up is not flushed when an event brings it out.
func TestAGateEndsTheFlush(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.park("a", "1")
		shut := pod.DeepCopy()
		shut.Labels = map[string]string{"gate": "shut"}
		test.update(test.logger, pod, shut)
		test.pass(6 * time.Minute)
		test.leftovers(test.logger)
		if info := test.get("a"); info.GatingPlugin != gatePluginName {
			test.Fatalf("the pod is %+v", info)
		}
		test.update(test.logger, shut, pod)
		if info := test.pop(); info.WasFlushedFromUnschedulable {
			test.Errorf("popped as %+v", info)
		}
	})
}

func TestActivationOutOfBackoffAsksNoGate(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		test.fail(test.pop())
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
		asked := 0
		test.gates.before = func() { asked++ }
		test.Activate(test.logger, map[string]*v1.Pod{"a": pod})
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		if asked != 0 {
			test.Errorf("the gate was asked %d times", asked)
		}
	})
}

func TestAnUpdateThatAddsIsAnAdd(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		before := incomingCount(test.T, "active", framework.EventUnscheduledPodAdd.Label())
		test.update(test.logger, nil, test.pod("a", "1"))
		if got := incomingCount(test.T, "active", framework.EventUnscheduledPodAdd.Label()) - before; got != 1 {
			test.Errorf("counted %v adds, want 1", got)
		}
	})
}

func TestAPodThatIsGatedWhenItIsAddedIsNominated(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.pod("a", "1")
		pod.Labels = map[string]string{"gate": "shut"}
		pod.Status.NominatedNodeName = "node"
		test.offer(pod)
		if got := test.NominatedPodsForNode("node"); len(got) != 1 {
			test.Errorf("nominated: %v", got)
		}
	})
}

// Arrivals count as entities unless the pod is where its judgement takes it to be.
func TestEntities(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		count := func(place, event string) float64 {
			value, err := testutil.GetCounterMetricValue(release.IncomingEntities(place, event))
			if err != nil {
				test.Fatal(err)
			}
			return value
		}
		type arrival struct {
			place, event string
			want         float64
		}
		counted := []arrival{
			{"active", framework.EventUnscheduledPodAdd.Label(), 1},
			{"unschedulable", framework.ScheduleAttemptFailure, 0},
			{"backoff", nodeAdd.Label(), 0},
			{"active", framework.PopFromBackoffQ, 1},
			{"active", nodeAdd.Label(), 1}, // its backoff is over
			{"active", framework.ForceActivate, 1},
		}
		before := map[arrival]float64{}
		for _, arrival := range counted {
			before[arrival] = count(arrival.place, arrival.event)
		}
		pod := test.park("a", "1")
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.fail(test.pop(), nodePluginName)
		test.pass(10 * time.Second)
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.fail(test.pop(), nodePluginName)
		test.Activate(test.logger, map[string]*v1.Pod{"a": pod})
		for _, arrival := range counted {
			if got := count(arrival.place, arrival.event) - before[arrival]; got != arrival.want {
				test.Errorf("%s by %s: counted %v, want %v", arrival.place, arrival.event, got, arrival.want)
			}
		}
		test.Queue.show()
		if got := gauge(test.T, release.Entities("active")); got != 1 {
			test.Errorf("%v active entities are shown, want 1", got)
		}
	})
}

// A pop brings the signature of the pod as the queue has it, and a failure keeps it.
func TestSignature(t *testing.T) {
	for _, engine := range []schedq.Engine{schedq.LockFree, schedq.Mutex} {
		signed := 0
		test := newFixtureWith(t, Options{Engine: engine}, Plugins{
			Sign: func(_ context.Context, pod *v1.Pod) fwk.PodSignature {
				signed++
				return fwk.PodSignature(pod.Labels["kind"])
			},
		})
		pod := test.add("a", "1")
		changed := pod.DeepCopy()
		changed.Labels = map[string]string{"kind": "small"}
		test.update(test.logger, pod, changed)
		info := test.pop()
		if string(info.PodSignature) != "small" || signed != 2 {
			test.Errorf("popped with the signature %q, signed %d times", info.PodSignature, signed)
		}
		test.fail(info)
		test.pass(2 * time.Second)
		if info := test.pop(); string(info.PodSignature) != "small" || signed != 2 {
			test.Errorf("popped again with the signature %q, signed %d times", info.PodSignature, signed)
		}
	}
}

func TestAClosedQueuePopsNoEntity(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.Close()
		if entity, err := test.Pop(test.logger); entity != nil || err != nil {
			test.Errorf("popped %v, %v", entity, err)
		}
	})
}
