package kubequeue

import (
	"sync/atomic"
)

// Events are numbered by the library, which keeps their stamps; the events themselves, whose objects are Go's, are in this log
// for the pods in flight: a pod that fails is judged by what happened since its pop. Sequences have no gaps, so the log is an
// array that is used round and round. What is not there counts as an event that helps: it was overwritten, or its
// sequence is drawn and it is about to be stored.
//
// While nothing is in flight nothing is logged, and the flight that ends last empties the log. A pop counts its flight before it
// reads the newest sequence, as the one that the flight has seen; an event looks at the count after it drew its sequence. So an event
// that finds no flight is one that every later flight has seen. The scheduler's cache changed before that event, and a cycle looks at
// the cache after its pop returned, so there is nothing to judge.

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
	looked  atomic.Uint64 // the newest sequence at the last look, see trim
	trimmed atomic.Uint64 // what is not newer is forgotten
}

// put stores an event under its sequence, then looks at `trimmed`; forget raises `trimmed`, then looks at the slots. So an event that is
// forgotten is dropped by one of the two.
func (log *eventLog) put(event *happening) {
	slot := &log.ring[event.sequence%logSize]
	if before := slot.Swap(event); before != nil {
		before.kind.logged.Dec()
	}
	event.kind.logged.Inc()
	if event.sequence <= log.trimmed.Load() {
		drop(slot, event)
	}
}

func drop(slot *atomic.Pointer[happening], event *happening) {
	if slot.CompareAndSwap(event, nil) {
		event.kind.logged.Dec()
	}
}

// get finds an event; nil: it is not there.
func (log *eventLog) get(sequence uint64) *happening {
	event := log.ring[sequence%logSize].Load()
	if event == nil || event.sequence != sequence {
		return nil
	}
	return event
}

// trim forgets what no flight needs any more, now and then, so that the collector gets the objects.
func (log *eventLog) trim(newest uint64, flights *flights) {
	looked := log.looked.Load()
	if newest < looked+trimEvery || !log.looked.CompareAndSwap(looked, newest) {
		return
	}
	log.forget(newest, flights)
}

// forget forgets all events up to the newest that no flight needs. A flight that it does not find yet has seen the newest one.
func (log *eventLog) forget(newest uint64, flights *flights) {
	upTo := min(newest, flights.oldestSeen())
	from := log.trimmed.Load()
	if upTo <= from || !log.trimmed.CompareAndSwap(from, upTo) {
		return
	}
	if upTo > logSize {
		from = max(from, upTo-logSize)
	}
	for sequence := from + 1; sequence <= upTo; sequence++ {
		slot := &log.ring[sequence%logSize]
		if event := slot.Load(); event != nil && event.sequence <= upTo {
			drop(slot, event)
		}
	}
}
