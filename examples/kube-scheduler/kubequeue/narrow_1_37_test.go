//go:build !kube134

package kubequeue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/component-base/metrics/testutil"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	"schedq"
)

// claims is a plugin with a pre-queueing hint for ResourceClaims, and none for DeviceClasses.
type claims struct {
	name   string
	pre    func() (fwk.PreQueueingHintResult, error) // nil: it gives none
	answer func(*v1.Pod) fwk.QueueingHint            // nil: Queue
	every  bool                                      // it registers all events in the place of those of ResourceClaims

	mutex sync.Mutex
	asked []string
}

var (
	claimUpdate = fwk.ClusterEvent{Resource: fwk.ResourceClaim, ActionType: fwk.Update}
	classAdd    = fwk.ClusterEvent{Resource: fwk.DeviceClass, ActionType: fwk.Add}
)

func (claims *claims) Name() string { return claims.name }

func (claims *claims) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	hint := func(_ klog.Logger, pod *v1.Pod, _, _ any) (fwk.QueueingHint, error) {
		claims.mutex.Lock()
		claims.asked = append(claims.asked, pod.Name)
		slices.Sort(claims.asked)
		claims.mutex.Unlock()
		if claims.answer != nil {
			return claims.answer(pod), nil
		}
		return fwk.Queue, nil
	}
	registered := fwk.ClusterEventWithHint{Event: claimUpdate, QueueingHintFn: hint}
	if claims.pre != nil {
		registered.PreQueueingHintFn = func(klog.Logger, any, any) (fwk.PreQueueingHintResult, error) { return claims.pre() }
	}
	if claims.every {
		registered.Event = fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All}
	}
	return []fwk.ClusterEventWithHint{registered, {Event: classAdd, QueueingHintFn: hint}}, nil
}

// PreEnqueue refuses the pods whose label "gate" is the plugin's name.
func (claims *claims) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	if pod.Labels["gate"] == claims.name {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "missing")
	}
	return nil
}

func naming(names ...string) func() (fwk.PreQueueingHintResult, error) {
	return func() (result fwk.PreQueueingHintResult, err error) {
		for _, name := range names {
			result.Pods = append(result.Pods, types.NamespacedName{Namespace: "ns", Name: name})
		}
		return result, nil
	}
}

// narrowing runs a test on both engines with these plugins, and the feature gate on.
func narrowing(t *testing.T, plugins func() []*claims, test func(*fixture, ...*claims)) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.SchedulerPreQueueingHints, true)
	onBothEnginesWith(t, plugins, test)
}

func onBothEnginesWith(t *testing.T, plugins func() []*claims, test func(*fixture, ...*claims)) {
	t.Helper()
	for name, engine := range map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex} {
		t.Run(name, func(t *testing.T) {
			made, further := plugins(), Plugins{}
			for _, plugin := range made {
				further.Extensions = append(further.Extensions, plugin)
				further.PreEnqueue = append(further.PreEnqueue, plugin)
			}
			test(newFixtureWith(t, Options{Engine: engine}, further), made...)
		})
	}
}

// one is a plugin "A" that gives this pre-queueing hint.
func one(pre func() (fwk.PreQueueingHintResult, error)) func() []*claims {
	return func() []*claims { return []*claims{{name: "A", pre: pre}} }
}

// reject parks pods that these plugins rejected.
func (test *fixture) reject(plugins []string, names ...string) {
	test.Helper()
	for _, name := range names {
		test.add(name, name)
		test.fail(test.pop(), plugins...)
	}
}

// change makes an event.
func (test *fixture) change(event fwk.ClusterEvent) {
	test.MoveAllToActiveOrBackoffQueue(test.logger, event, nil, &v1.Node{}, nil)
}

// left are the names of the pods that are parked or gated.
func (test *fixture) wantLeft(names ...string) {
	test.Helper()
	var left []string
	for _, pod := range test.UnschedulablePods() {
		left = append(left, pod.Name)
	}
	slices.Sort(left)
	if !slices.Equal(left, names) {
		test.Errorf("left: %v, want %v", left, names)
	}
}

