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

// placeGauge shows how many pods are at a place, and how many entities of each kind.
type placeGauge struct {
	pods     metrics.GaugeMetric
	entities metrics.GaugeMetric // nil: this release does not show them
	groups   metrics.GaugeMetric // nil: this release has none
}

// set shows what the library has at a place, groups among it.
func (gauge *placeGauge) set(count uint64, groups atPlace) {
	single := float64(count) - float64(groups.groups)
	gauge.pods.Set(max(0, single) + float64(groups.pods))
	if gauge.entities != nil {
		gauge.entities.Set(max(0, single))
	}
	if gauge.groups != nil {
		gauge.groups.Set(float64(groups.groups))
	}
}

func (counted *counted) init() {
	made := func(pods metrics.GaugeMetric, place string) placeGauge {
		return placeGauge{pods, release.Entities(place), release.Groups(place)}
	}
	counted.active = made(schedmetrics.ActivePods(), "active")
	counted.backoff = made(schedmetrics.BackoffPods(), "backoff")
	counted.unschedulable = made(schedmetrics.UnschedulablePods(), "unschedulable")
	counted.gated = made(schedmetrics.GatedPods(), "gated")
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

// show sets the gauges of the places. Only groups are held.
func (queue *Queue) show() {
	stats, err := queue.library.Stats()
	if err != nil {
		return
	}
	counted, groups := &queue.counted, shown{}
	if queue.groups != nil {
		groups = queue.groups.shown()
	}
	counted.active.set(stats.Active, groups.active)
	counted.backoff.set(stats.Backoff+stats.ErrorBackoff+uint64(groups.backoff.groups), groups.backoff)
	counted.unschedulable.set(stats.Parked+max(stats.Held, uint64(groups.backoff.groups))-uint64(groups.backoff.groups), atPlace{})
	counted.gated.set(stats.Gated, groups.gated)
}

func (queue *Queue) showPending() {
	ticker := time.NewTicker(pendingPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-queue.stop.Done():
			return
		case <-ticker.C:
			queue.show()
		}
	}
}
