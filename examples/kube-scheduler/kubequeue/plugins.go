package kubequeue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/component-base/metrics"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedmetrics "k8s.io/kubernetes/pkg/scheduler/metrics"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"schedq"
	"schedq/examples/kube-scheduler/internal/release"
)

// The library knows a plugin as a bit, numbered per profile. Here is what the bits stand for: names, hints and gates, as
// scheduler.New gave them to its own queue; they are rebuilt from the profiles. Names may show up later, in the answers of
// plugins that registered nothing.

// Plugins are the plugins of one profile as the queue needs them.
type Plugins struct {
	PreEnqueue []release.PreEnqueuePlugin
	Extensions []release.EnqueueExtensions
	// Sign says what a pod has in common with others; nil: pods have no signature.
	Sign func(context.Context, *v1.Pod) release.Signature
}

// PluginsOf lists the plugins of a scheduler's profiles.
//
// Errors: a profile that does not sort by PrioritySort, the only order the queue has.
func PluginsOf(sched *scheduler.Scheduler) (map[string]Plugins, error) {
	plugins := map[string]Plugins{}
	for name, profile := range sched.Profiles {
		for _, sort := range profile.ListPlugins().QueueSort.Enabled {
			if sort.Name != "PrioritySort" {
				return nil, fmt.Errorf("profile %q sorts its queue by plugin %q: this queue has the order of PrioritySort only",
					name, sort.Name)
			}
		}
		plugins[name] = Plugins{profile.PreEnqueuePlugins(), profile.EnqueueExtensions(), release.Signer(profile)}
	}
	return plugins, nil
}

// registration is an event that a plugin registered.
type registration struct {
	event fwk.ClusterEvent
	hint  fwk.QueueingHintFn
	pre   release.PreQueueingHintFn // nil: it gave none
}

// plugin is one of a profile.
type plugin struct {
	name          string
	bit           schedq.Plugins
	gate          release.PreEnqueuePlugin // nil: it has none
	registrations []registration
	events        []fwk.ClusterEvent // those it registered
	rejected      metrics.GaugeMetric
}

// profile is a set of plugins with its own bits.
type profile struct {
	name    string
	number  schedq.Profile
	queue   *schedq.Queue
	unknown bool // stands for the scheduler names that no profile has
	gates   []*plugin
	sign    func(context.Context, *v1.Pod) release.Signature
	classes Classes // nil: there are none

	adding  sync.Mutex // to names
	plugins atomic.Pointer[names]
}

// names leads from names and bits to plugins; it is replaced as a whole when a name shows up late.
type names struct {
	byName map[string]*plugin
	byBit  [64]*plugin
}

func (known *names) with(added *plugin) *names {
	next := &names{byName: make(map[string]*plugin, len(known.byName)+1), byBit: known.byBit}
	for name, plugin := range known.byName {
		next.byName[name] = plugin
	}
	next.byName[added.name] = added
	if next.byBit[added.bit.Gate()-1] == nil {
		next.byBit[added.bit.Gate()-1] = added
	}
	return next
}

func newProfile(queue *schedq.Queue, name string, number schedq.Profile) *profile {
	made := &profile{name: name, number: number, queue: queue}
	made.plugins.Store(&names{byName: map[string]*plugin{}})
	return made
}

// register gives a plugin its bit, during setup.
func (profile *profile) register(name string) (*plugin, error) {
	if known := profile.plugins.Load().byName[name]; known != nil {
		return known, nil
	}
	bit, err := profile.queue.NamePlugin(profile.number, libraryName(name))
	if errors.Is(err, schedq.ErrFull) {
		return nil, fmt.Errorf("profile %q has more than 63 plugins that can reject a pod, %q is one more", profile.name, name)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin %q of profile %q: %w", name, profile.name, err)
	}
	return profile.learn(name, bit), nil
}

