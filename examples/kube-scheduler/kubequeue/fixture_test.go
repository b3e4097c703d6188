package kubequeue

import (
	"context"
	"fmt"
	"strings"
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
	"schedq/examples/kube-scheduler/internal/release"
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
	clock  *testclock.FakeClock
	lister cache.Indexer
	hints  *nodePlugin
	gates  *gatePlugin
}

func always(*v1.Pod, any, any) fwk.QueueingHint { return fwk.Queue }
func never(*v1.Pod, any, any) fwk.QueueingHint  { return fwk.QueueSkip }

func newFixture(t *testing.T, options Options) *fixture {
	t.Helper()
	return newFixtureWith(t, options, Plugins{})
}

// newFixtureWith has further plugins.
func newFixtureWith(t *testing.T, options Options, further Plugins) *fixture {
	t.Helper()
	schedmetrics.Register()
	made := &fixture{
		T: t, logger: klog.Background(), clock: testclock.NewFakeClock(time.Unix(1_700_000_000, 0)),
		lister: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
		hints:  &nodePlugin{answer: always}, gates: &gatePlugin{},
	}
	options.Clock = made.clock
	plugins := map[string]Plugins{profileName: {
		PreEnqueue: append([]release.PreEnqueuePlugin{made.gates}, further.PreEnqueue...),
		Extensions: append([]release.EnqueueExtensions{made.hints, made.gates}, further.Extensions...),
		Sign:       further.Sign,
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
	test.offer(pod)
	return pod
}

// offer adds a pod as the informer does.
func (test *fixture) offer(pod *v1.Pod) {
	test.admit(test.logger, pod, framework.EventUnscheduledPodAdd)
}

// next takes the best pod, and waits for one; nil: the queue is closed.
func (test *fixture) next() (*framework.QueuedPodInfo, error) {
	entry, popped, err := test.take(test.logger)
	if entry == nil {
		return nil, err
	}
	return test.fly(entry, popped), nil
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
		info, err := test.next()
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
	summary = strings.Replace(summary, release.Unschedulable, "unschedulable", 1)
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
	if err := test.putBack(test.logger, info); err != nil {
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
	info, found := test.find(name, "ns")
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
