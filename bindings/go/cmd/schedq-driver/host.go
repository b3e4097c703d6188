package main

import (
	"fmt"

	"schedq"
)

const namespace = "default"

// The vector's time 0 on the queue's clock: a whole second, far from 0.
const startNS = 1_000_000_000_000_000

// pod is the host's record of a pod by name and uid, alive or not.
type pod struct {
	id       identity
	profile  *profile
	handle   schedq.Pod
	token    schedq.Token
	seen     uint64
	inFlight bool  // the token is not used up
	flushed  int64 // when it was tried as a leftover last, since it failed; 0: it was not
}

type host struct {
	queue  *schedq.Queue
	config schedq.Config
	early  bool // a release before queueing hints
	// since 1.37: wildcards and leftovers try gated pods again, a gated leftover once per limit
	flushes  bool
	now      int64
	profiles []*profile // by number
	pods     map[identity]*pod
	objects  []*object // what the queue's payloads stand for; nil at 0
	nodes    []string  // by number; "" at 0
	log      []*event
}

// open makes the queue that the head of a vector describes.
func open(head []string) (*host, error) {
	host := &host{now: startNS, pods: map[identity]*pod{}, objects: []*object{nil}, nodes: []string{""}}
	for _, text := range head {
		if err := host.configure(parseLine(text)); err != nil {
			return nil, err
		}
	}
	queue, err := schedq.New(host.config, func() int64 { return host.now })
	if err != nil {
		return nil, err
	}
	host.queue = queue
	for _, text := range head {
		if err := host.register(parseLine(text)); err != nil {
			return nil, err
		}
	}
	return host, nil
}

// configure takes what the queue has to know before it is made.
func (host *host) configure(line line) (err error) {
	const ms = 1_000_000
	config := &host.config
	switch line.words[0] {
	case "vector":
		engines := map[string]schedq.Engine{"mutex": schedq.Mutex, "lockfree": schedq.LockFree}
		config.Engine = engines[line.text("engine", "")]
	case "source":
		presets := map[string]schedq.Preset{
			"v1.12": schedq.PresetKube112, "v1.26": schedq.PresetKube126, "v1.34": schedq.PresetKube134,
			"v1.37": schedq.PresetKube137,
		}
		engine := config.Engine
		*config, err = schedq.PresetConfig(presets[line.words[2][:len("v1.00")]])
		config.Engine = engine
		config.Decide = schedq.DecideHost
		config.CountCycles = true
		host.early = config.KubeMinor < 34
		host.flushes = config.KubeMinor >= 37
	case "config":
		if line.has("pop-from-backoff") {
			config.PopFromBackoff = line.number("pop-from-backoff") == 1
			config.BackoffWindow = config.PopFromBackoff
		}
		for key, field := range map[string]*int64{
			"initial-backoff-ms":   &config.InitialBackoff,
			"max-backoff-ms":       &config.MaxBackoff,
			"max-unschedulable-ms": &config.MaxParked,
		} {
			if line.has(key) {
				*field = line.number(key) * ms
			}
		}
	}
	return err
}

// register defines profiles and plugins.
func (host *host) register(line line) error {
	switch line.words[0] {
	case "profile":
		_, err := host.profile(line.words[1])
		return err
	case "plugin":
		profile, err := host.profile(line.text("profile", "default-scheduler"))
		if err != nil {
			return err
		}
		plugin, err := parsePlugin(line)
		if err != nil {
			return err
		}
		var interests []schedq.Interest
		for _, interest := range plugin.interests {
			interests = append(interests, schedq.Interest{Resource: interest.kind.resource, Actions: interest.kind.actions})
		}
		plugin.bit, err = host.queue.RegisterPlugin(profile.number, plugin.name, 0, interests...)
		profile.plugins = append(profile.plugins, plugin)
		return err
	}
	return nil
}

// profile finds or defines one.
func (host *host) profile(name string) (*profile, error) {
	for _, profile := range host.profiles {
		if profile.name == name {
			return profile, nil
		}
	}
	number, err := host.queue.DefineProfile(name)
	if err != nil {
		return nil, err
	}
	made := &profile{name: name, number: number}
	host.profiles = append(host.profiles, made)
	return made, nil
}

