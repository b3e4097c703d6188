package kubequeue

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	listersv1 "k8s.io/client-go/listers/core/v1"

	"schedq"
)

// byLabel has a pod's shard in the pod's label "shard"; without it the shard is 0.
type byLabel struct{ fenced atomic.Bool }

func (*byLabel) Of(pod *v1.Pod) int {
	shard, _ := strconv.Atoi(pod.Labels["shard"])
	return shard
}

func (split *byLabel) Serves(int) bool { return !split.fenced.Load() }

// onBothEnginesSplit runs a test with a queue that owns no shard yet.
func onBothEnginesSplit(t *testing.T, test func(*fixture, *byLabel)) {
	t.Helper()
	for name, engine := range map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex} {
		t.Run(name, func(t *testing.T) {
			split := &byLabel{}
			test(newFixture(t, Options{Engine: engine, Shards: split}), split)
		})
	}
}

// inShard is a pod that the informer knows, and the queue does not.
func (test *fixture) inShard(name, uid string, shard int) *v1.Pod {
	pod := test.pod(name, uid)
	pod.Labels = map[string]string{"shard": strconv.Itoa(shard)}
	return pod
}

func (test *fixture) addInShard(name, uid string, shard int) *v1.Pod {
	pod := test.inShard(name, uid, shard)
	test.offer(pod)
	return pod
}

func TestAQueueHasThePodsOfItsShardsOnly(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
		test.addInShard("early", "1", 1)
		test.addInShard("other", "2", 2)
		bound := test.inShard("bound", "3", 1)
		bound.Spec.NodeName = "node"
		test.inShard("foreign", "4", 1).Spec.SchedulerName = "nobody"
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
		if count := test.Gain(test.logger, 1); count != 1 {
			test.Errorf("%d pods were taken in, want 1", count)
		}
		test.addInShard("late", "5", 1)
		test.update(test.logger, nil, test.inShard("later", "6", 1))
		test.update(test.logger, nil, test.inShard("others", "7", 2))
		if count := test.Gain(test.logger, 1); count != 0 {
			test.Errorf("%d pods were taken in twice", count)
		}
		test.want("activeQ:3; backoffQ:0; unschedulable:0; inFlight:0; records:3")
		for _, name := range []string{"early", "late", "later"} {
			if popped := test.pop().Pod.Name; popped != name {
				test.Errorf("popped %q, want %q", popped, name)
			}
		}
	})
}

// The shard is lost after the informer's call looked whose it is.
func TestAPodThatIsAddedWhileItsShardIsLostIsNotKept(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
		test.Gain(test.logger, 1)
		test.gates.before = func() { test.Lose(1) }
		test.addInShard("a", "1", 1)
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
	})
}

func TestACycleOfAPodOfAnotherQueueIsAbandoned(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
		test.Gain(test.logger, 1)
		test.addInShard("a", "1", 1)
		flying := test.pop()
		if test.Abandon(flying.Pod) {
			test.Error("a pod of this queue's was abandoned")
		}
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:1; records:1")
		test.Lose(1)
		if !test.Abandon(flying.Pod) {
			test.Error("a pod of another queue's was not abandoned")
		}
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
	})
}

// kept loses a shard that has pods everywhere, and says what the queue still knows of them, or does with them.
func kept(test *fixture) string {
	test.Gain(test.logger, 1, 2)
	test.addInShard("parked", "1", 1)
	test.fail(test.pop(), nodePluginName)
	test.addInShard("backing off", "2", 1)
	test.fail(test.pop())
	gated := test.inShard("gated", "3", 1)
	gated.Labels["gate"] = "shut"
	test.offer(gated)
	test.addInShard("bound late", "4", 1)
	late := test.pop()
	test.Done(late.Pod.UID)
	test.addInShard("flying", "5", 1)
	flying := test.pop()
	test.addInShard("active", "6", 1)
	test.addInShard("mine", "7", 2)

	test.Lose(1)
	test.fail(flying, nodePluginName)
	test.fail(late)
	test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
	test.pass(20 * time.Second)
	if summary := test.summary(); summary != "activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1" {
		return summary
	}
	if name := test.pop().Pod.Name; name != "mine" {
		return "popped " + name
	}
	return ""
}

func TestALostShardLeavesNothing(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
		if left := kept(test); left != "" {
			test.Error("of a shard that was lost: " + left)
		}
	})
}

