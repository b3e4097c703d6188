package main

import (
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	"schedq/examples/kube-scheduler/internal/release"
)

// A random scenario is a script that a seed makes. It runs on the original queue and on schedq's, and what is left at the end is
// compared: which pods are bound, which are pending and why, which are nominated. The order in which pods are tried is a matter
// of timing, so pods that compete are of one class, and classes are counted; where an operation depends on what happened before,
// the script lets everything settle first.

const (
	randomParallel = 6 // scenarios at once: most of their time they wait
	settleLimit    = 60 * time.Second
)

// script is what a seed says.
type script struct {
	seed  int64
	steps []step
}

// step does something to a cluster. settle: only when nothing goes on.
type step struct {
	name   string
	settle bool
	do     func(*random)
}

// random is a run of a script.
type random struct {
	*cluster
	nodes map[string]int // by pool

	failed error // a step that did not work

	mutex  sync.Mutex
	refuse map[string]int
}

var pools = []string{"a", "b", "tainted"}

// noPool is what pods ask for that has no node, until one is added.
const noPool = "none"

func makeScript(seed int64) script {
	made := script{seed: seed}
	rng := rand.New(rand.NewSource(seed))
	for number := range 6 + rng.Intn(8) {
		made.steps = append(made.steps, makeStep(rng, number))
	}
	return made
}

func makeStep(rng *rand.Rand, number int) step {
	pool, count := pools[rng.Intn(len(pools))], 1+rng.Intn(6)
	name := func(i int) string { return fmt.Sprintf("step%d-%d", number, i) }
	if hasGangs() && rng.Intn(4) == 0 {
		return makeGangStep(rng.Intn(gangSteps), number)
	}
	switch rng.Intn(12) {
	case 0, 1:
		return step{"pods for " + pool, false, func(run *random) { run.create(name, count, pool, nil) }}
	case 2:
		return step{"pods for no pool", false, func(run *random) { run.create(name, count, noPool, nil) }}
	case 3:
		return step{"gated pods for " + pool, false, func(run *random) {
			run.create(name, count, pool, func(pod *v1.Pod) {
				pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
			})
		}}
	case 4:
		return step{"gates removed", false, func(run *random) {
			run.editPending(func(pod *v1.Pod) { pod.Spec.SchedulingGates = nil })
		}}
	case 5:
		// Pods that it does not suit do not hear of it, but have its taint among their reasons if they are tried after it.
		return step{"node for " + pool, pool == "tainted", func(run *random) { run.addNode(pool) }}
	case 6:
		return step{"bound pods deleted", true, func(run *random) { run.deleteBound(pool, count) }}
	case 7:
		return step{"pods tolerate", true, func(run *random) {
			run.editPending(func(pod *v1.Pod) {
				if pod.Spec.NodeSelector["pool"] != "tainted" {
					return // pods that compete stay alike
				}
				tolerate(pod)
			})
		}}
	case 8:
		return step{"recreated", false, func(run *random) {
			run.create(name, count, noPool, nil)
			for i := range count {
				_ = run.api.DeletePod(namespace, name(i))
			}
			run.create(name, count, pool, nil)
		}}
	case 9:
		return step{"bindings refused", false, func(run *random) {
			run.mutex.Lock()
			for i := range count {
				run.refuse[name(i)] = 1
			}
			run.mutex.Unlock()
			run.create(name, count, pool, nil)
		}}
	case 10:
		return step{"nodes deleted of " + pool, true, func(run *random) { run.deleteNodes(pool) }}
	default:
		if rng.Intn(2) == 0 {
			return step{"preemptor for " + pool, true, func(run *random) {
				run.create(name, 1, pool, func(pod *v1.Pod) {
					priority := int32(1000)
					pod.Spec.Priority = &priority
					tolerate(pod) // at once: later it would compete with those that it preempts
				})
				run.settle()
			}}
		}
		return step{"node for no pool", false, func(run *random) { run.addNode(noPool) }}
	}
}

func (run *random) create(name func(int) string, count int, pool string, change func(*v1.Pod)) {
	for i := range count {
		pod := run.pod(name(i), "1", 0)
		pod.Spec.NodeSelector = map[string]string{"pool": pool}
		if change != nil {
			change(pod)
		}
		run.api.CreatePod(pod)
	}
}

