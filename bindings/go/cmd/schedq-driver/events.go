package main

import (
	"fmt"
	"slices"
	"strings"

	"schedq"
)

// numbered makes an object of a number; nil if the line has none.
func numbered(line line, key string) *object {
	if !line.has(key) {
		return nil
	}
	return &object{number: line.number(key)}
}

// interested are the plugins of a profile that registered an event.
func (host *host) interested(profile *profile, event *event) schedq.Plugins {
	return host.queue.EventPlugins(profile.number, event.id) & profile.registered()
}

// stamp raises the stamps of all plugins that an event concerns.
func (host *host) stamp(event *event) error {
	for _, profile := range host.profiles {
		plugins := host.interested(profile, event)
		if event.kind == wildcard {
			plugins = schedq.AllPlugins
		}
		if err := host.queue.EventStamp(event.sequence, profile.number, plugins); err != nil {
			return err
		}
	}
	return nil
}

// isInteresting: since queueing hints an event that no plugin of any profile registered leaves no trace.
func (host *host) isInteresting(event *event) bool {
	return host.early || event.kind == wildcard ||
		slices.ContainsFunc(host.profiles, func(profile *profile) bool { return host.interested(profile, event) != 0 })
}

// gates are the gates whose pods hear of an event: in early releases all, since 1.37 all of a wildcard.
func (host *host) gates(profile *profile, event *event) schedq.Plugins {
	all := host.early || host.flushes && event.kind == wildcard
	return profile.gatesThat(func(plugin *plugin) bool { return all || plugin.hears(event.kind, false) })
}