func TestAPlantedQueueThatKeepsWhatIsLostIsFound(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
		test.shards.keeps = true
		if left := kept(test); left == "" {
			test.Error("nobody noticed that the pods stayed")
		}
	})
}

func TestALostShardComesBackAsTheInformerHasIt(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
		test.Gain(test.logger, 1)
		test.addInShard("a", "1", 1)
		test.addInShard("b", "2", 1)
		flying := test.pop()
		if count := test.Lose(1); count != 2 {
			test.Errorf("%d pods were dropped, want 2", count)
		}
		if count := test.Gain(test.logger, 1); count != 2 {
			test.Errorf("%d pods were taken in, want 2", count)
		}
		// The failure of a cycle that began before the loss.
		info := *flying
		if err := test.putBack(test.logger, &info); err == nil {
			test.Error("a pod of an earlier ownership was put back")
		}
		test.want("activeQ:2; backoffQ:0; unschedulable:0; inFlight:0; records:2")
	})
}

// listing does something after all pods were listed, and before the list is given.
type listing struct {
	listersv1.PodLister
	after func()
}

func (listing *listing) List(selector labels.Selector) ([]*v1.Pod, error) {
	pods, err := listing.PodLister.List(selector)
	listing.after()
	return pods, err
}

// The informer tells of a change while a gain looks at the pods as they were before it.
func TestWhatTheInformerTellsDuringAGainCounts(t *testing.T) {
	const none, one = "activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0",
		"activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1"
	for what, told := range map[string]struct {
		there  bool // the pod, before the gain
		change func(test *fixture, old, pod *v1.Pod)
		want   string
	}{
		"a pod comes": {false, func(test *fixture, _, pod *v1.Pod) {
			_ = test.lister.Add(pod)
			test.offer(pod)
		}, one},
		"a pod is bound": {true, func(test *fixture, old, pod *v1.Pod) {
			pod.Spec.NodeName = "node"
			_ = test.lister.Update(pod)
			test.forget(old)
		}, none},
		"a pod goes": {true, func(test *fixture, old, _ *v1.Pod) {
			_ = test.lister.Delete(old)
			test.forget(old)
		}, none},
		"another pod has its name": {true, func(test *fixture, old, pod *v1.Pod) {
			pod.UID = "2"
			_ = test.lister.Update(pod)
			test.update(test.logger, old, pod)
		}, one},
		"a pod changes": {true, func(test *fixture, old, pod *v1.Pod) {
			_ = test.lister.Update(pod)
			test.update(test.logger, old, pod)
		}, one},
	} {
		t.Run(what, func(t *testing.T) {
			onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
				old := test.inShard("a", "1", 1)
				old.ResourceVersion = "1"
				if !told.there {
					_ = test.lister.Delete(old)
				}
				pod := old.DeepCopy()
				pod.ResourceVersion = "2"
				test.Queue.lister = &listing{test.Queue.lister, func() { told.change(test, old, pod) }}
				test.Gain(test.logger, 1)
				test.want(told.want)
				if queued := test.PodsInActiveQ(); len(queued) == 1 && queued[0] != pod {
					test.Errorf("the queue has %+v, want %+v", queued[0], pod)
				}
			})
		})
	}
}

func TestAPopWaitsForTheEndOfAFence(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, split *byLabel) {
		test.Gain(test.logger, 1, 2)
		test.addInShard("a", "1", 1)
		split.fenced.Store(true)
		popped := make(chan string, 1)
		pop := func() {
			info, err := test.next()
			if info == nil {
				popped <- fmt.Sprintf("nothing: %v", err)
				return
			}
			popped <- info.Pod.Name
		}
		go pop()
		select {
		case name := <-popped:
			test.Fatalf("popped %q behind the fence", name)
		case <-time.After(10 * fencedPause):
		}
		split.fenced.Store(false)
		if name := <-popped; name != "a" {
			test.Errorf("popped %q, want a", name)
		}

		// What is lost behind the fence is not popped after it.
		test.addInShard("b", "2", 1)
		split.fenced.Store(true)
		go pop()
		time.Sleep(2 * fencedPause)
		test.Lose(1)
		split.fenced.Store(false)
		test.addInShard("c", "3", 2)
		if name := <-popped; name != "c" {
			test.Errorf("popped %q, want c", name)
		}
		// The cycle of a has not ended.
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:2; records:1")
	})
}