func (claims *claims) want(t *testing.T, names ...string) {
	t.Helper()
	if !slices.Equal(claims.asked, names) {
		t.Errorf("plugin %s was asked about %v, want %v", claims.name, claims.asked, names)
	}
}

func TestOnlyNamedPodsAreAsked(t *testing.T) {
	narrowing(t, one(naming("b", "c", "unknown", "b")), func(test *fixture, plugins ...*claims) {
		test.reject([]string{"A"}, "a", "b", "c", "d")
		test.change(claimUpdate)
		plugins[0].want(test.T, "b", "c")
		test.wantLeft("a", "d")
		plugins[0].asked = nil
		test.change(classAdd) // nobody names pods for it
		plugins[0].want(test.T, "a", "d")
		test.wantLeft()
	})
}

func TestMoreNamedPodsThanABatch(t *testing.T) {
	var names []string
	for i := range 2*batchSize + 3 {
		names = append(names, "p"+string(rune('A'+i%26))+string(rune('A'+i/26)))
	}
	slices.Sort(names)
	narrowing(t, one(naming(names...)), func(test *fixture, plugins ...*claims) {
		test.reject([]string{"A"}, names...)
		test.change(claimUpdate)
		plugins[0].want(test.T, names...)
		test.wantLeft()
	})
}

func TestWithoutTheFeatureGateNoPreQueueingHintIsAsked(t *testing.T) {
	onBothEnginesWith(t, one(func() (fwk.PreQueueingHintResult, error) {
		t.Error("a pre-queueing hint was asked")
		return fwk.PreQueueingHintResult{}, nil
	}), func(test *fixture, plugins ...*claims) {
		test.reject([]string{"A"}, "a", "b")
		test.change(claimUpdate)
		plugins[0].want(test.T, "a", "b")
	})
}

// A plugin that gave no list is not asked either about a pod that nobody named. One that gave a list is asked about the pods of it only.
func TestAPluginIsAskedAboutThePodsThatItNames(t *testing.T) {
	narrowing(t, func() []*claims {
		return []*claims{{name: "A", pre: naming("a", "both")}, {name: "B", pre: naming("b", "both")}, {name: "C"}}
	}, func(test *fixture, plugins ...*claims) {
		for _, plugin := range plugins {
			plugin.answer = func(*v1.Pod) fwk.QueueingHint { return fwk.QueueSkip }
		}
		test.reject([]string{"A", "B", "C"}, "a", "b", "both", "other")
		test.change(claimUpdate)
		plugins[0].want(test.T, "a", "both")
		plugins[1].want(test.T, "b", "both")
		plugins[2].want(test.T, "a", "b", "both")
		test.wantLeft("a", "b", "both", "other")
	})
}

func TestWhatAsksAboutAllPods(t *testing.T) {
	all := func() (fwk.PreQueueingHintResult, error) { return fwk.PreQueueingHintResult{AllPods: true}, nil }
	fails := func() (fwk.PreQueueingHintResult, error) { return fwk.PreQueueingHintResult{}, errors.New("no index") }
	for name, pre := range map[string]func() (fwk.PreQueueingHintResult, error){"all": all, "an error": fails} {
		t.Run(name, func(t *testing.T) {
			narrowing(t, func() []*claims {
				return []*claims{{name: "A", pre: naming("a")}, {name: "B", pre: pre}}
			}, func(test *fixture, plugins ...*claims) {
				test.reject([]string{"A"}, "a", "b")
				test.change(claimUpdate)
				plugins[0].want(test.T, "a", "b")
				test.wantLeft()
			})
		})
	}
	refuses := func() (fwk.PreQueueingHintResult, error) {
		t.Error("a pre-queueing hint was asked")
		return fwk.PreQueueingHintResult{}, nil
	}
	t.Run("no object", func(t *testing.T) {
		narrowing(t, one(refuses), func(test *fixture, plugins ...*claims) {
			test.reject([]string{"A"}, "a", "b")
			test.MoveAllToActiveOrBackoffQueue(test.logger, claimUpdate, nil, nil, nil)
			plugins[0].want(test.T, "a", "b")
		})
	})
	t.Run("a wildcard", func(t *testing.T) {
		narrowing(t, func() []*claims {
			return []*claims{{name: "A", pre: refuses, every: true}}
		}, func(test *fixture, plugins ...*claims) {
			test.reject([]string{"A"}, "a", "b")
			test.MoveAllToActiveOrBackoffQueue(test.logger, framework.EventUnschedulableTimeout, nil, test.get("a").Pod, nil)
			test.wantLeft("b")
		})
	})
}

