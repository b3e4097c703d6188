package schedq

/*
#cgo noescape schedq_config_preset
#cgo nocallback schedq_config_preset
#include <schedq/schedq.h>
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// Engine is which of the two engines stands behind a queue. They answer alike.
type Engine uint8

const (
	LockFree Engine = C.SCHEDQ_ENGINE_LOCKFREE // no lock anywhere: a thread that stops for ever stops nobody
	Mutex    Engine = C.SCHEDQ_ENGINE_MUTEX    // the whole queue behind one lock: a reference
)

// Order is how strictly Timestamps order the pods of one priority.
type Order uint8

const (
	OrderStrict  Order = C.SCHEDQ_ORDER_STRICT
	OrderRelaxed Order = C.SCHEDQ_ORDER_RELAXED
)

// Decide is who decides what an event does to the pods that wait.
type Decide uint8

const (
	DecideLibrary Decide = C.SCHEDQ_DECIDE_CALLBACKS // the library, by what each plugin registered
	DecideHost    Decide = C.SCHEDQ_DECIDE_HOST      // the program, with Candidates and Apply
)

// Requeue is how a pod in flight learns of events, with DecideLibrary.
type Requeue uint8

const (
	RequeueHints     Requeue = C.SCHEDQ_REQUEUE_HINTS      // events are matched with its rejectors
	RequeueMoveCycle Requeue = C.SCHEDQ_REQUEUE_MOVE_CYCLE // any event counts, as in kube-scheduler <= 1.27
)

// BackoffCounts is what the length of a backoff grows with.
type BackoffCounts uint8

const (
	CountFailures BackoffCounts = C.SCHEDQ_COUNT_FAILURES // errors if there are any, else rejections
	CountAttempts BackoffCounts = C.SCHEDQ_COUNT_ATTEMPTS // pops, as in kube-scheduler <= 1.31
)

// Fences is who pays so that memory is not freed while a call reads it, with LockFree.
type Fences uint8

const (
	FencesAsymmetric Fences = C.SCHEDQ_FENCES_ASYMMETRIC // who frees, by membarrier(2), where the kernel has that
	FencesReal       Fences = C.SCHEDQ_FENCES_REAL       // each call: no processor is interrupted
)

// Preset names a set of defaults.
type Preset int

const (
	PresetDefault Preset = C.SCHEDQ_PRESET_DEFAULT
	PresetKube112 Preset = C.SCHEDQ_PRESET_KUBE_1_12
	PresetKube126 Preset = C.SCHEDQ_PRESET_KUBE_1_26
	PresetKube134 Preset = C.SCHEDQ_PRESET_KUBE_1_34
	PresetKube137 Preset = C.SCHEDQ_PRESET_KUBE_1_37
)

// Config is how a queue behaves. Take one from [DefaultConfig] or [PresetConfig] and change what you want; defaults and
// legal ranges are in the C header. Times are nanoseconds.
type Config struct {
	structSize uint32

	// Caps; 0 = none. Hitting one is ErrFull.
	MaxPods    uint32
	MaxBands   uint32 // distinct priorities
	MaxWorkers uint32 // calls under way at once; a call that finds none free waits for one
	MaxEvents  uint32
	EventLog   uint32 // [DecideLibrary] events that are kept for the pods in flight
	MaxLots    uint32
	Fences     Fences
	reserved   uint8 // no pre-queueing hints: they are callbacks

	SampleCalls uint16 // one call of so many is timed, for the metrics; 0: none

	InitialBackoff int64 // default 1 s
	MaxBackoff     int64 // default 10 s; 0 = no backoff
	MaxParked      int64 // default 5 min; a pod that is parked for longer is tried again
	Tick           int64 // how late Run may be

	Engine        Engine
	Order         Order
	objects       uint8
	Decide        Decide
	externalClock bool

	Requeue           Requeue // [DecideHost] ignored
	PopFromBackoff    bool    // when nothing is active, a pop takes from backoff
	BackoffWindow     bool    // expiries are compared in whole seconds
	BackoffAtExpiry   bool    // at exactly its expiry a pod still is backing off
	BackoffCounts     BackoffCounts
	ErrorsPark        bool  // [DecideHost] ignored
	KeepOrder         bool  // a failed pod keeps its place inside its priority
	GatesSeeWildcards bool  // wildcards try gated pods again
	CountCycles       bool  // pops are numbered: Popped.Cycle
	FIFO              bool  // priorities do not order
	KubeMinor         uint8 // details of that kube-scheduler release: 0, 12, 26, 34 or 37
	Flush             int64 // with KubeMinor: leftovers are tried together, once in this time; 0: 30 s

	startNS int64
	rest    [configRest]byte // clock, allocator and callbacks of the C library: none

	ClassPatience int64 // so long, at most, a pod is kept back because another one of its class was rejected; 0 = it is not
}

const configRest = unsafe.Offsetof(C.schedq_config_t{}.class_patience_ns) - unsafe.Offsetof(C.schedq_config_t{}.clock)

// DefaultConfig is schedq's own behaviour: exact expiries, pop from backoff, errors back off.
func DefaultConfig() Config {
	config, _ := PresetConfig(PresetDefault)
	return config
}

// PresetConfig is the behaviour that a preset names. Set Decide to have the program decide.
//
// Errors: ErrInvalid, there is no such preset.
func PresetConfig(preset Preset) (Config, error) {
	config := Config{structSize: uint32(unsafe.Sizeof(Config{}))}
	status := Status(C.schedq_config_preset((*C.schedq_config_t)(unsafe.Pointer(&config)), C.schedq_preset_t(preset)))
	if status != OK {
		return config, &Error{status, "PresetConfig", fmt.Sprintf("preset %d: legal are %d, %d, %d, %d, %d", preset, PresetDefault,
			PresetKube112, PresetKube126, PresetKube134, PresetKube137)}
	}
	return config, nil
}
