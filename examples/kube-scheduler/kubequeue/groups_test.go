//go:build !kube134

package kubequeue

import (
	"context"
	"fmt"
	"math/rand"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"schedq"
)

// crowd is a test in which all that may call the queue at once does.
type crowd struct {
	*fixture
	mutex sync.Mutex
	known map[string]int // pods of each group that were added
}

const (
	crowdGroups = 40
	crowdSize   = 4
)

// PreEnqueue wants all pods of a group.
func (crowd *crowd) PreEnqueue(_ context.Context, pod *v1.Pod) *fwk.Status {
	crowd.mutex.Lock()
	defer crowd.mutex.Unlock()
	if pod.Labels["gate"] == "shut" || crowd.known[groupOf(pod)] < crowdSize {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not now")
	}
	return nil
}

func (crowd *crowd) Name() string { return gangPluginName }

func (crowd *crowd) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.UnscheduledPod, ActionType: fwk.Add}},
		{Event: fwk.ClusterEvent{Resource: fwk.TargetPod, ActionType: fwk.UpdatePodLabel}},
	}, nil
}

// member makes a pod of a group.
func (crowd *crowd) member(group string, number int) *v1.Pod {
	name := fmt.Sprintf("%s-%d", group, number)
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name), Labels: map[string]string{}},
		Spec: v1.PodSpec{
			SchedulerName: profileName, SchedulingGroup: &v1.PodSchedulingGroup{PodGroupName: &group},
		},
	}
}

// pods is the informer of pods: some come with a shut gate, which is opened, and shut and opened again.
func (crowd *crowd) pods() {
	ctx := context.Background()
	for number := range crowdSize {
		for group := range crowdGroups {
			pod := crowd.member(fmt.Sprintf("g%d", group), number)
			crowd.mutex.Lock()
			crowd.known[groupOf(pod)]++
			crowd.mutex.Unlock()
			if group%3 == 0 {
				pod.Labels["gate"] = "shut"
			}
			crowd.Add(ctx, pod)
			crowd.MoveAllToActiveOrBackoffQueue(crowd.logger, framework.EventUnscheduledPodAdd, nil, pod, nil)
			for old := pod; old.Labels["gate"] == "shut"; {
				open := old.DeepCopy()
				delete(open.Labels, "gate")
				crowd.Update(ctx, old, open)
				old = open
			}
		}
	}
}

// declare is the informer of groups. Some are deleted, and declared again.
func (crowd *crowd) declare() {
	for group := range crowdGroups {
		made := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("g%d", group)}}
		crowd.AddPodGroup(crowd.logger, made)
		if group%4 == 0 {
			crowd.DeletePodGroup(crowd.logger, made)
			crowd.AddPodGroup(crowd.logger, made)
		}
	}
}

// disturb asks and activates.
func (crowd *crowd) disturb(rng *rand.Rand) {
	pod := crowd.member(fmt.Sprintf("g%d", rng.Intn(crowdGroups)), rng.Intn(crowdSize))
	switch rng.Intn(4) {
	case 0:
		crowd.Activate(crowd.logger, map[string]*v1.Pod{pod.Name: pod})
	case 1:
		crowd.MoveAllToActiveOrBackoffQueue(crowd.logger, framework.EventUnschedulableTimeout, nil, nil, nil)
	case 2:
		crowd.GetPod(pod.Name, "ns", pod.Spec.SchedulingGroup)
		crowd.GetPodGroup(groupOf(pod), "ns", fwk.PodGroupKeyType)
	default:
		crowd.PendingPods()
		crowd.show()
	}
}

