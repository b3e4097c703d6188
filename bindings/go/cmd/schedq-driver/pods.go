package main

import (
	"errors"
	"fmt"
	"strings"

	"schedq"
)

// spec is what an operation says about a pod: its object and its description.
func (host *host) spec(id identity, line line) (*object, schedq.PodSpec, *profile, error) {
	profile, err := host.profile(line.text("profile", "default-scheduler"))
	if err != nil {
		return nil, schedq.PodSpec{}, nil, err
	}
	object := &object{
		uid:        id.uid,
		number:     line.number("need"),
		nameNumber: nameNumber(id.name),
		gate:       line.number("gate"),
		affinity:   line.text("affinity", ""),
	}
	return object, schedq.PodSpec{
		Object:        host.keep(object),
		NominatedNode: host.node(line.text("nominated", "")),
		Priority:      int32(line.number("prio")),
		Profile:       profile.number,
		Flags:         flags(object),
	}, profile, nil
}

func flags(object *object) schedq.PodFlags {
	if object.affinity != "" {
		return schedq.PodAffinity
	}
	return 0
}

func fullName(id identity) string { return namespace + "/" + id.name }

// note finds or makes the record of a pod.
func (host *host) note(id identity, profile *profile, handle schedq.Pod) *pod {
	record := host.pods[id]
	if record == nil {
		record = &pod{id: id}
		host.pods[id] = record
	}
	if record.handle != handle {
		record.flushed = 0
	}
	record.profile, record.handle = profile, handle
	return record
}

func (host *host) add(id identity, line line) (string, error) {
	object, spec, profile, err := host.spec(id, line)
	if err != nil {
		return "", err
	}
	result, err := host.admit(&spec, object, profile, func() (schedq.Result, error) {
		return host.queue.Add(fullName(id), &spec)
	})
	if err == nil {
		host.note(id, profile, result.Pod)
	}
	return "ok", err
}

// admit asks PreEnqueue about a new pod, and asks again if the gate's verdict is out of date.
func (host *host) admit(spec *schedq.PodSpec, object *object, profile *profile,
	call func() (schedq.Result, error)) (result schedq.Result, err error) {
	for err = schedq.ErrRetry; err == schedq.ErrRetry; {
		spec.JudgedUpTo = host.queue.Words().EventSequence()
		spec.Gate = profile.preEnqueue(object, 0)
		result, err = call()
	}
	return result, err
}

func (host *host) pop() (string, error) {
	popped, err := host.queue.TryPop()
	switch err {
	case nil:
	case schedq.ErrEmpty:
		return "empty", nil
	case schedq.ErrClosed:
		return "closed", nil
	default:
		return "", err
	}
	id := identity{strings.TrimPrefix(popped.Name, namespace+"/"), host.objects[popped.Object].uid}
	pod := host.pods[id]
	if pod == nil {
		return "", fmt.Errorf("popped %q, which no operation made", popped.Name)
	}
	pod.handle, pod.token, pod.seen, pod.inFlight = popped.Pod, popped.Token, popped.Seen, true
	return host.poppedText(id, &popped), nil
}

func (host *host) poppedText(id identity, popped *schedq.Popped) string {
	text := fmt.Sprintf("%s attempts=%d", id, popped.History.Attempts)
	if !host.early {
		text = fmt.Sprintf("%s %s", id, historyText(&popped.History))
	}
	text += fmt.Sprintf(" cycle=%d", popped.Cycle)
	if popped.FromBackoff {
		text += " from=backoff"
	}
	if popped.Flushed {
		text += " flushed=1"
	}
	return text
}

// judgeFlight says what the events during a pod's cycle mean to it.
func (host *host) judgeFlight(pod *pod, object *object, failure *schedq.Failure) strategy {
	best := skip
	if failure.Unschedulable|failure.Pending == 0 && !host.early {
		return afterBackoff
	}
	for _, event := range host.log {
		if event.sequence <= pod.seen || event.sequence > failure.JudgedUpTo {
			continue
		}
		if host.early {
			return afterBackoff // any event counts
		}
		best = max(best, pod.profile.worth(event, object, failure.Unschedulable, failure.Pending, false))
	}
	return best
}

// direct fills in where a pod that failed goes.
func (host *host) direct(failure *schedq.Failure, strategy strategy, profile *profile, object *object) {
	failure.Gate = 0
	switch {
	case strategy == skip:
		failure.Place = schedq.Parked
		return
	case strategy == afterBackoff:
		failure.Place = schedq.Backoff
	default:
		failure.Place = schedq.Active
	}
	if failure.Place == schedq.Active || host.config.MaxBackoff == 0 || host.config.PopFromBackoff {
		if gate := profile.preEnqueue(object, 0); gate != 0 {
			failure.Place, failure.Gate = schedq.Gated, gate
		}
	}
}

func (host *host) fail(id identity, line line) (string, error) {
	var failure schedq.Failure
	var err error

	pod := host.pods[id]
	if line.number("after-done") == 1 {
		return host.failAfterDone(id, line)
	}
	if pod == nil || !pod.inFlight {
		return "", errors.New("not in flight: there is no token to fail with")
	}
	if failure.Unschedulable, err = pod.profile.set(line.list("plugins")); err != nil {
		return "", err
	}
	if failure.Pending, err = pod.profile.set(line.list("pending")); err != nil {
		return "", err
	}
	object := &object{}
	if !host.early {
		var newest schedq.PodSpec

		object, newest, _, err = host.spec(id, line)
		failure.Newest = &newest
	}
	failure.JudgedUpTo = host.queue.Words().EventSequence()
	for err == nil {
		var result schedq.Result

		host.direct(&failure, host.judgeFlight(pod, object, &failure), pod.profile, object)
		result, err = host.queue.Fail(&pod.token, &failure)
		if err != schedq.ErrRetry {
			break
		}
		failure.JudgedUpTo, err = result.Sequence, nil
	}
	if err == nil || err == schedq.ErrGone {
		pod.inFlight, pod.flushed = false, 0
	}
	if err == schedq.ErrGone {
		return "error present", nil
	}
	return "ok", err
}