// happen lets an event happen: it is logged, stamped, and judged for the pods that wait and that concerns accepts.
func (host *host) happen(event *event, concerns func(*schedq.Candidate, *object) bool) error {
	if !host.isInteresting(event) {
		return nil
	}
	if err := host.record(event); err != nil {
		return err
	}
	if err := host.stamp(event); err != nil {
		return err
	}
	for _, profile := range host.profiles {
		query := schedq.Query{
			Profile:   profile.number,
			Rejectors: host.interested(profile, event) | schedq.RejectorOthers, // never 0: that leaves out empty sets
			Gates:     host.gates(profile, event),
		}
		if event.kind == wildcard {
			query.Rejectors = schedq.AllPlugins
		}
		err := host.each(query, func(candidate *schedq.Candidate) error {
			object := host.objects[candidate.Object]
			if !concerns(candidate, object) {
				return nil
			}
			strategy := profile.worth(event, object, candidate.Unschedulable, candidate.Pending, host.early)
			_, err := host.route(host.waiting(candidate), strategy, event.id)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func anybody(*schedq.Candidate, *object) bool { return true }

func (host *host) move(line line) (string, error) {
	kind := parseKind(line.words[0])
	event := &event{
		id: host.label(kind, line.words[1]), kind: kind, before: numbered(line, "old"), after: numbered(line, "new"),
	}
	if line.has("target") {
		event.after = &object{} // whose uid is nobody's, unless the target is known
		id := parseIdentity(line.text("target", ""))
		id.uid = line.text("uid", id.uid)
		if host.pods[id] != nil {
			event.after.uid = id.uid
		}
	}
	concerns := anybody
	if line.has("precheck") {
		concerns = func(_ *schedq.Candidate, object *object) bool { return object.nameNumber%2 == 0 }
	}
	return "ok", host.happen(event, concerns)
}

// assigned: before queueing hints there was one resource for all pods.
func (host *host) assigned(line line, action schedq.Action, early string) (string, error) {
	event := &event{kind: kind{"AssignedPod", action}, before: numbered(line, "old"), after: numbered(line, "new")}
	if event.after == nil {
		event.after = &object{}
	}
	switch {
	case line.has("event"):
		event.kind = parseKind(line.text("event", ""))
		event.id = host.label(event.kind, "")
	case host.early:
		event.kind.resource = "Pod"
		event.id = host.label(event.kind, early)
	default:
		event.id = host.label(event.kind, "")
	}
	if action == schedq.ActionUpdate && event.kind.actions == schedq.ActionUpdatePodScaleDown {
		return "ok", host.happen(event, anybody)
	}
	app, near := line.text("app", ""), line.text("ns", namespace) == namespace
	return "ok", host.happen(event, func(candidate *schedq.Candidate, object *object) bool {
		return near && (object.affinity == app || candidate.Unschedulable&host.spread(candidate.Profile) != 0)
	})
}

// spread is the plugin that hears of every assigned pod of the namespace, since queueing hints.
func (host *host) spread(number schedq.Profile) schedq.Plugins {
	if !host.early {
		for _, plugin := range host.numbered(number).plugins {
			if plugin.name == "PodTopologySpread" {
				return plugin.bit
			}
		}
	}
	return 0
}

// lookUp finds a parked or gated pod by its handle. Whether it still backs off, which decides if PreEnqueue is asked without
// pop-from-backoff, only its candidate tells; nil if it is neither.
func (host *host) lookUp(handle schedq.Pod) (found *waiting, err error) {
	info, err := host.queue.Get(handle)
	if err != nil {
		return nil, err
	}
	query := schedq.Query{
		Profile:   info.Profile,
		Rejectors: info.Unschedulable | info.Pending | schedq.RejectorOthers,
		Gates:     info.Gate.Plugins(),
	}
	err = host.each(query, func(candidate *schedq.Candidate) error {
		if candidate.Pod == handle {
			found = host.waiting(candidate)
			found.inPlace = true
		}
		return nil
	})
	return found, err
}

func (host *host) activate(list string) (string, error) {
	label := host.label(wildcard, "ForceActivate")
	for _, text := range strings.Split(list, ",") {
		known := host.pods[parseIdentity(text)]
		if known == nil {
			continue
		}
		if known.inFlight && !host.early {
			if err := host.record(&event{id: label, kind: wildcard, after: &object{uid: known.id.uid}}); err != nil {
				return "", err
			}
		}
		if _, err := host.queue.Activate([]schedq.Pod{known.handle}); err != nil {
			return "", err
		}
		found, err := host.queue.Find(fullName(known.id))
		if err == schedq.ErrNotFound {
			continue
		}
		if err == nil && found.Pod == known.handle && found.Place != schedq.Active && found.Place != schedq.InFlight {
			pod := &waiting{ref: found.Ref, object: found.Object, profile: known.profile, gate: found.Gate, inPlace: true}
			pod.passed = host.flushes && host.config.PopFromBackoff &&
				(found.Place == schedq.Backoff || found.Place == schedq.ErrorBackoff)
			_, err = host.route(pod, immediately, label)
		}
		if err != nil {
			return "", err
		}
	}
	return "ok", nil
}

// tick: due backoff first, then pods that were parked for too long.
func (host *host) tick() (string, error) {
	result, _, err := host.queue.Tick()
	if err != nil {
		return "", err
	}
	if result.Left {
		label := host.label(wildcard, "BackoffComplete")
		for _, profile := range host.profiles {
			query := schedq.Query{Profile: profile.number, Backoff: true, NotAfter: host.now}
			err := host.each(query, func(candidate *schedq.Candidate) error {
				if candidate.BackingOff {
					return nil
				}
				_, err := host.route(host.waiting(candidate), immediately, label)
				return err
			})
			if err != nil {
				return "", err
			}
		}
	}
	return "ok", host.leftovers()
}

// leftovers tries again what was parked for too long. One gated pod among them that cannot move makes it an event all the
// same. Since 1.37 the last try begins a new wait.
func (host *host) leftovers() error {
	var old []schedq.Candidate

	for _, profile := range host.profiles {
		query := schedq.Query{
			Profile:   profile.number,
			Rejectors: schedq.AllPlugins,
			Gates:     profile.gatesThat(func(*plugin) bool { return true }),
			NotAfter:  host.now - host.config.MaxParked - 1,
		}
		err := host.each(query, func(candidate *schedq.Candidate) error {
			if !host.flushes || host.known(candidate).flushed <= query.NotAfter {
				old = append(old, *candidate)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(old) == 0 {
		return nil
	}
	event := &event{id: host.label(wildcard, "UnschedulableTimeout"), kind: wildcard}
	if err := host.record(event); err != nil {
		return err
	}
	if err := host.stamp(event); err != nil {
		return err
	}
	for i := range old {
		pod := host.waiting(&old[i])
		if host.flushes {
			host.known(&old[i]).flushed, pod.flushed = host.now, true
		}
		if pod.gate != 0 && pod.gate.Plugins()&host.gates(pod.profile, event) == 0 {
			continue
		}
		if _, err := host.route(pod, afterBackoff, event.id); err != nil {
			return err
		}
	}
	return nil
}

// known is the host's record of a candidate.
func (host *host) known(candidate *schedq.Candidate) *pod {
	for _, pod := range host.pods {
		if pod.handle == candidate.Pod {
			return pod
		}
	}
	panic("a candidate that no operation made")
}

// get describes a pod that waits.
func (host *host) get(id identity) (string, error) {
	found, err := host.queue.Find(fullName(id))
	if err == schedq.ErrNotFound || err == nil && found.Place == schedq.InFlight {
		return "absent", nil
	}
	if err != nil {
		return "", err
	}
	info, err := host.queue.Get(found.Pod)
	if err != nil {
		return "", err
	}
	return host.podText(identity{id.name, host.objects[info.Object].uid}, &info), nil
}

func (host *host) podText(id identity, info *schedq.PodInfo) string {
	profile := host.numbered(info.Profile)
	return fmt.Sprintf("%s %s plugins=%s pending=%s gating=%s", id, historyText(&info.History),
		profile.names(info.Unschedulable), profile.names(info.Pending), profile.names(info.Gate.Plugins()))
}
