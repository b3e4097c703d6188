package kubequeue

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	pluginnames "k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// fitPlugin rejects the pods of a class alike.
type fitPlugin struct{ nodePlugin }

func (*fitPlugin) Name() string { return pluginnames.NodeResourcesFit }

// withClasses runs a test on both engines, where pods of one spec fail alike.
func withClasses(t *testing.T, test func(*fixture)) {
	t.Helper()
	withClassesBy(t, BySpec, test)
}

// alike takes all pods for alike.
func alike(*v1.Pod, release.Signature) []byte { return []byte("alike") }

func withClassesBy(t *testing.T, classes Classes, test func(*fixture)) {
	t.Helper()
	for name, engine := range map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex} {
		t.Run(name, func(t *testing.T) {
			fit := &fitPlugin{nodePlugin{answer: always}}
			test(newFixtureWith(t, Options{Engine: engine, Classes: classes}, Plugins{Extensions: []release.EnqueueExtensions{fit}}))
		})
	}
}

// nonePoppable: a pop gives nothing. It keeps back whom a class keeps back.
func (test *fixture) nonePoppable() {
	test.Helper()
	if popped, err := test.library.TryPop(); err == nil {
		test.Fatalf("%s can be popped", popped.Name)
	}
}

// tryAll tries whatever can be popped, and counts it. fits: a pod is placed, else it is rejected.
func (test *fixture) tryAll(fits func(*v1.Pod) bool, rejectors ...string) (tried int) {
	test.Helper()
	for ; ; tried++ {
		popped, err := test.library.TryPop()
		if err != nil {
			return tried
		}
		info := test.fly(test.table.get(popped.Object), &popped)
		if fits(info.Pod) {
			test.Done(info.Pod.UID)
		} else {
			test.fail(info, rejectors...)
		}
	}
}

func none(*v1.Pod) bool { return false }
func all(*v1.Pod) bool  { return true }

const fit = pluginnames.NodeResourcesFit

func (test *fixture) nodeAdded() {
	test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
}

// addMany adds pods of one spec.
func (test *fixture) addMany(count int) {
	test.Helper()
	for i := range count {
		test.add(fmt.Sprintf("pod-%05d", i), fmt.Sprintf("uid-%d", i))
	}
}

func TestOneOfTenThousandThatFailAlikeIsTried(t *testing.T) {
	const count = 10_000
	withClasses(t, func(test *fixture) {
		test.addMany(count)
		if tried := test.tryAll(none, fit); tried > 1+count/257 {
			test.Errorf("at first %d were tried", tried)
		}
		test.want(fmt.Sprintf("activeQ:0; backoffQ:0; unschedulable:%d; inFlight:0; records:%d", count, count))
		for range 3 {
			test.pass(10 * time.Second)
			test.nodeAdded()
			if tried := test.tryAll(none, fit); tried != 1 {
				test.Errorf("an event had %d tried, want 1", tried)
			}
		}
		test.pass(10 * time.Second)
		test.nodeAdded()
		if placed := test.tryAll(all); placed != count {
			test.Errorf("%d were placed: %s", placed, test.summary())
		}
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
	})
}

func TestWithoutClassesAllAreTried(t *testing.T) {
	fit := &fitPlugin{nodePlugin{answer: always}}
	test := newFixtureWith(t, Options{}, Plugins{Extensions: []release.EnqueueExtensions{fit}})
	test.addMany(10)
	if tried := test.tryAll(none, pluginnames.NodeResourcesFit); tried != 10 {
		test.Errorf("%d of 10 were tried", tried)
	}
}

func TestARejectionThatMayBeAPodsOwnHasTheOthersTried(t *testing.T) {
	for _, rejectors := range [][]string{
		{nodePluginName}, {fit, nodePluginName}, {fit, pluginnames.VolumeBinding}, {pluginnames.NodeVolumeLimits},
		{pluginnames.DynamicResources}, {pluginnames.VolumeZone}, {pluginnames.VolumeRestrictions}, {"Extender"},
	} {
		withClasses(t, func(test *fixture) {
			test.addMany(10)
			if tried := test.tryAll(none, rejectors...); tried != 10 {
				test.Errorf("rejected by %v: %d of 10 were tried", rejectors, tried)
			}
		})
	}
}

