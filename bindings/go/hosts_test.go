package schedq_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"schedq"
)

// eventLog is the log of a host whose goroutines judge at the same time. An entry that was drawn and is not logged yet
// counts as one that helps.
type eventLog struct {
	mutex  sync.Mutex
	logged map[uint64]uint64 // sequence to the pod that the event helps
}

func (log *eventLog) helps(object, after, upTo uint64) bool {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	for sequence := after + 1; sequence <= upTo; sequence++ {
		if helped, found := log.logged[sequence]; !found || helped == object {
			return true
		}
	}
	return false
}

// Each pod fails until an event helps it, and each event is told once, at whatever time: all pods end, so none was parked
// behind the event that it waits for.
func TestNoEventIsMissed(t *testing.T) {
	onBothEngines(t, func(config *schedq.Config) {
		config.Decide = schedq.DecideHost
		config.MaxBackoff = 0
	}, func(f *fixture) {
		const pods, schedulers, tellers = 400, 4, 4
		fit := f.plugin("Fit")
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		log := &eventLog{logged: map[uint64]uint64{}}
		var helped [pods]atomic.Bool
		var left atomic.Int32
		var all sync.WaitGroup

		schedule := func(popped *schedq.Popped) error {
			if helped[popped.Object].Load() {
				if left.Add(-1) == 0 {
					defer f.Close()
				}
				return f.Done(popped.Token)
			}
			runtime.Gosched() // a cycle takes its time
			failure := schedq.Failure{Place: schedq.Parked, Unschedulable: fit, JudgedUpTo: popped.Seen}
			for {
				result, err := f.Fail(&popped.Token, &failure)
				if err != schedq.ErrRetry {
					return err
				}
				if log.helps(popped.Object, failure.JudgedUpTo, result.Sequence) {
					failure.Place = schedq.Active
				}
				failure.JudgedUpTo = result.Sequence
			}
		}
		tell := func(object uint64) error {
			helped[object].Store(true) // the change is visible before its event
			sequence, err := f.EventBegin()
			if err != nil {
				return err
			}
			log.mutex.Lock()
			log.logged[sequence] = object
			log.mutex.Unlock()
			if err := f.EventStamp(sequence, 0, fit); err != nil {
				return err
			}
			query := schedq.Query{Rejectors: fit}
			var batch [16]schedq.Candidate
			for {
				count, err := f.Candidates(&query, batch[:])
				if err != nil || count == 0 {
					return err
				}
				for _, candidate := range batch[:count] {
					if candidate.Object != object {
						continue
					}
					_, err := f.Apply(&schedq.Decision{Ref: candidate.Ref, Place: schedq.Active, Event: schedq.EventNodeAdd})
					if err != nil && err != schedq.ErrGone && err != schedq.ErrChanged {
						return err
					}
				}
			}
		}

		left.Store(pods)
		for object := range uint64(pods) {
			f.add(fmt.Sprintf("default/pod-%d", object), schedq.PodSpec{Object: object})
		}
		for range schedulers {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					popped, err := f.Pop(ctx)
					if err == schedq.ErrClosed {
						return
					}
					if err == nil {
						err = schedule(&popped)
					}
					if err != nil {
						t.Errorf("%d pods left: %v", left.Load(), err)
						return
					}
				}
			}()
		}
		for teller := range uint64(tellers) {
			all.Add(1)
			go func() {
				defer all.Done()
				for object := teller; object < pods; object += tellers {
					if err := tell(object); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		all.Wait()
		stats, err := f.Stats()
		f.ok(err)
		equal(f, "ended", stats.Dones, pods)
		equal(f, "in flight", stats.InFlight, 0)
	})
}
