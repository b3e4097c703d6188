package kubequeue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	listersv1 "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	testclock "k8s.io/utils/clock/testing"

	"schedq"
)

// The tests drive the queue as the scheduler does, on both engines, with a clock that they move.

const profileName = "default-scheduler"

// nodePlugin wants to hear of nodes; its hint says what the test wants, and notes whom it was asked about.
type nodePlugin struct {
	answer func(pod *v1.Pod, old, new any) fwk.QueueingHint
	asked  atomic.Int64
}

const nodePluginName = "NodePlugin"

func (plugin *nodePlugin) Name() string { return nodePluginName }

func (plugin *nodePlugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{
		Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.UpdateNodeTaint},
		QueueingHintFn: func(_ klog.Logger, pod *v1.Pod, old, new any) (fwk.QueueingHint, error) {
			plugin.asked.Add(1)
			return plugin.answer(pod, old, new), nil
		},
	}}, nil
}

// gatePlugin refuses the pods whose label "gate" is "shut".
type gatePlugin struct{ before func() }

const gatePluginName = "GatePlugin"

func (plugin *gatePlugin) Name() string { return gatePluginName }

func (plugin *gatePlugin) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	if plugin.before != nil {
		plugin.before()
	}
	if pod.Labels["gate"] == "shut" {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "shut")
	}
	return nil
}

func (plugin *gatePlugin) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Pod, ActionType: fwk.UpdatePodLabel}},
	}, nil
}

var (
	nodeAdd   = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add}
	nodeLabel = fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeLabel}
)

// fixture is a queue with two plugins, a lister and a clock.
type fixture struct {
	*Queue
	*testing.T
	logger klog.Logger
	clock  *testclock.FakePassiveClock
	lister cache.Indexer
	hints  *nodePlugin
	gates  *gatePlugin
}

func always(*v1.Pod, any, any) fwk.QueueingHint { return fwk.Queue }
func never(*v1.Pod, any, any) fwk.QueueingHint  { return fwk.QueueSkip }

func newFixture(t *testing.T, options Options) *fixture {
	t.Helper()
	schedmetrics.Register()
	made := &fixture{
		T: t, logger: klog.Background(), clock: testclock.NewFakePassiveClock(time.Unix(1_700_000_000, 0)),
		lister: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		hints:  &nodePlugin{answer: always}, gates: &gatePlugin{},
	}
	options.Clock = made.clock
	plugins := map[string]Plugins{profileName: {
		PreEnqueue: []framework.PreEnqueuePlugin{made.gates},
		Extensions: []framework.EnqueueExtensions{made.hints, made.gates},
	}}
	queue, err := New(context.Background(), plugins, listersv1.NewPodLister(made.lister), nil, options)
	if err != nil {
		t.Fatal(err)
	}
	made.Queue = queue
	t.Cleanup(queue.Close)
	return made
}

// onBothEngines runs a test on both.
func onBothEngines(t *testing.T, test func(*fixture)) {
	t.Helper()
	for name, engine := range map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex} {
		t.Run(name, func(t *testing.T) { test(newFixture(t, Options{Engine: engine})) })
	}
}

func (test *fixture) pod(name, uid string) *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(uid)},
		Spec:       v1.PodSpec{SchedulerName: profileName},
	}
	_ = test.lister.Add(pod)
	return pod
}

func (test *fixture) add(name, uid string) *v1.Pod {
	test.Helper()
	pod := test.pod(name, uid)
	test.Add(test.logger, pod)
	return pod
}

// pop pops a pod, which must be there.
func (test *fixture) pop() *framework.QueuedPodInfo {
	test.Helper()
	type popped struct {
		info *framework.QueuedPodInfo
		err  error
	}
	done := make(chan popped, 1)
	go func() {
		info, err := test.Pop(test.logger)
		done <- popped{info, err}
	}()
	select {
	case got := <-done:
		if got.err != nil || got.info == nil {
			test.Fatalf("Pop returned %v, %v", got.info, got.err)
		}
		return got.info
	case <-time.After(10 * time.Second):
		test.Fatal("nothing to pop: " + test.summary())
		return nil
	}
}

func (test *fixture) summary() string {
	_, summary := test.PendingPods()
	return fmt.Sprintf("%s; inFlight:%d; records:%d", summary, len(test.InFlightPods()), test.Records())
}

func (test *fixture) want(summary string) {
	test.Helper()
	if got := test.summary(); got != summary {
		test.Errorf("the queue has %s, want %s", got, summary)
	}
}

// fail ends a cycle with these rejectors.
func (test *fixture) fail(info *framework.QueuedPodInfo, rejectors ...string) {
	test.Helper()
	info.UnschedulablePlugins = sets.New(rejectors...)
	if err := test.AddUnschedulableIfNotPresent(test.logger, info, test.SchedulingCycle()); err != nil {
		test.Error(err)
	}
}

// park brings a pod to where it waits for nodes.
func (test *fixture) park(name, uid string) *v1.Pod {
	test.Helper()
	pod := test.add(name, uid)
	test.fail(test.pop(), nodePluginName)
	return pod
}