func TestAPodThatAGateRefusesByNowHasTheOthersTried(t *testing.T) {
	withClasses(t, func(test *fixture) {
		test.addMany(2)
		preempting := test.pop()
		preempting.Pod.Labels = map[string]string{"gate": "shut"}
		test.fail(preempting, fit)
		if test.tryAll(none, fit) != 1 {
			test.Error("the other one was not tried")
		}
	})
}

func TestAPodThatIsNominatedLeavesItsClass(t *testing.T) {
	withClasses(t, func(test *fixture) {
		test.addMany(3)
		first := test.pop()
		test.fail(first, fit)
		test.nonePoppable()
		nominating := &release.NominatingInfo{NominatingMode: release.ModeOverride, NominatedNodeName: "node"}
		test.AddNominatedPod(test.logger, first.PodInfo, nominating)
		second := test.pop()
		test.fail(second, fit)
		test.nonePoppable()
		test.pass(10 * time.Second)
		test.nodeAdded()
		if tried := test.tryAll(none, fit); tried != 2 {
			test.Errorf("an event had %d tried, want the one that is nominated and the one of the class", tried)
		}
		test.nodeAdded()
		test.pass(10 * time.Second)
		if placed := test.tryAll(all); placed != 3 {
			test.Errorf("%d were placed: %s", placed, test.summary())
		}
	})
}

func TestAnUpdateThatLeavesTheClassLeavesThePodKeptBack(t *testing.T) {
	withClasses(t, func(test *fixture) {
		test.addMany(3)
		test.fail(test.pop(), fit)
		test.nonePoppable()
		old := test.get("pod-00001").Pod
		updated := old.DeepCopy()
		updated.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionFalse}}
		test.update(test.logger, old, updated)
		test.nonePoppable()
		if got := test.get("pod-00001").Pod; got != updated {
			test.Error("the update was dropped")
		}
		labelled := updated.DeepCopy()
		labelled.Labels = map[string]string{"a": "b"}
		test.update(test.logger, updated, labelled)
		if popped := test.pop(); popped.Pod != labelled {
			test.Errorf("popped %v", popped.Pod)
		}
	})
}

func TestAnUpdatedPriorityHasThePodTried(t *testing.T) {
	withClassesBy(t, alike, func(test *fixture) {
		test.addMany(3)
		test.fail(test.pop(), fit)
		test.nonePoppable()
		old := test.get("pod-00002").Pod
		updated, priority := old.DeepCopy(), int32(7)
		updated.Spec.Priority = &priority
		test.update(test.logger, old, updated)
		if popped := test.pop(); popped.Pod != updated {
			test.Errorf("popped %v", popped.Pod)
		}
	})
}

func TestAnActivationLetsAPodGoThatItsClassKeepsBack(t *testing.T) {
	withClasses(t, func(test *fixture) {
		test.addMany(3)
		test.fail(test.pop(), fit)
		test.nonePoppable()
		test.Activate(test.logger, map[string]*v1.Pod{"": test.get("pod-00002").Pod})
		if popped := test.pop(); popped.Pod.Name != "pod-00002" {
			test.Errorf("popped %s", popped.Pod.Name)
		}
	})
}

func TestAPodIsTriedWhenItsPatienceEnds(t *testing.T) {
	withClasses(t, func(test *fixture) {
		test.addMany(3)
		test.fail(test.pop(), fit)
		test.nonePoppable()
		test.pass(classPatience)
		test.pass(time.Second)
		if tried := test.tryAll(none, fit); tried != 2 {
			test.Errorf("%d were tried, want the two that were kept back", tried)
		}
	})
}

func TestADeletedScoutIsFollowed(t *testing.T) {
	withClasses(t, func(test *fixture) {
		test.addMany(3)
		first := test.pop()
		test.fail(first, fit)
		test.nonePoppable()
		test.forget(first.Pod)
		test.forget(test.get("pod-00001").Pod)
		if tried := test.tryAll(none, fit); tried != 1 {
			test.Errorf("%d were tried", tried)
		}
		test.want("activeQ:0; backoffQ:0; unschedulable:1; inFlight:0; records:1")
	})
}

