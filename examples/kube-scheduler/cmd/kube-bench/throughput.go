package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Throughput is pods bound a second while a number of others is parked that fit nowhere. Each run is a new cluster; the queues
// take turns, and what is compared is the median.
//
// A bound pod makes the next one, so that the same number always waits. Offered all at once, many are bound before the queue has
// heard of the first bound one, and a run that is cut off shows those and not what the queue can do.

const (
	throughputNodes = 100 // and more where so many pods would fill them
	throughputAhead = 32  // pods that wait to be bound; as many are bound before the clock starts
	parkedEvery     = 100 * time.Millisecond
)

// unfit makes a pod that no node matches.
func (cluster *cluster) unfit(name string) *v1.Pod {
	pod := cluster.pod(name, "10m", 0)
	pod.Spec.NodeSelector = map[string]string{"no": "such"}
	return pod
}

// nodesFor says how many nodes stay half empty with so many pods.
func nodesFor(pods int) int { return max(throughputNodes, pods*2/podsPerNode) }

// park starts a cluster and waits until all that fit nowhere are parked.
func (cluster *cluster) park(nodes, count int) error {
	for i := range nodes {
		cluster.api.PutNode(node(numbered("node", i), "1000"))
	}
	for i := range count {
		cluster.api.CreatePod(cluster.unfit(numbered("parked", i)))
	}
	if err := cluster.start(); err != nil {
		return err
	}
	// The scheduler writes why into the API when it has parked a pod; that is not what is measured. Both looks go through all
	// pods, so they are rare.
	parked := waitEvery(parkedEvery, 10*time.Minute, func() bool {
		active, backoff, unschedulable := cluster.counts()
		return active+backoff == 0 && unschedulable == count && cluster.allTried()
	})
	if !parked {
		return errors.New("not all pods were parked: " + cluster.state())
	}
	time.Sleep(50 * time.Millisecond)
	runtime.GC()
	return nil
}

// allToldWhy says whether the API has the reason of each pod that is not bound.
func (cluster *cluster) allToldWhy() bool {
	for _, pod := range cluster.api.Pods() {
		if len(pod.Status.Conditions) == 0 && pod.Spec.NodeName == "" {
			return false
		}
	}
	return true
}

// throughputOnce returns pods a second.
func throughputOnce(name queueName, parked, pods int) (float64, error) {
	cluster, err := newCluster(name, false, shortBackoff)
	if err != nil {
		return 0, err
	}
	defer cluster.stop()
	bindings := make(chan struct{}, pods)
	cluster.api.OnBind = func(string, string) error { bindings <- struct{}{}; return nil }
	if err := cluster.park(nodesFor(pods), parked); err != nil {
		return 0, err
	}
	go cluster.offer(pods, bindings)
	if !waitFor(stepLimit, func() bool { return cluster.api.Bound() >= throughputAhead }) {
		return 0, errors.New("nothing is bound: " + cluster.state())
	}
	start, before := time.Now(), cluster.api.Bound()
	waitFor(*patience, func() bool { return cluster.api.Bound() == int64(pods) })
	return float64(cluster.api.Bound()-before) / time.Since(start).Seconds(), nil
}

// offer makes pods that fit, one for each binding.
func (cluster *cluster) offer(pods int, bindings <-chan struct{}) {
	for i := range pods {
		if i >= throughputAhead {
			select {
			case <-bindings:
			case <-cluster.ctx.Done():
				return
			}
		}
		cluster.api.CreatePod(cluster.pod(numbered("p", i), "1m", 1))
	}
}

// inTurns runs something on each queue, pair after pair.
func inTurns(pairs int, queues []queueName, run func(queueName) error) error {
	order := slices.Clone(queues)
	for range pairs {
		for _, name := range order {
			if err := run(name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		slices.Reverse(order) // so that no queue is always the first
	}
	return nil
}

func runThroughput(queues []queueName) error {
	if *podCount <= throughputAhead {
		return fmt.Errorf("--pods: %d: more than %d, which are bound before the clock starts", *podCount, throughputAhead)
	}
	for _, text := range strings.Split(*parked, ",") {
		count, err := strconv.Atoi(text)
		if err != nil || count < 0 {
			return fmt.Errorf("--parked: %q is no number of pods", text)
		}
		rates := map[queueName][]float64{}
		err = inTurns(*pairs, queues, func(name queueName) error {
			rate, err := throughputOnce(name, count, *podCount)
			rates[name] = append(rates[name], rate)
			return err
		})
		if err != nil {
			return err
		}
		for _, name := range queueNames {
			if len(rates[name]) > 0 {
				fmt.Printf("throughput parked=%d queue=%s runs=%d pods_per_second=%.0f min=%.0f max=%.0f%s\n", count, name,
					len(rates[name]), median(rates[name]), slices.Min(rates[name]), slices.Max(rates[name]),
					against(rates, name))
			}
		}
	}
	return nil
}

// against compares with the original, run by run, so that both sides of a pair met the same machine.
func against(rates map[queueName][]float64, name queueName) string {
	if name == original || len(rates[original]) == 0 {
		return ""
	}
	ratios := make([]float64, len(rates[name]))
	for i := range ratios {
		ratios[i] = rates[name][i] / rates[original][i]
	}
	return fmt.Sprintf(" against_original=%.2f ratio_min=%.2f ratio_max=%.2f", median(ratios), slices.Min(ratios),
		slices.Max(ratios))
}

func median[number ~int64 | ~float64](values []number) number {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