func TestThePreCheckIsAskedAboutNamedPods(t *testing.T) {
	narrowing(t, one(naming("a", "b")), func(test *fixture, plugins ...*claims) {
		test.reject([]string{"A"}, "a", "b", "c")
		test.MoveAllToActiveOrBackoffQueue(test.logger, claimUpdate, nil, &v1.Node{}, func(pod *v1.Pod) bool { return pod.Name != "a" })
		plugins[0].want(test.T, "b")
		test.wantLeft("a", "c")
	})
}

// A pod in flight hears of every event, whoever was named.
func TestAPodInFlightIsNotNarrowed(t *testing.T) {
	narrowing(t, one(naming("somebody")), func(test *fixture, plugins ...*claims) {
		test.add("a", "1")
		info := test.pop()
		test.change(claimUpdate)
		test.fail(info, "A")
		plugins[0].want(test.T, "a")
		test.wantLeft()
	})
}

// While the pre-queueing hint is asked a pod is in flight, and parked before the named ones are looked for.
func TestAPodThatIsParkedWhilePodsAreNamed(t *testing.T) {
	for _, name := range []string{"a", "somebody"} {
		var whenAsked func()
		narrowing(t, one(func() (fwk.PreQueueingHintResult, error) {
			whenAsked()
			return naming(name)()
		}), func(test *fixture, plugins ...*claims) {
			test.add("other", "2")
			test.fail(test.pop(), "A")
			test.add("a", "1")
			info := test.pop()
			whenAsked = func() { test.fail(info, "A") }
			test.change(claimUpdate)
			test.wantLeft("other")
		})
	}
}

// A pod that changes while it is judged is judged again, by the same lists.
func TestANamedPodThatChangesMeanwhile(t *testing.T) {
	narrowing(t, func() []*claims {
		return []*claims{{name: "A", pre: naming("a")}, {name: "B", pre: naming("somebody")}}
	}, func(test *fixture, plugins ...*claims) {
		test.reject([]string{"A", "B"}, "a")
		old := test.get("a").Pod
		plugins[0].answer = func(pod *v1.Pod) fwk.QueueingHint {
			if pod != old {
				return fwk.QueueSkip
			}
			changed := old.DeepCopy()
			changed.Annotations = map[string]string{"new": "yes"}
			test.update(test.logger, old, changed)
			return fwk.Queue
		}
		test.change(claimUpdate)
		plugins[0].want(test.T, "a", "a")
		plugins[1].want(test.T)
		test.wantLeft("a")
	})
}

// A gated pod hears only of what its gate registered, named or not.
func TestNamedGatedPods(t *testing.T) {
	narrowing(t, one(naming("its", "another's")), func(test *fixture, plugins ...*claims) {
		var pods []*v1.Pod
		for name, gate := range map[string]string{"its": "A", "another's": "shut", "unnamed": "A"} {
			pod := test.pod(name, name)
			pod.Labels = map[string]string{"gate": gate}
			test.offer(pod)
			pods = append(pods, pod)
		}
		for _, pod := range pods { // the gates would let them in now
			pod.Labels = nil
		}
		test.change(claimUpdate)
		plugins[0].want(test.T, "its")
		test.wantLeft("another's", "unnamed")
	})
}

