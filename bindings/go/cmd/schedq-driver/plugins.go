package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"schedq"
)

// object is what a payload of the queue stands for: a pod at one version, or an object of an event.
type object struct {
	uid        string // "": no pod of the vector
	number     int64  // a pod's is its need
	nameNumber int64  // the K of pK
	gate       int64  // 0: none
	affinity   string // app label that a required term asks for
}

// hint says whether an event is worth another attempt. before and after are nil if absent.
type hint func(pod, before, after *object) bool

func numberOf(object *object) int64 {
	if object == nil {
		return 0
	}
	return object.number
}

// hints are those of docs/CONFORMANCE.md. An error counts as yes.
var hints = map[string]hint{
	"":       func(_, _, _ *object) bool { return true },
	"always": func(_, _, _ *object) bool { return true },
	"error":  func(_, _, _ *object) bool { return true },
	"never":  func(_, _, _ *object) bool { return false },
	"parity": func(pod, before, after *object) bool {
		return (pod.nameNumber+numberOf(before)+numberOf(after))%2 == 0
	},
	"fits": func(pod, _, after *object) bool { return after != nil && after.number >= pod.number },
	"grew": func(_, before, after *object) bool {
		return after != nil && (before == nil || after.number > before.number)
	},
	"mine": func(pod, _, after *object) bool { return after != nil && after.uid != "" && after.uid == pod.uid },
}

var actions = map[string]schedq.Action{
	"Add":                                schedq.ActionAdd,
	"Delete":                             schedq.ActionDelete,
	"Update":                             schedq.ActionUpdate,
	"All":                                schedq.ActionAll,
	"UpdateNodeAllocatable":              schedq.ActionUpdateNodeAllocatable,
	"UpdateNodeLabel":                    schedq.ActionUpdateNodeLabel,
	"UpdateNodeTaint":                    schedq.ActionUpdateNodeTaint,
	"UpdateNodeCondition":                schedq.ActionUpdateNodeCondition,
	"UpdateNodeAnnotation":               schedq.ActionUpdateNodeAnnotation,
	"UpdateNodeDeclaredFeature":          schedq.ActionUpdateNodeDeclaredFeature,
	"UpdateNodePreemptionPolicy":         schedq.ActionUpdateNodePreemptionPolicy,
	"UpdatePodLabel":                     schedq.ActionUpdatePodLabel,
	"UpdatePodScaleDown":                 schedq.ActionUpdatePodScaleDown,
	"UpdatePodScaleUp":                   schedq.ActionUpdatePodScaleUp,
	"UpdatePodToleration":                schedq.ActionUpdatePodToleration,
	"UpdatePodSchedulingGatesEliminated": schedq.ActionUpdatePodGatesEliminated,
	"UpdatePodGeneratedResourceClaim":    schedq.ActionUpdatePodGeneratedClaim,
}

// kind is what happened to which resource.
type kind struct {
	resource string
	actions  schedq.Action
}

var wildcard = kind{"*", schedq.ActionAll}

// podResources are what a plugin hears of that registered Pod.
var podResources = []string{"AssignedPod", "UnschedulablePod", "UnscheduledPod", "TargetPod"}

// parseKind reads RESOURCE:ACTION|ACTION.
func parseKind(text string) kind {
	colon := strings.LastIndexByte(text, ':')
	parsed := kind{resource: text[:colon]}
	for _, name := range strings.Split(text[colon+1:], "|") {
		parsed.actions |= actions[name]
	}
	return parsed
}

// matches says whether a registered kind of event hears of one that comes: early releases compare resource and bits, later
// ones the numbers too.
func (registered kind) matches(coming kind, early bool) bool {
	if registered == wildcard {
		return true
	}
	agree := registered.resource == coming.resource ||
		registered.resource == "Pod" && slices.Contains(podResources, coming.resource)
	share := registered.actions&coming.actions != 0
	if early {
		return agree && share
	}
	return (agree || registered.resource == "*") && share && coming.actions <= registered.actions
}

type interest struct {
	kind kind
	hint hint
}

