//go:build !kube134

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/features"

	"schedq/examples/kube-scheduler/internal/memapi"
)

// Groups of pods, which are bound all or not at all: with the feature gate GenericWorkload.
//
// The gang scenario is for what becomes of them: each gang has nodes of its own, so that which of them fit is no matter of timing. The
// scenario gangthroughput is the figure.

var scenarioNames = []string{"mixed", "random", "gang", "throughput", "gangthroughput", "storm", "starvation"}

func withGangs(scenarios map[string]func([]queueName) error) map[string]func([]queueName) error {
	scenarios["gang"], scenarios["gangthroughput"] = runGang, runGangThroughput
	return scenarios
}

type groups = *memapi.PodGroups

func serveGroups(server *memapi.Server) groups { return memapi.ServePodGroups(server) }

// withGroups runs something with the feature gate on.
func withGroups(run func() error) (err error) {
	gates := utilfeature.DefaultMutableFeatureGate
	before := gates.Enabled(features.GenericWorkload)
	if err := gates.SetFromMap(map[string]bool{string(features.GenericWorkload): true}); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, gates.SetFromMap(map[string]bool{string(features.GenericWorkload): before}))
	}()
	return run()
}

// gang is a group of pods of one name, on nodes of one pool.
type gang struct {
	name   string
	size   int
	quorum int
}

func (cluster *cluster) declare(gang gang) {
	priority := int32(0)
	cluster.groups.Put(&schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gang.name, CreationTimestamp: metav1.Now()},
		Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
				Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(gang.quorum)},
			},
			Priority: &priority,
		},
	})
}

// member makes a pod of a gang; pool "": it fits on any node.
func (cluster *cluster) member(gang gang, number int, cpu, pool string) *v1.Pod {
	pod := cluster.pod(numbered(gang.name, number), cpu, 0)
	pod.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &gang.name}
	if pool != "" {
		pod.Spec.NodeSelector = map[string]string{"pool": pool}
	}
	return pod
}

// poolNode adds a node of so many places to a pool.
func (cluster *cluster) poolNode(name, pool string, places int) {
	made := node(name, strconv.Itoa(places))
	made.Labels["pool"] = pool
	cluster.api.PutNode(made)
}

const (
	smallestGang = 3
	largestGang  = 16
)

// gangRun is a run of the gang scenario.
type gangRun struct {
	mixed
	gangs []gang
}

func (run *gangRun) create(gang gang, from, to int) {
	for i := from; i < to; i++ {
		run.api.CreatePod(run.member(gang, i, "1", gang.name))
	}
}

// bound is how many pods of each gang are bound, and of the others.
func (run *gangRun) boundOf() map[string]int {
	bound := map[string]int{}
	for _, pod := range run.api.Pods() {
		if pod.Spec.NodeName != "" {
			bound[pod.Spec.NodeSelector["pool"]]++
		}
	}
	return bound
}

// want waits until exactly these are bound, and some time more: nothing may change then.
func (run *gangRun) want(what string, wanted map[string]int) {
	maps.DeleteFunc(wanted, func(_ string, count int) bool { return count == 0 })
	reached := func() bool { return maps.Equal(run.boundOf(), wanted) }
	run.check(what, reached)
	time.Sleep(300 * time.Millisecond)
	if got := run.boundOf(); !maps.Equal(got, wanted) {
		run.errs = append(run.errs, fmt.Errorf("%s: bound are %v, want %v", what, got, wanted))
	}
}