// schedule is the scheduler: every third cycle fails as a whole, and every fifth member that was placed cannot be bound. It ends
// when all pods are bound.
func (crowd *crowd) schedule() (err error) {
	var binding sync.WaitGroup
	defer binding.Wait()
	var bound sync.Map
	count := make(chan struct{}, crowdGroups*crowdSize)
	for cycle := 0; len(count) < crowdGroups*crowdSize; cycle++ {
		entity, err := crowd.Pop(crowd.logger)
		if entity == nil {
			return fmt.Errorf("popped nothing: %v", err)
		}
		group := entity.(*framework.QueuedPodGroupInfo)
		status := fwk.NewStatus(fwk.Success)
		if cycle%3 == 0 {
			status = fwk.NewStatus(fwk.Unschedulable)
		}
		number := 0
		group.ForEachPodInfo(func(info *framework.QueuedPodInfo) bool {
			number++
			if status.IsRejected() {
				err = crowd.AddUnschedulablePodIfNotPresent(crowd.logger, info.DeepCopy(), 0)
				return err == nil
			}
			binding.Add(1)
			copied := info.DeepCopy()
			fails := (cycle+number)%5 == 0
			go func() {
				defer binding.Done()
				crowd.Done(copied.Pod.UID)
				if fails {
					_ = crowd.AddUnschedulablePodIfNotPresent(crowd.logger, copied, 0)
					return
				}
				if _, twice := bound.LoadOrStore(copied.Pod.UID, true); twice {
					crowd.Errorf("%s is bound twice", copied.Pod.Name)
				}
				crowd.Delete(crowd.logger, copied.Pod)
				count <- struct{}{}
			}()
			return true
		})
		if err == nil {
			err = crowd.AddAttemptedPodGroupIfNeeded(crowd.logger, group, 0, status)
		}
		if err != nil {
			return err
		}
		for wait := time.Now(); len(crowd.PodsInActiveQ()) == 0 && len(count) < crowdGroups*crowdSize; {
			if time.Since(wait) > time.Minute {
				return fmt.Errorf("nothing is active: %s, %d bound", crowd.summary(), len(count))
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

func TestGroupsInACrowd(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
	for name, engine := range map[string]schedq.Engine{"lockfree": schedq.LockFree, "mutex": schedq.Mutex} {
		t.Run(name, func(t *testing.T) {
			crowd := &crowd{known: map[string]int{}}
			crowd.fixture = newFixtureWith(t, Options{Engine: engine}, Plugins{
				PreEnqueue: []fwk.PreEnqueuePlugin{crowd}, Extensions: []fwk.EnqueueExtensions{crowd},
			})
			seed := time.Now().UnixNano()
			t.Logf("seed %d", seed)
			stop := make(chan struct{})
			var others, informers sync.WaitGroup
			for _, work := range []func(*rand.Rand){
				crowd.disturb,
				func(*rand.Rand) { crowd.pass(500 * time.Millisecond); time.Sleep(time.Millisecond) },
			} {
				others.Add(1)
				go func() {
					defer others.Done()
					for rng := rand.New(rand.NewSource(seed)); ; {
						select {
						case <-stop:
							return
						default:
							work(rng)
						}
					}
				}()
			}
			informers.Add(2)
			go func() { defer informers.Done(); crowd.pods() }()
			go func() { defer informers.Done(); crowd.declare() }()
			if err := crowd.schedule(); err != nil {
				t.Error(err)
			}
			informers.Wait()
			close(stop)
			others.Wait()
			crowd.want("activeQ:0; backoffQ:0; unschedulable:0; pendingPodGroupMemberPods:0; incompletePodGroupPods:0; inFlight:0; records:0")
		})
	}
}

// onGroups runs a test on both engines, with the feature gate. Its gates are the fixture's only.
func onGroups(t *testing.T, test func(*fixture)) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
	onBothEngines(t, test)
}

// join adds a pod of a group.
func (test *fixture) join(group, name string) *v1.Pod {
	pod := (*crowd)(nil).member(group, 0)
	pod.Name, pod.UID = name, types.UID(name)
	_ = test.lister.Add(pod)
	test.Add(context.Background(), pod)
	return pod
}

// popGroup pops a group, which must be the next.
func (test *fixture) popGroup(name string) (group *framework.QueuedPodGroupInfo) {
	test.Helper()
	done := make(chan framework.QueuedEntityInfo, 1)
	go func() {
		entity, _ := test.Pop(test.logger)
		done <- entity
	}()
	select {
	case entity := <-done:
		group, _ = entity.(*framework.QueuedPodGroupInfo)
	case <-time.After(10 * time.Second):
	}
	if group == nil || group.Name != name {
		test.Fatalf("group %s is not the next: %s", name, test.summary())
	}
	return group
}

func (test *fixture) groupDone(group *framework.QueuedPodGroupInfo, code fwk.Code) {
	test.Helper()
	if err := test.AddAttemptedPodGroupIfNeeded(test.logger, group, 0, fwk.NewStatus(code)); err != nil {
		test.Error(err)
	}
}

const groupsAside = "; pendingPodGroupMemberPods:%d; incompletePodGroupPods:%d; inFlight:%d; records:%d"

func TestPodsOfAGroupThatIsDeletedInItsCycleWaitForAnother(t *testing.T) {
	onGroups(t, func(test *fixture) {
		group := podGroup("g", 1, 0)
		test.join("g", "a")
		test.want("activeQ:0; backoffQ:0; unschedulable:0" + fmt.Sprintf(groupsAside, 0, 1, 0, 0))
		test.AddPodGroup(test.logger, group)
		test.want("activeQ:1; backoffQ:0; unschedulable:0" + fmt.Sprintf(groupsAside, 0, 0, 0, 1))
		popped := test.popGroup("g")
		test.join("g", "b")
		test.want("activeQ:0; backoffQ:0; unschedulable:0" + fmt.Sprintf(groupsAside, 1, 0, 1, 0))
		test.DeletePodGroup(test.logger, group)
		test.want("activeQ:0; backoffQ:0; unschedulable:0" + fmt.Sprintf(groupsAside, 0, 1, 1, 0))
		test.Done("a")
		test.groupDone(popped, fwk.Success)
		test.AddPodGroup(test.logger, group)
		test.want("activeQ:1; backoffQ:0; unschedulable:0" + fmt.Sprintf(groupsAside, 0, 0, 0, 1))
	})
}

func TestTheFailureOfAnotherPodDoesNotEndAGroupsCycle(t *testing.T) {
	onGroups(t, func(test *fixture) {
		test.add("alone", "1")
		alone := test.pop()
		test.AddPodGroup(test.logger, podGroup("g", 1, 0))
		test.join("g", "a")
		popped := test.popGroup("g")
		test.fail(alone, nodePluginName)
		member := popped.QueuedPodInfos[fwk.PodGroupKey("ns", "g")][0].DeepCopy()
		if err := test.AddUnschedulablePodIfNotPresent(test.logger, member, 0); err != nil {
			test.Error(err)
		}
		test.want("activeQ:0; backoffQ:0; unschedulable:1" + fmt.Sprintf(groupsAside, 1, 0, 0, 1))
		test.groupDone(popped, fwk.Success)
		test.want("activeQ:1; backoffQ:0; unschedulable:1" + fmt.Sprintf(groupsAside, 0, 0, 0, 2))
	})
}

func TestAQueuedGroupIsSortedAnewWhenItsPriorityChanges(t *testing.T) {
	onGroups(t, func(test *fixture) {
		for _, name := range []string{"g", "h"} {
			test.AddPodGroup(test.logger, podGroup(name, 1, 0))
			test.join(name, "of-"+name)
			test.pass(time.Millisecond)
		}
		test.UpdatePodGroup(test.logger, podGroup("h", 1, 1))
		test.popGroup("h")
		test.popGroup("g")
	})
}

func TestTheUpdateOfAnUnknownGroupLetsItsPodsJoin(t *testing.T) {
	onGroups(t, func(test *fixture) {
		pod := test.join("g", "a")
		test.Delete(test.logger, pod)
		test.Update(context.Background(), pod, pod)
		test.UpdatePodGroup(test.logger, podGroup("g", 1, 0))
		test.popGroup("g")
	})
}

// A gate refuses, and before the group is among the gated ones the event comes that opens it.
func TestAGroupsRefusalThatIsOutOfDateIsAskedAgain(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.GenericWorkload, true)
	for _, engine := range []schedq.Engine{schedq.LockFree, schedq.Mutex} {
		gate := &lateGate{}
		test := newFixtureWith(t, Options{Engine: engine}, Plugins{
			PreEnqueue: []fwk.PreEnqueuePlugin{gate}, Extensions: []fwk.EnqueueExtensions{gate},
		})
		gate.opens = func() {
			test.MoveAllToActiveOrBackoffQueue(test.logger, fwk.ClusterEvent{Resource: fwk.PodGroup, ActionType: fwk.Add}, nil, nil, nil)
		}
		test.AddPodGroup(test.logger, podGroup("g", 1, 0))
		test.join("g", "a")
		test.popGroup("g")
	}
}

// lateGate refuses once, and is opened before it has said so.
type lateGate struct {
	opens func()
	asked int
}

func (gate *lateGate) Name() string { return gangPluginName }

func (gate *lateGate) PreEnqueue(context.Context, *v1.Pod) *fwk.Status {
	if gate.asked++; gate.asked > 1 {
		return nil
	}
	gate.opens()
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "not yet")
}

func (gate *lateGate) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{{Event: fwk.ClusterEvent{Resource: fwk.PodGroup, ActionType: fwk.Add}}}, nil
}