func (test *fixture) get(name string) *framework.QueuedPodInfo {
	test.Helper()
	info, found := test.GetPod(name, "ns")
	if !found {
		test.Fatalf("pod %q is not queued", name)
	}
	return info
}

// pass lets time go on and does what it demands.
func (test *fixture) pass(length time.Duration) {
	test.Helper()
	test.clock.SetTime(test.clock.Now().Add(length))
	result, _, err := test.library.Tick()
	if err != nil {
		test.Fatal(err)
	}
	test.ticked(test.logger, &result)
}

func TestPodThatIsPlaced(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
		info := test.pop()
		if info.Pod != pod || info.Attempts != 1 || info.InitialAttemptTimestamp == nil ||
			!info.Timestamp.Equal(test.clock.Now()) {
			test.Errorf("popped %+v", info)
		}
		test.want("activeQ:0; backoffQ:0; unschedulablePods:0; inFlight:1; records:1")
		test.Done("1")
		test.Done("1")
		test.want("activeQ:0; backoffQ:0; unschedulablePods:0; inFlight:0; records:0")
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
			test.Add(test.logger, pod)
			test.clock.SetTime(test.clock.Now().Add(time.Millisecond))
		}
		for _, want := range []string{"p4", "p1", "p2", "p0", "p3"} {
			if got := test.pop().Pod.Name; got != want {
				test.Errorf("popped %s, want %s", got, want)
			}
		}
	})
}

func TestEventOfItsRejectorBringsAPodBack(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.park("a", "1")
		info := test.get("a")
		if !info.UnschedulablePlugins.Equal(sets.New(nodePluginName)) || info.UnschedulableCount != 1 {
			test.Errorf("parked as %+v", info)
		}
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeLabel, nil, nil, nil)
		test.want("activeQ:0; backoffQ:0; unschedulablePods:1; inFlight:0; records:1")
		if test.hints.asked.Load() != 0 {
			test.Error("an event that nobody registered reached a hint")
		}
		test.hints.answer = never
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:0; unschedulablePods:1; inFlight:0; records:1")
		test.hints.answer = always
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, func(*v1.Pod) bool { return false })
		test.want("activeQ:0; backoffQ:0; unschedulablePods:1; inFlight:0; records:1")
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:1; unschedulablePods:0; inFlight:0; records:1")
	})
}

func TestEventDuringTheCycleCounts(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		info := test.pop()
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.fail(info, nodePluginName)
		test.want("activeQ:0; backoffQ:1; unschedulablePods:0; inFlight:0; records:1")
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
		test.want("activeQ:0; backoffQ:0; unschedulablePods:1; inFlight:0; records:1")
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
	})
}

func TestErrorBacksOffAndIsNotPoppedEarly(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		test.fail(test.pop())
		test.want("activeQ:0; backoffQ:1; unschedulablePods:0; inFlight:0; records:1")
		if _, err := test.library.TryPop(); err != schedq.ErrEmpty {
			test.Errorf("popping a pod that backs off after an error: %v", err)
		}
		test.pass(2 * time.Second)
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
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
		test.want("activeQ:0; backoffQ:1; unschedulablePods:0; inFlight:0; records:1")
		back := test.get("a")
		if back.Attempts != 1 || back.ConsecutiveErrorsCount != 1 ||
			!back.InitialAttemptTimestamp.Equal(*info.InitialAttemptTimestamp) {
			test.Errorf("back as %+v", back)
		}
		if err := test.AddUnschedulableIfNotPresent(test.logger, info, 1); err == nil {
			test.Error("a pod that is queued was added again")
		}
	})
}

// The failure handler looks the pod up by name and may find another one.
func TestPodRecreatedInFlight(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.add("a", "1")
		info := test.pop().DeepCopy()
		test.Delete(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "1"}})
		again := test.add("a", "2")
		info.PodInfo, _ = framework.NewPodInfo(again)
		info.UnschedulablePlugins = sets.New(nodePluginName)
		if err := test.AddUnschedulableIfNotPresent(test.logger, info, 1); err == nil {
			test.Error("no error for a pod that is gone")
		}
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
		if popped := test.pop(); popped.Pod != again {
			test.Errorf("popped %v", popped.Pod)
		}
	})
}

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

func TestActivate(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		parked := test.park("a", "1")
		test.Activate(test.logger, map[string]*v1.Pod{"a": parked, "x": test.pod("unknown", "9")})
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
		info := test.pop()
		test.Activate(test.logger, map[string]*v1.Pod{"a": parked})
		test.fail(info, nodePluginName)
		test.want("activeQ:0; backoffQ:1; unschedulablePods:0; inFlight:0; records:1")
	})
}

func TestLeftovers(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		test.park("a", "1")
		test.pass(5 * time.Minute)
		test.leftovers(test.logger)
		test.want("activeQ:0; backoffQ:0; unschedulablePods:1; inFlight:0; records:1")
		test.pass(time.Nanosecond)
		test.leftovers(test.logger)
		test.want("activeQ:1; backoffQ:0; unschedulablePods:0; inFlight:0; records:1")
	})
}

