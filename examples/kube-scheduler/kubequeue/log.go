package kubequeue

import (
	"sync/atomic"
)

// Events are numbered by the library, which keeps their stamps; the events themselves, whose objects are Go's, are in this log
// for the pods in flight: a pod that fails is judged by what happened since its pop. Sequences have no gaps, so the log is an
// array that is used round and round. What is not there counts as an event that helps: it was overwritten, or its
// sequence is drawn and it is about to be stored.

// logSize bounds the log: a pod that was in flight during more events than this is tried again without judging.
const logSize = 1 << 15

// trimEvery is after how many events the log looks for what no flight needs any more.
const trimEvery = 512

// happening is a cluster event.
type happening struct {
	sequence uint64
	kind     *eventKind
	old, new any
}

type eventLog struct {
	ring    [logSize]atomic.Pointer[happening]
	planned atomic.Uint64 // the newest sequence at the last trim, see trim
	trimmed atomic.Uint64 // what is not newer is forgotten
}

// put stores an event under its sequence.
func (log *eventLog) put(event *happening) {
	if before := log.ring[event.sequence%logSize].Swap(event); before != nil {
		before.kind.logged.Dec()
	}
	event.kind.logged.Inc()
}

// get finds an event; nil: it is not there.
func (log *eventLog) get(sequence uint64) *happening {
	event := log.ring[sequence%logSize].Load()
	if event == nil || event.sequence != sequence {
		return nil
	}
	return event
}

// trim forgets what no flight needs any more, now and then, so that the collector gets the objects. A pod that was just popped
// is not among the flights yet, so what was logged since the last trim stays until the next.
func (log *eventLog) trim(newest uint64, flights *flights) {
	planned := log.planned.Load()
	if newest < planned+trimEvery || !log.planned.CompareAndSwap(planned, newest) {
		return
	}
	log.forget(min(planned, flights.oldestSeen()))
}

func (log *eventLog) forget(upTo uint64) {
	from := log.trimmed.Load()
	if upTo <= from || !log.trimmed.CompareAndSwap(from, upTo) {
		return
	}
	if upTo > logSize {
		from = max(from, upTo-logSize)
	}
	for sequence := from + 1; sequence <= upTo; sequence++ {
		slot := &log.ring[sequence%logSize]
		event := slot.Load()
		if event != nil && event.sequence <= upTo && slot.CompareAndSwap(event, nil) {
			event.kind.logged.Dec()
		}
	}
}