func TestAPodGoesToAnotherShard(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
		test.Gain(test.logger, 1, 2)
		first := test.addInShard("a", "1", 1)
		second := test.inShard("a", "1", 2)
		test.update(test.logger, first, second)
		if count := test.Lose(1); count != 0 {
			test.Errorf("%d pods are in the shard that the pod left", count)
		}
		test.want("activeQ:1; backoffQ:0; unschedulable:0; inFlight:0; records:1")
		test.update(test.logger, second, test.inShard("a", "1", 3))
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
	})
}

func TestTheNodeThatIsIntendedForAPodOfAnotherQueueIsKnown(t *testing.T) {
	onBothEnginesSplit(t, func(test *fixture, _ *byLabel) {
		pod := test.inShard("a", "1", 1)
		nominated := pod.DeepCopy()
		nominated.Status.NominatedNodeName = "node"
		test.offer(pod)
		_ = test.lister.Update(nominated)
		test.update(test.logger, pod, nominated)
		if infos := test.NominatedPodsForNode("node"); len(infos) != 1 || infos[0].GetPod().Labels["shard"] != "1" {
			test.Errorf("%v is intended for node, want the pod as the informer has it", infos)
		}
		test.forget(nominated)
		if infos := test.NominatedPodsForNode("node"); len(infos) != 0 {
			test.Errorf("%v is intended for node, want nothing", infos)
		}
	})
}

// An informer tells of pods that come, change, are bound and go, and a scheduler whose tries all fail pops them, while shards come and
// go. In the end all are gained: the queue has the pods that wait, each once, in their newest state.
func TestShardsComeAndGoWhilePodsDo(t *testing.T) {
	const shards, names, rounds = 4, 20, 3000
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	onBothEnginesSplit(t, func(test *fixture, split *byLabel) {
		random := rand.New(rand.NewPCG(seed, 1))
		var workers sync.WaitGroup
		var stop atomic.Bool
		workers.Add(1)
		go func() {
			defer workers.Done()
			moving := rand.New(rand.NewPCG(seed, 2))
			for !stop.Load() {
				if shard := moving.IntN(shards); moving.IntN(2) == 0 {
					test.Gain(test.logger, shard)
				} else {
					test.Lose(shard)
				}
			}
		}()
		go func() {
			for {
				info, _ := test.next()
				if info == nil {
					return
				}
				info.UnschedulablePlugins = sets.New(nodePluginName)
				_ = test.putBack(test.logger, info) // the pod may be gone
			}
		}()
		pods := map[string]*v1.Pod{}
		for round := range rounds {
			name := "pod-" + strconv.Itoa(random.IntN(names))
			old := pods[name]
			if old == nil {
				pod := &v1.Pod{}
				pod.Namespace, pod.Name, pod.UID = "ns", name, types.UID(strconv.Itoa(round))
				pod.ResourceVersion, pod.Spec.SchedulerName = strconv.Itoa(round), profileName
				pod.Labels = map[string]string{"shard": strconv.Itoa(random.IntN(shards))}
				pods[name] = pod
				_ = test.lister.Add(pod)
				test.offer(pod)
				continue
			}
			pod := old.DeepCopy()
			pod.ResourceVersion = strconv.Itoa(round)
			switch what := random.IntN(3); {
			case what == 0:
				pod.Labels["shard"] = strconv.Itoa(random.IntN(shards))
				pods[name] = pod
				_ = test.lister.Update(pod)
				test.update(test.logger, old, pod)
			case what == 1:
				pod.Spec.NodeName = "node"
				_ = test.lister.Update(pod)
				test.forget(old)
				_ = test.lister.Delete(pod)
				delete(pods, name)
			default:
				_ = test.lister.Delete(old)
				test.forget(old)
				delete(pods, name)
			}
		}
		stop.Store(true)
		workers.Wait()
		for shard := range shards {
			test.Gain(test.logger, shard)
		}
		for end := time.Now().Add(10 * time.Second); len(test.PodsInActiveQ())+len(test.InFlightPods()) > 0; {
			if time.Sleep(time.Millisecond); time.Now().After(end) {
				test.Fatal("pods are not popped: " + test.summary())
			}
		}
		left, _ := test.PendingPods()
		if len(left) != len(pods) || test.Records() != len(pods) {
			test.Errorf("%d pods wait; the queue has %s", len(pods), test.summary())
		}
		for _, pod := range left {
			if pods[pod.Name] != pod {
				test.Errorf("the queue has %s, uid %s, version %s; want %+v", pod.Name, pod.UID, pod.ResourceVersion, pods[pod.Name])
			}
		}
	})
}