func tolerate(pod *v1.Pod) {
	pod.Spec.Tolerations = []v1.Toleration{{Key: "tainted", Operator: v1.TolerationOpExists}}
}

// addNode adds a node of four places.
func (run *random) addNode(pool string) {
	run.nodes[pool]++
	made := node(numbered("node-"+pool, run.nodes[pool]), "4")
	made.Labels["pool"] = pool
	if pool == "tainted" {
		made.Spec.Taints = []v1.Taint{{Key: "tainted", Effect: v1.TaintEffectNoSchedule}}
	}
	run.api.PutNode(made)
}

// deleteNodes deletes all nodes of a pool with the pods on them. One of several would not do: which pods it has is a matter of
// timing and chance.
func (run *random) deleteNodes(pool string) {
	for ; run.nodes[pool] > 0; run.nodes[pool]-- {
		if err := run.deleteNode(numbered("node-"+pool, run.nodes[pool])); err != nil {
			run.failed = err
		}
	}
}

func (run *random) editPending(edit func(*v1.Pod)) {
	for _, pod := range run.api.Pods() {
		_, _ = run.api.EditPod(pod.Namespace, pod.Name, func(pod *v1.Pod) error {
			if pod.Spec.NodeName != "" {
				return errors.New("bound")
			}
			edit(pod)
			return nil
		})
	}
}

func (run *random) deleteBound(pool string, count int) {
	for _, pod := range run.api.Pods() {
		if count > 0 && pod.Spec.NodeName != "" && pod.Spec.NodeSelector["pool"] == pool && *pod.Spec.Priority == 0 {
			_ = run.api.DeletePod(pod.Namespace, pod.Name)
			count--
		}
	}
}

func (run *random) onBind(_, name string) error {
	run.mutex.Lock()
	defer run.mutex.Unlock()
	if run.refuse[name] > 0 {
		run.refuse[name]--
		return errors.New("the test refuses this binding")
	}
	return nil
}

// settle waits until nothing goes on: what was done has reached the queue, and no pod is about to be tried.
func (run *random) settle() bool {
	marker := run.pod(fmt.Sprintf("marker-%d", run.uids.Load()), "0", 2000)
	marker.Spec.NodeSelector = map[string]string{"pool": "marker"}
	run.api.CreatePod(marker) // the informer hands pods over in order
	calm := 0
	return waitFor(settleLimit, func() bool {
		if !run.settled() {
			calm = 0
			return false
		}
		calm++
		return calm > 8
	})
}

func (run *random) settled() bool {
	pods := run.api.Pods()
	if hasGangs() {
		if !run.settledButGangs(pods) {
			return false
		}
	} else if active, backoff, unschedulable := run.counts(); active+backoff > 0 ||
		int(run.api.Bound())+unschedulable != len(pods) {
		return false // some are in flight, or being bound
	}
	if run.queue != nil && len(run.queue.InFlightPods()) > 0 { // the original does not end the flights of recreated pods
		return false
	}
	nodes := 0
	for _, info := range run.sched.Cache.Dump().Nodes {
		if info.Node() != nil {
			nodes++
		}
	}
	expected := 1
	for _, count := range run.nodes {
		expected += count
	}
	if nodes != expected {
		return false
	}
	for _, pod := range pods {
		if strings.HasPrefix(pod.Name, "marker") && pod.Spec.NodeName == "" {
			return false
		}
		info, queued := release.GetPod(run.sched.SchedulingQueue, pod)
		if queued && info.GatingPlugin == "DefaultPreemption" {
			return false
		}
	}
	return true
}

