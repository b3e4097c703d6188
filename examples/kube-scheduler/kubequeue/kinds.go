package kubequeue

import (
	"sync"
	"sync/atomic"

	"k8s.io/component-base/metrics"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// What a cluster event means is the same for all events of its kind: which plugins of which profile registered it, with
// which hints. There are some dozens of kinds, so each is worked out once and looked up without a lock.

// eventKind is a {resource, action, label} and what follows from it.
type eventKind struct {
	event       fwk.ClusterEvent
	label       string
	wildcard    bool
	interesting bool       // some plugin registered it, or it is the wildcard
	reactions   []reaction // by the profiles' position in profiles.byNum
	preHints    []preHint  // of all profiles
	logged      metrics.GaugeMetric
	incoming    incoming
}

// reaction is what a kind of event means to one profile.
type reaction struct {
	profile *profile
	plugins schedq.Plugins // those that registered it
	hints   [64][]fwk.QueueingHintFn
}

// incoming counts what the event brought to each place.
type incoming struct {
	active, backoff, unschedulable arrivals
}

// arrivals counts pods, and those of them that came from another place.
type arrivals struct {
	pods     metrics.CounterMetric
	entities metrics.CounterMetric // nil: this release does not count them
	expected strategy              // a pod that is judged so is taken to be at the place already
}

func newIncoming(label string) incoming {
	made := func(place string, expected strategy) arrivals {
		return arrivals{
			schedmetrics.SchedulerQueueIncomingPods.WithLabelValues(place, label), release.IncomingEntities(place, label), expected,
		}
	}
	return incoming{made("active", immediately), made("backoff", afterBackoff), made("unschedulable", skip)}
}

// into counts one pod, which was judged so.
func (incoming *incoming) into(place schedq.Place, judged strategy) {
	switch place {
	case schedq.Active:
		incoming.active.add(1, judged)
	case schedq.Backoff, schedq.ErrorBackoff:
		incoming.backoff.add(1, judged)
	case schedq.Parked, schedq.Gated:
		incoming.unschedulable.add(1, judged)
	}
}

func (arrivals *arrivals) add(count float64, judged strategy) {
	arrivals.pods.Add(count)
	if arrivals.entities != nil && judged != arrivals.expected {
		arrivals.entities.Add(count)
	}
}

// kinds are the kinds of events that came so far.
type kinds struct {
	profiles *profiles
	adding   sync.Mutex
	known    atomic.Pointer[map[fwk.ClusterEvent]*eventKind]
}

func (kinds *kinds) init(profiles *profiles) {
	kinds.profiles = profiles
	kinds.known.Store(&map[fwk.ClusterEvent]*eventKind{})
}

func (kinds *kinds) of(event fwk.ClusterEvent) *eventKind {
	if known := (*kinds.known.Load())[event]; known != nil {
		return known
	}
	return kinds.add(event)
}

func (kinds *kinds) add(event fwk.ClusterEvent) *eventKind {
	kinds.adding.Lock()
	defer kinds.adding.Unlock()
	known := *kinds.known.Load()
	if kind := known[event]; kind != nil {
		return kind
	}
	next := make(map[fwk.ClusterEvent]*eventKind, len(known)+1)
	for event, kind := range known {
		next[event] = kind
	}
	made := kinds.workOut(event)
	next[event] = made
	kinds.known.Store(&next)
	return made
}

func (kinds *kinds) workOut(event fwk.ClusterEvent) *eventKind {
	kind := &eventKind{
		event:    event,
		label:    event.Label(),
		wildcard: framework.ClusterEventIsWildCard(event),
		logged:   schedmetrics.InFlightEvents.WithLabelValues(event.Label()),
		incoming: newIncoming(event.Label()),
	}
	kind.interesting = kind.wildcard
	for _, profile := range kinds.profiles.byNum {
		reaction := reaction{profile: profile}
		for _, plugin := range profile.plugins.Load().byName {
			for _, registration := range plugin.registrations {
				if framework.MatchClusterEvents(registration.event, event) {
					reaction.plugins |= plugin.bit
					hints := &reaction.hints[plugin.bit.Gate()-1]
					*hints = append(*hints, registration.hint)
					if registration.pre != nil && !kind.wildcard {
						kind.preHints = append(kind.preHints, preHint{plugin.name, registration.pre})
					}
				}
			}
		}
		kind.interesting = kind.interesting || reaction.plugins != 0
		kind.reactions = append(kind.reactions, reaction)
	}
	return kind
}

// reaction is what the kind means to a profile.
func (kind *eventKind) reaction(profile *profile) *reaction {
	for i := range kind.reactions {
		if kind.reactions[i].profile == profile {
			return &kind.reactions[i]
		}
	}
	return &reaction{profile: profile}
}

// wildcardsReachGates: a wildcard asks the gates again.
const wildcardsReachGates = release.Minor >= 37

// gates are the gates whose pods hear of the event.
func (kind *eventKind) gates(reaction *reaction) schedq.Plugins {
	if kind.wildcard && wildcardsReachGates {
		return schedq.AllPlugins
	}
	return reaction.plugins
}

// stamped are the plugins whose stamps the event raises.
func (kind *eventKind) stamped(reaction *reaction) schedq.Plugins {
	if kind.wildcard {
		return schedq.AllPlugins
	}
	return reaction.plugins
}
