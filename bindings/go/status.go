package schedq

/*
#cgo noescape schedq_status_name
#cgo nocallback schedq_status_name
#cgo noescape schedq_status_text
#cgo nocallback schedq_status_text
#cgo noescape schedq_place_name
#cgo nocallback schedq_place_name
#cgo nocallback schedq_version
#include <schedq/schedq.h>
*/
import "C"

import (
	"fmt"
	"math"
)

// Status is what a call of the library answers. Every Status but OK is an error.
type Status uint8

const (
	OK          Status = C.SCHEDQ_OK
	ErrEmpty    Status = C.SCHEDQ_EMPTY     // nothing to pop
	ErrClosed   Status = C.SCHEDQ_CLOSED    // the queue is closed (and, for a pop, nothing is left)
	ErrTimedOut Status = C.SCHEDQ_TIMEDOUT  // the deadline passed; no call of this package answers it
	ErrExists   Status = C.SCHEDQ_EXISTS    // that name is there already
	ErrNotFound Status = C.SCHEDQ_NOT_FOUND // no such pod
	ErrStale    Status = C.SCHEDQ_STALE     // this token was used before
	ErrGone     Status = C.SCHEDQ_GONE      // the pod was deleted meanwhile; for Apply: it does not wait any more
	ErrFull     Status = C.SCHEDQ_FULL      // a cap of the configuration, or the width of a word; nothing changed
	ErrNoMemory Status = C.SCHEDQ_NOMEM     // the allocator gave nothing; nothing changed unless the method says so
	ErrBusy     Status = C.SCHEDQ_BUSY      // setup is over
	ErrRetry    Status = C.SCHEDQ_RETRY     // judge the newer events, then call again
	ErrChanged  Status = C.SCHEDQ_CHANGED   // judge the new object, then call again
	ErrInvalid  Status = C.SCHEDQ_INVALID   // an argument is out of range; nothing changed
	ErrNotEmpty Status = C.SCHEDQ_NOT_EMPTY // Destroy: there are pods; nothing changed
	ErrCanceled Status = C.SCHEDQ_CANCELED  // a wait was ended; no call of this package answers it
)

// String names a status as the C library does: "SCHEDQ_EMPTY".
func (status Status) String() string {
	return C.GoString(C.schedq_status_name(C.schedq_status_t(status)))
}

// Text explains a status in a sentence.
func (status Status) Text() string {
	return C.GoString(C.schedq_status_text(C.schedq_status_t(status)))
}

// Error makes a Status an error: its name and its sentence.
func (status Status) Error() string {
	return status.String() + ": " + status.Text()
}

// Error is a refusal in words. errors.Is finds the Status in it.
type Error struct {
	Status Status // ErrInvalid, ErrFull, ErrBusy or ErrNotEmpty
	Call   string // the function of this package
	Why    string // argument, value and legal range; who is in the way; which pods are left
}

func (err *Error) Error() string {
	return fmt.Sprintf("%s: %s: %s", err.Call, err.Status.String(), err.Why)
}

// Unwrap returns the Status.
func (err *Error) Unwrap() error {
	return err.Status
}

// asError is nil for OK, and an *Error if there are words.
func asError(status Status, call, why string) error {
	if status == OK {
		return nil
	}
	if why != "" {
		return &Error{status, call, goWords(why)}
	}
	return status
}

// isNil refuses what is no pointer to anything.
func isNil(call, name string) error {
	return &Error{ErrInvalid, call, name + " nil: a pointer"}
}

// fits32 refuses a number that the library's 32 bits would cut.
func fits32(call, name string, value int) error {
	if value < 0 || value > math.MaxUint32 {
		return &Error{ErrInvalid, call, fmt.Sprintf("%s %d: 0..%d", name, value, uint32(math.MaxUint32))}
	}
	return nil
}

// whySize is the room for the words of a refusal.
const whySize = 256

type whyText [whySize]C.char

func (why *whyText) String() string {
	return C.GoString(&why[0])
}

// Place is where a pod is.
type Place uint8

const (
	Nowhere      Place = C.SCHEDQ_NOWHERE
	Active       Place = C.SCHEDQ_ACTIVE        // a pop takes it next
	Backoff      Place = C.SCHEDQ_BACKOFF       // waits for its backoff after a rejection
	ErrorBackoff Place = C.SCHEDQ_ERROR_BACKOFF // waits for its backoff after an error; no pop takes it from here
	Parked       Place = C.SCHEDQ_PARKED        // waits for an event that could help
	Gated        Place = C.SCHEDQ_GATED         // a PreEnqueue plugin keeps it out
	InFlight     Place = C.SCHEDQ_INFLIGHT      // popped, its cycle has not ended
	Held         Place = C.SCHEDQ_HELD          // kept back, until it is released or until a time
	Aside        Place = C.SCHEDQ_ASIDE         // waits for its group, or, a group, for its members
)

// String names a place: "active", "backoff", "error-backoff", "parked", "gated", "inflight", "held", "aside", "nowhere".
func (place Place) String() string {
	return C.GoString(C.schedq_place_name(C.schedq_place_t(place)))
}

// Version is the version of the library that is linked.
func Version() (major, minor, patch int) {
	version := uint32(C.schedq_version())
	return int(version >> 16), int(version >> 8 & 0xff), int(version & 0xff)
}