// final counts the pods of each class by where they ended.
func (run *random) final() map[string]int {
	counts := map[string]int{}
	for _, pod := range run.api.Pods() {
		class := fmt.Sprintf("%s/%d", pod.Spec.NodeSelector["pool"], *pod.Spec.Priority)
		if strings.HasPrefix(pod.Name, "marker") {
			continue
		}
		if pod.Spec.NodeName != "" {
			counts[class+" bound"]++
			continue
		}
		info, queued := release.GetPod(run.sched.SchedulingQueue, pod)
		if !queued {
			counts[class+" lost"]++
			continue
		}
		because := append(info.UnschedulablePlugins.UnsortedList(), info.PendingPlugins.UnsortedList()...)
		slices.Sort(because)
		counts[fmt.Sprintf("%s pending because=%s gate=%s", class, strings.Join(because, ","), info.GatingPlugin)]++
	}
	for name := range run.sched.Cache.Dump().Nodes {
		for _, info := range run.sched.SchedulingQueue.NominatedPodsForNode(name) {
			counts[fmt.Sprintf("nominated priority=%d", *info.GetPod().Spec.Priority)]++
		}
	}
	return counts
}

// play runs a script on a queue.
func (script script) play(name queueName) (map[string]int, error) {
	cluster, err := newCluster(name, false, shortBackoff)
	if err != nil {
		return nil, err
	}
	defer cluster.stop()
	run := &random{cluster: cluster, nodes: map[string]int{}, refuse: map[string]int{}}
	cluster.api.OnBind = run.onBind
	marker := node("node-marker", "4")
	marker.Labels["pool"] = "marker"
	cluster.api.PutNode(marker)
	for _, pool := range pools {
		run.addNode(pool)
	}
	if err := cluster.start(); err != nil {
		return nil, err
	}
	for _, step := range script.steps {
		if *verbose {
			fmt.Printf("  seed %d on %s: %s; %s\n", script.seed, name, step.name, run.state())
		}
		if step.settle && !run.settle() {
			return nil, fmt.Errorf("before %q it did not settle: %s", step.name, run.state())
		}
		step.do(run)
		if run.failed != nil {
			return nil, fmt.Errorf("%q: %w", step.name, run.failed)
		}
	}
	if hasGangs() && !run.endGangs() {
		return nil, fmt.Errorf("not all gangs that could be are bound: %s", run.state())
	}
	if !run.settle() {
		return nil, fmt.Errorf("it did not settle: %s", run.state())
	}
	if run.queue != nil {
		_, _, waiting := run.counts()
		if records := run.queue.Records(); records > waiting || records < waiting && !hasGangs() { // a gang is one
			return nil, fmt.Errorf("%d records are kept for %d pods", records, waiting)
		}
	}
	return run.final(), nil
}

// compare plays a script on all queues; nil: no difference.
func (script script) compare(queues []queueName) error {
	var first map[string]int
	for i, name := range queues {
		final, err := script.play(name)
		if err != nil {
			return fmt.Errorf("seed %d on %s: %w", script.seed, name, err)
		}
		if i == 0 {
			first = final
			continue
		}
		wanted := first
		if name == classes || queues[0] == classes {
			wanted, final = withoutReasons(first), withoutReasons(final)
		}
		if !maps.Equal(wanted, final) {
			return fmt.Errorf("seed %d: %s ends with %v, %s with %v", script.seed, queues[0], wanted, name, final)
		}
	}
	return nil
}

// withoutReasons counts pending pods whatever their reasons: one that its class keeps back was perhaps never tried.
func withoutReasons(final map[string]int) map[string]int {
	counts := map[string]int{}
	for what, count := range final {
		if before, after, pending := strings.Cut(what, " because="); pending {
			_, gate, _ := strings.Cut(after, " ")
			what = before + " " + gate
		}
		counts[what] += count
	}
	return counts
}

func runRandom(queues []queueName) error {
	var group sync.WaitGroup
	var errs []error
	var mutex sync.Mutex
	numbers := make(chan int64)
	for range randomParallel {
		group.Add(1)
		go func() {
			defer group.Done()
			for number := range numbers {
				if err := makeScript(number).compare(queues); err != nil {
					mutex.Lock()
					errs = append(errs, err)
					mutex.Unlock()
					fmt.Printf("  %v; repeat with --scenario random --seeds 1 --seed %d\n", err, number)
				}
			}
		}()
	}
	for number := range *seeds {
		numbers <- *seed + int64(number)
	}
	close(numbers)
	group.Wait()
	fmt.Printf("random scenarios=%d queues=%v differences=%d\n", *seeds, queues, len(errs))
	return errors.Join(errs...)
}