// Who is kept back is shown and counted as unschedulable.
func TestMetricsOfClasses(t *testing.T) {
	withClasses(t, func(test *fixture) {
		rejected := schedmetrics.UnschedulableReason(fit, profileName)
		before := gauge(test.T, rejected)
		test.addMany(3)
		a, b := test.pop(), test.pop()
		counted := incomingCount(test.T, "unschedulable", "ScheduleAttemptFailure")
		test.fail(a, fit)
		test.fail(b, fit) // in flight when its class was shut
		test.nonePoppable()
		test.Queue.show()
		for name, is := range map[string]struct{ got, want float64 }{
			"unschedulable pods":       {gauge(test.T, schedmetrics.UnschedulablePods()), 3},
			"pods in backoff":          {gauge(test.T, schedmetrics.BackoffPods()), 0},
			"came in as unschedulable": {incomingCount(test.T, "unschedulable", "ScheduleAttemptFailure") - counted, 2},
			"rejected":                 {gauge(test.T, rejected) - before, 2},
		} {
			if is.got != is.want {
				test.Errorf("%s: %v, want %v", name, is.got, is.want)
			}
		}
		test.pass(time.Hour)
		test.nodeAdded()
		if placed := test.tryAll(all); placed != 3 {
			test.Errorf("%d were placed: %s", placed, test.summary())
		}
		if got := gauge(test.T, rejected) - before; got != 0 {
			test.Errorf("%v are counted as rejected when all are placed", got)
		}
	})
}

// A rejector that shares the last bit with others is not known.
func TestARejectorWithoutABitOfItsOwnHasTheOthersTried(t *testing.T) {
	withClasses(t, func(test *fixture) {
		profile := test.profiles.byName[profileName]
		for i := range 63 - len(profile.plugins.Load().byName) {
			profile.bits(sets.New(fmt.Sprintf("Late%d", i)))
		}
		if bit := profile.bits(sets.New(pluginnames.NodeAffinity)); bit != schedq.RejectorOthers {
			test.Fatalf("the bit of the first that shares one is %x", bit)
		}
		test.addMany(10)
		if tried := test.tryAll(none, "Foreign"); tried != 10 {
			test.Errorf("%d of 10 were tried", tried)
		}
	})
}

// An error that names the place of a pod calls one that is kept back unschedulable.
func TestAPodCannotComeBackBesideOneThatIsKeptBack(t *testing.T) {
	withClasses(t, func(test *fixture) {
		first := test.add("a", "1")
		info := test.pop()
		test.Done(first.UID)
		test.fail(test.popOf("b", "2"), fit)
		test.add("a", "1")
		test.nonePoppable()
		if err := test.putBack(test.logger, info); err == nil || !strings.Contains(err.Error(), "the unschedulable queue") {
			test.Errorf("answered %v", err)
		}
	})
}

// popOf adds a pod and pops it.
func (test *fixture) popOf(name, uid string) *framework.QueuedPodInfo {
	test.Helper()
	test.add(name, uid)
	return test.pop()
}

