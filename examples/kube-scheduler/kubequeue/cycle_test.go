package kubequeue

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq"
)

func TestPodThatIsPlaced(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		info := test.pop()
		if info.Pod != pod || info.Attempts != 1 || info.InitialAttemptTimestamp == nil ||
			!info.Timestamp.Equal(test.clock.Now()) {
			test.Errorf("popped %+v", info)
		}
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:1; records:1")
		test.Done("1")
		test.Done("1")
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
		if test.SchedulingCycle() != 1 {
			test.Errorf("cycle %d after one pop", test.SchedulingCycle())
		}
	})
}

func TestOrderIsPriorityThenTime(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		for i, priority := range []int32{0, 5, 5, -1, 9} {
			pod := test.pod(fmt.Sprint("p", i), fmt.Sprint(i))
			pod.Spec.Priority = &priority
			test.offer(pod)
			test.clock.SetTime(test.clock.Now().Add(time.Millisecond))
		}
		for _, want := range []string{"p4", "p1", "p2", "p0", "p3"} {
			if got := test.pop().Pod.Name; got != want {
				test.Errorf("popped %s, want %s", got, want)
			}
		}
	})
}

func TestEventDuringTheCycleCounts(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		info := test.pop()
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.fail(info, nodePluginName)
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
		if test.hints.asked.Load() != 1 {
			test.Errorf("the hint was asked %d times, want once", test.hints.asked.Load())
		}
	})
}

func TestPendingPluginSkipsTheBackoff(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		info := test.pop()
		info.PendingPlugins = sets.New(nodePluginName)
		test.fail(info)
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
	})
}

func TestErrorBacksOffAndIsNotPoppedEarly(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		test.fail(test.pop())
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
		if _, err := test.library.TryPop(); err != schedq.ErrEmpty {
			test.Errorf("popping a pod that backs off after an error: %v", err)
		}
		test.pass(2 * time.Second)
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		if info := test.pop(); info.ConsecutiveErrorsCount != 1 || info.Attempts != 2 {
			test.Errorf("popped again as %+v", info)
		}
	})
}

// The binding cycle calls Done before it binds: a failure after that comes without a cycle.
func TestFailureAfterDoneBringsThePodBack(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		info := test.pop().DeepCopy()
		test.Done("1")
		test.fail(info)
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
		back := test.get("a")
		if back.Attempts != 1 || back.ConsecutiveErrorsCount != 1 ||
			!back.InitialAttemptTimestamp.Equal(*info.InitialAttemptTimestamp) {
			test.Errorf("back as %+v", back)
		}
		if err := test.putBack(test.logger, info); err == nil {
			test.Error("a pod that is queued was added again")
		}
	})
}

// The failure handler looks the pod up by name and may find another one.
func TestPodRecreatedInFlight(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		info := test.pop().DeepCopy()
		test.forget(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1"}})
		again := test.add("a", "2")
		info.PodInfo, _ = framework.NewPodInfo(again)
		info.UnschedulablePlugins = sets.New(nodePluginName)
		if err := test.putBack(test.logger, info); err == nil {
			test.Error("no error for a pod that is gone")
		}
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		if popped := test.pop(); popped.Pod != again {
			test.Errorf("popped %v", popped.Pod)
		}
	})
}

func TestRejectorWithoutRegistration(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		test.fail(test.pop(), "NobodyKnows")
		if info := test.get("a"); !info.UnschedulablePlugins.Equal(sets.New("NobodyKnows")) {
			test.Errorf("parked as %+v", info)
		}
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
	})
}
