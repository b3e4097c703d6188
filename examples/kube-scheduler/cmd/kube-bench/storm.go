package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

// The storm: thousands of parked pods, node updates that concern every one of them, and a steady flow of pods that fit. What counts is
// how many of those are bound by the end, and how long the calls of the queue take meanwhile.

const (
	stormSeconds = 10 * time.Second
	stormParked  = 5000
	stormEvery   = 5 * time.Millisecond // a node update, and a pod
)

func runStorm(queues []queueName) error {
	for _, name := range queues {
		if err := stormOn(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func stormOn(name queueName) error {
	cluster, err := newCluster(name, true)
	if err != nil {
		return err
	}
	defer cluster.stop()
	if err := cluster.park(throughputNodes, stormParked); err != nil {
		return err
	}
	cluster.timed.adds.reset()
	cluster.timed.pops.reset()

	stop := time.Now().Add(stormSeconds)
	var updates atomic.Int64
	go func() {
		ticker := time.NewTicker(stormEvery)
		defer ticker.Stop()
		for time.Now().Before(stop) {
			<-ticker.C
			number := int(updates.Add(1))
			changed := node(numbered("node", number%throughputNodes), "1000")
			changed.Labels["storm"] = fmt.Sprint(number)
			cluster.api.PutNode(changed)
		}
	}()
	offered := 0
	ticker := time.NewTicker(stormEvery)
	defer ticker.Stop()
	for time.Now().Before(stop) {
		<-ticker.C
		cluster.api.CreatePod(cluster.pod(numbered("p", offered), "1m", 1))
		offered++
	}
	bound := cluster.api.Bound()
	fmt.Printf("storm queue=%s parked=%d updates=%d bound=%d offered=%d add_p99=%v add_p999=%v pop_p99=%v pop_p999=%v\n", name,
		stormParked, updates.Load(), bound, offered, cluster.timed.adds.percentile(.99), cluster.timed.adds.percentile(.999),
		cluster.timed.pops.percentile(.99), cluster.timed.pops.percentile(.999))
	return nil
}
