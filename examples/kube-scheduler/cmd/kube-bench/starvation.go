package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Starvation is the scenario of Kubernetes' scheduler_perf/starvation: thousands of pods of a high priority that fit nowhere and
// that each new pod of another kind could help, one of which comes every second, stand before some hundred of a low priority
// that fit. What counts is how many of these are bound in time, and how long they wait. Each run is a new cluster; the queues
// take turns, and what is compared is the median.
//
// The high ones want a neighbour of the other kind on their node, and refuse to have one.

const (
	starvationNodes    = 100
	starvationCloggers = 10_000
	starvationVictims  = 500
	starvationEvery    = time.Second
	starvationPatience = 20 * time.Second
	starvationPairs    = 3 // of --pairs at most: a run takes half a minute
	starvationBackoff  = 10 * time.Second
)

// target is the label of the pods that the high ones look for.
const target = "target"

// clogger makes a pod of high priority that fits nowhere.
func (cluster *cluster) clogger(name string) *v1.Pod {
	pod := cluster.pod(name, "0", 1000)
	term := func(requirements ...metav1.LabelSelectorRequirement) v1.PodAffinityTerm {
		return v1.PodAffinityTerm{
			LabelSelector: &metav1.LabelSelector{MatchExpressions: requirements},
			Namespaces:    []string{namespace, "kube-system"}, TopologyKey: v1.LabelHostname,
		}
	}
	in := metav1.LabelSelectorRequirement{Key: "service", Operator: metav1.LabelSelectorOpIn, Values: []string{target}}
	pod.Spec.Affinity = &v1.Affinity{
		PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{
			term(in),
			term(metav1.LabelSelectorRequirement{Key: "service", Operator: metav1.LabelSelectorOpExists},
				metav1.LabelSelectorRequirement{
					Key: "service", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"non-existent-value"},
				}),
		}},
		PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(in)}},
	}
	return pod
}

// churn makes a pod every second that seems to help the cloggers.
func (cluster *cluster) churn() {
	ticker := time.NewTicker(starvationEvery)
	defer ticker.Stop()
	for number := 0; ; number++ {
		pod := cluster.pod(numbered("churn", number), "10m", 10_000)
		pod.Labels = map[string]string{"service": target}
		cluster.api.CreatePod(pod)
		select {
		case <-ticker.C:
		case <-cluster.ctx.Done():
			return
		}
	}
}

// starved is what the runs of one queue came to.
type starved struct {
	bound         []int64         // victims
	first, median []time.Duration // how long they waited; those that are not bound as long as the run
	pops          []int64         // of any pod, meanwhile
}

func runStarvation(queues []queueName) error {
	all := map[queueName]*starved{}
	for _, name := range queueNames {
		all[name] = &starved{}
	}
	if err := inTurns(min(*pairs, starvationPairs), queues, func(name queueName) error { return all[name].on(name) }); err != nil {
		return err
	}
	for _, name := range queueNames {
		if slices.Contains(queues, name) {
			runs := all[name]
			fmt.Println(fmt.Sprintf("starvation cloggers=%d victims=%d queue=%s runs=%d", starvationCloggers, starvationVictims, name,
				len(runs.bound)) + spread("bound", "%d", runs.bound) + spread("wait_first", "%v", runs.first) +
				spread("wait_median", "%v", runs.median) + spread("pops", "%d", runs.pops))
		}
	}
	return nil
}

func (starved *starved) on(name queueName) error {
	cluster, err := newCluster(name, false, starvationBackoff)
	if err != nil {
		return err
	}
	defer cluster.stop()
	waits := make(chan time.Duration, starvationVictims)
	var start time.Time
	cluster.api.OnBind = func(_, name string) error {
		if name[0] == 'v' {
			waits <- time.Since(start)
		}
		return nil
	}
	for i := range starvationNodes {
		cluster.api.PutNode(node(numbered("node", i), "1000"))
	}
	if err := cluster.start(); err != nil {
		return err
	}
	go cluster.churn()
	for i := range starvationCloggers {
		cluster.api.CreatePod(cluster.clogger(numbered("clogger", i)))
	}
	if !waitEvery(parkedEvery, 10*time.Minute, cluster.allTried) {
		return errors.New("not all cloggers were tried: " + cluster.state())
	}
	runtime.GC()
	before := cluster.sched.SchedulingQueue.SchedulingCycle()
	start = time.Now()
	for i := range starvationVictims {
		cluster.api.CreatePod(cluster.pod(numbered("victim", i), "10m", 0))
	}
	waitFor(starvationPatience, func() bool { return len(waits) == starvationVictims })
	starved.pops = append(starved.pops, cluster.sched.SchedulingQueue.SchedulingCycle()-before)
	starved.add(waits)
	return nil
}

// allTried: each clogger was told why it waits, or another one of its class was.
func (cluster *cluster) allTried() bool {
	if !cluster.classes {
		return cluster.allToldWhy()
	}
	active, _, unschedulable := cluster.counts()
	return active == 0 && unschedulable > 0
}

// add takes a run's waits.
func (starved *starved) add(waits <-chan time.Duration) {
	bound := len(waits)
	all := make([]time.Duration, 0, starvationVictims)
	for range bound {
		all = append(all, <-waits)
	}
	for len(all) < starvationVictims {
		all = append(all, starvationPatience)
	}
	starved.bound = append(starved.bound, int64(bound))
	starved.first = append(starved.first, slices.Min(all).Round(time.Millisecond))
	starved.median = append(starved.median, median(all).Round(time.Millisecond))
}
