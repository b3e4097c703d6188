package kubequeue

import (
	"time"

	"k8s.io/component-base/metrics"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// The queue's metrics are kube-scheduler's own, under its names. Counters are raised as the library answers. The gauge
// scheduler_pending_pods is set from the library's counts every pendingPeriod instead of being raised and lowered, so it cannot
// drift; scheduler_unschedulable_pods counts each plugin of each pod once.

const pendingPeriod = 100 * time.Millisecond

// counted are the queue's metrics.
type counted struct {
	active, backoff, unschedulable, gated placeGauge

	flying metrics.GaugeMetric
	labels map[string]*incoming // by the labels of what is no cluster event
}

// placeGauge shows how many pods are at a place. Without groups each is an entity.
type placeGauge struct {
	pods     metrics.GaugeMetric
	entities metrics.GaugeMetric // nil: this release does not show them
}

func (gauge *placeGauge) set(count uint64) {
	gauge.pods.Set(float64(count))
	if gauge.entities != nil {
		gauge.entities.Set(float64(count))
	}
}

func (counted *counted) init() {
	counted.active = placeGauge{schedmetrics.ActivePods(), release.Entities("active")}
	counted.backoff = placeGauge{schedmetrics.BackoffPods(), release.Entities("backoff")}
	counted.unschedulable = placeGauge{schedmetrics.UnschedulablePods(), release.Entities("unschedulable")}
	counted.gated = placeGauge{schedmetrics.GatedPods(), release.Entities("gated")}
	counted.flying = schedmetrics.InFlightEvents.WithLabelValues(schedmetrics.PodPoppedInFlightEvent)
	counted.labels = map[string]*incoming{}
	for _, label := range []string{
		framework.ScheduleAttemptFailure, framework.PopFromBackoffQ,
		framework.EventUnscheduledPodAdd.Label(), framework.EventUnscheduledPodUpdate.Label(),
	} {
		incoming := newIncoming(label)
		counted.labels[label] = &incoming
	}
}

// entered counts a pod that was added, or came back from a cycle, and the plugins that rejected it.
func (counted *counted) entered(profile *profile, label string, judged strategy, place schedq.Place,
	rejectors schedq.Plugins) {
	counted.labels[label].into(place, judged)
	profile.each(rejectors, func(plugin *plugin) { plugin.rejected.Inc() })
}

// moved counts a pod that an event took somewhere, and the rejectors that it gained.
func (counted *counted) moved(pod *waiting, kind *eventKind, from, to schedq.Place, gained schedq.Plugins) {
	inVain := to == schedq.Gated && pod.inPlace && (from == schedq.Parked || from == schedq.Gated)
	if !inVain {
		kind.incoming.into(to, pod.judged)
	}
	pod.entry.profile.each(gained, func(plugin *plugin) { plugin.rejected.Inc() })
}

// popped counts a pop.
func (counted *counted) popped(profile *profile, popped *schedq.Popped) {
	counted.flying.Inc()
	if popped.FromBackoff {
		counted.labels[framework.PopFromBackoffQ].active.add(1, unasked)
	}
	counted.released(profile, popped.Unschedulable|popped.Pending)
}

// released counts plugins that do not reject a pod any more.
func (counted *counted) released(profile *profile, rejectors schedq.Plugins) {
	profile.each(rejectors, func(plugin *plugin) { plugin.rejected.Dec() })
}

// show sets the gauges of the places.
func (counted *counted) show(library *schedq.Queue) {
	stats, err := library.Stats()
	if err != nil {
		return
	}
	counted.active.set(stats.Active)
	counted.backoff.set(stats.Backoff + stats.ErrorBackoff)
	counted.unschedulable.set(stats.Parked)
	counted.gated.set(stats.Gated)
}

func (queue *Queue) showPending() {
	ticker := time.NewTicker(pendingPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-queue.stop.Done():
			return
		case <-ticker.C:
			queue.counted.show(queue.library)
		}
	}
}