func runGang(queues []queueName) error {
	return withGroups(func() error {
		var errs []error
		for _, name := range queues {
			if err := gangOn(name); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
		return errors.Join(errs...)
	})
}

// fits says whether a gang has room from the beginning, and comes whole says whether all its pods do.
func (gang gang) fits() bool       { return gang.size%3 != 0 }
func (gang gang) comesWhole() bool { return gang.size%4 != 0 }

func gangOn(name queueName) error {
	cluster, err := newCluster(name, false, shortBackoff)
	if err != nil {
		return err
	}
	defer cluster.stop()
	run := &gangRun{mixed: mixed{cluster: cluster, refuse: map[string]int{}}}
	cluster.api.OnBind = run.onBind
	fmt.Printf("gang on %s\n", name)
	wanted := map[string]int{"plain": 40}
	run.poolNode("node-plain", "plain", 64)
	for size := smallestGang; size <= largestGang; size++ {
		gang := gang{fmt.Sprintf("gang%d", size), size, size}
		run.gangs = append(run.gangs, gang)
		places := size
		if !gang.fits() {
			places--
		}
		run.poolNode("node-"+gang.name, gang.name, places)
	}
	if err := cluster.start(); err != nil {
		return err
	}
	start := time.Now()
	for i, gang := range run.gangs {
		plain := func(number int) {
			pod := run.pod(fmt.Sprintf("plain-%d-%d", i, number), "1", 0)
			pod.Spec.NodeSelector = map[string]string{"pool": "plain"}
			run.api.CreatePod(pod)
		}
		if i < 12 {
			plain(0)
			plain(1)
		}
		if i%2 == 0 { // its pods come before it, or after it
			run.declare(gang)
		}
		count := gang.size
		if !gang.comesWhole() {
			count--
		}
		run.create(gang, 0, count)
		run.declare(gang)
		if i < 8 {
			plain(2)
			plain(3)
		}
		if gang.fits() && gang.comesWhole() {
			wanted[gang.name] = gang.size
		}
	}
	run.want("gangs that fit and have all their pods are bound, no pod of others", maps.Clone(wanted))
	for _, gang := range run.gangs {
		if !gang.comesWhole() {
			run.create(gang, gang.size-1, gang.size)
			if gang.fits() {
				wanted[gang.name] = gang.size
			}
		}
	}
	run.want("the last pod of a gang brings all of it", maps.Clone(wanted))
	for _, gang := range run.gangs {
		if !gang.fits() {
			run.poolNode("more-"+gang.name, gang.name, 1)
			wanted[gang.name] = gang.size
		}
	}
	run.want("a place more brings all of it", maps.Clone(wanted))
	first := run.gangs[0]
	if err := run.api.DeletePod(namespace, numbered(first.name, 0)); err != nil {
		return err
	}
	run.create(first, first.size, first.size+1)
	run.want("a member that takes another's place is bound alone", maps.Clone(wanted))
	late := gang{"late", 5, 3}
	run.refuse = map[string]int{numbered(late.name, 2): 1}
	run.poolNode("node-late", late.name, 4)
	run.create(late, 0, late.size)
	run.declare(late)
	wanted[late.name] = 4
	run.want("of a gang of five that needs three, four are bound where four fit", maps.Clone(wanted))
	for _, gang := range append(run.gangs, late) {
		if err := run.collect(func(pod *v1.Pod) bool { return strings.HasPrefix(pod.Name, gang.name+"-") }); err != nil {
			return err
		}
		run.groups.Delete(namespace, gang.name)
		delete(wanted, gang.name)
	}
	run.want("deleted gangs leave nothing", maps.Clone(wanted))
	run.check("nothing is left in the queue", func() bool {
		pods, _ := run.sched.SchedulingQueue.PendingPods()
		return len(pods) == 0 && (run.queue == nil || run.queue.Records() == 0)
	})
	fmt.Printf("gang on %s: %d failures, %.1f s\n", name, len(run.errs), time.Since(start).Seconds())
	return errors.Join(run.errs...)
}

const gangsAhead = 3 // gangs that wait to be bound

// gangsOnce returns pods a second.
func gangsOnce(name queueName, parked int) (float64, error) {
	cluster, err := newCluster(name, false, shortBackoff)
	if err != nil {
		return 0, err
	}
	defer cluster.stop()
	bindings := make(chan struct{}, *gangs**gangSize)
	cluster.api.OnBind = func(string, string) error { bindings <- struct{}{}; return nil }
	if err := cluster.park(nodesFor(*gangs**gangSize), parked); err != nil {
		return 0, err
	}
	start := time.Now()
	go cluster.offerGangs(bindings)
	waitFor(*patience, func() bool { return cluster.api.Bound() == int64(*gangs**gangSize) })
	took := time.Since(start).Seconds()
	// A gang is bound pod by pod, and the last one may have been cut off.
	return float64(cluster.api.Bound()) / took, nil
}

// offerGangs makes gangs that fit, one for each that is bound.
func (cluster *cluster) offerGangs(bindings <-chan struct{}) {
	for i := range *gangs {
		for left := *gangSize; i >= gangsAhead && left > 0; left-- {
			select {
			case <-bindings:
			case <-cluster.ctx.Done():
				return
			}
		}
		gang := gang{numbered("gang", i), *gangSize, *gangSize}
		cluster.declare(gang)
		for j := range gang.size {
			cluster.api.CreatePod(cluster.member(gang, j, "1m", ""))
		}
	}
}

func runGangThroughput(queues []queueName) error {
	if *gangs < 1 || *gangSize < 1 {
		return fmt.Errorf("--gangs: %d, --gang-size: %d: at least 1", *gangs, *gangSize)
	}
	return withGroups(func() error {
		for _, text := range strings.Split(*parked, ",") {
			count, err := strconv.Atoi(text)
			if err != nil || count < 0 {
				return fmt.Errorf("--parked: %q is no number of pods", text)
			}
			rates := map[queueName][]float64{}
			err = inTurns(*pairs, queues, func(name queueName) error {
				rate, err := gangsOnce(name, count)
				rates[name] = append(rates[name], rate)
				return err
			})
			if err != nil {
				return err
			}
			for _, name := range queueNames {
				if len(rates[name]) > 0 {
					fmt.Printf("gangthroughput size=%d parked=%d queue=%s runs=%d pods_per_second=%.0f min=%.0f max=%.0f%s\n", *gangSize,
						count, name, len(rates[name]), median(rates[name]), slices.Min(rates[name]), slices.Max(rates[name]),
						against(rates, name))
				}
			}
		}
		return nil
	})
}

// Gangs in random scenarios. All of them are of one size, on nodes of their own, so that how many are bound is no matter of timing.

const (
	gangSteps    = 4
	randomGang   = 3
	randomGangOn = "gangs"
)

// hasGangs: the feature gate is on.
func hasGangs() bool { return utilfeature.DefaultFeatureGate.Enabled(features.GenericWorkload) }

// settledButGangs: no pod is about to be tried that is in no gang. Gangs that fit nowhere are tried again for ever.
func (run *random) settledButGangs(pods []*v1.Pod) bool {
	single := func(pods []*v1.Pod) (count int) {
		for _, pod := range pods {
			if pod.Spec.SchedulingGroup == nil {
				count++
			}
		}
		return count
	}
	queue := run.sched.SchedulingQueue
	bound := 0
	for _, pod := range pods {
		if pod.Spec.NodeName != "" && pod.Spec.SchedulingGroup == nil {
			bound++
		}
	}
	return single(queue.PodsInActiveQ())+single(queue.PodsInBackoffQ()) == 0 &&
		bound+single(queue.UnschedulablePods()) == single(pods)
}

// endGangs makes room for all gangs, and waits until those are bound that have all their pods, and no pod of others.
func (run *random) endGangs() bool {
	pods := map[string]int{}
	for _, pod := range run.api.Pods() {
		if pod.Spec.SchedulingGroup != nil {
			pods[*pod.Spec.SchedulingGroup.PodGroupName]++
		}
	}
	for range pods {
		run.addNode(randomGangOn)
	}
	return waitFor(settleLimit, func() bool {
		bound := map[string]int{}
		for _, pod := range run.api.Pods() {
			if pod.Spec.SchedulingGroup != nil && pod.Spec.NodeName != "" {
				bound[*pod.Spec.SchedulingGroup.PodGroupName]++
			}
		}
		for name, count := range pods {
			if count == randomGang && bound[name] != count || count < randomGang && bound[name] != 0 {
				return false
			}
		}
		return true
	})
}

func makeGangStep(choice, number int) step {
	gang := gang{numbered("step-gang", number), randomGang, randomGang}
	create := func(run *random, from, to int) {
		for i := from; i < to; i++ {
			run.api.CreatePod(run.member(gang, i, "1", randomGangOn))
		}
	}
	switch choice {
	case 0:
		return step{"a gang", false, func(run *random) { run.declare(gang); create(run, 0, gang.size) }}
	case 1:
		return step{"pods of a gang, and then the gang", false, func(run *random) { create(run, 0, gang.size); run.declare(gang) }}
	case 2:
		return step{"a gang that lacks a pod", false, func(run *random) { run.declare(gang); create(run, 1, gang.size) }}
	default:
		return step{"node for gangs", false, func(run *random) { run.addNode(randomGangOn) }}
	}
}
