package main

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// The storm: thousands of parked pods, node updates that concern every one of them, and a steady flow of pods that fit. What counts is
// how many of those are bound by the end, and how long the calls of the queue take meanwhile. Each storm is a new cluster; the
// queues take turns, and what is compared is the median.

const (
	stormSeconds = 4 * time.Second
	stormParked  = 5000
	stormEvery   = 5 * time.Millisecond // a node update, and a pod
)

// storms are what the storms of one queue came to.
type storms struct {
	updates, offered, bound []int64
	share                   []float64 // of the offered pods, bound
	lengths                 [4][]time.Duration
}

// stormLengths are the calls that are measured, and the shares of them that took at most the length.
var stormLengths = [4]struct {
	name  string
	calls func(*timed) *samples
	share float64
}{
	{"add_p99", (*timed).added, .99}, {"add_p999", (*timed).added, .999},
	{"pop_p99", (*timed).popped, .99}, {"pop_p999", (*timed).popped, .999},
}

func runStorm(queues []queueName) error {
	all := map[queueName]*storms{}
	for _, name := range queueNames {
		all[name] = &storms{}
	}
	err := inTurns(*pairs, queues, func(name queueName) error { return all[name].stormOn(name) })
	if err != nil {
		return err
	}
	for _, name := range queueNames {
		if slices.Contains(queues, name) {
			all[name].print(name)
		}
	}
	return nil
}

// spread shows the median of what the runs came to, the smallest and the greatest.
func spread[number ~int64 | ~float64](name, format string, values []number) string {
	return fmt.Sprintf(" %s="+format+" %s_min="+format+" %s_max="+format, name, median(values), name, slices.Min(values),
		name, slices.Max(values))
}

func (storms *storms) print(name queueName) {
	line := fmt.Sprintf("storm parked=%d queue=%s runs=%d", stormParked, name, len(storms.bound)) +
		spread("updates", "%d", storms.updates) + spread("offered", "%d", storms.offered) +
		spread("bound", "%d", storms.bound) + spread("bound_share", "%.2f", storms.share)
	for i, length := range stormLengths {
		line += spread(length.name, "%v", storms.lengths[i])
	}
	fmt.Println(line)
}

func (storms *storms) stormOn(name queueName) error {
	cluster, err := newCluster(name, true, shortBackoff)
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
	storms.updates = append(storms.updates, updates.Load())
	storms.offered = append(storms.offered, int64(offered))
	storms.bound = append(storms.bound, bound)
	storms.share = append(storms.share, float64(bound)/float64(offered))
	for i, length := range stormLengths {
		storms.lengths[i] = append(storms.lengths[i], length.calls(cluster.timed).percentile(length.share).Round(time.Microsecond))
	}
	return nil
}
