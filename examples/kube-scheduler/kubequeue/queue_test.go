package kubequeue

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"schedq/examples/kube-scheduler/internal/release"
)

func TestNominations(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		pod := test.add("a", "1")
		info := test.pop()
		override := &release.NominatingInfo{NominatingMode: release.ModeOverride, NominatedNodeName: "n"}
		test.fail(info, nodePluginName)
		test.AddNominatedPod(test.logger, info.PodInfo, override)
		if got := test.NominatedPodsForNode("n"); len(got) != 1 || got[0].GetPod().UID != "1" || got[0].GetPod() == pod {
			test.Errorf("nominated: %v", got)
		}
		changed := pod.DeepCopy()
		changed.Labels = map[string]string{"new": "yes"}
		test.update(test.logger, pod, changed)
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

func TestClose(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		flying, parked := test.add("a", "1"), test.pod("b", "2")
		info := test.pop()
		closed := make(chan error)
		go func() {
			info, err := test.next()
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
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
		test.offer(parked)
		test.update(test.logger, nil, parked)
		test.forget(flying)
		test.Done("1")
		_ = test.putBack(test.logger, info)
		test.MoveAllToActiveOrBackoffQueue(test.logger, nodeAdd, nil, nil, nil)
		test.want("activeQ:0; backoffQ:0; unschedulable:0; inFlight:0; records:0")
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
				info, _ := test.next()
				if info == nil {
					return
				}
				if number%3 == 0 {
					info.UnschedulablePlugins = sets.New(nodePluginName)
					_ = test.putBack(test.logger, info) // it may be deleted by now
					continue
				}
				copied := info.DeepCopy()
				cycles.Add(1)
				go func() {
					defer cycles.Done()
					test.Done(copied.Pod.UID)
					if number%7 == 0 {
						_ = test.putBack(test.logger, copied)
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
			test.offer(pod)
			changed := pod.DeepCopy()
			changed.Labels = map[string]string{"new": "yes"}
			test.update(test.logger, pod, changed)
			switch number % 4 {
			case 0:
				test.forget(changed)
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

func TestActivePodsAreListedInTheirOrder(t *testing.T) {
	onBothEngines(t, func(test *fixture) {
		for i, priority := range []int32{1, 3, 2, 3} {
			pod := test.pod(fmt.Sprint("p", i), fmt.Sprint(i))
			pod.Spec.Priority = &priority
			test.offer(pod)
			test.clock.SetTime(test.clock.Now().Add(time.Millisecond))
		}
		for range 10 {
			var names []string
			for _, pod := range test.PodsInActiveQ() {
				names = append(names, pod.Name)
			}
			if got := fmt.Sprint(names); got != "[p1 p3 p2 p0]" {
				t.Fatalf("listed %s", got)
			}
		}
	})
}
