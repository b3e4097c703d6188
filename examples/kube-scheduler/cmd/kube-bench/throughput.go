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

const throughputNodes = 100

// unfit makes a pod that no node matches.
func (cluster *cluster) unfit(name string) *v1.Pod {
	pod := cluster.pod(name, "10m", 0)
	pod.Spec.NodeSelector = map[string]string{"no": "such"}
	return pod
}

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
	parked := waitFor(10*time.Minute, func() bool {
		active, backoff, unschedulable := cluster.counts()
		return active+backoff == 0 && unschedulable == count
	})
	if !parked {
		return errors.New("not all pods were parked: " + cluster.state())
	}
	// The scheduler still writes why into the API; that is not what is measured.
	for !cluster.allToldWhy() {
		time.Sleep(50 * time.Millisecond)
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
	cluster, err := newCluster(name, false)
	if err != nil {
		return 0, err
	}
	defer cluster.stop()
	if err := cluster.park(throughputNodes, parked); err != nil {
		return 0, err
	}
	start := time.Now()
	for i := range pods {
		cluster.api.CreatePod(cluster.pod(numbered("p", i), "1m", 1))
	}
	waitFor(*patience, func() bool { return cluster.api.Bound() == int64(pods) })
	return float64(cluster.api.Bound()) / time.Since(start).Seconds(), nil
}

func runThroughput(queues []queueName) error {
	for _, text := range strings.Split(*parked, ",") {
		count, err := strconv.Atoi(text)
		if err != nil || count < 0 {
			return fmt.Errorf("--parked: %q is no number of pods", text)
		}
		rates := map[queueName][]float64{}
		for range *pairs {
			for _, name := range queues {
				rate, err := throughputOnce(name, count, *podCount)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				rates[name] = append(rates[name], rate)
			}
			slices.Reverse(queues) // nobody is always the first
		}
		for _, name := range []queueName{original, lockFree, mutex} {
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

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2
	}
	return sorted[middle]
}