// numbered finds the profile of a number.
func (host *host) numbered(number schedq.Profile) *profile {
	for _, profile := range host.profiles {
		if profile.number == number {
			return profile
		}
	}
	panic(fmt.Sprintf("profile %d is not defined", number))
}

// keep gives an object a payload.
func (host *host) keep(object *object) uint64 {
	host.objects = append(host.objects, object)
	return uint64(len(host.objects) - 1)
}

// node numbers a node; 0 for "".
func (host *host) node(name string) uint64 {
	for number, known := range host.nodes {
		if known == name {
			return uint64(number)
		}
	}
	host.nodes = append(host.nodes, name)
	return uint64(len(host.nodes) - 1)
}

// label numbers a kind of event under a metric label; "" is the library's own.
func (host *host) label(kind kind, label string) schedq.Event {
	event, err := host.queue.DefineEvent(kind.resource, kind.actions, label)
	if err != nil {
		panic(err)
	}
	return event
}

// record draws the sequence of an event and logs it, in this order; stamp comes next.
func (host *host) record(event *event) error {
	sequence, err := host.queue.EventBegin()
	event.sequence = sequence
	host.log = append(host.log, event)
	return err
}

// waiting is a pod that waits, at the version that was looked at.
type waiting struct {
	ref                    schedq.Ref
	object                 uint64
	profile                *profile
	gate                   schedq.Gate
	unschedulable, pending schedq.Plugins
	backingOff             bool
	inPlace                bool // PreEnqueue refuses it where it is: it does not come in again
	passed                 bool // PreEnqueue is not asked
	flushed                bool // it is a leftover
}

// route takes a waiting pod where a strategy leads, through PreEnqueue, and says where it went: Nowhere if it stays.
func (host *host) route(pod *waiting, strategy strategy, label schedq.Event) (schedq.Place, error) {
	for strategy != skip {
		decision := schedq.Decision{
			Ref: pod.ref, Place: schedq.Active, Event: label, Flushed: pod.flushed,
			JudgedUpTo: host.queue.Words().EventSequence(),
		}
		if strategy == afterBackoff && (pod.backingOff || !host.early) {
			decision.Place, decision.IfBackingOff = schedq.Backoff, pod.backingOff && !host.config.PopFromBackoff
		}
		if !decision.IfBackingOff && !pod.passed {
			decision.Gate = pod.profile.preEnqueue(host.objects[pod.object], pod.gate)
			if decision.Gate != 0 {
				decision.Place, decision.Uncounted, decision.Flushed = schedq.Gated, pod.inPlace, false
			}
		}
		result, err := host.queue.Apply(&decision)
		switch err {
		case schedq.ErrGone: // it was given twice, and does not wait any more
			return schedq.Nowhere, nil
		case schedq.ErrChanged:
			pod.ref, pod.object, pod.backingOff = result.Ref, result.Object, result.BackingOff
			continue
		case schedq.ErrRetry:
			continue
		}
		pod.ref, pod.gate = result.Ref, result.Gate
		pod.unschedulable |= result.Gate.Plugins()
		return result.Place, err
	}
	return schedq.Nowhere, nil
}

// each gives all pods that a query finds, as they were before the first of them moves.
func (host *host) each(query schedq.Query, visit func(*schedq.Candidate) error) error {
	var found []schedq.Candidate
	var batch [64]schedq.Candidate
	for {
		count, err := host.queue.Candidates(&query, batch[:])
		if err != nil {
			return err
		}
		if count == 0 {
			break
		}
		found = append(found, batch[:count]...)
	}
	for i := range found {
		if err := visit(&found[i]); err != nil {
			return err
		}
	}
	return nil
}

func (host *host) waiting(candidate *schedq.Candidate) *waiting {
	return &waiting{
		ref:           candidate.Ref,
		object:        candidate.Object,
		profile:       host.numbered(candidate.Profile),
		gate:          candidate.Gate,
		unschedulable: candidate.Unschedulable,
		pending:       candidate.Pending,
		backingOff:    candidate.BackingOff,
	}
}
