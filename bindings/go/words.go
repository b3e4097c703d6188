package schedq

import "sync/atomic"

// Words are numbers that the library keeps at one address: reading one costs no call. They are valid until Destroy, also
// after Close.
//
// A place's count is raised before a pod becomes visible there and lowered after one left: 0 read after an event's stamp
// means that there is nothing to look for. Exact when the queue is quiet. Pods that are active or in flight are counted
// by [Queue.Stats].
type Words struct {
	parked, gated, backoff, errorBackoff, nominations uint64

	eventSequence    uint64
	nextDeadline     int64
	now              int64
	closed, poppable uint32
	held, aside      uint64
	reserved         [5]uint64
}

// Parked is the number of pods that wait for an event; a group counts as one.
func (words *Words) Parked() uint64 { return atomic.LoadUint64(&words.parked) }

// Gated is the number of pods that a PreEnqueue plugin keeps out; a group counts as one.
func (words *Words) Gated() uint64 { return atomic.LoadUint64(&words.gated) }

// Backoff is the number of pods in backoff, error backoff apart; a group counts as one.
func (words *Words) Backoff() uint64 { return atomic.LoadUint64(&words.backoff) }

// ErrorBackoff is the number of pods in error backoff; a group counts as one.
func (words *Words) ErrorBackoff() uint64 { return atomic.LoadUint64(&words.errorBackoff) }

// Held is the number of pods that are kept back, by Hold or until a time.
func (words *Words) Held() uint64 { return atomic.LoadUint64(&words.held) }

// Aside is the number of members of groups that wait for the others. A record counts as one where it is.
func (words *Words) Aside() uint64 { return atomic.LoadUint64(&words.aside) }

// Nominations is the number of pods that are nominated to a node.
func (words *Words) Nominations() uint64 { return atomic.LoadUint64(&words.nominations) }

// EventSequence is the newest sequence that an event drew; 0 = none yet.
func (words *Words) EventSequence() uint64 { return atomic.LoadUint64(&words.eventSequence) }

// NextDeadline is when Tick is wanted, on the queue's clock, or NoDeadline. It may be too early (0 while a thread looks for the
// next one): then a Tick sets it right.
func (words *Words) NextDeadline() int64 { return max(0, atomic.LoadInt64(&words.nextDeadline)) }

// Closed says whether Close was called.
func (words *Words) Closed() bool { return atomic.LoadUint32(&words.closed) != 0 }

// Poppable is a hint: something may be popped.
func (words *Words) Poppable() bool { return atomic.LoadUint32(&words.poppable) != 0 }

// advance raises the clock to now, never back.
func (words *Words) advance(now int64) {
	for {
		was := atomic.LoadInt64(&words.now)
		if was >= now || atomic.CompareAndSwapInt64(&words.now, was, now) {
			return
		}
	}
}
