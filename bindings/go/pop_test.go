package schedq_test

import (
	"context"
	"fmt"
	"math"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"schedq"
)

// patience is how long a test waits for what has to happen at once.
const patience = 30 * time.Second

func TestPopWaitsForAPod(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		popped := make(chan string)
		for range 2 {
			go func() {
				pod, err := f.Pop(ctx)
				popped <- fmt.Sprint(pod.Name, err)
			}()
		}
		f.add("default/a", schedq.PodSpec{Priority: 1})
		f.add("default/b", schedq.PodSpec{})
		got := map[string]bool{<-popped: true, <-popped: true}
		equal(f, "a", got["default/a<nil>"], true)
		equal(f, "b", got["default/b<nil>"], true)
	})
}

func TestPopEndsWithItsContextAndWithTheQueue(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		pop := func(ctx context.Context) {
			_, err := f.Pop(ctx)
			ended <- err
		}
		go pop(ctx)
		cancel()
		f.wants(<-ended, context.Canceled)

		go pop(context.Background())
		f.Close()
		f.wants(<-ended, schedq.ErrClosed)
		f.Close()
		equal(f, "closed", f.Words().Closed(), true)
		_, err := f.Pop(context.Background())
		f.wants(err, schedq.ErrClosed)
		_, err = f.Add("default/late", &schedq.PodSpec{})
		f.wants(err, schedq.ErrClosed)
	})
}

func TestAPopWithACancelledContextStillTakesWhatIsThere(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		f.add("default/a", schedq.PodSpec{})
		popped, err := f.Pop(ctx)
		f.ok(err)
		equal(f, "name", popped.Name, "default/a")
		_, err = f.Pop(ctx)
		f.wants(err, context.Canceled)
	})
}

// Producers and consumers, more of each than the queue has workers: every pod comes out once, nobody sleeps for ever.
func TestNoWakeUpIsLost(t *testing.T) {
	onBothEngines(t, func(config *schedq.Config) { config.MaxWorkers = 3 }, func(f *fixture) {
		const producers, consumers, each = 8, 16, 500
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var seen [producers * each]atomic.Int32
		var left atomic.Int32
		var all sync.WaitGroup

		left.Store(producers * each)
		for range consumers {
			all.Add(1)
			go func() {
				defer all.Done()
				for {
					popped, err := f.Pop(ctx)
					if err == schedq.ErrClosed {
						return
					}
					if err != nil || f.Done(popped.Token) != nil {
						t.Errorf("%d pods never came: %v", left.Load(), err)
						return
					}
					seen[popped.Object].Add(1)
					if left.Add(-1) == 0 {
						f.Close()
					}
				}
			}()
		}
		for producer := range producers {
			all.Add(1)
			go func() {
				defer all.Done()
				for i := range each {
					object := producer*each + i
					spec := schedq.PodSpec{Object: uint64(object), Priority: int32(i % 3)}
					if _, err := f.Add(fmt.Sprintf("default/pod-%d", object), &spec); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		all.Wait()
		for object := range seen {
			if count := seen[object].Load(); count != 1 {
				t.Fatalf("pod %d came %d times", object, count)
			}
		}
	})
}

// A thousand goroutines in Pop: the program has the threads that it had.
func TestAGoroutineThatWaitsHoldsNoThread(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		const waiters = 1000
		threads := pprof.Lookup("threadcreate")
		before := threads.Count()
		var all sync.WaitGroup
		for range waiters {
			all.Add(1)
			go func() {
				defer all.Done()
				if _, err := f.Pop(context.Background()); err != schedq.ErrClosed {
					t.Error(err)
				}
			}()
		}
		for f.Waiting() < waiters {
			time.Sleep(time.Millisecond)
		}
		f.Close()
		all.Wait()
		if made := threads.Count() - before; made > waiters/10 {
			t.Errorf("%d threads were made for %d goroutines", made, waiters)
		}
	})
}

func TestRunServesTime(t *testing.T) {
	for name, clock := range map[string]func() int64{
		"the library's clock": nil,
		"a clock of its own":  func() int64 { return time.Now().UnixNano() },
	} {
		t.Run(name, func(t *testing.T) {
			config := schedq.DefaultConfig()
			config.PopFromBackoff = false
			config.InitialBackoff = int64(2 * time.Millisecond)
			queue, err := schedq.New(config, clock)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			ended := make(chan struct{})
			var ticks atomic.Int32
			go func() {
				queue.Run(ctx, func(schedq.Result) { ticks.Add(1) })
				close(ended)
			}()
			_, _ = queue.Add("default/a", &schedq.PodSpec{})
			for range 3 {
				popped, err := queue.Pop(ctx)
				if err != nil {
					t.Fatal(err)
				}
				result, err := queue.Fail(&popped.Token, &schedq.Failure{})
				if err != nil || result.Place != schedq.ErrorBackoff {
					t.Fatal(result.Place, err)
				}
			}
			if _, err := queue.Pop(ctx); err != nil {
				t.Fatal(err)
			}
			if ticks.Load() < 3 {
				t.Errorf("told of %d ticks", ticks.Load())
			}
			queue.Close()
			<-ended
			if err := queue.DestroyWithPods(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestACallAfterDestroyPanics(t *testing.T) {
	queue, err := schedq.New(schedq.DefaultConfig(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := queue.TryPop(); err != schedq.ErrEmpty {
		t.Error(err)
	}
	if err := queue.DestroyWithPods(); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("it did not")
		}
	}()
	_, _ = queue.TryPop()
}

// One call makes two pods poppable and wakes one goroutine, which passes the wake-up on.
func TestAWakeUpIsPassedOn(t *testing.T) {
	onBothEngines(t, nil, func(f *fixture) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		ended := make(chan error)
		for range 2 {
			go func() {
				_, err := f.Pop(ctx)
				ended <- err
			}()
		}
		for f.Waiting() < 2 {
			time.Sleep(time.Millisecond)
		}
		_, err := f.AddMany("default/adefault/b", []schedq.AddItem{{NameLength: 9}, {NameOffset: 9, NameLength: 9}}, nil, nil)
		f.ok(err)
		f.ok(<-ended)
		f.ok(<-ended)
	})
}

// A thread of the library that looks for the next deadline leaves a number there that is less than any time. Run is not to
// take the distance to it for a long sleep.
func TestRunDoesNotSleepWhileAnotherPlans(t *testing.T) {
	onBothEngines(t, nil, func(fixture *fixture) {
		words := fixture.Words()
		words.SetNextDeadline(math.MinInt64 + 5)
		equal(fixture, "deadline", words.NextDeadline(), 0)
		if sleep := fixture.PlanSleep(); sleep > 0 {
			fixture.Errorf("Run would sleep for %v", sleep)
		}
		words.SetNextDeadline(schedq.NoDeadline)
	})
}
