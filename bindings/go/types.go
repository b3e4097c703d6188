package schedq

/*
#include <schedq/schedq.h>
*/
import "C"

import (
	"math"
	"math/bits"
)

// The structs of this file have the layout of the C header's, so that a call passes them as they are; layout.go holds
// the compiler to it.

// Pod names a pod from its add to the end of its life. The zero value names none; no value is used for two pods.
type Pod struct{ bits uint64 }

// IsZero says whether it names no pod.
func (pod Pod) IsZero() bool { return pod.bits == 0 }

// Token names one cycle of a pod: from a pop to Done or Fail. The zero value names none.
type Token struct{ bits uint64 }

// IsZero says whether it names no cycle.
func (token Token) IsZero() bool { return token.bits == 0 }

// Ref names a waiting pod at one version, for [Queue.Apply]. 0 = none.
type Ref uint64

// Profile numbers a set of plugins. 0 is "default-scheduler".
type Profile uint8

// Plugins is a set of plugins of one profile, a bit each.
type Plugins uint64

const (
	AllPlugins     Plugins = math.MaxUint64
	RejectorOthers Plugins = 1 << 63 // shared by names without a bit of their own; every event reaches it
)

// Gate is the plugin that gates a pod: 1 + its number; 0 = none.
type Gate uint8

// Gate makes a set of one plugin a gate; 0 for the empty set.
func (plugins Plugins) Gate() Gate {
	if plugins == 0 {
		return 0
	}
	return Gate(1 + bits.TrailingZeros64(uint64(plugins)))
}

// Plugins makes a gate a set of one plugin, or the empty set.
func (gate Gate) Plugins() Plugins {
	if gate == 0 {
		return 0
	}
	return 1 << (gate - 1)
}

// PodFlags are properties of a pod.
type PodFlags uint8

const (
	PodAffinity PodFlags = C.SCHEDQ_POD_AFFINITY  // has a required affinity term
	PodOrderKey PodFlags = C.SCHEDQ_POD_ORDER_KEY // OrderKey replaces the Timestamp as order inside the priority
	PodAdd      PodFlags = C.SCHEDQ_POD_ADD       // [Queue.Update] only: adds the pod if its name is unknown
)

// NameMax is the length of the longest name, in bytes.
const NameMax = C.SCHEDQ_NAME_MAX

// NoDeadline is a deadline that never comes.
const NoDeadline int64 = math.MaxInt64

// PodSpec is a pod as its caller describes it. Times are nanoseconds on the queue's clock.
type PodSpec struct {
	structSize    uint32
	Priority      int32 // higher first
	Profile       Profile
	Flags         PodFlags
	Gate          Gate // [DecideHost] the plugin whose PreEnqueue refused
	reserved      [5]uint8
	Object        uint64 // the caller's pod: 64 bits that a pop returns
	NominatedNode uint64 // the caller's number of the node it is nominated to; 0 = none
	Timestamp     int64  // 0 = now
	OrderKey      int64  // with PodOrderKey; smaller first
	JudgedUpTo    uint64 // [DecideHost] Words().EventSequence() as read before PreEnqueue ran; used with a Gate
	// Only: Update, the pod that is meant: another one under its name counts as unknown. Zero: whoever has the name. With
	// PodAdd, and in other calls: zero.
	Only      Pod
	NotBefore int64  // the pod is held until then, on the queue's clock; 0 = it is not
	Label     uint64 // the caller's, which many pods may share; 0 = none
	Group     uint64 // what it is tried together with ([Queue.AddGroup]), for life; 0: it is tried by itself
	Class     uint64 // the pods of its priority and profile that fail alike ([Config].ClassPatience); 0: none
}

// Result is what a call did. In a sum over many pods only the counts and Poppable mean something.
type Result struct {
	Pod           Pod     // the pod; with ErrExists the one that has the name
	Object        uint64  // its object; Update, and Fail with Newest: the one that was replaced
	Ref           Ref     // [DecideHost] for Apply
	Unschedulable Plugins // its rejectors
	Pending       Plugins // its rejectors that only wait for something
	Sequence      uint64  // ErrRetry: judge events up to this one
	Timestamp     int64   // the Timestamp that the call set or found
	ToActive      uint32  // pods that this call put there
	ToBackoff     uint32  // error backoff too
	ToParked      uint32
	ToGated       uint32
	Place         Place // where the pod is now
	Gate          Gate
	Poppable      bool // this call made something poppable; goroutines in Pop have been woken
	Added         bool // Update, Readd: a new pod was made
	Left          bool // [DecideHost] Tick: due backoff was left to Candidates and Apply
	BackingOff    bool // [DecideHost] with Ref: Backoff is possible, Active skips it
	reserved      [2]uint8
}

// History is what a pod went through. Times are nanoseconds on the queue's clock.
type History struct {
	Timestamp      int64  // when it entered the queue, or failed last
	InitialAttempt int64  // when it first became active; 0 = never yet
	Attempts       uint32 // pops
	Rejections     uint32 // failures with a rejector
	Errors         uint32 // failures without one since the last rejection
	reserved       uint32
}