// What two pods may differ in, and be of one class, and what not.
func TestPodsOfOneClass(t *testing.T) {
	test := newFixture(t, Options{Classes: BySpec})
	profile, whoever := test.profiles.byName[profileName], newFixture(t, Options{Classes: alike}).profiles.byName[profileName]
	policy := v1.PreemptNever
	var unsigned release.Signature
	class := func(change func(*v1.Pod)) uint64 {
		pod := test.pod("a", "1")
		pod.Labels = map[string]string{"app": "x"}
		pod.Spec.Containers = []v1.Container{{Name: "c", VolumeMounts: []v1.VolumeMount{{Name: "token-a"}}}}
		pod.Spec.Volumes = []v1.Volume{{Name: "token-a"}}
		change(pod)
		return profile.classOf(pod, unsigned)
	}
	plain := class(func(*v1.Pod) {})
	for name, change := range map[string]func(*v1.Pod){
		"name":     func(pod *v1.Pod) { pod.Name, pod.UID = "b", types.UID("2") },
		"hostname": func(pod *v1.Pod) { pod.Spec.Hostname = "b" },
		"volume's name": func(pod *v1.Pod) {
			pod.Spec.Volumes[0].Name, pod.Spec.Containers[0].VolumeMounts[0].Name = "token-b", "token-b"
		},
		"environment": func(pod *v1.Pod) { pod.Spec.Containers[0].Env = []v1.EnvVar{{Name: "INDEX", Value: "7"}} },
		"status":      func(pod *v1.Pod) { pod.Status.Phase = v1.PodPending },
	} {
		if got := class(change); got != plain {
			t.Errorf("another %s: class %x, want %x", name, got, plain)
		}
	}
	profile = whoever
	plain = class(func(pod *v1.Pod) { pod.Spec.NodeSelector = map[string]string{"a": "b"} })
	if got := class(func(*v1.Pod) {}); got != plain {
		t.Errorf("a program's own class: %x, want %x", got, plain)
	}
	others := map[uint64]string{plain: "none", 0: "no class"}
	for name, change := range map[string]func(*v1.Pod){
		"namespace":         func(pod *v1.Pod) { pod.Namespace = "other" },
		"label's value":     func(pod *v1.Pod) { pod.Labels["app"] = "y" },
		"label":             func(pod *v1.Pod) { pod.Labels = map[string]string{"other": "x"} },
		"preemption policy": func(pod *v1.Pod) { pod.Spec.PreemptionPolicy = &policy },
	} {
		got := class(change)
		if before, known := others[got]; known {
			t.Errorf("another %s: the class of another %s", name, before)
		}
		others[got] = name
	}
	profile = test.profiles.byName[profileName]
	plain = class(func(*v1.Pod) {})
	for name, change := range map[string]func(*v1.Pod){
		"node selector": func(pod *v1.Pod) { pod.Spec.NodeSelector = map[string]string{"a": "b"} },
		"volume": func(pod *v1.Pod) {
			pod.Spec.Volumes[0].PersistentVolumeClaim = &v1.PersistentVolumeClaimVolumeSource{ClaimName: "c"}
		},
	} {
		if class(change) == plain {
			t.Errorf("another %s: the same class", name)
		}
	}
	for name, change := range map[string]func(*v1.Pod){
		"node":       func(pod *v1.Pod) { pod.Spec.NodeName = "n" },
		"nomination": func(pod *v1.Pod) { pod.Status.NominatedNodeName = "n" },
		"claim":      func(pod *v1.Pod) { pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c"}} },
	} {
		if got := class(change); got != 0 {
			t.Errorf("with a %s: class %x, want none", name, got)
		}
	}
}

// Scripts from seeds: pods of some kinds come and go and change kind, room for a kind comes. At the end as many of each kind are
// placed as there was room for, as without classes.
func TestWithClassesWhatFitsIsPlaced(t *testing.T) {
	for seed := range int64(60) {
		withClasses(t, func(test *fixture) { placeAtRandom(test, rand.New(rand.NewSource(seed)), seed) })
	}
}

const kindsOfPods = 3

func placeAtRandom(test *fixture, rng *rand.Rand, seed int64) {
	room := [kindsOfPods]int{}
	waiting := map[string]*v1.Pod{}
	kindOf := func(pod *v1.Pod) int { return int(pod.Labels["kind"][0] - '0') }
	fits := func(pod *v1.Pod) bool {
		kind := kindOf(pod)
		if room[kind] == 0 {
			return false
		}
		room[kind]--
		delete(waiting, pod.Name)
		return true
	}
	names := func() []string { return slices.Sorted(maps.Keys(waiting)) }
	for step := range 120 {
		switch rng.Intn(8) {
		case 0, 1, 2:
			name := fmt.Sprintf("%d-%d", seed, step)
			pod := test.pod(name, name)
			pod.Labels = map[string]string{"kind": string(rune('0' + rng.Intn(kindsOfPods)))}
			waiting[name] = pod
			test.offer(pod)
		case 3:
			room[rng.Intn(kindsOfPods)] += rng.Intn(4)
			test.nodeAdded()
		case 4:
			if all := names(); len(all) > 0 {
				pod := waiting[all[rng.Intn(len(all))]]
				delete(waiting, pod.Name)
				test.forget(pod)
			}
		case 5:
			if all := names(); len(all) > 0 {
				old := waiting[all[rng.Intn(len(all))]]
				pod := old.DeepCopy()
				if rng.Intn(2) == 0 {
					pod.Labels["kind"] = string(rune('0' + rng.Intn(kindsOfPods)))
				}
				waiting[pod.Name] = pod
				_ = test.lister.Update(pod)
				test.update(test.logger, old, pod)
			}
		case 6:
			test.pass(time.Duration(rng.Intn(3000)) * time.Millisecond)
		default:
			test.tryAll(fits, fit)
		}
	}
	for range 4 { // what waits for an update that concerned it alone waits for the next event
		test.nodeAdded()
		test.pass(11 * time.Second)
		test.tryAll(fits, fit)
	}
	for _, pod := range waiting {
		if room[kindOf(pod)] > 0 {
			test.Errorf("seed %d: %s waits, and there is room for %d more of its kind: %s", seed, pod.Name, room[kindOf(pod)],
				test.summary())
		}
	}
	if test.Records() != len(waiting) {
		test.Errorf("seed %d: %d records for %d pods", seed, test.Records(), len(waiting))
	}
}

// While two goroutines try pods, others change and nominate them and have events. When there is room at last, each is placed.
func TestNoPodOfAClassIsForgotten(t *testing.T) {
	const pods, changes = 200, 600
	withClasses(t, func(test *fixture) {
		var room atomic.Bool
		var placed atomic.Int64
		var consumers, others sync.WaitGroup
		test.addMany(pods)
		listed := []*v1.Pod{}
		for _, pod := range test.lister.List() {
			listed = append(listed, pod.(*v1.Pod))
		}
		for range 2 {
			consumers.Add(1)
			go func() {
				defer consumers.Done()
				for info, _ := test.next(); info != nil; info, _ = test.next() {
					if room.Load() {
						test.Done(info.Pod.UID)
						placed.Add(1)
						continue
					}
					info.UnschedulablePlugins = sets.New(fit)
					_ = test.putBack(test.logger, info)
				}
			}()
		}
		nominating := &release.NominatingInfo{NominatingMode: release.ModeOverride, NominatedNodeName: "node"}
		for number, do := range []func(*rand.Rand, *v1.Pod){
			func(*rand.Rand, *v1.Pod) { test.nodeAdded() },
			func(rng *rand.Rand, pod *v1.Pod) { // the informer
				changed := pod.DeepCopy()
				if rng.Intn(8) == 0 {
					changed.Labels = map[string]string{"kind": "other"}
				}
				test.update(test.logger, pod, changed)
			},
			func(rng *rand.Rand, pod *v1.Pod) {
				if rng.Intn(8) == 0 {
					test.AddNominatedPod(test.logger, &framework.PodInfo{Pod: pod}, nominating)
				}
			},
			func(_ *rand.Rand, pod *v1.Pod) { test.Activate(test.logger, map[string]*v1.Pod{"": pod}) },
		} {
			others.Add(1)
			go func() {
				defer others.Done()
				rng := rand.New(rand.NewSource(int64(number)))
				for range changes {
					do(rng, listed[rng.Intn(len(listed))])
				}
			}()
		}
		others.Wait()
		room.Store(true)
		for deadline := time.Now().Add(time.Minute); placed.Load() < pods && time.Now().Before(deadline); {
			test.nodeAdded()
			test.pass(11 * time.Second)
			time.Sleep(time.Millisecond)
		}
		if placed.Load() != pods {
			test.Errorf("%d of %d were placed: %s", placed.Load(), pods, test.summary())
		}
		test.Close()
		consumers.Wait()
	})
}