// afterDone is the history of a pod that fails after its done.
func afterDone(line line) schedq.History {
	history := schedq.History{
		Attempts:   uint32(line.number("attempts")),
		Rejections: uint32(line.number("unschedulable")),
		Errors:     uint32(line.number("errors")),
	}
	if line.has("initial-attempt") {
		history.InitialAttempt = startNS + line.number("initial-attempt")*1_000_000
		history.Timestamp = history.InitialAttempt
	}
	return history
}

func (host *host) failAfterDone(id identity, line line) (string, error) {
	var failure schedq.Failure

	object, spec, profile, err := host.spec(id, line)
	if err != nil {
		return "", err
	}
	history := afterDone(line)
	if failure.Unschedulable, err = profile.set(line.list("plugins")); err != nil {
		return "", err
	}
	if failure.Pending, err = profile.set(line.list("pending")); err != nil {
		return "", err
	}
	result, err := schedq.Result{}, error(schedq.ErrRetry)
	for err == schedq.ErrRetry {
		failure.JudgedUpTo = host.queue.Words().EventSequence()
		host.direct(&failure, afterBackoff, profile, object)
		result, err = host.queue.Readd(fullName(id), &spec, &history, &failure)
	}
	if err == nil {
		host.note(id, profile, result.Pod)
	}
	if err == schedq.ErrExists {
		return "error present", nil
	}
	return "ok", err
}

func (host *host) done(id identity) (string, error) {
	pod := host.pods[id]
	if pod == nil || !pod.inFlight {
		return host.nominate(id, 0)
	}
	err := host.queue.Done(pod.token)
	if err == nil || err == schedq.ErrGone {
		pod.inFlight, err = false, nil
	}
	return "ok", err
}

// nominate: a pod that is in no place has no nomination to end.
func (host *host) nominate(id identity, node uint64) (string, error) {
	err := error(schedq.ErrNotFound)
	if pod := host.pods[id]; pod != nil {
		err = host.queue.Nominate(pod.handle, node)
	}
	if err == schedq.ErrNotFound && node == 0 {
		err = nil
	}
	return "ok", err
}

func (host *host) delete(id identity) (string, error) {
	_, err := host.queue.Delete(fullName(id))
	if err == schedq.ErrNotFound {
		err = nil
	}
	return "ok", err
}

// update: a queued pod keeps its affinity term, and what waits is judged by the events that the update is.
func (host *host) update(id identity, line line) (string, error) {
	object, spec, profile, err := host.spec(id, line)
	if err != nil {
		return "", err
	}
	events := host.updateEvents(line, object)
	found, err := host.queue.Find(fullName(id))
	if err == nil && found.Place != schedq.InFlight && host.objects[found.Object].uid == id.uid {
		object.affinity = host.objects[found.Object].affinity
		spec.Flags = flags(object)
	}
	spec.Flags |= schedq.PodAdd
	result, err := host.admit(&spec, object, profile, func() (schedq.Result, error) {
		return host.queue.Update(fullName(id), &spec, 0, ids(events))
	})
	if err != nil {
		return "", err
	}
	host.note(id, profile, result.Pod)
	switch result.Place {
	case schedq.InFlight:
		return "ok", host.recordAll(events)
	case schedq.Parked, schedq.Gated:
		if !result.Added {
			return "ok", host.judgeUpdate(result.Pod, events)
		}
	}
	return "ok", nil
}

func ids(events []*event) (ids []schedq.Event) {
	for _, event := range events {
		ids = append(ids, event.id)
	}
	return ids
}

func (host *host) updateEvents(line line, object *object) (events []*event) {
	if host.early {
		if line.number("changed") == 1 {
			events = append(events, &event{id: schedq.EventUnscheduledPodUpdate, after: object})
		}
		return events
	}
	for _, text := range line.list("events") {
		kind := parseKind(text)
		events = append(events, &event{
			id: host.label(kind, ""), kind: kind, before: numbered(line, "old"), after: object,
		})
	}
	return events
}

// recordAll tells the pods in flight. Early releases did not.
func (host *host) recordAll(events []*event) error {
	if host.early {
		return nil
	}
	for _, event := range events {
		if err := host.record(event); err != nil {
			return err
		}
		if err := host.stamp(event); err != nil {
			return err
		}
	}
	return nil
}

// judgeUpdate takes a pod that waits to where the first event leads that takes it anywhere. In early releases any did.
func (host *host) judgeUpdate(handle schedq.Pod, events []*event) error {
	for _, event := range events {
		pod, err := host.lookUp(handle)
		if err != nil {
			return err
		}
		strategy := afterBackoff
		if !host.early {
			strategy = pod.profile.worth(event, host.objects[pod.object], pod.unschedulable, pod.pending, false)
		}
		place, err := host.route(pod, strategy, event.id)
		if err != nil || place == schedq.Active || place == schedq.Backoff || place == schedq.ErrorBackoff {
			return err
		}
	}
	return nil
}