// Popped is a pod that a pop took: the caller's, until it uses the token.
type Popped struct {
	Token         Token
	Pod           Pod
	Object        uint64
	Name          string
	Priority      int32
	History       History // this pop is counted in its Attempts
	Unschedulable Plugins // what had rejected it until now; the pod's own sets are empty from here on
	Pending       Plugins // the same
	Seen          uint64  // [DecideHost] events after this sequence happened during the cycle
	Cycle         uint64  // 1, 2, ...; 0 unless Config.CountCycles
	NominatedNode uint64  // 0 = nowhere
	BackoffExpiry int64   // end of its last backoff; 0 = it had none
	FromBackoff   bool    // nothing was active, and it was taken out of backoff
	// Flushed: the leftover limit brought it out of where it waited (with Config.KubeMinor 37; [DecideHost]
	// Decision.Flushed), and since then it has not failed, was not held, and no gate refused it.
	Flushed bool
	More    bool // something else is poppable
	Profile Profile
	Flags   PodFlags
}

// Failure is why a cycle failed.
type Failure struct {
	structSize    uint32
	Place         Place // [DecideHost] Parked, Backoff, Active or Gated; else Nowhere
	Gate          Gate  // [DecideHost] with Gated
	OwnReasons    bool  // its rejectors say nothing about the others of its class, which are tried
	reserved      uint8
	Unschedulable Plugins  // the plugins that rejected it; both sets empty: it failed with an error
	Pending       Plugins  // the plugins that wait for something
	JudgedUpTo    uint64   // [DecideHost] Place judges every event in (Popped.Seen, this]
	Newest        *PodSpec // replaces the pod's description; its profile, gate, timestamp, label and group are ignored; nil: nothing does
}

// Candidate is a waiting pod at one version. Times are nanoseconds on the queue's clock.
type Candidate struct {
	Ref           Ref
	Object        uint64
	Pod           Pod
	Unschedulable Plugins
	Pending       Plugins
	Timestamp     int64
	Expiry        int64 // end of its backoff; 0 = none
	Place         Place
	Gate          Gate
	BackingOff    bool // Backoff is possible, Active skips it
	Profile       Profile
	reserved      [4]uint8
}

// Decision is where a waiting pod is to go.
type Decision struct {
	structSize uint32
	Event      Event // its label counts in the metrics
	Place      Place // Active; Backoff (acts as Active if it is over, see IfBackingOff); Gated
	Gate       Gate  // with Gated
	// Uncounted: with Gated, a pod that was parked or gated does not count as one that came in again, in metrics and
	// ToGated: an update or an activation that is in vain. An event counts.
	Uncounted bool
	// IfBackingOff: with Backoff, only while the pod backs off, since PreEnqueue was not asked; else ErrChanged.
	IfBackingOff bool
	// Flushed: the host's leftover limit moves it; its pop will say so (Popped.Flushed).
	Flushed    bool
	reserved   [5]uint8
	Ref        Ref    // from a Candidate, or a Result
	JudgedUpTo uint64 // Words().EventSequence() as read before PreEnqueue ran; used with Gated
}

// PodInfo is a copy of a pod. Times are nanoseconds on the queue's clock.
type PodInfo struct {
	Place         Place
	Profile       Profile
	Flags         PodFlags
	Deleted       bool // in flight, deleted meanwhile
	Pod           Pod
	Object        uint64
	Name          string
	Priority      int32
	History       History
	BackoffExpiry int64 // backoff: as compared; else 0
	Unschedulable Plugins
	Pending       Plugins
	Gate          Gate
	PopOrder      uint64 // in flight: orders pods by their pops; else 0
	Cycle         uint64 // in flight, with Config.CountCycles; else 0
	NominatedNode uint64 // 0 = not nominated
	Nomination    uint64 // orders the pods nominated to one node; 0 = not nominated
	NotBefore     int64  // the time that keeps it back, or kept it back; 0 = none
	Held          bool   // Hold keeps it back; in flight: will
	Label         uint64 // 0 = none
	Group         uint64 // what it is tried together with; 0 = by itself
	KeptByClass   bool   // Held until NotBefore, or until its turn, since another pod of its class was rejected
	Class         uint64 // the pods that fail alike; 0 = none, or it has no effect
	Scout         Pod    // the pod of its class that was rejected, and is tried for all of them; zero: there is none
}

// Stats are counts and bytes.
type Stats struct {
	structSize uint32
	Workers    uint32
	Active     uint64 // pods there now, as the five below
	Backoff    uint64
	// ErrorBackoff, Parked, Gated, InFlight: pods there now.
	ErrorBackoff, Parked, Gated, InFlight uint64
	Nominated                             uint64 // pods that are nominated now
	Adds                                  uint64 // pods that Add, AddMany, Update and Readd made
	Pops, Dones, Failures                 uint64 // calls that changed a pod, pod by pod
	Deletes, Updates                      uint64
	Moves                                 uint64 // pods that events and time moved out of a waiting place
	Events                                uint64
	HintCalls, PreEnqueueCalls            uint64 // always 0: C calls no Go
	// BytesEntries and the rest: bytes of memory held.
	BytesEntries, BytesNames, BytesIndex, BytesQueues, BytesOther uint64
	Membarriers                                                   uint64 // that the queue asked the kernel for
	Fences                                                        Fences // those in use
	GroupsKnown                                                   bool   // a group was ever declared, or named by a pod
	reserved                                                      [6]uint8
	Held                                                          uint64 // pods there now
	// Aside: members that are aside, and whose group's record waits in no place. Those of other groups count where the
	// record is.
	Aside     uint64
	Groups    uint64          // groups that are declared, or in their cycle
	GroupsAt  [placesC]uint64 // records of roots, by Place
	MembersAt [placesC]uint64 // members that are aside, by the Place of their root's record

	ClassHides uint64 // how often a pod was kept back because of its class
	ClassTurns uint64 // how often one of them was let go because the scout of its class left
}

// placesC is the room that the header has for places.
const placesC = 10
