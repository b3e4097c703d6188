package kubequeue

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/testutil"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
)

// The scheduler's metrics belong to the process, so a test looks at what it changed.

func gauge(t *testing.T, metric metrics.GaugeMetric) float64 {
	t.Helper()
	value, err := testutil.GetGaugeMetricValue(metric)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func incomingCount(t *testing.T, queue, label string) float64 {
	t.Helper()
	value, err := testutil.GetCounterMetricValue(schedmetrics.SchedulerQueueIncomingPods.WithLabelValues(queue, label))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestMetrics(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		rejected := func() float64 { return gauge(test.T, schedmetrics.UnschedulableReason(nodePluginName, profileName)) }
		gated := func() float64 { return gauge(test.T, schedmetrics.UnschedulableReason(gatePluginName, profileName)) }
		flying := func() float64 {
			return gauge(test.T, schedmetrics.InFlightEvents.WithLabelValues(schedmetrics.PodPoppedInFlightEvent))
		}
		rejectedBefore, gatedBefore, flyingBefore := rejected(), gated(), flying()
		added := incomingCount(test.T, "active", framework.EventUnscheduledPodAdd.Label())
		failed := incomingCount(test.T, "unschedulable", framework.ScheduleAttemptFailure)
		moved := incomingCount(test.T, "backoff", nodeAdd.Label())
		early := incomingCount(test.T, "active", framework.PopFromBackoffQ)

		test.park("a", "1")
		if rejected() != rejectedBefore+1 || flying() != flyingBefore {
			test.Errorf("parked: rejected %+v, flying %+v", rejected()-rejectedBefore, flying()-flyingBefore)
		}
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		info := test.pop()
		if rejected() != rejectedBefore || flying() != flyingBefore+1 {
			test.Errorf("popped: rejected %+v, flying %+v", rejected()-rejectedBefore, flying()-flyingBefore)
		}
		for what, counted := range map[string]float64{
			"added":  incomingCount(test.T, "active", framework.EventUnscheduledPodAdd.Label()) - added,
			"failed": incomingCount(test.T, "unschedulable", framework.ScheduleAttemptFailure) - failed,
			"moved":  incomingCount(test.T, "backoff", nodeAdd.Label()) - moved,
			"early":  incomingCount(test.T, "active", framework.PopFromBackoffQ) - early,
		} {
			if counted != 1 {
				test.Errorf("%s: counted %v, want 1", what, counted)
			}
		}
		test.fail(info, nodePluginName)
		test.forget(info.Pod)
		if rejected() != rejectedBefore {
			test.Errorf("deleted: rejected %+v", rejected()-rejectedBefore)
		}
		shut := test.pod("b", "2")
		shut.Labels = map[string]string{"gate": "shut"}
		test.offer(shut)
		for range 3 { // refused each time, and one reason all the same
			test.MoveAllToActiveOrBackoffQueue(test.logger,
				fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel}, nil, nil, nil)
		}
		inVain := incomingCount(test.T, "unschedulable", framework.ForceActivate)
		test.Activate(test.logger, map[string]*v1.Pod{"b": shut})
		if incomingCount(test.T, "unschedulable", framework.ForceActivate) != inVain {
			test.Error("an activation in vain counts as incoming")
		}
		test.Queue.show()
		if gated() != gatedBefore+1 || gauge(test.T, schedmetrics.GatedPods()) != 1 {
			test.Errorf("gated: %v reasons, %v pods", gated()-gatedBefore, gauge(test.T, schedmetrics.GatedPods()))
		}
	})
}

// What is logged for pods in flight is of no use when none is.
func TestTheLogIsEmptyWhileNothingIsInFlight(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		logged := func() float64 {
			return gauge(test.T, schedmetrics.InFlightEvents.WithLabelValues(nodeAdd.Label()))
		}
		happen := func() { test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil) }
		before := logged()
		happen()
		if logged() != before {
			t.Errorf("nothing is in flight: %v events are logged", logged()-before)
		}
		test.add("a", "1")
		test.add("b", "2")
		first := test.pop()
		happen()
		second := test.pop()
		happen()
		if logged() != before+2 {
			t.Errorf("two pods in flight: %v events are logged, want 2", logged()-before)
		}
		test.Done(first.Pod.UID)
		test.fail(second, nodePluginName)
		if logged() != before {
			t.Errorf("nothing is in flight any more: %v events are logged", logged()-before)
		}
		test.want("activeQ:0; backoffQ:1; unschedulable:0; inFlight:0; records:1")
	})
}
