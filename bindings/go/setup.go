package schedq

/*
#cgo noescape schedq_event_define
#cgo nocallback schedq_event_define
#cgo noescape schedq_profile_define
#cgo nocallback schedq_profile_define
#cgo noescape schedq_plugin_name
#cgo nocallback schedq_plugin_name
#cgo noescape schedq_plugin_register
#cgo nocallback schedq_plugin_register
#cgo nocallback schedq_event_plugins
#cgo noescape schedq_rejector_bit
#cgo nocallback schedq_rejector_bit
#include <stdlib.h>
#include <schedq/schedq.h>
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Action is what happened to an object: one of these, or ActionUpdate for a change that has no bit. Plugins register
// unions of them.
type Action uint32

const (
	ActionAdd                        Action = C.SCHEDQ_ACTION_ADD
	ActionDelete                     Action = C.SCHEDQ_ACTION_DELETE
	ActionUpdateNodeAllocatable      Action = C.SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE
	ActionUpdateNodeLabel            Action = C.SCHEDQ_ACTION_UPDATE_NODE_LABEL
	ActionUpdateNodeTaint            Action = C.SCHEDQ_ACTION_UPDATE_NODE_TAINT
	ActionUpdateNodeCondition        Action = C.SCHEDQ_ACTION_UPDATE_NODE_CONDITION
	ActionUpdateNodeAnnotation       Action = C.SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION
	ActionUpdateNodeDeclaredFeature  Action = C.SCHEDQ_ACTION_UPDATE_NODE_DECLARED_FEATURE
	ActionUpdateNodePreemptionPolicy Action = C.SCHEDQ_ACTION_UPDATE_NODE_PREEMPTION_POLICY
	ActionUpdatePodLabel             Action = C.SCHEDQ_ACTION_UPDATE_POD_LABEL
	ActionUpdatePodScaleDown         Action = C.SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN
	ActionUpdatePodScaleUp           Action = C.SCHEDQ_ACTION_UPDATE_POD_SCALE_UP
	ActionUpdatePodToleration        Action = C.SCHEDQ_ACTION_UPDATE_POD_TOLERATION
	ActionUpdatePodGatesEliminated   Action = C.SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED
	ActionUpdatePodGeneratedClaim    Action = C.SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM
	ActionUpdate                     Action = C.SCHEDQ_ACTION_UPDATE
	ActionAll                        Action = C.SCHEDQ_ACTION_ALL
)

// Event is a kind of change ("a node was added"): {resource, actions, label}.
type Event uint16

// Events that every queue knows. The resource UnschedulablePod (with Config.KubeMinor 37: UnscheduledPod) is a pod without a
// node, AssignedPod one that has a node, TargetPod the waiting pod itself.
const (
	EventNone                                Event = C.SCHEDQ_EVENT_NONE     // no event: refused where one is wanted
	EventWildcard                            Event = C.SCHEDQ_EVENT_WILDCARD // {"*", ActionAll}
	EventUnscheduledPodAdd                   Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_ADD
	EventUnscheduledPodDelete                Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_DELETE
	EventUnscheduledPodUpdate                Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE
	EventUnscheduledPodUpdateLabel           Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL
	EventUnscheduledPodUpdateScaleDown       Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN
	EventUnscheduledPodUpdateGatesEliminated Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED
	EventUnscheduledPodUpdateToleration      Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION
	EventUnscheduledPodUpdateGeneratedClaim  Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM
	EventAssignedPodAdd                      Event = C.SCHEDQ_EVENT_ASSIGNED_POD_ADD
	EventAssignedPodDelete                   Event = C.SCHEDQ_EVENT_ASSIGNED_POD_DELETE
	EventAssignedPodUpdate                   Event = C.SCHEDQ_EVENT_ASSIGNED_POD_UPDATE
	EventAssignedPodUpdateLabel              Event = C.SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_LABEL
	EventAssignedPodUpdateScaleDown          Event = C.SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN
	EventAssignedPodUpdateGatesEliminated    Event = C.SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GATES_ELIMINATED
	EventAssignedPodUpdateToleration         Event = C.SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_TOLERATION
	EventAssignedPodUpdateGeneratedClaim     Event = C.SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GENERATED_CLAIM
	EventNodeAdd                             Event = C.SCHEDQ_EVENT_NODE_ADD
	EventNodeDelete                          Event = C.SCHEDQ_EVENT_NODE_DELETE
	EventNodeUpdateAllocatable               Event = C.SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE
	EventNodeUpdateLabel                     Event = C.SCHEDQ_EVENT_NODE_UPDATE_LABEL
	EventNodeUpdateTaint                     Event = C.SCHEDQ_EVENT_NODE_UPDATE_TAINT
	EventNodeUpdateCondition                 Event = C.SCHEDQ_EVENT_NODE_UPDATE_CONDITION
	EventNodeUpdateAnnotation                Event = C.SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION
	EventNodeUpdateDeclaredFeature           Event = C.SCHEDQ_EVENT_NODE_UPDATE_DECLARED_FEATURE
	EventNodeUpdatePreemptionPolicy          Event = C.SCHEDQ_EVENT_NODE_UPDATE_PREEMPTION_POLICY
	EventUnscheduledPodUpdateScaleUp         Event = C.SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_UP
	EventAssignedPodUpdateScaleUp            Event = C.SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_UP
	EventTargetPodUpdate                     Event = C.SCHEDQ_EVENT_TARGET_POD_UPDATE
	EventTargetPodUpdateLabel                Event = C.SCHEDQ_EVENT_TARGET_POD_UPDATE_LABEL
	EventTargetPodUpdateScaleDown            Event = C.SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_DOWN
	EventTargetPodUpdateScaleUp              Event = C.SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_UP
	EventTargetPodUpdateGatesEliminated      Event = C.SCHEDQ_EVENT_TARGET_POD_UPDATE_GATES_ELIMINATED
	EventTargetPodUpdateToleration           Event = C.SCHEDQ_EVENT_TARGET_POD_UPDATE_TOLERATION
	EventTargetPodUpdateGeneratedClaim       Event = C.SCHEDQ_EVENT_TARGET_POD_UPDATE_GENERATED_CLAIM
)

// DefineEvent numbers a kind of event; the same one gets the same number. Also after setup. resource is any word: an [Interest] hears of the event
// by the same word, and nothing tells that one was misspelt. It has 1 to 127 bytes, none of them NUL; actions is at least one of Action's.
//
// label is what the metrics call it, up to 127 bytes; "": resource and action, as kube-scheduler writes them ("NodeAdd").
//
// There are at most Config.MaxEvents kinds of events, 256 by default, the 35 that every queue knows included; 0: 65,535. None is ever forgotten: define
// kinds, not occurrences.
//
// Errors: ErrFull, Config.MaxEvents; ErrInvalid; ErrNoMemory.
func (queue *Queue) DefineEvent(resource string, actions Action, label string) (Event, error) {
	var why whyText
	var event C.schedq_event_t

	if err := withoutNUL("DefineEvent", "resource", resource, "label", label); err != nil {
		return 0, err
	}
	cResource, cLabel := C.CString(resource), C.CString(label)
	defer C.free(unsafe.Pointer(cResource))
	defer C.free(unsafe.Pointer(cLabel))
	status := Status(C.schedq_event_define(queue.alive(), cResource, C.uint32_t(actions), cLabel, &event, &why[0], whySize))
	return Event(event), asError(status, "DefineEvent", why.String())
}

// DefineProfile numbers another profile; the same name gets the same number. During setup.
//
// Errors: ErrFull, there are 255; ErrBusy, setup is over; ErrInvalid; ErrNoMemory.
func (queue *Queue) DefineProfile(name string) (Profile, error) {
	var why whyText
	var profile C.schedq_profile_t

	if err := withoutNUL("DefineProfile", "name", name); err != nil {
		return 0, err
	}
	cName := C.CString(name)
	defer C.free(unsafe.Pointer(cName))
	status := Status(C.schedq_profile_define(queue.alive(), cName, &profile, &why[0], whySize))
	return Profile(profile), asError(status, "DefineProfile", why.String())
}

// Interest is an event that a plugin wants to hear of when it rejected (or gates) a pod.
type Interest struct {
	Resource string // or "*"; "Pod" hears of AssignedPod, UnschedulablePod (UnscheduledPod) and TargetPod too
	Actions  Action
}

// PluginOptions are properties of a plugin.
type PluginOptions uint8

// PluginSpread says that AssignedPodAdded and AssignedPodUpdated reach the pods of the assigned pod's namespace that the
// plugin rejected.
const PluginSpread PluginOptions = C.SCHEDQ_PLUGIN_SPREAD

// Callbacks are functions of a plugin that the library calls, by their addresses in C: unsafe.Pointer(C.name). [DecideLibrary]
//
// They are C code, and must not call Go. What they need to know lies in C memory: behind Context, or behind the bits of objects.
type Callbacks struct {
	PreEnqueue unsafe.Pointer   // a schedq_pre_enqueue_fn; nil: the plugin gates nothing
	Hints      []unsafe.Pointer // a schedq_hint_fn for each interest; nil, or none: every such event counts
	Context    unsafe.Pointer   // in C memory that lives as long as the queue; each of them gets it
}

// RegisterPlugin registers a plugin with the events that it wants, and returns its bit. During setup, which ends with the first call
// that needs a worker, as [Queue.Add] does. A profile has room for 63, late names included.
//
// Errors: ErrExists, the name is taken, with its bit; ErrFull; ErrBusy, setup is over; ErrInvalid; ErrNoMemory.
func (queue *Queue) RegisterPlugin(profile Profile, name string, options PluginOptions,
	interests ...Interest) (Plugins, error) {
	return queue.RegisterPluginInC(profile, name, options, Callbacks{}, interests...)
}

// RegisterPluginInC registers a plugin whose hints and PreEnqueue are C functions. As RegisterPlugin.
func (queue *Queue) RegisterPluginInC(profile Profile, name string, options PluginOptions, callbacks Callbacks,
	interests ...Interest) (Plugins, error) {
	var why whyText
	var bit C.uint64_t

	if err := withoutNUL("RegisterPlugin", "name", name); err != nil {
		return 0, err
	}
	for _, interest := range interests {
		if err := withoutNUL("RegisterPlugin", "interest.resource", interest.Resource); err != nil {
			return 0, err
		}
	}
	// What a struct that C reads points to must not be Go's, so all of it is C's.
	var texts []*C.char
	text := func(value string) *C.char {
		texts = append(texts, C.CString(value))
		return texts[len(texts)-1]
	}
	memory := (*C.schedq_interest_t)(C.calloc(C.size_t(len(interests)+1), C.sizeof_schedq_interest_t))
	defer func() {
		for _, value := range texts {
			C.free(unsafe.Pointer(value))
		}
		C.free(unsafe.Pointer(memory))
	}()
	for i, interest := range unsafe.Slice(memory, len(interests)) {
		interest.resource = text(interests[i].Resource)
		interest.actions = C.uint32_t(interests[i].Actions)
		if i < len(callbacks.Hints) {
			interest.hint = C.schedq_hint_fn(callbacks.Hints[i])
		}
		unsafe.Slice(memory, len(interests))[i] = interest
	}
	plugin := C.schedq_plugin_t{
		struct_size:    C.sizeof_schedq_plugin_t,
		profile:        C.schedq_profile_t(profile),
		flags:          C.uint8_t(options),
		name:           text(name),
		interests:      memory,
		interest_count: C.size_t(len(interests)),
		pre_enqueue:    C.schedq_pre_enqueue_fn(callbacks.PreEnqueue),
		ctx:            callbacks.Context,
	}
	status := Status(C.schedq_plugin_register(queue.alive(), &plugin, &bit, &why[0], whySize))
	return Plugins(bit), asError(status, "RegisterPlugin", why.String())
}

// NamePlugin registers a plugin that is only a name: what a program that matches events itself needs. As RegisterPlugin.
func (queue *Queue) NamePlugin(profile Profile, name string) (Plugins, error) {
	var why whyText
	var bit C.uint64_t

	status := Status(C.schedq_plugin_name(queue.alive(), C.schedq_profile_t(profile), text(name), C.size_t(len(name)), &bit,
		&why[0], whySize))
	return Plugins(bit), asError(status, "NamePlugin", why.String())
}

// EventPlugins returns the plugins of a profile whose registered interests an event matches, late names and
// RejectorOthers among them; for a wildcard AllPlugins. 0: unknown profile or event.
func (queue *Queue) EventPlugins(profile Profile, event Event) Plugins {
	return Plugins(C.schedq_event_plugins(queue.alive(), C.schedq_profile_t(profile), C.schedq_event_t(event)))
}

// RejectorBit returns the bit of a rejector whose name shows up late, also after setup; a registered plugin's is its own.
// Every event reaches a late name. RejectorOthers: there is no bit left. 0: a bad argument.
func (queue *Queue) RejectorBit(profile Profile, name string) Plugins {
	return Plugins(C.schedq_rejector_bit(queue.alive(), C.schedq_profile_t(profile), text(name), C.size_t(len(name))))
}

// text lends a string's bytes to a call that takes pointer and length.
// text is where a string's bytes are; those of an empty one are nowhere, which C would take for none.
func text(value string) *C.char {
	if value == "" {
		return (*C.char)(unsafe.Pointer(&nothing))
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(value)))
}

var nothing byte

// withoutNUL refuses texts that C would cut off: each argument's name, and the argument.
func withoutNUL(call string, named ...string) error {
	for i := 0; i < len(named); i += 2 {
		if at := strings.IndexByte(named[i+1], 0); at >= 0 {
			return &Error{ErrInvalid, call, fmt.Sprintf("%s %q: no NUL, and byte %d is one", named[i], named[i+1], at)}
		}
	}
	return nil
}