// Each answer counts, also while nothing is parked.
func TestPreQueueingHintsAreCounted(t *testing.T) {
	count := func(answer string) float64 {
		value, err := testutil.GetCounterMetricValue(schedmetrics.PreQueueingHintEvaluations.WithLabelValues("A", answer))
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
	var answer fwk.PreQueueingHintResult
	var failure error
	narrowing(t, one(func() (fwk.PreQueueingHintResult, error) { return answer, failure }), func(test *fixture, plugins ...*claims) {
		for _, step := range []struct {
			answer        fwk.PreQueueingHintResult
			failure       error
			all, narrowed float64
		}{
			{fwk.PreQueueingHintResult{}, nil, 0, 1},
			{fwk.PreQueueingHintResult{AllPods: true}, nil, 1, 0},
			{fwk.PreQueueingHintResult{}, errors.New("no index"), 0, 0},
		} {
			answer, failure = step.answer, step.failure
			all, narrowed := count("all_pods"), count("narrowed")
			test.change(claimUpdate)
			if all, narrowed = count("all_pods")-all, count("narrowed")-narrowed; all != step.all || narrowed != step.narrowed {
				test.Errorf("%+v: counted all %v times, narrowed %v", step, all, narrowed)
			}
		}
	})
}

// A plugin of two profiles gives one list.
func TestAPluginOfTwoProfiles(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.SchedulerPreQueueingHints, true)
	schedmetrics.Register()
	first := &claims{name: "A", pre: naming("a")}
	second := &claims{name: "A", pre: naming("b")}
	queue, err := New(context.Background(), map[string]Plugins{
		"first": {Extensions: []fwk.EnqueueExtensions{first}}, "second": {Extensions: []fwk.EnqueueExtensions{second}},
	}, nil, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer queue.Close()
	for profile, names := range map[string][]string{"first": {"b", "c"}, "second": {"a", "d"}} {
		for _, name := range names {
			queue.Add(context.Background(), &v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
				Spec:       v1.PodSpec{SchedulerName: profile},
			})
			info, _ := queue.Pop(klog.Background())
			popped := info.(*framework.QueuedPodInfo)
			popped.UnschedulablePlugins.Insert("A")
			if err := queue.AddUnschedulablePodIfNotPresent(klog.Background(), popped, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	queue.MoveAllToActiveOrBackoffQueue(klog.Background(), claimUpdate, nil, &v1.Node{}, nil)
	first.want(t, "b")
	second.want(t, "a")
}

// narrowingGroups has two groups of two pods each, first and second, that a plugin's gate refused and would let in now.
func narrowingGroups(t *testing.T, gate string, plugins func() []*claims, test func(*fixture, ...*claims)) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
	narrowing(t, plugins, func(fixture *fixture, plugins ...*claims) {
		for _, group := range []string{"first", "second"} {
			fixture.AddPodGroup(fixture.logger, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: group}})
			for _, name := range []string{group + "-0", group + "-1"} {
				pod := fixture.pod(name, name)
				pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group}
				pod.Labels = map[string]string{"gate": gate}
				fixture.Add(context.Background(), pod)
			}
		}
		// Who joins a gated group is not asked about: now all of them are.
		fixture.MoveAllToActiveOrBackoffQueue(fixture.logger, framework.EventUnschedulableTimeout, nil, nil, nil)
		fixture.wantLeft("first-0", "first-1", "second-0", "second-1")
		for _, pod := range fixture.UnschedulablePods() {
			pod.Labels = nil
		}
		test(fixture, plugins...)
	})
}

func TestTheGroupOfANamedPodIsAsked(t *testing.T) {
	narrowingGroups(t, "A", one(naming("second-1", "unknown")), func(test *fixture, plugins ...*claims) {
		test.change(claimUpdate)
		plugins[0].want(test.T, "second-1")
		test.wantLeft("first-0", "first-1")
	})
}