func TestWithoutPopFromBackoffGatesAreAskedWhenBackoffEnds(t *testing.T) {
	for _, engine := range []schedq.Engine{schedq.LockFree, schedq.Mutex} {
		test := newFixture(t, Options{Engine: engine, NoPopFromBackoff: true})
		pod := test.park("a", "1")
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:1; unschedulablePods:0; inFlight:0; records:1")
		shut := pod.DeepCopy()
		shut.Labels = map[string]string{"gate": "shut"}
		test.Update(test.logger, pod, shut)
		test.pass(3 * time.Second)
		if info := test.get("a"); info.GatingPlugin != gatePluginName {
			test.Errorf("after its backoff the pod is %+v", info)
		}
	}
}

func TestNominations(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		info := test.pop()
		override := &framework.NominatingInfo{NominatingMode: framework.ModeOverride, NominatedNodeName: "n"}
		test.fail(info, nodePluginName)
		test.AddNominatedPod(test.logger, info.PodInfo, override)
		if got := test.NominatedPodsForNode("n"); len(got) != 1 || got[0].GetPod().UID != "1" || got[0].GetPod() == pod {
			test.Errorf("nominated: %v", got)
		}
		changed := pod.DeepCopy()
		changed.Labels = map[string]string{"new": "yes"}
		test.Update(test.logger, pod, changed)
		if got := test.NominatedPodsForNode("n"); len(got) != 1 || got[0].GetPod().Labels["new"] != "yes" {
			test.Errorf("nominated after an update: %v", got)
		}
		override.NominatedNodeName = ""
		test.AddNominatedPod(test.logger, info.PodInfo, override)
		if got := test.NominatedPodsForNode("n"); len(got) != 0 || test.count.Load() != 0 {
			test.Errorf("nominated to no node: %v", got)
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
		test.want("activeQ:0; backoffQ:0; unschedulablePods:1; inFlight:0; records:1")
	})
}

func TestClose(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		flying, parked := test.add("a", "1"), test.pod("b", "2")
		info := test.pop()
		closed := make(chan error)
		go func() {
			info, err := test.Pop(test.logger)
			if info != nil {
				err = errors.New("popped " + info.Pod.Name)
			}
			closed <- err
		}()
		time.Sleep(10 * time.Millisecond)
		test.Close()
		test.Close()
		if err := <-closed; err != nil {
			test.Error(err)
		}
		test.Add(test.logger, parked)
		test.Update(test.logger, nil, parked)
		test.Delete(flying)
		test.Done("1")
		_ = test.AddUnschedulableIfNotPresent(test.logger, info, 1)
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:0; unschedulablePods:0; inFlight:0; records:0")
	})
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

// Informer, scheduling loop, binding goroutines and event handlers at once: at the end every pod is where it can be found.
func TestEverybodyAtOnce(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		const pods = 300
		test.hints.answer = func(pod *v1.Pod, _, _ any) fwk.QueueingHint {
			if len(pod.Name)%2 == 0 {
				return fwk.QueueSkip
			}
			return fwk.Queue
		}
		var cycles, others sync.WaitGroup
		stop := make(chan struct{})
		cycles.Add(1)
		go func() {
			defer cycles.Done()
			for number := 0; ; number++ {
				info, _ := test.Pop(test.logger)
				if info == nil {
					return
				}
				if number%3 == 0 {
					test.fail(info, nodePluginName)
					continue
				}
				copied := info.DeepCopy()
				cycles.Add(1)
				go func() {
					defer cycles.Done()
					test.Done(copied.Pod.UID)
					if number%7 == 0 {
						_ = test.AddUnschedulableIfNotPresent(test.logger, copied, 0)
					}
				}()
			}
		}()
		for range 2 {
			others.Add(1)
			go func() {
				defer others.Done()
				for {
					select {
					case <-stop:
						return
					default:
						test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
						test.NominatedPodsForNode("n")
						test.PendingPods()
					}
				}
			}()
		}
		for number := range pods {
			name := fmt.Sprint("p", number)
			pod := test.pod(name, name)
			test.Add(test.logger, pod)
			changed := pod.DeepCopy()
			changed.Labels = map[string]string{"new": "yes"}
			test.Update(test.logger, pod, changed)
			switch number % 4 {
			case 0:
				test.Delete(changed)
			case 1:
				test.Activate(test.logger, map[string]*v1.Pod{name: changed})
			}
			test.clock.SetTime(test.clock.Now().Add(10 * time.Millisecond))
			_, _, _ = test.library.Tick()
		}
		close(stop)
		others.Wait()
		test.Close()
		cycles.Wait()
		queued, _ := test.PendingPods()
		if len(queued) != test.Records() || len(test.InFlightPods()) != 0 {
			test.Errorf("%d pods are queued: %s", len(queued), test.summary())
		}
		names := make([]string, 0, len(queued))
		for _, pod := range queued {
			names = append(names, pod.Name)
		}
		slices.Sort(names)
		if len(slices.Compact(names)) != len(queued) {
			test.Error("a pod is queued twice")
		}
	})
}
