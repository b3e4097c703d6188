package main

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"schedq/examples/kube-scheduler/internal/release"
)

// The mixed scenario is the acceptance test: everything that a queue is for, one after the other, on a scheduler whose own queue
// crashes when it is called. After each step the pods must be where they belong, for the right reason.

const stepLimit = 90 * time.Second

// mixed is one run of it.
type mixed struct {
	*cluster
	errs []error

	mutex  sync.Mutex
	refuse map[string]int // bindings of that pod that are still to be refused

	vanishes string // a node that is deleted by the next binding, which then goes on
}

func runMixed(queues []queueName) error {
	var errs []error
	for _, name := range queues {
		if err := mixedOn(name); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func mixedOn(name queueName) error {
	cluster, err := newCluster(name, false, shortBackoff)
	if err != nil {
		return err
	}
	defer cluster.stop()
	run := &mixed{cluster: cluster, refuse: map[string]int{}}
	cluster.api.OnBind = run.onBind
	fmt.Printf("mixed on %s\n", name)
	for i := range 100 {
		cluster.api.PutNode(node(fmt.Sprintf("node-%d", i), "4"))
	}
	if err := cluster.start(); err != nil {
		return err
	}
	start := time.Now()
	run.fill()
	run.grow()
	run.loseNodes()
	run.preempt()
	run.ungate()
	run.refuseBinds()
	run.recreate()
	run.shrink()
	run.end()
	fmt.Printf("mixed on %s: %d failures, %.1f s\n", name, len(run.errs), time.Since(start).Seconds())
	return errors.Join(run.errs...)
}

func (run *mixed) onBind(_, name string) error {
	run.mutex.Lock()
	defer run.mutex.Unlock()
	if run.vanishes != "" {
		run.api.DeleteNode(run.vanishes)
		run.vanishes = ""
	}
	if run.refuse[name] > 0 {
		run.refuse[name]--
		return errors.New("the test refuses this binding")
	}
	return nil
}

// check waits until something holds.
func (run *mixed) check(what string, holds func() bool) {
	ok := waitFor(stepLimit, holds)
	fmt.Printf("  %-58s %-5v %s\n", what, ok, run.state())
	if !ok {
		run.errs = append(run.errs, errors.New(what+": does not hold: "+run.state()))
	}
}

func (run *mixed) bound(count int64) func() bool {
	return func() bool { return run.api.Bound() == count && run.quiet() }
}

// quiet: nothing is about to be tried. The original never ends the flight of a pod whose name another one has when it fails, so
// its flights do not count.
func (run *mixed) quiet() bool {
	active, backoff, _ := run.counts()
	return active+backoff == 0 && (run.queue == nil || len(run.queue.InFlightPods()) == 0)
}

// because waits until that many pods wait because of a plugin; gated: at PreEnqueue.
func (run *mixed) because(what, plugin string, gated bool, count int) {
	run.check(what, func() bool {
		found := 0
		for _, pod := range run.api.Pods() {
			info, queued := release.GetPod(run.sched.SchedulingQueue, pod)
			if queued && info.Gated() == gated && info.UnschedulablePlugins.Has(plugin) {
				found++
			}
		}
		return found == count
	})
}

func numbered(prefix string, number int) string { return fmt.Sprintf("%s-%d", prefix, number) }

func (run *mixed) fill() {
	for i := range 600 {
		run.api.CreatePod(run.pod(numbered("p", i), "1", 0))
	}
	for i := range 50 {
		pod := run.pod(numbered("gated", i), "100m", 5)
		pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
		run.api.CreatePod(pod)
	}
	run.check("600 pods for 400 places", run.bound(400))
	run.because("200 wait for resources", names.NodeResourcesFit, false, 200)
	run.because("50 wait for their gate", names.SchedulingGates, true, 50)
}

func (run *mixed) grow() {
	for i := 100; i < 110; i++ {
		run.api.PutNode(node(numbered("node", i), "4"))
	}
	run.check("10 nodes more", run.bound(440))
	deleted := 0
	for _, pod := range run.api.Pods() {
		if pod.Spec.NodeName != "" && deleted < 50 {
			run.delete(pod.Name)
			deleted++
		}
	}
	run.check("50 bound pods deleted: others take their places", run.bound(440))
}

// loseNodes deletes nodes with their pods: while nothing goes on, and while pods are bound to them.
func (run *mixed) loseNodes() {
	for i := range 10 {
		run.try(run.deleteNode(numbered("node", i)))
	}
	run.check("10 nodes deleted with 40 pods: the others stay", run.bound(400))
	run.because("110 wait for resources", names.NodeResourcesFit, false, 110)
	for i := range 10 {
		run.api.PutNode(node(numbered("node", i), "4"))
	}
	run.check("10 nodes of the same names: others take the places", run.bound(440))
	for i := range 10 {
		name := numbered("short", i)
		run.mutex.Lock()
		run.vanishes = name
		run.mutex.Unlock()
		run.api.PutNode(node(name, "4"))
		run.check(fmt.Sprintf("node %d deleted while pods are bound to it", i), func() bool {
			// A pod may still be bound to a node that is gone.
			run.try(run.collect(func(pod *v1.Pod) bool { return pod.Spec.NodeName == name }))
			return run.hasVanished() && run.bound(440)() && run.nothingLost()
		})
	}
	for i := range 80 { // enough for every place that preemption will leave
		run.api.CreatePod(run.pod(numbered("late", i), "1", 0))
	}
}

func (run *mixed) hasVanished() bool {
	run.mutex.Lock()
	defer run.mutex.Unlock()
	return run.vanishes == ""
}

// nothingLost: each pod is bound or queued.
func (run *mixed) nothingLost() bool {
	_, _, unschedulable := run.counts()
	return int(run.api.Bound())+unschedulable == len(run.api.Pods())
}

func (run *mixed) try(err error) {
	if err != nil {
		run.errs = append(run.errs, err)
	}
}

func (run *mixed) delete(name string) {
	run.try(run.api.DeletePod(namespace, name))
}

func (run *mixed) edit(name string, edit func(*v1.Pod)) {
	if _, err := run.api.EditPod(namespace, name, func(pod *v1.Pod) error { edit(pod); return nil }); err != nil {
		run.errs = append(run.errs, err)
	}
}

func (run *mixed) preempt() {
	for i := range 30 {
		run.api.CreatePod(run.pod(numbered("high", i), "2", 1000))
	}
	run.check("30 preemptors of two places each", func() bool {
		bound := 0
		for _, pod := range run.api.Pods() {
			if pod.Spec.NodeName != "" && *pod.Spec.Priority == 1000 {
				bound++
			}
		}
		return bound == 30 && run.bound(440-30)()
	})
}

func (run *mixed) ungate() {
	for i := range 50 {
		run.edit(numbered("gated", i), func(pod *v1.Pod) { pod.Spec.SchedulingGates = nil })
	}
	for i := 110; i < 115; i++ {
		run.api.PutNode(node(numbered("node", i), "4"))
	}
	run.check("gates removed, 5 nodes more: 50 small pods go first", func() bool {
		for i := range 50 {
			if !run.isBound(numbered("gated", i)) {
				return false
			}
		}
		return run.quiet()
	})
}

func (run *mixed) isBound(name string) bool {
	for _, pod := range run.api.Pods() {
		if pod.Name == name {
			return pod.Spec.NodeName != ""
		}
	}
	return false
}

func (run *mixed) allBound(prefix string, count int) func() bool {
	return func() bool {
		for i := range count {
			if !run.isBound(numbered(prefix, i)) {
				return false
			}
		}
		return run.quiet()
	}
}

func (run *mixed) refuseBinds() {
	for i := range 20 {
		run.mutex.Lock()
		run.refuse[numbered("refused", i)] = 2
		run.mutex.Unlock()
		run.api.CreatePod(run.pod(numbered("refused", i), "1m", 2000))
	}
	run.check("20 pods whose binding is refused twice", run.allBound("refused", 20))
}

// recreate deletes pods and creates others under their names: while they wait, during their cycle, and during Permit.
func (run *mixed) recreate() {
	for i := range 20 {
		run.api.CreatePod(run.pod(numbered("again", i), "4000", 0))
		time.Sleep(5 * time.Millisecond)
		run.delete(numbered("again", i))
		run.api.CreatePod(run.pod(numbered("again", i), "1m", 0))
	}
	run.check("20 recreated while they wait", run.allBound("again", 20))
	for i := range 5 {
		run.recreateDuring(numbered("cycle", i), "4000", holdCycle, "40ms")
	}
	run.check("5 recreated during their cycle, which fails", run.allBound("cycle", 5))
	for i := range 5 {
		run.recreateDuring(numbered("permit", i), "1m", holdPermit, "300ms")
	}
	run.check("5 recreated during Permit", run.allBound("permit", 5))
}

func (run *mixed) recreateDuring(name, cpu, label, length string) {
	pod := run.pod(name, cpu, 3000)
	pod.Labels = map[string]string{label: length}
	run.api.CreatePod(pod)
	waitFor(stepLimit, func() bool {
		for _, flying := range run.sched.SchedulingQueue.InFlightPods() {
			if flying.UID == pod.UID {
				return true
			}
		}
		return false
	})
	run.delete(name)
	run.api.CreatePod(run.pod(name, "1m", 3000))
}

func (run *mixed) shrink() {
	var pending []string
	for _, pod := range run.api.Pods() {
		if pod.Spec.NodeName == "" {
			pending = append(pending, pod.Name)
			run.edit(pod.Name, func(pod *v1.Pod) { pod.Labels = map[string]string{"edited": "yes"} })
		}
	}
	run.because("the others still wait for resources", names.NodeResourcesFit, false, len(pending))
	for _, name := range pending {
		run.edit(name, func(pod *v1.Pod) {
			if pod.Spec.NodeName == "" {
				pod.Spec.Containers[0].Resources = requests("1m")
			}
		})
	}
	run.check(fmt.Sprintf("%d pods shrunk: all fit", len(pending)), run.bound(int64(len(run.api.Pods()))))
}

// end looks for what is left over.
func (run *mixed) end() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR2); err != nil {
		run.errs = append(run.errs, err)
	}
	time.Sleep(500 * time.Millisecond)
	run.check("SIGUSR2 survived", run.quiet)
	if run.queue != nil {
		run.check("nothing is in flight, no record is left over", func() bool { return run.queue.Records() == 0 })
	}
}