// The plugin that names the bound pod only is not asked about the others, but the one that gave no list is.
func TestAGroupOfWhichABoundPodIsNamed(t *testing.T) {
	two := func() []*claims { return []*claims{{name: "A", pre: naming("second-bound")}, {name: "B"}} }
	bound := func(test *fixture) {
		group := "second"
		pod := test.pod("second-bound", "3")
		pod.Spec.SchedulingGroup, pod.Spec.NodeName = &v1.PodSchedulingGroup{PodGroupName: &group}, "node"
		test.change(claimUpdate)
	}
	narrowingGroups(t, "A", two, func(test *fixture, plugins ...*claims) {
		bound(test)
		test.wantLeft("first-0", "first-1", "second-0", "second-1")
	})
	narrowingGroups(t, "B", two, func(test *fixture, plugins ...*claims) {
		bound(test)
		plugins[1].want(test.T, "second-0", "second-1")
		test.wantLeft("first-0", "first-1")
	})
}

func TestThePreCheckIsAskedAboutTheNamedPodOfAGroup(t *testing.T) {
	narrowingGroups(t, "A", one(naming("first-0", "second-0", "second-1")), func(test *fixture, plugins ...*claims) {
		test.MoveAllToActiveOrBackoffQueue(test.logger, claimUpdate, nil, &v1.Node{}, func(pod *v1.Pod) bool {
			return pod.Name == "first-1" || pod.Name == "second-1"
		})
		test.wantLeft("first-0", "first-1")
	})
}

func TestCompositesAreNotNarrowed(t *testing.T) {
	featuregatetesting.SetFeatureGatesDuringTest(t, utilfeature.DefaultFeatureGate, featuregatetesting.FeatureOverrides{
		features.GenericWorkload: true, features.TopologyAwareWorkloadScheduling: true, features.CompositePodGroup: true,
	})
	narrowingGroups(t, "A", one(naming("second-1")), func(test *fixture, plugins ...*claims) {
		test.change(claimUpdate)
		test.wantLeft()
	})
}

// While claims change, pods are parked and come back; the last change names each pod. None stays behind.
func TestNoNamedPodIsForgotten(t *testing.T) {
	const pods, changes = 50, 400
	var names []string
	for i := range pods {
		names = append(names, "p"+string(rune('A'+i%26))+string(rune('A'+i/26)))
	}
	var at int
	narrowing(t, one(func() (fwk.PreQueueingHintResult, error) { return naming(names[at%pods])() }), func(test *fixture, plugins ...*claims) {
		helped := map[string]bool{} // by the claim that a pod waits for
		var mutex sync.Mutex
		plugins[0].answer = func(pod *v1.Pod) fwk.QueueingHint {
			mutex.Lock()
			defer mutex.Unlock()
			if helped[pod.Name] {
				return fwk.Queue
			}
			return fwk.QueueSkip
		}
		for _, name := range names {
			test.add(name, name)
		}
		done := make(chan int)
		go func() { // the scheduler: a pod whose claim is there is bound, the others are parked
			bound := 0
			for bound < pods {
				info, err := test.next()
				if err != nil || info == nil {
					break
				}
				mutex.Lock()
				fits := helped[info.Pod.Name]
				mutex.Unlock()
				if fits {
					test.Done(info.Pod.UID)
					bound++
				} else {
					test.fail(info, "A")
				}
			}
			done <- bound
		}()
		for at = range changes {
			if at >= changes-pods {
				mutex.Lock()
				helped[names[at%pods]] = true
				mutex.Unlock()
			}
			test.change(claimUpdate)
		}
		deadline := time.After(20 * time.Second)
		for {
			test.clock.SetTime(test.clock.Now().Add(time.Second))
			if result, _, err := test.library.Tick(); err == nil {
				test.ticked(test.logger, &result)
			}
			select {
			case bound := <-done:
				if bound != pods {
					test.Errorf("%d pods were bound, want %d", bound, pods)
				}
				return
			case <-deadline:
				test.Fatal("left behind: " + test.summary())
			case <-time.After(time.Millisecond):
			}
		}
	})
}