type plugin struct {
	name      string
	bit       schedq.Plugins
	gate      int64 // its PreEnqueue refuses the pods with this gate; 0: it has none
	interests []interest
}

type profile struct {
	name    string
	number  schedq.Profile
	plugins []*plugin
}

// set makes names a set.
func (profile *profile) set(names []string) (set schedq.Plugins, err error) {
	for _, name := range names {
		index := slices.IndexFunc(profile.plugins, func(plugin *plugin) bool { return plugin.name == name })
		if index < 0 {
			return 0, fmt.Errorf("plugin %q has no plugin line for profile %q", name, profile.name)
		}
		set |= profile.plugins[index].bit
	}
	return set, nil
}

// names makes a set names, sorted.
func (profile *profile) names(set schedq.Plugins) string {
	var names []string
	for _, plugin := range profile.plugins {
		if set&plugin.bit != 0 {
			names = append(names, plugin.name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// registered is the set of all plugins of the profile.
func (profile *profile) registered() (set schedq.Plugins) {
	for _, plugin := range profile.plugins {
		set |= plugin.bit
	}
	return set
}

// gatesThat is the set of plugins with a PreEnqueue for which ok holds.
func (profile *profile) gatesThat(ok func(*plugin) bool) (set schedq.Plugins) {
	for _, plugin := range profile.plugins {
		if plugin.gate != 0 && ok(plugin) {
			set |= plugin.bit
		}
	}
	return set
}

func (plugin *plugin) hears(coming kind, early bool) bool {
	return slices.ContainsFunc(plugin.interests, func(interest interest) bool {
		return interest.kind.matches(coming, early)
	})
}

// preEnqueue asks the gates, the one that holds the pod first, and returns the one that refuses.
func (profile *profile) preEnqueue(pod *object, current schedq.Gate) schedq.Gate {
	refuses := func(plugin *plugin) bool { return plugin.gate != 0 && plugin.gate == pod.gate }
	for _, plugin := range profile.plugins {
		if plugin.bit == current.Plugins() && refuses(plugin) {
			return current
		}
	}
	for _, plugin := range profile.plugins {
		if refuses(plugin) {
			return plugin.bit.Gate()
		}
	}
	return 0
}

// event is a cluster event as the log keeps it.
type event struct {
	sequence      uint64
	id            schedq.Event
	kind          kind
	before, after *object
}

// strategy is what an event means to a pod.
type strategy int

const (
	skip strategy = iota
	afterBackoff
	immediately
)

// worth says what an event means to a pod with these rejectors.
func (profile *profile) worth(event *event, pod *object, unschedulable, pending schedq.Plugins, early bool) strategy {
	if unschedulable|pending == 0 {
		return afterBackoff
	}
	if event.kind == wildcard {
		if !early && event.after != nil && event.after.uid != pod.uid {
			return skip
		}
		return afterBackoff
	}
	best := skip
	for _, plugin := range profile.plugins {
		if (unschedulable|pending)&plugin.bit == 0 {
			continue
		}
		for _, interest := range plugin.interests {
			if !interest.kind.matches(event.kind, early) || !interest.hint(pod, event.before, event.after) {
				continue
			}
			if pending&plugin.bit != 0 {
				return immediately
			}
			best = afterBackoff
		}
	}
	return best
}

// parsePlugin reads a plugin line.
func parsePlugin(line line) (*plugin, error) {
	parsed := &plugin{name: line.words[1]}
	for _, word := range line.words[2:] {
		if word == "preenqueue" {
			parsed.gate = 1
			continue
		}
		text, name, _ := strings.Cut(word, "=")
		hint, found := hints[name]
		if !found {
			return nil, fmt.Errorf("plugin %s: there is no hint %q", parsed.name, name)
		}
		parsed.interests = append(parsed.interests, interest{parseKind(text), hint})
	}
	if line.has("preenqueue") {
		parsed.gate = line.number("preenqueue")
	}
	return parsed, nil
}

// nameNumber is the K of pK.
func nameNumber(name string) int64 {
	number, _ := strconv.ParseInt(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"), 10, 64)
	return number
}
