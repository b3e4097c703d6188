package kubequeue

import (
	"time"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/utils/clock"

	"schedq"
)

// Time brings pods back in two ways: backoff ends, which the library watches, and pods that were parked for too long are tried
// again, which is looked for every leftoverPeriod, as kube-scheduler does.

const leftoverPeriod = 30 * time.Second

// backoffComplete is the event under which a gate is asked when backoff ends; it is never logged.
var backoffComplete = fwk.ClusterEvent{
	Resource: fwk.WildCard, ActionType: fwk.All, CustomLabel: framework.BackoffComplete,
}

// tickPeriod is how often a clock that is not the real one is looked at, by itself.
const tickPeriod = time.Second

// Run starts what time demands. It ends with Close.
func (queue *Queue) Run(logger klog.Logger) {
	ticking, ticks := queue.options.Clock.(clock.WithTicker)
	if !ticks {
		return
	}
	if _, real := ticking.(clock.RealClock); real {
		go queue.library.Run(queue.stop, func(result schedq.Result) { queue.ticked(logger, &result) })
	} else {
		go queue.every(ticking.NewTicker(tickPeriod), func() {
			result, _, _ := queue.library.Tick() // what it had no memory for stays due
			queue.ticked(logger, &result)
		})
	}
	go queue.every(ticking.NewTicker(leftoverPeriod), func() { queue.leftovers(logger) })
}

// every does it at once, and then at each tick.
func (queue *Queue) every(ticker clock.Ticker, do func()) {
	defer ticker.Stop()
	for {
		do()
		select {
		case <-queue.stop.Done():
			return
		case <-ticker.C():
		}
	}
}

// ticked takes what the end of backoffs brought. Without SchedulerPopFromBackoffQ gates are asked now, so the library leaves
// the pods.
func (queue *Queue) ticked(logger klog.Logger, result *schedq.Result) {
	kind := queue.kinds.of(backoffComplete)
	single := int(result.ToActive)
	if queue.groups != nil {
		single -= queue.groups.ticked(logger)
	}
	if single > 0 {
		kind.incoming.active.add(float64(single), unasked)
	}
	if !result.Left {
		return
	}
	for _, profile := range queue.profiles.byNum {
		query := schedq.Query{Profile: profile.number, Backoff: true, NotAfter: queue.now()}
		queue.visit(&query, func(found []schedq.Candidate) {
			for i := range found {
				if entry := queue.table.get(found[i].Object); entry != nil && !found[i].BackingOff {
					pod := waitingCandidate(entry, &found[i])
					queue.route(logger, &pod, entry.record.Load(), kind, unasked)
				}
			}
		})
	}
}

// leftovers tries the pods again that were parked for too long. A gated pod that wildcards reach counts as tried: it waits for the
// limit again.
func (queue *Queue) leftovers(logger klog.Logger) {
	var old []waiting
	var oldGroups []*entry
	now, kind := queue.now(), queue.kinds.of(framework.EventUnschedulableTimeout)
	for _, profile := range queue.profiles.byNum {
		query := schedq.Query{
			Profile: profile.number, Rejectors: schedq.AllPlugins, Gates: kind.gates(kind.reaction(profile)),
			NotAfter: now - int64(queue.options.MaxParked) - 1,
		}
		queue.visit(&query, func(found []schedq.Candidate) {
			for i := range found {
				entry := queue.table.get(found[i].Object)
				if entry != nil && entry.entity != nil {
					oldGroups = append(oldGroups, entry)
				} else if entry != nil && entry.flushed.Load() <= query.NotAfter {
					pod := waitingCandidate(entry, &found[i])
					pod.flushed = true
					old = append(old, pod)
				}
			}
		})
	}
	if len(old) == 0 && len(oldGroups) == 0 {
		return
	}
	sequence := queue.happened(kind, nil, nil)
	for _, entry := range oldGroups {
		entry.entity.leftover(logger, entry, sequence, kind, now-int64(queue.options.MaxParked)-1)
	}
	for i := range old {
		old[i].entry.flushed.Store(now)
		queue.try(logger, &old[i], kind, nil, nil, nil)
	}
}
