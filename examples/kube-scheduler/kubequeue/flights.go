package kubequeue

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/types"

	"schedq"
)

// The scheduler names a pod in flight in two ways, and neither is the library's token. Done brings a uid.
// AddUnschedulablePodIfNotPresent brings a record that may be a deep copy of the popped one and may hold another pod by now;
// the address in its InitialAttemptTimestamp survives both. So every pop makes a new time value, and its address
// is the identity of the cycle.

// flight is a pod between its pop and the end of its cycle.
type flight struct {
	entry  *entry
	record *record // as popped
	token  schedq.Token
	seen   atomic.Uint64 // events after this sequence happened during the cycle
	began  *time.Time
}

const flightShards = 16

// flights holds the pods in flight, by uid and by cycle.
type flights struct {
	count atomic.Int64 // pods in flight, and those that are about to be
	byUID [flightShards]struct {
		sync.Mutex
		flights map[types.UID]*flight
	}
	byCycle [flightShards]struct {
		sync.Mutex
		flights map[*time.Time]*flight
	}
}

func (flights *flights) init() {
	for i := range flights.byUID {
		flights.byUID[i].flights = map[types.UID]*flight{}
		flights.byCycle[i].flights = map[*time.Time]*flight{}
	}
}

func uidShard(uid types.UID) int {
	const prime = 16777619
	hash := uint32(2166136261)
	for i := 0; i < len(uid); i++ {
		hash = (hash ^ uint32(uid[i])) * prime
	}
	return int(hash % flightShards)
}

func cycleShard(began *time.Time) int {
	return int(uintptr(unsafe.Pointer(began)) / unsafe.Sizeof(*began) % flightShards)
}

// begin notes a flight; it returns one of the same uid that had not ended, or nil.
func (flights *flights) begin(begun *flight) *flight {
	flights.count.Add(1)
	cycles := &flights.byCycle[cycleShard(begun.began)]
	cycles.Lock()
	cycles.flights[begun.began] = begun
	cycles.Unlock()

	uids := &flights.byUID[uidShard(begun.entry.uid)]
	uids.Lock()
	defer uids.Unlock()
	before := uids.flights[begun.entry.uid]
	uids.flights[begun.entry.uid] = begun
	return before
}

// of finds the flight of a uid, ofCycle that of a cycle; nil: there is none.
func (flights *flights) of(uid types.UID) *flight {
	uids := &flights.byUID[uidShard(uid)]
	uids.Lock()
	defer uids.Unlock()
	return uids.flights[uid]
}

func (flights *flights) ofCycle(began *time.Time) *flight {
	if began == nil {
		return nil
	}
	cycles := &flights.byCycle[cycleShard(began)]
	cycles.Lock()
	defer cycles.Unlock()
	return cycles.flights[began]
}

// end forgets a flight, and says whether it was there, and whether no other is left. A later one of the same uid stays.
func (flights *flights) end(ended *flight) (found, last bool) {
	cycles := &flights.byCycle[cycleShard(ended.began)]
	cycles.Lock()
	_, found = cycles.flights[ended.began]
	delete(cycles.flights, ended.began)
	cycles.Unlock()

	uids := &flights.byUID[uidShard(ended.entry.uid)]
	uids.Lock()
	if uids.flights[ended.entry.uid] == ended {
		delete(uids.flights, ended.entry.uid)
	}
	uids.Unlock()
	if found {
		last = flights.count.Add(-1) == 0
	}
	return found, last
}

// all lists them.
func (flights *flights) all() (all []*flight) {
	for i := range flights.byUID {
		uids := &flights.byUID[i]
		uids.Lock()
		for _, flight := range uids.flights {
			all = append(all, flight)
		}
		uids.Unlock()
	}
	return all
}

// oldestSeen is the sequence up to which no flight needs the log; MaxUint64 without flights.
func (flights *flights) oldestSeen() uint64 {
	oldest := uint64(math.MaxUint64)
	for i := range flights.byUID {
		uids := &flights.byUID[i]
		uids.Lock()
		for _, flight := range uids.flights {
			oldest = min(oldest, flight.seen.Load())
		}
		uids.Unlock()
	}
	return oldest
}