// libraryName is the name under which the library knows a plugin: the plugin's, unless the library takes no such name.
// kube-scheduler takes any, none at all too.
func libraryName(name string) string {
	if name != "" && len(name) <= schedq.NameMax && !strings.ContainsRune(name, 0) {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "\x7f" + hex.EncodeToString(sum[:])
}

func (profile *profile) learn(name string, bit schedq.Plugins) *plugin {
	made := &plugin{name: name, bit: bit, rejected: schedmetrics.UnschedulableReason(name, profile.name)}
	profile.plugins.Store(profile.plugins.Load().with(made))
	return made
}

// bits makes names a set. A name that shows up for the first time gets its bit now, so call it before words.EventSequence
// is read for a judgement.
func (profile *profile) bits(names sets.Set[string]) (set schedq.Plugins) {
	for name := range names {
		if known := profile.plugins.Load().byName[name]; known != nil {
			set |= known.bit
		} else {
			set |= profile.late(name).bit
		}
	}
	return set
}

func (profile *profile) late(name string) *plugin {
	profile.adding.Lock()
	defer profile.adding.Unlock()
	if known := profile.plugins.Load().byName[name]; known != nil {
		return known
	}
	return profile.learn(name, profile.queue.RejectorBit(profile.number, libraryName(name)))
}

// each visits the plugins of a set.
func (profile *profile) each(set schedq.Plugins, visit func(*plugin)) {
	known := profile.plugins.Load()
	for set != 0 {
		first := set & -set
		if plugin := known.byBit[first.Gate()-1]; plugin != nil {
			visit(plugin)
		}
		set &^= first
	}
}

// names makes a set names.
func (profile *profile) names(set schedq.Plugins) sets.Set[string] {
	names := sets.New[string]()
	profile.each(set, func(plugin *plugin) { names.Insert(plugin.name) })
	return names
}

// gating names a gate and the events that it hears of.
func (profile *profile) gating(gate schedq.Gate) (name string, events []fwk.ClusterEvent) {
	profile.each(gate.Plugins(), func(plugin *plugin) { name, events = plugin.name, plugin.events })
	return name, events
}

// alwaysQueue is the hint of an interest that has none.
func alwaysQueue(klog.Logger, *v1.Pod, any, any) (fwk.QueueingHint, error) { return fwk.Queue, nil }

// taintsMakeUp: a plugin that wants to hear of added nodes hears of changed taints too.
const taintsMakeUp = release.Minor < 37

// hear registers what a plugin wants to hear of, by the rules of scheduler.New.
func (profile *profile) hear(ctx context.Context, extensions release.EnqueueExtensions) error {
	events, err := extensions.EventsToRegister(ctx)
	if err != nil {
		return fmt.Errorf("events of plugin %q of profile %q: %w", extensions.Name(), profile.name, err)
	}
	if len(events) == 0 {
		return nil
	}
	plugin, err := profile.register(extensions.Name())
	if err != nil {
		return err
	}
	var nodes fwk.ActionType
	for i := range events {
		event := &events[i]
		hint := event.QueueingHintFn
		if hint == nil {
			hint = alwaysQueue
		}
		if event.Event.Resource == fwk.Node {
			nodes |= event.Event.ActionType
		}
		plugin.registrations = append(plugin.registrations, registration{event.Event, hint, release.PreQueueingHint(event)})
	}
	if taintsMakeUp && nodes&fwk.Add != 0 && nodes&fwk.UpdateNodeTaint == 0 {
		// The preCheck of a node's add may refuse a pod that the plugin would have tried again; the taint's removal makes up.
		plugin.registrations = append(plugin.registrations,
			registration{fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.UpdateNodeTaint}, alwaysQueue, nil})
	}
	for _, registration := range plugin.registrations {
		plugin.events = append(plugin.events, registration.event)
	}
	return nil
}

// profiles are all of a scheduler.
type profiles struct {
	byName  map[string]*profile
	byNum   []*profile
	unknown *profile
}

// unknownProfile stands for scheduler names that have no profile. Its name is none that a scheduler could have.
const unknownProfile = "*"

// define defines the profiles and their plugins, before the queue is used.
func (all *profiles) define(ctx context.Context, queue *schedq.Queue, plugins map[string]Plugins, classes Classes) error {
	all.byName = map[string]*profile{}
	ordered := make([]string, 0, len(plugins)+1)
	for name := range plugins {
		ordered = append(ordered, name)
	}
	slices.Sort(ordered)
	for _, name := range append(ordered, unknownProfile) {
		number, err := queue.DefineProfile(name)
		if err != nil {
			return fmt.Errorf("profile %q: %w", name, err)
		}
		made := newProfile(queue, name, number)
		made.classes = classes
		all.byName[name] = made
		for int(number) >= len(all.byNum) {
			all.byNum = append(all.byNum, nil)
		}
		all.byNum[number] = made
		if err := made.define(ctx, plugins[name]); err != nil {
			return err
		}
	}
	all.unknown = all.byName[unknownProfile]
	all.unknown.unknown = true
	all.byNum = slices.DeleteFunc(all.byNum, func(profile *profile) bool { return profile == nil })
	return nil
}

func (profile *profile) define(ctx context.Context, plugins Plugins) error {
	profile.sign = plugins.Sign
	for _, gate := range plugins.PreEnqueue {
		plugin, err := profile.register(gate.Name())
		if err != nil {
			return err
		}
		plugin.gate = gate
		profile.gates = append(profile.gates, plugin)
	}
	for _, extensions := range plugins.Extensions {
		if err := profile.hear(ctx, extensions); err != nil {
			return err
		}
	}
	return nil
}

// of is the profile of a pod.
func (all *profiles) of(pod *v1.Pod) *profile {
	if known := all.byName[pod.Spec.SchedulerName]; known != nil && !known.unknown {
		return known
	}
	return all.unknown
}
